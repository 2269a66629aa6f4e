//! Turns contributions into shares.
//!
//! Takes the clusters with their contributions; gives the masked softmax, and whether it is decisive.
//! Invariants: a contribution up to the [`floor`] of its method has no share; the other shares sum to 1; nothing is
//! decisive without a contribution above the floor.
//! Not here: computing contributions (`counterfactual`, `logprob`, `masked_estimate`, `similarity`).

use super::{Cluster, Provenance};

/// Contributions count as equal if the ratio of their shares is below this factor. The ratio is `exp(difference of
/// contributions / temperature)`, for any number of clusters; at the default temperature 1.1 is a difference of 0.005
/// in cosine, the distance up to which evidences are clustered.
pub const FLAT_RATIO: f64 = 1.1;

/// Largest distance of two answers, as 1 minus their cosine, that leaves the answer the same. It is the distance up to
/// which evidences are clustered.
pub(super) const SAME_ANSWER: f64 = 0.005;

/// The contribution up to which a source has no effect. For the methods that read probabilities it is meant to be what
/// sources get that have nothing to do with the answer (`ragonite eval attribution --floor` measures that); similarity
/// has no effect at all.
#[must_use]
pub fn floor(how: Provenance) -> f64 {
    match how {
        Provenance::Verified | Provenance::Regenerated | Provenance::Group => SAME_ANSWER,
        Provenance::Preview | Provenance::Logprob => 0.05,
        Provenance::Jsd => 0.02,
        Provenance::Similarity => f64::INFINITY,
    }
}

/// A contribution with what it was computed by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// How the contribution was computed.
    pub how: Provenance,
    /// The contribution.
    pub contribution: f64,
}

impl Effect {
    /// Whether the answer changed by more than the method's noise.
    #[must_use]
    pub fn counts(self) -> bool {
        self.contribution.is_finite() && self.contribution > floor(self.how)
    }
}

/// Masked softmax over the contributions that count; the others have no share.
#[must_use]
pub fn shares(effects: &[Effect], temperature: f64) -> Vec<Option<f64>> {
    let counting = || effects.iter().filter(|effect| effect.counts()).map(|effect| effect.contribution);
    let largest = counting().fold(f64::NEG_INFINITY, f64::max);
    // Relative to the largest, every power is at most 1: nothing overflows and the sum is at least 1.
    let weight = |effect: &Effect| effect.counts().then(|| ((effect.contribution - largest) / temperature).exp());
    let weights: Vec<Option<f64>> = effects.iter().map(weight).collect();
    let sum: f64 = weights.iter().flatten().sum();
    weights.into_iter().map(|weight| weight.map(|weight| weight / sum)).collect()
}

/// Whether the effects tell which cluster matters: the largest counts, and exceeds both the smallest and 0 by more than
/// [`FLAT_RATIO`] allows.
#[must_use]
pub fn is_decisive(effects: &[Effect], temperature: f64) -> bool {
    let value = |effect: &Effect| if effect.counts() { effect.contribution } else { 0.0 };
    let largest = effects.iter().map(value).fold(0.0, f64::max);
    let smallest = if effects.len() == 1 { 0.0 } else { effects.iter().map(value).fold(largest, f64::min) };
    let least = temperature * FLAT_RATIO.ln();
    largest > least && largest - smallest > least
}

/// Gives the clusters their shares, sorts them by contribution (ties by rank), and tells whether they are decisive.
pub(super) fn normalize_shares(clusters: &mut [Cluster], temperature: f64) -> bool {
    clusters.sort_by(|a, b| b.contribution.total_cmp(&a.contribution).then_with(|| a.hits.cmp(&b.hits)));
    let effects: Vec<Effect> = clusters.iter().map(Cluster::effect).collect();
    for (cluster, share) in clusters.iter_mut().zip(shares(&effects, temperature)) {
        cluster.share = share;
    }
    is_decisive(&effects, temperature)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Temperature of the paper.
    const T: f64 = 0.05;

    fn effects(how: Provenance, contributions: &[f64]) -> Vec<Effect> {
        contributions.iter().map(|contribution| Effect { how, contribution: *contribution }).collect()
    }

    fn regenerated(contributions: &[f64]) -> Vec<Effect> {
        effects(Provenance::Regenerated, contributions)
    }

    #[test]
    fn the_softmax_of_the_paper() {
        let shares = shares(&regenerated(&[0.30, 0.25, 0.0]), T);
        assert!((shares[0].unwrap() - 0.731_058_578_6).abs() < 1e-9);
        assert!((shares[1].unwrap() - 0.268_941_421_4).abs() < 1e-9);
        assert_eq!(shares[2], None);
        assert_eq!(super::shares(&regenerated(&[0.30, 0.25, 0.005]), T), shares, "what says the same is masked too");
        assert!(is_decisive(&regenerated(&[0.30, 0.25, 0.0]), T));
    }

    #[test]
    fn nothing_below_the_floor_has_a_share_or_decides() {
        for how in [Provenance::Verified, Provenance::Preview, Provenance::Logprob, Provenance::Jsd] {
            let below = effects(how, &[floor(how), floor(how) / 2.0, 0.0]);
            assert_eq!(shares(&below, T), [None, None, None], "{how:?}");
            assert!(!is_decisive(&below, 1e-9), "{how:?}");
            assert_eq!(shares(&effects(how, &[0.5, floor(how)]), T), [Some(1.0), None], "{how:?}");
        }
        assert!(!is_decisive(&[], T));
    }

    #[test]
    fn a_similarity_is_no_effect() {
        let similar = effects(Provenance::Similarity, &[0.9, 0.1]);
        assert_eq!((shares(&similar, T), is_decisive(&similar, T)), (vec![None, None], false));
    }

    #[test]
    fn contributions_that_are_almost_equal_are_flat() {
        assert!(!is_decisive(&regenerated(&[0.300, 0.304, 0.302]), T));
        assert!(is_decisive(&regenerated(&[0.300, 0.306, 0.302]), T));
        assert!(
            is_decisive(&regenerated(&[0.3, 0.3, 0.0]), T),
            "two sources stand out from a third that changed nothing"
        );
        assert!(!is_decisive(&regenerated(&[f64::EPSILON, 0.0, 0.0]), T), "the same answer in other tokens");
        assert!(is_decisive(&regenerated(&[0.01]), T), "the only cluster decides when it changes the answer");
        assert!(!is_decisive(&regenerated(&[0.3, 0.1]), 10.0), "a high temperature makes them alike");
    }

    #[test]
    fn a_contribution_that_is_no_number_has_no_share() {
        assert_eq!(shares(&regenerated(&[f64::NAN, 0.3]), T), [None, Some(1.0)]);
        assert!(is_decisive(&regenerated(&[f64::NAN, 0.3]), T));
    }

    proptest! {
        #[test]
        fn shares_sum_to_one_and_keep_the_order(
            contributions in prop::collection::vec(prop_oneof![Just(0.0), Just(0.005), -1.0..2.0], 1..12),
            temperature in prop_oneof![Just(1e-9), 0.001..5.0],
        ) {
            let effects = regenerated(&contributions);
            let shares = shares(&effects, temperature);
            for (effect, share) in effects.iter().zip(&shares) {
                prop_assert_eq!(effect.counts(), share.is_some());
                prop_assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
            let sum: f64 = shares.iter().flatten().sum();
            prop_assert!(shares.iter().all(Option::is_none) || (sum - 1.0).abs() < 1e-12);
            for (a, share_a) in contributions.iter().zip(&shares) {
                for (b, share_b) in contributions.iter().zip(&shares) {
                    if let (Some(share_a), Some(share_b)) = (share_a, share_b) && a > b {
                        prop_assert!(share_a >= share_b);
                    }
                }
            }
        }
    }
}
