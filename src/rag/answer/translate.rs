//! Translates a question into the language of the documents for the search.
//!
//! Takes a completed question and two languages, gives a [`Translation`].
//! Invariants: only the search depends on the translation, the answer does not; unusable output is dropped; the same
//! question always gives the same translation.
//! A question of identifiers has no language: it is not translated, and the answer has the language of the documents.
//! Not here: language detection (`base`), searching (`retrieval`).

use std::time::Instant;

use super::rewrite_guard::{keeps_entities, numbers, single_question};
use super::{AnswerError, Translation, TranslationHow};
use crate::prompt::{AnswerLanguage, TranslatePrompt};
use crate::retrieval::Translate;
use ragonite_base::text::{has_digit, is_identifier};
use ragonite_base::{CancelToken, Language, Millis, clean_line};
use ragonite_inference::{Generate, GenerateRequest, Sampling};

/// Most characters of a question that is translated. Small models fail beyond, and a CPU would take a minute.
const LONGEST: usize = 600;

/// The input of a translation.
#[derive(Debug, Clone, Copy)]
pub struct TranslateInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The language of the question.
    pub from: Language,
    /// The language of the documents.
    pub to: Language,
    /// Most tokens of the translation.
    pub max_tokens: usize,
}

/// The languages of a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguagePair {
    /// The language of the question.
    pub from: Language,
    /// The language of the documents.
    pub to: Language,
}

/// The languages of a translation of `question`; none if it has the language of the documents or no detectable one, or
/// if translation is off.
#[must_use]
pub fn translation_wanted(question: &str, documents: Language, setting: Translate) -> Option<LanguagePair> {
    let from = detect_question(question)?;
    (setting == Translate::Auto && from != documents).then_some(LanguagePair { from, to: documents })
}

/// The language of an answer: from the settings, else of the typed question, else of the completed one, else of the
/// documents.
#[must_use]
pub fn answer_language(typed: &str, completed: &str, documents: Language, wanted: AnswerLanguage) -> Language {
    let detected = || detect_question(typed).or_else(|| detect_question(completed));
    wanted.wanted().or_else(detected).unwrap_or(documents)
}

/// The detected language of a question; none if no word shows it, as with identifiers.
pub(super) fn detect_question(question: &str) -> Option<Language> {
    // The `IT` of `IT-1654` is no English word.
    let words: Vec<&str> = question.split_whitespace().filter(|word| !has_digit(word)).collect();
    match words.as_slice() {
        [word] if is_identifier(word) => None,
        words => Language::detect(&words.join(" ")),
    }
}

/// Translates `input.question`; always greedily, so that the same question gives the same search.
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

/// The model's output as a translation of `original`; none if unusable.
fn usable(output: &str, original: &str, to: Language) -> Option<String> {
    let line = single_question(output, original).filter(|line| keeps_entities(line, original))?;
    let known: Vec<String> = numbers(original).collect();
    let borrowed = numbers(&line).any(|number| !known.contains(&number));
    let is_the_same = line.to_lowercase() == original.to_lowercase();
    (!borrowed && !is_the_same && Language::of(&line) == to).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: Language = Language::English;
    const GERMAN: Language = Language::German;

    #[test]
    fn what_has_no_language_of_its_own_is_not_translated() {
        for untold in ["XY-1654", "IT-1654", "IT", "9.0.2 B2", "Dienstreise Kosten", "Kolmet", " "] {
            for documents in [ENGLISH, GERMAN] {
                assert_eq!(translation_wanted(untold, documents, Translate::Auto), None, "{untold}");
            }
        }
        let wanted = |question, documents| translation_wanted(question, documents, Translate::Auto);
        assert_eq!(wanted("What is XY-1654?", GERMAN), Some(LanguagePair { from: ENGLISH, to: GERMAN }));
        assert_eq!(wanted("WER WAR AN DER PUMPE?", ENGLISH), Some(LanguagePair { from: GERMAN, to: ENGLISH }));
    }

    #[test]
    fn an_answer_has_the_language_of_the_question_and_of_the_documents_where_no_word_tells_it() {
        for (typed, completed, documents, expected) in [
            ("Wer lagert die Akkus?", "Who stores the batteries?", ENGLISH, GERMAN),
            ("Who stores them?", "Wer lagert die Akkus?", GERMAN, ENGLISH),
            ("B2?", "Wer lagert die B2?", ENGLISH, GERMAN),
            ("B2?", "Who stores the B2?", GERMAN, ENGLISH),
            ("XY-1654", "XY-1654", GERMAN, GERMAN),
            ("Dienstreise Kosten", "Dienstreise Kosten", GERMAN, GERMAN),
            ("XY-1654", "XY-1654", ENGLISH, ENGLISH),
        ] {
            let language = |wanted| answer_language(typed, completed, documents, wanted);
            assert_eq!(language(AnswerLanguage::Auto), expected, "{typed} {completed}");
            assert_eq!(language(AnswerLanguage::De), Language::German, "it is asked for");
        }
    }
}
