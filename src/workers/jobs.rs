//! Jobs of turns and their cancellation.
//!
//! Invariants: every effect of a turn is answered once: by its result, by `TurnFailed` or by `TurnCanceled`. A
//! cancelled turn stays cancelled: later effects for it are answered with `TurnCanceled` at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ragonite_app::TurnKey;
use ragonite_base::{CancelSource, CancelToken};

/// The jobs of this run of the program.
#[derive(Debug, Default)]
pub(super) struct JobRegistry {
    turns: HashMap<TurnKey, Work>,
}

#[derive(Debug, Default)]
struct Work {
    source: CancelSource,
    active: Arc<AtomicUsize>,
}

/// A handle of a job while it is queued or running.
#[derive(Debug)]
pub(super) struct WorkGuard {
    pub(super) turn: TurnKey,
    /// Its cancellation.
    pub(super) cancel: CancelToken,
    active: Arc<AtomicUsize>,
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
    }
}

impl JobRegistry {
    /// Registers a job of `turn`.
    pub(super) fn begin(&mut self, turn: TurnKey) -> WorkGuard {
        let work = self.turns.entry(turn).or_default();
        work.active.fetch_add(1, Ordering::AcqRel);
        WorkGuard { turn, cancel: work.source.token(), active: Arc::clone(&work.active) }
    }

    /// Registers a new explanation of a turn, which an earlier cancelled one must not cancel.
    pub(super) fn begin_anew(&mut self, turn: TurnKey) -> WorkGuard {
        if let Some(work) = self.turns.get(&turn)
            && work.active.load(Ordering::Acquire) == 0
        {
            self.turns.remove(&turn);
        }
        self.begin(turn)
    }

    /// Cancels all jobs of `turn`.
    pub(super) fn cancel(&mut self, turn: TurnKey) -> CancelOutcome {
        let work = self.turns.entry(turn).or_default();
        work.source.cancel();
        if work.active.load(Ordering::Acquire) == 0 { CancelOutcome::NothingRan } else { CancelOutcome::JobAnswers }
    }

    /// Cancels everything.
    pub(super) fn cancel_all(&mut self) {
        for work in self.turns.values() {
            work.source.cancel();
        }
    }
}

/// Result of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelOutcome {
    /// No job of the turn was queued or running.
    NothingRan,
    /// A job will see the cancellation and answer.
    JobAnswers,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_turn_stays_cancelled() {
        let mut works = JobRegistry::default();
        let guard = works.begin(TurnKey(1));
        assert_eq!(works.cancel(TurnKey(1)), CancelOutcome::JobAnswers);
        assert!(guard.cancel.is_canceled());
        drop(guard);
        assert_eq!(works.cancel(TurnKey(1)), CancelOutcome::NothingRan);
        assert!(works.begin(TurnKey(1)).cancel.is_canceled());
        assert!(!works.begin(TurnKey(2)).cancel.is_canceled());
    }

    #[test]
    fn an_explanation_can_be_asked_for_again_after_it_was_cancelled() {
        let mut works = JobRegistry::default();
        drop(works.begin(TurnKey(1)));
        works.cancel(TurnKey(1));
        assert!(!works.begin_anew(TurnKey(1)).cancel.is_canceled());
    }
}
