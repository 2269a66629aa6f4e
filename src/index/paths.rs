//! Files and folders into the domain.
//!
//! Takes paths as the user typed them, gives `ingest` one document after the other.
//! Invariant: at most one document is in memory at a time here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::chain;
use super::ingest::{ContentHash, Documents, Incoming, IngestReport, OnProgress, Skipped};
use super::seal::hash_file;
use super::{Index, IndexError};
use crate::base::CancelToken;
use crate::document;
use crate::evidence::{self, ContextParts, EvidenceSettings};
use crate::inference::Embed;

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
    /// Files and folders.
    pub paths: &'a [PathBuf],
    /// How documents are split.
    pub evidence: &'a EvidenceSettings,
    /// How evidence is stored.
    pub index: &'a IndexSettings,
}

impl Index {
    /// Adds the documents at the paths, and updates those that changed.
    ///
    /// # Errors
    /// As [`Index::ingest_documents`]; also when a path does not exist.
    pub fn ingest(
        &mut self,
        request: &IngestRequest<'_>,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let found = document::discover(request.paths).map_err(IndexError::Documents)?;
        let total = found.documents.len();
        let mut incoming = found.documents.into_iter().map(|path| from_file(&path, request.evidence, embedder));
        let documents = Documents {
            incoming: &mut incoming,
            total,
            context: request.index.context,
            evidence: serde_json::to_value(request.evidence).unwrap_or_default(),
        };
        let mut report = self.ingest_documents(documents, embedder, cancel, on_progress)?;
        let unread = found.skipped.into_iter().map(|skipped| Skipped { path: skipped.path, reason: skipped.reason });
        report.skipped.extend(unread);
        Ok(report)
    }
}

fn from_file<'a>(path: &Path, settings: &'a EvidenceSettings, embedder: &'a dyn Embed) -> Incoming<'a> {
    // The same file is the same document, from whichever folder and through whichever link it was named.
    let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf());
    let content_hash = hash_file(&path).map(ContentHash).map_err(|error| error.to_string());
    let file = path.clone();
    let parse = move || {
        let document = document::load(&file).map_err(|error| chain(&error))?;
        let split = evidence::split(&document, settings, &|text| embedder.count_tokens(text).unwrap_or(text.len()));
        Ok((document, split))
    };
    Incoming { path, content_hash, parse: Box::new(parse) }
}
