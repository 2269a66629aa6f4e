//! Syncs the derived indexes with `domain.db`, without reading source files.
//!
//! Takes a [`BuildSource`], gives both indexes in sync.
//! Invariants: an index is updated from its own generation if possible, and rebuilt if it is damaged, missing, older
//! than the list of removals, or has another number of evidences than the database afterwards; removals that both
//! indexes on disk have processed are deleted from the list; only the holder of the write lock changes files;
//! cancellation leaves the files as they were.
//! Not here: checking each entry (`check`).

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::IndexError;
use super::checksums::Others;
use super::dense::Dense;
use super::domain::DomainDb;
use super::error::file_error;
use super::lexical::Lexical;
use super::progress::{IngestProgress, IngestStage, OnProgress};
use ragonite_base::{CancelToken, EvidenceId};
use ragonite_document::evidence::ContextParts;
use ragonite_inference::EncoderIdentity;

/// File that the writing process locks. It has no content.
pub(super) const LOCK_FILE: &str = "write.lock";

/// Evidences between two progress reports.
const PROGRESS_STEP: usize = 500;

/// While it lives, no other process writes to the domain.
#[derive(Debug)]
pub(super) struct WriteLock(File);

impl Drop for WriteLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread starts at that moment inherits it until it
        // runs. After a failure here the lock lasts until this process ends.
        let _ = self.0.unlock();
    }
}

impl WriteLock {
    /// None while another process holds it.
    pub(super) fn take(folder: &Path) -> Result<Option<Self>, IndexError> {
        let path = folder.join(LOCK_FILE);
        let failed = |source| file_error("locking", &path, source);
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}

/// The two derived indexes.
#[derive(Debug)]
pub(super) struct Derived {
    pub(super) dense: Dense,
    pub(super) lexical: Lexical,
}

/// The source of the derived indexes.
pub(super) struct BuildSource<'a> {
    pub(super) db: &'a DomainDb,
    pub(super) folder: &'a Path,
    pub(super) embedder: &'a EncoderIdentity,
    /// A half-synced index is not saved on cancellation; the next opening finishes it.
    pub(super) cancel: &'a CancelToken,
}

impl Derived {
    /// Opens both and syncs them on disk.
    pub(super) fn open(source: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<Self, IndexError> {
        Dense::delete_leftovers(source.folder);
        let (dense, lexical) = from_disk(source, Others::Refused);
        // Cancellation must not delete anything, so both results are checked first.
        let (dense, lexical) = (dense?, lexical?);
        let dense = if let Some(dense) = dense {
            dense
        } else {
            // A damaged file may name the present generation, and the new one would then not be saved.
            Dense::delete(source.folder)?;
            Dense::empty(source.folder, source.embedder)?
        };
        let lexical = match lexical {
            Some(lexical) => lexical,
            None => Lexical::create(source.folder)?,
        };
        let mut derived = Self { dense, lexical };
        derived.catch_up(source, on_progress)?;
        Ok(derived)
    }

    /// Opens what another process left on disk, however old, and builds missing indexes in memory.
    pub(super) fn open_read_only(
        source: &BuildSource<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        let _snapshot = source.db.snapshot()?;
        let (dense, lexical) = from_disk(source, Others::Allowed);
        let dense = if let Some(dense) = dense? {
            dense
        } else {
            let mut dense = Dense::empty(source.folder, source.embedder)?;
            catch_up_dense(&mut dense, source, on_progress)?;
            dense
        };
        let lexical = if let Some(lexical) = lexical? {
            lexical
        } else {
            let mut lexical = Lexical::in_memory(source.folder)?;
            catch_up_lexical(&mut lexical, source, on_progress)?;
            lexical
        };
        Ok(Self { dense, lexical })
    }

    /// Syncs both and saves them. The caller holds the write lock.
    pub(super) fn catch_up(
        &mut self,
        source: &BuildSource<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), IndexError> {
        let generation = self.save(source, on_progress)?;
        // Both are saved as of this generation. A failure to clear the list costs a little space and is retried next
        // time.
        if let Err(error) = source.db.forget_removed(generation) {
            tracing::warn!(%error, "what was removed stays noted");
        }
        Ok(())
    }

    /// Syncs both on disk; gives their generation.
    fn save(&mut self, source: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<i64, IndexError> {
        let _snapshot = source.db.snapshot()?;
        let generation = source.db.generation()?;
        let total = source.db.evidence_counts(0)?.total;
        if self.dense.generation != generation || self.dense.len() != total {
            catch_up_dense(&mut self.dense, source, on_progress)?;
        }
        if self.dense.generation > 0 && Dense::generation_on_disk(source.folder) != Some(self.dense.generation) {
            self.dense.save(source.embedder)?;
        }
        if !self.lexical.is_on_disk() {
            self.lexical = Lexical::create(source.folder)?;
        }
        if self.lexical.generation != generation || self.lexical.len() != total {
            match catch_up_lexical(&mut self.lexical, source, on_progress) {
                // Leftovers of a killed process block the commit.
                Err(IndexError::Lexical { .. }) => {
                    self.lexical = Lexical::create(source.folder)?;
                    catch_up_lexical(&mut self.lexical, source, on_progress)?;
                }
                result => result?,
            }
        }
        Ok(generation)
    }
}

/// An index from disk; none if it cannot be trusted.
type Loaded<T> = Result<Option<T>, IndexError>;

/// Loads both indexes in parallel: verifying them takes most of the time of an opening.
fn from_disk(source: &BuildSource<'_>, others: Others) -> (Loaded<Dense>, Loaded<Lexical>) {
    let (folder, embedder, cancel) = (source.folder, source.embedder, source.cancel);
    rayon::join(|| Dense::open(folder, embedder, cancel), || Lexical::load(folder, others, cancel))
}

fn catch_up_dense(
    dense: &mut Dense,
    source: &BuildSource<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    dense.make_changeable(source.folder, source.embedder, source.cancel)?;
    let generation = source.db.generation()?;
    let total = source.db.evidence_counts(0)?.total;
    let removed = source.db.removed_since(dense.generation)?;
    // usearch only marks removed vectors, and many marks slow a search down.
    let removed = removed.filter(|removed| dense.generation <= generation && removed.len() <= total / 2);
    if removed.is_none() {
        *dense = Dense::empty(source.folder, source.embedder)?;
    }
    if dense.generation > 0 {
        for id in removed.into_iter().flatten() {
            dense.remove(id)?;
        }
        fill_dense(dense, source, on_progress)?;
    }
    if dense.generation == 0 || dense.len() != total {
        *dense = Dense::empty(source.folder, source.embedder)?;
        fill_dense(dense, source, on_progress)?;
    }
    dense.generation = generation;
    Ok(())
}

fn fill_dense(dense: &Dense, source: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<(), IndexError> {
    let more = source.db.evidence_counts(dense.generation)?.newer;
    dense.reserve(more)?;
    let mut done = 0;
    source.db.vectors_since(dense.generation, &mut |id, vector| {
        source.cancel.check()?;
        tell(on_progress, &mut done, more);
        dense.add(id, &vector)
    })
}

fn catch_up_lexical(
    lexical: &mut Lexical,
    source: &BuildSource<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let generation = source.db.generation()?;
    let total = source.db.evidence_counts(0)?.total;
    let since = lexical.generation;
    let removed = if since > 0 && since <= generation { source.db.removed_since(since)? } else { None };
    let follows = removed.is_some();
    if let Some(removed) = removed {
        change_lexical(lexical, source, Change { since, removed, to: generation }, on_progress)?;
    }
    if !follows || lexical.len() != total {
        let all = Change { since: 0, removed: Vec::new(), to: generation };
        change_lexical(lexical, source, all, on_progress)?;
    }
    Ok(())
}

/// The changes of an index between two generations; `since` 0 means everything.
struct Change {
    since: i64,
    removed: Vec<EvidenceId>,
    to: i64,
}

fn change_lexical(
    lexical: &mut Lexical,
    source: &BuildSource<'_>,
    Change { since, removed, to }: Change,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let more = source.db.evidence_counts(since)?.newer;
    let mut change = lexical.change()?;
    if since == 0 {
        change.clear()?;
    }
    for id in removed {
        change.remove(id);
    }
    let mut done = 0;
    let added = source.db.evidences_since(since, &mut |stored| {
        source.cancel.check()?;
        tell(on_progress, &mut done, more);
        let evidence = &stored.evidence;
        let title = if stored.indexed.contains(ContextParts::TITLE) { evidence.context.title.as_str() } else { "" };
        change.add(stored.id, &evidence.contextualized(stored.indexed), title)
    });
    match added {
        Ok(()) => change.commit(to),
        Err(error) => {
            change.abandon();
            Err(error)
        }
    }
}

fn tell(on_progress: &mut OnProgress<'_>, done: &mut usize, total: usize) {
    if done.is_multiple_of(PROGRESS_STEP) {
        let stage = IngestStage::Indexing;
        on_progress(IngestProgress { stage, done: *done, total, embedded: 0, current: String::new() });
    }
    *done += 1;
}
