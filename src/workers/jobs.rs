//! The running jobs and their cancellation.
//!
//! Invariants: every effect with a job is answered once: by its result, by `JobFailed` or by `JobCanceled`. A cancelled
//! job stays cancelled: later effects for it are answered with `JobCanceled` at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ragonite_app::JobId;
use ragonite_base::{CancelSource, CancelToken, Millis};

/// The jobs of this run of the program.
#[derive(Debug, Default)]
pub(super) struct JobRegistry {
    jobs: HashMap<JobId, Work>,
}

#[derive(Debug, Default)]
struct Work {
    source: CancelSource,
    active: Arc<AtomicUsize>,
}

/// A handle of a job while it is queued or running.
#[derive(Debug)]
pub(super) struct WorkGuard {
    pub(super) job: JobId,
    /// Its cancellation.
    pub(super) cancel: CancelToken,
    queued: Instant,
    active: Arc<AtomicUsize>,
}

impl WorkGuard {
    /// Time since the job was queued.
    pub(super) fn elapsed(&self) -> Millis {
        self.queued.elapsed().into()
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
    }
}

impl JobRegistry {
    /// Registers `job`.
    pub(super) fn begin(&mut self, job: JobId) -> WorkGuard {
        let work = self.jobs.entry(job).or_default();
        work.active.fetch_add(1, Ordering::AcqRel);
        WorkGuard { job, cancel: work.source.token(), queued: Instant::now(), active: Arc::clone(&work.active) }
    }

    /// Registers a new explanation of a turn, which an earlier cancelled one must not cancel.
    pub(super) fn begin_anew(&mut self, job: JobId) -> WorkGuard {
        if let Some(work) = self.jobs.get(&job)
            && work.active.load(Ordering::Acquire) == 0
        {
            self.jobs.remove(&job);
        }
        self.begin(job)
    }

    /// Cancels `job`.
    pub(super) fn cancel(&mut self, job: JobId) -> CancelOutcome {
        let work = self.jobs.entry(job).or_default();
        work.source.cancel();
        if work.active.load(Ordering::Acquire) == 0 { CancelOutcome::NothingRan } else { CancelOutcome::JobAnswers }
    }

    /// Cancels everything.
    pub(super) fn cancel_all(&mut self) {
        for work in self.jobs.values() {
            work.source.cancel();
        }
    }
}

/// Result of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelOutcome {
    /// The job was not queued or running.
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
        let guard = works.begin(JobId(1));
        assert_eq!(works.cancel(JobId(1)), CancelOutcome::JobAnswers);
        assert!(guard.cancel.is_canceled());
        drop(guard);
        assert_eq!(works.cancel(JobId(1)), CancelOutcome::NothingRan);
        assert!(works.begin(JobId(1)).cancel.is_canceled());
        assert!(!works.begin(JobId(2)).cancel.is_canceled());
    }

    #[test]
    fn an_explanation_can_be_asked_for_again_after_it_was_cancelled() {
        let mut works = JobRegistry::default();
        drop(works.begin(JobId(1)));
        works.cancel(JobId(1));
        assert!(!works.begin_anew(JobId(1)).cancel.is_canceled());
    }
}
