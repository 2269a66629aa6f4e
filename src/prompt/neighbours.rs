//! What stands before and after several sources, said once.
//!
//! Takes the hits of a prompt, the best first, and which of them are in it as a whole; gives the text of each, without what
//! another source of the same document says. A row has the same text around it as the row below, and that text is often a
//! source itself: it takes a third of a prompt, and a small model reads it as an answer that many sources give.
//! Invariants: what is left out of a source stands whole in another of the same document; title, heading and content stay.
//! Not here: what is cut for lack of room (`build`).

use crate::retrieval::Hit;

/// A shorter neighbour stays: it takes no room, and may be in another text by chance.
const LEAST_LETTERS: usize = 40;

/// The text of each hit. `gives` says whether a hit is in the prompt as a whole, so that others need not say what it does.
pub(super) fn said_once(hits: &[&Hit], gives: impl Fn(&Hit) -> bool) -> Vec<String> {
    let givers: Vec<&Hit> = hits.iter().copied().filter(|hit| gives(hit)).collect();
    let mut said: Vec<(&Hit, &str)> = Vec::new();
    hits.iter()
        .map(|hit| {
            let Some(shown) = Shown::of(hit) else { return hit.text.clone() };
            let is_new = |text: &&str| {
                let text = core(text);
                if text.chars().count() < LEAST_LETTERS {
                    return true;
                }
                let of_document = |other: &Hit| other.document == hit.document;
                let in_content = |other: &&Hit| other.rank != hit.rank && other.content.contains(text);
                let by_another = givers.iter().filter(|other| of_document(other)).any(in_content);
                !by_another && !said.iter().any(|(other, said)| of_document(other) && said.contains(text))
            };
            let (before, after) = (shown.before.filter(is_new), shown.after.filter(is_new));
            if gives(hit) {
                said.extend([before, after].into_iter().flatten().map(|text| (*hit, text)));
            }
            let lines = [shown.above, before, Some(shown.content), after];
            lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
        })
        .collect()
}

/// The contextualized text of a hit in its parts, each without the line break that joins it.
struct Shown<'a> {
    /// Title and heading.
    above: Option<&'a str>,
    before: Option<&'a str>,
    content: &'a str,
    after: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// Nothing where the text is not made of the hit's content and context.
    fn of(hit: &'a Hit) -> Option<Self> {
        let (text, after) = match before_line(&hit.text, &hit.context.after) {
            Some(text) => (text, Some(hit.context.after.as_str())),
            None => (hit.text.as_str(), None),
        };
        if text == hit.content {
            return Some(Self { above: None, before: None, content: &hit.content, after });
        }
        let above = before_line(text, &hit.content)?;
        let (above, before) = match before_line(above, &hit.context.before) {
            Some(above) => (Some(above), Some(hit.context.before.as_str())),
            None if above == hit.context.before => (None, Some(above)),
            None => (Some(above), None),
        };
        Some(Self { above, before, content: &hit.content, after })
    }
}

/// What stands in the lines before `last`; nothing where a text does not end with it.
fn before_line<'a>(text: &'a str, last: &str) -> Option<&'a str> {
    text.strip_suffix(last).filter(|_| !last.is_empty())?.strip_suffix('\n')
}

/// A neighbour without the marks of where it was shortened.
fn core(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '…')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evidence::{Context, ContextParts};
    use crate::prompt::tests::hit;

    const AROUND: &str = "Every board was flashed from an empty state before the first test.";
    const BELOW: &str = "The A1 stays on the 3.3 branch because its flash is too small.";

    fn of(rank: usize, (before, content, after): (&str, &str, &str), parts: ContextParts) -> Hit {
        let context = Context {
            title: "Regression run".into(),
            heading_path: vec!["Results".into()],
            before: before.into(),
            after: after.into(),
        };
        let whole = [
            (ContextParts::TITLE, "Regression run"),
            (ContextParts::HEADING, "Results"),
            (ContextParts::BEFORE, before),
            (ContextParts::ALL, content),
            (ContextParts::AFTER, after),
        ];
        let shown = whole
            .iter()
            .filter(|(part, text)| !text.is_empty() && (*part == ContextParts::ALL || parts.contains(*part)));
        let text = shown.map(|(_, text)| *text).collect::<Vec<_>>().join("\n");
        Hit { text, content: content.into(), context, ..hit(rank, "") }
    }

    fn texts(hits: &[Hit]) -> Vec<String> {
        said_once(&hits.iter().collect::<Vec<_>>(), |_| true)
    }

    #[test]
    fn what_is_around_two_rows_stays_with_the_better_one() {
        let rows = [(AROUND, "Row 2: Board is B2", BELOW), (AROUND, "Row 1: Board is A1", BELOW)];
        let hits: Vec<Hit> = (1..).zip(rows).map(|(rank, row)| of(rank, row, ContextParts::ALL)).collect();
        let [best, other] = texts(&hits).try_into().unwrap();
        assert_eq!(best, hits[0].text);
        assert_eq!(other, "Regression run\nResults\nRow 1: Board is A1");
    }

    #[test]
    fn what_is_a_source_itself_is_around_no_other() {
        let shortened = format!("… {}", AROUND.split_once(' ').unwrap().1);
        let hits = [
            of(1, (&shortened, "Row 2: Board is B2", BELOW), ContextParts::ALL),
            of(2, ("", &format!("The run took five days. {AROUND}"), "Row 1: Board is A1"), ContextParts::ALL),
        ];
        let [row, text] = texts(&hits).try_into().unwrap();
        assert_eq!(row, format!("Regression run\nResults\nRow 2: Board is B2\n{BELOW}"));
        assert_eq!(text, hits[1].text, "what is short stays: it says what stood here and takes no room");
    }

    #[test]
    fn a_source_that_is_not_whole_says_nothing_for_another() {
        let hits = [
            of(1, (AROUND, "Row 2: Board is B2", ""), ContextParts::ALL),
            of(2, (AROUND, "Row 1: Board is A1", ""), ContextParts::ALL),
        ];
        let texts = said_once(&hits.iter().collect::<Vec<_>>(), |hit| hit.rank != 1);
        assert_eq!(texts, [hits[0].text.clone(), hits[1].text.clone()]);
    }

    #[test]
    fn another_document_says_it_for_itself() {
        let first = of(1, (AROUND, "Row 2: Board is B2", ""), ContextParts::ALL);
        let other = Hit { document: crate::base::DocumentId(2), ..of(2, (AROUND, "Row 2: B3", ""), ContextParts::ALL) };
        assert_eq!(texts(&[first.clone(), other.clone()]), [first.text, other.text]);
    }

    proptest! {
        #[test]
        fn all_that_is_left_out_stands_in_another_source(
            rows in proptest::collection::vec((0..4_usize, 0..4_usize, 0..4_usize), 1..6),
            parts in 0..16_u8,
        ) {
            let words = |n: usize, what: &str| match n {
                0 => String::new(),
                n => format!("{what} number {n} that is said of several rows in the middle of the page"),
            };
            let chosen = [ContextParts::TITLE, ContextParts::HEADING, ContextParts::BEFORE, ContextParts::AFTER];
            let chosen = (0..4).filter(|bit| parts & (1 << bit) != 0).map(|bit| chosen[bit]);
            let parts = chosen.fold(ContextParts::NONE, ContextParts::with);
            let hits: Vec<Hit> = (1..).zip(&rows).map(|(rank, (before, content, after))| {
                let content = format!("{} in row {rank}", words(*content, "Text"));
                of(rank, (&words(*before, "Text"), &content, &words(*after, "Text")), parts)
            }).collect();
            let told = texts(&hits);
            for (hit, text) in hits.iter().zip(&told) {
                prop_assert!(text.contains(&hit.content));
                for line in hit.text.lines() {
                    prop_assert!(told.iter().any(|text| text.contains(line)), "{line}");
                }
                prop_assert!(text.lines().all(|line| hit.text.lines().any(|other| other == line)));
            }
        }
    }
}
