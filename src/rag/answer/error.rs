//! Errors of rewriting, translating and answering.

use crate::prompt::PromptError;
use ragonite_base::Canceled;
use ragonite_inference::InferenceError;

/// Why a question could not be completed or answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// The prompt could not be built.
    #[error("building the prompt")]
    Prompt(#[source] PromptError),
    /// The model failed.
    #[error("generating text")]
    Generate(#[source] InferenceError),
}

impl From<InferenceError> for AnswerError {
    fn from(error: InferenceError) -> Self {
        match error {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Generate(other),
        }
    }
}

impl From<PromptError> for AnswerError {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Count(InferenceError::Canceled(canceled)) => Self::Canceled(canceled),
            other => Self::Prompt(other),
        }
    }
}
