//! Arguments -> configuration -> run; an error becomes an exit code. Nothing else but what must come before all threads:
//! what is said of a fault, how threads wait, and handing over to the build for GPUs.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ragonite_cli::gpu_handover::explain_faults();
    let cli = ragonite_cli::args::Cli::parse();
    ragonite_cli::gpu_handover::limit_spin(&cli);
    let cpu_reason = ragonite_cli::gpu_handover::hand_over(&cli);
    ragonite_cli::commands::run(cli, &cpu_reason).into()
}
