//! Splits a German compound into words of the domain: `Testmatrix` into `test` and `matrix`.
//!
//! Takes a word that is not in the domain, gives its parts in their indexed forms. The domain's vocabulary is the
//! dictionary, so parts may be of any language and every part can match.
//! Invariants: parts and linking elements (`s`, `en`, …) cover the whole word; of several splits the one with the
//! fewest parts wins, then the one with the longest shortest part; the work is bounded.
//! Not here: when a word is split (`query_expansion`).

use std::collections::HashMap;

use tantivy::tokenizer::TextAnalyzer;

use super::query_expansion::Vocabulary;
use crate::IndexError;
use crate::tokenizer;
use ragonite_base::Language;

/// Minimum of letters in a part: shorter parts occur by chance in most words.
pub(super) const MIN_PART: usize = 4;

/// Maximum of parts.
const MAX_PARTS: usize = 3;

/// Longest word to split, in letters.
const LONGEST: usize = 40;

/// German linking elements.
const LINKS: [&str; 7] = ["", "s", "n", "en", "er", "es", "e"];

/// A part in its indexed form, with its number of evidences.
type Part = (String, u64);

/// The parts of a word; empty if it is not a compound of known words.
pub(super) fn split(
    word: &str,
    query_languages: &[Language],
    vocabulary: &dyn Vocabulary,
) -> Result<Vec<Part>, IndexError> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() > LONGEST {
        return Ok(Vec::new());
    }
    let mut languages = query_languages.to_vec();
    if !languages.contains(&Language::German) {
        languages.push(Language::German);
    }
    let analyzers = languages.into_iter().map(tokenizer::analyzer).collect();
    let mut parts = Parts { letters: &letters, analyzers, vocabulary, known: HashMap::new() };
    for most in 2..=MAX_PARTS {
        if let Some(split) = parts.best(0, most)? {
            return Ok(split);
        }
    }
    Ok(Vec::new())
}

struct Parts<'a> {
    letters: &'a [char],
    /// One per language, in order of preference.
    analyzers: Vec<TextAnalyzer>,
    vocabulary: &'a dyn Vocabulary,
    /// Cached lookups, by start and end.
    known: HashMap<(usize, usize), Option<Part>>,
}

impl Parts<'_> {
    /// The best split of the letters from `from` on into exactly `count` parts.
    fn best(&mut self, from: usize, count: usize) -> Result<Option<Vec<Part>>, IndexError> {
        let end = self.letters.len();
        if count == 1 {
            return Ok(self.part(from, end)?.map(|part| vec![part]));
        }
        let mut best: Option<Vec<Part>> = None;
        for next in from + MIN_PART..=end.saturating_sub(MIN_PART) {
            let Some(first) = self.part_and_link(from, next)? else { continue };
            let Some(rest) = self.best(next, count - 1)? else { continue };
            let split: Vec<Part> = std::iter::once(first).chain(rest).collect();
            if best.as_ref().is_none_or(|best| shortest(&split) > shortest(best)) {
                best = Some(split);
            }
        }
        Ok(best)
    }

    /// The part between two indices, without the linking element at its end.
    fn part_and_link(&mut self, from: usize, to: usize) -> Result<Option<Part>, IndexError> {
        for link in LINKS {
            let length = link.len();
            let fits = to - from >= MIN_PART + length && self.letters[to - length..to].iter().copied().eq(link.chars());
            if fits && let Some(part) = self.part(from, to - length)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    fn part(&mut self, from: usize, to: usize) -> Result<Option<Part>, IndexError> {
        if to - from < MIN_PART {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&(from, to)) {
            return Ok(known.clone());
        }
        let text: String = self.letters[from..to].iter().collect();
        let mut found = None;
        for analyzer in &mut self.analyzers {
            let Some(form) = tokenizer::form(analyzer, &text) else { continue };
            let count = self.vocabulary.count(&form)?;
            // A shorter stem is another word.
            if count > 0 && form.chars().count() >= MIN_PART {
                found = Some((form, count));
                break;
            }
        }
        self.known.insert((from, to), found.clone());
        Ok(found)
    }
}

fn shortest(parts: &[Part]) -> usize {
    parts.iter().map(|(form, _)| form.chars().count()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lexical::query_expansion::tests::Known;

    fn parts(word: &str, known: &[&str]) -> Vec<String> {
        let vocabulary = Known::new(known);
        split(word, &[Language::English], &vocabulary).unwrap().into_iter().map(|(form, _)| form).collect()
    }

    #[test]
    fn a_compound_is_split_into_words_of_the_domain() {
        assert_eq!(parts("testmatrix", &["test", "matrix", "trix"]), ["test", "matrix"]);
        assert_eq!(parts("updatefehler", &["updat", "fehler"]), ["updat", "fehler"], "in the form of the index");
        assert_eq!(parts("versionsnummern", &["version", "numm"]), ["version", "numm"], "a link and a German ending");
        assert_eq!(parts("hardwaretestlauf", &["hardwar", "test", "lauf"]), ["hardwar", "test", "lauf"]);
    }

    #[test]
    fn a_word_is_whole_where_a_part_is_not_known_or_too_short() {
        for word in ["testmatrix", "matrix", "", "ab", "testen"] {
            assert!(parts(word, &["test", "rix", "mat"]).is_empty(), "{word}");
        }
        assert!(parts(&"test".repeat(20), &["test"]).is_empty(), "nobody writes so long a word");
    }

    #[test]
    fn fewer_parts_come_first_and_then_parts_of_like_length() {
        assert_eq!(parts("speicherplatzgrenze", &["speicherplatz", "speicher", "platz", "grenz"]).len(), 2);
        assert_eq!(parts("abcdefghijkl", &["abcd", "efghijkl", "abcdef", "ghijkl"]), ["abcdef", "ghijkl"]);
    }

    proptest! {
        #[test]
        fn any_word_is_split_within_bounds(
            word in any::<String>(),
            known in proptest::collection::vec("[a-c]{4,6}", 0..6),
        ) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            for text in [word, known.concat()] {
                prop_assert!(parts(&text, &known).len() <= MAX_PARTS);
            }
        }
    }
}
