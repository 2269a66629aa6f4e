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
mod judge;
mod neighbours;
mod past;
mod segment;
mod settings;
mod shares;
mod shorten;
mod suggest;
mod translate;
mod wording;

pub use build::{AnswerPrompt, RewritePrompt};
pub use error::PromptError;
pub use judge::JudgePrompt;
pub use past::{PAST_TURNS, PastTurn};
pub use segment::{Cut, CutHow, Part, Prompt, Segment};
pub use settings::{AnswerLanguage, Neighbours, PromptSettings, SourceOrder};
pub use shares::PromptShares;
pub use suggest::SuggestPrompt;
pub use translate::TranslatePrompt;
pub use wording::{about, out_of_scope};

#[cfg(test)]
mod tests;
