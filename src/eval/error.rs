//! Errors of benchmarks.

use std::path::PathBuf;

use ragonite_base::{Canceled, DomainName};
use ragonite_document::DocumentError;
use ragonite_index::IndexError;
use ragonite_rag::answer::AnswerError;
use ragonite_rag::attribution::AttributionError;
use ragonite_rag::retrieval::RetrievalError;

/// Why a benchmark failed.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// There is no such folder.
    #[error("there is no folder `{folder}`: name that of the benchmark with --benchmark")]
    NoFolderHere {
        /// The folder of the benchmark.
        folder: PathBuf,
    },
    /// The path is a file.
    #[error("`{file}` is a file: name the folder of a benchmark with --benchmark, or this file with --questions")]
    FileHere {
        /// The path given as the benchmark folder.
        file: PathBuf,
    },
    /// No question has the wanted languages and domain.
    #[error("of the questions in `{path}` none is asked: they are in {languages}{}", asked(.domains))]
    NothingToAsk {
        /// The question file.
        path: PathBuf,
        /// The languages of the file, as typed on the command line.
        languages: String,
        /// The domains of the questions; empty if they name none.
        domains: Vec<DomainName>,
    },
    /// The benchmark has no questions.
    #[error("`{folder}` has neither qa-pairs.json nor questions.toml: name the question file with --questions")]
    NoQuestions {
        /// The folder of the benchmark.
        folder: PathBuf,
    },
    /// The benchmark has no documents.
    #[error(
        "`{folder}` has no folder `documents`, and no domains.toml that names others: score an existing domain with --domain"
    )]
    NoDocuments {
        /// The folder of the benchmark.
        folder: PathBuf,
    },
    /// `domains.toml` lacks the domain of a conversation.
    #[error("no [[domain]] of domains.toml is named `{domain}`, which the questions ask")]
    NoFolder {
        /// The domain.
        domain: String,
    },
    /// A file cannot be read.
    #[error("reading `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Invalid TOML, or other fields.
    #[error("`{path}` has not the form of a questions.toml")]
    Form {
        /// The question file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// `domains.toml` is invalid or has other fields.
    #[error("`{path}` has not the form of a domains.toml")]
    Domains {
        /// The file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// Invalid JSON, or other fields.
    #[error("`{path}` has not the form of a qa-pairs.json")]
    Pairs {
        /// The question file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        source: serde_json::Error,
    },
    /// The file has no conversation.
    #[error("`{path}` has no conversation")]
    Empty {
        /// The question file, in TOML.
        path: PathBuf,
    },
    /// The file has no turn.
    #[error("`{path}` has no question")]
    NoPairs {
        /// The question file, in JSON.
        path: PathBuf,
    },
    /// A conversation cannot be used.
    #[error("the conversation `{conversation}` in `{path}` cannot be used")]
    Conversation {
        /// The question file.
        path: PathBuf,
        /// Its id.
        conversation: String,
        /// The cause.
        #[source]
        source: Flaw,
    },
    /// The documents of the benchmark cannot be found.
    #[error("finding the documents of the benchmark")]
    Documents(#[source] DocumentError),
    /// The domain of the benchmark cannot be filled or read.
    #[error("preparing the domain of the benchmark")]
    Index(#[source] IndexError),
    /// Results cannot be stored.
    #[error("keeping results in `{path}`")]
    Cache {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A question could not be answered.
    #[error("answering")]
    Answer(#[source] AnswerError),
    /// An answer could not be explained.
    #[error("explaining an answer")]
    Attribution(#[source] AttributionError),
    /// An answer could not be judged.
    #[error("judging an answer")]
    Judge(#[source] AnswerError),
    /// Completing questions needs a generator.
    #[error("no generator is at hand to complete questions: choose --completion human, history or none")]
    NoGenerator,
    /// An ablation has nothing to compare.
    #[error("the profile has no reranker to leave out: choose another with --profile, or another --ablate")]
    NoReranker,
    /// A question could not be searched.
    #[error("searching")]
    Retrieval(#[source] RetrievalError),
}

fn asked(domains: &[DomainName]) -> String {
    let names: Vec<&str> = domains.iter().map(DomainName::as_str).collect();
    if names.is_empty() { String::new() } else { format!(" and ask {}", names.join(", ")) }
}

impl EvalError {
    /// Advice for the user; empty if the error or a cause already gives it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Read { .. } => {
                "Check that the file is there and holds text; --questions names another question file."
            }
            Self::Form { .. } => {
                "Write it as [[conversation]] with id and domain and [[conversation.turn]] with question, completed, \
                 gold_page, gold_answer, source and type, as in assets/demo/questions.toml of the source, or name \
                 another file with --questions."
            }
            Self::NothingToAsk { .. } => "Check --languages and --domain.",
            Self::Domains { .. } => {
                "Write each domain as [[domain]] with name and folder, as in assets/demo/domains.toml of the source."
            }
            Self::Pairs { .. } => {
                "Write it as ConfQuestions does: a list of conversations, each with conv_id and turns, or name another \
                 file with --questions."
            }
            Self::Empty { .. } => {
                "Add a [[conversation]] with a [[conversation.turn]], or name another file with --questions."
            }
            Self::NoPairs { .. } => {
                "Add to its list a conversation with conv_id and turns, or name another file with --questions."
            }
            Self::Conversation { .. } => "Correct it there, or name another file with --questions.",
            Self::Cache { .. } => {
                "Check the rights of the file and its folder and the room on the disk, or choose another folder with \
                 --data-dir."
            }
            _ => "",
        }
    }
}

/// A defect of a conversation in a question file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The id is empty or not unique.
    #[error("its id is empty or that of another")]
    Id,
    /// The conversation has no turn.
    #[error("it has no [[conversation.turn]]")]
    NoTurn,
    /// A required text is empty.
    #[error("turn {turn} has no {field}")]
    Missing {
        /// Number of the turn, from 1.
        turn: usize,
        /// Name of the field.
        field: &'static str,
    },
}

impl From<IndexError> for EvalError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Index(other),
        }
    }
}

impl From<RetrievalError> for EvalError {
    fn from(error: RetrievalError) -> Self {
        match error {
            RetrievalError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Retrieval(other),
        }
    }
}

impl From<AnswerError> for EvalError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Answer(other),
        }
    }
}

impl From<AttributionError> for EvalError {
    fn from(error: AttributionError) -> Self {
        match error {
            AttributionError::Canceled(canceled) => Self::Canceled(canceled),
            other => Self::Attribution(other),
        }
    }
}
