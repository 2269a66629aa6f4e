//! Results that the index gives.

use std::fmt;

use serde::{Deserialize, Serialize};

use ragonite_base::{DocumentId, EvidenceId};
use ragonite_document::evidence::{ContextParts, Evidence, Kind};
use ragonite_inference::EncoderIdentity;

/// An evidence with its score in one of the two searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Cosine (dense) or BM25 (lexical); higher is better.
    pub score: f64,
}

/// Sorts best first; ties by id, so that a search always gives the same list.
pub(super) fn sort_best_first(found: &mut [Scored]) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.evidence.cmp(&b.evidence)));
}

/// An evidence with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvidence {
    /// Its id.
    pub id: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Title of the document.
    pub title: String,
    /// URL of the document, else its path.
    pub url: String,
    /// Date of the document, as its source writes it.
    pub date: Option<String>,
    /// Wiki space of the document, or similar container.
    pub space: Option<String>,
    /// Titles of the pages above its document, outermost first.
    pub ancestors: Vec<String>,
    /// Indexed context parts of its document.
    pub indexed: ContextParts,
    /// The evidence.
    pub evidence: Evidence,
}

/// Number of evidences by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Passages.
    pub passage: usize,
    /// Lists.
    pub list: usize,
    /// Tables.
    pub table: usize,
    /// Rows.
    pub row: usize,
}

impl KindCounts {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> usize {
        self.passage + self.list + self.table + self.row
    }

    pub(super) fn set(&mut self, kind: Kind, count: usize) {
        match kind {
            Kind::Passage => self.passage = count,
            Kind::List => self.list = count,
            Kind::Table => self.table = count,
            Kind::Row => self.row = count,
        }
    }
}

impl fmt::Display for KindCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passage, list, table, row } = self;
        let counts = [(passage, "passage"), (list, "list"), (table, "table"), (row, "row")];
        let counts = counts.map(|(count, kind)| format!("{count} {kind}{}", if *count == 1 { "" } else { "s" }));
        f.write_str(&counts.join(", "))
    }
}

/// Summary of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Display name; empty for none.
    pub title: String,
    /// Number of documents.
    pub documents: usize,
    /// Number of evidences by kind.
    pub evidences: KindCounts,
    /// Time of the last change of documents, RFC 3339.
    pub changed_at: String,
    /// End of the last completed ingest, RFC 3339; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingested_at: Option<String>,
    /// The embedder of the vectors.
    pub embedder: EncoderIdentity,
    /// Prompt prefix; empty for the default.
    pub prompt_prefix: String,
}

/// The kind with this stored name.
pub(super) fn kind_of(word: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
}
