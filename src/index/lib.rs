//! The domain on disk: `domain.db` is the only truth, the dense and lexical indexes are derived from it.
//!
//! Takes documents and an embedder; gives evidences by embedding and by words, and their stored data.
//! Invariants: a document is visible whole or not at all; a derived index carries the generation it was built from and
//! is rebuilt if it differs; an index of another embedder is refused; an evidence id stands for the same text forever,
//! so a derived index with the same ids is in sync.
//! Not here: making evidence (`evidence`), fusing rankings (`retrieval`).

mod ad_hoc_vectors;
mod batch;
mod check;
mod checksums;
mod dense;
mod details;
mod documents;
mod domain;
mod domain_ingest;
mod error;
mod files;
mod filter;
mod handle;
mod ingest;
mod language;
mod lexical;
mod list;
mod manifest;
mod path_text;
mod paths;
mod progress;
mod queue;
mod reader;
mod rebuild;
mod remove;
mod repair;
mod scan;
mod schema;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod test_kit;
#[cfg(test)]
mod tests;
mod tokenizer;
mod transfer;
mod windows;
mod write;

pub use check::{CheckReport, Fault, Finding, Remedy, check_domain};
pub use details::{
    DocumentEntry, DomainChange, DomainDetails, Health, IndexState, Sizes, check_embedder_of, embedder_of, set_domain,
    show_domain,
};
pub use documents::StoredDocument;
pub use domain_ingest::{DomainIngest, NoSource};
pub use error::IndexError;
pub use files::{Root, RootKind};
pub use filter::{Filter, LeftOut, Within};
pub use handle::Index;
pub use lexical::{ContentWord, IdentifierMatches, MatchKind, MatchedTerm, QuestionTerms, TextField};
pub use list::{ListedDomain, list_domains};
pub use manifest::{LastIngest, Manifest, NewDomain};
pub use paths::{IndexSettings, IngestRequest, split_for};
pub use progress::{IngestProgress, IngestReport, IngestStage, Kept, KeptReason, NothingRead, OnProgress, Skipped};
pub use reader::READER_THREAD;
pub use remove::{SETTINGS_FILE, SETTINGS_TEMPORARY, find_domain, remove_domain};
pub use scan::Missing;
pub use stored::{KindCounts, Scored, StoredEvidence, Summary};
pub use tokenizer::{WordPosition, word_positions};
pub use transfer::{TRANSFERRED_FILES, check_transferred, copy_domain, import_domain, replace_domain};
