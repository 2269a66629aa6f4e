//! Threads for encoders: one batch per core with single-threaded kernels, or one batch on all cores.
//!
//! Takes jobs, gives their results in order. Small matrices gain little from a second thread and lose it again to
//! waking it, while whole batches on separate cores keep all cores busy. Cores share a batch only if there are fewer
//! batches than cores.
//! Invariant: a lane has one thread, so kernels use no more threads and memory stays that of one batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::transformer::Stopped;

pub(super) struct Lanes {
    lanes: Vec<ThreadPool>,
    wide: ThreadPool,
}

/// Jobs shared by the lanes; each lane takes the next job when it is done with one.
struct Shared<J, W> {
    jobs: Vec<J>,
    next: AtomicUsize,
    work: W,
}

impl Lanes {
    /// Runs `lanes` jobs in parallel, or one job on `threads` threads.
    pub(super) fn new(lanes: usize, threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let lanes = (0..lanes)
            .map(|lane| {
                ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| format!("encoder-lane-{lane}")).build()
            })
            .collect::<Result<_, _>>()?;
        let wide = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|thread| format!("encoder-wide-{thread}"))
            .build()?;
        Ok(Self { lanes, wide })
    }

    /// Applies `one` to every item on all cores; results in order.
    pub(super) fn each<I: Sync, T: Send, E: Send>(
        &self,
        items: &[I],
        one: impl Fn(&I) -> Result<T, E> + Sync + Send,
    ) -> Result<Vec<T>, E> {
        self.wide.install(|| items.par_iter().map(one).collect())
    }

    /// Applies `work` to every job; results in order. After the first error no further job starts.
    pub(super) fn map<J, R, W>(&self, jobs: Vec<J>, work: W) -> Result<Vec<R>, Stopped>
    where
        J: Send + Sync + 'static,
        R: Send + 'static,
        W: Fn(&J) -> Result<R, Stopped> + Send + Sync + 'static,
    {
        if jobs.len() < self.lanes.len() {
            return self.wide.install(|| jobs.iter().map(work).collect());
        }
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let shared = Arc::new(Shared { jobs, next: AtomicUsize::new(0), work });
        let (send, receive) = mpsc::channel();
        for lane in &self.lanes {
            let (shared, send) = (Arc::clone(&shared), send.clone());
            lane.spawn(move || shared.run_jobs(&send));
        }
        drop(send);
        for (index, result) in receive {
            results[index] = Some(result?);
        }
        results.into_iter().collect::<Option<_>>().ok_or(Stopped::LaneEnded)
    }
}

impl<J, R, W: Fn(&J) -> Result<R, Stopped>> Shared<J, W>
where
    R: Send,
{
    fn run_jobs(&self, send: &mpsc::Sender<(usize, Result<R, Stopped>)>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(index) else { return };
            // The receiver is dropped after an error in another lane.
            if send.send((index, (self.work)(job))).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let lanes = Lanes::new(2, 2).unwrap();
        for jobs in [0_usize, 1, 2, 50] {
            let doubled = lanes.map((0..jobs).collect(), |job| Ok(job * 2)).unwrap();
            assert_eq!(doubled, (0..jobs).map(|job| job * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let lanes = Lanes::new(2, 2).unwrap();
        let result = lanes.map((0..100).collect::<Vec<usize>>(), |job| {
            if *job == 3 { Err(Stopped::Canceled(ragonite_base::Canceled)) } else { Ok(*job) }
        });
        assert!(matches!(result, Err(Stopped::Canceled(_))));
    }
}
