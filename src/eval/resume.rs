//! Asks the questions of a benchmark with a cache of earlier results.
//!
//! Invariant: a conversation is asked as a whole or not at all, because questions are completed from earlier turns.
//! Not here: the cache of completions (`cached_generator`).

use super::cache::{Cache, key};
use super::retrieval::{Asked, Asking, Doing, Progress, SearchResult, ask};
use super::{ConversationRunner, EvalError, Question};
use ragonite_base::CancelToken;

/// The questions, and how many came from the cache.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resumed {
    /// The questions in order.
    pub asked: Vec<Asked>,
    /// Questions from the cache.
    pub remembered: usize,
}

/// The cache of results.
#[derive(Debug)]
pub struct Memory<'a> {
    /// The results.
    pub cache: &'a mut Cache,
    /// Identifies everything that a result depends on besides the question: program, domain and its state, models and
    /// settings.
    pub settings: &'a str,
}

/// Asks each question that is not in the cache; the runner completes questions if the model is to do it.
///
/// # Errors
/// When a search or the model fails, when the model is to complete questions and there is none, when the cache cannot
/// be written, or with [`EvalError::Canceled`] between two questions.
pub fn ask_again(
    asking: Asking<'_>,
    mut runner: Option<&mut ConversationRunner<'_>>,
    memory: Memory<'_>,
    questions: &[Question],
    cancel: &CancelToken,
    on_progress: &mut dyn FnMut(Progress, Doing),
) -> Result<Resumed, EvalError> {
    let Memory { cache, settings } = memory;
    let mut progress = Progress::default();
    let mut answers: Vec<Option<Asked>> = vec![None; questions.len()];
    for places in conversations(questions) {
        cancel.check()?;
        let conversation: Vec<Question> = places.iter().map(|at| questions[*at].clone()).collect();
        let keys = keys(settings, &conversation);
        let known = keys.iter().zip(&conversation).map(|(key, question)| recall(cache, key, question, asking));
        let asked: Vec<Asked> = if let Some(known) = known.collect::<Option<Vec<Asked>>>() {
            progress.remembered += known.len();
            known
        } else {
            let before = progress;
            let mut on_step = |now: Progress, doing| {
                progress = Progress { done: before.done + now.done, remembered: before.remembered + now.remembered };
                on_progress(progress, doing);
            };
            let asked = ask(asking, runner.as_deref_mut(), &conversation, cancel, &mut on_step)?;
            for (key, one) in keys.iter().zip(&asked) {
                cache.put(key, &one.result())?;
            }
            progress.done = before.done;
            asked
        };
        progress.done += asked.len();
        on_progress(progress, Doing::Searching);
        for (at, one) in places.into_iter().zip(asked) {
            answers[at] = Some(one);
        }
    }
    Ok(Resumed { asked: answers.into_iter().flatten().collect(), remembered: progress.remembered })
}

/// The keys of the questions of a conversation; each depends on all earlier questions.
fn keys(settings: &str, conversation: &[Question]) -> Vec<String> {
    let texts: Vec<String> = conversation.iter().map(|question| format!("{question:?}")).collect();
    let upto = |at: usize| key(std::iter::once(settings).chain(texts[..=at].iter().map(String::as_str)));
    (0..texts.len()).map(upto).collect()
}

/// Indexes of the questions of each conversation in one language.
fn conversations(questions: &[Question]) -> Vec<Vec<usize>> {
    let mut found: indexmap::IndexMap<_, Vec<usize>> = indexmap::IndexMap::new();
    for (at, question) in questions.iter().enumerate() {
        found.entry(question.thread()).or_default().push(at);
    }
    found.into_values().collect()
}

fn recall(cache: &Cache, key: &str, question: &Question, asking: Asking<'_>) -> Option<Asked> {
    Some(Asked::new(asking, question, cache.get::<SearchResult>(key)?))
}
