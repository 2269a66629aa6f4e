//! The words of the lexical index, as the vocabulary of a domain.
//!
//! Takes words, gives counts and near spellings.
//! Invariants: removed evidences may count until tantivy merges them away; fuzzy matching walks only words with the
//! same first letter.

use std::path::Path;

use tantivy::query::{EnableScoring, FuzzyTermQuery, PhraseQuery, Query as _};
use tantivy::{DocSet as _, Searcher, TERMINATED, Term};

use super::query_expansion::Vocabulary;
use super::{Fields, failed};
use crate::IndexError;
use ragonite_base::Language;

/// Maximum of fuzzy matches; more are too many to mean one word.
const MAX_NEAR: usize = 256;

/// The words of an index.
pub(super) struct IndexedWords<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) fields: Fields,
    pub(super) path: &'a Path,
}

impl IndexedWords<'_> {
    fn near_in_all_segments(&self, word: &str, edits: u8) -> tantivy::Result<Vec<(String, u64)>> {
        let mut found: Vec<(String, u64)> = Vec::new();
        let Some(first) = word.chars().next() else { return Ok(found) };
        for segment in self.searcher.segment_readers() {
            let query = FuzzyTermQuery::new(Term::from_field_text(self.fields.text, word), edits, true);
            let words = segment.inverted_index(self.fields.text)?;
            let from_first = words.terms().search(query.automaton()?).ge(first.to_string());
            let mut near = match char::from_u32(u32::from(first) + 1) {
                Some(next) => from_first.lt(next.to_string()).into_stream()?,
                None => from_first.into_stream()?,
            };
            while found.len() < MAX_NEAR && near.advance() {
                let Ok(key) = std::str::from_utf8(near.key()) else { continue };
                let count = u64::from(near.value().doc_freq);
                match found.iter_mut().find(|(other, _)| other == key) {
                    Some((_, counted)) => *counted += count,
                    None => found.push((key.to_owned(), count)),
                }
            }
        }
        Ok(found)
    }

    fn has_run_in_any_segment(&self, words: &[&str]) -> tantivy::Result<bool> {
        let terms = words.iter().map(|word| Term::from_field_text(self.fields.text, word)).collect();
        let weight = PhraseQuery::new(terms).weight(EnableScoring::disabled_from_searcher(self.searcher))?;
        for segment in self.searcher.segment_readers() {
            // One match is enough.
            if weight.scorer(segment, 1.0)?.doc() != TERMINATED {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn counted(&self, term: &Term) -> Result<u64, IndexError> {
        self.searcher.doc_freq(term).map_err(|source| failed("searching", self.path, source))
    }
}

impl Vocabulary for IndexedWords<'_> {
    fn count(&self, word: &str) -> Result<u64, IndexError> {
        self.counted(&Term::from_field_text(self.fields.text, word))
    }

    fn near(&self, word: &str, edits: u8) -> Result<Vec<(String, u64)>, IndexError> {
        self.near_in_all_segments(word, edits).map_err(|source| failed("searching", self.path, source))
    }

    fn has(&self, language: Language) -> Result<bool, IndexError> {
        Ok(self.counted(&Term::from_field_text(self.fields.language, language.code()))? > 0)
    }

    fn has_run(&self, words: &[&str]) -> Result<bool, IndexError> {
        self.has_run_in_any_segment(words).map_err(|source| failed("searching", self.path, source))
    }

    fn evidences(&self) -> u64 {
        self.searcher.num_docs()
    }
}
