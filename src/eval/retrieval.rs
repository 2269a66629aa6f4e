//! Asks the questions of a benchmark and compares the pages of the hits with the gold pages.
//!
//! If the model completes questions, each conversation runs as on the screen: a turn is completed from the earlier
//! turns of the run, searched, and answered if another turn follows.
//! Not here: prompts (`conversation_runner`), scores of ranks (`score`), means (`aggregate`).

use serde::{Deserialize, Serialize};

use super::aggregate::Measured;
use super::conversation_runner::BenchmarkEngines;
use super::metric::{Metric, P_AT_1, PageMatch, Ranking, URL_P_AT_1, both};
use super::score::{Outcome, Page, Placed, share};
use super::{ConversationRunner, EvalError, Pages, Question, Used};
use ragonite_base::CancelToken;
use ragonite_document::evidence::Kind;
use ragonite_rag::answer::{AnswerEvent, RewriteHow};
use ragonite_rag::pipeline::{SearchedTurn, TurnRequest, TurnSettings, Wording, search_turn};
use ragonite_rag::retrieval::{
    EarlierQuestion, Hit, MatchQuality, RetrievalSettings, Retrieved, SearchContext, Translate,
};

/// Origin of the completed question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Completion {
    /// A person; from the benchmark.
    #[default]
    Human,
    /// None: the raw question is searched.
    None,
    /// None: the raw question is searched with the earlier questions.
    History,
    /// The model completes it from the earlier turns of the run; raw question, completed question and earlier questions
    /// are searched together.
    Model,
}

/// Settings of asking.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The domain and its embedder.
    pub engines: SearchContext<'a>,
    /// Settings of the search.
    pub settings: &'a RetrievalSettings,
    /// Origin of the completed question.
    pub completion: Completion,
    /// Earlier turns in the prompt and in the search.
    pub past_turns: usize,
    /// The pages of the domain.
    pub pages: &'a Pages,
}

/// A question with its search.
#[derive(Debug, Clone, PartialEq)]
pub struct Posed {
    /// The question in its conversation.
    pub request: TurnRequest,
    /// The completed question and its search.
    pub searched: SearchedTurn,
    /// Origin of the completed question; none if it was not completed.
    pub how: Option<RewriteHow>,
}

impl Posed {
    /// The question that was searched and is answered.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.searched.rewrite.completed
    }

    /// The translated question, if it was searched as well.
    #[must_use]
    pub fn translated(&self) -> Option<&str> {
        self.searched.translation.as_ref().and_then(|translation| translation.text.as_deref())
    }
}

/// Progress of asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Finished questions.
    pub done: usize,
    /// Finished questions from the cache.
    pub remembered: usize,
}

/// Current step of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// Search.
    Searching,
    /// Completion by the model.
    Completing,
    /// Answer by the model.
    Answering(AnswerEvent),
}

/// The scored part of a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Its page.
    #[serde(flatten)]
    pub page: Placed,
    /// Title of the page.
    pub title: String,
    /// Kind of the evidence.
    pub kind: Kind,
    /// Place in the document.
    pub location: String,
    /// Fused score.
    pub fused: f64,
    /// Rank in the dense list.
    pub dense_rank: Option<usize>,
    /// Rank in the lexical list.
    pub lexical_rank: Option<usize>,
}

/// The result of a question, as the cache keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SearchResult {
    /// The question that was searched.
    pub(super) query: String,
    /// Origin of the completed question.
    pub(super) how: Option<RewriteHow>,
    /// The translated question.
    pub(super) translated: Option<String>,
    /// The hits, best first.
    pub(super) hits: Vec<Found>,
    /// How well the hits fit the question.
    pub(super) quality: Option<MatchQuality>,
}

/// A question with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The question that was searched.
    pub query: String,
    /// Origin of the completed question; none if it was not completed.
    pub how: Option<RewriteHow>,
    /// The translated question, if it was searched as well.
    pub translated: Option<String>,
    /// Its gold pages that are in the domain.
    pub gold: Vec<Page>,
    /// The hits, best first.
    pub hits: Vec<Found>,
    /// How well the hits fit the question; none without hits.
    pub quality: Option<MatchQuality>,
    /// Number of hits that were wanted.
    pub k: usize,
    /// Whether a gold page is in the domain under the exact URL of the question.
    pub spelled: bool,
    /// Ranks of the gold pages.
    pub outcome: Outcome,
}

/// Scores are rounded to twelve decimals.
const DIGITS: f64 = 1e12;

/// Metrics by page number.
pub const BY_PAGE: &[Metric] = &[
    P_AT_1,
    Metric::Ranked(PageMatch::Page, Ranking::HitAt5),
    Metric::Ranked(PageMatch::Page, Ranking::HitAt10),
    Metric::Ranked(PageMatch::Page, Ranking::Mrr),
    Metric::PrecisionAt10,
];

/// Metrics by text and by URL.
pub const BY_CONTENT_AND_URL: &[Metric] = &[
    Metric::Ranked(PageMatch::Content, Ranking::PAt1),
    Metric::Ranked(PageMatch::Content, Ranking::HitAt5),
    Metric::Ranked(PageMatch::Content, Ranking::HitAt10),
    Metric::Ranked(PageMatch::Content, Ranking::Mrr),
    URL_P_AT_1,
    Metric::Ranked(PageMatch::Url, Ranking::HitAt5),
    Metric::Ranked(PageMatch::Url, Ranking::HitAt10),
    Metric::Ranked(PageMatch::Url, Ranking::Mrr),
    Metric::UrlCeiling,
];

impl Measured for Asked {
    const NAMES: &'static [Metric] = &both::<{ BY_PAGE.len() + BY_CONTENT_AND_URL.len() }>(BY_PAGE, BY_CONTENT_AND_URL);

    fn question(&self) -> &Question {
        &self.question
    }

    fn value(&self, name: Metric) -> Option<f64> {
        match name {
            Metric::Ranked(page_match, ranking) => ranking.of(self.outcome.rank(page_match), self.k),
            Metric::PrecisionAt10 => self.outcome.precision_at_10(self.k),
            Metric::UrlCeiling => Some(share(self.spelled)),
            _ => None,
        }
    }
}

impl Question {
    /// The question to search before the model completes it.
    #[must_use]
    pub fn query(&self, completion: Completion) -> &str {
        match completion {
            Completion::Human => &self.completed,
            Completion::None | Completion::History | Completion::Model => &self.raw,
        }
    }
}

/// Asks each question, those of a conversation in order; `on_progress` gets the number of finished questions and the
/// current step.
///
/// # Errors
/// When a search or the model fails, when the model is to complete questions and there is none, or with
/// [`EvalError::Canceled`].
pub fn ask(
    asking: Asking<'_>,
    mut runner: Option<&mut ConversationRunner<'_>>,
    questions: &[Question],
    cancel: &CancelToken,
    on_progress: &mut dyn FnMut(Progress, Doing),
) -> Result<Vec<Asked>, EvalError> {
    let mut asked = Vec::with_capacity(questions.len());
    let mut progress = Progress::default();
    for (at, question) in questions.iter().enumerate() {
        cancel.check()?;
        let before = used(runner.as_deref());
        let by_model = asking.completion == Completion::Model;
        on_progress(progress, if by_model { Doing::Completing } else { Doing::Searching });
        let posed = search(asking, runner.as_deref_mut(), question, cancel)?;
        let goes_on = questions[at + 1..].iter().any(|later| later.thread() == question.thread());
        if let Some(runner) = runner.as_deref_mut().filter(|_| by_model && goes_on) {
            let mut tell = |event| on_progress(progress, Doing::Answering(event));
            runner.answer(asking, question, &posed, cancel, &mut tell)?;
        }
        asked.push(scored(asking, question, posed));
        progress.done += 1;
        progress.remembered += usize::from(used(runner.as_deref()).only_recalled_since(before));
        on_progress(progress, Doing::Searching);
    }
    Ok(asked)
}

fn used(runner: Option<&ConversationRunner<'_>>) -> Used {
    runner.map(ConversationRunner::used).unwrap_or_default()
}

/// Searches for a question. The model completes it first if configured, and translates it if the documents have another
/// language.
///
/// # Errors
/// When the search or the model fails, when the model is to complete the question and there is none, or with
/// [`EvalError::Canceled`].
pub fn search(
    asking: Asking<'_>,
    runner: Option<&mut ConversationRunner<'_>>,
    question: &Question,
    cancel: &CancelToken,
) -> Result<Posed, EvalError> {
    let request = request(asking, runner.as_deref(), question)?;
    let searched = search_turn(&mut BenchmarkEngines::new(asking, runner), &request, &mut |_| {}, cancel)?;
    let how = (asking.completion == Completion::Model).then_some(searched.rewrite.how);
    Ok(Posed { request, searched, how })
}

/// The question in its conversation. Without a generator nothing is translated.
fn request(
    asking: Asking<'_>,
    runner: Option<&ConversationRunner<'_>>,
    question: &Question,
) -> Result<TurnRequest, EvalError> {
    let text = question.query(asking.completion).to_owned();
    let reference = || last(&question.past, asking.past_turns);
    let (past, earlier, wording) = match asking.completion {
        Completion::Human | Completion::None => (reference(), Vec::new(), Wording::Again { completed: text.clone() }),
        Completion::History => {
            let past = reference();
            let earlier = past.iter().map(|turn| EarlierQuestion::from(turn.question.as_str())).collect();
            (past, earlier, Wording::Again { completed: text.clone() })
        }
        Completion::Model => {
            let turns = last(runner.ok_or(EvalError::NoGenerator)?.turns(question), asking.past_turns);
            let (past, earlier) = turns.into_iter().unzip();
            (past, earlier, Wording::Typed)
        }
    };
    let settings = match runner {
        Some(runner) => runner.turn_settings(asking.settings),
        None => TurnSettings {
            retrieval: RetrievalSettings { translate: Translate::Off, ..asking.settings.clone() },
            ..TurnSettings::default()
        },
    };
    Ok(TurnRequest { question: text, wording, past, earlier, today: None, settings })
}

fn scored(asking: Asking<'_>, question: &Question, posed: Posed) -> Asked {
    let (query, how, translated) = (posed.query().to_owned(), posed.how, posed.translated().map(str::to_owned));
    let Retrieved { hits, quality, .. } = posed.searched.retrieved;
    let hits = hits.into_iter().filter_map(|hit| found(asking.pages, hit)).collect();
    let quality = quality.map(as_cached);
    Asked::new(asking, question, SearchResult { query, how, translated, hits, quality })
}

impl Asked {
    /// Compares the hits of a question with its gold pages.
    pub(super) fn new(asking: Asking<'_>, question: &Question, result: SearchResult) -> Self {
        let SearchResult { query, how, translated, hits, quality } = result;
        let gold = asking.pages.gold_of(question);
        let outcome = outcome(&gold, &hits);
        let (k, spelled) = (asking.settings.top_k, asking.pages.spells(question));
        Self { question: question.clone(), query, how, translated, gold, hits, quality, k, spelled, outcome }
    }

    /// The result for the cache.
    pub(super) fn result(&self) -> SearchResult {
        let Self { query, how, translated, hits, quality, .. } = self.clone();
        SearchResult { query, how, translated, hits, quality }
    }
}

/// The last `turns` turns.
fn last<T: Clone>(past: &[T], turns: usize) -> Vec<T> {
    past[past.len().saturating_sub(turns)..].to_vec()
}

/// Ranks of the gold pages among the hits.
fn outcome(gold: &[Page], hits: &[Found]) -> Outcome {
    Outcome::of(gold, &hits.iter().map(|hit| hit.page.clone()).collect::<Vec<_>>())
}

fn found(pages: &Pages, hit: Hit) -> Option<Found> {
    let page = pages.of_hit(&hit)?;
    let Hit { title, kind, location, fused, dense_rank, lexical_rank, .. } = hit;
    let fused = rounded(fused);
    Some(Found { page, title, kind, location, fused, dense_rank, lexical_rank })
}

/// The quality with rounded numbers.
fn as_cached(quality: MatchQuality) -> MatchQuality {
    MatchQuality {
        best_cosine: quality.best_cosine.map(rounded),
        unrelated_cosine: quality.unrelated_cosine.map(rounded),
        coverage: quality.coverage.map(rounded),
        ..quality
    }
}

/// A rounded score is equal when it is read back from the cache.
fn rounded(score: f64) -> f64 {
    (score * DIGITS).round() / DIGITS
}
