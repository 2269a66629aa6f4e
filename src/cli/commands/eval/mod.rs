//! `ragonite eval`: the questions of a benchmark against a domain.
//!
//! Without `--domain` the documents of the benchmark are ingested into one domain per choice of settings, under
//! `<data>/benchmarks`, with results under `<data>/benchmarks/results`; an interrupted run continues there.
//! Not here: scoring (`eval`).

mod answers;
mod attribution;
mod bench;
mod models;
mod output;
mod planted;
mod progress;
mod results;
mod retrieval;
mod support;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::Output;
use crate::args::Eval;
use ragonite_app::Problem;
use ragonite_eval::EvalError;
use ragonite_workers::problem;

pub(super) fn run(start: &CommandContext, command: &Eval, output: &mut Output) -> Result<Exit, Failure> {
    let result = match command {
        Eval::Retrieval(args) => retrieval::run(start, args, output),
        Eval::Answers(args) => answers::run(start, args, output),
        Eval::Attribution(args) => attribution::run(start, args, output),
        Eval::Support(args) => support::run(start, args, output),
        Eval::Planted(args) => planted::run(start, args, output),
    };
    if result.as_ref().is_err_and(|failure| failure.exit == Exit::Canceled) {
        output.note("stopped; what was done is kept, and the same command goes on from there");
    }
    result
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Canceled(_) => Self::canceled(),
            EvalError::Index(error) => error.into(),
            EvalError::Retrieval(error) => error.into(),
            error @ (EvalError::Cache { .. }
            | EvalError::Answer(_)
            | EvalError::Attribution(_)
            | EvalError::Judge(_)) => Self::failed(with_next_step(&error)),
            error => Self::usage(with_next_step(&error)),
        }
    }
}

/// The error with the remedy of its cause, or its own.
fn with_next_step(error: &EvalError) -> Problem {
    let Problem { what, next } = problem(error);
    let next = if next.is_empty() { error.next_step().to_owned() } else { next };
    Problem { what, next }
}
