//! Completes a follow-up, translates it where the documents have another language, generates the answer, reads its
//! citations or asks for them, suggests how to go on.
//!
//! Takes a question, the turns before it and the hits; gives a [`Rewrite`], a [`Translation`] and an [`Answer`].
//! Invariants: a citation is a source that was in the prompt, every other number is invalid; the first question of a
//! conversation is never rewritten; text from the model is clean before anyone sees it.
//! Not here: finding evidence (`retrieval`), the wording of prompts (`prompt`, `assets/prompts`).

mod asked_date;
mod check;
pub mod citation;
mod elsewhere;
mod error;
mod figures;
mod generate;
mod named;
mod names;
mod outcome;
mod rewrite;
mod scope;
mod stream;
mod suggest;
mod translate;

pub use asked_date::AskedDate;
pub use error::AnswerError;
pub use figures::Miscited;
pub use generate::{AnswerEvent, AnswerInput, AnswerSettings, answer_request, generate_answer, read_answer};
pub use named::{Named, with_sources};
pub use outcome::{Answer, Rewrite, RewriteHow, Translation, TranslationHow};
pub use rewrite::{RewriteInput, edited_question, first_question, question_again, rewrite};
pub use suggest::{MOST as MOST_SUGGESTIONS, SuggestInput, Suggestions, suggest};
pub use translate::{TranslateInput, answer_language, translate, translation_wanted};

#[cfg(test)]
mod tests;
