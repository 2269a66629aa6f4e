//! Resource preflight of XLSX and XLSB packages: refuses one that claims more than it holds.
//!
//! Takes the package before its reader does. The reader trusts the number of shared strings, copies fonts and format
//! codes into every cell format, and takes the text of a short binary record from remains of a longer earlier one.
//! Invariants: in an accepted package, the reader's lists are bounded by a few times the parts' size, and no list has
//! more than [`MOST_STRINGS`] entries.
//! Not here: cells, which are counted while they are read (`workbook`).

use quick_xml::Reader;
use quick_xml::events::Event;

use super::super::package::{OfficeError, Package, Relation};
use ragonite_base::{CancelToken, Canceled};

/// Maximum of shared strings of one file, as many as cells.
const MOST_STRINGS: usize = 4_000_000;
/// Maximum of bytes of all cell formats, and of references to names.
const MOST_COPIED: usize = 256 << 20;
/// Maximum of elements of the styles part. Excel stops at 64,000 cell formats.
const MOST_STYLES: usize = 1_000_000;
/// Bytes of a cell format without texts.
const FORMAT: usize = 512;
/// Maximum of bytes of a binary record: a cell's text has at most 32,767 characters.
const LONGEST_RECORD: usize = 1 << 20;
/// Maximum of bytes of the formula behind a name.
const LONGEST_NAME: usize = 64 << 10;
/// Maximum of sheets.
pub(super) const MOST_SHEETS: usize = 10_000;
/// XML events between two checks for cancellation.
const STEP: usize = 4_096;
/// Bytes of the shortest reference to a name.
const REFERENCE: usize = 5;

/// Checks the parts that an XLSX reader loads into memory.
pub(super) fn check_xlsx(package: &mut Package<'_>) -> Result<(), OfficeError> {
    const WORKBOOK: &str = "xl/workbook.xml";
    let main =
        |relation: &Relation| relation.kind == "officeDocument" && !relation.target.eq_ignore_ascii_case(WORKBOOK);
    if package.relations("")?.values().any(main) {
        return Err(OfficeError::Missing { part: WORKBOOK.to_owned() });
    }
    for part in package.ending("sharedstrings.xml") {
        let text = package.text_at(part)?;
        let weight = |name: &str, claimed: usize| match name {
            "sst" => claimed.max(1),
            "si" => 1,
            _ => 0,
        };
        let strings = count(&text, weight, &package.cancel)?;
        if strings > MOST_STRINGS + 1 {
            return Err(OfficeError::TooManyCells { limit: MOST_STRINGS });
        }
    }
    for part in package.ending("styles.xml") {
        let text = package.text_at(part)?;
        let longest = text.split('>').map(str::len).max().unwrap_or(0);
        let formats = count(&text, |name, _| usize::from(name == "xf"), &package.cancel)?;
        let all = count(&text, |_, _| 1, &package.cancel)?;
        if all > MOST_STYLES || formats.saturating_mul(FORMAT + longest) > MOST_COPIED {
            return Err(OfficeError::Broken);
        }
    }
    Ok(())
}

/// The sum of the weights of all elements, by name and claimed count. Damage ends the walk, as it ends the reader's.
fn count(text: &str, weight: impl Fn(&str, usize) -> usize, cancel: &CancelToken) -> Result<usize, Canceled> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut sum = 0usize;
    let mut events = 0_usize;
    while let Ok(event) = reader.read_event() {
        if events.is_multiple_of(STEP) {
            cancel.check()?;
        }
        events += 1;
        let tag = match event {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => break,
            _ => continue,
        };
        let mut claimed = 0;
        for attribute in tag.attributes().with_checks(false).flatten() {
            if attribute.key.as_ref() == "uniqueCount" {
                claimed = claimed.max(attribute.value.trim().parse().unwrap_or(0));
            }
        }
        sum = sum.saturating_add(weight(tag.local_name().as_ref(), claimed));
    }
    Ok(sum)
}

/// Checks the binary parts of an XLSB package.
pub(super) fn check_xlsb(package: &mut Package<'_>) -> Result<(), OfficeError> {
    for part in package.ending("sharedstrings.bin") {
        check_strings(&package.bytes_at(part)?)?;
    }
    for part in package.ending("styles.bin") {
        for record in records(&package.bytes_at(part)?) {
            let (kind, data) = record?;
            if kind == 0x002c && !holds_text(data, 2) {
                return Err(OfficeError::Broken);
            }
        }
    }
    for part in package.ending("workbook.bin") {
        check_names(&package.bytes_at(part)?)?;
    }
    for part in package.inside("xl/worksheets/") {
        for record in records(&package.bytes_at(part)?) {
            record?;
        }
    }
    Ok(())
}

fn check_strings(bytes: &[u8]) -> Result<(), OfficeError> {
    let mut strings = 0;
    for record in records(bytes) {
        let (kind, data) = record?;
        if kind == 0x0013 {
            strings += 1;
            if !holds_text(data, 1) {
                return Err(OfficeError::Broken);
            }
        }
        if strings > MOST_STRINGS {
            return Err(OfficeError::TooManyCells { limit: MOST_STRINGS });
        }
    }
    Ok(())
}

/// Names of sheets and ranges are copied into every reference.
fn check_names(bytes: &[u8]) -> Result<(), OfficeError> {
    let (mut sheets, mut longest, mut references) = (0, 0, 0usize);
    for record in records(bytes) {
        let (kind, data) = record?;
        match kind {
            0x009c => {
                sheets += 1;
                longest = longest.max(data.len());
            }
            0x0027 => {
                if data.len() > LONGEST_NAME {
                    return Err(OfficeError::Broken);
                }
                longest = longest.max(data.len());
                references += data.len() / REFERENCE;
            }
            0x016a => {
                let sheets = number(data, 0).ok_or(OfficeError::Broken)?;
                if sheets.saturating_mul(12).saturating_add(4) > data.len() {
                    return Err(OfficeError::Broken);
                }
                references += sheets;
            }
            _ => {}
        }
    }
    if sheets > MOST_SHEETS || references.saturating_mul(2 * longest) > 4 * MOST_COPIED {
        return Err(OfficeError::Broken);
    }
    Ok(())
}

/// Whether the text at a position of a record ends within it.
fn holds_text(data: &[u8], at: usize) -> bool {
    number(data, at).is_some_and(|length| length.saturating_mul(2).saturating_add(at + 4) <= data.len())
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    four.try_into().ok().map(|four| u32::from_le_bytes(four) as usize)
}

/// The records of a part up to the first damage; an error for an implausible one.
fn records(bytes: &[u8]) -> impl Iterator<Item = Result<(u16, &[u8]), OfficeError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let Head { kind, length, start } = head(rest)?;
        if length > LONGEST_RECORD {
            rest = &[];
            return Some(Err(OfficeError::Broken));
        }
        let data = rest.get(start..start + length)?;
        rest = &rest[start + length..];
        Some(Ok((kind, data)))
    })
}

/// The head of a binary record.
struct Head {
    kind: u16,
    /// Bytes of the data.
    length: usize,
    /// Position of the data.
    start: usize,
}

/// Parses the head of the next record. Kind and length have seven bits per byte.
fn head(bytes: &[u8]) -> Option<Head> {
    let mut at = 0;
    let mut next = || {
        at += 1;
        bytes.get(at - 1).copied()
    };
    let first = next()?;
    let high = if first & 0x80 == 0 { 0 } else { next()? & 0x7f };
    let kind = u16::from(first & 0x7f) | u16::from(high) << 7;
    let mut length = 0;
    for place in 0..4 {
        let byte = next()?;
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(Head { kind, length, start: at })
}
