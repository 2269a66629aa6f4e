//! What a domain says about itself: how it was made, and how it wants to be asked.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use ragonite_document::evidence::ContextParts;
use ragonite_inference::EncoderIdentity;

/// The one row of the table `manifest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Grows with every committed change; derived indexes carry the one they were built from.
    pub generation: i64,
    /// What made the vectors.
    pub embedder: EncoderIdentity,
    /// Context parts that were embedded and indexed.
    pub context: ContextParts,
    /// Settings of `evidence` that the last ingest used, as JSON.
    pub evidence: serde_json::Value,
    /// Name for people; empty where none was given.
    pub title: String,
    /// Text put before the instructions of every prompt of this domain; empty for the default.
    pub prompt_prefix: String,
    /// When it was made: RFC 3339.
    pub created_at: String,
    /// When documents last changed: RFC 3339.
    pub changed_at: String,
    /// What the last ingest that came to its end did.
    pub last_ingest: Option<LastIngest>,
}

/// An ingest that came to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastIngest {
    /// When it ended: RFC 3339.
    pub at: String,
    /// Documents that were not there before.
    pub added: usize,
    /// Documents that replaced an earlier state.
    pub updated: usize,
    /// Documents whose file has a new name.
    pub renamed: usize,
    /// Documents that went away with their file.
    pub removed: usize,
    /// Documents that were there already.
    pub unchanged: usize,
    /// Files that could not be read.
    pub skipped: usize,
}

/// What a new domain is made with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewDomain {
    /// Name for people.
    pub title: String,
    /// Text put before the instructions of every prompt.
    pub prompt_prefix: String,
}

impl Manifest {
    /// The manifest of an empty domain.
    pub(super) fn new(domain: NewDomain, embedder: &EncoderIdentity) -> Self {
        let now = now();
        Self {
            generation: 0,
            embedder: embedder.clone(),
            context: ContextParts::default(),
            evidence: serde_json::Value::Null,
            title: domain.title,
            prompt_prefix: domain.prompt_prefix,
            created_at: now.clone(),
            changed_at: now,
            last_ingest: None,
        }
    }

    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let columns = "generation, embedder, context, evidence, title, prompt_prefix, created_at, changed_at, \
             last_ingest";
        let sql = format!("SELECT {columns} FROM manifest WHERE id = 1");
        connection.prepare_cached(&sql)?.query_row([], Self::from_row).optional()
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            generation: row.get(0)?,
            embedder: json(row, 1)?,
            context: json(row, 2)?,
            evidence: json(row, 3)?,
            title: row.get(4)?,
            prompt_prefix: row.get(5)?,
            created_at: row.get(6)?,
            changed_at: row.get(7)?,
            last_ingest: json(row, 8)?,
        })
    }

    /// Writes everything but the generation of an existing row, which only [`next_generation`] moves.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO manifest VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET
            embedder = excluded.embedder, context = excluded.context, evidence = excluded.evidence,
            title = excluded.title, prompt_prefix = excluded.prompt_prefix,
            last_ingest = excluded.last_ingest";
        connection.execute(
            sql,
            params![
                self.generation,
                to_json(&self.embedder)?,
                to_json(&self.context)?,
                to_json(&self.evidence)?,
                self.title,
                self.prompt_prefix,
                self.created_at,
                self.changed_at,
                to_json(&self.last_ingest)?,
            ],
        )?;
        Ok(())
    }
}

/// Starts a new generation inside the caller's transaction.
pub(super) fn next_generation(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("UPDATE manifest SET generation = generation + 1, changed_at = ?1 RETURNING generation")?
        .query_row([now()], |row| row.get(0))
}

/// Reads a JSON column; a column that does not parse is a fault of the content.
pub(super) fn json<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|source| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(source))
    })
}

pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|source| rusqlite::Error::ToSqlConversionFailure(Box::new(source)))
}

/// The time as it is stored.
pub(super) fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
