//! What is searched for: one text, or the question with what is known of its conversation.
//!
//! Invariants: the question as typed is the first leg; every weight is above 0.
//! Not here: what a leg weighs (`query_weights`), searching (`search`).

use serde::{Deserialize, Serialize};
use time::Date;

use super::{Hit, RankedEvidence};
use ragonite_base::DocumentId;

/// A question in its conversation.
#[derive(Debug, Clone, Copy)]
pub struct SearchInput<'a> {
    /// As typed.
    pub question: &'a str,
    /// As the model completed it; none where it did not, or where its text was no usable question.
    pub completed: Option<&'a str>,
    /// In the language of the documents, where the question has another.
    pub translated: Option<&'a str>,
    /// The turns before it, oldest first; none for a first question.
    pub earlier: &'a [EarlierQuestion],
    /// The day on which it is asked; none where "yesterday" means just an earlier version.
    pub today: Option<Date>,
}

/// A turn before the question, as far as the search goes by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierQuestion {
    /// Its question as typed.
    pub question: String,
    /// The documents that its answer cites and those that say the same, each once; none where that is not known.
    pub cited: Vec<DocumentId>,
}

impl EarlierQuestion {
    /// A turn whose question `question` was answered from the sources with the numbers `citations` among `hits`.
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
    /// A turn of which only the question is known.
    fn from(question: &str) -> Self {
        Self { question: question.to_owned(), cited: Vec::new() }
    }
}

/// Where the text of a leg comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubQueryRole {
    /// The question as typed.
    #[default]
    Raw,
    /// The question as the model completed it.
    Rewrite,
    /// The completed question in the language of the documents.
    Translation,
    /// A question asked earlier in the conversation.
    History,
}

/// How well a question can be understood alone, by its form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "form")]
pub enum Dependence {
    /// It has words of its own to go by.
    Complete,
    /// It points back.
    Refers {
        /// With this word.
        word: String,
    },
    /// It goes on where the last one ended.
    Elliptic {
        /// It begins with this.
        start: String,
    },
    /// It has hardly a word of its own.
    Thin {
        /// The words it has.
        words: usize,
    },
}

/// Why a leg weighs what it weighs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightReason {
    /// Nothing else is searched.
    #[default]
    Only,
    /// The question is complete, and meaning and words find the same document: it counts more.
    Sure,
    /// The question is not complete, or meaning and words find different documents: it counts less.
    Unsure,
    /// An earlier question on what seems to be the topic still.
    SameTopic,
    /// Between this earlier question and now the conversation went to another document: it counts less.
    OtherTopic,
}

/// One text that is searched for, and what its two searches found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubQuery {
    /// Where it comes from.
    pub role: SubQueryRole,
    /// What is searched for.
    pub text: String,
    /// How well it can be understood alone.
    pub standing: Dependence,
    /// How much it counts.
    pub weight: f64,
    /// Why.
    pub why: WeightReason,
    /// Found by meaning.
    pub dense: Vec<RankedEvidence>,
    /// Found by words.
    pub lexical: Vec<RankedEvidence>,
    /// The documents that the answer to an earlier question cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<DocumentId>,
}
