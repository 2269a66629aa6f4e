//! Reads source files into [`Document`]s: the text of a page in reading order, independent of its format.
//!
//! Takes files of the formats in `Format`; gives titles, headings, paragraphs, lists and tables. Every reader feeds the
//! same `builder`, so all formats give the same structures.
//! Invariants: text is clean (`base::clean_text`); merged cells are filled, so every row of a [`Table`] is as wide as
//! its header; a bad file gives an error that names it and never stops others.
//! Not here: storage (`index`).

pub mod evidence;

mod admonition;
mod archive;
mod boilerplate;
mod builder;
mod caption;
mod cell;
mod confluence;
mod confluence_html;
mod confluence_xml;
mod discover;
mod docx;
mod element;
mod encoding;
mod error;
mod format;
mod grid;
mod header;
mod html;
mod links;
mod mail;
mod mailbox;
mod markdown;
mod markup;
mod package;
mod page;
mod pdf;
mod reader;
mod sheet;
mod table;
mod text;
mod text_buffer;
mod toc;
mod tree;

#[cfg(test)]
mod cancel_tests;
#[cfg(test)]
mod container_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod markup_tests;
#[cfg(test)]
mod tests;

pub use discover::{Found, Skipped, discover};
pub use error::{DocumentError, JsonFault};
pub use format::Format;
pub use package::OfficeError;
pub use pdf::PdfError;
pub use reader::{LARGEST_CONTAINER, LARGEST_FILE, Member, load, parse, read};

use serde::{Deserialize, Serialize};

/// A source page, parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The page's own title, else the file name without extension.
    pub title: String,
    /// URL of the page, if the source names one.
    pub url: Option<String>,
    /// Date, as in the source.
    pub date: Option<String>,
    /// Wiki space or comparable container.
    pub space: Option<String>,
    /// Titles of the pages above this one, outermost first.
    #[serde(default)]
    pub ancestors: Vec<String>,
    /// Content in reading order.
    pub blocks: Vec<Block>,
    /// Links in the content, in reading order.
    #[serde(default)]
    pub links: Vec<Link>,
}

/// A link in the content. The block has its text; the target is stored here, outside the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Index into [`Document::blocks`] of the block it stands in.
    pub block: usize,
    /// Its text, as it stands in the block.
    pub text: String,
    /// Its target, as in the source. Never opened.
    pub target: String,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A heading.
    Heading {
        /// 1 (outermost) to 6.
        level: u8,
        /// Its text.
        text: String,
    },
    /// Running text: a paragraph, a quotation, a code block, a macro's text.
    Text(String),
    /// An ordered or unordered list.
    List(List),
    /// A table.
    Table(Table),
    /// The following blocks are on this page of the source, from 1; for formats with pages.
    Page(u32),
}

/// A list with its nesting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// Whether the items are numbered.
    pub ordered: Ordering,
    /// Items in order.
    pub items: Vec<ListItem>,
}

/// Whether list items carry numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// Bullets.
    #[default]
    Unordered,
    /// Numbers.
    Ordered,
}

/// One list item. Nested lists belong to their parent item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListItem {
    /// Text of the item itself, without its nested lists. Tasks start with `[x] ` or `[ ] `.
    pub text: String,
    /// Lists inside the item.
    pub nested: Vec<List>,
}

/// A table as a full grid: merged cells are repeated in every place they cover.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Caption, if any.
    pub caption: Option<String>,
    /// Remark below the last row, if any.
    #[serde(default)]
    pub footer: Option<String>,
    /// Column names; several header rows are joined with ` / `. Empty if no names were detected.
    pub header: Vec<String>,
    /// Number of leading columns that name their row.
    #[serde(default)]
    pub row_headers: usize,
    /// Data rows, each as wide as the widest row of the table.
    pub rows: Vec<Vec<String>>,
    /// Indices of rows that are one cell across the whole table: they name a part of the table or are a remark, and
    /// belong to no column.
    #[serde(default)]
    pub full_width: Vec<usize>,
}
