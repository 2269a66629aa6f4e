//! A text that accumulates while a page is read.
//!
//! Takes pieces of text and the gaps between them, gives one clean text with collapsed white space.
//! Invariant: a separator stands only between two pieces, never at an end.

use ragonite_base::{clean_text, composed};

/// The separator of two pieces, weakest first; the strongest requested gap wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing: the pieces touch.
    #[default]
    None,
    /// White space where two words would run together.
    Word,
    /// White space.
    Space,
    /// A line or paragraph border.
    Line,
    /// The border between a term and its definition.
    Meaning,
    /// A border between table cells written as text.
    Cell,
    /// A border between list items or rows written as text.
    Item,
}

/// Treatment of line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// Several lines: paragraphs and code.
    #[default]
    Lines,
    /// One line: cells, headings, captions.
    OneLine,
}

/// A growing text.
#[derive(Debug, Clone, Default)]
pub(super) struct TextBuffer {
    text: String,
    gap: Gap,
    shape: Shape,
    /// Bytes of a mark at the start: the following text stands on the same line.
    mark: usize,
}

impl TextBuffer {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, ..Self::default() }
    }

    /// Continues a finished text with this gap, overriding earlier ones.
    pub(super) fn resume(&mut self, gap: Gap) {
        (self.gap, self.mark) = (gap, 0);
    }

    /// Adds a mark, such as the number or the check box of an item.
    pub(super) fn push_mark(&mut self, mark: &str) {
        let only_marks = self.is_mark() || self.text.is_empty();
        self.push(mark);
        self.gap(Gap::Space);
        if only_marks {
            self.mark = self.text.len();
        }
    }

    /// Whether it holds only a mark.
    pub(super) fn is_mark(&self) -> bool {
        self.mark > 0 && self.mark == self.text.len()
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Requests a gap before the next piece.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Adds running text with collapsed white space.
    pub(super) fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.gap(Gap::Space);
            } else if !is_invisible(c) {
                self.close_gap(c);
                self.text.push(c);
            }
        }
    }

    /// Adds text whose lines and indentation matter.
    pub(super) fn push_code(&mut self, text: &str) {
        if self.shape == Shape::OneLine {
            return self.push(text);
        }
        for line in text.split_inclusive('\n') {
            let words = line.trim_end();
            if let Some(first) = words.chars().next() {
                let ended = self.gap >= Gap::Line || self.text.is_empty();
                self.close_gap(first);
                // Indentation counts at the start of a line only.
                self.text.push_str(if ended { words } else { line.trim_end_matches(['\n', '\r']) });
            }
            if line.ends_with('\n') {
                self.gap(Gap::Line);
            } else if words.len() < line.len() {
                self.gap(Gap::Space);
            }
        }
    }

    fn close_gap(&mut self, next: char) {
        let gap = std::mem::take(&mut self.gap);
        if self.text.is_empty() {
            return;
        }
        if self.is_mark() {
            return self.text.push(' ');
        }
        let flat = self.shape == Shape::OneLine;
        let closed = self.text.ends_with([':', ';', ',']);
        // Words need a space behind punctuation too.
        let ended = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']');
        let runs_together = (next.is_alphanumeric() || next == '@') && self.text.ends_with(ended);
        self.text.push_str(match gap {
            Gap::Word if runs_together => " ",
            Gap::None | Gap::Word => "",
            Gap::Line if !flat => "\n",
            Gap::Space | Gap::Line => " ",
            Gap::Meaning | Gap::Cell | Gap::Item if closed => " ",
            Gap::Meaning => ": ",
            Gap::Cell => ", ",
            Gap::Item => "; ",
        });
    }

    /// Takes the text out, clean and trimmed, and starts anew.
    pub(super) fn take(&mut self) -> String {
        (self.gap, self.mark) = (Gap::None, 0);
        composed(clean_text(&std::mem::take(&mut self.text))).trim_matches('\n').trim_end().to_owned()
    }
}

/// Whether a character is invisible but would split a word for a tokenizer.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stand_only_between_pieces() {
        let mut run = TextBuffer::new(Shape::OneLine);
        run.gap(Gap::Item);
        run.push(" cards:\n");
        run.gap(Gap::Item);
        run.push("W600");
        run.gap(Gap::Item);
        run.push("HD\u{a0}7750 ");
        run.gap(Gap::Item);
        assert_eq!(run.take(), "cards: W600; HD 7750");
    }

    #[test]
    fn a_boxed_word_runs_into_none_beside_it() {
        let mut run = TextBuffer::new(Shape::Lines);
        for piece in ["see", "a.png", ".", "(", "b.png", ")", "@user", ",", "c"] {
            run.gap(Gap::Word);
            run.push(piece);
        }
        assert_eq!(run.take(), "see a.png.(b.png) @user, c");
    }

    #[test]
    fn code_keeps_lines_and_indentation() {
        let mut run = TextBuffer::new(Shape::Lines);
        run.push_code("\nif x:\n    y(\"a  b\")\n\n");
        assert_eq!(run.take(), "if x:\n    y(\"a  b\")");
    }
}
