//! The domain thread: domains, their settings, and views of evidence.
//!
//! Takes jobs: open and list domains, settings, tables, documents, ranks with parts of the context. Gives events.
//! Not here: the search of a turn (`generator`), storage (`index`), loading of encoders (`model_manager`).

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::document::parts_of;
use super::jobs::JobGuard;
use super::model_manager::ModelManager;
use super::open_domains::OpenDomains;
use super::problem::{Stop, problem};
use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{DomainHealth, DomainSummary, Event, Problem};
use ragonite_base::{CancelToken, DocumentId, DomainName, EvidenceId, clean_line};
use ragonite_config::{ChangesError, Edit, edit_changes, read_changes};
use ragonite_document::evidence::ContextParts;
use ragonite_encoder::embedder_fingerprint;
use ragonite_index::{ListedDomain, StoredEvidence, list_domains};
use ragonite_rag::retrieval::{AblatedHit, SearchContext, ablate_context};

/// A job of the domain thread.
#[derive(Debug)]
pub(super) enum DomainJob {
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
    /// Load the table of an evidence.
    LoadTable { domain: DomainName, evidence: EvidenceId },
    /// Rank evidences with parts of their context.
    TryContext { work: JobGuard, domain: DomainName, query: String, evidences: Vec<EvidenceId>, parts: ContextParts },
    /// Load the text of a document.
    LoadDocument { work: JobGuard, domain: DomainName, document: DocumentId, hit: EvidenceId },
}

/// Starts the thread.
pub(super) fn start(
    models: Arc<ModelManager>,
    domains: Arc<OpenDomains>,
    events: Events,
) -> Result<Worker<DomainJob>, RuntimeError> {
    Worker::start("domains", move |mailbox| DomainWorker { models, domains, events }.work(&mailbox))
}

struct DomainWorker {
    models: Arc<ModelManager>,
    domains: Arc<OpenDomains>,
    events: Events,
}

impl DomainWorker {
    fn work(mut self, mailbox: &Receiver<DomainJob>) {
        for job in mailbox {
            self.answer(job);
        }
    }

    fn answer(&mut self, job: DomainJob) {
        match job {
            DomainJob::WarmUp => {
                if let Err(error) = self.models.embedder() {
                    self.events.send(Event::Failed(problem(&error)));
                }
            }
            DomainJob::LookForModels => {
                let setup = &self.models.setup;
                let (missing, generators) = (setup.missing_models(), setup.generators());
                self.events.send(Event::ModelsLooked { missing, generators });
            }
            DomainJob::ListDomains => self.list(),
            DomainJob::LoadSettings(domain) => {
                let stored = read_changes(&self.models.setup.paths.domain(&domain));
                let (changes, problem) = (stored.changes, damage_of(&stored.damage));
                self.events.send(Event::OtherSettingsLoaded { domain, changes, problem });
            }
            DomainJob::SaveSettings { domain, edit } => {
                let folder = self.models.setup.paths.domain(&domain);
                let kept = edit_changes(&folder, &edit).map_err(|error| problem(&error));
                self.events.send(Event::SettingsKept { domain, kept });
            }
            DomainJob::OpenDomain { name, cancel } => {
                self.load_settings(&name);
                let event = match self.summary(&name, &cancel) {
                    Ok(summary) => Event::DomainOpened(summary),
                    Err(Stop::Canceled) => Event::DomainNotOpened(name),
                    Err(Stop::Failed(problem)) => Event::DomainFailed { name, problem },
                };
                self.events.send(event);
            }
            DomainJob::LoadTable { domain, evidence } => {
                let never = CancelToken::never();
                let table = self.domains.with(&domain, &never, |index| Ok(index.table_of(evidence)?));
                if let Err(Stop::Failed(problem)) = &table {
                    self.events.send(Event::Failed(problem.clone()));
                }
                let table = table.ok().flatten().map(Arc::new);
                self.events.send(Event::TableLoaded { domain, evidence, table });
            }
            // Their cancellation was answered while they waited.
            DomainJob::TryContext { work, .. } | DomainJob::LoadDocument { work, .. } if !work.begin() => {}
            DomainJob::TryContext { work, domain, query, evidences, parts } => {
                let job = work.job;
                let event = match self.try_context(&work, &domain, &query, &evidences, parts) {
                    Ok(tried) => Event::ContextTried { job, tried },
                    Err(Stop::Canceled) => Event::JobCanceled { job },
                    Err(Stop::Failed(problem)) => Event::JobFailed { job, problem },
                };
                self.events.send(event);
            }
            DomainJob::LoadDocument { work, domain, document, hit } => {
                let job = work.job;
                let event = match self.document(&work, &domain, document) {
                    Ok(stored) => Event::DocumentLoaded { document, parts: Ok(parts_of(stored, hit).into()) },
                    Err(Stop::Canceled) => Event::JobCanceled { job },
                    Err(Stop::Failed(problem)) => Event::DocumentLoaded { document, parts: Err(problem) },
                };
                self.events.send(event);
            }
        }
    }

    fn list(&mut self) {
        let event = match list_domains(&self.models.setup.paths.domains()) {
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
        let stored = read_changes(&self.models.setup.paths.domain(name));
        let problem = damage_of(&stored.damage);
        let (domain, changes) = (name.clone(), stored.changes);
        self.events.send(Event::SettingsLoaded { domain, changes, problem });
    }

    fn summary(&mut self, name: &DomainName, cancel: &CancelToken) -> Result<DomainSummary, Stop> {
        let summary = self.domains.with(name, cancel, |index| Ok(index.summary()?))?;
        let folder = self.models.setup.paths.domain(name);
        Ok(listed(ListedDomain { name: name.clone(), folder, summary: Ok(summary) }, None))
    }

    /// Fingerprint of the embedder, without loading it.
    fn fingerprint(&self) -> Option<String> {
        let setup = &self.models.setup;
        let model = setup.catalog.model(&setup.profile.profile.embedder).ok()?;
        embedder_fingerprint(model).ok()
    }

    fn document(
        &mut self,
        work: &JobGuard,
        domain: &DomainName,
        document: DocumentId,
    ) -> Result<Vec<StoredEvidence>, Stop> {
        let cancel = &work.cancel;
        self.domains.with(domain, cancel, |index| Ok(index.evidences_of_unless(document, cancel)?))
    }

    fn try_context(
        &mut self,
        work: &JobGuard,
        domain: &DomainName,
        query: &str,
        evidences: &[EvidenceId],
        parts: ContextParts,
    ) -> Result<Vec<AblatedHit>, Stop> {
        work.cancel.check()?;
        let embedder = self.models.embedder()?;
        self.domains.with(domain, &work.cancel, |index| {
            let context = SearchContext { index, embedder: embedder.as_ref(), reranker: None };
            Ok(ablate_context(context, query, evidences, parts, &work.cancel)?)
        })
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
