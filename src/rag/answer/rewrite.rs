//! Makes a follow-up intent-explicit (RAGonite, Fig. 6).
//!
//! Takes a question and the turns before it, gives the completed question.
//! Invariants: a first question, and one that can be understood alone and has a name or number of its own, are never
//! changed, and no model is asked; a text of the model that is no usable question is never used; a question that leaves
//! what was spoken of is given no name from there.
//! Small models answer instead of completing, so what comes back is checked against what was asked.

use std::collections::HashSet;
use std::time::Instant;

use super::entity_carryover::{antecedents, dropped_entities, has_hallucinated_entity, is_said, parts, with_entities};
use super::rewrite_guard::{content_words, identifiers, keeps_identifiers, numbers, single_question};
use super::translate::detect_question;
use super::{AnswerError, Rewrite, RewriteHow};
use crate::prompt::{HistoryTurn, PromptSettings, RewritePrompt};
use crate::retrieval::{Dependence, TopicShift, dependence, topic_shift};
use ragonite_base::{CancelToken, Language, Millis, clean_line};
use ragonite_inference::{Generate, GenerateRequest, Sampling};

/// Content words with which a question may be about something of its own.
const OWN_WORDS: usize = 2;

/// What a follow-up is completed from.
#[derive(Debug, Clone, Copy)]
pub struct RewriteInput<'a> {
    /// The domain's prompt prefix; empty for the default.
    pub prefix: &'a str,
    /// Language of the question.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [HistoryTurn],
    /// The question as typed.
    pub question: &'a str,
    /// Limits of the prompt.
    pub settings: &'a PromptSettings,
}

/// Characters of a question that says itself what it is about, and that a small model would only garble.
const LONG: usize = 1000;

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

/// The rewrite of a completed question that the user edited: the text itself, and no model is asked.
pub fn edited_question(question: &str) -> Rewrite {
    Rewrite { how: RewriteHow::Edited, ..first_question(question) }
}

/// The rewrite of a completed question that is asked again: the text itself, and no model is asked.
pub fn question_again(question: &str) -> Rewrite {
    Rewrite { how: RewriteHow::Again, ..first_question(question) }
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
    let is_complete = dependence(&original) == Dependence::Complete && identifiers(&original).next().is_some();
    if is_complete || original.chars().count() > LONG {
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
    let usable = usable(&completion.text, &original, past);
    let (completed, how) = named(usable, original, past);
    let total_ms = started.elapsed().into();
    Ok(Rewrite { completed, how, prompt: Some(prompt), completion: Some(completion), total_ms })
}

/// The completed question with the names that the conversation gives it.
fn named(usable: Option<String>, original: String, past: &[HistoryTurn]) -> (String, RewriteHow) {
    // One that says what it is about in its own words may be about something else than the question before it.
    let past = if points_back(&original) && topic_shift(&original) == TopicShift::Stays { past } else { &[] };
    let (text, missing, plain, added) = if let Some(text) = usable {
        let missing = dropped_entities(&text, &original, past);
        (text, missing, RewriteHow::Model, RewriteHow::Mended)
    } else {
        let missing = antecedents(&original, past);
        (original, missing, RewriteHow::Kept, RewriteHow::Named)
    };
    if missing.is_empty() { (text, plain) } else { (with_entities(&text, &missing, past), added) }
}

/// Whether a question cannot be about anything but what was spoken of.
fn points_back(question: &str) -> bool {
    match dependence(question) {
        Dependence::Refers { .. } | Dependence::Elliptic { .. } => true,
        Dependence::Thin { words } => words < OWN_WORDS,
        Dependence::Complete => false,
    }
}

/// The model's text as a completed question; nothing where it is none.
fn usable(said: &str, original: &str, past: &[HistoryTurn]) -> Option<String> {
    let keeps = |line: &String| {
        is_of_one_language(line, original)
            && keeps_identifiers(line, original)
            && speaks_of_the_same(line, original, past)
            && asks_the_same(line, original, past)
    };
    single_question(said, original).filter(keeps)
}

/// Whether the completed question has the language of the typed one, where both can be told: small models fall into that
/// of their instructions ("Und Kolmet?" became "What about Kolmet?").
fn is_of_one_language(line: &str, original: &str) -> bool {
    detect_question(line).zip(detect_question(original)).is_none_or(|(completed, typed)| completed == typed)
}

/// Whether the completed question keeps a word of the typed one, where that has any, and is no earlier question over
/// again: small models repeat the last question where the new one is short ("And buoys?").
fn asks_the_same(line: &str, original: &str, past: &[HistoryTurn]) -> bool {
    let words = |text: &str| parts(text).collect::<HashSet<String>>();
    let said = words(line);
    // A question of two words does not show its language.
    let is_function_word =
        |word: &str| [Language::English, Language::German].iter().any(|one| one.is_function_word(word));
    let own: Vec<String> = words(original).into_iter().filter(|word| !is_function_word(word)).collect();
    let keeps = own.is_empty() || own.iter().any(|word| is_said(word, &said));
    let earlier = past.iter().flat_map(|turn| [&turn.question, &turn.completed_question]);
    let repeats = earlier.map(|text| words(text)).any(|earlier| earlier == said) && words(original) != said;
    keeps && !repeats
}

/// Whether the completed question shares a content word with the typed one or with the conversation, and brings no
/// name or number of its own.
fn speaks_of_the_same(line: &str, original: &str, past: &[HistoryTurn]) -> bool {
    let of_turn = |turn: &HistoryTurn| [turn.question.clone(), turn.completed_question.clone(), turn.answer.clone()];
    let heard: Vec<String> = std::iter::once(original.to_owned()).chain(past.iter().flat_map(of_turn)).collect();
    let heard = || heard.iter().map(String::as_str);
    let known: HashSet<String> = heard().flat_map(content_words).collect();
    let shares = content_words(line).iter().any(|word| known.contains(word));
    // A name or number that nobody mentioned is made up, or borrowed from elsewhere.
    let borrowed = numbers(line).any(|number| !known.contains(&number)) || has_hallucinated_entity(line, heard());
    shares && !borrowed
}
