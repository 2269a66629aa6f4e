//! Reads a benchmark: a folder with documents and questions, grouped by domain.
//!
//! Takes ConfQuestions as published (`documents/`, `qa-pairs.json`), or `questions.toml` with a folder of documents or
//! a `domains.toml`.
//! Not here: reading documents (`domain`), asking (`retrieval`).

use std::fs;
use std::path::{Path, PathBuf};

use super::{DomainsFile, EvalError, QuestionConversation, QuestionFile, QuestionType, Topic, confquestions, sample};
use ragonite_base::{DomainName, Language};
use ragonite_document::evidence::Kind;
use ragonite_rag::prompt::HistoryTurn;

/// Usual names of question files.
const QUESTION_FILES: [&str; 2] = ["qa-pairs.json", "questions.toml"];

/// The folder of the documents of a benchmark with one domain.
const DOCUMENTS: &str = "documents";

/// The file that names the folders of a benchmark with several domains.
const DOMAINS: &str = "domains.toml";

/// URL prefix of all pages of ConfQuestions.
const PAPERS_WIKI: &str = "https://openxt.atlassian.net/wiki/";

/// A question in one language, with its gold pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Id of its conversation.
    pub conversation: String,
    /// Its place in the conversation, from 1.
    pub turn: usize,
    /// Language of the question.
    pub language: Language,
    /// The question as a person asked it.
    pub raw: String,
    /// The completed question, by a person.
    pub completed: String,
    /// The reference answer, in the language of the benchmark.
    pub answer: String,
    /// A correct answer contains at least one of these; may be empty.
    pub facts: Vec<String>,
    /// Earlier turns, oldest first, with reference answers.
    pub past: Vec<HistoryTurn>,
    /// URLs or paths of the pages with the answer.
    pub gold: Vec<String>,
    /// Kind of the evidence with the answer.
    pub source: Kind,
    /// Difficulty.
    pub question_type: QuestionType,
    /// Whether the answer is on a page of the previous turn; none for a first turn.
    pub topic: Option<Topic>,
}

impl Question {
    /// Identifies a conversation in one language; turns with equal values follow each other.
    #[must_use]
    pub fn thread(&self) -> (&str, Language) {
        (&self.conversation, self.language)
    }
}

/// The questions for one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The domain of the questions; none if they name none.
    pub domain: Option<DomainName>,
    /// Its documents; none if the benchmark has none.
    pub documents: Option<PathBuf>,
    /// Prompt prefix of the domain in the benchmark; empty for the default.
    pub prefix: String,
    /// Questions in the order of the file.
    pub questions: Vec<Question>,
}

impl Part {
    /// Whether its questions name this domain or none.
    fn is_for(&self, name: &DomainName) -> bool {
        self.domain.as_ref().is_none_or(|domain| domain == name)
    }
}

/// Selection of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Only questions that name this domain or none.
    pub domain: Option<DomainName>,
    /// Only these languages.
    pub languages: Vec<Language>,
    /// Number of questions.
    pub limit: Limit,
    /// Unit of the limit.
    pub unit: Unit,
}

/// Number of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// All.
    None,
    /// The first ones of each language.
    First(usize),
    /// This many in all, spread evenly over the slices.
    Spread(usize),
}

/// Unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Single questions.
    Question,
    /// All turns of a conversation in one language, because each depends on the previous ones. The limit is then an
    /// upper bound, but at least one conversation is kept.
    Conversation,
}

/// Whether the paper's figures are comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The paper asks the same questions.
    Paper,
    /// No comparison.
    Nothing,
}

/// A benchmark with the selected questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Benchmark {
    /// Name of its folder.
    pub name: String,
    /// The question file.
    pub questions: PathBuf,
    /// Parts by domain.
    pub parts: Vec<Part>,
    /// Questions left out because they name another domain than the wanted one.
    pub of_other_domains: usize,
}

impl Benchmark {
    /// Reads the benchmark in `folder`; `questions` overrides the question file.
    ///
    /// # Errors
    /// When there are no questions, or a file cannot be read.
    pub fn read(folder: &Path, questions: Option<&Path>, wanted: &Wanted) -> Result<Self, EvalError> {
        if questions.is_none() && folder.is_file() {
            return Err(EvalError::FileHere { file: folder.to_owned() });
        }
        if questions.is_none() && !folder.is_dir() {
            return Err(EvalError::NoFolderHere { folder: folder.to_owned() });
        }
        let usual = || QUESTION_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
        let file = questions.map(Path::to_owned).or_else(usual);
        let file = file.ok_or_else(|| EvalError::NoQuestions { folder: folder.to_owned() })?;
        let text = read(&file)?;
        let mut parts = if is_toml(&file) {
            parts_of(&QuestionFile::parse(&text, &file)?, folder)?
        } else {
            let questions = confquestions::parse(&text, &file)?;
            vec![Part { domain: None, documents: documents_of(folder), prefix: String::new(), questions }]
        };
        let nothing = nothing_to_ask(&file, &parts);
        let of_other_domains = wanted.of_other_domains(&parts);
        wanted.keep(&mut parts);
        if parts.is_empty() {
            return Err(nothing);
        }
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = ragonite_base::clean_line(&name.file_name().unwrap_or_default().to_string_lossy());
        Ok(Self { name, questions: file, parts, of_other_domains })
    }

    /// Whether the paper's figures are about these questions: JSON with gold pages of one wiki.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        let mut gold = self.parts.iter().flat_map(|part| &part.questions).map(|question| &question.gold);
        let is_papers =
            |pages: &Vec<String>| !pages.is_empty() && pages.iter().all(|page| page.starts_with(PAPERS_WIKI));
        let is_paper = !is_toml(&self.questions) && !self.is_empty() && gold.all(is_papers);
        if is_paper { Comparison::Paper } else { Comparison::Nothing }
    }

    /// Number of selected questions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.questions.len()).sum()
    }

    /// Whether no question is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Wanted {
    fn of_other_domains(&self, parts: &[Part]) -> usize {
        let others = |name| parts.iter().filter(move |part| !part.is_for(name));
        let is_asked = |question: &&Question| self.languages.contains(&question.language);
        self.domain.iter().flat_map(others).map(|part| part.questions.iter().filter(is_asked).count()).sum()
    }

    /// The limit comes last, so it counts questions of the domain and languages.
    fn keep(&self, parts: &mut Vec<Part>) {
        if let Some(name) = &self.domain {
            parts.retain(|part| part.is_for(name));
        }
        for part in &mut *parts {
            part.questions.retain(|question| self.languages.contains(&question.language));
        }
        match self.limit {
            Limit::None => {}
            Limit::First(limit) => sample::first(parts, limit, self.unit),
            Limit::Spread(limit) => sample::spread(parts, limit, self.unit),
        }
        parts.retain(|part| !part.questions.is_empty());
    }
}

/// The error if no question is selected.
fn nothing_to_ask(file: &Path, parts: &[Part]) -> EvalError {
    let mut languages: Vec<&str> =
        parts.iter().flat_map(|part| &part.questions).map(|question| question.language.code()).collect();
    languages.sort_unstable();
    languages.dedup();
    let domains = parts.iter().filter_map(|part| part.domain.clone()).collect();
    EvalError::NothingToAsk { path: file.to_owned(), languages: languages.join(", "), domains }
}

fn is_toml(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "toml")
}

fn read(path: &Path) -> Result<String, EvalError> {
    fs::read_to_string(path).map_err(|source| EvalError::Read { path: path.to_owned(), source })
}

fn documents_of(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(DOCUMENTS)).filter(|path| path.is_dir())
}

/// One part per domain of the conversations.
fn parts_of(file: &QuestionFile, folder: &Path) -> Result<Vec<Part>, EvalError> {
    let domains = folder.join(DOMAINS);
    let domains = if domains.is_file() { Some(DomainsFile::parse(&read(&domains)?, &domains)?) } else { None };
    let mut parts: Vec<Part> = Vec::new();
    for conversation in &file.conversations {
        let name = &conversation.domain;
        let known = parts.iter().position(|part| part.domain.as_ref() == Some(name));
        let at = known.unwrap_or(parts.len());
        if known.is_none() {
            let (documents, prefix) = match &domains {
                Some(file) => {
                    let domain = file.domain(name)?;
                    (Some(folder.join(&domain.folder)), domain.prompt_prefix.clone())
                }
                None => (documents_of(folder), String::new()),
            };
            parts.push(Part { domain: Some(name.clone()), documents, prefix, questions: Vec::new() });
        }
        parts[at].questions.extend(questions_of(conversation));
    }
    Ok(parts)
}

fn questions_of(conversation: &QuestionConversation) -> impl Iterator<Item = Question> {
    let past = conversation.turns.iter().map(|turn| HistoryTurn {
        question: turn.question.clone(),
        completed_question: turn.completed.clone(),
        answer: turn.gold_answer.clone(),
    });
    let past: Vec<HistoryTurn> = past.collect();
    let gold: Vec<Vec<String>> = conversation.turns.iter().map(|turn| vec![turn.gold_page.clone()]).collect();
    let topics = Topic::of_turns(&gold);
    conversation.turns.iter().zip(topics).enumerate().map(move |(before, (turn, topic))| Question {
        conversation: conversation.id.clone(),
        turn: before + 1,
        language: Language::of(&turn.completed),
        raw: turn.question.clone(),
        completed: turn.completed.clone(),
        answer: turn.gold_answer.clone(),
        facts: turn.gold_facts.clone(),
        past: past[..before].to_vec(),
        gold: vec![turn.gold_page.clone()],
        source: turn.source,
        question_type: turn.question_type,
        topic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Language; 2] = [Language::English, Language::German];

    fn demo() -> PathBuf {
        ragonite_testing::root().join("assets/demo")
    }

    fn all() -> Wanted {
        Wanted { domain: None, languages: BOTH.to_vec(), limit: Limit::None, unit: Unit::Question }
    }

    #[test]
    fn the_demo_is_a_benchmark_of_two_domains() {
        let benchmark = Benchmark::read(&demo(), None, &all()).unwrap();
        let parts: Vec<_> = benchmark.parts.iter().map(|part| part.domain.as_ref().unwrap().as_str()).collect();
        assert_eq!((benchmark.name.as_str(), parts), ("demo", vec!["demo-wiki", "demo-league"]));
        assert_eq!((benchmark.len(), benchmark.comparison()), (20, Comparison::Nothing));
        assert!(benchmark.parts.iter().all(|part| !part.prefix.is_empty()));
        assert!(benchmark.parts.iter().all(|part| part.documents.as_ref().unwrap().is_dir()));
        let first = &benchmark.parts[0].questions;
        assert!(first.iter().all(|question| question.past.len() == question.turn - 1));
        assert_eq!(first[1].past[0].answer, first[0].answer);
        assert!(first.iter().all(|question| !question.facts.is_empty()));
    }

    #[test]
    fn a_limit_counts_the_questions_that_the_wanted_domain_can_answer() {
        let league = Wanted { domain: Some("demo-league".parse().unwrap()), ..all() };
        let of_league = Benchmark::read(&demo(), None, &league).unwrap().len();
        assert!((3..20).contains(&of_league), "{of_league}");
        let left_out = |wanted| Benchmark::read(&demo(), None, wanted).unwrap().of_other_domains;
        assert_eq!((left_out(&league), left_out(&all())), (20 - of_league, 0));
        for limit in [Limit::First(3), Limit::Spread(3)] {
            let wanted = Wanted { languages: vec![Language::English], limit, ..league.clone() };
            let benchmark = Benchmark::read(&demo(), None, &wanted).unwrap();
            assert_eq!((benchmark.len(), benchmark.parts.len()), (3, 1), "{limit:?}");
        }
    }

    #[test]
    fn only_the_wanted_questions_are_kept() {
        let count = |wanted: &Wanted, language| {
            let benchmark = Benchmark::read(&demo(), None, wanted).unwrap();
            benchmark.parts.iter().flat_map(|part| &part.questions).filter(|q| q.language == language).count()
        };
        let (english, german) = (count(&all(), Language::English), count(&all(), Language::German));
        assert_eq!(english + german, 20);
        let some = Wanted { limit: Limit::First(3), ..all() };
        assert_eq!((count(&some, Language::English), count(&some, Language::German)), (3.min(english), 3.min(german)));
        let spread = Benchmark::read(&demo(), None, &Wanted { limit: Limit::Spread(7), ..all() }).unwrap();
        assert_eq!((spread.len(), spread.parts.len()), (7, 2));
        let one = Wanted { languages: vec![Language::German], ..all() };
        assert_eq!((count(&one, Language::English), count(&one, Language::German)), (0, german));
    }

    #[test]
    fn only_questions_to_the_wiki_of_the_paper_are_held_against_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("half.json");
        let turn = |page: &str| {
            serde_json::json!({"q_type": "simple", "q_en": "Who?", "q_de": "Wer?", "completed_q_en": "Who?",
                "completed_q_de": "Wer?", "a_url": [page], "a_source": "passage", "a": "Alice."})
        };
        let comparison = |pages: &[&str]| {
            let turns: Vec<_> = pages.iter().map(|page| turn(page)).collect();
            fs::write(&file, serde_json::json!([{"conv_id": "1", "turns": turns}]).to_string()).unwrap();
            Benchmark::read(folder.path(), Some(&file), &all()).unwrap().comparison()
        };
        let of_paper = "https://openxt.atlassian.net/wiki/spaces/TEST/pages/1/Tests";
        assert_eq!(comparison(&[of_paper, of_paper]), Comparison::Paper);
        assert_eq!(comparison(&[of_paper, "https://wiki.example.net/wiki/spaces/TEST/pages/1"]), Comparison::Nothing);
        assert_eq!(comparison(&["/wiki/spaces/TEST/pages/1/Tests"]), Comparison::Nothing);
    }

    #[test]
    fn a_folder_without_questions_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Benchmark::read(folder.path(), None, &all()).unwrap_err();
        assert!(matches!(error, EvalError::NoQuestions { .. }));
        let nowhere = Benchmark::read(&folder.path().join("x"), None, &all()).unwrap_err();
        assert!(matches!(nowhere, EvalError::NoFolderHere { .. }));
        let file = folder.path().join("mine.toml");
        fs::write(&file, "").unwrap();
        let elsewhere = Wanted { domain: Some("other".parse().unwrap()), ..all() };
        let error = Benchmark::read(&demo(), None, &elsewhere).unwrap_err().to_string();
        assert!(error.contains("en and ask demo-wiki, demo-league"), "{error}");
        assert!(matches!(Benchmark::read(&file, None, &all()), Err(EvalError::FileHere { .. })));
        let named = folder.path().join("mine.json");
        assert!(matches!(Benchmark::read(folder.path(), Some(&named), &all()), Err(EvalError::Read { .. })));
    }
}
