//! The embedder of attribution, and the source vectors of the last explained turn.
//!
//! Invariants: it is the embedder of retrieval unless the settings name another, which is loaded when first needed;
//! the vectors of the last explained turn are kept, so that another method embeds nothing again.
//! Not here: clustering (`attribution`).

use std::collections::HashMap;
use std::sync::Arc;

use super::model_manager::ModelManager;
use ragonite_app::TurnKey;
use ragonite_base::EvidenceId;
use ragonite_inference::{Embed, Embedding, InferenceError};
use ragonite_rag::attribution::SourceVector;
use ragonite_rag::retrieval::Hit;

/// The embedder of attribution with its cached vectors.
#[derive(Default)]
pub(super) struct AttributionEmbedder {
    /// Another embedder than that of retrieval.
    own: Option<Arc<dyn Embed>>,
    kept: Option<Kept>,
}

struct Kept {
    turn: TurnKey,
    vectors: HashMap<EvidenceId, Embedding>,
}

impl AttributionEmbedder {
    /// The embedder; the first call may load it.
    pub(super) fn embedder(&mut self, models: &ModelManager) -> Result<Arc<dyn Embed>, InferenceError> {
        let (setup, profile) = (&models.setup, &models.setup.profile.profile);
        let Some(id) = setup.attribution_embedder.as_deref().filter(|id| *id != profile.embedder) else {
            return models.embedder();
        };
        let embedder = match self.own.take() {
            Some(embedder) => embedder,
            None => models.read_embedder(id)?,
        };
        Ok(Arc::clone(self.own.insert(embedder)))
    }

    /// The cached vectors of a turn; none where they are of another turn.
    pub(super) fn kept(&self, turn: TurnKey, hits: &[Hit]) -> Option<Vec<SourceVector>> {
        let kept = self.kept.as_ref().filter(|kept| kept.turn == turn)?;
        Some(sources(hits, &kept.vectors))
    }

    /// Caches the vectors of a turn in place of those of another turn.
    pub(super) fn keep(
        &mut self,
        turn: TurnKey,
        hits: &[Hit],
        vectors: HashMap<EvidenceId, Embedding>,
    ) -> Vec<SourceVector> {
        let sources = sources(hits, &vectors);
        self.kept = Some(Kept { turn, vectors });
        sources
    }
}

/// The hits that have a vector.
fn sources(hits: &[Hit], vectors: &HashMap<EvidenceId, Embedding>) -> Vec<SourceVector> {
    let source = |hit: &Hit| {
        let embedding = vectors.get(&hit.evidence)?.clone();
        Some(SourceVector { rank: hit.rank, embedding })
    };
    hits.iter().filter_map(source).collect()
}
