//! File -> [`Document`].

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::format::Format;
use super::markup::Dialect;
use super::page::Envelope;
use super::{Block, Document, DocumentError, OfficeError, docx, html, markdown, sheet};
use crate::base::{clean_line, clean_text};

/// The largest file that is read, in bytes. Everything is parsed in memory, at several times its size.
pub const LARGEST_FILE: u64 = 64 << 20;

/// Windows-1252 where it differs from Latin-1; zero where it has no character.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

/// What a file holds: one document, or one of several where the file is an archive, a mailbox or an export.
#[derive(Debug)]
pub struct Member {
    /// Its name inside the file; none where the file is the document.
    pub name: Option<String>,
    /// The document, or why it cannot be read.
    pub content: Result<Document, DocumentError>,
}

/// Reads a file and hands out what it holds, one document at a time, until `visit` breaks off.
///
/// # Errors
/// Where the file as a whole cannot be read; a bad member is handed out as such and does not end the reading.
pub fn read(path: &Path, visit: &mut dyn FnMut(Member) -> ControlFlow<()>) -> Result<(), DocumentError> {
    let document = load(path)?;
    let _ = visit(Member { name: None, content: Ok(document) });
    Ok(())
}

/// Reads and parses a file.
///
/// # Errors
/// Where the file cannot be read, is too large, is in no known format or holds no text.
pub fn load(path: &Path) -> Result<Document, DocumentError> {
    let failed = |source| DocumentError::Read { path: path.to_owned(), source };
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > LARGEST_FILE {
        return Err(DocumentError::TooLarge { path: path.to_owned(), bytes, limit: LARGEST_FILE });
    }
    parse(path, &fs::read(path).map_err(failed)?)
}

/// Parses a file's content; `name` tells the format where the content does not, and the title where nothing else does.
///
/// # Errors
/// As [`load`].
pub fn parse(name: &Path, bytes: &[u8]) -> Result<Document, DocumentError> {
    let unknown = || DocumentError::UnknownFormat { path: name.to_owned() };
    let mut document = match office(name, bytes) {
        Some(read) => read.map_err(|source| DocumentError::Office { path: name.to_owned(), source })?,
        None => read_text(name, &decode(bytes).ok_or_else(unknown)?)?,
    };
    if document.blocks.is_empty() {
        return Err(DocumentError::Empty { path: name.to_owned() });
    }
    if document.title.is_empty() {
        let stem = name.file_stem().unwrap_or(name.as_os_str());
        document.title = clean_line(&stem.to_string_lossy());
    }
    drop_title_heading(&mut document);
    Ok(document)
}

/// Reads a Word file or a spreadsheet; nothing where the name promises neither.
fn office(name: &Path, bytes: &[u8]) -> Option<Result<Document, OfficeError>> {
    let ending = name.extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "docx" | "docm" | "dotx" | "dotm" => docx::read(bytes),
        "xlsx" | "xlsm" | "xltx" | "xlsb" | "xls" | "ods" => sheet::read_workbook(bytes),
        "csv" | "tsv" | "tab" => sheet::read_delimited(&decode(bytes)?),
        _ => return None,
    })
}

fn read_text(name: &Path, text: &str) -> Result<Document, DocumentError> {
    let unknown = || DocumentError::UnknownFormat { path: name.to_owned() };
    Ok(match Format::of(name, text).ok_or_else(unknown)? {
        Format::Html => html::read_page(text),
        Format::Confluence => Document { blocks: html::read_fragment(text, Dialect::Storage), ..Document::default() },
        Format::Markdown => markdown::read(text),
        Format::Json => {
            let page = Envelope::read(text);
            page.map_err(|source| DocumentError::NoPage { path: name.to_owned(), source })?.into_document()
        }
        Format::Text => Document { blocks: paragraphs(text), ..Document::default() },
    })
}

/// A first heading that says the title again is no section of the page.
fn drop_title_heading(document: &mut Document) {
    let says_title = |block: &Block| matches!(block, Block::Heading { level: 1, text } if *text == document.title);
    if document.blocks.len() > 1 && document.blocks.first().is_some_and(says_title) {
        document.blocks.remove(0);
        document.links.iter_mut().for_each(|link| link.block = link.block.saturating_sub(1));
    }
}

/// Text split at empty lines.
pub(super) fn paragraphs(text: &str) -> Vec<Block> {
    let text = clean_text(&text.replace("\r\n", "\n").replace('\r', "\n"));
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines().map(str::trim_end) {
        match (line.is_empty(), paragraphs.last_mut()) {
            (true, _) => open = false,
            (false, Some(paragraph)) if open => {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            (false, _) => {
                paragraphs.push(line.to_owned());
                open = true;
            }
        }
    }
    paragraphs.into_iter().map(Block::Text).collect()
}

/// Bytes as text; nothing for a binary file.
fn decode(bytes: &[u8]) -> Option<String> {
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Some(decode_wide(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Some(decode_wide(rest, u16::from_be_bytes));
    }
    if bytes.starts_with(b"%PDF") || bytes.starts_with(b"PK\x03\x04") || bytes.contains(&0) {
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Some(match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| windows_1252(*byte)).collect(),
    })
}

fn decode_wide(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => match WINDOWS_1252[usize::from(byte - 0x80)] {
            0 => char::REPLACEMENT_CHARACTER,
            code => char::from_u32(code.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
        },
        _ => char::from(byte),
    }
}
