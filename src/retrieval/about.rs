//! Of which time a question is, where versions of a page differ.
//!
//! Takes a question, gives whether it is about what holds now, what held before, or what changed. It goes by whole words:
//! a compartment compares nothing. "Old" says something of the time only beside a noun: "how old is the crane" does not.
//! Pure.
//! Not here: versions that a question names by a year, a date or a number (`versions`).

use time::{Date, Duration};

use super::copies::words;
use crate::base::Language;

/// Words of a question about what was said before.
const PAST: &[&str] = &[
    "previous",
    "previously",
    "formerly",
    "originally",
    "yesterday",
    "yesterdays",
    "outdated",
    "vorher",
    "vorherige",
    "vorherigen",
    "vorige",
    "vorigen",
    "voriges",
    "bisher",
    "bisherige",
    "bisherigen",
    "ältere",
    "älteren",
    "damals",
    "damalige",
    "damaligen",
    "ursprünglich",
    "gestern",
    "gestrige",
    "gestrigen",
    "veraltet",
    "veraltete",
    "veralteten",
];

/// Words that may as well say when something is done or which thing is meant: "the original receipts", "früher gehen".
const PERHAPS_PAST: &[&str] =
    &["earlier", "former", "original", "frühere", "früheren", "früherer", "früheres", "früher", "originale"];

/// What has versions: beside these a word such as "former" is about the past.
const VERSIONED: &[&str] = &[
    "amount",
    "document",
    "edition",
    "figure",
    "guideline",
    "limit",
    "limits",
    "page",
    "plan",
    "policy",
    "price",
    "procedure",
    "rate",
    "regulation",
    "release",
    "revision",
    "rule",
    "rules",
    "setting",
    "settings",
    "text",
    "value",
    "values",
    "version",
    "versions",
    "wording",
    "ausgabe",
    "betrag",
    "dokument",
    "fassung",
    "fassungen",
    "grenze",
    "grenzen",
    "plan",
    "preis",
    "regel",
    "regeln",
    "regelung",
    "richtlinie",
    "seite",
    "stand",
    "text",
    "verfahren",
    "version",
    "versionen",
    "vorgabe",
    "wert",
    "werte",
    "wortlaut",
];

/// Words after "change" that make it a thing of its own, as in IT: no version has changed.
const OF_CHANGE: &[&str] =
    &["request", "requests", "management", "board", "control", "log", "process", "ticket", "tickets", "freeze"];

/// Words of a question about several versions.
const CHANGE: &[&str] = &[
    "change",
    "changes",
    "changed",
    "changing",
    "differ",
    "differs",
    "differed",
    "differing",
    "difference",
    "differences",
    "different",
    "differently",
    "compare",
    "compares",
    "compared",
    "comparing",
    "comparison",
    "comparisons",
    "ändern",
    "ändere",
    "ändert",
    "änderte",
    "änderten",
    "änderung",
    "änderungen",
    "geändert",
    "geänderte",
    "geänderten",
    "geänderter",
    "geändertes",
    "unterschied",
    "unterschiede",
    "unterschieden",
    "unterschiedes",
    "unterschieds",
    "unterschiedlich",
    "unterschiedliche",
    "unterschiedlichen",
    "unterschiedlicher",
    "vergleich",
    "vergleiche",
    "vergleichen",
    "vergleicht",
    "vergleichs",
    "verglichen",
];

/// Words that tell an earlier state of what they stand before.
const ENGLISH_OLD: [&str; 2] = ["old", "older"];

/// Likewise; "alt" has no ending where it tells an age, and is looked at by itself.
const GERMAN_OLD: [&str; 4] = ["alte", "alten", "alter", "altes"];

/// Words before "old" that make an age of it.
const AGES: [&str; 17] = [
    "how", "year", "years", "month", "months", "week", "weeks", "day", "days", "wie", "jahr", "jahre", "monate",
    "wochen", "tage", "so", "zu",
];

/// Words that are no noun, beside those that say nothing in any question.
const NO_NOUN: [&str; 20] = [
    "but", "enough", "it", "its", "he", "she", "they", "this", "that", "these", "those", "their", "now", "already",
    "because", "then", "aber", "genug", "dieser", "diese",
];

/// Days before today that a question speaks of at most.
const MOST_DAYS: i64 = 3660;

/// The day that a question means which counts from today: "yesterday", "vorgestern", "3 days ago".
pub(super) fn day_meant(question: &str, today: Date) -> Option<Date> {
    let asked: Vec<String> = words(question).collect();
    let says =
        |run: &[&str]| asked.windows(run.len()).any(|window| window.iter().zip(run).all(|(word, said)| word == said));
    let number = |word: Option<&String>| word?.parse::<i64>().ok().filter(|days| (1..=MOST_DAYS).contains(days));
    let ago = (0..asked.len()).find_map(|at| match asked[at].as_str() {
        "days" | "day" if asked.get(at + 1).is_some_and(|next| next == "ago") => number(asked.get(at.checked_sub(1)?)),
        "vor" if asked.get(at + 2).is_some_and(|next| matches!(next.as_str(), "tagen" | "tag")) => {
            number(asked.get(at + 1))
        }
        _ => None,
    });
    let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
    let days = if says(&["day", "before", "yesterday"]) || has(&["vorgestern"]) {
        2
    } else if has(&["yesterday", "yesterdays", "gestern", "gestrige", "gestrigen"]) {
        1
    } else if has(&["today", "heute"]) {
        0
    } else {
        ago?
    };
    today.checked_sub(Duration::days(days))
}

/// Which versions a question is about where it names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The newest.
    Now,
    /// An older one.
    Past,
    /// The newest, or an older one: nothing tells which.
    Either,
    /// Several.
    Changes,
}

impl About {
    pub(super) fn of(question: &str) -> Self {
        let asked: Vec<String> = words(question).collect();
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
        let beside = |list: &[&str], next: &[&str]| {
            asked.windows(2).any(|pair| list.contains(&pair[0].as_str()) && next.contains(&pair[1].as_str()))
        };
        let is_thing = |at: usize| {
            asked[at] == "change" && asked.get(at + 1).is_some_and(|next| OF_CHANGE.contains(&next.as_str()))
        };
        if (0..asked.len()).any(|at| CHANGE.contains(&asked[at].as_str()) && !is_thing(at)) {
            return Self::Changes;
        }
        let said = said(question);
        let language = Language::of(question);
        let is_past = |at: usize| is_old_thing(&said[at..], at.checked_sub(1).map(|at| &said[at]), language);
        let is_before = beside(&["day"], &["before"]) || has(&["vortag", "vortags", "vorgestern"]);
        let is_said = is_before || has(PAST) || beside(PERHAPS_PAST, VERSIONED);
        if is_said || (0..said.len()).any(|at| is_past(at) || is_last_year(&said[at..])) {
            Self::Past
        } else if has(PERHAPS_PAST) {
            Self::Either
        } else {
            Self::Now
        }
    }
}

/// A word of a question.
struct Said {
    /// In lower case, without the `'s` of a genitive.
    word: String,
    capital: Capital,
    /// A sign follows, so that the next word is not beside it.
    ends: bool,
}

/// Whether a word begins with a capital letter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capital {
    /// Inside the question: a name, in German any noun.
    Inside,
    /// At its beginning, where it says nothing.
    First,
    None,
}

fn said(question: &str) -> Vec<Said> {
    let pieces = question.split_whitespace().enumerate();
    let words = pieces.map(|(at, piece)| {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let capital = match (word.starts_with(char::is_uppercase), at) {
            (false, _) => Capital::None,
            (true, 0) => Capital::First,
            (true, _) => Capital::Inside,
        };
        Said { word: bare.to_lowercase(), capital, ends: piece.ends_with(|c: char| !c.is_alphanumeric()) }
    });
    words.collect()
}

/// Whether the first of these words is "old" and the next is what was so: "the old limit", "older rules". The Old Harbour
/// is a name.
fn is_old_thing(words: &[Said], before: Option<&Said>, language: Language) -> bool {
    let [old, next, ..] = words else { return false };
    let is_old = match language {
        Language::English => ENGLISH_OLD.contains(&old.word.as_str()),
        // Without an ending it may as well stand before a verb, as in "alt geworden".
        Language::German if old.word == "alt" => next.capital == Capital::Inside,
        Language::German => GERMAN_OLD.contains(&old.word.as_str()),
    };
    let is_age = before.is_some_and(|before| AGES.contains(&before.word.as_str()));
    let says_nothing = language.is_function_word(&next.word) && next.word != "one";
    let is_noun = !next.word.is_empty() && !says_nothing && !NO_NOUN.contains(&next.word.as_str());
    is_old && !is_age && is_noun && !old.ends && old.capital != Capital::Inside
}

/// Whether the first of these words are "last year", and not the last year of something.
fn is_last_year(words: &[Said]) -> bool {
    let [last, year, rest @ ..] = words else { return false };
    let is_said = match last.word.as_str() {
        "last" => year.word == "year",
        "letztes" | "letzten" | "letztem" => matches!(year.word.as_str(), "jahr" | "jahres" | "jahrs"),
        _ => false,
    };
    let of_something = rest.first().is_some_and(|next| matches!(next.word.as_str(), "of" | "des"));
    is_said && !last.ends && !of_something
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_beside_a_noun_and_last_year_are_about_the_past() {
        for question in [
            "What did the old version say of the crane?",
            "old crane limit",
            "Old limit of the crane?",
            "What was the limit in the older rules?",
            "Was there an older one?",
            "What was the limit of the crane last year?",
            "What did last year's rules say?",
            "Wie war die alte Grenze des Krans?",
            "Was stand in den alten Regeln für den Kran?",
            "Gab es ein altes Verfahren für den Kran?",
            "Galt ein alter Plan für die Pumpen?",
            "Was sagt der Plan alt Hafen zu den Pumpen?",
            "Wo lag die Grenze letztes Jahr?",
            "Was galt im letzten Jahr für den Kran?",
            "Which load was it yesterday?",
            "Was galt gestern für den Kran?",
        ] {
            assert_eq!(About::of(question), About::Past, "{question}");
        }
    }

    #[test]
    fn an_age_and_a_name_are_not_about_the_past() {
        for question in [
            "How old is the crane?",
            "How old are the pumps in the harbour?",
            "Do you know how old crane 3 is?",
            "Is the crane ten years old today?",
            "Which 10-year-old cranes are there?",
            "Is it old enough?",
            "Is pump 3 older than pump 4?",
            "Which pump is older?",
            "Is the crane old, broken or both?",
            "When does the Old Harbour open?",
            "Which alt text has the picture?",
            "How do I alter settings of the radio?",
            "What happens in the last year of the contract?",
            "Which limits held in the last years?",
            "Wie alt ist der Kran?",
            "Ist der Kran zehn Jahre alt?",
            "Ist der Kran alt geworden und warum?",
            "Welches Alter haben die Pumpen?",
            "Wann öffnet der Alte Hafen?",
            "Was gilt im letzten Jahr des Vertrags?",
            "At which load does the crane stop?",
            "",
        ] {
            assert_eq!(About::of(question), About::Now, "{question}");
        }
    }

    #[test]
    fn a_word_that_may_say_something_else_leaves_open_which_version_is_meant() {
        for question in [
            "Where do I send the original receipts?",
            "Do former employees keep access?",
            "Can I take the earlier flight?",
            "Darf ich früher gehen?",
        ] {
            assert_eq!(About::of(question), About::Either, "{question}");
        }
        for question in [
            "What did the original version say of the crane?",
            "What was the former limit?",
            "Was sagte die frühere Fassung?",
        ] {
            assert_eq!(About::of(question), About::Past, "{question}");
        }
        assert_eq!(About::of("Who approves a change request?"), About::Now);
        assert_eq!(About::of("What changed in the change management policy?"), About::Changes);
    }

    #[test]
    fn a_question_about_changes_has_a_whole_word_for_them() {
        for question in [
            "What changed in the load of the crane?",
            "Are there different loads?",
            "Compare the old and the new rules",
            "What is the difference to last year?",
            "Was hat sich an der Last geändert?",
            "Welche Änderungen gab es?",
            "Was ist der Unterschied der Fassungen?",
            "Wie ist die Last im Vergleich?",
        ] {
            assert_eq!(About::of(question), About::Changes, "{question}");
        }
        for question in ["Which compartment holds the radio?", "Where is the differential valve?"] {
            assert_eq!(About::of(question), About::Now, "{question}");
        }
        assert_eq!(About::of("Which compartment held the radio yesterday?"), About::Past);
    }
}
