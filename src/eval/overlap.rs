//! Word overlap of an answer with the reference answer. Pure, without a model.
//!
//! Words are normalized as in SQuAD: case, punctuation and articles are ignored. Citations are no words of the answer.
//! A reference answer in another language has little overlap, whatever the quality of the answer.

use std::collections::HashMap;

use super::questions::{contains, normalized};
use ragonite_base::text::lower_words;
use ragonite_rag::answer::citation::without_marks;

/// Articles, which are ignored.
const ARTICLES: [&str; 11] = ["a", "an", "the", "der", "die", "das", "den", "dem", "ein", "eine", "einen"];

/// Overlap with the reference answer, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overlap {
    /// Harmonic mean of the shares of common words in both answers.
    pub f1: f64,
    /// Share of the reference answer's words.
    pub recall: f64,
    /// Whether the answer contains one of the facts, or without facts the whole reference answer.
    pub contained: bool,
}

impl Overlap {
    /// Compares `answer` with the reference answer and the facts.
    #[must_use]
    pub fn of(answer: &str, right: &str, facts: &[String]) -> Self {
        let answer = without_marks(answer);
        let (given, wanted) = (words(&answer), words(right));
        let common = common(&given, &wanted) as f64;
        let share = |of: &[String]| if of.is_empty() { 0.0 } else { common / of.len() as f64 };
        let (precision, recall) = (share(&given), share(&wanted));
        let f1 = if common > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
        let contained = if facts.is_empty() {
            !wanted.is_empty() && given.windows(wanted.len()).any(|some| some == wanted)
        } else {
            let answer = normalized(&answer);
            facts.iter().any(|fact| contains(&answer, &normalized(fact)))
        };
        Self { f1, recall, contained }
    }
}

fn words(text: &str) -> Vec<String> {
    lower_words(text).filter(|word| !ARTICLES.contains(&word.as_str())).collect()
}

/// Number of words in both, with multiplicity.
fn common(given: &[String], wanted: &[String]) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in wanted {
        *left.entry(word).or_default() += 1;
    }
    let taken = given.iter().filter(|word| match left.get_mut(word.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    taken.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn case_articles_punctuation_and_marks_do_not_matter() {
        let overlap =
            Overlap::of("The Harbour  Radio Relay-Station! [Source 1, Source 2]", "a harbour radio relay station", &[]);
        assert_eq!(overlap, Overlap { f1: 1.0, recall: 1.0, contained: true });
    }

    #[test]
    fn common_words_are_counted_as_often_as_both_have_them() {
        // Common: two, red, red; said 5 words, wanted 4.
        let overlap = Overlap::of("two red red red cars", "red two red bikes", &[]);
        assert!(same(overlap.recall, 0.75) && same(overlap.f1, 2.0 * 0.6 * 0.75 / 1.35), "{overlap:?}");
        assert!(!overlap.contained);
    }

    #[test]
    fn a_fact_is_enough_where_there_are_facts() {
        let facts = ["17 boards".to_owned(), "seventeen".to_owned()];
        assert!(Overlap::of("It ran on 17 Boards [Source 1].", "On seventeen of them.", &facts).contained);
        assert!(!Overlap::of("It ran on 2017 boards.", "It ran on 2017 boards.", &facts).contained);
    }

    #[test]
    fn nothing_said_and_nothing_wanted_share_nothing() {
        assert_eq!(Overlap::of("", "yes", &[]), Overlap::default());
        assert_eq!(Overlap::of("yes", "", &[]), Overlap::default());
        assert_eq!(Overlap::of("[Source 1]", "1", &[]), Overlap::default());
    }
}
