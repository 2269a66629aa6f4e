//! Tests of the agreement figures of the benchmark `explain`.

#[path = "../bench/agreement.rs"]
mod figures;

use figures::{all_equal, median, same_first, spearman};

fn is(value: f64, wanted: f64) {
    assert!((value - wanted).abs() < 1e-9, "{value} is not {wanted}");
}

#[test]
fn the_median_of_an_even_count_is_the_mean_of_the_two_middles() {
    is(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    is(median(vec![9.0, 1.0, 2.0]), 2.0);
    is(median(vec![7.0]), 7.0);
    is(median(Vec::new()), 0.0);
}

#[test]
fn any_of_those_that_are_highest_is_right() {
    let exact = [0.5, 0.1, 0.5];
    assert!(same_first(&[3.0, 1.0, 2.0], &exact) && same_first(&[1.0, 2.0, 3.0], &exact));
    assert!(!same_first(&[1.0, 3.0, 2.0], &exact) && !same_first(&[], &[]));
    assert!(same_first(&[1.0, 1.0], &[0.2, 0.1]), "of estimates alike the first counts");
}

#[test]
fn where_all_is_equal_nothing_mattered() {
    assert!(all_equal(&[0.0, 0.0]) && all_equal(&[0.3]) && all_equal(&[]));
    assert!(!all_equal(&[0.0, 0.0, 1e-9]));
}

#[test]
fn equal_values_share_the_mean_of_their_ranks() {
    is(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), 1.0);
    is(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
    is(spearman(&[1.0, 2.0, 3.0], &[0.0, 0.0, 1.0]), 0.75_f64.sqrt());
    is(spearman(&[1.0, 1.0], &[0.0, 1.0]), 0.0);
}
