//! Documents into the domain: what changed is split, embedded and stored, a document at a time.
//!
//! Takes files with the hash of their content, gives a report. A thread reads and splits ahead (`reader`) while this
//! one embeds and stores.
//! Invariants: a file whose content and settings did not change is not even parsed; a text that is stored already is
//! not embedded again, nor one whose vector was ready when an earlier run ended; a document is committed whole once
//! all its vectors are there; cancelling and failing keep what was committed. One bad document never stops the others,
//! and what was stored of it before stays.
//! Not here: finding files and telling which are gone (`scan`), bringing the derived indexes in step (`repair`).

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

/// Changes with what readers make of the same file, so that it is read again.
const READERS: &str = "readers 2";

/// What is read ahead while the embedder works: enough that it never waits, little enough to hold in memory.
const AHEAD: Limits = Limits { things: 64, bytes: 8 << 20 };

/// How long what was read waits for more to be embedded with it.
const PATIENCE: Duration = Duration::from_secs(1);

/// SHA-256, lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ContentHash(pub(super) String);

impl ContentHash {
    /// Hashes bytes that are in memory.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }
}

/// Hears of each document in a file.
pub(super) type Visit<'v> = dyn FnMut(Member) -> ControlFlow<()> + 'v;

/// Reads a file.
pub(super) type ReadFile<'a> = dyn FnOnce(&mut Visit<'_>) -> Result<(), DocumentError> + Send + 'a;

/// A file that may have to be read. Both actions happen on the reading thread.
pub(super) struct Incoming<'a> {
    /// Where it is; the same path is the same file.
    pub(super) path: PathBuf,
    /// Hashes its content, or says why it cannot be read.
    pub(super) hash: Box<dyn FnOnce() -> Result<ContentHash, String> + Send + 'a>,
    /// Hands out the documents it holds; called only when it changed.
    pub(super) read: Box<ReadFile<'a>>,
}

/// What is stored of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewDocument {
    pub(super) path: String,
    /// Name inside the file; empty where the file is the document.
    pub(super) member: String,
    /// Of what was read, with the settings it is split with.
    pub(super) content_hash: ContentHash,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) date: Option<String>,
    pub(super) space: Option<String>,
    pub(super) ancestors: Vec<String>,
    pub(super) split: Split,
}

/// How documents become evidences.
pub(super) type SplitDocument<'a> = dyn Fn(&Document) -> Result<Split, InferenceError> + Sync + 'a;

/// The files of one ingest and how their documents are split.
pub(super) struct Documents<'a, 'd> {
    /// One by one.
    pub(super) incoming: &'a mut (dyn Iterator<Item = Incoming<'d>> + Send + 'a),
    /// How many there are, for the progress.
    pub(super) total: usize,
    /// Context parts that are embedded and indexed.
    pub(super) context: ContextParts,
    /// Settings of the splitting, as JSON.
    pub(super) evidence: serde_json::Value,
    /// Splits a document.
    pub(super) split: &'a SplitDocument<'a>,
    /// Files that are stored and no longer there. One that comes in under another path is renamed.
    pub(super) absent: Absent,
    /// Files that were found and are not read, in no known format for instance.
    pub(super) skipped: Vec<Skipped>,
}

/// Files that are stored and no longer there.
#[derive(Debug, Default)]
pub(super) struct Absent {
    /// Surely gone: their documents are taken out.
    pub(super) gone: Vec<StoredFile>,
    /// Perhaps only out of reach: their documents stay.
    pub(super) out_of_reach: Vec<StoredFile>,
}

impl Index {
    /// Stores the documents that changed and brings the search indexes in step, also when an embedder fails.
    ///
    /// # Errors
    /// [`IndexError::Canceled`] between two batches; when the embedder or the disk fails. What was committed before
    /// stays.
    pub(super) fn ingest_locked(
        &mut self,
        documents: Documents<'_, '_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let started = Instant::now();
        let stored = self.store_documents(documents, embedder, cancel, on_progress);
        let in_step = self.sync(cancel, on_progress);
        let mut report = stored?;
        in_step?;
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

    /// The part that writes `domain.db`. The caller holds the write lock.
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
        let reader =
            Reader::new(self.db.reopen()?, made_with, (context, embedder), split, sources).cancelled_by(cancel);
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
                    // What was read does not wait for a large document that is being read.
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

    /// Notes the settings in the manifest and gives the fingerprint of all that decides how a file is split.
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
    /// Paths of which a file has gone to another path.
    moved: HashSet<PathBuf>,
    /// Paths to which a file has gone. Its documents count as renamed, also where a title goes with the name.
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

    /// Finds out which texts of the document have to be embedded.
    fn prepare(&mut self, parsed: ParsedMember) -> Result<(), IndexError> {
        let ParsedMember { document, texts } = parsed;
        self.tell(IngestStage::Reading, self.done, &document.path);
        let mut hashes = Vec::with_capacity(texts.len());
        for (evidence, (hash, pieces)) in document.split.evidences.iter().zip(texts) {
            self.cancel.check()?;
            if !self.batch.has(&hash) && !self.index.db.holds_text(&hash)? {
                // The reader may have seen a text that was taken out since.
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

    /// Embeds what is waiting and commits each document.
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

    /// Embeds the units of the batch. What is embedded is stored call by call, so that a kill loses no more than one
    /// call, and is not held: the vectors of one document may be more than fits into memory.
    fn embed(&mut self, batch: &mut Batch) -> Result<(), IndexError> {
        let calls = batch.calls();
        let (files, units) = (batch.files(), calls.iter().map(Vec::len).sum::<usize>());
        let current = batch.first_path().unwrap_or_default().to_owned();
        let mut embedded = 0;
        for call in calls {
            self.cancel.check()?;
            // While a batch is embedded its files count in the proportion that is done.
            self.tell(IngestStage::Embedding, self.done + files * embedded / units.max(1), &current);
            let ready = embed_call(&call, self.embedder, self.cancel)?;
            self.index.db.stage_vectors(&ready)?;
            embedded += ready.len();
            self.embedded += ready.len();
        }
        Ok(())
    }

    /// Takes out what is gone, unless it came in under another path or is there again.
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
