//! Measuring, cutting and wrapping text.
//!
//! Invariants: width counts terminal cells per grapheme; no function panics on any width, 0 included; [`one_line`]
//! and [`paragraphs`] clean their text.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use ragonite_base::{clean_line, clean_text};

/// Indent of the first and of the further lines of a wrapped text.
#[derive(Debug, Clone, Default)]
pub(super) struct Indent {
    pub(super) first: Span<'static>,
    pub(super) rest: Span<'static>,
}

impl Indent {
    /// `cells` spaces before every line.
    pub(super) fn of(cells: usize) -> Self {
        Self { first: Span::raw(" ".repeat(cells)), rest: Span::raw(" ".repeat(cells)) }
    }
}

/// A count as `u16`, as the terminal takes it.
pub(super) fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Width in cells.
pub(super) fn width(text: &str) -> usize {
    if text.bytes().all(is_plain) {
        return text.len();
    }
    graphemes(text).map(UnicodeWidthStr::width).sum()
}

/// Graphemes (<https://www.unicode.org/reports/tr29/>). Between two plain characters there is always a boundary,
/// which makes most text cheap to segment.
fn graphemes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut bytes = rest.bytes();
        let is_alone = is_plain(bytes.next()?) && bytes.next().is_none_or(is_plain);
        let length = if is_alone { 1 } else { rest.graphemes(true).next()?.len() };
        let (grapheme, after) = rest.split_at(length);
        rest = after;
        Some(grapheme)
    })
}

/// Whether a byte is one cell wide and a grapheme of its own before another plain byte.
fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// Clean text on one line.
pub(super) fn one_line(text: &str, style: Style) -> Span<'static> {
    Span::styled(clean_line(text), style)
}

/// Cuts a text to a width, with `…` at the end.
pub(super) fn fit(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut cut = take(text, most.saturating_sub(1));
    if most > 0 {
        cut.push('…');
    }
    cut
}

/// Cuts the middle of a text to a width, with ` … ` there, because beginning and end of a message matter most.
pub(super) fn fit_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let Some(room) = most.checked_sub(width(GAP)).filter(|room| *room > 1) else { return fit(text, most) };
    let before = take(text, room.div_ceil(2));
    let left = width(text) - (room - width(&before));
    format!("{}{GAP}{}", before.trim_end(), window(text, left, room).trim_start())
}

/// Mark of a cut middle.
const GAP: &str = " … ";

/// Cuts or fills a text to exactly this width.
pub(super) fn pad(text: &str, to: usize) -> String {
    let mut padded = fit(text, to);
    padded.push_str(&" ".repeat(to.saturating_sub(width(&padded))));
    padded
}

/// The cells of a line from `left` on, at most `most`. A wide character cut in half becomes a space.
pub(super) fn window(text: &str, left: usize, most: usize) -> String {
    let mut at = 0;
    let mut seen = String::new();
    for grapheme in graphemes(text) {
        let (start, end) = (at, at + grapheme.width());
        at = end;
        if end <= left {
            continue;
        }
        if end > left + most {
            break;
        }
        if start < left { seen.push(' ') } else { seen.push_str(grapheme) }
    }
    seen
}

fn take(text: &str, most: usize) -> String {
    window(text, 0, most)
}

/// Clean text of several lines, each wrapped at words.
pub(super) fn paragraphs(text: &str, style: Style, width: usize, indent: &Indent) -> Vec<Line<'static>> {
    let clean = clean_text(text).replace('\t', "    ");
    clean.lines().flat_map(|line| wrap(&[Span::styled(line.to_owned(), style)], width, indent)).collect()
}

/// Wraps styled text at words; a word longer than a line is cut between graphemes. A line feed ends a line.
pub(super) fn wrap(spans: &[Span<'_>], width: usize, indent: &Indent) -> Vec<Line<'static>> {
    let room = |indent: &Span<'_>| width.saturating_sub(self::width(&indent.content)).max(1);
    let mut wrap = Wrap {
        lines: vec![Vec::new()],
        used: 0,
        word: Vec::new(),
        space: Vec::new(),
        rooms: (room(&indent.first), room(&indent.rest)),
    };
    for span in spans {
        for run in runs(&span.content) {
            wrap.take(run, span.style);
        }
    }
    wrap.end_word();
    let lines = wrap.lines.into_iter().enumerate().map(|(at, pieces)| {
        let lead = if at == 0 { &indent.first } else { &indent.rest };
        let mut line = Line::default();
        if !lead.content.is_empty() {
            line.push_span(lead.clone());
        }
        line.extend(join(pieces));
        line
    });
    lines.collect()
}

/// Runs of graphemes without a break opportunity, and each white space by itself.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut length = 0;
        for grapheme in graphemes(rest) {
            if is_space(grapheme) && length > 0 {
                break;
            }
            length += grapheme.len();
            if is_space(grapheme) {
                break;
            }
        }
        let (run, after) = rest.split_at(length);
        rest = after;
        (!run.is_empty()).then_some(run)
    })
}

fn is_space(text: &str) -> bool {
    text.chars().all(char::is_whitespace) && text != "\u{a0}"
}

/// A run of graphemes with its style.
type Piece<'a> = (&'a str, Style);

struct Wrap<'a> {
    lines: Vec<Vec<Piece<'a>>>,
    used: usize,
    word: Vec<Piece<'a>>,
    space: Vec<Piece<'a>>,
    /// Cells for text in the first and in the further lines.
    rooms: (usize, usize),
}

impl<'a> Wrap<'a> {
    fn take(&mut self, run: &'a str, style: Style) {
        if run == "\n" || run == "\r\n" {
            self.end_word();
            self.new_line();
        } else if is_space(run) {
            self.end_word();
            self.space.push((" ", style));
        } else {
            self.word.push((run, style));
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let length: usize = word.iter().map(|(text, _)| width(text)).sum();
        if self.used + self.space.len() + length <= self.room() {
            self.used += self.space.len();
            let space = std::mem::take(&mut self.space);
            self.line().extend(space);
        } else if self.used > 0 {
            self.new_line();
        }
        self.space.clear();
        for (text, style) in word {
            let whole = width(text);
            if self.used + whole <= self.room() {
                self.put((text, style), whole);
                continue;
            }
            for grapheme in graphemes(text) {
                self.put((grapheme, style), grapheme.width());
            }
        }
    }

    /// Adds a piece of `wide` cells, on the next line where the current line has no room.
    fn put(&mut self, piece: Piece<'a>, wide: usize) {
        if self.used > 0 && self.used + wide > self.room() {
            self.new_line();
        }
        self.used += wide;
        self.line().push(piece);
    }

    fn room(&self) -> usize {
        if self.lines.len() == 1 { self.rooms.0 } else { self.rooms.1 }
    }

    fn new_line(&mut self) {
        self.space.clear();
        self.used = 0;
        self.lines.push(Vec::new());
    }

    /// The current line.
    fn line(&mut self) -> &mut Vec<Piece<'a>> {
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }
}

/// Merges neighbours of the same style into one span.
fn join(pieces: Vec<Piece<'_>>) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (text, style) in pieces {
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            _ => spans.push(Span::styled(text.to_owned(), style)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn graphemes_are_those_of_the_standard(text in "(\\PC|[a-c \r\n\u{300}\u{600}\u{200d}\u{fe0f}🇩🇪👩💻가]){0,20}") {
            let known: Vec<&str> = text.graphemes(true).collect();
            prop_assert_eq!(graphemes(&text).collect::<Vec<_>>(), known);
        }

        #[test]
        fn runs_leave_nothing_out(text in "(\\PC|[a-c \r\n\u{300}\u{a0}\u{200d}]){0,20}") {
            prop_assert_eq!(runs(&text).collect::<String>(), &*text);
            prop_assert!(runs(&text).all(|run| is_space(run) || !graphemes(run).any(is_space)));
        }
    }
}
