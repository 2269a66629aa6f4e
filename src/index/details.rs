//! Details of a domain, and its settable properties, without an embedder.
//!
//! Takes the folder of a domain, gives its contents, sizes and health.
//! Not here: checking every evidence (`check`).

use std::fs;
use std::path::Path;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::checksums::Others;
use super::dense::{self, Dense};
use super::domain::{DomainDb, FILE};
use super::error::domain_name;
use super::files::{Root, member_path};
use super::handle::check_embedder;
use super::lexical::{self, Lexical};
use super::manifest::{LastIngest, Manifest, json};
use super::path_text::text_path;
use super::progress::Skipped;
use super::stored::KindCounts;
use ragonite_base::{CancelToken, DocumentId};
use ragonite_document::evidence::ContextParts;
use ragonite_inference::EncoderIdentity;

/// The details of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomainDetails {
    /// Name.
    pub name: String,
    /// Display name; empty for none.
    pub title: String,
    /// Prompt prefix; empty for the default.
    pub prompt_prefix: String,
    /// Number of documents.
    pub documents: usize,
    /// Evidences by kind.
    pub evidences: KindCounts,
    /// Creation time, RFC 3339.
    pub created_at: String,
    /// Time of the last change of documents, RFC 3339.
    pub changed_at: String,
    /// The last completed ingest.
    pub last_ingest: Option<LastIngest>,
    /// Files and folders that were ingested.
    pub roots: Vec<Root>,
    /// The embedder of the vectors.
    pub embedder: EncoderIdentity,
    /// Context parts that are embedded and indexed.
    pub context: ContextParts,
    /// Splitting settings, as JSON.
    pub evidence_settings: serde_json::Value,
    /// Sizes on disk.
    pub bytes: Sizes,
    /// State of the derived indexes.
    pub health: Health,
    /// Files and members that could not be read.
    pub skipped: Vec<Skipped>,
    /// The documents, ordered by source.
    pub contents: Vec<DocumentEntry>,
}

/// Sizes on disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// `domain.db`.
    pub database: u64,
    /// The dense index.
    pub dense: u64,
    /// The lexical index.
    pub lexical: u64,
}

/// States of the derived indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The dense index.
    pub dense: IndexState,
    /// The lexical index.
    pub lexical: IndexState,
}

/// The state of a derived index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// In sync with the database.
    InStep,
    /// Of an earlier generation; the next command that opens the domain syncs it.
    Behind,
    /// Missing or damaged; the next command that opens the domain rebuilds it.
    Unusable,
}

impl IndexState {
    fn of(generation: Option<i64>, wanted: i64) -> Self {
        match generation {
            Some(generation) if generation == wanted => Self::InStep,
            Some(_) => Self::Behind,
            None => Self::Unusable,
        }
    }
}

/// A document of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentEntry {
    /// Its id.
    pub document: DocumentId,
    /// Its title.
    pub title: String,
    /// Path of its file, with the member inside an archive.
    pub source: std::path::PathBuf,
    /// Its URL, if any.
    pub url: Option<String>,
    /// Its date, as the source writes it.
    pub date: Option<String>,
    /// Its wiki space or similar container.
    pub space: Option<String>,
    /// Titles of the pages above it, outermost first.
    pub ancestors: Vec<String>,
    /// Its evidences by kind.
    pub evidences: KindCounts,
}

/// The details of the domain in `folder`.
///
/// # Errors
/// [`IndexError::NotFound`], or if the database cannot be read.
pub fn show_domain(folder: &Path) -> Result<DomainDetails, IndexError> {
    let db = DomainDb::open(folder)?;
    let _snapshot = db.snapshot()?;
    let manifest = db.manifest()?;
    let (documents, evidences) = db.counts()?;
    let Manifest { generation, embedder, context, evidence, title, prompt_prefix, created_at, changed_at, last_ingest } =
        manifest;
    let never = CancelToken::never();
    let dense = Dense::open(folder, &embedder, &never)?.map(|dense| dense.generation);
    let lexical = Lexical::load(folder, Others::Allowed, &never)?.map(|lexical| lexical.generation);
    Ok(DomainDetails {
        name: domain_name(folder),
        title,
        prompt_prefix,
        documents,
        evidences,
        created_at,
        changed_at,
        last_ingest,
        roots: db.roots()?,
        embedder,
        context,
        evidence_settings: evidence,
        bytes: sizes(folder),
        health: Health { dense: IndexState::of(dense, generation), lexical: IndexState::of(lexical, generation) },
        skipped: db.unread()?,
        contents: db.contents()?,
    })
}

/// The embedder of the vectors of the domain in `folder`.
///
/// # Errors
/// As [`show_domain`].
pub fn embedder_of(folder: &Path) -> Result<EncoderIdentity, IndexError> {
    Ok(DomainDb::open(folder)?.manifest()?.embedder)
}

/// Checks that the vectors of the domain in `folder` are of the embedder `model` with this fingerprint.
///
/// # Errors
/// As [`show_domain`]; [`IndexError::EmbedderMismatch`].
pub fn check_embedder_of(folder: &Path, model: &str, fingerprint: &str) -> Result<(), IndexError> {
    let manifest = DomainDb::open(folder)?.manifest()?;
    // Equal fingerprints have equal dimensions.
    let (model, fingerprint) = (model.to_owned(), fingerprint.to_owned());
    let embedder = EncoderIdentity { model, fingerprint, ..manifest.embedder.clone() };
    check_embedder(&domain_name(folder), &manifest, &embedder)
}

/// A change of a domain's properties; `None` keeps a property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainChange {
    /// Display name.
    pub title: Option<String>,
    /// Prompt prefix.
    pub prompt_prefix: Option<String>,
}

/// Applies the change. Works while another process ingests.
///
/// # Errors
/// [`IndexError::NotFound`], or if the database cannot be written.
pub fn set_domain(folder: &Path, change: &DomainChange) -> Result<(), IndexError> {
    let mut db = DomainDb::open(folder)?;
    db.write("writing the manifest", |transaction| {
        let sql = "UPDATE manifest SET title = coalesce(?1, title), prompt_prefix = coalesce(?2, prompt_prefix)";
        transaction.execute(sql, params![change.title, change.prompt_prefix]).map(|_| ())
    })
}

fn sizes(folder: &Path) -> Sizes {
    let size = |path: &Path| fs::metadata(path).map_or(0, |there| there.len());
    let words = fs::read_dir(folder.join(lexical::FOLDER)).into_iter().flatten().flatten();
    Sizes {
        database: size(&folder.join(FILE)) + size(&folder.join(format!("{FILE}-wal"))),
        dense: size(&folder.join(dense::FILE)),
        lexical: words.map(|entry| size(&entry.path())).sum(),
    }
}

impl DomainDb {
    fn unread(&self) -> Result<Vec<Skipped>, IndexError> {
        let read = || {
            let sql = "SELECT f.path, u.member, u.reason FROM unread u JOIN files f ON f.id = u.file
                ORDER BY f.path, u.member";
            let mut query = self.connection.prepare_cached(sql)?;
            let skipped = query.query_map([], |row| {
                let [path, member]: [String; 2] = [row.get(0)?, row.get(1)?];
                Ok(Skipped { path: member_path(&text_path(&path), &member), reason: row.get(2)? })
            })?;
            skipped.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("reading the files"))
    }

    fn contents(&self) -> Result<Vec<DocumentEntry>, IndexError> {
        let read = || {
            let sql = "SELECT d.id, d.title, f.path, d.member, d.url, d.date, d.space, d.ancestors,
                    (SELECT count(*) FROM evidences WHERE document = d.id AND kind = 'passage'),
                    (SELECT count(*) FROM evidences WHERE document = d.id AND kind = 'list'),
                    (SELECT count(*) FROM evidences WHERE document = d.id AND kind = 'table'),
                    (SELECT count(*) FROM evidences WHERE document = d.id AND kind = 'row')
                FROM documents d JOIN files f ON f.id = d.file ORDER BY f.path, d.member";
            let mut query = self.connection.prepare_cached(sql)?;
            query.query_map([], entry)?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("reading the documents"))
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<DocumentEntry> {
    let [path, member]: [String; 2] = [row.get(2)?, row.get(3)?];
    Ok(DocumentEntry {
        document: DocumentId(row.get(0)?),
        title: row.get(1)?,
        source: member_path(&text_path(&path), &member),
        url: row.get(4)?,
        date: row.get(5)?,
        space: row.get(6)?,
        ancestors: json(row, 7)?,
        evidences: KindCounts { passage: row.get(8)?, list: row.get(9)?, table: row.get(10)?, row: row.get(11)? },
    })
}
