//! Walks a document's blocks and groups them into section parts, which become evidences, with headings and location.
//!
//! Takes blocks in reading order. A passage is an unbroken span of text between headings, lists and tables.
//! Invariants: a heading with nothing under it becomes text of a passage, so that no words are lost; a page break does
//! not end a passage; parts without text are left out, but every table is counted.
//! Not here: context and splitting (`split`).

use std::ops::Range;

use super::list::DrawnList;
use super::table::PlacedTable;
use crate::{Block, Document, Table};

/// Maximum characters of headings and titles as context: a document without structure may have its whole text in a
/// heading.
const LONGEST_HEADING: usize = 300;

/// An evidence before its neighbours are known.
pub(super) struct SectionPart<'a> {
    pub(super) heading_path: Vec<String>,
    /// `text 1`, `list 2`, `Table 3`.
    pub(super) place: String,
    pub(super) body: Body<'a>,
}

pub(super) enum Body<'a> {
    Passage(Passage),
    List { drawn: DrawnList, block: usize, page: Option<u32> },
    Table { table: PlacedTable<'a>, block: usize, page: Option<u32> },
}

/// Running text.
#[derive(Default)]
pub(super) struct Passage {
    pub(super) text: String,
    paragraphs: Vec<Paragraph>,
}

struct Paragraph {
    start: usize,
    block: usize,
    page: Option<u32>,
}

impl Passage {
    fn push(&mut self, text: &str, block: usize, page: Option<u32>) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.paragraphs.push(Paragraph { start: self.text.len(), block, page });
        self.text.push_str(text);
    }

    /// The first and last page of a part of the text.
    pub(super) fn pages(&self, part: &Range<usize>) -> Option<(u32, u32)> {
        let first = self.paragraphs.partition_point(|paragraph| paragraph.start <= part.start).saturating_sub(1);
        let inside = self.paragraphs.iter().skip(first).take_while(|paragraph| paragraph.start < part.end);
        inside.filter_map(|paragraph| paragraph.page).fold(None, |pages: Option<(u32, u32)>, page| {
            Some(pages.map_or((page, page), |(first, last)| (first.min(page), last.max(page))))
        })
    }

    /// Its blocks, each with a byte range of the text.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let ends = self.paragraphs.iter().skip(1).map(|paragraph| paragraph.start).chain([self.text.len()]);
        self.paragraphs.iter().zip(ends).map(|(paragraph, end)| (paragraph.block, paragraph.start..end))
    }
}

impl SectionPart<'_> {
    /// The location of a part: `page 3, Agenda, text 1`.
    pub(super) fn location(&self, pages: Option<(u32, u32)>, place: &str) -> String {
        let table = matches!(self.body, Body::Table { .. });
        let heading = self.heading_path.last().filter(|_| !table);
        let page = pages.map(
            |(first, last)| {
                if first == last { format!("page {first}") } else { format!("page {first}-{last}") }
            },
        );
        let parts = [page.as_deref(), heading.map(String::as_str), Some(place)];
        let location = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let mut letters = location.chars();
        match letters.next() {
            Some(first) if page.is_none() && heading.is_none() => first.to_uppercase().chain(letters).collect(),
            _ => location,
        }
    }
}

/// The parts of a document in reading order.
pub(super) fn pieces(document: &Document) -> Vec<SectionPart<'_>> {
    let mut walk = SectionWalk::default();
    for (block, content) in document.blocks.iter().enumerate() {
        match content {
            Block::Text(text) => {
                walk.passage.push(text, block, walk.page);
                continue;
            }
            Block::Page(page) => {
                walk.page = Some(*page);
                continue;
            }
            _ => walk.end_passage(),
        }
        let page = walk.page;
        match content {
            Block::Heading { level, text } => walk.enter(*level, text, block),
            Block::List(list) => {
                let drawn = DrawnList::new(list);
                if !drawn.text.is_empty() {
                    walk.lists += 1;
                    walk.add(format!("list {}", walk.lists), Body::List { drawn, block, page });
                }
            }
            Block::Table(table) => walk.add_table(table, block),
            Block::Text(_) | Block::Page(_) => {}
        }
    }
    walk.end_passage();
    walk.leave(1);
    walk.end_bare();
    walk.pieces
}

/// A title or heading as context, on one line.
pub(super) fn shortened(name: &str) -> String {
    let Some((at, _)) = name.char_indices().nth(LONGEST_HEADING) else { return name.to_owned() };
    let start = &name[..at];
    format!("{} …", start.rsplit_once(char::is_whitespace).map_or(start, |(words, _)| words).trim_end())
}

/// The headings above the current place, and what was counted under them.
#[derive(Default)]
struct SectionWalk<'a> {
    pieces: Vec<SectionPart<'a>>,
    headings: Vec<Heading>,
    /// Text since the last heading, list or table.
    passage: Passage,
    /// Headings without content, waiting to become one passage, and their path.
    bare: Passage,
    bare_path: Vec<String>,
    page: Option<u32>,
    /// Number of passages and lists since the last heading.
    texts: usize,
    lists: usize,
    tables: u32,
}

struct Heading {
    level: u8,
    text: String,
    block: usize,
    page: Option<u32>,
    /// Whether it has content, or a deeper heading.
    used: bool,
}

impl<'a> SectionWalk<'a> {
    fn path(&self) -> Vec<String> {
        self.headings.iter().map(|heading| heading.text.clone()).collect()
    }

    fn enter(&mut self, level: u8, text: &str, block: usize) {
        if text.trim().is_empty() {
            return;
        }
        self.leave(level);
        if let Some(above) = self.headings.last_mut() {
            above.used = true;
        }
        let name = shortened(text);
        if name != text {
            // The heading is text too, so that none of it is lost.
            self.passage.push(text, block, self.page);
        }
        self.headings.push(Heading { level, text: name, block, page: self.page, used: false });
        (self.texts, self.lists) = (0, 0);
    }

    /// Ends the headings of this level and deeper.
    fn leave(&mut self, level: u8) {
        while self.headings.last().is_some_and(|heading| heading.level >= level) {
            let Some(left) = self.headings.pop() else { return };
            if left.used {
                continue;
            }
            let path = self.path();
            if self.bare_path != path {
                self.end_bare();
            }
            self.bare_path = path;
            self.bare.push(&left.text, left.block, left.page);
        }
    }

    fn end_bare(&mut self) {
        let body = Body::Passage(std::mem::take(&mut self.bare));
        let heading_path = std::mem::take(&mut self.bare_path);
        if !body.is_empty() {
            self.pieces.push(SectionPart { heading_path, place: "headings".to_owned(), body });
        }
    }

    fn end_passage(&mut self) {
        let body = Body::Passage(std::mem::take(&mut self.passage));
        if !body.is_empty() {
            self.texts += 1;
            self.add(format!("text {}", self.texts), body);
        }
    }

    fn add(&mut self, place: String, body: Body<'a>) {
        self.end_bare();
        if let Some(heading) = self.headings.last_mut() {
            heading.used = true;
        }
        self.pieces.push(SectionPart { heading_path: self.path(), place, body });
    }

    fn add_table(&mut self, table: &'a Table, block: usize) {
        self.tables += 1;
        let number = self.tables;
        let placed = PlacedTable { table, number };
        if placed.is_filled() {
            let body = Body::Table { table: placed, block, page: self.page };
            self.add(format!("Table {number}"), body);
        }
    }
}

impl Body<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Passage(passage) if passage.text.is_empty())
    }
}
