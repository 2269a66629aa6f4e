//! Completes a follow-up, translates it where the documents have another language, generates the answer, reads its
//! citations or asks for them, suggests how to go on.
//!
//! Takes a question, the turns before it and the hits; gives a [`Rewrite`], a [`Translation`] and an [`Answer`].
//! Invariants: a citation is a source that was in the prompt, every other number is invalid; the first question of a
//! conversation is never rewritten; text from the model is clean before anyone sees it.
//! Not here: finding evidence (`retrieval`), the wording of prompts (`prompt`, `assets/prompts`).

mod abstention;
mod asked_date;
pub mod citation;
mod citation_repair;
mod elsewhere;
mod entity_carryover;
mod error;
mod figures;
mod generate;
mod rewrite;
mod rewrite_guard;
mod stream;
mod suggest;
mod translate;
mod types;

pub use asked_date::AskedDate;
pub use citation_repair::{RepairedCitation, repair_citations};
pub use error::AnswerError;
pub use figures::MiscitedNumber;
pub use generate::{AnswerEvent, AnswerInput, AnswerSettings, answer_request, generate_answer, read_answer};
pub use rewrite::{RewriteInput, edited_question, first_question, question_again, rewrite};
pub use suggest::{MOST as MOST_SUGGESTIONS, SuggestInput, Suggestions, suggest};
pub use translate::{TranslateInput, answer_language, translate, translation_wanted};
pub use types::{Answer, Rewrite, RewriteHow, Translation, TranslationHow};

#[cfg(test)]
mod tests;
