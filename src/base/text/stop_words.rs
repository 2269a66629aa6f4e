//! Stop words: words that carry no topic. The lists are those of NLTK, from the crate `stop-words`.
//!
//! Takes a word in lower case.
//! Not here: anaphors (`rag::retrieval`).

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Language;

/// Words of English questions that the list lacks.
const ENGLISH_QUESTIONS: &[&str] = &["could", "would", "please", "tell", "much", "many", "us"];

/// Words of German questions that the list lacks.
const GERMAN_QUESTIONS: &[&str] = &[
    "wer", "wem", "wen", "wessen", "wann", "warum", "wieso", "woher", "wohin", "wofür", "womit", "worin", "wodurch",
    "wurde", "wurden", "beim", "bitte", "gibt", "gab", "viele", "wieviele", "laut",
];

static ENGLISH: LazyLock<HashSet<&str>> = LazyLock::new(|| list("en", ENGLISH_QUESTIONS));
static GERMAN: LazyLock<HashSet<&str>> = LazyLock::new(|| list("de", GERMAN_QUESTIONS));

fn list(code: &str, more: &[&'static str]) -> HashSet<&'static str> {
    stop_words::lookup(code).unwrap_or_default().iter().chain(more).copied().collect()
}

impl Language {
    /// Whether `word`, in lower case, is a stop word.
    #[must_use]
    pub fn is_stop_word(self, word: &str) -> bool {
        match self {
            Self::English => ENGLISH.contains(word),
            Self::German => GERMAN.contains(word),
        }
    }
}

/// Whether `word`, in lower case, is a stop word of any language.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    Language::ALL.iter().any(|language| language.is_stop_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_word_is_one_in_its_language() {
        for word in ["which", "the", "was", "would"] {
            assert!(Language::English.is_stop_word(word), "{word}");
        }
        for word in ["welche", "wer", "wann", "für", "was"] {
            assert!(Language::German.is_stop_word(word), "{word}");
        }
        assert!(!Language::English.is_stop_word("welche") && !Language::German.is_stop_word("akku"));
        assert!(is_stop_word("the") && is_stop_word("der") && !is_stop_word("pump"));
    }
}
