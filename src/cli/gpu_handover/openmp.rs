//! How the threads that compute wait for each other.
//!
//! Between two steps of a computation they wait for the slowest. OpenMP's library has them turn on the spot meanwhile, which
//! saves microseconds where nothing else runs; where something does, who waits takes the processor from who is waited for.
//! Invariants: what somebody has set already stays as it is; a process starts itself anew once at most; where that fails,
//! it goes on as it is.

use std::os::unix::process::CommandExt as _;
use std::process::Command as Process;

use super::computes;
use crate::args::Cli;
use ragonite_config::{is_set, program_path, typed_arguments};

/// How often a thread looks before it sleeps, as GNU's library reads it when it is loaded, which is before `main`
/// (<https://gcc.gnu.org/onlinedocs/libgomp/GOMP_005fSPINCOUNT.html>).
const LOOKS: (&str, &str) = ("GOMP_SPINCOUNT", "1000");

/// What says otherwise how threads wait (<https://gcc.gnu.org/onlinedocs/libgomp/OMP_005fWAIT_005fPOLICY.html>).
const POLICY: &str = "OMP_WAIT_POLICY";

/// Has threads sleep soon while they wait: the process starts itself anew, with that in its environment, and this does not
/// return then. No other thread may have been started.
pub fn limit_spin(cli: &Cli) {
    let is_chosen = is_set(LOOKS.0) || is_set(POLICY);
    if !cfg!(target_os = "linux") || is_chosen || !computes(cli.command.as_ref()) {
        return;
    }
    if let Ok(own) = program_path() {
        let _failed = Process::new(own).arg0("ragonite").args(typed_arguments()).env(LOOKS.0, LOOKS.1).exec();
    }
}
