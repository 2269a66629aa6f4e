//! Fills a table's cells into a full grid.
//!
//! Takes rows of cells with spans, gives grid rows in which merged cells fill every place they cover.
//! Invariants: every row is equally wide; each cell's text is kept; places beyond the written cells are bounded over
//! the whole document, so a hostile table costs bounded memory.
//! Not here: the meaning of the rows (`header`, `table`).

use std::ops::Range;
use std::sync::Arc;

use super::builder::Section;
use super::cell::RawCell;
use ragonite_base::CancelToken;

/// The largest span that HTML allows for columns.
const WIDEST_SPAN: usize = 1_000;
/// The largest span that HTML allows for rows.
const TALLEST_SPAN: usize = 65_534;
/// Maximum of places in one grid: 100,000 rows of 40 columns.
const MOST_PLACES: usize = 4_000_000;
/// Maximum of places that a document's cells may cover beyond their own.
const MOST_COVERED: usize = 2_000_000;
/// Maximum of bytes of text repeated for merged cells in one document; beyond it the repetitions stay empty.
const MOST_REPEATED: usize = 16 << 20;

/// Rows between two checks for cancellation.
const STEP: usize = 256;

/// A row as in the source.
pub(super) type RawRow = (Section, Vec<RawCell>);

/// What the merged cells of a document may still use, and whether the work is cancelled.
#[derive(Debug)]
pub(super) struct Room {
    places: usize,
    repeated: usize,
    pub(super) cancel: CancelToken,
}

impl Default for Room {
    fn default() -> Self {
        Self { places: MOST_COVERED, repeated: MOST_REPEATED, cancel: CancelToken::never() }
    }
}

/// A place in the grid, and its cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Text in lines.
    pub text: String,
    pub header: bool,
    pub bold: bool,
    pub shade: Option<Arc<str>>,
    /// Number of its cell, equal for all places of a merged cell; 0 for no cell.
    pub cell: usize,
}

/// A row of the grid.
#[derive(Debug, Clone, Default)]
pub(super) struct GridRow {
    pub section: Section,
    pub places: Vec<Place>,
    /// Its only text belongs to no column: a name of the table or of a part, or a remark.
    pub full_width: bool,
}

impl GridRow {
    /// Whether one cell covers the whole row of a table with several columns.
    pub(super) fn is_merged(&self) -> bool {
        let first = self.places.first().map_or(0, |place| place.cell);
        self.places.len() > 1 && first != 0 && self.places.iter().all(|place| place.cell == first)
    }

    /// Whether the source has only a first cell in a row of a table with several columns.
    pub(super) fn is_single(&self) -> bool {
        self.is_alone() && self.places.iter().skip(1).all(|place| place.cell == 0)
    }

    /// Whether only the first of several places has text.
    pub(super) fn is_alone(&self) -> bool {
        let mut places = self.places.iter();
        places.next().is_some_and(|first| !first.text.is_empty())
            && self.places.len() > 1
            && places.all(|place| place.text.is_empty())
    }

    pub(super) fn filled(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| !place.text.is_empty())
    }

    /// The text of a row with one filled cell.
    pub(super) fn only_text(&self) -> &str {
        self.filled().next().map_or("", |place| &place.text)
    }
}

/// Puts every cell in all places it covers. None if the grid would be implausibly large, or if cancelled.
pub(super) fn fill(rows: &[RawRow], room: &mut Room) -> Option<Vec<GridRow>> {
    let mut grid: Vec<GridRow> =
        rows.iter().map(|(section, _)| GridRow { section: *section, ..GridRow::default() }).collect();
    let ends = section_ends(rows);
    let mut number = 0;
    for (y, (_, cells)) in rows.iter().enumerate() {
        if y.is_multiple_of(STEP) && room.cancel.is_canceled() {
            return None;
        }
        let mut x = 0;
        for cell in cells {
            number += 1;
            while grid[y].places.get(x).is_some_and(|place| place.cell != 0) {
                x += 1;
            }
            let columns = cell.marks.columns.clamp(1, WIDEST_SPAN);
            let down = cell.marks.rows.clamp(1, TALLEST_SPAN).min(ends[y] - y);
            room.places = room.places.checked_sub(columns * down - 1)?;
            for (offset, row) in grid[y..y + down].iter_mut().enumerate() {
                // A span from above may push a cell far to the right.
                room.places = room.places.checked_sub(x.saturating_sub(row.places.len()))?;
                let own = if offset == 0 { Own::Row } else { Own::None };
                lay(row, x..x + columns, &Laid { cell, number, own }, &mut room.repeated);
            }
            x += columns;
        }
    }
    level(grid, room)
}

/// Makes all rows equally wide.
fn level(mut grid: Vec<GridRow>, room: &mut Room) -> Option<Vec<GridRow>> {
    let width = grid.iter().map(|row| row.places.len()).max().unwrap_or(0);
    let places = width.saturating_mul(grid.len());
    if places > MOST_PLACES {
        return None;
    }
    let missing = places - grid.iter().map(|row| row.places.len()).sum::<usize>();
    room.places = room.places.checked_sub(missing)?;
    for row in &mut grid {
        row.places.resize_with(width, Place::default);
    }
    Some(grid)
}

/// The end of each row's section: no cell reaches into the next one.
fn section_ends(rows: &[RawRow]) -> Vec<usize> {
    let mut ends = vec![rows.len(); rows.len()];
    for y in (1..rows.len()).rev() {
        ends[y - 1] = if rows[y - 1].0 == rows[y].0 { ends[y] } else { y };
    }
    ends
}

/// A cell being placed.
struct Laid<'a> {
    cell: &'a RawCell,
    number: usize,
    own: Own,
}

/// Whether a row is the cell's own.
#[derive(PartialEq, Eq)]
enum Own {
    Row,
    None,
}

/// Places a cell in free columns of one row. The first place always gets the text, a repetition only while bytes are
/// left.
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

/// Drops rows without any text.
pub(super) fn drop_empty_rows(rows: &mut Vec<GridRow>) {
    rows.retain(|row| row.filled().next().is_some());
}

/// Drops columns in which every cell also covers the column to the left.
pub(super) fn drop_repeated_columns(rows: &mut [GridRow]) {
    let width = rows.first().map_or(0, |row| row.places.len());
    let repeats = |column: usize| {
        let repeats = |row: &GridRow| match (row.places.get(column - 1), row.places.get(column)) {
            (Some(left), Some(here)) => left.cell == here.cell,
            _ => false,
        };
        rows.iter().all(repeats)
    };
    let used: Vec<bool> = (0..width).map(|column| column == 0 || !repeats(column)).collect();
    keep_columns(rows, &used);
}

/// Drops columns without text; full-width rows keep theirs in the first place.
pub(super) fn drop_empty_columns(rows: &mut [GridRow]) {
    let width = rows.first().map_or(0, |row| row.places.len());
    let mut used = vec![false; width];
    for row in rows.iter().filter(|row| !row.full_width) {
        for (seen, place) in used.iter_mut().zip(&row.places) {
            *seen |= !place.text.is_empty();
        }
    }
    if !used.contains(&true) {
        return;
    }
    let texts: Vec<String> =
        rows.iter().map(|row| if row.full_width { row.only_text().to_owned() } else { String::new() }).collect();
    keep_columns(rows, &used);
    for (row, text) in rows.iter_mut().zip(texts) {
        if let Some(first) = row.places.first_mut().filter(|_| row.full_width) {
            first.text = text;
        }
    }
}

fn keep_columns(rows: &mut [GridRow], used: &[bool]) {
    if used.iter().all(|seen| *seen) {
        return;
    }
    for row in rows {
        let mut seen = used.iter();
        row.places.retain(|_| seen.next().copied().unwrap_or(true));
    }
}
