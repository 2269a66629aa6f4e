//! Turns contributions into shares.
//!
//! Takes one contribution per cluster; gives the masked softmax, and whether it is decisive.
//! Invariant: contributions 0 and [`SMALLEST_CHANGE`] have no share; the other shares sum to 1.
//! Not here: computing contributions (`counterfactual`, `similarity`).

use super::{Cluster, SMALLEST_CHANGE};

/// Contributions count as equal if the ratio of their shares is below this factor. The ratio is `exp(difference of
/// contributions / temperature)`, for any number of clusters; at the default temperature 1.1 is a difference of 0.005
/// in cosine, the distance up to which evidences are clustered.
pub const FLAT_RATIO: f64 = 1.1;

/// Largest contribution that leaves the answer practically the same: 0.005 is the clustering distance in cosine, and
/// half a percent per token as loss of probability.
pub const MIN_MOVE: f64 = 0.005;

/// Masked softmax: contributions 0, [`SMALLEST_CHANGE`] and NaN get no share.
#[must_use]
pub fn shares(contributions: &[f64], temperature: f64) -> Vec<Option<f64>> {
    let counts = |c: f64| c.abs() > SMALLEST_CHANGE && c.is_finite();
    let largest = contributions.iter().copied().filter(|c| counts(*c)).fold(f64::NEG_INFINITY, f64::max);
    // Relative to the largest, every power is at most 1: nothing overflows and the sum is at least 1.
    let weights: Vec<Option<f64>> =
        contributions.iter().map(|c| counts(*c).then(|| ((c - largest) / temperature).exp())).collect();
    let sum: f64 = weights.iter().flatten().sum();
    weights.into_iter().map(|weight| weight.map(|w| w / sum)).collect()
}

/// Whether the contributions tell which cluster matters: the largest exceeds both the smallest and 0 by more than
/// [`FLAT_RATIO`] allows. An answer that hardly changed is not decisive.
#[must_use]
pub fn is_decisive(contributions: &[f64], temperature: f64) -> bool {
    let all = || contributions.iter().copied().filter(|contribution| contribution.is_finite());
    let largest = all().fold(0.0, f64::max);
    let smallest = if contributions.len() == 1 { 0.0 } else { all().fold(largest, f64::min) };
    let least = temperature * FLAT_RATIO.ln();
    largest > least && largest - smallest > least
}

/// Whether the answer changed without some cluster. At high temperatures a contribution may do so without being
/// decisive.
fn is_moved(contributions: &[f64], temperature: f64) -> bool {
    let least = MIN_MOVE.min(temperature * FLAT_RATIO.ln());
    contributions.iter().any(|contribution| contribution.is_finite() && *contribution > least)
}

/// The shares of contributions; none if the answer hardly changes.
pub(super) fn shares_of_moved(contributions: &[f64], temperature: f64) -> Vec<Option<f64>> {
    if is_moved(contributions, temperature) {
        shares(contributions, temperature)
    } else {
        vec![None; contributions.len()]
    }
}

/// Gives the clusters their shares, sorts them by contribution (ties by rank), and tells whether they are decisive.
pub(super) fn normalize_shares(clusters: &mut [Cluster], temperature: f64) -> bool {
    clusters.sort_by(|a, b| b.contribution.total_cmp(&a.contribution).then_with(|| a.hits.cmp(&b.hits)));
    let contributions: Vec<f64> = clusters.iter().map(|cluster| cluster.contribution).collect();
    for (cluster, share) in clusters.iter_mut().zip(shares_of_moved(&contributions, temperature)) {
        cluster.share = share;
    }
    is_decisive(&contributions, temperature)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attribution::Provenance;

    /// Temperature of the paper.
    const T: f64 = 0.05;

    #[test]
    fn the_softmax_of_the_paper() {
        let shares = shares(&[0.30, 0.25, 0.0], T);
        assert!((shares[0].unwrap() - 0.731_058_578_6).abs() < 1e-9);
        assert!((shares[1].unwrap() - 0.268_941_421_4).abs() < 1e-9);
        assert_eq!(shares[2], None);
        assert_eq!(super::shares(&[0.30, 0.25, SMALLEST_CHANGE], T), shares, "what says the same is masked too");
        assert!(is_decisive(&[0.30, 0.25, 0.0], T));
    }

    #[test]
    fn nothing_but_zeros_has_no_shares_and_decides_nothing() {
        let shares = shares(&[0.0, 0.0], T);
        assert_eq!(shares, [None, None]);
        assert!(!is_decisive(&[0.0, 0.0], T));
        assert!(!is_decisive(&[], T));
    }

    #[test]
    fn contributions_that_are_almost_equal_are_flat() {
        assert!(!is_decisive(&[0.300, 0.304, 0.302], T));
        assert!(is_decisive(&[0.300, 0.306, 0.302], T));
        assert!(is_decisive(&[0.3, 0.3, 0.0], T), "two sources stand out from a third that changed nothing");
        assert!(!is_decisive(&[f64::EPSILON, 0.0, 0.0], T), "the same answer in other tokens");
        assert!(!is_decisive(&[f64::EPSILON], T));
        assert!(is_decisive(&[0.01], T), "the only cluster decides when it changes the answer");
    }

    #[test]
    fn a_contribution_that_is_no_number_has_no_share() {
        assert_eq!(shares(&[f64::NAN, 0.5], T), [None, Some(1.0)]);
    }

    #[test]
    fn an_answer_that_hardly_moves_gives_no_cluster_all_of_the_shares() {
        let one = |contribution: f64| Cluster {
            hits: vec![1],
            how: Provenance::Preview,
            contribution,
            share: None,
            counterfactual_answer: None,
            counterfactuals: Vec::new(),
            drops: Vec::new(),
            drops_how: None,
            divergences: Vec::new(),
        };
        let settled = |contributions: &[f64], temperature| {
            let mut clusters: Vec<Cluster> = contributions.iter().map(|contribution| one(*contribution)).collect();
            let decisive = normalize_shares(&mut clusters, temperature);
            (decisive, clusters.iter().filter(|cluster| cluster.share.is_some()).count())
        };
        assert_eq!(settled(&[0.003, 0.0], T), (false, 0));
        assert_eq!(settled(&[-0.2, -0.3], T), (false, 0));
        assert_eq!(settled(&[0.3, 0.3], T), (false, 2), "flat, but it moved");
        assert_eq!(settled(&[0.3, 0.1], 10.0), (false, 2), "a high temperature makes them alike");
        assert_eq!(settled(&[0.003, 0.0], 0.001), (true, 1));
    }

    proptest! {
        #[test]
        fn shares_sum_to_one_and_keep_the_order(
            contributions in prop::collection::vec(prop_oneof![Just(0.0), Just(SMALLEST_CHANGE), -1.0..2.0], 1..12),
            temperature in prop_oneof![Just(1e-9), 0.001..5.0],
        ) {
            let shares = shares(&contributions, temperature);
            for (contribution, share) in contributions.iter().zip(&shares) {
                prop_assert_eq!(contribution.abs() <= SMALLEST_CHANGE, share.is_none());
                prop_assert!(share.is_none_or(|s| (0.0..=1.0).contains(&s)));
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
