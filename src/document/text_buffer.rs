//! Text as it accumulates while a page is read: white space collapsed, separators put in between.
//!
//! Takes pieces of text and the gaps between them, gives one clean text.
//! Invariant: a separator stands only between two pieces, never at an end.

use ragonite_base::{clean_text, composed};

/// What separates two pieces of text, weakest first; the strongest gap asked for wins.
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
    /// The border between a term and what it means.
    Meaning,
    /// A border between cells of a table that is written as text.
    Cell,
    /// A border between list items or rows that are written as text.
    Item,
}

/// How lines are kept.
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
    /// Bytes of a mark at the start: what follows stands on the same line.
    mark: usize,
}

impl TextBuffer {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, ..Self::default() }
    }

    /// Goes on behind what was complete, with this gap whatever was asked for before.
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

    /// Whether there is a mark and nothing more.
    pub(super) fn is_mark(&self) -> bool {
        self.mark > 0 && self.mark == self.text.len()
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Asks for a gap before the next piece.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Adds running text, in which any white space is one space.
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

    /// Adds text whose lines and indentation mean something.
    pub(super) fn push_code(&mut self, text: &str) {
        if self.shape == Shape::OneLine {
            return self.push(text);
        }
        for line in text.split_inclusive('\n') {
            let words = line.trim_end();
            if let Some(first) = words.chars().next() {
                let ended = self.gap >= Gap::Line || self.text.is_empty();
                self.close_gap(first);
                // Indentation counts at the start of a line, not behind a piece of the same line.
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
        // Behind a sentence or a remark a word does not begin without space either.
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

/// Characters that take no place on a page but would break words apart for a tokenizer.
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
