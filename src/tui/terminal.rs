//! Terminal modes, mouse included: set by a guard, restored on drop, on a signal and on a panic of any thread.
//!
//! Invariants: the terminal is restored at most once per `enter`, by the first thread that does; headless commands,
//! which never enter, never write a mode change to their output.
//! Not here: when to draw (`event_loop`).

use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{Command, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use ragonite_config::Mouse;

/// The terminal that is drawn on.
pub type Screen = Terminal<CrosstermBackend<io::Stdout>>;

/// Exit code of a program that panicked, as the Rust runtime gives it.
const PANICKED: i32 = 101;

/// Enables buttons and wheel only, because motion reports would wake the program for nothing.
struct TakeMouse;

impl Command for TakeMouse {
    fn write_ansi(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str("\u{1b}[?1000h\u{1b}[?1006h")
    }
}

/// Disables mouse reports.
struct GiveMouseBack;

impl Command for GiveMouseBack {
    fn write_ansi(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str("\u{1b}[?1006l\u{1b}[?1000l")
    }
}

/// Whether the terminal is in our modes; clones share the state.
#[derive(Debug, Clone)]
pub struct TerminalMode {
    taken: Arc<AtomicBool>,
    mouse: Mouse,
}

impl TerminalMode {
    /// Changes nothing yet.
    pub fn new(mouse: Mouse) -> Self {
        Self { taken: Arc::default(), mouse }
    }

    /// Takes the terminal: raw mode, alternate screen, bracketed paste, and the mouse where that is wanted.
    ///
    /// # Errors
    /// When the terminal refuses; it is as before then.
    pub fn enter(&self) -> io::Result<TerminalGuard> {
        enable_raw_mode()?;
        self.taken.store(true, Ordering::SeqCst);
        // From here on the guard gives everything back, on the error paths too.
        let guard = |screen| TerminalGuard { mode: self.clone(), screen };
        // A terminal that knows how then tells Shift+Enter from Enter; others pass it over.
        let keys = PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES);
        let entered = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, keys)
            .and_then(|()| if self.mouse == Mouse::On { execute!(io::stdout(), TakeMouse) } else { Ok(()) })
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match entered {
            Ok(screen) => Ok(guard(screen)),
            Err(error) => {
                self.restore();
                Err(error)
            }
        }
    }

    /// Gives the terminal back, if it is in our hands. Never fails: there is nobody left to tell.
    pub fn restore(&self) {
        if self.taken.swap(false, Ordering::SeqCst) {
            if self.mouse == Mouse::On {
                let _ = execute!(io::stdout(), GiveMouseBack);
            }
            let _ =
                execute!(io::stdout(), PopKeyboardEnhancementFlags, DisableBracketedPaste, LeaveAlternateScreen, Show);
            let _ = disable_raw_mode();
        }
    }
}

/// Gives the terminal back when dropped.
#[derive(Debug)]
pub struct TerminalGuard {
    mode: TerminalMode,
    screen: Screen,
}

impl TerminalGuard {
    /// The terminal that is drawn on.
    pub fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.mode.restore();
    }
}

/// Makes a panic of any thread give the terminal back, say what happened and where the log is, and end the program.
///
/// This is the one place that ends the process from within: after a worker's panic the screen would wait for an answer
/// that never comes, and a half working program is worse than none. What is stored is safe: every store is a transaction.
pub fn install_panic_hook(mode: TerminalMode, log: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        // Whoever draws waits for this lock, so that no frame comes after the terminal was given back.
        let _no_more_frames = io::stdout().lock();
        mode.restore();
        let thread = std::thread::current();
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "ragonite failed in its thread `{}`: {panic}", thread.name().unwrap_or("unnamed"));
        let _ = writeln!(stderr, "This is a defect of the program. The log is in {}", log.display());
        #[expect(clippy::disallowed_methods, reason = "the one place that ends the program from within, see above")]
        std::process::exit(PANICKED);
    }));
}
