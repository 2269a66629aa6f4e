//! One question of a benchmark through the whole turn: search, prompt, answer.
//!
//! The steps are those of the program itself (`retrieval`, `answer`); the turns before it are those of the benchmark,
//! with their right answers, so that every question can be asked on its own.
//! Not here: figures (`answers`, `attributed`).

use super::retrieval::{Asking, search};
use super::score::{Outcome, Page};
use super::{EvalError, Pages, Question};
use crate::answer::{Answer, AnswerEvent, AnswerInput, AnswerSettings, generate_answer};
use crate::base::{CancelToken, Language};
use crate::inference::Generate;
use crate::retrieval::Hit;

/// How questions are answered.
#[derive(Clone, Copy)]
pub struct Answering<'a> {
    /// How evidence is found.
    pub asking: Asking<'a>,
    /// The pages of the domain.
    pub pages: &'a Pages,
    /// What the model is told about the domain; empty for the default.
    pub prefix: &'a str,
    /// How prompts are built and answers are generated.
    pub settings: &'a AnswerSettings,
    /// Hits that go into the prompt.
    pub sources: usize,
}

/// A question that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The question.
    pub question: Question,
    /// What was searched for, and answered.
    pub query: String,
    /// The hits that were given to the prompt, best first.
    pub hits: Vec<Hit>,
    /// Their pages.
    pub pages: Vec<Page>,
    /// The gold pages that are in the domain.
    pub gold: Vec<Page>,
    /// Where the gold pages came among all hits.
    pub outcome: Outcome,
    /// The answer.
    pub answer: Answer,
}

impl Answered {
    /// Whether the source with this number is on a gold page, or on a copy of one.
    #[must_use]
    pub fn is_gold(&self, rank: usize) -> bool {
        let at = self.hits.iter().position(|hit| hit.rank == rank);
        at.and_then(|at| self.pages.get(at)).is_some_and(|page| self.gold.iter().any(|gold| gold.is_copy_of(page)))
    }

    /// Whether a source in the prompt is on a gold page, or on a copy of one.
    #[must_use]
    pub fn has_gold(&self) -> bool {
        self.answer.prompt.sources().into_iter().any(|rank| self.is_gold(rank))
    }
}

/// Answers one question.
///
/// # Errors
/// When the search or the model fails, or with [`EvalError::Canceled`].
pub fn answer(
    answering: Answering<'_>,
    generator: &mut dyn Generate,
    question: &Question,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<Answered, EvalError> {
    cancel.check()?;
    let pages = answering.pages;
    let (query, retrieved) = search(answering.asking, question, cancel)?;
    // A document that went away between search and now has no page.
    let known = retrieved.hits.into_iter().filter_map(|hit| Some((pages.page(hit.document)?.clone(), hit)));
    let (mut pages_of_hits, mut hits): (Vec<Page>, Vec<Hit>) = known.unzip();
    let gold: Vec<Page> = question.gold.iter().filter_map(|name| pages.gold(name)).collect();
    let outcome = Outcome::of(&gold, &pages_of_hits);
    hits.truncate(answering.sources);
    pages_of_hits.truncate(answering.sources);
    let input = AnswerInput {
        prefix: answering.prefix,
        language: Language::of(&query),
        past: &question.past,
        question: &query,
        hits: &hits,
        settings: answering.settings,
    };
    let answer = generate_answer(generator, &input, cancel, on_event)?;
    Ok(Answered { question: question.clone(), query, hits, pages: pages_of_hits, gold, outcome, answer })
}
