//! Limits busy waiting of OpenMP threads.
//!
//! Threads of a computation wait for the slowest thread after each step. OpenMP lets them spin, which saves
//! microseconds on an idle machine, but takes the processor from working threads on a busy one.
//! Invariants: values set by the user stay; a process restarts itself at most once; where the restart fails, it
//! continues.

use std::os::unix::process::CommandExt as _;
use std::process::Command as Process;

use super::computes;
use crate::args::Cli;
use ragonite_config::{is_set, program_path, typed_arguments};

/// Spin count before a thread sleeps. libgomp reads the variable when it is loaded, before `main`
/// (<https://gcc.gnu.org/onlinedocs/libgomp/GOMP_005fSPINCOUNT.html>).
const LOOKS: (&str, &str) = ("GOMP_SPINCOUNT", "1000");

/// The other variable for waiting threads (<https://gcc.gnu.org/onlinedocs/libgomp/OMP_005fWAIT_005fPOLICY.html>).
const POLICY: &str = "OMP_WAIT_POLICY";

/// Makes waiting threads sleep soon: restarts the process with the variable set, and then does not return. No other
/// thread may run yet.
pub fn limit_spin(cli: &Cli) {
    let is_chosen = is_set(LOOKS.0) || is_set(POLICY);
    if !cfg!(target_os = "linux") || is_chosen || !computes(cli.command.as_ref()) {
        return;
    }
    if let Ok(own) = program_path() {
        let _failed = Process::new(own).arg0("ragonite").args(typed_arguments()).env(LOOKS.0, LOOKS.1).exec();
    }
}
