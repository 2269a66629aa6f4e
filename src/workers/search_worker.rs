//! The search thread: owns the open domains and uses the encoders.
//!
//! Takes jobs: search, domains, settings, tables, documents. Gives events.
//! Invariant: it never waits for the generator thread.
//! Not here: retrieval (`retrieval`), storage (`index`), loading of encoders (`model_manager`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender};

use time::OffsetDateTime;

use super::document::parts_of;
use super::jobs::WorkGuard;
use super::model_manager::ModelManager;
use super::problem::{Stop, problem};
use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{DomainHealth, DomainSummary, Event, Problem};
use ragonite_base::{CancelToken, DocumentId, DomainName, EvidenceId, Language, clean_line};
use ragonite_config::{ChangesError, Edit, edit_changes, read_changes};
use ragonite_document::evidence::ContextParts;
use ragonite_encoder::embedder_fingerprint;
use ragonite_history::TurnSettings;
use ragonite_index::{Index, IndexError, ListedDomain, StoredEvidence, list_domains};
use ragonite_inference::{Embed, Embedding};
use ragonite_rag::retrieval::{
    AblatedHit, EarlierQuestion, Reranking, Retrieved, SearchContext, SearchInput, ablate_context, search,
};

/// A job of the search thread.
#[derive(Debug)]
pub(super) enum SearchJob {
    /// Load the encoders.
    WarmUp,
    /// Check whether the models are present.
    LookForModels,
    /// List the domains.
    ListDomains,
    /// Open a domain for searching, until `cancel`.
    OpenDomain { name: DomainName, cancel: CancelToken },
    /// Load the settings overrides of a domain.
    LoadSettings(DomainName),
    /// Store settings overrides of a domain.
    SaveSettings { domain: DomainName, edit: Edit },
    /// Search.
    Retrieve { work: WorkGuard, domain: DomainName, asked: Asked },
    /// Load the table of an evidence.
    LoadTable { domain: DomainName, evidence: EvidenceId },
    /// Rank evidences with parts of their context.
    TryContext { work: WorkGuard, domain: DomainName, query: String, evidences: Vec<EvidenceId>, parts: ContextParts },
    /// Load the text of a document.
    LoadDocument { work: WorkGuard, domain: DomainName, document: DocumentId, hit: EvidenceId },
    /// Facts about a domain, for the generator thread.
    Facts {
        domain: DomainName,
        vectors: Option<VectorsWanted>,
        cancel: CancelToken,
        reply: SyncSender<Result<Facts, Stop>>,
    },
}

/// A request for vectors of evidences.
pub(super) struct VectorsWanted {
    pub(super) evidences: Vec<EvidenceId>,
    /// The embedder; may differ from that of the domain.
    pub(super) embedder: Arc<dyn Embed>,
}

impl fmt::Debug for VectorsWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorsWanted").field("evidences", &self.evidences).finish_non_exhaustive()
    }
}

/// A question in its conversation.
#[derive(Debug)]
pub(super) struct Asked {
    /// The question as typed.
    pub(super) question: String,
    /// The completed question.
    pub(super) completed: String,
    /// The completed question in the language of the documents, where it has another.
    pub(super) translated: Option<String>,
    /// The questions before it, oldest first.
    pub(super) earlier: Vec<EarlierQuestion>,
    /// Settings of the turn.
    pub(super) settings: Box<TurnSettings>,
}

/// Facts about a domain, for the generator thread.
#[derive(Debug)]
pub(super) struct Facts {
    /// The prompt prefix.
    pub(super) prefix: String,
    /// The language of most of its evidences.
    pub(super) language: Language,
    /// Vectors of the requested evidences that still exist.
    pub(super) vectors: HashMap<EvidenceId, Embedding>,
}

/// Starts the thread. The second sender is for the generator thread.
pub(super) fn start(
    engine: Arc<ModelManager>,
    events: Events,
) -> Result<(Worker<SearchJob>, Sender<SearchJob>), RuntimeError> {
    Worker::start("encoder", move |mailbox| Encoder { engine, open: HashMap::new(), events }.work(&mailbox))
}

/// Most open domains, because each takes memory.
const MOST_OPEN: usize = 3;

struct Encoder {
    engine: Arc<ModelManager>,
    open: HashMap<DomainName, Index>,
    events: Events,
}

impl Encoder {
    fn work(mut self, mailbox: &Receiver<SearchJob>) {
        for job in mailbox {
            self.answer(job);
        }
    }

    fn answer(&mut self, job: SearchJob) {
        match job {
            SearchJob::WarmUp => {
                if let Err(error) = self.engine.embedder() {
                    self.events.send(Event::Failed(problem(&error)));
                }
            }
            SearchJob::LookForModels => {
                let setup = &self.engine.setup;
                let (missing, generators) = (setup.missing_models(), setup.generators());
                self.events.send(Event::ModelsLooked { missing, generators });
            }
            SearchJob::ListDomains => self.list(),
            SearchJob::LoadSettings(domain) => {
                let stored = read_changes(&self.engine.setup.paths.domain(&domain));
                let (changes, problem) = (stored.changes, damage_of(&stored.damage));
                self.events.send(Event::OtherSettingsLoaded { domain, changes, problem });
            }
            SearchJob::SaveSettings { domain, edit } => {
                let folder = self.engine.setup.paths.domain(&domain);
                let kept = edit_changes(&folder, &edit).map_err(|error| problem(&error));
                self.events.send(Event::SettingsKept { domain, kept });
            }
            SearchJob::OpenDomain { name, cancel } => {
                self.load_settings(&name);
                let event = match self.summary(&name, &cancel) {
                    Ok(summary) => Event::DomainOpened(summary),
                    Err(Stop::Canceled) => Event::DomainNotOpened(name),
                    Err(Stop::Failed(problem)) => Event::DomainFailed { name, problem },
                };
                self.events.send(event);
            }
            SearchJob::Retrieve { work, domain, asked } => {
                let event = match self.search(&work, &domain, &asked) {
                    Ok(retrieved) => Event::HitsRetrieved { turn: work.turn, retrieved: Box::new(retrieved) },
                    Err(Stop::Canceled) => Event::TurnCanceled { turn: work.turn },
                    Err(Stop::Failed(problem)) => Event::TurnFailed { turn: work.turn, problem },
                };
                drop(work);
                self.events.send(event);
            }
            SearchJob::LoadTable { domain, evidence } => {
                let never = CancelToken::never();
                let table = self.index(&domain, &never).and_then(|index| Ok(index.table_of(evidence)?));
                if let Err(Stop::Failed(problem)) = &table {
                    self.events.send(Event::Failed(problem.clone()));
                }
                let table = table.ok().flatten().map(Arc::new);
                self.events.send(Event::TableLoaded { domain, evidence, table });
            }
            SearchJob::TryContext { work, domain, query, evidences, parts } => {
                let turn = work.turn;
                let event = match self.try_context(&work, &domain, &query, &evidences, parts) {
                    Ok(tried) => Event::ContextTried { turn, tried },
                    Err(Stop::Canceled) => Event::TurnCanceled { turn },
                    Err(Stop::Failed(problem)) => Event::TurnFailed { turn, problem },
                };
                drop(work);
                self.events.send(event);
            }
            SearchJob::LoadDocument { work, domain, document, hit } => {
                let turn = work.turn;
                let event = match self.document(&work, &domain, document) {
                    Ok(stored) => Event::DocumentLoaded { document, parts: Ok(parts_of(stored, hit).into()) },
                    Err(Stop::Canceled) => Event::TurnCanceled { turn },
                    Err(Stop::Failed(problem)) => Event::DocumentLoaded { document, parts: Err(problem) },
                };
                drop(work);
                self.events.send(event);
            }
            SearchJob::Facts { domain, vectors, cancel, reply } => {
                // The receiver is closed only when the generator thread has ended.
                let _ = reply.send(self.facts(&domain, vectors.as_ref(), &cancel));
            }
        }
    }

    fn list(&mut self) {
        let event = match list_domains(&self.engine.setup.paths.domains()) {
            Ok(domains) => {
                let fingerprint = self.fingerprint();
                let listed = domains.into_iter().map(|domain| listed(domain, fingerprint.as_deref()));
                Event::DomainsListed(listed.collect())
            }
            Err(error) => Event::Failed(problem(&error)),
        };
        self.events.send(event);
    }

    /// Sends the settings overrides of a domain before it is open.
    fn load_settings(&self, name: &DomainName) {
        let stored = read_changes(&self.engine.setup.paths.domain(name));
        let problem = damage_of(&stored.damage);
        let (domain, changes) = (name.clone(), stored.changes);
        self.events.send(Event::SettingsLoaded { domain, changes, problem });
    }

    fn summary(&mut self, name: &DomainName, cancel: &CancelToken) -> Result<DomainSummary, Stop> {
        let summary = self.index(name, cancel)?.summary()?;
        let folder = self.engine.setup.paths.domain(name);
        Ok(listed(ListedDomain { name: name.clone(), folder, summary: Ok(summary) }, None))
    }

    /// Fingerprint of the embedder, without loading it.
    fn fingerprint(&self) -> Option<String> {
        let setup = &self.engine.setup;
        let model = setup.catalog.model(&setup.profile.profile.embedder).ok()?;
        embedder_fingerprint(model).ok()
    }

    fn search(&mut self, work: &WorkGuard, domain: &DomainName, asked: &Asked) -> Result<Retrieved, Stop> {
        work.cancel.check().map_err(|_| Stop::Canceled)?;
        let engine = Arc::clone(&self.engine);
        let embedder = engine.embedder()?;
        let reranker = if asked.settings.rerank == Reranking::On { engine.reranker()? } else { None };
        let index = self.index(domain, &work.cancel)?;
        let engines = SearchContext { index, embedder: embedder.as_ref(), reranker: reranker.as_deref() };
        let Asked { question, completed, translated, earlier, settings } = asked;
        let translated = translated.as_deref();
        let today = Some(OffsetDateTime::now_utc().date());
        let conversation = SearchInput { question, completed: Some(completed), translated, earlier, today };
        Ok(search(engines, &conversation, &settings.searching(), &work.cancel)?)
    }

    fn document(
        &mut self,
        work: &WorkGuard,
        domain: &DomainName,
        document: DocumentId,
    ) -> Result<Vec<StoredEvidence>, Stop> {
        work.cancel.check()?;
        Ok(self.index(domain, &work.cancel)?.evidences_of_unless(document, &work.cancel)?)
    }

    fn try_context(
        &mut self,
        work: &WorkGuard,
        domain: &DomainName,
        query: &str,
        evidences: &[EvidenceId],
        parts: ContextParts,
    ) -> Result<Vec<AblatedHit>, Stop> {
        work.cancel.check()?;
        let engine = Arc::clone(&self.engine);
        let embedder = engine.embedder()?;
        let index = self.index(domain, &work.cancel)?;
        let engines = SearchContext { index, embedder: embedder.as_ref(), reranker: None };
        Ok(ablate_context(engines, query, evidences, parts, &work.cancel)?)
    }

    fn facts(
        &mut self,
        domain: &DomainName,
        wanted: Option<&VectorsWanted>,
        cancel: &CancelToken,
    ) -> Result<Facts, Stop> {
        let index = self.index(domain, cancel)?;
        let prefix = index.manifest()?.prompt_prefix;
        let language = index.language()?;
        let vectors = match wanted {
            Some(wanted) => index.vectors_by(&wanted.evidences, wanted.embedder.as_ref(), cancel)?,
            None => HashMap::new(),
        };
        Ok(Facts { prefix, language, vectors })
    }

    /// The domain, opened when needed and with the changes of other processes.
    fn index(&mut self, name: &DomainName, cancel: &CancelToken) -> Result<&Index, Stop> {
        cancel.check()?;
        let index = if let Some(mut index) = self.open.remove(name) {
            match index.refresh(cancel, &mut |_| {}) {
                // After a cancellation the domain stays usable.
                Err(IndexError::Canceled(canceled)) => {
                    self.open.insert(name.clone(), index);
                    return Err(canceled.into());
                }
                refreshed => refreshed?,
            }
            index
        } else {
            let embedder = self.engine.embedder()?;
            let folder = self.engine.setup.paths.domain(name);
            let index = Index::open(&folder, embedder.identity(), cancel, &mut |_| {})?;
            if self.open.len() >= MOST_OPEN {
                self.open.clear();
            }
            index
        };
        Ok(self.open.entry(name.clone()).or_insert(index))
    }
}

/// The problems of the stored settings of a domain, as one.
pub fn damage_of(damage: &[ChangesError]) -> Option<Problem> {
    let first = damage.first()?;
    let mut combined = problem(first);
    for more in &damage[1..] {
        combined.what = format!("{}; {}", combined.what, problem(more).what);
    }
    Some(combined)
}

/// A domain for the list. `fingerprint` is that of the current embedder, where known.
fn listed(domain: ListedDomain, fingerprint: Option<&str>) -> DomainSummary {
    let name = domain.name;
    let summary = match domain.summary {
        Ok(summary) => summary,
        Err(error) => {
            let (changed_at, ingested_at) = (String::new(), String::new());
            let (health, problem) = (DomainHealth::Damaged, Some(problem(&error)));
            return DomainSummary { name, documents: 0, evidences: 0, changed_at, ingested_at, health, problem };
        }
    };
    let other = fingerprint.is_some_and(|ours| summary.embedder.fingerprint != ours);
    let health = match &summary.ingested_at {
        _ if other => DomainHealth::OtherEmbedder,
        Some(_) if summary.documents > 0 => DomainHealth::Ready,
        _ => DomainHealth::NeedsIngest,
    };
    let problem = other.then(|| Problem {
        what: format!("it was made with the embedder {}", clean_line(&summary.embedder.model)),
        next: format!("Embed it again: ragonite domain rebuild {name}"),
    });
    DomainSummary {
        name,
        documents: summary.documents,
        evidences: summary.evidences.total(),
        changed_at: summary.changed_at,
        ingested_at: summary.ingested_at.unwrap_or_default(),
        health,
        problem,
    }
}
