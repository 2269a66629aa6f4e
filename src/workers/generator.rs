//! The thread that owns the language model.
//!
//! Takes jobs: rewrite, answer, suggest, explain. Gives one event per job.
//! Invariants: one model is loaded at a time, and jobs run one after the other; an idle model is unloaded after a
//! while.
//! Not here: prompts and answers (`answer`), attribution (`attribution`), facts about a domain (`search_worker`).

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::attribution_embedder::Comparer;
use super::battery::Power;
use super::jobs::WorkGuard;
use super::model_manager::ModelManager;
use super::problem::Stop;
use super::search_worker::{Facts, SearchJob, VectorsWanted};
use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{Event, Trigger, TurnKey, Wording};
use ragonite_base::{CancelToken, DomainName, Language};
use ragonite_history::TurnSettings;
use ragonite_inference::{Completion, Generate as _, GeneratorChoice, InferenceError};
use ragonite_llama::{LlamaGenerator, load_generator};
use ragonite_rag::answer::{
    self, Answer, AnswerEvent, AnswerInput, LanguagePair, RewriteInput, SuggestInput, TranslateInput, Translation,
    TranslationHow, translation_wanted,
};
use ragonite_rag::attribution::{
    self, AnswerSource, Attribution, Cluster, Engines, ExplainInput, Method, Reading, SimilarityInput, SourceVector,
};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::{Hit, Reranking};

/// Interval of checking for cancellation while waiting for another thread.
const HEEDING: Duration = Duration::from_millis(50);

/// A job of the generator thread.
#[derive(Debug)]
pub(super) enum GeneratorJob {
    /// Load this model.
    WarmUp(GeneratorChoice),
    /// Complete a question.
    Rewrite { work: WorkGuard, question: Question, wording: Wording },
    /// Answer from the hits.
    Answer { work: WorkGuard, question: Question, typed: String, hits: Vec<Hit> },
    /// Generate suggestions.
    Suggest { work: WorkGuard, answered: Box<Answered> },
    /// Attribute an answer.
    Explain { work: WorkGuard, asked: Box<Explanation> },
}

/// A question in its conversation.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) domain: DomainName,
    pub(super) text: String,
    pub(super) past: Vec<HistoryTurn>,
    /// Settings of the turn.
    pub(super) settings: Box<TurnSettings>,
}

/// An answer for suggestions.
#[derive(Debug)]
pub(super) struct Answered {
    /// The completed question.
    pub(super) question: String,
    pub(super) answer: Box<Answer>,
    pub(super) hits: Vec<Hit>,
    /// All questions of the conversation.
    pub(super) asked: Vec<String>,
    /// The model that answered.
    pub(super) model: GeneratorChoice,
}

/// An answer to attribute.
#[derive(Debug)]
pub(super) struct Explanation {
    /// The turn; the job may have another key.
    pub(super) of: TurnKey,
    /// Who requested it.
    pub(super) demand: Trigger,
    pub(super) domain: DomainName,
    pub(super) method: Method,
    /// The completed question.
    pub(super) question: String,
    pub(super) answer: Box<Answer>,
    pub(super) hits: Vec<Hit>,
    /// Clusters that are known already.
    pub(super) known: Vec<Cluster>,
    /// Settings of the explanation.
    pub(super) settings: Box<TurnSettings>,
}

/// Starts the thread. `search_worker` answers requests for facts about a domain.
pub(super) fn start(
    engine: Arc<ModelManager>,
    encoder: Sender<SearchJob>,
    leaving: CancelToken,
    events: Events,
) -> Result<Worker<GeneratorJob>, RuntimeError> {
    let (worker, _) = Worker::start("generator", move |mailbox| {
        let translations = HashMap::new();
        let comparer = Comparer::default();
        Generator { engine, encoder, leaving, events, model: None, translations, answered: HashSet::new(), comparer }
            .work(&mailbox);
    })?;
    Ok(worker)
}

/// Result of waiting for a job.
#[derive(Debug)]
enum Waited {
    Job(GeneratorJob),
    /// No job within the idle time.
    Idle,
    /// The mailbox is closed.
    Closed,
}

/// Key of a translation: model, language, question.
type Translated = (String, Language, String);

struct Generator {
    engine: Arc<ModelManager>,
    encoder: Sender<SearchJob>,
    leaving: CancelToken,
    events: Events,
    model: Option<LlamaGenerator>,
    /// Translations of this run of the program.
    translations: HashMap<Translated, String>,
    /// Turns answered by the model as loaded, which reproduces their answers exactly.
    answered: HashSet<TurnKey>,
    /// The embedder of attribution.
    comparer: Comparer,
}

impl Generator {
    fn work(mut self, mailbox: &Receiver<GeneratorJob>) {
        loop {
            let job = match self.wait(mailbox) {
                Waited::Job(job) => job,
                Waited::Idle => continue,
                Waited::Closed => return,
            };
            match job {
                GeneratorJob::WarmUp(model) => self.warm_up(&model),
                GeneratorJob::Rewrite { work, question, wording } => {
                    let result = self.rewrite(&work, &question, wording);
                    self.finish(work, result);
                }
                GeneratorJob::Answer { work, question, typed, hits } => {
                    let result = self.answer(&work, &question, &typed, &hits);
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

    /// Waits for a job. Unloads the model after the idle time.
    fn wait(&mut self, mailbox: &Receiver<GeneratorJob>) -> Waited {
        let limit = self.engine.setup.unload_after.filter(|_| self.model.is_some());
        let Some(limit) = limit else { return mailbox.recv().map_or(Waited::Closed, Waited::Job) };
        match mailbox.recv_timeout(limit) {
            Ok(job) => Waited::Job(job),
            Err(RecvTimeoutError::Disconnected) => Waited::Closed,
            Err(RecvTimeoutError::Timeout) => {
                self.drop_model();
                tracing::info!("the generator was idle and left the memory");
                Waited::Idle
            }
        }
    }

    /// Unloads the model. Loaded again, it may have other layers on a GPU and round differently.
    fn drop_model(&mut self) {
        self.model = None;
        self.answered.clear();
        self.engine.left();
    }

    fn warm_up(&mut self, model: &GeneratorChoice) {
        let leaving = self.leaving.clone();
        if let Err(Stop::Failed(problem)) = self.load(model, &leaving) {
            self.events.send(Event::Failed(problem));
        }
    }

    /// Sends the event of a job. The job ends before the event is sent, so that a later cancellation finds nothing
    /// running.
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
        let facts = self.facts(&question.domain, None, &work.cancel)?;
        let rewrite = match wording {
            Wording::Edited => answer::edited_question(&question.text),
            Wording::Again => answer::question_again(&question.text),
            Wording::Typed if question.past.is_empty() => answer::first_question(&question.text),
            Wording::Typed => {
                let input = RewriteInput {
                    prefix: &facts.prefix,
                    language: Language::of(&question.text),
                    past: &question.past,
                    question: &question.text,
                    settings: &question.settings.prompt,
                };
                answer::rewrite(self.load(&question.settings.model, &work.cancel)?, &input, &work.cancel)?
            }
        };
        if let Some(translation) = self.translate(work, &rewrite.completed, &question.settings, facts.language)? {
            let translation = Box::new(translation);
            self.events.send(Event::QuestionTranslated { turn: work.turn, translation });
        }
        // Reranking comes next; where memory is short, the generator makes room.
        let reranks = question.settings.rerank == Reranking::On;
        if reranks && self.model.is_some() && self.engine.reranker_lacks_memory() {
            self.drop_model();
            tracing::info!("the generator left the memory to the reranker");
        }
        Ok(Event::QuestionCompleted { turn: work.turn, rewrite: Box::new(rewrite) })
    }

    /// Translates the question into the language of the documents, where it has another.
    fn translate(
        &mut self,
        work: &WorkGuard,
        question: &str,
        settings: &TurnSettings,
        documents: Language,
    ) -> Result<Option<Translation>, Stop> {
        let Some(LanguagePair { from, to }) = translation_wanted(question, documents, settings.retrieval.translate)
        else {
            return Ok(None);
        };
        let started = Instant::now();
        let key = (self.id_of(&settings.model).to_owned(), to, question.to_owned());
        if let Some(text) = self.translations.get(&key).cloned() {
            let how = TranslationHow::Known;
            let total_ms = started.elapsed().into();
            return Ok(Some(Translation { text: Some(text), from, to, how, prompt: None, completion: None, total_ms }));
        }
        let input = TranslateInput { question, from, to, max_tokens: settings.prompt.rewrite_tokens };
        let translation = answer::translate(self.load(&settings.model, &work.cancel)?, &input, &work.cancel)?;
        if let Some(text) = &translation.text {
            self.translations.insert(key, text.clone());
        }
        Ok(Some(translation))
    }

    /// The id of a model.
    fn id_of<'a>(&'a self, choice: &'a GeneratorChoice) -> &'a str {
        choice.id(&self.engine.setup.profile.profile.generator)
    }

    /// Returns the model, loaded when first needed; loading stops at `cancel` or when the program exits. Unloads
    /// another model first, unless the weights of this one are missing.
    fn load(&mut self, choice: &GeneratorChoice, cancel: &CancelToken) -> Result<&mut LlamaGenerator, Stop> {
        let id = self.id_of(choice).to_owned();
        let loaded = self.model.take_if(|model| model.identity().model == id);
        if self.model.is_some() {
            let setup = &self.engine.setup;
            let model = setup.catalog.model(&id)?;
            setup.folders.find(model, model.weights()?, cancel)?;
            self.drop_model();
            tracing::info!(id, "the generator left the memory to another one");
        }
        let model = match loaded {
            Some(model) => model,
            None => match self.read_weights(&id, cancel) {
                Err(error) if error.is_for_want_of_memory() && self.engine.release_reranker() => {
                    self.read_weights(&id, cancel)
                }
                read => read,
            }?,
        };
        Ok(self.model.insert(model))
    }

    fn read_weights(&self, id: &str, cancel: &CancelToken) -> Result<LlamaGenerator, InferenceError> {
        let setup = &self.engine.setup;
        let (leaving, engine) = (self.leaving.clone(), Arc::clone(&self.engine));
        self.engine
            .loading(id, || {
                let model = setup.catalog.model(id)?;
                let go_on = move |part| {
                    engine.loaded_so_far(part);
                    if leaving.is_canceled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let kept = setup.paths.prefix_cache();
                load_generator(model, &setup.folders, &setup.generator, Some(&kept), cancel, go_on)
            })
            .inspect(|loaded| {
                self.engine.placed(loaded.placement());
            })
    }

    /// Asks the search thread, which never waits for this thread.
    fn facts(&self, domain: &DomainName, vectors: Option<VectorsWanted>, cancel: &CancelToken) -> Result<Facts, Stop> {
        let (reply, answer) = mpsc::sync_channel(1);
        let job = SearchJob::Facts { domain: domain.clone(), vectors, cancel: cancel.clone(), reply };
        if self.encoder.send(job).is_err() {
            return Err(Stop::Canceled);
        }
        // The search thread may be loading its model, which this token does not cancel.
        loop {
            match answer.recv_timeout(HEEDING) {
                Ok(facts) => return facts,
                Err(RecvTimeoutError::Timeout) => cancel.check()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::Canceled),
            }
        }
    }

    fn explain(&mut self, work: &WorkGuard, asked: &Explanation) -> Result<Event, Stop> {
        work.cancel.check()?;
        if asked.demand == Trigger::Prefetch && Power::now() == Power::Battery {
            // No prefetch on battery.
            return Err(Stop::Canceled);
        }
        let sources = self.sources(work, asked)?;
        let attribution = match asked.method {
            Method::Similarity => self.by_similarity(work, asked, &sources)?,
            Method::Preview | Method::Counterfactual | Method::Logprob | Method::Jsd => {
                self.compare_at_once(work, asked, &sources)?;
                let attribution = self.by_leaving_out(work, asked, &sources)?;
                let settings = &asked.settings.attribution;
                match &self.model {
                    Some(generator) => attribution::by_sentence(attribution, &asked.answer, settings, generator)?,
                    None => attribution,
                }
            }
        };
        Ok(Event::AttributionFinished { turn: work.turn, attribution: Box::new(attribution) })
    }

    /// The source vectors for clustering, cached for the turn.
    fn sources(&mut self, work: &WorkGuard, asked: &Explanation) -> Result<Vec<SourceVector>, Stop> {
        let engine = Arc::clone(&self.engine);
        let embedder = self.comparer.embedder(&engine)?;
        if let Some(known) = self.comparer.kept(asked.of, &asked.hits) {
            return Ok(known);
        }
        let evidences = asked.hits.iter().map(|hit| hit.evidence).collect();
        let wanted = VectorsWanted { evidences, embedder };
        let vectors = self.facts(&asked.domain, Some(wanted), &work.cancel)?.vectors;
        Ok(self.comparer.keep(asked.of, &asked.hits, vectors))
    }

    fn by_similarity(
        &mut self,
        work: &WorkGuard,
        asked: &Explanation,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let embedder = self.comparer.embedder(&self.engine)?;
        let settings = &asked.settings.attribution;
        let input = SimilarityInput { answer: &asked.answer, sources, settings };
        Ok(attribution::similarity(input, embedder.as_ref(), &work.cancel)?)
    }

    /// Sends similarities of the sources as a quick first result.
    fn compare_at_once(&mut self, work: &WorkGuard, asked: &Explanation, sources: &[SourceVector]) -> Result<(), Stop> {
        if asked.known.is_empty() {
            let clusters = self.by_similarity(work, asked, sources)?.clusters;
            self.events.send(Event::AttributionAdvanced { turn: work.turn, done: 0, total: 0, clusters });
        }
        Ok(())
    }

    fn by_leaving_out(
        &mut self,
        work: &WorkGuard,
        asked: &Explanation,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let engine = Arc::clone(&self.engine);
        let embedder = self.comparer.embedder(&engine)?;
        let present = |said: &Completion| answer::read_answer(said, &asked.answer.prompt).citations.text;
        let origin = if self.answered.contains(&asked.of) { AnswerSource::Here } else { AnswerSource::Stored };
        // Clusters of another run of the program may not be comparable with new ones.
        let known = if origin == AnswerSource::Here { asked.known.as_slice() } else { &[] };
        let input = ExplainInput {
            question: &asked.question,
            answer: &asked.answer,
            sources,
            origin,
            known,
            settings: &asked.settings.attribution,
            max_tokens: asked.settings.prompt.answer_tokens,
            present: &present,
        };
        let (events, turn, mut any_told) = (self.events.clone(), work.turn, false);
        let mut tell = |done, total, clusters: &[Cluster]| {
            any_told |= !clusters.is_empty();
            events.send(Event::AttributionAdvanced { turn, done, total, clusters: clusters.to_vec() });
        };
        let cancel = &work.cancel;
        let generator = self.load(&asked.settings.model, cancel)?;
        let attribution = match asked.method {
            Method::Preview => attribution::masked_estimate(input, generator, cancel, &mut tell),
            Method::Logprob => attribution::probability(input, Reading::Logprob, generator, cancel, &mut tell),
            Method::Jsd => attribution::probability(input, Reading::Divergence, generator, cancel, &mut tell),
            Method::Counterfactual | Method::Similarity => {
                let engines = Engines { generator, embedder: embedder.as_ref() };
                attribution::explain(input, engines, cancel, &mut tell)
            }
        };
        // Progress with clusters means that the model reproduced the stored answer, so a stopped explanation can
        // continue.
        if asked.method == Method::Counterfactual && any_told {
            self.answered.insert(asked.of);
        }
        Ok(attribution?)
    }

    fn suggest(&mut self, work: &WorkGuard, answered: &Answered) -> Result<Event, Stop> {
        work.cancel.check()?;
        let Answered { question, answer, hits, asked, model } = answered;
        let input = SuggestInput { question, answer, hits, asked };
        let questions = answer::suggest(self.load(model, &work.cancel)?, &input, &work.cancel)?;
        Ok(Event::QuestionsSuggested { turn: work.turn, questions })
    }

    fn answer(&mut self, work: &WorkGuard, question: &Question, typed: &str, hits: &[Hit]) -> Result<Event, Stop> {
        work.cancel.check()?;
        let facts = self.facts(&question.domain, None, &work.cancel)?;
        let settings = question.settings.answering();
        let input = AnswerInput {
            prefix: &facts.prefix,
            language: answer::answer_language(typed, &question.text, facts.language, settings.prompt.language),
            past: &question.past,
            question: &question.text,
            hits,
            settings: &settings,
        };
        let (events, turn) = (self.events.clone(), work.turn);
        let mut tell = |event: AnswerEvent| {
            events.send(match event {
                AnswerEvent::PromptBuilt { tokens, sources, cut } => Event::PromptBuilt { turn, tokens, sources, cut },
                AnswerEvent::PromptRead { done, total } => Event::PromptRead { turn, done, total },
                AnswerEvent::Text(text) => Event::AnswerGrew { turn, text },
            });
        };
        let answer = answer::generate_answer(
            self.load(&question.settings.model, &work.cancel)?,
            &input,
            &work.cancel,
            &mut tell,
        )?;
        if self.model.as_ref().is_some_and(LlamaGenerator::is_deterministic) {
            self.answered.insert(turn);
        }
        Ok(Event::AnswerFinished { turn, answer: Box::new(answer) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use crate::WorkerConfig;
    use ragonite_app::EngineStatus;
    use ragonite_config::{Paths, choose_profile};
    use ragonite_inference::{Catalog, DeviceChoice, GeneratorSettings, ModelFolders};

    /// A generator of the profile `tiny` that may be idle for so long, and what it tells.
    fn tiny(unload_after: Option<Duration>) -> Option<(Generator, UnboundedReceiver<Event>)> {
        let folder = ragonite_testing::models_folder();
        let catalog = Catalog::builtin().unwrap();
        let profile = choose_profile(&catalog, Some("tiny"), None).unwrap();
        let folders = ModelFolders::new(vec![folder.clone()]);
        if !folders.has(catalog.model(&profile.profile.generator).unwrap()) {
            ragonite_testing::skip_without("the generator of `tiny`");
            return None;
        }
        let setup = WorkerConfig {
            paths: Paths::find(Some(&folder), None).unwrap(),
            catalog,
            folders,
            profile,
            model: GeneratorChoice::Profile,
            device: DeviceChoice::Cpu,
            embedder: ragonite_inference::SharedEmbedder::default(),
            generator: GeneratorSettings { context_tokens: 512, ..GeneratorSettings::default() },
            unload_after,
            comparer: None,
            evidence: ragonite_document::evidence::EvidenceSettings::default(),
            index: ragonite_index::IndexSettings::default(),
        };
        let (events, told) = unbounded_channel();
        let (events, leaving) = (Events(events), CancelToken::never());
        let engine = ModelManager::new(setup, leaving.clone(), events.clone());
        let (encoder, _) = mpsc::channel();
        let translations = HashMap::new();
        let comparer = Comparer::default();
        Some((
            Generator {
                engine,
                encoder,
                leaving,
                events,
                model: None,
                translations,
                answered: HashSet::new(),
                comparer,
            },
            told,
        ))
    }

    /// How often a model was said to be loaded since the last look.
    fn loaded(told: &mut UnboundedReceiver<Event>) -> usize {
        let mut loading = 0;
        while let Ok(event) = told.try_recv() {
            let begun =
                |status: &EngineStatus| status.loading.as_ref().is_some_and(|loading| loading.percent.is_none());
            loading += usize::from(matches!(event, Event::EngineChanged(status) if begun(&status)));
        }
        loading
    }

    #[test]
    fn an_idle_model_leaves_the_memory_and_is_loaded_again_when_it_is_needed() {
        let Some((mut generator, mut told)) = tiny(Some(Duration::from_millis(1))) else { return };
        let (jobs, mailbox) = mpsc::channel();
        generator.warm_up(&GeneratorChoice::Profile);
        assert_eq!((generator.model.is_some(), loaded(&mut told)), (true, 1));
        assert!(matches!(generator.wait(&mailbox), Waited::Idle));
        assert!(generator.model.is_none());
        // Without a model there is nothing to unload, and the next job is waited for.
        jobs.send(GeneratorJob::WarmUp(GeneratorChoice::Profile)).unwrap();
        assert!(matches!(generator.wait(&mailbox), Waited::Job(GeneratorJob::WarmUp(_))));
        generator.load(&GeneratorChoice::Profile, &CancelToken::never()).unwrap();
        assert_eq!((generator.model.is_some(), loaded(&mut told)), (true, 1));
        drop(jobs);
        assert!(matches!(generator.wait(&mailbox), Waited::Closed));
    }

    #[test]
    fn another_model_takes_the_place_of_the_one_that_is_loaded() {
        let Some((mut generator, mut told)) = tiny(None) else { return };
        let own = generator.engine.setup.profile.profile.generator.clone();
        generator.warm_up(&GeneratorChoice::Profile);
        // By its name it is the same.
        generator.load(&GeneratorChoice::Named(own), &CancelToken::never()).unwrap();
        assert_eq!(loaded(&mut told), 1);
        let unknown = GeneratorChoice::Named("unheard-of".to_owned());
        assert!(matches!(generator.load(&unknown, &CancelToken::never()), Err(Stop::Failed(_))));
        assert!(generator.model.is_some(), "what is not here takes no place");
        generator.load(&GeneratorChoice::Profile, &CancelToken::never()).unwrap();
        assert_eq!(loaded(&mut told), 0);
    }

    #[test]
    fn a_model_that_may_stay_is_loaded_once() {
        let Some((mut generator, mut told)) = tiny(None) else { return };
        let (jobs, mailbox) = mpsc::channel();
        generator.warm_up(&GeneratorChoice::Profile);
        jobs.send(GeneratorJob::WarmUp(GeneratorChoice::Profile)).unwrap();
        assert!(matches!(generator.wait(&mailbox), Waited::Job(_)));
        generator.warm_up(&GeneratorChoice::Profile);
        assert_eq!(loaded(&mut told), 1);
    }
}
