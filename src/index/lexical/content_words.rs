//! The content words of a question, and the share of them that texts have.
//!
//! Takes the words of a question with what the domain has of each; gives words with a rarity. A word that no text has is
//! as rare as can be. An identifier with its parts is one word.
//! Invariants: pure; a share lies in 0..=1; dates and plain numbers are no content words, because they say little about
//! the topic.
//! Not here: finding the forms of a word (`query_expansion`), the words of a text (`matched`).

use std::collections::{BTreeSet, HashMap};

use super::matched::QuestionTerms;
use crate::tokenizer::Word;

/// Forms of a word, or of a part of a compound, that the domain has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundForms {
    /// Alternatives; a text with one of them has the word.
    pub(super) forms: Vec<String>,
    /// Number of evidences with one of them.
    pub(super) count: u64,
}

/// A content word of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentWord {
    /// The word as typed.
    pub word: String,
    /// Whether it is an identifier such as `OXT-1654`.
    pub is_identifier: bool,
    /// In lower case.
    surface: String,
    /// What the domain has of the whole word; several for a compound, none for an unknown word.
    whole: Vec<Piece>,
    /// The parts of an identifier or of a hyphenated word; none for an identifier that is in no text.
    parts: Vec<Piece>,
    rarity: f64,
}

/// A piece of a content word.
#[derive(Debug, Clone, PartialEq)]
struct Piece {
    /// Alternatives; none if no text has it.
    forms: Vec<String>,
    rarity: f64,
}

impl Piece {
    fn of(found: &FoundForms, evidences: u64) -> Self {
        Self { forms: found.forms.clone(), rarity: rarity(found.count, evidences) }
    }

    fn unknown(evidences: u64) -> Self {
        Self { forms: Vec::new(), rarity: rarity(0, evidences) }
    }
}

impl ContentWord {
    /// Whether a text of the domain has it, or a part of it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.whole.iter().chain(&self.parts).any(|piece| !piece.forms.is_empty())
    }

    /// The share of the word that texts with these forms have.
    fn share(&self, forms: &BTreeSet<String>) -> f64 {
        share(&self.whole, forms).max(share(&self.parts, forms))
    }
}

impl QuestionTerms {
    /// The content words of the question, each once.
    #[must_use]
    pub fn content(&self) -> &[ContentWord] {
        &self.content
    }

    /// The share of the content words, weighted by rarity, that texts have together; `forms` are the indexed forms in
    /// these texts ([`MatchedTerm::term`](super::MatchedTerm::term)). None without content words.
    #[must_use]
    pub fn coverage(&self, forms: &BTreeSet<String>) -> Option<f64> {
        let all: f64 = self.content.iter().map(|word| word.rarity).sum();
        let covered: f64 = self.content.iter().map(|word| word.rarity * word.share(forms)).sum();
        (all > 0.0).then(|| (covered / all).clamp(0.0, 1.0))
    }
}

/// The content words of a question. `found` has the forms by the word in lower case, `absent` the identifiers that no
/// text has, `evidences` the size of the domain.
pub(super) fn content_words(
    question: &str,
    words: &[Word],
    found: &HashMap<String, Vec<FoundForms>>,
    absent: &[String],
    evidences: u64,
) -> Vec<ContentWord> {
    let pieces = |word: &Word| -> Vec<Piece> {
        found.get(&word.surface).into_iter().flatten().map(|found| Piece::of(found, evidences)).collect()
    };
    let mut content: Vec<ContentWord> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let mut parts = Vec::new();
        while let Some(part) = words.next_if(|part| part.at < word.end) {
            let known = pieces(part);
            parts.extend(if known.is_empty() { vec![Piece::unknown(evidences)] } else { known });
        }
        let is_number = word.surface.chars().all(char::is_numeric);
        if is_number || content.iter().any(|known| known.surface == word.surface) {
            continue;
        }
        let typed = question.get(word.at..word.end).unwrap_or(&word.surface).to_owned();
        if absent.contains(&typed) {
            parts.clear();
        }
        let whole = pieces(word);
        let rarest = whole.iter().chain(&parts).filter(|piece| !piece.forms.is_empty()).map(|piece| piece.rarity);
        let rarity = rarest.reduce(f64::max).unwrap_or_else(|| rarity(0, evidences));
        let surface = word.surface.clone();
        content.push(ContentWord { word: typed, is_identifier: word.is_identifier, surface, whole, parts, rarity });
    }
    content
}

/// The share of the pieces, weighted by rarity, that texts with these forms have; 0 without pieces.
fn share(pieces: &[Piece], forms: &BTreeSet<String>) -> f64 {
    let all: f64 = pieces.iter().map(|piece| piece.rarity).sum();
    let is_there = |piece: &&Piece| piece.forms.iter().any(|form| forms.contains(form));
    let there: f64 = pieces.iter().filter(is_there).map(|piece| piece.rarity).sum();
    if all > 0.0 { there / all } else { 0.0 }
}

/// The inverse document frequency of BM25, above 0: the rarer a word, the more it says.
fn rarity(count: u64, evidences: u64) -> f64 {
    let count = count.min(evidences) as f64;
    (1.0 + (evidences as f64 - count + 0.5) / (count + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::query_expansion::terms;
    use super::super::query_expansion::tests::Known;
    use super::*;

    fn forms(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn coverage(question: &str, known: &[&str], in_hits: &[&str]) -> Option<f64> {
        terms(question, &Known::new(known)).unwrap().coverage(&forms(in_hits))
    }

    fn unknown(question: &str, known: &[&str]) -> Vec<String> {
        let terms = terms(question, &Known::new(known)).unwrap();
        terms.content().iter().filter(|word| !word.is_known()).map(|word| word.word.clone()).collect()
    }

    #[test]
    fn a_question_whose_words_the_hits_have_is_covered() {
        let covered = coverage("Who tested the boards?", &["test", "board", "crane"], &["test", "board"]).unwrap();
        assert!((covered - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_word_that_no_text_has_weighs_more_than_one_that_a_text_has() {
        let half = coverage("frobnicate boards", &["board", "crane"], &["board"]).unwrap();
        assert!(half > 0.0 && half < 0.5, "{half}");
        assert_eq!(coverage("frobnicate zorp", &["board", "crane"], &["board"]), Some(0.0));
        assert_eq!(unknown("Frobnicate the zorp boards", &["board", "crane"]), ["Frobnicate", "zorp"]);
    }

    #[test]
    fn a_word_that_only_other_texts_have_is_known_and_not_covered() {
        assert_eq!(coverage("boards", &["board", "crane"], &["crane"]), Some(0.0));
        assert!(unknown("boards", &["board", "crane"]).is_empty());
    }

    #[test]
    fn stop_words_and_numbers_are_no_content() {
        assert_eq!(coverage("Which of the 17 is it?", &["board"], &["board"]), None);
        let covered = coverage("Which of the 17 boards is it?", &["board"], &["board"]).unwrap();
        assert!((covered - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_word_with_hyphens_counts_by_its_parts_and_an_absent_identifier_does_not() {
        assert!(coverage("follow-up", &["follow", "board"], &["follow"]).unwrap() > 0.0);
        assert_eq!(coverage("OXT-9999", &["oxt", "board"], &["oxt"]), Some(0.0));
        assert_eq!(unknown("OXT-9999", &["oxt", "board"]), ["OXT-9999"]);
    }

    #[test]
    fn a_word_counts_once_however_often_it_is_typed() {
        let once = coverage("zorp board", &["board", "crane"], &["board"]);
        assert_eq!(coverage("zorp zorp Zorp board", &["board", "crane"], &["board"]), once);
    }

    proptest! {
        #[test]
        fn a_share_is_a_share_and_grows_with_the_texts(
            question in "[a-z0-9 .-]{0,60}",
            known in proptest::collection::vec("[a-z]{1,6}", 0..8),
            in_hits in proptest::collection::vec("[a-z]{1,6}", 0..8),
        ) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let terms = terms(&question, &Known::new(&known)).unwrap();
            let some: BTreeSet<String> = in_hits.iter().cloned().collect();
            let all: BTreeSet<String> =
                some.iter().cloned().chain(known.iter().map(|word| (*word).to_owned())).collect();
            let (fewer, more) = (terms.coverage(&some), terms.coverage(&all));
            prop_assert_eq!(fewer.is_none(), more.is_none());
            if let (Some(fewer), Some(more)) = (fewer, more) {
                prop_assert!((0.0..=1.0).contains(&fewer) && fewer <= more);
            }
        }

        #[test]
        fn the_more_texts_have_a_word_the_less_it_says(count in 0_u64..1000, evidences in 0_u64..1000) {
            prop_assert!(rarity(count, evidences) > 0.0);
            prop_assert!(rarity(count + 1, evidences) <= rarity(count, evidences));
        }
    }
}
