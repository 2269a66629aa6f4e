//! An open domain, for searching and filling.
//!
//! Takes question vectors or words, gives evidence ids with scores, and the stored data of an id.
//! Invariants: searching only reads, and works while another process ingests; evidences removed since the derived
//! indexes were made are never given.
//! Not here: fusing both searches (`retrieval`).

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::IndexError;
use super::domain::DomainDb;
use super::error::domain_name;
use super::filter::{Filter, Places, Test};
use super::lexical::QuestionTerms;
use super::manifest::{Manifest, NewDomain};
use super::progress::OnProgress;
use super::repair::{BuildSource, Derived, WriteLock};
use super::stored::{Scored, StoredEvidence, Summary};
use ragonite_base::{CancelToken, DocumentId, EvidenceId, Language};
use ragonite_document::evidence::TableGrid;
use ragonite_inference::{Embedding, EncoderIdentity};

/// Number of fingerprint digits in messages.
const SHOWN_DIGITS: usize = 12;

/// An open domain. Owned by one thread.
#[derive(Debug)]
pub struct Index {
    pub(super) db: DomainDb,
    pub(super) derived: Derived,
    folder: PathBuf,
    name: String,
    embedder: EncoderIdentity,
    /// Cached document and kind of the evidences, with their generation.
    places: RefCell<Option<(i64, Arc<Places>)>>,
    /// Cached best cosines of questions that have nothing to do with the domain.
    unrelated: RefCell<Option<UnrelatedCosines>>,
}

/// Best cosines of questions that have nothing to do with the domain, and the generation they are of.
#[derive(Debug, Clone)]
struct UnrelatedCosines {
    generation: i64,
    cosines: Arc<[f64]>,
}

impl Index {
    /// Creates an empty domain in `folder`, which may exist.
    ///
    /// # Errors
    /// [`IndexError::Exists`] if there is a domain; if the folder cannot be written.
    pub fn create(folder: &Path, domain: NewDomain, embedder: &EncoderIdentity) -> Result<Self, IndexError> {
        let db = DomainDb::create(folder, domain, embedder)?;
        // Leftovers of an earlier domain belong to other ids.
        super::dense::Dense::delete(folder)?;
        super::lexical::Lexical::create(folder)?;
        Self::from_db(db, folder, embedder, &CancelToken::never(), &mut |_| {})
    }

    /// Opens the domain in `folder`; syncs its derived indexes, with progress, if needed.
    ///
    /// # Errors
    /// [`IndexError::NotFound`], [`IndexError::EmbedderMismatch`], [`IndexError::NewerFormat`],
    /// [`IndexError::Damaged`] or [`IndexError::Canceled`].
    pub fn open(
        folder: &Path,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        Self::from_db(DomainDb::open(folder)?, folder, embedder, cancel, on_progress)
    }

    /// Opens the domain in `folder`, or creates it.
    ///
    /// # Errors
    /// As [`Index::open`] and [`Index::create`].
    pub fn open_or_create(
        folder: &Path,
        domain: NewDomain,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        match Self::open(folder, embedder, cancel, on_progress) {
            Err(IndexError::NotFound { .. }) => Self::create(folder, domain, embedder),
            opened => opened,
        }
    }

    fn from_db(
        db: DomainDb,
        folder: &Path,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self, IndexError> {
        let name = domain_name(folder);
        let manifest = db.manifest()?;
        check_embedder(&name, &manifest, embedder)?;
        let source = BuildSource { db: &db, folder, embedder: &manifest.embedder, cancel };
        let derived = open_derived(&source, on_progress)?;
        let (places, unrelated) = (RefCell::default(), RefCell::default());
        Ok(Self { db, derived, folder: folder.to_path_buf(), name, embedder: manifest.embedder, places, unrelated })
    }

    /// Name of the domain: its folder's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The manifest.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn manifest(&self) -> Result<Manifest, IndexError> {
        self.db.manifest()
    }

    /// A summary of the domain.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn summary(&self) -> Result<Summary, IndexError> {
        self.db.summary()
    }

    /// Takes in changes of other processes. Cheap without changes; call it before each question.
    ///
    /// # Errors
    /// If the database or a derived index cannot be read.
    pub fn refresh(&mut self, cancel: &CancelToken, on_progress: &mut OnProgress<'_>) -> Result<(), IndexError> {
        let generation = self.db.generation()?;
        if self.derived.dense.generation == generation && self.derived.lexical.generation == generation {
            return Ok(());
        }
        let manifest = self.db.manifest()?;
        check_embedder(&self.name, &manifest, &self.embedder)?;
        let source = BuildSource { db: &self.db, folder: &self.folder, embedder: &manifest.embedder, cancel };
        self.derived = open_derived(&source, on_progress)?;
        Ok(())
    }

    /// The language of most of its running text, English if there is none; detected from a sample in milliseconds.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn language(&self) -> Result<Language, IndexError> {
        super::language::language_of(&self.db)
    }

    /// [`Index::dense_search_among`] without a filter.
    ///
    /// # Errors
    /// As there.
    pub fn dense_search(&self, query: &Embedding, k: usize) -> Result<Vec<Scored>, IndexError> {
        self.dense_search_among(query, k, &Filter::default())
    }

    /// [`Index::lexical_search_among`] without a filter.
    ///
    /// # Errors
    /// As there.
    pub fn lexical_search(&self, question: &str, k: usize) -> Result<Vec<Scored>, IndexError> {
        self.lexical_search_among(question, k, &Filter::default())
    }

    /// The `k` evidences nearest to `query` by cosine that pass `filter`, best first.
    ///
    /// # Errors
    /// [`IndexError::Dimensions`] for a vector of another embedder; if the index fails.
    pub fn dense_search_among(&self, query: &Embedding, k: usize, filter: &Filter) -> Result<Vec<Scored>, IndexError> {
        match self.test(filter)? {
            None => self.present(k, |k| self.derived.dense.search(query, k)),
            Some(test) => self.present(k, |k| self.derived.dense.search_among(query, k, &test)),
        }
    }

    /// The `k` evidences whose words match `question` best (BM25) and that pass `filter`, best first. Any text is a
    /// valid question.
    ///
    /// # Errors
    /// If the index fails.
    pub fn lexical_search_among(&self, question: &str, k: usize, filter: &Filter) -> Result<Vec<Scored>, IndexError> {
        let test = self.test(filter)?;
        self.present(k, |k| self.derived.lexical.search(question, k, test.as_ref()))
    }

    /// The test of a filter; none for an open filter.
    fn test(&self, filter: &Filter) -> Result<Option<Test>, IndexError> {
        if filter.is_open() {
            return Ok(None);
        }
        let generation = self.db.generation()?;
        let known = self.places.borrow().clone().filter(|(as_of, _)| *as_of == generation);
        let places = if let Some((_, places)) = known {
            places
        } else {
            let places = Arc::new(Places::read(&self.db)?);
            self.places.replace(Some((generation, Arc::clone(&places))));
            places
        };
        Test::new(&self.db, places, filter).map(Some)
    }

    /// The best cosine of each of a fixed list of questions that have nothing to do with the domain. `measure` computes
    /// them; its result is kept as long as the domain is open and does not change.
    ///
    /// # Errors
    /// If the database cannot be read, or as `measure`.
    pub fn unrelated_cosines<E: From<IndexError>>(
        &self,
        measure: impl FnOnce() -> Result<Vec<f64>, E>,
    ) -> Result<Arc<[f64]>, E> {
        let generation = self.db.generation()?;
        let known = self.unrelated.borrow().clone().filter(|known| known.generation == generation);
        if let Some(UnrelatedCosines { cosines, .. }) = known {
            return Ok(cosines);
        }
        let cosines: Arc<[f64]> = measure()?.into();
        self.unrelated.replace(Some(UnrelatedCosines { generation, cosines: Arc::clone(&cosines) }));
        Ok(cosines)
    }

    /// The terms searched for `question`; [`QuestionTerms::matched`] tells which of them an evidence has.
    ///
    /// # Errors
    /// If the index fails.
    pub fn question_terms(&self, question: &str) -> Result<QuestionTerms, IndexError> {
        self.derived.lexical.terms(question)
    }

    /// Whether `question` consists of identifiers alone, such as `OXT-1654`; [`QuestionTerms::named`] counts those of
    /// an evidence. Reads nothing.
    #[must_use]
    pub fn is_of_identifiers(question: &str) -> bool {
        super::lexical::is_of_identifiers(question)
    }

    /// Searches until `k` stored evidences are found, or no more are found.
    fn present(
        &self,
        k: usize,
        search: impl Fn(usize) -> Result<Vec<Scored>, IndexError>,
    ) -> Result<Vec<Scored>, IndexError> {
        let mut wanted = k;
        loop {
            let found = search(wanted)?;
            let exhausted = found.len() < wanted;
            let mut present = Vec::with_capacity(found.len());
            for scored in found {
                if self.db.holds(scored.evidence)? {
                    present.push(scored);
                }
            }
            if exhausted || present.len() >= k {
                present.truncate(k);
                return Ok(present);
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// The evidences with these ids, in this order, without those that are gone.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn evidences(&self, ids: &[EvidenceId]) -> Result<Vec<StoredEvidence>, IndexError> {
        ids.iter().filter_map(|id| self.db.evidence(*id).transpose()).collect()
    }

    /// The evidences of a document, in reading order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn evidences_of(&self, document: DocumentId) -> Result<Vec<StoredEvidence>, IndexError> {
        self.evidences_of_unless(document, &CancelToken::never())
    }

    /// As [`Index::evidences_of`], unless cancelled.
    ///
    /// # Errors
    /// If the database cannot be read, or with [`IndexError::Canceled`].
    pub fn evidences_of_unless(
        &self,
        document: DocumentId,
        cancel: &CancelToken,
    ) -> Result<Vec<StoredEvidence>, IndexError> {
        self.db.evidences_of(document, cancel)
    }

    /// The table that an evidence is, or is a row of.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn table_of(&self, id: EvidenceId) -> Result<Option<TableGrid>, IndexError> {
        self.db.table_of(id)
    }

    /// The vectors of these evidences, one per id in this order; a zero vector for an evidence that is gone.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn vectors(&self, ids: &[EvidenceId]) -> Result<Vec<Embedding>, IndexError> {
        let gone = || Embedding::normalized(vec![0.0; self.embedder.dimensions]);
        ids.iter().map(|id| Ok(self.db.vector(*id)?.unwrap_or_else(gone))).collect()
    }

    pub(super) fn lock(&self) -> Result<WriteLock, IndexError> {
        WriteLock::take(&self.folder)?.ok_or_else(|| IndexError::Busy { path: self.folder.clone() })
    }

    pub(super) fn check_embedder(&self, embedder: &EncoderIdentity) -> Result<(), IndexError> {
        check_embedder(&self.name, &self.db.manifest()?, embedder)
    }

    /// Syncs the derived indexes. The caller holds the write lock.
    pub(super) fn sync(&mut self, cancel: &CancelToken, on_progress: &mut OnProgress<'_>) -> Result<(), IndexError> {
        cancel.check()?;
        let source = BuildSource { db: &self.db, folder: &self.folder, embedder: &self.embedder, cancel };
        self.derived.catch_up(&source, on_progress)
    }
}

/// Opens the derived indexes, with the write lock if it is free.
fn open_derived(source: &BuildSource<'_>, on_progress: &mut OnProgress<'_>) -> Result<Derived, IndexError> {
    if let Some(_lock) = WriteLock::take(source.folder)? {
        match Derived::open(source, on_progress) {
            // Searching needs no disk space; the next ingest reports that there is none.
            Err(IndexError::DiskFull { .. } | IndexError::NotWritable { .. } | IndexError::Busy { .. }) => {
                tracing::warn!("the search indexes could not be saved and are kept in memory");
            }
            opened => return opened,
        }
    }
    Derived::open_read_only(source, on_progress)
}

pub(super) fn check_embedder(name: &str, manifest: &Manifest, embedder: &EncoderIdentity) -> Result<(), IndexError> {
    let found = &manifest.embedder;
    if found.fingerprint == embedder.fingerprint && found.dimensions == embedder.dimensions {
        return Ok(());
    }
    let words = |identity: &EncoderIdentity| {
        let digits: String = identity.fingerprint.chars().take(SHOWN_DIGITS).collect();
        ragonite_base::clean_line(&format!("{} ({digits})", identity.model))
    };
    Err(IndexError::EmbedderMismatch { domain: name.to_owned(), found: words(found), expected: words(embedder) })
}
