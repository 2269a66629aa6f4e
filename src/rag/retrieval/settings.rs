//! Settings of retrieval.

use serde::{Deserialize, Serialize};

use super::overrides::left_out;
use super::{Mode, Override};
use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_index::{Filter, Within};

/// Settings of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrievalSettings {
    /// Evidences taken from each retriever, at least `top_k`.
    #[serde(rename = "per_leg")]
    pub per_retriever: usize,
    /// Number of hits.
    pub top_k: usize,
    /// How the lists of the retrievers are fused.
    pub fusion: Fusion,
    /// k of the reciprocal rank fusion.
    pub rrf_k: u32,
    /// Which retrievers run.
    pub mode: Mode,
    /// Kinds of evidence that are searched.
    pub kinds: Vec<Kind>,
    /// Documents that are searched. Belongs to a single search, so no configuration names it.
    #[serde(skip)]
    pub within: Within,
    /// Pinned and excluded evidences. Belongs to a single search, too.
    #[serde(skip)]
    pub picks: Vec<Override>,
    /// Context parts in the text of a hit, which the reranker and the generator read.
    pub context: ContextParts,
    /// How near-duplicates are treated.
    pub copies: Copies,
    /// Evidences of one document that may stand before other documents; 0 means any number.
    pub per_document: usize,
    /// Whether a question is also searched in the language of the documents.
    pub translate: Translate,
    /// When unrelated questions are searched to calibrate the cosine. Only a benchmark measures it always.
    #[serde(skip)]
    pub calibration: Calibration,
}

/// When unrelated questions are searched, see [`MatchQuality`](super::MatchQuality).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Calibration {
    /// Where the words of the question do not show that a document fits.
    #[default]
    WhenNeeded,
    /// For every question.
    Always,
}

/// How the lists of the retrievers are fused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// By rank: weighted reciprocal rank fusion.
    Rrf,
    /// By score: `CombSUM` over the sub-queries, then relative score fusion of both retrievers.
    #[default]
    Blend,
}

/// Whether a question in another language than the documents is translated for the search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Translate {
    /// The generator translates the question.
    #[default]
    Auto,
    /// The question is searched as typed.
    Off,
}

/// Whether the profile's reranker is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reranking {
    /// The reranker is used if the profile has one.
    #[default]
    On,
    /// The reranker is not used.
    Off,
}

/// How near-duplicates are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Copies {
    /// One is a hit and lists the others.
    #[default]
    Fold,
    /// Each is a hit.
    Keep,
}

impl Default for RetrievalSettings {
    fn default() -> Self {
        Self {
            per_retriever: 10,
            top_k: 10,
            fusion: Fusion::default(),
            rrf_k: 60,
            mode: Mode::Hybrid,
            kinds: Kind::ALL.to_vec(),
            within: Within::default(),
            picks: Vec::new(),
            context: ContextParts::ALL,
            copies: Copies::Fold,
            per_document: 0,
            translate: Translate::Auto,
            calibration: Calibration::WhenNeeded,
        }
    }
}

impl RetrievalSettings {
    pub(super) fn filter(&self) -> Filter {
        Filter { kinds: self.kinds.clone(), within: self.within.clone(), left_out: left_out(&self.picks) }
    }
}
