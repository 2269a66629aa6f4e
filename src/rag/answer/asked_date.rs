//! A date in the question that no cited source has. Small models answer with another day, month or year instead, such
//! as the last run of a test.
//!
//! Takes the prompt of an answer and its citations, gives the date as the question has it. Pure.
//! Invariant: no warning if a cited source has the date in any spelling or its month without a year; none for the end
//! of a span ("since March 2025"), for several dates, or among versions of a page, whose dates only tell which was in
//! force. A bare year counts as found if any source has it, because many pages show the year of their last change.
//! Not here: other figures (`figures`), the day that a question means (`retrieval`).

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use crate::prompt::{Part, Prompt, Segment};
use crate::retrieval::{Age, absolute_date};
use ragonite_base::text::{NAME_JOINS, Word, full_year, lower_words, split_words};
use ragonite_base::{DateMention, DayOrMonth, dates_in};

/// Words before four digits that make a year of them.
const BEFORE_YEARS: &[&str] = &["in", "im", "of", "for", "für", "during", "year", "jahr", "jahre"];

/// A date in the question that no cited source has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedDate {
    /// The date as written in the question.
    pub date: String,
    /// Uncited sources that have the date, ascending.
    pub sources: Vec<usize>,
}

/// The date of the question if no `cited` source has it, or no source at all if nothing is cited.
pub(super) fn uncited_date(prompt: &Prompt, cited: &[usize]) -> Option<AskedDate> {
    let question = prompt.segments.iter().find(|segment| segment.part == Part::Question)?;
    let (span, asked) = asked(&question.text)?;
    let of_sources = || prompt.segments.iter().filter(|segment| !segment.part.sources().is_empty());
    if of_sources().count() == 0 || of_sources().any(is_version) {
        return None;
    }
    // With the shared context: the date of a row is often in the title of its page.
    let text = |rank: &usize| {
        let of_source = of_sources().filter(|segment| segment.part.sources().contains(rank));
        of_source.map(|segment| segment.text.as_str()).collect::<String>()
    };
    let mut sources: Vec<usize> = prompt.sources().into_iter().filter(|rank| asked.is_in(&text(rank))).collect();
    sources.sort_unstable();
    let is_said = match asked {
        DateOrYear::Date(_) if !cited.is_empty() => cited.iter().any(|rank| sources.contains(rank)),
        DateOrYear::Date(_) | DateOrYear::Year(_) => !sources.is_empty(),
    };
    (!is_said).then(|| AskedDate { date: question.text[span].to_owned(), sources })
}

/// A date or year in a question.
#[derive(Debug, Clone, Copy)]
enum DateOrYear {
    Date(DayOrMonth),
    Year(i32),
}

impl DateOrYear {
    fn is_in(self, text: &str) -> bool {
        let mentions = dates_in(text);
        match self {
            Self::Date(date) => has(text, &mentions, date),
            Self::Year(year) => has_year(text, &mentions, year),
        }
    }
}

/// The only unambiguous date of a question, or its only year, with its place.
fn asked(question: &str) -> Option<(Range<usize>, DateOrYear)> {
    if dates_in(question).is_empty() {
        return year_named(question).map(|(span, year)| (span, DateOrYear::Year(year)));
    }
    let DateMention { span, readings } = absolute_date(question)?;
    match readings[..] {
        [date] => Some((span, DateOrYear::Date(date))),
        _ => None,
    }
}

/// The only year in a question, as in "in 2024".
fn year_named(question: &str) -> Option<(Range<usize>, i32)> {
    let words: Vec<Word<'_>> = split_words(question, NAME_JOINS).collect();
    let mut found = words.windows(2).filter_map(|pair| Some((pair[0], pair[1], full_year(pair[1].text)?)));
    let ((before, word, year), None) = (found.next()?, found.next()) else { return None };
    BEFORE_YEARS.contains(&before.text.to_lowercase().as_str()).then_some((word.span(), year))
}

/// Whether the source is labelled as a version of its page.
fn is_version(source: &Segment) -> bool {
    let name = source.text.lines().next().unwrap_or_default();
    [Age::Newest, Age::Older].iter().any(|age| name.contains(age.label()))
}

fn has(text: &str, mentions: &[DateMention], asked: DayOrMonth) -> bool {
    let is_asked = |found: &DayOrMonth| match (asked, *found) {
        (DayOrMonth::Day(asked), DayOrMonth::Day(found)) => asked == found,
        (asked, found) => (asked.year(), asked.month()) == (found.year(), found.month()),
    };
    // "17th July" may be of any year; minutes rarely name it.
    let is_without_year = || {
        let apart: HashSet<String> = lower_words(&without(text, mentions)).collect();
        asked.month_names().iter().any(|name| apart.contains(*name))
    };
    mentions.iter().flat_map(|mention| &mention.readings).any(is_asked)
        || asked.in_digits().iter().any(|spelled| text.contains(spelled.as_str()))
        || is_without_year()
}

/// Whether a text has a year, in a date or as `2024`, `FY24`, `'24` or `3/24`.
fn has_year(text: &str, mentions: &[DateMention], year: i32) -> bool {
    let short = format!("{:02}", year.rem_euclid(100));
    let written = [year.to_string(), format!("fy{short}"), format!("fy{year}")];
    mentions.iter().flat_map(|mention| &mention.readings).any(|found| found.year() == year)
        || lower_words(text).any(|part| written.contains(&part))
        || ["'", "’", "/", "."].iter().any(|mark| text.contains(&format!("{mark}{short}")))
}

/// The text without these dates.
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
    use ragonite_inference::SpecialTokens;

    fn prompt(question: &str, sources: &[&str]) -> Prompt {
        let segment = |part, text: String| Segment { part, text, special: SpecialTokens::AsText, tokens: 1 };
        let sources = (1..).zip(sources);
        let mut segments: Vec<Segment> =
            sources.map(|(rank, text)| segment(Part::Evidence { rank }, format!("Source {rank}{text}\n\n"))).collect();
        segments.push(segment(Part::Question, format!("Question: {question}\n\nAnswer from the sources above.")));
        Prompt { segments, ..Prompt::default() }
    }

    /// What is told of an answer that cites nothing.
    fn uncited(question: &str, sources: &[&str]) -> Option<String> {
        let uncited = uncited_date(&prompt(question, sources), &[])?;
        assert!(uncited.sources.is_empty());
        Some(uncited.date)
    }

    const RUNS: [&str; 2] = [
        ":\nSeptember 2024 regression run\nLast updated: Sep 24, 2024",
        ":\nMarch 2025 regression run\nIt took five days from 10 to 14 March 2025. Before: September 2024 regression run",
    ];

    #[test]
    fn the_date_that_no_source_has_is_told_as_the_question_has_it() {
        assert_eq!(uncited("How long did the September 2025 run take?", &RUNS), Some("September 2025".into()));
        assert_eq!(uncited("Was dauerte am 12. Mai 2025 so lange?", &RUNS), Some("12. Mai 2025".into()));
        assert_eq!(uncited("Who ran the test on 2025-04-15?", &RUNS), Some("2025-04-15".into()));
        assert_eq!(uncited("Who called on July 23, 2015?", &[":\nCall on July 9, 2015"]), Some("July 23, 2015".into()));
    }

    #[test]
    fn a_date_that_a_source_has_in_any_spelling_is_not() {
        for question in [
            "How long did the run of September 2024 take?",
            "What ended on March 14, 2025?",
            "What was updated on 24.09.2024?",
            "Was geschah im März 2025?",
        ] {
            assert_eq!(uncited(question, &RUNS), None, "{question}");
        }
        assert_eq!(uncited("Who called on July 23, 2015?", &[":\nCall 2015-07\nEric"]), None, "the month alone");
        assert_eq!(uncited("Who called on July 23, 2015?", &[":\nWeekly 7/23/15"]), None);
        assert_eq!(uncited("Who called on July 23, 2015?", &[":\nCall on 23rd July: Eric"]), None, "of any year");
    }

    #[test]
    fn sources_that_have_the_date_are_named_where_others_are_cited() {
        let calls = [":\nCall - July 23 2015\nDial 857", ":\nCall - August 20 2015\nDial 857", ":\nNotes of 7/23/2015"];
        let uncited = |cited: &[usize]| uncited_date(&prompt("What was dialed on July 23, 2015?", &calls), cited);
        let date = "July 23, 2015".to_owned();
        assert_eq!(uncited(&[2]), Some(AskedDate { date, sources: vec![1, 3] }));
        for cited in [&[1][..], &[2, 3], &[]] {
            assert_eq!(uncited(cited), None);
        }
    }

    #[test]
    fn what_stands_around_a_source_is_its_own() {
        let mut around = prompt("Who ran the test in March 2025?", &[":\nRow 1: Tomas", ":\nRow 2: Priya"]);
        around.segments.push(Segment {
            part: Part::SharedContext { ranks: vec![2] },
            text: "Around Source 2:\nMarch 2025 run\n\n".into(),
            special: SpecialTokens::AsText,
            tokens: 1,
        });
        assert_eq!(uncited_date(&around, &[2]), None);
        assert_eq!(uncited_date(&around, &[1]).map(|uncited| uncited.sources), Some(vec![2]));
    }

    #[test]
    fn nothing_is_told_of_a_span_of_several_dates_of_versions_and_without_sources() {
        assert_eq!(uncited("What changed since May 2025?", &RUNS), None);
        assert_eq!(uncited("What was done in May 2025 and in June 2025?", &RUNS), None);
        assert_eq!(uncited("What was done on 3/4/2025?", &RUNS), None, "either March or April");
        assert_eq!(uncited("What was the limit in May 2024?", &[" (older version, 2024-01-10):\nLimit: 50"]), None);
        assert_eq!(uncited("What was the limit in May 2024?", &[]), None);
    }

    #[test]
    fn a_year_is_told_where_no_source_has_it() {
        assert_eq!(uncited("What was the budget in 2023?", &RUNS), Some("2023".into()));
        assert_eq!(uncited("Wie hoch war das Budget im Jahr 2023, und warum?", &RUNS), Some("2023".into()));
        assert_eq!(uncited_date(&prompt("What was spent in 2025?", &RUNS), &[1]), None, "another source has it");
        for question in [
            "What was the limit in 2024?",
            "What changed since 2023?",
            "What was spent in 2022 and in 2023?",
            "Does it run on Server 2019?",
            "Who wrote build 2023-rc1 of 2023.1?",
        ] {
            assert_eq!(uncited(question, &RUNS), None, "{question}");
        }
        for source in [":\nBudget FY23: 50", ":\nPaid 3/14/23", ":\nSummer of ’23", ":\n(2023): 50"] {
            assert_eq!(uncited("What was the budget in 2023?", &[source]), None, "{source}");
        }
    }
}
