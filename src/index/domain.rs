//! Reading `domain.db`: the manifest, evidences, tables and vectors.
//!
//! Takes ids and generations, gives stored values.
//! Invariant: reads during a write see whole documents, because a document is stored in one transaction.
//! Not here: writing documents (`write`), their files (`files`), the table definitions (`schema`), the derived indexes
//! (`dense`, `lexical`).

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use super::error::store_error;
use super::files::MEMBER_PATH;
use super::manifest::{Manifest, NewDomain, json};
use super::stored::{KindCounts, StoredEvidence, Summary, kind_of};
use super::{IndexError, list, schema};
pub(super) use ragonite_base::hex;
use ragonite_base::{CancelToken, DocumentId, EvidenceId};
use ragonite_document::evidence::{Context, ContextParts, Evidence, TableGrid, UnknownPart};
use ragonite_inference::{Embedding, EncoderIdentity};

/// File name of the database in a domain's folder.
pub(super) const FILE: &str = "domain.db";

/// A row of `removed_evidences` with this id holds the generation up to which removals are no longer listed. Evidence
/// ids begin with 1.
const HORIZON: EvidenceId = EvidenceId(0);

/// The columns for [`stored_evidence`], [`EVIDENCE_COLUMNS`] of them.
pub(super) fn evidence_columns() -> String {
    format!(
        "e.id, e.document, e.kind, e.content, e.title, e.heading_path, e.before, e.after, e.table_number, \
         e.row_number, e.location, e.links, d.title, coalesce(d.url, {MEMBER_PATH}), d.ancestors, d.context, d.date, \
         d.space"
    )
}

/// Number of columns of [`evidence_columns`].
pub(super) const EVIDENCE_COLUMNS: usize = 18;

/// The tables of [`evidence_columns`].
pub(super) const EVIDENCE_TABLES: &str =
    "evidences e JOIN documents d ON d.id = e.document JOIN files f ON f.id = d.file";

/// The query for whole evidences that meet `condition`.
pub(super) fn evidence_query(condition: &str) -> String {
    format!("SELECT {} FROM {EVIDENCE_TABLES} WHERE {condition}", evidence_columns())
}

/// Hash of the embedded text: equal hashes have equal vectors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TextHash(pub(super) String);

impl TextHash {
    /// Hashes the chosen parts separately, because the embedding may shorten one and keep another.
    pub(super) fn of(evidence: &Evidence, parts: ContextParts) -> Self {
        let context = &evidence.context;
        let chosen = [
            (ContextParts::TITLE, context.title.as_str()),
            (ContextParts::HEADING, context.heading()),
            (ContextParts::BEFORE, context.before.as_str()),
            (ContextParts::AFTER, context.after.as_str()),
        ];
        let mut hash = Sha256::new();
        for (part, text) in chosen {
            let text = if parts.contains(part) { text } else { "" };
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        hash.update(&evidence.content);
        Self(hex(&hash.finalize()))
    }
}

/// Numbers of evidences.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvidenceCounts {
    pub(super) total: usize,
    /// Newer than the given generation.
    pub(super) newer: usize,
}

/// The open database.
#[derive(Debug)]
pub(super) struct DomainDb {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl DomainDb {
    pub(super) fn create(folder: &Path, domain: NewDomain, embedder: &EncoderIdentity) -> Result<Self, IndexError> {
        schema::make_private_folder(folder)?;
        let path = folder.join(FILE);
        let manifest = Manifest::new(domain, embedder);
        let connection = schema::create(&path, |connection| manifest.write(connection))?;
        Ok(Self { connection, path })
    }

    pub(super) fn open(folder: &Path) -> Result<Self, IndexError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(IndexError::NotFound { path: folder.to_path_buf(), like: list::name_like(folder) });
        }
        let connection = schema::open(&path)?;
        Ok(Self { connection, path })
    }

    /// A second connection, for another thread.
    pub(super) fn reopen(&self) -> Result<Self, IndexError> {
        Ok(Self { connection: schema::open(&self.path)?, path: self.path.clone() })
    }

    pub(super) fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        let path = self.path.clone();
        move |source| store_error(doing, &path, source)
    }

    /// Runs `read`; errors name `doing`.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        read(&self.connection).map_err(self.failed(doing))
    }

    /// A read transaction: later commits of other processes stay invisible while it lives.
    pub(super) fn snapshot(&self) -> Result<Transaction<'_>, IndexError> {
        self.connection.unchecked_transaction().map_err(self.failed("reading"))
    }

    pub(super) fn manifest(&self) -> Result<Manifest, IndexError> {
        let manifest = Manifest::read(&self.connection).map_err(self.failed("reading the manifest"))?;
        manifest.ok_or_else(|| IndexError::Damaged { path: self.path.clone(), source: "it has no manifest".into() })
    }

    pub(super) fn write_manifest(&self, manifest: &Manifest) -> Result<(), IndexError> {
        manifest.write(&self.connection).map_err(self.failed("writing the manifest"))
    }

    pub(super) fn generation(&self) -> Result<i64, IndexError> {
        self.connection
            .prepare_cached("SELECT generation FROM manifest")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(self.failed("reading the manifest"))
    }

    /// Whether a text has a vector, of an evidence or staged for one.
    pub(super) fn holds_text(&self, hash: &TextHash) -> Result<bool, IndexError> {
        let sql = "SELECT 1 FROM evidences e JOIN vectors v ON v.evidence = e.id WHERE e.text_hash = ?1
            UNION ALL SELECT 1 FROM ready_vectors WHERE text_hash = ?1 LIMIT 1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut query| query.exists([&hash.0]))
            .map_err(self.failed("looking up a text"))
    }

    /// The evidences of a document in reading order.
    pub(super) fn evidences_of(
        &self,
        document: DocumentId,
        cancel: &CancelToken,
    ) -> Result<Vec<StoredEvidence>, IndexError> {
        let failed = self.failed("reading the evidences");
        let sql = evidence_query("e.document = ?1 ORDER BY e.ordinal");
        let mut query = self.connection.prepare_cached(&sql).map_err(&failed)?;
        let rows = query.query_map([document.0], stored_evidence).map_err(&failed)?;
        let mut evidences = Vec::new();
        for row in rows {
            cancel.check()?;
            evidences.push(row.map_err(&failed)?);
        }
        Ok(evidences)
    }

    pub(super) fn evidence(&self, id: EvidenceId) -> Result<Option<StoredEvidence>, IndexError> {
        let read = || {
            self.connection.prepare_cached(&evidence_query("e.id = ?1"))?.query_row([id.0], stored_evidence).optional()
        };
        read().map_err(self.failed("reading an evidence"))
    }

    pub(super) fn holds(&self, id: EvidenceId) -> Result<bool, IndexError> {
        self.connection
            .prepare_cached("SELECT 1 FROM evidences WHERE id = ?1")
            .and_then(|mut query| query.exists([id.0]))
            .map_err(self.failed("looking up an evidence"))
    }

    pub(super) fn vector(&self, id: EvidenceId) -> Result<Option<Embedding>, IndexError> {
        let read = || {
            let mut query = self.connection.prepare_cached("SELECT vector FROM vectors WHERE evidence = ?1")?;
            query.query_row([id.0], |row| embedding(row, 0)).optional()
        };
        read().map_err(self.failed("reading a vector"))
    }

    pub(super) fn table_of(&self, id: EvidenceId) -> Result<Option<TableGrid>, IndexError> {
        let read = || {
            let sql = "SELECT t.grid FROM evidences e
                JOIN tables t ON t.document = e.document AND t.number = e.table_number WHERE e.id = ?1";
            self.connection.prepare_cached(sql)?.query_row([id.0], |row| json(row, 0)).optional()
        };
        read().map_err(self.failed("reading a table"))
    }

    pub(super) fn summary(&self) -> Result<Summary, IndexError> {
        let manifest = self.manifest()?;
        let (documents, evidences) = self.counts()?;
        Ok(Summary {
            title: manifest.title,
            documents,
            evidences,
            changed_at: manifest.changed_at,
            ingested_at: manifest.last_ingest.map(|last| last.at),
            embedder: manifest.embedder,
            prompt_prefix: manifest.prompt_prefix,
        })
    }

    /// Number of documents, and evidences by kind.
    pub(super) fn counts(&self) -> Result<(usize, KindCounts), IndexError> {
        let read = || {
            let documents = self.connection.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))?;
            let mut counts = KindCounts::default();
            let mut query = self.connection.prepare_cached("SELECT kind, count(*) FROM evidences GROUP BY kind")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                counts.set(kind(row, 0)?, row.get(1)?);
            }
            Ok((documents, counts))
        };
        read().map_err(self.failed("counting"))
    }

    /// Numbers of evidences.
    pub(super) fn evidence_counts(&self, generation: i64) -> Result<EvidenceCounts, IndexError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE generation > ?1) FROM evidences";
        self.connection
            .query_row(sql, [generation], |row| Ok(EvidenceCounts { total: row.get(0)?, newer: row.get(1)? }))
            .map_err(self.failed("counting"))
    }

    /// Passes the vectors of all evidences newer than `generation` to `take`, by id.
    pub(super) fn vectors_since(
        &self,
        generation: i64,
        take: &mut dyn FnMut(EvidenceId, Embedding) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let failed = self.failed("reading the vectors");
        let sql = "SELECT e.id, v.vector FROM evidences e JOIN vectors v ON v.evidence = e.id
            WHERE e.generation > ?1 ORDER BY e.id";
        let mut query = self.connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = query.query([generation]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            take(EvidenceId(row.get(0).map_err(&failed)?), embedding(row, 1).map_err(&failed)?)?;
        }
        Ok(())
    }

    /// Passes all evidences newer than `generation` to `take`, by id.
    pub(super) fn evidences_since(
        &self,
        generation: i64,
        take: &mut dyn FnMut(StoredEvidence) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let failed = self.failed("reading the evidences");
        let mut query =
            self.connection.prepare_cached(&evidence_query("e.generation > ?1 ORDER BY e.id")).map_err(&failed)?;
        let mut rows = query.query([generation]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            take(stored_evidence(row).map_err(&failed)?)?;
        }
        Ok(())
    }

    /// The evidences removed after `generation`; none if the list is no longer complete.
    pub(super) fn removed_since(&self, generation: i64) -> Result<Option<Vec<EvidenceId>>, IndexError> {
        let read = || {
            let sql = "SELECT evidence FROM removed_evidences WHERE generation > ?1 ORDER BY evidence";
            let mut query = self.connection.prepare_cached(sql)?;
            let removed = query.query_map([generation], |row| row.get(0).map(EvidenceId))?;
            removed.collect::<rusqlite::Result<Vec<_>>>()
        };
        // The horizon row, if newer than `generation`, comes first.
        let removed = read().map_err(self.failed("reading what was removed"))?;
        Ok(Some(removed).filter(|removed| removed.first() != Some(&HORIZON)))
    }

    /// Deletes the list of removals up to `generation`, which both derived indexes have processed.
    pub(super) fn forget_removed(&self, generation: i64) -> Result<(), IndexError> {
        let run = || {
            let sql = "SELECT 1 FROM removed_evidences WHERE evidence <> ?1 AND generation <= ?2 LIMIT 1";
            if !self.connection.prepare_cached(sql)?.exists(params![HORIZON.0, generation])? {
                return Ok(());
            }
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM removed_evidences WHERE generation <= ?1", [generation])?;
            let sql = "INSERT OR REPLACE INTO removed_evidences VALUES (?1, ?2)";
            transaction.execute(sql, params![HORIZON.0, generation])?;
            transaction.commit()
        };
        run().map_err(self.failed("forgetting what was removed"))
    }

    /// Limits the growth of the database to `pages`, to simulate a full disk.
    #[cfg(test)]
    pub(super) fn limit_growth(&self, pages: i64) -> rusqlite::Result<()> {
        let used: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        self.connection.query_row(&format!("PRAGMA max_page_count = {}", used + pages), [], |_| Ok(()))
    }
}

pub(super) fn stored_evidence(row: &Row<'_>) -> rusqlite::Result<StoredEvidence> {
    Ok(StoredEvidence {
        id: EvidenceId(row.get(0)?),
        document: DocumentId(row.get(1)?),
        title: row.get(12)?,
        url: row.get(13)?,
        ancestors: json(row, 14)?,
        indexed: context_parts(row, 15)?,
        date: row.get(16)?,
        space: row.get(17)?,
        evidence: Evidence {
            kind: kind(row, 2)?,
            content: row.get(3)?,
            context: Context {
                title: row.get(4)?,
                heading_path: json(row, 5)?,
                before: row.get(6)?,
                after: row.get(7)?,
            },
            table: row.get(8)?,
            row: row.get(9)?,
            location: row.get(10)?,
            links: json(row, 11)?,
        },
    })
}

/// The context parts that a document was indexed with.
fn context_parts(row: &Row<'_>, column: usize) -> rusqlite::Result<ContextParts> {
    row.get::<_, String>(column)?.parse().map_err(|source: UnknownPart| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(source))
    })
}

pub(super) fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<ragonite_document::evidence::Kind> {
    let word: String = row.get(column)?;
    kind_of(&word).ok_or_else(|| {
        let source = format!("`{word}` is no kind of evidence").into();
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, source)
    })
}

/// A vector as little-endian floats.
pub(super) fn blob(vector: &Embedding) -> Vec<u8> {
    vector.values().iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(super) fn embedding(row: &Row<'_>, column: usize) -> rusqlite::Result<Embedding> {
    let bytes = row.get_ref(column)?.as_blob()?;
    let (floats, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let source = "a vector has a broken length".into();
        return Err(rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Blob, source));
    }
    Ok(Embedding::stored(floats.iter().map(|float| f32::from_le_bytes(*float)).collect()))
}
