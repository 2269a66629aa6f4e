//! Reads the citations in an answer, in every form that models write.
//!
//! Takes clean text and the numbers of the sources in the prompt, gives the text with marks in canonical form: `[Source
//! 1, Source 2]`. A number that was not in the prompt becomes `[Source 9?]`. A mark holds either sources or unknown
//! numbers, not both.
//! Invariants: reading canonical text again changes nothing; text outside of marks stays as it is.
//! Not here: cleaning the text (`base`), the sources of the prompt (`prompt`).

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A mark in the canonical text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Bytes of [`Citations::text`], brackets included.
    pub span: Range<usize>,
    /// Cited sources in the order of the mark; empty for a mark of unknown numbers.
    pub ranks: Vec<usize>,
    /// Cited numbers without a source.
    pub unknown: Vec<usize>,
}

/// An answer with its citations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Citations {
    /// The text with every mark in canonical form.
    pub text: String,
    /// Cited numbers that are sources of the prompt, ascending.
    pub valid: Vec<usize>,
    /// Cited numbers that are not, ascending.
    pub invalid: Vec<usize>,
    /// The marks in the order of the text.
    pub marks: Vec<Mark>,
}

impl Citations {
    /// The text without its marks.
    #[must_use]
    pub fn without_marks(&self) -> String {
        let mut rest = String::with_capacity(self.text.len());
        let mut done = 0;
        for mark in &self.marks {
            rest.push_str(self.text[done..mark.span.start].trim_end());
            done = mark.span.end;
        }
        rest.push_str(&self.text[done..]);
        rest
    }
}

/// An answer in canonical form without its marks.
pub fn without_marks(answer: &str) -> String {
    read(answer, &[]).without_marks().trim().to_owned()
}

/// The text of a cut answer without an unclosed citation: `[Source 1` might have become 1 or 10.
pub fn without_unclosed(answer: &str) -> &str {
    let last = answer.ceil_char_boundary(answer.len().saturating_sub(LONGEST_OPEN));
    let opens = answer[last..].char_indices().map(|(at, bracket)| (last + at, bracket));
    let mut open = opens.filter(|(at, bracket)| match bracket {
        '(' => !answer[*at..].contains(')'),
        '[' | '【' => !answer[*at..].contains([']', '】']),
        _ => false,
    });
    let begins_citation = |tail: &str| {
        let tail = tail.trim_start_matches(['[', '【', '(']).trim().to_lowercase();
        OPENINGS.iter().any(|opening| opening.starts_with(&tail)) || OPEN.is_match(&tail)
    };
    open.find(|(at, _)| begins_citation(&answer[*at..])).map_or(answer, |(at, _)| answer[..at].trim_end())
}

/// Beginnings of a citation before its number.
const OPENINGS: [&str; 8] = [
    "source no",
    "sources no",
    "quelle nr",
    "quellen nr",
    "see source",
    "see sources",
    "siehe quelle",
    "siehe quellen",
];

/// Most bytes of a citation with its title.
const LONGEST_OPEN: usize = 120;

/// Longest range of numbers; `1-2024` is none.
const LONGEST_RANGE: usize = 20;

const WORD: &str = r"(?:sources?|quellen?)(?:\s*(?:nos?\.?|nrn?\.?|\#|:))?\s*";
const NUMBER: &str = r"\d{1,4}\??";
const RANGE: &str = r"\s*(?:-|–|—|\bto\b|\bbis\b)\s*";
const SEPARATOR: &str = r"\s*(?:[,;/&+]\s*(?:\b(?:and|und)\b)?|\b(?:and|und)\b)\s*";

#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static FORMS: LazyLock<Regex> = LazyLock::new(|| {
    let item = format!("(?:{WORD})?{NUMBER}(?:{RANGE}(?:{WORD})?{NUMBER})?");
    let rest = format!("(?:{SEPARATOR}{item})*");
    let lead = r"(?:(?:see|cf\.?|from|siehe|vgl\.?|aus)\s+)?";
    // A title, or the label of the prompt behind the number: `(older version, 2024-11-02)`.
    let label =
        r"(?:\s*[:,–-]\s*[^\[\]\(\)【】\n]{1,80}|\s*\(\s*(?:(?:older|newest)\s+version|\d)[^\[\]\(\)【】\n]{0,80}\))?";
    Regex::new(&format!(
        r"(?ix)
        [\[【]+ \s* {lead} (?<square> {WORD}{item}{rest}) {label} \s* [\]】]+
        | \( \s* {lead} (?<round> {WORD}{item}{rest}) \s* \)
        | [\[【]+ \s* (?<bare> {NUMBER}(?:{RANGE}{NUMBER})?(?:{SEPARATOR}{NUMBER}(?:{RANGE}{NUMBER})?)*) \s* [\]】]+
        | (?<open> (?:^|\n) [\x20\t]* | \b(?:according\ to|as\ stated\ in|laut|gemäß)\s+ ) (?<said> {WORD}{item}{rest}) \b"
    ))
    .unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static OPEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)^(?:(?:see|cf\.?|from|siehe|vgl\.?|aus)\s+)?{WORD}{NUMBER}")).unwrap());

#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)({NUMBER})(?:{RANGE}(?:{WORD})?({NUMBER}))?")).unwrap());

/// A source that is only named: `as Source 4 says`.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let item = format!("(?:{WORD})?{NUMBER}(?:{RANGE}(?:{WORD})?{NUMBER})?");
    Regex::new(&format!(r"(?i)\b{WORD}{item}(?:{SEPARATOR}{item})*\b")).unwrap()
});

/// The bytes of `text` that cite or only name sources, with the blanks before them, in order and apart from each other.
/// `text` is the output of the model in any form.
pub fn spans(text: &str, sources: &[usize]) -> Vec<Range<usize>> {
    let cited = FORMS.captures_iter(text).filter(|form| mark(text, form, sources).is_some());
    let cited = cited.filter_map(|form| form.get(0).map(|whole| whole.range()));
    let named = NAMED.find_iter(text).filter_map(|found| named_sources(&found, sources));
    let mut spans: Vec<Range<usize>> = cited.chain(named).map(|span| with_brackets(text, span)).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup_by(|next, span| {
        let overlaps = next.start <= span.end;
        if overlaps {
            span.end = span.end.max(next.end);
        }
        overlaps
    });
    spans
}

/// The bytes of a match up to its last number before one that is no source: `Source 2, 4800 EUR` names Source 2.
fn named_sources(found: &regex::Match<'_>, sources: &[usize]) -> Option<Range<usize>> {
    let places = NUMBERS.find_iter(found.as_str()).take_while(|place| {
        let named = numbers(place.as_str());
        !named.is_empty() && named.iter().all(|number| sources.contains(number))
    });
    places.last().map(|last| found.start()..found.start() + last.end())
}

/// A span with the blanks before it and with brackets around it.
fn with_brackets(text: &str, mut span: Range<usize>) -> Range<usize> {
    loop {
        let before = text[..span.start].trim_end_matches([' ', '\t']);
        let inner = before.strip_suffix(['[', '【', '(']);
        let after = text[span.end..].trim_start_matches([' ', '\t']).strip_prefix([']', '】', ')']);
        match inner.zip(after) {
            Some((inner, after)) => span = inner.len()..text.len() - after.len(),
            None => return before.len()..span.end,
        }
    }
}

/// Nested brackets take one reading each; real text has no more.
const MOST_READINGS: usize = 8;

/// Reads the marks of `text`; `sources` are the numbers in the prompt.
pub fn read(text: &str, sources: &[usize]) -> Citations {
    let mut citations = read_once(text, sources);
    for _ in 1..MOST_READINGS {
        let again = read_once(&citations.text, sources);
        if again == citations {
            break;
        }
        citations = again;
    }
    citations
}

fn read_once(text: &str, sources: &[usize]) -> Citations {
    let mut found: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    for form in FORMS.captures_iter(text) {
        let Some((span, numbers)) = mark(text, &form, sources) else { continue };
        match found.last_mut() {
            // Adjacent marks are joined: `[Source 1], [Source 2]`.
            Some((last, known)) if joins(&text[last.end..span.start]) => {
                last.end = span.end;
                known.extend(numbers);
            }
            _ => found.push((span, numbers)),
        }
    }
    draw(text, found, sources)
}

fn joins(between: &str) -> bool {
    !between.contains('\n') && between.chars().all(|c| c.is_whitespace() || c == ',') && between.len() <= 3
}

/// Place and numbers of a mark; none if it only looks like one.
fn mark(text: &str, form: &Captures<'_>, sources: &[usize]) -> Option<(Range<usize>, Vec<usize>)> {
    let whole = form.get(0)?.range();
    if let Some(bare) = form.name("bare") {
        // A bare number may be a year, an index or a footnote, so its surroundings decide.
        let numbers = numbers(bare.as_str());
        let index = text[..whole.start].ends_with(char::is_alphanumeric);
        return (!index && numbers.iter().all(|n| sources.contains(n))).then_some((whole, numbers));
    }
    if let Some(said) = form.name("said") {
        return Some((said.range(), numbers(said.as_str())));
    }
    let named = form.name("square").or_else(|| form.name("round"))?;
    Some((whole, numbers(named.as_str())))
}

fn numbers(list: &str) -> Vec<usize> {
    let value = |text: &str| text.trim_end_matches('?').parse::<usize>().ok();
    let mut named = Vec::new();
    for pair in NUMBERS.captures_iter(list) {
        let first = pair.get(1).and_then(|m| value(m.as_str()));
        let last = pair.get(2).and_then(|m| value(m.as_str()));
        match (first, last) {
            (Some(first), Some(last)) if first < last && last - first < LONGEST_RANGE => named.extend(first..=last),
            _ => named.extend([first, last].into_iter().flatten()),
        }
    }
    named
}

fn draw(text: &str, found: Vec<(Range<usize>, Vec<usize>)>, sources: &[usize]) -> Citations {
    let mut citations = Citations::default();
    let mut done = 0;
    for (span, numbers) in found {
        citations.text.push_str(&text[done..span.start]);
        done = span.end;
        let (mut ranks, mut unknown): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for number in numbers {
            let kind = if sources.contains(&number) { &mut ranks } else { &mut unknown };
            if !kind.contains(&number) {
                kind.push(number);
            }
        }
        citations.valid.extend(&ranks);
        citations.invalid.extend(&unknown);
        let both = !ranks.is_empty() && !unknown.is_empty();
        if !ranks.is_empty() {
            citations.push(Mark { span: 0..0, ranks, unknown: Vec::new() });
        }
        if both {
            citations.text.push(' ');
        }
        if !unknown.is_empty() {
            citations.push(Mark { span: 0..0, ranks: Vec::new(), unknown });
        }
    }
    citations.text.push_str(&text[done..]);
    for numbers in [&mut citations.valid, &mut citations.invalid] {
        numbers.sort_unstable();
        numbers.dedup();
    }
    citations
}

impl Citations {
    fn push(&mut self, mut mark: Mark) {
        let start = self.text.len();
        let known = mark.ranks.iter().map(|rank| format!("Source {rank}"));
        let unknown = mark.unknown.iter().map(|number| format!("Source {number}?"));
        let names: Vec<String> = known.chain(unknown).collect();
        self.text.push('[');
        self.text.push_str(&names.join(", "));
        self.text.push(']');
        mark.span = start..self.text.len();
        self.marks.push(mark);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOURCES: &[usize] = &[1, 2, 3, 4, 5, 7];

    #[test]
    fn every_form_models_write_is_read() {
        for (written, drawn) in [
            ("It is blue [Source 1].", "It is blue [Source 1]."),
            ("Blue [Source 1, Source 2].", "Blue [Source 1, Source 2]."),
            ("Blue [Sources 1, 2].", "Blue [Source 1, Source 2]."),
            ("Blue [Source 1, 2, 7].", "Blue [Source 1, Source 2, Source 7]."),
            ("Blue [Sources 1-3].", "Blue [Source 1, Source 2, Source 3]."),
            ("Blue [Sources 1 – 3 and 5].", "Blue [Source 1, Source 2, Source 3, Source 5]."),
            ("Blue [Source 1 to Source 3].", "Blue [Source 1, Source 2, Source 3]."),
            ("Blue [Source 1; Source 2 and 3].", "Blue [Source 1, Source 2, Source 3]."),
            ("Blue [source #2].", "Blue [Source 2]."),
            ("Blue [Source: 2].", "Blue [Source 2]."),
            ("Blue [1].", "Blue [Source 1]."),
            ("Blue [1, 2].", "Blue [Source 1, Source 2]."),
            ("Blue (Source 1).", "Blue [Source 1]."),
            ("Blue (see Sources 1 and 2).", "Blue [Source 1, Source 2]."),
            ("Blue 【Source 1】.", "Blue [Source 1]."),
            ("Blau [Quelle 1].", "Blau [Source 1]."),
            ("Blau [Quellen 1, 2 und 3].", "Blau [Source 1, Source 2, Source 3]."),
            ("Blau (Quelle 1).", "Blau [Source 1]."),
            ("Blau [Quellen 1 bis 3].", "Blau [Source 1, Source 2, Source 3]."),
            ("Blue [[Source 1]].", "Blue [Source 1]."),
            ("Blue [Source 1][Source 2].", "Blue [Source 1, Source 2]."),
            ("Blue [Source 1], [Source 2].", "Blue [Source 1, Source 2]."),
            ("Blue [Source 1: Release notes].", "Blue [Source 1]."),
            ("Blue [Source 1 (older version)].", "Blue [Source 1]."),
            ("Blue [Source 1 (newest version, 2024-11-02)].", "Blue [Source 1]."),
            ("According to Source 2, it is blue.", "According to [Source 2], it is blue."),
            ("Laut Quelle 2 ist es blau.", "Laut [Source 2] ist es blau."),
            ("Source 1: It is blue.", "[Source 1]: It is blue."),
        ] {
            let citations = read(written, SOURCES);
            assert_eq!(citations.text, drawn, "{written}");
            assert!(citations.invalid.is_empty(), "{written}");
        }
    }

    #[test]
    fn a_number_that_was_not_in_the_prompt_is_never_drawn_as_a_source() {
        let citations = read("Blue [Source 2, Source 9]. Red [Source 0].", SOURCES);
        assert_eq!(citations.text, "Blue [Source 2] [Source 9?]. Red [Source 0?].");
        assert_eq!((citations.valid, citations.invalid), (vec![2], vec![0, 9]));
        assert_eq!(citations.marks[0].ranks, [2]);
        assert_eq!((&citations.marks[1].ranks, &citations.marks[1].unknown), (&vec![], &vec![9]));
    }

    #[test]
    fn what_only_looks_like_a_citation_stays() {
        for text in [
            "In [2024] and array[12] it was (1) blue.",
            "The power source 2 failed, and Source code 3 too.",
            "[link](1) and [x]",
            "open [Source",
            "",
        ] {
            let citations = read(text, SOURCES);
            assert_eq!(citations.text, text);
            assert!(citations.marks.is_empty() && citations.valid.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_citation_that_an_answer_breaks_off_in_is_none() {
        for open in [
            "[",
            "[S",
            "[Sourc",
            "[Source",
            "[Source ",
            "[Source 1",
            "[Source 1, ",
            "[Source 1, Sou",
            "[Quelle 2",
            "[[Source 1",
            "【Source 3",
            "[Sources 1, 2",
            "[Sources 1-",
            "[Source 1, Source 2",
            "[Source 1 (older ver",
            "[Source 1: Rel",
            "[Source 1 and",
            "[Source 1 and Sou",
            "[Source 1–",
            "[see Sour",
            "[Source no",
            "(Source 1",
        ] {
            assert_eq!(without_unclosed(&format!("It is blue {open}")), "It is blue", "{open}");
        }
        for whole in [
            "Blue [Source 1].",
            "Blue [Source 1]",
            "see array[12",
            "a list [sorted",
            "[x] done",
            "Blue.",
            "",
            "the code (source code of",
            "Blue [Source 1 (older version)]",
        ] {
            assert_eq!(without_unclosed(whole), whole);
        }
    }

    #[test]
    fn a_huge_range_names_its_ends_only() {
        assert_eq!(read("Blue [Sources 1-9999].", SOURCES).invalid, [9999]);
    }

    proptest! {
        #[test]
        fn reading_twice_changes_nothing(text in r"(\[|\(|【|\]|\)|】|Sources? ?|Quellen? |[0-9]|, | and |-|\?|ü|\n| |word|According to |:){0,24}") {
            let once = read(&text, SOURCES);
            let twice = read(&once.text, SOURCES);
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert_eq!(&twice.valid, &once.valid);
            prop_assert_eq!(&twice.invalid, &once.invalid);
            prop_assert_eq!(&twice.marks, &once.marks);
            prop_assert!(once.valid.iter().all(|n| SOURCES.contains(n)));
            prop_assert!(once.invalid.iter().all(|n| !SOURCES.contains(n)));
            for mark in &once.marks {
                let drawn = &once.text[mark.span.clone()];
                prop_assert!(drawn.starts_with("[Source ") && drawn.ends_with(']'));
                prop_assert!(mark.ranks.is_empty() != mark.unknown.is_empty());
            }
        }

        #[test]
        fn text_without_numbers_is_not_touched(text in r"[^0-9]{0,80}") {
            prop_assert_eq!(read(&text, SOURCES).text, text);
        }
    }
}
