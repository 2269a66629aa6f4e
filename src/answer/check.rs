//! Whether what a model wrote is one question that says what was asked.
//!
//! Takes a text of a model and the question it was made from. Pure.
//! Not here: what a completed question (`rewrite`) or a translated one (`translate`) must have beside.

use std::collections::HashSet;

use super::citation;
use super::scope::out_of_scope_language;
use crate::base::clean_line;

/// Characters a question made by a model may have beyond three times those of the typed one.
const SPARE_LENGTH: usize = 60;

/// The model's text as one question that asks what `original` asks by its form; nothing where it is none.
pub(super) fn one_question(said: &str, original: &str) -> Option<String> {
    let mut lines = said.trim().lines().filter(|line| !line.trim().is_empty());
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

/// Whether there are more sentences than were typed.
fn says_more(line: &str, original: &str) -> bool {
    let ends = |text: &str| {
        let words = text.split_whitespace();
        words.filter(|word| word.chars().count() > 3 && word.ends_with(['.', '?', '!'])).count()
    };
    ends(line) > ends(original).max(1)
}

/// Words that stand for one thing only and must not be lost: versions, ticket ids, abbreviations, code.
pub(super) fn identifiers(text: &str) -> Vec<String> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let words = text.split(|c: char| !inner(c)).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| is_identifier(word)).map(str::to_lowercase).collect()
}

/// Whether a word stands for one thing only, by its form.
pub(super) fn is_identifier(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) || word.chars().filter(|c| c.is_uppercase()).count() > 1
}

/// Whether `line` has all identifiers of `original`.
pub(super) fn keeps_names(line: &str, original: &str) -> bool {
    let line = line.to_lowercase();
    identifiers(original).iter().all(|name| line.contains(name))
}

/// Whether a translation has what every language writes in the same way: all that has a digit, and of the other names at
/// least half ("OS" may become "operating system"). Of `SSH-Schlüssel` that is `ssh`.
pub(super) fn translates_names(line: &str, original: &str) -> bool {
    let line = line.to_lowercase();
    let words = original.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let has_digit = |name: &&str| name.contains(|c: char| c.is_ascii_digit());
    let (numbers, names): (Vec<&str>, Vec<&str>) = words.filter(|word| is_identifier(word)).partition(has_digit);
    let kept = |name: &&&str| line.contains(&name.to_lowercase());
    numbers.iter().all(|name| kept(&name)) && 2 * names.iter().filter(kept).count() >= names.len()
}

/// Without the quotes and labels models put around a question.
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
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_lowercase)
        .collect()
}

/// Everything with a digit, in lower case.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().any(|c| c.is_ascii_digit())).map(str::to_lowercase)
}
