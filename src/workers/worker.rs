//! A named thread with a mailbox.
//!
//! Invariants: jobs are done one after the other in the order they were sent; sending never blocks; the thread ends when
//! its mailbox is closed and the job at hand is done.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::RuntimeError;

/// A running thread and its mailbox.
#[derive(Debug)]
pub(super) struct Worker<J> {
    name: &'static str,
    /// None once closed.
    jobs: Option<Sender<J>>,
    thread: Option<JoinHandle<()>>,
    /// Closed by the thread when it ends.
    ended: Receiver<()>,
}

impl<J: Send + 'static> Worker<J> {
    /// Starts a thread that handles its mailbox with `body`.
    pub(super) fn start(
        name: &'static str,
        body: impl FnOnce(Receiver<J>) + Send + 'static,
    ) -> Result<Self, RuntimeError> {
        let (jobs, mailbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _closed_at_the_end = end;
                body(mailbox);
            })
            .map_err(|source| RuntimeError::Thread { name, source })?;
        Ok(Self { name, jobs: Some(jobs), thread: Some(thread), ended })
    }

    /// Sends a job; drops it where the thread has ended.
    pub(super) fn send(&self, job: J) {
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_err()
        {
            tracing::warn!(worker = self.name, "a job came after the thread had ended");
        }
    }

    /// Closes the mailbox; the thread ends after the job at hand.
    pub(super) fn close(&mut self) {
        self.jobs = None;
    }

    /// Waits for the thread to end, at most `limit`.
    pub(super) fn join(&mut self, limit: Duration) {
        match self.ended.recv_timeout(limit) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                if let Some(thread) = self.thread.take()
                    && thread.join().is_err()
                {
                    tracing::error!(worker = self.name, "the thread panicked");
                }
            }
            Err(RecvTimeoutError::Timeout) => tracing::warn!(worker = self.name, "the thread did not end in time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_in_order_and_closing_ends_the_thread() {
        let (out, done) = mpsc::channel();
        let mut worker = Worker::start("test", move |mailbox: Receiver<u32>| {
            for job in mailbox {
                out.send(job).unwrap();
            }
        })
        .unwrap();
        for job in 0..100 {
            worker.send(job);
        }
        worker.close();
        worker.join(Duration::from_secs(10));
        assert_eq!(done.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    }
}
