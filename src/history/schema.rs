//! The tables of `history.db` and their migrations.
//!
//! Invariant: migrations are append-only; `user_version` is the number of applied ones.
//! Not here: the meaning of rows (`store`).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::HistoryError;

/// How long a program waits for the write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Ids are never reused (`AUTOINCREMENT`), so a noted id keeps its meaning. Times are UTC text of fixed length, so they
/// sort. `change` counts saves over all conversations and orders them even if the clock is set back. `deleted_at` marks
/// the trash. `turns_text` and `titles_text` are full-text indexes; triggers keep them in step, also for deletions.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        domain TEXT NOT NULL,
        title TEXT NOT NULL,
        started_at TEXT NOT NULL,
        changed_at TEXT NOT NULL,
        change INTEGER NOT NULL,
        deleted_at TEXT
    ) STRICT;
    CREATE INDEX conversations_by_change ON conversations (change);
    CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        question TEXT NOT NULL,
        completed_question TEXT NOT NULL,
        answer TEXT,
        outcome TEXT NOT NULL,
        message TEXT,
        asked_at TEXT NOT NULL,
        trace TEXT NOT NULL,
        UNIQUE (conversation, number)
    ) STRICT;
",
    "
    ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE feedback (
        turn INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
        rating TEXT NOT NULL,
        reason TEXT,
        note TEXT NOT NULL,
        rated_at TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE turns_text USING fts5 (
        question, completed_question, answer,
        content = 'turns', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER turns_text_insert AFTER INSERT ON turns BEGIN
        INSERT INTO turns_text (rowid, question, completed_question, answer)
        VALUES (new.id, new.question, new.completed_question, new.answer);
    END;
    CREATE TRIGGER turns_text_delete AFTER DELETE ON turns BEGIN
        INSERT INTO turns_text (turns_text, rowid, question, completed_question, answer)
        VALUES ('delete', old.id, old.question, old.completed_question, old.answer);
    END;
    CREATE TRIGGER turns_text_update AFTER UPDATE ON turns BEGIN
        INSERT INTO turns_text (turns_text, rowid, question, completed_question, answer)
        VALUES ('delete', old.id, old.question, old.completed_question, old.answer);
        INSERT INTO turns_text (rowid, question, completed_question, answer)
        VALUES (new.id, new.question, new.completed_question, new.answer);
    END;
    INSERT INTO turns_text (turns_text) VALUES ('rebuild');
    INSERT INTO turns_text (turns_text, rank) VALUES ('secure-delete', 1);
    CREATE VIRTUAL TABLE titles_text USING fts5 (
        title, content = 'conversations', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER titles_text_insert AFTER INSERT ON conversations BEGIN
        INSERT INTO titles_text (rowid, title) VALUES (new.id, new.title);
    END;
    CREATE TRIGGER titles_text_delete AFTER DELETE ON conversations BEGIN
        INSERT INTO titles_text (titles_text, rowid, title) VALUES ('delete', old.id, old.title);
    END;
    CREATE TRIGGER titles_text_update AFTER UPDATE OF title ON conversations BEGIN
        INSERT INTO titles_text (titles_text, rowid, title) VALUES ('delete', old.id, old.title);
        INSERT INTO titles_text (rowid, title) VALUES (new.id, new.title);
    END;
    INSERT INTO titles_text (titles_text) VALUES ('rebuild');
    INSERT INTO titles_text (titles_text, rank) VALUES ('secure-delete', 1);
",
];

/// Configures the connection and migrates the file.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let failed = |source| HistoryError::database(path, "opening the database", source);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    // The version is checked first: a file of a newer or another program is not even switched to WAL.
    let must_migrate = must_migrate(connection, path)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    // A stored turn must survive a power failure; one sync per turn is cheap.
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    // Purged text must not be readable in the file.
    connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
    if must_migrate { migrate(connection, path) } else { Ok(()) }
}

/// The version of the file, if this program can use it.
fn must_migrate(connection: &Connection, path: &Path) -> Result<bool, HistoryError> {
    let failed = |source| HistoryError::database(path, "reading the version", source);
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let known = newest();
    match found {
        0 if tables > 0 => Err(HistoryError::NotHistory { path: path.to_owned() }),
        found if found > known => Err(HistoryError::TooNew { path: path.to_owned(), found, known }),
        found => Ok(found < known),
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let failed = |source| HistoryError::database(path, "bringing the tables up to date", source);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another program may have migrated the file while this one waited for the lock.
    let done: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    for migration in MIGRATIONS.iter().skip(done as usize) {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", newest().max(done)).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// The newest version.
pub(super) fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}
