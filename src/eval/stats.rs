//! Statistics: bootstrap intervals, McNemar's test, the paired t-test. Pure.
//!
//! The questions of a benchmark are turns of conversations, in two languages each, so they are not independent.
//! Conversations with all turns in all languages are the units:
//! - An interval comes from a bootstrap over conversations.
//! - The difference of two runs is tested by exchanging them per conversation, two-sided. For right or wrong this is
//!   McNemar's exact test if each conversation has one question. McNemar's test over questions is given per language,
//!   as in the paper.
//! - The t-test compares the means of conversations.
//! - p values of an ablation are corrected by Holm's method.
//!
//! Invariant: results are deterministic; the bootstrap has a fixed seed.

use serde::Serialize;

/// Samples of a bootstrap.
const RESAMPLES: usize = 1_000;

/// Seed of the bootstrap.
const SEED: u64 = 0x5EED;

/// Tail of the interval on each side.
const TAIL: f64 = 0.025;

/// Up to this many differing conversations all exchanges are counted; for more, `DRAWN` are sampled.
const COUNTED: usize = 20;
const DRAWN: u32 = 100_000;

/// Sums that differ by less are equal.
const SAME: f64 = 1e-9;

/// From this many differing pairs on, McNemar's test uses the normal approximation.
const MANY: usize = 25;

/// 95 % interval of the mean. Serializes as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Interval {
    /// 2.5 % of the resampled means are below.
    pub low: f64,
    /// 2.5 % of the resampled means are above.
    pub high: f64,
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

/// The mean; none without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The percentile bootstrap of the mean over all values, resampling whole conversations; none for fewer than two, which
/// tell nothing about the spread.
#[must_use]
pub fn interval(conversations: &[Vec<f64>]) -> Option<Interval> {
    let sums = conversations.iter().filter(|values| !values.is_empty());
    let sums: Vec<(f64, f64)> = sums.map(|values| (values.iter().sum(), values.len() as f64)).collect();
    bootstrap(sums.len(), &mut |drawn| {
        let drawn = drawn.iter().map(|place| sums[*place]);
        let (sum, values) = drawn.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        sum / values
    })
}

/// The percentile bootstrap of a statistic of conversations, which gets the places of those that were drawn; none for
/// fewer than two.
#[must_use]
pub fn bootstrap(conversations: usize, statistic: &mut dyn FnMut(&[usize]) -> f64) -> Option<Interval> {
    let count = u64::try_from(conversations).ok().filter(|count| *count > 1)?;
    let mut draws = Draws::new(SEED);
    let mut drawn = vec![0; conversations];
    let resampled = |_| {
        for place in &mut drawn {
            *place = draws.below(count);
        }
        statistic(&drawn)
    };
    let mut values: Vec<f64> = (0..RESAMPLES).map(resampled).collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some(Interval { low: at(TAIL), high: at(1.0 - TAIL) })
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) struct Draws(u64);

impl Draws {
    /// The draws of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An index below `count`: the upper half of a 128-bit product, whose bias is below `count` in 2^64.
    pub(super) fn below(&mut self, count: u64) -> usize {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as usize
    }
}

/// How the p value of a [`McNemar`] test was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// The exact binomial distribution.
    Exact,
    /// Chi-squared with one degree of freedom, with continuity correction.
    ChiSquared,
    /// Exact, by exchanging runs in whole conversations.
    Conversations,
}

/// Whether two runs differ in how often they are right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Questions right in the first run only.
    pub only_first: usize,
    /// Questions right in the second run only.
    pub only_second: usize,
    /// Two-sided p value.
    pub p: f64,
    /// `p` corrected for the number of choices; none without correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// How `p` was computed.
    pub distribution: Distribution,
}

/// McNemar's test over pairs of right or wrong.
#[must_use]
pub fn mcnemar(pairs: impl IntoIterator<Item = (bool, bool)>) -> McNemar {
    let (mut only_first, mut only_second) = (0_usize, 0_usize);
    for (first, second) in pairs {
        only_first += usize::from(first && !second);
        only_second += usize::from(second && !first);
    }
    let differing = only_first + only_second;
    let (p, distribution) = if differing < MANY {
        (binomial(only_first.min(only_second), differing), Distribution::Exact)
    } else {
        let difference = only_first.abs_diff(only_second) as f64;
        let statistic = (difference - 1.0).max(0.0).powi(2) / differing as f64;
        (complementary_error((statistic / 2.0).sqrt()).min(1.0), Distribution::ChiSquared)
    };
    McNemar { only_first, only_second, p, p_holm: None, distribution }
}

/// McNemar's test with conversations as units: the exact two-sided p value of exchanging runs per conversation.
#[must_use]
pub fn mcnemar_by_conversation(conversations: &[Vec<(bool, bool)>]) -> McNemar {
    let sum =
        |right: bool| move |pairs: &Vec<(bool, bool)>| pairs.iter().filter(|(a, b)| *a == right && *b != right).count();
    let first: Vec<usize> = conversations.iter().map(sum(true)).collect();
    let second: Vec<usize> = conversations.iter().map(sum(false)).collect();
    let differences: Vec<i64> = first.iter().zip(&second).map(|(a, b)| *a as i64 - *b as i64).collect();
    let (only_first, only_second) = (first.iter().sum(), second.iter().sum());
    let p = exchanged(&differences);
    McNemar { only_first, only_second, p, p_holm: None, distribution: Distribution::Conversations }
}

/// The share of all sign changes whose sum is as far from 0 as the observed one.
fn exchanged(differences: &[i64]) -> f64 {
    let sizes: Vec<usize> = differences.iter().map(|one| one.unsigned_abs() as usize).collect();
    let all: usize = sizes.iter().sum();
    let observed = differences.iter().sum::<i64>().unsigned_abs() as usize;
    // Probability of each sum of the values with positive sign.
    let mut likely = vec![0.0; all + 1];
    likely[0] = 1.0;
    for size in sizes.into_iter().filter(|size| *size > 0) {
        for sum in (0..=all).rev() {
            let with = if sum >= size { likely[sum - size] } else { 0.0 };
            likely[sum] = f64::midpoint(likely[sum], with);
        }
    }
    let as_far = likely.iter().enumerate().filter(|(sum, _)| all.abs_diff(2 * sum) >= observed);
    as_far.map(|(_, likely)| likely).sum::<f64>().min(1.0)
}

/// Two-sided p value of the sum of differences, with runs exchanged per conversation. Exact for up to `COUNTED`
/// differing conversations, else sampled.
#[must_use]
pub fn exchange(conversations: &[Vec<f64>]) -> f64 {
    let sums = conversations.iter().map(|values| values.iter().sum::<f64>());
    let sums: Vec<f64> = sums.filter(|sum| sum.abs() > SAME).collect();
    let observed = sums.iter().sum::<f64>().abs() - SAME;
    if sums.len() > COUNTED {
        let mut draws = Draws::new(SEED);
        let mut drawn = || sums.iter().map(|sum| if draws.below(2) == 0 { *sum } else { -sum }).sum::<f64>();
        let as_far = (0..DRAWN).filter(|_| drawn().abs() >= observed).count();
        // The observed one counts as well.
        return (as_far + 1) as f64 / f64::from(DRAWN + 1);
    }
    // In this order each exchange differs from the previous one in a single conversation.
    let mut ways = sums.clone();
    let mut sum: f64 = ways.iter().sum();
    let mut as_far = 1_u32;
    for way in 1_u32..1 << sums.len() {
        let turned = &mut ways[way.trailing_zeros() as usize];
        sum -= 2.0 * *turned;
        *turned = -*turned;
        as_far += u32::from(sum.abs() >= observed);
    }
    f64::from(as_far) / 2.0_f64.powi(sums.len() as i32)
}

/// Holm's correction (1979), in the order of `values`.
#[must_use]
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut corrected = vec![0.0; values.len()];
    let mut least = 0.0_f64;
    for (before, place) in places.into_iter().enumerate() {
        least = least.max(values[place] * (values.len() - before) as f64).min(1.0);
        corrected[place] = least;
    }
    corrected
}

/// Two-sided probability of at most `fewer` heads, or as few tails, in `all` fair coins.
fn binomial(fewer: usize, all: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for heads in 0..=fewer {
        sum += ways;
        ways *= (all - heads) as f64 / (heads + 1) as f64;
    }
    (2.0 * sum * 0.5_f64.powi(i32::try_from(all).unwrap_or(i32::MAX))).min(1.0)
}

/// Whether the first of two runs scores higher.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedT {
    /// Mean of the differences, first minus second.
    pub difference: f64,
    /// Number of pairs.
    pub pairs: usize,
    /// The t statistic with `pairs - 1` degrees of freedom; none if all differences are equal, where `p` comes from
    /// exchanging runs.
    pub t: Option<f64>,
    /// One-tailed p value for the first being higher.
    pub p: f64,
    /// `p` corrected for the number of choices; none without correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
}

/// The one-tailed paired t-test of `first > second`; none for fewer than two pairs. If all differences are equal, `p`
/// is the share of exchanges with a sum as high.
#[must_use]
pub fn paired_t(pairs: &[(f64, f64)]) -> Option<PairedT> {
    if pairs.len() < 2 {
        return None;
    }
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    let difference = mean(&differences)?;
    let degrees = (pairs.len() - 1) as f64;
    let variance = differences.iter().map(|one| (one - difference).powi(2)).sum::<f64>() / degrees;
    if variance < f64::EPSILON {
        let turned: Vec<Vec<f64>> = differences.iter().map(|one| vec![*one]).collect();
        let p = if difference > SAME { exchange(&turned) / 2.0 } else { 1.0 };
        return Some(PairedT { difference, pairs: pairs.len(), t: None, p, p_holm: None });
    }
    let t = difference / (variance / pairs.len() as f64).sqrt();
    let beyond = incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5) / 2.0;
    let p = if t > 0.0 { beyond } else { 1.0 - beyond };
    Some(PairedT { difference, pairs: pairs.len(), t: Some(t), p, p_holm: None })
}

/// erfc of a non-negative number, with relative error 1.2e-7 (Chebyshev fit: Press et al., Numerical Recipes, 6.2).
fn complementary_error(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + x / 2.0);
    let fit = FIT.iter().rev().fold(0.0, |sum, term| sum * t + term);
    t * (fit - x * x).exp()
}

/// The regularized incomplete beta function by its continued fraction (Lentz), for `x` from 0 to 1.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast below this point; above it the symmetric form is used.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_TERMS: u32 = 500;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = below;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            below = 1.0 / not_zero(1.0 + step * below);
            above = not_zero(1.0 + step / above);
            change = above * below;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Logarithm of the gamma function for numbers above 0 (Lanczos, g = 7).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = (1..).zip(TERMS).fold(0.999_999_999_999_809_9, |sum, (place, term)| sum + term / (x + f64::from(place)));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    /// So many pairs that only the first, and only the second run has right, and ten that both have.
    fn pairs(only_first: usize, only_second: usize) -> Vec<(bool, bool)> {
        let mut pairs = vec![(true, true); 10];
        pairs.extend(std::iter::repeat_n((true, false), only_first));
        pairs.extend(std::iter::repeat_n((false, true), only_second));
        pairs
    }

    /// Values: `scipy.stats.binomtest(min(b, c), b + c, 0.5).pvalue` of scipy 1.17.1.
    #[test]
    fn few_pairs_that_differ_are_tested_exactly() {
        let known =
            [(1, 8, 0.039_062_5), (5, 5, 1.0), (0, 3, 0.25), (10, 2, 0.038_574_218_75), (12, 12, 1.0), (0, 0, 1.0)];
        for (first, second, p) in known {
            let test = mcnemar(pairs(first, second));
            assert_eq!((test.only_first, test.only_second, test.distribution), (first, second, Distribution::Exact));
            assert!(near(test.p, p, 1e-12), "{first} {second}: {}", test.p);
        }
    }

    /// Two surveys of 1,600 people, 150 and 86 of whom changed their minds (Agresti, Categorical Data Analysis, 10.1);
    /// values with continuity correction: `scipy.stats.chi2.sf((|b - c| - 1)^2 / (b + c), 1)` of scipy 1.17.1.
    #[test]
    fn many_pairs_that_differ_are_tested_by_chi_squared() {
        let survey = mcnemar(pairs(150, 86));
        assert_eq!(survey.distribution, Distribution::ChiSquared);
        assert!(near(survey.p, 4.114_562_3e-5, 1e-10), "{}", survey.p);
        assert!(near(mcnemar(pairs(30, 12)).p, 0.008_711_913, 1e-8));
    }

    /// The hours of sleep that two drugs give to ten patients (Student, The Probable Error of a Mean, 1908: t = 4.06);
    /// values: `scipy.stats.ttest_rel(…, alternative="greater")` of scipy 1.17.1.
    #[test]
    fn the_t_test_gives_students_own_value() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pairs: Vec<(f64, f64)> = second.into_iter().zip(first).collect();
        let test = paired_t(&pairs).unwrap();
        assert!(near(test.t.unwrap(), 4.062_127_683_382_037, 1e-12) && near(test.difference, 1.58, 1e-12));
        assert!(near(test.p, 0.001_416_445_098_692, 1e-12), "{}", test.p);
        let turned: Vec<(f64, f64)> = pairs.into_iter().map(|(a, b)| (b, a)).collect();
        assert!(near(paired_t(&turned).unwrap().p, 0.998_583_554_901_308, 1e-12));
    }

    /// Value: `scipy.stats.ttest_rel(…, alternative="greater")` of scipy 1.17.1.
    #[test]
    fn ratings_of_a_judge_are_compared_pair_by_pair() {
        let first = [1.0, 0.5, 1.0, 0.0, 0.5, 1.0, 1.0, 0.5];
        let second = [0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 1.0, 0.0];
        let test = paired_t(&first.into_iter().zip(second).collect::<Vec<_>>()).unwrap();
        assert!(near(test.p, 0.024_586_857_102_401_7, 1e-12) && test.pairs == 8);
    }

    #[test]
    fn runs_without_a_difference_have_no_t_value() {
        let same = |first: f64, second: f64| paired_t(&[(first, second); 4]).unwrap();
        // Of 16 ways to exchange four differences of one size, one is as far above as all of one sign are.
        assert_eq!((same(1.0, 0.5).t, same(1.0, 0.5).p, same(1.0, 0.5).difference), (None, 1.0 / 16.0, 0.5));
        assert_eq!((same(0.5, 1.0).t, same(0.5, 1.0).p), (None, 1.0));
        assert_eq!((same(0.5, 0.5).t, same(0.5, 0.5).p), (None, 1.0));
        assert_eq!(paired_t(&[(1.0, 0.0)]), None);
    }

    /// One value in each conversation.
    fn alone(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![*value]).collect()
    }

    #[test]
    fn an_interval_holds_the_mean_and_is_the_same_again() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
        let found = interval(&alone(&values)).unwrap();
        assert_eq!(interval(&alone(&values)), Some(found));
        // The standard error of 0.8 over 100 is 0.04, so the bounds are about 0.08 away.
        assert!(near(found.low, 0.72, 0.02) && near(found.high, 0.88, 0.02), "{found:?}");
        assert_eq!(interval(&alone(&[0.5; 7])), Some(Interval { low: 0.5, high: 0.5 }));
        assert_eq!((interval(&[]), mean(&[])), (None, None));
        assert_eq!(serde_json::to_string(&Interval { low: 0.25, high: 0.5 }).unwrap(), "[0.25,0.5]");
    }

    #[test]
    fn a_statistic_is_of_as_many_conversations_as_there_are() {
        assert_eq!(bootstrap(1, &mut |_| 0.0), None);
        let count = bootstrap(5, &mut |drawn| drawn.iter().filter(|place| **place < 5).count() as f64);
        assert_eq!(count, Some(Interval { low: 5.0, high: 5.0 }));
        let first = bootstrap(4, &mut |drawn| drawn[0] as f64);
        assert_eq!(first, Some(Interval { low: 0.0, high: 3.0 }));
    }

    #[test]
    fn conversations_are_drawn_as_a_whole() {
        assert_eq!(interval(&[vec![1.0, 0.0, 1.0]]), None, "one conversation says nothing of others");
        assert_eq!(interval(&[vec![1.0], Vec::new()]), None);
        // Every conversation has the same mean, so that its draws do, though their values differ.
        assert_eq!(interval(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5]]), Some(Interval { low: 0.5, high: 0.5 }));
        // Of two conversations both are drawn twice in a quarter of the draws each.
        let two = [vec![1.0; 3], vec![0.0]];
        assert_eq!(interval(&two), Some(Interval { low: 0.0, high: 1.0 }));
        // Ten conversations of ten turns, all right or all wrong: ten independent values, not a hundred, so that the
        // standard error of 0.5 is 0.158 and not 0.05.
        let whole: Vec<Vec<f64>> = (0..10).map(|i| vec![f64::from(u8::from(i % 2 == 0)); 10]).collect();
        assert_eq!(interval(&whole), interval(&alone(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])));
        let found = interval(&whole).unwrap();
        assert!(near(found.low, 0.2, 0.11) && near(found.high, 0.8, 0.11), "{found:?}");
    }

    /// A conversation with so many questions that only the first, and only the second run has right.
    fn conversation(only_first: usize, only_second: usize) -> Vec<(bool, bool)> {
        pairs(only_first, only_second)
    }

    #[test]
    fn runs_are_exchanged_in_whole_conversations() {
        let p = |all: &[(usize, usize)]| {
            let conversations: Vec<_> = all.iter().map(|(a, b)| conversation(*a, *b)).collect();
            mcnemar_by_conversation(&conversations).p
        };
        // Differences of 2, 1 and 1 sum up to 4; so do 2 of the 8 ways to turn them: all as they are, and all turned.
        assert!(near(p(&[(2, 0), (1, 0), (1, 0)]), 0.25, 1e-12));
        // 3 and -1 sum up to 2; of 4, -4, 2 and -2 all are as far from 0.
        assert!(near(p(&[(3, 0), (0, 1)]), 1.0, 1e-12));
        // 3, 1 and -1 sum up to 3: of ±3 ±1 ±1 these are 5, 3, 3, 1, -1, -3, -3, -5, of which 6 of 8 are.
        assert!(near(p(&[(3, 0), (1, 0), (0, 1)]), 0.75, 1e-12));
        // Ten questions of one conversation are one difference, where McNemar's test gives 0.002.
        assert!(near(p(&[(10, 0)]), 1.0, 1e-12) && near(mcnemar(pairs(10, 0)).p, 0.001_953_125, 1e-12));
        // What a conversation wins and loses cancels out.
        assert!(near(p(&[(4, 4), (0, 0)]), 1.0, 1e-12) && near(p(&[]), 1.0, 1e-12));
        let test = mcnemar_by_conversation(&[conversation(2, 1), conversation(0, 3)]);
        assert_eq!((test.only_first, test.only_second), (2, 4));
        assert_eq!(test.distribution, Distribution::Conversations);
    }

    #[test]
    fn several_p_values_are_corrected_by_holm() {
        let near_all = |values: &[f64], expected: &[f64]| {
            let corrected = holm(values);
            assert!(corrected.iter().zip(expected).all(|(a, b)| near(*a, *b, 1e-12)), "{corrected:?}");
            assert_eq!(corrected.len(), expected.len());
        };
        // 3 x 0.01, then 2 x 0.03, then 0.04, which must not be below that.
        near_all(&[0.01, 0.04, 0.03], &[0.03, 0.06, 0.06]);
        near_all(&[0.5, 0.9], &[1.0, 1.0]);
        near_all(&[0.02], &[0.02]);
        near_all(&[], &[]);
    }

    #[test]
    fn figures_of_any_size_are_exchanged_in_whole_conversations() {
        let alone = |values: &[f64]| exchange(&alone(values));
        // 0.5 and 0.25 sum up to 0.75; so do they turned, of four ways.
        assert!(near(alone(&[0.5, 0.25]), 0.5, 1e-12) && near(alone(&[-0.5, -0.25]), 0.5, 1e-12));
        assert!(near(alone(&[0.5, -0.5]), 1.0, 1e-12) && near(alone(&[]), 1.0, 1e-12));
        // 0.1 + 0.2 is not 0.3 exactly, and counts as far as it.
        assert!(near(alone(&[0.1, 0.2, -0.3]), 1.0, 1e-12));
        assert!(near(exchange(&[vec![0.5, 0.5], vec![0.0]]), 1.0, 1e-12), "one conversation differs");
        // 25 of one sign: 2 of 2^25 ways, which no draw meets; half of each: nothing is nearer to 0.
        assert!(near(alone(&[0.1; 25]), 1e-5, 1e-6));
        let half: Vec<f64> = (0..26).map(|at| if at % 2 == 0 { 0.1 } else { -0.1 }).collect();
        assert!(near(alone(&half), 1.0, 1e-12));
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn right_and_wrong_are_exchanged_as_any_figure(
            counts in prop::collection::vec((0_usize..4, 0_usize..4), 0..9),
        ) {
            let conversations: Vec<_> = counts.iter().map(|(a, b)| conversation(*a, *b)).collect();
            let value = |right: bool| f64::from(u8::from(right));
            let differences = |pairs: &Vec<(bool, bool)>| pairs.iter().map(|(a, b)| value(*b) - value(*a)).collect();
            let differences: Vec<Vec<f64>> = conversations.iter().map(differences).collect();
            prop_assert!(near(exchange(&differences), mcnemar_by_conversation(&conversations).p, 1e-12));
        }

        #[test]
        fn bounds_are_in_order_and_within_the_values(values in prop::collection::vec(0.0..1.0_f64, 2..40)) {
            let found = interval(&alone(&values)).unwrap();
            let (least, most) = values.iter().fold((1.0_f64, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
            prop_assert!(least - 1e-9 <= found.low && found.low <= found.high && found.high <= most + 1e-9);
        }

        #[test]
        fn a_p_value_is_a_probability(first in 0_usize..300, second in 0_usize..300) {
            let (one, other) = (mcnemar(pairs(first, second)), mcnemar(pairs(second, first)));
            prop_assert!((0.0..=1.0).contains(&one.p));
            prop_assert!(near(one.p, other.p, 1e-12));
        }

        #[test]
        fn conversations_of_one_question_are_tested_as_mcnemar_does(first in 0_usize..12, second in 0_usize..12) {
            let single: Vec<_> = pairs(first, second).into_iter().map(|pair| vec![pair]).collect();
            prop_assert!(near(mcnemar_by_conversation(&single).p, mcnemar(pairs(first, second)).p, 1e-12));
        }
    }
}
