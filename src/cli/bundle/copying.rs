//! Copies and hashes files.
//!
//! Invariants: a cancellation takes effect at the next read; progress is reported every few megabytes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::error::{BundleError, file_error};
use ragonite_base::{CancelToken, hex};

/// Bytes between two progress reports.
const BLOCK: u64 = 1 << 22;

/// A step of packing or unpacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Checking weights and program.
    Checking,
    /// Copying domains.
    Copying,
    /// Writing the bundle.
    Packing,
    /// Unpacking the bundle.
    Unpacking,
}

/// Progress of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleProgress<'a> {
    /// The step.
    pub doing: Doing,
    /// The current file.
    pub file: &'a str,
    /// Bytes read in this step.
    pub done: u64,
    /// Bytes of all files of this step; 0 where unknown.
    pub total: u64,
}

/// Callback for progress.
pub type OnBundleProgress<'a> = dyn FnMut(BundleProgress<'_>) + 'a;

/// Size and hash of a file.
pub(super) struct Hashed {
    pub(super) bytes: u64,
    /// Lower-case hex.
    pub(super) sha256: String,
}

/// Progress and cancellation of a step.
pub(super) struct Steps<'a, 'b> {
    pub(super) doing: Doing,
    pub(super) done: u64,
    pub(super) total: u64,
    pub(super) cancel: &'a CancelToken,
    pub(super) on_progress: &'a mut OnBundleProgress<'b>,
}

impl Steps<'_, '_> {
    /// Starts a step of `total` bytes.
    pub(super) fn begin(&mut self, doing: Doing, total: u64) {
        (self.doing, self.done, self.total) = (doing, 0, total);
    }

    pub(super) fn tell(&mut self, file: &str) {
        (self.on_progress)(BundleProgress { doing: self.doing, file, done: self.done, total: self.total });
    }

    /// Copies `from` to `to`; `reading` and `writing` map the errors of each side.
    pub(super) fn copy(
        &mut self,
        file: &str,
        from: &mut dyn Read,
        reading: &dyn Fn(io::Error) -> BundleError,
        to: &mut dyn Write,
        writing: &dyn Fn(io::Error) -> BundleError,
    ) -> Result<Hashed, BundleError> {
        let mut watched = Watched::new(file, from, reading, self);
        let copied = io::copy(&mut watched, to).map(drop);
        watched.finish(copied, writing)
    }

    /// Hashes a file.
    pub(super) fn hash(&mut self, name: &str, path: &Path) -> Result<Hashed, BundleError> {
        let reading = file_error("reading", path);
        let mut file = File::open(path).map_err(&reading)?;
        self.copy(name, &mut file, &reading, &mut io::sink(), &reading)
    }
}

/// A reader that hashes, reports progress and stops on cancellation.
pub(super) struct Watched<'r, 's, 'a, 'b> {
    file: &'r str,
    from: &'r mut dyn Read,
    reading: &'r dyn Fn(io::Error) -> BundleError,
    steps: &'s mut Steps<'a, 'b>,
    hash: Sha256,
    bytes: u64,
    failed: Option<BundleError>,
}

impl<'r, 's, 'a, 'b> Watched<'r, 's, 'a, 'b> {
    pub(super) fn new(
        file: &'r str,
        from: &'r mut dyn Read,
        reading: &'r dyn Fn(io::Error) -> BundleError,
        steps: &'s mut Steps<'a, 'b>,
    ) -> Self {
        steps.tell(file);
        Self { file, from, reading, steps, hash: Sha256::new(), bytes: 0, failed: None }
    }

    /// Size and hash after a complete read; `done` is the result of reading, `otherwise` maps its error.
    pub(super) fn finish(
        self,
        done: io::Result<()>,
        otherwise: &dyn Fn(io::Error) -> BundleError,
    ) -> Result<Hashed, BundleError> {
        match (self.failed, done) {
            (Some(failed), _) => Err(failed),
            (None, Err(error)) => Err(otherwise(error)),
            (None, Ok(())) => Ok(Hashed { bytes: self.bytes, sha256: hex(&self.hash.finalize()) }),
        }
    }
}

impl Read for Watched<'_, '_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Err(canceled) = self.steps.cancel.check() {
            self.failed = Some(canceled.into());
            return Err(io::Error::other("cancelled"));
        }
        match self.from.read(buffer) {
            Ok(read) => {
                self.hash.update(&buffer[..read]);
                self.bytes += read as u64;
                let before = self.steps.done / BLOCK;
                self.steps.done += read as u64;
                if self.steps.done / BLOCK > before {
                    self.steps.tell(self.file);
                }
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failed = Some((self.reading)(error));
                Err(io::Error::other("unreadable"))
            }
        }
    }
}
