//! The event loop of the screen: takes input, worker events and time; gives effects and frames.
//!
//! Invariants: nothing here blocks; all ready events are handled before the next frame; the terminal is restored on
//! every exit.
//! Not here: frame scheduling (`frames`).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event as Input, EventStream};
use futures_util::StreamExt as _;
use time::OffsetDateTime;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{Instant, sleep_until};

use super::Frames;
use super::clipboard::copy;
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use crate::args::PanicIn;
use ragonite_app::{App, Copied, Effect, Event, MissingModels, Notice, Problem};
use ragonite_base::DomainName;
use ragonite_config::{desktop, locale_language, terminal_traits};
use ragonite_history::History;
use ragonite_inference::GeneratorChoice;
use ragonite_tui::{
    Intent, Keymap, KeymapError, ScreenState, Signs, TerminalGuard, TerminalMode, Theme, Words, draw,
    install_panic_hook, on_input,
};
use ragonite_workers::{Runtime, forward_interrupts};

/// Interval of updating the elapsed time of a running stage.
const TICK: Duration = Duration::from_millis(250);
/// Time that exit waits for the running turn to stop and be stored.
const LEAVING: Duration = Duration::from_secs(2);
/// Interval of checking for missing models and domains.
const LOOK: Duration = Duration::from_secs(1);

/// Opens the screen, on `domain` where one is given.
pub(super) fn run(start: &CommandContext, domain: Option<DomainName>) -> Result<Exit, Failure> {
    let keymap = Keymap::with_overrides(&start.config.keys)?;
    let (look, terminal) = (start.config.screen, terminal_traits());
    let theme = Theme::chosen(look.theme, terminal);
    let signs = Signs::chosen(look.borders, terminal.letters);
    let words = Words::of(look.language.chosen(locale_language()));
    let path = start.paths.log();
    let log = open_log(&path).map_err(|error| {
        let problem = Problem::of(&error, "Choose a folder that can be written with --data-dir.");
        Failure::failed(Problem { what: format!("opening the log `{}`: {}", path.display(), problem.what), ..problem })
    })?;
    tracing::info!(cpu_reason = %start.cpu_reason, device = %start.device, "which build runs");
    let domain = domain.or_else(|| last_asked(start));
    let loop_runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;

    let mode = TerminalMode::new(look.mouse);
    let stderr = Arc::new(rustix::io::dup(io::stderr()).map_err(io::Error::from)?);
    install_panic_hook(mode.clone(), start.paths.log());
    give_stderr_back_on_panic(Arc::clone(&stderr));

    let (sender, events) = mpsc::unbounded_channel();
    let on_force = mode.clone();
    forward_interrupts(sender.clone(), Event::LeaveRequested, move || on_force.restore())?;
    let setup = start.setup();
    let model = domain.as_ref().map_or_else(|| setup.model.clone(), |domain| start.model_of(domain));
    let missing_models = setup.missing_models();
    let runtime = Runtime::start(setup, sender)?;
    let guard = mode.enter()?;
    // Output of the engines on stderr goes to the log.
    rustix::stdio::dup2_stderr(&log).map_err(io::Error::from)?;
    let main_loop = Loop {
        app: App::new(start.app_settings()),
        screen: ScreenState::new(theme, keymap).with_terminal(terminal).with_signs(signs).with_words(words),
        runtime,
        guard,
        first_domain: domain,
        first_model: model,
        missing_models,
        leave_by: None,
        frames: Frames::new(Instant::now().into_std()),
        terminal_is_there: true,
    };
    let result = loop_runtime.block_on(main_loop.run(events, start.shared.panic_in));
    let _ = rustix::stdio::dup2_stderr(stderr.as_ref());
    result
}

/// The domain of the latest conversation. A history that cannot be read is reported when it is needed.
fn last_asked(start: &CommandContext) -> Option<DomainName> {
    let path = start.paths.history();
    let latest = path.exists().then(|| History::open(&path).and_then(|history| history.latest(None)))?;
    latest.ok()?.map(|latest| latest.domain)
}

fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let writer = log.try_clone()?;
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(std::sync::Mutex::new(writer));
    // Only a test may have set another subscriber, which then stays.
    let _ = subscriber.try_init();
    Ok(log)
}

/// Restores stderr on a panic, so that its message reaches the terminal.
fn give_stderr_back_on_panic(stderr: Arc<OwnedFd>) {
    let restore_terminal = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let _ = rustix::stdio::dup2_stderr(stderr.as_ref());
        tracing::error!(%panic, "the program failed");
        restore_terminal(panic);
    }));
}

struct Loop {
    app: App,
    screen: ScreenState,
    runtime: Runtime,
    guard: TerminalGuard,
    /// Domain to open once the domains are listed.
    first_domain: Option<DomainName>,
    /// Generator to load at the start.
    first_model: GeneratorChoice,
    /// Models missing at the start.
    missing_models: Option<MissingModels>,
    /// Deadline of the exit.
    leave_by: Option<Instant>,
    frames: Frames,
    terminal_is_there: bool,
}

impl Loop {
    async fn run(mut self, mut events: UnboundedReceiver<Event>, panic_in: Option<PanicIn>) -> Result<Exit, Failure> {
        let mut inputs = EventStream::new();
        self.perform(self.app.start());
        match self.missing_models.take() {
            None => self.runtime.warm_up(self.first_model.clone()),
            missing => {
                let generators = self.app.generators().to_vec();
                self.handle(Event::ModelsLooked { missing, generators });
            }
        }
        if panic_in == Some(PanicIn::Worker) {
            self.runtime.panic_in_worker();
        }
        let mut next_tick = Instant::now() + TICK;
        let mut next_look = Instant::now() + LOOK;
        while !self.has_left() {
            if self.frames.is_overdue(Instant::now().into_std()) {
                self.draw_or_leave(panic_in);
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
                () = sleep_until(due.unwrap_or(next_tick)), if due.is_some() => self.draw_or_leave(panic_in),
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
        self.runtime.shutdown();
        Ok(Exit::Done)
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
    fn draw_or_leave(&mut self, panic_in: Option<PanicIn>) {
        if self.terminal_is_there && self.draw().is_err() {
            self.terminal_has_gone();
        }
        assert!(panic_in != Some(PanicIn::Ui), "asked to panic in the screen's thread");
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
                Intent::Copy { what, text } => self.runtime.copy(what, text, desktop()),
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
        let asked = self.first_domain.take().filter(|name| listed.iter().any(|domain| domain.name == *name));
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
            self.runtime.run(effect);
        }
    }
}

impl From<KeymapError> for Failure {
    fn from(error: KeymapError) -> Self {
        Self::usage(Problem::of(&error, "Correct the section [keys] of the configuration file."))
    }
}
