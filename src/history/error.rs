//! Errors of the history.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use time::OffsetDateTime;

use ragonite_base::{ConversationId, DomainName};

/// Why the history could not be opened, read or written. Stored data is never changed by an error.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder or file could not be created.
    #[error("creating the history `{path}`")]
    Create {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is readable by others and its mode could not be changed.
    #[error("making the history `{path}` readable by its owner only")]
    Protect {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A newer program has changed the file.
    #[error("the history `{path}` has version {found}, this program knows versions up to {known}")]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// A SQLite file with other contents.
    #[error("`{path}` is a database but no history")]
    NotHistory {
        /// The file.
        path: PathBuf,
    },
    /// The file is no SQLite file, or its pages contradict each other.
    #[error("the history `{path}` is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The disk is full.
    #[error("the disk of the history `{path}` is full")]
    Full {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file or its folder cannot be written.
    #[error("the history `{path}` cannot be written")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// Another program holds the file longer than the timeout.
    #[error("the history `{path}` is in use by another program")]
    Busy {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// Another error of SQLite.
    #[error("{doing} in the history `{path}`")]
    Database {
        /// The operation, such as `storing a turn`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// A stored value is not one that this program writes.
    #[error("the history `{path}` holds a {what} that cannot be read: `{value}`")]
    Value {
        /// The file.
        path: PathBuf,
        /// `time`, `domain name`, `outcome`, `rating` or `reason`.
        what: &'static str,
        /// The stored value.
        value: String,
    },
    /// The trace cannot be serialized.
    #[error("writing the trace of a turn as JSON")]
    Trace {
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// The time of the turn is outside the years 0 to 9999.
    #[error("a turn asked at {at} cannot be stored")]
    Time {
        /// The time.
        at: OffsetDateTime,
    },
    /// There is no such conversation.
    #[error("the history has no conversation {id}")]
    NoConversation {
        /// The requested conversation.
        id: ConversationId,
    },
    /// An exported file could not be written.
    #[error("writing `{path}`")]
    Export {
        /// The file, or its folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The conversation has no such turn.
    #[error("conversation {id} has no turn {number}")]
    NoTurn {
        /// The conversation.
        id: ConversationId,
        /// The requested turn.
        number: u32,
    },
    /// The conversation is in the trash.
    #[error("conversation {id} is in the trash")]
    InTrash {
        /// The conversation.
        id: ConversationId,
    },
    /// The conversation is not in the trash.
    #[error("conversation {id} is not in the trash")]
    NotInTrash {
        /// The conversation.
        id: ConversationId,
    },
    /// The title has no visible character.
    #[error("a conversation needs a title that can be read")]
    NoTitle,
    /// The conversation belongs to another domain.
    #[error("conversation {id} is about the domain `{domain}`")]
    OtherDomain {
        /// The conversation.
        id: ConversationId,
        /// Its domain.
        domain: DomainName,
    },
}

impl HistoryError {
    /// Advice for the user.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Create { .. } => "Check that the folder can be written, or choose another one with --data-dir.",
            Self::Protect { .. } => "Run chmod 600 on the file as its owner.",
            Self::TooNew { .. } => "Use the newer program, or another folder with --data-dir.",
            Self::NotHistory { .. } => "Move the file away, or choose another folder with --data-dir.",
            Self::Damaged { .. } | Self::Value { .. } => {
                "Move the file, with those ending in -wal and -shm, to a safe place; a new history is then begun, and \
                 `sqlite3 FILE .recover` reads what is left in the old one."
            }
            Self::Full { .. } => "Free some space on the disk and try again; what was stored before is still there.",
            Self::ReadOnly { .. } => "Make the file and its folder writable, or choose another folder with --data-dir.",
            Self::Busy { .. } => "Close the other program and try again.",
            Self::Database { .. } | Self::Trace { .. } => "Try again; what was stored before is still there.",
            Self::Time { .. } => "Set the clock of this machine.",
            Self::NoConversation { .. } => "`ragonite history list` shows the conversations there are.",
            Self::Export { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "The file is left as it is; name another one."
            }
            Self::Export { .. } => "Check that the folder can be written and its disk has room.",
            Self::NoTurn { .. } => "`ragonite history show ID` shows its turns.",
            Self::InTrash { .. } => "Take it out with `ragonite history restore ID` first.",
            Self::NotInTrash { .. } => {
                "`ragonite history list --trash` shows what is; `ragonite history delete ID` puts it there."
            }
            Self::NoTitle => "Give it a title of at least one letter.",
            Self::OtherDomain { .. } => "Start a new conversation to ask another domain.",
        }
    }

    /// Classifies an error of SQLite by what the user can do.
    pub(super) fn database(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, source },
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, source },
            Some(ErrorCode::SystemIoFailure) if is_about_space(&source) => Self::Full { path, source },
            _ => Self::Database { doing, path, source },
        }
    }
}

/// On a full disk SQLite cannot grow the shared memory file of the database, and reports an I/O error.
fn is_about_space(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE};
    error.sqlite_error().is_some_and(|error| [SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHMMAP].contains(&error.extended_code))
}
