//! The thread that owns the language model for its whole life.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use super::encoder::{EncoderJob, Facts};
use super::engine::Engine;
use super::problem::Stop;
use super::worker::Worker;
use super::works::WorkGuard;
use super::{Events, RuntimeError};
use crate::answer::{
    self, Answer, AnswerEvent, AnswerInput, RewriteInput, SuggestInput, TranslateInput, Translation, TranslationHow,
    translation_wanted,
};
use crate::app::{Event, Wording};
use crate::attribution::{self, Attribution, Cluster, Engines, ExplainInput, Method, SimilarityInput, SourceVector};
use crate::base::{CancelToken, DomainName, EvidenceId, Language};
use crate::inference::{GeneratorSettings, LlamaGenerator};
use crate::prompt::PastTurn;
use crate::retrieval::Hit;

/// What the generator thread is asked.
#[derive(Debug)]
pub(super) enum GeneratorJob {
    /// Load the model.
    WarmUp,
    /// Make a question self-contained.
    Rewrite { work: WorkGuard, question: Question, wording: Wording },
    /// Answer from the hits.
    Answer { work: WorkGuard, question: Question, hits: Vec<Hit> },
    /// Look for questions to go on with.
    Suggest { work: WorkGuard, answered: Box<Answered> },
    /// Attribute an answer.
    Explain { work: WorkGuard, asked: Box<Explanation> },
}

/// A question in its conversation.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) domain: DomainName,
    pub(super) text: String,
    pub(super) past: Vec<PastTurn>,
}

/// An answer to go on from.
#[derive(Debug)]
pub(super) struct Answered {
    /// The completed question.
    pub(super) question: String,
    pub(super) answer: Box<Answer>,
    pub(super) hits: Vec<Hit>,
    /// All questions of the conversation.
    pub(super) asked: Vec<String>,
}

/// An answer to attribute.
#[derive(Debug)]
pub(super) struct Explanation {
    pub(super) domain: DomainName,
    pub(super) method: Method,
    /// The completed question.
    pub(super) question: String,
    pub(super) answer: Box<Answer>,
    pub(super) hits: Vec<Hit>,
}

/// Starts the thread. `encoder` answers what the generator needs to know of a domain.
pub(super) fn start(
    engine: Arc<Engine>,
    encoder: Sender<EncoderJob>,
    leaving: CancelToken,
    events: Events,
) -> Result<Worker<GeneratorJob>, RuntimeError> {
    let (worker, _) = Worker::start("generator", move |mailbox| {
        let translations = HashMap::new();
        Generator { engine, encoder, leaving, events, model: None, translations }.work(&mailbox);
    })?;
    Ok(worker)
}

struct Generator {
    engine: Arc<Engine>,
    encoder: Sender<EncoderJob>,
    leaving: CancelToken,
    events: Events,
    model: Option<LlamaGenerator>,
    /// What was translated in this run of the program: a translation depends on nothing but language and question. Over
    /// runs the traces keep it.
    translations: HashMap<(Language, String), String>,
}

impl Generator {
    fn work(mut self, mailbox: &Receiver<GeneratorJob>) {
        for job in mailbox {
            match job {
                GeneratorJob::WarmUp => self.warm_up(),
                GeneratorJob::Rewrite { work, question, wording } => {
                    let result = self.rewrite(&work, &question, wording);
                    self.finish(work, result);
                }
                GeneratorJob::Answer { work, question, hits } => {
                    let result = self.answer(&work, &question, &hits);
                    self.finish(work, result);
                }
                GeneratorJob::Suggest { work, answered } => {
                    let result = self.suggest(&work, &answered);
                    self.finish(work, result);
                }
                GeneratorJob::Explain { work, asked } => {
                    let result = self.explain(&work, &asked);
                    self.finish(work, result);
                }
            }
        }
    }

    fn warm_up(&mut self) {
        let leaving = self.leaving.clone();
        if let Err(Stop::Failed(problem)) = self.load(&leaving) {
            self.events.send(Event::Failed(problem));
        }
    }

    /// Answers an effect of a turn. The job is over before its event is sent, so that a cancellation that comes later
    /// finds nothing running.
    fn finish(&self, work: WorkGuard, result: Result<Event, Stop>) {
        let turn = work.turn;
        drop(work);
        self.events.send(match result {
            Ok(event) => event,
            Err(Stop::Canceled) => Event::TurnCanceled { turn },
            Err(Stop::Failed(problem)) => Event::TurnFailed { turn, problem },
        });
    }

    fn rewrite(&mut self, work: &WorkGuard, question: &Question, wording: Wording) -> Result<Event, Stop> {
        work.cancel.check()?;
        let facts = self.facts(&question.domain, Vec::new())?;
        let rewrite = if wording == Wording::Edited {
            answer::edited_question(&question.text)
        } else if question.past.is_empty() {
            answer::first_question(&question.text)
        } else {
            let engine = Arc::clone(&self.engine);
            let input = RewriteInput {
                prefix: &facts.prefix,
                language: Language::of(&question.text),
                past: &question.past,
                question: &question.text,
                settings: &engine.setup.answer.prompt,
            };
            answer::rewrite(self.load(&work.cancel)?, &input, &work.cancel)?
        };
        if let Some(translation) = self.translate(work, &rewrite.completed, facts.language)? {
            let translation = Box::new(translation);
            self.events.send(Event::QuestionTranslated { turn: work.turn, translation });
        }
        Ok(Event::QuestionCompleted { turn: work.turn, rewrite: Box::new(rewrite) })
    }

    /// The question in the language of the documents, where it has another.
    fn translate(
        &mut self,
        work: &WorkGuard,
        question: &str,
        documents: Language,
    ) -> Result<Option<Translation>, Stop> {
        let engine = Arc::clone(&self.engine);
        let Some((from, to)) = translation_wanted(question, documents, engine.setup.retrieval.translate) else {
            return Ok(None);
        };
        let started = Instant::now();
        let key = (to, question.to_owned());
        if let Some(text) = self.translations.get(&key).cloned() {
            let how = TranslationHow::Known;
            let total_ms = started.elapsed().into();
            return Ok(Some(Translation { text: Some(text), from, to, how, prompt: None, completion: None, total_ms }));
        }
        let input = TranslateInput { question, from, to, max_tokens: engine.setup.answer.prompt.rewrite_tokens };
        let translation = answer::translate(self.load(&work.cancel)?, &input, &work.cancel)?;
        if let Some(text) = &translation.text {
            self.translations.insert(key, text.clone());
        }
        Ok(Some(translation))
    }

    /// The model; the first call reads its weights, and stops when `cancel` says so or the program is being left.
    fn load(&mut self, cancel: &CancelToken) -> Result<&mut LlamaGenerator, Stop> {
        let model = match self.model.take() {
            Some(model) => model,
            None => self.read_weights(cancel)?,
        };
        Ok(self.model.insert(model))
    }

    fn read_weights(&self, cancel: &CancelToken) -> Result<LlamaGenerator, Stop> {
        let setup = &self.engine.setup;
        let profile = &setup.profile.profile;
        let settings = GeneratorSettings {
            context_tokens: profile.context_tokens,
            threads: setup.threads,
            ..GeneratorSettings::default()
        };
        let (cancel, leaving) = (cancel.clone(), self.leaving.clone());
        self.engine.loading(&profile.generator, || {
            let model = setup.catalog.model(&profile.generator)?;
            let path = setup.folders.find(model, model.weights()?, &cancel)?;
            let go_on = move |_| {
                if cancel.is_canceled() || leaving.is_canceled() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            Ok(LlamaGenerator::load(&model.id, &path, &settings, Box::new(go_on))?)
        })
    }

    /// Asks the encoder thread, which never waits for this one.
    fn facts(&self, domain: &DomainName, evidences: Vec<EvidenceId>) -> Result<Facts, Stop> {
        let (reply, answer) = mpsc::sync_channel(1);
        let job = EncoderJob::Facts { domain: domain.clone(), evidences, reply };
        if self.encoder.send(job).is_err() {
            return Err(Stop::Canceled);
        }
        answer.recv().map_err(|_| Stop::Canceled)?.map_err(Stop::Failed)
    }

    fn explain(&mut self, work: &WorkGuard, asked: &Explanation) -> Result<Event, Stop> {
        work.cancel.check()?;
        let evidences = asked.hits.iter().map(|hit| hit.evidence).collect();
        let vectors = self.facts(&asked.domain, evidences)?.vectors;
        let source = |hit: &Hit| {
            let embedding = vectors.get(&hit.evidence)?.clone();
            Some(SourceVector { rank: hit.rank, embedding })
        };
        let sources: Vec<SourceVector> = asked.hits.iter().filter_map(source).collect();
        let attribution = match asked.method {
            Method::Similarity => self.by_similarity(work, asked, &sources)?,
            Method::Preview | Method::Counterfactual => self.by_leaving_out(work, asked, &sources)?,
        };
        Ok(Event::AttributionFinished { turn: work.turn, attribution: Box::new(attribution) })
    }

    fn by_similarity(
        &self,
        work: &WorkGuard,
        asked: &Explanation,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let settings = &self.engine.setup.attribution;
        let input = SimilarityInput { answer: &asked.answer, sources, settings };
        Ok(attribution::similarity(input, self.engine.embedder()?.as_ref(), &work.cancel)?)
    }

    fn by_leaving_out(
        &mut self,
        work: &WorkGuard,
        asked: &Explanation,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let engine = Arc::clone(&self.engine);
        let embedder = engine.embedder()?;
        let in_prompt = asked.answer.prompt.sources();
        let present = |text: &str| answer::read_answer(text, &in_prompt).0.text;
        let input = ExplainInput {
            question: &asked.question,
            answer: &asked.answer,
            sources,
            settings: &engine.setup.attribution,
            max_tokens: engine.setup.answer.prompt.answer_tokens,
            present: &present,
        };
        let (events, turn) = (self.events.clone(), work.turn);
        let mut tell = |done, total, clusters: &[Cluster]| {
            events.send(Event::AttributionAdvanced { turn, done, total, clusters: clusters.to_vec() });
        };
        let generator = self.load(&work.cancel)?;
        if asked.method == Method::Preview {
            return Ok(attribution::preview(input, generator, &work.cancel, &mut tell)?);
        }
        let engines = Engines { generator, embedder: embedder.as_ref() };
        Ok(attribution::explain(input, engines, &work.cancel, &mut tell)?)
    }

    fn suggest(&mut self, work: &WorkGuard, answered: &Answered) -> Result<Event, Stop> {
        work.cancel.check()?;
        let Answered { question, answer, hits, asked } = answered;
        let input = SuggestInput { question, answer, hits, asked };
        let questions = answer::suggest(self.load(&work.cancel)?, &input, &work.cancel)?;
        Ok(Event::QuestionsSuggested { turn: work.turn, questions })
    }

    fn answer(&mut self, work: &WorkGuard, question: &Question, hits: &[Hit]) -> Result<Event, Stop> {
        work.cancel.check()?;
        let facts = self.facts(&question.domain, Vec::new())?;
        let engine = Arc::clone(&self.engine);
        let input = AnswerInput {
            prefix: &facts.prefix,
            language: Language::of(&question.text),
            past: &question.past,
            question: &question.text,
            hits,
            settings: &engine.setup.answer,
        };
        let (events, turn) = (self.events.clone(), work.turn);
        let mut tell = |event: AnswerEvent| {
            events.send(match event {
                AnswerEvent::PromptBuilt { tokens, sources, cut } => Event::PromptBuilt { turn, tokens, sources, cut },
                AnswerEvent::PromptRead { done, total } => Event::PromptRead { turn, done, total },
                AnswerEvent::Text(text) => Event::AnswerGrew { turn, text },
            });
        };
        let answer = answer::generate_answer(self.load(&work.cancel)?, &input, &work.cancel, &mut tell)?;
        Ok(Event::AnswerFinished { turn, answer: Box::new(answer) })
    }
}
