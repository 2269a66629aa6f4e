//! Makes [`Evidence`] from a [`Document`](crate::Document): the units of retrieval with their context.
//!
//! Takes a parsed document, gives its evidences (RAGonite, Sec. 4): each table, each list, each span of the remaining
//! text between headings is one evidence; every table also gives one verbalized evidence per row. Context is title,
//! heading, and the text before and after, stored separately so that each can be left out or dimmed.
//! Invariants: no text is lost, though picture names may be in contexts only; no evidence is empty; a row's context
//! never holds neighbouring rows; ancestor pages are in the location only, never embedded, so that a moved page keeps
//! its vectors.
//! Not here: reading files (`document`), embedding and storing (`index`).

mod balance;
mod context;
mod linearize;
mod links;
mod list;
mod passage;
mod pictures;
mod sections;
mod segment;
mod settings;
mod split;
mod table;
mod token_counter;
mod verbalize;

#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod tests;

pub use context::{Context, ContextParts, UnknownPart};
pub use segment::sentences;
pub use settings::{EvidenceSettings, Linearizer, TableEvidence};
pub use split::split;
pub use table::rows_at;
pub use token_counter::CountTokens;
pub use verbalize::{has_row_label, without_row_labels};

use serde::{Deserialize, Serialize};

/// The kind of an evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Running text between two headings.
    Passage,
    /// A whole list.
    List,
    /// A whole table.
    Table,
    /// One row of a table.
    Row,
}

impl Kind {
    /// Every kind, in the order they are reported.
    pub const ALL: [Self; 4] = [Self::Passage, Self::List, Self::Table, Self::Row];

    /// The word for this kind, as in the JSON contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passage => "passage",
            Self::List => "list",
            Self::Table => "table",
            Self::Row => "row",
        }
    }
}

/// The unit of retrieval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its kind.
    pub kind: Kind,
    /// The text itself, without context. For a row: `Row 2 in Table 1: Member is Alice, and …`.
    pub content: String,
    /// Its context.
    pub context: Context,
    /// Number of the table on its page, from 1; for tables and rows.
    pub table: Option<u32>,
    /// Number of the row in its table, from 1; for rows. A row without text gives no evidence but counts.
    pub row: Option<u32>,
    /// Its location, for people: `Agenda, list 1`, `page 3, Table 1, row 2`, `Agenda, text 1 (in Projects › RAG)`.
    pub location: String,
    /// Links in its content, in reading order; those of a table's caption and header come first.
    #[serde(default)]
    pub links: Vec<EvidenceLink>,
}

/// A link in an evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLink {
    /// Its text, as it stands in the content.
    pub text: String,
    /// Its target, as in the source. Never opened.
    pub target: String,
}

impl Evidence {
    /// Context and content as one text, as it is embedded, indexed and shown to the model: title, heading, before,
    /// content, after, one per line, limited to `parts`.
    pub fn contextualized(&self, parts: ContextParts) -> String {
        let context = &self.context;
        let before = [
            (ContextParts::TITLE, context.title.as_str()),
            (ContextParts::HEADING, context.heading()),
            (ContextParts::BEFORE, context.before.as_str()),
        ];
        let mut lines: Vec<&str> = before
            .iter()
            .filter(|(part, text)| parts.contains(*part) && !text.is_empty())
            .map(|(_, text)| *text)
            .collect();
        lines.push(&self.content);
        if parts.contains(ContextParts::AFTER) && !context.after.is_empty() {
            lines.push(&context.after);
        }
        lines.join("\n")
    }
}

/// A table of a document, stored whole so that a row can be shown in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableGrid {
    /// Number of the table on its page, from 1.
    pub number: u32,
    /// Caption or empty.
    pub caption: String,
    /// Column names; `Column n` where the source has none.
    pub header: Vec<String>,
    /// Rows, each as wide as `header`.
    pub rows: Vec<Vec<String>>,
}

/// The evidences and tables of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Evidences in reading order; a table comes before its rows.
    pub evidences: Vec<Evidence>,
    /// The tables of the rows.
    pub tables: Vec<TableGrid>,
}
