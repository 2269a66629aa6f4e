//! Links of a PDF: page areas with a URL.
//!
//! Takes a page's annotations and glyphs, gives the words in each area; later finds their block.
//! Invariant: only URLs count, not jumps inside the document; nothing is ever opened.

use hayro_font::kurbo::{Point, Rect};
use hayro_syntax::object::{Array, Dict, Rect as Area, String as PdfString};
use hayro_syntax::page::Page;

use super::content::{Glyph, page_matrix};
use super::line::{lines, words};
use super::paragraph::join_lines;
use super::string::decode;
use crate::{Block, Link, List};
use ragonite_base::{CancelToken, clean_line};

/// Maximum of links on a page.
const MOST: usize = 2_000;

/// A link and the page it is on.
#[derive(Debug)]
pub(super) struct PageLink {
    page: u32,
    text: String,
    target: String,
}

/// The links of a page; the first ones if cancelled.
pub(super) fn on_page(page: &Page<'_>, number: u32, glyphs: &[Glyph], cancel: &CancelToken) -> Vec<PageLink> {
    let Some(notes) = page.raw().get::<Array<'_>>("Annots") else { return Vec::new() };
    let matrix = page_matrix(page);
    let mut links: Vec<PageLink> = Vec::new();
    for note in notes.iter::<Dict<'_>>().take(MOST).take_while(|_| !cancel.is_canceled()) {
        let uri = note.get::<Dict<'_>>("A").and_then(|action| action.get::<PdfString<'_>>("URI"));
        let (Some(uri), Some(area)) = (uri, note.get::<Area>("Rect")) else { continue };
        let target = clean_line(&decode(uri.as_bytes()));
        let corners = (matrix * Point::new(area.x0, area.y0), matrix * Point::new(area.x1, area.y1));
        let area = Rect::from_points(corners.0, corners.1);
        let within = |glyph: &&Glyph| area.contains(glyph.start.midpoint(glyph.end) - (0.0, 0.2 * glyph.size));
        let inside: Vec<Glyph> = glyphs.iter().filter(within).cloned().collect();
        let text = clean_line(&join_lines(&lines(words(&inside))));
        // A link over two lines is two areas.
        match links.last_mut().filter(|last| last.target == target) {
            Some(last) if !last.text.contains(&text) => {
                last.text.push(' ');
                last.text.push_str(&text);
            }
            None if !target.is_empty() && !text.is_empty() => links.push(PageLink { page: number, text, target }),
            _ => {}
        }
    }
    links
}

/// Finds the block of each link, by its page and its text.
pub(super) fn place(links: Vec<PageLink>, blocks: &[Block]) -> Vec<Link> {
    let mut placed: Vec<Link> = Vec::with_capacity(links.len());
    // Marks come in the order of the pages.
    let marks = blocks.iter().enumerate().filter_map(|(at, block)| match block {
        Block::Page(page) => Some((*page, at)),
        _ => None,
    });
    let marks: Vec<(u32, usize)> = marks.collect();
    let mark = |page: u32| marks.get(marks.partition_point(|(of, _)| *of < page)).map(|(_, at)| *at);
    let first = blocks.iter().position(|block| !matches!(block, Block::Page(_)));
    for link in links {
        let start = mark(link.page).unwrap_or(0);
        let end = mark(link.page + 1).unwrap_or(blocks.len());
        let holds = |range: std::ops::Range<usize>| range.into_iter().find(|at| contains(&blocks[*at], &link.text));
        // A paragraph that began on the previous page is before the mark.
        let block = holds(start..end).or_else(|| holds(start.saturating_sub(1)..start));
        if let Some(block) = block.or_else(|| (start + 1 < end).then_some(start + 1)).or(first) {
            placed.push(Link { block, text: link.text, target: link.target });
        }
    }
    placed.sort_by_key(|link| link.block);
    placed
}

fn contains(block: &Block, text: &str) -> bool {
    let mut lists: Vec<&List> = Vec::new();
    match block {
        Block::Heading { text: own, .. } | Block::Text(own) => return own.contains(text),
        Block::Table(table) => {
            return table.header.iter().chain(table.rows.iter().flatten()).any(|cell| cell.contains(text));
        }
        Block::List(list) => lists.push(list),
        Block::Page(_) => {}
    }
    while let Some(list) = lists.pop() {
        if list.items.iter().any(|item| item.text.contains(text)) {
            return true;
        }
        lists.extend(list.items.iter().flat_map(|item| &item.nested));
    }
    false
}
