//! The difference between two runs over the same questions, and whether it is more than chance. Pure.
//!
//! Tests as in `stats`: over conversations, and McNemar's test per language. Follow-ups are tested separately, because
//! completing questions is about them.
//! Invariant: a test uses the questions for which both runs have the metric.
//! Not here: which metrics are tested for an ablation, and tables (`compare`).

use indexmap::IndexMap;
use serde::Serialize;

use super::Question;
use super::aggregate::{Measured, by_conversation, is_in};
use super::metric::Metric;
use super::slices::Slice;
use super::stats::{Interval, McNemar, PairedT, exchange, interval, mcnemar, mcnemar_by_conversation, mean, paired_t};
use ragonite_base::Language;

/// The metrics to test.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tested {
    /// Right or wrong; for McNemar's test.
    pub right: Option<Metric>,
    /// A rating; for the t-test.
    pub rated: Option<Metric>,
    /// Deciding metrics, two-sided: tested by exchanging runs, with p corrected for their number.
    pub deciding: &'static [Metric],
    /// Other metrics, tested the same way without correction.
    pub beside: &'static [Metric],
}

/// Difference to the default over the questions with values in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Mean of this run minus that of the default.
    pub value: f64,
    /// Bootstrap interval; none for a single conversation.
    pub interval: Option<Interval>,
    /// Number of questions.
    pub questions: usize,
    /// Number of their conversations.
    pub conversations: usize,
}

/// A metric of two runs over the questions with values in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Exchanged {
    /// Mean in the default run.
    pub default: f64,
    /// Mean in this run.
    pub this: f64,
    /// Difference to the default.
    pub difference: Difference,
    /// Questions with the higher figure in the default run.
    pub higher_default: usize,
    /// Questions with the higher figure in this run.
    pub higher_this: usize,
    /// Two-sided p value, from exchanging runs in whole conversations.
    pub p: f64,
    /// `p` corrected for the number of deciding metrics and choices; none for other metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
}

/// The tests of a run against the default over a set of questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tests {
    /// By name of the metric.
    pub differences: IndexMap<String, Difference>,
    /// Right or wrong, default run first: the first hit is on a gold page by number, or attribution points to a gold
    /// page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcnemar: Option<McNemar>,
    /// McNemar's test per language, as if questions were independent; only for several languages.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub mcnemar_by_language: IndexMap<&'static str, McNemar>,
    /// Ratings of the judge by conversation: whether those of the default run are higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired_t: Option<PairedT>,
    /// By name of the metric, deciding ones first.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub exchanged: IndexMap<String, Exchanged>,
}

/// The tests of a run against the default run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Significance {
    /// Over all questions.
    #[serde(flatten)]
    pub all: Tests,
    /// Over all turns but the first of each conversation; none without such turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_ups: Option<Tests>,
}

impl Significance {
    /// Tests `other` against `default`, with the same questions in the same order.
    pub(super) fn of<T: Measured>(default: &[T], other: &[T], tested: Tested) -> Self {
        let follow_ups = Some(Slice::FollowUps);
        let has_some = default.iter().any(|one| is_in(one.question(), follow_ups));
        Self {
            all: tests(default, other, tested, None),
            follow_ups: has_some.then(|| tests(default, other, tested, follow_ups)),
        }
    }
}

fn tests<T: Measured>(default: &[T], other: &[T], tested: Tested, slice: Option<Slice>) -> Tests {
    let pairs = |name: Option<Metric>| -> Vec<(&Question, (f64, f64))> {
        let Some(name) = name else { return Vec::new() };
        let of_slice = default.iter().zip(other).filter(|(one, _)| is_in(one.question(), slice));
        of_slice.filter_map(|(a, b)| Some((a.question(), (a.value(name)?, b.value(name)?)))).collect()
    };
    let (right, rated) = (pairs(tested.right), pairs(tested.rated));
    let named = [(tested.right, &right), (tested.rated, &rated)];
    let differences = named.into_iter().filter_map(|(name, pairs)| Some((name?.word(), difference(pairs)?)));
    let right: Vec<(&Question, (bool, bool))> =
        right.iter().map(|(question, (a, b))| (*question, (*a > 0.5, *b > 0.5))).collect();
    Tests {
        differences: differences.collect(),
        mcnemar: tested.right.map(|_| mcnemar_by_conversation(&by_conversation(right.iter().copied()))),
        mcnemar_by_language: by_language(&right),
        paired_t: paired_t(&of_conversations(&rated)),
        exchanged: (tested.deciding.iter().chain(tested.beside))
            .filter_map(|name| Some((name.word(), exchanged(&pairs(Some(*name)))?)))
            .collect(),
    }
}

fn exchanged(pairs: &[(&Question, (f64, f64))]) -> Option<Exchanged> {
    let (default, this): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(_, pair)| *pair).unzip();
    let differences = by_conversation(pairs.iter().map(|(question, (default, this))| (*question, this - default)));
    let higher = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(a, b)| a > b).count();
    Some(Exchanged {
        default: mean(&default)?,
        this: mean(&this)?,
        difference: difference(pairs)?,
        higher_default: higher(&default, &this),
        higher_this: higher(&this, &default),
        p: exchange(&differences),
        p_holm: None,
    })
}

fn difference(pairs: &[(&Question, (f64, f64))]) -> Option<Difference> {
    let differences = by_conversation(pairs.iter().map(|(question, (default, this))| (*question, this - default)));
    let value = mean(&differences.concat())?;
    Some(Difference {
        value,
        interval: interval(&differences),
        questions: pairs.len(),
        conversations: differences.len(),
    })
}

/// McNemar's test for each language, if there are several.
fn by_language(pairs: &[(&Question, (bool, bool))]) -> IndexMap<&'static str, McNemar> {
    let mut languages: Vec<Language> = pairs.iter().map(|(question, _)| question.language).collect();
    languages.sort();
    languages.dedup();
    if languages.len() < 2 {
        return IndexMap::new();
    }
    let of = |language: Language| pairs.iter().filter(move |(question, _)| question.language == language);
    languages.into_iter().map(|language| (language.code(), mcnemar(of(language).map(|(_, pair)| *pair)))).collect()
}

/// The means of both runs per conversation.
fn of_conversations(pairs: &[(&Question, (f64, f64))]) -> Vec<(f64, f64)> {
    let mean_of = |pairs: &Vec<(f64, f64)>| {
        let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        Some((mean(&first)?, mean(&second)?))
    };
    by_conversation(pairs.iter().copied()).iter().filter_map(mean_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::metric::P_AT_1;
    use super::super::stats::Distribution;
    use super::super::test_kit::{asked, question};
    use super::super::{Asked, Question};
    use super::*;

    /// Three conversations of two turns, each turn in both languages, with these first ranks: 1 where `right` has 1.
    fn run(right: &str) -> Vec<Asked> {
        let one = |(at, right): (usize, char)| {
            let question = Question {
                conversation: (at / 4).to_string(),
                language: if at % 2 == 0 { Language::English } else { Language::German },
                ..question(at / 2 % 2 + 1)
            };
            asked(question, (right == '1').then_some(1))
        };
        right.chars().filter(|c| !c.is_whitespace()).enumerate().map(one).collect()
    }

    #[test]
    fn a_run_is_held_against_the_default_over_conversations_and_by_language() {
        let (default, other) = (run("1111 1110 1010"), run("1100 0010 1010"));
        let tested = Tested { right: Some(P_AT_1), ..Tested::default() };
        let found = Significance::of(&default, &other, tested);
        let all = found.all.mcnemar.unwrap();
        // The first conversation has two questions less right, the second one and one, the third none.
        assert_eq!((all.only_first, all.only_second, all.distribution), (4, 0, Distribution::Conversations));
        // 2 and 2 of 4 ways are as far from 0 as all of one sign.
        assert!((all.p - 0.5).abs() < 1e-12);
        let by_language = &found.all.mcnemar_by_language;
        let of = |language: &str| (by_language[language].only_first, by_language[language].only_second);
        assert_eq!((by_language.len(), of("en"), of("de")), (2, (2, 0), (2, 0)));
        assert!((by_language["de"].p - 0.5).abs() < 1e-12);
        let difference = found.all.differences["page.p_at_1"];
        assert!((difference.value + 4.0 / 12.0).abs() < 1e-12);
        assert_eq!((difference.questions, difference.conversations), (12, 3));
        // Draws of three of -2/4, -2/4 and 0.
        assert_eq!(difference.interval, Some(Interval { low: -0.5, high: 0.0 }));
        let follow_ups = found.follow_ups.unwrap();
        let test = follow_ups.mcnemar.unwrap();
        assert_eq!((test.only_first, test.only_second), (2, 0));
        assert!((test.p - 1.0).abs() < 1e-12, "both are in one conversation");
        assert!((follow_ups.differences["page.p_at_1"].value + 2.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_figure_is_exchanged_over_the_questions_that_both_have() {
        let (default, mut other) = (run("1111 1110 1010"), run("1100 0010 1010"));
        // Two hits cannot tell whether the page is among ten.
        other.iter_mut().take(4).for_each(|one| one.k = 2);
        let in_ten = Metric::Ranked(super::super::PageMatch::Page, super::super::Ranking::HitAt10);
        let tested = Tested { deciding: &[P_AT_1], beside: &[Metric::AnswerRelevance], ..Tested::default() };
        let all = Significance::of(&default, &other, tested).all;
        assert_eq!(all.exchanged.keys().collect::<Vec<_>>(), ["page.p_at_1"], "nothing was rated");
        let found = all.exchanged["page.p_at_1"];
        assert!((found.default - 9.0 / 12.0).abs() < 1e-12 && (found.this - 5.0 / 12.0).abs() < 1e-12);
        assert_eq!((found.higher_default, found.higher_this, found.p_holm), (4, 0, None));
        assert!((found.p - 0.5).abs() < 1e-12 && found.difference.questions == 12);
        assert!(all.mcnemar.is_none() && all.paired_t.is_none() && all.differences.is_empty());
        let found = exchanged_over(&default, &other, in_ten);
        assert_eq!((found.difference.questions, found.difference.conversations), (8, 2));
    }

    fn exchanged_over(default: &[Asked], other: &[Asked], name: Metric) -> Exchanged {
        let both = default.iter().zip(other);
        let pairs = both.filter_map(|(a, b)| Some((a.question(), (a.value(name)?, b.value(name)?))));
        exchanged(&pairs.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn questions_in_one_language_are_not_tested_twice() {
        let english: Vec<Asked> =
            run("1111 1110").into_iter().filter(|one| one.question.language == Language::English).collect();
        let first: Vec<Asked> = english.iter().filter(|one| one.question.turn == 1).cloned().collect();
        let tested = Tested { right: Some(P_AT_1), rated: Some(Metric::AnswerRelevance), ..Tested::default() };
        let found = Significance::of(&english, &english, tested);
        assert!(found.all.mcnemar_by_language.is_empty() && found.follow_ups.is_some());
        assert_eq!((found.all.paired_t, found.all.differences.len()), (None, 1), "nothing was rated");
        assert_eq!(Significance::of(&first, &first, tested).follow_ups, None);
    }
}
