//! How a counterfactual answer differs from the original, as marked text.
//!
//! Removed words read `[-so-]`, added ones `{+so+}`: the marks carry the meaning, colour only helps.
//! Not here: finding the difference (`attribution`).

use ratatui::text::Span;

use super::theme::Theme;
use crate::attribution::{Change, DiffPart, difference};
use crate::base::clean_text;

/// The other answer with its differences from the original marked.
pub(super) fn marked(original: &str, other: &str, theme: &Theme) -> Vec<Span<'static>> {
    let parts = difference(&clean_text(original), &clean_text(other));
    parts.iter().filter(|part| !part.text.is_empty()).flat_map(|part| mark(part, theme)).collect()
}

/// One part with its marks. White space at its ends stays outside the marks, so that lines can break there.
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
    use super::*;

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
}
