//! Suggests next questions after an answer (RAGonite's demo, Fig. 2, box 12).
//!
//! Takes an answer and its hits, gives at most [`MOST`] questions that the sources can answer.
//! Invariants: every question is clean, one line, ends with a question mark and is new; most of its content words are
//! in the sources or the conversation. Unusable output gives none.
//! Not here: showing and asking them (`tui`, `app`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::rewrite_guard::content_words;
use super::{Answer, AnswerError};
use crate::prompt::SuggestPrompt;
use crate::retrieval::Hit;
use ragonite_base::{CancelToken, Language, clean_line};
use ragonite_inference::{Generate, GenerateRequest, Sampling};

/// Most questions.
pub const MOST: usize = 3;

/// Most tokens of all questions.
const MAX_TOKENS: usize = 110;

/// Least share of a question's content words in the sources.
const GROUNDED: f64 = 0.6;

/// Most characters of a question before its mark, as in the grammar.
const LONGEST: usize = 110;
/// GBNF grammar: three numbered lines with a question each.
const GRAMMAR: &str = "root ::= \"1. \" line \"\\n2. \" line \"\\n3. \" line\nline ::= [^\\n?]{8,110} \"?\"";

/// Whether questions are suggested after an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suggestions {
    /// After every answer, until the next question is asked.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// The input of suggestions.
#[derive(Debug, Clone, Copy)]
pub struct SuggestInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// Its answer.
    pub answer: &'a Answer,
    /// The hits that were in the prompt.
    pub hits: &'a [Hit],
    /// All questions of the conversation, as typed and completed.
    pub asked: &'a [String],
}

/// Suggests questions; always greedily.
///
/// # Errors
/// When the prompt cannot be built, the model fails, or with [`AnswerError::Canceled`].
pub fn suggest(
    generator: &mut dyn Generate,
    input: &SuggestInput<'_>,
    cancel: &CancelToken,
) -> Result<Vec<String>, AnswerError> {
    cancel.check()?;
    if input.answer.prompt.sources().is_empty() {
        return Ok(Vec::new());
    }
    // With citations the questions would repeat the cited sources.
    let answer = clean_line(&super::citation::read(&input.answer.text, &[]).without_marks());
    let prompt = SuggestPrompt {
        prompt: &input.answer.prompt,
        question: input.question,
        answer: &answer,
        language: input.answer.language,
        max_tokens: MAX_TOKENS,
    };
    let prompt = prompt.build(generator)?;
    let request = GenerateRequest {
        parts: prompt.parts(),
        sampling: Sampling::Greedy,
        stop: Vec::new(),
        max_tokens: MAX_TOKENS,
        draft: Vec::new(),
    };
    let output = generator.generate_within(GRAMMAR, &request, cancel, &mut |_| {})?;
    Ok(usable(&output.text, input))
}

/// The usable questions in the model's output.
fn usable(output: &str, input: &SuggestInput<'_>) -> Vec<String> {
    let sources = input.hits.iter().map(|hit| hit.text.as_str());
    let known: HashSet<String> = sources.chain([input.question]).flat_map(content_words).collect();
    let mut taken: HashSet<String> = input.asked.iter().map(String::as_str).chain([input.question]).map(form).collect();
    let mut questions = Vec::new();
    for line in output.lines() {
        let line =
            clean_line(line.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".)- ".contains(letter)));
        let sound = is_whole(&line) && is_grounded(&line, input.answer.language, &known);
        if sound && taken.insert(form(&line)) {
            questions.push(line);
        }
    }
    questions.truncate(MOST);
    questions
}

/// Whether the line is a complete question.
fn is_whole(line: &str) -> bool {
    let Some(asked) = line.strip_suffix('?') else { return false };
    // At its greatest length the grammar cut it.
    asked.chars().count() < LONGEST && asked.ends_with(|last: char| last.is_alphanumeric() || ")\"'”’“»".contains(last))
}

fn is_grounded(line: &str, language: Language, known: &HashSet<String>) -> bool {
    let words: Vec<String> = content_words(line).into_iter().filter(|word| !language.is_stop_word(word)).collect();
    let there = words.iter().filter(|word| known.contains(*word)).count();
    !words.is_empty() && there as f64 >= GROUNDED * words.len() as f64
}

/// Two questions with the same letters and digits are the same.
fn form(question: &str) -> String {
    let letters = question.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
