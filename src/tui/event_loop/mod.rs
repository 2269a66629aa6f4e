//! The event loop of the screen: takes input, worker events and time; gives effects and frames.
//!
//! Invariants: nothing here blocks; all ready events are handled before the next frame; the terminal is restored on
//! every exit.
//! Not here: frame scheduling (`frames`), the threads behind [`Workers`] (`workers`), starting them (`cli`).

mod clipboard;
mod frames;

pub use frames::{FRAME, Frames};

use std::io;
use std::time::Duration;

use crossterm::event::{Event as Input, EventStream};
use futures_util::StreamExt as _;
use time::OffsetDateTime;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::draw::draw;
use super::input::{Intent, on_input};
use super::screen::ScreenState;
use super::terminal::TerminalGuard;
use clipboard::copy;
use ragonite_app::{App, Copied, Effect, Event, MissingModels, Notice, Problem};
use ragonite_base::DomainName;
use ragonite_inference::GeneratorChoice;

/// Interval of updating the elapsed time of a running stage.
const TICK: Duration = Duration::from_millis(250);
/// Time that exit waits for the running turn to stop and be stored.
const LEAVING: Duration = Duration::from_secs(2);
/// Interval of checking for missing models and domains.
const LOOK: Duration = Duration::from_secs(1);

/// The threads that carry out effects. Their events come back through a channel.
pub trait Workers {
    /// Carries out an effect. Never blocks.
    fn run(&mut self, effect: Effect);

    /// Passes a text to the copy tool of the desktop; an event answers.
    fn copy(&mut self, what: Copied, text: String);
}

/// What the screen begins with.
#[derive(Debug)]
pub struct FirstSteps {
    /// The domain to open, once the domains are listed.
    pub domain: Option<DomainName>,
    /// The generator to load, or the models that are missing.
    pub models: Result<GeneratorChoice, MissingModels>,
    /// Whether drawing a frame panics, for the tests of terminal restoration.
    pub panics: bool,
}

/// The loop and everything it owns.
pub struct EventLoop<'a> {
    app: App,
    screen: ScreenState,
    workers: &'a mut dyn Workers,
    guard: TerminalGuard,
    first: FirstSteps,
    /// Deadline of the exit.
    leave_by: Option<Instant>,
    frames: Frames,
    terminal_is_there: bool,
}

impl<'a> EventLoop<'a> {
    /// Draws on the terminal of `guard`, and restores it at the end.
    pub fn new(
        app: App,
        screen: ScreenState,
        guard: TerminalGuard,
        workers: &'a mut dyn Workers,
        first: FirstSteps,
    ) -> Self {
        let frames = Frames::new(Instant::now().into_std());
        Self { app, screen, workers, guard, first, leave_by: None, frames, terminal_is_there: true }
    }

    /// Runs until the user leaves or the terminal is gone. `events` come from the workers.
    pub async fn run(mut self, mut events: UnboundedReceiver<Event>) {
        let mut inputs = EventStream::new();
        self.perform(self.app.start());
        match self.first.models.clone() {
            Ok(generator) => self.workers.run(Effect::LoadModels(generator)),
            Err(missing) => {
                let generators = self.app.generators().to_vec();
                self.handle(Event::ModelsLooked { missing: Some(missing), generators });
            }
        }
        let mut next_tick = Instant::now() + TICK;
        let mut next_look = Instant::now() + LOOK;
        while !self.has_left() {
            if self.frames.is_overdue(Instant::now().into_std()) {
                self.draw_or_leave();
            }
            let due = self.frames.due().filter(|_| self.terminal_is_there).map(Instant::from_std);
            let leave_by = self.leave_by.unwrap_or(next_tick);
            tokio::select! {
                biased;
                input = inputs.next(), if self.terminal_is_there => match input {
                    Some(Ok(input)) => self.input(&input),
                    _ => self.terminal_has_gone(),
                },
                Some(event) = events.recv() => {
                    self.handle(event);
                    while let Ok(event) = events.try_recv() {
                        self.handle(event);
                    }
                }
                () = sleep_until(due.unwrap_or(next_tick)), if due.is_some() => self.draw_or_leave(),
                () = sleep_until(next_tick), if self.app.is_busy() => {
                    next_tick = Instant::now() + TICK;
                    self.frames.on_event();
                }
                () = sleep_until(next_look), if self.app.look_again().is_some() => {
                    next_look = Instant::now() + LOOK;
                    self.perform(self.app.look_again().into_iter().collect());
                }
                () = sleep_until(leave_by), if self.leave_by.is_some() => {}
            }
        }
        drop(self.guard);
    }

    fn has_left(&self) -> bool {
        let Some(limit) = self.leave_by else { return false };
        (!self.app.is_busy() && self.app.is_saved()) || Instant::now() >= limit
    }

    /// The terminal was closed: cancels and stores the running turn, then exits.
    fn terminal_has_gone(&mut self) {
        self.terminal_is_there = false;
        self.handle(Event::LeaveRequested);
    }

    /// Draws a frame; exits where the terminal is gone.
    fn draw_or_leave(&mut self) {
        if self.terminal_is_there && self.draw().is_err() {
            self.terminal_has_gone();
        }
        assert!(!self.first.panics, "asked to panic in the screen's thread");
    }

    fn draw(&mut self) -> io::Result<()> {
        let (app, screen) = (&self.app, &mut self.screen);
        self.guard.screen().draw(|frame| draw(app, screen, OffsetDateTime::now_utc(), frame))?;
        self.frames.on_drawn(Instant::now().into_std());
        if let Some(wanted) = self.screen.wants(&self.app) {
            let effects = self.app.handle(wanted);
            self.perform(effects);
        }
        Ok(())
    }

    fn input(&mut self, input: &Input) {
        let intents = on_input(&mut self.screen, &self.app, input, OffsetDateTime::now_utc());
        if !intents.is_empty() {
            self.frames.on_input(Instant::now().into_std());
        }
        for intent in intents {
            match intent {
                Intent::App(event) => self.handle(event),
                Intent::Redraw => {}
                Intent::Copy { what, text } => self.workers.copy(what, text),
            }
        }
    }

    fn copy_by_terminal(&mut self, what: Copied, text: &str) {
        let said = match copy(text, &mut io::stdout()) {
            Ok(way) => Event::Done(Notice::Copied(what, way)),
            Err(error) => Event::Failed(Problem::of(&error, self.screen.words().copying_failed())),
        };
        self.handle(said);
    }

    fn handle(&mut self, event: Event) {
        let listed = matches!(event, Event::DomainsListed(_));
        // A repeated check without a change draws no frame.
        let is_news = !self.app.is_known(&event);
        let effects = self.app.handle(event);
        self.perform(effects);
        if is_news {
            self.frames.on_event();
        }
        if listed {
            self.open_first_domain();
        }
    }

    /// Opens the requested domain, else the one that changed last; none without models.
    fn open_first_domain(&mut self) {
        if self.app.missing_models().is_some()
            || self.app.ingesting().is_some()
            || self.app.domain().is_some()
            || self.app.opening_domain().is_some()
        {
            return;
        }
        let listed = self.app.domains().unwrap_or_default();
        let asked = self.first.domain.take().filter(|name| listed.iter().any(|domain| domain.name == *name));
        let latest = || {
            let domains = self.app.domains()?.iter().filter(|domain| domain.problem.is_none() && domain.documents > 0);
            domains.max_by(|a, b| a.changed_at.cmp(&b.changed_at)).map(|domain| domain.name.clone())
        };
        if let Some(name) = asked.or_else(latest) {
            self.handle(Event::DomainChosen(name));
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::CopyByTerminal { what, text } = effect {
                self.copy_by_terminal(what, &text);
                continue;
            }
            if effect == Effect::Quit {
                self.leave_by.get_or_insert(Instant::now() + LEAVING);
            }
            self.workers.run(effect);
        }
    }
}
