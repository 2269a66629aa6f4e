//! Checks whether a model's output is a single question with the content of the original one.
//!
//! Takes the output and the question it was made from. Pure.
//! A name must occur as a word: `9.0` does not occur in `9.0.2`, nor `IT` in `with`.
//! Not here: further checks of completed questions (`rewrite`) and translations (`translate`).

use std::collections::HashSet;

use super::abstention::out_of_scope_language;
use super::citation;
use super::translate::detect_question;
use ragonite_base::clean_line;
use ragonite_base::text::{NAME_JOINS, has_digit, is_capitalized, is_identifier, lower_words, split_words, words};

/// Characters of the output beyond three times the length of the typed question.
const SPARE_LENGTH: usize = 60;

/// Endings that keep a name the same, in English and German.
const ENDINGS: &[&str] = &["s", "es", "e", "n", "en"];

/// Fewest letters of a name that may have an ending: `Anna` is no form of `Ann`.
const LEAST_STEM: usize = 4;

/// The output as one question with the form of `original`; none if unusable.
pub(super) fn single_question(output: &str, original: &str) -> Option<String> {
    let mut lines = output.trim().lines().filter(|line| !line.trim().is_empty());
    let line = bare(&clean_line(lines.next()?)).to_owned();
    let citations = citation::read(&line, &[]);
    let refuses = out_of_scope_language(&citations).is_some();
    let length = line.chars().count();
    let too_long = length > 3 * original.chars().count() + SPARE_LENGTH;
    let lost_its_form = asks(original) && !asks(&line);
    let fits = lines.next().is_none() && length > 2 && !refuses && citations.marks.is_empty();
    let sound = fits && !too_long && !lost_its_form && !says_more(&line, original);
    sound.then_some(line)
}

/// Whether the line has more sentences than the original.
fn says_more(line: &str, original: &str) -> bool {
    let ends = |text: &str| {
        let words = text.split_whitespace();
        words.filter(|word| word.chars().count() > 3 && word.ends_with(['.', '?', '!'])).count()
    };
    ends(line) > ends(original).max(1)
}

/// Words that must be kept as they are: versions, ticket ids, abbreviations, code, numbers.
pub(super) fn verbatim_words(text: &str) -> impl Iterator<Item = &str> {
    whole_words(text).filter(|word| is_verbatim(word))
}

/// Whether a text consists of identifiers only: `XY-1654`, `9.0.2 B2`. Not a text in capitals throughout, whose
/// language can be detected.
pub(super) fn is_names_alone(text: &str) -> bool {
    let mut words = whole_words(text).peekable();
    words.peek().is_some() && words.all(is_verbatim) && detect_question(text).is_none()
}

fn whole_words(text: &str) -> impl Iterator<Item = &str> {
    split_words(text, NAME_JOINS).map(|word| word.text)
}

/// Whether a word must be kept as it is: an identifier or a number.
pub(super) fn is_verbatim(word: &str) -> bool {
    is_identifier(word) || has_digit(word)
}

/// Whether `line` has all identifiers and numbers of `original`.
pub(super) fn keeps_identifiers(line: &str, original: &str) -> bool {
    verbatim_words(original).all(|name| says_name(line, name))
}

/// Whether a text has a name as a word, in any case. `XY-1654` and `XY-165-2` do not have `XY-165`; a compound such as
/// `SSH-Schlüssel` or `B2-Board` has its name, and so has an inflected name.
pub(super) fn says_name(text: &str, name: &str) -> bool {
    let mut places = text.char_indices().map(|(at, _)| text.split_at(at));
    places.any(|(before, rest)| {
        length_at_start(rest, name).is_some_and(|length| {
            let (written, behind) = rest.split_at(length);
            begins_alone(before, name) && ends_alone(written, behind, name)
        })
    })
}

/// Bytes of `name` at the beginning of a text, in any case; none if the text begins otherwise.
fn length_at_start(text: &str, name: &str) -> Option<usize> {
    let mut left = name.chars().flat_map(char::to_lowercase).peekable();
    for (at, c) in text.char_indices() {
        if left.peek().is_none() {
            return Some(at);
        }
        if !c.to_lowercase().all(|c| left.next() == Some(c)) {
            return None;
        }
    }
    left.peek().is_none().then_some(text.len())
}

/// Whether a name after `before` is not the end of a longer name.
fn begins_alone(before: &str, name: &str) -> bool {
    let joined = |join: char| before.strip_suffix(join).filter(|rest| rest.ends_with(char::is_alphanumeric));
    let is_of_a_number =
        name.starts_with(char::is_numeric) && joined('.').is_some_and(|rest| rest.ends_with(char::is_numeric));
    // `TEST-B2` is no board B2; `Notfall-SSH` is SSH.
    let is_other = joined('-').is_some_and(|rest| {
        let part = rest.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        has_digit(name) || has_digit(part)
    });
    !before.ends_with(char::is_alphanumeric) && joined('_').is_none() && !is_of_a_number && !is_other
}

/// Whether a name, written as `written` and followed by `behind`, is not the beginning of a longer name.
fn ends_alone(written: &str, behind: &str, name: &str) -> bool {
    let word_end = |text: &str| text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (ending, behind) = behind.split_at(word_end(behind));
    let joined = |join: char| behind.strip_prefix(join).filter(|rest| rest.starts_with(char::is_alphanumeric));
    let is_of_a_number =
        name.ends_with(char::is_numeric) && joined('.').is_some_and(|rest| rest.starts_with(char::is_numeric));
    let is_other = joined('-').is_some_and(|rest| {
        let part = &rest[..word_end(rest)];
        // `9.0-Release` is about 9.0, `9.0-rc` is not.
        has_digit(part) || (has_digit(name) && !is_capitalized(part))
    });
    may_end(written, ending, name) && joined('_').is_none() && !is_of_a_number && !is_other
}

/// Whether a name with this ending is the same name.
fn may_end(written: &str, ending: &str, name: &str) -> bool {
    let is_long = name.chars().count() >= LEAST_STEM && name.chars().all(char::is_alphabetic);
    let inflects = is_long && !is_identifier(name) && ENDINGS.contains(&ending);
    // `PCRs` is a plural, but `its` is no `IT`.
    let is_plural = ending == "s" && is_identifier(written) && !has_digit(written);
    ending.is_empty() || inflects || is_plural
}

/// Whether a translation keeps the names: all with a digit, and at least half of the others ("OS" may become "operating
/// system"). Of `SSH-Schlüssel` the name is `ssh`, of `XY-165-Meldung` `xy-165`.
pub(super) fn keeps_entities(line: &str, original: &str) -> bool {
    let (numbers, others): (Vec<&str>, Vec<&str>) = whole_words(original).partition(|word| has_digit(word));
    // `2024-2025` may become two words.
    let is_kept = |run: &&str| {
        says_name(line, run) || says_name(line, core(run)) || named_parts(run).all(|part| says_name(line, part))
    };
    let names: Vec<&str> = others.into_iter().flat_map(named_parts).collect();
    let kept = names.iter().filter(|name| says_name(line, name)).count();
    numbers.iter().all(is_kept) && 2 * kept >= names.len()
}

/// A name without the other words of a compound.
fn core(run: &str) -> &str {
    let mut core = run;
    while let Some((name, word)) = core.rsplit_once('-')
        && !is_verbatim(word)
    {
        core = name;
    }
    core
}

/// The parts of a run that are names.
fn named_parts(run: &str) -> impl Iterator<Item = &str> {
    run.split('-').filter(|part| is_verbatim(part))
}

/// Without the quotes and labels that models put around a question.
fn bare(line: &str) -> &str {
    const QUOTES: &[char] = &['"', '\'', '“', '”', '„', '»', '«', '`', '*'];
    const LABELS: &[&str] = &[
        "question",
        "frage",
        "user",
        "rewritten",
        "rewrite",
        "complete",
        "completed",
        "last",
        "letzte",
        "vollständige",
        "umformulierte",
        "translation",
        "übersetzung",
        "english",
        "german",
        "englisch",
        "deutsch",
    ];
    let dress = |c: char| c.is_whitespace() || QUOTES.contains(&c);
    let line = line.trim_matches(dress);
    let Some((label, rest)) = line.split_once(':') else { return line };
    let is_label = label.split_whitespace().all(|word| LABELS.contains(&word.to_lowercase().trim_matches(QUOTES)));
    if is_label && !label.trim().is_empty() { rest.trim_matches(dress) } else { line }
}

/// Whether a text has the form of a question.
fn asks(text: &str) -> bool {
    text.trim_end().trim_end_matches(['"', '\'', '”', '“', ')', ']']).ends_with('?')
}

/// Words of more than three letters, and everything with a digit, in lower case.
pub(super) fn content_words(text: &str) -> HashSet<String> {
    words(text).filter(|word| word.chars().nth(3).is_some() || has_digit(word)).map(str::to_lowercase).collect()
}

/// Everything with a digit, in lower case.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = String> {
    lower_words(text).filter(|word| has_digit(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_alone_ask_nothing() {
        for names in ["XY-1654", "xy-1654?", "9.0.2 B2", "IT-7"] {
            assert!(is_names_alone(names), "{names}");
        }
        for question in ["", "?", "What is XY-1654?", "XY-1654 owner", "WER WAR DABEI?", "the B2"] {
            assert!(!is_names_alone(question), "{question}");
        }
    }

    #[test]
    fn a_name_is_said_only_as_a_word_of_its_own() {
        for (name, text) in [
            ("9.0", "Which pumps run 9.0?"),
            ("9.0", "Is it in 9.0."),
            ("9.0", "the 9.0-Release"),
            ("B2", "Which driver runs on the b2?"),
            ("B2", "Wer prüft das B2-Board?"),
            ("XY-165", "Who closed (xy-165)?"),
            ("IT", "Who leads it security?"),
            ("SSH", "Wo liegt der SSH-Schlüssel?"),
            ("ssh", "der Notfall-SSH-Zugang"),
            ("SSH-Schlüssel", "die Ablage des SSH-Schlüssels"),
            ("PCR", "Which PCRs are read?"),
            ("Kolmet", "Wer sind Kolmets Kunden?"),
            ("Straße", "die STRAßE am Hafen"),
            ("B2", "B21 or B2"),
        ] {
            assert!(says_name(text, name), "{name}: {text}");
        }
        for (name, text) in [
            ("9.0", "Which pumps run 9.0.2?"),
            ("0.2", "Which pumps run 9.0.2?"),
            ("9.0", "Which pumps run 19.0?"),
            ("9.0", "Which pumps run 9.0-rc?"),
            ("B2", "Which driver runs on the B21?"),
            ("B2", "Who checks TEST-B2?"),
            ("XY-165", "Who closed XY-1654?"),
            ("XY-165", "Who closed XY-165-2?"),
            ("XY-165", "Who closed XY-165_old?"),
            ("XY", "Who closed XY-165?"),
            ("IT", "Who was with the crew in its harbour?"),
            ("US", "Who used the radio?"),
            ("OS", "Who may close the valve?"),
            ("Ann", "Who is Anna?"),
            ("Hafen", "Wer ist am Hafenbecken?"),
            ("B2", ""),
        ] {
            assert!(!says_name(text, name), "{name}: {text}");
        }
    }

    #[test]
    fn a_question_with_another_version_or_id_keeps_no_name() {
        let kept = |line: &str, original: &str| keeps_identifiers(line, original);
        assert!(!kept("Was the pump tested in 9.0.2?", "And in 9.0?"));
        assert!(kept("Was the pump tested in 9.0?", "And in 9.0?"));
        assert!(!kept("Who closed the valve?", "And for the OS?"));
        assert!(kept("Wo ist der ssh-schlüssel der Pumpe?", "Und der SSH-Schlüssel?"));
    }

    #[test]
    fn a_translation_keeps_ids_whole_and_half_of_the_other_names() {
        let kept = |line: &str, original: &str| keeps_entities(line, original);
        for (line, original) in [
            ("Where is the report of XY-165?", "Wo ist die XY-165-Meldung?"),
            ("Where is the ssh key?", "Wo ist der SSH-Schlüssel?"),
            ("Which pumps ran from 2024 to 2025?", "Welche Pumpen liefen 2024-2025?"),
            ("Which pump is the Titan-7?", "Welche Pumpe ist die Titan-7?"),
            ("Does the CI run the test?", "Läuft der Test der OS auf der CI?"),
        ] {
            assert!(kept(line, original), "{line}");
        }
        for (line, original) in [
            ("Where is the report of XY-1654?", "Wo ist die XY-165-Meldung?"),
            ("Which pumps run 9.0.2?", "Welche Pumpen haben 9.0?"),
            ("Who closed the harbour?", "Wer hat das OS?"),
        ] {
            assert!(!kept(line, original), "{line}");
        }
    }
}
