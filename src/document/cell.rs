//! A table cell while it is read, and its content as one text.
//!
//! Takes running text, lists, headings and whole tables inside a cell, gives a [`RawCell`].
//! Invariants: a cell's text has one line per paragraph, line break and list item; an inner table is one line, a note
//! in brackets; no word is lost, and a note is at most a few times as long as its table.
//! Not here: the cell's place in its table (`grid`).

use super::builder::CellMarks;
use super::text_buffer::{Gap, Shape, TextBuffer};
use super::{Block, List, ListItem, Ordering, Table};

/// An inner table's column names are repeated in every row of its note while that adds at most this many bytes.
const LARGEST_REPETITION: usize = 2_000;

/// A cell as in the source.
#[derive(Debug, Clone, Default)]
pub(super) struct RawCell {
    /// Its text, in lines.
    pub text: String,
    /// The same as blocks, if it holds more than running text.
    pub blocks: Vec<Block>,
    /// Whether all of its text is bold.
    pub bold: bool,
    /// Whether it contains a table, even a layout table.
    pub framed: bool,
    pub marks: CellMarks,
}

impl RawCell {
    /// Its content as blocks, for a table that is only a frame.
    pub(super) fn into_blocks(self) -> Vec<Block> {
        if self.blocks.is_empty() && !self.text.is_empty() { vec![Block::Text(self.text)] } else { self.blocks }
    }

    /// Whether it holds parts of a page rather than of a cell.
    pub(super) fn holds_parts(&self) -> bool {
        self.framed || self.blocks.iter().any(|block| matches!(block, Block::Heading { .. }))
    }
}

/// How much of a cell is bold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Weight {
    #[default]
    Unknown,
    Bold,
    Plain,
}

#[derive(Debug)]
pub(super) struct OpenCell {
    pub run: TextBuffer,
    marks: CellMarks,
    blocks: Vec<Block>,
    /// Tables inside list items: they follow their list.
    hoisted: Vec<Block>,
    weight: Weight,
    framed: bool,
}

impl OpenCell {
    pub(super) fn new(marks: CellMarks) -> Self {
        let run = TextBuffer::new(Shape::Lines);
        Self { run, marks, blocks: Vec::new(), hoisted: Vec::new(), weight: Weight::Unknown, framed: false }
    }

    /// Records the weight of a text before it is added.
    pub(super) fn weigh(&mut self, text: &str, weight: Weight) {
        if text.chars().any(char::is_alphanumeric) {
            self.weight = if self.weight == Weight::Plain { Weight::Plain } else { weight };
        }
    }

    /// Adds the blocks of a table directly in it.
    pub(super) fn add_table(&mut self, blocks: Vec<Block>) {
        self.framed = true;
        self.add(blocks);
    }

    /// Ends the running text so far.
    pub(super) fn flush(&mut self) {
        let text = self.run.take();
        if !text.is_empty() {
            self.blocks.push(Block::Text(text));
        }
    }

    /// Adds blocks directly in it.
    pub(super) fn add(&mut self, blocks: Vec<Block>) {
        if blocks.iter().any(|block| matches!(block, Block::Table(_))) {
            self.weight = Weight::Plain;
        }
        let list = matches!(blocks.as_slice(), [Block::List(_)]);
        self.blocks.extend(blocks);
        if list {
            self.blocks.append(&mut self.hoisted);
        }
        self.run.gap(Gap::Line);
    }

    /// Adds blocks inside an item of one of its lists.
    pub(super) fn hoist(&mut self, blocks: Vec<Block>) {
        (self.weight, self.framed) = (Weight::Plain, true);
        self.hoisted.extend(blocks);
    }

    pub(super) fn close(mut self) -> RawCell {
        self.flush();
        self.blocks.append(&mut self.hoisted);
        let (bold, framed, marks) = (self.weight == Weight::Bold, self.framed, self.marks);
        match self.blocks.as_mut_slice() {
            [] => RawCell { marks, ..RawCell::default() },
            [Block::Text(text)] => RawCell { text: std::mem::take(text), blocks: Vec::new(), bold, framed, marks },
            _ => RawCell { text: lines(&self.blocks), blocks: self.blocks, bold, framed, marks },
        }
    }
}

/// Joins texts on one line, with a semicolon unless a text ends with punctuation.
pub(super) fn join<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    join_with("; ", pieces)
}

fn join_with<'a>(separator: &str, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for piece in pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()) {
        if !text.is_empty() {
            let closed = text.ends_with(['.', '!', '?', ':', ';', ',', '…', '→', '|', '/', '(', '[']);
            let goes_on = piece.starts_with(['(', '[', '→', '/', ';', ',']) && !piece.starts_with("[table");
            text.push_str(if closed || goes_on { " " } else { separator });
        }
        text.push_str(piece);
    }
    text
}

/// The lines of blocks.
fn lines(blocks: &[Block]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::Text(text) => lines.push(text.clone()),
            Block::Heading { text, .. } => {
                let opens = at + 1 < blocks.len() && text.ends_with(char::is_alphanumeric);
                lines.push(if opens { format!("{text}:") } else { text.clone() });
            }
            Block::List(list) => lines.extend(items(list)),
            Block::Table(table) => lines.push(note(table)),
            Block::Page(_) => {}
        }
    }
    lines.join("\n")
}

/// The items of a list, nested ones behind their parent. Lists nest at most `builder::DEEPEST_LIST` deep.
fn items(list: &List) -> impl Iterator<Item = String> {
    let numbered = list.ordered == Ordering::Ordered;
    (1..).zip(&list.items).map(move |(number, item)| {
        let text = item_line(item);
        if numbered { format!("{number}. {text}") } else { text }
    })
}

fn item_line(item: &ListItem) -> String {
    let own = join(item.text.lines());
    let nested: Vec<String> = item.nested.iter().flat_map(items).collect();
    let nested = join_with(", ", nested.iter().map(String::as_str));
    match (own.as_str(), nested.as_str()) {
        (_, "") => own,
        ("", _) => nested,
        _ if own.ends_with(':') => format!("{own} {nested}"),
        _ => format!("{own} ({nested})"),
    }
}

/// An inner table in brackets: `[table Saws: Tool: Saw, Count: 2; Tool: Axe, Count: 1]`.
fn note(table: &Table) -> String {
    let names: usize = table.header.iter().map(String::len).sum();
    let cells: usize = table.rows.iter().flatten().map(String::len).sum();
    let repeats = names.saturating_mul(table.rows.len()) <= cells.saturating_add(LARGEST_REPETITION);
    let mut rows: Vec<String> = Vec::new();
    if !repeats {
        rows.push(filled(&table.header).collect::<Vec<_>>().join(", "));
    }
    for (at, row) in table.rows.iter().enumerate() {
        rows.push(match row.as_slice() {
            [first, ..] if table.full_width.contains(&at) => first.clone(),
            [key, value] if table.row_headers == 1 && table.header.is_empty() && !value.is_empty() => {
                format!("{}: {value}", key.trim_end_matches(':'))
            }
            _ if repeats && !table.header.is_empty() => named(&table.header, row).collect::<Vec<_>>().join(", "),
            _ => filled(row).collect::<Vec<_>>().join(", "),
        });
    }
    let unused = |column: &usize| table.rows.iter().all(|row| row.get(*column).is_none_or(String::is_empty));
    let columns = (0..table.header.len()).filter(|_| repeats).filter(unused).map(|column| &table.header[column]);
    rows.extend(columns.filter(|name| !name.is_empty()).map(|name| format!("{name}: –")));
    rows.extend(table.footer.clone());
    let caption = table.caption.as_ref().map_or_else(String::new, |caption| format!(" {caption}"));
    format!("[table{caption}: {}]", join(rows.iter().map(String::as_str)))
}

fn filled(cells: &[String]) -> impl Iterator<Item = &str> {
    cells.iter().map(String::as_str).filter(|cell| !cell.is_empty())
}

/// Each cell after its column name.
fn named<'a>(header: &'a [String], row: &'a [String]) -> impl Iterator<Item = String> + 'a {
    header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()).map(|(name, cell)| {
        if name.is_empty() { cell.clone() } else { format!("{}: {cell}", name.trim_end_matches(':')) }
    })
}
