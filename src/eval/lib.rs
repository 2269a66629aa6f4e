//! Benchmarks: questions with gold pages and reference answers give figures by slice, beside those of the paper.
//!
//! Takes a folder with documents and questions (ConfQuestions, or a `questions.toml`) and an open domain. Gives, per
//! question, the rank of the gold page, scores of the answer, and whether attribution points to the gold page or to a
//! source with a planted fact; from these, means with intervals and tests between runs. Exports turns of the history as
//! questions.
//! Invariants: scoring is pure; pages are compared by number, by URL string and by text, each separately; a gold page
//! that is in no document counts as not found, and is counted; resampling and exchange tests use whole conversations; a
//! cached result is used only if it would come out the same.
//! Not here: opening domains and models, printing (`cli`).

mod ablation;
mod aggregate;
mod answers;
mod attribution_eval;
mod benchmark;
mod cache;
mod cached_generator;
mod compare;
mod confquestions;
mod conversation_runner;
mod domain;
mod error;
mod export_case;
mod judge;
mod markdown;
mod metric;
mod no_match;
mod other_fact;
mod overlap;
mod pages;
mod paper;
mod plant;
mod plant_eval;
mod plant_table;
#[cfg(test)]
mod plant_tests;
mod precision;
mod questions;
mod resume;
mod retrieval;
mod sample;
mod score;
mod significance;
mod slices;
mod stats;
mod support_eval;
mod table;
#[cfg(test)]
mod test_kit;
#[cfg(test)]
mod tests;
mod topic;
mod turn;
#[cfg(test)]
mod turn_tests;

pub use ablation::{Ablation, Comparing, Variant, Variation};
pub use aggregate::{Figure, Figures, Line, Measured};
pub use answers::{ABOUT_SOURCES, ABOUT_TEXT, Judgement, ScoredAnswer};
pub use attribution_eval::{
    AS_IN_PAPER, Explained, Explaining, NOISY, Noise, Pointed, WAYS, WITHOUT_ANSWERS, Way, attribute, noise,
    noise_quantiles,
};
pub use benchmark::{Benchmark, Comparison, Limit, Part, Question, Unit, Wanted};
pub use cache::{Cache, key};
pub use cached_generator::{CachedGenerator, GeneratorFingerprint, Used};
pub use compare::{Run, Runs, Scored};
pub use conversation_runner::{ConversationRunner, RunnerSettings};
pub use domain::{OnPreparing, Preparation, Preparing, prepare};
pub use error::{EvalError, Flaw};
pub use export_case::{ExportCaseError, ExportedCase, export_case};
pub use judge::{Judged, Verdict, judge};
pub use markdown::Markdown;
pub use metric::{Metric, PageMatch, PlantScore, Ranking};
pub use no_match::{NO_PAGE, NoMatch, Nonsense, Unfit, nonsense};
pub use overlap::Overlap;
pub use pages::Pages;
pub use paper::{CONTEXTS, Papers};
pub use plant::{FactPool, Plant, Unplanted};
pub use plant_eval::{
    PLANT_TOP, PLANTS, PlantArea, PlantChance, PlantCounts, PlantOutcome, PlantedAnswer, PlantedQuestion, Planting,
    Weighed, WeighedSource, ask_planted, weigh_planted,
};
pub use plant_table::planted;
pub use questions::{DomainFolder, DomainsFile, QuestionConversation, QuestionFile, QuestionTurn, QuestionType};
pub use resume::{Memory, Resumed, ask_again};
pub use retrieval::{
    Asked, Asking, BY_CONTENT_AND_URL, BY_PAGE, Completion, Doing, Found, Posed, Progress, ask, search,
};
pub use score::{Outcome, Page, Placed};
pub use significance::{Difference, Exchanged, Significance, Tested, Tests};
pub use slices::{Slice, TurnGroup};
pub use stats::{
    Distribution, Interval, McNemar, PairedT, bootstrap, exchange, holm, interval, mcnemar, mcnemar_by_conversation,
    mean, paired_t,
};
pub use support_eval::{SupportChecked, WRONG_ANSWERS, WRONG_OF_A_KIND, WrongAnswer, check_support};
pub use table::{by_method, intervals, measured, retrieved};
pub use topic::Topic;
pub use turn::{Answered, answer};
