//! How much each cluster of sources mattered for an answer (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer, its prompt and the embeddings of its evidences; gives an [`Attribution`].
//! Invariants: every source in the prompt is in exactly one cluster; clusters up to the floor of their method have no
//! share; the other shares sum to 1, or all are none and the result is not decisive; citations count in no value; 0
//! means equal tokens, not a cosine.
//! Not here: drawing bars (`tui`), storing (`history`).

mod attribute;
mod cluster;
mod content;
mod counterfactual;
mod difference;
mod error;
mod logprob;
mod masked_estimate;
mod plan;
mod score;
mod sentence;
mod settings;
mod similarity;
#[cfg(test)]
mod tests;
mod types;

pub use attribute::attribute;
pub use cluster::{SourceVector, cluster};
pub use counterfactual::{AnswerSource, Engines, ExplainInput, SMALLEST_CHANGE, explain};
pub use difference::{Change, DiffPart, difference};
pub use error::AttributionError;
pub use logprob::{Reading, probability};
pub use masked_estimate::masked_estimate;
pub use score::{Effect, FLAT_RATIO, floor, is_decisive, shares};
pub use sentence::by_sentence;
pub use settings::{AttributionSettings, EstimateFirst, ExplainAhead, GroupTest, SettingError};
pub use similarity::{SimilarityInput, similarity};
pub use types::{
    ANSWER_CHANGED, Attribution, AttributionTimings, Cluster, Counterfactual, Method, Provenance, Sentence,
    SentenceCluster, UnknownMethod, change_of,
};
