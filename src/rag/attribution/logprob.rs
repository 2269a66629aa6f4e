//! Logprob attribution: how much less probable the original answer is without each cluster.
//!
//! Takes an answer with its prompt; reads the prompt without each cluster in turn, and the original answer after it.
//! Gives the logprob drop of the tokens, or the Jensen-Shannon divergence of the predictions (ARC-JSD, arXiv
//! 2505.16415).
//! Invariants: the cluster is really left out, so values are exact; nothing is generated, and there is no
//! counterfactual answer.
//! Not here: masking a cluster in the KV cache (`masked_estimate`), reading prompts (`inference`).

use std::time::Instant;

use super::content::ContentShares;
use super::plan::reading_order;
use super::score::normalize_shares;
use super::{Attribution, AttributionError, AttributionTimings, Cluster, ExplainInput, Method, Provenance};
use ragonite_base::{CancelToken, Millis};
use ragonite_inference::{CompareRequest, Compared, Generate, Measure};

/// What is compared with and without a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Logprob drop of the answer's tokens.
    Logprob,
    /// Jensen-Shannon divergence of the predictions.
    Divergence,
}

impl Reading {
    fn method(self) -> Method {
        match self {
            Self::Logprob => Method::Logprob,
            Self::Divergence => Method::Jsd,
        }
    }

    fn how(self) -> Provenance {
        match self {
            Self::Logprob => Provenance::Logprob,
            Self::Divergence => Provenance::Jsd,
        }
    }

    fn measure(self) -> Measure {
        match self {
            Self::Logprob => Measure::Token,
            Self::Divergence => Measure::Distribution,
        }
    }

    /// By logprob the loss of probability, by divergence its mean over the tokens in bits. Both are in 0..=1: 0 if
    /// nothing changes.
    fn contribution(self, compared: &Compared, content: &ContentShares) -> f64 {
        match self {
            Self::Logprob => content.loss(&compared.drops, 0),
            Self::Divergence => content.mean(&compared.divergences, 0).max(0.0),
        }
    }
}

/// Computes the contribution of every cluster. `on_cluster` gets the number of settled clusters, the number of all, and
/// the settled ones with shares among themselves, best first.
///
/// # Errors
/// When a setting is wrong or the model fails or gives no probabilities, or with [`AttributionError::Canceled`].
pub fn probability(
    input: ExplainInput<'_>,
    reading: Reading,
    generator: &mut dyn Generate,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    input.settings.check()?;
    let started = Instant::now();
    let order = reading_order(&input);
    let cluster_ms = Millis::from(started.elapsed());
    let mut clusters: Vec<Cluster> = Vec::with_capacity(order.len());
    let mut decisive = false;
    let mut generate_ms = Millis::default();
    if !order.is_empty() {
        let content = ContentShares::of(input.answer, generator)?;
        let prompt = &input.answer.prompt;
        let request = CompareRequest {
            parts: prompt.parts(),
            answer: input.answer.completion.tokens.clone(),
            without: order.iter().map(|hits| prompt.places(hits)).collect(),
            measure: reading.measure(),
        };
        let comparing = Instant::now();
        let mut on_compared = |set: usize, compared: &Compared| {
            clusters.push(settled(&order[set], reading, compared, &content));
            decisive = normalize_shares(&mut clusters, input.settings.temperature);
            on_cluster(clusters.len(), order.len(), &clusters);
        };
        generator.compare(&request, cancel, &mut on_compared).map_err(AttributionError::comparing)?;
        generate_ms = comparing.elapsed().into();
    }
    let timings_ms = AttributionTimings {
        cluster: cluster_ms,
        generate: generate_ms,
        total: started.elapsed().into(),
        ..AttributionTimings::default()
    };
    Ok(Attribution { decisive, clusters, timings_ms, ..Attribution::new(reading.method()) })
}

fn settled(hits: &[usize], reading: Reading, compared: &Compared, content: &ContentShares) -> Cluster {
    let drops = content.weigh(&compared.drops);
    let compared = Compared { drops, divergences: content.weigh(&compared.divergences) };
    Cluster {
        hits: hits.to_vec(),
        how: reading.how(),
        contribution: reading.contribution(&compared, content),
        share: None,
        counterfactual_answer: None,
        counterfactuals: Vec::new(),
        drops: compared.drops,
        drops_how: Some(Provenance::Logprob),
        divergences: compared.divergences,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_half_as_probable_at_each_token_has_lost_half_and_bits_are_their_mean() {
        let content = ContentShares::of_pieces(&[b"It".to_vec(), b" is".to_vec()], &[]);
        let ln_2 = std::f32::consts::LN_2;
        let compared = Compared { drops: vec![ln_2, ln_2], divergences: vec![0.5, 0.0] };
        assert!((Reading::Logprob.contribution(&compared, &content) - 0.5).abs() < 1e-6);
        assert!((Reading::Divergence.contribution(&compared, &content) - 0.25).abs() < 1e-12);
        let gained = Compared { drops: vec![0.5, -1.0], divergences: Vec::new() };
        let is_none = |reading: Reading| reading.contribution(&gained, &content) == 0.0;
        assert!(is_none(Reading::Logprob), "more probable without it is no loss");
        assert!(is_none(Reading::Divergence));
    }
}
