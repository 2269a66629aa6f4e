//! Rewrites a follow-up into a completed question (RAGonite, Fig. 6).
//!
//! Takes a question and earlier turns, gives the completed question. Small models answer instead of completing, so
//! their output is checked against the question.
//! Invariants: a first question and a self-contained question with a name or number never change and call no model;
//! unusable output is dropped; a question that changes the topic gets no names from before.

use std::collections::HashSet;
use std::time::Instant;

use super::entity_carryover::{antecedents, dropped_entities, has_hallucinated_entity, is_mentioned, with_entities};
use super::rewrite_guard::{content_words, keeps_identifiers, numbers, single_question, verbatim_words};
use super::translate::detect_question;
use super::{AnswerError, Rewrite, RewriteHow};
use crate::prompt::{HistoryTurn, PromptSettings, RewritePrompt};
use crate::retrieval::{Dependence, TopicShift, dependence, topic_shift};
use ragonite_base::text::{is_stop_word, lower_words};
use ragonite_base::{CancelToken, Language, Millis, clean_line};
use ragonite_inference::{Generate, GenerateRequest, Sampling};

/// Content words of a question that may have a topic of its own.
const OWN_WORDS: usize = 2;

/// The input of a rewrite.
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

/// Characters of a question that is self-contained anyway and that a small model would garble.
const LONG: usize = 1000;

/// The rewrite of a first question: unchanged, without a model.
pub fn first_question(question: &str) -> Rewrite {
    Rewrite {
        completed: clean_line(question),
        how: RewriteHow::First,
        prompt: None,
        completion: None,
        total_ms: Millis::default(),
    }
}

/// The rewrite of a completed question that the user edited: unchanged, without a model.
pub fn edited_question(question: &str) -> Rewrite {
    Rewrite { how: RewriteHow::Edited, ..first_question(question) }
}

/// The rewrite of a completed question that is asked again: unchanged, without a model.
pub fn question_again(question: &str) -> Rewrite {
    Rewrite { how: RewriteHow::Again, ..first_question(question) }
}

/// Completes `input.question`; always greedily, so that the same conversation gives the same search.
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
    let is_complete = dependence(&original) == Dependence::Complete && verbatim_words(&original).next().is_some();
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

/// The completed question with names from the conversation.
fn named(usable: Option<String>, original: String, past: &[HistoryTurn]) -> (String, RewriteHow) {
    // A question with content words of its own may have another topic than the previous one.
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

/// Whether a question can only be about the current topic.
fn points_back(question: &str) -> bool {
    match dependence(question) {
        Dependence::Refers { .. } | Dependence::Elliptic { .. } => true,
        Dependence::Thin { words } => words < OWN_WORDS,
        Dependence::Complete => false,
    }
}

/// The model's output as a completed question; none if unusable.
fn usable(output: &str, original: &str, past: &[HistoryTurn]) -> Option<String> {
    let keeps = |line: &String| {
        is_of_one_language(line, original)
            && keeps_identifiers(line, original)
            && speaks_of_the_same(line, original, past)
            && asks_the_same(line, original, past)
    };
    single_question(output, original).filter(keeps)
}

/// Whether completed and typed question have one language, if both can be detected: small models fall into the language
/// of their instructions ("Und Kolmet?" became "What about Kolmet?").
fn is_of_one_language(line: &str, original: &str) -> bool {
    detect_question(line).zip(detect_question(original)).is_none_or(|(completed, typed)| completed == typed)
}

/// Whether the completed question keeps a word of the typed one and is no earlier question again: small models repeat
/// the last question if the new one is short ("And buoys?").
fn asks_the_same(line: &str, original: &str, past: &[HistoryTurn]) -> bool {
    let words = |text: &str| lower_words(text).collect::<HashSet<String>>();
    let line_words = words(line);
    // Two words do not show the language.
    let own: Vec<String> = words(original).into_iter().filter(|word| !is_stop_word(word)).collect();
    let keeps = own.is_empty() || own.iter().any(|word| is_mentioned(word, &line_words));
    let earlier = past.iter().flat_map(|turn| [&turn.question, &turn.completed_question]);
    let repeats = earlier.map(|text| words(text)).any(|earlier| earlier == line_words) && words(original) != line_words;
    keeps && !repeats
}

/// Whether the completed question shares a content word with the typed one or the conversation and has no new name or
/// number.
fn speaks_of_the_same(line: &str, original: &str, past: &[HistoryTurn]) -> bool {
    let of_turn = |turn: &HistoryTurn| [turn.question.clone(), turn.completed_question.clone(), turn.answer.clone()];
    let mentioned: Vec<String> = std::iter::once(original.to_owned()).chain(past.iter().flat_map(of_turn)).collect();
    let mentioned = || mentioned.iter().map(String::as_str);
    let known: HashSet<String> = mentioned().flat_map(content_words).collect();
    let shares = content_words(line).iter().any(|word| known.contains(word));
    // A name or number that nobody mentioned is made up.
    let borrowed = numbers(line).any(|number| !known.contains(&number)) || has_hallucinated_entity(line, mentioned());
    shares && !borrowed
}
