//! What attribution gives.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::Millis;
use crate::inference::Completion;
use crate::prompt::Prompt;

/// How contributions are computed, from quick to exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Softmax of the cosine of answer and evidence: the naive baseline.
    Similarity,
    /// Hide one cluster from the question and the answer: an estimate.
    Preview,
    /// Leave one cluster out and regenerate.
    #[default]
    Counterfactual,
}

impl Method {
    /// What is done, in a line.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Similarity => "similarity of answer and evidence",
            Self::Preview => "preview: one cluster hidden from question and answer, an estimate",
            Self::Counterfactual => "counterfactual: one cluster left out, answer generated again",
        }
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "similarity" => Ok(Self::Similarity),
            "preview" => Ok(Self::Preview),
            "counterfactual" => Ok(Self::Counterfactual),
            other => Err(UnknownMethod(crate::base::clean_line(other))),
        }
    }
}

/// A text that names no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no attribution method: use similarity, preview or counterfactual")]
pub struct UnknownMethod(String);

/// How one cluster's value came about; shown beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The original answer was checked as a draft and came out the same token by token.
    Verified,
    /// The answer was generated again without the cluster.
    Regenerated,
    /// The answer without this and other clusters together is the original token by token.
    Group,
    /// Estimated by hiding the cluster from the question and the answer.
    Preview,
    /// Cosine of answer and evidence.
    Similarity,
}

impl How {
    /// In a word or a few, as it is shown beside the value.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Regenerated => "regenerated",
            Self::Group => "group, left out together with others",
            Self::Preview => "preview, an estimate",
            Self::Similarity => "similarity, rough",
        }
    }
}

/// One counterfactual generation, kept for behind the scenes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counterfactual {
    /// What the model was asked.
    pub prompt: Prompt,
    /// What it said.
    pub completion: Completion,
    /// Cosine of the two answers, each with the completed question before it; 1 when the tokens are the same.
    pub similarity: f64,
}

/// A cluster of near-identical hits and what it mattered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Ranks of its hits, ascending.
    pub hits: Vec<usize>,
    /// How its value came about.
    pub how: How,
    /// 1 minus the mean similarity of the answers with and without it; for `similarity` the cosine itself,
    /// for `preview` 1 minus the factor by which a token of the answer becomes less probable.
    pub contribution: f64,
    /// Masked softmax of the contributions, a fraction; none where the contribution is exactly 0.
    pub share: Option<f64>,
    /// The answer without it (without its group where it was settled in one), clean; none where nothing was generated.
    /// Of several iterations the first.
    pub counterfactual_answer: Option<String>,
    /// The generations behind it, one per iteration.
    #[serde(default)]
    pub counterfactuals: Vec<Counterfactual>,
    /// By how much the natural logarithm of the probability of each token of the answer drops when the cluster is
    /// hidden; empty where that was not estimated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<f32>,
}

/// Time per step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttributionTimings {
    /// Clustering the hits.
    pub cluster: Millis,
    /// Estimating before generating.
    pub preview: Millis,
    /// Generating the counterfactual answers.
    pub generate: Millis,
    /// Embedding and comparing the answers.
    pub compare: Millis,
    /// All of it.
    pub total: Millis,
}

/// How much each cluster mattered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// How it was computed.
    pub method: Method,
    /// False when no single source decides: every contribution is 0 and no cluster has a share, or the shares are
    /// flat ([`FLAT_RATIO`](super::FLAT_RATIO)).
    pub decisive: bool,
    /// The clusters, highest contribution first.
    pub clusters: Vec<Cluster>,
    /// Time per step.
    #[serde(default)]
    pub timings_ms: AttributionTimings,
}
