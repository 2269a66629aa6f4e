//! The running jobs and their cancellation.
//!
//! Invariants: every effect with a job is answered once: by its result, by `JobFailed` or by `JobCanceled`. A job that
//! has not begun is answered at its cancellation, whatever its thread does meanwhile; a running one ends at its next
//! check. Later effects of a cancelled job are cancelled, too, but for a new explanation.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use ragonite_app::JobId;
use ragonite_base::{CancelSource, CancelToken, Millis};

/// The jobs of this run of the program.
#[derive(Debug, Default)]
pub(super) struct JobRegistry {
    jobs: HashMap<JobId, Job>,
}

#[derive(Debug, Default)]
struct Job {
    source: CancelSource,
    /// The last effect of the job.
    state: Arc<AtomicU8>,
}

/// Nothing of the job waits or runs.
const ENDED: u8 = 0;
/// The job waits for its thread.
const QUEUED: u8 = 1;
/// The job runs.
const RUNNING: u8 = 2;

/// A handle of a job while it is queued or running.
#[derive(Debug)]
pub(super) struct JobGuard {
    pub(super) job: JobId,
    /// Its cancellation.
    pub(super) cancel: CancelToken,
    queued: Instant,
    state: Arc<AtomicU8>,
}

impl JobGuard {
    /// Time since the job was queued.
    pub(super) fn elapsed(&self) -> Millis {
        self.queued.elapsed().into()
    }

    /// Whether the job may run; false where its cancellation was answered while it waited.
    pub(super) fn begin(&self) -> bool {
        self.state.compare_exchange(QUEUED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.state.store(ENDED, Ordering::Release);
    }
}

impl JobRegistry {
    /// Registers an effect of `job`.
    pub(super) fn begin(&mut self, job: JobId) -> JobGuard {
        let known = self.jobs.entry(job).or_default();
        // An earlier effect of the job that still ends keeps its own state.
        known.state = Arc::new(AtomicU8::new(QUEUED));
        JobGuard { job, cancel: known.source.token(), queued: Instant::now(), state: Arc::clone(&known.state) }
    }

    /// Registers a new explanation of a turn, which an earlier cancellation must not cancel.
    pub(super) fn begin_anew(&mut self, job: JobId) -> JobGuard {
        self.jobs.remove(&job);
        self.begin(job)
    }

    /// Cancels `job`.
    pub(super) fn cancel(&mut self, job: JobId) -> CancelOutcome {
        let known = self.jobs.entry(job).or_default();
        known.source.cancel();
        let waited = known.state.compare_exchange(QUEUED, ENDED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let runs = !waited && known.state.load(Ordering::Acquire) == RUNNING;
        if runs { CancelOutcome::JobAnswers } else { CancelOutcome::NothingRuns }
    }

    /// Cancels everything.
    pub(super) fn cancel_all(&mut self) {
        for job in self.jobs.values() {
            job.source.cancel();
        }
    }
}

/// Result of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelOutcome {
    /// The job waited or was not there: its cancellation has to be answered now.
    NothingRuns,
    /// The job runs, will see the cancellation and answer.
    JobAnswers,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_job_stays_cancelled() {
        let mut jobs = JobRegistry::default();
        let guard = jobs.begin(JobId(1));
        assert!(guard.begin());
        assert_eq!(jobs.cancel(JobId(1)), CancelOutcome::JobAnswers);
        assert!(guard.cancel.is_canceled());
        drop(guard);
        assert_eq!(jobs.cancel(JobId(1)), CancelOutcome::NothingRuns);
        assert!(jobs.begin(JobId(1)).cancel.is_canceled());
        assert!(!jobs.begin(JobId(2)).cancel.is_canceled());
    }

    #[test]
    fn a_job_that_waits_is_answered_at_its_cancellation_and_does_not_begin() {
        let mut jobs = JobRegistry::default();
        let guard = jobs.begin(JobId(1));
        assert_eq!(jobs.cancel(JobId(1)), CancelOutcome::NothingRuns);
        assert!(!guard.begin());
    }

    #[test]
    fn an_explanation_can_be_asked_for_again_after_it_was_cancelled() {
        let mut jobs = JobRegistry::default();
        let ending = jobs.begin(JobId(1));
        assert!(ending.begin());
        jobs.cancel(JobId(1));
        let anew = jobs.begin_anew(JobId(1));
        drop(ending);
        assert!(!anew.cancel.is_canceled() && anew.begin());
    }
}
