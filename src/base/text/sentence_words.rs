//! Words with what surrounds them: capitals and punctuation tell names.
//!
//! Takes a text, gives its words between white space.
//! Invariants: a word begins and ends with a letter or digit; the first word of a line begins a sentence.

use super::Language;

/// Characters at the end of a sentence.
const SENTENCE_ENDS: [char; 4] = ['.', '?', '!', ':'];

/// A word in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceWord<'a> {
    /// Without punctuation around it and without a genitive `'s`.
    pub text: &'a str,
    /// Whether it is the first of its sentence, where a capital tells nothing.
    pub begins_sentence: bool,
    /// Whether punctuation stands before it, as in `HLR (Harbour Lamp Register)`.
    pub opens: bool,
    /// Whether punctuation stands after it.
    pub ends: bool,
}

impl SentenceWord<'_> {
    /// Whether it begins with a capital.
    #[must_use]
    pub fn has_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    /// Whether it is a stop word of a language.
    #[must_use]
    pub fn is_stop_word(&self, language: Language) -> bool {
        language.is_stop_word(&self.text.to_lowercase())
    }
}

/// The words of a text.
#[must_use]
pub fn sentence_words(text: &str) -> Vec<SentenceWord<'_>> {
    let is_punctuation = |c: char| !c.is_alphanumeric();
    let mut words: Vec<SentenceWord<'_>> = Vec::new();
    for line in text.lines() {
        let mut begins_sentence = true;
        for piece in line.split_whitespace() {
            let word = piece.trim_matches(is_punctuation);
            let text = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
            if !text.is_empty() {
                let (opens, ends) = (piece.starts_with(is_punctuation), piece.ends_with(is_punctuation));
                words.push(SentenceWord { text, begins_sentence, opens, ends });
            } else if let Some(last) = words.last_mut() {
                last.ends = true;
            }
            begins_sentence = piece.ends_with(SENTENCE_ENDS) || (begins_sentence && text.is_empty());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_knows_its_sentence_and_its_punctuation() {
        let found = |text| -> Vec<(&str, bool, bool, bool)> {
            let words = sentence_words(text).into_iter();
            words.map(|word| (word.text, word.begins_sentence, word.opens, word.ends)).collect()
        };
        assert_eq!(
            found("Ann's (old) B2. It - 9.0\n- Die"),
            [
                ("Ann", true, false, false),
                ("old", false, true, true),
                ("B2", false, false, true),
                ("It", true, false, true),
                ("9.0", false, false, true),
                ("Die", true, false, false),
            ]
        );
        assert!(found(" ?! ").is_empty());
    }
}
