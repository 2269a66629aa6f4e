//! The domain of a benchmark: its documents, ingested with the settings under test.
//!
//! Takes documents and settings, gives the up-to-date domain.
//! Invariants: the folder name is a fingerprint of evidences, context and embedder, so a program that splits
//! differently makes another domain and one that splits the same resumes the existing one. Stopping loses at most the
//! current documents.
//! Not here: the domains of the user (`index`).

use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::EvalError;
use ragonite_base::CancelToken;
use ragonite_document::evidence::{ContextParts, EvidenceSettings};
use ragonite_index::{
    Index, IndexError, IndexSettings, IngestProgress, IngestReport, IngestRequest, Missing, NewDomain, split_for,
};
use ragonite_inference::Embed;

/// Digits of the fingerprint in a folder's name.
const NAME_DIGITS: usize = 12;

/// How the domain of a benchmark is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation<'a> {
    /// Name of the benchmark, for people.
    pub name: &'a str,
    /// Files and folders.
    pub documents: &'a Path,
    /// Splitting of documents.
    pub evidence: &'a EvidenceSettings,
    /// Context parts that are embedded and indexed.
    pub context: ContextParts,
}

/// Progress of making the domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preparing {
    /// Reading documents to compute the fingerprint.
    Looking {
        /// Documents so far.
        done: usize,
        /// Number of documents.
        total: usize,
    },
    /// Ingesting.
    Ingesting(IngestProgress),
}

/// Callback for progress.
pub type OnPreparing<'a> = dyn FnMut(Preparing) + 'a;

impl Preparation<'_> {
    /// Name of the folder for the domain. Reads and splits every document.
    ///
    /// # Errors
    /// When the documents cannot be found, or with [`EvalError::Canceled`] between two of them.
    pub fn folder_name(
        &self,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnPreparing<'_>,
    ) -> Result<String, EvalError> {
        let found = ragonite_document::discover(&[self.documents.to_owned()]).map_err(EvalError::Documents)?;
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        let total = found.documents.len();
        for (done, path) in found.documents.into_iter().enumerate() {
            cancel.check()?;
            on_progress(Preparing::Looking { done, total });
            add(&path.canonicalize().unwrap_or(path.clone()).to_string_lossy());
            let mut failed = None;
            let read = ragonite_document::read(&path, cancel, &mut |member| {
                if let Ok(document) = member.content {
                    match split_for(embedder, &document, self.evidence, cancel) {
                        Ok(split) => add(&format!("{:?} {:?} {split:?}", document.title, document.url)),
                        Err(error) => {
                            failed = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                }
                ControlFlow::Continue(())
            });
            if let Some(error) = failed {
                return Err(EvalError::from(IndexError::from(error)));
            }
            cancel.check()?;
            // Unreadable documents are reported when they are ingested.
            add(&read.err().map(|error| error.to_string()).unwrap_or_default());
        }
        add(&serde_json::to_string(self.evidence).unwrap_or_default());
        add(&self.context.to_string());
        add(&embedder.identity().fingerprint);
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name: String = self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Ok(format!("{name}-{}", &digits[..NAME_DIGITS]))
    }
}

/// Opens the domain in its folder under `benchmarks`, creating it if missing, and syncs it with the documents.
///
/// # Errors
/// When the documents cannot be found or the domain cannot be written; [`EvalError::Canceled`] between two documents,
/// and the next call resumes.
pub fn prepare(
    benchmarks: &Path,
    preparation: &Preparation<'_>,
    embedder: &dyn Embed,
    cancel: &CancelToken,
    on_progress: &mut OnPreparing<'_>,
) -> Result<(Index, IngestReport), EvalError> {
    let folder = benchmarks.join(preparation.folder_name(embedder, cancel, on_progress)?);
    let on_progress = &mut |progress| on_progress(Preparing::Ingesting(progress));
    let domain = NewDomain { title: preparation.name.to_owned(), prompt_prefix: String::new() };
    let mut index = Index::open_or_create(&folder, domain, embedder.identity(), cancel, on_progress)?;
    let request = IngestRequest {
        paths: &[preparation.documents.to_owned()],
        evidence: preparation.evidence,
        index: &IndexSettings { context: preparation.context },
        missing: Missing::Keep,
    };
    let report = index.ingest(&request, embedder, cancel, on_progress)?;
    Ok((index, report))
}
