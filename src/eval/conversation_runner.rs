//! The program's own part in a conversation: it completes each question from the turns before it, as they went here,
//! translates it where the documents have another language, and answers it, so that the next question has something to
//! be completed from.
//!
//! The steps, and what the model is told at each, are those of the program itself.
//! Invariant: where the model completes questions, what it is told of earlier turns is what it said itself, never a
//! right answer of the benchmark.
//! Not here: searching (`retrieval`), figures.

use std::collections::HashMap;

use serde::Serialize;

use super::retrieval::Posed;
use super::{CachedGenerator, EvalError, Question, Used};
use ragonite_base::{CancelToken, Language};
use ragonite_rag::answer::{
    Answer, AnswerEvent, AnswerInput, AnswerSettings, Rewrite, RewriteInput, TranslateInput, answer_language,
    generate_answer, rewrite, translate,
};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::EarlierQuestion;

/// How the model speaks.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunnerSettings<'a> {
    /// What the model is told about the domain; empty for the default.
    pub prefix: &'a str,
    /// How prompts are built and answers are generated.
    pub settings: &'a AnswerSettings,
    /// Hits that go into the prompt.
    pub sources: usize,
}

/// The model in the conversations of one run.
pub struct ConversationRunner<'a> {
    generator: &'a mut CachedGenerator,
    how: RunnerSettings<'a>,
    /// What was said so far, by conversation and language.
    said: HashMap<(String, Language), Vec<(HistoryTurn, EarlierQuestion)>>,
}

impl<'a> ConversationRunner<'a> {
    /// A model that has said nothing yet.
    #[must_use]
    pub fn new(generator: &'a mut CachedGenerator, how: RunnerSettings<'a>) -> Self {
        Self { generator, how, said: HashMap::new() }
    }

    /// The model itself.
    pub fn generator(&mut self) -> &mut CachedGenerator {
        self.generator
    }

    /// How often the model itself was asked, and how often its memory.
    #[must_use]
    pub fn used(&self) -> Used {
        self.generator.used()
    }

    /// Hits that go into the prompt.
    pub(super) fn sources(&self) -> usize {
        self.how.sources
    }

    /// The turns before a question as they went here, oldest first.
    pub(super) fn said(&self, question: &Question) -> &[(HistoryTurn, EarlierQuestion)] {
        let (conversation, language) = question.thread();
        self.said.get(&(conversation.to_owned(), language)).map_or(&[][..], Vec::as_slice)
    }

    /// Completes a question from the turns before it.
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

    /// A question in the language of the documents; none where the model gives no usable translation.
    pub(super) fn translate(
        &mut self,
        question: &str,
        (from, to): (Language, Language),
        cancel: &CancelToken,
    ) -> Result<Option<String>, EvalError> {
        let input = TranslateInput { question, from, to, max_tokens: self.how.settings.prompt.rewrite_tokens };
        Ok(translate(&mut *self.generator, &input, cancel)?.text)
    }

    /// Answers a question from what was found for it in documents of this language, and remembers what it said.
    pub(super) fn answer(
        &mut self,
        (question, posed): (&Question, &Posed),
        documents: Language,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(AnswerEvent),
    ) -> Result<Answer, EvalError> {
        let hits = posed.retrieved.for_prompt(self.how.sources);
        let input = AnswerInput {
            prefix: self.how.prefix,
            language: answer_language((&question.raw, &posed.query), documents, self.how.settings.prompt.language),
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
        self.said.entry((conversation.to_owned(), language)).or_default().push((turn, earlier));
        Ok(answer)
    }
}
