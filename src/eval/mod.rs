//! Question files with gold pages and gold answers, in the form of `assets/demo/questions.toml`.
//!
//! Invariant: a [`QuestionFile`] has at least one conversation, each at least one turn, each at least one gold fact.
//! Not here: asking the questions (`run`).

mod questions;

pub use questions::{EvalError, Flaw, QuestionConversation, QuestionFile, QuestionTurn, QuestionType};
