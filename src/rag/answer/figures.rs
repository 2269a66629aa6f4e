//! Checks figures of an answer: an amount, year or version that no source has is made up or computed and cannot be
//! looked up; one that only uncited sources have is cited wrongly.
//!
//! Takes an answer and its prompt, gives the figures as written. Invariant: only digits count, not separators of
//! thousands or leading zeros. Numbers are compared as a whole; dates, times and versions part by part.
//! Not here: whether a figure from a source is used correctly.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use super::citation;
use crate::prompt::{Part, Prompt};

/// Most figures in a warning.
const MOST: usize = 5;

/// A figure that only uncited sources have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MiscitedNumber {
    /// The figure as written in the answer.
    pub figure: String,
    /// Uncited sources with the figure, ascending.
    pub sources: Vec<usize>,
}

/// Figures of `answer` that neither evidence nor question has, each once, in their order. Single digits are ignored,
/// because sources often write them as words.
pub(super) fn ungrounded_numbers(answer: &str, prompt: &Prompt) -> Vec<String> {
    let known = SourceNumbers::of(prompt, |_| true);
    figures_of(answer).into_iter().filter(|figure| !known.has(figure)).take(MOST).collect()
}

/// Figures of `answer` that only uncited evidences have; none if the answer cites nothing.
pub(super) fn miscited_numbers(answer: &str, prompt: &Prompt, cited: &[usize]) -> Vec<MiscitedNumber> {
    if cited.is_empty() {
        return Vec::new();
    }
    let known = SourceNumbers::of(prompt, |rank| cited.contains(&rank));
    let missing: Vec<String> = figures_of(answer).into_iter().filter(|figure| !known.has(figure)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let others = prompt.sources().into_iter().filter(|rank| !cited.contains(rank));
    let others: Vec<(usize, SourceNumbers)> =
        others.map(|rank| (rank, SourceNumbers::of(prompt, |one| one == rank))).collect();
    let found = missing.into_iter().map(|figure| {
        let sources = others.iter().filter(|(_, known)| known.has(&figure)).map(|(rank, _)| *rank).collect();
        MiscitedNumber { figure, sources }
    });
    found.filter(|one| !one.sources.is_empty()).take(MOST).collect()
}

/// The figures of an answer with more than one digit, each once.
pub(super) fn figures_of(answer: &str) -> Vec<String> {
    let answer = citation::without_marks(answer);
    let mut own: Vec<String> = Vec::new();
    for at in figures(&answer) {
        let figure = &answer[at];
        if joined(figure).len() > 1 && own.iter().all(|one| one != figure) {
            own.push(figure.to_owned());
        }
    }
    own
}

/// The figures of texts.
#[derive(Default)]
pub(super) struct SourceNumbers {
    /// Numbers without separators of thousands.
    numbers: HashSet<String>,
    /// Runs of digits.
    groups: HashSet<String>,
}

impl SourceNumbers {
    /// The figures of the question and of the evidences with these ranks.
    fn of(prompt: &Prompt, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut known = Self::default();
        for segment in &prompt.segments {
            let of_sources = segment.part.sources().iter().any(|rank| is_wanted(*rank));
            if of_sources || segment.part == Part::Question {
                known.add(&segment.text);
            }
        }
        known
    }

    /// The figures of these texts.
    pub(super) fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        for text in texts {
            known.add(text);
        }
        known
    }

    fn add(&mut self, text: &str) {
        let mut before: Option<(usize, String)> = None;
        for at in figures(text) {
            let figure = &text[at.clone()];
            let shape = Shape::of(figure);
            if shape != Shape::Thousands {
                self.groups.extend(groups(figure).map(str::to_owned));
            }
            if shape == Shape::Parts {
                self.numbers.extend(figure.contains('-').then(|| joined(figure)));
                before = None;
                continue;
            }
            let separates = |between: &str| between.chars().all(|c| c.is_whitespace() || c == '\'' || c == '’');
            let number = match before.take() {
                Some((end, number)) if figure.len() == 3 && separates(&text[end..at.start]) => number + figure,
                _ => joined(figure),
            };
            self.numbers.extend([joined(figure), number.clone()]);
            before = Some((at.end, number));
        }
    }

    /// Whether a text has the figure, whatever its form.
    pub(super) fn has(&self, figure: &str) -> bool {
        let is_known = |group: &str| group.is_empty() || self.groups.contains(group) || may_be_month(figure, group);
        let by_parts = Shape::of(figure) != Shape::Thousands && groups(figure).all(is_known);
        by_parts || self.numbers.contains(&joined(figure))
    }
}

/// The form of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `1000`.
    Digits,
    /// `1,000` or `1.000.000`.
    Thousands,
    /// `9.0.2`, `2025-03-14`, `10:30`.
    Parts,
}

impl Shape {
    fn of(figure: &str) -> Self {
        let mut runs = figure.split(BETWEEN).skip(1).peekable();
        if runs.peek().is_none() {
            Self::Digits
        } else if runs.all(|run| run.len() == 3) && !figure.contains(['-', '/', ':']) {
            Self::Thousands
        } else {
            Self::Parts
        }
    }
}

/// Characters between the digits of a figure: `1,000`, `9.0.2`, `2025-03-14`, `10:30`.
const BETWEEN: [char; 5] = ['.', ',', '-', '/', ':'];

/// The places of figures.
fn figures(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            Some(last) if last.end + 1 == at && BETWEEN.contains(&char::from(bytes[at - 1])) => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// Runs of digits without leading zeros.
fn groups(figure: &str) -> impl Iterator<Item = &str> {
    figure.split(BETWEEN).map(|group| group.trim_start_matches('0'))
}

fn joined(figure: &str) -> String {
    let digits: String = figure.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').to_owned()
}

/// Whether the digits may be the month of a date, which a source may write as a word.
fn may_be_month(figure: &str, group: &str) -> bool {
    figure.contains(['-', '/']) && group.parse::<u8>().is_ok_and(|month| month <= 12)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::prompt::Segment;
    use ragonite_inference::SpecialTokens;

    fn prompt(sources: &[&str]) -> Prompt {
        let segment =
            |part, text: &str| Segment { part, text: text.to_owned(), special: SpecialTokens::AsText, tokens: 1 };
        let mut segments = vec![segment(Part::System, "Answer in at most 256 words.")];
        segments.extend((1..).zip(sources).map(|(rank, source)| segment(Part::Evidence { rank }, source)));
        segments.push(segment(Part::Question, "What was paid in 2025?"));
        Prompt { segments, stop: Vec::new(), cut: Vec::new() }
    }

    fn missing(answer: &str, source: &str) -> Vec<String> {
        ungrounded_numbers(answer, &prompt(&[source]))
    }

    #[test]
    fn what_only_sources_have_that_are_not_cited_is_named_with_them() {
        let prompt = prompt(&["Version 9.0.2 of 2024.", "50.000 EUR on page 12", "Paid: 50,000; built: 9.0.2"]);
        let found = |answer, cited: &[usize]| -> Vec<(String, Vec<usize>)> {
            miscited_numbers(answer, &prompt, cited).into_iter().map(|one| (one.figure, one.sources)).collect()
        };
        let answer = "In 2025 50000 were paid for 9.0.2, not 70,000. [Source 1]";
        assert_eq!(found(answer, &[1]), [("50000".to_owned(), vec![2, 3])]);
        assert_eq!(found(answer, &[2]), [("9.0.2".to_owned(), vec![1, 3])]);
        assert_eq!(found(answer, &[1, 2]), []);
        assert_eq!(found(answer, &[3]), []);
        assert_eq!(found(answer, &[]), [], "it does not say where it is from");
    }

    #[test]
    fn what_a_source_or_the_question_has_is_not_named() {
        let source = "Paid: 50.000 EUR on 14 March 2025, version 9.0.2, room 07.";
        for answer in [
            "In 2025 50,000 were paid. [Source 1]",
            "It was paid on 2025-03-14. [Source 12]",
            "Version 9.0.2 is in room 7.",
            "There are 3 reasons.",
            "It was 14 in 2025.",
        ] {
            assert_eq!(missing(answer, source), Vec::<String>::new(), "{answer}");
        }
    }

    #[test]
    fn what_stands_nowhere_is_named_once() {
        let source = "The release manager is Ross. See page 12 of 2024.";
        assert_eq!(missing("Ross earns $75,000, that is 75,000 for 256 days in 2024.", source), ["75,000", "256"]);
        assert_eq!(missing("Version 9.0.3 of 2024, paid on 2024-03-18", source), ["9.0.3", "2024-03-18"]);
    }

    #[test]
    fn a_number_is_not_put_together_of_a_time_and_a_version() {
        let source = "The call is at 1:00PM, dial 857-216-2410. Version 7.0.0 costs 12,000.";
        assert_eq!(missing("It costs $100,000 or 100, that is 12 a page.", source), ["100,000", "100", "12"]);
        assert_eq!(missing("Dial 8572162410 at 1:00, for 12000.", source), Vec::<String>::new());
    }

    #[test]
    fn blanks_and_apostrophes_separate_thousands() {
        for source in ["50 000 were paid", "50\u{202f}000", "50'000"] {
            assert_eq!(missing("50,000 were paid.", source), Vec::<String>::new(), "{source}");
        }
        assert_eq!(missing("50,000 were paid.", "50 and 000"), ["50,000"]);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]
        #[test]
        fn an_answer_that_quotes_its_source_has_no_such_figures(source in "[a-z0-9., /-]{0,60}") {
            prop_assert_eq!(missing(&source, &source), Vec::<String>::new());
        }

        #[test]
        fn any_text_can_be_looked_through(answer in "\\PC{0,60}", source in "\\PC{0,60}") {
            prop_assert!(missing(&answer, &source).len() <= MOST);
            let miscited = miscited_numbers(&answer, &prompt(&["nothing", &source]), &[1]);
            prop_assert!(miscited.iter().all(|one| one.sources == [2]));
        }
    }
}
