//! Which evidence a link of the document belongs to.
//!
//! Takes the links of a block and its text in reading order, gives the place of each link in the text.
//! A text such as `here` stands in many places: links and text are both in reading order, so each link is looked for
//! behind the one before it.
//! Invariants: a link's text stands in the content of the evidence it is given to; a link that is not found, as in a
//! heading, is given to none; hostile numbers of links cost bounded time
//! and memory.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use super::EvidenceLink;
use super::verbalize::line;
use crate::{Link, Table};

/// Bytes looked through for links whose text is not found; after that no more are looked for.
const MOST_IN_VAIN: usize = 64 << 20;
/// Bytes of links that the evidences of one document have beyond once for the link's own place: for rows that share a
/// merged cell, and for parts that repeat a header. Beyond it the link is with its own row and the first part.
pub(super) const MOST_REPEATED: usize = 64 << 20;
/// No address that a person can use is longer; pictures written into the address are.
const LONGEST_TARGET: usize = 2_000;

/// A link and where in a text it stands.
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

/// Whether a place in a text does not begin or end within a word.
fn is_word(text: &str, place: Range<usize>) -> bool {
    let inner = &text[place.clone()];
    let touches = |one: Option<char>, other: Option<char>| {
        one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    !touches(text[..place.start].chars().next_back(), inner.chars().next())
        && !touches(inner.chars().next_back(), text[place.end..].chars().next())
}

/// The links among some, in the order of their places, that stand in a part of their text.
pub(super) fn within(located: &[Located<'_>], part: &Range<usize>) -> Vec<EvidenceLink> {
    let from = located.partition_point(|located| located.at < part.start);
    let inside = located.iter().skip(from).take_while(|located| located.at < part.end);
    inside.map(|located| written(located.link)).collect()
}

fn written(link: &Link) -> EvidenceLink {
    EvidenceLink { text: link.text.trim().to_owned(), target: link.target.clone() }
}

/// Takes room for some links that an evidence repeats; says whether there was enough.
fn take(room: &Cell<usize>, links: &[&Link]) -> bool {
    let bytes = |link: &&Link| link.text.len() + link.target.len() + size_of::<EvidenceLink>();
    let left = room.get().checked_sub(links.iter().map(bytes).sum());
    room.set(left.unwrap_or(room.get()));
    left.is_some()
}

/// What a part of a table has of the table's caption and header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// They stand in it first.
    Own,
    /// They are repeated.
    Repeated,
    /// Nothing.
    None,
}

/// The links of a table by row.
pub(super) struct TableLinks<'a> {
    /// Of caption and header.
    frame: Vec<&'a Link>,
    /// Sorted by row; those of the footer stand behind the last row.
    rows: Vec<(usize, &'a Link)>,
    room: &'a Cell<usize>,
}

impl<'a> TableLinks<'a> {
    /// `room` is what may still be repeated in the rows that a cell was merged over, and in parts of the table.
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
                Some(place) => found.add(table, place, &links, &own),
                None => found.frame.extend(links),
            }
        }
        // Stable: links of one row stay in reading order.
        found.rows.sort_by_key(|(row, _)| *row);
        found
    }

    /// Gives the links of a cell to its row, and to the rows it was merged over as long as there is room.
    fn add(&mut self, table: &Table, place: (usize, usize), links: &[&'a Link], own: &HashSet<(usize, usize)>) {
        for row in merged_rows(table, place, own) {
            if row != place.0 && !take(self.room, links) {
                break;
            }
            self.rows.extend(links.iter().map(|link| (row, *link)));
        }
    }

    pub(super) fn of_row(&self, row: usize) -> Vec<EvidenceLink> {
        self.in_rows(row..row + 1).map(written).collect()
    }

    /// The links of some rows, each once, behind those of caption and header.
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

/// The rows that a cell was merged over, as far as can be told: the same stands below it, with no link of its own.
fn merged_rows(table: &Table, (y, x): (usize, usize), own: &HashSet<(usize, usize)>) -> impl Iterator<Item = usize> {
    let cell = move |row: usize| table.rows.get(row).and_then(|row| row.get(x));
    let below = (y + 1..table.rows.len()).take_while(move |row| cell(*row) == cell(y) && !own.contains(&(*row, x)));
    std::iter::once(y).chain(below)
}
