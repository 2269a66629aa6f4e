//! Errors of a domain on disk.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use ragonite_base::Canceled;
use ragonite_document::DocumentError;
use ragonite_inference::InferenceError;

/// A failure to open, fill or search a domain.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The user cancelled; committed changes stay.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// No domain in the folder.
    #[error(
        "there is no domain `{name}`{} in `{}`; `ragonite domain list` shows those there are, and \
         `ragonite ingest --domain {name} PATH` makes one",
        did_you_mean(.like.as_deref()), path.parent().unwrap_or(path).display(), name = domain_name(path)
    )]
    NotFound {
        /// The folder.
        path: PathBuf,
        /// A domain with a similar name.
        like: Option<String>,
    },
    /// The domain exists already.
    #[error("there is a domain in `{path}` already; `ragonite ingest --domain {name} PATH` adds to it")]
    Exists {
        /// The folder.
        path: PathBuf,
        /// Its name.
        name: String,
    },
    /// The vectors come from another embedder, so distances would mean nothing.
    #[error(
        "the domain `{domain}` was embedded with {found}, the embedder in use is {expected}; \
         embed it again with `ragonite domain rebuild {domain}`"
    )]
    EmbedderMismatch {
        /// The domain.
        domain: String,
        /// Model and fingerprint in the manifest.
        found: String,
        /// Model and fingerprint in use.
        expected: String,
    },
    /// Written by a later version of the program.
    #[error(
        "`{path}` has format {found}, this program reads up to {supported}; use the newer ragonite it \
         was made with"
    )]
    NewerFormat {
        /// `domain.db`.
        path: PathBuf,
        /// Format on disk.
        found: i64,
        /// Latest supported format.
        supported: i64,
    },
    /// Written by an earlier version of the program, in a format no longer read.
    #[error(
        "`{path}` has format {found}, this program reads {supported}; remove it with `ragonite domain \
         remove {name}` and ingest its documents again", name = folder_name(path)
    )]
    OlderFormat {
        /// `domain.db`.
        path: PathBuf,
        /// Format on disk.
        found: i64,
        /// The supported format.
        supported: i64,
    },
    /// The folder holds foreign files, so it is not deleted.
    #[error("`{path}` is no folder of a domain: it holds `{found}`; move that away, or delete the folder yourself")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The first foreign entry.
        found: String,
    },
    /// The domain has no known folder or file to read again.
    #[error(
        "the domain `{domain}` has nothing to read again; name files or folders: `ragonite ingest --domain {domain} PATH`"
    )]
    NoRoots {
        /// The domain.
        domain: String,
    },
    /// The database is foreign or damaged.
    #[error("`{path}` is damaged; put back a copy of it, or delete its folder and ingest the documents again")]
    Damaged {
        /// `domain.db`.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The disk is full.
    #[error("no room is left on the disk of `{path}`; free some and run it again: what was stored before is whole")]
    DiskFull {
        /// The file or folder.
        path: PathBuf,
        /// The failed write.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The folder or file is not writable.
    #[error("`{path}` cannot be written; give yourself write permission or choose another `--data-dir`")]
    NotWritable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Another process is writing to the domain.
    #[error("another ragonite is writing to the domain in `{path}`; wait until it has finished")]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// Another failure of the database.
    #[error("{doing} in `{path}`")]
    Store {
        /// The step that failed.
        doing: &'static str,
        /// `domain.db`.
        path: PathBuf,
        /// SQLite's reason.
        #[source]
        source: rusqlite::Error,
    },
    /// A failure of a file or folder beside the database.
    #[error("{doing} `{path}`")]
    File {
        /// The step that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The dense index failed.
    #[error("{doing} the index by embedding `{path}`; `ragonite domain check {name}` repairs it", name = folder_name(path))]
    Dense {
        /// The step that failed.
        doing: &'static str,
        /// `dense.usearch`.
        path: PathBuf,
        /// The library's reason.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The lexical index failed.
    #[error("{doing} the index by words `{path}`; `ragonite domain check {name}` repairs it", name = folder_name(path))]
    Lexical {
        /// The step that failed.
        doing: &'static str,
        /// `lexical/`.
        path: PathBuf,
        /// The library's reason.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// An embedding has the wrong size.
    #[error("an embedding has {found} components, the domain's have {expected}")]
    Dimensions {
        /// Number of components given.
        found: usize,
        /// Number of components in the domain.
        expected: usize,
    },
    /// The embedder failed.
    #[error("embedding the evidences")]
    Embed(#[source] InferenceError),
    /// The paths to ingest cannot be listed.
    #[error("looking for documents")]
    Documents(#[source] DocumentError),
}

impl From<InferenceError> for IndexError {
    fn from(error: InferenceError) -> Self {
        match error {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Embed(other),
        }
    }
}

fn did_you_mean(like: Option<&str>) -> String {
    like.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The domain name for messages, from the path of a file in it.
fn folder_name(file: &Path) -> String {
    file.parent().map(domain_name).unwrap_or_default()
}

/// The name of the domain in `folder`, for messages.
pub(super) fn domain_name(folder: &Path) -> String {
    ragonite_base::clean_line(&folder.file_name().unwrap_or_default().to_string_lossy())
}

/// Maps an SQLite error to its meaning for the user.
pub(super) fn store_error(doing: &'static str, path: &Path, source: rusqlite::Error) -> IndexError {
    let path = path.to_path_buf();
    let Some(code) = source.sqlite_error_code() else {
        return if is_content_fault(&source) {
            IndexError::Damaged { path, source: source.into() }
        } else {
            IndexError::Store { doing, path, source }
        };
    };
    match code {
        ErrorCode::DiskFull => IndexError::DiskFull { path, source: source.into() },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            IndexError::NotWritable { path, source: source.into() }
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => IndexError::Busy { path },
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => IndexError::Damaged { path, source: source.into() },
        ErrorCode::SystemIoFailure if is_about_space(&source) => IndexError::DiskFull { path, source: source.into() },
        _ => IndexError::Store { doing, path, source },
    }
}

/// On a full disk SQLite cannot grow its shared memory file, and reports an I/O error.
fn is_about_space(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE};
    error.sqlite_error().is_some_and(|error| [SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHMMAP].contains(&error.extended_code))
}

fn is_content_fault(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(error, E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..) | E::InvalidColumnType(..))
}

/// Maps a file-system error to its meaning for the user.
pub(super) fn file_error(doing: &'static str, path: &Path, source: io::Error) -> IndexError {
    let path = path.to_path_buf();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            IndexError::DiskFull { path, source: source.into() }
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            IndexError::NotWritable { path, source: source.into() }
        }
        _ => IndexError::File { doing, path, source },
    }
}

/// An error and its causes on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    ragonite_base::clean_line(&text)
}
