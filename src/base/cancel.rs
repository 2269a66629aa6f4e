//! Cooperative cancellation for synchronous code.
//!
//! Takes a cancellation through [`CancelSource`], gives it to [`CancelToken`]s; long loops call [`CancelToken::check`]
//! between small steps. A parser that knows no token reads from [`Watched`], which fails once cancelled.
//! Invariant: cancelling is one atomic store, checking one atomic load, and neither ever blocks.
//! Not here: deciding what to cancel (`app`), keeping the sources (`workers`).

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user cancelled the work. Never shown as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Canceled;

/// Cancels its tokens.
#[derive(Debug, Clone, Default)]
pub struct CancelSource(Arc<AtomicBool>);

impl CancelSource {
    /// A token of this source.
    pub fn token(&self) -> CancelToken {
        CancelToken {
            canceled: Arc::clone(&self.0),
            #[cfg(any(test, feature = "testing"))]
            checks: None,
        }
    }

    /// The flag itself, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Cancels every token of this source, at once and for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Tells a job to stop.
#[derive(Debug, Clone)]
pub struct CancelToken {
    canceled: Arc<AtomicBool>,
    #[cfg(any(test, feature = "testing"))]
    checks: Option<Arc<Checks>>,
}

/// Counts the checks of a test's token.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug)]
struct Checks {
    made: std::sync::atomic::AtomicUsize,
    last: usize,
}

#[cfg(any(test, feature = "testing"))]
impl CancelToken {
    /// A token that is cancelled after `checks` checks.
    pub fn canceled_after(checks: usize) -> Self {
        let checks = Checks { made: std::sync::atomic::AtomicUsize::new(0), last: checks };
        Self { canceled: Arc::default(), checks: Some(Arc::new(checks)) }
    }

    /// Number of checks of a token from [`CancelToken::canceled_after`].
    pub fn checks(&self) -> usize {
        self.checks.as_ref().map_or(0, |checks| checks.made.load(Ordering::Relaxed))
    }

    fn count(&self) {
        if let Some(checks) = &self.checks
            && checks.made.fetch_add(1, Ordering::Relaxed) >= checks.last
        {
            self.canceled.store(true, Ordering::Release);
        }
    }
}

impl CancelToken {
    /// A token that nobody can cancel, for work that must finish.
    pub fn never() -> Self {
        Self {
            canceled: Arc::default(),
            #[cfg(any(test, feature = "testing"))]
            checks: None,
        }
    }

    /// Whether the source was cancelled.
    pub fn is_canceled(&self) -> bool {
        #[cfg(any(test, feature = "testing"))]
        self.count();
        self.canceled.load(Ordering::Acquire)
    }

    /// Wraps a reader so that it fails once cancelled, for parsers that know no token.
    pub fn watch<R>(&self, source: R) -> Watched<R> {
        Watched { source, cancel: self.clone() }
    }

    /// Fails once cancelled, for use with `?`.
    ///
    /// # Errors
    /// [`Canceled`] after [`CancelSource::cancel`].
    pub fn check(&self) -> Result<(), Canceled> {
        if self.is_canceled() { Err(Canceled) } else { Ok(()) }
    }
}

/// A reader that fails with [`Canceled`] once cancelled; made by [`CancelToken::watch`].
#[derive(Debug)]
pub struct Watched<R> {
    source: R,
    cancel: CancelToken,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check().map_err(io::Error::other)?;
        self.source.read(buffer)
    }
}

impl<R: Seek> Seek for Watched<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.source.seek(position)
    }
}

/// Cancels its token when dropped.
#[derive(Debug, Default)]
pub struct CancelOnDrop(CancelSource);

impl CancelOnDrop {
    /// A token for the owned work.
    pub fn token(&self) -> CancelToken {
        self.0.token()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_sees_the_cancellation_of_its_source() {
        let source = CancelSource::default();
        let token = source.token();
        assert_eq!(token.check(), Ok(()));
        source.cancel();
        assert_eq!(token.check(), Err(Canceled));
    }

    #[test]
    fn a_watched_source_ends_with_the_work() {
        let source = CancelSource::default();
        let mut watched = source.token().watch(&b"four"[..]);
        let mut two = [0; 2];
        watched.read_exact(&mut two).unwrap();
        source.cancel();
        assert_eq!(watched.read_exact(&mut two).unwrap_err().to_string(), Canceled.to_string());
    }

    #[test]
    fn dropping_the_owner_cancels_the_work() {
        let owner = CancelOnDrop::default();
        let token = owner.token();
        drop(owner);
        assert!(token.is_canceled());
    }
}
