//! Which words of a question an evidence has, and where.
//!
//! Takes what a question looks for (read once for all hits) and an evidence, gives the words that met.
//! Invariants: pure, no index is read; the words of the evidence are made as those of the index are, so that what is
//! named is what was scored; only chosen parts of the context are looked at.
//! Not here: how much each word scored.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::date_terms::DateTerm;
use crate::tokenizer;
use ragonite_document::evidence::{ContextParts, Evidence};

/// How a word of the question came to the word of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// It is the same word, endings, case and accents aside.
    Same,
    /// It is the same word by the endings of another language, or with its umlaut written in another way.
    OtherForm,
    /// It is a part of the question's compound.
    Part,
    /// The domain has not the word of the question, and this is one of those spelled most like it.
    Close,
    /// It is the same date, in any spelling.
    Date,
}

/// A part of an evidence in which words are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextField {
    /// Title of the page.
    Title,
    /// Heading right above.
    Heading,
    /// Text before.
    Before,
    /// The evidence itself.
    Content,
    /// Text after.
    After,
}

/// A word of the question that an evidence has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedTerm {
    /// As the question has it, in lower case.
    pub word: String,
    /// As the evidence has it, without ending and accents.
    pub term: String,
    /// How they met.
    pub how: MatchKind,
    /// Where it stands, from the title on.
    pub fields: Vec<TextField>,
}

/// A word that a question looks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionTerm {
    pub(super) word: String,
    pub(super) how: MatchKind,
    /// What stands for it in the index; the best of them counts.
    pub(super) forms: Vec<String>,
    pub(super) weight: f32,
    /// In how many evidences it is.
    pub(super) count: u64,
}

/// All that a question looks for in a domain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionTerms {
    pub(super) terms: Vec<QuestionTerm>,
    /// The dates of the question; none of their words is among the terms.
    pub(super) dates: Vec<DateTerm>,
    /// Terms that stand side by side in the question.
    pub(super) pairs: Vec<(String, String)>,
    /// The identifiers of a question that has no other words, in the forms of the index.
    pub(super) named: Vec<String>,
    /// Its identifiers that no text of the domain has, as typed.
    pub(super) absent: Vec<String>,
}

impl QuestionTerms {
    /// The identifiers of the question that no text of the domain has, as they were typed, such as `ABC-9999`. One of
    /// which every part is somewhere is not among them, since the parts may stand together.
    #[must_use]
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// How many identifiers an evidence has of a question that is made of them alone, such as `OXT-1654`: what it means
    /// is exactly that, whatever else is near. First those that it has itself, then those that stand around it too. 0 for
    /// every other question.
    #[must_use]
    pub fn named(&self, evidence: &Evidence, indexed: ContextParts) -> (usize, usize) {
        if self.named.is_empty() {
            return (0, 0);
        }
        let matched = self.matched(evidence, indexed);
        let is_around = |field: &TextField| matches!(field, TextField::Before | TextField::After);
        let count = |is_it: &dyn Fn(&MatchedTerm) -> bool| {
            let has = |form: &&String| matched.iter().any(|one| one.term == **form && is_it(one));
            self.named.iter().filter(has).count()
        };
        (count(&|one| !one.fields.iter().all(is_around)), count(&|_| true))
    }

    /// The words of the question that an evidence has, in the order of the question; dates follow. `indexed` are the
    /// context parts that the domain was made with.
    #[must_use]
    pub fn matched(&self, evidence: &Evidence, indexed: ContextParts) -> Vec<MatchedTerm> {
        let language = tokenizer::text_language(&evidence.contextualized(indexed));
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
