//! `domain.db`: documents, evidences, tables and vectors, written one document at a time.
//!
//! Invariants: a document is replaced in one transaction, with its evidences, tables and vectors; an evidence whose
//! text did not change keeps its id; every evidence has exactly one vector.
//! Not here: the tables themselves (`schema`), the derived indexes (`dense`, `lexical`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use super::error::store_error;
use super::ingest::{ContentHash, NewDocument};
use super::manifest::{Manifest, NewDomain, json, next_generation, to_json};
use super::stored::{KindCounts, StoredEvidence, Summary, kind_of};
use super::{IndexError, schema};
use crate::base::{DocumentId, EvidenceId};
use crate::evidence::{Context, ContextParts, Evidence, TableGrid};
use crate::inference::{Embedding, EncoderIdentity};

/// File name of the database in the folder of a domain.
pub(super) const FILE: &str = "domain.db";

const EVIDENCE_COLUMNS: &str = "e.id, e.document, e.kind, e.content, e.title, e.heading_path, e.before, e.after, \
     e.table_number, e.row_number, e.location, d.title, coalesce(d.url, d.path)";

/// What was embedded for an evidence: equal hashes have equal vectors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TextHash(String);

impl TextHash {
    /// Hashes the chosen parts apart from each other, because the embedding may shorten one and keep another.
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

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// How a stored document was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentState {
    pub(super) content_hash: ContentHash,
    pub(super) made_with: String,
}

/// A document with all that is stored for it.
pub(super) struct Replacement<'a> {
    pub(super) document: &'a NewDocument,
    /// Fingerprint of the settings it was split with.
    pub(super) made_with: &'a str,
    /// One hash per evidence, in order.
    pub(super) hashes: &'a [TextHash],
    /// A vector for each of the hashes.
    pub(super) vectors: &'a HashMap<TextHash, Embedding>,
}

/// Whether a replaced document was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Added,
    Updated,
}

/// The open database.
#[derive(Debug)]
pub(super) struct DomainDb {
    connection: Connection,
    path: PathBuf,
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
            return Err(IndexError::NotFound { path: folder.to_path_buf() });
        }
        let connection = schema::open(&path)?;
        Ok(Self { connection, path })
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        let path = self.path.clone();
        move |source| store_error(doing, &path, source)
    }

    /// Reads something that no other function here does.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        read(&self.connection).map_err(self.failed(doing))
    }

    /// A view of the database that later commits of other processes do not change, for as long as it lives.
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

    pub(super) fn document_state(&self, source: &str) -> Result<Option<DocumentState>, IndexError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT content_hash, made_with FROM documents WHERE source = ?1")?
                .query_row([source], |row| {
                    Ok(DocumentState { content_hash: ContentHash(row.get(0)?), made_with: row.get(1)? })
                })
                .optional()
        };
        read().map_err(self.failed("looking up a document"))
    }

    pub(super) fn vector_of_text(&self, hash: &TextHash) -> Result<Option<Embedding>, IndexError> {
        let read = || {
            let sql = "SELECT v.vector FROM evidences e JOIN vectors v ON v.evidence = e.id WHERE e.text_hash = ?1";
            self.connection.prepare_cached(sql)?.query_row([&hash.0], |row| embedding(row, 0)).optional()
        };
        read().map_err(self.failed("looking up a vector"))
    }

    /// Puts a document in place of what was stored for its source, or stores nothing.
    pub(super) fn replace(&mut self, new: &Replacement<'_>) -> Result<Stored, IndexError> {
        let failed = self.failed("storing a document");
        let mut run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let stored = replace_within(&transaction, new)?;
            transaction.commit()?;
            Ok(stored)
        };
        run().map_err(failed)
    }

    pub(super) fn evidence(&self, id: EvidenceId) -> Result<Option<StoredEvidence>, IndexError> {
        let read = || {
            let sql = format!(
                "SELECT {EVIDENCE_COLUMNS} FROM evidences e JOIN documents d ON d.id = e.document WHERE e.id = ?1"
            );
            self.connection.prepare_cached(&sql)?.query_row([id.0], stored_evidence).optional()
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
            embedder: manifest.embedder,
            prompt_prefix: manifest.prompt_prefix,
        })
    }

    /// Documents, and evidences by kind.
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

    /// How many evidences there are, and how many of them came after `generation`.
    pub(super) fn evidence_counts(&self, generation: i64) -> Result<(usize, usize), IndexError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE generation > ?1) FROM evidences";
        self.connection
            .query_row(sql, [generation], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(self.failed("counting"))
    }

    /// Gives the vectors of all evidences that came after `generation`, by id.
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

    /// Gives all evidences that came after `generation`, by id.
    pub(super) fn evidences_since(
        &self,
        generation: i64,
        take: &mut dyn FnMut(StoredEvidence) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let failed = self.failed("reading the evidences");
        let sql = format!(
            "SELECT {EVIDENCE_COLUMNS} FROM evidences e JOIN documents d ON d.id = e.document
             WHERE e.generation > ?1 ORDER BY e.id"
        );
        let mut query = self.connection.prepare_cached(&sql).map_err(&failed)?;
        let mut rows = query.query([generation]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            take(stored_evidence(row).map_err(&failed)?)?;
        }
        Ok(())
    }

    /// The evidences that went away after `generation`.
    pub(super) fn removed_since(&self, generation: i64) -> Result<Vec<EvidenceId>, IndexError> {
        let read = || {
            let sql = "SELECT evidence FROM removed_evidences WHERE generation > ?1 ORDER BY evidence";
            let mut query = self.connection.prepare_cached(sql)?;
            query.query_map([generation], |row| row.get(0).map(EvidenceId))?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("reading what was removed"))
    }

    /// Puts a new vector in place of every one, with the embedder that made them, or changes nothing.
    pub(super) fn replace_vectors(
        &mut self,
        embedder: &EncoderIdentity,
        vectors: &[(EvidenceId, Embedding)],
    ) -> Result<(), IndexError> {
        let failed = self.failed("storing the new vectors");
        let mut manifest = self.manifest()?;
        manifest.embedder = embedder.clone();
        let mut run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM vectors", [])?;
            let mut insert = transaction.prepare("INSERT INTO vectors VALUES (?1, ?2)")?;
            for (id, vector) in vectors {
                insert.execute(params![id.0, blob(vector)])?;
            }
            drop(insert);
            manifest.write(&transaction)?;
            next_generation(&transaction)?;
            transaction.commit()
        };
        run().map_err(failed)
    }

    /// Lets the database grow by no more than `pages`, which is a full disk to SQLite.
    #[cfg(test)]
    pub(super) fn limit_growth(&self, pages: i64) -> rusqlite::Result<()> {
        let used: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        self.connection.query_row(&format!("PRAGMA max_page_count = {}", used + pages), [], |_| Ok(()))
    }

    /// Runs SQLite's own check of the file.
    pub(super) fn verify(&self) -> Result<(), IndexError> {
        let found: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(self.failed("checking"))?;
        if found == "ok" {
            return Ok(());
        }
        Err(IndexError::Damaged { path: self.path.clone(), source: found.into() })
    }
}

fn replace_within(transaction: &Connection, new: &Replacement<'_>) -> rusqlite::Result<Stored> {
    let generation = next_generation(transaction)?;
    let (document, stored) = write_document(transaction, new)?;
    let mut old = old_evidences(transaction, document)?;
    for (ordinal, (evidence, hash)) in new.document.split.evidences.iter().zip(new.hashes).enumerate() {
        let kept = old.get_mut(&hash.0).and_then(Vec::pop);
        let place = Place { document, ordinal, generation };
        let id = write_evidence(transaction, kept, evidence, hash, &place)?;
        if kept.is_none()
            && let Some(vector) = new.vectors.get(hash)
        {
            transaction.prepare_cached("INSERT INTO vectors VALUES (?1, ?2)")?.execute(params![id, blob(vector)])?;
        }
    }
    for id in old.into_values().flatten() {
        transaction
            .prepare_cached("INSERT INTO removed_evidences VALUES (?1, ?2)")?
            .execute(params![id, generation])?;
        transaction.prepare_cached("DELETE FROM evidences WHERE id = ?1")?.execute([id])?;
    }
    transaction.prepare_cached("DELETE FROM tables WHERE document = ?1")?.execute([document])?;
    for table in &new.document.split.tables {
        transaction.prepare_cached("INSERT INTO tables VALUES (?1, ?2, ?3)")?.execute(params![
            document,
            table.number,
            to_json(table)?
        ])?;
    }
    Ok(stored)
}

fn write_document(transaction: &Connection, new: &Replacement<'_>) -> rusqlite::Result<(i64, Stored)> {
    let document = new.document;
    let known: Option<i64> = transaction
        .prepare_cached("SELECT id FROM documents WHERE source = ?1")?
        .query_row([&document.source], |row| row.get(0))
        .optional()?;
    let sql = "INSERT INTO documents (source, path, content_hash, made_with, title, url, date, space)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (source) DO UPDATE SET path = excluded.path, content_hash = excluded.content_hash,
            made_with = excluded.made_with, title = excluded.title, url = excluded.url, date = excluded.date,
            space = excluded.space
        RETURNING id";
    let id = transaction.prepare_cached(sql)?.query_row(
        params![
            document.source,
            document.path,
            document.content_hash.0,
            new.made_with,
            document.title,
            document.url,
            document.date,
            document.space,
        ],
        |row| row.get(0),
    )?;
    Ok((id, if known.is_some() { Stored::Updated } else { Stored::Added }))
}

/// The ids of a document's evidences by text; of equal texts the first is taken first.
fn old_evidences(transaction: &Connection, document: i64) -> rusqlite::Result<HashMap<String, Vec<i64>>> {
    let mut old: HashMap<String, Vec<i64>> = HashMap::new();
    let sql = "SELECT text_hash, id FROM evidences WHERE document = ?1 ORDER BY ordinal DESC";
    let mut query = transaction.prepare_cached(sql)?;
    let mut rows = query.query([document])?;
    while let Some(row) = rows.next()? {
        old.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(old)
}

/// Where an evidence is written.
struct Place {
    document: i64,
    ordinal: usize,
    generation: i64,
}

fn write_evidence(
    transaction: &Connection,
    kept: Option<i64>,
    evidence: &Evidence,
    hash: &TextHash,
    place: &Place,
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO evidences (id, document, ordinal, kind, content, title, heading_path, before, after,
            table_number, row_number, location, text_hash, generation)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        ON CONFLICT (id) DO UPDATE SET ordinal = excluded.ordinal, kind = excluded.kind, content = excluded.content,
            title = excluded.title, heading_path = excluded.heading_path, before = excluded.before,
            after = excluded.after, table_number = excluded.table_number, row_number = excluded.row_number,
            location = excluded.location
        RETURNING id";
    transaction.prepare_cached(sql)?.query_row(
        params![
            kept,
            place.document,
            place.ordinal,
            evidence.kind.as_str(),
            evidence.content,
            evidence.context.title,
            to_json(&evidence.context.heading_path)?,
            evidence.context.before,
            evidence.context.after,
            evidence.table,
            evidence.row,
            evidence.location,
            hash.0,
            place.generation,
        ],
        |row| row.get(0),
    )
}

fn stored_evidence(row: &Row<'_>) -> rusqlite::Result<StoredEvidence> {
    Ok(StoredEvidence {
        id: EvidenceId(row.get(0)?),
        document: DocumentId(row.get(1)?),
        title: row.get(11)?,
        url: row.get(12)?,
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
            links: Vec::new(),
        },
    })
}

fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<crate::evidence::Kind> {
    let word: String = row.get(column)?;
    kind_of(&word).ok_or_else(|| {
        let source = format!("`{word}` is no kind of evidence").into();
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, source)
    })
}

/// A vector as little-endian floats.
fn blob(vector: &Embedding) -> Vec<u8> {
    vector.values().iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn embedding(row: &Row<'_>, column: usize) -> rusqlite::Result<Embedding> {
    let bytes = row.get_ref(column)?.as_blob()?;
    let (floats, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let source = "a vector has a broken length".into();
        return Err(rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Blob, source));
    }
    Ok(Embedding::normalized(floats.iter().map(|float| f32::from_le_bytes(*float)).collect()))
}
