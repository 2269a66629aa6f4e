//! Errors of bundles.

use std::io;
use std::path::{Path, PathBuf};

use ragonite_base::Canceled;
use ragonite_index::IndexError;
use ragonite_inference::InferenceError;

/// Error of packing or unpacking a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The user cancelled; no incomplete file is left.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A domain could not be copied or installed.
    #[error(transparent)]
    Index(IndexError),
    /// Weights are missing or damaged.
    #[error(transparent)]
    Weights(InferenceError),
    /// A file could not be read, written or moved.
    #[error("{doing} `{path}` failed; check that it can be read or written and that the disk has room")]
    File {
        /// The attempted operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The target exists.
    #[error("`{path}` is there already; name another file with --output, or remove it")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is no bundle.
    #[error("`{path}` is no bundle of ragonite: {what}")]
    NoBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        what: String,
    },
    /// A newer version of the program made the bundle.
    #[error("`{path}` has format {found}, this program reads up to {supported}; use the ragonite that lies in it")]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Format of the bundle.
        found: u32,
        /// The latest supported format.
        supported: u32,
    },
    /// A file in it is not what its manifest says.
    #[error("`{path}` is damaged: {what}; copy it again from where it was made")]
    Damaged {
        /// The bundle.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl From<IndexError> for BundleError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Canceled(canceled) => Self::Canceled(canceled),
            error => Self::Index(error),
        }
    }
}

impl From<InferenceError> for BundleError {
    fn from(error: InferenceError) -> Self {
        match error {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            error => Self::Weights(error),
        }
    }
}

/// The error of reading, writing or moving a file.
pub(super) fn file_error(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> BundleError + use<> {
    let path = path.to_owned();
    move |source| BundleError::File { doing, path: path.clone(), source }
}
