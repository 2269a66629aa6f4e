//! The index by words: the folder `lexical/`, derived from `domain.db`.
//!
//! Takes contextualized texts by evidence id, gives the best ones by BM25 over the whole text, to which the words of
//! the title add once more, words that stand side by side as in the question, and dates in any spelling.
//! Invariants: a commit carries the generation it was made from; text of users is never read as a query language, so
//! no question is an error; files that are not what was written are never given to tantivy, which panics on some.
//! Not here: what a word is (`tokenizer`), what a question looks for (`query_expansion`, `compound`, `date_terms`), which words met (`matched`),
//! deciding when to rebuild (`repair`).

mod compound;
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

use date_terms::DateTerm;
use matched::QuestionTerm;
pub use matched::{MatchKind, MatchedTerm, QuestionTerms, TextField};
use query_expansion::IDENTIFIER_WEIGHT;
pub(super) use query_expansion::is_of_identifiers;
use vocabulary::IndexedWords;

use super::IndexError;
use super::checksums::{self, Others};
use super::error::file_error;
use super::filter::Test;
use super::stored::{Scored, sort_best_first};
use super::tokenizer;
use ragonite_base::{CancelToken, EvidenceId, Language};

/// Folder name in the folder of a domain.
pub(super) const FOLDER: &str = "lexical";

/// Name of the analyser in tantivy; it changes with the words it makes, so that an older index is rebuilt.
const ANALYZER: &str = "ragonite_words_4";

/// What a word in the title adds to the score, beside what it scores as a word of the text. A title says what all of a
/// page is about, and is short, so that a word in it is worth more than one of many in a long evidence.
const TITLE_WEIGHT: f32 = 0.75;

/// What two words side by side, as the question has them, add to the score, beside what each of them scores.
const PAIR_WEIGHT: f32 = 0.15;

/// What a date adds to the score where it stands there whole: as much again as its words. It is meant as one, and a text
/// with another day of the same month speaks of something else.
const DATE_WEIGHT: f32 = 1.0;

/// Memory of the writer: the least tantivy takes is 15 MB, and small domains need no more than a few times that.
const WRITER_BYTES: usize = 48 << 20;

/// Name of the field with the id.
const EVIDENCE: &str = "evidence";

/// Candidates beyond `k`, so that equal scores at the end of the list are put in order before it is cut, and pairs may
/// lift what came after them.
const SPARE: usize = 90;

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
    language: Field,
}

impl Lexical {
    /// Opens what is on disk; nothing when there is none or when it is not to be trusted.
    pub(super) fn load(folder: &Path, others: Others, cancel: &CancelToken) -> Result<Option<Self>, IndexError> {
        let path = folder.join(FOLDER);
        let (schema, fields) = schema();
        let Ok(index) = tantivy::Index::open_in_dir(&path) else { return Ok(None) };
        if index.schema() != schema || !checksums::matches(&path, others, cancel)? {
            return Ok(None);
        }
        let around = Self::around(index, fields, path).ok();
        Ok(around.map(|lexical| Self { place: Place::Disk, ..lexical }))
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

    /// What a question looks for, for explaining what it found.
    pub(super) fn terms(&self, question: &str) -> Result<QuestionTerms, IndexError> {
        query_expansion::terms(
            question,
            &IndexedWords { searcher: &self.reader.searcher(), fields: self.fields, path: &self.path },
        )
    }

    /// The `k` best by BM25 among those that pass, best first.
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

    /// Adds to the scores what words that stand side by side are worth. Only the candidates are looked at: to go through
    /// all evidences for every phrase would cost more than the search.
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
    /// What scores a word of the question: its best form in the text, and in the title.
    fn clauses(self, term: &QuestionTerm) -> [Box<dyn Query>; 2] {
        self.weighted().map(|(field, weight)| boosted(best_form(field, &term.forms), weight * term.weight))
    }

    /// What scores a date of the question: the best of its spellings and readings in the text, and in the title.
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
        let language = tokenizer::text_language(text);
        document.add_pre_tokenized_text(self.lexical.fields.text, tokenizer::analyzed(text, language));
        document.add_pre_tokenized_text(self.lexical.fields.title, tokenizer::analyzed(title, language));
        document.add_text(self.lexical.fields.language, language.code());
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
