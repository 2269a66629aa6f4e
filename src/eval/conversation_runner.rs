//! The generator in the conversations of a benchmark: answers questions and keeps the turns of the run.
//!
//! Invariants: turns run through the pipeline of the program; the model only sees its own earlier answers, never the
//! reference answers.
//! Not here: searching (`retrieval`), figures.

use std::collections::HashMap;

use serde::Serialize;

use super::retrieval::{Asking, Posed};
use super::{CachedGenerator, EvalError, Question, Used};
use ragonite_base::{CancelToken, Language};
use ragonite_inference::{Generate, Sampling};
use ragonite_rag::answer::{Answer, AnswerEvent, AnswerSettings};
use ragonite_rag::pipeline::{
    AnswerWithoutMatch, DomainFacts, TranslationCache, TurnEngines, TurnProgress, TurnRequest, TurnSettings,
    answer_searched,
};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::{Calibration, EarlierQuestion, RetrievalSettings, Retrieved, SearchInput, search};

/// Settings of the runner.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunnerSettings<'a> {
    /// Prompt prefix of the domain; empty for the default.
    pub prefix: &'a str,
    /// Settings of prompts and answers.
    pub settings: &'a AnswerSettings,
    /// Hits in the prompt.
    pub sources: usize,
    /// Whether the generator answers where no document fits.
    pub answer_without_match: AnswerWithoutMatch,
}

/// The generator in the conversations of a run.
pub struct ConversationRunner<'a> {
    generator: &'a mut CachedGenerator,
    how: RunnerSettings<'a>,
    /// Turns so far, by conversation and language.
    turns: HashMap<(String, Language), Vec<(HistoryTurn, EarlierQuestion)>>,
}

impl<'a> ConversationRunner<'a> {
    /// A runner without turns.
    #[must_use]
    pub fn new(generator: &'a mut CachedGenerator, how: RunnerSettings<'a>) -> Self {
        Self { generator, how, turns: HashMap::new() }
    }

    /// The generator.
    pub fn generator(&mut self) -> &mut CachedGenerator {
        self.generator
    }

    /// Number of requests to the model and hits in the cache.
    #[must_use]
    pub fn used(&self) -> Used {
        self.generator.used()
    }

    /// Hits in the prompt.
    pub(super) fn sources(&self) -> usize {
        self.how.sources
    }

    /// Earlier turns of this run, oldest first.
    pub(super) fn turns(&self, question: &Question) -> &[(HistoryTurn, EarlierQuestion)] {
        let (conversation, language) = question.thread();
        self.turns.get(&(conversation.to_owned(), language)).map_or(&[][..], Vec::as_slice)
    }

    /// Answers a question from its hits and records the turn.
    pub(super) fn answer(
        &mut self,
        asking: Asking<'_>,
        question: &Question,
        posed: &Posed,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(AnswerEvent),
    ) -> Result<Answer, EvalError> {
        let answer = self.answer_aside(asking, question, posed, cancel, on_event)?;
        let (conversation, language) = question.thread();
        let turn = HistoryTurn {
            question: question.raw.clone(),
            completed_question: posed.query().to_owned(),
            answer: answer.own_text().to_owned(),
        };
        let hits = posed.searched.retrieved.for_prompt(self.how.sources);
        let earlier = EarlierQuestion::answered(&question.raw, &hits, answer.cited_sources());
        self.turns.entry((conversation.to_owned(), language)).or_default().push((turn, earlier));
        Ok(answer)
    }

    /// Answers a question from its hits. Later turns know nothing of it.
    pub(super) fn answer_aside(
        &mut self,
        asking: Asking<'_>,
        question: &Question,
        posed: &Posed,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(AnswerEvent),
    ) -> Result<Answer, EvalError> {
        let mut report = |progress: TurnProgress<'_>| {
            if let TurnProgress::Answering(event) = progress {
                on_event(event);
            }
        };
        let mut engines = BenchmarkEngines::new(asking, Some(self));
        // The answer has the language of the typed question, also where the completed one was searched.
        let request = TurnRequest { question: question.raw.clone(), ..posed.request.clone() };
        answer_searched(&mut engines, &request, &posed.searched, &mut report, cancel)
    }

    /// Settings of a turn with this search.
    pub(super) fn turn_settings(&self, retrieval: &RetrievalSettings) -> TurnSettings {
        let AnswerSettings { sampling, prompt } = self.how.settings;
        let defaults = TurnSettings::default();
        let (temperature, seed) = match *sampling {
            Sampling::Greedy => (0.0, defaults.seed),
            Sampling::Seeded { temperature, seed } => (temperature, seed),
        };
        let (retrieval, prompt) = (retrieval.clone(), prompt.clone());
        let answer_without_match = self.how.answer_without_match;
        TurnSettings {
            sources: self.how.sources,
            retrieval,
            prompt,
            temperature,
            seed,
            answer_without_match,
            ..defaults
        }
    }
}

/// The domain of a benchmark and the generator of its run.
pub(super) struct BenchmarkEngines<'r> {
    asking: Asking<'r>,
    prefix: &'r str,
    generator: Option<&'r mut CachedGenerator>,
    translations: TranslationCache,
}

impl<'r> BenchmarkEngines<'r> {
    pub(super) fn new(asking: Asking<'r>, runner: Option<&'r mut ConversationRunner<'_>>) -> Self {
        let prefix = runner.as_ref().map_or("", |runner| runner.how.prefix);
        let generator = runner.map(|runner| &mut *runner.generator);
        Self { asking, prefix, generator, translations: TranslationCache::default() }
    }
}

impl TurnEngines for BenchmarkEngines<'_> {
    type Error = EvalError;

    fn domain(&mut self, _: &CancelToken) -> Result<DomainFacts, EvalError> {
        Ok(DomainFacts { prefix: self.prefix.to_owned(), language: self.asking.engines.index.language()? })
    }

    fn generator(&mut self, _: &TurnSettings, _: &CancelToken) -> Result<&mut dyn Generate, EvalError> {
        match &mut self.generator {
            Some(generator) => Ok(&mut **generator),
            None => Err(EvalError::NoGenerator),
        }
    }

    fn search(
        &mut self,
        input: &SearchInput<'_>,
        _: &TurnSettings,
        cancel: &CancelToken,
    ) -> Result<Retrieved, EvalError> {
        let settings = RetrievalSettings { calibration: Calibration::Always, ..self.asking.settings.clone() };
        Ok(search(self.asking.engines, input, &settings, cancel)?)
    }

    fn translations(&mut self) -> &mut TranslationCache {
        &mut self.translations
    }
}
