//! The command line: clap types and nothing else.
//!
//! Not here: the options of `eval` (`eval`), the commands themselves (`commands`), defaults of the configuration file
//! (`config`).

mod eval;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use time::Date;
use time::macros::format_description;

use ragonite_base::{ConversationId, DomainName};
use ragonite_config::Setting;
use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_history::{Format, Rating, Reason, UnknownRating};
use ragonite_rag::attribution::Method;
use ragonite_rag::retrieval::{Fusion, Mode, Reranking, Translate};

pub use self::eval::{
    Eval, EvalAnswers, EvalAttribution, EvalCommon, EvalPlanted, EvalRetrieval, EvalSettings, EvalSupport,
};

/// Ask questions of your own documents, offline, and see why each answer came out as it did.
///
/// Without a command, ragonite opens its screen.
#[derive(Debug, Parser)]
#[command(name = "ragonite", version, propagate_version = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub shared: Shared,
    /// What to do; opens the screen when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Shared {
    /// Folder for domains and history [default: $RAGONITE_HOME, else the platform's data folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [default: config.toml in the platform's configuration folder, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder with model weights, searched first
    #[arg(long, global = true, value_name = "FOLDER")]
    pub models_dir: Option<PathBuf>,
    /// Named set of models: full, starter or tiny
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Print machine-readable output on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Where to fail on purpose, for the tests of terminal restoration.
    #[arg(long, global = true, hide = true, value_enum)]
    pub panic_in: Option<PanicIn>,
}

/// The thread that panics on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PanicIn {
    /// The thread that draws.
    Ui,
    /// A worker thread.
    Worker,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try the two bundled demo domains
    ///
    /// Opens the screen with them. Without a terminal it prints a conversation of three turns and explains the last one.
    Demo,
    /// Read files and folders into a domain
    ///
    /// Brings the domain in step with them: documents are added, updated, renamed and removed. Esc or Ctrl+C stops; the next
    /// run goes on where this one stopped.
    Ingest(Ingest),
    /// List, show, change, check and remove domains
    #[command(subcommand)]
    Domain(Domain),
    /// Find evidence without an answer
    ///
    /// A query in another language than the documents is translated by the generator, where it is here. What is not typed is
    /// as set for the domain, else as configured.
    Search(Search),
    /// Ask one question
    ///
    /// What is not typed is as set for the domain, else as configured. stderr names the settings that the domain has of its
    /// own.
    Ask(Ask),
    /// Show how much each source mattered for a stored answer
    ///
    /// With --sentence for one sentence of it.
    Explain(Explain),
    /// Find, export, rate, delete and restore past conversations
    #[command(subcommand)]
    History(History),
    /// Measure retrieval, answers and explanations on a benchmark
    #[command(subcommand)]
    Eval(Eval),
    /// List, check, import and fetch model weights
    #[command(subcommand)]
    Models(Models),
    /// Carry program, weights and domains to a machine without network
    #[command(subcommand)]
    Bundle(Bundle),
    /// Show what this machine can run and what is missing
    ///
    /// It also shows that the program has no network code.
    Doctor,
    /// Read the guide
    ///
    /// Without a topic it lists the pages. On a terminal a page is shown by $PAGER, else by less.
    Guide {
        /// The page, such as models, explanation or offline
        #[arg(value_name = "TOPIC")]
        topic: Option<String>,
    },
    /// Print the completion script of a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

/// `ragonite ingest`.
#[derive(Debug, Args)]
pub struct Ingest {
    /// Domain to add to; made when it does not exist
    #[arg(long, value_name = "NAME")]
    pub domain: DomainName,
    /// Title of the domain, for people
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// What the model is told about the domain, one or two sentences
    #[arg(long, value_name = "TEXT")]
    pub prompt_prefix: Option<String>,
    /// Also remove documents whose whole folder is missing or empty. Without this they are kept, because a disk may be
    /// unplugged or a share not mounted
    #[arg(long)]
    pub remove_missing: bool,
    /// Files and folders with HTML, Confluence pages and exports, Markdown, Word, PDF, Excel, CSV, mail, JSON pages, text,
    /// and ZIP archives of them [default: those of earlier ingests into this domain]. Documents whose files are gone from a
    /// folder are removed, renamed files are followed
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// `ragonite domain …`.
#[derive(Debug, Subcommand)]
pub enum Domain {
    /// List the domains
    List,
    /// Show a domain: its documents, folders, settings, sizes, embedder, last ingest and health
    Show {
        /// The domain
        name: DomainName,
    },
    /// Change the title of a domain, what the model is told about it, or the settings it has of its own
    Set(SetDomain),
    /// Delete a domain with all that was made from its documents. The documents themselves stay where they are
    Remove {
        /// The domain
        name: DomainName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Check the domain's database and both indexes against each other, and repair what can be repaired
    Check {
        /// The domain
        name: DomainName,
    },
    /// Make the domain's indexes again from its database; embeds again where the profile has another embedder
    Rebuild {
        /// The domain
        name: DomainName,
    },
}

/// `ragonite domain set`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group(clap::ArgGroup::new("change").required(true).multiple(true).args(["title", "prompt_prefix", "settings", "restore_settings"])))]
pub struct SetDomain {
    /// The domain
    pub name: DomainName,
    /// Title of the domain, for people
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// What the model is told about the domain, one or two sentences; an empty text for the default
    #[arg(long, value_name = "TEXT")]
    pub prompt_prefix: Option<String>,
    /// A setting that the domain has of its own wherever it is asked, such as retrieval.mode=dense; the configured value
    /// makes it none of its own. It wins over the configuration file, and the command line wins over it. The names are
    /// those of the settings on the screen: sources, rerank, retrieval.mode, generation.temperature, …
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = assignment)]
    pub settings: Vec<Assignment>,
    /// Take all settings as configured
    #[arg(long, conflicts_with = "settings")]
    pub restore_settings: bool,
}

/// A setting and its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The setting.
    pub setting: Setting,
    /// Its value as typed.
    pub text: String,
}

/// A text that is no assignment of a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum NoAssignment {
    #[error("write it as NAME=VALUE, such as retrieval.mode=dense")]
    Form,
    #[error("`{found}` is no setting of a domain; there are: {known}")]
    Unknown { found: String, known: String },
}

fn assignment(text: &str) -> Result<Assignment, NoAssignment> {
    let (key, text) = text.split_once('=').ok_or(NoAssignment::Form)?;
    let setting = Setting::of_key(key.trim()).ok_or_else(|| {
        let known: Vec<&str> = Setting::ALL.iter().map(|setting| setting.key()).collect();
        NoAssignment::Unknown { found: ragonite_base::clean_line(key), known: known.join(", ") }
    })?;
    Ok(Assignment { setting, text: text.to_owned() })
}

/// `ragonite search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Domain to search
    #[arg(long, value_name = "NAME")]
    pub domain: DomainName,
    /// How many hits [default: as set for the domain, else as configured: 10]
    #[arg(short, long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: Option<u16>,
    /// dense, lexical or hybrid [default: as set for the domain, else as configured: hybrid]
    #[arg(long)]
    pub mode: Option<Mode>,
    /// How the lists of the searches become one: rrf by their ranks, or blend by their scores [default: likewise: blend]
    #[arg(long, value_parser = word::<Fusion>)]
    pub fusion: Option<Fusion>,
    /// on, or off to leave the profile's reranker out [default: likewise: on]
    #[arg(long, value_parser = word::<Reranking>)]
    pub rerank: Option<Reranking>,
    /// Context shown with each hit: all, none, or some of title,heading,before,after [default: likewise: all]
    #[arg(long, value_name = "PARTS")]
    pub context: Option<ContextParts>,
    /// Kinds of evidence that are looked for: some of passage,list,table,row [default: likewise: all of them]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = word::<Kind>)]
    pub kinds: Vec<Kind>,
    /// Whether a query in another language than the documents is searched for in theirs too, where the generator is here
    /// to translate it: auto or off [default: likewise: auto]
    #[arg(long, value_parser = word::<Translate>)]
    pub translate: Option<Translate>,
    /// Only documents with this text in their title, address or path
    #[arg(long, value_name = "TEXT")]
    pub document: Option<String>,
    /// Only documents of this day or later, such as 2025-03-01; one of a month may be of any day of it, those without a date are left out
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub since: Option<Date>,
    /// Only documents of this day or earlier; one of a month may be of any day of it, those without a date are left out
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub until: Option<Date>,
    /// What to search for
    #[arg(value_name = "QUERY")]
    pub query: String,
}

/// `ragonite ask`.
#[derive(Debug, Args)]
pub struct Ask {
    /// Domain to ask
    #[arg(long, value_name = "NAME")]
    pub domain: DomainName,
    /// Conversation to go on with
    #[arg(long, value_name = "ID", value_parser = conversation)]
    pub conversation: Option<ConversationId>,
    /// Also say how much each source mattered
    #[arg(long)]
    pub explain: bool,
    /// How to explain: similarity, preview, logprob, jsd or counterfactual [default: as set for the domain, else as
    /// configured: counterfactual]
    #[arg(long, requires = "explain")]
    pub method: Option<Method>,
    /// Have the model answer even where no document fits the question
    #[arg(long)]
    pub answer_without_match: bool,
    /// The question
    #[arg(value_name = "QUESTION")]
    pub question: String,
}

/// `ragonite explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The turn: 12.3 is the third of conversation 12, 12 its last one
    #[arg(value_name = "TURN")]
    pub turn: TurnAddress,
    /// How to explain: similarity, preview, logprob, jsd or counterfactual. Without it, what is stored with the turn is
    /// shown, going on where it was stopped; where nothing is, it is explained as set for its domain, else as configured;
    /// what its sentences rest on is added where it is missing
    #[arg(long)]
    pub method: Option<Method>,
    /// Say what this sentence of the answer rests on, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub sentence: Option<u16>,
    /// Also list what each token of the answer loses without each cluster of sources
    #[arg(long)]
    pub tokens: bool,
}

/// Address of a turn: conversation and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnAddress {
    /// The conversation.
    pub conversation: ConversationId,
    /// From 1; none for the last turn.
    pub number: Option<u32>,
}

/// A text that names no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a turn is named by its conversation and its number, as in 12.3, or by its conversation for the last one")]
pub struct NoTurn;

impl FromStr for TurnAddress {
    type Err = NoTurn;

    fn from_str(text: &str) -> Result<Self, NoTurn> {
        let (id, number) = match text.split_once('.') {
            Some((id, number)) => (id, Some(number.parse().ok().filter(|number| *number > 0).ok_or(NoTurn)?)),
            None => (text, None),
        };
        Ok(Self { conversation: id.parse().map_err(|_| NoTurn)?, number })
    }
}

/// A text that names no conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a conversation is named by its number; `ragonite history list` shows those there are")]
struct NoNumber;

fn conversation(text: &str) -> Result<ConversationId, NoNumber> {
    text.parse().map_err(|_| NoNumber)
}

/// `ragonite history …`.
#[derive(Debug, Subcommand)]
pub enum History {
    /// List the conversations, pinned ones first, then the latest
    List {
        /// Of this domain only
        #[arg(long, value_name = "NAME")]
        domain: Option<DomainName>,
        /// What is in the trash, in place of what is not
        #[arg(long)]
        trash: bool,
    },
    /// Show a conversation with its sources; with --json the whole trace of each turn
    Show {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
    },
    /// Find conversations by words of their titles, questions and answers, also in the trash
    Search {
        /// In this domain only
        #[arg(long, value_name = "NAME")]
        domain: Option<DomainName>,
        /// Words, all of which must be there; the beginning of a word is enough
        #[arg(value_name = "WORD", required = true)]
        words: Vec<String>,
    },
    /// Write a conversation to a file: sources, shares and ratings with each answer
    Export {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
        /// Only this turn
        #[arg(long, value_name = "NUMBER")]
        turn: Option<u32>,
        /// markdown, html (one file that loads nothing) or json (the whole trace)
        #[arg(long, value_name = "FORMAT", default_value = "markdown")]
        format: Format,
        /// The file [default: standard output]. A file that is there already is left as it is
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Give a conversation another title
    Rename {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
        /// The title
        #[arg(value_name = "TITLE")]
        title: String,
    },
    /// Put a conversation before the others in the list
    Pin {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
    },
    /// Put a conversation back among the others
    Unpin {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
    },
    /// Say what an answer was worth: up or down, with a reason and a note
    Rate {
        /// The conversation
        #[arg(value_parser = conversation)]
        id: ConversationId,
        /// The turn, by its number
        #[arg(value_name = "TURN")]
        turn: u32,
        /// up, down, or none to take a rating back
        #[arg(value_name = "RATING", value_parser = rating)]
        rating: Rated,
        /// wrong-answer, wrong-source, incomplete, out-of-date or other
        #[arg(long, value_name = "REASON")]
        reason: Option<Reason>,
        /// In your words
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
    },
    /// Make a turn that was rated up a question of a question file, which `ragonite eval` asks with --questions: what the
    /// answer cites is the expected page, what it says the expected answer. Correct both in the file as you like
    Check {
        /// The turn: 12.3 is the third of conversation 12, 12 its last one
        #[arg(value_name = "TURN")]
        turn: TurnAddress,
        /// The file; made where it is not there. What is in it stays as it is
        #[arg(long, value_name = "FILE", default_value = "questions.toml")]
        file: PathBuf,
    },
    /// Throw conversations into the trash
    Delete {
        /// The conversations
        #[arg(value_parser = conversation, value_name = "ID", required = true)]
        ids: Vec<ConversationId>,
    },
    /// Take conversations out of the trash
    Restore {
        /// The conversations
        #[arg(value_parser = conversation, value_name = "ID", required = true)]
        ids: Vec<ConversationId>,
    },
    /// Remove conversations in the trash for good
    Purge {
        /// The conversations
        #[arg(value_parser = conversation, value_name = "ID", required_unless_present = "all")]
        ids: Vec<ConversationId>,
        /// All that is in the trash
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// A rating, or its removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rated {
    /// This rating.
    As(Rating),
    /// No rating.
    Not,
}

fn rating(text: &str) -> Result<Rated, UnknownRating> {
    if text == "none" { Ok(Rated::Not) } else { text.parse().map(Rated::As) }
}

/// Parses a day.
fn day(text: &str) -> Result<Date, String> {
    let day = Date::parse(text, format_description!("[year]-[month]-[day]"));
    day.map_err(|_| "write a day as 2025-03-01".to_owned())
}

/// Parses a choice by its word in the configuration.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, WordError> {
    let words: StrDeserializer<'_, WordError> = text.into_deserializer();
    T::deserialize(words)
}

/// `ragonite models …`.
#[derive(Debug, Subcommand)]
pub enum Models {
    /// List the catalog: profiles, models, and what is on this machine
    List,
    /// Fetch weights (only in a build with the feature `hub`)
    Pull {
        /// Models, by their ids in the catalog [default: those of the profile and of the configuration]
        #[arg(value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Check every byte of weights against the catalog
    Verify {
        /// Models, by their ids in the catalog [default: those of the profile and of the configuration]
        #[arg(value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Take in weights that are in files or folders of yours, whatever their names are: what is in the catalog is told by
    /// its sha256 and copied into the models folder
    Import {
        /// Files, and folders that are looked through
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<PathBuf>,
    },
}

/// `ragonite bundle …`.
#[derive(Debug, Subcommand)]
pub enum Bundle {
    /// Pack this program, the weights of the profile and domains into one file. Conversations are never packed
    Create(CreateBundle),
    /// Take weights and domains out of such a file. The program is taken out with `tar`, as the file in it says
    Install(InstallBundle),
}

/// `ragonite bundle create`.
#[derive(Debug, Args)]
pub struct CreateBundle {
    /// A domain that goes with it, as often as there are domains to take; its documents are in it as passages, lists,
    /// tables and rows
    #[arg(long = "domain", value_name = "NAME")]
    pub domains: Vec<DomainName>,
    /// Leave the weights out
    #[arg(long)]
    pub without_models: bool,
    /// The file to write [default: ragonite-PROFILE.tar here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `ragonite bundle install`.
#[derive(Debug, Args)]
pub struct InstallBundle {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Let domains of the bundle take the place of those that are here with the same name
    #[arg(long)]
    pub replace: bool,
}
