//! Function words: words of questions that carry no topic.
//!
//! Not here: the words for language detection (`language`), anaphors (`retrieval`).

use super::Language;

/// English function words.
const ENGLISH: &[&str] = &[
    "a", "about", "all", "am", "an", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "many", "me", "much", "my", "no", "not",
    "of", "on", "one", "or", "please", "should", "stand", "tell", "than", "the", "to", "up", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "and",
];

/// German function words.
const GERMAN: &[&str] = &[
    "alle", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bitte", "da", "das", "dass", "dem", "den",
    "der", "des", "die", "du", "durch", "ein", "eine", "einem", "einen", "einer", "es", "für", "gab", "gibt", "hat",
    "hatte", "haben", "ich", "ihr", "im", "in", "ist", "kann", "können", "man", "mir", "mit", "nach", "nicht", "ob",
    "sich", "sie", "sind", "soll", "sollte", "steht", "und", "uns", "viel", "viele", "vom", "von", "war", "waren",
    "warum", "was", "welche", "welchem", "welchen", "welcher", "welches", "wann", "wem", "wen", "wer", "werden", "wie",
    "wieso", "wieviele", "wir", "wird", "wo", "wofür", "wurde", "wurden", "zu", "zum", "zur", "über", "um", "oder",
];

impl Language {
    /// Whether `word`, in lower case, is a function word.
    #[must_use]
    pub fn is_function_word(self, word: &str) -> bool {
        match self {
            Self::English => ENGLISH.contains(&word),
            Self::German => GERMAN.contains(&word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_word_is_one_in_its_language() {
        assert!(Language::English.is_function_word("which") && Language::German.is_function_word("welche"));
        assert!(!Language::English.is_function_word("welche") && !Language::German.is_function_word("akku"));
    }
}
