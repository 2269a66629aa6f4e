//! Asking before something is removed for good.
//!
//! Invariant: without a terminal nothing is asked and nothing removed; the user is told the option that agrees.
//! Not here: removing.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::exit::Failure;
use super::output::Output;
use ragonite_app::Problem;

/// Whether the user still has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// They do.
    Needed,
    /// `--yes` was given.
    Agreed,
}

impl From<bool> for Asking {
    /// Whether `--yes` was given.
    fn from(yes: bool) -> Self {
        if yes { Self::Agreed } else { Self::Needed }
    }
}

/// What is asked.
pub(super) struct Question<'a> {
    /// What is about to be done: `removing the domain `wiki``.
    pub(super) doing: &'a str,
    /// What that means, in a sentence.
    pub(super) means: &'a str,
    /// What has to be typed.
    pub(super) word: &'a str,
    /// The command that asks nothing.
    pub(super) command: &'a str,
}

/// Comes back when the user agrees.
pub(super) fn agreed(question: &Question<'_>, output: &mut Output) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(Problem {
            what: format!("{} cannot be undone, and there is no terminal to ask on", question.doing),
            next: format!("Run `{}`.", question.command),
        }));
    }
    output.note(question.means);
    let mut screen = io::stderr();
    write!(screen, "Type {} to go on: ", question.word)?;
    screen.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if typed.trim() == question.word {
        return Ok(());
    }
    let what = format!("`{}` was not typed, so nothing was removed", question.word);
    Err(Failure::usage(Problem { what, next: String::new() }))
}
