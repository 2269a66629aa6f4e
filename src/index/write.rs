//! Writing `domain.db`: one document at a time.
//!
//! Takes split documents, staged vectors and files.
//! Invariants: a document is replaced in one transaction, with its evidences, tables and vectors; an evidence with
//! unchanged text keeps its id; every evidence has exactly one vector; removals are listed for the derived indexes; a
//! file counts as read only after all its documents are stored.
//! Not here: reading (`domain`).

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::IndexError;
use super::domain::{DomainDb, TextHash, blob};
use super::ingest::{ContentHash, NewDocument};
use super::manifest::{next_generation, to_json};
use ragonite_base::CancelToken;
use ragonite_document::evidence::{ContextParts, Evidence};
use ragonite_inference::Embedding;

/// A document to store.
pub(super) struct Replacement<'a> {
    pub(super) document: &'a NewDocument,
    /// The embedded context parts.
    pub(super) context: ContextParts,
    /// One hash per evidence, in order. Each has a vector, staged or of a stored evidence.
    pub(super) hashes: &'a [TextHash],
}

/// Whether a stored document was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Added,
    Updated,
}

/// A file whose documents are all stored.
#[derive(Debug)]
pub(super) struct FinishedFile {
    pub(super) path: String,
    pub(super) content_hash: ContentHash,
    pub(super) made_with: String,
    /// Unreadable members and reasons; an empty member is the file itself.
    pub(super) unread: Vec<(String, String)>,
    /// All its members; none if it was not read to its end, so that no member counts as gone.
    pub(super) members: Option<HashSet<String>>,
}

impl DomainDb {
    /// Runs `work` in one transaction.
    pub(super) fn write<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        let failed = self.failed(doing);
        let run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        run().map_err(failed)
    }

    /// Replaces the stored document of the same source, or changes nothing on failure or cancellation.
    pub(super) fn replace(&mut self, new: &Replacement<'_>, cancel: &CancelToken) -> Result<Stored, IndexError> {
        let stored = self.write("storing a document", |transaction| replace_within(transaction, new, cancel));
        if stored.is_err() {
            cancel.check()?;
        }
        stored
    }

    /// Records that a file was read, and removes documents it no longer holds. Gives their number.
    pub(super) fn finish_file(&mut self, file: &FinishedFile) -> Result<usize, IndexError> {
        self.write("storing a file", |transaction| {
            let sql = "INSERT INTO files (path, content_hash, made_with) VALUES (?1, ?2, ?3)
                ON CONFLICT (path) DO UPDATE SET content_hash = excluded.content_hash, made_with = excluded.made_with
                RETURNING id";
            let id: i64 = transaction
                .prepare_cached(sql)?
                .query_row(params![file.path, file.content_hash.0, file.made_with], |row| row.get(0))?;
            transaction.prepare_cached("DELETE FROM unread WHERE file = ?1")?.execute([id])?;
            for (member, reason) in &file.unread {
                let sql = "INSERT OR REPLACE INTO unread VALUES (?1, ?2, ?3)";
                transaction.prepare_cached(sql)?.execute(params![id, member, reason])?;
            }
            let Some(members) = &file.members else { return Ok(0) };
            let documents: Vec<(i64, String)> = transaction
                .prepare_cached("SELECT id, member FROM documents WHERE file = ?1")?
                .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let gone: Vec<i64> =
                documents.into_iter().filter(|(_, member)| !members.contains(member)).map(|(id, _)| id).collect();
            for document in &gone {
                keep_vectors(transaction, "e.document", *document)?;
            }
            remove_documents(transaction, &gone)?;
            Ok(gone.len())
        })
    }

    /// Removes a file with its documents; gives their number.
    pub(super) fn remove_file(&mut self, path: &str) -> Result<usize, IndexError> {
        self.write("removing a file", |transaction| {
            let documents: Vec<i64> = transaction
                .prepare_cached("SELECT d.id FROM documents d JOIN files f ON f.id = d.file WHERE f.path = ?1")?
                .query_map([path], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            remove_documents(transaction, &documents)?;
            transaction.prepare_cached("DELETE FROM files WHERE path = ?1")?.execute([path])?;
            transaction.prepare_cached("DELETE FROM roots WHERE path = ?1")?.execute([path])?;
            Ok(documents.len())
        })
    }

    /// Renames a file. It counts as not read, because a title may come from its name.
    pub(super) fn rename_file(&mut self, from: &str, to: &str) -> Result<usize, IndexError> {
        self.write("renaming a file", |transaction| {
            let id: i64 = transaction
                .prepare_cached("UPDATE files SET path = ?2, content_hash = '' WHERE path = ?1 RETURNING id")?
                .query_row([from, to], |row| row.get(0))?;
            next_generation(transaction)?;
            transaction
                .prepare_cached("SELECT count(*) FROM documents WHERE file = ?1")?
                .query_row([id], |row| row.get(0))
        })
    }

    /// Stages vectors of documents that are not stored yet.
    pub(super) fn stage_vectors(&mut self, vectors: &[(TextHash, Embedding)]) -> Result<(), IndexError> {
        self.write("storing vectors", |transaction| {
            let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO ready_vectors VALUES (?1, ?2)")?;
            for (hash, vector) in vectors {
                insert.execute(params![hash.0, blob(vector)])?;
            }
            Ok(())
        })
    }

    /// Deletes staged vectors; all documents are stored.
    pub(super) fn clear_staged(&mut self) -> Result<(), IndexError> {
        self.write("storing vectors", |transaction| transaction.execute("DELETE FROM ready_vectors", []).map(|_| ()))
    }
}

fn remove_documents(transaction: &Connection, documents: &[i64]) -> rusqlite::Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    let generation = next_generation(transaction)?;
    for document in documents {
        let sql = "INSERT INTO removed_evidences SELECT id, ?2 FROM evidences WHERE document = ?1";
        transaction.prepare_cached(sql)?.execute([*document, generation])?;
        transaction.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([document])?;
    }
    Ok(())
}

fn replace_within(transaction: &Connection, new: &Replacement<'_>, cancel: &CancelToken) -> rusqlite::Result<Stored> {
    // An error rolls the transaction back.
    let going_on = || cancel.check().map_err(|canceled| rusqlite::Error::ToSqlConversionFailure(Box::new(canceled)));
    let generation = next_generation(transaction)?;
    let (document, stored) = write_document(transaction, new)?;
    let mut old = old_evidences(transaction, document)?;
    for (ordinal, (evidence, hash)) in new.document.split.evidences.iter().zip(new.hashes).enumerate() {
        going_on()?;
        let kept = old.get_mut(&hash.0).and_then(Vec::pop);
        let place = Place { document, ordinal, generation };
        let id = write_evidence(transaction, kept, evidence, hash, &place)?;
        if kept.is_none() {
            give_vector(transaction, id, hash)?;
        }
    }
    for id in old.into_values().flatten() {
        going_on()?;
        keep_vectors(transaction, "e.id", id)?;
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

/// Stores the vector of an evidence's text.
fn give_vector(transaction: &Connection, evidence: i64, hash: &TextHash) -> rusqlite::Result<()> {
    let sql = "INSERT INTO vectors SELECT ?1, vector FROM (
        SELECT vector FROM ready_vectors WHERE text_hash = ?2
        UNION ALL SELECT v.vector FROM evidences e JOIN vectors v ON v.evidence = e.id WHERE e.text_hash = ?2 LIMIT 1)";
    match transaction.prepare_cached(sql)?.execute(params![evidence, hash.0])? {
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        _ => Ok(()),
    }
}

/// Stages the vectors of evidences that are about to be removed: a waiting document may have their text. `column`
/// selects the evidences.
fn keep_vectors(transaction: &Connection, column: &'static str, value: i64) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT OR IGNORE INTO ready_vectors
            SELECT e.text_hash, v.vector FROM evidences e JOIN vectors v ON v.evidence = e.id WHERE {column} = ?1"
    );
    transaction.prepare_cached(&sql)?.execute([value]).map(|_| ())
}

fn write_document(transaction: &Connection, new: &Replacement<'_>) -> rusqlite::Result<(i64, Stored)> {
    let document = new.document;
    // The file counts as not read until `finish_file`.
    let sql = "INSERT INTO files (path, content_hash, made_with) VALUES (?1, '', '')
        ON CONFLICT (path) DO UPDATE SET content_hash = '' RETURNING id";
    let file: i64 = transaction.prepare_cached(sql)?.query_row([&document.path], |row| row.get(0))?;
    let known: Option<i64> = transaction
        .prepare_cached("SELECT id FROM documents WHERE file = ?1 AND member = ?2")?
        .query_row(params![file, document.member], |row| row.get(0))
        .optional()?;
    let sql = "INSERT INTO documents (file, member, content_hash, title, url, date, space, ancestors, context)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (file, member) DO UPDATE SET content_hash = excluded.content_hash, title = excluded.title,
            url = excluded.url, date = excluded.date, space = excluded.space, ancestors = excluded.ancestors,
            context = excluded.context
        RETURNING id";
    let id = transaction.prepare_cached(sql)?.query_row(
        params![
            file,
            document.member,
            document.content_hash.0,
            document.title,
            document.url,
            document.date,
            document.space,
            to_json(&document.ancestors)?,
            new.context.to_string(),
        ],
        |row| row.get(0),
    )?;
    Ok((id, if known.is_some() { Stored::Updated } else { Stored::Added }))
}

/// The ids of a document's evidences by text hash; the first of equal texts is popped first.
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

/// The place of an evidence.
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
            table_number, row_number, location, links, text_hash, generation)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
        ON CONFLICT (id) DO UPDATE SET ordinal = excluded.ordinal, kind = excluded.kind, content = excluded.content,
            title = excluded.title, heading_path = excluded.heading_path, before = excluded.before,
            after = excluded.after, table_number = excluded.table_number, row_number = excluded.row_number,
            location = excluded.location, links = excluded.links
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
            to_json(&evidence.links)?,
            hash.0,
            place.generation,
        ],
        |row| row.get(0),
    )
}
