//! What the index gives back.

use std::fmt;

use serde::{Deserialize, Serialize};

use ragonite_base::{DocumentId, EvidenceId};
use ragonite_document::evidence::{ContextParts, Evidence, Kind};
use ragonite_inference::EncoderIdentity;

/// An evidence found by one of the two searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Cosine (dense) or BM25 (lexical); higher is better.
    pub score: f64,
}

/// Best first; equal scores in the order of their ids, so that a search gives the same list every time.
pub(super) fn sort_best_first(found: &mut [Scored]) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.evidence.cmp(&b.evidence)));
}

/// An evidence with where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvidence {
    /// Its id.
    pub id: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Title of the document.
    pub title: String,
    /// Address of the document; its path where it has none.
    pub url: String,
    /// Date of the document, as its source gives it.
    pub date: Option<String>,
    /// Wiki space of the document, or comparable container.
    pub space: Option<String>,
    /// Titles of the pages above its document, outermost first.
    pub ancestors: Vec<String>,
    /// Context parts that its document was embedded and indexed with.
    pub indexed: ContextParts,
    /// The evidence.
    pub evidence: Evidence,
}

/// How many evidences of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Running text.
    pub passage: usize,
    /// Lists.
    pub list: usize,
    /// Tables.
    pub table: usize,
    /// Rows.
    pub row: usize,
}

impl KindCounts {
    /// All of them.
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

/// A domain at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Name for people; empty where none was given.
    pub title: String,
    /// Documents in it.
    pub documents: usize,
    /// Evidences in it.
    pub evidences: KindCounts,
    /// When documents last changed: RFC 3339.
    pub changed_at: String,
    /// When an ingest last came to its end: RFC 3339; none where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingested_at: Option<String>,
    /// What made the vectors.
    pub embedder: EncoderIdentity,
    /// Text put before the instructions of every prompt; empty for the default.
    pub prompt_prefix: String,
}

/// The kind that a stored word means.
pub(super) fn kind_of(word: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
}
