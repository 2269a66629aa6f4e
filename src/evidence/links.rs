//! Which evidence a link of the document belongs to.
//!
//! Takes the links of a block and its text in reading order, gives the place of each link in the text.
//! A text such as `here` stands in many places: links and text are both in reading order, so each link is looked for
//! behind the one before it.
//! Invariants: a link's text stands in the content of the evidence it is given to; a link that is not found, as in a
//! heading, is given to none; hostile numbers of links cost bounded time.

use std::collections::HashSet;
use std::ops::Range;

use super::EvidenceLink;
use super::verbalize::line;
use crate::document::{Link, Table};

/// Bytes looked through for links whose text is not found; after that no more are looked for.
const MOST_IN_VAIN: usize = 64 << 20;
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

/// The links among some that stand in a part of their text.
pub(super) fn within(located: &[Located<'_>], part: &Range<usize>) -> Vec<EvidenceLink> {
    located.iter().filter(|located| part.contains(&located.at)).map(|located| written(located.link)).collect()
}

fn written(link: &Link) -> EvidenceLink {
    EvidenceLink { text: link.text.trim().to_owned(), target: link.target.clone() }
}

/// The links of a table by row.
pub(super) struct TableLinks<'a> {
    /// Of caption, header and footer.
    frame: Vec<&'a Link>,
    /// Sorted by row.
    rows: Vec<(usize, &'a Link)>,
}

impl<'a> TableLinks<'a> {
    pub(super) fn find(table: &Table, links: &[&'a Link]) -> Self {
        let mut found = Self { frame: Vec::new(), rows: Vec::new() };
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
            add(footer, None);
        }
        let cell_at = |at: usize| {
            let cell = cells.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
            cells.get(cell).and_then(|(_, place)| *place)
        };
        let located: Vec<_> = locate(&text, links).iter().map(|found| (cell_at(found.at), found.link)).collect();
        let own: HashSet<_> = located.iter().filter_map(|(place, _)| *place).collect();
        for (place, link) in located {
            match place {
                Some((y, x)) => found.rows.extend(merged_rows(table, (y, x), &own).map(|row| (row, link))),
                None => found.frame.push(link),
            }
        }
        // Stable: links of one row stay in reading order.
        found.rows.sort_by_key(|(row, _)| *row);
        found
    }

    pub(super) fn of_row(&self, row: usize) -> Vec<EvidenceLink> {
        let from = self.rows.partition_point(|(at, _)| *at < row);
        self.rows.iter().skip(from).take_while(|(at, _)| *at == row).map(|(_, link)| written(link)).collect()
    }

    /// The links of some rows, or of all; those of the header belong to every part.
    pub(super) fn of_part(&self, rows: Option<&Range<usize>>) -> Vec<EvidenceLink> {
        let within = |row: &usize| rows.is_none_or(|rows| rows.contains(row));
        let mut links: Vec<&Link> = self.frame.clone();
        for (_, link) in self.rows.iter().filter(|(row, _)| within(row)) {
            // A merged cell's link comes once per row.
            if !links.last().is_some_and(|last| std::ptr::eq(*last, *link)) {
                links.push(link);
            }
        }
        links.into_iter().map(written).collect()
    }
}

/// The rows that a cell was merged over, as far as can be told: the same stands below it, with no link of its own.
fn merged_rows(table: &Table, (y, x): (usize, usize), own: &HashSet<(usize, usize)>) -> impl Iterator<Item = usize> {
    let cell = move |row: usize| table.rows.get(row).and_then(|row| row.get(x));
    let below = (y + 1..table.rows.len()).take_while(move |row| cell(*row) == cell(y) && !own.contains(&(*row, x)));
    std::iter::once(y).chain(below)
}
