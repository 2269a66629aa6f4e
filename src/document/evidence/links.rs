//! Assigns the links of a document to evidences.
//!
//! Takes the links of a block and its text, gives the position of each link in the text. Both are in reading order, so
//! each link is searched behind the previous one, because a text such as `here` occurs often.
//! Invariants: a link's text is in the content of its evidence; a link that is not found, as in a heading, is dropped;
//! hostile numbers of links cost bounded time and memory.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use super::EvidenceLink;
use super::verbalize::line;
use crate::{Link, Table};

/// Maximum of bytes searched for links that are not found.
const MOST_IN_VAIN: usize = 64 << 20;
/// Maximum of bytes of repeated links in one document: for rows that share a merged cell, and for parts that repeat a
/// header. Beyond it a link stays with its own row and the first part.
pub(super) const MOST_REPEATED: usize = 64 << 20;
/// Longest usable target in bytes; longer ones hold data.
const LONGEST_TARGET: usize = 2_000;

/// A link and its position in a text.
pub(super) struct Located<'a> {
    pub(super) at: usize,
    pub(super) link: &'a Link,
}

/// Finds the links in a text.
pub(super) fn locate<'a>(text: &str, links: &[&'a Link]) -> Vec<Located<'a>> {
    let mut from = 0;
    let mut left = MOST_IN_VAIN;
    let mut located = Vec::new();
    for link in links.iter().filter(|link| link.target.len() <= LONGEST_TARGET && !link.text.trim().is_empty()) {
        let Some(rest) = text.get(from..).filter(|rest| rest.len() <= left) else { break };
        let words = link.text.trim();
        match rest.match_indices(words).map(|(at, _)| at).find(|at| is_word(rest, *at..at + words.len())) {
            Some(at) => {
                located.push(Located { at: from + at, link });
                from += at + words.len();
            }
            None => left -= rest.len(),
        }
    }
    located
}

/// Whether a range neither begins nor ends within a word.
fn is_word(text: &str, place: Range<usize>) -> bool {
    let inner = &text[place.clone()];
    let touches = |one: Option<char>, other: Option<char>| {
        one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    !touches(text[..place.start].chars().next_back(), inner.chars().next())
        && !touches(inner.chars().next_back(), text[place.end..].chars().next())
}

/// The located links inside `part`.
pub(super) fn within(located: &[Located<'_>], part: &Range<usize>) -> Vec<EvidenceLink> {
    let from = located.partition_point(|located| located.at < part.start);
    let inside = located.iter().skip(from).take_while(|located| located.at < part.end);
    inside.map(|located| written(located.link)).collect()
}

fn written(link: &Link) -> EvidenceLink {
    EvidenceLink { text: link.text.trim().to_owned(), target: link.target.clone() }
}

/// Takes `room` for repeated links; false if there is too little.
fn take(room: &Cell<usize>, links: &[&Link]) -> bool {
    let bytes = |link: &&Link| link.text.len() + link.target.len() + size_of::<EvidenceLink>();
    let left = room.get().checked_sub(links.iter().map(bytes).sum());
    room.set(left.unwrap_or(room.get()));
    left.is_some()
}

/// How a part of a table has the table's caption and header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// It begins with them.
    Own,
    /// They are repeated.
    Repeated,
    /// Nothing.
    None,
}

/// The links of a table, by row.
pub(super) struct TableLinks<'a> {
    /// Of caption and header.
    frame: Vec<&'a Link>,
    /// Sorted by row; those of the footer stand behind the last row.
    rows: Vec<(usize, &'a Link)>,
    room: &'a Cell<usize>,
}

impl<'a> TableLinks<'a> {
    /// `room` is the number of bytes that may still be repeated.
    pub(super) fn find(table: &Table, links: &[&'a Link], room: &'a Cell<usize>) -> Self {
        let mut found = Self { frame: Vec::new(), rows: Vec::new(), room };
        if links.is_empty() {
            return found;
        }
        let mut text = String::new();
        let mut cells: Vec<(usize, Option<(usize, usize)>)> = Vec::new();
        let mut add = |cell: &str, place: Option<(usize, usize)>| {
            cells.push((text.len(), place));
            text.push_str(&line(cell));
            text.push('\n');
        };
        for name in table.caption.iter().chain(&table.header) {
            add(name, None);
        }
        for (y, row) in table.rows.iter().enumerate() {
            for (x, cell) in row.iter().enumerate() {
                add(cell, Some((y, x)));
            }
        }
        if let Some(footer) = &table.footer {
            add(footer, Some((table.rows.len(), 0)));
        }
        let cell_at = |at: usize| {
            let cell = cells.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
            cells.get(cell).and_then(|(_, place)| *place)
        };
        let located: Vec<_> = locate(&text, links).iter().map(|found| (cell_at(found.at), found.link)).collect();
        let own: HashSet<_> = located.iter().filter_map(|(place, _)| *place).collect();
        for of_cell in located.chunk_by(|(one, _), (other, _)| one == other) {
            let links: Vec<&Link> = of_cell.iter().map(|(_, link)| *link).collect();
            match of_cell.first().and_then(|(place, _)| *place) {
                Some((row, column)) => found.add(table, row, column, &links, &own),
                None => found.frame.extend(links),
            }
        }
        // Stable: links of one row stay in reading order.
        found.rows.sort_by_key(|(row, _)| *row);
        found
    }

    /// Adds the links of a cell to its row, and to the rows it was merged over while there is room.
    fn add(&mut self, table: &Table, row: usize, column: usize, links: &[&'a Link], own: &HashSet<(usize, usize)>) {
        for covered in merged_rows(table, row, column, own) {
            if covered != row && !take(self.room, links) {
                break;
            }
            self.rows.extend(links.iter().map(|link| (covered, *link)));
        }
    }

    pub(super) fn of_row(&self, row: usize) -> Vec<EvidenceLink> {
        self.in_rows(row..row + 1).map(written).collect()
    }

    /// The links of some rows without repeats, behind those of caption and header.
    pub(super) fn of_part(&self, rows: Range<usize>, frame: Frame) -> Vec<EvidenceLink> {
        let framed = frame == Frame::Own || frame == Frame::Repeated && take(self.room, &self.frame);
        let mut seen = HashSet::new();
        // A merged cell's links come once per row.
        let inside = self.in_rows(rows).filter(|link| seen.insert(std::ptr::from_ref(*link)));
        self.frame.iter().copied().filter(|_| framed).chain(inside).map(written).collect()
    }

    fn in_rows(&self, rows: Range<usize>) -> impl Iterator<Item = &'a Link> {
        let from = self.rows.partition_point(|(row, _)| *row < rows.start);
        self.rows.iter().skip(from).take_while(move |(row, _)| *row < rows.end).map(|(_, link)| *link)
    }
}

/// The rows that a cell was merged over: those below with the same text and no link of their own.
fn merged_rows(table: &Table, row: usize, column: usize, own: &HashSet<(usize, usize)>) -> impl Iterator<Item = usize> {
    let cell = move |row: usize| table.rows.get(row).and_then(|cells| cells.get(column));
    let below = row + 1..table.rows.len();
    let below = below.take_while(move |next| cell(*next) == cell(row) && !own.contains(&(*next, column)));
    std::iter::once(row).chain(below)
}
