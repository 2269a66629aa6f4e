//! Errors of retrieval.

use ragonite_base::Canceled;
use ragonite_index::IndexError;
use ragonite_inference::InferenceError;

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// The domain could not be searched.
    #[error("searching the domain")]
    Index(#[source] IndexError),
    /// The question could not be embedded.
    #[error("embedding the question")]
    Embed(#[source] InferenceError),
    /// The candidates could not be scored.
    #[error("reranking the candidates")]
    Rerank(#[source] InferenceError),
}

impl From<IndexError> for RetrievalError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Index(other),
        }
    }
}

impl RetrievalError {
    /// Keeps a cancellation a cancellation; other errors become `doing`.
    pub(super) fn of(error: InferenceError, doing: fn(InferenceError) -> Self) -> Self {
        match error {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            other => doing(other),
        }
    }
}
