//! Where the links of a document lead, noted while its blocks are built.
//!
//! Takes links as they open and close and the text between, gives each [`Link`] with the block it stands in.
//! Invariants: a link's text is in its block; a link over several blocks is noted once in each; number and length of
//! links are bounded; links within the page are no links of the document, but tell a table of contents (`contents`).
//! Not here: opening a target. Nothing in the program does.

use super::run::{Gap, Run, Shape};
use super::{Block, Document, Link, List};
use crate::base::clean_line;

/// Links noted in one document; those beyond say little and cost memory.
pub(super) const MOST: usize = 10_000;
/// Bytes of a target; a longer one carries data and leads nowhere.
pub(super) const LONGEST_TARGET: usize = 2_048;
/// Bytes of a link's text from which on no more is taken.
pub(super) const LONGEST_TEXT: usize = 400;
/// Blocks made of one table among which the place of a link is looked for.
const FARTHEST: usize = 100;
/// Targets that run something or hold it instead of leading to it.
const NO_PLACE: &[&str] = &["javascript:", "data:", "vbscript:", "about:", "blob:"];

/// The links so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Address of the page itself: links to it are links within the page.
    page: Option<String>,
    settled: Vec<Noted>,
    /// Links in what is being built: their block does not exist yet.
    pending: Vec<Noted>,
    /// Links in tables that wait for their list to end; their blocks are counted among those tables.
    hoisted: Vec<Noted>,
    open: Option<Open>,
}

/// A link, and whether it leads to a place in its own page.
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
    text: Run,
    /// Links within this one, which no format allows: their text is text of this one.
    inner: usize,
}

/// Where the links of a table begin; from [`Links::mark`].
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
        self.open = Some(Open { target, text: Run::new(Shape::OneLine), inner: 0 });
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

    pub(super) fn gap(&mut self) {
        if let Some(open) = &mut self.open {
            open.text.gap(Gap::Space);
        }
    }

    pub(super) fn mark(&mut self) -> Mark {
        self.note_open();
        Mark(self.pending.len())
    }

    /// The links noted so far stand in these blocks, of which the first has this number.
    pub(super) fn settle(&mut self, first: usize, blocks: &[Block]) {
        self.note_open();
        place_in(&mut self.pending, first, blocks);
        self.settled.append(&mut self.pending);
    }

    /// The links since the mark stand in these tables, which follow the list they were met in.
    pub(super) fn hoist(&mut self, mark: Mark, first: usize, blocks: &[Block]) {
        self.note_open();
        let mut moved = self.pending.split_off(mark.0.min(self.pending.len()));
        place_in(&mut moved, first, blocks);
        self.hoisted.append(&mut moved);
    }

    /// The tables that waited now follow, the first as block of this number.
    pub(super) fn lower(&mut self, first: usize) {
        for noted in &mut self.hoisted {
            noted.link.block += first;
        }
        self.settled.append(&mut self.hoisted);
    }

    /// What links within the page say, and in which block.
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

    /// Notes what the open link says up to here; it goes on in the next block.
    fn note_open(&mut self) {
        let full = self.settled.len() + self.pending.len() + self.hoisted.len() >= MOST;
        let Some(open) = &mut self.open else { return };
        let text = clean_line(&open.text.take());
        let Some((target, reach)) = open.target.clone().filter(|_| !full && !text.is_empty()) else { return };
        self.pending.push(Noted { link: Link { block: 0, text, target }, reach });
    }

    /// A target that leads to a place.
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

/// Usually there is one block. Where a table became several, a link stands in the first that has its text.
fn place_in(links: &mut [Noted], first: usize, blocks: &[Block]) {
    let mut from = 0;
    for noted in links {
        if blocks.len() > 1 {
            // Links come in reading order, so that the search goes on where the last one ended.
            let near = blocks[from..].iter().take(FARTHEST);
            from += near.map(|block| holds(block, &noted.link.text)).position(|held| held).unwrap_or(0);
        }
        noted.link.block = first + from;
    }
}

fn holds(block: &Block, text: &str) -> bool {
    match block {
        Block::Text(whole) => whole.contains(text),
        Block::Table(table) => {
            let cells = table.rows.iter().flatten().chain(&table.header).chain(&table.caption).chain(&table.footer);
            cells.into_iter().any(|cell| cell.contains(text))
        }
        Block::Heading { text: heading, .. } => heading.contains(text),
        Block::List(list) => has_item(list, text),
        Block::Page(_) => false,
    }
}

/// Lists nest at most `builder::DEEPEST_LIST` deep.
fn has_item(list: &List, text: &str) -> bool {
    list.items.iter().any(|item| item.text.contains(text) || item.nested.iter().any(|inner| has_item(inner, text)))
}

impl Document {
    /// Adds the content of another document at the end.
    pub(super) fn append(&mut self, other: Self) {
        let first = self.blocks.len();
        self.blocks.extend(other.blocks);
        self.links.extend(other.links.into_iter().map(|link| Link { block: link.block + first, ..link }));
    }

    /// Takes blocks out, given by number in rising order; the links in the others stay with their blocks.
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
