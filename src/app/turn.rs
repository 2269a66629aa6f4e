//! A turn in memory: the record to store, and the state of its running step.
//!
//! Invariant: `record` holds everything worth storing; the other fields may be lost.

use super::{Problem, Trigger, TurnKey};
use ragonite_base::{Language, Millis};
use ragonite_history::{Outcome, TurnRecord, TurnTimings, Variant};
use ragonite_inference::{Completion, Finish, Sampling};
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, Method, Provenance, Sentence};
use ragonite_rag::prompt::{Cut, HistoryTurn, Prompt};
use ragonite_rag::retrieval::{EarlierQuestion, Hit};

/// Size of the prompt, once it is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSize {
    /// Tokens of the prompt.
    pub tokens: usize,
    /// Sources in it.
    pub sources: usize,
    /// What was cut.
    pub cut: Vec<Cut>,
}

/// Progress of reading the prompt, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Tokens read.
    pub done: usize,
    /// All of them.
    pub total: usize,
}

/// Purpose of an explanation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Attribution of the whole answer.
    #[default]
    Answer,
    /// Attribution of sentences; that of the whole answer stays.
    Sentences,
}

/// Progress of an explanation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExplainProgress {
    /// Clusters settled.
    pub done: usize,
    /// Clusters in all; 0 until they are counted.
    pub total: usize,
    /// Time since the explanation began.
    pub elapsed: Millis,
}

/// A running explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Explaining {
    /// Attribution method.
    pub method: Method,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its settings.
    pub settings: AttributionSettings,
    /// Its progress.
    pub progress: ExplainProgress,
    /// Who wants it.
    pub demand: Trigger,
    /// Known clusters: settled ones with shares among themselves, then estimated ones, then similarities.
    pub clusters: Vec<Cluster>,
}

impl Explaining {
    /// Takes the clusters known now; similarities of other sources stay.
    pub(super) fn advance(&mut self, progress: ExplainProgress, known: &[Cluster]) {
        let is_left = |one: &Cluster| known.iter().all(|new| new.hits.iter().all(|hit| !one.hits.contains(hit)));
        let compared = |one: &Cluster| one.how == Provenance::Similarity;
        self.clusters.retain(|one| compared(one) && is_left(one));
        // Similarities are not shown for sentences.
        let of_answer = |one: &&Cluster| self.purpose == Purpose::Answer || !compared(one);
        self.clusters = known.iter().filter(of_answer).chain(&self.clusters).cloned().collect();
        self.progress = progress;
    }
}

/// One turn of the open conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its key in this run of the program.
    pub key: TurnKey,
    /// The record. Its outcome is valid only once the turn no longer runs.
    pub record: TurnRecord,
    /// The answer so far.
    pub streamed: String,
    /// Size of the prompt.
    pub prompt: Option<PromptSize>,
    /// Progress of reading the prompt.
    pub reading: Option<Reading>,
    /// The running explanation.
    pub explaining: Option<Explaining>,
    /// Why its last stage failed.
    pub problem: Option<Problem>,
    /// State in the history.
    pub(super) stored: Stored,
}

/// State of a turn in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stored {
    /// Nothing to store.
    #[default]
    Settled,
    /// Being stored.
    Saving,
    /// Being stored, and changed since.
    SavingOld,
    /// Waits until the conversation has its id.
    Waiting,
    /// Could not be stored; kept in memory, and tried again after the next save that succeeds or when the user wants it.
    Unsaved,
}

impl Stored {
    /// Whether the history was told to store it and has not answered yet.
    pub(super) fn is_on_its_way(self) -> bool {
        matches!(self, Self::Saving | Self::SavingOld)
    }
}

impl Turn {
    /// A turn with nothing in flight.
    pub(super) fn of(key: TurnKey, record: TurnRecord) -> Self {
        let stored = Stored::Settled;
        Self {
            key,
            record,
            streamed: String::new(),
            prompt: None,
            reading: None,
            explaining: None,
            problem: None,
            stored,
        }
    }

    /// The finished answer, or what was kept of a cancelled one.
    pub fn answer(&self) -> Option<&Answer> {
        self.record.trace.answer.as_ref()
    }

    /// The answer's text: finished, or as far as it has come.
    pub fn text(&self) -> &str {
        self.answer().map_or(self.streamed.as_str(), |answer| answer.text.as_str())
    }

    /// Sentence attribution; empty where unknown.
    pub fn sentences(&self) -> &[Sentence] {
        let attribution = self.record.trace.attribution.as_ref().filter(|_| self.explaining.is_none());
        attribution.map_or(&[], |attribution| attribution.sentences.as_slice())
    }

    /// The hits of its search, best first.
    pub fn hits(&self) -> &[Hit] {
        self.record.trace.retrieved.as_ref().map_or(&[], |retrieved| retrieved.hits.as_slice())
    }

    /// The hits that were in the answer's prompt.
    pub fn hits_in_prompt(&self) -> Vec<Hit> {
        let sources = self.answer().map(|answer| answer.prompt.sources()).unwrap_or_default();
        self.hits().iter().filter(|hit| sources.contains(&hit.rank)).cloned().collect()
    }

    /// Whether it has an answer that can be explained.
    pub fn is_answered(&self) -> bool {
        self.record.outcome == Outcome::Answered && self.answer().is_some()
    }

    /// The variant data; none where the turn is no variant.
    pub fn variant(&self) -> Option<&Variant> {
        self.record.trace.variant.as_ref()
    }

    /// The turn in later prompts; none without an answer and for variants.
    pub fn as_past(&self) -> Option<HistoryTurn> {
        let answer = self.answer().filter(|_| self.is_answered() && self.variant().is_none())?;
        Some(HistoryTurn {
            question: self.record.question.clone(),
            completed_question: self.record.completed_question.clone(),
            answer: answer.own_text().to_owned(),
        })
    }

    /// The turn in later searches; for the same turns as [`Turn::as_past`].
    pub fn as_earlier(&self) -> Option<EarlierQuestion> {
        let answer = self.answer().filter(|_| self.is_answered() && self.variant().is_none())?;
        Some(EarlierQuestion::answered(&self.record.question, self.hits(), answer.cited_sources()))
    }

    /// Moves the clusters of a stopped explanation into the record, unless the record has a complete one by the same
    /// method without a group to split. Returns whether it did.
    pub(super) fn keep_stopped(&mut self, explaining: Explaining) -> bool {
        let Explaining { method, purpose, settings, progress, clusters, demand } = explaining;
        let is_wanted = demand == Trigger::User;
        let trace = &mut self.record.trace;
        let known = trace.known(&settings).len();
        let before = trace.attribution.as_ref().filter(|_| known > 0).map(|before| before.timings_ms.total);
        let is_new = !trace.is_explained_by(method) || trace.has_group_to_part(&settings);
        let total = before.unwrap_or_default() + progress.elapsed;
        let stopped = Attribution::stopped(method, &clusters, progress.total, settings.temperature)
            .filter(|stopped| is_new && stopped.clusters.len() > known)
            // Similarities stay where nothing better is known.
            .or_else(|| Attribution::of_similarities(&clusters).filter(|_| is_wanted && trace.attribution.is_none()))
            .filter(|_| purpose == Purpose::Answer);
        let is_kept = stopped.is_some();
        if let Some(mut stopped) = stopped {
            stopped.timings_ms.total = total;
            let settings = AttributionSettings { method: stopped.method, ..settings };
            trace.attribute(stopped, Some(settings));
            self.add_up_timings();
        }
        is_kept
    }

    /// Moves a partial answer into the record.
    pub(super) fn keep_streamed(&mut self) {
        if self.record.trace.answer.is_some() || self.streamed.trim().is_empty() {
            return;
        }
        let size = self.prompt.clone().unwrap_or_default();
        self.record.trace.answer = Some(Answer {
            text: self.streamed.trim().to_owned(),
            answered: true,
            citations: Vec::new(),
            invalid_citations: Vec::new(),
            language: Language::of(&self.record.question),
            prompt: Prompt { cut: size.cut, ..Prompt::default() },
            sampling: Sampling::default(),
            completion: Completion {
                text: self.streamed.clone(),
                tokens: Vec::new(),
                prompt_tokens: size.tokens,
                reused_tokens: 0,
                drafted_tokens: 0,
                narrowest: None,
                log_probabilities: Vec::new(),
                draft_log_probabilities: Vec::new(),
                finish: Finish::Length,
                first_token_ms: Millis::default(),
                total_ms: Millis::default(),
            },
            named: None,
            withheld: None,
        });
    }

    /// Computes the timings per stage.
    pub(super) fn add_up_timings(&mut self) {
        let trace = &mut self.record.trace;
        let rewrite = trace.rewrite.as_ref().map(|rewrite| rewrite.total_ms).unwrap_or_default();
        let translate = trace.translation.as_ref().map(|translation| translation.total_ms).unwrap_or_default();
        let retrieve = trace.retrieved.as_ref().map(|retrieved| retrieved.timings_ms.total).unwrap_or_default();
        let first_token = trace.answer.as_ref().map(|answer| answer.completion.first_token_ms).unwrap_or_default();
        let answer = trace.answer.as_ref().map(Answer::total_ms).unwrap_or_default();
        let explain = trace.attribution.as_ref().map(|attribution| attribution.timings_ms.total).unwrap_or_default();
        let total = rewrite + translate + retrieve + answer + explain;
        trace.timings_ms = TurnTimings { rewrite, translate, retrieve, first_token, answer, explain, total };
    }
}
