//! What an ingest tells while it runs, and what it did.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::stored::KindCounts;

/// A document that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path.
    pub path: PathBuf,
    /// Why, for people.
    pub reason: String,
}

impl fmt::Display for Skipped {
    /// Names the file once: most reasons name it themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string_lossy();
        // Reasons write the border between a container and what is in it as `!/`.
        let plain = |text: &str| text.replace("!/", "/");
        if plain(&self.reason).contains(&plain(&path)) {
            f.write_str(&self.reason)
        } else {
            write!(f, "{path}: {}", self.reason)
        }
    }
}

/// A folder or file whose documents are kept although it seems to be gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The folder or file.
    pub path: PathBuf,
    /// Documents that are kept.
    pub documents: usize,
    /// Why it cannot be said that they are gone.
    pub reason: KeptReason,
}

/// Why documents are kept although their files are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptReason {
    /// The folder or file itself is not there: a disk may be unplugged, a share not mounted.
    Missing,
    /// The folder cannot be listed.
    Unreadable,
    /// The folder is there but holds no document any more.
    Empty,
}

impl KeptReason {
    /// In words: what is the matter with the folder or file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "is not there",
            Self::Unreadable => "cannot be listed",
            Self::Empty => "holds no document any more",
        }
    }
}

/// What an ingest did. Serializes as in the JSON contract.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestReport {
    /// Name of the domain.
    pub domain: String,
    /// Documents in the domain afterwards.
    pub documents: usize,
    /// Documents that were not there before.
    pub added: usize,
    /// Documents that replaced an earlier state.
    pub updated: usize,
    /// Documents whose file has a new name.
    pub renamed: usize,
    /// Evidences in the domain afterwards.
    pub evidences: KindCounts,
    /// Evidences that were embedded.
    pub embedded: usize,
    /// Documents left out. What was stored of them before stays.
    pub skipped: Vec<Skipped>,
    /// Documents that were there already.
    pub unchanged: usize,
    /// Documents taken out, because their file is gone or holds them no longer.
    pub removed: usize,
    /// Folders and files that seem to be gone, with documents that are kept all the same.
    pub kept: Vec<Kept>,
    /// How long it took.
    pub seconds: f64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IngestStage {
    /// Reading and splitting documents.
    Reading,
    /// Embedding evidences.
    Embedding,
    /// Bringing the search indexes in step; `done` and `total` count evidences.
    Indexing,
    /// Looking at what is stored; `done` and `total` count evidences.
    Checking,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestProgress {
    /// What is being done.
    pub stage: IngestStage,
    /// Files dealt with (evidences while indexing or embedding a whole domain again).
    pub done: usize,
    /// All of them.
    pub total: usize,
    /// Evidences embedded so far in this run.
    pub embedded: usize,
    /// The document at hand; empty where there is none.
    pub current: String,
}

/// Hears of progress.
pub type OnProgress<'a> = dyn FnMut(IngestProgress) + 'a;
