//! An earlier turn as the model is told about it.

use serde::{Deserialize, Serialize};

/// How many earlier turns the model is told about, and how many earlier questions are searched along.
pub const PAST_TURNS: usize = 5;

/// A question and its answer, earlier in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// The question as typed.
    pub question: String,
    /// The completed question.
    pub completed_question: String,
    /// The answer as the model wrote it, with the citations that it has of its own.
    pub answer: String,
}
