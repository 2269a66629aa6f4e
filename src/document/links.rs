//! Collects the links of a document while its blocks are built.
//!
//! Takes links as they open and close and the text between, gives each [`Link`] with its block.
//! Invariants: a link's text is in its block; a link over several blocks is recorded in each; number and length of
//! links are bounded; links within the page are not links of the document, but identify a table of contents (`toc`).
//! Not here: opening a target. Nothing in the program does.

use super::text_buffer::{Gap, Shape, TextBuffer};
use super::{Block, Document, Link, List};
use ragonite_base::clean_line;

/// Maximum of links in a document.
pub(super) const MOST: usize = 10_000;
/// Maximum bytes of a target; longer ones hold data.
pub(super) const LONGEST_TARGET: usize = 2_048;
/// Bytes after which a link's text is cut.
pub(super) const LONGEST_TEXT: usize = 400;
/// Maximum of blocks of one table that are searched for a link.
const FARTHEST: usize = 100;
/// Maximum bytes searched for the links of one document. Further links stay with the last block found.
const MOST_SEARCHED: usize = 256 << 20;
/// Cost of examining an empty text, in the same unit.
const GLANCE: usize = 16;
/// Schemes that run or contain something instead of leading to it.
const NO_PLACE: &[&str] = &["javascript:", "data:", "vbscript:", "about:", "blob:"];

/// The links so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// URL of the page itself: links to it are links within the page.
    page: Option<String>,
    settled: Vec<Noted>,
    /// Links in a block that is still being built.
    pending: Vec<Noted>,
    /// Links in tables that wait for their list to end; their block numbers count those tables.
    hoisted: Vec<Noted>,
    open: Option<Open>,
    search: Search,
}

/// A link, and whether it stays within its page.
#[derive(Debug)]
struct Noted {
    link: Link,
    reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Page,
    Elsewhere,
}

#[derive(Debug)]
struct Open {
    target: Option<(String, Reach)>,
    text: TextBuffer,
    /// Number of inner links, which no format allows: their text belongs to this one.
    inner: usize,
}

/// The first link of a table; from [`Links::mark`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark(usize);

impl Links {
    pub(super) fn of_page(url: Option<&str>) -> Self {
        let page = url.map(|url| url.split('#').next().unwrap_or_default().to_owned());
        Self { page: page.filter(|page| !page.is_empty()), ..Self::default() }
    }

    pub(super) fn open(&mut self, target: &str) {
        if let Some(open) = &mut self.open {
            open.inner += 1;
            return;
        }
        let target = self.place(target);
        self.open = Some(Open { target, text: TextBuffer::new(Shape::OneLine), inner: 0 });
    }

    pub(super) fn close(&mut self) {
        match &mut self.open {
            Some(open) if open.inner > 0 => open.inner -= 1,
            _ => {
                self.note_open();
                self.open = None;
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(open) = &mut self.open
            && open.text.len() < LONGEST_TEXT
        {
            open.text.push(text);
        }
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        if let Some(open) = &mut self.open {
            open.text.gap(gap);
        }
    }

    pub(super) fn mark(&mut self) -> Mark {
        self.note_open();
        Mark(self.pending.len())
    }

    /// Assigns the links so far to these blocks, of which the first has this number.
    pub(super) fn settle(&mut self, first: usize, blocks: &[Block]) {
        self.note_open();
        place_in(&mut self.pending, &mut self.search, first, blocks);
        self.settled.append(&mut self.pending);
    }

    /// Assigns the links since the mark to these tables, which follow their list.
    pub(super) fn hoist(&mut self, mark: Mark, first: usize, blocks: &[Block]) {
        self.note_open();
        let mut moved = self.pending.split_off(mark.0.min(self.pending.len()));
        place_in(&mut moved, &mut self.search, first, blocks);
        self.hoisted.append(&mut moved);
    }

    /// Numbers the waiting tables, the first with `first`.
    pub(super) fn lower(&mut self, first: usize) {
        for noted in &mut self.hoisted {
            noted.link.block += first;
        }
        self.settled.append(&mut self.hoisted);
    }

    /// Block and text of each link within the page.
    pub(super) fn within_page(&self) -> impl Iterator<Item = (usize, &str)> {
        let inside = self.settled.iter().filter(|noted| noted.reach == Reach::Page);
        inside.map(|noted| (noted.link.block, noted.link.text.as_str()))
    }

    /// The links of the document, in reading order.
    pub(super) fn finish(self) -> Vec<Link> {
        let outside = self.settled.into_iter().filter(|noted| noted.reach == Reach::Elsewhere);
        let mut links: Vec<Link> = outside.map(|noted| noted.link).collect();
        links.sort_by_key(|link| link.block);
        links
    }

    /// Records the open link's text so far; it continues in the next block.
    fn note_open(&mut self) {
        let full = self.settled.len() + self.pending.len() + self.hoisted.len() >= MOST;
        let Some(open) = &mut self.open else { return };
        let text = clean_line(&open.text.take());
        let Some((target, reach)) = open.target.clone().filter(|_| !full && !text.is_empty()) else { return };
        self.pending.push(Noted { link: Link { block: 0, text, target }, reach });
    }

    /// The target, if it leads somewhere.
    fn place(&self, target: &str) -> Option<(String, Reach)> {
        if target.len() > LONGEST_TARGET {
            return None;
        }
        let target = clean_line(target);
        let start: String = target.chars().take(12).collect::<String>().to_ascii_lowercase();
        if target.is_empty() || NO_PLACE.iter().any(|scheme| start.starts_with(scheme)) {
            return None;
        }
        let inside = |page: &String| target.strip_prefix(page.as_str()).is_some_and(|rest| rest.starts_with('#'));
        let within = target.starts_with('#') || self.page.as_ref().is_some_and(inside);
        Some((target, if within { Reach::Page } else { Reach::Elsewhere }))
    }
}

fn place_in(links: &mut [Noted], search: &mut Search, first: usize, blocks: &[Block]) {
    let places = search.places(links.iter().map(|noted| noted.link.text.as_str()), blocks);
    for (noted, place) in links.iter_mut().zip(places) {
        noted.link.block = first + place;
    }
}

/// Finds the blocks of links, with bounded work for a document.
#[derive(Debug)]
pub(super) struct Search {
    /// Bytes that may still be looked through.
    left: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { left: MOST_SEARCHED }
    }
}

impl Search {
    /// The block of each text. Usually there is one block; if a table became several, the first that has the text.
    /// Texts come in reading order, so the search continues at the last cell.
    pub(super) fn places<'t>(&mut self, texts: impl Iterator<Item = &'t str>, blocks: &[Block]) -> Vec<usize> {
        if blocks.len() < 2 {
            return texts.map(|_| 0).collect();
        }
        let mut texts = texts.peekable();
        // Each piece of text with its block.
        let mut pieces = Vec::new();
        if texts.peek().is_some() {
            for (number, block) in blocks.iter().enumerate() {
                add_pieces(block, number, &mut pieces);
            }
        }
        let (mut at, mut block) = (0, 0);
        let mut places = Vec::new();
        for text in texts {
            if let Some(found) = self.find(text, &pieces, at) {
                (at, block) = (found, pieces[found].0);
            }
            places.push(block);
        }
        places
    }

    /// The piece with the text: from `at` to the end of its block, else earlier in the block, else behind it.
    fn find(&mut self, text: &str, pieces: &[(usize, &str)], at: usize) -> Option<usize> {
        let block = pieces.get(at).filter(|_| self.left > 0)?.0;
        let start = pieces.partition_point(|(number, _)| *number < block);
        let end = pieces.partition_point(|(number, _)| *number <= block);
        let far = pieces.partition_point(|(number, _)| *number < block + FARTHEST);
        (at..end).chain(start..at).chain(end..far).find(|number| self.has(pieces[*number].1, text))
    }

    fn has(&mut self, piece: &str, text: &str) -> bool {
        let cost = piece.len() + GLANCE;
        if self.left < cost {
            self.left = 0;
            return false;
        }
        self.left -= cost;
        piece.contains(text)
    }
}

/// Lists nest at most `builder::DEEPEST_LIST` deep.
fn add_pieces<'b>(block: &'b Block, number: usize, pieces: &mut Vec<(usize, &'b str)>) {
    match block {
        Block::Text(text) | Block::Heading { text, .. } => pieces.push((number, text)),
        Block::Table(table) => {
            let cells = table.caption.iter().chain(&table.header).chain(table.rows.iter().flatten());
            pieces.extend(cells.chain(&table.footer).map(|cell| (number, cell.as_str())));
        }
        Block::List(list) => add_items(list, number, pieces),
        Block::Page(_) => {}
    }
}

fn add_items<'b>(list: &'b List, number: usize, pieces: &mut Vec<(usize, &'b str)>) {
    for item in &list.items {
        pieces.push((number, &item.text));
        for inner in &item.nested {
            add_items(inner, number, pieces);
        }
    }
}

impl Document {
    /// Adds the content of another document at the end.
    pub(super) fn append(&mut self, other: Self) {
        let first = self.blocks.len();
        self.blocks.extend(other.blocks);
        self.links.extend(other.links.into_iter().map(|link| Link { block: link.block + first, ..link }));
    }

    /// Removes blocks, given by rising number; links in other blocks stay with them.
    pub(super) fn remove_blocks(&mut self, gone: &[usize]) {
        let mut index = 0;
        self.blocks.retain(|_| {
            index += 1;
            gone.binary_search(&(index - 1)).is_err()
        });
        self.links.retain(|link| gone.binary_search(&link.block).is_err());
        for link in &mut self.links {
            link.block -= gone.partition_point(|at| *at < link.block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::*;

    fn table(rows: &[&[&str]]) -> Block {
        let row = |cells: &&[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        Block::Table(Table { rows: rows.iter().map(row).collect(), ..Table::default() })
    }

    #[test]
    fn a_link_is_in_the_block_with_its_text_nearest_behind_the_last_one() {
        let blocks = [table(&[&["a", "b"], &["c", "b"]]), Block::Text("a b d".into()), table(&[&["c", "e"]])];
        let places = |texts: &[&str]| Search::default().places(texts.iter().copied(), &blocks);
        assert_eq!(places(&["a", "b", "c", "b", "d", "c", "e"]), [0, 0, 0, 0, 1, 2, 2]);
        assert_eq!(places(&["c", "a", "none", "d", "a", "e"]), [0, 0, 0, 1, 1, 2]);
        assert_eq!(Search { left: 3 * (1 + GLANCE) }.places(["b", "c", "e"].into_iter(), &blocks), [0, 0, 0]);
    }

    #[test]
    fn the_search_for_very_many_links_goes_on_where_the_last_one_was_found() {
        let cells: Vec<String> = (0..10_000).map(|n| format!("cell {n:05}")).collect();
        let rows: Vec<Vec<String>> = cells.iter().map(|cell| vec![cell.clone()]).collect();
        let blocks = [Block::Table(Table { rows, ..Table::default() }), Block::Text("end".into())];
        let mut search = Search::default();
        let places = search.places(cells.iter().map(String::as_str), &blocks);
        assert!(places.iter().all(|place| *place == 0));
        // Once past each cell, and once more at it for its own link.
        assert!(MOST_SEARCHED - search.left <= 2 * cells.len() * (10 + GLANCE), "{search:?}");
    }
}
