//! Reciprocal rank fusion (RAGonite paper, Sec. 5).
//!
//! Takes lists of evidence ids, best first; gives one list with scores: the weighted sum of 1 / (k + rank).
//! Invariants: pure; the result does not depend on the order of the lists; an evidence counts once per list, at its
//! best rank; ties are broken by the best single rank, then by id.
//! Not here: searching, reranking (`assemble`).

use std::collections::HashMap;

use ragonite_base::EvidenceId;

/// An evidence in the fused list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Above 0, at most the sum of the weights / (k + 1).
    pub score: f64,
}

/// Fuses `lists` with weight 1; `k` dampens the difference between high ranks (60 in the paper).
#[must_use]
pub fn rrf(lists: &[&[EvidenceId]], k: u32) -> Vec<Fused> {
    weighted_rrf(&lists.iter().map(|list| (1.0, *list)).collect::<Vec<_>>(), k)
}

/// Fuses weighted `lists`.
#[must_use]
pub fn weighted_rrf(lists: &[(f64, &[EvidenceId])], k: u32) -> Vec<Fused> {
    let mut ranks: HashMap<EvidenceId, Vec<(u32, f64)>> = HashMap::new();
    for (weight, list) in lists {
        let mut places: HashMap<EvidenceId, u32> = HashMap::new();
        for (rank, evidence) in (1..).zip(*list) {
            places.entry(*evidence).or_insert(rank);
        }
        for (evidence, rank) in places {
            ranks.entry(evidence).or_default().push((rank, *weight));
        }
    }
    let mut fused: Vec<(u32, Fused)> = ranks
        .into_iter()
        .map(|(evidence, mut ranks)| {
            // Floating-point sums depend on their order, so the order is fixed by rank and weight.
            ranks.sort_unstable_by(|(a, a_weight), (b, b_weight)| a.cmp(b).then(a_weight.total_cmp(b_weight)));
            let score = ranks.iter().map(|(rank, weight)| weight / (f64::from(k) + f64::from(*rank))).sum();
            (ranks[0].0, Fused { evidence, score })
        })
        .collect();
    fused.sort_by(|(best_a, a), (best_b, b)| {
        b.score.total_cmp(&a.score).then(best_a.cmp(best_b)).then(a.evidence.cmp(&b.evidence))
    });
    fused.into_iter().map(|(_, fused)| fused).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(ids: &[i64]) -> Vec<EvidenceId> {
        ids.iter().copied().map(EvidenceId).collect()
    }

    #[test]
    fn an_evidence_in_both_lists_comes_before_the_best_of_one() {
        let fused = rrf(&[&ids(&[1, 2]), &ids(&[3, 2])], 60);
        assert_eq!(fused.iter().map(|f| f.evidence.0).collect::<Vec<_>>(), [2, 1, 3]);
        assert!((fused[0].score - 2.0 / 62.0).abs() < 1e-12);
        assert!((fused[1].score - 1.0 / 61.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_fuses_to_nothing() {
        assert!(rrf(&[], 60).is_empty());
        assert!(rrf(&[&[], &[]], 60).is_empty());
    }

    #[test]
    fn a_list_counts_as_much_as_it_weighs() {
        let (one, other) = (ids(&[1, 2]), ids(&[2, 3]));
        let fused = weighted_rrf(&[(1.0, &one), (0.25, &other)], 60);
        assert_eq!(fused.iter().map(|f| f.evidence.0).collect::<Vec<_>>(), [2, 1, 3]);
        assert!((fused[0].score - (1.0 / 62.0 + 0.25 / 61.0)).abs() < 1e-12);
        assert_eq!(weighted_rrf(&[(1.0, &one), (1.0, &other)], 60), rrf(&[&one, &other], 60));
    }

    fn rankings() -> impl Strategy<Value = Vec<Vec<EvidenceId>>> {
        proptest::collection::vec(proptest::collection::vec((0_i64..30).prop_map(EvidenceId), 0..20), 0..4)
    }

    fn borrow(lists: &[Vec<EvidenceId>]) -> Vec<&[EvidenceId]> {
        lists.iter().map(Vec::as_slice).collect()
    }

    proptest! {
        #[test]
        fn the_order_of_the_lists_does_not_matter(lists in rankings(), k in 0_u32..100) {
            let mut reversed = lists.clone();
            reversed.reverse();
            prop_assert_eq!(rrf(&borrow(&lists), k), rrf(&borrow(&reversed), k));
        }

        #[test]
        fn every_evidence_comes_once_with_a_score_in_bounds(lists in rankings(), k in 0_u32..100) {
            let fused = rrf(&borrow(&lists), k);
            let mut expected: Vec<_> = lists.iter().flatten().copied().collect();
            expected.sort();
            expected.dedup();
            let mut found: Vec<_> = fused.iter().map(|f| f.evidence).collect();
            found.sort();
            prop_assert_eq!(found, expected);
            let most = lists.len() as f64 / f64::from(k + 1);
            prop_assert!(fused.iter().all(|f| f.score > 0.0 && f.score <= most + 1e-9));
            prop_assert!(fused.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }

        #[test]
        fn moving_up_in_one_list_never_lowers_the_score(
            list in proptest::sample::subsequence((0_i64..20).collect::<Vec<_>>(), 2..15).prop_shuffle(),
            other in rankings(),
            at in 1_usize..14,
        ) {
            let list = ids(&list);
            let at = at.min(list.len() - 1);
            let mut moved = list.clone();
            moved.swap(at - 1, at);
            let score = |list: &[EvidenceId]| {
                let mut lists = borrow(&other);
                lists.push(list);
                rrf(&lists, 60).iter().find(|f| f.evidence == moved[at - 1]).map(|f| f.score)
            };
            prop_assert!(score(&moved) >= score(&list));
        }
    }
}
