//! Makes text from documents and models safe to draw, store as a title or export.
//!
//! Takes any text, gives text without escape sequences, control characters and direction overrides.
//! Invariant: cleaning twice equals cleaning once.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Cleans multi-line text: line feeds and tabs stay, everything that a terminal acts on goes.
pub fn clean_text(text: &str) -> String {
    strip(text, |c| c == '\n' || c == '\t')
}

/// Cleans one line: any run of white space becomes one space, and letters are [`composed`].
pub fn clean_line(text: &str) -> String {
    let stripped = strip(text, char::is_whitespace);
    composed(stripped.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Unicode NFC (UAX #15): letters and accents as one character where there is one. PDFs and some systems write `ü` as
/// `u` and a combining mark, unlike a user's query.
pub fn composed(text: String) -> String {
    if is_nfc_quick(text.chars()) == IsNormalized::Yes { text } else { text.nfc().collect() }
}

/// Removes escape sequences (ECMA-48: CSI, OSC, DCS, two-character escapes) and every control or
/// direction-override character that `keep` does not allow.
///
/// Of the one-character forms (U+0090, U+009B, U+009D and the like) only the character itself goes: they are frequent
/// in UTF-8 read as Latin-1, where text follows. Without the character that text is harmless.
fn strip(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => chars = after_escape(chars.as_str()).chars(),
            _ if keep(c) => clean.push(c),
            _ if c.is_control() || acts_on_direction(c) => {}
            _ => clean.push(c),
        }
    }
    clean
}

/// The text behind an escape sequence whose escape character was read.
fn after_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        // Parameter and intermediate bytes are 0x20-0x3f, the final byte is 0x40-0x7e.
        Some('[') => {
            let end = chars.as_str().trim_start_matches(|c| ('\u{20}'..='\u{3f}').contains(&c));
            end.strip_prefix(|c| ('\u{40}'..='\u{7e}').contains(&c)).unwrap_or(end)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(chars.as_str()),
        Some('\u{20}'..='\u{7e}') => chars.as_str(),
        _ => rest,
    }
}

/// The text behind a string sequence. If the line has no terminator, or another escape comes first, the string counts
/// as text, so that a stray escape loses no words.
fn after_string(rest: &str) -> &str {
    let end = rest.find(['\u{7}', '\u{9c}', '\u{1b}', '\n']).map_or("", |at| &rest[at..]);
    let after = end.strip_prefix("\u{1b}\\").or_else(|| end.strip_prefix(['\u{7}', '\u{9c}']));
    after.unwrap_or(rest)
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
    fn a_letter_and_its_accent_are_one_character() {
        assert_eq!(clean_line("Mu\u{308}ller ißt Café"), "Müller ißt Café");
        assert_eq!(composed("Gro\u{308}ße\nzwei".to_owned()), "Größe\nzwei");
        assert_eq!(composed("Größe".to_owned()), "Größe");
    }

    #[test]
    fn an_unterminated_string_loses_its_introducer_and_no_words() {
        assert_eq!(clean_text("a\u{1b}]0;never closed\nnext\u{7}"), "a0;never closed\nnext");
        assert_eq!(clean_text("a\u{1b}]0;b\u{1b}[1mc\u{1b}\n\u{1b}ßd"), "a0;bc\nßd");
    }

    #[test]
    fn text_in_the_wrong_encoding_keeps_all_its_words() {
        assert_eq!(clean_text("Gro\u{c3}\u{9f}e Freigabe bis Freitag"), "Gro\u{c3}e Freigabe bis Freitag");
        let all: String = ('\u{80}'..='\u{9f}').map(|c| format!("{c}w ")).collect();
        assert_eq!(clean_text(&all), "w ".repeat(32));
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
