//! Runs a question of a benchmark through the whole turn: search, prompt, answer.
//!
//! The steps are those of the program (`retrieval`, `answer`). If the model completes questions, earlier turns are
//! those of the run; otherwise they are those of the benchmark with reference answers, so that every question can be
//! asked alone.
//! Not here: figures (`answers`, `attribution_eval`).

use super::retrieval::{Asking, search};
use super::score::{Outcome, Page, Placed};
use super::{ConversationRunner, EvalError, Question};
use ragonite_base::CancelToken;
use ragonite_rag::answer::{Answer, AnswerEvent, RewriteHow};
use ragonite_rag::retrieval::Hit;

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The question.
    pub question: Question,
    /// The question that was searched and answered.
    pub query: String,
    /// Origin of the completed question; none if it was not completed.
    pub how: Option<RewriteHow>,
    /// The translated question, if it was searched as well.
    pub translated: Option<String>,
    /// The hits for the prompt, best first.
    pub hits: Vec<Hit>,
    /// The pages of the hits.
    pub pages: Vec<Placed>,
    /// The gold pages in the domain.
    pub gold: Vec<Page>,
    /// Ranks of the gold pages among all hits.
    pub outcome: Outcome,
    /// The answer.
    pub answer: Answer,
}

impl Answered {
    /// Whether a source is on a gold page or a copy of one.
    #[must_use]
    pub fn is_gold(&self, rank: usize) -> bool {
        let at = self.hits.iter().position(|hit| hit.rank == rank);
        at.and_then(|at| self.pages.get(at)).is_some_and(|page| self.gold.iter().any(|gold| page.is_copy_of(gold)))
    }

    /// Whether any source in the prompt is on a gold page or a copy of one.
    #[must_use]
    pub fn has_gold(&self) -> bool {
        self.answer.prompt.sources().into_iter().any(|rank| self.is_gold(rank))
    }
}

/// Answers a question. `added` is one more source, after those of the search.
///
/// # Errors
/// When the search or the model fails, or with [`EvalError::Canceled`].
pub fn answer(
    asking: Asking<'_>,
    runner: &mut ConversationRunner<'_>,
    question: &Question,
    added: Option<&Hit>,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<Answered, EvalError> {
    cancel.check()?;
    let mut posed = search(asking, Some(&mut *runner), question, cancel)?;
    // A document removed since the search has no page.
    let retrieved = &mut posed.searched.retrieved;
    let hits = std::mem::take(&mut retrieved.hits);
    let known = hits.into_iter().filter_map(|hit| Some((asking.pages.of_hit(&hit)?, hit)));
    let (mut pages, hits): (Vec<Placed>, Vec<Hit>) = known.unzip();
    let gold = asking.pages.gold_of(question);
    let outcome = Outcome::of(&gold, &pages);
    retrieved.hits = hits;
    if let Some(added) = added {
        retrieved.hits = retrieved.for_prompt(runner.sources());
        pages.truncate(retrieved.hits.len());
        let rank = retrieved.hits.iter().map(|hit| hit.rank).max().unwrap_or(0) + 1;
        pages.extend(asking.pages.of_hit(added));
        retrieved.hits.push(Hit { rank, version: None, ..added.clone() });
        posed.request.settings.sources = retrieved.hits.len();
    }
    let answer = runner.answer(asking, question, &posed, cancel, on_event)?;
    let hits = posed.searched.retrieved.for_prompt(posed.request.settings.sources);
    pages.truncate(hits.len());
    let (query, how, translated) = (posed.query().to_owned(), posed.how, posed.translated().map(str::to_owned));
    Ok(Answered { question: question.clone(), query, how, translated, hits, pages, gold, outcome, answer })
}
