//! The signs of frames, bars and marks, and what stands for them where a terminal shows ASCII only.
//!
//! Takes a drawn frame. Every pane draws with the signs of Unicode and knows nothing of this.
//! Invariants: one cell stays one cell; letters stay as they are; the frame of the pane with the focus stays another one
//! than the others'.

use ratatui::buffer::Buffer;

use ragonite_config::{Borders, Letters};

/// What frames, bars and marks are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signs {
    /// Lines and blocks.
    #[default]
    Unicode,
    /// ASCII.
    Ascii,
}

impl Signs {
    /// As the user says, else as the terminal can.
    pub fn chosen(borders: Borders, letters: Letters) -> Self {
        match (borders, letters) {
            (Borders::Ascii, _) | (Borders::Auto, Letters::Ascii) => Self::Ascii,
            (Borders::Unicode, _) | (Borders::Auto, Letters::Unicode) => Self::Unicode,
        }
    }

    /// Puts these signs in place of those that were drawn.
    pub(super) fn apply(self, buffer: &mut Buffer) {
        if self == Self::Unicode {
            return;
        }
        for cell in &mut buffer.content {
            if let Some(sign) = cell.symbol().chars().next().and_then(in_ascii) {
                cell.set_char(sign);
            }
        }
    }
}

/// The signs that are drawn, by what stands for them. Thick lines are the frame of the pane with the focus; what is closed
/// has a `+`, what is open a `-`.
const SIGNS: [(&str, char); 17] = [
    ("─–—−‐‑▾", '-'),
    ("│·▌", '|'),
    ("━↔", '='),
    ("┃┏┓┗┛█■", '#'),
    ("░", '.'),
    ("›▶→", '>'),
    ("‹←", '<'),
    ("↓", 'v'),
    ("▴↑", '^'),
    ("•●", '*'),
    ("✓▸", '+'),
    ("✗", 'x'),
    ("∅", '0'),
    ("…", '~'),
    ("“”„", '"'),
    ("‘’‚", '\''),
    ("\u{a0}", ' '),
];

/// What stands for a sign; none for a letter, and for ASCII itself.
fn in_ascii(sign: char) -> Option<char> {
    if sign.is_ascii() {
        return None;
    }
    let known = SIGNS.iter().find(|(signs, _)| signs.contains(sign)).map(|(_, ascii)| *ascii);
    // Whatever else is drawn of lines, blocks, arrows, shapes and marks.
    known.or(match sign {
        '\u{2500}'..='\u{257f}' => Some('+'),
        '\u{2580}'..='\u{259f}' => Some('#'),
        '\u{2190}'..='\u{21ff}' => Some('>'),
        '\u{25a0}'..='\u{25ff}' | '\u{2700}'..='\u{27bf}' => Some('*'),
        '\u{2200}'..='\u{22ff}' | '\u{2000}'..='\u{206f}' => Some('?'),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn signs_become_ascii_and_letters_stay() {
        let text = "┏━ Käse… ━┓ › ● █░ 日本 “x” ·";
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        buffer.set_string(0, 0, text, Style::new());
        Signs::Ascii.apply(&mut buffer);
        let drawn: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(drawn.trim_end(), "#= Käse~ =# > * #. 日 本  \"x\" |");
    }

    #[test]
    fn what_the_user_says_wins() {
        assert_eq!(Signs::chosen(Borders::Unicode, Letters::Ascii), Signs::Unicode);
        assert_eq!(Signs::chosen(Borders::Ascii, Letters::Unicode), Signs::Ascii);
        assert_eq!(Signs::chosen(Borders::Auto, Letters::Ascii), Signs::Ascii);
    }
}
