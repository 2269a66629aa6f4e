//! Citation repair: asks the model for the sources of an answer that cites none.
//!
//! Takes an answer without citations. The model continues it under a grammar that allows only numbers of its sources or
//! none; the result is appended. Small models omit citations in one of three answers, and when asked they also name a
//! source for statements that no source has.
//! Invariants: the words of the answer stay; repaired citations were in the prompt and share a word with the answer
//! that the question lacks, where this can be checked.
//! Not here: reading citations (`citation`), whether the answer depends on a source (`attribution`).

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::citation::{self, without_marks, without_unclosed};
use super::entity_carryover::is_mentioned;
use super::{Answer, AnswerEvent};
use crate::prompt::Prompt;
use ragonite_base::text::{has_digit, is_stop_word, lower_words};
use ragonite_base::{CancelToken, Language};
use ragonite_document::evidence::without_row_labels;
use ragonite_inference::{Completion, Generate, GenerateRequest, InferenceError, PromptPart, Sampling, SpecialTokens};

/// Enough tokens for the three sources of the grammar.
const TOKENS: usize = 24;

/// Fewest letters of a word that counts as content.
const LEAST_LETTERS: usize = 3;

/// Words of three or more letters that are whole answers and no content.
const YES_OR_NO: [&str; 2] = ["yes", "nein"];

/// The text after the answer; a source number follows.
const OPENING: &str = " [Source";

/// Citations that the model gave on request after its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairedCitation {
    /// The mark at the end of [`Answer::text`], with the white space before it.
    pub mark: String,
    /// The output of the model, from the first number on.
    pub completion: Completion,
}

/// The answer with repaired citations; unchanged if it has citations or is an abstention.
pub fn repair_citations(
    generator: &mut dyn Generate,
    mut answer: Answer,
    question: &str,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Answer {
    let names_some = !answer.citations.is_empty() || !answer.invalid_citations.is_empty();
    if !answer.answered || names_some {
        return answer;
    }
    let output = &answer.completion.text;
    let request = request(&answer.prompt, if answer.is_cut() { without_unclosed(output) } else { output });
    let completion = match generator.generate_within(&grammar(&answer.prompt.sources()), &request, cancel, &mut |_| {})
    {
        Ok(completion) => completion,
        // The user has the whole answer already.
        Err(InferenceError::Canceled(_)) => return answer,
        // The answer is valid without citations.
        Err(error) => {
            tracing::warn!("an answer that names no source could not be asked for it: {error}");
            return answer;
        }
    };
    let output = format!("[Source {}]", completion.text.trim_end_matches(']'));
    let (named, own) = (citation::read(&output, &answer.prompt.sources()), own_words(&answer.text, question));
    let holds =
        |rank: &&usize| source(&answer.prompt, **rank).is_some_and(|text| overlaps(&text, &own, answer.language));
    let kept: Vec<String> =
        named.marks.iter().flat_map(|mark| &mark.ranks).filter(holds).map(usize::to_string).collect();
    let named = citation::read(&format!("[Source {}]", kept.join(", ")), &answer.prompt.sources());
    if named.valid.is_empty() {
        return answer;
    }
    let mark = format!("{}{}", between(&answer.text), named.text);
    on_event(AnswerEvent::Text(mark.clone()));
    answer.text.push_str(&mark);
    answer.citations = named.valid;
    answer.named = Some(RepairedCitation { mark, completion });
    answer
}

/// Content words of the answer that the question lacks.
pub(super) fn own_words(answer: &str, question: &str) -> Vec<String> {
    let asked: HashSet<String> = lower_words(question).collect();
    let says_nothing = |word: &str| {
        let is_short = word.chars().count() < LEAST_LETTERS && !has_digit(word);
        is_short || YES_OR_NO.contains(&word) || is_stop_word(word)
    };
    lower_words(&without_marks(answer)).filter(|word| !says_nothing(word) && !is_mentioned(word, &asked)).collect()
}

/// Whether a source may support these words. True for "yes" and for sources in another language, where words cannot be
/// compared.
fn overlaps(source: &str, own: &[String], language: Language) -> bool {
    let source_words: HashSet<String> = lower_words(source).collect();
    own.is_empty() || Language::of(source) != language || own.iter().any(|word| is_mentioned(word, &source_words))
}

/// The text of a source with its shared context, without source and row numbers: they must not support an answer that
/// is a number.
pub(super) fn source(prompt: &Prompt, rank: usize) -> Option<String> {
    let of_source = prompt.segments.iter().filter(|segment| segment.part.sources().contains(&rank));
    let texts: Vec<&str> = of_source
        .map(|segment| segment.text.split_once(":\n").map_or(segment.text.as_str(), |(_label, text)| text))
        .collect();
    (!texts.is_empty()).then(|| without_row_labels(&texts.concat()).into_owned())
}

fn request(prompt: &Prompt, output: &str) -> GenerateRequest {
    let mut parts = prompt.parts();
    let space = if prompt.prefill().is_empty() { "" } else { " " };
    parts.push(PromptPart { text: format!("{space}{output}{OPENING}"), special: SpecialTokens::AsText });
    let stop = prompt.stop.clone();
    GenerateRequest { parts, sampling: Sampling::Greedy, stop, max_tokens: TOKENS, draft: Vec::new() }
}

/// GBNF grammar: the end of a citation of one to three of these sources, or of none.
fn grammar(sources: &[usize]) -> String {
    let numbers: Vec<String> = sources.iter().map(|rank| format!("\"{rank}\"")).collect();
    let mut grammar = String::from("root ::= \" none]\" | \" \" one (\", Source \" one (\", Source \" one)?)? \"]\"\n");
    let _ = writeln!(grammar, "one ::= {}", numbers.join(" | "));
    grammar
}

/// White space between an answer and a mark. In the last line of a table or code block the mark would be part of it.
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
    use crate::prompt::{Part, Segment};

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
    fn a_source_without_a_word_of_the_answer_is_not_what_it_is_from() {
        let holds = |answer: &str, question: &str, source: &str| {
            overlaps(source, &own_words(answer, question), Language::English)
        };
        let (answer, question) =
            ("The logo of the harbour is blue [Source 1].", "Which colour has the logo of the harbour?");
        assert!(!holds(answer, question, "Source 1:\nThe harbour has a logo since May."));
        assert!(holds(answer, question, "Source 1:\nIt was painted in a light blue by the crew."));
        assert!(holds("It is replaced on Fridays.", "When is it done?", "Source 2:\nEvery friday the crew meets."));
        assert!(holds("Yes.", "Is it blue?", "Source 1:\nThe boat is blue."), "nothing to look for");
        assert!(holds("In 7 days.", "How long does it take?", "Source 1:\nIt takes 7 days and the crew is there."));
        assert!(holds(answer, question, "Source 1:\nDas Logo ist nicht rot, sondern hellblau."), "other words");
    }

    #[test]
    fn the_numbers_of_sources_and_rows_are_nothing_that_a_source_says() {
        let text = "Source 3 (older version, 2024-11-02):\nFleet\nRow 3 in Table 1: Boat is Osprey, and Crew is 7\n\n";
        let part = Part::Evidence { rank: 3 };
        let segment = Segment { part, text: text.to_owned(), special: SpecialTokens::AsText, tokens: 20 };
        let prompt = Prompt { segments: vec![segment], ..Prompt::default() };
        let text = source(&prompt, 3).unwrap();
        let holds = |answer: &str| overlaps(&text, &own_words(answer, "How many boats are there?"), Language::English);
        assert!(!holds("3.") && !holds("1") && !holds("2024"), "{text}");
        assert!(holds("7."));
    }

    #[test]
    fn the_grammar_has_the_sources_and_no_other_number() {
        assert_eq!(
            grammar(&[2, 10]),
            "root ::= \" none]\" | \" \" one (\", Source \" one (\", Source \" one)?)? \"]\"\none ::= \"2\" | \"10\"\n"
        );
    }
}
