//! JSON envelopes: a wiki page as `{title, url, content, date?, space?}`, with content in storage format or HTML.
//!
//! Takes a file with one envelope, a list of them, or one per line. Lines are read one at a time, so such a file may be
//! large.
//! Invariant: one page is in memory besides the text of a list, and pages count against the file's budget.

use std::io::{BufRead, Read as _};
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::archive::Names;
use super::markup::Dialect;
use super::reader::{DocumentReader, LARGEST_FILE, Place, Source};
use super::text::paragraphs;
use super::{Document, DocumentError, JsonFault, encoding, html};
use ragonite_base::{CancelToken, clean_line};

/// Maximum characters of the parser's message, which may repeat the page.
const LONGEST_WHY: usize = 200;

/// A page as exported. Other fields are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope {
    title: String,
    content: String,
    url: Option<String>,
    date: Option<String>,
    space: Option<String>,
}

impl Envelope {
    /// Parses the envelope.
    ///
    /// # Errors
    /// serde's error if it is not an envelope.
    pub(super) fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(super) fn into_document(self, cancel: &CancelToken) -> Document {
        Document {
            title: clean_line(&self.title),
            url: self.url.map(|url| clean_line(&url)).filter(|url| !url.is_empty()),
            date: self.date.map(|date| clean_line(&date)).filter(|date| !date.is_empty()),
            space: self.space.map(|space| clean_line(&space)).filter(|space| !space.is_empty()),
            ..read_content(&self.content, cancel)
        }
    }
}

/// Reads a file that is one envelope.
pub(super) fn read_one(place: &Place<'_>, text: &str, cancel: &CancelToken) -> Result<Document, DocumentError> {
    let page = text.trim_start();
    let start = At::default().behind(&text[..text.len() - page.len()]);
    Envelope::read(page).map(|page| page.into_document(cancel)).map_err(|error| no_page(place, &error, start))
}

/// A position in a file.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    lines: usize,
    /// Bytes since the last line end.
    bytes: usize,
}

impl At {
    /// The position behind `text`, which starts at this one.
    fn behind(self, text: &str) -> Self {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        match text.rfind('\n') {
            Some(last) => Self { lines: self.lines + lines, bytes: text.len() - last - 1 },
            None => Self { lines: self.lines, bytes: self.bytes + text.len() },
        }
    }
}

/// The error for a part of a file; the parser counts from `start`.
fn no_page(place: &Place<'_>, error: &serde_json::Error, start: At) -> DocumentError {
    let (line, column) = (error.line(), error.column());
    let said = error.to_string();
    let why = said.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&said);
    let fault = if error.is_data() { JsonFault::OtherShape } else { JsonFault::Damaged };
    DocumentError::NoPage {
        path: place.shown(),
        fault,
        line: start.lines + line.max(1),
        column: if line > 1 { column } else { start.bytes + column },
        why: clean_line(why.char_indices().nth(LONGEST_WHY).map_or(why, |(end, _)| &why[..end])).into(),
    }
}

/// Reads a list of envelopes, or one a line.
pub(super) fn read_several(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    mut source: Source,
) -> Result<ControlFlow<()>, DocumentError> {
    let mut pages = Pages { walk, place, names: Names::default(), number: 0 };
    let start = source.fill_buf().map_err(|error| place.unreadable(error))?;
    let is_list = start.trim_ascii_start().starts_with(b"[");
    let is_wide =
        start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") || start.starts_with(b"\xef\xbb\xbf");
    let flow = if is_list || is_wide {
        let bytes = source.into_bytes(place, &pages.walk.cancel)?;
        let text = encoding::decode(&bytes).unwrap_or_default();
        if text.trim_start().starts_with('[') { pages.list(&text)? } else { pages.lines(text.as_bytes())? }
    } else {
        pages.lines(source)?
    };
    if pages.number == 0 { Err(DocumentError::NoDocuments { path: place.shown() }) } else { Ok(flow) }
}

struct Pages<'a, 'v> {
    walk: &'a mut DocumentReader<'v>,
    place: &'a Place<'a>,
    names: Names,
    number: usize,
}

impl Pages<'_, '_> {
    fn list(&mut self, text: &str) -> Result<ControlFlow<()>, DocumentError> {
        let broken = |error: serde_json::Error| no_page(self.place, &error, At::default());
        serde_json::from_str::<IgnoredAny>(text).map_err(broken)?;
        // The list is in memory, so its items can be split and read one at a time.
        let mut rest = text.trim_start().strip_prefix('[').unwrap_or_default();
        let mut start = At::default().behind(&text[..text.len() - rest.len()]);
        loop {
            let mut parts = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
            let (Some(Ok(IgnoredAny)), end) = (parts.next(), parts.byte_offset()) else { break };
            self.number += 1;
            let flow = self.give(Envelope::read(&rest[..end]), start)?;
            if flow.is_break() {
                return Ok(flow);
            }
            let after = rest[end..].trim_start().strip_prefix(',').unwrap_or_default();
            start = start.behind(&rest[..rest.len() - after.len()]);
            rest = after;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn lines(&mut self, mut source: impl BufRead) -> Result<ControlFlow<()>, DocumentError> {
        let mut line = Vec::new();
        loop {
            self.walk.cancel.check()?;
            line.clear();
            let read = source.by_ref().take(LARGEST_FILE).read_until(b'\n', &mut line);
            if read.map_err(|error| self.place.unreadable(error))? == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            self.number += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let start = At { lines: self.number - 1, bytes: 0 };
            let flow = match encoding::decode(&line) {
                Some(text) => {
                    let page = text.trim_start();
                    let start = start.behind(&text[..text.len() - page.len()]);
                    self.give(Envelope::read(page.trim_end()), start)?
                }
                None => self.give_binary(start)?,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
    }

    /// Emits a page by its title; a bad one by its position.
    fn give(&mut self, page: Result<Envelope, serde_json::Error>, start: At) -> Result<ControlFlow<()>, DocumentError> {
        self.walk.take_member(self.place)?;
        let document = page.map(|page| page.into_document(&self.walk.cancel));
        let title = document.as_ref().ok().map(|page| page.title.clone()).filter(|title| !title.is_empty());
        let name = title.unwrap_or_else(|| self.numbered());
        let place = self.place.member(&self.names.unique(&name));
        let content = document.map_err(|error| no_page(&place, &error, start));
        Ok(self.walk.emit(&place, content))
    }

    /// Emits an error for a line that is not text.
    fn give_binary(&mut self, start: At) -> Result<ControlFlow<()>, DocumentError> {
        self.walk.take_member(self.place)?;
        let place = self.place.member(&self.names.unique(&self.numbered()));
        let error = DocumentError::NoPage {
            path: place.shown(),
            fault: JsonFault::Damaged,
            line: start.lines + 1,
            column: 1,
            why: "binary data".into(),
        };
        Ok(self.walk.emit(&place, Err(error)))
    }

    fn numbered(&self) -> String {
        format!("page {}", self.number)
    }
}

fn read_content(content: &str, cancel: &CancelToken) -> Document {
    let dialect = if is_storage(content) { Dialect::Storage } else { Dialect::Html };
    let has_tags = content.split('<').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    if has_tags {
        html::read_fragment(content, dialect, cancel)
    } else {
        Document { blocks: paragraphs(content), ..Document::default() }
    }
}

/// Whether markup has Confluence's own elements.
pub(super) fn is_storage(markup: &str) -> bool {
    markup.contains("<ac:") || markup.contains("<ri:")
}
