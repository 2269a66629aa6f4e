//! Reads PDF files.
//!
//! Takes the bytes of a file; gives a [`Document`] in reading order with headings, lists, tables, page marks and links.
//! A PDF holds only positioned glyphs, so all structure is inferred from the look of the page:
//!
//! ```text
//! content (glyphs, drawn lines) -> line (words) -> ruled, layout, table (columns, tables)
//!   -> page_layout (reading order) -> running_headers (removed) -> heading (levels) -> blocks
//! ```
//!
//! Invariants: pages, instructions, glyphs and unpacked bytes are bounded; an unreadable page does not affect others.
//! The parser (`hayro`) may panic, so each page is read behind `catch_unwind`.
//! Not here: the file name, which is the title if nothing else is.

mod blocks;
mod content;
mod error;
mod font;
mod heading;
mod layout;
mod line;
mod links;
mod list;
mod page_layout;
mod paragraph;
mod ruled;
mod running_headers;
mod string;
mod table;
mod title;
mod unpack;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use hayro_syntax::object::Array;
use hayro_syntax::object::dict::keys::CONTENTS;
use hayro_syntax::page::Page;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

pub use error::PdfError;

use self::content::{Budget, read_page};
use self::font::Fonts;
use self::heading::Headings;
use self::links::PageLink;
use self::page_layout::PageLayout;
use super::Document;
use ragonite_base::CancelToken;

/// Maximum of pages.
const MOST_PAGES: usize = 20_000;
/// Maximum of characters in a document.
const MOST_LETTERS: usize = 40_000_000;
/// Maximum of links in a document.
const MOST_LINKS: usize = 20_000;
/// Bytes before the end that are searched for the end mark.
const TAIL: usize = 4_096;
/// Maximum time for all pages in seconds. A page takes some milliseconds.
const MOST_SECONDS: usize = 600;

/// Reads a PDF.
///
/// # Errors
/// If it is locked, damaged throughout, has no text, or exceeds a limit.
pub(super) fn read(bytes: &[u8], cancel: &CancelToken) -> Result<Document, PdfError> {
    unpack::check(bytes, cancel)?;
    catch_unwind(AssertUnwindSafe(|| read_file(bytes, cancel))).unwrap_or(Err(PdfError::Broken))
}

fn read_file(bytes: &[u8], cancel: &CancelToken) -> Result<Document, PdfError> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Locked,
        LoadPdfError::Decryption(_) => PdfError::Encryption,
        LoadPdfError::Invalid => PdfError::Broken,
    })?;
    let pages = pdf.pages().len();
    if pages > MOST_PAGES {
        return Err(PdfError::TooLarge { limit: MOST_PAGES, unit: "pages" });
    }
    let (mut sheets, links) = read_pages(pdf.pages(), cancel)?;
    let letters: usize = sheets.iter().map(|sheet| sheet.letters).sum();
    let unknown: usize = sheets.iter().map(|sheet| sheet.unknown).sum();
    if pages == 0 {
        return Err(PdfError::Broken);
    }
    if letters == 0 || unknown * 2 > letters {
        return Err(match () {
            () if !has_end(bytes) || pdf.pages().iter().any(has_lost_content) => PdfError::Incomplete { pages },
            () if letters == 0 => PdfError::NoText { pages },
            () => PdfError::Unreadable,
        });
    }
    cancel.check()?;
    running_headers::remove(&mut sheets);
    cancel.check()?;
    let (title, skip) = title::find(pdf.metadata(), &sheets);
    let headings = Headings::learn(&sheets, &skip);
    let blocks = blocks::compose(&sheets, &headings, &skip, cancel)?;
    let links = links::place(links, &blocks);
    Ok(Document { title, date: title::date(pdf.metadata()), blocks, links, ..Document::default() })
}

/// Whether a file has the end mark of a PDF; a truncated file lacks it, though a repair may still find pages.
fn has_end(bytes: &[u8]) -> bool {
    let end = bytes.iter().rposition(|byte| *byte != 0 && !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let tail = &bytes[end.saturating_sub(TAIL)..end];
    tail.windows(5).any(|five| five == b"%%EOF")
}

/// Whether a page refers to content that is missing or cannot be unpacked. A blank page refers to none.
fn has_lost_content(page: &Page<'_>) -> bool {
    let is_list = || page.raw().get::<Array<'_>>(CONTENTS).is_some_and(|parts| parts.raw_iter().next().is_some());
    page.raw().contains_key(CONTENTS) && page.page_stream().is_none_or(|content| content.is_empty() && is_list())
}

fn read_pages(pages: &[Page<'_>], cancel: &CancelToken) -> Result<(Vec<PageLayout>, Vec<PageLink>), PdfError> {
    let mut fonts = Fonts::new();
    let mut budget = Budget { cancel: cancel.clone(), ..Budget::default() };
    let mut sheets = Vec::with_capacity(pages.len());
    let mut links = Vec::new();
    let mut letters = 0;
    let began = Instant::now();
    for (at, page) in pages.iter().enumerate() {
        cancel.check()?;
        let read = catch_unwind(AssertUnwindSafe(|| {
            let content = read_page(page, &fonts, &mut budget);
            let links = links::on_page(page, at as u32 + 1, &content.glyphs, cancel);
            (page_layout::layout(content), links)
        }));
        let Ok((sheet, found)) = read else {
            tracing::warn!(page = at + 1, "a page of a PDF cannot be read");
            fonts = Fonts::new();
            sheets.push(PageLayout::default());
            continue;
        };
        if began.elapsed().as_secs() > MOST_SECONDS as u64 {
            return Err(PdfError::TooLarge { limit: MOST_SECONDS, unit: "seconds of work" });
        }
        letters += sheet.letters;
        if letters > MOST_LETTERS {
            return Err(PdfError::TooLarge { limit: MOST_LETTERS, unit: "letters" });
        }
        if budget.is_spent() {
            return Err(PdfError::TooLarge { limit: content::MOST_INSTRUCTIONS, unit: "instructions" });
        }
        sheets.push(sheet);
        links.extend(found.into_iter().take(MOST_LINKS - links.len()));
    }
    Ok((sheets, links))
}
