//! Confirmation before something is removed for good.
//!
//! Invariant: without a terminal nothing is asked and nothing removed; the message names the option that confirms.
//! Not here: removing.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::exit::Failure;
use super::output::Output;
use ragonite_app::Problem;

/// Whether confirmation is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// Ask the user.
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

pub(super) struct Question<'a> {
    /// The operation: `removing the domain `wiki``.
    pub(super) doing: &'a str,
    /// The consequence, in a sentence.
    pub(super) means: &'a str,
    /// The word to type.
    pub(super) word: &'a str,
    /// The command without confirmation.
    pub(super) command: &'a str,
}

/// Returns when the user agrees.
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
