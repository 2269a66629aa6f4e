//! Worker threads for effects: search (encoders), generator (the language model), historian (SQLite), ingester
//! (documents), clipboard (the desktop's copy tool).
//!
//! Takes [`Effect`]s, gives [`Event`]s. One thread owns the llama context, one the open domains, one the writes to
//! the history.
//! Invariants: [`Runtime::run`] never blocks; every effect is answered; cancelling a turn stops its computation.
//! Not here: handling events (`app`), drawing (`tui`).

mod attribution_embedder;
mod battery;
mod clipboard;
mod document;
mod error;
mod generator;
mod historian;
mod ingester;
mod jobs;
mod keys;
mod model_manager;
mod problem;
mod search_worker;
mod signals;
mod worker;

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

pub use error::RuntimeError;
pub use keys::{EscapeKey, cancel_on_escape};
pub use model_manager::WorkerConfig;
pub use problem::problem;
pub use search_worker::damage_of;
pub use signals::{Interrupts, cancel_on_interrupt, forward_interrupts};

use clipboard::CopyJob;
use generator::{Answered, Explanation, GeneratorJob, Question};
use historian::HistorianJob;
use ingester::IngestJob;
use jobs::{CancelOutcome, JobRegistry};
use model_manager::ModelManager;
use ragonite_app::{Copied, Effect, Event, TurnKey};
use ragonite_base::{CancelSource, DomainName};
use ragonite_config::Desktop;
use ragonite_inference::GeneratorChoice;
use search_worker::{Asked, SearchJob};
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
    encoder: Worker<SearchJob>,
    generator: Worker<GeneratorJob>,
    historian: Worker<HistorianJob>,
    ingester: Worker<IngestJob>,
    clipboard: Worker<CopyJob>,
    /// Cancels the latest ingest.
    ingesting: CancelSource,
    /// Cancels the latest opening of a domain.
    opening: CancelSource,
    works: JobRegistry,
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
        let engine = ModelManager::new(setup, leaving.token(), events.clone());
        let (encoder, facts) = search_worker::start(engine.clone(), events.clone())?;
        let generator = generator::start(engine.clone(), facts, leaving.token(), events.clone())?;
        let historian = historian::start(engine.setup.paths.history(), events.clone())?;
        let ingester = ingester::start(engine, events.clone())?;
        let clipboard = clipboard::start(events.clone())?;
        let (works, ingesting, opening) = (JobRegistry::default(), CancelSource::default(), CancelSource::default());
        Ok(Self { encoder, generator, historian, ingester, clipboard, ingesting, opening, works, events, leaving })
    }

    /// Loads the models now, with this generator.
    pub fn warm_up(&self, model: GeneratorChoice) {
        self.encoder.send(SearchJob::WarmUp);
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
            Effect::LookForModels => self.encoder.send(SearchJob::LookForModels),
            Effect::LoadModels(model) => self.warm_up(model),
            Effect::ListDomains => self.encoder.send(SearchJob::ListDomains),
            Effect::Ingest { domain, path } => {
                self.ingesting = CancelSource::default();
                self.ingester.send(IngestJob { domain, path, cancel: self.ingesting.token() });
            }
            Effect::CancelIngest => self.ingesting.cancel(),
            Effect::OpenDomain(name) => self.open(name),
            Effect::CancelOpening => self.opening.cancel(),
            Effect::LoadTable { domain, evidence } => self.encoder.send(SearchJob::LoadTable { domain, evidence }),
            Effect::LoadSettings(domain) => self.encoder.send(SearchJob::LoadSettings(domain)),
            Effect::SaveSettings { domain, edit } => self.encoder.send(SearchJob::SaveSettings { domain, edit }),
            Effect::Retrieve { turn, domain, query, question, translated, earlier, settings } => {
                let work = self.works.begin(turn);
                let asked = Asked { question, completed: query, translated, earlier, settings };
                self.encoder.send(SearchJob::Retrieve { work, domain, asked });
            }
            Effect::RewriteQuestion { turn, domain, question, wording, past, settings } => {
                let work = self.works.begin(turn);
                let question = Question { domain, text: question, past, settings };
                self.generator.send(GeneratorJob::Rewrite { work, question, wording });
            }
            Effect::GenerateAnswer { turn, domain, question, typed, past, hits, settings } => {
                let work = self.works.begin(turn);
                let question = Question { domain, text: question, past, settings };
                self.generator.send(GeneratorJob::Answer { work, question, typed, hits });
            }
            Effect::Suggest { turn, question, answer, hits, asked, model } => {
                let work = self.works.begin(turn);
                let answered = Box::new(Answered { question, answer, hits, asked, model });
                self.generator.send(GeneratorJob::Suggest { work, answered });
            }
            Effect::Explain { turn, of, demand, domain, method, question, answer, hits, known, settings } => {
                let work = self.works.begin_anew(turn);
                let asked =
                    Box::new(Explanation { of, demand, domain, method, question, answer, hits, known, settings });
                self.generator.send(GeneratorJob::Explain { work, asked });
            }
            Effect::TryContext { turn, domain, query, evidences, parts } => {
                let work = self.works.begin(turn);
                self.encoder.send(SearchJob::TryContext { work, domain, query, evidences, parts });
            }
            Effect::LoadDocument { turn, domain, document, hit } => {
                let work = self.works.begin(turn);
                self.encoder.send(SearchJob::LoadDocument { work, domain, document, hit });
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
            Effect::CancelTurn(turn) => self.cancel(turn),
            // The event loop owns the terminal.
            Effect::CopyByTerminal { .. } => {}
            Effect::Quit => {
                self.works.cancel_all();
                self.opening.cancel();
                self.ingesting.cancel();
            }
        }
    }

    /// Opens a domain and cancels the opening of another.
    fn open(&mut self, name: DomainName) {
        self.opening.cancel();
        self.opening = CancelSource::default();
        self.encoder.send(SearchJob::OpenDomain { name, cancel: self.opening.token() });
    }

    fn cancel(&mut self, turn: TurnKey) {
        if self.works.cancel(turn) == CancelOutcome::NothingRan {
            self.events.send(Event::TurnCanceled { turn });
        }
    }

    /// Cancels all work, waits for pending writes of the historian, and ends the threads.
    pub fn shutdown(mut self) {
        self.works.cancel_all();
        self.opening.cancel();
        self.ingesting.cancel();
        drop(self.leaving);
        self.generator.close();
        self.encoder.close();
        self.historian.close();
        self.ingester.close();
        self.clipboard.close();
        self.historian.join(JOIN_LIMIT);
        self.generator.join(JOIN_LIMIT);
        self.encoder.join(JOIN_LIMIT);
        self.ingester.join(JOIN_LIMIT);
        self.clipboard.join(JOIN_LIMIT);
    }
}
