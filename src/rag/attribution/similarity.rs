//! Naive attribution: the similarity of the answer and each evidence (RAGonite, Sec. 5, the baseline).
//!
//! Takes an answer and the embeddings of its sources; gives the softmax of their cosines. Every source is a cluster of
//! its own, as in the paper: nothing is left out, so copies do not hide each other.
//! Not here: counterfactual answers (`counterfactual`).

use std::time::Instant;

use super::score::normalize_shares;
use super::{
    Attribution, AttributionError, AttributionSettings, AttributionTimings, Cluster, Method, Provenance, SourceVector,
};
use crate::answer::Answer;
use ragonite_base::{CancelToken, Millis};
use ragonite_inference::{Embed, TextRole};

/// The input of naive attribution.
#[derive(Debug, Clone, Copy)]
pub struct SimilarityInput<'a> {
    /// The answer with its prompt.
    pub answer: &'a Answer,
    /// The sources; those not in the prompt are ignored.
    pub sources: &'a [SourceVector],
    /// Only the temperature is used.
    pub settings: &'a AttributionSettings,
}

/// Compares the answer with each source in its prompt. A source without an embedding has contribution 0.
///
/// # Errors
/// When a setting is wrong or the encoder fails, or with [`AttributionError::Canceled`].
pub fn similarity(
    input: SimilarityInput<'_>,
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<Attribution, AttributionError> {
    input.settings.check()?;
    let started = Instant::now();
    let ranks = input.answer.prompt.sources();
    let mut vectors = Vec::new();
    if !ranks.is_empty() {
        vectors = embedder
            .embed(&[input.answer.own_text()], TextRole::Evidence, cancel)
            .map_err(AttributionError::embedding)?;
    }
    let cosine = |rank: usize| {
        let source = input.sources.iter().find(|source| source.rank == rank)?;
        vectors.first().map(|answer| answer.cosine(&source.embedding)).filter(|cosine| cosine.is_finite())
    };
    let mut clusters: Vec<Cluster> = ranks
        .into_iter()
        .map(|rank| Cluster {
            hits: vec![rank],
            how: Provenance::Similarity,
            contribution: cosine(rank).unwrap_or(0.0),
            share: None,
            counterfactual_answer: None,
            counterfactuals: Vec::new(),
            drops: Vec::new(),
            drops_how: None,
            divergences: Vec::new(),
        })
        .collect();
    let decisive = normalize_shares(&mut clusters, input.settings.temperature);
    let total = Millis::from(started.elapsed());
    let timings_ms = AttributionTimings { compare: total, total, ..AttributionTimings::default() };
    Ok(Attribution { decisive, clusters, timings_ms, ..Attribution::new(Method::Similarity) })
}
