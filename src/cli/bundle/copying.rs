//! Copies bytes and hashes them on the way.
//!
//! Invariants: a cancellation ends it with the next read; progress is told every few megabytes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::error::{BundleError, file_error};
use ragonite_base::{CancelToken, hex};

/// Bytes after which progress is told.
const BLOCK: u64 = 1 << 22;

/// What is being done with a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Looking whether weights and program are whole.
    Checking,
    /// Copying domains as they are now.
    Copying,
    /// Writing the bundle.
    Packing,
    /// Reading it, and putting what is in it into its place.
    Unpacking,
}

/// How far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleProgress<'a> {
    /// What is being done.
    pub doing: Doing,
    /// The file it is done with.
    pub file: &'a str,
    /// Bytes of all files that were read in this step.
    pub done: u64,
    /// Bytes of all files of this step; 0 where that is not known.
    pub total: u64,
}

/// Hears how far it has come.
pub type OnBundleProgress<'a> = dyn FnMut(BundleProgress<'_>) + 'a;

/// The bytes that went through, and what they are.
pub(super) struct Hashed {
    pub(super) bytes: u64,
    /// Lower-case hex.
    pub(super) sha256: String,
}

/// Counts over the files of one step, and stops it.
pub(super) struct Steps<'a, 'b> {
    pub(super) doing: Doing,
    pub(super) done: u64,
    pub(super) total: u64,
    pub(super) cancel: &'a CancelToken,
    pub(super) on_progress: &'a mut OnBundleProgress<'b>,
}

impl Steps<'_, '_> {
    /// Begins another step with so many bytes.
    pub(super) fn begin(&mut self, doing: Doing, total: u64) {
        (self.doing, self.done, self.total) = (doing, 0, total);
    }

    pub(super) fn tell(&mut self, file: &str) {
        (self.on_progress)(BundleProgress { doing: self.doing, file, done: self.done, total: self.total });
    }

    /// Copies all of `from`; errors of either side are told apart by `reading` and `writing`.
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

    /// Reads a file for its hash.
    pub(super) fn hash(&mut self, name: &str, path: &Path) -> Result<Hashed, BundleError> {
        let reading = file_error("reading", path);
        let mut file = File::open(path).map_err(&reading)?;
        self.copy(name, &mut file, &reading, &mut io::sink(), &reading)
    }
}

/// A file that is read for something else: what goes through is hashed and told, and a cancellation ends it.
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

    /// What went through, where all of it did: `done` is what came of reading from this.
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
