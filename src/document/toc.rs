//! Removes tables of contents that an author or a wiki wrote into the page.
//!
//! Takes a document and its links within the page; removes each list that only repeats headings, and the title
//! `Contents` above it.
//! Invariants: a list with an item that is not a link within the page, or names no heading, stays whole; no word is
//! lost except the title, since all other words are headings.

use std::collections::HashSet;

use super::{Block, Document, List};
use ragonite_base::clean_line;

/// Titles of tables of contents.
const TITLES: &[&str] = &[
    "contents",
    "table of contents",
    "on this page",
    "in this article",
    "page contents",
    "toc",
    "inhalt",
    "inhaltsverzeichnis",
    "auf dieser seite",
];

/// Removes the tables of contents. `within` has block and text of each link within the page.
pub(super) fn remove_toc(document: &mut Document, within: &[(usize, String)]) {
    if within.is_empty() {
        return;
    }
    let headings: HashSet<String> = document.blocks.iter().filter_map(heading).map(name).collect();
    let linked: HashSet<(usize, &str)> = within.iter().map(|(block, text)| (*block, text.as_str())).collect();
    let mut gone = Vec::new();
    for (at, block) in document.blocks.iter().enumerate() {
        let Block::List(list) = block else { continue };
        let repeats = |text: &str| linked.contains(&(at, text)) && headings.contains(&name(text));
        if !repeats_all(list, &repeats) {
            continue;
        }
        if let Some(above) = at.checked_sub(1).filter(|above| is_title(&document.blocks[*above])) {
            gone.push(above);
        }
        gone.push(at);
    }
    document.remove_blocks(&gone);
}

/// Lists nest at most `builder::DEEPEST_LIST` deep, which bounds the recursion.
fn repeats_all(list: &List, repeats: &dyn Fn(&str) -> bool) -> bool {
    let bare = |text: &str| text.is_empty() || repeats(&clean_line(text));
    list.items.iter().all(|item| bare(&item.text) && item.nested.iter().all(|nested| repeats_all(nested, repeats)))
}

fn heading(block: &Block) -> Option<&str> {
    match block {
        Block::Heading { text, .. } => Some(text),
        _ => None,
    }
}

fn is_title(block: &Block) -> bool {
    let text = match block {
        Block::Heading { text, .. } | Block::Text(text) => text.as_str(),
        _ => return false,
    };
    text.len() < 40 && TITLES.contains(&text.trim_end_matches([':', ' ']).to_lowercase().as_str())
}

/// A heading without its number, as in tables of contents.
fn name(text: &str) -> String {
    let bare = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    clean_line(if bare.is_empty() { text } else { bare }).to_lowercase()
}
