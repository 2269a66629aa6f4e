//! Checks a domain: `domain.db` against itself, and both derived indexes against it.
//!
//! Takes the folder of a domain, gives the faults and their remedies. Needs no embedder.
//! Invariants: derived data is rebuilt; faults that only the source file or the embedder can repair are reported with
//! their remedy; an intact domain is not changed.
//! Not here: how an index is rebuilt (`repair`).

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

/// Evidences between two progress reports.
const PROGRESS_STEP: usize = 500;

/// Maximum difference of a vector component between index and database.
const TOLERANCE: f32 = 1e-6;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Rows refer to missing rows.
    LooseRows,
    /// Evidences without a vector of the right size.
    NoVector,
    /// Evidences whose text differs from the embedded one.
    OtherText,
    /// The dense index is missing or damaged.
    DenseUnusable,
    /// The dense index is of an earlier generation: a run was interrupted.
    DenseBehind,
    /// The dense index has other vectors than the database.
    DenseDiffers,
    /// The lexical index is missing or damaged.
    LexicalUnusable,
    /// The lexical index is of an earlier generation: a run was interrupted.
    LexicalBehind,
    /// The lexical index has other evidences than the database.
    LexicalDiffers,
}

/// The remedy for a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Already repaired.
    Repaired,
    /// The next ingest reads the documents again.
    NextIngest,
    /// `domain rebuild` embeds what is missing.
    Rebuild,
}

/// A fault that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault.
    pub fault: Fault,
    /// Number of evidences or rows; 0 for an index as a whole.
    pub count: usize,
    /// The remedy.
    pub remedy: Remedy,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Name of the domain.
    pub domain: String,
    /// Number of documents.
    pub documents: usize,
    /// Number of evidences by kind.
    pub evidences: KindCounts,
    /// True without findings.
    pub clean: bool,
    /// The faults.
    pub findings: Vec<Finding>,
}

/// Checks the domain in `folder` and repairs it.
///
/// # Errors
/// [`IndexError::Damaged`] if the database itself is broken; [`IndexError::Busy`] while another process writes;
/// [`IndexError::Canceled`]; if the folder cannot be written.
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
    let source = BuildSource { db: &db, folder, embedder: &manifest.embedder, cancel };
    check_derived(&source, &mut findings, on_progress)?;
    let (documents, evidences) = db.counts()?;
    let name = clean_line(&folder.file_name().unwrap_or_default().to_string_lossy());
    Ok(CheckReport { domain: name, documents, evidences, clean: findings.is_empty(), findings })
}

/// Checks both derived indexes and rebuilds faulty ones.
fn check_derived(
    source: &BuildSource<'_>,
    findings: &mut Vec<Finding>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), IndexError> {
    let before = findings.len();
    let mut note = |fault, count| findings.push(Finding { fault, count, remedy: Remedy::Repaired });
    let generation = source.db.generation()?;
    match Dense::open(source.folder, source.embedder, source.cancel)? {
        None => note(Fault::DenseUnusable, 0),
        Some(dense) if dense.generation != generation => note(Fault::DenseBehind, 0),
        Some(dense) => match wrong_vectors(&dense, source)? {
            0 => {}
            count => {
                note(Fault::DenseDiffers, count);
                Dense::delete(source.folder)?;
            }
        },
    }
    match Lexical::load(source.folder, Others::Refused, source.cancel)? {
        None => note(Fault::LexicalUnusable, 0),
        Some(lexical) if lexical.generation != generation => note(Fault::LexicalBehind, 0),
        Some(lexical) => match wrong_entries(&lexical, source)? {
            0 => {}
            count => {
                note(Fault::LexicalDiffers, count);
                Lexical::create(source.folder)?;
            }
        },
    }
    if findings.len() > before {
        Derived::open(source, on_progress)?;
    }
    Ok(())
}

/// Number of vectors in the dense index that differ from the database.
fn wrong_vectors(dense: &Dense, source: &BuildSource<'_>) -> Result<usize, IndexError> {
    let (mut seen, mut wrong) = (0, 0);
    source.db.vectors_since(-1, &mut |id, vector| {
        source.cancel.check()?;
        seen += 1;
        let near = |found: Vec<f32>| found.iter().zip(vector.values()).all(|(a, b)| (a - b).abs() <= TOLERANCE);
        if !dense.vector(id).is_some_and(near) {
            wrong += 1;
        }
        Ok(())
    })?;
    Ok(wrong + dense.len().saturating_sub(seen))
}

/// Number of evidences with other than one entry in the lexical index.
fn wrong_entries(lexical: &Lexical, source: &BuildSource<'_>) -> Result<usize, IndexError> {
    let (mut seen, mut wrong) = (0, 0);
    source.db.each_evidence_id(&mut |id| {
        source.cancel.check()?;
        seen += 1;
        if lexical.entries(id)? != 1 {
            wrong += 1;
        }
        Ok(())
    })?;
    Ok(wrong + lexical.len().saturating_sub(seen))
}

/// An evidence whose text differs from the embedded one.
struct WrongText {
    evidence: EvidenceId,
    /// Hash of the present text.
    hash: TextHash,
    /// Row id of its file.
    file: i64,
}

impl DomainDb {
    /// Runs SQLite's integrity check.
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

    /// Deletes rows that refer to missing rows; gives their number.
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

    /// Number of evidences without a vector of the right size.
    fn without_vector(&self, dimensions: usize) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM evidences e LEFT JOIN vectors v ON v.evidence = e.id
            WHERE v.vector IS NULL OR length(v.vector) <> ?1";
        self.connection
            .query_row(sql, [dimensions * size_of::<f32>()], |row| row.get(0))
            .map_err(self.failed("checking"))
    }

    /// Finds evidences whose text differs from the embedded one, marks their files for the next ingest, and gives their
    /// number.
    fn repair_texts(&mut self, cancel: &CancelToken, on_progress: &mut OnProgress<'_>) -> Result<usize, IndexError> {
        let wrong = self.wrong_texts(cancel, on_progress)?;
        if !wrong.is_empty() {
            self.write("noting other texts", |transaction| {
                for WrongText { evidence, hash, file } in &wrong {
                    transaction
                        .execute("UPDATE evidences SET text_hash = ?2 WHERE id = ?1", params![evidence.0, hash.0])?;
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
    ) -> Result<Vec<WrongText>, IndexError> {
        let failed = self.failed("checking the texts");
        let total = self.evidence_counts(0)?.total;
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
                let file = row.get(EVIDENCE_COLUMNS + 1).map_err(&failed)?;
                wrong.push(WrongText { evidence: stored.id, hash: made, file });
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
