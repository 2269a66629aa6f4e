//! The area under a precision-recall curve. Pure.
//!
//! Takes pairs of a value and whether the pair is right, gives the average precision: the mean, over the right pairs,
//! of the precision among all pairs with at least their value.
//! Invariants: pairs with equal values count together, whatever their order; the area is within 0..=1; equal values
//! throughout give the share of the right pairs, as chance does.
//! Not here: which pairs are ranked (`plant_eval`).

/// A pair with the value that ranks it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankedPair {
    /// Higher values come first.
    pub(super) value: f64,
    /// Whether it is one of those to find.
    pub(super) is_right: bool,
}

/// The average precision; none without a right pair.
pub(super) fn average_precision(pairs: &[RankedPair]) -> Option<f64> {
    let is_right = |pairs: &[RankedPair]| pairs.iter().filter(|pair| pair.is_right).count();
    let right = is_right(pairs);
    if right == 0 {
        return None;
    }
    let mut ranked = pairs.to_vec();
    ranked.sort_by(|a, b| b.value.total_cmp(&a.value));
    let (mut seen, mut found, mut area) = (0_usize, 0_usize, 0.0);
    for equal in ranked.chunk_by(|a, b| a.value <= b.value) {
        let new = is_right(equal);
        seen += equal.len();
        found += new;
        area += new as f64 * (found as f64 / seen as f64);
    }
    Some(area / right as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(values: &[(f64, bool)]) -> Vec<RankedPair> {
        values.iter().map(|(value, is_right)| RankedPair { value: *value, is_right: *is_right }).collect()
    }

    fn area(values: &[(f64, bool)]) -> f64 {
        average_precision(&pairs(values)).unwrap()
    }

    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_area_of_a_hand_made_ranking_is_exact() {
        // Right at the places 1, 3 and 6: precisions 1, 2/3 and 3/6.
        let ranking = [(0.9, true), (0.8, false), (0.7, true), (0.4, false), (0.2, false), (0.1, true)];
        assert!(same(area(&ranking), (1.0 + 2.0 / 3.0 + 0.5) / 3.0));
        let turned: Vec<(f64, bool)> = ranking.iter().rev().copied().collect();
        assert!(same(area(&turned), area(&ranking)), "the order of the pairs does not matter");
    }

    #[test]
    fn equal_values_count_together() {
        // One of the two at the top is right, so that precision is 1/2 when it is found.
        assert!(same(area(&[(0.5, true), (0.5, false), (0.1, false)]), 0.5));
        assert!(same(area(&[(0.5, false), (0.5, true), (0.1, false)]), 0.5));
        assert!(same(area(&[(0.0, true), (-0.0, false)]), 0.5), "zero has no sign");
        assert!(same(area(&[(0.3, true), (0.3, false), (0.3, false), (0.3, false)]), 0.25), "as chance does");
    }

    #[test]
    fn all_that_is_right_on_top_is_one_and_nothing_right_has_no_area() {
        assert!(same(area(&[(3.0, true), (2.0, true), (1.0, false)]), 1.0));
        assert_eq!((average_precision(&pairs(&[(1.0, false)])), average_precision(&[])), (None, None));
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn an_area_is_within_zero_and_one(
            values in prop::collection::vec((prop_oneof![Just(0.0), -1.0..1.0_f64], any::<bool>()), 0..40),
        ) {
            let right = values.iter().filter(|(_, is_right)| *is_right).count();
            if let Some(area) = average_precision(&pairs(&values)) {
                prop_assert!(right > 0 && (0.0..=1.0).contains(&area), "{}", area);
            } else {
                prop_assert_eq!(right, 0);
            }
        }
    }
}
