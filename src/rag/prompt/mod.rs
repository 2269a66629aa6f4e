//! Takes evidence, history and question, gives a [`Prompt`] within the token budget, in the form of the model's chat
//! template.
//!
//! Segments: `[system and instructions][shared contexts][evidences][history and question]`, the order of evidences by
//! the settings. Each segment is tokenized on its own, so [`Prompt::without`] removes an evidence exactly and prefixes
//! really share tokens.
//! Invariants: a prompt never exceeds its budget; a source keeps its rank as number if others are removed.
//! Not here: running the model (`inference`), reading its answer (`answer`).

mod build;
mod chat;
mod error;
mod history_turn;
mod judge;
mod segment;
mod settings;
mod shared_context;
mod shorten;
mod suggest;
mod token_budget;
mod translate;
mod wording;

pub use build::{AnswerPrompt, RewritePrompt};
pub use error::PromptError;
pub use history_turn::{HistoryTurn, PAST_TURNS};
pub use judge::JudgePrompt;
pub use segment::{Cut, CutHow, Part, Prompt, Segment};
pub use settings::{AnswerLanguage, Neighbours, PromptSettings, SourceOrder};
pub use suggest::SuggestPrompt;
pub use token_budget::TokenBudget;
pub use translate::TranslatePrompt;
pub use wording::{about, out_of_scope};

#[cfg(test)]
mod tests;
