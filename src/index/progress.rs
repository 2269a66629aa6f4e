//! Progress and report of an ingest.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::stored::KindCounts;

/// A skipped document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path.
    pub path: PathBuf,
    /// The reason, for people.
    pub reason: String,
}

impl fmt::Display for Skipped {
    /// Names the file once: most reasons name it themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string_lossy();
        // Reasons separate container and member by `!/`.
        let plain = |text: &str| text.replace("!/", "/");
        if plain(&self.reason).contains(&plain(&path)) {
            f.write_str(&self.reason)
        } else {
            write!(f, "{path}: {}", self.reason)
        }
    }
}

/// A missing folder or file whose documents are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The folder or file.
    pub path: PathBuf,
    /// Number of kept documents.
    pub documents: usize,
    /// Why they may not be gone.
    pub reason: KeptReason,
}

/// Why documents of missing files are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptReason {
    /// The folder or file itself is missing: a disk may be unplugged, a share not mounted.
    Missing,
    /// The folder cannot be listed.
    Unreadable,
    /// The folder holds no document any more.
    Empty,
}

impl KeptReason {
    /// The reason, as a predicate of the folder or file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "is not there",
            Self::Unreadable => "cannot be listed",
            Self::Empty => "holds no document any more",
        }
    }
}

/// The result of an ingest, serialized as in the JSON output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestReport {
    /// Name of the domain.
    pub domain: String,
    /// Documents in the domain afterwards.
    pub documents: usize,
    /// New documents.
    pub added: usize,
    /// Changed documents.
    pub updated: usize,
    /// Documents of renamed files.
    pub renamed: usize,
    /// Evidences in the domain afterwards.
    pub evidences: KindCounts,
    /// Number of embedded evidences.
    pub embedded: usize,
    /// Skipped documents; their earlier evidence stays.
    pub skipped: Vec<Skipped>,
    /// Unchanged documents.
    pub unchanged: usize,
    /// Removed documents: their file is gone or no longer holds them.
    pub removed: usize,
    /// Missing folders and files whose documents are kept.
    pub kept: Vec<Kept>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Why an ingest read no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingRead {
    /// No file or folder of the paths exists; their documents are kept.
    Kept,
    /// No document can be read.
    Skipped,
    /// There is no document.
    NotFound,
}

impl IngestReport {
    /// Why no document was read; none if one was, or if only the documents of other paths are left.
    #[must_use]
    pub fn nothing_read(&self) -> Option<NothingRead> {
        let Self { added, updated, renamed, removed, unchanged, .. } = self;
        if added + updated + renamed + removed + unchanged > 0 {
            None
        } else if !self.kept.is_empty() {
            Some(NothingRead::Kept)
        } else if !self.skipped.is_empty() {
            Some(NothingRead::Skipped)
        } else {
            (self.documents == 0).then_some(NothingRead::NotFound)
        }
    }
}

/// The stage of an ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IngestStage {
    /// Reading and splitting documents.
    Reading,
    /// Embedding evidences.
    Embedding,
    /// Syncing the derived indexes; `done` and `total` count evidences.
    Indexing,
    /// Checking stored evidences, which `done` and `total` count.
    Checking,
}

/// Progress of an ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestProgress {
    /// The stage.
    pub stage: IngestStage,
    /// Processed files (evidences while indexing or re-embedding a domain).
    pub done: usize,
    /// Total of the same.
    pub total: usize,
    /// Evidences embedded so far in this run.
    pub embedded: usize,
    /// The current document, or empty.
    pub current: String,
}

/// Called with progress.
pub type OnProgress<'a> = dyn FnMut(IngestProgress) + 'a;
