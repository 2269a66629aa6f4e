//! The lexical index: the folder `lexical/`, derived from `domain.db`.
//!
//! Takes contextualized texts by evidence id; gives the best ones by BM25 over the whole text, with bonuses for title
//! words, for words adjacent as in the question, and for dates in any spelling.
//! Invariants: a commit carries its generation; questions are never parsed as a query language, so no question is an
//! error; files that fail their checksums are never given to tantivy, which panics on some.
//! Not here: words (`tokenizer`), the terms of a question (`query_expansion`, `compound`, `date_terms`), matched words
//! (`matched`), the share of a question that texts have (`content_words`), deciding when to rebuild (`repair`).

mod compound;
mod content_words;
mod date_terms;
mod matched;
mod query_expansion;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

use tantivy::collector::{Count, FilterCollector, TopDocs};
use tantivy::query::{
    BooleanQuery, BoostQuery, DisjunctionMaxQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{
    DocAddress, DocSet as _, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};

pub use content_words::ContentWord;
use date_terms::DateTerm;
use matched::QuestionTerm;
pub use matched::{IdentifierMatches, MatchKind, MatchedTerm, QuestionTerms, TextField};
use query_expansion::IDENTIFIER_WEIGHT;
pub(super) use query_expansion::is_of_identifiers;
use vocabulary::IndexedWords;

use super::IndexError;
use super::checksums::{self, Others};
use super::error::file_error;
use super::filter::Test;
use super::language::text_language;
use super::stored::{Scored, sort_best_first};
use super::tokenizer;
use ragonite_base::{CancelToken, EvidenceId, Language};

/// Folder name in a domain's folder.
pub(super) const FOLDER: &str = "lexical";

/// Name of the analyzer in tantivy; change it with the words it makes, so that older indexes are rebuilt.
const ANALYZER: &str = "ragonite_words_5";

/// Weight of a title match, added to the score of the text match. A title names the topic of a page and is short, so a
/// word in it says more than one in a long evidence.
const TITLE_WEIGHT: f32 = 0.75;

/// Score of two adjacent question words, added to their own scores.
const PAIR_WEIGHT: f32 = 0.15;

/// Score of a whole date, added to the scores of its words: a text with another day of the same month is about
/// something else.
const DATE_WEIGHT: f32 = 1.0;

/// Memory of the writer in bytes: tantivy's minimum is 15 MB, and small domains need only a few times that.
const WRITER_BYTES: usize = 48 << 20;

/// Name of the id field.
const EVIDENCE: &str = "evidence";

/// Candidates beyond `k`, so that ties at the end of the list are ordered before it is cut, and phrase scores can lift
/// later candidates.
const SPARE: usize = 90;

/// The open index.
pub(super) struct Lexical {
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
    /// Generation of `domain.db` at the last sync; 0 for an empty index.
    pub(super) generation: i64,
    path: PathBuf,
    place: Place,
}

/// The storage of the index.
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
    language: Field,
}

impl Lexical {
    /// Opens the index on disk; none if it is missing or fails its checksums.
    pub(super) fn load(folder: &Path, others: Others, cancel: &CancelToken) -> Result<Option<Self>, IndexError> {
        let path = folder.join(FOLDER);
        let (schema, fields) = schema();
        let Ok(index) = tantivy::Index::open_in_dir(&path) else { return Ok(None) };
        if index.schema() != schema || !checksums::matches(&path, others, cancel)? {
            return Ok(None);
        }
        let from_index = Self::from_index(index, fields, path).ok();
        Ok(from_index.map(|lexical| Self { place: Place::Disk, ..lexical }))
    }

    /// Creates an empty index on disk, replacing anything that was there.
    pub(super) fn create(folder: &Path) -> Result<Self, IndexError> {
        let path = folder.join(FOLDER);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(|source| file_error("deleting", &path, source))?;
        }
        fs::create_dir_all(&path).map_err(|source| file_error("making", &path, source))?;
        let (schema, fields) = schema();
        let index = tantivy::Index::create_in_dir(&path, schema).map_err(|source| failed("making", &path, source))?;
        Ok(Self { place: Place::Disk, ..Self::from_index(index, fields, path)? })
    }

    /// Creates an empty index in memory, for a domain that another process is writing to.
    pub(super) fn in_memory(folder: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        Self::from_index(tantivy::Index::create_in_ram(schema), fields, folder.join(FOLDER))
    }

    fn from_index(index: tantivy::Index, fields: Fields, path: PathBuf) -> Result<Self, IndexError> {
        index.tokenizers().register(ANALYZER, tokenizer::analyzer(Language::English));
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

    /// Loads the last commit of any process.
    pub(super) fn reload(&mut self) -> Result<(), IndexError> {
        let meta = self.index.load_metas().map_err(|source| failed("opening", &self.path, source))?;
        self.reader.reload().map_err(|source| failed("opening", &self.path, source))?;
        self.generation = meta.payload.and_then(|payload| payload.parse().ok()).unwrap_or(0);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        usize::try_from(self.reader.searcher().num_docs()).unwrap_or(usize::MAX)
    }

    /// Number of entries of an evidence; one in an intact index.
    pub(super) fn entries(&self, id: EvidenceId) -> Result<usize, IndexError> {
        let term = Term::from_field_i64(self.fields.evidence, id.0);
        let counted = self.reader.searcher().search(&TermQuery::new(term, IndexRecordOption::Basic), &Count);
        counted.map_err(|source| failed("reading", &self.path, source))
    }

    /// Starts a change, invisible before [`Change::commit`].
    pub(super) fn change(&mut self) -> Result<Change<'_>, IndexError> {
        let writer = self
            .index
            .writer_with_num_threads(1, WRITER_BYTES)
            .map_err(|source| failed("writing", &self.path, source))?;
        Ok(Change { lexical: self, writer })
    }

    /// The search terms of a question.
    pub(super) fn terms(&self, question: &str) -> Result<QuestionTerms, IndexError> {
        query_expansion::terms(
            question,
            &IndexedWords { searcher: &self.reader.searcher(), fields: self.fields, path: &self.path },
        )
    }

    /// The `k` best by BM25 that pass `test`, best first.
    pub(super) fn search(&self, question: &str, k: usize, test: Option<&Test>) -> Result<Vec<Scored>, IndexError> {
        if k == 0 {
            return Ok(Vec::new());
        }
        let terms = self.terms(question)?;
        let found = self.found(&terms, k.saturating_add(SPARE), test);
        let mut found = found.map_err(|source| failed("searching", &self.path, source))?;
        sort_best_first(&mut found);
        found.truncate(k);
        Ok(found)
    }

    fn found(&self, terms: &QuestionTerms, limit: usize, test: Option<&Test>) -> tantivy::Result<Vec<Scored>> {
        let dates = terms.dates.iter().flat_map(|date| self.fields.date_clauses(date));
        let clauses: Vec<_> = terms.terms.iter().flat_map(|term| self.fields.clauses(term)).chain(dates).collect();
        if clauses.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let query = BooleanQuery::new(clauses.into_iter().map(|clause| (Occur::Should, clause)).collect());
        let top = TopDocs::with_limit(limit).order_by_score();
        let mut best = match test.cloned() {
            None => searcher.search(&query, &top)?,
            Some(test) => {
                let passes = move |id: i64| test.passes(EvidenceId(id));
                searcher.search(&query, &FilterCollector::new(EVIDENCE.to_owned(), passes, top))?
            }
        };
        let pairs = terms.pairs.iter().map(|(first, second)| (vec![first.as_str(), second.as_str()], PAIR_WEIGHT));
        let dates = terms.dates.iter().flat_map(DateTerm::phrases).map(|phrase| (phrase, DATE_WEIGHT));
        self.add_phrases(&searcher, pairs.chain(dates), &mut best)?;
        let mut found = Vec::with_capacity(best.len());
        for (score, address) in best {
            let ids = searcher.segment_reader(address.segment_ord).fast_fields().i64(EVIDENCE)?;
            if let Some(id) = ids.first(address.doc_id) {
                found.push(Scored { evidence: EvidenceId(id), score: f64::from(score) });
            }
        }
        Ok(found)
    }

    /// Adds phrase scores to the candidates only: searching every phrase in all evidences would cost more than the
    /// search.
    fn add_phrases<'a>(
        &self,
        searcher: &Searcher,
        phrases: impl Iterator<Item = (Vec<&'a str>, f32)>,
        candidates: &mut [(f32, DocAddress)],
    ) -> tantivy::Result<()> {
        candidates.sort_by_key(|(_, address)| *address);
        for (words, worth) in phrases {
            let terms = words.into_iter().map(|word| Term::from_field_text(self.fields.text, word)).collect();
            let weight = PhraseQuery::new(terms).weight(EnableScoring::enabled_from_searcher(searcher))?;
            for of_segment in candidates.chunk_by_mut(|(_, a), (_, b)| a.segment_ord == b.segment_ord) {
                let Some((_, DocAddress { segment_ord, .. })) = of_segment.first() else { continue };
                let mut scorer = weight.scorer(searcher.segment_reader(*segment_ord), worth)?;
                for (score, address) in of_segment {
                    if scorer.doc() < address.doc_id {
                        scorer.seek(address.doc_id);
                    }
                    if scorer.doc() == address.doc_id {
                        *score += scorer.score();
                    }
                }
            }
        }
        Ok(())
    }
}

impl Fields {
    /// The queries for a question word: its best form in the text, and in the title.
    fn clauses(self, term: &QuestionTerm) -> [Box<dyn Query>; 2] {
        self.weighted().map(|(field, weight)| boosted(best_form(field, &term.forms), weight * term.weight))
    }

    /// The queries for a date: the best of its spellings and readings in the text, and in the title.
    fn date_clauses(self, date: &DateTerm) -> [Box<dyn Query>; 2] {
        self.weighted().map(|(field, weight)| {
            let whole = date.whole.iter().map(|run| boosted(of_form(field, run), IDENTIFIER_WEIGHT));
            let reading = |parts: &Vec<Vec<String>>| -> Box<dyn Query> {
                let parts = parts.iter().map(|forms| (Occur::Should, best_form(field, forms)));
                Box::new(BooleanQuery::new(parts.collect()))
            };
            let spellings = whole.chain(date.readings.iter().map(reading)).collect();
            boosted(Box::new(DisjunctionMaxQuery::new(spellings)), weight)
        })
    }

    fn weighted(self) -> [(Field, f32); 2] {
        [(self.text, 1.0), (self.title, TITLE_WEIGHT)]
    }
}

fn of_form(field: Field, form: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, form), IndexRecordOption::WithFreqs))
}

fn best_form(field: Field, forms: &[String]) -> Box<dyn Query> {
    match forms {
        [form] => of_form(field, form),
        forms => Box::new(DisjunctionMaxQuery::new(forms.iter().map(|form| of_form(field, form)).collect())),
    }
}

fn boosted(query: Box<dyn Query>, weight: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, weight))
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexical").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// A change of the index.
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

    /// Adds an evidence; `title` is empty if the title is not an indexed context part.
    pub(super) fn add(&mut self, id: EvidenceId, text: &str, title: &str) -> Result<(), IndexError> {
        let mut document = TantivyDocument::new();
        document.add_i64(self.lexical.fields.evidence, id.0);
        let language = text_language(text);
        document.add_pre_tokenized_text(self.lexical.fields.text, tokenizer::analyzed(text, language));
        document.add_pre_tokenized_text(self.lexical.fields.title, tokenizer::analyzed(title, language));
        document.add_text(self.lexical.fields.language, language.code());
        let added = self.writer.add_document(document);
        added.map(|_| ()).map_err(|source| failed("writing", &self.lexical.path, source))
    }

    /// Rolls back and deletes the added files. Leftovers are found at the next opening, which then rebuilds the index.
    pub(super) fn abandon(mut self) {
        if self.writer.rollback().is_ok() {
            let _ = self.writer.garbage_collect_files().wait();
        }
    }

    /// Commits the change as of `generation`.
    pub(super) fn commit(mut self, generation: i64) -> Result<(), IndexError> {
        let path = self.lexical.path.clone();
        let write_failed = |source| failed("writing", &path, source);
        let mut prepared = self.writer.prepare_commit().map_err(write_failed)?;
        prepared.set_payload(&generation.to_string());
        prepared.commit().map_err(write_failed)?;
        self.writer.wait_merging_threads().map_err(write_failed)?;
        if self.lexical.is_on_disk() {
            checksums::write(&path).map_err(|source| file_error("writing", &path, source))?;
        }
        self.lexical.reload()
    }
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let evidence = builder.add_i64_field(EVIDENCE, INDEXED | FAST);
    let indexed = |option| {
        let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(option);
        TextOptions::default().set_indexing_options(indexing)
    };
    let text = builder.add_text_field("text", indexed(IndexRecordOption::WithFreqsAndPositions));
    let title = builder.add_text_field("title", indexed(IndexRecordOption::WithFreqs));
    let language = builder.add_text_field("language", STRING);
    (builder.build(), Fields { evidence, text, title, language })
}

/// Maps file-system errors to their own variants.
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
