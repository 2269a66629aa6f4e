//! Settings of the retrieval room.

use serde::{Deserialize, Serialize};

use super::overrides::left_out;
use super::{Mode, Override};
use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_index::{Filter, Within};

/// How evidence is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrievalSettings {
    /// Evidences taken from each of the two searches, at least `top_k`.
    #[serde(rename = "per_leg")]
    pub per_retriever: usize,
    /// Hits that are kept.
    pub top_k: usize,
    /// How the lists of the searches become one.
    pub fusion: Fusion,
    /// k of the reciprocal rank fusion.
    pub rrf_k: u32,
    /// Which indexes are searched.
    pub mode: Mode,
    /// Kinds of evidence that are looked for.
    pub kinds: Vec<Kind>,
    /// The documents that this search looks among; of a single search, so that no configuration names them.
    #[serde(skip)]
    pub within: Within,
    /// What the user says of single evidences; of a single search too.
    #[serde(skip)]
    pub picks: Vec<Override>,
    /// Context parts in the text of a hit, which is what the reranker and the generator read.
    pub context: ContextParts,
    /// What becomes of evidences that say the same.
    pub copies: Copies,
    /// Evidences of one document that come before those of other documents; 0 for any number.
    pub per_document: usize,
    /// Whether a question in another language than the documents is searched for in theirs too.
    pub translate: Translate,
}

/// How the lists of the searches become one, of one text as of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// By ranks: reciprocal rank fusion, as the paper has it, each text as much as it weighs.
    Rrf,
    /// By scores: those of all texts added up by their weights, and the two sums blended.
    #[default]
    Blend,
}

/// Whether a question in another language than the documents is searched for in theirs too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Translate {
    /// The generator translates it.
    #[default]
    Auto,
    /// It is searched for as it is.
    Off,
}

/// Whether the profile's reranker is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reranking {
    /// It is, where the profile has one.
    #[default]
    On,
    /// It is not.
    Off,
}

/// What becomes of evidences that say the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Copies {
    /// One is a hit and names the others.
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
        }
    }
}

impl RetrievalSettings {
    /// What is looked among.
    pub(super) fn filter(&self) -> Filter {
        Filter { kinds: self.kinds.clone(), within: self.within.clone(), left_out: left_out(&self.picks) }
    }
}
