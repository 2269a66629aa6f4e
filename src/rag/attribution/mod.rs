//! How much each cluster of evidences mattered for an answer (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer, its prompt and the embeddings of its evidences; gives an [`Attribution`].
//! Invariants: every source in the prompt is in exactly one cluster; a contribution of 0, or of what says the same, has no
//! share; the shares of the others sum to 1, or all are none and the result is not decisive; zero means the same tokens,
//! not a cosine.
//! Not here: drawing bars (`tui`), storing them (`history`).

mod cluster;
mod counterfactual;
mod difference;
mod error;
mod outcome;
mod plan;
mod preview;
mod probability;
mod score;
mod sentence;
mod settings;
mod similarity;
#[cfg(test)]
mod tests;

pub use cluster::{SourceVector, cluster};
pub use counterfactual::{Engines, ExplainInput, Origin, SMALLEST_CHANGE, explain};
pub use difference::{Change, DiffPart, difference};
pub use error::AttributionError;
pub use outcome::{
    Attribution, AttributionTimings, Cluster, Counterfactual, How, Method, OTHERWISE, Sentence, SentenceCluster,
    UnknownMethod, change_of,
};
pub use preview::preview;
pub use probability::{Reading, probability};
pub use score::{FLAT_RATIO, LEAST_MOVE, is_decisive, shares};
pub use sentence::by_sentence;
pub use settings::{AttributionSettings, EstimateFirst, ExplainAhead, GroupTest, SettingError};
pub use similarity::{SimilarityInput, similarity};
