//! Makes a follow-up intent-explicit (RAGonite, Fig. 6).
//!
//! Takes a question and the turns before it, gives the completed question.
//! Invariants: a first question and one that says itself what it is about are never changed, and no model is asked; a
//! text of the model that is no usable question is never used.
//! Small models answer instead of completing, so what comes back is checked against what was asked.

use std::collections::HashSet;
use std::time::Instant;

use super::scope::out_of_scope_language;
use super::{AnswerError, Rewrite, RewriteHow, citation};
use crate::base::{CancelToken, Language, Millis, clean_line};
use crate::inference::{Generate, GenerateRequest, Sampling};
use crate::prompt::{PastTurn, PromptSettings, RewritePrompt};
use crate::retrieval::{Standing, standing};

/// What a follow-up is completed from.
#[derive(Debug, Clone, Copy)]
pub struct RewriteInput<'a> {
    /// The domain's prompt prefix; empty for the default.
    pub prefix: &'a str,
    /// Language of the question.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [PastTurn],
    /// The question as typed.
    pub question: &'a str,
    /// Limits of the prompt.
    pub settings: &'a PromptSettings,
}

/// Characters a completed question may have beyond three times those of the typed one.
const SPARE_LENGTH: usize = 60;

/// The rewrite of a conversation's first question: the question itself, and no model is asked.
pub fn first_question(question: &str) -> Rewrite {
    Rewrite {
        completed: clean_line(question),
        how: RewriteHow::First,
        prompt: None,
        completion: None,
        total_ms: Millis::default(),
    }
}

/// Completes `input.question`; always greedily, so that the same conversation is searched for the same text.
///
/// # Errors
/// When the prompt cannot be built, the model fails, or with [`AnswerError::Canceled`].
pub fn rewrite(
    generator: &mut dyn Generate,
    input: &RewriteInput<'_>,
    cancel: &CancelToken,
) -> Result<Rewrite, AnswerError> {
    let started = Instant::now();
    let original = clean_line(input.question);
    if input.past.is_empty() {
        return Ok(first_question(input.question));
    }
    if standing(&original) == Standing::Complete && !names(&original).is_empty() {
        return Ok(Rewrite { how: RewriteHow::Complete, ..first_question(input.question) });
    }
    cancel.check()?;
    let RewriteInput { prefix, language, past, question, settings } = *input;
    let prompt = RewritePrompt { prefix, language, past, question, settings }.build(generator)?;
    let request = GenerateRequest {
        parts: prompt.parts(),
        sampling: Sampling::Greedy,
        stop: prompt.stop.clone(),
        max_tokens: settings.rewrite_tokens,
        draft: Vec::new(),
    };
    let completion = generator.generate(&request, cancel, &mut |_| {})?;
    let (completed, how) = match usable(&completion.text, &original, past) {
        Some(completed) => (completed, RewriteHow::Model),
        None => (original, RewriteHow::Kept),
    };
    let total_ms = started.elapsed().into();
    Ok(Rewrite { completed, how, prompt: Some(prompt), completion: Some(completion), total_ms })
}

/// The model's text as a completed question; nothing where it is none.
fn usable(said: &str, original: &str, past: &[PastTurn]) -> Option<String> {
    let mut lines = said.trim().lines().filter(|line| !line.trim().is_empty());
    let line = bare(&clean_line(lines.next()?)).to_owned();
    let citations = citation::read(&line, &[]);
    let refuses = out_of_scope_language(&citations).is_some();
    let length = line.chars().count();
    let too_long = length > 3 * original.chars().count() + SPARE_LENGTH;
    let lost_its_form = asks(original) && !asks(&line);
    let fits = lines.next().is_none() && length > 2 && !refuses && citations.marks.is_empty();
    let sound = fits && !too_long && !lost_its_form && !says_more(&line, original);
    (sound && keeps_names(&line, original) && speaks_of_the_same(&line, original, past)).then_some(line)
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
fn names(text: &str) -> Vec<String> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let words = text.split(|c: char| !inner(c)).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let stands_for_one =
        |word: &&str| word.chars().any(|c| c.is_ascii_digit()) || word.chars().filter(|c| c.is_uppercase()).count() > 1;
    words.filter(stands_for_one).map(str::to_lowercase).collect()
}

fn keeps_names(line: &str, original: &str) -> bool {
    let line = line.to_lowercase();
    names(original).iter().all(|name| line.contains(name))
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

/// Whether the completed question shares a content word with the typed one or with the conversation, and brings no
/// name of its own.
fn speaks_of_the_same(line: &str, original: &str, past: &[PastTurn]) -> bool {
    let mut known = content_words(original);
    for turn in past {
        known.extend(content_words(&turn.question));
        known.extend(content_words(&turn.completed_question));
        known.extend(content_words(&turn.answer));
    }
    let said = content_words(line);
    let shares = said.iter().any(|word| known.contains(word));
    // A name or number that nobody mentioned was borrowed from elsewhere.
    let borrowed = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
        .any(|word| !known.contains(&word.to_lowercase()));
    shares && !borrowed
}

/// Words of more than three letters, and everything with a digit, in lower case.
fn content_words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_lowercase)
        .collect()
}
