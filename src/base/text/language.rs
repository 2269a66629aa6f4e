//! The languages the program answers in, and their detection.
//!
//! Takes a text, gives English or German: by the stop words that only one of them has, else by whatlang, if it is sure.
//! Not here: the texts of the program (`prompt`, `tui`).

use std::cmp::Ordering;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{SentenceWord, lower_words, sentence_words};

/// A language with its own prompts and its own out-of-scope sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English, also for texts of unknown language.
    #[default]
    English,
    /// German.
    German,
}

/// Bytes of a text that tell its language.
const MOST_BYTES: usize = 4096;

/// Verbs that often follow the German "was", which is an English word too.
const VERBS_AFTER_WAS: &[&str] = &[
    "bedeutet", "braucht", "bringt", "darf", "enthält", "fehlt", "geht", "gilt", "heißt", "kommt", "kostet", "läuft",
    "liegt", "macht", "meint", "passiert", "sagt", "sagte", "steht", "stand", "tut", "tun", "weiß", "wissen",
];

/// German stop words that are ordinary English words, too, so that they show no language.
const ENGLISH_TOO: &[&str] = &["also", "bin", "man", "war"];

/// A text that is not a language code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no language of this program: use en or de")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|language| language.code() == text);
        known.ok_or_else(|| UnknownLanguage(crate::clean_line(text)))
    }
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// The code: `en` or `de`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// The language of a question or answer; English if it is not detected.
    pub fn of(text: &str) -> Self {
        Self::detect(text).unwrap_or_default()
    }

    /// The language, if words show it; none for names, technical terms and nouns alone.
    pub fn detect(text: &str) -> Option<Self> {
        let text = beginning(text);
        let reliable = || whatlang::detect(text).filter(whatlang::Info::is_reliable).map(|info| info.lang());
        let asks_was = asks_was(text).then_some(Self::German);
        asks_was.or_else(|| Self::by_stop_words(text, &[])).or_else(|| match reliable()? {
            whatlang::Lang::Deu => Some(Self::German),
            whatlang::Lang::Eng => Some(Self::English),
            _ => None,
        })
    }

    /// The language with most stop words that the other has not, for texts that are too short for statistics of
    /// letters; none if both have as many. Words of `ignored` do not count, nor do names: "Red Hat", "the MIT license".
    pub fn by_stop_words(text: &str, ignored: &[&str]) -> Option<Self> {
        let text = beginning(text);
        // In a text in capitals throughout a capital makes no name.
        let is_loud = !text.contains(char::is_lowercase);
        let is_name = |word: &SentenceWord<'_>| {
            let is_first = word.begins_sentence || word.opens;
            !is_loud && word.text.chars().skip(usize::from(is_first)).any(char::is_uppercase)
        };
        let (mut english, mut german) = (0_usize, 0_usize);
        for word in sentence_words(text).iter().filter(|word| !is_name(word)) {
            let word = word.text.to_lowercase();
            // `a`, `i` and `d` are names of variants, too.
            if word.chars().nth(1).is_some() && !ignored.contains(&word.as_str()) {
                let (is_english, is_german) = (Self::English.is_stop_word(&word), Self::German.is_stop_word(&word));
                english += usize::from(is_english && !is_german);
                german += usize::from(is_german && !is_english && !ENGLISH_TOO.contains(&word.as_str()));
            }
        }
        match english.cmp(&german) {
            Ordering::Equal => None,
            Ordering::Less => Some(Self::German),
            Ordering::Greater => Some(Self::English),
        }
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_BYTES)]
}

/// Whether a text begins with the German "was" and a verb ("Was macht Kolmet?"), not with the English one ("Was Kolmet
/// used?").
fn asks_was(text: &str) -> bool {
    let mut words = lower_words(text);
    words.next().is_some_and(|word| word == "was")
        && words.next().is_some_and(|verb| VERBS_AFTER_WAS.contains(&verb.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_english_question_with_a_german_word_or_name_in_it_is_english() {
        for english in [
            "Is it MIT licensed?",
            "Which pumps also leak?",
            "Does Kolmet also support TPM?",
            "Which man pages exist?",
            "How did the pump die?",
            "Who emptied the recycle bin?",
            "What is the MIT license?",
            "Who uses Red Hat?",
            "Is DES supported?",
            "Where is the IM server?",
            "Does it support ALS sensors?",
            "Was KOLMET used?",
            "Was it used?",
            "Was root disabled?",
            "Was the test done?",
            "Was someone there?",
            "Was git slow?",
            "was",
        ] {
            assert_eq!(Language::of(english), Language::English, "{english}");
        }
        for german in [
            "Hat Red Hat geantwortet?",
            "WER WAR DABEI?",
            "Danke. Hat es geklappt?",
            "wer hat es getestet",
            "Was macht KOLMET?",
            "was bedeutet QRV",
            "Was ist Kolmet auf dieser Werft?",
            "Wann laden die Kolmet-Lotsen ihre Handfunkgeräte auf?",
            "Kolmet laut Datenblatt dicht?",
            "Tut die Pumpe nachts was?",
            "Beim Umbau der Kolmet supply pumps: wofür dient das VALVE(Rücklauf) Rohr?",
        ] {
            assert_eq!(Language::of(german), Language::German, "{german}");
        }
    }

    #[test]
    fn names_and_nouns_alone_tell_no_language() {
        for untold in ["XY-1654", "Kolmet", "Dienstreise Kosten", "Stand-by Pumpe", "TPM 2.0", "was", "", "?!"] {
            assert_eq!(Language::detect(untold), None, "{untold}");
        }
        for (text, language) in [
            ("Wer prüft die Pumpe?", Language::German),
            ("Which pump?", Language::English),
            ("Should pumps be greased?", Language::English),
            ("Tell me about pumps", Language::English),
        ] {
            assert_eq!((Language::detect(text), Language::of(text)), (Some(language), language), "{text}");
        }
    }

    #[test]
    fn a_code_reads_back_as_its_language() {
        for language in Language::ALL {
            assert_eq!(language.code().parse(), Ok(language));
        }
        assert!("fr".parse::<Language>().is_err());
    }

    #[test]
    fn short_questions_are_told_apart() {
        for german in ["Wer war dabei?", "Wofür dient das?", "Und im Jahr 2024?", "Welche Version wurde getestet?"] {
            assert_eq!(Language::of(german), Language::German, "{german}");
        }
        for english in ["Who was there?", "What does it weigh?", "And in 2024?", "todo for alice in oct rag meeting?"] {
            assert_eq!(Language::of(english), Language::English, "{english}");
        }
    }
}
