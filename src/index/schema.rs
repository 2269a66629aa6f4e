//! The tables of `domain.db`, and how the file is opened.
//!
//! Takes a path, gives a connection.
//! Invariants: the format version is in `user_version` and is checked before anything else is read or changed;
//! write-ahead logging, so that a search never waits for an ingest; file mode 0600 in a folder of mode 0700.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::IndexError;
use super::error::{file_error, store_error};

/// Format of `domain.db` that this program reads and writes.
pub(super) const FORMAT: i64 = 2;

/// SQLite application id (`ragn`), to tell a foreign SQLite file from a damaged domain.
const APPLICATION_ID: i64 = 0x7261_676e;

/// How long a write waits for another process: longer than storing the largest document takes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Evidence ids are never reused (`AUTOINCREMENT`): derived indexes and old turns rely on it. `removed_evidences` lists
/// removals for the derived indexes; `generation` columns mark additions. Once both indexes have processed removals,
/// their rows are deleted; a row with evidence 0 then holds the generation up to which they were deleted. A file's
/// `content_hash` is empty until it is wholly stored. `unread` lists members that could not be read. `ready_vectors`
/// are staged for documents that are not stored yet; `next_vectors` belong to an embedder that is about to replace the
/// present one. Both outlive a kill, so that nothing is embedded twice.
const TABLES: &str = "
CREATE TABLE manifest (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    generation    INTEGER NOT NULL,
    embedder      TEXT NOT NULL,
    context       TEXT NOT NULL,
    evidence      TEXT NOT NULL,
    title         TEXT NOT NULL,
    prompt_prefix TEXT NOT NULL,
    created_at    TEXT NOT NULL,
    changed_at    TEXT NOT NULL,
    last_ingest   TEXT NOT NULL
) STRICT;
CREATE TABLE roots (
    path TEXT PRIMARY KEY,
    kind TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE files (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    path         TEXT NOT NULL UNIQUE,
    content_hash TEXT NOT NULL,
    made_with    TEXT NOT NULL
) STRICT;
CREATE INDEX files_by_content ON files (content_hash);
CREATE TABLE unread (
    file   INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    member TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (file, member)
) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    file         INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    member       TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    title        TEXT NOT NULL,
    url          TEXT,
    date         TEXT,
    space        TEXT,
    ancestors    TEXT NOT NULL,
    context      TEXT NOT NULL,
    UNIQUE (file, member)
) STRICT;
CREATE TABLE evidences (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    document     INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    content      TEXT NOT NULL,
    title        TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    before       TEXT NOT NULL,
    after        TEXT NOT NULL,
    table_number INTEGER,
    row_number   INTEGER,
    location     TEXT NOT NULL,
    links        TEXT NOT NULL,
    text_hash    TEXT NOT NULL,
    generation   INTEGER NOT NULL
) STRICT;
CREATE INDEX evidences_of_document ON evidences (document, ordinal);
CREATE INDEX evidences_by_text ON evidences (text_hash);
CREATE INDEX evidences_by_generation ON evidences (generation);
CREATE TABLE tables (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    grid     TEXT NOT NULL,
    PRIMARY KEY (document, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE vectors (
    evidence INTEGER PRIMARY KEY REFERENCES evidences (id) ON DELETE CASCADE,
    vector   BLOB NOT NULL
) STRICT;
CREATE TABLE ready_vectors (
    text_hash TEXT PRIMARY KEY,
    vector    BLOB NOT NULL
) STRICT;
CREATE TABLE next_vectors (
    evidence    INTEGER PRIMARY KEY REFERENCES evidences (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    vector      BLOB NOT NULL
) STRICT;
CREATE TABLE removed_evidences (
    evidence   INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL
) STRICT;
";

/// Opens an existing database and checks its format.
pub(super) fn open(path: &Path) -> Result<Connection, IndexError> {
    let connection = connect(path, OpenFlags::empty())?;
    check_format(&connection, path)?;
    configure(&connection, path)?;
    Ok(connection)
}

/// Creates a database with the rows that `fill` writes, atomically: a kill leaves an empty file, which the next call
/// takes over.
pub(super) fn create(
    path: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<Connection, IndexError> {
    let failed = |source| store_error("making the database", path, source);
    make_private_file(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if !is_empty(&transaction).map_err(failed)? {
        let folder = path.parent().unwrap_or(path);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        return Err(IndexError::Exists { path: folder.to_path_buf(), name: ragonite_base::clean_line(&name) });
    }
    transaction.execute_batch(TABLES).map_err(failed)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    fill(&transaction).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    configure(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path, extra: OpenFlags) -> Result<Connection, IndexError> {
    let failed = |source| store_error("opening the database", path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    Ok(connection)
}

fn configure(connection: &Connection, path: &Path) -> Result<(), IndexError> {
    let failed = |source| store_error("opening the database", path, source);
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    // In WAL mode NORMAL keeps the database intact after a kill; a power cut may lose the last documents, never half of
    // one, and the next ingest reads them again.
    connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0))
}

fn check_format(connection: &Connection, path: &Path) -> Result<(), IndexError> {
    let pragma = |name| -> Result<i64, IndexError> {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(|source| store_error("reading the format", path, source))
    };
    if pragma("application_id")? != APPLICATION_ID {
        if is_empty(connection).map_err(|source| store_error("reading the format", path, source))? {
            let folder = path.parent().unwrap_or(path);
            return Err(IndexError::NotFound { path: folder.to_path_buf(), like: super::list::name_like(folder) });
        }
        let source = "it is not a domain of ragonite".into();
        return Err(IndexError::Damaged { path: path.to_path_buf(), source });
    }
    let found = pragma("user_version")?;
    if found > FORMAT {
        return Err(IndexError::NewerFormat { path: path.to_path_buf(), found, supported: FORMAT });
    }
    if found < FORMAT {
        return Err(IndexError::OlderFormat { path: path.to_path_buf(), found, supported: FORMAT });
    }
    Ok(())
}

/// Creates the folder of a domain, readable by its owner only.
pub(super) fn make_private_folder(folder: &Path) -> Result<(), IndexError> {
    fs::create_dir_all(folder).map_err(|source| file_error("making the folder", folder, source))?;
    restrict(folder, 0o700)
}

/// Makes the database private; SQLite gives its journal files the same mode.
pub(super) fn make_private_file(path: &Path) -> Result<(), IndexError> {
    let made = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path);
    made.map_err(|source| file_error("making the database", path, source))?;
    restrict(path, 0o600)
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> Result<(), IndexError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|source| file_error("setting the permissions of", path, source))
}

#[cfg(not(unix))]
fn restrict(_path: &Path, _mode: u32) -> Result<(), IndexError> {
    Ok(())
}
