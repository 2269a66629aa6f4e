//! Reads question files.
//!
//! Takes TOML text, gives conversations of questions with reference answers.
//! Not here: finding the file (`config`, `cli`).

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{EvalError, Flaw};
use ragonite_base::{DomainName, dates_in};
use ragonite_document::evidence::Kind;

/// Difficulty of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionType {
    /// One evidence has the answer.
    Simple,
    /// Evidences must be compared or combined.
    Complex,
}

/// A question with its gold page and reference answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionTurn {
    /// The question as typed.
    pub question: String,
    /// Completed question; the first turn of a file may leave it out.
    #[serde(default)]
    pub completed: String,
    /// Path of the page with the answer, within its domain.
    pub gold_page: String,
    /// The reference answer.
    pub gold_answer: String,
    /// A correct answer contains at least one of these, or without any the whole `gold_answer`.
    #[serde(default)]
    pub gold_facts: Vec<String>,
    /// The entity that the raw follow-up lacks and its completed question needs; none for a first question.
    #[serde(default)]
    pub missing_entity: Option<String>,
    /// Kind of the evidence with the answer.
    pub source: Kind,
    /// Difficulty.
    #[serde(rename = "type")]
    pub question_type: QuestionType,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionConversation {
    /// Unique in the file.
    pub id: String,
    /// Domain of the questions.
    pub domain: DomainName,
    /// The turns in order.
    #[serde(rename = "turn", default)]
    pub turns: Vec<QuestionTurn>,
}

/// A question file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionFile {
    /// The conversations; the first three turns of the first are the scripted demo.
    #[serde(rename = "conversation", default)]
    pub conversations: Vec<QuestionConversation>,
}

/// A domain of a [`DomainsFile`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DomainFolder {
    /// Name of the domain.
    pub name: DomainName,
    /// Folder of its documents, relative to the file.
    pub folder: String,
    /// Name for people.
    #[serde(default)]
    pub title: String,
    /// Prompt prefix of the domain.
    #[serde(default)]
    pub prompt_prefix: String,
}

/// `domains.toml`: the domains of a question file with the folders of their documents.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainsFile {
    /// The domains in order.
    #[serde(rename = "domain", default)]
    pub domains: Vec<DomainFolder>,
}

impl DomainsFile {
    /// Parses the text of the file at `path`.
    ///
    /// # Errors
    /// When the form is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, EvalError> {
        toml::from_str(text).map_err(|error| EvalError::Domains { path: path.to_owned(), source: Box::new(error) })
    }

    pub(super) fn domain(&self, name: &DomainName) -> Result<&DomainFolder, EvalError> {
        let found = self.domains.iter().find(|domain| domain.name == *name);
        found.ok_or_else(|| EvalError::NoFolder { domain: name.to_string() })
    }
}

impl QuestionFile {
    /// Parses the text of the question file at `path` and checks that every question can be scored.
    ///
    /// # Errors
    /// When the form is wrong or a conversation cannot be used.
    pub fn parse(text: &str, path: &Path) -> Result<Self, EvalError> {
        let path = || path.to_owned();
        let mut file: Self =
            toml::from_str(text).map_err(|error| EvalError::Form { path: path(), source: Box::new(error) })?;
        for first in file.conversations.iter_mut().filter_map(|conversation| conversation.turns.first_mut()) {
            if first.completed.is_empty() {
                first.completed.clone_from(&first.question);
            }
        }
        if file.conversations.is_empty() {
            return Err(EvalError::Empty { path: path() });
        }
        let mut ids = HashSet::new();
        for conversation in &file.conversations {
            let is_new = !conversation.id.trim().is_empty() && ids.insert(conversation.id.as_str());
            let checked = if is_new { conversation.check() } else { Err(Flaw::Id) };
            checked.map_err(|source| EvalError::Conversation {
                path: path(),
                conversation: conversation.id.clone(),
                source,
            })?;
        }
        Ok(file)
    }
}

impl QuestionConversation {
    fn check(&self) -> Result<(), Flaw> {
        if self.turns.is_empty() {
            return Err(Flaw::NoTurn);
        }
        (1..).zip(&self.turns).try_for_each(|(number, turn)| match turn.missing() {
            Some(field) => Err(Flaw::Missing { turn: number, field }),
            None => Ok(()),
        })
    }
}

impl QuestionTurn {
    /// Whether an answer contains one of the gold facts as whole words. Case and white space do not matter; `17` is not
    /// in `2017` or `17.5`, `Ann` not in `planned`.
    #[must_use]
    pub fn contains_gold_fact(&self, answer: &str) -> bool {
        let answer = normalized(answer);
        let facts = self.gold_facts.iter().chain(self.gold_facts.is_empty().then_some(&self.gold_answer));
        facts.into_iter().any(|fact| contains(&answer, &normalized(fact)))
    }

    /// Name of the first required field that is empty.
    fn missing(&self) -> Option<&'static str> {
        let texts = [
            ("question", &self.question),
            ("completed", &self.completed),
            ("gold_page", &self.gold_page),
            ("gold_answer", &self.gold_answer),
        ];
        let empty = texts.into_iter().find(|(_, text)| text.trim().is_empty()).map(|(field, _)| field);
        let no_facts = self.gold_facts.iter().any(|fact| fact.trim().is_empty());
        empty.or(no_facts.then_some("gold_facts"))
    }
}

/// Lower case, with single spaces.
pub(super) fn normalized(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Endings with which a word of a fact still matches.
const ENDINGS: &[&str] = &["s", "es", "n", "en", "e"];

/// Fewest letters of a word that may have an ending: "no" is not in "nos".
const LEAST_STEM: usize = 4;

/// Whether an answer has a fact as whole words: no `17` in `17.5`, no `Ann` in `planned`; but `board` in `boards`, and
/// `2025` in `08.04.2025`. Both are [`normalized`].
pub(super) fn contains(answer: &str, fact: &str) -> bool {
    answer.match_indices(fact).any(|(at, _)| {
        let end = at + fact.len();
        !splits(answer, at) && (!splits(answer, end) || is_before_an_ending(fact, &answer[end..]))
    })
}

/// Whether only an ending of the fact's last word follows.
fn is_before_an_ending(fact: &str, rest: &str) -> bool {
    let stem = fact.chars().rev().take_while(|c| c.is_alphabetic()).count();
    let ending: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    stem >= LEAST_STEM && ENDINGS.contains(&ending.as_str())
}

/// Whether an offset is inside a word or a number.
pub(super) fn splits(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let (mut before, mut after) = (before.chars().rev(), after.chars());
    let (last, last_but_one) = (before.next(), before.next());
    let (first, second) = (after.next(), after.next());
    let is = |c: Option<char>, of: fn(char) -> bool| c.is_some_and(of);
    let is_point = |c: Option<char>| matches!(c, Some('.' | ','));
    // `v3.4` has 3.4, and `17kg` has 17; `b21` has no 21.
    let is_mark = last == Some('v') && !is(last_but_one, char::is_alphanumeric);
    let in_word = is(last, char::is_alphabetic) && is(first, char::is_alphabetic)
        || is(last, char::is_numeric) && is(first, char::is_numeric)
        || is(last, char::is_alphabetic) && is(first, char::is_numeric) && !is_mark;
    let before_point = is(last, char::is_numeric) && is_point(first) && is(second, char::is_numeric);
    let behind_point = is(last_but_one, char::is_numeric) && is_point(last) && is(first, char::is_numeric);
    in_word || ((before_point || behind_point) && is_of_one_number(text, at))
}

/// Whether the digits around an offset are one number: `17.5`, `1,000`, `3.4.0`; not a date, nor `12,17,20`.
fn is_of_one_number(text: &str, at: usize) -> bool {
    let is_part = |c: char| c.is_numeric() || matches!(c, '.' | ',');
    let from = text[..at].trim_end_matches(is_part).len();
    let to = text.len() - text[at..].trim_start_matches(is_part).len();
    let run = text[from..to].trim_matches(['.', ',']);
    let groups: Vec<&str> = run.split(',').skip(1).collect();
    let is_list = groups.len() > 1 && !groups.iter().all(|group| group.len() == 3);
    // `20.10.21` may be a version.
    let has_year = run.split('.').any(|part| part.len() == 4);
    !is_list && (!has_year || dates_in(run).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_whole_words_and_numbers() {
        for (answer, fact) in [
            ("17 failed", "17"),
            ("it was 17.", "17"),
            ("b2: 17, c1: 9", "17"),
            ("mira (b2)", "mira"),
            ("version 3.4.0-rc2.", "3.4.0-rc2"),
            ("v3.4.0", "3.4.0"),
            ("17kg", "17"),
            ("3,5 m", "3,5"),
            ("am 08.04.2025", "2025"),
            ("12,17,20", "17"),
            ("two boards", "board"),
            ("die pumpen", "pumpe"),
        ] {
            assert!(contains(answer, fact), "{fact} in {answer}");
        }
        for (answer, fact) in [
            ("17.5 failed", "17"),
            ("0.17", "17"),
            ("17,000", "17"),
            ("it is planned", "ann"),
            ("i do not know", "no"),
            ("1,000,000", "000"),
            ("the boarding pass", "board"),
            ("mira's nos", "no"),
            ("117", "17"),
            ("3.4.0", "3.4"),
            ("20.10.21", "20.10"),
        ] {
            assert!(!contains(answer, fact), "{fact} in {answer}");
        }
    }

    const FILE: &str = r#"
        [[conversation]]
        id = "run"
        domain = "wiki"

        [[conversation.turn]]
        question = "Which version was tested?"
        completed = "Which version was tested?"
        gold_page = "run.json"
        gold_answer = "3.4.0-rc2."
        gold_facts = ["3.4.0-rc2", "release  Candidate 2"]
        source = "row"
        type = "simple"

        [[conversation.turn]]
        question = "How many failed?"
        completed = "How many tests of 3.4.0-rc2 failed?"
        gold_page = "run.json"
        gold_answer = "17."
        gold_facts = ["17"]
        missing_entity = "3.4.0"
        source = "table"
        type = "complex"
    "#;

    fn parse(text: &str) -> Result<QuestionFile, EvalError> {
        QuestionFile::parse(text, Path::new("folder/questions.toml"))
    }

    #[test]
    fn every_field_of_a_question_file_is_read() {
        let file = parse(FILE).unwrap();
        let [conversation] = file.conversations.as_slice() else { panic!("one conversation") };
        assert_eq!((conversation.id.as_str(), conversation.domain.as_str()), ("run", "wiki"));
        let [first, second] = conversation.turns.as_slice() else { panic!("two turns") };
        assert_eq!((first.source, first.question_type), (Kind::Row, QuestionType::Simple));
        assert_eq!((second.source, second.question_type), (Kind::Table, QuestionType::Complex));
        assert_eq!((first.missing_entity.as_deref(), second.missing_entity.as_deref()), (None, Some("3.4.0")));
        assert_eq!(second.completed, "How many tests of 3.4.0-rc2 failed?");
        assert_eq!((second.gold_page.as_str(), second.gold_answer.as_str()), ("run.json", "17."));
    }

    fn without(line: &str) -> String {
        FILE.lines().filter(|other| !other.trim().starts_with(line)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_first_question_completes_itself_and_without_facts_the_whole_answer_counts() {
        let file = parse(&without("completed = \"Which")).unwrap();
        assert_eq!(file.conversations[0].turns[0].completed, "Which version was tested?");
        let file = parse(&without("gold_facts")).unwrap();
        let version = &file.conversations[0].turns[0];
        assert!(version.contains_gold_fact("It was 3.4.0-rc2.") && !version.contains_gold_fact("It was rc2."));
    }

    #[test]
    fn the_questions_of_the_demo_can_be_scored() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/demo/questions.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let file = parse(&text).unwrap();
        assert!(file.conversations[0].turns.len() >= 3, "the scripted demo has three turns");
        for turn in file.conversations.iter().flat_map(|conversation| &conversation.turns) {
            assert!(turn.contains_gold_fact(&turn.gold_answer), "{}", turn.question);
            let entity = turn.missing_entity.as_deref().unwrap_or_default();
            assert!(turn.completed.contains(entity), "{}", turn.question);
        }
    }

    #[test]
    fn a_gold_fact_is_found_whatever_its_case_and_spaces() {
        let file = parse(FILE).unwrap();
        let [version, failed] = file.conversations[0].turns.as_slice() else { panic!("two turns") };
        assert!(version.contains_gold_fact("It was **3.4.0-RC2** [Source 1]."));
        assert!(version.contains_gold_fact("It was Release\ncandidate\u{a0}2."));
        assert!(!version.contains_gold_fact("It was 3.4.0-rc1, or 3.4.0-rc21."));
        assert!(failed.contains_gold_fact("17 of them"));
        assert!(failed.contains_gold_fact("In 2017 it was 17."));
        assert!(!failed.contains_gold_fact("In 2017 it was 170."));
        assert!(!failed.contains_gold_fact(""));
    }

    #[test]
    fn a_file_that_cannot_be_scored_says_where() {
        assert!(matches!(parse(""), Err(EvalError::Empty { .. })));
        let wrong_form = [
            FILE.replace("gold_page", "golden_page"),
            FILE.replace("\"complex\"", "\"hard\""),
            FILE.replace("domain = \"wiki\"", "domain = \"../wiki\""),
        ];
        for text in wrong_form {
            let error = parse(&text).unwrap_err();
            assert!(matches!(error, EvalError::Form { .. }), "{text}");
            assert!(error.to_string().contains("folder/questions.toml") && error.next_step().contains("--questions"));
        }
        let flaws = [
            (without("completed = \"How many tests of"), Flaw::Missing { turn: 2, field: "completed" }),
            (FILE.replace("[\"17\"]", "[\" \"]"), Flaw::Missing { turn: 2, field: "gold_facts" }),
            (FILE.replace("\"run.json\"", "\"\""), Flaw::Missing { turn: 1, field: "gold_page" }),
            (FILE.repeat(2), Flaw::Id),
            ("[[conversation]]\nid = \"x\"\ndomain = \"wiki\"".to_owned(), Flaw::NoTurn),
        ];
        for (text, flaw) in flaws {
            match parse(&text) {
                Err(EvalError::Conversation { source, .. }) => assert_eq!(source, flaw),
                other => panic!("{flaw}: {other:?}"),
            }
        }
    }
}
