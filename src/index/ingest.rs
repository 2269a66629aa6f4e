//! Ingest: changed documents are split, embedded and stored, one at a time.
//!
//! Takes files with content hashes, gives a report. A thread reads and splits ahead (`reader`) while this one embeds
//! and stores.
//! Invariants: a file with unchanged content and settings is not parsed; a stored text is not embedded again, nor a
//! text whose vector was staged by an earlier run; a document is committed whole once all its vectors exist;
//! cancellation and failure keep committed documents. One bad document never stops the others, and its earlier evidence
//! stays.
//! Not here: finding files and those that are gone (`scan`), syncing the derived indexes (`repair`).

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::batch::{Batch, Entry, Unit, embed_call};
use super::domain::{TextHash, hex};
use super::files::StoredFile;
use super::manifest::{LastIngest, now};
use super::path_text::path_text;
use super::progress::{IngestProgress, IngestReport, IngestStage, OnProgress, Skipped};
use super::queue::{Limits, Popped, Queue};
use super::reader::{ParsedMember, Reader, Step, on_reading_thread};
use super::write::{FinishedFile, Replacement, Stored};
use super::{Index, IndexError, windows};
use ragonite_base::CancelToken;
use ragonite_document::evidence::{ContextParts, Split};
use ragonite_document::{Document, DocumentError, Member};
use ragonite_inference::{Embed, InferenceError};

/// Change it when a reader gives other results for the same file, so that files are read again.
const READERS: &str = "readers 2";

/// Limits of reading ahead: enough that the embedder never waits, small enough for memory.
const AHEAD: Limits = Limits { things: 64, bytes: 8 << 20 };

/// How long read documents wait for more to be embedded with them.
const PATIENCE: Duration = Duration::from_secs(1);

/// SHA-256, lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ContentHash(pub(super) String);

impl ContentHash {
    /// Hashes bytes in memory.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }
}

/// Called with each document in a file.
pub(super) type Visit<'v> = dyn FnMut(Member) -> ControlFlow<()> + 'v;

/// Reads a file.
pub(super) type ReadFile<'a> = dyn FnOnce(&mut Visit<'_>) -> Result<(), DocumentError> + Send + 'a;

/// A file that may have to be read. Both closures run on the reading thread.
pub(super) struct Incoming<'a> {
    /// Its path; equal paths are the same file.
    pub(super) path: PathBuf,
    /// Hashes its content, or gives the reason why it cannot be read.
    pub(super) hash: Box<dyn FnOnce() -> Result<ContentHash, String> + Send + 'a>,
    /// Passes its documents on; called only if it changed.
    pub(super) read: Box<ReadFile<'a>>,
}

/// A document to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewDocument {
    pub(super) path: String,
    /// Member name inside the file; empty if the file is the document.
    pub(super) member: String,
    /// Hash of the parsed content and the splitting settings.
    pub(super) content_hash: ContentHash,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) date: Option<String>,
    pub(super) space: Option<String>,
    pub(super) ancestors: Vec<String>,
    pub(super) split: Split,
}

/// Splits a document into evidences.
pub(super) type SplitDocument<'a> = dyn Fn(&Document) -> Result<Split, InferenceError> + Sync + 'a;

/// The files of one ingest and how they are split.
pub(super) struct Documents<'a, 'd> {
    /// The files.
    pub(super) incoming: &'a mut (dyn Iterator<Item = Incoming<'d>> + Send + 'a),
    /// Number of files, for the progress.
    pub(super) total: usize,
    /// Context parts that are embedded and indexed.
    pub(super) context: ContextParts,
    /// Splitting settings, as JSON.
    pub(super) evidence: serde_json::Value,
    /// Splits a document.
    pub(super) split: &'a SplitDocument<'a>,
    /// Stored files that are missing on disk. If the same content comes in at another path, the file is renamed.
    pub(super) absent: Absent,
    /// Files that are not read, for example of unknown format.
    pub(super) skipped: Vec<Skipped>,
}

/// Stored files that are missing on disk.
#[derive(Debug, Default)]
pub(super) struct Absent {
    /// Gone: their documents are removed.
    pub(super) gone: Vec<StoredFile>,
    /// Perhaps only unreachable: their documents stay.
    pub(super) out_of_reach: Vec<StoredFile>,
}

impl Index {
    /// Stores changed documents and syncs the derived indexes, also if the embedder fails.
    ///
    /// # Errors
    /// [`IndexError::Canceled`] between two batches; if the embedder or the disk fails. Committed documents stay.
    pub(super) fn ingest_locked(
        &mut self,
        documents: Documents<'_, '_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let started = Instant::now();
        let stored = self.store_documents(documents, embedder, cancel, on_progress);
        let synced = self.sync(cancel, on_progress);
        let mut report = stored?;
        synced?;
        self.name().clone_into(&mut report.domain);
        (report.documents, report.evidences) = self.db.counts()?;
        self.note_end(&report)?;
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    fn note_end(&mut self, report: &IngestReport) -> Result<(), IndexError> {
        let mut manifest = self.db.manifest()?;
        manifest.last_ingest = Some(LastIngest {
            at: now(),
            added: report.added,
            updated: report.updated,
            renamed: report.renamed,
            removed: report.removed,
            unchanged: report.unchanged,
            skipped: report.skipped.len(),
        });
        self.db.write_manifest(&manifest)
    }

    /// Writes `domain.db`. The caller holds the write lock.
    pub(super) fn store_documents(
        &mut self,
        documents: Documents<'_, '_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let Documents { incoming, total, context, evidence, split, absent, skipped } = documents;
        let made_with = self.take_settings(context, evidence, embedder)?;
        let queue = Queue::new(AHEAD);
        let sources = absent.gone.iter().chain(&absent.out_of_reach).cloned().collect();
        let reader = Reader::new(self.db.reopen()?, made_with, context, embedder, split, sources).cancelled_by(cancel);
        let mut run = Run {
            index: self,
            embedder,
            cancel,
            on_progress,
            context,
            total,
            done: 0,
            embedded: 0,
            moved: HashSet::new(),
            arrived: HashSet::new(),
            report: IngestReport::default(),
            batch: Batch::default(),
        };
        on_reading_thread(reader, incoming, &queue, || {
            run.tell(IngestStage::Reading, 0, "");
            loop {
                let popped = queue.pop(PATIENCE);
                run.cancel.check()?;
                match popped {
                    Popped::Thing(step) => run.take(step)?,
                    // Read documents do not wait while a large one is being read.
                    Popped::NotYet => run.flush()?,
                    Popped::End => return run.flush(),
                }
            }
        })?;
        run.remove(&absent.gone)?;
        run.index.db.clear_staged()?;
        run.report.embedded = run.embedded;
        run.report.skipped.extend(skipped);
        Ok(run.report)
    }

    /// Stores the settings in the manifest; gives the fingerprint of everything that decides how a file is split.
    fn take_settings(
        &mut self,
        context: ContextParts,
        evidence: serde_json::Value,
        embedder: &dyn Embed,
    ) -> Result<String, IndexError> {
        let version = env!("CARGO_PKG_VERSION");
        let settings = format!("{version} {READERS} {context} {evidence} {}", embedder.identity().fingerprint);
        let mut manifest = self.db.manifest()?;
        if manifest.context != context || manifest.evidence != evidence {
            manifest.context = context;
            manifest.evidence = evidence;
            self.db.write_manifest(&manifest)?;
        }
        Ok(hex(&Sha256::digest(settings)))
    }
}

struct Run<'a, 'p> {
    index: &'a mut Index,
    embedder: &'a dyn Embed,
    cancel: &'a CancelToken,
    on_progress: &'a mut OnProgress<'p>,
    context: ContextParts,
    total: usize,
    done: usize,
    embedded: usize,
    /// Old paths of renamed files.
    moved: HashSet<PathBuf>,
    /// New paths of renamed files. Their documents count as renamed, even if a title changes with the file name.
    arrived: HashSet<String>,
    report: IngestReport,
    batch: Batch,
}

impl Run<'_, '_> {
    fn tell(&mut self, stage: IngestStage, done: usize, current: &str) {
        let current = ragonite_base::clean_line(current);
        let (total, embedded) = (self.total, self.embedded);
        (self.on_progress)(IngestProgress { stage, done, total, embedded, current });
    }

    fn take(&mut self, step: Step) -> Result<(), IndexError> {
        match step {
            Step::Opened { path } => self.tell(IngestStage::Reading, self.done, &path),
            Step::Unchanged { path, documents, unread } => {
                self.report.unchanged += documents;
                self.report.skipped.extend(unread);
                self.count(&path);
            }
            Step::Unreadable { path, reason } => {
                let at = path_text(&path);
                self.report.skipped.push(Skipped { path, reason });
                self.count(&at);
            }
            Step::Renamed { from, to } => {
                self.report.renamed += self.index.db.rename_file(&path_text(&from), &to)?;
                self.moved.insert(from);
                self.arrived.insert(to);
            }
            Step::Same { path } => self.report.unchanged += usize::from(!self.arrived.contains(&path)),
            Step::Member(parsed) => self.prepare(*parsed)?,
            Step::Finished { file, skipped } => {
                self.report.skipped.extend(skipped);
                self.batch.entries.push(Entry::File(file));
            }
            Step::Failed(error) => return Err(error),
        }
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    fn count(&mut self, path: &str) {
        self.done += 1;
        self.tell(IngestStage::Reading, self.done, path);
    }

    /// Collects the texts of the document that have no vector.
    fn prepare(&mut self, parsed: ParsedMember) -> Result<(), IndexError> {
        let ParsedMember { document, texts } = parsed;
        self.tell(IngestStage::Reading, self.done, &document.path);
        let mut hashes = Vec::with_capacity(texts.len());
        for (evidence, (hash, pieces)) in document.split.evidences.iter().zip(texts) {
            self.cancel.check()?;
            if !self.batch.has(&hash) && !self.index.db.holds_text(&hash)? {
                // The text may have been removed since the reader saw it.
                let pieces = match pieces {
                    Some(pieces) => pieces,
                    None => windows::texts(evidence, self.context, self.embedder)?,
                };
                self.batch.add(Unit { hash: hash.clone(), pieces });
            }
            hashes.push(hash);
        }
        self.batch.entries.push(Entry::Document(document, hashes));
        Ok(())
    }

    /// Embeds the waiting texts and commits each document.
    fn flush(&mut self) -> Result<(), IndexError> {
        let mut batch = std::mem::take(&mut self.batch);
        self.embed(&mut batch)?;
        for entry in batch.entries {
            match entry {
                Entry::Document(document, hashes) => self.store(&document, &hashes)?,
                Entry::File(file) => self.finish(&file)?,
            }
        }
        Ok(())
    }

    fn store(&mut self, document: &NewDocument, hashes: &[TextHash]) -> Result<(), IndexError> {
        match self.index.db.replace(&Replacement { document, context: self.context, hashes }, self.cancel)? {
            Stored::Added => self.report.added += 1,
            Stored::Updated => self.report.updated += usize::from(!self.arrived.contains(&document.path)),
        }
        Ok(())
    }

    fn finish(&mut self, file: &FinishedFile) -> Result<(), IndexError> {
        self.report.removed += self.index.db.finish_file(file)?;
        self.count(&file.path);
        Ok(())
    }

    /// Embeds the units of the batch. Each call's vectors are staged at once: a kill loses one call at most, and the
    /// vectors of a large document need not fit into memory.
    fn embed(&mut self, batch: &mut Batch) -> Result<(), IndexError> {
        let calls = batch.calls();
        let (files, units) = (batch.files(), calls.iter().map(Vec::len).sum::<usize>());
        let current = batch.first_path().unwrap_or_default().to_owned();
        let mut embedded = 0;
        for call in calls {
            self.cancel.check()?;
            // While a batch is embedded, its files count in proportion to its progress.
            self.tell(IngestStage::Embedding, self.done + files * embedded / units.max(1), &current);
            let ready = embed_call(&call, self.embedder, self.cancel)?;
            self.index.db.stage_vectors(&ready)?;
            embedded += ready.len();
            self.embedded += ready.len();
        }
        Ok(())
    }

    /// Removes files that are gone, unless they were renamed or are back.
    fn remove(&mut self, gone: &[StoredFile]) -> Result<(), IndexError> {
        for file in gone.iter().filter(|file| !self.moved.contains(&file.path)) {
            self.cancel.check()?;
            if super::scan::is_gone(&file.path) {
                self.report.removed += self.index.db.remove_file(&path_text(&file.path))?;
            }
        }
        Ok(())
    }
}
