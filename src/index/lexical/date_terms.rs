//! A date of a question in all spellings that a domain has.
//!
//! Takes a date and the vocabulary of a domain, gives what stands for it: the whole of it in digits (`22.6.13`,
//! `2013-06-22`), or its day, the name of its month and its year, beside each other.
//! Invariants: only words that the domain has are looked for; a date with two readings is looked for in both; the work
//! is bounded.
//! Not here: what is a date (`base::dates_in`), the score (`lexical`).

use super::matched::{MatchKind, MatchedTerm, TextField};
use super::query_expansion::Vocabulary;
use crate::IndexError;
use crate::tokenizer;
use ragonite_base::{DateMention, DayOrMonth};

/// Phrases of a date that are looked for.
const MOST_PHRASES: usize = 32;

/// What a date looks for. All words are as the index has them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DateTerm {
    /// As the question has it, in lower case.
    pub(super) word: String,
    /// Spellings in digits that the domain has.
    pub(super) whole: Vec<String>,
    /// For each reading the words for its day, its month and its year, as far as the domain has them.
    pub(super) readings: Vec<Vec<Vec<String>>>,
    phrases: Vec<Vec<String>>,
}

/// What a date looks for; none where the domain has none of its words.
pub(super) fn date_term(
    written: &str,
    mention: &DateMention,
    vocabulary: &dyn Vocabulary,
) -> Result<Option<DateTerm>, IndexError> {
    let mut term =
        DateTerm { word: written.to_lowercase(), whole: Vec::new(), readings: Vec::new(), phrases: Vec::new() };
    for reading in &mention.readings {
        let mut digits = reading.in_digits();
        digits.push(term.word.clone());
        add(&mut term.whole, digits, vocabulary)?;
        let [days, months, years] = parts(*reading, vocabulary)?;
        for phrase in phrases(*reading, [&days, &months, &years]) {
            if !term.phrases.contains(&phrase) && term.phrases.len() < MOST_PHRASES {
                term.phrases.push(phrase);
            }
        }
        let parts: Vec<Vec<String>> = [days, months, years].into_iter().filter(|forms| !forms.is_empty()).collect();
        if !parts.is_empty() {
            term.readings.push(parts);
        }
    }
    Ok(Some(term).filter(|term| !term.whole.is_empty() || !term.readings.is_empty()))
}

/// The words for day, month and year that the domain has.
fn parts(reading: DayOrMonth, vocabulary: &dyn Vocabulary) -> Result<[Vec<String>; 3], IndexError> {
    let mut found: [Vec<String>; 3] = Default::default();
    add(&mut found[0], reading.day_words(), vocabulary)?;
    for name in reading.month_names() {
        for word in tokenizer::words(name, 1) {
            add(&mut found[1], vec![word.english, word.german], vocabulary)?;
        }
    }
    add(&mut found[2], vec![reading.year().to_string()], vocabulary)?;
    Ok(found)
}

/// Adds the new ones among these words that the domain has.
fn add(to: &mut Vec<String>, words: Vec<String>, vocabulary: &dyn Vocabulary) -> Result<(), IndexError> {
    for word in words {
        if !to.contains(&word) && vocabulary.count(&word)? > 0 {
            to.push(word);
        }
    }
    Ok(())
}

/// The orders in which texts have its words: `june 22 2013`, `22 june 2013`.
fn phrases(reading: DayOrMonth, [days, months, years]: [&[String]; 3]) -> Vec<Vec<String>> {
    let mut phrases = Vec::new();
    for year in years {
        for month in months {
            match reading {
                DayOrMonth::Month { .. } => phrases.push(vec![month.clone(), year.clone()]),
                DayOrMonth::Day(_) => {
                    for day in days {
                        phrases.push(vec![month.clone(), day.clone(), year.clone()]);
                        phrases.push(vec![day.clone(), month.clone(), year.clone()]);
                    }
                }
            }
        }
    }
    phrases
}

impl DateTerm {
    /// What stands for it as words side by side.
    pub(super) fn phrases(&self) -> impl Iterator<Item = Vec<&str>> {
        self.phrases.iter().map(|phrase| phrase.iter().map(String::as_str).collect())
    }

    /// Where it stands in a text whole; none where only its day or its month does.
    pub(super) fn matched(&self, fields: &[(TextField, Vec<String>)]) -> Option<MatchedTerm> {
        let spellings = || self.whole.iter().map(std::slice::from_ref).chain(self.phrases.iter().map(Vec::as_slice));
        let has = |words: &[String], spelling: &[String]| words.windows(spelling.len()).any(|run| run == spelling);
        let found = spellings().find(|spelling| fields.iter().any(|(_, words)| has(words, spelling)))?;
        let in_any = |words: &[String]| spellings().any(|spelling| has(words, spelling));
        let places = fields.iter().filter(|(_, words)| in_any(words)).map(|(field, _)| *field);
        Some(MatchedTerm {
            word: self.word.clone(),
            term: found.join(" "),
            how: MatchKind::Date,
            fields: places.collect(),
        })
    }
}
