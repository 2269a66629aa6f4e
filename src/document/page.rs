//! JSON envelopes: a wiki page as `{title, url, content, date?, space?}`, content in storage format or HTML.
//!
//! A file holds one, a list of them, or one a line. Lines are read one at a time, so such a file may be large.
//! Invariant: one page is in memory besides the text of a list, and pages are counted against the budget of the walk.

use std::io::{BufRead, Read as _};
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::archive::Names;
use super::load::{LARGEST_FILE, Place, Source, Walk};

use super::markup::Dialect;
use super::text::paragraphs;
use super::{Document, DocumentError, encoding, html};
use crate::base::{CancelToken, clean_line};

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
    /// What serde says where it is none.
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

/// Reads a list of envelopes, or one a line.
pub(super) fn read_several(
    walk: &mut Walk<'_>,
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
    if pages.number == 0 { Err(DocumentError::Empty { path: place.shown() }) } else { Ok(flow) }
}

struct Pages<'a, 'v> {
    walk: &'a mut Walk<'v>,
    place: &'a Place<'a>,
    names: Names,
    number: usize,
}

impl Pages<'_, '_> {
    fn list(&mut self, text: &str) -> Result<ControlFlow<()>, DocumentError> {
        let broken = |source| DocumentError::NoPage { path: self.place.shown(), source };
        serde_json::from_str::<IgnoredAny>(text).map_err(broken)?;
        // The list is whole, so that its parts can be told by their ends and read one at a time.
        let mut rest = text.trim_start().strip_prefix('[').unwrap_or_default();
        loop {
            let mut parts = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
            let (Some(Ok(IgnoredAny)), end) = (parts.next(), parts.byte_offset()) else { break };
            self.number += 1;
            let flow = self.give(Envelope::read(&rest[..end]))?;
            if flow.is_break() {
                return Ok(flow);
            }
            rest = rest[end..].trim_start().strip_prefix(',').unwrap_or_default();
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
            let text = encoding::decode(&line).unwrap_or_default();
            if text.trim().is_empty() {
                continue;
            }
            let flow = self.give(Envelope::read(text.trim()))?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
    }

    /// Hands out a page by its title; a bad one by its place in the file.
    fn give(&mut self, page: Result<Envelope, serde_json::Error>) -> Result<ControlFlow<()>, DocumentError> {
        self.walk.take_member(self.place)?;
        let document = page.map(|page| page.into_document(&self.walk.cancel));
        let title = document.as_ref().ok().map(|page| page.title.clone()).filter(|title| !title.is_empty());
        let name = title.unwrap_or_else(|| format!("page {}", self.number));
        let place = self.place.member(&self.names.unique(&name));
        let content = document.map_err(|source| DocumentError::NoPage { path: place.shown(), source });
        Ok(self.walk.give(&place, content))
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

/// Whether markup uses elements that only Confluence has.
pub(super) fn is_storage(markup: &str) -> bool {
    markup.contains("<ac:") || markup.contains("<ri:")
}
