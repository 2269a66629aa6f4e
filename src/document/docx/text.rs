//! Plain text of notes, captions and titles, and characters of symbol fonts.
//!
//! Takes nodes, gives text on one line.
//! Invariant: works without recursion; deleted text and field instructions never appear.

use roxmltree::Node;

use super::super::package::attribute;
use ragonite_base::clean_line;

/// Whether an element's content is not page text.
pub(super) fn is_silent(name: &str) -> bool {
    matches!(
        name,
        "pPr"
            | "rPr"
            | "tblPr"
            | "tblPrEx"
            | "tblGrid"
            | "trPr"
            | "tcPr"
            | "sdtPr"
            | "sdtEndPr"
            | "sectPr"
            | "del"
            | "moveFrom"
            | "delText"
            | "instrText"
            | "delInstrText"
            | "Fallback"
            | "ffData"
            | "rt"
            | "fldData"
    )
}

/// All text inside a node, on one line.
pub(super) fn plain(node: Node<'_, '_>) -> String {
    let mut text = String::new();
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        let name = node.tag_name().name();
        match name {
            _ if is_silent(name) => continue,
            "t" => text.push_str(node.text().unwrap_or_default()),
            "sym" => text.push_str(&symbol(node)),
            "noBreakHyphen" => text.push('-'),
            "tab" | "br" | "cr" | "p" => text.push(' '),
            _ => {}
        }
        todo.extend(node.children().filter(Node::is_element).rev());
    }
    clean_line(&text.replace('\u{ad}', ""))
}

/// The character for a symbol font's glyph; empty if unknown.
pub(super) fn symbol(node: Node<'_, '_>) -> String {
    let code = attribute(node, "char").and_then(|code| u32::from_str_radix(code, 16).ok()).unwrap_or_default();
    let font = attribute(node, "font").unwrap_or_default().to_ascii_lowercase();
    // Symbol fonts are mapped into a private area.
    let place = if (0xf000..=0xf0ff).contains(&code) { code - 0xf000 } else { code };
    let known = match (font.as_str(), place) {
        ("wingdings", 0xfc) | ("wingdings 2", 0x50) => "✓",
        ("wingdings", 0xfb) | ("wingdings 2", 0x4f) => "✗",
        ("wingdings", 0xfe | 0x78) | ("wingdings 2", 0x51..=0x54) => "[x]",
        ("wingdings", 0xa8 | 0x6f | 0x71 | 0x72) | ("wingdings 2", 0xa3 | 0x2a | 0x30) => "[ ]",
        ("wingdings", 0xe0) | ("symbol", 0xae) => "→",
        ("wingdings", 0xdf) | ("symbol", 0xac) => "←",
        ("wingdings", 0xe8 | 0xf0) | ("symbol", 0xde) => "⇒",
        ("wingdings", 0x4a) => "☺",
        ("wingdings", 0x4c) => "☹",
        ("symbol", 0xb3) => "≥",
        ("symbol", 0xa3) => "≤",
        ("symbol", 0xb1) => "±",
        ("symbol", 0xb0) => "°",
        ("symbol", 0xb4) => "×",
        ("symbol", 0xa5) => "∞",
        ("symbol", 0xb9) => "≠",
        ("symbol", 0xbb) => "≈",
        ("symbol", 0x6d) => "µ",
        ("symbol", 0x61) => "α",
        ("symbol", 0x62) => "β",
        ("symbol", 0x67) => "γ",
        ("symbol", 0x64) => "δ",
        ("symbol", 0x6c) => "λ",
        ("symbol", 0x70) => "π",
        ("symbol", 0x73) => "σ",
        ("symbol", 0x44) => "Δ",
        ("symbol", 0x53) => "Σ",
        ("symbol", 0x57) => "Ω",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let private = (0xe000..=0xf8ff).contains(&code);
    char::from_u32(code).filter(|_| !private).map(String::from).unwrap_or_default()
}

/// The target of a field's instruction `HYPERLINK "target" \l "place"`.
pub(super) fn target_of_field(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim();
    let quoted = |text: &str| text.split('"').nth(1).map(ToOwned::to_owned);
    match rest.strip_prefix("\\l") {
        Some(place) => quoted(place).map(|place| format!("#{place}")),
        None => quoted(rest).or_else(|| rest.split_whitespace().next().map(ToOwned::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_written_as_fields_give_their_target() {
        assert_eq!(target_of_field(" HYPERLINK \"https://x.org/a b\" \\h ").as_deref(), Some("https://x.org/a b"));
        assert_eq!(target_of_field("HYPERLINK \\l \"_Toc1\"").as_deref(), Some("#_Toc1"));
        assert_eq!(target_of_field(" PAGEREF _Toc1 \\h"), None);
    }
}
