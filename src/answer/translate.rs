//! Puts a question into the language of the documents, to be searched beside the question itself.
//!
//! Takes a completed question and two languages, gives a [`Translation`].
//! Invariants: the answer does not depend on it, only what is found does; a text of the model that is no usable
//! translation is dropped; the same question gives the same translation whatever was asked before.
//! Not here: when one is wanted ([`translation_wanted`] says it, the caller asks), searching (`retrieval`).

use std::time::Instant;

use super::check::{numbers, one_question, translates_names};
use super::{AnswerError, Translation, TranslationHow};
use crate::base::{CancelToken, Language, Millis, clean_line};
use crate::inference::{Generate, GenerateRequest, Sampling};
use crate::prompt::TranslatePrompt;
use crate::retrieval::Translate;

/// Longest question in characters that is translated. Beyond it small models lose the thread, and on a processor alone
/// it would take a minute.
const LONGEST: usize = 600;

/// What is translated.
#[derive(Debug, Clone, Copy)]
pub struct TranslateInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// Its language.
    pub from: Language,
    /// The language of the documents.
    pub to: Language,
    /// Most tokens of the translation.
    pub max_tokens: usize,
}

/// The languages from and to which `question` is to be translated; nothing where it has the language of the documents
/// already, or where translating is switched off.
#[must_use]
pub fn translation_wanted(question: &str, documents: Language, setting: Translate) -> Option<(Language, Language)> {
    let from = Language::of(question);
    (setting == Translate::Auto && from != documents && !question.trim().is_empty()).then_some((from, documents))
}

/// Translates `input.question`; always greedily, so that the same question is searched for the same text.
///
/// # Errors
/// When the prompt cannot be built, the model fails, or with [`AnswerError::Canceled`].
pub fn translate(
    generator: &mut dyn Generate,
    input: &TranslateInput<'_>,
    cancel: &CancelToken,
) -> Result<Translation, AnswerError> {
    let started = Instant::now();
    cancel.check()?;
    let TranslateInput { question, from, to, max_tokens } = *input;
    let original = clean_line(question);
    if original.chars().count() > LONGEST {
        let how = TranslationHow::TooLong;
        return Ok(Translation {
            text: None,
            from,
            to,
            how,
            prompt: None,
            completion: None,
            total_ms: Millis::default(),
        });
    }
    let prompt = TranslatePrompt { question: &original, to, max_tokens }.build(generator)?;
    let request = GenerateRequest {
        parts: prompt.parts(),
        sampling: Sampling::Greedy,
        stop: prompt.stop.clone(),
        max_tokens,
        draft: Vec::new(),
    };
    let completion = generator.generate(&request, cancel, &mut |_| {})?;
    let text = usable(&completion.text, &original, to);
    let how = if text.is_some() { TranslationHow::Model } else { TranslationHow::Dropped };
    let total_ms = started.elapsed().into();
    Ok(Translation { text, from, to, how, prompt: Some(prompt), completion: Some(completion), total_ms })
}

/// The model's text as a translation of `original`; nothing where it is none.
fn usable(said: &str, original: &str, to: Language) -> Option<String> {
    let line = one_question(said, original).filter(|line| translates_names(line, original))?;
    let known: Vec<String> = numbers(original).collect();
    let borrowed = numbers(&line).any(|number| !known.contains(&number));
    let is_the_same = line.to_lowercase() == original.to_lowercase();
    (!borrowed && !is_the_same && Language::of(&line) == to).then_some(line)
}
