//! Arguments -> configuration -> run; an error becomes an exit code. Nothing else but what must come before all threads:
//! what is said of a fault, how threads wait, and handing over to the build for GPUs.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ragonite::launch::explain_faults();
    let cli = ragonite::cli::Cli::parse();
    ragonite::launch::wait_asleep(&cli);
    let stay = ragonite::launch::hand_over(&cli);
    ragonite::run::run(cli, &stay).into()
}
