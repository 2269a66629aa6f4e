//! Leave-one-out logprob deltas: how an answer's probability changes without parts of its prompt.
//!
//! Takes a prompt, the tokens of an answer and sets of parts to leave out; gives the loss of every token for every set.
//! Each shorter prompt is read on its own, so the values are exact; nothing is generated.
//! Not here: masking ([`ScoreRequest`](super::ScoreRequest)), reading prompts (`llama`), the meaning of a loss for a
//! source (`attribution`).

use serde::{Deserialize, Serialize};

use super::PromptPart;
use super::fast_exp::fast_exp;

/// Number of first tokens of an answer whose whole distributions are compared. The distributions after the whole prompt
/// stay in memory during the call: 64 over a vocabulary of 151,936 tokens take 39 MB as f32.
pub const COMPARED_TOKENS: usize = 64;

/// Tokens less probable than this in both distributions are skipped. All 151,936 of a vocabulary together would add
/// less than 0.00002 to a divergence.
const NEGLIGIBLE: f32 = 1e-10;

/// Number of logits processed at once.
const LANES: usize = 16;

/// Number of powers summed as f32 before they are added to an f64 sum, to limit rounding errors.
const ADDED: usize = 64 * LANES;

/// The part of a prediction that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The probability of the answer's token.
    Token,
    /// The probabilities of all tokens.
    Distribution,
}

/// A request for logprob deltas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareRequest {
    /// The prompt in order.
    pub parts: Vec<PromptPart>,
    /// Tokens of the answer.
    pub answer: Vec<i32>,
    /// Sets of indices into `parts`. Sets whose prompts share a prefix are best next to each other.
    pub without: Vec<Vec<usize>>,
    /// The measure.
    pub measure: Measure,
}

/// The loss of an answer without one set of parts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// For each token of the answer, the drop of its natural-log probability.
    pub drops: Vec<f32>,
    /// For each of the first [`COMPARED_TOKENS`] tokens, the Jensen-Shannon divergence of both distributions in bits, 0
    /// to 1; empty with [`Measure::Token`].
    pub divergences: Vec<f32>,
}

impl CompareRequest {
    /// The prompt without a set of its parts.
    #[must_use]
    pub fn without(&self, set: &[usize]) -> Vec<PromptPart> {
        let kept = self.parts.iter().enumerate().filter(|(at, _)| !set.contains(at));
        kept.map(|(_, part)| part.clone()).collect()
    }
}

/// The differences `before - after`. Not finite ones, for tokens of probability 0, count as 0, because JSON cannot hold
/// them.
#[must_use]
pub fn logprob_deltas(before: &[f32], after: &[f32]) -> Vec<f32> {
    let drop = |(before, after): (&f32, &f32)| Some(before - after).filter(|drop| drop.is_finite()).unwrap_or(0.0);
    before.iter().zip(after).map(drop).collect()
}

/// The largest logit, in lanes that the compiler vectorizes.
pub fn largest(logits: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (whole, rest) = logits.as_chunks::<LANES>();
    for chunk in whole {
        lanes.iter_mut().zip(chunk).for_each(|(lane, logit)| *lane = larger(*lane, *logit));
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(f32::NEG_INFINITY, larger)
}

/// Natural logarithm of the sum of the exponentials: a logit minus it is the token's logprob.
pub fn log_sum(logits: &[f32]) -> f64 {
    // Relative to the largest, so that nothing overflows.
    let largest = largest(logits);
    let sums = logits.chunks(ADDED).map(|some| f64::from(sum_of_powers(some, largest)));
    f64::from(largest) + sums.sum::<f64>().ln()
}

/// Sum of the exponentials, relative to the largest logit.
fn sum_of_powers(logits: &[f32], largest: f32) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (whole, rest) = logits.as_chunks::<LANES>();
    for chunk in whole {
        sums.iter_mut().zip(chunk).for_each(|(sum, logit)| *sum += fast_exp(logit - largest));
    }
    sums.iter().sum::<f32>() + rest.iter().map(|logit| fast_exp(logit - largest)).sum::<f32>()
}

/// The probabilities of all tokens, from their logits.
pub fn softmax(logits: &[f32]) -> Vec<f32> {
    // Relative to the largest, so that nothing overflows.
    let largest = largest(logits);
    let mut powers: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f64 = powers.iter().copied().map(f64::from).sum();
    for power in &mut powers {
        *power = (f64::from(*power) / sum) as f32;
    }
    powers
}

/// Jensen-Shannon divergence of two distributions in bits: 0 if equal, 1 if they share no token.
pub fn divergence(p: &[f32], q: &[f32]) -> f32 {
    let part = |share: f32, middle: f32| if share > 0.0 { f64::from(share * (share / middle).log2()) } else { 0.0 };
    let counts = |(p, q): &(&f32, &f32)| **p > NEGLIGIBLE || **q > NEGLIGIBLE;
    let sum = p.iter().zip(q).filter(counts).map(|(p, q)| {
        let middle = (p + q) / 2.0;
        part(*p, middle) + part(*q, middle)
    });
    let bits = sum.sum::<f64>() / 2.0;
    // Rounding may leave the range.
    if bits.is_finite() { bits.clamp(0.0, 1.0) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distributions_without_a_common_word_are_one_bit_apart_and_equal_ones_none() {
        let is = |p: &[f32], q: &[f32], bits: f32| (divergence(p, q) - bits).abs() < 1e-7;
        assert!(is(&[1.0, 0.0], &[0.0, 1.0], 1.0) && is(&[0.25, 0.75], &[0.25, 0.75], 0.0));
        // Half of the mean of 1 · log2(1 / 0.75) and of 0.5 · log2(0.5 / 0.75) + 0.5 · log2(0.5 / 0.25).
        assert!((divergence(&[1.0, 0.0], &[0.5, 0.5]) - 0.311_278).abs() < 1e-5);
        assert!(is(&[f32::NAN], &[1.0], 0.0));
    }

    #[test]
    fn logits_of_any_size_are_a_distribution() {
        let shares = softmax(&[1000.0, 1000.0, f32::NEG_INFINITY]);
        assert_eq!(shares, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn a_sum_of_powers_is_that_of_all_logits() {
        let logits: Vec<f32> = (0..1000_u16).map(|n| f32::from(n % 97) * 0.4 - 20.0).collect();
        let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
        assert!((log_sum(&logits) - sum.ln()).abs() < 1e-6);
        assert!((log_sum(&[1000.0, 1000.0, f32::NEG_INFINITY]) - 1000.0 - 2.0_f64.ln()).abs() < 1e-9);
        assert!((log_sum(&[-3.0]) + 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_no_file_can_hold_is_no_drop() {
        let impossible = f32::NEG_INFINITY;
        assert_eq!(logprob_deltas(&[-1.0, -1.0, impossible], &[-3.0, impossible, impossible]), [2.0, 0.0, 0.0]);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(200))]

        #[test]
        fn a_divergence_is_the_same_both_ways_and_between_none_and_one_bit(
            logits in prop::collection::vec((-30.0_f32..30.0, -30.0_f32..30.0), 1..40),
        ) {
            let (p, q): (Vec<f32>, Vec<f32>) = logits.into_iter().unzip();
            let (p, q) = (softmax(&p), softmax(&q));
            let (there, back) = (divergence(&p, &q), divergence(&q, &p));
            prop_assert!((0.0..=1.0).contains(&there));
            prop_assert!((there - back).abs() < 1e-5);
        }
    }
}
