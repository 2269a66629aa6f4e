//! Benchmarks: questions with gold pages -> figures by slice, beside those of the paper.
//!
//! Takes a folder with documents and questions (ConfQuestions, or a `questions.toml` in the demo's form) and an open
//! domain; gives per question where the gold page came, and from that P@1, hit@k, MRR and precision.
//! Invariants: scoring is pure; a page is compared by its number, by its URL string and by its text, each on its own;
//! a gold page that is in no document counts as not found, and is counted.
//! Not here: opening domains and embedders, printing (`run`).

mod benchmark;
mod domain;
mod error;
mod pages;
mod pairs;
mod paper;
mod questions;
mod report;
mod retrieval;
mod score;
mod table;
#[cfg(test)]
mod tests;

pub use benchmark::{Benchmark, Comparison, Part, Question, Wanted};
pub use domain::{Preparation, prepare};
pub use error::{EvalError, Flaw};
pub use pages::Pages;
pub use paper::CONTEXTS;
pub use questions::{DomainFolder, DomainsFile, QuestionConversation, QuestionFile, QuestionTurn, QuestionType};
pub use report::{By, Report, Slice, TurnGroup};
pub use retrieval::{Asked, Asking, Completion, Found, ask, search};
pub use score::{Outcome, Page, Ranked, Scores};
pub use table::{ablation, figures};
