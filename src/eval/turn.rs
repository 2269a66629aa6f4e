//! One question of a benchmark through the whole turn: search, prompt, answer.
//!
//! The steps are those of the program itself (`retrieval`, `answer`). Where the model completes questions, the turns
//! before are those that went through here; otherwise they are those of the benchmark, with their right answers, so that
//! every question can be asked on its own.
//! Not here: figures (`answers`, `attribution_eval`).

use super::retrieval::{Asking, Posed, search};
use super::score::{Outcome, Page, Placed};
use super::{ConversationRunner, EvalError, Question};
use ragonite_base::CancelToken;
use ragonite_rag::answer::{Answer, AnswerEvent, RewriteHow};
use ragonite_rag::retrieval::Hit;

/// A question that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The question.
    pub question: Question,
    /// What was searched for, and answered.
    pub query: String,
    /// How the program completed it; none where it did not.
    pub how: Option<RewriteHow>,
    /// Its translation, where that was searched for too.
    pub translated: Option<String>,
    /// The hits that were given to the prompt, best first.
    pub hits: Vec<Hit>,
    /// Their pages.
    pub pages: Vec<Placed>,
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
        at.and_then(|at| self.pages.get(at)).is_some_and(|page| self.gold.iter().any(|gold| page.is_copy_of(gold)))
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
    asking: Asking<'_>,
    speaker: &mut ConversationRunner<'_>,
    question: &Question,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<Answered, EvalError> {
    cancel.check()?;
    let mut posed = search(asking, Some(&mut *speaker), question, cancel)?;
    // A document that went away between search and now has no page.
    let hits = std::mem::take(&mut posed.retrieved.hits);
    let known = hits.into_iter().filter_map(|hit| Some((asking.pages.of_hit(&hit)?, hit)));
    let (mut pages, hits): (Vec<Placed>, Vec<Hit>) = known.unzip();
    let gold = asking.pages.gold_of(question);
    let outcome = Outcome::of(&gold, &pages);
    posed.retrieved.hits = hits;
    let answer = speaker.answer((question, &posed), asking.engines.index.language()?, cancel, on_event)?;
    let hits = posed.retrieved.for_prompt(speaker.sources());
    pages.truncate(hits.len());
    let Posed { query, how, translated, .. } = posed;
    Ok(Answered { question: question.clone(), query, how, translated, hits, pages, gold, outcome, answer })
}
