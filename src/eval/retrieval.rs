//! Asks the questions of a benchmark and compares the pages of the hits with the gold pages.
//!
//! Where the model completes questions, each conversation runs as it would on the screen: a turn is completed from the
//! turns before it as they went, searched, and answered where another turn follows.
//! Not here: what the model is asked (`conversation_runner`), what a rank is worth (`score`), means (`aggregate`).

use serde::{Deserialize, Serialize};

use super::aggregate::Measured;
use super::metric::{Metric, P_AT_1, PageMatch, Ranking, URL_P_AT_1, both};
use super::score::{Outcome, Page, Placed, share};
use super::{ConversationRunner, EvalError, Pages, Question, Used};
use ragonite_base::{CancelToken, Language};
use ragonite_document::evidence::Kind;
use ragonite_rag::answer::{AnswerEvent, RewriteHow, translation_wanted};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::{EarlierQuestion, Hit, RetrievalSettings, Retrieved, SearchContext, SearchInput};

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
    /// The model writes it, from the turns before as they went here: the question as it was asked, as it was completed
    /// and the questions before it are searched together.
    Model,
}

/// How questions are asked.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The domain and its embedder.
    pub engines: SearchContext<'a>,
    /// How evidence is looked for.
    pub settings: &'a RetrievalSettings,
    /// What is searched for.
    pub completion: Completion,
    /// Earlier turns that the model is told about and whose questions are searched along.
    pub past_turns: usize,
    /// The pages of the domain.
    pub pages: &'a Pages,
}

/// A question as it was searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Posed {
    /// What was searched for, and is answered.
    pub query: String,
    /// How the program completed the question; none where it did not.
    pub how: Option<RewriteHow>,
    /// In the language of the documents, where it was searched for in it too.
    pub translated: Option<String>,
    /// The turns before it, oldest first, as the model is told about them.
    pub past: Vec<HistoryTurn>,
    /// What was found.
    pub retrieved: Retrieved,
}

/// How far asking is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Questions that are done.
    pub done: usize,
    /// Those of them that were remembered.
    pub remembered: usize,
}

/// What is being done for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// It is searched for.
    Searching,
    /// The model completes it.
    Completing,
    /// The model answers it.
    Answering(AnswerEvent),
}

/// A hit, as far as it is scored.
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
    /// Score of the fusion.
    pub fused: f64,
    /// Place in the dense list.
    pub dense_rank: Option<usize>,
    /// Place in the lexical list.
    pub lexical_rank: Option<usize>,
}

/// What was searched for, how the question was completed and translated, and what was found.
pub(super) type Results = (String, Option<RewriteHow>, Option<String>, Vec<Found>);

/// A question that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// What was searched for.
    pub query: String,
    /// How the program completed it; none where it did not.
    pub how: Option<RewriteHow>,
    /// Its translation, where that was searched for too.
    pub translated: Option<String>,
    /// Its gold pages that are in the domain.
    pub gold: Vec<Page>,
    /// The hits, best first.
    pub hits: Vec<Found>,
    /// So many hits were looked for.
    pub k: usize,
    /// Whether a gold page is in the domain under the URL that the question has for it, letter by letter.
    pub spelled: bool,
    /// Where the gold pages came.
    pub outcome: Outcome,
}

/// What a score is kept to.
const DIGITS: f64 = 1e12;

/// By page number.
pub const BY_PAGE: &[Metric] = &[
    P_AT_1,
    Metric::Ranked(PageMatch::Page, Ranking::HitAt5),
    Metric::Ranked(PageMatch::Page, Ranking::HitAt10),
    Metric::Ranked(PageMatch::Page, Ranking::Mrr),
    Metric::PrecisionAt10,
];

/// By text and by URL.
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
            Metric::Ranked(told, ranking) => ranking.of(self.outcome.rank(told), self.k),
            Metric::PrecisionAt10 => self.outcome.precision_at_10(self.k),
            Metric::UrlCeiling => Some(share(self.spelled)),
            _ => None,
        }
    }
}

impl Asking<'_> {
    /// The languages from and to which a question is to be translated; none where it has that of the documents.
    ///
    /// # Errors
    /// When the domain cannot be read.
    pub fn translation(&self, query: &str) -> Result<Option<(Language, Language)>, EvalError> {
        Ok(translation_wanted(query, self.engines.index.language()?, self.settings.translate))
    }
}

impl Question {
    /// What is searched for, until the model has completed it.
    #[must_use]
    pub fn query(&self, completion: Completion) -> &str {
        match completion {
            Completion::Human => &self.completed,
            Completion::None | Completion::History | Completion::Model => &self.raw,
        }
    }
}

/// Asks each question, those of a conversation in the order of its turns; `on_progress` hears how many are done and what
/// is done for the next.
///
/// # Errors
/// When a search or the model fails, when the model is to complete questions and there is none, or with
/// [`EvalError::Canceled`].
pub fn ask(
    asking: Asking<'_>,
    mut speaker: Option<&mut ConversationRunner<'_>>,
    questions: &[Question],
    cancel: &CancelToken,
    on_progress: &mut dyn FnMut(Progress, Doing),
) -> Result<Vec<Asked>, EvalError> {
    let mut asked = Vec::with_capacity(questions.len());
    let mut progress = Progress::default();
    for (at, question) in questions.iter().enumerate() {
        cancel.check()?;
        let before = used(speaker.as_deref());
        let by_model = asking.completion == Completion::Model;
        on_progress(progress, if by_model { Doing::Completing } else { Doing::Searching });
        let posed = search(asking, speaker.as_deref_mut(), question, cancel)?;
        let goes_on = questions[at + 1..].iter().any(|later| later.thread() == question.thread());
        if let Some(speaker) = speaker.as_deref_mut().filter(|_| by_model && goes_on) {
            let mut tell = |event| on_progress(progress, Doing::Answering(event));
            speaker.answer((question, &posed), asking.engines.index.language()?, cancel, &mut tell)?;
        }
        asked.push(scored(asking, question, posed));
        progress.done += 1;
        progress.remembered += usize::from(used(speaker.as_deref()).only_recalled_since(before));
        on_progress(progress, Doing::Searching);
    }
    Ok(asked)
}

fn used(speaker: Option<&ConversationRunner<'_>>) -> Used {
    speaker.map(ConversationRunner::used).unwrap_or_default()
}

/// Searches for one question, which the model completes first where it is to, and translates where the documents have
/// another language and a model is at hand.
///
/// # Errors
/// When the search or the model fails, when the model is to complete the question and there is none, or with
/// [`EvalError::Canceled`].
pub fn search(
    asking: Asking<'_>,
    mut speaker: Option<&mut ConversationRunner<'_>>,
    question: &Question,
    cancel: &CancelToken,
) -> Result<Posed, EvalError> {
    let (past, rewrite, earlier) = match asking.completion {
        Completion::Human | Completion::None => (last(&question.past, asking.past_turns), None, Vec::new()),
        Completion::History => {
            let past = last(&question.past, asking.past_turns);
            let earlier = past.iter().map(|turn| EarlierQuestion::from(turn.question.as_str())).collect();
            (past, None, earlier)
        }
        Completion::Model => {
            let speaker = speaker.as_deref_mut().ok_or(EvalError::NoGenerator)?;
            let said = last(speaker.said(question), asking.past_turns);
            let (past, earlier): (Vec<HistoryTurn>, Vec<EarlierQuestion>) = said.into_iter().unzip();
            let rewrite = speaker.complete(question, &past, cancel)?;
            (past, Some(rewrite), earlier)
        }
    };
    let typed = question.query(asking.completion);
    let completed = rewrite.as_ref().map(|rewrite| rewrite.completed.as_str());
    let query = completed.unwrap_or(typed).to_owned();
    let translated = match (speaker, asking.translation(&query)?) {
        (Some(speaker), Some(languages)) => speaker.translate(&query, languages, cancel)?,
        _ => None,
    };
    let conversation =
        SearchInput { question: typed, completed, translated: translated.as_deref(), earlier: &earlier, today: None };
    let retrieved = ragonite_rag::retrieval::search(asking.engines, &conversation, asking.settings, cancel)?;
    let how = rewrite.map(|rewrite| rewrite.how);
    Ok(Posed { query, how, translated, past, retrieved })
}

fn scored(asking: Asking<'_>, question: &Question, posed: Posed) -> Asked {
    let Posed { query, how, translated, retrieved, .. } = posed;
    let hits = retrieved.hits.into_iter().filter_map(|hit| found(asking.pages, hit)).collect();
    Asked::new(asking, question, (query, how, translated, hits))
}

impl Asked {
    /// Compares what a question found with its gold pages.
    pub(super) fn new(asking: Asking<'_>, question: &Question, (query, how, translated, hits): Results) -> Self {
        let gold = asking.pages.gold_of(question);
        let outcome = outcome(&gold, &hits);
        let (k, spelled) = (asking.settings.top_k, asking.pages.spells(question));
        Self { question: question.clone(), query, how, translated, gold, hits, k, spelled, outcome }
    }
}

/// The last so many turns.
fn last<T: Clone>(past: &[T], turns: usize) -> Vec<T> {
    past[past.len().saturating_sub(turns)..].to_vec()
}

/// Where the gold pages came among these hits.
fn outcome(gold: &[Page], hits: &[Found]) -> Outcome {
    Outcome::of(gold, &hits.iter().map(|hit| hit.page.clone()).collect::<Vec<_>>())
}

fn found(pages: &Pages, hit: Hit) -> Option<Found> {
    let page = pages.of_hit(&hit)?;
    let Hit { title, kind, location, fused, dense_rank, lexical_rank, .. } = hit;
    // So many digits come back from the memory of results as they were written.
    let fused = (fused * DIGITS).round() / DIGITS;
    Some(Found { page, title, kind, location, fused, dense_rank, lexical_rank })
}
