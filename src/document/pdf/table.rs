//! Tables on the way to the builder, and tables that only the alignment of words shows.
//!
//! Takes lines, gives [`Draft`]s.
//! Invariants: a row is a line, or several if cells are wrapped; without clear columns there is no table.
//! Not here: tables drawn with lines (`ruled`), header detection (`header`).

use hayro_font::kurbo::Rect;

use super::line::{Line, Word, lines};
use super::paragraph::{join_lines, marker};
use crate::Block;
use crate::builder::{Builder, CellMarks, Part, Section};

/// Minimum of rows of a table without drawn lines.
const FEWEST_ROWS: usize = 3;
/// Maximum average length of a cell, in letters; longer texts are aligned by chance.
const LONGEST_CELL: usize = 60;

/// A cell with what it covers.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub text: String,
    pub bold: bool,
    pub columns: usize,
    pub rows: usize,
}

/// A table and its position.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub rows: Vec<Vec<Cell>>,
    pub area: Rect,
    /// Where its columns begin.
    pub edges: Vec<f64>,
    /// The size of its letters.
    pub size: f64,
}

impl Cell {
    pub(super) fn new(words: Vec<Word>, columns: usize, rows: usize) -> Self {
        let lines = lines(words);
        let bold = !lines.is_empty() && lines.iter().all(|line| line.look.bold);
        Self { text: join_lines(&lines), bold, columns, rows }
    }
}

impl Draft {
    /// Whether a table at the top of the next page continues this one.
    pub(super) fn goes_on(&self, next: &Self) -> bool {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 6.0;
        self.edges.len() == next.edges.len() && self.edges.iter().zip(&next.edges).all(near)
    }

    /// Number of letters.
    pub(super) fn letters(&self) -> usize {
        self.rows.iter().flatten().map(|cell| cell.text.chars().count()).sum()
    }

    /// The blocks that the builder makes of it.
    pub(super) fn blocks(&self, caption: Option<&str>) -> Vec<Block> {
        let mut builder = Builder::default();
        let table = builder.open(Part::Table);
        if let Some(caption) = caption {
            let part = builder.open(Part::Caption);
            builder.text(caption);
            builder.close(part);
        }
        for row in &self.rows {
            let part = builder.open(Part::Row(Section::Body));
            for cell in row {
                add_cell(&mut builder, cell);
            }
            builder.close(part);
        }
        builder.close(table);
        builder.finish().blocks
    }
}

fn add_cell(builder: &mut Builder, cell: &Cell) {
    let marks = CellMarks { columns: cell.columns, rows: cell.rows, ..CellMarks::default() };
    let part = builder.open(Part::Cell(marks));
    let bold = cell.bold.then(|| builder.open(Part::Bold));
    builder.text(&cell.text);
    if let Some(bold) = bold {
        builder.close(bold);
    }
    builder.close(part);
}

/// The table that begins with the first of these lines, and its number of lines.
pub(super) fn aligned(lines: &[Line]) -> Option<(usize, Draft)> {
    let first = lines.first()?;
    if first.cells().len() < 2 {
        return None;
    }
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let apart = at > 0 && line.base - lines[at - 1].base > 2.6 * line.size.max(first.size);
        let cells = line.cells();
        let list = marker(&line.text()).is_some() && cells.len() <= 2;
        let other =
            line.size > 1.2 * first.size || line.has_leader() || line.words.iter().any(|word| word.table.is_some());
        if apart || list || other {
            break;
        }
        rows.push(cells);
    }
    while rows.last().is_some_and(|cells| cells.len() < 2) {
        rows.pop();
    }
    // Text below a table ends it, as its columns show.
    while rows.len() >= FEWEST_ROWS {
        let columns = columns(&rows)?;
        let end = rows.iter().position(|cells| !fits(cells, &columns)).unwrap_or(rows.len());
        if end == rows.len() {
            return draft(&rows, &columns).map(|draft| (rows.len(), draft));
        }
        rows.truncate(end);
        while rows.last().is_some_and(|cells| cells.len() < 2) {
            rows.pop();
        }
    }
    None
}

/// Start and end of each column, from rows with the usual number of cells.
fn columns(rows: &[Vec<Line>]) -> Option<Vec<(f64, f64)>> {
    let mut counts = std::collections::BTreeMap::new();
    for cells in rows.iter().filter(|cells| cells.len() >= 2) {
        *counts.entry(cells.len()).or_insert(0usize) += 1;
    }
    let (usual, often) = counts.into_iter().max_by_key(|(cells, often)| (*often, *cells))?;
    if often < 2 {
        return None;
    }
    let mut columns: Vec<(f64, f64)> = vec![(f64::INFINITY, f64::NEG_INFINITY); usual];
    for cells in rows.iter().filter(|cells| cells.len() == usual) {
        for (column, cell) in columns.iter_mut().zip(cells) {
            *column = (column.0.min(cell.left), column.1.max(cell.right));
        }
    }
    let apart = columns.windows(2).all(|pair| pair[0].1 + 1.0 < pair[1].0);
    apart.then_some(columns)
}

/// The columns that a cell stands in.
fn covered(cell: &Line, columns: &[(f64, f64)]) -> std::ops::Range<usize> {
    let first = columns.iter().position(|column| cell.left < column.1 + 1.0);
    let first = first.unwrap_or(columns.len());
    let last = columns.iter().rposition(|column| cell.right > column.0 - 1.0).map_or(first, |last| last + 1);
    // Between two columns: it belongs to the next one.
    first.min(columns.len() - 1)..last.max(first + 1).min(columns.len())
}

/// Whether the cells of a line stand in different columns.
fn fits(cells: &[Line], columns: &[(f64, f64)]) -> bool {
    let places: Vec<_> = cells.iter().map(|cell| covered(cell, columns)).collect();
    let apart = places.windows(2).all(|pair| pair[0].end <= pair[1].start);
    // A single text over several columns is a title above the table or text below it.
    apart && (cells.len() > 1 || places.iter().all(|place| place.len() == 1))
}

fn draft(rows: &[Vec<Line>], columns: &[(f64, f64)]) -> Option<Draft> {
    let letters = |cell: &Line| cell.text().chars().count();
    let all = || rows.iter().flatten();
    let long = all().map(letters).sum::<usize>() > LONGEST_CELL * all().count();
    let several = rows.iter().filter(|cells| cells.len() >= 2).count();
    if long || several < FEWEST_ROWS || several * 2 < rows.len() {
        return None;
    }
    let mut table: Vec<Vec<Vec<Line>>> = Vec::new();
    let mut starts: Vec<(f64, f64)> = Vec::new();
    let step = usual_step(rows);
    for cells in rows {
        let base = cells.first()?.base;
        let wrapped = cells.iter().all(|cell| covered(cell, columns).start > 0)
            && starts.last().is_some_and(|(_, last)| base - last < 0.85 * step);
        if !wrapped || table.is_empty() {
            table.push(vec![Vec::new(); columns.len()]);
            starts.push((base, base));
        }
        if let (Some(row), Some(start)) = (table.last_mut(), starts.last_mut()) {
            start.1 = base;
            for cell in cells {
                row[covered(cell, columns).start].push(cell.clone());
            }
        }
    }
    let spans = |lines: &[Line]| lines.iter().map(|line| covered(line, columns).len()).max().unwrap_or(1);
    let row = |row: Vec<Vec<Line>>| {
        let mut cells = Vec::new();
        let mut column = 0;
        while let Some(lines) = row.get(column) {
            let wide = spans(lines);
            let words = lines.iter().flat_map(|line| line.words.clone()).collect();
            cells.push(Cell::new(words, wide, 1));
            column += wide;
        }
        cells
    };
    let (first, last) = (rows.first()?.first()?, rows.last()?.first()?);
    let area = Rect::new(columns[0].0, first.base - first.size, columns[columns.len() - 1].1, last.base);
    let edges = columns.iter().map(|column| column.0).collect();
    let size = first.size;
    Some(Draft { rows: table.into_iter().map(row).collect(), area, edges, size })
}

/// The usual distance between two lines that both begin in the first column.
fn usual_step(rows: &[Vec<Line>]) -> f64 {
    let left = rows.iter().flatten().map(|cell| cell.left).fold(f64::INFINITY, f64::min);
    let starts: Vec<f64> = rows
        .iter()
        .filter_map(|cells| cells.first())
        .filter(|cell| cell.left < left + cell.size)
        .map(|cell| cell.base)
        .collect();
    let mut steps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(0.0)
}
