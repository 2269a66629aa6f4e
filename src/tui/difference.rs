//! Differences between two answers, as marked text.
//!
//! Takes two answers; compares the rendered text, without the Markdown syntax. Removed words read `[-so-]`, added words
//! `{+so+}`, so that the marks carry the meaning without colour. Common text keeps its style.
//! Not here: the diff (`attribution`), rendering an answer (`markdown`).

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Span;

use super::markdown::flat;
use super::theme::Theme;
use ragonite_rag::attribution::{Change, DiffPart, difference};

/// The text of `other` with its differences from `original` marked.
pub(super) fn marked(original: &str, other: &str, theme: &Theme) -> Vec<Span<'static>> {
    parts(original, other, theme).into_iter().flat_map(|(_, spans)| spans).collect()
}

/// The left and the right answer, each with its own words marked.
pub(super) fn sides(first: &str, second: &str, theme: &Theme) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
    let parts = parts(first, second, theme);
    let without = |left_out: Change| {
        let kept = parts.iter().filter(move |(change, _)| *change != left_out);
        kept.flat_map(|(_, spans)| spans.clone()).collect()
    };
    (without(Change::Added), without(Change::Removed))
}

fn parts(first: &str, second: &str, theme: &Theme) -> Vec<(Change, Vec<Span<'static>>)> {
    let (first, second) = (Read::of(first, theme), Read::of(second, theme));
    let mut at = 0;
    let parts = difference(&first.text, &second.text);
    let parts = parts.iter().filter(|part| !part.text.is_empty()).map(|part| {
        let from = at;
        // Same and added parts together are the second text.
        if part.change != Change::Removed {
            at += part.text.len();
        }
        let same = part.change == Change::Same;
        (part.change, if same { second.spans(from..at) } else { mark(part, theme) })
    });
    parts.collect()
}

/// The rendered text of an answer, with the end and the style of each run.
struct Read {
    text: String,
    runs: Vec<(usize, Style)>,
}

impl Read {
    fn of(answer: &str, theme: &Theme) -> Self {
        let mut read = Self { text: String::new(), runs: Vec::new() };
        for span in flat(answer, theme) {
            read.text.push_str(&span.content);
            read.runs.push((read.text.len(), span.style));
        }
        read
    }

    fn spans(&self, range: Range<usize>) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut start = range.start;
        let first = self.runs.partition_point(|(end, _)| *end <= start);
        for (end, style) in &self.runs[first..] {
            let end = (*end).min(range.end);
            if start >= end {
                break;
            }
            spans.push(Span::styled(self.text[start..end].to_owned(), *style));
            start = end;
        }
        spans
    }
}

/// One part with its marks. Leading and trailing white space stays outside, so that lines can break there.
fn mark(part: &DiffPart, theme: &Theme) -> Vec<Span<'static>> {
    let (open, close, style) = match part.change {
        Change::Same => return vec![Span::styled(part.text.clone(), theme.text)],
        Change::Removed => ("[-", "-]", theme.bad),
        Change::Added => ("{+", "+}", theme.accent),
    };
    let words = part.text.trim();
    if words.is_empty() {
        return vec![Span::raw(part.text.clone())];
    }
    let start = part.text.len() - part.text.trim_start().len();
    let end = part.text.trim_end().len();
    vec![
        Span::raw(part.text[..start].to_owned()),
        Span::styled(format!("{open}{words}{close}"), style),
        Span::raw(part.text[end..].to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(spans: &[Span<'static>]) -> String {
        spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn marks_hold_words_and_leave_spaces_outside() {
        let read = |change, text: &str| -> String {
            let part = DiffPart { change, text: text.into() };
            mark(&part, &Theme::colour()).iter().map(|span| span.content.to_string()).collect()
        };
        assert_eq!(read(Change::Removed, " by Alice "), " [-by Alice-] ");
        assert_eq!(read(Change::Added, "Bob"), "{+Bob+}");
        assert_eq!(read(Change::Same, " and "), " and ");
    }

    #[test]
    fn the_signs_of_markdown_are_neither_compared_nor_shown() {
        let theme = Theme::colour();
        let spans = marked("**Alice** does *it* [Source 1]\n\n- today", "Alice does `it` [Source 1]\n\n- now", &theme);
        assert_eq!(read(&spans), "Alice does it [Source\u{a0}1]\n\n• [-today-]{+now+}");
        assert!(spans.iter().any(|span| span.content.contains("it") && span.style == theme.code));
    }

    #[test]
    fn each_side_has_its_own_words_only() {
        let (left, right) = sides("Alice replaces the modem", "Bob replaces it", &Theme::colour());
        assert_eq!(read(&left), "[-Alice-] replaces [-the modem-]");
        assert_eq!(read(&right), "{+Bob+} replaces {+it+}");
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(100))]
        #[test]
        fn the_same_answer_reads_as_it_is_drawn(text in any::<String>()) {
            let theme = Theme::colour();
            prop_assert_eq!(read(&marked(&text, &text, &theme)), read(&flat(&text, &theme)));
        }
    }
}
