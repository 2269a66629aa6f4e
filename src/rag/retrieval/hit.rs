//! The result of retrieval: hits with ranks and scores, and what the trace keeps of a search.
//!
//! Not here: searching (`search`), why a hit has its place (`hit_explanation`).

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::Date;

use super::{Duplicate, HitExplanation, MatchQuality, Preference, SubQuery, Version};
use ragonite_base::{DayOrMonth, DocumentId, EvidenceId, Millis, clean_line, document_date};
use ragonite_document::evidence::{Context, EvidenceLink, Kind};

time::serde::format_description!(iso_day, Date, "[year]-[month]-[day]");

/// Which retrievers run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Dense retrieval only.
    Dense,
    /// Lexical retrieval only.
    Lexical,
    /// Both, fused.
    #[default]
    Hybrid,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "dense" => Ok(Self::Dense),
            "lexical" => Ok(Self::Lexical),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(UnknownMode(clean_line(other))),
        }
    }
}

/// A text that is no search mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no search mode: use dense, lexical or hybrid")]
pub struct UnknownMode(String);

/// A retriever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retriever {
    /// Dense retrieval, by embeddings.
    Dense,
    /// Lexical retrieval, by words.
    Lexical,
}

/// An evidence in the list of a retriever.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedEvidence {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Rank in the list, from 1.
    pub rank: usize,
    /// Cosine in a dense list, BM25 in a lexical one.
    pub score: f64,
}

/// A candidate that became no hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Title of its document.
    pub title: String,
    /// Headings above it.
    pub heading: String,
}

/// A piece of evidence with its ranks and scores. The fields are those of HIT in the JSON contract, and a few for the
/// screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Final rank, from 1; the number in `[Source n]`.
    pub rank: usize,
    /// The evidence.
    pub evidence: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Title of the document.
    pub title: String,
    /// Heading right above the evidence.
    pub heading: String,
    /// Address of the document, or its path.
    pub url: String,
    /// Date of the document, as its source gives it.
    #[serde(default)]
    pub date: Option<String>,
    /// Wiki space of the document, or comparable container.
    #[serde(default)]
    pub space: Option<String>,
    /// Titles of the pages above the document, outermost first.
    #[serde(default)]
    pub ancestors: Vec<String>,
    /// Place in the document.
    pub location: String,
    /// Kind of the evidence.
    pub kind: Kind,
    /// Table number on the page.
    pub table: Option<u32>,
    /// Row number in the table, from 1.
    pub row: Option<u32>,
    /// Contextualized text.
    pub text: String,
    /// Text without context.
    pub content: String,
    /// Links in the content with their targets, in reading order.
    #[serde(default)]
    pub links: Vec<EvidenceLink>,
    /// The context in its parts.
    pub context: Context,
    /// Fused score, of both retrievers or, with a reranker, of their order and the reranker's.
    pub fused: f64,
    /// Rank in the dense list; none if only lexical retrieval found it.
    pub dense_rank: Option<usize>,
    /// Cosine, also of a hit outside the dense list if its cosine counted.
    pub dense_score: Option<f64>,
    /// Rank in the lexical list.
    pub lexical_rank: Option<usize>,
    /// BM25.
    pub lexical_score: Option<f64>,
    /// Score of the cross-encoder.
    pub rerank_score: Option<f64>,
    /// Near-duplicates of the hit.
    #[serde(default)]
    pub copies: Vec<Duplicate>,
    /// Which version of its page it is from, if other versions are hits, too.
    #[serde(default)]
    pub version: Option<Version>,
    /// Why the hit has its place.
    #[serde(default)]
    pub why: HitExplanation,
}

impl Hit {
    /// The date of the document for people: the date of the source, or else the day or month in its file name; cleaned.
    #[must_use]
    pub fn date_shown(&self) -> Option<String> {
        let of_source = self.date.as_deref().map(clean_line).filter(|date| !date.is_empty());
        of_source.or_else(|| {
            Some(match document_date(None, &[&self.url])? {
                DayOrMonth::Day(day) => day.to_string(),
                DayOrMonth::Month { year, month } => format!("{year}-{:02}", u8::from(month)),
            })
        })
    }
}

/// Time per step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RetrievalTimings {
    /// Embedding the sub-queries.
    pub embed: Millis,
    /// Dense retrieval.
    pub dense: Millis,
    /// Lexical retrieval.
    pub lexical: Millis,
    /// Fusing and loading the candidates.
    pub fuse: Millis,
    /// Reranking.
    pub rerank: Millis,
    /// The whole search.
    pub total: Millis,
}

impl Retrieved {
    /// The quality, if no document fits the question.
    #[must_use]
    pub fn no_match(&self) -> Option<&MatchQuality> {
        self.quality.as_ref().filter(|quality| quality.is_no_match())
    }

    /// The line that no document fits the question, with the words that no document has; none if one may fit.
    #[must_use]
    pub fn no_match_line(&self) -> Option<String> {
        let words = &self.no_match()?.absent_words;
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        Some(match words.as_slice() {
            [] => "No document fits this question.".to_owned(),
            [word] => format!("No document fits this question: its word {word} is in no document."),
            words => format!("No document fits this question: its words {} are in no document.", words.join(", ")),
        })
    }

    /// A warning about identifiers of the question that no text of the domain has.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let names: Vec<String> = self.unknown_terms.iter().map(|name| clean_line(name)).collect();
        match names.as_slice() {
            [] => None,
            [name] => Some(format!("No document of the domain has {name}.")),
            names => Some(format!("No document of the domain has any of these: {}.", names.join(", "))),
        }
    }

    /// The hits for a prompt of `sources` sources, and between them the older versions that the prompt leaves out.
    #[must_use]
    pub fn for_prompt(&self, sources: usize) -> Vec<Hit> {
        let is_wanted = |hit: &Hit| hit.version.is_none_or(|version| version.wanted == Preference::Yes);
        let mut room = sources;
        let fits = |hit: &&Hit| {
            let fits = room > 0;
            room = room.saturating_sub(usize::from(is_wanted(hit)));
            fits
        };
        self.hits.iter().take_while(fits).cloned().collect()
    }
}

/// The result of a search, kept in the trace of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// The best single text for the question.
    pub query: String,
    /// Which retrievers ran.
    pub mode: Mode,
    /// The dense list over all sub-queries.
    pub dense: Vec<RankedEvidence>,
    /// The lexical list over all sub-queries.
    pub lexical: Vec<RankedEvidence>,
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Candidates of both lists that became no hit, by id.
    #[serde(default)]
    #[serde(rename = "passed")]
    pub discarded: Vec<Discarded>,
    /// The sub-queries; empty for a question that was searched alone.
    #[serde(default)]
    #[serde(rename = "legs")]
    pub sub_queries: Vec<SubQuery>,
    /// Identifiers of the question that no text of the domain has, as typed.
    #[serde(default)]
    #[serde(rename = "absent")]
    pub unknown_terms: Vec<String>,
    /// How well the hits fit the question; none without hits and in records of older programs.
    #[serde(default)]
    #[serde(rename = "match")]
    pub quality: Option<MatchQuality>,
    /// The day whose version comes first, if the question means a day or a version is for a future day.
    #[serde(default, with = "iso_day::option", skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// Time per step.
    pub timings_ms: RetrievalTimings,
}
