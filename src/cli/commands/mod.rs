//! The commands: the screen, and the headless commands on the same core and workers.
//!
//! Takes the command line, gives an exit code. stdout has results only; everything else goes to stderr.
//! Not here: the computations (other crates), the screen itself (`tui`).

mod ask;
mod bundle;
mod confirm;
mod context;
mod demo;
mod doctor;
mod domain;
mod eval;
mod exit;
mod explain;
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

use std::io::IsTerminal as _;

use clap::CommandFactory as _;

use crate::args::{Cli, Command};
use crate::gpu_handover::CpuReason;
use context::CommandContext;
use exit::Failure;
use output::{Form, Output};
use ragonite_app::Problem;

/// Runs a command. `cpu_reason` is the reason why this build runs.
pub fn run(cli: Cli, cpu_reason: &CpuReason) -> Exit {
    exit::end_on_panic();
    let mut output = Output::new(if cli.shared.json { Form::Json } else { Form::Text });
    match dispatch(cli, cpu_reason, &mut output) {
        Ok(exit) => exit,
        Err(failure) => {
            if let Some(problem) = &failure.problem {
                output.problem(problem);
            }
            failure.exit
        }
    }
}

fn dispatch(cli: Cli, cpu_reason: &CpuReason, output: &mut Output) -> Result<Exit, Failure> {
    // The guide works without a valid configuration.
    if let Some(Command::Guide { topic }) = &cli.command {
        return guide::run(topic.as_deref(), output);
    }
    let start = CommandContext::new(&cli.shared, cpu_reason)?;
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

/// Prints the completion script of a shell.
fn completions(shell: clap_complete::Shell, output: &mut Output) -> std::io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ragonite", &mut script);
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
