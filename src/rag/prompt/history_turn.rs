//! An earlier turn in the prompt.

use serde::{Deserialize, Serialize};

/// Earlier turns in the prompt, and earlier questions that are searched.
pub const PAST_TURNS: usize = 5;

/// An earlier question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// The question as typed.
    pub question: String,
    /// The completed question.
    pub completed_question: String,
    /// The answer as the model wrote it, without repaired citations.
    pub answer: String,
}
