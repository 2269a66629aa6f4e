//! The thread that owns the language model.
//!
//! Takes jobs: run a turn, suggest, explain. Gives progress events and one last event per job.
//! Invariants: one model is loaded at a time, and jobs run one after the other; an idle model is unloaded after a
//! while.
//! Not here: the stages of a turn (`ragonite_rag::pipeline`), attribution (`attribution`), domains (`open_domains`).

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use super::attribution_embedder::AttributionEmbedder;
use super::battery::Power;
use super::jobs::JobGuard;
use super::model_manager::ModelManager;
use super::open_domains::OpenDomains;
use super::problem::Stop;
use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{Event, ExplainRequest, SuggestRequest, Trigger, TurnKey};
use ragonite_base::{CancelToken, DomainName, EvidenceId};
use ragonite_inference::{Generate, GeneratorChoice, InferenceError};
use ragonite_llama::{LlamaGenerator, load_generator};
use ragonite_rag::answer::{self, AnswerEvent, SuggestInput};
use ragonite_rag::attribution::{
    self, AnswerSource, Attribution, Cluster, Engines, ExplainInput, Method, SimilarityInput, SourceVector,
};
use ragonite_rag::pipeline::{
    DomainFacts, TranslationCache, TurnEngines, TurnProgress, TurnRequest, TurnSettings, answer_turn,
};
use ragonite_rag::retrieval::{Reranking, Retrieved, SearchContext, SearchInput, search};

/// A job of the generator thread.
#[derive(Debug)]
pub(super) enum GeneratorJob {
    /// Load this model.
    WarmUp(GeneratorChoice),
    /// Run a turn.
    Turn { work: JobGuard, turn: TurnKey, domain: DomainName, request: Box<TurnRequest> },
    /// Generate suggestions.
    Suggest { work: JobGuard, request: Box<SuggestRequest> },
    /// Attribute an answer.
    Explain { work: JobGuard, request: Box<ExplainRequest> },
}

/// Starts the thread.
pub(super) fn start(
    models: Arc<ModelManager>,
    domains: Arc<OpenDomains>,
    leaving: CancelToken,
    events: Events,
) -> Result<Worker<GeneratorJob>, RuntimeError> {
    Worker::start("generator", move |mailbox| Generator::new(models, domains, leaving, events).work(&mailbox))
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

struct Generator {
    models: Arc<ModelManager>,
    domains: Arc<OpenDomains>,
    leaving: CancelToken,
    events: Events,
    model: Option<LlamaGenerator>,
    /// Translations of this run of the program.
    translations: TranslationCache,
    /// Turns answered by the model as loaded, which reproduces their answers exactly.
    answered: HashSet<TurnKey>,
    /// The embedder of attribution.
    attribution_embedder: AttributionEmbedder,
}

/// The engines of a turn.
struct WorkerEngines<'a> {
    generator: &'a mut Generator,
    domain: &'a DomainName,
}

impl TurnEngines for WorkerEngines<'_> {
    type Error = Stop;

    fn domain(&mut self, cancel: &CancelToken) -> Result<DomainFacts, Stop> {
        self.generator.domains.with(self.domain, cancel, |index| {
            Ok(DomainFacts { prefix: index.manifest()?.prompt_prefix, language: index.language()? })
        })
    }

    fn generator(&mut self, settings: &TurnSettings, cancel: &CancelToken) -> Result<&mut dyn Generate, Stop> {
        Ok(self.generator.load(&settings.model, cancel)?)
    }

    fn search(
        &mut self,
        input: &SearchInput<'_>,
        settings: &TurnSettings,
        cancel: &CancelToken,
    ) -> Result<Retrieved, Stop> {
        let reranks = settings.rerank == Reranking::On;
        if reranks {
            self.generator.make_room_for_the_reranker();
        }
        let models = &self.generator.models;
        let embedder = models.embedder()?;
        let reranker = if reranks { models.reranker()? } else { None };
        self.generator.domains.with(self.domain, cancel, |index| {
            let context = SearchContext { index, embedder: embedder.as_ref(), reranker: reranker.as_deref() };
            Ok(search(context, input, &settings.searching(), cancel)?)
        })
    }

    fn translations(&mut self) -> &mut TranslationCache {
        &mut self.generator.translations
    }
}

impl Generator {
    fn new(models: Arc<ModelManager>, domains: Arc<OpenDomains>, leaving: CancelToken, events: Events) -> Self {
        Self {
            models,
            domains,
            leaving,
            events,
            model: None,
            translations: TranslationCache::default(),
            answered: HashSet::new(),
            attribution_embedder: AttributionEmbedder::default(),
        }
    }

    fn work(mut self, mailbox: &Receiver<GeneratorJob>) {
        loop {
            let job = match self.wait(mailbox) {
                Waited::Job(job) => job,
                Waited::Idle => continue,
                Waited::Closed => return,
            };
            match job {
                GeneratorJob::WarmUp(model) => self.warm_up(&model),
                GeneratorJob::Turn { work, turn, domain, request } => {
                    self.run(&work, |generator| generator.turn(&work, turn, &domain, &request));
                }
                GeneratorJob::Suggest { work, request } => {
                    self.run(&work, |generator| generator.suggest(&work, &request));
                }
                GeneratorJob::Explain { work, request } => {
                    self.run(&work, |generator| generator.explain(&work, &request));
                }
            }
        }
    }

    /// Waits for a job. Unloads the model after the idle time.
    fn wait(&mut self, mailbox: &Receiver<GeneratorJob>) -> Waited {
        let limit = self.models.setup.unload_after.filter(|_| self.model.is_some());
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
        self.models.left();
    }

    fn warm_up(&mut self, model: &GeneratorChoice) {
        let leaving = self.leaving.clone();
        if let Err(Stop::Failed(problem)) = self.load(model, &leaving) {
            self.events.send(Event::Failed(problem));
        }
    }

    /// Runs a job and sends its last event, unless the cancellation of the job was answered while it waited.
    fn run(&mut self, work: &JobGuard, job: impl FnOnce(&mut Self) -> Result<Event, Stop>) {
        if !work.begin() {
            return;
        }
        let result = job(self);
        let job = work.job;
        self.events.send(match result {
            Ok(event) => event,
            Err(Stop::Canceled) => Event::JobCanceled { job },
            Err(Stop::Failed(problem)) => Event::JobFailed { job, problem },
        });
    }

    fn turn(
        &mut self,
        work: &JobGuard,
        turn: TurnKey,
        domain: &DomainName,
        request: &TurnRequest,
    ) -> Result<Event, Stop> {
        let events = self.events.clone();
        let mut engines = WorkerEngines { generator: self, domain };
        let mut report = |progress: TurnProgress<'_>| events.send(event_of(turn, progress));
        let trace = answer_turn(&mut engines, request, &mut report, &work.cancel)?;
        if self.model.as_ref().is_some_and(LlamaGenerator::is_deterministic) {
            self.answered.insert(turn);
        }
        Ok(Event::AnswerFinished { turn, answer: Box::new(trace.answer) })
    }

    /// Unloads the generator where the reranker is not loaded yet and memory is short.
    fn make_room_for_the_reranker(&mut self) {
        if self.model.is_some() && self.models.reranker_lacks_memory() {
            self.drop_model();
            tracing::info!("the generator left the memory to the reranker");
        }
    }

    /// The id of a model.
    fn id_of<'a>(&'a self, choice: &'a GeneratorChoice) -> &'a str {
        choice.id(&self.models.setup.profile.profile.generator)
    }

    /// Returns the model, loaded when first needed; loading stops at `cancel` or when the program exits. Unloads
    /// another model first, unless the weights of this one are missing.
    fn load(&mut self, choice: &GeneratorChoice, cancel: &CancelToken) -> Result<&mut LlamaGenerator, Stop> {
        let id = self.id_of(choice).to_owned();
        let loaded = self.model.take_if(|model| model.identity().model == id);
        if self.model.is_some() {
            let setup = &self.models.setup;
            let model = setup.catalog.model(&id)?;
            setup.folders.find(model, model.weights()?, cancel)?;
            self.drop_model();
            tracing::info!(id, "the generator left the memory to another one");
        }
        let model = match loaded {
            Some(model) => model,
            None => match self.read_weights(&id, cancel) {
                Err(error) if error.is_for_want_of_memory() && self.models.release_reranker() => {
                    self.read_weights(&id, cancel)
                }
                read => read,
            }?,
        };
        Ok(self.model.insert(model))
    }

    fn read_weights(&self, id: &str, cancel: &CancelToken) -> Result<LlamaGenerator, InferenceError> {
        let setup = &self.models.setup;
        let (leaving, models) = (self.leaving.clone(), Arc::clone(&self.models));
        self.models
            .loading(id, || {
                let model = setup.catalog.model(id)?;
                let go_on = move |part| {
                    models.loaded_so_far(part);
                    if leaving.is_canceled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let kept = setup.paths.prefix_cache();
                load_generator(model, &setup.folders, &setup.generator, Some(&kept), cancel, go_on)
            })
            .inspect(|loaded| {
                self.models.placed(loaded.placement());
            })
    }

    fn explain(&mut self, work: &JobGuard, asked: &ExplainRequest) -> Result<Event, Stop> {
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
        Ok(Event::AttributionFinished { job: work.job, attribution: Box::new(attribution) })
    }

    /// The source vectors for clustering, cached for the turn.
    fn sources(&mut self, work: &JobGuard, asked: &ExplainRequest) -> Result<Vec<SourceVector>, Stop> {
        let embedder = self.attribution_embedder.embedder(&self.models)?;
        if let Some(known) = self.attribution_embedder.kept(asked.turn, &asked.hits) {
            return Ok(known);
        }
        let evidences: Vec<EvidenceId> = asked.hits.iter().map(|hit| hit.evidence).collect();
        let cancel = &work.cancel;
        let vectors = self
            .domains
            .with(&asked.domain, cancel, |index| Ok(index.vectors_by(&evidences, embedder.as_ref(), cancel)?))?;
        Ok(self.attribution_embedder.keep(asked.turn, &asked.hits, vectors))
    }

    fn by_similarity(
        &mut self,
        work: &JobGuard,
        asked: &ExplainRequest,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let embedder = self.attribution_embedder.embedder(&self.models)?;
        let settings = &asked.settings.attribution;
        let input = SimilarityInput { answer: &asked.answer, sources, settings };
        Ok(attribution::similarity(input, embedder.as_ref(), &work.cancel)?)
    }

    /// Sends similarities of the sources as a quick first result.
    fn compare_at_once(
        &mut self,
        work: &JobGuard,
        asked: &ExplainRequest,
        sources: &[SourceVector],
    ) -> Result<(), Stop> {
        if asked.known.is_empty() {
            let clusters = self.by_similarity(work, asked, sources)?.clusters;
            let elapsed = work.elapsed();
            self.events.send(Event::AttributionAdvanced { job: work.job, done: 0, total: 0, clusters, elapsed });
        }
        Ok(())
    }

    fn by_leaving_out(
        &mut self,
        work: &JobGuard,
        asked: &ExplainRequest,
        sources: &[SourceVector],
    ) -> Result<Attribution, Stop> {
        let embedder = self.attribution_embedder.embedder(&self.models)?;
        let origin = if self.answered.contains(&asked.turn) { AnswerSource::Here } else { AnswerSource::Stored };
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
        };
        let (events, job, mut any_told) = (self.events.clone(), work.job, false);
        let mut tell = |done, total, clusters: &[Cluster]| {
            any_told |= !clusters.is_empty();
            let (clusters, elapsed) = (clusters.to_vec(), work.elapsed());
            events.send(Event::AttributionAdvanced { job, done, total, clusters, elapsed });
        };
        let cancel = &work.cancel;
        let generator = self.load(&asked.settings.model, cancel)?;
        let engines = Engines { generator, embedder: embedder.as_ref() };
        let attribution = attribution::attribute(asked.method, input, engines, cancel, &mut tell);
        // Progress with clusters means that the model reproduced the stored answer, so a stopped explanation can
        // continue.
        if asked.method == Method::Counterfactual && any_told {
            self.answered.insert(asked.turn);
        }
        Ok(attribution?)
    }

    fn suggest(&mut self, work: &JobGuard, request: &SuggestRequest) -> Result<Event, Stop> {
        work.cancel.check()?;
        let SuggestRequest { question, answer, hits, asked, model } = request;
        let input = SuggestInput { question, answer, hits, asked };
        let questions = answer::suggest(self.load(model, &work.cancel)?, &input, &work.cancel)?;
        Ok(Event::QuestionsSuggested { job: work.job, questions })
    }
}

/// The event for the progress of a turn.
fn event_of(turn: TurnKey, progress: TurnProgress<'_>) -> Event {
    match progress {
        TurnProgress::Translated(translation) => {
            Event::QuestionTranslated { turn, translation: Box::new(translation.clone()) }
        }
        TurnProgress::Completed(rewrite) => Event::QuestionCompleted { turn, rewrite: Box::new(rewrite.clone()) },
        TurnProgress::Retrieved(retrieved) => Event::HitsRetrieved { turn, retrieved: Box::new(retrieved.clone()) },
        TurnProgress::Answering(AnswerEvent::PromptBuilt { tokens, sources, cut }) => {
            Event::PromptBuilt { turn, tokens, sources, cut }
        }
        TurnProgress::Answering(AnswerEvent::PromptRead { done, total }) => Event::PromptRead { turn, done, total },
        TurnProgress::Answering(AnswerEvent::Text(text)) => Event::AnswerGrew { turn, text },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use crate::WorkerConfig;
    use ragonite_app::EngineStatus;

    /// A generator of the profile `tiny` that may be idle for so long, and what it tells.
    fn tiny(unload_after: Option<Duration>) -> Option<(Generator, UnboundedReceiver<Event>)> {
        let setup = WorkerConfig { unload_after, ..WorkerConfig::tiny(&ragonite_testing::models_folder()) };
        if !setup.folders.has(setup.catalog.model(&setup.profile.profile.generator).unwrap()) {
            ragonite_testing::skip_without("the generator of `tiny`");
            return None;
        }
        let (events, told) = unbounded_channel();
        let (events, leaving) = (Events(events), CancelToken::never());
        let models = ModelManager::new(setup, leaving.clone(), events.clone());
        let domains = Arc::new(OpenDomains::new(Arc::clone(&models)));
        Some((Generator::new(models, domains, leaving, events), told))
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
        let own = generator.models.setup.profile.profile.generator.clone();
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
