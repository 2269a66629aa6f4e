//! The manifest of a domain: how it was made, and its title and prompt prefix.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use ragonite_document::evidence::ContextParts;
use ragonite_inference::EncoderIdentity;

/// The only row of the table `manifest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Grows with every commit; derived indexes carry the one they were built from.
    pub generation: i64,
    /// The embedder of the vectors.
    pub embedder: EncoderIdentity,
    /// Context parts that were embedded and indexed.
    pub context: ContextParts,
    /// Splitting settings of the last ingest, as JSON.
    pub evidence: serde_json::Value,
    /// Display name; empty for none.
    pub title: String,
    /// Prompt prefix; empty for the default.
    pub prompt_prefix: String,
    /// Creation time, RFC 3339.
    pub created_at: String,
    /// Time of the last change of documents, RFC 3339.
    pub changed_at: String,
    /// The last completed ingest.
    pub last_ingest: Option<LastIngest>,
}

/// A completed ingest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastIngest {
    /// End time, RFC 3339.
    pub at: String,
    /// New documents.
    pub added: usize,
    /// Changed documents.
    pub updated: usize,
    /// Documents of renamed files.
    pub renamed: usize,
    /// Removed documents.
    pub removed: usize,
    /// Unchanged documents.
    pub unchanged: usize,
    /// Files and members that could not be read.
    pub skipped: usize,
}

/// Properties of a new domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewDomain {
    /// Display name.
    pub title: String,
    /// Prompt prefix.
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

    /// Writes everything except the generation of an existing row, which only [`next_generation`] changes.
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

/// Reads a JSON column; a parse error counts as damaged content.
pub(super) fn json<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|source| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(source))
    })
}

pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|source| rusqlite::Error::ToSqlConversionFailure(Box::new(source)))
}

/// The current time, RFC 3339.
pub(super) fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
