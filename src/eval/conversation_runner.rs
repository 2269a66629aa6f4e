//! Runs the generator in the conversations of a benchmark: completes each question from the earlier turns of this run,
//! translates and answers it, with the steps and prompts of the program.
//!
//! Invariant: the model only sees its own earlier answers, never the reference answers.
//! Not here: searching (`retrieval`), figures.

use std::collections::HashMap;

use serde::Serialize;

use super::retrieval::Posed;
use super::{CachedGenerator, EvalError, Question, Used};
use ragonite_base::{CancelToken, Language};
use ragonite_rag::answer::{
    Answer, AnswerEvent, AnswerInput, AnswerSettings, LanguagePair, Rewrite, RewriteInput, TranslateInput,
    answer_language, generate_answer, rewrite, translate,
};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::EarlierQuestion;

/// Settings of the runner.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunnerSettings<'a> {
    /// Prompt prefix of the domain; empty for the default.
    pub prefix: &'a str,
    /// Settings of prompts and answers.
    pub settings: &'a AnswerSettings,
    /// Hits in the prompt.
    pub sources: usize,
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

    /// Completes a question from earlier turns.
    pub(super) fn complete(
        &mut self,
        question: &Question,
        past: &[HistoryTurn],
        cancel: &CancelToken,
    ) -> Result<Rewrite, EvalError> {
        let input = RewriteInput {
            prefix: self.how.prefix,
            language: Language::of(&question.raw),
            past,
            question: &question.raw,
            settings: &self.how.settings.prompt,
        };
        Ok(rewrite(&mut *self.generator, &input, cancel)?)
    }

    /// The question in the language of the documents; none if the output is unusable.
    pub(super) fn translate(
        &mut self,
        question: &str,
        languages: LanguagePair,
        cancel: &CancelToken,
    ) -> Result<Option<String>, EvalError> {
        let LanguagePair { from, to } = languages;
        let input = TranslateInput { question, from, to, max_tokens: self.how.settings.prompt.rewrite_tokens };
        Ok(translate(&mut *self.generator, &input, cancel)?.text)
    }

    /// Answers a question from its hits and records the turn.
    pub(super) fn answer(
        &mut self,
        question: &Question,
        posed: &Posed,
        documents: Language,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(AnswerEvent),
    ) -> Result<Answer, EvalError> {
        let hits = posed.retrieved.for_prompt(self.how.sources);
        let input = AnswerInput {
            prefix: self.how.prefix,
            language: answer_language(&question.raw, &posed.query, documents, self.how.settings.prompt.language),
            past: &posed.past,
            question: &posed.query,
            hits: &hits,
            settings: self.how.settings,
        };
        let answer = generate_answer(&mut *self.generator, &input, cancel, on_event)?;
        let (conversation, language) = question.thread();
        let turn = HistoryTurn {
            question: question.raw.clone(),
            completed_question: posed.query.clone(),
            answer: answer.own_text().to_owned(),
        };
        let earlier = EarlierQuestion::answered(&question.raw, &hits, answer.cited_sources());
        self.turns.entry((conversation.to_owned(), language)).or_default().push((turn, earlier));
        Ok(answer)
    }
}
