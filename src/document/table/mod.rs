//! Assembles a table: a [`Table`], or plain blocks if it only places them.
//!
//! Takes rows of cells, gives blocks. Titles and remarks in rows of their own become caption and footer; rows that name
//! a part of the table are marked; headers that a long table repeats on every page are dropped.
//! Invariants: every cell's text is in the blocks; every row of a table is as wide as its header.
//! Not here: merged cells (`grid`), name rows and columns (`header`), text inside cells (`cell`).

#[cfg(test)]
mod tests;

use super::builder::Section;
use super::cell::{RawCell, join};
use super::grid::{GridRow, Place, RawRow, Room, drop_empty_columns, drop_empty_rows, drop_repeated_columns, fill};
use super::header::{Names, alternates_keys_and_values, header_rows, is_value, name_columns, next_header};
use super::{Block, Table};
use ragonite_base::CancelToken;

/// Minimum characters of a remark: a single filled cell in the last rows of a table.
const SHORTEST_REMARK: usize = 40;
/// Maximum of title or remark rows above or below a table.
const MOST_REMARKS: usize = 8;
/// Maximum of headers in one table, and of rows of one header: each costs time by the table's size.
const MOST_HEADERS: usize = 16;

/// A table as in the source.
#[derive(Debug, Default)]
pub(super) struct RawTable {
    caption: String,
    rows: Vec<RawRow>,
    footer: Vec<RawRow>,
}

impl RawTable {
    pub(super) fn push(&mut self, section: Section, cells: Vec<RawCell>) {
        // A footer may come before the body in the source, but is read after it.
        let rows = if section == Section::Foot { &mut self.footer } else { &mut self.rows };
        rows.push((section, cells));
    }

    pub(super) fn add_caption(&mut self, text: &str) {
        if !self.caption.is_empty() && !text.is_empty() {
            self.caption.push_str(" / ");
        }
        self.caption.push_str(text);
    }

    /// The table, or its content if it is only a frame; nothing if cancelled.
    pub(super) fn into_blocks(mut self, room: &mut Room) -> Vec<Block> {
        if room.cancel.is_canceled() {
            return Vec::new();
        }
        self.rows.append(&mut self.footer);
        let filled = self.cells().filter(|cell| !cell.text.is_empty()).count();
        if filled <= 1 {
            return self.into_frame();
        }
        let Some(rows) = fill(&self.rows, room) else { return self.into_lines() };
        let tables = assemble(&self.caption, rows, &room.cancel);
        match tables.as_slice() {
            [table] if self.only_places_blocks(table) => self.into_frame(),
            _ => tables.into_iter().map(Block::Table).collect(),
        }
    }

    fn cells(&self) -> impl Iterator<Item = &RawCell> {
        self.rows.iter().flat_map(|(_, cells)| cells)
    }

    /// Whether the cells are not values: a single row of them, or page parts without names.
    fn only_places_blocks(&self, table: &Table) -> bool {
        if !table.header.is_empty() || table.caption.is_some() || table.row_headers > 0 {
            return false;
        }
        let filled = || self.cells().filter(|cell| !cell.text.is_empty());
        if filled().any(|cell| cell.marks.header) {
            return false;
        }
        let parts = || filled().filter(|cell| cell.holds_parts());
        let stacked = table.rows.iter().all(|row| row.len() < 2);
        table.rows.len() <= 1 || (stacked && parts().next().is_some()) || weight(parts()) * 2 > weight(filled())
    }

    /// The content of the cells in order. Lines of a cell stay: a box is often drawn around code.
    fn into_frame(self) -> Vec<Block> {
        let cells = self.rows.into_iter().flat_map(|(_, cells)| cells);
        let caption = (!self.caption.is_empty()).then_some(Block::Text(self.caption));
        caption.into_iter().chain(cells.flat_map(RawCell::into_blocks)).collect()
    }

    /// A table that cannot be laid out, as one line per row.
    fn into_lines(self) -> Vec<Block> {
        let line = |(_, cells): &RawRow| {
            let texts: Vec<String> = cells.iter().map(|cell| join(cell.text.lines())).collect();
            texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
        };
        let lines = std::iter::once(self.caption.clone()).chain(self.rows.iter().map(line));
        lines.filter(|text| !text.is_empty()).map(Block::Text).collect()
    }
}

/// Bytes of text in cells.
fn weight<'a>(cells: impl Iterator<Item = &'a RawCell>) -> usize {
    cells.map(|cell| cell.text.len()).sum()
}

/// One table, or several if further headers follow.
fn assemble(caption: &str, mut rows: Vec<GridRow>, cancel: &CancelToken) -> Vec<Table> {
    drop_empty_rows(&mut rows);
    drop_repeated_columns(&mut rows);
    // Full width is decided before empty columns go, so that a title over an icon and a name stays one.
    mark_full_width(&mut rows, GridRow::is_merged);
    let mut titles = vec![caption.to_owned()];
    take_titles(&mut rows, &mut titles);
    drop_empty_columns(&mut rows);
    mark_full_width(&mut rows, GridRow::is_merged);
    take_titles(&mut rows, &mut titles);
    if alternates_keys_and_values(&rows) {
        rows = split_pairs(rows);
    }
    let mut tables = Vec::new();
    loop {
        // Each iteration passes over all remaining rows several times.
        if cancel.is_canceled() {
            return tables;
        }
        let names = name_columns(&rows);
        let mut data = rows.split_off(names.header_rows);
        let header = rows;
        if (1..=MOST_HEADERS).contains(&header.len()) {
            drop_repeated_headers(&header, &mut data);
        }
        let split = !header.is_empty() && tables.len() < MOST_HEADERS;
        let next = if split { next_header(&data) } else { None };
        rows = next.map_or_else(Vec::new, |at| data.split_off(at));
        tables.push(finish(joined(&titles), &header, data, names));
        if rows.is_empty() {
            return tables;
        }
        titles.truncate(1);
        take_titles(&mut rows, &mut titles);
    }
}

/// A table from its parts.
fn finish(caption: Option<String>, header: &[GridRow], mut data: Vec<GridRow>, names: Names) -> Table {
    mark_parts(&mut data, names);
    let footer = take_remarks(&mut data, names);
    name_colours(&mut data);
    let mut header = join_header(header);
    name_corner(&mut header, &data, names);
    let full_width = data.iter().enumerate().filter(|(_, row)| row.full_width).map(|(index, _)| index).collect();
    let rows = data.into_iter().map(cells).collect();
    Table { caption, footer: joined(&footer), header, row_headers: names.row_headers, rows, full_width }
}

/// Moves side-by-side pairs below each other.
fn split_pairs(rows: Vec<GridRow>) -> Vec<GridRow> {
    let mut pairs = Vec::new();
    for mut row in rows {
        while !row.places.is_empty() {
            let places: Vec<Place> = row.places.drain(..2.min(row.places.len())).collect();
            pairs.push(GridRow { section: row.section, places, full_width: false });
        }
    }
    drop_empty_rows(&mut pairs);
    pairs
}

/// The texts of a row, each on one line; a text that belongs to no column stands in the first.
fn cells(row: GridRow) -> Vec<String> {
    if row.full_width {
        let mut cells = vec![String::new(); row.places.len()];
        if let Some(first) = cells.first_mut() {
            *first = join(row.only_text().lines());
        }
        return cells;
    }
    let line = |place: Place| if place.text.contains('\n') { join(place.text.lines()) } else { place.text };
    row.places.into_iter().map(line).collect()
}

fn mark_full_width(rows: &mut [GridRow], test: impl Fn(&GridRow) -> bool) {
    for row in rows {
        row.full_width |= test(row);
    }
}

/// Removes leading rows that are titles.
fn take_titles(rows: &mut Vec<GridRow>, caption: &mut Vec<String>) {
    let most = caption.len() + MOST_REMARKS;
    while let [first, rest @ ..] = rows.as_slice()
        && caption.len() < most
        && rest.iter().any(|row| !row.full_width)
    {
        let above_names = || first.places.len() > 2 && first.is_alone() && header_rows(rest) > 0;
        if !first.full_width && !first.is_single() && !above_names() {
            return;
        }
        if first.is_single() && !first.is_merged() && first.places.len() == 2 && header_rows(rest) == 0 {
            // Half a pair: a name without its value.
            return;
        }
        let title = join(rows.remove(0).only_text().lines());
        // A repetition of the caption still counts as a title.
        caption.push(if caption.contains(&title) { String::new() } else { title });
    }
}

/// Drops rows that repeat the header, as prints of long tables do on every page.
fn drop_repeated_headers(header: &[GridRow], data: &mut Vec<GridRow>) {
    let same = |a: &GridRow, b: &GridRow| {
        a.full_width == b.full_width
            && a.places.len() == b.places.len()
            && a.places.iter().zip(&b.places).all(|(a, b)| (&a.text, a.header, a.bold) == (&b.text, b.header, b.bold))
    };
    let mut at = 0;
    while at + header.len() <= data.len() {
        if header.iter().zip(&data[at..]).all(|(a, b)| same(a, b)) {
            data[at..at + header.len()].iter_mut().for_each(|row| row.places.clear());
            at += header.len();
        } else {
            at += 1;
        }
    }
    data.retain(|row| !row.places.is_empty());
}

/// Marks rows that name a part of the table although their cell does not span it. A plain single first cell is a row
/// that nobody filled in.
fn mark_parts(data: &mut [GridRow], names: Names) {
    let Some(width) = data.first().map(|row| row.places.len()) else { return };
    if names.header_rows == 0 || names.row_headers > 0 {
        return;
    }
    let stands_out = |row: &GridRow| {
        let first = &row.places[0];
        row.is_alone() && (first.bold || first.header) && (width > 2 || row.is_single())
    };
    // If every row has just one value, none of them stands out.
    if data.iter().any(|row| !row.full_width && !stands_out(row)) {
        mark_full_width(data, stands_out);
    }
}

/// Removes trailing rows that are remarks.
fn take_remarks(data: &mut Vec<GridRow>, names: Names) -> Vec<String> {
    let mut remarks = Vec::new();
    while let [rest @ .., last] = data.as_slice()
        && remarks.len() < MOST_REMARKS
        && rest.iter().any(|row| !row.full_width)
    {
        let long = || last.only_text().chars().count() >= SHORTEST_REMARK || last.only_text().starts_with('*');
        let remark = last.full_width
            || (last.section == Section::Foot && last.is_alone())
            || (names.header_rows > 0 && last.places.len() > 2 && last.is_alone() && long());
        if !remark {
            break;
        }
        remarks.extend(data.pop().map(|row| join(row.only_text().lines())));
    }
    remarks.reverse();
    remarks
}

/// Writes the colours of empty cells as values, such as `green` and `red` in a table of test results.
fn name_colours(data: &mut [GridRow]) {
    let named = |place: &Place| {
        let name = place.shade.as_deref().filter(|shade| shade.bytes().all(|byte| byte.is_ascii_lowercase()));
        name.filter(|_| place.text.is_empty() && place.cell != 0).map(str::to_owned)
    };
    let mut places = data.iter().filter(|row| !row.full_width).flat_map(|row| &row.places).filter_map(named);
    let Some(first) = places.next() else { return };
    // One colour alone is decoration.
    if places.all(|other| other == first) {
        return;
    }
    for place in data.iter_mut().filter(|row| !row.full_width).flat_map(|row| &mut row.places) {
        if let Some(name) = named(place) {
            place.text = name;
        }
    }
}

/// One name per column from all header rows.
fn join_header(rows: &[GridRow]) -> Vec<String> {
    let width = rows.first().map_or(0, |row| row.places.len());
    let name = |column: usize| {
        let mut name = String::new();
        let mut last = String::new();
        for place in rows.iter().filter_map(|row| row.places.get(column)).filter(|place| !place.text.is_empty()) {
            let part = place.text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            if part == last {
                continue;
            }
            if !name.is_empty() {
                // A unit belongs to the name above it.
                name.push_str(if part.starts_with(['(', '[']) { " " } else { " / " });
            }
            name.push_str(&part);
            last = part;
        }
        name
    };
    (0..width).map(name).collect()
}

/// Names the corner of a header whose first column names its rows.
fn name_corner(header: &mut [String], data: &[GridRow], names: Names) {
    let (Some(corner), 1) = (header.first_mut(), names.row_headers) else { return };
    let mut rows = data.iter().filter(|row| !row.full_width).filter_map(|row| row.places.first());
    if corner.is_empty() && !rows.any(|name| is_value(&name.text)) {
        "Name".clone_into(corner);
    }
}

fn joined(texts: &[String]) -> Option<String> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join(" / "))
}
