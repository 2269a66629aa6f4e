//! Glyphs of frames, bars and marks, and their ASCII substitutes.
//!
//! Takes a drawn frame. Panes always draw Unicode glyphs.
//! Invariants: a cell stays one cell; letters stay; the frame of the focused pane stays distinct.

use ratatui::buffer::Buffer;

use ragonite_config::{Borders, Letters};

/// The glyph set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signs {
    /// Unicode lines and blocks.
    #[default]
    Unicode,
    /// ASCII.
    Ascii,
}

impl Signs {
    /// The set of the user's setting, else of the terminal's capability.
    pub fn chosen(borders: Borders, letters: Letters) -> Self {
        match (borders, letters) {
            (Borders::Ascii, _) | (Borders::Auto, Letters::Ascii) => Self::Ascii,
            (Borders::Unicode, _) | (Borders::Auto, Letters::Unicode) => Self::Unicode,
        }
    }

    /// Replaces the drawn glyphs by those of this set.
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

/// Glyphs by their substitute. Thick lines frame the focused pane; `+` is a closed section, `-` an open one.
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

/// The substitute of a glyph; none for letters and ASCII.
fn in_ascii(sign: char) -> Option<char> {
    if sign.is_ascii() {
        return None;
    }
    let known = SIGNS.iter().find(|(signs, _)| signs.contains(sign)).map(|(_, ascii)| *ascii);
    // Other lines, blocks, arrows, shapes and marks.
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
