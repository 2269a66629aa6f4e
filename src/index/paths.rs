//! Ingest of files and folders.
//!
//! Takes paths as the user typed them, gives `ingest` one file after the other.
//! Invariant: this module holds at most one file in memory.

use std::cell::OnceCell;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::checksums::hash_file;
use super::ingest::{ContentHash, Documents, Incoming};
use super::progress::{IngestReport, KeptReason, OnProgress};
use super::scan::{Missing, scan};
use super::{Index, IndexError};
use ragonite_base::CancelToken;
use ragonite_document::evidence::{self, ContextParts, EvidenceSettings, Split};
use ragonite_document::{self, Document};
use ragonite_inference::{Embed, InferenceError};

/// Index settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexSettings {
    /// Context parts that are embedded and indexed with the content.
    pub context: ContextParts,
}

/// An ingest request.
#[derive(Debug, Clone, Copy)]
pub struct IngestRequest<'a> {
    /// Files and folders; empty for those of earlier ingests.
    pub paths: &'a [PathBuf],
    /// Splitting settings.
    pub evidence: &'a EvidenceSettings,
    /// Index settings.
    pub index: &'a IndexSettings,
    /// Treatment of documents whose whole folder is missing.
    pub missing: Missing,
}

impl Index {
    /// Syncs the domain with the paths: adds and updates documents, follows renamed files, and removes documents of
    /// deleted files.
    ///
    /// # Errors
    /// [`IndexError::Canceled`]; [`IndexError::Busy`] while another process writes; if a path does not exist and never
    /// did; if the embedder or the disk fails. Committed documents stay.
    pub fn ingest(
        &mut self,
        request: &IngestRequest<'_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let _lock = self.lock()?;
        self.check_embedder(embedder.identity())?;
        let earlier: Vec<PathBuf> = self.db.roots()?.into_iter().map(|root| root.path).collect();
        let paths = if request.paths.is_empty() { &earlier } else { request.paths };
        if paths.is_empty() {
            return Err(IndexError::NoRoots { domain: self.name().to_owned() });
        }
        let scanned = scan(&self.db, paths, request.missing)?;
        self.db.remember_roots(&scanned.roots)?;
        let total = scanned.files.len();
        let mut incoming = scanned.files.into_iter().map(|path| from_file(path, cancel));
        let documents = Documents {
            incoming: &mut incoming,
            total,
            context: request.index.context,
            evidence: serde_json::to_value(request.evidence).unwrap_or_default(),
            split: &|document: &Document| split_for(embedder, document, request.evidence, cancel),
            absent: scanned.absent,
            skipped: scanned.skipped,
        };
        let mut report = self.ingest_locked(documents, embedder, cancel, on_progress)?;
        for mut kept in scanned.kept {
            // Some of its files may have been renamed.
            kept.documents = self.db.documents_under(&kept.path)?;
            if kept.documents > 0 {
                report.kept.push(kept);
            } else if kept.reason == KeptReason::Missing {
                self.db.forget_root(&kept.path)?;
            }
        }
        for root in &scanned.forgotten {
            self.db.forget_root(root)?;
        }
        Ok(report)
    }
}

/// Splits a document with the embedder's token counts.
///
/// # Errors
/// If the tokenizer fails or cannot be loaded, or with [`InferenceError::Canceled`].
pub fn split_for(
    embedder: &dyn Embed,
    document: &Document,
    settings: &EvidenceSettings,
    cancel: &CancelToken,
) -> Result<Split, InferenceError> {
    let failed = OnceCell::new();
    let count = |text: &str| {
        // After a failure the result is discarded, so any number will do.
        let count = if failed.get().is_none() { embedder.count_tokens(text) } else { Ok(1) };
        count.unwrap_or_else(|error| {
            let _ = failed.set(error);
            1
        })
    };
    let split = evidence::split(document, settings, &count, cancel);
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(split?),
    }
}

fn from_file(path: PathBuf, cancel: &CancelToken) -> Incoming<'_> {
    let (hashed, file) = (path.clone(), path.clone());
    Incoming {
        path,
        hash: Box::new(move || hash_file(&hashed, cancel).map(ContentHash).map_err(|error| error.to_string())),
        read: Box::new(move |visit| ragonite_document::read(&file, cancel, visit)),
    }
}
