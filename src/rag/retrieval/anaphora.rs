//! Finds anaphors: words by which a question refers to earlier turns.
//!
//! Takes a question and its words, gives the first anaphor. Other uses of the same words are excluded ("is there a
//! fix", "the bug that stops the boot", "such as buoys").
//! Pure, by word lists; rare phrases are misjudged.
//! Not here: what follows from an anaphor (`query_weights`).

use ragonite_base::Language;

/// English anaphors.
const ENGLISH: &[&str] = &[
    "it", "its", "they", "their", "them", "this", "these", "that", "those", "he", "his", "him", "she", "her", "hers",
    "there", "ones", "such", "same", "former", "latter",
];

/// German anaphors without `das`, `es`, `sie` and `ihr`, which mostly refer to nothing earlier.
const GERMAN: &[&str] = &[
    "er",
    "ihn",
    "ihm",
    "ihnen",
    "ihre",
    "ihren",
    "dies",
    "diese",
    "dieser",
    "dieses",
    "diesen",
    "diesem",
    "dort",
    "davon",
    "dabei",
    "dafür",
    "damit",
    "daran",
    "darin",
    "jene",
    "jener",
    "denselben",
    "dieselbe",
    "desselben",
];

/// Words beside an existential "there".
const BEING: &[&str] =
    &["is", "are", "was", "were", "be", "been", "isn", "aren", "wasn", "weren", "any", "exist", "exists"];

/// Words after a demonstrative "that"; before other words "that" begins a relative clause.
const PREPOSITIONS: &[&str] = &[
    "about", "after", "at", "before", "by", "during", "for", "from", "in", "of", "on", "since", "to", "until", "with",
];

/// Words after "this" that make it a time: "this year".
const TIMES: &[&str] = &[
    "year",
    "years",
    "month",
    "week",
    "weekend",
    "quarter",
    "morning",
    "afternoon",
    "evening",
    "spring",
    "summer",
    "autumn",
    "winter",
    "jahr",
    "jahres",
    "monat",
    "monats",
    "woche",
    "wochenende",
    "quartal",
    "morgen",
    "abend",
    "frühjahr",
    "sommer",
    "herbst",
    "winter",
];

/// German words before a noun that is no subject.
const PLACING: &[&str] = &[
    "ab", "am", "an", "auf", "aus", "bei", "beim", "bis", "dem", "den", "der", "des", "durch", "einem", "einen",
    "einer", "für", "im", "in", "ins", "mit", "nach", "ohne", "seit", "unter", "vom", "von", "vor", "zu", "zum", "zur",
    "über",
];

/// Plurals without an "s".
const PLURALS: &[&str] = &["people", "men", "women", "children", "staff", "crew"];

/// Endings in "s" of words that are no plurals: process, status, always, analysis.
const SINGULARS: &[&str] = &["ss", "us", "ys", "is"];

/// Words before a subject whose verb follows it.
const AUXILIARIES: &[&str] = &[
    "do", "did", "don", "didn", "can", "could", "may", "might", "must", "shall", "should", "will", "would", "have",
    "had",
];

/// Words after an impersonal "it".
const IMPERSONAL: &[&str] = &["allowed", "likely", "necessary", "possible", "safe", "true"];

/// The first anaphor among `words`, which are in lower case and in the order of `question`.
pub(super) fn anaphor(question: &str, words: &[String], language: Language) -> Option<String> {
    let pointers = match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
    };
    let points = |at: &usize| {
        pointers.contains(&words[*at].as_str())
            && !is_of_now(words, *at)
            && match language {
                Language::English => means_something_said(words, *at) && !is_of_the_same_clause(words, *at),
                // After a comma, "damit" means "so that".
                Language::German => {
                    (words[*at] != "damit" || !question.to_lowercase().contains(", damit"))
                        && !belongs_to_the_word_before(question, &words[*at])
                }
            }
    };
    (0..words.len()).find(points).map(|at| words[at].clone())
}

/// Whether the word is in a time such as "this year" or "diese Woche".
fn is_of_now(words: &[String], at: usize) -> bool {
    let is_this = matches!(words[at].as_str(), "this" | "these" | "diese" | "dieser" | "dieses" | "diesen" | "diesem");
    is_this && words.get(at + 1).is_some_and(|next| TIMES.contains(&next.as_str()))
}

/// Whether "they" or "their" refers to the subject of the same clause, as in "how do employees claim their expenses":
/// an auxiliary, a plural, its verb. In "which versions do their servers run" and "which tests cover their servers" it
/// may not. "Them" never does.
fn is_of_the_same_clause(words: &[String], at: usize) -> bool {
    let [before @ .., subject, verb] = &words[..at] else { return false };
    let is_content = |word: &String| !Language::English.is_stop_word(word);
    let ends_as_plural =
        subject.len() > 3 && subject.ends_with('s') && !SINGULARS.iter().any(|end| subject.ends_with(end));
    matches!(words[at].as_str(), "their" | "they")
        && is_content(verb)
        && is_content(subject)
        && (ends_as_plural || PLURALS.contains(&subject.as_str()))
        && before.iter().any(|word| AUXILIARIES.contains(&word.as_str()))
}

/// Whether "ihre" follows the noun it refers to: "wie rechnen Mitarbeiter ihre Reisen ab".
fn belongs_to_the_word_before(question: &str, word: &str) -> bool {
    let original: Vec<&str> = question.split_whitespace().collect();
    matches!(word, "ihre" | "ihren")
        && original.windows(3).any(|run| {
            let is_noun = run[1].starts_with(char::is_uppercase) && run[1].ends_with(char::is_alphabetic);
            // "Im Oktober" and "auf dem Board" own nothing.
            let is_placed = PLACING.contains(&run[0].to_lowercase().as_str());
            is_noun && !is_placed && run[2].to_lowercase() == word
        })
}

/// Whether an English word that can be an anaphor is one here.
fn means_something_said(words: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before)).map(String::as_str);
    let after = words.get(at + 1).map(String::as_str);
    let is_one_of = |word: Option<&str>, list: &[&str]| word.is_some_and(|word| list.contains(&word));
    match words[at].as_str() {
        "there" => !is_one_of(before, BEING) && !is_one_of(after, BEING),
        "it" => !is_one_of(after, IMPERSONAL),
        "such" => after != Some("as"),
        "same" => !words[at..].iter().any(|word| word == "as"),
        "that" => {
            before.is_none_or(|word| Language::English.is_stop_word(word))
                || after.is_none()
                || is_one_of(after, PREPOSITIONS)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dependence, dependence};

    #[test]
    fn a_word_that_stands_for_something_said_points_back() {
        for (question, word) in [
            ("Does that work on the new antenna board?", "that"),
            ("Who wrote that in the report of March?", "that"),
            ("Which driver of the antenna board uses that?", "that"),
            ("Who went there for the antenna board?", "there"),
            ("Is it tested with the antenna board?", "it"),
            ("Did such a test run on the antenna board?", "such"),
            ("Did the same driver run on the antenna board?", "same"),
            ("Which versions do their antenna boards run?", "their"),
            ("Who wrote their report about antennas?", "their"),
            ("What are the names of their antenna boards?", "their"),
            ("Which department handles their antenna boards?", "their"),
            ("Who actually approves their antenna boards?", "their"),
            ("Which tests cover their antenna boards?", "their"),
            ("Which antenna tests cover them on the board?", "them"),
            ("Do users of antenna boards need them?", "them"),
            ("Which process calls their antenna service?", "their"),
            ("How does the antenna process call their service?", "their"),
            ("Wann läuft im Oktober ihre Lizenz für Antennen ab?", "ihre"),
            ("Which test of the antenna board passed this check?", "this"),
            ("Welche Version hat ihre Software für Antennen?", "ihre"),
            ("Was kann man damit auf dem Board testen?", "damit"),
        ] {
            assert_eq!(dependence(question), Dependence::Refers { word: word.into() }, "{question}");
        }
    }

    #[test]
    fn a_word_that_does_other_work_points_nowhere() {
        for question in [
            "Are there any open bugs in the launcher?",
            "Is there a fix for OXT-1654 in the release branch?",
            "Which tests that failed on the antenna board were repeated?",
            "Is it possible to boot the antenna board from USB?",
            "Which sea marks such as buoys were tested?",
            "Does the new board use the same driver as the antenna board?",
            "How do employees claim their travel expenses?",
            "Can people bring their dogs into the office?",
            "Which antenna boards are tested this year?",
            "Wie rechnen Mitarbeiter ihre Reisekosten ab?",
            "Welche Antennen werden dieses Jahr getestet?",
            "Was braucht das Board, damit der Treiber startet?",
        ] {
            assert_eq!(dependence(question), Dependence::Complete, "{question}");
        }
    }
}
