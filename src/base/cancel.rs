//! Cooperative cancellation for plain synchronous code.
//!
//! A [`CancelSource`] hands out [`CancelToken`]s; long loops call [`CancelToken::check`] between small steps.
//! Invariant: cancelling is one atomic store, checking one atomic load, and neither ever blocks.
//! Not here: deciding what to cancel (`app`), keeping the sources (`runtime`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The work was cancelled by the user. Never shown as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Canceled;

/// The side that cancels.
#[derive(Debug, Clone, Default)]
pub struct CancelSource(Arc<AtomicBool>);

impl CancelSource {
    /// A token that sees this source's cancellation.
    pub fn token(&self) -> CancelToken {
        CancelToken(Arc::clone(&self.0))
    }

    /// The flag itself, for a signal handler that can do no more than set one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Cancels every token of this source, at once and for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The side that is asked to stop.
#[derive(Debug, Clone)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody can cancel, for work that must finish.
    pub fn never() -> Self {
        Self(Arc::default())
    }

    /// Whether the source was cancelled.
    pub fn is_canceled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Ends the caller's work with `?` once the source was cancelled.
    ///
    /// # Errors
    /// [`Canceled`] after [`CancelSource::cancel`].
    pub fn check(&self) -> Result<(), Canceled> {
        if self.is_canceled() { Err(Canceled) } else { Ok(()) }
    }
}

/// Cancels its source when dropped: whoever owns it owns the work.
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
    fn dropping_the_owner_cancels_the_work() {
        let owner = CancelOnDrop::default();
        let token = owner.token();
        drop(owner);
        assert!(token.is_canceled());
    }
}
