//! The loop of the screen, and the headless commands, which drive the same core and runtime.
//!
//! Takes the command line, gives an exit code. stdout carries results only; everything else goes to stderr.
//! Not here: what a command computes (the rooms above), what the screen looks like (`tui`).

mod ask;
mod bundle;
mod clipboard;
mod confirm;
mod context;
mod demo;
mod doctor;
mod domain;
mod eval;
mod exit;
mod explain;
mod frames;
mod guide;
mod headless;
mod history;
mod ingest;
mod interactive;
mod json;
mod lazy_embedder;
mod models;
mod output;
mod progress;
mod report;
mod search;
mod snippet;

pub use exit::Exit;
pub use frames::{FRAME, Frames};

use std::io::IsTerminal as _;

use clap::CommandFactory as _;

use crate::args::{Cli, Command};
use crate::gpu_handover::CpuReason;
use context::CommandContext;
use exit::Failure;
use output::{Form, Output};
use ragonite_app::Problem;

/// Runs a command to its end. `cpu_reason` is why this build of the program does.
pub fn run(cli: Cli, stay: &CpuReason) -> Exit {
    exit::end_on_panic();
    let mut output = Output::new(if cli.shared.json { Form::Json } else { Form::Text });
    match dispatch(cli, stay, &mut output) {
        Ok(exit) => exit,
        Err(failure) => {
            if let Some(problem) = &failure.problem {
                output.problem(problem);
            }
            failure.exit
        }
    }
}

fn dispatch(cli: Cli, stay: &CpuReason, output: &mut Output) -> Result<Exit, Failure> {
    // The guide helps also where the configuration cannot be read.
    if let Some(Command::Guide { topic }) = &cli.command {
        return guide::run(topic.as_deref(), output);
    }
    let start = CommandContext::new(&cli.shared, stay)?;
    match cli.command {
        None if std::io::stdout().is_terminal() => interactive::run(&start, None),
        None => Err(Failure::usage(Problem {
            what: "the screen needs a terminal".to_owned(),
            next: "Use `ragonite ask`, or see `ragonite --help`.".to_owned(),
        })),
        Some(Command::Demo) => demo::run(&start, output),
        Some(Command::Ingest(args)) => ingest::run(&start, &args, output),
        Some(Command::Domain(command)) => domain::run(&start, &command, output),
        Some(Command::Search(args)) => search::run(&start, &args, output),
        Some(Command::Ask(args)) => ask::run(&start, &args, output),
        Some(Command::Explain(args)) => explain::run(&start, &args, output),
        Some(Command::History(command)) => history::run(&start, &command, output),
        Some(Command::Eval(command)) => eval::run(&start, &command, output),
        Some(Command::Models(command)) => models::run(&start, &command, output),
        Some(Command::Bundle(command)) => bundle::run(&start, &command, output),
        Some(Command::Doctor) => doctor::run(&start, output),
        Some(Command::Guide { topic }) => guide::run(topic.as_deref(), output),
        Some(Command::Completions { shell }) => Ok(completions(shell, output)?),
    }
}

/// Prints what makes a shell complete the command line.
fn completions(shell: clap_complete::Shell, output: &mut Output) -> std::io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ragonite", &mut script);
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
