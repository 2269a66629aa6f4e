//! Which words of a question a text has.
//!
//! Not here: what a word is (`words`).

use std::collections::{HashMap, HashSet};

use super::words::{analyzer, query_words};

/// The words of the question that one of the texts has, as the question writes them and in its order; words that are
/// in every sentence are left out.
#[must_use]
pub fn matched_words(question: &str, texts: &[&str]) -> Vec<String> {
    let wanted = query_words(question);
    let written = first_forms(question);
    let mut present = HashSet::new();
    for text in texts {
        let mut analyzer = analyzer();
        let mut stream = analyzer.token_stream(text);
        while stream.advance() {
            let word = &stream.token().text;
            if !present.contains(word) && wanted.contains(word) {
                present.insert(word.clone());
            }
        }
    }
    let matched = wanted.iter().filter(|word| present.contains(*word));
    matched.map(|word| crate::base::clean_line(written.get(word).copied().unwrap_or(word))).collect()
}

/// How each word is written where it comes first.
fn first_forms(text: &str) -> HashMap<String, &str> {
    let mut forms = HashMap::new();
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    while stream.advance() {
        let token = stream.token();
        if let Some(form) = text.get(token.offset_from..token.offset_to) {
            forms.entry(token.text.clone()).or_insert(form);
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_given_as_the_question_writes_them() {
        let texts = ["The tests of OXT-1654", "failed on a Machine"];
        assert_eq!(
            matched_words("Which machines tested OXT-1654 with TPM?", &texts),
            ["machines", "tested", "OXT-1654", "OXT", "1654"]
        );
        assert!(matched_words("Which of the?", &["nothing"]).is_empty());
        assert!(matched_words("", &[]).is_empty());
    }
}
