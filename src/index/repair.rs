//! Brings the derived indexes in step with `domain.db`, without reading a source file.
//!
//! Invariants: an index is changed from its own generation on where that is possible, and built anew where it is
//! damaged, missing, older than what the database knows of removals, or holds another number of evidences than the
//! database afterwards; what both indexes on disk have forgotten the database forgets as well; only the holder of the
//! write lock changes files; cancelling leaves the files as they were.

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

/// File that the writing process holds a lock on. It has no content.
pub(super) const LOCK_FILE: &str = "write.lock";

/// Evidences between two messages of progress.
const PROGRESS_STEP: usize = 500;

/// Says that no other process writes to the domain, for as long as it lives.
#[derive(Debug)]
pub(super) struct WriteLock(File);

impl Drop for WriteLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread starts at that moment has it open too until it runs.
        // What fails here leaves the lock to the end of this process.
        let _ = self.0.unlock();
    }
}

impl WriteLock {
    /// Nothing while another process holds it.
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

/// What the derived indexes are made from.
pub(super) struct BuildSource<'a> {
    pub(super) db: &'a DomainDb,
    pub(super) folder: &'a Path,
    pub(super) embedder: &'a EncoderIdentity,
    /// What is half in step when this is cancelled is not saved; the next opening finishes it.
    pub(super) cancel: &'a CancelToken,
}

impl Derived {
    /// Opens both and brings them in step on disk.
    pub(super) fn open(origin: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<Self, IndexError> {
        Dense::delete_leftovers(origin.folder);
        let (dense, lexical) = from_disk(origin, Others::Refused);
        // Both are known to be read to their ends before anything is deleted.
        let (dense, lexical) = (dense?, lexical?);
        let dense = if let Some(dense) = dense {
            dense
        } else {
            // What is left of a damaged file may name the present generation, and the new one would not be saved.
            Dense::delete(origin.folder)?;
            Dense::empty(origin.folder, origin.embedder)?
        };
        let lexical = match lexical {
            Some(lexical) => lexical,
            None => Lexical::create(origin.folder)?,
        };
        let mut derived = Self { dense, lexical };
        derived.catch_up(origin, on_progress)?;
        Ok(derived)
    }

    /// Opens what another process left on disk, however old, and builds in memory what is not there.
    pub(super) fn open_read_only(
        origin: &BuildSource<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        let _snapshot = origin.db.snapshot()?;
        let (dense, lexical) = from_disk(origin, Others::Allowed);
        let dense = if let Some(dense) = dense? {
            dense
        } else {
            let mut dense = Dense::empty(origin.folder, origin.embedder)?;
            catch_up_dense(&mut dense, origin, on_progress)?;
            dense
        };
        let lexical = if let Some(lexical) = lexical? {
            lexical
        } else {
            let mut lexical = Lexical::in_memory(origin.folder)?;
            catch_up_lexical(&mut lexical, origin, on_progress)?;
            lexical
        };
        Ok(Self { dense, lexical })
    }

    /// Brings both in step and saves them. The caller holds the write lock.
    pub(super) fn catch_up(
        &mut self,
        origin: &BuildSource<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), IndexError> {
        let generation = self.save(origin, on_progress)?;
        // Both are on disk as of this generation. What remains noted costs a little room, and the next time tries again.
        if let Err(error) = origin.db.forget_removed(generation) {
            tracing::warn!(%error, "what was removed stays noted");
        }
        Ok(())
    }

    /// Brings both in step on disk and gives the generation they are of.
    fn save(&mut self, origin: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<i64, IndexError> {
        let _snapshot = origin.db.snapshot()?;
        let generation = origin.db.generation()?;
        let (total, _) = origin.db.evidence_counts(0)?;
        if self.dense.generation != generation || self.dense.len() != total {
            catch_up_dense(&mut self.dense, origin, on_progress)?;
        }
        if self.dense.generation > 0 && Dense::generation_on_disk(origin.folder) != Some(self.dense.generation) {
            self.dense.save(origin.embedder)?;
        }
        if !self.lexical.is_on_disk() {
            self.lexical = Lexical::create(origin.folder)?;
        }
        if self.lexical.generation != generation || self.lexical.len() != total {
            match catch_up_lexical(&mut self.lexical, origin, on_progress) {
                // Another process was killed while it wrote: what it left is in the way.
                Err(IndexError::Lexical { .. }) => {
                    self.lexical = Lexical::create(origin.folder)?;
                    catch_up_lexical(&mut self.lexical, origin, on_progress)?;
                }
                stepped => stepped?,
            }
        }
        Ok(generation)
    }
}

/// An index as it is on disk; none where it is not to be trusted.
type Loaded<T> = Result<Option<T>, IndexError>;

/// What is on disk, as far as it is to be trusted. Reading all of it to find that out is most of an opening, so both
/// are read at once.
fn from_disk(origin: &BuildSource<'_>, others: Others) -> (Loaded<Dense>, Loaded<Lexical>) {
    let (folder, embedder, cancel) = (origin.folder, origin.embedder, origin.cancel);
    rayon::join(|| Dense::open(folder, embedder, cancel), || Lexical::load(folder, others, cancel))
}

fn catch_up_dense(
    dense: &mut Dense,
    origin: &BuildSource<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    dense.make_changeable(origin.folder, origin.embedder, origin.cancel)?;
    let generation = origin.db.generation()?;
    let (total, _) = origin.db.evidence_counts(0)?;
    let removed = origin.db.removed_since(dense.generation)?;
    // usearch only marks what is removed; many marks make a search slow.
    let removed = removed.filter(|removed| dense.generation <= generation && removed.len() <= total / 2);
    if removed.is_none() {
        *dense = Dense::empty(origin.folder, origin.embedder)?;
    }
    if dense.generation > 0 {
        for id in removed.into_iter().flatten() {
            dense.remove(id)?;
        }
        fill_dense(dense, origin, on_progress)?;
    }
    if dense.generation == 0 || dense.len() != total {
        *dense = Dense::empty(origin.folder, origin.embedder)?;
        fill_dense(dense, origin, on_progress)?;
    }
    dense.generation = generation;
    Ok(())
}

fn fill_dense(dense: &Dense, origin: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<(), IndexError> {
    let (_, more) = origin.db.evidence_counts(dense.generation)?;
    dense.reserve(more)?;
    let mut done = 0;
    origin.db.vectors_since(dense.generation, &mut |id, vector| {
        origin.cancel.check()?;
        tell(on_progress, &mut done, more);
        dense.add(id, &vector)
    })
}

fn catch_up_lexical(
    lexical: &mut Lexical,
    origin: &BuildSource<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let generation = origin.db.generation()?;
    let (total, _) = origin.db.evidence_counts(0)?;
    let since = lexical.generation;
    let removed = if since > 0 && since <= generation { origin.db.removed_since(since)? } else { None };
    let follows = removed.is_some();
    if let Some(removed) = removed {
        change_lexical(lexical, origin, Change { since, removed, to: generation }, on_progress)?;
    }
    if !follows || lexical.len() != total {
        let all = Change { since: 0, removed: Vec::new(), to: generation };
        change_lexical(lexical, origin, all, on_progress)?;
    }
    Ok(())
}

/// What an index takes in and forgets between two generations; since 0 means all there is.
struct Change {
    since: i64,
    removed: Vec<EvidenceId>,
    to: i64,
}

fn change_lexical(
    lexical: &mut Lexical,
    origin: &BuildSource<'_>,
    Change { since, removed, to }: Change,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let (_, more) = origin.db.evidence_counts(since)?;
    let mut change = lexical.change()?;
    if since == 0 {
        change.clear()?;
    }
    for id in removed {
        change.remove(id);
    }
    let mut done = 0;
    let added = origin.db.evidences_since(since, &mut |stored| {
        origin.cancel.check()?;
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
