//! The command line: what was typed becomes a command, and a command becomes an exit code.
//!
//! Takes the arguments of the process, gives an exit code. stdout carries results only; everything else goes to stderr.
//! Not here: the state machine (`ragonite-app`), the threads that do the work (`ragonite-workers`), the panes
//! (`ragonite-tui`).

pub mod args;
pub mod bundle;
pub mod commands;
pub mod gpu_handover;
