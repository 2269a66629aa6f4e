//! A table's cells as the source writes them -> a full grid with a header.
//!
//! Takes rows of cells with spans and marks, gives a [`Table`], or text where the table is only a frame around text.
//! Invariants: spans and the grid are bounded, so a hostile table costs bounded memory; every cell's text is kept.
//! Not here: which rows are the header (`header`).

use std::ops::Range;
use std::sync::Arc;

use super::builder::{CellMarks, Section};
use super::header::header_rows;
use super::{Block, Table};
use crate::base::clean_line;

/// The largest span that HTML allows for columns; also used for rows, where more is never meant.
const WIDEST_SPAN: usize = 1_000;
/// Places in a grid: 50,000 rows of 40 columns.
const MOST_PLACES: usize = 2_000_000;
/// Bytes of repeated text in merged cells; beyond it the repetitions stay empty.
const MOST_REPEATED: usize = 16 << 20;

/// A cell as written.
#[derive(Debug, Clone, Default)]
pub(super) struct RawCell {
    pub text: String,
    /// All of its text is bold.
    pub bold: bool,
    pub marks: CellMarks,
}

/// A table as written.
#[derive(Debug, Default)]
pub(super) struct RawTable {
    pub caption: String,
    rows: Vec<(Section, Vec<RawCell>)>,
    footer: Vec<(Section, Vec<RawCell>)>,
}

/// A place in the grid: which cell covers it.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub text: String,
    pub header: bool,
    pub bold: bool,
    pub shade: Option<Arc<str>>,
    /// Number of the cell within its table, equal for all places that one merged cell covers; 0 for no cell.
    pub cell: usize,
}

/// A row of the grid.
#[derive(Debug, Clone, Default)]
pub(super) struct GridRow {
    pub section: Section,
    pub places: Vec<Place>,
}

impl GridRow {
    /// Whether one cell covers the whole row of a table with several columns.
    pub(super) fn is_full_width(&self) -> bool {
        let first = self.places.first().map_or(0, |place| place.cell);
        self.places.len() > 1 && first != 0 && self.places.iter().all(|place| place.cell == first)
    }

    pub(super) fn filled(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| !place.text.is_empty())
    }
}

impl RawTable {
    pub(super) fn push(&mut self, section: Section, cells: Vec<RawCell>) {
        // A footer may be written before the body, but is read after it.
        let rows = if section == Section::Foot { &mut self.footer } else { &mut self.rows };
        rows.push((section, cells));
    }

    /// The table, or plain text where it has a single cell.
    pub(super) fn into_blocks(mut self) -> Vec<Block> {
        self.rows.append(&mut self.footer);
        let cells = || self.rows.iter().flat_map(|(_, cells)| cells);
        if cells().filter(|cell| !cell.text.is_empty()).count() <= 1 {
            // A frame around text, often code: its lines stay.
            let texts = std::iter::once(&self.caption).chain(cells().map(|cell| &cell.text));
            return texts.filter(|text| !text.is_empty()).cloned().map(Block::Text).collect();
        }
        for cell in self.rows.iter_mut().flat_map(|(_, cells)| cells).filter(|cell| cell.text.contains('\n')) {
            cell.text = clean_line(&cell.text);
        }
        let Some(mut rows) = fill(&self.rows) else { return as_text(self.caption, &self.rows) };
        drop_empty(&mut rows);
        vec![Block::Table(assemble(self.caption, rows))]
    }
}

/// A table that cannot be laid out, as one line per row.
fn as_text(caption: String, rows: &[(Section, Vec<RawCell>)]) -> Vec<Block> {
    let line = |(_, cells): &(Section, Vec<RawCell>)| {
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).filter(|text| !text.is_empty()).collect();
        texts.join(", ")
    };
    let lines = std::iter::once(caption).chain(rows.iter().map(line));
    lines.filter(|text| !text.is_empty()).map(Block::Text).collect()
}

/// Puts every cell in all the places it covers. Nothing where the grid would be larger than any real table.
fn fill(rows: &[(Section, Vec<RawCell>)]) -> Option<Vec<GridRow>> {
    let height = rows.len();
    let mut grid: Vec<GridRow> =
        rows.iter().map(|(section, _)| GridRow { section: *section, places: Vec::new() }).collect();
    let mut room = Room { places: MOST_PLACES, repeated: MOST_REPEATED };
    let mut number = 0;
    for (y, (_, cells)) in rows.iter().enumerate() {
        let mut x = 0;
        for cell in cells {
            number += 1;
            while grid[y].places.get(x).is_some_and(|place| place.cell != 0) {
                x += 1;
            }
            let columns = cell.marks.columns.clamp(1, WIDEST_SPAN);
            let down = cell.marks.rows.clamp(1, WIDEST_SPAN).min(height - y);
            room.places = room.places.checked_sub(columns * down)?;
            for (offset, row) in grid[y..y + down].iter_mut().enumerate() {
                room.places = room.places.checked_sub((x + columns).saturating_sub(row.places.len()))?;
                let own = if offset == 0 { Own::Row } else { Own::None };
                lay(row, x..x + columns, &Laid { cell, number, own }, &mut room.repeated);
            }
            x += columns;
        }
    }
    let width = grid.iter().map(|row| row.places.len()).max().unwrap_or(0);
    if width.saturating_mul(height) > MOST_PLACES {
        return None;
    }
    for row in &mut grid {
        row.places.resize_with(width, Place::default);
    }
    Some(grid)
}

/// What the merged cells of a table may still take.
struct Room {
    places: usize,
    repeated: usize,
}

/// A cell on its way into the grid.
struct Laid<'a> {
    cell: &'a RawCell,
    number: usize,
    own: Own,
}

/// Whether a row is the one that the cell was written in.
#[derive(PartialEq, Eq)]
enum Own {
    Row,
    None,
}

/// Lays a cell over free columns of one row. Its first place always gets the text, a repetition only while that many
/// bytes are left.
fn lay(row: &mut GridRow, columns: Range<usize>, laid: &Laid<'_>, left: &mut usize) {
    if row.places.len() < columns.end {
        row.places.resize_with(columns.end, Place::default);
    }
    for (offset, place) in row.places[columns].iter_mut().enumerate() {
        if place.cell != 0 {
            continue;
        }
        let cell = laid.cell;
        let first = laid.own == Own::Row && offset == 0;
        let text = if first || *left >= cell.text.len() { cell.text.clone() } else { String::new() };
        if !first {
            *left = left.saturating_sub(text.len());
        }
        let shade = cell.marks.shade.clone();
        *place = Place { text, header: cell.marks.header, bold: cell.bold, shade, cell: laid.number };
    }
}

/// Drops rows and columns without any text.
fn drop_empty(rows: &mut Vec<GridRow>) {
    rows.retain(|row| row.filled().next().is_some());
    let width = rows.iter().map(|row| row.places.len()).max().unwrap_or(0);
    let mut used = vec![false; width];
    for row in rows.iter() {
        for (seen, place) in used.iter_mut().zip(&row.places) {
            *seen |= !place.text.is_empty();
        }
    }
    drop_repeated_columns(rows, &mut used);
    if used.iter().all(|seen| *seen) {
        return;
    }
    for row in rows.iter_mut() {
        let mut seen = used.iter();
        row.places.retain(|_| seen.next().copied().unwrap_or(true));
    }
}

/// Columns that exist only because every cell in them also covers the column to their left say nothing of their own.
fn drop_repeated_columns(rows: &[GridRow], used: &mut [bool]) {
    for (column, seen) in used.iter_mut().enumerate().skip(1) {
        let repeats = |row: &GridRow| match (row.places.get(column - 1), row.places.get(column)) {
            (Some(left), Some(here)) => left.cell == here.cell,
            _ => false,
        };
        if rows.iter().all(repeats) {
            *seen = false;
        }
    }
}

fn assemble(mut caption: String, mut rows: Vec<GridRow>) -> Table {
    // A first row in one cell names the table, it is no row of it.
    while rows.len() > 1 && rows[0].is_full_width() {
        let title = rows.remove(0).places.swap_remove(0).text;
        if !caption.is_empty() && caption != title {
            caption.push_str(" / ");
            caption.push_str(&title);
        } else {
            caption = title;
        }
    }
    let data = rows.split_off(header_rows(&rows));
    let header = join_header(&rows);
    let full_width = data.iter().enumerate().filter(|(_, row)| row.is_full_width()).map(|(index, _)| index).collect();
    Table {
        caption: (!caption.is_empty()).then_some(caption),
        footer: None,
        header,
        row_headers: 0,
        rows: data.into_iter().map(|row| row.places.into_iter().map(|place| place.text).collect()).collect(),
        full_width,
    }
}

/// One name per column from all header rows.
fn join_header(rows: &[GridRow]) -> Vec<String> {
    let width = rows.first().map_or(0, |row| row.places.len());
    let name = |column: usize| {
        let mut parts: Vec<&str> = Vec::new();
        for place in rows.iter().filter_map(|row| row.places.get(column)) {
            if !place.text.is_empty() && parts.last() != Some(&place.text.as_str()) {
                parts.push(&place.text);
            }
        }
        parts.join(" / ")
    };
    (0..width).map(name).collect()
}
