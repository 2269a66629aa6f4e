//! Makes text from documents and models harmless before it is drawn, stored as a title or exported.
//!
//! Takes any text, gives text without escape sequences, control characters and direction overrides.
//! Invariant: cleaning twice equals cleaning once.

/// Cleans a text of several lines: line feeds and tabs stay, everything that a terminal would act on goes.
pub fn clean_text(text: &str) -> String {
    strip(text, |c| c == '\n' || c == '\t')
}

/// Cleans a text that must stay on one line: any run of white space becomes one space.
pub fn clean_line(text: &str) -> String {
    let stripped = strip(text, char::is_whitespace);
    stripped.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes escape sequences (ECMA-48: CSI, OSC, DCS, two-character escapes) and every control or
/// direction-override character that `keep` does not allow.
fn strip(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => skip_control_sequence(&mut chars),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
                _ => {}
            },
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            _ if keep(c) => clean.push(c),
            _ if c.is_control() || acts_on_direction(c) => {}
            _ => clean.push(c),
        }
    }
    clean
}

fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    // Parameter and intermediate bytes are 0x20-0x3f, the final byte is 0x40-0x7e.
    while chars.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
    chars.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
}

fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    // A terminal waits for the terminator; hostile text may leave it out, so a line end closes the string too.
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn acts_on_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_never_reach_the_screen() {
        assert_eq!(clean_text("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(clean_text("x\u{1b}]0;title\u{7}y\u{1b}]52;c;AAAA\u{1b}\\z"), "xyz");
        assert_eq!(clean_text("bell\u{7} null\0 del\u{7f} c1\u{85}"), "bell null del c1");
        assert_eq!(clean_text("\u{202e}evil\u{202c}"), "evil");
        assert_eq!(clean_line("a\r\n b\t\u{1b}c c"), "a b c");
    }

    #[test]
    fn an_unterminated_string_ends_with_its_line() {
        assert_eq!(clean_text("a\u{1b}]0;never closed\nnext"), "a\nnext");
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_acts_on_is_left(text in any::<String>()) {
            let clean = clean_text(&text);
            prop_assert!(clean.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert_eq!(clean_text(&clean), clean);
        }
    }
}
