//! A date that a question asks about and that none of the sources has: what they say of another day or month is easily
//! taken for the answer, as the last run of a test for the one that was asked about.
//!
//! Takes the prompt of an answer, gives the date as the question has it. Pure.
//! Invariant: nothing is said where a source has the date in any spelling, or its month and its year apart; nor of the end
//! of a span ("since March 2025"), of several dates, or where sources are versions of a page, since then the date tells
//! which of them held.
//! Not here: figures of the answer (`figures`), the day that a question means (`retrieval`).

use std::collections::HashSet;

use super::names::parts;
use crate::base::{DateMention, DayOrMonth, dates_in};
use crate::prompt::{Part, Prompt, Segment};
use crate::retrieval::{Age, date_named};

/// The date that the question names, where no source has it.
pub(super) fn in_no_source(prompt: &Prompt) -> Option<String> {
    let question = prompt.segments.iter().find(|segment| segment.part == Part::Question)?;
    let DateMention { span, readings } = date_named(&question.text)?;
    let [asked] = readings[..] else { return None };
    let sources = || prompt.segments.iter().filter(|segment| !segment.part.sources().is_empty());
    let is_silent = sources().count() > 0 && !sources().any(|source| is_version(source) || has(&source.text, asked));
    is_silent.then(|| question.text[span].to_owned())
}

/// Whether it is marked as a version of its page.
fn is_version(source: &Segment) -> bool {
    let name = source.text.lines().next().unwrap_or_default();
    [Age::Newest, Age::Older].iter().any(|age| name.contains(age.says()))
}

fn has(text: &str, asked: DayOrMonth) -> bool {
    let mentions = dates_in(text);
    let is_asked = |said: &DayOrMonth| match (asked, *said) {
        (DayOrMonth::Day(asked), DayOrMonth::Day(said)) => asked == said,
        (asked, said) => (asked.year(), asked.month()) == (said.year(), said.month()),
    };
    let readings = mentions.iter().flat_map(|mention| &mention.readings);
    readings.clone().any(is_asked) || {
        // A table may have the year in its title and days without it in its rows.
        let year = asked.year().to_string();
        let has_year = readings.clone().any(|said| said.year() == asked.year()) || parts(text).any(|part| part == year);
        let apart: HashSet<String> = parts(&without(text, &mentions)).collect();
        has_year && asked.month_names().iter().any(|name| apart.contains(*name))
    }
}

/// The text between these mentions.
fn without(text: &str, mentions: &[DateMention]) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut done = 0;
    for DateMention { span, .. } in mentions {
        rest.push_str(&text[done..span.start]);
        rest.push(' ');
        done = span.end;
    }
    rest + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Special;

    fn told(question: &str, sources: &[&str]) -> Option<String> {
        let segment = |part, text: String| Segment { part, text, special: Special::Plain, tokens: 1 };
        let sources = (1..).zip(sources);
        let mut segments: Vec<Segment> =
            sources.map(|(rank, text)| segment(Part::Evidence { rank }, format!("Source {rank}{text}\n\n"))).collect();
        segments.push(segment(Part::Question, format!("Question: {question}\n\nAnswer from the sources above.")));
        in_no_source(&Prompt { segments, ..Prompt::default() })
    }

    const RUNS: [&str; 2] = [
        ":\nSeptember 2024 regression run\nLast updated: Sep 24, 2024",
        ":\nMarch 2025 regression run\nIt took five days from 10 to 14 March 2025. Before: September 2024 regression run",
    ];

    #[test]
    fn the_date_that_no_source_has_is_told_as_the_question_has_it() {
        assert_eq!(told("How long did the September 2025 run take?", &RUNS), Some("September 2025".into()));
        assert_eq!(told("Was dauerte am 12. Mai 2025 so lange?", &RUNS), Some("12. Mai 2025".into()));
        assert_eq!(told("Who ran the test on 2025-04-15?", &RUNS), Some("2025-04-15".into()));
        assert_eq!(told("Who called on July 23, 2015?", &[":\nCall on July 9, 2015"]), Some("July 23, 2015".into()));
    }

    #[test]
    fn a_date_that_a_source_has_in_any_spelling_is_not() {
        for question in [
            "How long did the run of September 2024 take?",
            "What ended on March 14, 2025?",
            "What was updated on 24.09.2024?",
            "Was geschah im März 2025?",
        ] {
            assert_eq!(told(question, &RUNS), None, "{question}");
        }
        assert_eq!(told("Who called on July 23, 2015?", &[":\nCall 2015-07\nEric"]), None, "the month alone");
        assert_eq!(told("Who called on July 23, 2015?", &[":\nCalls of 2015\nRow 1: 23 July, Eric"]), None, "apart");
    }

    #[test]
    fn nothing_is_told_of_a_span_of_several_dates_of_versions_and_without_sources() {
        assert_eq!(told("What changed since May 2025?", &RUNS), None);
        assert_eq!(told("What was done in May 2025 and in June 2025?", &RUNS), None);
        assert_eq!(told("What was done on 3/4/2025?", &RUNS), None, "either March or April");
        assert_eq!(told("What was the limit in May 2024?", &[" (older version, 2024-01-10):\nLimit: 50"]), None);
        assert_eq!(told("What was the limit in May 2024?", &[]), None);
        assert_eq!(told("What was the limit in 2024?", &RUNS), None);
    }
}
