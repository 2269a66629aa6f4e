//! Moves table captions that stand as text lines beside a table into the table.
//!
//! Takes a document, changes its blocks.
//! Invariant: a line between two tables stays, because it may belong to either.
//! Not here: captions that the source marks (`builder`, `table`).

use super::{Block, Document};

/// Maximum length of a caption, in characters.
const LONGEST: usize = 300;
/// How captions begin, before their number.
const BEGINNINGS: &[&str] = &["Table ", "Tabelle ", "Tab. "];

/// Moves lines such as `Table 3: Fees` into the table above or below.
pub(super) fn take_captions(document: &mut Document) {
    let is_free = |block: Option<&Block>| matches!(block, Some(Block::Table(table)) if table.caption.is_none());
    let is_table = |block: Option<&Block>| matches!(block, Some(Block::Table(_)));
    let mut gone: Vec<usize> = Vec::new();
    for at in 0..document.blocks.len() {
        let blocks = &document.blocks;
        let Block::Text(text) = &blocks[at] else { continue };
        if !is_caption(text) {
            continue;
        }
        let (above, below) = (at.checked_sub(1).and_then(|above| blocks.get(above)), blocks.get(at + 1));
        let of = match (is_table(above), is_table(below)) {
            (true, false) if is_free(above) => at - 1,
            (false, true) if is_free(below) => at + 1,
            _ => continue,
        };
        let text = text.clone();
        if let Some(Block::Table(table)) = document.blocks.get_mut(of) {
            table.caption = Some(text);
        }
        document.links.iter_mut().filter(|link| link.block == at).for_each(|link| link.block = of);
        gone.push(at);
    }
    document.remove_blocks(&gone);
    if !gone.is_empty() {
        document.links.sort_by_key(|link| link.block);
    }
}

/// Whether a text is one line of the word, a number and a separator.
fn is_caption(text: &str) -> bool {
    let Some(rest) = BEGINNINGS.iter().find_map(|word| text.strip_prefix(word)) else { return false };
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let numbered = rest.starts_with(|c: char| c.is_ascii_digit());
    let marked =
        behind.starts_with(": ") || (rest[..rest.len() - behind.len()].ends_with('.') && behind.starts_with(' '));
    numbered && marked && !text.contains('\n') && text.chars().count() <= LONGEST
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::parse;
    use super::*;

    fn drawn(name: &str, source: &str) -> Vec<String> {
        let document = parse(Path::new(name), source.as_bytes()).unwrap();
        let draw = |block: &Block| match block {
            Block::Table(table) => format!("table {}", table.caption.as_deref().unwrap_or("-")),
            Block::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        document.blocks.iter().map(draw).collect()
    }

    #[test]
    fn a_caption_below_a_table_is_its_caption() {
        let table = "| A | B |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            drawn("x.md", &format!("{table}\n*Table 3: Fees [here](/f)*\n\nText.")),
            ["table Table 3: Fees here", "Text."]
        );
        assert_eq!(
            drawn("x.md", &format!("Text.\n\n**Tabelle 2.** Preise\n\n{table}")),
            ["Text.", "table Tabelle 2. Preise"]
        );
        let html = "<table><tr><th>F<th>G<tr><td>f<td>g</table>";
        assert_eq!(drawn("x.html", &format!("<figure>{html}<figcaption>Of FG</figcaption></figure>")), ["table Of FG"]);
    }

    #[test]
    fn a_line_that_may_be_of_another_table_or_of_none_stays() {
        let table = "| A | B |\n|---|---|\n| 1 | 2 |\n";
        let between = drawn("x.md", &format!("{table}\nTable 3: Fees\n\n{table}"));
        assert_eq!(between, ["table -", "Table 3: Fees", "table -"]);
        assert_eq!(drawn("x.md", &format!("{table}\nTable 3 shows fees.")), ["table -", "Table 3 shows fees."]);
        let picture = drawn("x.html", "<p>a</p><figure><img alt='a boat'><figcaption>Of boats</figcaption></figure>");
        assert!(picture.contains(&"Of boats".to_owned()), "{picture:?}");
    }
}
