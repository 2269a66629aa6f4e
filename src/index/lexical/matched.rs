//! Which words of a question an evidence has, and where.
//!
//! Takes the terms of a question (computed once for all hits) and an evidence, gives the matched words.
//! Invariants: pure, no index is read; the evidence is tokenized as in the index, so the named words are those that
//! scored; only indexed context parts count.
//! Not here: the score of each word (`lexical`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::content_words::ContentWord;
use super::date_terms::DateTerm;
use crate::language::text_language;
use crate::tokenizer;
use ragonite_document::evidence::{ContextParts, Evidence};

/// How a question word matches a text word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// The same word, apart from ending, case and accents.
    Same,
    /// The same word with the endings of the other language, or with its umlaut spelled differently.
    OtherForm,
    /// A part of the question's compound.
    Part,
    /// One of the nearest spellings of a word that the domain does not have.
    Close,
    /// The same date in any spelling.
    Date,
}

/// A text field of an evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextField {
    /// Page title.
    Title,
    /// Nearest heading.
    Heading,
    /// Text before.
    Before,
    /// The evidence itself.
    Content,
    /// Text after.
    After,
}

/// A question word that an evidence has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedTerm {
    /// The word as typed, in lower case.
    pub word: String,
    /// The indexed form, without ending and accents.
    pub term: String,
    /// The kind of match.
    pub how: MatchKind,
    /// The fields that have it, in the order of [`TextField`].
    pub fields: Vec<TextField>,
}

/// A search term of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionTerm {
    pub(super) word: String,
    pub(super) how: MatchKind,
    /// Its indexed forms; the best match counts.
    pub(super) forms: Vec<String>,
    pub(super) weight: f32,
    /// Number of evidences that have it.
    pub(super) count: u64,
}

/// All search terms of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionTerms {
    pub(super) terms: Vec<QuestionTerm>,
    /// The dates; their words are not among the terms.
    pub(super) dates: Vec<DateTerm>,
    /// Terms that are adjacent in the question.
    pub(super) pairs: Vec<(String, String)>,
    /// The indexed forms of the identifiers, if the question consists of identifiers alone.
    pub(super) named: Vec<String>,
    /// Identifiers that no text of the domain has, as typed.
    pub(super) absent: Vec<String>,
    /// The content words, each once.
    pub(super) content: Vec<ContentWord>,
}

/// How many identifiers of a question an evidence has; more in its own text sort higher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdentifierMatches {
    /// In its title, heading or content.
    pub own: usize,
    /// In the text before and after it too.
    pub anywhere: usize,
}

impl QuestionTerms {
    /// The identifiers of the question that no text of the domain has, as typed, such as `ABC-9999`. An identifier
    /// whose parts all occur adjacent counts as present.
    #[must_use]
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// How many of the identifiers an evidence has, for a question of identifiers alone, such as `OXT-1654`, which asks
    /// for exact matches. Zero for every other question.
    #[must_use]
    pub fn named(&self, evidence: &Evidence, indexed: ContextParts) -> IdentifierMatches {
        if self.named.is_empty() {
            return IdentifierMatches::default();
        }
        let matched = self.matched(evidence, indexed);
        let is_context = |field: &TextField| matches!(field, TextField::Before | TextField::After);
        let count = |is_it: &dyn Fn(&MatchedTerm) -> bool| {
            let has = |form: &&String| matched.iter().any(|one| one.term == **form && is_it(one));
            self.named.iter().filter(has).count()
        };
        IdentifierMatches { own: count(&|one| !one.fields.iter().all(is_context)), anywhere: count(&|_| true) }
    }

    /// The question words that an evidence has, in question order, then the dates. `indexed` are the context parts that
    /// the domain was made with.
    #[must_use]
    pub fn matched(&self, evidence: &Evidence, indexed: ContextParts) -> Vec<MatchedTerm> {
        let language = text_language(&evidence.contextualized(indexed));
        let context = &evidence.context;
        let mut fields = Vec::new();
        for (field, part, text) in [
            (TextField::Title, ContextParts::TITLE, context.title.as_str()),
            (TextField::Heading, ContextParts::HEADING, context.heading()),
            (TextField::Before, ContextParts::BEFORE, context.before.as_str()),
            (TextField::Content, ContextParts::NONE, evidence.content.as_str()),
            (TextField::After, ContextParts::AFTER, context.after.as_str()),
        ] {
            if indexed.contains(part) {
                let words: Vec<String> =
                    tokenizer::analyzed(text, language).tokens.into_iter().map(|token| token.text).collect();
                fields.push((field, words));
            }
        }
        let sets: Vec<(TextField, HashSet<&str>)> =
            fields.iter().map(|(field, words)| (*field, words.iter().map(String::as_str).collect())).collect();
        let mut matched = Vec::new();
        for QuestionTerm { word, how, forms, .. } in &self.terms {
            for form in forms {
                let places = sets.iter().filter(|(_, words)| words.contains(form.as_str())).map(|(field, _)| *field);
                let places: Vec<TextField> = places.collect();
                if !places.is_empty() {
                    matched.push(MatchedTerm { word: word.clone(), term: form.clone(), how: *how, fields: places });
                }
            }
        }
        matched.extend(self.dates.iter().filter_map(|date| date.matched(&fields)));
        matched
    }
}
