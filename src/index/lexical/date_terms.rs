//! A date of a question in all spellings of the domain.
//!
//! Takes a date and the vocabulary of a domain; gives the date in digits (`22.6.13`, `2013-06-22`), or its day, month
//! name and year as words.
//! Invariants: only words of the domain are searched; both readings of an ambiguous date are searched; the work is
//! bounded.
//! Not here: recognizing dates (`base::dates_in`), scoring (`lexical`).

use super::matched::{MatchKind, MatchedTerm, TextField};
use super::query_expansion::Vocabulary;
use crate::IndexError;
use crate::tokenizer;
use ragonite_base::{DateMention, DayOrMonth};

/// Maximum of phrases per date.
const MAX_PHRASES: usize = 32;

/// The search terms of a date, as indexed words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DateTerm {
    /// The date as typed, in lower case.
    pub(super) word: String,
    /// Numeric spellings that the domain has.
    pub(super) whole: Vec<String>,
    /// For each reading, the domain's words for day, month and year.
    pub(super) readings: Vec<Vec<Vec<String>>>,
    phrases: Vec<Vec<String>>,
}

/// The terms of a date; none if the domain has none of its words.
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
            if !term.phrases.contains(&phrase) && term.phrases.len() < MAX_PHRASES {
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

/// The domain's words for day, month and year.
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

/// Adds those of these words that are new and in the domain.
fn add(to: &mut Vec<String>, words: Vec<String>, vocabulary: &dyn Vocabulary) -> Result<(), IndexError> {
    for word in words {
        if !to.contains(&word) && vocabulary.count(&word)? > 0 {
            to.push(word);
        }
    }
    Ok(())
}

/// The usual word orders: `june 22 2013`, `22 june 2013`.
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
    /// Its spellings as phrases.
    pub(super) fn phrases(&self) -> impl Iterator<Item = Vec<&str>> {
        self.phrases.iter().map(|phrase| phrase.iter().map(String::as_str).collect())
    }

    /// The match of the whole date in a text; none if only its day or month occurs.
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
