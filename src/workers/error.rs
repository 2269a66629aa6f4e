//! Errors of starting the threads.

use std::io;

/// Error of starting the threads or handlers.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The system started no thread.
    #[error("starting the thread `{name}`")]
    Thread {
        /// Name of the thread.
        name: &'static str,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// Signal handlers could not be installed.
    #[error("listening for signals")]
    Signals(#[source] io::Error),
}
