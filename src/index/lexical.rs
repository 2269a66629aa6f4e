//! The index by words: the folder `lexical/`, derived from `domain.db`.
//!
//! Takes contextualized texts by evidence id, gives the best ones by BM25, to which the words of the title add once
//! more.
//! Invariants: a commit carries the generation it was made from; text of users is never read as a query language, so
//! no question is an error; files that are not what was written are never given to tantivy, which panics on some.
//! Not here: what a word is (`words`), deciding when to rebuild (`repair`).

use std::fs;
use std::path::{Path, PathBuf};

use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term};

use super::IndexError;
use super::error::file_error;
use super::seal::{self, Others};
use super::stored::{Scored, sort_best_first};
use super::words::{analyzer, query_words};
use crate::base::EvidenceId;

/// Folder name in the folder of a domain.
pub(super) const FOLDER: &str = "lexical";

/// Name of the analyser in tantivy; it changes with the words it makes, so that an older index is rebuilt.
const ANALYZER: &str = "ragonite_words_2";

/// What a word in the title adds to the score, beside what it scores as a word of the text. A title says what all of a
/// page is about, and is short, so that a word in it is worth more than one of many in a long evidence.
const TITLE_WEIGHT: f32 = 0.5;

/// Memory of the writer: the least tantivy takes is 15 MB, and small domains need no more than a few times that.
const WRITER_BYTES: usize = 48 << 20;

/// Candidates beyond `k`, so that equal scores at the end of the list are put in order before it is cut.
const SPARE: usize = 10;

/// Words in memory and on disk.
pub(super) struct Lexical {
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
    /// Of `domain.db` when it was brought in step; 0 for an index of nothing.
    pub(super) generation: i64,
    path: PathBuf,
    place: Place,
}

/// Where the index is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Disk,
    Memory,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    evidence: Field,
    text: Field,
    title: Field,
}

impl Lexical {
    /// Opens what is on disk; nothing when there is none or when it is not to be trusted.
    pub(super) fn load(folder: &Path, others: Others) -> Option<Self> {
        let path = folder.join(FOLDER);
        let (schema, fields) = schema();
        let index = tantivy::Index::open_in_dir(&path).ok()?;
        if index.schema() != schema || !seal::fits(&path, others) {
            return None;
        }
        let lexical = Self { place: Place::Disk, ..Self::around(index, fields, path).ok()? };
        Some(lexical)
    }

    /// Makes an empty one on disk, in place of anything that was there.
    pub(super) fn create(folder: &Path) -> Result<Self, IndexError> {
        let path = folder.join(FOLDER);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(|source| file_error("deleting", &path, source))?;
        }
        fs::create_dir_all(&path).map_err(|source| file_error("making", &path, source))?;
        let (schema, fields) = schema();
        let index = tantivy::Index::create_in_dir(&path, schema).map_err(|source| failed("making", &path, source))?;
        Ok(Self { place: Place::Disk, ..Self::around(index, fields, path)? })
    }

    /// Makes an empty one in memory, for a domain whose folder another process is writing to.
    pub(super) fn in_memory(folder: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        Self::around(tantivy::Index::create_in_ram(schema), fields, folder.join(FOLDER))
    }

    fn around(index: tantivy::Index, fields: Fields, path: PathBuf) -> Result<Self, IndexError> {
        index.tokenizers().register(ANALYZER, analyzer());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|source| failed("opening", &path, source))?;
        let mut lexical = Self { index, reader, fields, generation: 0, path, place: Place::Memory };
        lexical.reload()?;
        Ok(lexical)
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.place == Place::Disk
    }

    /// Takes in what was committed last, by whichever process.
    pub(super) fn reload(&mut self) -> Result<(), IndexError> {
        let meta = self.index.load_metas().map_err(|source| failed("opening", &self.path, source))?;
        self.reader.reload().map_err(|source| failed("opening", &self.path, source))?;
        self.generation = meta.payload.and_then(|payload| payload.parse().ok()).unwrap_or(0);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        usize::try_from(self.reader.searcher().num_docs()).unwrap_or(usize::MAX)
    }

    /// How many entries an evidence has; one, where the index is whole.
    pub(super) fn entries(&self, id: EvidenceId) -> Result<usize, IndexError> {
        let term = Term::from_field_i64(self.fields.evidence, id.0);
        let counted = self.reader.searcher().search(&TermQuery::new(term, IndexRecordOption::Basic), &Count);
        counted.map_err(|source| failed("reading", &self.path, source))
    }

    /// Starts a change; nothing of it is visible before [`Change::commit`].
    pub(super) fn change(&mut self) -> Result<Change<'_>, IndexError> {
        let writer = self
            .index
            .writer_with_num_threads(1, WRITER_BYTES)
            .map_err(|source| failed("writing", &self.path, source))?;
        Ok(Change { lexical: self, writer })
    }

    /// The `k` best by BM25, best first.
    pub(super) fn search(&self, question: &str, k: usize) -> Result<Vec<Scored>, IndexError> {
        let words = query_words(question);
        if words.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        let fields = [(self.fields.text, 1.0), (self.fields.title, TITLE_WEIGHT)];
        let clauses = words.iter().flat_map(|word| fields.map(|(field, weight)| (word, field, weight)));
        let clauses = clauses.map(|(word, field, weight)| {
            let term = TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs);
            let query: Box<dyn Query> = Box::new(BoostQuery::new(Box::new(term), weight));
            (Occur::Should, query)
        });
        let mut found = self
            .found(&BooleanQuery::new(clauses.collect()), k.saturating_add(SPARE))
            .map_err(|source| failed("searching", &self.path, source))?;
        sort_best_first(&mut found);
        found.truncate(k);
        Ok(found)
    }

    fn found(&self, query: &BooleanQuery, limit: usize) -> tantivy::Result<Vec<Scored>> {
        let searcher = self.reader.searcher();
        let mut found = Vec::new();
        for (score, address) in searcher.search(query, &TopDocs::with_limit(limit).order_by_score())? {
            let ids = searcher.segment_reader(address.segment_ord).fast_fields().i64("evidence")?;
            if let Some(id) = ids.first(address.doc_id) {
                found.push(Scored { evidence: EvidenceId(id), score: f64::from(score) });
            }
        }
        Ok(found)
    }
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexical").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// A change of the index by words.
pub(super) struct Change<'a> {
    lexical: &'a mut Lexical,
    writer: IndexWriter,
}

impl Change<'_> {
    pub(super) fn clear(&mut self) -> Result<(), IndexError> {
        let cleared = self.writer.delete_all_documents();
        cleared.map(|_| ()).map_err(|source| failed("writing", &self.lexical.path, source))
    }

    pub(super) fn remove(&mut self, id: EvidenceId) {
        self.writer.delete_term(Term::from_field_i64(self.lexical.fields.evidence, id.0));
    }

    /// Adds an evidence; `title` is empty where the title is no part of the indexed context.
    pub(super) fn add(&mut self, id: EvidenceId, text: &str, title: &str) -> Result<(), IndexError> {
        let mut document = TantivyDocument::new();
        document.add_i64(self.lexical.fields.evidence, id.0);
        document.add_text(self.lexical.fields.text, text);
        document.add_text(self.lexical.fields.title, title);
        let added = self.writer.add_document(document);
        added.map(|_| ()).map_err(|source| failed("writing", &self.lexical.path, source))
    }

    /// Leaves the index as it was, without the files of what was added. What cannot be deleted is found at the next
    /// opening, which then builds the index anew.
    pub(super) fn abandon(mut self) {
        if self.writer.rollback().is_ok() {
            let _ = self.writer.garbage_collect_files().wait();
        }
    }

    /// Makes the change visible, as of `generation`.
    pub(super) fn commit(mut self, generation: i64) -> Result<(), IndexError> {
        let path = self.lexical.path.clone();
        let write_failed = |source| failed("writing", &path, source);
        let mut prepared = self.writer.prepare_commit().map_err(write_failed)?;
        prepared.set_payload(&generation.to_string());
        prepared.commit().map_err(write_failed)?;
        self.writer.wait_merging_threads().map_err(write_failed)?;
        if self.lexical.is_on_disk() {
            seal::write(&path).map_err(|source| file_error("writing", &path, source))?;
        }
        self.lexical.reload()
    }
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let evidence = builder.add_i64_field("evidence", INDEXED | FAST);
    let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    let indexed = TextOptions::default().set_indexing_options(indexing);
    let text = builder.add_text_field("text", indexed.clone());
    let title = builder.add_text_field("title", indexed);
    (builder.build(), Fields { evidence, text, title })
}

/// Tells a failure of the file system from one of the index.
fn failed(doing: &'static str, path: &Path, source: TantivyError) -> IndexError {
    use tantivy::directory::error::OpenWriteError;
    match &source {
        TantivyError::IoError(cause)
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: cause, .. }) => {
            let copy = std::io::Error::new(cause.kind(), cause.to_string());
            match file_error(doing, path, copy) {
                IndexError::File { .. } => {}
                known => return known,
            }
        }
        TantivyError::LockFailure(..) => {
            return IndexError::Busy { path: path.parent().unwrap_or(path).to_path_buf() };
        }
        _ => {}
    }
    IndexError::Lexical { doing, path: path.to_path_buf(), source: Box::new(source) }
}
