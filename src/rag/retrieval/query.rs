//! What a search takes: the question with its conversation, and the sub-queries made of it.
//!
//! Invariants: the question as typed is the first sub-query; every weight is above 0.
//! Not here: weights (`query_weights`), searching (`search`).

use serde::{Deserialize, Serialize};
use time::Date;

use super::{Hit, RankedEvidence};
use ragonite_base::DocumentId;

/// A question in its conversation.
#[derive(Debug, Clone, Copy)]
pub struct SearchInput<'a> {
    /// The question as typed.
    pub question: &'a str,
    /// The completed question; none if the model gave no usable one.
    pub completed: Option<&'a str>,
    /// The question in the language of the documents, if it has another.
    pub translated: Option<&'a str>,
    /// Earlier turns, oldest first; empty for a first question.
    pub earlier: &'a [EarlierQuestion],
    /// The day of the question; without it "yesterday" means an earlier version.
    pub today: Option<Date>,
}

/// An earlier turn, as far as retrieval needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierQuestion {
    /// The question as typed.
    pub question: String,
    /// Documents that the answer cites and documents of their near-duplicates, each once; empty if unknown.
    pub cited: Vec<DocumentId>,
}

impl EarlierQuestion {
    /// A turn with `question`, whose answer cites the hits with the ranks `citations`.
    #[must_use]
    pub fn answered(question: &str, hits: &[Hit], citations: &[usize]) -> Self {
        let mut cited = Vec::new();
        for hit in hits.iter().filter(|hit| citations.contains(&hit.rank)) {
            for document in std::iter::once(hit.document).chain(hit.copies.iter().map(|copied| copied.document)) {
                if !cited.contains(&document) {
                    cited.push(document);
                }
            }
        }
        Self { question: question.to_owned(), cited }
    }
}

impl From<&str> for EarlierQuestion {
    /// A turn whose answer is unknown.
    fn from(question: &str) -> Self {
        Self { question: question.to_owned(), cited: Vec::new() }
    }
}

/// Where the text of a sub-query comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubQueryRole {
    /// The question as typed.
    #[default]
    Raw,
    /// The completed question.
    Rewrite,
    /// The completed question in the language of the documents.
    Translation,
    /// An earlier question of the conversation.
    History,
}

/// Whether a question can be understood alone, judged by its form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "form")]
pub enum Dependence {
    /// Can be understood alone.
    Complete,
    /// Has an anaphor.
    Refers {
        /// The anaphor.
        word: String,
    },
    /// Continues the previous question.
    Elliptic {
        /// The words at its beginning that tell so.
        start: String,
    },
    /// Has too few content words.
    Thin {
        /// Number of content words.
        words: usize,
    },
}

/// Why a sub-query has its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightReason {
    /// It is the only sub-query.
    #[default]
    Only,
    /// The question is complete, and both retrievers find the same document: weighs more.
    Sure,
    /// The question is not complete, or the retrievers find different documents: weighs less.
    Unsure,
    /// An earlier question, probably on the same topic.
    SameTopic,
    /// An earlier question, and the conversation has moved to another document since: weighs less.
    OtherTopic,
}

/// A text that is searched, with the results of both retrievers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubQuery {
    /// Where the text comes from.
    pub role: SubQueryRole,
    /// The text.
    pub text: String,
    /// Whether the text can be understood alone.
    pub standing: Dependence,
    /// Weight in the fusion, above 0.
    pub weight: f64,
    /// Reason for the weight.
    pub why: WeightReason,
    /// Results of dense retrieval.
    pub dense: Vec<RankedEvidence>,
    /// Results of lexical retrieval.
    pub lexical: Vec<RankedEvidence>,
    /// Documents cited by the answer to an earlier question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<DocumentId>,
}
