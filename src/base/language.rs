//! The languages the program answers in, and their detection.
//!
//! Takes a text, gives English or German. Not here: the texts of the program (`prompt`, `tui`).

use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

/// Words that are frequent in German and not English. Short questions are too little for whatlang.
const GERMAN_WORDS: &[&str] = &[
    "der", "das", "und", "ist", "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "welches", "welchen",
    "welchem", "wurde", "wurden", "wird", "werden", "sind", "ein", "eine", "einen", "einem", "einer", "nicht", "auf",
    "für", "mit", "von", "vom", "zum", "zur", "beim", "hat", "haben", "gibt", "es", "wofür", "steht", "kann", "den",
    "dem", "des", "im", "als", "auch", "oder", "aus", "nach", "bei", "wieviele", "viele", "zu", "über", "unter",
    "zwischen", "durch", "ohne", "laut", "während", "diese", "diesem", "diesen", "dieser", "dieses", "ihre", "ihren",
    "ihrer", "seine", "seinen", "seiner", "wir", "ich", "sie", "uns", "können", "müssen", "dürfen", "sollen", "sollte",
    "muss", "darf", "hatte", "hatten", "habe", "waren", "wenn", "ob", "noch", "nur", "kein", "keine", "keinen", "mehr",
    "wen", "wem", "wessen", "woher", "wohin", "wodurch", "womit", "worin", "woran", "tut", "macht", "gab", "seit",
    "bis", "sich", "worden",
];

/// Verbs that often follow the German "was", which is an English word too.
const VERBS_AFTER_WAS: &[&str] = &[
    "bedeutet",
    "bedeuten",
    "braucht",
    "brauchen",
    "bringt",
    "darf",
    "enthält",
    "enthalten",
    "fehlt",
    "fehlte",
    "geht",
    "geschieht",
    "gilt",
    "heißt",
    "heisst",
    "kommt",
    "kostet",
    "kosten",
    "läuft",
    "liegt",
    "macht",
    "machen",
    "meint",
    "muss",
    "müssen",
    "passiert",
    "passierte",
    "sagt",
    "sagte",
    "soll",
    "sollen",
    "sollte",
    "steht",
    "stand",
    "tut",
    "tun",
    "war",
    "waren",
    "weiß",
    "wissen",
];

/// Words that are frequent in English and not German.
const ENGLISH_WORDS: &[&str] = &[
    "the", "is", "are", "were", "what", "who", "which", "when", "where", "how", "why", "of", "and", "for", "does",
    "did", "it", "has", "have", "had", "with", "from", "can", "not", "this", "that", "there", "any", "to",
];

/// English function words that are also German words or parts of them: `Stand`, `Stand-by`, `Add-on`.
const ALSO_GERMAN: &[&str] = &["a", "i", "all", "by", "no", "on", "one", "stand", "up", "will"];

/// A text that is not a language code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no language of this program: use en or de")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = [Self::English, Self::German].into_iter().find(|language| language.code() == text);
        known.ok_or_else(|| UnknownLanguage(super::clean_line(text)))
    }
}

impl Language {
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
        let words = written(text);
        let count = |list: &[&str]| words.iter().filter(|word| list.contains(&word.as_str())).count();
        let (german, english) = (count(GERMAN_WORDS) + usize::from(asks_was(&words)), count(ENGLISH_WORDS));
        let umlaut = text.contains(['ä', 'ö', 'ü', 'ß', 'Ä', 'Ö', 'Ü']);
        // Names and technical terms count for neither language.
        let share_needed = match (umlaut, english) {
            (true, _) => 10,
            (false, 0) => 8,
            (false, _) => 5,
        };
        if german > 0 && german >= english && german * share_needed >= words.len() {
            return Some(Self::German);
        }
        let is_english = |word: &String| {
            Self::English.is_function_word(word)
                && !Self::German.is_function_word(word)
                && !ALSO_GERMAN.contains(&word.as_str())
        };
        match whatlang::detect(text).filter(whatlang::Info::is_reliable).map(|info| info.lang()) {
            Some(whatlang::Lang::Deu) => Some(Self::German),
            Some(whatlang::Lang::Eng) => Some(Self::English),
            _ if english > german || (german == 0 && words.iter().any(is_english)) => Some(Self::English),
            _ => None,
        }
    }
}

/// Whether a text begins with the German "was" and a verb ("Was macht Kolmet?"), not with the English one ("Was Kolmet
/// used?").
fn asks_was(words: &[String]) -> bool {
    matches!(words, [was, verb, ..] if was == "was" && VERBS_AFTER_WAS.contains(&verb.as_str()))
}

/// The words of a text in lower case. A capitalized word inside a sentence is a name ("Red Hat", "the MIT license") and
/// stays as it is, unless the text has no small letters.
fn written(text: &str) -> Vec<String> {
    let is_loud = !text.contains(char::is_lowercase);
    let mut begins = true;
    let mut words = Vec::new();
    for piece in text.split_inclusive(|c: char| !c.is_alphabetic()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphabetic());
        if !word.is_empty() {
            let is_first_capital = begins && !word.chars().skip(1).any(char::is_uppercase);
            words.push(if is_loud || is_first_capital { word.to_lowercase() } else { word.to_owned() });
            begins = false;
        }
        begins |= piece.ends_with(['.', '?', '!', ':', ';', '"', '„', '“', '(', '\n', '-', '–']);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_english_question_with_a_german_word_or_name_in_it_is_english() {
        for english in [
            "Is it MIT licensed?",
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
        for language in [Language::English, Language::German] {
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
