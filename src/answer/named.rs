//! The sources of an answer that names none.
//!
//! Takes an answer without a citation; the model goes on behind it in a grammar that has room for the numbers of its
//! sources only, and what it names is put after the answer. Small models leave citations out in one of three answers.
//! Invariants: the words of the answer stay as they are; what is named was in the prompt.
//! Not here: reading citations (`citation`), whether the answer rests on what it names (`attribution`).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::citation;
use super::{Answer, AnswerEvent};
use crate::base::CancelToken;
use crate::inference::{Completion, Finish, Generate, GenerateRequest, InferenceError, PromptPart, Sampling, Special};
use crate::prompt::Prompt;

/// Tokens of as many sources as are named at most.
const TOKENS: usize = 24;

/// What the answer goes on with; the number of a source comes next.
const OPENING: &str = " [Source";

/// The sources that a model named when it was asked for them after its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// What stands for them at the end of [`Answer::text`], with the white space before it.
    pub mark: String,
    /// What the model said, from the number of the first on.
    pub completion: Completion,
}

/// The answer with its sources: as it is where it names some, says that the sources do not hold it, or was cut short.
pub(super) fn with_sources(
    generator: &mut dyn Generate,
    mut answer: Answer,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Answer {
    let names_some = !answer.citations.is_empty() || !answer.invalid_citations.is_empty();
    if !answer.answered || names_some || answer.completion.finish == Finish::Length {
        return answer;
    }
    let request = request(&answer.prompt, &answer.completion.text);
    let completion = match generator.generate_within(&grammar(&answer.prompt.sources()), &request, cancel, &mut |_| {})
    {
        Ok(completion) => completion,
        // It is all there already, and the one who stops has read it.
        Err(InferenceError::Canceled(_)) => return answer,
        // The answer stands, with room for more or without.
        Err(error) => {
            tracing::warn!("an answer that names no source could not be asked for it: {error}");
            return answer;
        }
    };
    let said = format!("[Source {}]", completion.text.trim_end_matches(']'));
    let named = citation::read(&said, &answer.prompt.sources());
    if named.valid.is_empty() {
        return answer;
    }
    let mark = format!("{}{}", between(&answer.text), named.text);
    on_event(AnswerEvent::Text(mark.clone()));
    answer.text.push_str(&mark);
    answer.citations = named.valid;
    answer.named = Some(Named { mark, completion });
    answer
}

fn request(prompt: &Prompt, said: &str) -> GenerateRequest {
    let mut parts = prompt.parts();
    let space = if prompt.lead().is_empty() { "" } else { " " };
    parts.push(PromptPart { text: format!("{space}{said}{OPENING}"), special: Special::Plain });
    let stop = prompt.stop.clone();
    GenerateRequest { parts, sampling: Sampling::Greedy, stop, max_tokens: TOKENS, draft: Vec::new() }
}

/// The end of a citation of one to three of these sources, or of none (GBNF).
fn grammar(sources: &[usize]) -> String {
    let numbers: Vec<String> = sources.iter().map(|rank| format!("\"{rank}\"")).collect();
    let mut grammar = String::from("root ::= \" none]\" | \" \" one (\", Source \" one (\", Source \" one)?)? \"]\"\n");
    let _ = writeln!(grammar, "one ::= {}", numbers.join(" | "));
    grammar
}

/// What separates an answer from a mark after it: a mark in the last line of a table or a block of code would be part of it.
fn between(text: &str) -> &'static str {
    let fence = |line: &&str| ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence));
    let fences: Vec<&str> = text.lines().filter_map(|line| fence(&line)).collect();
    let last = text.lines().next_back().unwrap_or_default();
    match fences.as_slice() {
        [.., open] if fences.len() % 2 == 1 => {
            if *open == "```" {
                "\n```\n\n"
            } else {
                "\n~~~\n\n"
            }
        }
        _ if last.contains('|') || fence(&last).is_some() => "\n\n",
        _ => " ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_never_becomes_part_of_a_table_or_of_code() {
        assert_eq!(between("Alice came."), " ");
        assert_eq!(between("- Alice\n- Bob"), " ");
        assert_eq!(between("| a | b |\n| - | - |\n| 1 | 2 |"), "\n\n");
        assert_eq!(between("a | b\n- | -\n1 | 2"), "\n\n");
        assert_eq!(between("```\nmake\n```"), "\n\n");
        assert_eq!(between("```\nmake\n```\nThen it is done."), " ");
        assert_eq!(between("Run\n```\nmake"), "\n```\n\n", "a block that the model did not end");
    }

    #[test]
    fn the_grammar_has_the_sources_and_no_other_number() {
        assert_eq!(
            grammar(&[2, 10]),
            "root ::= \" none]\" | \" \" one (\", Source \" one (\", Source \" one)?)? \"]\"\none ::= \"2\" | \"10\"\n"
        );
    }
}
