//! Worker threads for effects: generator (turns and explanations), domains (and views of evidence), historian
//! (SQLite), ingester (documents), clipboard (the desktop's copy tool).
//!
//! Takes [`Effect`]s, gives [`Event`]s. One thread owns the llama context, one the writes to the history; generator and
//! domains share the open domains.
//! Invariants: [`Runtime::run`] never blocks; every effect with a job is answered; cancelling a turn stops its computation.
//! Not here: handling events (`app`), drawing (`tui`).

mod attribution_embedder;
mod battery;
mod clipboard;
mod document;
mod domain_worker;
mod error;
mod generator;
mod historian;
mod ingester;
mod jobs;
mod keys;
mod model_manager;
mod open_domains;
mod problem;
mod signals;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

pub use domain_worker::damage_of;
pub use error::RuntimeError;
pub use keys::{EscapeKey, cancel_on_escape};
pub use model_manager::WorkerConfig;
pub use problem::problem;
pub use signals::{Interrupts, cancel_on_interrupt, forward_interrupts};

use clipboard::CopyJob;
use domain_worker::DomainJob;
use generator::GeneratorJob;
use historian::HistorianJob;
use ingester::IngestJob;
use jobs::{CancelOutcome, JobRegistry};
use model_manager::ModelManager;
use open_domains::OpenDomains;
use ragonite_app::{Copied, Effect, Event, JobId};
use ragonite_base::{CancelSource, DomainName};
use ragonite_config::Desktop;
use ragonite_inference::GeneratorChoice;
use worker::Worker;

/// Time that exit waits for a thread; loading a model may need it.
const JOIN_LIMIT: Duration = Duration::from_secs(3);

/// The queue for events. Sending never blocks, and a closed queue is no error.
#[derive(Debug, Clone)]
pub(crate) struct Events(UnboundedSender<Event>);

impl Events {
    pub(crate) fn send(&self, event: Event) {
        // The queue is closed only at exit.
        let _ = self.0.send(event);
    }
}

/// The worker threads.
#[derive(Debug)]
pub struct Runtime {
    domain_worker: Worker<DomainJob>,
    generator: Worker<GeneratorJob>,
    historian: Worker<HistorianJob>,
    ingester: Worker<IngestJob>,
    clipboard: Worker<CopyJob>,
    /// Cancels the latest ingest.
    ingesting: CancelSource,
    /// Cancels the latest opening of a domain.
    opening: CancelSource,
    jobs: JobRegistry,
    events: Events,
    leaving: ragonite_base::CancelOnDrop,
}

impl Runtime {
    /// Starts the threads. Models are loaded by their threads, each when first needed or after [`Runtime::warm_up`].
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(setup: WorkerConfig, events: UnboundedSender<Event>) -> Result<Self, RuntimeError> {
        let events = Events(events);
        let leaving = ragonite_base::CancelOnDrop::default();
        let models = ModelManager::new(setup, leaving.token(), events.clone());
        let domains = Arc::new(OpenDomains::new(Arc::clone(&models)));
        let domain_worker = domain_worker::start(Arc::clone(&models), Arc::clone(&domains), events.clone())?;
        let generator = generator::start(Arc::clone(&models), domains, leaving.token(), events.clone())?;
        let historian = historian::start(models.setup.paths.history(), events.clone())?;
        let ingester = ingester::start(models, events.clone())?;
        let clipboard = clipboard::start(events.clone())?;
        let (jobs, ingesting, opening) = (JobRegistry::default(), CancelSource::default(), CancelSource::default());
        Ok(Self { domain_worker, generator, historian, ingester, clipboard, ingesting, opening, jobs, events, leaving })
    }

    /// Loads the models now, with this generator.
    pub fn warm_up(&self, model: GeneratorChoice) {
        self.domain_worker.send(DomainJob::WarmUp);
        self.generator.send(GeneratorJob::WarmUp(model));
    }

    /// Passes a text to the copy tool of the desktop. Answered by `Done`, or by `NotCopied` where no tool takes it.
    pub fn copy(&self, what: Copied, text: String, desktop: Desktop) {
        self.clipboard.send(CopyJob::new(what, text, desktop));
    }

    /// Makes a worker thread panic, for the tests of terminal restoration.
    pub fn panic_in_worker(&self) {
        self.historian.send(HistorianJob::Panic);
    }

    /// Passes an effect to its thread.
    pub fn run(&mut self, effect: Effect) {
        match effect {
            Effect::LookForModels => self.domain_worker.send(DomainJob::LookForModels),
            Effect::LoadModels(model) => self.warm_up(model),
            Effect::ListDomains => self.domain_worker.send(DomainJob::ListDomains),
            Effect::Ingest { domain, path } => {
                self.ingesting = CancelSource::default();
                self.ingester.send(IngestJob { domain, path, cancel: self.ingesting.token() });
            }
            Effect::CancelIngest => self.ingesting.cancel(),
            Effect::OpenDomain(name) => self.open(name),
            Effect::CancelOpening => self.opening.cancel(),
            Effect::LoadTable { domain, evidence } => {
                self.domain_worker.send(DomainJob::LoadTable { domain, evidence });
            }
            Effect::LoadSettings(domain) => self.domain_worker.send(DomainJob::LoadSettings(domain)),
            Effect::SaveSettings { domain, edit } => self.domain_worker.send(DomainJob::SaveSettings { domain, edit }),
            Effect::RunTurn { turn, domain, request } => {
                let work = self.jobs.begin(turn.job());
                self.generator.send(GeneratorJob::Turn { work, turn, domain, request });
            }
            Effect::Suggest { job, request } => {
                let work = self.jobs.begin(job);
                self.generator.send(GeneratorJob::Suggest { work, request });
            }
            Effect::Explain { job, request } => {
                let work = self.jobs.begin_anew(job);
                self.generator.send(GeneratorJob::Explain { work, request });
            }
            Effect::TryContext { job, domain, query, evidences, parts } => {
                let work = self.jobs.begin(job);
                self.domain_worker.send(DomainJob::TryContext { work, domain, query, evidences, parts });
            }
            Effect::LoadDocument { job, domain, document, hit } => {
                let work = self.jobs.begin(job);
                self.domain_worker.send(DomainJob::LoadDocument { work, domain, document, hit });
            }
            Effect::ListConversations(domain) => self.historian.send(HistorianJob::List(domain)),
            Effect::OpenConversation(id) => self.historian.send(HistorianJob::Open(id)),
            Effect::SaveTurn { turn, domain, conversation, record } => {
                self.historian.send(HistorianJob::Save { turn, domain, conversation, record });
            }
            Effect::RateTurn { id, feedback, before } => {
                self.historian.send(HistorianJob::Rate { id, feedback, before });
            }
            Effect::ChangeConversation { domain, change } => {
                self.historian.send(HistorianJob::Change { domain, change });
            }
            Effect::FindConversations { first, text } => self.historian.send(HistorianJob::Find { first, text }),
            Effect::Export { conversation, turns, format } => {
                self.historian.send(HistorianJob::Export { conversation, turns, format });
            }
            Effect::Branch { domain, conversation, number } => {
                self.historian.send(HistorianJob::Branch { domain, conversation, number });
            }
            Effect::ExportStored { conversation, format } => {
                self.historian.send(HistorianJob::ExportStored { conversation, format });
            }
            Effect::WriteEvalCase { domain, conversation, turn } => {
                self.historian.send(HistorianJob::Check { domain, conversation, turn });
            }
            Effect::CancelJob(job) => self.cancel(job),
            // The event loop owns the terminal.
            Effect::CopyByTerminal { .. } => {}
            Effect::Quit => {
                self.jobs.cancel_all();
                self.opening.cancel();
                self.ingesting.cancel();
            }
        }
    }

    /// Opens a domain and cancels the opening of another.
    fn open(&mut self, name: DomainName) {
        self.opening.cancel();
        self.opening = CancelSource::default();
        self.domain_worker.send(DomainJob::OpenDomain { name, cancel: self.opening.token() });
    }

    fn cancel(&mut self, job: JobId) {
        if self.jobs.cancel(job) == CancelOutcome::NothingRuns {
            self.events.send(Event::JobCanceled { job });
        }
    }

    /// Cancels all work, waits for pending writes of the historian, and ends the threads.
    pub fn shutdown(mut self) {
        self.jobs.cancel_all();
        self.opening.cancel();
        self.ingesting.cancel();
        drop(self.leaving);
        self.generator.close();
        self.domain_worker.close();
        self.historian.close();
        self.ingester.close();
        self.clipboard.close();
        self.historian.join(JOIN_LIMIT);
        self.generator.join(JOIN_LIMIT);
        self.domain_worker.join(JOIN_LIMIT);
        self.ingester.join(JOIN_LIMIT);
        self.clipboard.join(JOIN_LIMIT);
    }
}
