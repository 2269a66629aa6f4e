//! The cells of a sheet -> its tables, their captions and the text around them.
//!
//! Takes cells by row and column, gives blocks from top to bottom and left to right.
//! A sheet is one grid, on which people put several tables, titles and remarks; empty rows and columns tell them apart.
//! Invariants: every cell's text is in one block; only the first [`SAMPLE`] rows of a table go through the builder, so
//! that a long table costs little more than its text.
//! Not here: how cells are read (`workbook`, `delimited`), which rows are header (`header`).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::super::builder::{Builder, CellMarks, Part, Section};
use super::super::header::is_value;
use super::super::{Block, Table};

/// Rows from which a table's header is told.
const SAMPLE: usize = 1_000;
/// A longer text above a table is no title of it.
const LONGEST_TITLE: usize = 160;
/// Empty rows between a title and its table.
const WIDEST_GAP: u32 = 2;
/// How remarks below a table begin.
const REMARKS: &[&str] =
    &["note", "source", "quelle", "anmerkung", "hinweis", "stand", "legend", "legende", "*", "¹", "†"];

/// A cell with something in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub column: u32,
    pub text: String,
    pub bold: bool,
    pub header: bool,
    pub shade: Option<Arc<str>>,
}

/// A row with something in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub number: u32,
    /// By column.
    pub cells: Vec<Cell>,
}

/// How many rows and columns a merged cell covers, by its place.
pub(super) type Merged = HashMap<(u32, u32), (u32, u32)>;

/// A block and the part of the sheet that it was.
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
    /// Last row that a merged cell reaches.
    bottom: u32,
}

impl Region {
    fn new(rows: Vec<Row>, merged: &Merged) -> Self {
        let reach = |row: &Row| {
            let down =
                row.cells.iter().filter_map(|cell| merged.get(&(row.number, cell.column)).map(|(rows, _)| *rows));
            row.number + down.max().unwrap_or(1).max(1) - 1
        };
        let bottom = rows.iter().map(reach).max().unwrap_or(0);
        Self { rows, bottom }
    }

    fn top(&self) -> u32 {
        self.rows.first().map_or(0, |row| row.number)
    }

    fn columns(&self, merged: &Merged) -> Range<u32> {
        let first = self.rows.iter().filter_map(|row| row.cells.first()).map(|cell| cell.column).min().unwrap_or(0);
        let ends = self.rows.iter().filter_map(|row| row.cells.last().map(|cell| end_of(row, cell, merged)));
        first..ends.max().unwrap_or(first)
    }

    fn is_single_cell(&self) -> bool {
        matches!(self.rows.as_slice(), [row] if row.cells.len() == 1)
    }
}

fn end_of(row: &Row, cell: &Cell, merged: &Merged) -> u32 {
    cell.column + merged.get(&(row.number, cell.column)).map_or(1, |(_, columns)| (*columns).max(1))
}

/// Splits a sheet into blocks. Rows come in order, their cells too, none of them empty.
pub(super) fn lay_out(rows: Vec<Row>, merged: &Merged) -> Vec<Placed> {
    let mut regions = Vec::new();
    for band in bands(rows, merged) {
        let mut parts = Vec::new();
        for part in split_columns(band, merged) {
            parts.extend(bands(part.rows, merged));
        }
        regions.extend(parts);
    }
    let regions = join(regions, merged);
    let mut placed = Vec::new();
    let mut titles: Vec<Region> = Vec::new();
    for region in regions {
        if region.is_single_cell() {
            titles.push(region);
            continue;
        }
        let near = |title: &Region| {
            let gap = region.top().saturating_sub(title.bottom + 1);
            let text = title.rows[0].cells[0].text.chars().count();
            gap <= WIDEST_GAP && text <= LONGEST_TITLE && title.columns(merged).start <= region.columns(merged).end
        };
        // Titles come one below the other: the last of them must be near.
        let from = titles.iter().rposition(|title| !near(title)).map_or(0, |at| at + 1);
        let own = titles.split_off(from);
        placed.extend(titles.drain(..).map(|title| as_text(title, merged)));
        let caption: Vec<String> =
            own.into_iter().flat_map(|title| title.rows).flat_map(|row| row.cells).map(|cell| cell.text).collect();
        add_region(region, caption, merged, &mut placed);
    }
    placed.extend(titles.into_iter().map(|title| as_text(title, merged)));
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

/// Parts of a band between empty columns. One empty column between two halves of the same rows only makes room, unless
/// the right half begins with names of its own.
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
    let extent = |span: &Range<u32>| {
        let within = |row: &&Row| row.cells.iter().any(|cell| span.contains(&cell.column));
        (band.rows.iter().position(|row| within(&row)), band.rows.iter().rposition(|row| within(&row)))
    };
    let mut kept: Vec<Range<u32>> = Vec::new();
    let mut last_extent = (None, None);
    for span in spans {
        let own = extent(&span);
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
        let mut cells = row.cells.into_iter().peekable();
        for (part, span) in parts.iter_mut().zip(&kept) {
            let mut own = Row { number: row.number, cells: Vec::new() };
            while let Some(cell) = cells.next_if(|cell| cell.column < span.end) {
                own.cells.push(cell);
            }
            if !own.cells.is_empty() {
                part.push(own);
            }
        }
    }
    parts.into_iter().map(|rows| Region::new(rows, merged)).collect()
}

/// Whether columns beside others are a table of their own: their first column names their rows as that of the others
/// does, by different words below a name, or by a name that both have.
fn stands_alone(rows: &[Row], left: &Range<u32>, right: &Range<u32>) -> bool {
    let within = |row: &Row, span: &Range<u32>| -> Vec<String> {
        row.cells.iter().filter(|cell| span.contains(&cell.column)).map(|cell| cell.text.clone()).collect()
    };
    let mut own = rows.iter().map(|row| within(row, right)).filter(|texts| !texts.is_empty());
    let mut beside = rows.iter().map(|row| within(row, left)).filter(|texts| !texts.is_empty());
    let (Some(names), Some(others)) = (own.next(), beside.next()) else { return false };
    let is_name = |text: &String| !text.chars().any(|c| c.is_ascii_digit());
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
    let to = spans.partition_point(|span| span.start <= new.end);
    let start = spans.get(from).map_or(new.start, |span| span.start.min(new.start));
    let end = to.checked_sub(1).and_then(|at| spans.get(at)).map_or(new.end, |span| span.end.max(new.end));
    spans.drain(from..to);
    spans.insert(from, start..end);
}

/// Rows below an empty row go on with the table above where they stand in its columns and have no header of their own.
fn join(regions: Vec<Region>, merged: &Merged) -> Vec<Region> {
    let mut joined: Vec<Region> = Vec::new();
    for region in regions {
        let columns = region.columns(merged);
        let goes_on = joined.last().is_some_and(|above| {
            let wide = above.columns(merged);
            let gap = region.top().saturating_sub(above.bottom + 1);
            let is_table = above.rows.iter().filter(|row| row.cells.len() > 1).count() > 1;
            is_table && gap == 1 && wide.start <= columns.start && columns.end <= wide.end && !has_header(&region)
        });
        match joined.last_mut() {
            Some(above) if goes_on => {
                above.bottom = region.bottom;
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
    let words = |row: &Row| row.cells.iter().all(|cell| !cell.text.chars().any(|c| c.is_ascii_digit()));
    (marked(first) && !rest.iter().all(marked)) || (words(first) && !rest.iter().all(words))
}

fn as_text(region: Region, merged: &Merged) -> Placed {
    let (rows, columns) = (region.top()..region.bottom + 1, region.columns(merged));
    let lines = region.rows.into_iter().flat_map(|row| row.cells).map(|cell| cell.text);
    Placed { block: Block::Text(lines.collect::<Vec<_>>().join("\n")), rows, columns }
}

fn add_region(mut region: Region, mut caption: Vec<String>, merged: &Merged, placed: &mut Vec<Placed>) {
    let columns = region.columns(merged);
    let rows = region.top()..region.bottom + 1;
    let is_text = columns.len() == 1 && !has_column_name(&region);
    let is_scattered = columns.len() > 1 && region.rows.iter().all(|row| row.cells.len() == 1);
    if is_text || is_scattered {
        // Lines of text one below the other.
        let title = caption.into_iter().map(|text| Placed {
            block: Block::Text(text),
            rows: rows.clone(),
            columns: columns.clone(),
        });
        placed.extend(title);
        placed.push(as_text(region, merged));
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
    let mut blocks = build(region.rows, &caption.join(" / "), columns.clone(), merged);
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

/// Builds the blocks of a region: a sample of its rows through the builder, which finds the header, the rest behind it.
fn build(rows: Vec<Row>, caption: &str, columns: Range<u32>, merged: &Merged) -> Vec<Block> {
    if rows.len() <= SAMPLE + SAMPLE / 4 {
        return through_builder(&rows, caption, columns, merged);
    }
    let used = used_columns(&rows, merged);
    let in_sample = used_columns(&rows[..SAMPLE], merged);
    let mut blocks = through_builder(&rows[..SAMPLE], caption, columns.clone(), merged);
    let fits = |table: &Table| table.rows.iter().all(|row| row.len() == in_sample.len()) && !table.rows.is_empty();
    match blocks.as_mut_slice() {
        [Block::Table(table)] if fits(table) => {
            widen(table, &used, &in_sample);
            let places: HashMap<u32, usize> = used.iter().enumerate().map(|(at, column)| (*column, at)).collect();
            let mut covered: HashMap<u32, (u32, String)> = HashMap::new();
            for row in rows.into_iter().skip(SAMPLE) {
                table.rows.push(fill(row, &places, merged, &mut covered));
            }
            blocks
        }
        _ => through_builder(&rows, caption, columns, merged),
    }
}

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
    for (at, column) in used.iter().enumerate() {
        if in_sample.binary_search(column).is_ok() {
            continue;
        }
        if !table.header.is_empty() {
            table.header.insert(at.min(table.header.len()), String::new());
        }
        table.rows.iter_mut().for_each(|row| row.insert(at.min(row.len()), String::new()));
        table.row_headers += usize::from(at < table.row_headers);
    }
}

/// A row of the table, with what merged cells above and beside put into it.
fn fill(
    row: Row,
    places: &HashMap<u32, usize>,
    merged: &Merged,
    covered: &mut HashMap<u32, (u32, String)>,
) -> Vec<String> {
    let mut texts = vec![String::new(); places.len()];
    covered.retain(|_, (end, _)| *end > row.number);
    for (column, (_, text)) in covered.iter() {
        if let Some(at) = places.get(column) {
            texts[*at].clone_from(text);
        }
    }
    for cell in row.cells {
        let (down, across) = merged.get(&(row.number, cell.column)).copied().unwrap_or((1, 1));
        for column in cell.column..cell.column + across.max(1) {
            if let Some(at) = places.get(&column) {
                texts[*at].clone_from(&cell.text);
            }
            if down > 1 {
                covered.insert(column, (row.number + down, cell.text.clone()));
            }
        }
    }
    texts
}

/// Years in a row are names of columns, though they look like values: `Item | 2022 | 2023`.
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
    // The first row that still lies below what merged cells above cover, by column.
    let mut free: HashMap<u32, u32> = HashMap::new();
    for row in rows {
        let opened = builder.open(Part::Row(Section::Body));
        let mut column = columns.start;
        for cell in &row.cells {
            open_gap(&mut builder, column..cell.column, row.number, &free);
            let (down, across) = merged.get(&(row.number, cell.column)).copied().unwrap_or((1, 1));
            let end = row.number.saturating_add(down.max(1));
            // Empty rows are left out, so a merged cell covers only those that are there.
            let there = numbers.partition_point(|number| *number < end)
                - numbers.partition_point(|number| *number < row.number);
            add_cell(&mut builder, cell, (there.max(1), across.max(1) as usize));
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

/// Empty cells, but for the places that a merged cell above covers.
fn open_gap(builder: &mut Builder, columns: Range<u32>, row: u32, free: &HashMap<u32, u32>) {
    for column in columns {
        if free.get(&column).is_none_or(|end| *end <= row) {
            let cell = builder.open(Part::Cell(CellMarks::default()));
            builder.close(cell);
        }
    }
}

fn add_cell(builder: &mut Builder, cell: &Cell, (rows, columns): (usize, usize)) {
    let marks = CellMarks { header: cell.header, shade: cell.shade.clone(), columns, rows };
    let opened = builder.open(Part::Cell(marks));
    let weight = cell.bold.then(|| builder.open(Part::Bold));
    builder.text(&cell.text);
    if let Some(weight) = weight {
        builder.close(weight);
    }
    builder.close(opened);
}
