//! Score fusion, the default.
//!
//! The lists of a follow-up are sums over several questions. The distance in score tells the topic that all of them
//! share from a topic that one question happens to touch; ranks, which the paper fuses (`rrf`), lose it.
//! Invariants: pure; the order within a list does not matter; fused scores lie in 0..=1; ties are broken by id.

use std::collections::{BTreeMap, HashMap};

use super::Fused;
use ragonite_base::EvidenceId;

/// Weighted sum of lists of scores (`CombSUM`), best first. A missing evidence scores 0.
#[must_use]
pub fn comb_sum(lists: &[(f64, &[(EvidenceId, f64)])]) -> Vec<(EvidenceId, f64)> {
    // By id, so that floating-point sums always run in the same order.
    let mut sums: BTreeMap<EvidenceId, f64> = BTreeMap::new();
    for (weight, list) in lists {
        for (evidence, score) in *list {
            *sums.entry(*evidence).or_default() += weight * score;
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(a_id, a), (b_id, b)| b.total_cmp(a).then(a_id.cmp(b_id)));
    sums
}

/// The mean of both lists, each scaled to a maximum of 1; an empty list adds nothing, negative scores count 0.
#[must_use]
pub fn relative_score_fusion(dense: &[(EvidenceId, f64)], lexical: &[(EvidenceId, f64)]) -> Vec<Fused> {
    let scaled: Vec<HashMap<EvidenceId, f64>> =
        [dense, lexical].into_iter().map(scaled).filter(|list| !list.is_empty()).collect();
    let mut blended: HashMap<EvidenceId, f64> = HashMap::new();
    for list in &scaled {
        for (evidence, score) in list {
            *blended.entry(*evidence).or_default() += score / scaled.len() as f64;
        }
    }
    let mut blended: Vec<Fused> = blended.into_iter().map(|(evidence, score)| Fused { evidence, score }).collect();
    blended.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.evidence.cmp(&b.evidence)));
    blended
}

fn scaled(list: &[(EvidenceId, f64)]) -> HashMap<EvidenceId, f64> {
    let best = list.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    let scale = |score: f64| if best > 0.0 { score.max(0.0) / best } else { 0.0 };
    list.iter().map(|(evidence, score)| (*evidence, scale(*score))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(scores: &[(i64, f64)]) -> Vec<(EvidenceId, f64)> {
        scores.iter().map(|(id, score)| (EvidenceId(*id), *score)).collect()
    }

    #[test]
    fn weighted_lists_add_up() {
        let sums = comb_sum(&[(1.0, &list(&[(1, 4.0), (2, 1.0)])), (0.5, &list(&[(2, 8.0), (3, 8.0)]))]);
        assert_eq!(sums, list(&[(2, 5.0), (1, 4.0), (3, 4.0)]));
        assert!(comb_sum(&[]).is_empty());
    }

    #[test]
    fn an_evidence_that_leads_one_list_far_beats_one_that_is_second_in_both() {
        let blended = relative_score_fusion(&list(&[(1, 0.9), (2, 0.3)]), &list(&[(3, 20.0), (2, 4.0), (1, 1.0)]));
        assert_eq!(blended.iter().map(|fused| fused.evidence.0).collect::<Vec<_>>(), [1, 3, 2]);
        assert!((blended[0].score - f64::midpoint(1.0, 0.05)).abs() < 1e-12);
    }

    #[test]
    fn an_empty_list_counts_nothing_and_no_score_is_below_nothing() {
        let blended = relative_score_fusion(&list(&[(1, 0.5), (2, -0.1)]), &[]);
        assert_eq!(blended.iter().map(|fused| fused.score).collect::<Vec<_>>(), [1.0, 0.0]);
        assert!(relative_score_fusion(&[], &[]).is_empty());
    }

    fn lists() -> impl Strategy<Value = Vec<(EvidenceId, f64)>> {
        proptest::collection::btree_map((0_i64..20).prop_map(EvidenceId), -1.0_f64..30.0, 0..15)
            .prop_map(|list| list.into_iter().collect::<Vec<_>>())
            .prop_shuffle()
    }

    proptest! {
        #[test]
        fn the_order_of_the_lists_does_not_matter(a in lists(), b in lists()) {
            let forward = relative_score_fusion(&a, &b);
            let (mut x, mut y) = (a, b);
            x.reverse();
            y.reverse();
            prop_assert_eq!(&relative_score_fusion(&x, &y), &forward);
            let swapped = relative_score_fusion(&y, &x);
            prop_assert!(swapped.iter().zip(&forward).all(|(a, b)| (a.score - b.score).abs() < 1e-12));
        }

        #[test]
        fn every_evidence_comes_once_with_a_score_in_bounds(a in lists(), b in lists()) {
            let blended = relative_score_fusion(&a, &b);
            let mut found: Vec<_> = blended.iter().map(|fused| fused.evidence).collect();
            found.sort();
            let mut expected: Vec<_> = a.iter().chain(&b).map(|(id, _)| *id).collect();
            expected.sort();
            expected.dedup();
            prop_assert_eq!(found, expected);
            prop_assert!(blended.iter().all(|fused| (0.0..=1.0 + 1e-12).contains(&fused.score)));
            prop_assert!(blended.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }
    }
}
