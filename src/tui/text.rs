//! Measuring, cutting and wrapping text for the screen.
//!
//! Invariants: width is counted in terminal cells per grapheme; no function panics on any width, 0 included; text that
//! goes in through [`one_line`] or [`paragraphs`] comes out clean.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::base::{clean_line, clean_text};

/// What stands before the first and before the further lines of a wrapped text.
#[derive(Debug, Clone, Default)]
pub(super) struct Indent {
    pub(super) first: Span<'static>,
    pub(super) rest: Span<'static>,
}

impl Indent {
    /// So many spaces before every line.
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
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Clean text on one line.
pub(super) fn one_line(text: &str, style: Style) -> Span<'static> {
    Span::styled(clean_line(text), style)
}

/// Cut to a width, with `…` where something is missing.
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

/// Cut to a width in the middle, with ` … ` there: what a message begins and ends with says most.
pub(super) fn fit_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let Some(room) = most.checked_sub(width(GAP)).filter(|room| *room > 1) else { return fit(text, most) };
    let before = take(text, room.div_ceil(2));
    let left = width(text) - (room - width(&before));
    format!("{}{GAP}{}", before.trim_end(), window(text, left, room).trim_start())
}

/// What stands where the middle of a text is missing.
const GAP: &str = " … ";

/// Cut or filled up to exactly this width.
pub(super) fn pad(text: &str, to: usize) -> String {
    let mut padded = fit(text, to);
    padded.push_str(&" ".repeat(to.saturating_sub(width(&padded))));
    padded
}

/// What of a line is seen from cell `left` on, at most `most` cells. A wide character cut in half becomes a space.
pub(super) fn window(text: &str, left: usize, most: usize) -> String {
    let mut at = 0;
    let mut seen = String::new();
    for grapheme in text.graphemes(true) {
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
        for grapheme in span.content.graphemes(true) {
            wrap.take(grapheme, span.style);
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

/// A grapheme with its style.
type Piece<'a> = (&'a str, Style);

struct Wrap<'a> {
    lines: Vec<Vec<Piece<'a>>>,
    used: usize,
    word: Vec<Piece<'a>>,
    space: Vec<Piece<'a>>,
    /// Cells for text in the first line and in the others.
    rooms: (usize, usize),
}

impl<'a> Wrap<'a> {
    fn take(&mut self, grapheme: &'a str, style: Style) {
        if grapheme == "\n" || grapheme == "\r\n" {
            self.end_word();
            self.new_line();
        } else if grapheme.chars().all(char::is_whitespace) && grapheme != "\u{a0}" {
            self.end_word();
            self.space.push((" ", style));
        } else {
            self.word.push((grapheme, style));
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let length: usize = word.iter().map(|(text, _)| text.width()).sum();
        if self.used + self.space.len() + length <= self.room() {
            self.used += self.space.len();
            let space = std::mem::take(&mut self.space);
            self.line().extend(space);
        } else if self.used > 0 {
            self.new_line();
        }
        self.space.clear();
        for piece in word {
            let wide = piece.0.width();
            if self.used > 0 && self.used + wide > self.room() {
                self.new_line();
            }
            self.used += wide;
            self.line().push(piece);
        }
    }

    fn room(&self) -> usize {
        if self.lines.len() == 1 { self.rooms.0 } else { self.rooms.1 }
    }

    fn new_line(&mut self) {
        self.space.clear();
        self.used = 0;
        self.lines.push(Vec::new());
    }

    /// The line that is written.
    fn line(&mut self) -> &mut Vec<Piece<'a>> {
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }
}

/// Neighbours of one style become one span.
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
