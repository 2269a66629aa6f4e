//! Exports a turn that was rated up as a question of a question file.
//!
//! Takes a stored turn and a file. The cited document becomes the gold page, the answer the reference answer.
//! Invariants: an existing file must parse as a question file and keeps every byte; the result parses as well; the file
//! is replaced as a whole or left unchanged; a turn is written once per file.
//! Not here: asking questions (`retrieval`, `answers`).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{EvalError, QuestionConversation, QuestionFile, QuestionTurn, QuestionType};
use ragonite_base::{ConversationId, DomainName, clean_line};
use ragonite_history::{Rating, TurnRecord};
use ragonite_rag::answer::citation::without_marks;
use ragonite_rag::retrieval::Hit;

/// Fewest letters of a fact.
const LEAST_LETTERS: usize = 3;

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedCase {
    /// The file.
    pub file: PathBuf,
    /// Id of the question.
    pub id: String,
    /// Path of the gold page.
    pub page: String,
    /// Other cited pages, which are not expected.
    pub also_cited: Vec<String>,
    /// Number of questions in the file, with this one.
    pub questions: usize,
}

impl ExportedCase {
    /// A summary in a line.
    #[must_use]
    pub fn label(&self) -> String {
        let also = match &self.also_cited[..] {
            [] => String::new(),
            pages => format!(" (also cited: {})", clean_line(&pages.join(", "))),
        };
        let (file, number) = (self.file.display(), self.questions);
        let page = clean_line(&self.page);
        format!("wrote to {file}: question {number}, `{}`; it expects {page}{also}", self.id)
    }
}

/// Why a turn could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportCaseError {
    /// The answer is not rated up.
    #[error("turn {number} is not rated up: only an answer that is right can be expected of others")]
    NotRatedUp {
        /// The turn.
        number: u32,
    },
    /// The answer cites no source, so there is no gold page.
    #[error("the answer of turn {number} cites no source, so that no page can be expected")]
    NoPage {
        /// The turn.
        number: u32,
    },
    /// The turn is in the file already.
    #[error("`{file}` has the question `{id}` already")]
    Known {
        /// The file.
        file: PathBuf,
        /// The question.
        id: String,
    },
    /// The file is no question file; it stays unchanged.
    #[error("`{file}` is left as it is: it is no question file")]
    NoQuestionFile {
        /// The file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: Box<EvalError>,
    },
    /// The turn makes no valid question.
    #[error("turn {number} makes no question")]
    Form {
        /// The turn.
        number: u32,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file cannot be read or written.
    #[error("writing the question file `{file}`")]
    File {
        /// The file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl ExportCaseError {
    /// Advice for the user.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::NotRatedUp { .. } => "Rate it up first: `+` on the screen, or `ragonite history rate`.",
            Self::NoPage { .. } => "Choose a turn whose answer cites the source that has it.",
            Self::Known { .. } => "Take the question out of the file first, or name another file.",
            Self::NoQuestionFile { .. } => "Name another file, or correct this one.",
            Self::Form { .. } => "Choose another turn.",
            Self::File { .. } => "Check the folder, its rights and its space, or name another file.",
        }
    }
}

/// Appends a turn to a question file, which is created if missing.
///
/// # Errors
/// If the turn makes no question, or the file is no question file; the file is then unchanged.
pub fn export_case(
    file: &Path,
    domain: &DomainName,
    conversation: ConversationId,
    turn: &TurnRecord,
) -> Result<ExportedCase, ExportCaseError> {
    let failed = |source| ExportCaseError::File { file: file.to_owned(), source };
    let (question, also_cited) = question_of(turn)?;
    let page = question.gold_page.clone();
    let id = format!("turn-{conversation}.{}", turn.number);
    let added = QuestionConversation { id: id.clone(), domain: domain.clone(), turns: vec![question] };
    let before = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        before => before.map_err(failed)?,
    };
    let known = if before.trim().is_empty() { None } else { Some(parse(file, &before)?) };
    if known.iter().flat_map(|known| &known.conversations).any(|conversation| conversation.id == id) {
        return Err(ExportCaseError::Known { file: file.to_owned(), id });
    }
    let wrong =
        |source: Box<dyn std::error::Error + Send + Sync>| ExportCaseError::Form { number: turn.number, source };
    let block = toml::to_string(&QuestionFile { conversations: vec![added] }).map_err(|error| wrong(error.into()))?;
    let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{end}{gap}{block}");
    let whole = QuestionFile::parse(&text, file).map_err(|error| wrong(error.into()))?;
    replace(file, &text).map_err(failed)?;
    let questions = whole.conversations.iter().map(|conversation| conversation.turns.len()).sum();
    Ok(ExportedCase { file: file.to_owned(), id, page, also_cited, questions })
}

fn parse(file: &Path, text: &str) -> Result<QuestionFile, ExportCaseError> {
    let no_questions = |error| ExportCaseError::NoQuestionFile { file: file.to_owned(), source: Box::new(error) };
    QuestionFile::parse(text, file).map_err(no_questions)
}

/// The turn as a self-contained question, and the other cited pages.
fn question_of(turn: &TurnRecord) -> Result<(QuestionTurn, Vec<String>), ExportCaseError> {
    let number = turn.number;
    if turn.feedback.as_ref().is_none_or(|feedback| feedback.rating != Rating::Up) {
        return Err(ExportCaseError::NotRatedUp { number });
    }
    let answer = turn.trace.answer.as_ref().ok_or(ExportCaseError::NoPage { number })?;
    let hits = turn.trace.retrieved.as_ref().map_or(&[][..], |retrieved| &retrieved.hits);
    let cited = answer.citations.iter().filter_map(|rank| hits.iter().find(|hit| hit.rank == *rank));
    let cited: Vec<&Hit> = cited.filter(|hit| !hit.url.trim().is_empty()).collect();
    let best = most_cited(&cited).ok_or(ExportCaseError::NoPage { number })?;
    let mut also: Vec<String> = cited.iter().filter(|hit| hit.url != best.url).map(|hit| hit.url.clone()).collect();
    also.dedup();
    let question_type = if cited.len() == 1 { QuestionType::Simple } else { QuestionType::Complex };
    let question = QuestionTurn {
        // A follow-up alone in its conversation needs its completed form.
        question: turn.completed_question.clone(),
        completed: turn.completed_question.clone(),
        gold_page: best.url.clone(),
        gold_answer: without_marks(&answer.text),
        gold_facts: facts(&answer.text),
        missing_entity: None,
        source: best.kind,
        question_type,
    };
    Ok((question, also))
}

/// The first hit of the most cited document; of equally cited ones the first.
fn most_cited<'a>(cited: &[&'a Hit]) -> Option<&'a Hit> {
    let count = |hit: &Hit| cited.iter().filter(|other| other.document == hit.document).count();
    let most = cited.iter().map(|hit| count(hit)).max()?;
    cited.iter().find(|hit| count(hit) == most).copied()
}

/// The texts of the answer between citations: a correct answer contains one of them.
fn facts(answer: &str) -> Vec<String> {
    let mut text = String::with_capacity(answer.len());
    let mut rest = answer;
    while let Some((before, after)) = rest.split_once("[Source") {
        text.push_str(before);
        text.push('\n');
        rest = after.split_once(']').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let pieces = text.lines().flat_map(|line| line.split(". ")).map(clean_line);
    // List marks, headings and punctuation at the ends are removed.
    let is_mark = |c: char| matches!(c, '-' | '•' | '#' | '>' | '.' | ',' | ';' | ':' | '!' | '?') || c.is_whitespace();
    let says_something = |piece: &&str| piece.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST_LETTERS;
    let pieces: Vec<String> = pieces.collect();
    let bare: Vec<&str> = pieces.iter().map(|piece| piece.trim_matches(is_mark)).filter(says_something).collect();
    // "Yes" beside a sentence would make every answer with that word correct.
    let is_one_word = |piece: &str| piece.split_whitespace().nth(1).is_none();
    let only = bare.len() == 1;
    bare.into_iter().filter(|piece| only || !is_one_word(piece)).map(str::to_owned).collect()
}

/// Replaces a file as a whole.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    // A symbolic link stays; its target is written.
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    if let Ok(there) = fs::metadata(&target) {
        temporary.as_file().set_permissions(there.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use ragonite_base::{DocumentId, EvidenceId, Language, Millis, TurnId};
    use ragonite_document::evidence::{Context, Kind};
    use ragonite_history::{Feedback, Outcome, Trace};
    use ragonite_inference::{Completion, Finish, Sampling};
    use ragonite_rag::answer::Answer;
    use ragonite_rag::prompt::Prompt;
    use ragonite_rag::retrieval::{HitExplanation, Retrieved};

    fn hit(rank: usize, document: i64, url: &str) -> Hit {
        Hit {
            rank,
            evidence: EvidenceId(rank as i64),
            document: DocumentId(document),
            title: String::new(),
            heading: String::new(),
            url: url.into(),
            date: None,
            space: None,
            ancestors: Vec::new(),
            location: String::new(),
            kind: Kind::Row,
            table: None,
            row: None,
            text: String::new(),
            content: String::new(),
            links: Vec::new(),
            context: Context::default(),
            fused: 0.0,
            dense_rank: None,
            dense_score: None,
            lexical_rank: None,
            lexical_score: None,
            rerank_score: None,
            copies: Vec::new(),
            version: None,
            why: HitExplanation::default(),
        }
    }

    const ANSWER: &str = "**Alice** replaces it [Source 1]. It is due on 2025-03-14 [Source 2, Source 3].\n- ok";

    fn turn(number: u32, citations: &[usize]) -> TurnRecord {
        let completion = Completion {
            text: String::new(),
            tokens: Vec::new(),
            prompt_tokens: 0,
            reused_tokens: 0,
            drafted_tokens: 0,
            narrowest: None,
            log_probabilities: Vec::new(),
            draft_log_probabilities: Vec::new(),
            finish: Finish::End,
            first_token_ms: Millis::default(),
            total_ms: Millis::default(),
        };
        let answer = Answer {
            named: None,
            withheld: None,
            text: ANSWER.into(),
            answered: true,
            citations: citations.to_vec(),
            invalid_citations: Vec::new(),
            language: Language::English,
            prompt: Prompt::default(),
            sampling: Sampling::Greedy,
            completion,
        };
        let hits = vec![hit(1, 1, "a.json"), hit(2, 2, "b.json"), hit(3, 2, "b.json")];
        let retrieved = Retrieved { hits, ..Retrieved::default() };
        let (rating, rated_at) = (Rating::Up, OffsetDateTime::UNIX_EPOCH);
        TurnRecord {
            id: TurnId(1),
            number,
            question: "And when?".into(),
            completed_question: "Who replaces the modem, and when?".into(),
            outcome: Outcome::Answered,
            asked_at: rated_at,
            feedback: Some(Feedback { rating, reason: None, note: String::new(), rated_at }),
            trace: Trace { answer: Some(answer), retrieved: Some(retrieved), ..Trace::default() },
        }
    }

    fn write(file: &Path, turn: &TurnRecord) -> Result<ExportedCase, ExportCaseError> {
        export_case(file, &"wiki".parse().unwrap(), ConversationId(7), turn)
    }

    #[test]
    fn a_turn_becomes_a_question_that_expects_the_page_most_of_its_sources_are_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.toml");
        let written = write(&file, &turn(2, &[1, 2, 3])).unwrap();
        assert_eq!((written.id.as_str(), written.page.as_str(), written.questions), ("turn-7.2", "b.json", 1));
        assert_eq!(written.also_cited, ["a.json"]);
        let read = QuestionFile::parse(&fs::read_to_string(&file).unwrap(), &file).unwrap();
        let question = &read.conversations[0].turns[0];
        assert_eq!((question.question.as_str(), question.source), ("Who replaces the modem, and when?", Kind::Row));
        assert_eq!(question.gold_facts, ["**Alice** replaces it", "It is due on 2025-03-14"]);
        assert!(question.contains_gold_fact(ANSWER), "the answer is right by its own facts");
        assert_eq!(question.question_type, QuestionType::Complex);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_word_beside_a_sentence_does_not_make_an_answer_right() {
        assert_eq!(facts("Yes. Alice repaired it [Source 1]."), ["Alice repaired it"]);
        assert_eq!(facts("Alice [Source 1]."), ["Alice"], "it is all there is");
    }

    #[test]
    fn a_file_that_is_there_keeps_every_byte_and_a_turn_stands_in_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.toml");
        write(&file, &turn(1, &[1])).unwrap();
        let before = format!("# Mine.\n{}", fs::read_to_string(&file).unwrap().trim_end());
        fs::write(&file, &before).unwrap();
        assert_eq!(write(&file, &turn(2, &[1])).unwrap().questions, 2);
        let after = fs::read_to_string(&file).unwrap();
        assert!(after.starts_with(&before), "{after}");
        assert!(matches!(write(&file, &turn(2, &[1])), Err(ExportCaseError::Known { id, .. }) if id == "turn-7.2"));
        assert_eq!(fs::read_to_string(&file).unwrap(), after);
    }

    #[test]
    fn what_is_no_question_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.toml");
        for text in ["name = \"mine\"\n", "a list of things", "[[conversation]]\nid = \"x\"\ndomain = \"wiki\"\n"] {
            fs::write(&file, text).unwrap();
            assert!(matches!(write(&file, &turn(1, &[1])), Err(ExportCaseError::NoQuestionFile { .. })), "{text}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert!(matches!(
            write(&folder.path().join("no/where.toml"), &turn(1, &[1])),
            Err(ExportCaseError::File { .. })
        ));
        assert!(matches!(write(folder.path(), &turn(1, &[1])), Err(ExportCaseError::File { .. })));
    }

    #[test]
    fn an_answer_that_nobody_called_right_or_that_cites_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.toml");
        let unrated = TurnRecord { feedback: None, ..turn(1, &[1]) };
        let mut down = turn(1, &[1]);
        down.feedback.as_mut().unwrap().rating = Rating::Down;
        for refused in [unrated, down] {
            assert!(matches!(write(&file, &refused), Err(ExportCaseError::NotRatedUp { number: 1 })));
        }
        assert!(matches!(write(&file, &turn(1, &[])), Err(ExportCaseError::NoPage { .. })));
        assert!(matches!(write(&file, &turn(1, &[9])), Err(ExportCaseError::NoPage { .. })));
        assert!(!file.exists());
    }
}
