//! How a run ends: exit codes of design.md §8, and failures in the user's words.

use std::io::{self, Write as _};
use std::process::ExitCode;

use ragonite_app::Problem;
use ragonite_index::READER_THREAD;

/// How the program ends.
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

/// A command that did not do what it was asked.
#[derive(Debug)]
pub(super) struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What to tell the user; none where there is nothing to tell.
    pub problem: Option<Problem>,
}

impl Failure {
    /// A failure while running.
    pub(super) fn failed(problem: Problem) -> Self {
        Self { exit: Exit::Failed, problem: Some(problem) }
    }

    /// Something the user has to put right before the command can run.
    pub(super) fn usage(problem: Problem) -> Self {
        Self { exit: Exit::Usage, problem: Some(problem) }
    }

    /// The user cancelled.
    pub(super) fn canceled() -> Self {
        Self { exit: Exit::Canceled, problem: None }
    }
}

impl From<io::Error> for Failure {
    /// An error of stdout. A reader that has gone away, as in `ragonite … | head`, is no failure.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, problem: None };
        }
        Self::failed(Problem::of(&error, "Check the disk and the terminal the output goes to."))
    }
}

/// Exit code of a program that panicked, as the Rust runtime gives it.
const PANICKED: i32 = 101;

/// Makes a panic of any thread end the program: a command that waits for a thread that is gone would wait for ever.
/// What is stored is safe, every store is a transaction. The screen puts its own hook in place of this one.
pub(super) fn end_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        if name == READER_THREAD {
            // Caught there: a document that brings out a defect of a parser is skipped like any other bad one.
            return;
        }
        let _ =
            writeln!(io::stderr(), "ragonite failed in its thread `{name}`: {panic}\nThis is a defect of the program.");
        #[expect(clippy::disallowed_methods, reason = "no thread is left that could hand an exit code to main")]
        std::process::exit(PANICKED);
    }));
}
