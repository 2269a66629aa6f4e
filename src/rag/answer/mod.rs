//! Completes a follow-up, translates it, generates the answer with its citations, and suggests next questions.
//!
//! Takes a question, earlier turns and hits; gives a [`Rewrite`], a [`Translation`] and an [`Answer`].
//! Invariants: a valid citation is a source of the prompt; the first question of a conversation is never rewritten;
//! text from the model is cleaned before it is shown.
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
pub mod sentences;
mod stream;
mod suggest;
mod support;
mod translate;
mod types;

pub use asked_date::AskedDate;
pub use citation_repair::{RepairedCitation, repair_citations};
pub use error::AnswerError;
pub use figures::MiscitedNumber;
pub use generate::{
    AnswerEvent, AnswerInput, AnswerSettings, ReadAnswer, answer_request, generate_answer, out_of_scope_answer,
    read_answer,
};
pub use rewrite::{RewriteInput, edited_question, first_question, question_again, rewrite};
pub use suggest::{MOST as MOST_SUGGESTIONS, SuggestInput, Suggestions, suggest};
pub use support::{Abstain, Facts, Support, SupportReason, SupportVerdict, facts};
pub use translate::{LanguagePair, TranslateInput, answer_language, translate, translation_wanted};
pub use types::{Answer, Rewrite, RewriteHow, Translation, TranslationHow};

#[cfg(test)]
mod tests;
