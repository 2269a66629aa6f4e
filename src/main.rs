//! Arguments -> configuration -> run; an error becomes an exit code. Nothing else.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ragonite::run::run(ragonite::cli::Cli::parse()).into()
}
