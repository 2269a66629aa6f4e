//! Entity carry-over: the names that a follow-up omits and its completed question needs.
//!
//! Takes texts, gives names: identifiers, versions, abbreviations and capitalized words. Pure.
//! A follow-up without a name is about the names of the previous question, mostly all of them. A completed question
//! that drops one finds the wrong thing: the same run on another board.
//! Not here: other checks of completed questions (`rewrite_guard`).

use std::collections::HashSet;

use super::citation;
use super::rewrite_guard::{is_verbatim, says_name};
use crate::prompt::HistoryTurn;
use ragonite_base::Language;
use ragonite_base::text::{SentenceWord, lower_words, sentence_words};

/// Most names that are added; a longer question tells its topic without them.
const MOST_ADDED: usize = 6;

/// Most names of an answer that is about them; an answer with more is a list.
const MOST_ANSWERED: usize = 3;

/// Words before a name that may include its preposition: `in the`, `on that`.
const LEAD: usize = 2;

/// Prepositions before a name, in English and German.
const PREPOSITIONS: &[&str] = &[
    "on", "in", "for", "of", "at", "with", "from", "under", "during", "within", "auf", "im", "für", "von", "vom",
    "bei", "beim", "mit", "am", "an", "aus", "unter", "zum", "zur",
];

/// Letters that words of one stem have in common.
const LEAST_STEM: usize = 4;

/// Words of a text that are read.
const MOST_WORDS: usize = 200;

/// The names in a text, as long as possible: `Kestrel B2`, `Field Work Policy 2025`, `OXT-1654`.
pub(super) fn entities(text: &str) -> Vec<String> {
    let language = Language::of(text);
    let words = name_words(text, language);
    let mut found: Vec<String> = Vec::new();
    for run in words.chunk_by(are_of_one_name) {
        let run: Vec<&str> = run.iter().filter(|word| word.may_be_name).map(|word| word.word.text).collect();
        let begins = run.len() == 1 && words.iter().any(|word| word.word.begins_sentence && word.word.text == run[0]);
        // German capitalizes all nouns, so only an identifier makes a name of the words before it.
        let tells = |word: &&str| is_verbatim(word) || (language == Language::English && !begins);
        let is_count = matches!(run.as_slice(), [word] if word.len() < 3 && word.parse::<u32>().is_ok());
        let name = run.join(" ");
        if !is_count && run.iter().any(tells) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Whether a text has a name that shares no word with `mentioned`: a `Felix Brandt` that nobody mentioned is made up.
pub(super) fn has_hallucinated_entity<'a>(text: &str, mentioned: impl IntoIterator<Item = &'a str>) -> bool {
    let mentioned: HashSet<String> = mentioned.into_iter().flat_map(lower_words).collect();
    !hallucinated_entities(text, &mentioned).is_empty()
}

/// The names in a text that share no word with `mentioned`, which is in lower case.
pub(super) fn hallucinated_entities(text: &str, mentioned: &HashSet<String>) -> Vec<String> {
    // `dbus` covers `D-Bus`.
    let is_mentioned_word = |word: &NameWord<'_>| {
        let parts: Vec<String> = lower_words(word.word.text).collect();
        parts.iter().all(|part| is_mentioned(part, mentioned)) || mentioned.contains(&parts.concat())
    };
    let language = Language::of(text);
    let is_made_up = |run: &[NameWord<'_>]| {
        let mut names = run.iter().filter(|word| word.may_be_name);
        match language {
            Language::English => {
                names.any(|word| !(is_mentioned_word(word) || word.word.begins_sentence && run.len() == 1))
            }
            // A single noun is no name; adjacent ones are, as in `mit Felix Brandt`.
            Language::German => {
                names.clone().any(|word| is_verbatim(word.word.text) && !is_mentioned_word(word))
                    || (run.len() > 1 && !names.any(is_mentioned_word))
            }
        }
    };
    let words = name_words(text, language);
    let made_up = words.chunk_by(are_of_one_name).filter(|run| is_made_up(run));
    let name = |run: &[NameWord<'_>]| {
        run.iter().filter(|word| word.may_be_name).map(|word| word.word.text).collect::<Vec<_>>().join(" ")
    };
    made_up.map(name).collect()
}

/// Whether a word is among `mentioned`, apart from its ending.
pub(super) fn is_mentioned(word: &str, mentioned: &HashSet<String>) -> bool {
    let is_long = |word: &str| word.chars().count() >= LEAST_STEM;
    let same = |other: &String| is_long(other) && (other.starts_with(word) || word.starts_with(other.as_str()));
    mentioned.contains(word) || (is_long(word) && mentioned.iter().any(same))
}

/// The names of the previous question that the model's `completed` form of `question` dropped. None if it has other
/// names, such as one from the answer.
pub(super) fn dropped_entities(completed: &str, question: &str, past: &[HistoryTurn]) -> Vec<String> {
    let Some(last) = past.last() else { return Vec::new() };
    if !entities(question).is_empty() {
        return Vec::new();
    }
    let asked = entities(asked(last));
    let has = |name: &String| has_name(completed, name);
    let speaks_of_others = || !entities(completed).is_empty() || answered(last).iter().any(has);
    let keeps_one = asked.iter().any(has);
    if !keeps_one && speaks_of_others() {
        return Vec::new();
    }
    // If one name is kept, another is added only where it fits into the sentence, not in brackets.
    let adds = |name: &String| !has_name(completed, name) && (!keeps_one || phrase(name, self::asked(last)).is_some());
    asked.into_iter().filter(adds).take(MOST_ADDED).collect()
}

/// The names to add to `question` if no model completed it: those of the previous question and of its answer.
pub(super) fn antecedents(question: &str, past: &[HistoryTurn]) -> Vec<String> {
    let Some(last) = past.last() else { return Vec::new() };
    if !entities(question).is_empty() {
        return Vec::new();
    }
    let mut found = entities(asked(last));
    let answered = answered(last);
    if answered.len() <= MOST_ANSWERED {
        let new = answered.into_iter().filter(|name| !found.iter().any(|known| has_name(known, name)));
        found.extend(new.collect::<Vec<_>>());
    }
    found.truncate(MOST_ADDED);
    found
}

/// Adds names to a question: each in the phrase of the previous question, such as `on the Kestrel B2 board`, which
/// small models read better; without a phrase in brackets.
pub(super) fn with_entities(question: &str, names: &[String], past: &[HistoryTurn]) -> String {
    let (mut text, end) = match question.trim_end().strip_suffix('?') {
        Some(rest) => (rest.trim_end().to_owned(), "?"),
        None => (question.trim_end().to_owned(), ""),
    };
    let before = past.last().map(asked).unwrap_or_default();
    let mut bare: Vec<&str> = Vec::new();
    for name in names {
        match phrase(name, before) {
            Some(phrase) if !ends_with_preposition(&text) => text = format!("{text} {phrase}"),
            _ => bare.push(name),
        }
    }
    if !bare.is_empty() {
        text = format!("{text} ({})", bare.join(", "));
    }
    text + end
}

/// A name in a question with its preposition and the noun after it; none without a preposition.
fn phrase(name: &str, question: &str) -> Option<String> {
    let language = Language::of(question);
    let words = sentence_words(question);
    let length = name.split(' ').count();
    let at = words.windows(length).position(|run| run.iter().map(|word| word.text).eq(name.split(' ')))?;
    let lead = words[at.saturating_sub(LEAD)..at].iter().rev().take_while(|word| is_little(word, language));
    let back = 1 + lead.take(LEAD).position(|word| is_preposition(word.text))?;
    let mut end = at + length;
    let ends = |at: usize| words[at - 1].ends;
    let may_be_name = |word: &SentenceWord<'_>| word.has_capital() || is_verbatim(word.text);
    let noun =
        words.get(end).filter(|word| !ends(end) && !word.opens && !may_be_name(word) && !is_little(word, language));
    // A verb is not part of the phrase: a noun is followed by a preposition or by nothing.
    if noun.is_some() && words.get(end + 1).is_none_or(|word| ends(end + 1) || is_preposition(word.text)) {
        end += 1;
    }
    Some(words[at - back..end].iter().map(|word| word.text).collect::<Vec<_>>().join(" "))
}

fn is_little(word: &SentenceWord<'_>, language: Language) -> bool {
    !word.ends && (word.is_stop_word(language) || is_preposition(word.text))
}

fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.iter().any(|preposition| preposition.eq_ignore_ascii_case(word))
}

fn ends_with_preposition(text: &str) -> bool {
    text.split_whitespace().next_back().is_some_and(is_preposition)
}

/// The names in the answer of a turn, without its citations.
fn answered(turn: &HistoryTurn) -> Vec<String> {
    let citations = citation::read(&turn.answer, &[]);
    let mut text = String::new();
    let mut done = 0;
    for mark in &citations.marks {
        text.push_str(&citations.text[done..mark.span.start]);
        done = mark.span.end;
    }
    text.push_str(&citations.text[done..]);
    entities(&text)
}

fn asked(turn: &HistoryTurn) -> &str {
    if turn.completed_question.is_empty() { &turn.question } else { &turn.completed_question }
}

/// Whether a text has all words of a name, or the name as a compound: `Osprey-D4`.
fn has_name(text: &str, name: &str) -> bool {
    name.split(' ').all(|word| says_name(text, word)) || says_name(text, &name.replace(' ', "-"))
}

/// A word that may be part of a name.
struct NameWord<'a> {
    word: SentenceWord<'a>,
    may_be_name: bool,
}

/// The first words of a text.
fn name_words(text: &str, language: Language) -> Vec<NameWord<'_>> {
    let asks = text.contains('?');
    let words = sentence_words(text).into_iter().take(MOST_WORDS);
    words
        .map(|word| {
            // A question begins with a verb or question word, a statement with its subject.
            let capital = word.has_capital() && !word.is_stop_word(language) && !(word.begins_sentence && asks);
            NameWord { may_be_name: capital || is_verbatim(word.text), word }
        })
        .collect()
}

/// Whether two adjacent words may be parts of one name.
fn are_of_one_name(a: &NameWord<'_>, b: &NameWord<'_>) -> bool {
    a.may_be_name && b.may_be_name && !a.word.ends && !b.word.opens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(question: &str, answer: &str) -> Vec<HistoryTurn> {
        let question = question.to_owned();
        vec![HistoryTurn { completed_question: question.clone(), question, answer: answer.to_owned() }]
    }

    #[test]
    fn names_are_found_as_long_as_they_go_on() {
        for (text, expected) in [
            ("Which driver ran on the Osprey D4 board in the May 2021 trial?", &["Osprey D4", "May 2021"][..]),
            ("What is HLR (Harbour Lamp Register)?", &["HLR", "Harbour Lamp Register"]),
            ("Who approved the Boiler Room Policy 2019, and why?", &["Boiler Room Policy 2019"]),
            ("What did Alice's team say about OXT-1654 and qemu-dm 9.0.2?", &["Alice", "OXT-1654", "9.0.2"]),
            ("Wie oft werden die Pumpen P-17 im Kesselhaus geprüft?", &["Pumpen P-17"]),
            ("Wer prüft die Pumpen im Kesselhaus?", &[]),
            ("How many of the 4 boards did I break?", &[]),
            ("", &[]),
        ] {
            assert_eq!(entities(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_the_model_lost_is_added() {
        let past = past("Which driver ran on the Osprey D4 board in the May 2021 trial?", "Driver 7.1 [Source 1].");
        let lost = |completed: &str, question: &str| dropped_entities(completed, question, &past);
        assert_eq!(lost("Who ran the May 2021 trial?", "Who ran it?"), ["Osprey D4"]);
        assert!(lost("Who ran the May 2021 trial on the Osprey D4?", "Who ran it?").is_empty());
        let bracketed = dropped_entities(
            "Who ran it on the Osprey D4?",
            "Who ran it?",
            &self::past("Who led the May 2021 trial on the Osprey D4 board?", "Ann."),
        );
        assert!(bracketed.is_empty(), "a bracket behind a question that has a name");
        assert!(lost("Who wrote driver 7.1?", "Who wrote it?").is_empty(), "it speaks of the answer");
        assert!(lost("Who wrote the JIRA ticket?", "who wrote the jira ticket?").is_empty(), "it speaks of another");
        assert!(lost("Who ran the Heron C1 trial?", "And on the Heron C1?").is_empty(), "it has a name of its own");
    }

    #[test]
    fn a_name_is_not_said_within_another_word() {
        let past = past("Who tested the pump B2 in 9.0?", "Ann.");
        assert_eq!(dropped_entities("Who tested the pump B2 in 9.0.2?", "Who was it?", &past), ["9.0"]);
        assert!(!has_name("Who was with the crew of the B21?", "IT") && !has_name("Who ran the B21?", "B2"));
        assert!(has_name("Who ran it on the Osprey-D4?", "Osprey D4") && has_name("two Ospreys", "Osprey"));
    }

    #[test]
    fn a_name_that_nobody_mentioned_is_told_from_those_that_were() {
        let mentioned =
            ["Who led the May 2021 trial on the Osprey D4 board?", "And for klamp?", "Ann Meyer [Source 1]."];
        for (text, brings) in [
            ("Who ran the May 2021 trial with Felix Brandt?", true),
            ("Who ran the Halden run?", true),
            ("What did Ann Brandt write?", true),
            ("Who wrote the OXT-99 ticket?", true),
            ("Who ran it on the Osprey D5?", true),
            ("Wer leitete den Versuch mit Felix Brandt?", true),
            ("Wer leitete den Versuch OXT-99?", true),
            ("Who led the May 2021 Trials for KLAMP with Ann Meyer?", false),
            ("What is Ann Meyer's board?", false),
            ("Is K-Lamp signed?", false),
            ("Wer leitete den Versuch auf dem Board Osprey D4?", false),
            ("Wer prüfte die Pumpen im Kesselhaus?", false),
            ("", false),
        ] {
            assert_eq!(has_hallucinated_entity(text, mentioned), brings, "{text}");
        }
    }

    #[test]
    fn a_question_that_was_not_completed_has_the_names_of_question_and_answer() {
        let past = past("Which club won the Pebble Cup in 2020?", "Stonehaven United [Source 2].");
        let found = antecedents("What is the name of their ground?", &past);
        assert_eq!(found, ["Pebble Cup", "2020", "Stonehaven United"]);
        assert_eq!(with_entities("Who is it?", &found, &past), "Who is it in 2020 (Pebble Cup, Stonehaven United)?");
        assert_eq!(with_entities("tell me more ", &found[..1], &past), "tell me more (Pebble Cup)");
        assert!(antecedents("Who?", &[]).is_empty());
    }

    #[test]
    fn a_name_is_added_in_the_words_that_it_was_asked_with() {
        let added = |question: &str, before: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            with_entities(question, &names, &past(before, ""))
        };
        let before = "Which driver was tested on the Osprey D4 board in the May 2021 trial?";
        assert_eq!(added("Who ran it?", before, &["Osprey D4"]), "Who ran it on the Osprey D4 board?");
        let both = "Who ran it on the Osprey D4 board in the May 2021 trial?";
        assert_eq!(added("Who ran it?", before, &["Osprey D4", "May 2021"]), both);
        let german = "Welche Firmware lief auf dem Board Osprey D4 im Mai 2021?";
        assert_eq!(added("Wer leitete das?", german, &["Board Osprey D4"]), "Wer leitete das auf dem Board Osprey D4?");
        // No preposition leads to it, a verb follows it, or the question ends with one itself.
        assert_eq!(added("Who ran it?", "Did the Osprey D4 fail?", &["Osprey D4"]), "Who ran it (Osprey D4)?");
        assert_eq!(added("Why?", "Was it for QUARL that Ann wrote?", &["QUARL"]), "Why for QUARL?");
        assert_eq!(added("What is it for?", "Who wrote it for QUARL?", &["QUARL"]), "What is it for (QUARL)?");
        assert_eq!(added("Who?", "", &["QUARL"]), "Who (QUARL)?");
    }
}
