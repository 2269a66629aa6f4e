//! Admonitions that CommonMark lacks: `:::note Title` fences and `!!! note "Title"` with indented text.
//!
//! Takes Markdown, gives Markdown in which they are a bold title and paragraphs. Otherwise the fences would be page
//! text, and the indented text code.
//! Invariants: one pass; nothing changes without admonitions, nor inside code fences.

use std::borrow::Cow;

/// Indentation of an indented admonition's text, in columns.
const INDENT: usize = 4;

/// Rewrites the admonitions.
pub(super) fn open_up(source: &str) -> Cow<'_, str> {
    let starts = |line: &str| [":::", "!!! ", "???"].iter().any(|mark| line.trim_start().starts_with(mark));
    if !source.lines().any(starts) {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len() + source.len() / 16);
    let mut fence: Option<&str> = None;
    let mut inside = None;
    for line in source.lines() {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        if inside.is_some_and(|outer| !start.is_empty() && indent < outer + INDENT) && fence.is_none() {
            inside = None;
        }
        let line = match inside {
            Some(outer) => without_indent(line, outer + INDENT),
            None => line,
        };
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
                if let Some(title) = title(start) {
                    if !start.starts_with(':') {
                        inside = Some(indent);
                    }
                    out.extend(["\n", &title, "\n\n"]);
                    continue;
                }
            }
        }
        out.extend([line, "\n"]);
    }
    Cow::Owned(out)
}

/// The replacement of a line that opens or closes an admonition.
fn title(line: &str) -> Option<String> {
    let mark = [":::", "!!! ", "???+ ", "??? "].into_iter().find(|mark| line.starts_with(mark))?;
    let rest = line[mark.len()..].trim_start_matches(':').trim();
    if rest.is_empty() {
        return (mark == ":::").then(String::new);
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    let (kind, given) = rest.split_at(end);
    if kind.is_empty() {
        return None;
    }
    let given = given.trim().trim_matches(['"', '[', ']', '{', '}']).trim();
    Some(format!("**{}**", if given.is_empty() { capital(kind) } else { given.to_owned() }))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The line with at most `columns` columns of indentation removed.
fn without_indent(line: &str, columns: usize) -> &str {
    let spaces = line.bytes().take(columns).take_while(|byte| *byte == b' ').count();
    line.get(spaces..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_marks_become_a_title() {
        assert_eq!(open_up("a\n:::tip Oil first\nb\n:::\nc"), "a\n\n**Oil first**\n\nb\n\n\n\nc\n");
        assert_eq!(open_up("!!! warning\n    b\n\n    c\nd"), "\n**Warning**\n\nb\n\nc\nd\n");
    }

    #[test]
    fn code_and_other_texts_stay_as_they_are() {
        let code = "```\n::: note\n```\n:::\n";
        assert_eq!(open_up(code), "```\n::: note\n```\n\n\n\n");
        assert!(matches!(open_up("a ::: b"), Cow::Borrowed(_)));
    }
}
