//! The temporal intent of a question: which versions of a page it is about, if it names none.
//!
//! Takes a question; tells whether it is about the present, the past, the first version, either, or changes. Whole
//! words count. "Old" counts only before a noun: not in "how old is the crane".
//! Pure, by word lists; rare phrases are misjudged.
//! Not here: the day that a question means (`temporal_expr`), versions named by a year, date or number (`versions`).

use super::temporal_expr::{LAST, relative_offset};
use ragonite_base::Language;
use ragonite_base::text::{SentenceWord, lower_words, sentence_words};

/// Words about an earlier version.
const PAST: &[&str] = &[
    "previous",
    "previously",
    "formerly",
    "yesterday",
    "yesterdays",
    "outdated",
    "vorgestern",
    "vorherige",
    "vorherigen",
    "vorige",
    "vorigen",
    "voriges",
    "bisherige",
    "bisherigen",
    "ältere",
    "älteren",
    "damals",
    "damalige",
    "damaligen",
    "gestern",
    "gestrige",
    "gestrigen",
    "veraltet",
    "veraltete",
    "veralteten",
];

/// Words about the first version.
const FIRST: &[&str] =
    &["originally", "ursprünglich", "ursprüngliche", "ursprünglichen", "oldest", "älteste", "ältesten"];

/// Words about the past if they stand before something that has versions ("the former limit"); otherwise they may tell
/// when to do something ("früher gehen").
const FORMER: &[&str] = &["earlier", "former", "frühere", "früheren", "früherer", "früheres"];

/// Words that may be about the past or mean something else: "the original receipts", "am Vortag absagen".
const PERHAPS_PAST: &[&str] =
    &["original", "originale", "originalen", "früher", "vorher", "bisher", "vortag", "vortags"];

/// Words that mean a time if no noun follows.
const ONCE: &[&str] = &["earlier", "früher", "vorher", "bisher"];

/// English verbs in the past tense; together with a word of [`ONCE`] they mean the past.
const ENGLISH_WAS: &[&str] = &["was", "were", "did", "had"];

/// German verbs in the past tense.
const GERMAN_WAS: &[&str] = &[
    "war", "waren", "galt", "galten", "hatte", "hatten", "wurde", "wurden", "stand", "standen", "lag", "lagen",
    "betrug", "betrugen", "kostete", "kosteten", "hieß",
];

/// German auxiliaries before a participle: "hat früher geöffnet".
const GERMAN_PERFECT: &[&str] = &["hat", "haben", "ist", "sind"];

/// Stems of things that have versions; a word such as "former" before them means the past.
const VERSIONED: &[&str] = &[
    "amount",
    "document",
    "edition",
    "figure",
    "guideline",
    "limit",
    "page",
    "plan",
    "policy",
    "policies",
    "price",
    "procedure",
    "rate",
    "regulation",
    "release",
    "revision",
    "rule",
    "setting",
    "text",
    "value",
    "version",
    "wording",
    "ausgabe",
    "betrag",
    "beträg",
    "dokument",
    "fassung",
    "grenze",
    "preis",
    "regel",
    "regelung",
    "richtlinie",
    "seite",
    "stand",
    "verfahren",
    "vorgabe",
    "wert",
    "wortlaut",
];

/// Endings of [`VERSIONED`].
const ENDINGS: &[&str] = &["", "s", "es", "e", "n", "en"];

/// Most words between "former" and the thing that has versions: "the former travel limit".
const MOST_BETWEEN: usize = 2;

/// Words after "change" that form a term of IT and mean no change of a version.
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

/// English words for an earlier state of the following noun.
const ENGLISH_OLD: [&str; 2] = ["old", "older"];

/// German words for an earlier state; "alt" has no ending when it tells an age and is checked separately.
const GERMAN_OLD: [&str; 4] = ["alte", "alten", "alter", "altes"];

/// Words before "old" that tell an age.
const AGES: [&str; 17] = [
    "how", "year", "years", "month", "months", "week", "weeks", "day", "days", "wie", "jahr", "jahre", "monate",
    "wochen", "tage", "so", "zu",
];

/// Words that are no nouns, in addition to stop words.
const NO_NOUN: [&str; 3] = ["enough", "already", "genug"];

/// Which versions a question is about if it names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemporalIntent {
    /// The newest one.
    Now,
    /// An older one.
    Past,
    /// The first one.
    First,
    /// The newest one or an older one; the question leaves it open.
    Either,
    /// Several versions.
    Changes,
}

impl TemporalIntent {
    pub(super) fn of(question: &str) -> Self {
        let asked: Vec<String> = lower_words(question).collect();
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
        let is_thing = |at: usize| {
            asked[at] == "change" && asked.get(at + 1).is_some_and(|next| OF_CHANGE.contains(&next.as_str()))
        };
        if (0..asked.len()).any(|at| CHANGE.contains(&asked[at].as_str()) && !is_thing(at)) {
            return Self::Changes;
        }
        let read = sentence_words(question);
        let language = Language::of(question);
        let is_past = |at: usize| is_old_thing(&read[at..], at.checked_sub(1).map(|at| &read[at]), language);
        if has(FIRST) || is_of_first_version(&asked) {
            return Self::First;
        }
        let is_former = is_beside(&asked, FORMER);
        let is_old = has(PAST) || relative_offset(&asked).is_some() || is_former || is_once(&asked, language);
        if is_old || (0..read.len()).any(|at| is_past(at) || is_last(&read[at..], YEARS)) {
            Self::Past
        } else if has(FORMER) || has(PERHAPS_PAST) || (0..read.len()).any(|at| is_last(&read[at..], SHORTER)) {
            Self::Either
        } else {
            Self::Now
        }
    }
}

/// Whether one of these words stands before something that has versions: "the former travel limit".
fn is_beside(asked: &[String], list: &[&str]) -> bool {
    let is_versioned = |word: &String| {
        let ends = |noun: &&str| word.strip_prefix(*noun).is_some_and(|ending| ENDINGS.contains(&ending));
        VERSIONED.iter().any(ends)
    };
    (0..asked.len()).any(|at| {
        let next = asked[at + 1..].iter().take(MOST_BETWEEN + 1);
        list.contains(&asked[at].as_str()) && next.into_iter().any(is_versioned)
    })
}

/// Whether the question asks for "the first version" or "the original rules". "The original documents" are no version.
fn is_of_first_version(asked: &[String]) -> bool {
    let is_version =
        |word: &String| matches!(word.as_str(), "version" | "edition" | "release" | "revision" | "fassung" | "ausgabe");
    let is_rule = |word: &String| {
        let nouns = [
            "limit",
            "price",
            "preis",
            "rule",
            "regel",
            "regulation",
            "regelung",
            "polic",
            "plan",
            "wording",
            "wortlaut",
        ];
        nouns.iter().any(|noun| word.strip_prefix(noun).is_some_and(|rest| rest.len() <= 3))
    };
    asked.windows(2).any(|pair| match pair[0].as_str() {
        "first" | "erste" | "ersten" | "erster" => is_version(&pair[1]),
        "original" | "originale" | "originalen" => is_version(&pair[1]) || is_rule(&pair[1]),
        _ => false,
    })
}

/// Whether the question has a verb in the past tense. German "was" is none.
pub(super) fn is_past_tense(asked: &[String], language: Language) -> bool {
    let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
    match language {
        Language::English => has(ENGLISH_WAS),
        Language::German => {
            has(GERMAN_WAS) || (has(GERMAN_PERFECT) && asked.last().is_some_and(|last| last.starts_with("ge")))
        }
    }
}

/// Whether the question asks about an earlier state: "was galt früher", "what did it say before", "what used to be the
/// limit". Not "earlier than planned", and not the earlier one of two.
fn is_once(asked: &[String], language: Language) -> bool {
    let is_alone = |at: usize| match asked.get(at + 1).map(String::as_str) {
        None => true,
        Some("than" | "als" | "of" | "von") => false,
        Some(next) => language == Language::German || language.is_stop_word(next),
    };
    let is_before = |at: usize| asked[at] == "before" && at + 1 == asked.len();
    let was_so = |at: usize| {
        let is_use =
            asked[..at].iter().any(|word| matches!(word.as_str(), "is" | "are" | "was" | "were" | "be" | "been"));
        asked[at] == "used" && asked.get(at + 1).is_some_and(|next| next == "to") && !is_use
    };
    let is_once = |at: usize| (ONCE.contains(&asked[at].as_str()) && is_alone(at)) || is_before(at) || was_so(at);
    let may_be_once = (0..asked.len()).any(is_once);
    may_be_once && (is_past_tense(asked, language) || (0..asked.len()).any(was_so))
}

/// Whether the words begin with "old" and a noun: "the old limit", "older rules". "The Old Harbour" is a name.
fn is_old_thing(words: &[SentenceWord<'_>], before: Option<&SentenceWord<'_>>, language: Language) -> bool {
    let [old, next, ..] = words else { return false };
    let (word, noun) = (old.text.to_lowercase(), next.text.to_lowercase());
    let is_old = match language {
        Language::English => ENGLISH_OLD.contains(&word.as_str()),
        // Without an ending a verb may follow, as in "alt geworden".
        Language::German if word == "alt" => next.has_capital(),
        Language::German => GERMAN_OLD.contains(&word.as_str()),
    };
    let is_age = before.is_some_and(|before| AGES.contains(&before.text.to_lowercase().as_str()));
    let is_noun = !language.is_stop_word(&noun) && !NO_NOUN.contains(&noun.as_str());
    let is_name = old.has_capital() && !old.begins_sentence;
    is_old && !is_age && is_noun && !old.ends && !is_name
}

const YEARS: &[&str] = &["year", "jahr", "jahres", "jahrs"];

/// Periods whose rules may still hold at their end.
const SHORTER: &[&str] = &["week", "month", "quarter", "woche", "monat", "monats", "quartal", "quartals"];

/// Whether the words begin with "last year" or another of `times`, and not with "last year of".
fn is_last(words: &[SentenceWord<'_>], times: &[&str]) -> bool {
    let [last, time, rest @ ..] = words else { return false };
    let is_one_of = |word: &SentenceWord<'_>, list: &[&str]| list.contains(&word.text.to_lowercase().as_str());
    let of_something = rest.first().is_some_and(|next| is_one_of(next, &["of", "des", "der"]));
    is_one_of(last, LAST) && is_one_of(time, times) && !last.ends && !of_something
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
            "What was the limit three days ago?",
            "What was the limit a week ago?",
            "Was galt vor zwei Monaten für den Kran?",
            "Wie hoch war das Limit früher?",
            "Welches Limit galt bisher für den Kran?",
            "What did the page say earlier?",
            "What was the limit before?",
            "What used to be the limit?",
            "Wann hat die Kantine früher geöffnet?",
        ] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Past, "{question}");
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
            "Can I cancel the day before departure?",
            "Is the office open the day before Christmas?",
            "Was tun vor einem Sturm?",
            "Was gilt am Montag?",
            "What is the crane used to lift?",
            "",
        ] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Now, "{question}");
        }
    }

    #[test]
    fn a_word_that_may_say_something_else_leaves_open_which_version_is_meant() {
        for question in [
            "Where do I send the original receipts?",
            "Do former employees keep access?",
            "Can I take the earlier flight?",
            "Did the earlier flight leave on time?",
            "Darf ich früher gehen?",
            "Muss ich am Vortag absagen?",
            "Muss ich vorher fragen?",
            "Was passiert, wenn ich früher kündige?",
            "Was muss ich vorher tun?",
            "Do I have to hand in the original documents?",
            "What was decided last week?",
        ] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Either, "{question}");
        }
        for question in [
            "What was the former limit?",
            "What was the former travel limit?",
            "What did the earlier field work policy say?",
            "Was sagte die frühere Fassung?",
            "Was stand in den früheren Richtlinien?",
        ] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Past, "{question}");
        }
        assert_eq!(TemporalIntent::of("Who approves a change request?"), TemporalIntent::Now);
        assert_eq!(TemporalIntent::of("What changed in the change management policy?"), TemporalIntent::Changes);
    }

    #[test]
    fn what_was_first_of_all_is_asked_for_by_its_words() {
        for question in [
            "What did the original version say of the crane?",
            "What were the original prices?",
            "What was the first version of the limit?",
            "What was the limit originally?",
            "Was stand in der ersten Fassung?",
            "Was ist das älteste Limit?",
        ] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::First, "{question}");
        }
        assert_eq!(TemporalIntent::of("What is the first rule of the harbour?"), TemporalIntent::Now);
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
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Changes, "{question}");
        }
        for question in ["Which compartment holds the radio?", "Where is the differential valve?"] {
            assert_eq!(TemporalIntent::of(question), TemporalIntent::Now, "{question}");
        }
        assert_eq!(TemporalIntent::of("Which compartment held the radio yesterday?"), TemporalIntent::Past);
    }
}
