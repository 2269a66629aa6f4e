//! Joins words across line ends, and separates list markers from text.
//!
//! Takes lines, gives text. Invariant: a hyphen is dropped only if it divides a word.

use super::line::Line;
use ragonite_base::clean_line;

/// Characters that only begin list items.
const BULLETS: &[char] =
    &['•', '◦', '▪', '▫', '▸', '‣', '·', '○', '●', '■', '□', '➢', '➤', '►', '∙', '⁃', '✓', '✔', '❖', '◆'];
/// Characters that begin a list item at the start of a paragraph.
const DASHES: &[char] = &['-', '–', '—', '*', '−'];
const BOXES: &[(char, &str)] = &[('☐', "[ ] "), ('☑', "[x] "), ('☒', "[x] ")];
/// Words before which a hyphen at a line end stays, as in "Ein- und Ausgabe".
const AFTER_OPEN_HYPHEN: &[&str] = &["und", "oder", "bzw", "sowie", "and", "or", "to", "bis"];

/// The marker of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet,
    /// A dash, which is a marker only at the start of a paragraph.
    Dash,
    Task(&'static str),
    /// A number or letter, as written and as counted.
    Number(String, u32),
}

/// The marker that a line begins with, and the text after it.
pub(super) fn marker(text: &str) -> Option<(Marker, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let rest = chars.as_str();
    let spaced = rest.starts_with(' ') && !rest.trim().is_empty();
    if let Some((_, task)) = BOXES.iter().find(|(sign, _)| *sign == first) {
        return Some((Marker::Task(task), rest.trim()));
    }
    if BULLETS.contains(&first) && !rest.trim().is_empty() {
        return Some((Marker::Bullet, rest.trim()));
    }
    if DASHES.contains(&first) && spaced {
        return Some((Marker::Dash, rest.trim()));
    }
    let (word, rest) = text.split_once(' ')?;
    let rest = rest.trim();
    let inner = word.strip_suffix([')', '.'])?;
    let bracket = word.ends_with(')');
    let inner = inner.strip_prefix('(').unwrap_or(inner);
    let number = match inner.as_bytes() {
        digits if (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) => inner.parse().ok()?,
        [letter] if bracket && letter.is_ascii_alphabetic() => u32::from(letter.to_ascii_lowercase() - b'a' + 1),
        _ => return None,
    };
    (!rest.is_empty()).then(|| (Marker::Number(word.to_owned(), number), rest))
}

/// The lines of a paragraph or cell as one line.
pub(super) fn join_lines(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        append(&mut text, &line.text());
    }
    text
}

/// Appends the next line to a text.
pub(super) fn append(text: &mut String, next: &str) {
    let next = clean_line(next);
    let trimmed = text.trim_end().len();
    text.truncate(trimmed);
    if text.is_empty() || next.is_empty() {
        text.push_str(&next);
        return;
    }
    let soft = text.ends_with('\u{ad}');
    let hard = text.ends_with(['-', '\u{2010}']);
    let lower = next.starts_with(char::is_lowercase);
    let first = next.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let word = text.trim_end_matches(['-', '\u{2010}', '\u{ad}']);
    let divided = word.ends_with(char::is_alphabetic);
    let last = word.rsplit(' ').next().unwrap_or_default();
    let hyphenated_name = hard && divided && !lower && last.chars().all(char::is_alphanumeric);
    if soft || (hard && divided && lower && !AFTER_OPEN_HYPHEN.contains(&first)) {
        // A word with another hyphen, as "state-of-the-art", is divided at its own hyphen.
        let own = !soft && last.contains('-');
        if !own {
            text.truncate(word.len());
        }
    } else if !(hyphenated_name || both_east_asian(text, &next)) {
        text.push(' ');
    }
    text.push_str(&next);
}

/// Whether two texts touch in a script that writes no spaces.
fn both_east_asian(text: &str, next: &str) -> bool {
    let wide = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}');
    text.chars().next_back().is_some_and(wide) && next.chars().next().is_some_and(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(lines: &[&str]) -> String {
        let mut text = String::new();
        for line in lines {
            append(&mut text, line);
        }
        text
    }

    #[test]
    fn only_divided_words_lose_their_hyphen() {
        assert_eq!(joined(&["Silben-", "trennung"]), "Silbentrennung");
        assert_eq!(joined(&["Ein-", "und Ausgabe"]), "Ein- und Ausgabe");
        assert_eq!(joined(&["state-of-", "the-art"]), "state-of-the-art");
        assert_eq!(joined(&["Haupt\u{ad}", "Sache"]), "HauptSache");
        assert_eq!(joined(&["Jan-", "Peter"]), "Jan-Peter");
        assert_eq!(joined(&["a –", "b"]), "a – b");
        assert_eq!(joined(&["日本", "語"]), "日本語");
    }

    #[test]
    fn markers_are_told_from_words() {
        assert_eq!(marker("• one"), Some((Marker::Bullet, "one")));
        assert_eq!(marker("12. twelve"), Some((Marker::Number("12.".into(), 12), "twelve")));
        assert_eq!(marker("(b) two"), Some((Marker::Number("(b)".into(), 2), "two")));
        assert_eq!(marker("☑ done"), Some((Marker::Task("[x] "), "done")));
        for text in ["-5 degrees", "A. Smith", "2024. Year", "1.5 litres", "•", "plain text"] {
            assert_eq!(marker(text), None, "{text}");
        }
    }
}
