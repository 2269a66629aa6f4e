//! Asking the questions of a benchmark with a memory of what was asked before.
//!
//! Invariant: a conversation is asked as a whole or not at all, so that whoever completes questions from the turns
//! before sees them all.

use super::cache::{Cache, key};
use super::retrieval::{Asked, Asking, Found, ask};
use super::score::{Outcome, Page};
use super::{EvalError, Pages, Question};
use crate::base::CancelToken;

/// What was asked, and how much of it before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resumed {
    /// The questions in order.
    pub asked: Vec<Asked>,
    /// So many of them were remembered.
    pub remembered: usize,
}

/// How far asking is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Questions that are done.
    pub done: usize,
    /// Those of them that were remembered.
    pub remembered: usize,
}

/// What was found before.
#[derive(Debug)]
pub struct Memory<'a> {
    /// The results.
    pub cache: &'a mut Cache,
    /// Names everything that a result depends on beside the question itself: the program, the domain and its state,
    /// models and settings.
    pub settings: &'a str,
}

/// Asks each question that the memory does not have.
///
/// # Errors
/// When a search fails or the cache cannot be written, or with [`EvalError::Canceled`] between two questions.
pub fn ask_again(
    asking: Asking<'_>,
    memory: Memory<'_>,
    questions: &[Question],
    cancel: &CancelToken,
    on_progress: &mut dyn FnMut(Progress),
) -> Result<Resumed, EvalError> {
    let Memory { cache, settings } = memory;
    let pages = Pages::of(asking.engines.index)?;
    let mut progress = Progress::default();
    let mut answers: Vec<Option<Asked>> = vec![None; questions.len()];
    for places in conversations(questions) {
        cancel.check()?;
        let keys: Vec<String> = places.iter().map(|at| key([settings, &format!("{:?}", questions[*at])])).collect();
        let known = keys.iter().zip(&places).map(|(key, at)| recall(cache, key, &questions[*at], &pages));
        let asked: Vec<Asked> = if let Some(known) = known.collect::<Option<Vec<Asked>>>() {
            progress.remembered += known.len();
            known
        } else {
            let conversation: Vec<Question> = places.iter().map(|at| questions[*at].clone()).collect();
            let before = progress;
            let mut hear = |done| on_progress(Progress { done: before.done + done, ..before });
            let asked = ask(asking, &conversation, cancel, &mut hear)?;
            for (key, one) in keys.iter().zip(&asked) {
                cache.put(key, &(&one.query, &one.hits))?;
            }
            asked
        };
        progress.done += asked.len();
        on_progress(progress);
        for (at, one) in places.into_iter().zip(asked) {
            answers[at] = Some(one);
        }
    }
    Ok(Resumed { asked: answers.into_iter().flatten().collect(), remembered: progress.remembered })
}

/// The places of the questions of each conversation in one language.
fn conversations(questions: &[Question]) -> Vec<Vec<usize>> {
    let mut found: indexmap::IndexMap<_, Vec<usize>> = indexmap::IndexMap::new();
    for (at, question) in questions.iter().enumerate() {
        found.entry((&question.conversation, question.language)).or_default().push(at);
    }
    found.into_values().collect()
}

fn recall(cache: &Cache, key: &str, question: &Question, pages: &Pages) -> Option<Asked> {
    let (query, hits): (String, Vec<Found>) = cache.get(key)?;
    let gold: Vec<Page> = question.gold.iter().filter_map(|name| pages.gold(name)).collect();
    let ranking: Vec<Page> = hits.iter().map(|hit| hit.page.clone()).collect();
    let outcome = Outcome::of(&gold, &ranking);
    Some(Asked { question: question.clone(), query, gold, hits, outcome })
}
