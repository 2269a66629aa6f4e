//! What can go wrong with the threads themselves.

use std::io;

/// Why the runtime could not start.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The system gave no thread.
    #[error("starting the thread `{name}`")]
    Thread {
        /// What it was for.
        name: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Signals could not be listened to.
    #[error("listening for signals")]
    Signals(#[source] io::Error),
}
