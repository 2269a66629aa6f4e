//! Documents into the domain: what changed is split, embedded and stored, a document at a time.
//!
//! Takes documents with the hash of their source, gives a report.
//! Invariants: a document whose source and settings did not change is not even parsed; a text that is stored already
//! is not embedded again; a document is committed whole once all its vectors are there; cancelling and failing keep
//! what was committed. One bad document never stops the others.
//! Not here: finding and reading files (`paths`), bringing the derived indexes in step (`repair`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::domain::{Replacement, Stored, TextHash, hex};
use super::stored::KindCounts;
use super::{Index, IndexError, windows};
use crate::base::CancelToken;
use crate::document::Document;
use crate::evidence::{ContextParts, Split};
use crate::inference::{Embed, Embedding, TextRole};

/// Documents are gathered until they have so many texts to embed: enough for even batches, little enough to lose.
const TEXTS_PER_COMMIT: usize = 256;

/// Texts per call of the embedder, between which progress is shown.
const TEXTS_PER_CALL: usize = 64;

/// SHA-256 of a source file, lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(pub(super) String);

impl ContentHash {
    /// Hashes bytes that are in memory.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }
}

/// A document that may have to be stored.
pub struct Incoming<'a> {
    /// Where it comes from; the same path is the same document.
    pub path: PathBuf,
    /// Hash of its source, or why that cannot be read.
    pub content_hash: Result<ContentHash, String>,
    /// Reads and splits it, or says why not; called only when it changed.
    pub parse: Box<dyn FnOnce() -> Result<(Document, Split), String> + 'a>,
}

/// What is stored of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    pub(super) source: String,
    pub(super) path: String,
    pub(super) content_hash: ContentHash,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) date: Option<String>,
    pub(super) space: Option<String>,
    pub(super) split: Split,
}

impl NewDocument {
    pub(super) fn new(path: &Path, content_hash: ContentHash, parsed: (Document, Split)) -> Self {
        let (document, split) = parsed;
        let path = path.to_string_lossy().into_owned();
        Self {
            source: path.clone(),
            path,
            content_hash,
            title: document.title,
            url: document.url,
            date: document.date,
            space: document.space,
            split,
        }
    }
}

/// A document that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path.
    pub path: PathBuf,
    /// Why, for people.
    pub reason: String,
}

/// What an ingest did. Serializes as in the JSON contract.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestReport {
    /// Name of the domain.
    pub domain: String,
    /// Documents in the domain afterwards.
    pub documents: usize,
    /// Documents that were not there before.
    pub added: usize,
    /// Documents that replaced an earlier state.
    pub updated: usize,
    /// Evidences in the domain afterwards.
    pub evidences: KindCounts,
    /// Documents left out.
    pub skipped: Vec<Skipped>,
    /// Documents that were there already.
    pub unchanged: usize,
    /// Documents taken out. An ingest takes none out, so this is 0.
    pub removed: usize,
    /// How long it took.
    pub seconds: f64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IngestStage {
    /// Reading and splitting documents.
    Reading,
    /// Embedding evidences.
    Embedding,
    /// Bringing the search indexes in step; `done` and `total` count evidences.
    Indexing,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestProgress {
    /// What is being done.
    pub stage: IngestStage,
    /// Documents dealt with (evidences while indexing).
    pub done: usize,
    /// All of them.
    pub total: usize,
    /// Evidences embedded so far in this run.
    pub embedded: usize,
    /// The document at hand; empty where there is none.
    pub current: String,
}

/// Hears of progress.
pub type OnProgress<'a> = dyn FnMut(IngestProgress) + 'a;

/// The documents of one ingest and how they are split.
pub struct Documents<'a, 'd> {
    /// One by one.
    pub incoming: &'a mut (dyn Iterator<Item = Incoming<'d>> + 'a),
    /// How many there are, for the progress.
    pub total: usize,
    /// Context parts that are embedded and indexed.
    pub context: ContextParts,
    /// Settings of the splitting, as JSON.
    pub evidence: serde_json::Value,
}

impl Index {
    /// Stores the documents that changed and brings the search indexes in step, also when it is stopped.
    ///
    /// # Errors
    /// [`IndexError::Canceled`] between two batches; [`IndexError::Busy`] while another process writes; when the
    /// embedder or the disk fails. What was committed before stays.
    pub fn ingest_documents(
        &mut self,
        documents: Documents<'_, '_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let started = Instant::now();
        let _lock = self.lock()?;
        self.check_embedder(embedder.identity())?;
        let stored = self.store_documents(documents, embedder, cancel, on_progress);
        let in_step = self.bring_in_step(on_progress);
        let mut report = stored?;
        in_step?;
        self.name().clone_into(&mut report.domain);
        (report.documents, report.evidences) = self.db.counts()?;
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    /// The part that writes `domain.db`.
    pub(super) fn store_documents(
        &mut self,
        documents: Documents<'_, '_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let made_with = self.take_settings(&documents)?;
        let mut run = Run {
            index: self,
            embedder,
            cancel,
            on_progress,
            context: documents.context,
            made_with,
            total: documents.total,
            done: 0,
            embedded: 0,
            seen: HashSet::new(),
            report: IngestReport::default(),
            batch: Batch::default(),
        };
        for incoming in documents.incoming {
            cancel.check()?;
            run.take(incoming)?;
        }
        run.flush()?;
        Ok(run.report)
    }

    /// Notes the settings in the manifest and gives their fingerprint.
    fn take_settings(&self, documents: &Documents<'_, '_>) -> Result<String, IndexError> {
        let mut manifest = self.db.manifest()?;
        if manifest.context != documents.context || manifest.evidence != documents.evidence {
            manifest.context = documents.context;
            manifest.evidence = documents.evidence.clone();
            self.db.write_manifest(&manifest)?;
        }
        let settings = format!("{} {}", documents.context, documents.evidence);
        Ok(hex(&Sha256::digest(settings)))
    }
}

/// Documents waiting for their vectors.
#[derive(Default)]
struct Batch {
    documents: Vec<(NewDocument, Vec<TextHash>)>,
    /// What to embed; one evidence may have several texts.
    texts: Vec<String>,
    /// Which of the texts belong to which evidence text.
    spans: HashMap<TextHash, Range<usize>>,
    /// Vectors that were stored before.
    vectors: HashMap<TextHash, Embedding>,
}

struct Run<'a, 'p> {
    index: &'a mut Index,
    embedder: &'a dyn Embed,
    cancel: &'a CancelToken,
    on_progress: &'a mut OnProgress<'p>,
    context: ContextParts,
    made_with: String,
    total: usize,
    done: usize,
    embedded: usize,
    /// Sources of this run; one that is named twice is taken once.
    seen: HashSet<String>,
    report: IngestReport,
    batch: Batch,
}

impl Run<'_, '_> {
    fn tell(&mut self, stage: IngestStage, current: &str) {
        let current = crate::base::clean_line(current);
        (self.on_progress)(IngestProgress {
            stage,
            done: self.done,
            total: self.total,
            embedded: self.embedded,
            current,
        });
    }

    fn take(&mut self, incoming: Incoming<'_>) -> Result<(), IndexError> {
        let Incoming { path, content_hash, parse } = incoming;
        let source = path.to_string_lossy().into_owned();
        self.tell(IngestStage::Reading, &source);
        if !self.seen.insert(source.clone()) {
            self.done += 1;
            return Ok(());
        }
        let content_hash = match content_hash {
            Ok(hash) => hash,
            Err(reason) => {
                self.skip(path, reason);
                return Ok(());
            }
        };
        if let Some(state) = self.index.db.document_state(&source)?
            && state.content_hash == content_hash
            && state.made_with == self.made_with
        {
            self.report.unchanged += 1;
            self.done += 1;
            return Ok(());
        }
        match parse() {
            Ok(parsed) => self.prepare(NewDocument::new(&path, content_hash, parsed))?,
            Err(reason) => self.skip(path, reason),
        }
        if self.batch.texts.len() >= TEXTS_PER_COMMIT {
            self.flush()?;
        }
        Ok(())
    }

    fn skip(&mut self, path: PathBuf, reason: String) {
        self.report.skipped.push(Skipped { path, reason });
        self.done += 1;
    }

    /// Finds out which texts of the document have to be embedded.
    fn prepare(&mut self, document: NewDocument) -> Result<(), IndexError> {
        let mut hashes = Vec::with_capacity(document.split.evidences.len());
        for evidence in &document.split.evidences {
            let hash = TextHash::of(evidence, self.context);
            if !self.batch.spans.contains_key(&hash) && !self.batch.vectors.contains_key(&hash) {
                if let Some(vector) = self.index.db.vector_of_text(&hash)? {
                    self.batch.vectors.insert(hash.clone(), vector);
                } else {
                    let start = self.batch.texts.len();
                    self.batch.texts.extend(windows::texts(evidence, self.context, self.embedder)?);
                    self.batch.spans.insert(hash.clone(), start..self.batch.texts.len());
                }
            }
            hashes.push(hash);
        }
        self.batch.documents.push((document, hashes));
        Ok(())
    }

    /// Embeds what is waiting and commits each document.
    fn flush(&mut self) -> Result<(), IndexError> {
        let Batch { documents, texts, spans, mut vectors } = std::mem::take(&mut self.batch);
        let first = documents.first().map(|(document, _)| document.path.clone()).unwrap_or_default();
        let embedded = self.embed(&texts, &spans, &first)?;
        for (hash, span) in spans {
            vectors.insert(hash, windows::pool(&embedded[span]));
        }
        for (document, hashes) in documents {
            let replacement =
                Replacement { document: &document, made_with: &self.made_with, hashes: &hashes, vectors: &vectors };
            match self.index.db.replace(&replacement)? {
                Stored::Added => self.report.added += 1,
                Stored::Updated => self.report.updated += 1,
            }
            self.done += 1;
            self.tell(IngestStage::Reading, &document.path);
        }
        Ok(())
    }

    /// One vector per text, in order. Texts of like length are embedded together, because a batch is as slow as its
    /// longest text.
    fn embed(
        &mut self,
        texts: &[String],
        spans: &HashMap<TextHash, Range<usize>>,
        current: &str,
    ) -> Result<Vec<Embedding>, IndexError> {
        let last_texts: HashSet<usize> = spans.values().map(|span| span.end - 1).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|at| texts[*at].len());
        let mut vectors: Vec<Option<Embedding>> = vec![None; texts.len()];
        for some in order.chunks(TEXTS_PER_CALL) {
            self.cancel.check()?;
            self.tell(IngestStage::Embedding, current);
            let batch: Vec<&str> = some.iter().map(|at| texts[*at].as_str()).collect();
            let made = self.embedder.embed(&batch, TextRole::Evidence, self.cancel)?;
            for (at, vector) in some.iter().zip(made) {
                vectors[*at] = Some(vector);
            }
            self.embedded += some.iter().filter(|at| last_texts.contains(at)).count();
        }
        let expected = self.embedder.identity().dimensions;
        let whole: Option<Vec<Embedding>> =
            vectors.into_iter().map(|vector| vector.filter(|v| v.values().len() == expected)).collect();
        whole.ok_or(IndexError::Dimensions { found: 0, expected })
    }
}
