//! Rebuilds all derived data: the vectors if needed, and both indexes.
//!
//! Takes a domain's folder and an embedder, gives the open domain.
//! Invariants: no source file is read; the old vectors stay until all new ones exist, and are then swapped in one step;
//! new vectors outlive a kill, so that the next run continues.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::params;

use super::batch::{Batch, Unit, embed_call};
use super::dense::Dense;
use super::domain::{DomainDb, TextHash, blob, evidence_query, stored_evidence};
use super::lexical::Lexical;
use super::manifest::next_generation;
use super::progress::{IngestProgress, IngestStage, OnProgress};
use super::repair::WriteLock;
use super::stored::StoredEvidence;
use super::{Index, IndexError, windows};
use ragonite_base::{CancelToken, EvidenceId};
use ragonite_inference::{Embed, Embedding, EncoderIdentity};

/// Evidences processed together, so that texts of similar length are embedded together.
const STEP: usize = 512;

impl Index {
    /// Rebuilds the derived indexes. With another embedder every evidence is embedded again, else only those without a
    /// vector.
    ///
    /// # Errors
    /// [`IndexError::NotFound`], [`IndexError::Busy`], [`IndexError::Canceled`] or if the embedder or the disk fails;
    /// the old vectors stay until all new ones exist.
    pub fn rebuild(
        folder: &Path,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        let mut db = DomainDb::open(folder)?;
        let lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
        let identity = embedder.identity();
        db.forget_next_of_others(identity)?;
        let present = db.manifest()?.embedder;
        if present.fingerprint == identity.fingerprint && present.dimensions == identity.dimensions {
            db.take_over_vectors(identity)?;
        }
        embed_the_rest(&mut db, embedder, cancel, on_progress)?;
        // Ids stay while their vectors change, so the old file must go before the new vectors come.
        Dense::delete(folder)?;
        db.swap_vectors(identity)?;
        Lexical::create(folder)?;
        drop(lock);
        Self::open(folder, identity, cancel, on_progress)
    }
}

fn embed_the_rest(
    db: &mut DomainDb,
    embedder: &dyn Embed,
    cancel: &CancelToken,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let total = db.evidence_counts(0)?.total;
    let mut embedded = 0;
    loop {
        cancel.check()?;
        let some = db.without_next(STEP)?;
        if some.is_empty() {
            return Ok(());
        }
        let mut done = total.saturating_sub(db.count_without_next()?);
        let mut batch = Batch::default();
        let mut hashes = Vec::with_capacity(some.len());
        for stored in &some {
            let hash = TextHash::of(&stored.evidence, stored.indexed);
            if !batch.has(&hash) {
                let pieces = windows::texts(&stored.evidence, stored.indexed, embedder)?;
                batch.add(Unit { hash: hash.clone(), pieces });
            }
            hashes.push((stored.id, hash));
        }
        for call in batch.calls() {
            cancel.check()?;
            let stage = IngestStage::Embedding;
            on_progress(IngestProgress { stage, done, total, embedded, current: String::new() });
            let vectors: HashMap<TextHash, Embedding> = embed_call(&call, embedder, cancel)?.into_iter().collect();
            let kept = db.keep_next(&hashes, &vectors, embedder.identity())?;
            (done, embedded) = (done + kept, embedded + kept);
        }
    }
}

impl DomainDb {
    /// Deletes new vectors of another embedder from an earlier rebuild.
    fn forget_next_of_others(&mut self, embedder: &EncoderIdentity) -> Result<(), IndexError> {
        let fingerprint = embedder.fingerprint.clone();
        self.write("storing the new vectors", |transaction| {
            transaction.execute("DELETE FROM next_vectors WHERE fingerprint <> ?1", [fingerprint]).map(|_| ())
        })
    }

    /// Takes over the present vectors of the right size.
    fn take_over_vectors(&mut self, embedder: &EncoderIdentity) -> Result<(), IndexError> {
        let (fingerprint, bytes) = (embedder.fingerprint.clone(), embedder.dimensions * size_of::<f32>());
        self.write("storing the new vectors", |transaction| {
            let sql = "INSERT OR IGNORE INTO next_vectors
                SELECT evidence, ?1, vector FROM vectors WHERE length(vector) = ?2
                    AND evidence IN (SELECT id FROM evidences)";
            transaction.execute(sql, params![fingerprint, bytes]).map(|_| ())
        })
    }

    fn without_next(&self, limit: usize) -> Result<Vec<StoredEvidence>, IndexError> {
        let sql = evidence_query("e.id NOT IN (SELECT evidence FROM next_vectors) ORDER BY e.id LIMIT ?1");
        let read = || {
            let mut query = self.connection.prepare_cached(&sql)?;
            query.query_map([limit], stored_evidence)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed("reading the evidences"))
    }

    fn count_without_next(&self) -> Result<usize, IndexError> {
        let sql = "SELECT (SELECT count(*) FROM evidences) - (SELECT count(*) FROM next_vectors)";
        self.connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map(|count| usize::try_from(count).unwrap_or(0))
            .map_err(self.failed("counting"))
    }

    fn keep_next(
        &mut self,
        evidences: &[(EvidenceId, TextHash)],
        vectors: &HashMap<TextHash, Embedding>,
        embedder: &EncoderIdentity,
    ) -> Result<usize, IndexError> {
        self.write("storing the new vectors", |transaction| {
            let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO next_vectors VALUES (?1, ?2, ?3)")?;
            let mut kept = 0;
            for (id, hash) in evidences {
                if let Some(vector) = vectors.get(hash) {
                    kept += insert.execute(params![id.0, embedder.fingerprint, blob(vector)])?;
                }
            }
            Ok(kept)
        })
    }

    /// Swaps old and new vectors and the embedder, in one transaction.
    fn swap_vectors(&mut self, embedder: &EncoderIdentity) -> Result<(), IndexError> {
        let mut manifest = self.manifest()?;
        manifest.embedder = embedder.clone();
        self.write("storing the new vectors", |transaction| {
            transaction.execute("DELETE FROM vectors", [])?;
            transaction.execute("INSERT INTO vectors SELECT evidence, vector FROM next_vectors", [])?;
            transaction.execute("DELETE FROM next_vectors", [])?;
            transaction.execute("DELETE FROM ready_vectors", [])?;
            manifest.write(transaction)?;
            next_generation(transaction).map(|_| ())
        })
    }
}
