//! Estimates the effect of each cluster by masking it in the KV cache, without reading the other sources again.
//!
//! Takes an answer with its prompt; masks each cluster in turn and gives the loss of probability of the answer. The
//! later sources and the question have attended to the masked cluster and keep traces of it, hence an estimate.
//! Recomputing the end of the prompt, too, takes twice the time and agrees no better with the exact values (`cargo
//! bench --bench explain`).
//! Invariant: nothing is generated, and there is no counterfactual answer.
//! Not here: masking (`inference`), exact values (`counterfactual`).

use std::time::Instant;

use super::content::ContentShares;
use super::plan::removal_order;
use super::score::normalize_shares;
use super::{
    AnswerSource, Attribution, AttributionError, AttributionTimings, Cluster, ExplainInput, Method, Provenance,
};
use ragonite_base::{CancelToken, Millis};
use ragonite_inference::{Generate, Recompute, ScoreRequest, logprob_deltas};

/// Estimates the contribution of every cluster by its `loss`. `on_cluster` gets the number of settled clusters, the
/// number of all, and the settled ones, best first.
///
/// # Errors
/// When a setting is wrong or the model fails or cannot mask, or with [`AttributionError::Canceled`].
pub fn masked_estimate(
    input: ExplainInput<'_>,
    generator: &mut dyn Generate,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    input.settings.check()?;
    let started = Instant::now();
    let order = removal_order(&input);
    let cluster_ms = Millis::from(started.elapsed());
    if order.is_empty() {
        let timings_ms = AttributionTimings { cluster: cluster_ms, total: cluster_ms, ..AttributionTimings::default() };
        return Ok(Attribution { timings_ms, ..Attribution::new(Method::Preview) });
    }
    let content = ContentShares::of(input.answer, generator)?;
    let prompt = &input.answer.prompt;
    let request = ScoreRequest {
        parts: prompt.parts(),
        answer: input.answer.completion.tokens.clone(),
        told: match input.origin {
            AnswerSource::Here => input.answer.completion.log_probabilities.clone(),
            AnswerSource::Stored => Vec::new(),
        },
        hidden: order.iter().map(|hits| prompt.places(hits)).collect(),
        reread: Recompute::Answer,
    };
    let mut whole = Vec::new();
    let mut clusters: Vec<Cluster> = Vec::with_capacity(order.len());
    let mut decisive = false;
    let scoring = Instant::now();
    let mut on_scored = |set: Option<usize>, scored: &[f32]| match set {
        None => whole = scored.to_vec(),
        Some(set) => {
            clusters.push(estimate(&order[set], content.weigh(&logprob_deltas(&whole, scored)), &content));
            decisive = normalize_shares(&mut clusters, input.settings.temperature);
            on_cluster(clusters.len(), order.len(), &clusters);
        }
    };
    generator.score(&request, cancel, &mut on_scored).map_err(AttributionError::scoring)?;
    let timings_ms = AttributionTimings {
        cluster: cluster_ms,
        generate: scoring.elapsed().into(),
        total: started.elapsed().into(),
        ..AttributionTimings::default()
    };
    Ok(Attribution { decisive, clusters, timings_ms, ..Attribution::new(Method::Preview) })
}

fn estimate(hits: &[usize], drops: Vec<f32>, content: &ContentShares) -> Cluster {
    Cluster {
        hits: hits.to_vec(),
        how: Provenance::Preview,
        contribution: content.loss(&drops, 0),
        share: None,
        counterfactual_answer: None,
        counterfactuals: Vec::new(),
        drops,
        drops_how: Some(Provenance::Preview),
        divergences: Vec::new(),
    }
}

/// 1 minus the factor by which a token becomes less probable (geometric mean over the tokens), from the mean of the
/// logprob drops; 0 if the answer becomes no less probable.
pub(super) fn loss_of_mean(mean: f64) -> f64 {
    // A probability of 0 gives NaN.
    if mean.is_nan() { 0.0 } else { 1.0 - (-mean.max(0.0)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_half_as_probable_at_each_token_has_lost_half() {
        let near = |mean: f64, expected: f64| (loss_of_mean(mean) - expected).abs() < 1e-12;
        assert!(near(std::f64::consts::LN_2, 0.5));
        assert!(near(-0.5, 0.0), "more probable without it is no loss");
        assert!(near(0.0, 0.0) && near(f64::INFINITY, 1.0) && near(f64::NAN, 0.0));
    }
}
