//! Agreement of estimates with exact values, for the benchmark `explain`; tested by the integration tests.

/// The median; 0 without values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    match values.get(upper) {
        None => 0.0,
        Some(middle) if values.len() % 2 == 1 => *middle,
        Some(above) => f64::midpoint(values[upper - 1], *above),
    }
}

/// Whether all values are equal, as when nothing mattered.
pub(crate) fn all_equal(values: &[f64]) -> bool {
    values.windows(2).all(|two| two[0].total_cmp(&two[1]).is_eq())
}

/// Whether the highest estimate has the highest exact value. Of equal estimates the first counts; of equal exact values
/// any is right.
pub(crate) fn same_first(estimates: &[f64], exact: &[f64]) -> bool {
    let highest = exact.iter().copied().max_by(f64::total_cmp);
    // Of equal values `max_by` gives the last.
    let first = estimates.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at);
    first.and_then(|first| exact.get(first)).copied() == highest && highest.is_some()
}

/// Spearman's rank correlation; equal values share the mean of their ranks.
pub(crate) fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count() as f64;
            below + (equal - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(&b) {
        both += (a - mean) * (b - mean);
        of_a += (a - mean).powi(2);
        of_b += (b - mean).powi(2);
    }
    if of_a * of_b == 0.0 { 0.0 } else { both / f64::sqrt(of_a * of_b) }
}
