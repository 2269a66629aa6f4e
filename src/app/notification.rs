//! Refusals, and the problem that the screen shows.
//!
//! Invariant: each refusal is a variant, so that the screen can translate it; its English text is here.
//! Not here: failures of other crates (`problem`).

use super::{FetchSupport, Problem};
use ragonite_base::DomainName;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A question while a turn runs.
    TurnRuns,
    /// Work while a turn of another conversation runs.
    AnotherRuns,
    /// Another request while a turn runs.
    WorkRuns,
    /// A question while something is being opened.
    OpeningBeforeAsking,
    /// Another request while something is being opened.
    Opening,
    /// A question while no domain is open.
    NoDomain,
    /// There is no answer to explain.
    NothingToExplain,
    /// The model of the answer to explain is not on this machine.
    OtherModel,
    /// Sentences of an answer that is not the stored one.
    OtherAnswer,
    /// There is no answer to compare with.
    NothingToCompare,
    /// There is no answer to rate.
    NothingToRate,
    /// A conversation to delete that is being answered.
    BeingAnswered,
    /// There is nothing to export.
    NothingToExport,
    /// There is nothing to copy where the focus is.
    NothingToCopy,
    /// Nothing was asked yet.
    NothingAsked,
    /// There is no suggestion.
    NothingSuggested,
    /// Suggestions are still being generated.
    StillSuggesting,
    /// There is no evidence.
    NoEvidence,
    /// No conversation is selected.
    NoConversation,
    /// A paste that is too long for a question.
    PasteTooLong,
    /// A paste that is too long for a line.
    LineTooLong,
    /// There is no stored turn to branch from.
    NothingToBranch,
    /// There is no stored answer to export for `eval`.
    NothingToCheck,
    /// Settings while no domain is open.
    SettingsOfNoDomain,
    /// A conversation while a domain is being opened.
    DomainOpening,
    /// A conversation of a domain that is not open.
    OtherDomain(DomainName),
    /// An ingest while another runs.
    StillReading,
    /// Quitting while this many answers are not stored.
    Unsaved(usize),
    /// An ingest or a question without models.
    NoModels(FetchSupport),
}

impl Refusal {
    /// The refusal in English.
    pub fn problem(&self) -> Problem {
        let (what, next) = match self {
            Self::TurnRuns => ("a turn is still running", "Wait for it, or stop it first and ask again"),
            Self::AnotherRuns => ("another conversation is still being answered", "Wait for it, or stop it first"),
            Self::WorkRuns => ("a turn is still running", "Wait for it, or stop it first"),
            Self::OpeningBeforeAsking => ("something is still being opened", "Ask again in a moment"),
            Self::Opening => ("something is still being opened", "Try again in a moment"),
            Self::NoDomain => ("no domain is open", "Open one from the list of domains, or make one of a folder"),
            Self::NothingToExplain => ("there is no answer to explain", CHOOSE_ANSWERED),
            Self::OtherModel => {
                ("the model that gave this answer is not here", "Ask the question again, or explain it by similarity")
            }
            Self::OtherAnswer => (
                "what is explained is not the stored answer, and only that can be explained by sentences",
                "Ask the question again, then explain the new answer",
            ),
            Self::NothingToCompare => ("there is no answer to compare with", CHOOSE_ANSWERED),
            Self::NothingToRate => ("there is no answer to rate", CHOOSE_ANSWERED),
            Self::BeingAnswered => ("this conversation is still being answered", "Wait for it, or stop it first"),
            Self::NothingToExport => {
                ("there is no conversation to take out", "Ask a question first, or choose a conversation")
            }
            Self::NothingToCopy => ("there is nothing to copy here", CHOOSE_ANSWERED),
            Self::NothingAsked => ("nothing was asked yet", "Ask a question first, or choose a conversation"),
            Self::NothingSuggested => {
                ("no question to go on with is suggested", "They come after an answered question")
            }
            Self::StillSuggesting => ("questions to go on with are still being looked for", "Wait for them"),
            Self::NoEvidence => ("there is no evidence to look at", CHOOSE_ANSWERED),
            Self::NoConversation => ("no conversation is chosen", "Choose one in the list of conversations"),
            Self::PasteTooLong => {
                ("the text is too long for a question", "Read it as a document, or paste a part of it")
            }
            Self::LineTooLong => ("the text is too long for a line", "Paste a part of it"),
            Self::NothingToBranch => ("there is no stored turn to go on from", CHOOSE_ANSWERED),
            Self::NothingToCheck => ("there is no stored answer to make a question of", CHOOSE_ANSWERED),
            Self::SettingsOfNoDomain => (
                "settings belong to a domain, and none is open",
                "Open one first; what holds for all of them stands in the configuration file",
            ),
            Self::DomainOpening => ("a domain is still being opened", "Choose the conversation again in a moment"),
            Self::OtherDomain(domain) => {
                let what = format!("this conversation asks the domain `{domain}`");
                return Problem { what, next: "Open that domain first".to_owned() };
            }
            Self::StillReading => ("documents are still being read", "Wait for it, or stop it first"),
            Self::Unsaved(count) => {
                let (answers, them) = if *count == 1 { ("answer is", "it") } else { ("answers are", "them") };
                let next = format!(
                    "Mend what keeps {them} from it and store again, or leave once more to leave without {them}"
                );
                return Problem { what: format!("{count} {answers} not stored"), next };
            }
            Self::NoModels(FetchSupport::BuiltIn) => {
                ("the models are not here yet", "Get them first: ragonite models pull")
            }
            Self::NoModels(FetchSupport::None) => (
                "the models are not here yet",
                "This program has no network code: where it greets you it names the files and their folder",
            ),
        };
        Problem { what: what.to_owned(), next: next.to_owned() }
    }
}

/// Remedy where there is no answer.
const CHOOSE_ANSWERED: &str = "Ask a question first, or choose an answered turn";

/// The shown problem: a failure of another crate, or a refusal with its English text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Notification {
    pub(super) problem: Problem,
    pub(super) refusal: Option<Refusal>,
}

impl From<Problem> for Notification {
    fn from(problem: Problem) -> Self {
        Self { problem, refusal: None }
    }
}

impl From<Refusal> for Notification {
    fn from(refusal: Refusal) -> Self {
        Self { problem: refusal.problem(), refusal: Some(refusal) }
    }
}
