//! Arguments -> configuration -> run; an error becomes an exit code. Nothing else but what must come before all threads:
//! what is said of a fault, variables for libraries, and handing over to the build for GPUs.

use std::process::ExitCode;

use clap::Parser;

#[expect(unsafe_code, reason = "the environment may only be changed before there are threads")]
fn main() -> ExitCode {
    ragonite::launch::explain_faults();
    // SAFETY: nothing has run yet, so there is no other thread.
    unsafe { ragonite::config::set_variable(ragonite::inference::SAME_KERNELS) };
    let cli = ragonite::cli::Cli::parse();
    let stay = ragonite::launch::hand_over(&cli);
    ragonite::run::run(cli, &stay).into()
}
