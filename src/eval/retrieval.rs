//! Asks the questions of a benchmark and compares the pages of the hits with the gold pages.
//!
//! Not here: the figures (`score`, `report`).

use serde::{Deserialize, Serialize};

use super::figures::{Figures, Measure, not_in_paper};
use super::score::{Outcome, Page};
use super::{EvalError, Pages, Question};
use crate::base::CancelToken;
use crate::evidence::Kind;
use crate::retrieval::{Conversation, Engines, Hit, RetrievalSettings, Retrieved, retrieve_follow_up};

/// Where the intent-explicit form of a question comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Completion {
    /// A person wrote it, as the benchmark has it.
    #[default]
    Human,
    /// There is none: the question is searched as it was asked.
    None,
    /// There is none: the question is searched as it was asked, with the questions before it.
    History,
}

/// How questions are asked.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The domain and its embedder.
    pub engines: Engines<'a>,
    /// How evidence is looked for.
    pub settings: &'a RetrievalSettings,
    /// What is searched for.
    pub completion: Completion,
}

/// A hit, as far as it is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Its page.
    #[serde(flatten)]
    pub page: Page,
    /// Title of the page.
    pub title: String,
    /// Kind of the evidence.
    pub kind: Kind,
    /// Place in the document.
    pub location: String,
    /// Score of the fusion.
    pub fused: f64,
    /// Place in the dense list.
    pub dense_rank: Option<usize>,
    /// Place in the lexical list.
    pub lexical_rank: Option<usize>,
}

/// A question that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// What was searched for.
    pub query: String,
    /// Its gold pages that are in the domain.
    pub gold: Vec<Page>,
    /// The hits, best first.
    pub hits: Vec<Found>,
    /// Where the gold pages came.
    pub outcome: Outcome,
}

/// Of searches, in the order of the tables.
const MEASURES: &[Measure<Asked>] = &[
    measure("page.p_at_1", "P@1", |one| Some(within(one.outcome.page, 1))),
    measure("page.hit_at_5", "hit@5", |one| Some(within(one.outcome.page, 5))),
    measure("page.hit_at_10", "hit@10", |one| Some(within(one.outcome.page, 10))),
    measure("page.mrr", "MRR", |one| Some(one.outcome.page.map_or(0.0, |rank| 1.0 / rank as f64))),
    measure("precision_at_10", "P@10", |one| Some(one.outcome.gold_in_ten as f64 / 10.0)),
    measure("content.p_at_1", "content P@1", |one| Some(within(one.outcome.content, 1))),
    measure("content.hit_at_10", "content hit@10", |one| Some(within(one.outcome.content, 10))),
    measure("url.p_at_1", "url P@1", |one| Some(within(one.outcome.url, 1))),
];

const fn measure(name: &'static str, title: &'static str, value: fn(&Asked) -> Option<f64>) -> Measure<Asked> {
    Measure { name, title, value, paper: not_in_paper }
}

fn within(rank: Option<usize>, k: usize) -> f64 {
    f64::from(u8::from(rank.is_some_and(|rank| rank <= k)))
}

/// The figures of searches, with their intervals.
#[must_use]
pub fn retrieval_figures(asked: &[Asked]) -> Figures {
    Figures::of(MEASURES, &asked.iter().map(|one| (&one.question, one)).collect::<Vec<_>>())
}

impl Question {
    /// What is searched for.
    #[must_use]
    pub fn query(&self, completion: Completion) -> &str {
        match completion {
            Completion::Human => &self.completed,
            Completion::None | Completion::History => &self.raw,
        }
    }
}

/// Asks each question; `on_asked` hears how many were.
///
/// # Errors
/// When a search fails, or with [`EvalError::Canceled`] between two questions.
pub fn ask(
    asking: Asking<'_>,
    questions: &[Question],
    cancel: &CancelToken,
    on_asked: &mut dyn FnMut(usize),
) -> Result<Vec<Asked>, EvalError> {
    let pages = Pages::of(asking.engines.index)?;
    let mut asked = Vec::with_capacity(questions.len());
    for question in questions {
        cancel.check()?;
        let (query, retrieved) = search(asking, question, cancel)?;
        let gold: Vec<Page> = question.gold.iter().filter_map(|name| pages.gold(name)).collect();
        let hits: Vec<Found> = retrieved.hits.into_iter().filter_map(|hit| found(&pages, hit)).collect();
        let ranking: Vec<Page> = hits.iter().map(|hit| hit.page.clone()).collect();
        let outcome = Outcome::of(&gold, &ranking);
        asked.push(Asked { question: question.clone(), query, gold, hits, outcome });
        on_asked(asked.len());
    }
    Ok(asked)
}

/// Searches for one question; also gives what was searched for.
///
/// # Errors
/// When the search fails, or with [`EvalError::Canceled`].
pub fn search(asking: Asking<'_>, question: &Question, cancel: &CancelToken) -> Result<(String, Retrieved), EvalError> {
    let query = question.query(asking.completion).to_owned();
    let earlier: Vec<String> = match asking.completion {
        Completion::Human | Completion::None => Vec::new(),
        Completion::History => question.past.iter().map(|turn| turn.question.clone()).collect(),
    };
    let conversation = Conversation { question: &query, completed: None, translated: None, earlier: &earlier };
    let retrieved = retrieve_follow_up(asking.engines, &conversation, asking.settings, cancel)?;
    Ok((query, retrieved))
}

fn found(pages: &Pages, hit: Hit) -> Option<Found> {
    let page = pages.page(hit.document)?.clone();
    let Hit { title, kind, location, fused, dense_rank, lexical_rank, .. } = hit;
    Some(Found { page, title, kind, location, fused, dense_rank, lexical_rank })
}
