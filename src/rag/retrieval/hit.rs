//! What retrieval gives.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::Date;

use super::{Duplicate, HitExplanation, Preference, SubQuery, Version};
use ragonite_base::{DayOrMonth, DocumentId, EvidenceId, Millis, clean_line, document_date};
use ragonite_document::evidence::{Context, EvidenceLink, Kind};

time::serde::format_description!(iso_day, Date, "[year]-[month]-[day]");

/// Which indexes are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Embeddings only.
    Dense,
    /// Words only.
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

/// A text that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no search mode: use dense, lexical or hybrid")]
pub struct UnknownMode(String);

/// One way evidence is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retriever {
    /// By embedding.
    Dense,
    /// By words.
    Lexical,
}

/// An evidence in the list of one leg.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedEvidence {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Place in this leg's list, from 1.
    pub rank: usize,
    /// Cosine for the dense leg, BM25 for the lexical leg.
    pub score: f64,
}

/// Where an evidence stands that a search found and that became no hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    /// The evidence.
    pub evidence: EvidenceId,
    /// Title of its document.
    pub title: String,
    /// Headings above it.
    pub heading: String,
}

/// An evidence with its ranks and scores. The fields are those of HIT in the JSON contract, and a few for the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Final place, from 1; the number in `[Source n]`.
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
    /// Score of the fusion: of the searches, or where there is a reranker, of their order and its.
    pub fused: f64,
    /// Place in the dense list; none where only its words found it.
    pub dense_rank: Option<usize>,
    /// Cosine, also of a hit that is in no dense list, where it counted.
    pub dense_score: Option<f64>,
    /// Place in the lexical list.
    pub lexical_rank: Option<usize>,
    /// BM25.
    pub lexical_score: Option<f64>,
    /// Score of the cross-encoder.
    pub rerank_score: Option<f64>,
    /// What was found too and says the same.
    #[serde(default)]
    pub copies: Vec<Duplicate>,
    /// Which version of its page it is from, where others of it are hits too.
    #[serde(default)]
    pub version: Option<Version>,
    /// Why it stands where it stands.
    #[serde(default)]
    pub why: HitExplanation,
}

impl Hit {
    /// The date of its document for people: as the source has it, else the day or month in the name of its file; clean.
    #[must_use]
    pub fn date_shown(&self) -> Option<String> {
        let told = self.date.as_deref().map(clean_line).filter(|date| !date.is_empty());
        told.or_else(|| {
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
    /// Embedding the question.
    pub embed: Millis,
    /// Searching by embedding.
    pub dense: Millis,
    /// Searching by words.
    pub lexical: Millis,
    /// Fusing and loading the hits.
    pub fuse: Millis,
    /// Reranking.
    pub rerank: Millis,
    /// All of it.
    pub total: Millis,
}

impl Retrieved {
    /// What is to be known of a question whose identifiers no text of the domain has; none where there are none.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let names: Vec<String> = self.unknown_terms.iter().map(|name| clean_line(name)).collect();
        match names.as_slice() {
            [] => None,
            [name] => Some(format!("No document of the domain has {name}.")),
            names => Some(format!("No document of the domain has any of these: {}.", names.join(", "))),
        }
    }

    /// The hits from which a prompt of so many sources is made: as many as are to be sources, with the older versions
    /// between them that the prompt leaves out.
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

/// All that one search gave, kept in the trace of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// What was searched for: of several legs, what is asked as well as a single text says it.
    pub query: String,
    /// Which indexes were searched.
    pub mode: Mode,
    /// The dense list: of several legs, that of all together.
    pub dense: Vec<RankedEvidence>,
    /// The lexical list, likewise.
    pub lexical: Vec<RankedEvidence>,
    /// The fused list, best first.
    pub hits: Vec<Hit>,
    /// What stands in the two lists and became no hit, by id.
    #[serde(default)]
    #[serde(rename = "passed")]
    pub discarded: Vec<Discarded>,
    /// What was searched for, leg by leg; none for a question that was searched alone.
    #[serde(default)]
    #[serde(rename = "legs")]
    pub sub_queries: Vec<SubQuery>,
    /// Identifiers of the question that no text of the domain has, as typed.
    #[serde(default)]
    #[serde(rename = "absent")]
    pub unknown_terms: Vec<String>,
    /// The day whose version comes first, where the question means one or a version is for a day to come.
    #[serde(default, with = "iso_day::option", skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// Time per step.
    pub timings_ms: RetrievalTimings,
}
