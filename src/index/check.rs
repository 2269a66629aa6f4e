//! A domain looked at from end to end: `domain.db` against itself, and both derived indexes against it.
//!
//! Takes the folder of a domain, says what was wrong and what was done about it. Needs no embedder.
//! Invariants: what is derived is made again; what only the source file or the embedder can give back is left as it is
//! and named with what gives it back; a domain that is whole is not changed.

use std::path::Path;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::checksums::Others;
use super::dense::Dense;
use super::domain::{DomainDb, EVIDENCE_COLUMNS, EVIDENCE_TABLES, TextHash, evidence_columns, stored_evidence};
use super::lexical::Lexical;
use super::manifest::next_generation;
use super::progress::{IngestProgress, IngestStage, OnProgress};
use super::repair::{BuildSource, Derived, WriteLock};
use super::stored::KindCounts;
use ragonite_base::{CancelToken, EvidenceId, clean_line};

/// Evidences between two messages of progress.
const PROGRESS_STEP: usize = 500;

/// How far a component of a vector in the index may be from that in the database.
const TOLERANCE: f32 = 1e-6;

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Rows of the database belong to nothing.
    LooseRows,
    /// Evidences have no vector, or one of another size.
    NoVector,
    /// The text of evidences is not the one that was embedded.
    OtherText,
    /// The index by embedding is missing or damaged.
    DenseUnusable,
    /// The index by embedding was made from an earlier state: something was stopped in between.
    DenseBehind,
    /// The index by embedding has other vectors than the database.
    DenseDiffers,
    /// The index by words is missing or damaged.
    LexicalUnusable,
    /// The index by words was made from an earlier state: something was stopped in between.
    LexicalBehind,
    /// The index by words has other evidences than the database.
    LexicalDiffers,
}

/// What was done about it, or remains to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// It is repaired.
    Repaired,
    /// The next ingest reads the documents again.
    NextIngest,
    /// `domain rebuild` embeds what is missing.
    Rebuild,
}

/// Something that was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// Of how many evidences or rows; 0 for an index as a whole.
    pub count: usize,
    /// What about it.
    pub remedy: Remedy,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Name of the domain.
    pub domain: String,
    /// Documents in it.
    pub documents: usize,
    /// Evidences in it.
    pub evidences: KindCounts,
    /// Whether nothing was wrong.
    pub clean: bool,
    /// What was wrong.
    pub findings: Vec<Finding>,
}

/// Checks the domain in `folder` and repairs it.
///
/// # Errors
/// [`IndexError::Damaged`] where the database itself cannot be trusted; [`IndexError::Busy`] while another process
/// writes; [`IndexError::Canceled`]; when the folder cannot be written.
pub fn check_domain(
    folder: &Path,
    cancel: &CancelToken,
    on_progress: &mut OnProgress<'_>,
) -> Result<CheckReport, IndexError> {
    let mut db = DomainDb::open(folder)?;
    let _lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
    db.verify()?;
    let mut findings = Vec::new();
    let mut note = |fault, count, remedy| {
        if count > 0 {
            findings.push(Finding { fault, count, remedy });
        }
    };
    note(Fault::LooseRows, db.delete_loose_rows()?, Remedy::Repaired);
    let manifest = db.manifest()?;
    note(Fault::NoVector, db.without_vector(manifest.embedder.dimensions)?, Remedy::Rebuild);
    note(Fault::OtherText, db.repair_texts(cancel, on_progress)?, Remedy::NextIngest);
    let origin = BuildSource { db: &db, folder, embedder: &manifest.embedder, cancel };
    check_derived(&origin, &mut findings, on_progress)?;
    let (documents, evidences) = db.counts()?;
    let name = clean_line(&folder.file_name().unwrap_or_default().to_string_lossy());
    Ok(CheckReport { domain: name, documents, evidences, clean: findings.is_empty(), findings })
}

/// Looks at both derived indexes and makes those anew that are not what they should be.
fn check_derived(
    origin: &BuildSource<'_>,
    findings: &mut Vec<Finding>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let before = findings.len();
    let mut note = |fault, count| findings.push(Finding { fault, count, remedy: Remedy::Repaired });
    let generation = origin.db.generation()?;
    match Dense::open(origin.folder, origin.embedder, origin.cancel)? {
        None => note(Fault::DenseUnusable, 0),
        Some(dense) if dense.generation != generation => note(Fault::DenseBehind, 0),
        Some(dense) => match wrong_vectors(&dense, origin)? {
            0 => {}
            count => {
                note(Fault::DenseDiffers, count);
                Dense::delete(origin.folder)?;
            }
        },
    }
    match Lexical::load(origin.folder, Others::Refused, origin.cancel)? {
        None => note(Fault::LexicalUnusable, 0),
        Some(lexical) if lexical.generation != generation => note(Fault::LexicalBehind, 0),
        Some(lexical) => match wrong_entries(&lexical, origin)? {
            0 => {}
            count => {
                note(Fault::LexicalDiffers, count);
                Lexical::create(origin.folder)?;
            }
        },
    }
    if findings.len() > before {
        Derived::open(origin, on_progress)?;
    }
    Ok(())
}

/// How many vectors of the index are not those of the database.
fn wrong_vectors(dense: &Dense, origin: &BuildSource<'_>) -> Result<usize, IndexError> {
    let (mut seen, mut wrong) = (0, 0);
    origin.db.vectors_since(-1, &mut |id, vector| {
        origin.cancel.check()?;
        seen += 1;
        let near = |found: Vec<f32>| found.iter().zip(vector.values()).all(|(a, b)| (a - b).abs() <= TOLERANCE);
        if !dense.vector(id).is_some_and(near) {
            wrong += 1;
        }
        Ok(())
    })?;
    Ok(wrong + dense.len().saturating_sub(seen))
}

/// How many evidences of the index by words are not there once.
fn wrong_entries(lexical: &Lexical, origin: &BuildSource<'_>) -> Result<usize, IndexError> {
    let (mut seen, mut wrong) = (0, 0);
    origin.db.each_evidence_id(&mut |id| {
        origin.cancel.check()?;
        seen += 1;
        if lexical.entries(id)? != 1 {
            wrong += 1;
        }
        Ok(())
    })?;
    Ok(wrong + lexical.len().saturating_sub(seen))
}

impl DomainDb {
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

    /// Deletes rows that belong to nothing, and gives their number.
    fn delete_loose_rows(&mut self) -> Result<usize, IndexError> {
        let loose = [
            ("documents", "file NOT IN (SELECT id FROM files)"),
            ("unread", "file NOT IN (SELECT id FROM files)"),
            ("tables", "document NOT IN (SELECT id FROM documents)"),
            ("evidences", "document NOT IN (SELECT id FROM documents)"),
            ("vectors", "evidence NOT IN (SELECT id FROM evidences)"),
            ("next_vectors", "evidence NOT IN (SELECT id FROM evidences)"),
        ];
        let exists = self
            .connection
            .prepare_cached("PRAGMA foreign_key_check")
            .and_then(|mut query| query.exists([]))
            .map_err(self.failed("checking"))?;
        if !exists {
            return Ok(0);
        }
        self.write("deleting loose rows", |transaction| {
            let generation = next_generation(transaction)?;
            let sql = "INSERT OR IGNORE INTO removed_evidences
                SELECT id, ?1 FROM evidences WHERE document NOT IN (SELECT id FROM documents)";
            transaction.execute(sql, [generation])?;
            let mut deleted = 0;
            for (table, condition) in loose {
                deleted += transaction.execute(&format!("DELETE FROM {table} WHERE {condition}"), [])?;
            }
            Ok(deleted)
        })
    }

    /// How many evidences have no vector of the right size.
    fn without_vector(&self, dimensions: usize) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM evidences e LEFT JOIN vectors v ON v.evidence = e.id
            WHERE v.vector IS NULL OR length(v.vector) <> ?1";
        self.connection
            .query_row(sql, [dimensions * size_of::<f32>()], |row| row.get(0))
            .map_err(self.failed("checking"))
    }

    /// Finds evidences whose text is not the one that was embedded, makes the next ingest read their files again, and
    /// gives their number.
    fn repair_texts(&mut self, cancel: &CancelToken, on_progress: &mut OnProgress<'_>) -> Result<usize, IndexError> {
        let wrong = self.wrong_texts(cancel, on_progress)?;
        if !wrong.is_empty() {
            self.write("noting other texts", |transaction| {
                for (id, hash, file) in &wrong {
                    transaction.execute("UPDATE evidences SET text_hash = ?2 WHERE id = ?1", params![id.0, hash.0])?;
                    transaction.execute("UPDATE files SET content_hash = '' WHERE id = ?1", [file])?;
                    transaction.execute("UPDATE documents SET content_hash = '' WHERE file = ?1", [file])?;
                }
                Ok(())
            })?;
        }
        Ok(wrong.len())
    }

    fn wrong_texts(
        &self,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<(EvidenceId, TextHash, i64)>, IndexError> {
        let failed = self.failed("checking the texts");
        let (total, _) = self.evidence_counts(0)?;
        let sql = format!("SELECT {}, e.text_hash, d.file FROM {EVIDENCE_TABLES}", evidence_columns());
        let mut query = self.connection.prepare_cached(&sql).map_err(&failed)?;
        let mut rows = query.query([]).map_err(&failed)?;
        let (mut done, mut wrong) = (0_usize, Vec::new());
        while let Some(row) = rows.next().map_err(&failed)? {
            cancel.check()?;
            if done.is_multiple_of(PROGRESS_STEP) {
                let stage = IngestStage::Checking;
                on_progress(IngestProgress { stage, done, total, embedded: 0, current: String::new() });
            }
            done += 1;
            let stored = stored_evidence(row).map_err(&failed)?;
            let hash: String = row.get(EVIDENCE_COLUMNS).map_err(&failed)?;
            let made = TextHash::of(&stored.evidence, stored.indexed);
            if made.0 != hash {
                wrong.push((stored.id, made, row.get(EVIDENCE_COLUMNS + 1).map_err(&failed)?));
            }
        }
        Ok(wrong)
    }

    fn each_evidence_id(&self, take: &mut dyn FnMut(EvidenceId) -> Result<(), IndexError>) -> Result<(), IndexError> {
        let failed = self.failed("reading the evidences");
        let mut query = self.connection.prepare_cached("SELECT id FROM evidences ORDER BY id").map_err(&failed)?;
        let mut rows = query.query([]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            take(EvidenceId(row.get(0).map_err(&failed)?))?;
        }
        Ok(())
    }
}
