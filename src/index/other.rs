//! The vectors that another embedder than the domain's own gives to some of its evidences.
//!
//! Takes ids and an embedder, gives vectors, made as an ingest makes them. Nothing is stored.
//! Not here: making the vectors of all evidences (`rebuild`).

use std::collections::HashMap;

use super::batch::{Batch, Unit, embed_call};
use super::domain::TextHash;
use super::{Index, IndexError, windows};
use crate::base::{CancelToken, EvidenceId};
use crate::inference::{Embed, Embedding};

impl Index {
    /// The vectors that `embedder` gives these evidences; those that are gone are left out. The domain's own vectors are
    /// read, others are computed.
    ///
    /// # Errors
    /// When the database cannot be read, the embedder fails, or with [`IndexError::Canceled`].
    pub fn vectors_by(
        &self,
        ids: &[EvidenceId],
        embedder: &dyn Embed,
        cancel: &CancelToken,
    ) -> Result<HashMap<EvidenceId, Embedding>, IndexError> {
        if self.check_embedder(embedder.identity()).is_ok() {
            // An evidence that is gone has a vector of zeros.
            let is_there = |vector: &Embedding| vector.values().iter().any(|value| *value != 0.0);
            let found = ids.iter().copied().zip(self.vectors(ids)?);
            return Ok(found.filter(|(_, vector)| is_there(vector)).collect());
        }
        let mut batch = Batch::default();
        let mut hashes = Vec::with_capacity(ids.len());
        for stored in self.evidences(ids)? {
            cancel.check()?;
            let hash = TextHash::of(&stored.evidence, stored.indexed);
            if !batch.has(&hash) {
                let pieces = windows::texts(&stored.evidence, stored.indexed, embedder)?;
                batch.add(Unit { hash: hash.clone(), pieces });
            }
            hashes.push((stored.id, hash));
        }
        let mut vectors = HashMap::new();
        for call in batch.calls() {
            cancel.check()?;
            vectors.extend(embed_call(&call, embedder, cancel)?);
        }
        Ok(hashes.into_iter().filter_map(|(id, hash)| Some((id, vectors.get(&hash)?.clone()))).collect())
    }
}
