//! Files and folders into the domain.
//!
//! Takes paths as the user typed them, gives `ingest` one file after the other.
//! Invariant: at most one file is in memory at a time here.

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

/// How evidence is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexSettings {
    /// Context parts that are embedded and indexed with the content.
    pub context: ContextParts,
}

/// What to ingest and how.
#[derive(Debug, Clone, Copy)]
pub struct IngestRequest<'a> {
    /// Files and folders; none means those of earlier ingests.
    pub paths: &'a [PathBuf],
    /// How documents are split.
    pub evidence: &'a EvidenceSettings,
    /// How evidence is stored.
    pub index: &'a IndexSettings,
    /// What is done about documents whose whole folder seems to be gone.
    pub missing: Missing,
}

impl Index {
    /// Brings the domain in step with the paths: adds documents, updates those that changed, follows renamed files, and
    /// takes out documents whose files are surely gone.
    ///
    /// # Errors
    /// [`IndexError::Canceled`]; [`IndexError::Busy`] while another process writes; when a path does not exist and
    /// never did; when the embedder or the disk fails. What was committed before stays.
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
        let survey = scan(&self.db, paths, request.missing)?;
        self.db.remember_roots(&survey.roots)?;
        let total = survey.files.len();
        let mut incoming = survey.files.into_iter().map(|path| from_file(path, cancel));
        let documents = Documents {
            incoming: &mut incoming,
            total,
            context: request.index.context,
            evidence: serde_json::to_value(request.evidence).unwrap_or_default(),
            split: &|document: &Document| split_for(embedder, document, request.evidence, cancel),
            absent: survey.absent,
            skipped: survey.skipped,
        };
        let mut report = self.ingest_locked(documents, embedder, cancel, on_progress)?;
        for mut kept in survey.kept {
            // Some of its files may have come in under another path.
            kept.documents = self.db.documents_under(&kept.path)?;
            if kept.documents > 0 {
                report.kept.push(kept);
            } else if kept.reason == KeptReason::Missing {
                self.db.forget_root(&kept.path)?;
            }
        }
        for root in &survey.forgotten {
            self.db.forget_root(root)?;
        }
        Ok(report)
    }
}

/// Splits a document by the embedder's tokens.
///
/// # Errors
/// When its tokenizer fails or cannot be loaded, or with [`InferenceError::Canceled`].
pub fn split_for(
    embedder: &dyn Embed,
    document: &Document,
    settings: &EvidenceSettings,
    cancel: &CancelToken,
) -> Result<Split, InferenceError> {
    let failed = OnceCell::new();
    let count = |text: &str| {
        // After a failure any number will do: the result is thrown away.
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
