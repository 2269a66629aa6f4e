//! Runs the core and workers of the screen without a screen.
//!
//! Invariant: an interrupt cancels running work, which then stops; without running work it ends the command.

use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::exit::Failure;
use ragonite_app::{App, AppSettings, Event, Problem};
use ragonite_workers::{Runtime, WorkerConfig, forward_interrupts};

/// The core, the workers and the events between them.
pub(super) struct Headless {
    pub(super) app: App,
    runtime: Runtime,
    events: UnboundedReceiver<Event>,
    /// Why a turn could not be stored.
    unsaved: Option<Problem>,
}

impl Headless {
    /// Starts the workers; an interrupt becomes `CancelRequested`.
    pub(super) fn start(setup: WorkerConfig, settings: AppSettings) -> Result<Self, Failure> {
        let (sender, events) = mpsc::unbounded_channel();
        forward_interrupts(sender.clone(), Event::CancelRequested, || {})?;
        let runtime = Runtime::start(setup, sender)?;
        Ok(Self { app: App::new(settings), runtime, events, unsaved: None })
    }

    /// Makes a worker thread panic, for the tests.
    pub(super) fn panic_in_worker(&self) {
        self.runtime.panic_in_worker();
    }

    /// Handles an event, then all events that follow until `done`.
    pub(super) fn run_until(
        &mut self,
        event: Event,
        done: impl Fn(&App) -> bool,
        observe: &mut dyn FnMut(&App, &Event),
    ) -> Result<(), Failure> {
        self.dispatch(event, observe);
        while !done(&self.app) {
            let Some(event) = self.events.blocking_recv() else { return Err(Failure::canceled()) };
            if event == Event::CancelRequested && !self.app.is_busy() {
                return Err(Failure::canceled());
            }
            if let Event::SaveFailed { problem, .. } = &event {
                self.unsaved = Some(problem.clone());
            }
            let outside_any_turn =
                matches!(event, Event::Failed(_) | Event::DomainFailed { .. } | Event::ConversationFailed { .. });
            self.dispatch(event, observe);
            if let (true, Some(problem)) = (outside_any_turn, self.app.problem()) {
                return Err(Failure::failed(problem.clone()));
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, event: Event, observe: &mut dyn FnMut(&App, &Event)) {
        let effects = self.app.handle(event.clone());
        observe(&self.app, &event);
        for effect in effects {
            self.runtime.run(effect);
        }
    }

    /// Fails unless the last turn has the wanted result and is stored.
    pub(super) fn verdict(&self, wanted: Wanted) -> Result<(), Failure> {
        let Some(turn) = self.app.turns().last() else { return Ok(()) };
        let missing = match wanted {
            Wanted::Answer => !turn.is_answered(),
            Wanted::Explanation => turn.record.trace.attribution.is_none(),
        };
        match (&turn.problem, &self.unsaved) {
            (Some(problem), _) if missing => Err(Failure::failed(problem.clone())),
            (None, _) if missing => Err(Failure::canceled()),
            (_, Some(problem)) => Err(Failure::failed(problem.clone())),
            _ => Ok(()),
        }
    }

    /// Stops the worker threads.
    pub(super) fn finish(self) {
        self.runtime.shutdown();
    }
}

/// What a turn must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// An answer.
    Answer,
    /// An answer and its attribution.
    Explanation,
}
