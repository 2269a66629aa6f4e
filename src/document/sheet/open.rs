//! Reads the visible sheets of OpenDocument spreadsheets (ODS).
//!
//! Takes the package, fills [`Sheets`]. The file writes equal neighbouring cells and rows once with a count; empty ones
//! are counted and never built, so the million empty rows below most sheets cost nothing.
//! Invariants: one pass, no recursion; the number of cells is bounded by [`Sheets`].
//! Not here: the use of the cells (`workbook`, `layout`).

use std::collections::HashSet;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::super::package::{OfficeError, Package};
use super::number::general;
use super::sheet_meta::{MOST_MERGED, SheetMeta, WIDEST_MERGED};
use super::workbook::{Look, Sheet, Sheets, iso};
use ragonite_base::clean_line;

const CONTENT: &str = "content.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Attributes with a cell's value.
const VALUES: &[&str] = &["value", "string-value", "date-value", "boolean-value"];

/// XML events between two checks for cancellation.
const STEP: usize = 1_024;

/// Reads the visible sheets.
pub(super) fn read_sheets(package: &mut Package<'_>, sheets: Sheets) -> Result<Sheets, OfficeError> {
    if package.text(MANIFEST)?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(OfficeError::Protected);
    }
    let source = package.needed(CONTENT)?;
    let mut reader = Reader::from_str(&source);
    reader.config_mut().expand_empty_elements = true;
    let mut book = Book::new(sheets);
    let mut events = 0_usize;
    loop {
        if events.is_multiple_of(STEP) {
            package.cancel.check()?;
        }
        events += 1;
        match reader.read_event().map_err(|_| OfficeError::Broken)? {
            Event::Start(tag) => book.start(&tag),
            Event::End(tag) => book.end(tag.local_name().as_ref())?,
            Event::Text(text) => book.text(&text.xml10_content()),
            Event::CData(text) => book.text(&text.into_inner()),
            Event::GeneralRef(reference) => book.text(&resolved(&reference)),
            Event::Eof if book.depth > 0 => return Err(OfficeError::Broken),
            Event::Eof => return Ok(book.sheets),
            _ => {}
        }
    }
}

/// The file so far.
struct Book {
    sheets: Sheets,
    depth: usize,
    /// The current style, and the names of styles that hide a sheet or make a cell bold.
    style: String,
    hidden: HashSet<String>,
    bold: HashSet<String>,
    /// The current sheet. Tables inside of cells are ignored.
    table: Option<Table>,
}

/// The current sheet.
#[derive(Default)]
struct Table {
    name: String,
    /// Depth of its element.
    depth: usize,
    is_hidden: bool,
    rows: Vec<super::layout::Row>,
    frame: SheetMeta,
    /// Whether its rows are header rows.
    header: bool,
    row: u32,
    rows_alike: u32,
    column: u32,
    cells: Vec<Cell>,
    cell: Option<Cell>,
}

/// A cell, or several equal ones.
#[derive(Default)]
struct Cell {
    /// Depth of its element.
    depth: usize,
    column: u32,
    alike: u32,
    kind: String,
    value: String,
    text: String,
    look: Look,
    span: (u32, u32),
    link: Option<String>,
    comment: Option<Comment>,
}

#[derive(Default)]
struct Comment {
    author: String,
    text: String,
    /// The field that is being read; none once the comment is closed.
    field: Option<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Author,
    Date,
    Text,
}

impl Book {
    fn new(sheets: Sheets) -> Self {
        let (hidden, bold) = (HashSet::new(), HashSet::new());
        Self { sheets, depth: 0, style: String::new(), hidden, bold, table: None }
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        let name = tag.local_name();
        let name = name.as_ref();
        if let Some(table) = &mut self.table {
            if !table.is_hidden {
                match &mut table.cell {
                    Some(cell) => cell.start(name, tag),
                    None => table.start(name, tag, &self.bold, self.depth),
                }
            }
            return;
        }
        match name {
            "style" => self.style = attribute(tag, "name").unwrap_or_default(),
            "table-properties" if attribute(tag, "display").as_deref() == Some("false") => {
                self.hidden.insert(self.style.clone());
            }
            "text-properties" if attribute(tag, "font-weight").as_deref() == Some("bold") => {
                self.bold.insert(self.style.clone());
            }
            "table" => {
                let is_hidden = attribute(tag, "style-name").is_some_and(|style| self.hidden.contains(&style));
                let name = attribute(tag, "name").unwrap_or_default();
                self.table = Some(Table { name, depth: self.depth, is_hidden, ..Table::default() });
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) -> Result<(), OfficeError> {
        let depth = self.depth;
        self.depth = depth.checked_sub(1).ok_or(OfficeError::Broken)?;
        if let Some(table) = self.table.take_if(|table| table.depth == depth) {
            let rows = Sheet { rows: table.rows, frame: &SheetMeta::default(), room: &mut self.sheets.room }.finish();
            self.sheets.add(&table.name, rows, &table.frame);
        } else if let Some(table) = self.table.as_mut().filter(|table| !table.is_hidden) {
            if let Some(cell) = table.cell.take_if(|cell| cell.depth == depth) {
                table.cells.push(cell);
            } else if let Some(cell) = &mut table.cell {
                cell.end(name);
            } else if name == "table-row" {
                table.end_row(&mut self.sheets)?;
            } else if name == "table-header-rows" {
                table.header = false;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some(cell) = self.table.as_mut().and_then(|table| table.cell.as_mut()) {
            cell.add(text);
        }
    }
}

impl Table {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>, bold: &HashSet<String>, depth: usize) {
        match name {
            "table-header-rows" => self.header = true,
            "table-row" => {
                self.rows_alike = count(tag, "number-rows-repeated");
                self.column = 0;
                self.cells.clear();
            }
            // Cells below a merged cell are not shown.
            "covered-table-cell" => self.column = self.column.saturating_add(count(tag, "number-columns-repeated")),
            "table-cell" => {
                let bold = attribute(tag, "style-name").is_some_and(|style| bold.contains(&style));
                let value = |name: &&str| attribute(tag, name);
                let cell = Cell {
                    depth,
                    column: self.column,
                    alike: count(tag, "number-columns-repeated"),
                    kind: attribute(tag, "value-type").unwrap_or_default(),
                    value: VALUES.iter().find_map(value).unwrap_or_default(),
                    look: Look { bold, header: self.header, ..Look::default() },
                    span: (count(tag, "number-rows-spanned"), count(tag, "number-columns-spanned")),
                    ..Cell::default()
                };
                self.column = self.column.saturating_add(cell.alike);
                self.cell = Some(cell);
            }
            _ => {}
        }
    }

    fn end_row(&mut self, sheets: &mut Sheets) -> Result<(), OfficeError> {
        let first = self.row;
        self.row = first.saturating_add(self.rows_alike);
        let shown = self.cells.drain(..).map(|cell| (cell.shown(), cell));
        let cells: Vec<(String, Cell)> = shown.filter(|(text, _)| !text.is_empty()).collect();
        if cells.is_empty() {
            return Ok(());
        }
        self.frame.links.extend(cells.iter().filter_map(|(_, cell)| Some(((first, cell.column), cell.link.clone()?))));
        let all = |one: fn(&(String, Cell)) -> usize| {
            let row = cells.iter().map(|cell| one(cell).saturating_mul(cell.1.alike as usize));
            row.fold(0, usize::saturating_add).saturating_mul(self.rows_alike as usize)
        };
        sheets.room.holds(all(|_| 1), all(|(text, _)| text.len()))?;
        let none = SheetMeta::default();
        let mut sheet = Sheet { rows: std::mem::take(&mut self.rows), frame: &none, room: &mut sheets.room };
        for row in first..self.row {
            sheet.room.cancel.check()?;
            for (text, cell) in &cells {
                for column in cell.column..cell.column.saturating_add(cell.alike) {
                    sheet.put(row, column, text.clone(), cell.look.clone())?;
                    if cell.span != (1, 1) && self.frame.merged.len() < MOST_MERGED {
                        self.frame.merged.insert((row, column), (cell.span.0, cell.span.1.min(WIDEST_MERGED)));
                    }
                }
            }
        }
        self.rows = sheet.rows;
        Ok(())
    }
}

impl Cell {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) {
        if let Some(comment) = self.comment.as_mut().filter(|comment| comment.field.is_some()) {
            comment.field = Some(match name {
                "creator" => Field::Author,
                "date" | "date-string" => Field::Date,
                _ => Field::Text,
            });
            comment.text.push(' ');
            return;
        }
        match name {
            "annotation" => self.comment = Some(Comment { field: Some(Field::Text), ..Comment::default() }),
            "a" if self.link.is_none() => self.link = attribute(tag, "href").map(|target| clean_line(&target)),
            "p" | "s" | "tab" | "line-break" => self.text.push(' '),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some(comment) = self.comment.as_mut().filter(|comment| comment.field.is_some()) {
            comment.field = (name != "annotation").then_some(Field::Text);
        }
    }

    fn add(&mut self, text: &str) {
        match self.comment.as_mut().and_then(|comment| comment.field.map(|field| (comment, field))) {
            Some((comment, Field::Author)) => comment.author.push_str(text),
            Some((comment, Field::Text)) => comment.text.push_str(text),
            Some((_, Field::Date)) => {}
            None => self.text.push_str(text),
        }
    }

    /// The shown text of the cell, and its comment. The text follows its author's language, the value does not.
    fn shown(&self) -> String {
        let text = clean_line(&self.text);
        let value = match self.kind.as_str() {
            "float" => self.value.parse().ok().map(general),
            "date" if !self.value.is_empty() => Some(iso(&self.value)),
            "boolean" if !self.value.is_empty() => Some(self.value.to_uppercase()),
            _ if text.is_empty() => Some(clean_line(&self.value)),
            _ => None,
        };
        let shown = value.unwrap_or(text);
        match &self.comment {
            Some(comment) if !comment.text.trim().is_empty() => {
                let by = if comment.author.is_empty() { String::new() } else { format!(" by {}", comment.author) };
                format!("{shown} [Comment{by}: {}]", clean_line(&comment.text))
            }
            _ => shown,
        }
    }
}

/// A repetition count.
fn count(tag: &BytesStart<'_>, name: &str) -> u32 {
    attribute(tag, name).and_then(|count| count.parse().ok()).unwrap_or(1).max(1)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes.with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

/// A character reference; any other name stays as written, since nothing is expanded.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name = reference.xml10_content();
    quick_xml::escape::resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}
