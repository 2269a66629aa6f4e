//! A turn on screen: the record that will be stored, and what is known while it grows.
//!
//! Invariant: everything worth keeping is in `record`; the other fields may be lost with the program.

use super::{Problem, TurnKey};
use ragonite_base::{Language, Millis};
use ragonite_history::{Outcome, TurnRecord, TurnSettings, TurnTimings, Variant};
use ragonite_inference::{Completion, Finish, Sampling};
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, Method, Provenance, Sentence};
use ragonite_rag::prompt::{Cut, HistoryTurn, Prompt};
use ragonite_rag::retrieval::{EarlierQuestion, Hit};

/// The answer's prompt, as soon as it is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSize {
    /// Its length.
    pub tokens: usize,
    /// Sources in it.
    pub sources: usize,
    /// What did not fit.
    pub cut: Vec<Cut>,
}

/// How far the generator has read the prompt, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Tokens read.
    pub done: usize,
    /// All of them.
    pub total: usize,
}

/// What a turn is explained for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To see what each source mattered for the whole answer.
    #[default]
    Answer,
    /// To see what each sentence rests on; what is known of the whole answer stays as it is.
    Sentences,
}

/// How far an explanation has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Explaining {
    /// How it is computed.
    pub method: Method,
    /// What it is for.
    pub purpose: Purpose,
    /// With these settings.
    pub settings: AttributionSettings,
    /// Clusters settled.
    pub done: usize,
    /// All of them; 0 until they are counted.
    pub total: usize,
    /// What is known: the settled ones with shares among themselves, then the estimated ones, then those that were only
    /// compared.
    pub clusters: Vec<Cluster>,
}

impl Explaining {
    /// Takes what is known now; of what is not among it, the comparison stays.
    pub(super) fn advance(&mut self, (done, total): (usize, usize), known: &[Cluster]) {
        let is_left = |one: &Cluster| known.iter().all(|new| new.hits.iter().all(|hit| !one.hits.contains(hit)));
        let compared = |one: &Cluster| one.how == Provenance::Similarity;
        self.clusters.retain(|one| compared(one) && is_left(one));
        // What a sentence rests on is another question.
        let of_answer = |one: &&Cluster| self.purpose == Purpose::Answer || !compared(one);
        self.clusters = known.iter().filter(of_answer).chain(&self.clusters).cloned().collect();
        (self.done, self.total) = (done, total);
    }
}

/// One turn of the open conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its key in this run of the program.
    pub key: TurnKey,
    /// The growing record. Its outcome means something only once the turn is no longer running.
    pub record: TurnRecord,
    /// The answer so far.
    pub streamed: String,
    /// The prompt's size.
    pub prompt: Option<PromptSize>,
    /// How far the prompt is read.
    pub reading: Option<Reading>,
    /// The running explanation.
    pub explaining: Option<Explaining>,
    /// Why its last stage failed.
    pub problem: Option<Problem>,
    /// What the history knows of it.
    pub(super) stored: Stored,
}

/// How a turn stands to the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stored {
    /// Nothing to store.
    #[default]
    Settled,
    /// On its way.
    Saving,
    /// On its way, and changed since.
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

    /// What each sentence of its answer rests on; empty where that is not known.
    pub fn sentences(&self) -> &[Sentence] {
        let attribution = self.record.trace.attribution.as_ref().filter(|_| self.explaining.is_none());
        attribution.map_or(&[], |attribution| attribution.sentences.as_slice())
    }

    /// What it is answered with; the defaults where an older program stored it.
    pub(super) fn settings(&self) -> TurnSettings {
        self.record.trace.settings.clone().unwrap_or_default()
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

    /// Which turn it asks again, and what is other; none of a turn that asks a question of its own.
    pub fn variant(&self) -> Option<&Variant> {
        self.record.trace.variant.as_ref()
    }

    /// What the model is told of it in later turns; none where it has no answer, or asks an earlier turn again.
    pub fn as_past(&self) -> Option<HistoryTurn> {
        let answer = self.answer().filter(|_| self.is_answered() && self.variant().is_none())?;
        Some(HistoryTurn {
            question: self.record.question.clone(),
            completed_question: self.record.completed_question.clone(),
            answer: answer.own_text().to_owned(),
        })
    }

    /// What the search goes by in later turns; of the same turns as [`Turn::as_past`].
    pub fn as_earlier(&self) -> Option<EarlierQuestion> {
        let answer = self.answer().filter(|_| self.is_answered() && self.variant().is_none())?;
        Some(EarlierQuestion::answered(&self.record.question, self.hits(), answer.cited_sources()))
    }

    /// Moves what is known of a stopped explanation into the record, unless that has a whole one by the same method; one
    /// that left some out together makes room for what tells them apart. Whether it did.
    pub(super) fn keep_stopped(&mut self, explaining: Explaining) -> bool {
        let Explaining { method, purpose, settings, total, clusters, .. } = explaining;
        let trace = &mut self.record.trace;
        let known = trace.known(&settings).len();
        let is_new = !trace.is_explained_by(method) || trace.has_group_to_part(&settings);
        let stopped = Attribution::stopped(method, &clusters, total, settings.temperature);
        let stopped = stopped.filter(|stopped| purpose == Purpose::Answer && is_new && stopped.clusters.len() > known);
        let is_kept = stopped.is_some();
        if let Some(stopped) = stopped {
            trace.attribute(stopped, Some(settings));
            self.add_up_timings();
        }
        is_kept
    }

    /// Moves a half answer into the record, so that it is kept.
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
        });
    }

    /// Reads the time per stage off the results.
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
