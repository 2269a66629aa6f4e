//! Evidence and history -> [`Prompt`]: templates, the model's chat template, the token budget.
//!
//! design.md §6: `[system and instructions][around several evidences][evidences][history and question]`, the best evidence
//! first unless the settings say last. Each segment is tokenized on its own, so that [`Prompt::without`] removes an
//! evidence exact to the token and prefixes are really shared.
//! Invariants: a prompt never exceeds its budget; a source keeps its rank as number whatever else is removed.
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
