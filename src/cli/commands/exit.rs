//! Exit codes, and failures in the user's words.

use std::io::{self, Write as _};
use std::process::ExitCode;

use ragonite_app::Problem;
use ragonite_index::READER_THREAD;

/// The exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Failed while running.
    Failed,
    /// Wrong use, bad configuration, missing model.
    Usage,
    /// The user cancelled.
    Canceled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Canceled => 130,
        })
    }
}

/// A failed command.
#[derive(Debug)]
pub(super) struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The problem to report, if any.
    pub problem: Option<Problem>,
}

impl Failure {
    /// A failure while running.
    pub(super) fn failed(problem: Problem) -> Self {
        Self { exit: Exit::Failed, problem: Some(problem) }
    }

    /// Wrong use or setup, which the user must fix first.
    pub(super) fn usage(problem: Problem) -> Self {
        Self { exit: Exit::Usage, problem: Some(problem) }
    }

    /// The user cancelled.
    pub(super) fn canceled() -> Self {
        Self { exit: Exit::Canceled, problem: None }
    }
}

impl From<io::Error> for Failure {
    /// An error of stdout. A closed pipe, as in `ragonite … | head`, is no failure.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, problem: None };
        }
        Self::failed(Problem::of(&error, "Check the disk and the terminal the output goes to."))
    }
}

/// Exit code of a program that panicked, as the Rust runtime gives it.
const PANICKED: i32 = 101;

/// Makes a panic of any thread end the program, because a command would wait forever for a dead thread. Stored data
/// is safe, because every write is a transaction. The screen replaces this hook.
pub(super) fn end_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        if name == READER_THREAD {
            // The document reader catches panics of parsers and skips the document.
            return;
        }
        let _ =
            writeln!(io::stderr(), "ragonite failed in its thread `{name}`: {panic}\nThis is a defect of the program.");
        #[expect(clippy::disallowed_methods, reason = "no thread is left that could hand an exit code to main")]
        std::process::exit(PANICKED);
    }));
}
