//! Vectors of single evidences with another embedder, with fewer context parts, or with other words.
//!
//! Takes ids and an embedder, gives vectors, made as an ingest makes them. Invariant: nothing is stored.
//! Not here: making the vectors of all evidences (`rebuild`).

use std::collections::HashMap;

use super::batch::{Batch, Unit, embed_call};
use super::domain::TextHash;
use super::{Index, IndexError, StoredEvidence, windows};
use ragonite_base::{CancelToken, EvidenceId};
use ragonite_document::evidence::ContextParts;
use ragonite_inference::{Embed, Embedding};

impl Index {
    /// The vectors of these evidences by `embedder`, without evidences that are gone. The domain's own vectors are
    /// read, others are computed.
    ///
    /// # Errors
    /// If the database cannot be read, the embedder fails, or with [`IndexError::Canceled`].
    pub fn vectors_by(
        &self,
        ids: &[EvidenceId],
        embedder: &dyn Embed,
        cancel: &CancelToken,
    ) -> Result<HashMap<EvidenceId, Embedding>, IndexError> {
        if self.check_embedder(embedder.identity()).is_ok() {
            // An evidence that is gone has a zero vector.
            let is_there = |vector: &Embedding| vector.values().iter().any(|value| *value != 0.0);
            let found = ids.iter().copied().zip(self.vectors(ids)?);
            return Ok(found.filter(|(_, vector)| is_there(vector)).collect());
        }
        self.embedded(ids, |indexed| indexed, embedder, cancel)
    }

    /// The vectors that these evidences would have with only `parts` of their context, without evidences that are gone.
    /// Where that changes no text, the domain's own vectors are read.
    ///
    /// # Errors
    /// [`IndexError::EmbedderMismatch`]; if the database cannot be read, the embedder fails, or with
    /// [`IndexError::Canceled`].
    pub fn vectors_with(
        &self,
        ids: &[EvidenceId],
        parts: ContextParts,
        embedder: &dyn Embed,
        cancel: &CancelToken,
    ) -> Result<HashMap<EvidenceId, Embedding>, IndexError> {
        self.check_embedder(embedder.identity())?;
        let (mut same, mut other) = (Vec::new(), Vec::new());
        for stored in self.evidences(ids)? {
            let evidence = &stored.evidence;
            let hash = |parts| TextHash::of(evidence, parts);
            let to = if hash(stored.indexed) == hash(stored.indexed.among(parts)) { &mut same } else { &mut other };
            to.push(stored.id);
        }
        let mut vectors = self.embedded(&other, |indexed| indexed.among(parts), embedder, cancel)?;
        vectors.extend(same.iter().copied().zip(self.vectors(&same)?));
        Ok(vectors)
    }

    /// The vector that an evidence would have with other words: `change` gives the new form of its content and of the
    /// texts around it. None if the evidence is gone.
    ///
    /// # Errors
    /// If the database cannot be read, the embedder fails, or with [`IndexError::Canceled`].
    pub fn vector_changed(
        &self,
        id: EvidenceId,
        change: &dyn Fn(&str) -> String,
        embedder: &dyn Embed,
        cancel: &CancelToken,
    ) -> Result<Option<Embedding>, IndexError> {
        let Some(StoredEvidence { mut evidence, indexed, .. }) = self.evidences(&[id])?.pop() else {
            return Ok(None);
        };
        cancel.check()?;
        evidence.content = change(&evidence.content);
        evidence.context.before = change(&evidence.context.before);
        evidence.context.after = change(&evidence.context.after);
        let hash = TextHash::of(&evidence, indexed);
        let unit = Unit { hash, pieces: windows::texts(&evidence, indexed, embedder)? };
        Ok(embed_call(&[unit], embedder, cancel)?.pop().map(|(_, vector)| vector))
    }

    /// Embeds evidences with the chosen ones of their indexed context parts.
    fn embedded(
        &self,
        ids: &[EvidenceId],
        parts: impl Fn(ContextParts) -> ContextParts,
        embedder: &dyn Embed,
        cancel: &CancelToken,
    ) -> Result<HashMap<EvidenceId, Embedding>, IndexError> {
        let mut batch = Batch::default();
        let mut hashes = Vec::with_capacity(ids.len());
        for stored in self.evidences(ids)? {
            cancel.check()?;
            let parts = parts(stored.indexed);
            let hash = TextHash::of(&stored.evidence, parts);
            if !batch.has(&hash) {
                let pieces = windows::texts(&stored.evidence, parts, embedder)?;
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
