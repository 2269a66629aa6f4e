//! Lays out the cells of a sheet as tables with captions, and the text around them.
//!
//! Takes cells by row and column, gives blocks from top to bottom and left to right. A sheet is one grid, on which
//! people put several tables, titles and remarks; empty rows and columns separate them.
//! Invariants: every cell's text is in one block; only the first [`SAMPLE`] rows of a table go through the builder, so
//! that a long table costs little more than its text; a table with far more places than texts is written as lines.
//! Not here: reading cells (`workbook`, `delimited`), header detection (`header`).

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::super::builder::{Builder, CellMarks, Part, Section};
use super::super::header::is_value;
use super::super::{Block, Table};
use ragonite_base::CancelToken;

/// Rows used to detect a table's header.
const SAMPLE: usize = 1_000;
/// Maximum of table places in one document, empty ones included.
const MOST_PLACES: usize = 16_000_000;
/// Maximum of places in rows that go through the builder, where each costs more.
const MOST_SAMPLED: usize = 2_000_000;
/// Maximum of bytes of text repeated for merged cells in one document; beyond it the repetitions stay empty.
const MOST_REPEATED: usize = 16 << 20;
/// Longest title of a table, in characters.
const LONGEST_TITLE: usize = 160;
/// Maximum of empty rows between a title and its table.
const WIDEST_GAP: u32 = 2;
/// How remarks below a table begin.
const REMARKS: &[&str] =
    &["note", "source", "quelle", "anmerkung", "hinweis", "stand", "legend", "legende", "*", "¹", "†"];

/// A non-empty cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub column: u32,
    pub text: String,
    pub bold: bool,
    pub header: bool,
    pub shade: Option<Arc<str>>,
}

/// A non-empty row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub number: u32,
    /// Ordered by column.
    pub cells: Vec<Cell>,
}

/// Numbers of rows and columns that a merged cell covers, by row and column.
pub(super) type Merged = HashMap<(u32, u32), (u32, u32)>;

/// What the tables of a document may still use.
#[derive(Debug)]
pub(super) struct Room {
    places: usize,
    repeated: usize,
    /// The layout is discarded once this is cancelled.
    pub cancel: CancelToken,
}

impl Default for Room {
    fn default() -> Self {
        Self { places: MOST_PLACES, repeated: MOST_REPEATED, cancel: CancelToken::never() }
    }
}

impl Room {
    /// Takes the room for a table, if there is enough.
    fn holds(&mut self, rows: usize, columns: &Range<u32>, used: usize) -> bool {
        let left = self.places.checked_sub(rows.saturating_mul(used));
        self.places = left.unwrap_or(self.places);
        left.is_some() && rows.min(SAMPLE).saturating_mul(columns.len()) <= MOST_SAMPLED
    }

    /// A repeated text, empty without room for it.
    fn repeat(&mut self, text: &str) -> String {
        match self.repeated.checked_sub(text.len()) {
            Some(left) => {
                self.repeated = left;
                text.to_owned()
            }
            None => String::new(),
        }
    }
}

/// A block and its part of the sheet.
#[derive(Debug)]
pub(super) struct Placed {
    pub block: Block,
    pub rows: Range<u32>,
    pub columns: Range<u32>,
}

/// Rows that belong together.
#[derive(Debug, Default)]
struct Region {
    rows: Vec<Row>,
    /// Last row, merged cells included.
    bottom: u32,
    columns: Range<u32>,
    /// Rows with more than one cell.
    wide_rows: usize,
}

impl Region {
    fn new(rows: Vec<Row>, merged: &Merged) -> Self {
        let reach = |row: &Row| {
            let down =
                row.cells.iter().filter_map(|cell| merged.get(&(row.number, cell.column)).map(|(rows, _)| *rows));
            row.number + down.max().unwrap_or(1).max(1) - 1
        };
        let bottom = rows.iter().map(reach).max().unwrap_or(0);
        let first = rows.iter().filter_map(|row| row.cells.first()).map(|cell| cell.column).min().unwrap_or(0);
        let ends = rows.iter().filter_map(|row| row.cells.last().map(|cell| end_of(row, cell, merged)));
        let columns = first..ends.max().unwrap_or(first);
        let wide_rows = rows.iter().filter(|row| row.cells.len() > 1).count();
        Self { rows, bottom, columns, wide_rows }
    }

    fn top(&self) -> u32 {
        self.rows.first().map_or(0, |row| row.number)
    }

    fn is_single_cell(&self) -> bool {
        matches!(self.rows.as_slice(), [row] if row.cells.len() == 1)
    }
}

fn end_of(row: &Row, cell: &Cell, merged: &Merged) -> u32 {
    cell.column + merged.get(&(row.number, cell.column)).map_or(1, |(_, columns)| (*columns).max(1))
}

/// Splits a sheet into blocks. Rows and cells are ordered and not empty.
pub(super) fn lay_out(rows: Vec<Row>, merged: &Merged, room: &mut Room) -> Vec<Placed> {
    let mut regions = Vec::new();
    for band in bands(rows, merged) {
        let mut parts = Vec::new();
        for part in split_columns(band, merged) {
            parts.extend(bands(part.rows, merged));
        }
        regions.extend(parts);
    }
    let regions = join(regions);
    let mut placed = Vec::new();
    let mut titles: Vec<Region> = Vec::new();
    let cancel = room.cancel.clone();
    for region in regions.into_iter().take_while(|_| !cancel.is_canceled()) {
        if region.is_single_cell() {
            titles.push(region);
            continue;
        }
        let near = |title: &Region| {
            let gap = region.top().saturating_sub(title.bottom + 1);
            let text = title.rows[0].cells[0].text.chars().count();
            gap <= WIDEST_GAP && text <= LONGEST_TITLE && title.columns.start <= region.columns.end
        };
        // Of several titles below each other the last must be near.
        let from = titles.iter().rposition(|title| !near(title)).map_or(0, |at| at + 1);
        let own = titles.split_off(from);
        placed.extend(titles.drain(..).map(as_text));
        let caption: Vec<String> =
            own.into_iter().flat_map(|title| title.rows).flat_map(|row| row.cells).map(|cell| cell.text).collect();
        add_region(region, caption, merged, room, &mut placed);
    }
    placed.extend(titles.into_iter().map(as_text));
    placed
}

/// Parts of a sheet between empty rows.
fn bands(rows: Vec<Row>, merged: &Merged) -> Vec<Region> {
    let mut bands: Vec<Vec<Row>> = Vec::new();
    let mut reach = 0;
    for row in rows {
        let down =
            row.cells.iter().filter_map(|cell| merged.get(&(row.number, cell.column)).map(|(rows, _)| *rows)).max();
        let end = row.number.saturating_add(down.unwrap_or(1).max(1));
        match bands.last_mut() {
            Some(band) if row.number <= reach => band.push(row),
            _ => bands.push(vec![row]),
        }
        reach = reach.max(end);
    }
    bands.into_iter().map(|rows| Region::new(rows, merged)).collect()
}

/// Parts of a band between empty columns. A single empty column between halves of the same rows is spacing, unless the
/// right half begins with its own names.
fn split_columns(band: Region, merged: &Merged) -> Vec<Region> {
    let mut spans: Vec<Range<u32>> = Vec::new();
    for row in &band.rows {
        for cell in &row.cells {
            cover(&mut spans, cell.column..end_of(row, cell, merged));
        }
    }
    if spans.len() < 2 {
        return vec![band];
    }
    // First and last row with cells in each span.
    let mut extents: Vec<(Option<usize>, Option<usize>)> = vec![(None, None); spans.len()];
    for (number, row) in band.rows.iter().enumerate() {
        for cell in &row.cells {
            if let Some(extent) = extents.get_mut(spans.partition_point(|span| span.end <= cell.column)) {
                *extent = (extent.0.or(Some(number)), Some(number));
            }
        }
    }
    let mut kept: Vec<Range<u32>> = Vec::new();
    let mut last_extent = (None, None);
    for (span, own) in spans.into_iter().zip(extents) {
        match kept.last_mut() {
            Some(last) if span.start - last.end < 2 && own == last_extent && !stands_alone(&band.rows, last, &span) => {
                last.end = span.end;
            }
            _ => kept.push(span),
        }
        last_extent = own;
    }
    let mut parts: Vec<Vec<Row>> = kept.iter().map(|_| Vec::new()).collect();
    for row in band.rows {
        for cell in row.cells {
            let Some(part) = parts.get_mut(kept.partition_point(|span| span.end <= cell.column)) else { continue };
            match part.last_mut() {
                Some(last) if last.number == row.number => last.cells.push(cell),
                _ => part.push(Row { number: row.number, cells: vec![cell] }),
            }
        }
    }
    parts.into_iter().map(|rows| Region::new(rows, merged)).collect()
}

/// Whether columns beside others are a separate table: their first column names their rows as that of the others does,
/// by different words below a name, or by a name that both have.
fn stands_alone(rows: &[Row], left: &Range<u32>, right: &Range<u32>) -> bool {
    let within = |row: &Row, span: &Range<u32>| -> Vec<String> {
        row.cells.iter().filter(|cell| span.contains(&cell.column)).map(|cell| cell.text.clone()).collect()
    };
    let mut own = rows.iter().map(|row| within(row, right)).filter(|texts| !texts.is_empty());
    let mut beside = rows.iter().map(|row| within(row, left)).filter(|texts| !texts.is_empty());
    let (Some(names), Some(others)) = (own.next(), beside.next()) else { return false };
    let is_name = |text: &String| !text.contains(|c: char| c.is_ascii_digit());
    let named = |names: &[String], span: &Range<u32>| names.len() == span.len() && names.iter().all(is_name);
    if right.len() < 2 || left.len() < 2 || !named(&names, right) || !named(&others, left) {
        return false;
    }
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    let keys = own.all(|texts| {
        count += 1;
        texts.len() > 1 && !is_value(&texts[0]) && seen.insert(texts[0].clone())
    });
    names[0] == others[0] || (keys && count > 1)
}

/// Adds a range to sorted ranges that do not touch.
fn cover(spans: &mut Vec<Range<u32>>, new: Range<u32>) {
    let from = spans.partition_point(|span| span.end < new.start);
    if spans.get(from).is_some_and(|span| span.start <= new.start && new.end <= span.end) {
        return;
    }
    let to = spans.partition_point(|span| span.start <= new.end);
    let start = spans.get(from).map_or(new.start, |span| span.start.min(new.start));
    let end = to.checked_sub(1).and_then(|at| spans.get(at)).map_or(new.end, |span| span.end.max(new.end));
    spans.drain(from..to);
    spans.insert(from, start..end);
}

/// Joins rows below an empty row with the table above if they use its columns and have no header.
fn join(regions: Vec<Region>) -> Vec<Region> {
    let mut joined: Vec<Region> = Vec::new();
    for region in regions {
        let columns = &region.columns;
        let goes_on = joined.last().is_some_and(|above| {
            let wide = &above.columns;
            let gap = region.top().saturating_sub(above.bottom + 1);
            let is_table = above.wide_rows > 1;
            is_table && gap == 1 && wide.start <= columns.start && columns.end <= wide.end && !has_header(&region)
        });
        match joined.last_mut() {
            Some(above) if goes_on => {
                above.bottom = region.bottom;
                above.wide_rows += region.wide_rows;
                above.rows.extend(region.rows);
            }
            _ => joined.push(region),
        }
    }
    joined
}

/// Whether a region starts with a title or a header.
fn has_header(region: &Region) -> bool {
    let [first, rest @ ..] = region.rows.as_slice() else { return true };
    if first.cells.len() < 2 {
        return true;
    }
    if rest.is_empty() {
        return first.cells.iter().all(|cell| cell.header);
    }
    let marked = |row: &Row| row.cells.iter().all(|cell| cell.bold || cell.header || cell.shade.is_some());
    let words = |row: &Row| row.cells.iter().all(|cell| !cell.text.contains(|c: char| c.is_ascii_digit()));
    (marked(first) && !rest.iter().all(marked)) || (words(first) && !rest.iter().all(words))
}

fn as_text(region: Region) -> Placed {
    let (rows, columns) = (region.top()..region.bottom + 1, region.columns.clone());
    let lines = region.rows.into_iter().flat_map(|row| row.cells).map(|cell| cell.text);
    Placed { block: Block::Text(lines.collect::<Vec<_>>().join("\n")), rows, columns }
}

fn add_region(
    mut region: Region,
    mut caption: Vec<String>,
    merged: &Merged,
    room: &mut Room,
    placed: &mut Vec<Placed>,
) {
    let columns = region.columns.clone();
    let rows = region.top()..region.bottom + 1;
    let is_text = columns.len() == 1 && !has_column_name(&region);
    let is_scattered = columns.len() > 1 && region.rows.iter().all(|row| row.cells.len() == 1);
    if is_text || is_scattered {
        // Lines of text below each other.
        let title = caption.into_iter().map(|text| Placed {
            block: Block::Text(text),
            rows: rows.clone(),
            columns: columns.clone(),
        });
        placed.extend(title);
        placed.push(as_text(region));
        return;
    }
    let alone = |row: &Row| row.cells.len() == 1 && row.cells[0].column == columns.start && !row.cells[0].header;
    let title_rows = if columns.len() > 1 { region.rows.iter().take_while(|row| alone(row)).count() } else { 0 };
    caption.extend(region.rows.drain(..title_rows).flat_map(|row| row.cells).map(|cell| cell.text));
    let is_remark = |row: &&Row| {
        let start = row.cells[0].text.to_lowercase();
        alone(row) && columns.len() > 1 && REMARKS.iter().any(|word| start.starts_with(word))
    };
    let remarks = region.rows.iter().rev().take_while(is_remark).count();
    let remarks = region.rows.split_off(region.rows.len() - remarks);
    let footer: Vec<String> = remarks.into_iter().flat_map(|row| row.cells).map(|cell| cell.text).collect();
    if let [first, second, ..] = region.rows.as_mut_slice()
        && names_years(first)
        && !names_years(second)
    {
        first.cells.iter_mut().for_each(|cell| cell.header = true);
    }
    let mut blocks = build(region.rows, &caption.join(" / "), columns.clone(), merged, room);
    if let Some(Block::Table(table)) = blocks.last_mut()
        && !footer.is_empty()
    {
        table.footer = Some(footer.join(" "));
    } else {
        blocks.extend(footer.into_iter().map(Block::Text));
    }
    placed.extend(blocks.into_iter().map(|block| Placed { block, rows: rows.clone(), columns: columns.clone() }));
}

/// Whether a single column starts with its name.
fn has_column_name(region: &Region) -> bool {
    let marked = |row: &Row| row.cells.iter().all(|cell| cell.bold || cell.header || cell.shade.is_some());
    let numbers =
        |row: &Row| row.cells.iter().all(|cell| cell.text.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
    match region.rows.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => {
            (marked(first) && !rest.iter().any(marked)) || (!numbers(first) && rest.iter().all(numbers))
        }
        _ => false,
    }
}

/// Builds the blocks of a region: a sample of its rows goes through the builder, which finds the header; the other rows
/// are appended.
fn build(rows: Vec<Row>, caption: &str, columns: Range<u32>, merged: &Merged, room: &mut Room) -> Vec<Block> {
    let used = used_columns(&rows, merged);
    if !room.holds(rows.len(), &columns, used.len()) {
        return as_lines(rows, caption);
    }
    if rows.len() <= SAMPLE + SAMPLE / 4 {
        return through_builder(&rows, caption, columns, merged);
    }
    let in_sample = used_columns(&rows[..SAMPLE], merged);
    let mut blocks = through_builder(&rows[..SAMPLE], caption, columns.clone(), merged);
    let fits = |table: &Table| table.rows.iter().all(|row| row.len() == in_sample.len()) && !table.rows.is_empty();
    match blocks.as_mut_slice() {
        [Block::Table(table)] if fits(table) => {
            widen(table, &used, &in_sample);
            let places: HashMap<u32, usize> = used.iter().enumerate().map(|(at, column)| (*column, at)).collect();
            let mut covered = Covered::new();
            for (at, row) in rows.into_iter().skip(SAMPLE).enumerate() {
                if at.is_multiple_of(SAMPLE) && room.cancel.is_canceled() {
                    break;
                }
                table.rows.push(fill(row, &places, merged, room, &mut covered));
            }
            blocks
        }
        _ if rows.len().saturating_mul(columns.len()) <= MOST_SAMPLED => {
            through_builder(&rows, caption, columns, merged)
        }
        _ => as_lines(rows, caption),
    }
}

/// A table that is too wide and empty, as one line per row.
fn as_lines(rows: Vec<Row>, caption: &str) -> Vec<Block> {
    let line = |row: Row| row.cells.into_iter().map(|cell| cell.text).collect::<Vec<_>>().join(", ");
    let lines = (!caption.is_empty()).then(|| caption.to_owned()).into_iter().chain(rows.into_iter().map(line));
    vec![Block::Text(lines.collect::<Vec<_>>().join("\n"))]
}

/// Merged cells from above, by column: last row and text.
type Covered = HashMap<u32, (u32, Rc<str>)>;

/// Columns with text of their own.
fn used_columns(rows: &[Row], merged: &Merged) -> Vec<u32> {
    let mut used: Vec<u32> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for row in rows {
        for cell in &row.cells {
            for column in cell.column..end_of(row, cell, merged) {
                if seen.insert(column) {
                    used.push(column);
                }
            }
        }
    }
    used.sort_unstable();
    used
}

/// Adds the columns that are empty in the sample.
fn widen(table: &mut Table, used: &[u32], in_sample: &[u32]) {
    let is_new: Vec<bool> = used.iter().map(|column| in_sample.binary_search(column).is_err()).collect();
    let widened = |row: &mut Vec<String>| {
        let mut own = std::mem::take(row).into_iter();
        row.extend(is_new.iter().map(|new| if *new { String::new() } else { own.next().unwrap_or_default() }));
    };
    if !table.header.is_empty() {
        widened(&mut table.header);
    }
    table.rows.iter_mut().for_each(widened);
    for (at, new) in is_new.iter().enumerate() {
        table.row_headers += usize::from(*new && at < table.row_headers);
    }
}

/// A row of the table, with the texts of merged cells above and beside.
fn fill(
    row: Row,
    places: &HashMap<u32, usize>,
    merged: &Merged,
    room: &mut Room,
    covered: &mut Covered,
) -> Vec<String> {
    let mut texts = vec![String::new(); places.len()];
    covered.retain(|_, (end, _)| *end > row.number);
    for (column, (_, text)) in covered.iter() {
        if let Some(at) = places.get(column) {
            texts[*at] = room.repeat(text);
        }
    }
    for cell in row.cells {
        let (down, across) = merged.get(&(row.number, cell.column)).copied().unwrap_or((1, 1));
        if down > 1 {
            let text: Rc<str> = Rc::from(cell.text.as_str());
            let end = row.number.saturating_add(down);
            covered.extend((cell.column..cell.column + across.max(1)).map(|column| (column, (end, Rc::clone(&text)))));
        }
        for column in cell.column + 1..cell.column + across.max(1) {
            if let Some(at) = places.get(&column) {
                texts[*at] = room.repeat(&cell.text);
            }
        }
        if let Some(at) = places.get(&cell.column) {
            texts[*at] = cell.text;
        }
    }
    texts
}

/// Years in a row are column names, though they look like values: `Item | 2022 | 2023`.
fn names_years(row: &Row) -> bool {
    let is_year =
        |cell: &Cell| cell.text.len() == 4 && cell.text.starts_with(['1', '2']) && cell.text.parse::<u16>().is_ok();
    let [first, rest @ ..] = row.cells.as_slice() else { return false };
    let rises = rest.windows(2).all(|pair| pair[0].text != pair[1].text);
    rest.len() > 1 && !is_year(first) && rest.iter().all(is_year) && rises
}

fn through_builder(rows: &[Row], caption: &str, columns: Range<u32>, merged: &Merged) -> Vec<Block> {
    let mut builder = Builder::default();
    let table = builder.open(Part::Table);
    if !caption.is_empty() {
        let opened = builder.open(Part::Caption);
        builder.text(caption);
        builder.close(opened);
    }
    let numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
    // The first row below the merged cells above, by column.
    let mut free: HashMap<u32, u32> = HashMap::new();
    for row in rows {
        let opened = builder.open(Part::Row(Section::Body));
        let mut column = columns.start;
        for cell in &row.cells {
            open_gap(&mut builder, column..cell.column, row.number, &free);
            let (down, across) = merged.get(&(row.number, cell.column)).copied().unwrap_or((1, 1));
            let end = row.number.saturating_add(down.max(1));
            // Empty rows are missing, so a merged cell covers only existing rows.
            let there = numbers.partition_point(|number| *number < end)
                - numbers.partition_point(|number| *number < row.number);
            add_cell(&mut builder, cell, there.max(1), across.max(1) as usize);
            column = cell.column + across.max(1);
            if there > 1 {
                free.extend((cell.column..column).map(|column| (column, end)));
            }
        }
        open_gap(&mut builder, column..columns.end, row.number, &free);
        builder.close(opened);
    }
    builder.close(table);
    builder.finish().blocks
}

/// Adds empty cells, except where a merged cell from above covers.
fn open_gap(builder: &mut Builder, columns: Range<u32>, row: u32, free: &HashMap<u32, u32>) {
    for column in columns {
        if free.get(&column).is_none_or(|end| *end <= row) {
            let cell = builder.open(Part::Cell(CellMarks::default()));
            builder.close(cell);
        }
    }
}

fn add_cell(builder: &mut Builder, cell: &Cell, rows: usize, columns: usize) {
    let marks = CellMarks { header: cell.header, shade: cell.shade.clone(), columns, rows };
    let opened = builder.open(Part::Cell(marks));
    let weight = cell.bold.then(|| builder.open(Part::Bold));
    builder.text(&cell.text);
    if let Some(weight) = weight {
        builder.close(weight);
    }
    builder.close(opened);
}
