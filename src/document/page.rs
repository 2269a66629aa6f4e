//! JSON envelopes: a wiki page as `{title, url, content, date?, space?}`, content in storage format or HTML.

use serde::Deserialize;

use super::Document;
use super::html;
use super::load::paragraphs;
use super::markup::Dialect;
use crate::base::clean_line;

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

    pub(super) fn into_document(self) -> Document {
        Document {
            title: clean_line(&self.title),
            url: self.url.map(|url| clean_line(&url)).filter(|url| !url.is_empty()),
            date: self.date.map(|date| clean_line(&date)).filter(|date| !date.is_empty()),
            space: self.space.map(|space| clean_line(&space)).filter(|space| !space.is_empty()),
            ..read_content(&self.content)
        }
    }
}

fn read_content(content: &str) -> Document {
    let dialect = if is_storage(content) { Dialect::Storage } else { Dialect::Html };
    let has_tags = content.split('<').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    if has_tags {
        html::read_fragment(content, dialect)
    } else {
        Document { blocks: paragraphs(content), ..Document::default() }
    }
}

/// Whether markup uses elements that only Confluence has.
pub(super) fn is_storage(markup: &str) -> bool {
    markup.contains("<ac:") || markup.contains("<ri:")
}
