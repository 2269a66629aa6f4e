//! Resource preflight of XLS workbooks: bounds the memory of reading one.
//!
//! Takes the bytes of a compound file, gives bytes that are safe to read. The reader trusts a record's claim about the
//! size of its sheet, lays every sheet out as a full grid, writes out each formula and copies shared strings into each
//! cell: a file of 5 KB can ask for 100 GB. The records are walked as the reader does: first those of the workbook,
//! then those of each sheet, from the position that the workbook gives. Claimed sheet sizes and formulas, whose results
//! stand beside them, are cut.
//! Invariants: accepted bytes are read in at most [`MOST_MEMORY`] bytes and by one walk over the stream; no cell is
//! lost.
//! Not here: finding the stream (`compound`), reading it (`workbook`).

use super::super::package::OfficeError;
use super::compound::{self, Stream};

/// Maximum memory of reading, in bytes. A grid of 65,536 rows and 256 columns, twice, is just below.
const MOST_MEMORY: usize = 850 << 20;
/// Maximum of sheets.
const MOST_SHEETS: usize = 10_000;
/// Maximum of continuation records of one record; the reader moves the rest of them with each one.
const MOST_CONTINUED: usize = 32 << 10;

// Bytes of memory per item.
const PLACE: usize = 24;
/// A cell before it is placed, in a list that doubles.
const CELL: usize = 96;
/// A cut formula, which leaves a message.
const FORMULA: usize = 200;
/// A text without its letters.
const TEXT: usize = 48;
const MERGED: usize = 100;
const NAME: usize = 200;

const CONTINUE: u16 = 0x003c;
const START: u16 = 0x0809;
const END: u16 = 0x000a;

/// The bytes of a workbook that can be read in bounded memory.
pub(super) fn bounded(bytes: &[u8]) -> Result<Vec<u8>, OfficeError> {
    let size = compound::sector_size(bytes).ok_or(OfficeError::Broken)?;
    let mut bytes = bytes.to_vec();
    // The reader's result for half a sector would depend on earlier data.
    bytes.resize(bytes.len().next_multiple_of(size), 0);
    let mut book = compound::workbook(&bytes).ok_or(OfficeError::Broken)?;
    for at in Walk::over(&book.data)?.needless {
        clear(&mut bytes, &mut book, at);
    }
    let walk = Walk::over(&book.data)?;
    if walk.needed() > MOST_MEMORY {
        return Err(OfficeError::TooMuchMemory { limit: MOST_MEMORY });
    }
    Ok(bytes)
}

fn clear(bytes: &mut [u8], book: &mut Stream, at: usize) {
    if let Some(byte) = book.place(at).and_then(|place| bytes.get_mut(place)) {
        *byte = 0;
    }
    if let Some(byte) = book.data.get_mut(at) {
        *byte = 0;
    }
}

/// A record and those that continue it.
struct Record<'a> {
    kind: u16,
    /// Position of its data.
    at: usize,
    data: &'a [u8],
    more: Vec<&'a [u8]>,
}

impl Record<'_> {
    fn short(&self, at: usize) -> Option<usize> {
        short(self.data, at)
    }

    /// Row and column of a cell, if the record is long enough for its kind.
    fn cell(&self, least: usize) -> Option<(usize, usize)> {
        (self.data.len() >= least).then_some((self.short(0)?, self.short(2)?))
    }
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    Some(short(bytes, at)? | short(bytes, at + 2)? << 16)
}

/// The records of a stream from a position on, up to the first damage.
struct Records<'a> {
    stream: &'a [u8],
    at: usize,
}

/// A record without those that continue it.
struct PlainRecord<'a> {
    kind: u16,
    /// Position of its data in the stream.
    at: usize,
    data: &'a [u8],
}

impl<'a> Records<'a> {
    fn next_plain(&mut self) -> Option<PlainRecord<'a>> {
        let kind = short(self.stream, self.at)? as u16;
        let start = self.at + 4;
        let end = start + short(self.stream, self.at + 2)?;
        let data = self.stream.get(start..end)?;
        self.at = end;
        Some(PlainRecord { kind, at: start, data })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let PlainRecord { kind, at, data } = self.next_plain()?;
        let mut more = Vec::new();
        while self.stream.len() - self.at > 4 && short(self.stream, self.at) == Some(usize::from(CONTINUE)) {
            more.push(self.next_plain()?.data);
        }
        Some(Record { kind, at, data, more })
    }
}

/// The result of the walk.
struct Walk {
    /// Bytes that stay allocated until the end.
    kept: usize,
    /// Further bytes of the largest sheet.
    largest: usize,
    /// Positions of bytes to overwrite with 0.
    needless: Vec<usize>,
    /// Bytes that one character may become, compressed or whole.
    packed: usize,
    whole: usize,
    /// Bytes of each shared string.
    shared: Vec<usize>,
}

impl Walk {
    fn over(stream: &[u8]) -> Result<Self, OfficeError> {
        let mut walk = Self { kept: 0, largest: 0, needless: Vec::new(), packed: 2, whole: 3, shared: Vec::new() };
        let sheets = walk.globals(stream)?;
        let mut left = stream.len();
        for sheet in sheets {
            walk.sheet(stream, sheet, &mut left)?;
        }
        Ok(walk)
    }

    fn needed(&self) -> usize {
        self.kept.saturating_add(self.largest)
    }

    fn keep(&mut self, bytes: usize) {
        self.kept = self.kept.saturating_add(bytes);
    }

    /// Positions of the sheets.
    fn globals(&mut self, stream: &[u8]) -> Result<Vec<usize>, OfficeError> {
        let mut sheets = Vec::new();
        let (mut names, mut longest) = (0usize, 0);
        for record in (Records { stream, at: 0 }) {
            if record.more.len() > MOST_CONTINUED {
                return Err(OfficeError::Broken);
            }
            match record.kind {
                END => break,
                // Only in UTF-16 is a compressed character one of the first 256.
                0x0042 if record.short(0) != Some(1_200) => (self.packed, self.whole) = (6, 6),
                0x0085 => {
                    sheets.extend(long(record.data, 0));
                    longest = longest.max(record.data.len());
                }
                0x0018 => {
                    names += 1;
                    self.keep(NAME + 6 * record.data.len());
                }
                0x00fc => {
                    self.shared = self.shared_strings(&record);
                    self.keep(self.shared.iter().map(|length| length + TEXT).fold(0, usize::saturating_add));
                }
                _ => {}
            }
        }
        if sheets.len() > MOST_SHEETS {
            return Err(OfficeError::Broken);
        }
        // A name for a cell range includes the sheet's name.
        self.keep(names.saturating_mul(6 * longest));
        self.keep(sheets.len() * (NAME + 6 * longest));
        Ok(sheets)
    }

    /// Bytes of each shared string, up to where they are damaged.
    fn shared_strings(&self, record: &Record<'_>) -> Vec<usize> {
        let mut strings = Vec::new();
        let mut text = Pieces { now: record.data.get(8..).unwrap_or_default(), more: record.more.iter() };
        while !text.now.is_empty() || text.turn() {
            let Some(length) = self.shared_string(&mut text) else { break };
            strings.push(length);
        }
        strings
    }

    fn shared_string(&self, text: &mut Pieces<'_>) -> Option<usize> {
        if text.now.is_empty() {
            return Some(0);
        }
        let mut left = short(text.now, 0)?;
        let flags = *text.take(3)?.get(2)?;
        let runs = if flags & 8 == 0 { 0 } else { 4 * short(text.take(2)?, 0)? };
        let extra = if flags & 4 == 0 { 0 } else { long(text.take(4)?, 0)? };
        let mut whole = flags & 1 != 0;
        let mut bytes = 0;
        let claimed = left;
        while left > 0 {
            let (width, most) = if whole { (2, self.whole) } else { (1, self.packed) };
            let characters = left.min(text.now.len() / width);
            text.take(characters * width)?;
            bytes += characters * most;
            left -= characters;
            if left > 0 {
                text.turn().then_some(())?;
                whole = text.take(1)?[0] & 1 != 0;
            }
        }
        text.skip(runs)?;
        text.skip(extra)?;
        Some(bytes.max(claimed))
    }

    fn sheet(&mut self, stream: &[u8], from: usize, left: &mut usize) -> Result<(), OfficeError> {
        let mut sheet = Sheet::default();
        let mut before = from;
        let mut records = Records { stream, at: from };
        while let Some(record) = records.next() {
            // Overlapping sheets would be walked repeatedly.
            *left = left.checked_sub(records.at - before).ok_or(OfficeError::Broken)?;
            before = records.at;
            if sheet.is_inside(record.kind) {
                continue;
            }
            if record.kind == END {
                break;
            }
            self.add(&mut sheet, &record)?;
        }
        let values = sheet.values.area().saturating_mul(PLACE);
        self.keep(values.saturating_add(sheet.formulas.area().saturating_mul(PLACE)));
        self.keep(sheet.texts.saturating_mul(2).saturating_add(sheet.kept));
        // First the unplaced cells, then a copy of the grid.
        self.largest = self.largest.max((sheet.cells.saturating_mul(CELL)).max(values.saturating_add(sheet.texts)));
        Ok(())
    }

    fn add(&mut self, sheet: &mut Sheet, record: &Record<'_>) -> Result<(), OfficeError> {
        match record.kind {
            0x0200 => {
                let last_row = if record.data.len() == 10 { 2..4 } else { 4..8 };
                self.needless
                    .extend(last_row.map(|at| record.at + at).filter(|at| *at < record.at + record.data.len()));
            }
            0x0203 => sheet.add(record.cell(14)),
            0x0204 | 0x00d6 => {
                sheet.add(record.cell(6));
                sheet.text(self.text(record.data.get(6..)));
            }
            0x0205 => sheet.add(record.cell(8)),
            0x0207 => {
                sheet.add(Some(sheet.formula));
                sheet.text(self.text(Some(record.data)));
            }
            0x027e => sheet.add(record.cell(10)),
            0x00fd => {
                sheet.add(record.cell(10));
                sheet.text(long(record.data, 6).and_then(|at| self.shared.get(at)).copied().unwrap_or(0));
            }
            0x00bd => {
                if let Some((row, column)) = record.cell(6) {
                    let last = column + (record.data.len() - 6) / 6;
                    sheet.add(Some((row, column)));
                    sheet.add(Some((row, last)));
                    sheet.cells += last - column;
                }
            }
            0x00e5 => {
                let merged = record.short(0).unwrap_or(0);
                if 2 + merged * 8 > record.data.len() {
                    return Err(OfficeError::Broken);
                }
                sheet.kept += merged * MERGED;
            }
            0x0006 => {
                if let Some((row, column)) = record.cell(20) {
                    sheet.formula = (row, column);
                    sheet.add(Some((row, column)));
                    sheet.formulas.cover(row, column);
                    sheet.kept += FORMULA;
                    self.needless.extend(
                        [record.at + 20, record.at + 21].into_iter().filter(|at| *at < record.at + record.data.len()),
                    );
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of a text in a record of its own.
    fn text(&self, data: Option<&[u8]>) -> usize {
        let data = data.unwrap_or_default();
        let claimed = short(data, 0).unwrap_or(0);
        claimed.max(claimed.min(data.len()) * self.whole)
    }
}

/// The data of a record and of those that continue it.
struct Pieces<'a> {
    now: &'a [u8],
    more: std::slice::Iter<'a, &'a [u8]>,
}

impl<'a> Pieces<'a> {
    fn turn(&mut self) -> bool {
        match self.more.next() {
            Some(next) => self.now = next,
            None => return false,
        }
        true
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.now.split_at_checked(bytes)?;
        self.now = rest;
        Some(taken)
    }

    fn skip(&mut self, mut bytes: usize) -> Option<()> {
        while bytes > 0 {
            if self.now.is_empty() && !self.turn() {
                return None;
            }
            bytes -= self.take(bytes.min(self.now.len()))?.len();
        }
        Some(())
    }
}

/// A sheet so far.
#[derive(Default)]
struct Sheet {
    cells: usize,
    values: Span,
    formulas: Span,
    /// Bytes of the texts in its cells.
    texts: usize,
    /// Bytes for anything else.
    kept: usize,
    /// The last formula, whose text follows it.
    formula: (usize, usize),
    begun: bool,
    /// Charts within charts in the sheet.
    depth: usize,
}

impl Sheet {
    fn add(&mut self, cell: Option<(usize, usize)>) {
        if let Some((row, column)) = cell {
            self.cells += 1;
            self.values.cover(row, column);
        }
    }

    fn text(&mut self, bytes: usize) {
        self.texts = self.texts.saturating_add(bytes + TEXT);
    }

    /// Whether a record belongs to an object inside the sheet, such as a chart.
    fn is_inside(&mut self, kind: u16) -> bool {
        let inside = self.depth > 0;
        match kind {
            START if self.begun => self.depth += 1,
            START => self.begun = true,
            END if inside => self.depth -= 1,
            _ => {}
        }
        inside
    }
}

/// The bounding grid of some cells: first and last row, first and last column.
#[derive(Default)]
struct Span(Option<[usize; 4]>);

impl Span {
    fn cover(&mut self, row: usize, column: usize) {
        let [top, bottom, left, right] = self.0.unwrap_or([row, row, column, column]);
        self.0 = Some([top.min(row), bottom.max(row), left.min(column), right.max(column)]);
    }

    fn area(&self) -> usize {
        self.0.map_or(0, |[top, bottom, left, right]| (bottom - top + 1) * (right - left + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::read_workbook;

    const FLEET: &[u8] = include_bytes!("../../../tests/fixtures/documents/sheets/fleet.xls");

    /// The fixture with other bytes in the data of its first record of a kind.
    fn changed(kind: u16, at: usize, new: &[u8]) -> Vec<u8> {
        let book = compound::workbook(FLEET).unwrap();
        let mut all =
            (Records { stream: &book.data, at: 0 }).map(|record| (record.kind, record.at)).collect::<Vec<_>>();
        // The sheets follow the workbook in the same stream.
        all.retain(|(found, _)| *found == kind);
        let start = all.first().unwrap().1 + at;
        let mut bytes = FLEET.to_vec();
        for (offset, byte) in new.iter().enumerate() {
            bytes[book.place(start + offset).unwrap()] = *byte;
        }
        bytes
    }

    fn document(bytes: &[u8]) -> String {
        format!("{:?}", read_workbook(bytes).unwrap())
    }

    #[test]
    fn what_a_sheet_says_of_its_size_is_not_believed() {
        let huge = [0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 255, 255];
        assert_eq!(document(&changed(0x0200, 0, &huge)), document(FLEET));
    }

    #[test]
    fn a_few_cells_in_the_farthest_corner_are_read() {
        // The last row and column of any sheet.
        let bytes = changed(0x00fd, 0, &[255, 255, 255, 0]);
        let walk = Walk::over(&compound::workbook(&bytes).unwrap().data).unwrap();
        assert!(walk.needed() > 2 * PLACE * 65_000 * 250);
        assert!(bounded(&bytes).is_ok());
    }

    #[test]
    fn cells_beyond_every_sheet_are_refused() {
        let bytes = changed(0x00fd, 0, &[255, 255, 255, 255]);
        assert!(matches!(read_workbook(&bytes), Err(OfficeError::TooMuchMemory { .. })));
    }

    /// A record in a stream.
    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        [kind.to_le_bytes().to_vec(), (data.len() as u16).to_le_bytes().to_vec(), data.to_vec()].concat()
    }

    /// A stream with these records of the workbook and of its only sheet.
    fn stream(globals: &[Vec<u8>], sheet: &[Vec<u8>]) -> Vec<u8> {
        let globals = globals.concat();
        let start = record(START, &[0, 6, 5, 0]);
        let sheet_at = start.len() + globals.len() + 4 + 12 + 4;
        let bound =
            record(0x0085, &[&(sheet_at as u32).to_le_bytes()[..], &[0, 0, 4, 0, b'D', b'a', b't', b'a']].concat());
        [start.clone(), globals, bound, record(END, &[]), start, sheet.concat(), record(END, &[])].concat()
    }

    fn needed(globals: &[Vec<u8>], sheet: &[Vec<u8>]) -> usize {
        Walk::over(&stream(globals, sheet)).unwrap().needed()
    }

    #[test]
    fn a_shared_string_counts_for_each_cell_that_has_it() {
        let long = [&[0; 8][..], &30_000u16.to_le_bytes(), &[0], &vec![b'x'; 8_000]].concat();
        let more = [&[0][..], &vec![b'x'; 22_000]].concat();
        let strings = [record(0x00fc, &long), record(CONTINUE, &more)];
        let cell = record(0x00fd, &[0; 10]);
        assert!(needed(&strings, &vec![cell.clone(); 100]) < MOST_MEMORY);
        assert!(needed(&strings, &vec![cell; 10_000]) > MOST_MEMORY);
    }

    #[test]
    fn letters_that_a_text_claims_count_as_if_they_were_there() {
        let text = record(0x0204, &[0, 0, 0, 0, 0, 0, 255, 255, 0]);
        assert!(needed(&[], &vec![text; 10_000]) > MOST_MEMORY);
    }

    #[test]
    fn cells_of_a_chart_in_a_sheet_do_not_count() {
        let far = record(0x0203, &[&[255; 4][..], &[0; 10]].concat());
        let chart = [record(START, &[0, 6]), far.clone(), record(END, &[])];
        assert!(needed(&[], &chart) < 10_000);
        assert!(needed(&[], &[record(0x0203, &[0; 14]), far]) > MOST_MEMORY);
    }

    #[test]
    fn sheets_that_are_the_same_records_are_refused() {
        let cells = vec![record(0x0203, &[0; 14]); 100];
        assert!(Walk::over(&stream(&[], &cells)).is_ok());
        let bound = |at: u32| record(0x0085, &[&at.to_le_bytes()[..], &[0; 8]].concat());
        let at = 8 + 100 * bound(0).len() + bound(0).len() + 4;
        let again = stream(&vec![bound(at as u32); 100], &cells);
        assert!(matches!(Walk::over(&again), Err(OfficeError::Broken)));
    }

    #[test]
    fn more_merged_cells_than_their_record_holds_are_refused() {
        assert!(Walk::over(&stream(&[], &[record(0x00e5, &[255, 255, 0, 0])])).is_err());
    }
}
