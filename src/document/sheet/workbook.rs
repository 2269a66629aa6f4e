//! Reads the visible sheets of workbooks.
//!
//! Takes the bytes of an XLSX, XLSM, XLSB, XLS or ODS file, gives a [`Document`].
//! Invariants: the number of cells and the bytes of their text are bounded over the whole file, since one shared string
//! may stand in a million cells; an internal failure of a reader gives an error.
//! Not here: laying out tables (`layout`).

use std::collections::HashMap;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use calamine::{
    Data, DataRef, Dimensions, ExcelDateTime, Range, Reader, SheetType, SheetVisible, Style, Xls, Xlsb, Xlsx,
};

use super::super::package::{COMPOUND_FILE, OfficeError, Package, child, parse};
use super::super::{Block, Document, Link};
use super::layout::{self, Cell, Merged, Placed, Row, lay_out};
use super::number::{date, general, number};
use super::open;
use super::records;
use super::sheet_meta::{self, MOST_MERGED, SheetMeta, WIDEST_MERGED};
use super::{claims, compound};
use ragonite_base::{CancelToken, Watched, clean_line};

/// Maximum of cells of one file: 50,000 rows of 80 columns.
const MOST_CELLS: usize = 4_000_000;
/// Maximum of bytes of their text.
const MOST_TEXT: usize = 256 << 20;
/// Maximum of bytes of raw text, where a cell may hold only white space.
const MOST_RAW: usize = 1 << 30;
/// Maximum of cells of one file, empty ones included.
const MOST_SEEN: usize = 64_000_000;
/// Cells between two checks for cancellation.
const STEP: usize = 1_024;
/// Maximum of links of one sheet. Excel stops at slightly fewer.
const MOST_LINKS: usize = 1 << 16;
/// Largest row and column of any program.
const LAST_ROW: u32 = 1 << 24;
const LAST_COLUMN: u32 = 1 << 16;
/// Longest format code in bytes; spreadsheets allow 255 characters.
const LONGEST_CODE: usize = 1_024;

type Bytes<'a> = Cursor<&'a [u8]>;

/// Reads a workbook. The title is empty if its properties have none.
pub(in super::super) fn read_workbook(bytes: &[u8], cancel: &CancelToken) -> Result<Document, OfficeError> {
    read_within(bytes, Room { cancel: cancel.clone(), ..Room::default() })
}

/// Reads a workbook within the limits of `room`.
pub(super) fn read_within(bytes: &[u8], room: Room) -> Result<Document, OfficeError> {
    let cancel = room.cancel.clone();
    let sheets = Sheets::within(room);
    if bytes.starts_with(COMPOUND_FILE) {
        if holds_encrypted_package(bytes) {
            return Err(OfficeError::Protected);
        }
        if !compound::has_an_end(bytes) {
            return Err(OfficeError::Broken);
        }
        return guarded(|| {
            let bytes = records::bounded(bytes)?;
            // The reader builds all sheets in one call, in the memory that was just allowed; the largest take some
            // seconds.
            cancel.check()?;
            read_xls(Xls::new(Cursor::new(bytes.as_slice())).map_err(calamine::Error::Xls)?, sheets)
        });
    }
    let mut package = Package::open(bytes, &cancel)?;
    // The readers know no token, so their source fails once cancelled.
    let source = cancel.watch(Cursor::new(bytes));
    package.check()?;
    let mut document = if package.has("xl/workbook.xml") {
        claims::check_xlsx(&mut package)?;
        let frames = sheet_meta::read(&mut package)?;
        guarded(|| read_xlsx(Xlsx::new(source).map_err(calamine::Error::Xlsx)?, &frames, sheets))?
    } else if package.has("xl/workbook.bin") {
        claims::check_xlsb(&mut package)?;
        guarded(|| read_xlsb(Xlsb::new(source).map_err(calamine::Error::Xlsb)?, sheets))?
    } else {
        open::read_sheets(&mut package, sheets)?.document
    };
    read_properties(&mut package, &mut document)?;
    Ok(document)
}

/// The binary reader indexes into hostile bytes; its panic must not end the run.
fn guarded(read: impl FnOnce() -> Result<Document, OfficeError>) -> Result<Document, OfficeError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(OfficeError::Broken))
}

/// Encrypted packages are streams of this name in a compound file.
fn holds_encrypted_package(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(name.len()).any(|window| window == name.as_slice())
}

impl From<calamine::Error> for OfficeError {
    fn from(source: calamine::Error) -> Self {
        Self::Workbook(source)
    }
}

fn read_properties(package: &mut Package<'_>, document: &mut Document) -> Result<(), OfficeError> {
    for name in ["docProps/core.xml", "meta.xml"] {
        let Some(source) = package.text(name)? else { continue };
        let tree = parse(name, &source, &package.cancel)?;
        let root = tree.root_element();
        let root = child(root, "meta").unwrap_or(root);
        let value =
            |name| child(root, name).and_then(|node| node.text()).map(clean_line).filter(|text| !text.is_empty());
        document.title = value("title").unwrap_or_default();
        document.date = value("modified").or_else(|| value("date")).or_else(|| value("created"));
    }
    Ok(())
}

/// What the file may still hold.
pub(super) struct Room {
    pub cells: usize,
    pub text: usize,
    /// Bytes of raw text.
    pub raw: usize,
    /// Number of cells, empty ones included.
    pub seen: usize,
    pub cancel: CancelToken,
}

impl Default for Room {
    fn default() -> Self {
        Self { cells: MOST_CELLS, text: MOST_TEXT, raw: MOST_RAW, seen: MOST_SEEN, cancel: CancelToken::never() }
    }
}

impl Room {
    /// Checks that so many cells with so much text fit.
    pub(super) fn holds(&self, cells: usize, text: usize) -> Result<(), OfficeError> {
        if cells > self.cells {
            return Err(OfficeError::TooManyCells { limit: MOST_CELLS });
        }
        if text > self.text { Err(OfficeError::TooLarge { limit: MOST_TEXT as u64 }) } else { Ok(()) }
    }

    fn take(&mut self, text: usize) -> Result<(), OfficeError> {
        self.holds(1, text)?;
        self.cells -= 1;
        self.text -= text;
        Ok(())
    }

    fn see(&mut self, raw: usize) -> Result<(), OfficeError> {
        if self.seen.is_multiple_of(STEP) {
            self.cancel.check()?;
        }
        self.seen = self.seen.checked_sub(1).ok_or(OfficeError::TooManyCells { limit: MOST_SEEN })?;
        self.raw = self.raw.checked_sub(raw).ok_or(OfficeError::TooLarge { limit: MOST_RAW as u64 })?;
        Ok(())
    }
}

/// The sheet that is being read.
pub(super) struct Sheet<'f> {
    pub rows: Vec<Row>,
    pub frame: &'f SheetMeta,
    pub room: &'f mut Room,
}

impl Sheet<'_> {
    pub(super) fn add(&mut self, row: u32, column: u32, text: &str, look: Look) -> Result<(), OfficeError> {
        self.room.see(text.len())?;
        let mut text = clean_line(text);
        if let Some(comment) = self.frame.comments.get(&(row, column)) {
            let gap = if text.is_empty() { "" } else { " " };
            text = format!("{text}{gap}[{comment}]");
        }
        self.put(row, column, text, look)
    }

    /// Adds a clean text.
    pub(super) fn put(&mut self, row: u32, column: u32, text: String, look: Look) -> Result<(), OfficeError> {
        if row > LAST_ROW || column > LAST_COLUMN {
            return Err(OfficeError::Broken);
        }
        if text.is_empty() {
            return Ok(());
        }
        self.room.take(text.len())?;
        let named = |columns: &Vec<(u32, u32)>| columns.iter().any(|(first, last)| (*first..=*last).contains(&column));
        let header = look.header || self.frame.headers.get(&row).is_some_and(named);
        let cell = Cell { column, text, bold: look.bold, header, shade: look.shade };
        match self.rows.last_mut() {
            Some(last) if last.number == row => last.cells.push(cell),
            _ => self.rows.push(Row { number: row, cells: vec![cell] }),
        }
        Ok(())
    }

    /// The ordered rows; the last of several cells at one place counts.
    pub(super) fn finish(mut self) -> Vec<Row> {
        self.rows.sort_by_key(|row| row.number);
        let mut rows: Vec<Row> = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            match rows.last_mut() {
                Some(last) if last.number == row.number => last.cells.extend(row.cells),
                _ => rows.push(row),
            }
        }
        for row in &mut rows {
            row.cells.sort_by_key(|cell| cell.column);
            row.cells.dedup_by_key(|cell| cell.column);
        }
        mark_frozen(&mut rows, self.frame.frozen);
        rows
    }
}

/// The last frozen row with several cells names the columns.
fn mark_frozen(rows: &mut [Row], frozen: u32) {
    let named = rows.iter().any(|row| row.cells.iter().any(|cell| cell.header));
    let last = rows.iter_mut().take_while(|row| row.number < frozen).filter(|row| row.cells.len() > 1).last();
    if let (false, Some(row)) = (named, last) {
        row.cells.iter_mut().for_each(|cell| cell.header = true);
    }
}

/// The look of a cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    pub bold: bool,
    /// Whether the sheet marks the cell as a header.
    pub header: bool,
    pub shade: Option<Arc<str>>,
    pub code: Option<Arc<str>>,
}

impl Look {
    fn of(style: &Style) -> Self {
        let fill = style.fill.as_ref().filter(|fill| fill.is_visible()).and_then(calamine::Fill::get_color);
        let shade = fill.filter(|color| !color.is_white()).map(|color| Arc::from(format!("{:08x}", color.to_argb())));
        let code = style.number_format.as_ref().map(|format| format.format_code.as_str());
        let code = code.filter(|code| code.len() <= LONGEST_CODE).map(Arc::from);
        Self { bold: style.font.as_ref().is_some_and(calamine::Font::is_bold), header: false, shade, code }
    }
}

fn read_xlsx(
    mut book: Xlsx<Watched<Bytes<'_>>>,
    frames: &HashMap<String, SheetMeta>,
    mut sheets: Sheets,
) -> Result<Document, OfficeError> {
    let none = SheetMeta::default();
    let mut looks: Vec<Look> = Vec::new();
    for name in visible(book.sheets_metadata()) {
        let frame = frames.get(&name).unwrap_or(&none);
        let mut sheet = Sheet { rows: Vec::new(), frame, room: &mut sheets.room };
        let mut cells = book.worksheet_cells_reader(&name).map_err(calamine::Error::Xlsx)?;
        if looks.is_empty() {
            looks = cells.styles().iter().map(Look::of).collect();
        }
        while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(calamine::Error::Xlsx)? {
            let look = looks.get(style).cloned().unwrap_or_default();
            let text = shown(cell.get_value(), look.code.as_deref());
            let (row, column) = cell.get_position();
            sheet.add(row, column, &text, look)?;
        }
        let rows = sheet.finish();
        sheets.add(&name, rows, frame);
    }
    Ok(sheets.document)
}

fn read_xlsb(mut book: Xlsb<Watched<Bytes<'_>>>, mut sheets: Sheets) -> Result<Document, OfficeError> {
    let frame = SheetMeta::default();
    for name in visible(book.sheets_metadata()) {
        let mut sheet = Sheet { rows: Vec::new(), frame: &frame, room: &mut sheets.room };
        let mut cells = book.worksheet_cells_reader(&name).map_err(calamine::Error::Xlsb)?;
        while let Some(cell) = cells.next_cell().map_err(calamine::Error::Xlsb)? {
            let (row, column) = cell.get_position();
            sheet.add(row, column, &shown(cell.get_value(), None), Look::default())?;
        }
        let rows = sheet.finish();
        sheets.add(&name, rows, &frame);
    }
    Ok(sheets.document)
}

fn read_xls(mut book: Xls<Bytes<'_>>, mut sheets: Sheets) -> Result<Document, OfficeError> {
    for name in visible(book.sheets_metadata()) {
        let areas = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let frame = SheetMeta { merged: merged(&areas), ..SheetMeta::default() };
        let range = book.worksheet_range(&name).map_err(calamine::Error::Xls)?;
        sheets.add_range(&name, &range, &frame)?;
    }
    Ok(sheets.document)
}

fn visible(sheets: &[calamine::Sheet]) -> Vec<String> {
    let shown = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet;
    sheets.iter().filter(shown).map(|sheet| sheet.name.clone()).collect()
}

fn merged(areas: &[Dimensions]) -> Merged {
    let span = |area: &Dimensions| {
        (area.end.0.saturating_sub(area.start.0) + 1, (area.end.1.saturating_sub(area.start.1) + 1).min(WIDEST_MERGED))
    };
    areas.iter().take(MOST_MERGED).map(|area| (area.start, span(area))).collect()
}

/// The sheets so far.
pub(super) struct Sheets {
    pub document: Document,
    pub room: Room,
    /// What the tables may still use.
    layout: layout::Room,
}

impl Sheets {
    fn within(room: Room) -> Self {
        let mut layout = layout::Room::default();
        layout.cancel.clone_from(&room.cancel);
        Self { document: Document::default(), room, layout }
    }

    fn add_range(&mut self, name: &str, range: &Range<Data>, frame: &SheetMeta) -> Result<(), OfficeError> {
        let mut sheet = Sheet { rows: Vec::new(), frame, room: &mut self.room };
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let text = shown(&borrowed(value), None);
            sheet.add(top + row as u32, left + column as u32, &text, Look::default())?;
        }
        let rows = sheet.finish();
        self.add(name, rows, frame);
        Ok(())
    }

    pub(super) fn add(&mut self, name: &str, rows: Vec<Row>, frame: &SheetMeta) {
        if rows.is_empty() {
            return;
        }
        self.document.blocks.push(Block::Heading { level: 1, text: clean_line(name) });
        let first = self.document.blocks.len();
        let links = frame.links.iter().take(MOST_LINKS);
        let texts: Vec<Option<String>> = links.map(|((row, column), _)| text_at(&rows, *row, *column)).collect();
        let placed = lay_out(rows, &frame.merged, &mut self.layout);
        let blocks = blocks_of(&frame.links[..texts.len()], &placed);
        for (((_, target), text), at) in frame.links.iter().zip(texts).zip(blocks) {
            if let (Some(text), Some(at)) = (text, at) {
                self.document.links.push(Link { block: first + at, text, target: target.clone() });
            }
        }
        self.document.blocks.extend(placed.into_iter().map(|placed| placed.block));
    }
}

/// For each link the first block that covers its cell.
fn blocks_of(links: &[((u32, u32), String)], placed: &[Placed]) -> Vec<Option<usize>> {
    let mut by_row: Vec<usize> = (0..links.len()).collect();
    by_row.sort_by_key(|link| links[*link].0.0);
    let mut blocks = vec![None; links.len()];
    for (at, placed) in placed.iter().enumerate() {
        let from = by_row.partition_point(|link| links[*link].0.0 < placed.rows.start);
        let within = by_row[from..].iter().take_while(|link| links[**link].0.0 < placed.rows.end);
        for link in within.filter(|link| placed.columns.contains(&links[**link].0.1)) {
            blocks[*link] = blocks[*link].or(Some(at));
        }
    }
    blocks
}

fn text_at(rows: &[Row], row: u32, column: u32) -> Option<String> {
    let row = &rows[rows.binary_search_by_key(&row, |row| row.number).ok()?];
    let at = row.cells.binary_search_by_key(&column, |cell| cell.column).ok()?;
    Some(row.cells[at].text.clone())
}

fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(value) => DataRef::Int(*value),
        Data::Float(value) => DataRef::Float(*value),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(value) => DataRef::DateTime(*value),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// A value as the sheet shows it.
fn shown(value: &DataRef<'_>, code: Option<&str>) -> String {
    match value {
        DataRef::Int(value) => number(*value as f64, code.unwrap_or("General")),
        DataRef::Float(value) => number(*value, code.unwrap_or("General")),
        DataRef::String(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::DateTimeIso(text) => iso(text),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(true) => "TRUE".to_owned(),
        DataRef::Bool(false) => "FALSE".to_owned(),
        DataRef::DateTime(value) => shown_date(value, code),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn shown_date(value: &ExcelDateTime, code: Option<&str>) -> String {
    let days = value.as_f64();
    // Spreadsheets show a number outside their range of dates.
    if !(0.0..2_958_466.0).contains(&days) && !value.is_duration() {
        return general(days);
    }
    let code = if value.is_duration() { Some(code.unwrap_or("[h]:mm:ss")) } else { code };
    date(value.to_ymd_hms_milli().into(), days, code)
}

/// `2024-03-15T00:00:00` is a day.
pub(super) fn iso(text: &str) -> String {
    match text.split_once('T') {
        Some((date, time)) if time.trim_end_matches(['0', ':', '.', 'Z']).is_empty() => date.to_owned(),
        Some((date, time)) => format!("{date} {}", time.strip_suffix(":00").unwrap_or(time)),
        None => text.to_owned(),
    }
}
