//! Effects: work outside the pure core, done by `workers` and answered with events.

use super::Copied;
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, TurnId};
use ragonite_config::Edit;
use ragonite_document::evidence::ContextParts;
use ragonite_history::{ConversationRecord, Feedback, Format, Place, TurnRecord, TurnSettings};
use ragonite_inference::GeneratorChoice;
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{Cluster, Method};
use ragonite_rag::pipeline::TurnRequest;
use ragonite_rag::retrieval::Hit;

/// Key of a turn in this run of the program; the history gives a turn its id when it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnKey(pub u64);

/// Key of work that can be cancelled alone. The job that runs a turn, or explains it for the user, has the number of the
/// turn; other jobs have numbers that no turn has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

impl TurnKey {
    /// The job that runs the turn or explains it for the user.
    #[must_use]
    pub fn job(self) -> JobId {
        JobId(self.0)
    }
}

/// Why an explanation is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The user asked for it.
    User,
    /// Nobody asked yet: it is computed while the user reads.
    Prefetch,
}

/// An answer that needs follow-up questions.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestRequest {
    /// The completed question.
    pub question: String,
    /// The answer with its prompt.
    pub answer: Answer,
    /// The hits that were in its prompt.
    pub hits: Vec<Hit>,
    /// All questions of the conversation, as typed and completed.
    pub asked: Vec<String>,
    /// The model that answered.
    pub model: GeneratorChoice,
}

/// An answer to attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainRequest {
    /// The turn; a prefetch has another job than the turn.
    pub turn: TurnKey,
    /// Who requested it.
    pub demand: Trigger,
    /// Domain of the turn.
    pub domain: DomainName,
    /// Attribution method.
    pub method: Method,
    /// The completed question.
    pub question: String,
    /// The answer with its prompt.
    pub answer: Answer,
    /// The hits that were in its prompt.
    pub hits: Vec<Hit>,
    /// Clusters known from a stopped explanation with the same settings.
    pub known: Vec<Cluster>,
    /// Settings of the explanation; the prompt limits are those of the answer.
    pub settings: TurnSettings,
}

/// A change of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationChange {
    /// Move it to the trash.
    Delete(ConversationId),
    /// Restore it from the trash.
    Restore(ConversationId),
    /// Remove it from the trash for good.
    Purge(ConversationId),
    /// Set its title.
    Rename(ConversationId, String),
    /// Set its place in the list.
    Pin(ConversationId, Place),
}

/// Work outside the pure core.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "a field that is named and typed for what it holds needs no words")]
pub enum Effect {
    /// List the domains. Answered by `DomainsListed`.
    ListDomains,
    /// Look whether the models are there. Answered by `ModelsLooked`.
    LookForModels,
    /// Load the models, with this generator, behind the screen. Answered by `EngineChanged`.
    LoadModels(GeneratorChoice),
    /// Ingest a file or folder into a domain; without a path, its earlier files and folders. Answered by
    /// `IngestAdvanced`, and at last by `IngestFinished`, `IngestFailed` or `IngestCanceled`.
    Ingest {
        /// The domain; created where it does not exist.
        domain: DomainName,
        /// The file or folder as typed; empty for the earlier ones.
        path: String,
    },
    /// Stop the ingest that runs.
    CancelIngest,
    /// Open a domain for searching; cancels an opening in progress. Answered by `DomainOpened`, `DomainFailed`, or
    /// `DomainNotOpened` after cancellation.
    OpenDomain(DomainName),
    /// Cancel the opening of a domain.
    CancelOpening,
    /// List the conversations of a domain. Answered by `ConversationsListed`.
    ListConversations(DomainName),
    /// Load a conversation. Answered by `ConversationOpened`.
    OpenConversation(ConversationId),
    /// Answer a question. Answered by `QuestionTranslated` where the documents have another language,
    /// `QuestionCompleted`, `HitsRetrieved`, `PromptBuilt`, `PromptRead`, `AnswerGrew`, and at last `AnswerFinished`,
    /// `JobFailed` or `JobCanceled`.
    RunTurn { turn: TurnKey, domain: DomainName, request: Box<TurnRequest> },
    /// Generate follow-up questions. Answered by `QuestionsSuggested`.
    Suggest { job: JobId, request: Box<SuggestRequest> },
    /// Attribute an answer. Answered by `AttributionAdvanced` and `AttributionFinished`.
    Explain { job: JobId, request: Box<ExplainRequest> },
    /// Store a turn as a whole, over its earlier version where there is one. Answered by `TurnSaved`.
    SaveTurn {
        turn: TurnKey,
        /// Domain of the turn.
        domain: DomainName,
        /// Its conversation; none starts a new one.
        conversation: Option<ConversationId>,
        record: Box<TurnRecord>,
    },
    /// Load the settings overrides of a domain that is not open. Answered by `OtherSettingsLoaded`.
    LoadSettings(DomainName),
    /// Change settings overrides of a domain. Answered by `SettingsKept`.
    SaveSettings { domain: DomainName, edit: Edit },
    /// Store a rating; none removes it. Answered by `RateFailed` where that fails.
    RateTurn {
        id: TurnId,
        /// The rating.
        feedback: Option<Feedback>,
        /// The rating that is stored so far.
        before: Option<Feedback>,
    },
    /// Change a conversation. Answered by `ConversationsListed`.
    ChangeConversation {
        /// The domain whose list is wanted afterwards.
        domain: DomainName,
        change: ConversationChange,
    },
    /// Search words in the conversations of all domains. Answered by `ConversationsFound`.
    FindConversations {
        /// The domain whose conversations come before the others.
        first: Option<DomainName>,
        /// The words.
        text: String,
    },
    /// Write turns to a new file. Answered by `Done`.
    Export {
        conversation: Box<ConversationRecord>,
        /// The turns to write.
        turns: Vec<TurnRecord>,
        /// Format of the file.
        format: Format,
    },
    /// Copy the first turns of a conversation into a new one. Answered by `ConversationsListed` and
    /// `ConversationBranched`.
    Branch {
        /// Domain of the turn.
        domain: DomainName,
        /// The conversation to copy.
        conversation: ConversationId,
        /// Number of the last common turn.
        number: u32,
    },
    /// Write a stored conversation to a new file. Answered by `Done`.
    ExportStored {
        conversation: ConversationId,
        /// Format of the file.
        format: Format,
    },
    /// Add a turn to the questions of `eval`. Answered by `Done`.
    WriteEvalCase {
        /// Domain of the turn.
        domain: DomainName,
        conversation: ConversationId,
        turn: Box<TurnRecord>,
    },
    /// Load the whole table of a row or table evidence. Answered by `TableLoaded`.
    LoadTable { domain: DomainName, evidence: EvidenceId },
    /// Rank evidences densely with some parts of their context only. Answered by `ContextTried`.
    TryContext {
        job: JobId,
        domain: DomainName,
        query: String,
        evidences: Vec<EvidenceId>,
        /// The parts that stay.
        parts: ContextParts,
    },
    /// Load the text of a document. Answered by `DocumentLoaded`.
    LoadDocument {
        job: JobId,
        domain: DomainName,
        document: DocumentId,
        /// The hit; its text is not left out.
        hit: EvidenceId,
    },
    /// Stop a job. Answered by `JobCanceled` once it has stopped.
    CancelJob(JobId),
    /// Copy a text through the terminal. Answered by `Done` or `Failed`.
    CopyByTerminal {
        /// Kind of the text.
        what: Copied,
        /// Clean text.
        text: String,
    },
    /// Leave the program.
    Quit,
}
