//! What can go wrong with bundles.

use std::io;
use std::path::{Path, PathBuf};

use ragonite_base::Canceled;
use ragonite_index::IndexError;
use ragonite_inference::InferenceError;

/// Why a bundle could not be made or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The user cancelled; nothing that is not whole is left.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A domain could not be copied or taken in.
    #[error(transparent)]
    Index(IndexError),
    /// Weights are missing or damaged.
    #[error(transparent)]
    Weights(InferenceError),
    /// A file could not be read, written or moved.
    #[error("{doing} `{path}` failed; check that it can be read or written and that the disk has room")]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The bundle would be written over something.
    #[error("`{path}` is there already; name another file with --output, or remove it")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It is no bundle.
    #[error("`{path}` is no bundle of ragonite: {what}")]
    NoBundle {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        what: String,
    },
    /// A later version of the program made it.
    #[error("`{path}` has format {found}, this program reads up to {supported}; use the ragonite that lies in it")]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The latest that is read.
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
