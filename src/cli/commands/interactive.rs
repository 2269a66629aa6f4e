//! The screen: its terminal, its log, its workers and its event loop, put together.
//!
//! Invariants: the terminal and stderr are restored on every exit; output of the engines goes to the log meanwhile.
//! Not here: the event loop (`tui`), the worker threads (`workers`).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use crate::args::PanicIn;
use ragonite_app::{App, Copied, Effect, Event, Problem};
use ragonite_base::DomainName;
use ragonite_config::{desktop, locale_language, terminal_traits};
use ragonite_history::History;
use ragonite_tui::{
    EventLoop, FirstSteps, Keymap, KeymapError, ScreenState, Signs, TerminalMode, Theme, Words, Workers,
    install_panic_hook,
};
use ragonite_workers::{Runtime, forward_interrupts};

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
    let models = match setup.missing_models() {
        Some(missing) => Err(missing),
        None => Ok(domain.as_ref().map_or_else(|| setup.model.clone(), |domain| start.model_of(domain))),
    };
    let mut runtime = Runtime::start(setup, sender)?;
    let guard = mode.enter()?;
    // Output of the engines on stderr goes to the log.
    rustix::stdio::dup2_stderr(&log).map_err(io::Error::from)?;
    if start.shared.panic_in == Some(PanicIn::Worker) {
        runtime.panic_in_worker();
    }
    let screen = ScreenState::new(theme, keymap).with_terminal(terminal).with_signs(signs).with_words(words);
    let first = FirstSteps { domain, models, panics: start.shared.panic_in == Some(PanicIn::Ui) };
    let mut workers = ScreenWorkers(&mut runtime);
    let event_loop = EventLoop::new(App::new(start.app_settings()), screen, guard, &mut workers, first);
    loop_runtime.block_on(event_loop.run(events));
    runtime.shutdown();
    let _ = rustix::stdio::dup2_stderr(stderr.as_ref());
    Ok(Exit::Done)
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

/// The worker threads, as the screen sees them.
struct ScreenWorkers<'a>(&'a mut Runtime);

impl Workers for ScreenWorkers<'_> {
    fn run(&mut self, effect: Effect) {
        self.0.run(effect);
    }

    fn copy(&mut self, what: Copied, text: String) {
        self.0.copy(what, text, desktop());
    }
}

impl From<KeymapError> for Failure {
    fn from(error: KeymapError) -> Self {
        Self::usage(Problem::of(&error, "Correct the section [keys] of the configuration file."))
    }
}
