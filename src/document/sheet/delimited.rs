//! Delimited text (CSV, TSV).
//!
//! Takes text; gives a [`Document`] with one table and the remarks above it; a single column without a name is a list.
//! The delimiter is the one that splits the first records most evenly, not the most frequent one: German numbers are
//! full of commas.
//! Invariants: records are read one by one; every field's text is kept; rows are as wide as the widest record.

use std::ops::ControlFlow;

use csv::{ByteRecord, ReaderBuilder};

use super::super::package::OfficeError;
use super::super::{Block, Document, List, ListItem, Table};
use ragonite_base::{CancelToken, clean_line};

/// Delimiters, those rarer in prose and numbers first.
const DELIMITERS: &[u8] = b"\t;|,";
/// Bytes and records used to detect delimiter and header.
const LOOK: usize = 64 << 10;
const SAMPLE: usize = 200;
/// Maximum characters of a column name.
const LONGEST_NAME: usize = 80;
/// Maximum of fields in a record.
const WIDEST: usize = 4_096;
/// Records between two checks for cancellation.
const STEP: usize = 1_024;
/// Maximum of table places, padding of short records included.
const MOST_PLACES: usize = 16_000_000;

/// Reads delimited text.
pub(in super::super) fn read_delimited(text: &str, cancel: &CancelToken) -> Result<Document, OfficeError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (named, text) = named_delimiter(text);
    let (remarks, body) = leading_remarks(text);
    let delimiter = named.unwrap_or_else(|| find_delimiter(body));
    let mut records: Vec<Vec<String>> = Vec::new();
    let mut places = 0;
    let mut seen = 0_usize;
    each_record(body, delimiter, |record| {
        seen += 1;
        if seen.is_multiple_of(STEP) && cancel.is_canceled() {
            return ControlFlow::Break(());
        }
        let fields: Vec<String> =
            record.iter().take(WIDEST).map(|field| clean_line(&String::from_utf8_lossy(field))).collect();
        if fields.iter().any(|field| !field.is_empty()) {
            places += fields.len();
            records.push(fields);
        }
        if places <= MOST_PLACES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    cancel.check()?;
    let mut document = Document::default();
    let usual = usual_width(&records);
    // Lines above the table that are not split like it: its title or notes of the export.
    let above = if usual > 1 { records.iter().take_while(|record| filled(record) < 2).count() } else { 0 };
    let titles: Vec<String> = records.drain(..above).flatten().filter(|field| !field.is_empty()).collect();
    if !remarks.is_empty() {
        document.blocks.push(Block::Text(remarks.join("\n")));
    }
    if records.is_empty() {
        document.blocks.extend(titles.into_iter().map(Block::Text));
    } else if usual < 2 && !has_header(&records) {
        document.blocks.push(lines(records));
    } else {
        document.blocks.push(Block::Table(table(records, titles)?));
    }
    Ok(document)
}

/// A single unnamed column becomes a list, because a table would only say `Column 1` for each row.
fn lines(records: Vec<Vec<String>>) -> Block {
    let fields = records.into_iter().flatten().filter(|field| !field.is_empty());
    let mut items: Vec<ListItem> = fields.map(|text| ListItem { text, nested: Vec::new() }).collect();
    match items.pop() {
        Some(only) if items.is_empty() => Block::Text(only.text),
        last => {
            items.extend(last);
            Block::List(List { items, ..List::default() })
        }
    }
}

fn table(mut records: Vec<Vec<String>>, titles: Vec<String>) -> Result<Table, OfficeError> {
    let header = if has_header(&records) { records.remove(0) } else { Vec::new() };
    let width = records.iter().map(Vec::len).max().unwrap_or(0).max(header.len());
    if width.saturating_mul(records.len()) > MOST_PLACES {
        return Err(OfficeError::TooManyCells { limit: MOST_PLACES });
    }
    let mut used = vec![false; width];
    for record in std::iter::once(&header).chain(&records) {
        for (seen, field) in used.iter_mut().zip(record) {
            *seen |= !field.is_empty();
        }
    }
    let narrow = |mut record: Vec<String>| {
        record.resize(width, String::new());
        let mut seen = used.iter();
        record.retain(|_| seen.next().copied().unwrap_or(true));
        record
    };
    let caption = titles.join(" / ");
    Ok(Table {
        caption: (!caption.is_empty()).then_some(caption),
        header: if header.is_empty() { header } else { narrow(header) },
        rows: records.into_iter().map(narrow).collect(),
        ..Table::default()
    })
}

/// The delimiter of a first line `sep=;`, as spreadsheets write it, and the rest.
fn named_delimiter(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    match line.trim_end_matches('\r').strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

/// Lines above the table that start with `#`, and the rest. The last of them is the header if it is split like the
/// table.
fn leading_remarks(text: &str) -> (Vec<String>, &str) {
    let mut remarks = Vec::new();
    let mut rest = text;
    while let Some(line) = rest.strip_prefix('#') {
        let (line, after) = line.split_once('\n').unwrap_or((line, ""));
        let fields =
            |line: &str| DELIMITERS.iter().map(|delimiter| line.bytes().filter(|byte| byte == delimiter).count()).max();
        let next = after.lines().next().unwrap_or_default();
        if !next.starts_with('#') && fields(line) > Some(0) && fields(line) == fields(next) {
            break;
        }
        remarks.push(clean_line(line));
        rest = after;
    }
    remarks.retain(|remark| !remark.is_empty());
    (remarks, rest)
}

/// Passes records to `visit` until it stops.
fn each_record(
    text: &str,
    delimiter: u8,
    mut visit: impl FnMut(&ByteRecord) -> ControlFlow<()>,
) -> Result<(), OfficeError> {
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(OfficeError::Records)? {
        if visit(&record).is_break() {
            return Err(OfficeError::TooManyCells { limit: MOST_PLACES });
        }
    }
    Ok(())
}

/// The delimiter that splits the first records most evenly.
fn find_delimiter(text: &str) -> u8 {
    let mut end = text.len().min(LOOK);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let look = &text[..end];
    let mut best = (0.0, b',');
    for delimiter in DELIMITERS {
        let mut widths = Vec::new();
        let _ = each_record(look, *delimiter, |record| {
            widths.push(record.len());
            if widths.len() < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if end < text.len() && widths.len() > 1 {
            // The last record may be cut off.
            widths.pop();
        }
        let evenness = evenness(&widths);
        if evenness > best.0 {
            best = (evenness, *delimiter);
        }
    }
    best.1
}

/// Share of records with the usual number of fields; 0 for one field.
fn evenness(widths: &[usize]) -> f64 {
    let usual = most_frequent(widths.iter().copied().filter(|width| *width > 1));
    let like = widths.iter().filter(|width| Some(**width) == usual).count();
    if usual.is_none() { 0.0 } else { like as f64 / widths.len() as f64 }
}

fn most_frequent(widths: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts = std::collections::BTreeMap::new();
    for width in widths {
        *counts.entry(width).or_insert(0usize) += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(width, _)| width)
}

fn usual_width(records: &[Vec<String>]) -> usize {
    most_frequent(records.iter().take(SAMPLE).map(Vec::len)).unwrap_or(0)
}

fn filled(record: &[String]) -> usize {
    record.iter().filter(|field| !field.is_empty()).count()
}

/// Whether the first record names the columns: short different words that are not values like those below.
fn has_header(records: &[Vec<String>]) -> bool {
    let [first, rest @ ..] = records else { return false };
    if rest.is_empty() || filled(first) == 0 {
        return false;
    }
    let rest = &rest[..rest.len().min(SAMPLE)];
    let values_below = |column: usize| {
        let mut below =
            rest.iter().filter_map(|record| record.get(column)).filter(|field| !field.is_empty()).peekable();
        below.peek().is_some() && below.all(|field| is_value(field))
    };
    let mut texts = 0;
    let mut tells = false;
    for (column, name) in first.iter().enumerate() {
        let empty = name.is_empty();
        // The first column of an exported index has no name.
        if (empty && column > 0 && column + 1 < first.len()) || name.chars().count() > LONGEST_NAME {
            return false;
        }
        if !empty && first[..column].contains(name) {
            return false;
        }
        if is_value(name) {
            let is_year = name.len() == 4 && matches!(name.get(..2), Some("19" | "20"));
            if !is_year || rest.iter().any(|record| record.get(column) == Some(name)) {
                return false;
            }
        } else if !empty {
            texts += 1;
            tells |= values_below(column);
        }
    }
    // In a single column only a change from words to values decides.
    texts > 0 && (first.len() > 1 || tells)
}

/// Whether a field is a number, a date, a measure or a switch.
fn is_value(text: &str) -> bool {
    let start = text.trim_start_matches(['-', '+', '<', '>', '~', '±', '$', '€', '£', '(', ' ']);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let is_switch = matches!(text.to_lowercase().as_str(), "true" | "false" | "wahr" | "falsch");
    is_switch || (start.starts_with(|c: char| c.is_ascii_digit()) && digits >= letters)
}
