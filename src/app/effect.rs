//! What the program is asked to do; carried out by `runtime`, answered with events.

use super::Copied;
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, TurnId};
use ragonite_config::Edit;
use ragonite_document::evidence::ContextParts;
use ragonite_history::{ConversationRecord, Feedback, Format, Place, TurnRecord, TurnSettings};
use ragonite_inference::GeneratorChoice;
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{Cluster, Method};
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::{EarlierQuestion, Hit};

/// A turn of this run of the program; a turn gets its id in the history only once it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnKey(pub u64);

/// What the text of a question is to be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// A question in its conversation, which may need completing.
    Typed,
    /// A completed question that the user edited: it is asked as it stands.
    Edited,
    /// The completed question of an earlier turn that is asked again: as it stands too.
    Again,
}

/// Whether somebody waits for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The user asked for it.
    User,
    /// Nobody did yet.
    Prefetch,
}

/// What becomes of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationChange {
    /// It goes to the trash.
    Delete(ConversationId),
    /// It comes out of the trash.
    Restore(ConversationId),
    /// It is removed from the trash for good.
    Purge(ConversationId),
    /// It has this title.
    Rename(ConversationId, String),
    /// It stands here in the list.
    Pin(ConversationId, Place),
}

/// Something to do outside the pure core.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// List the domains. Answered by `DomainsListed`.
    ListDomains,
    /// Look whether the models are there. Answered by `ModelsLooked`.
    LookForModels,
    /// Load the models, with this generator, behind the screen. Answered by `EngineChanged`.
    LoadModels(GeneratorChoice),
    /// Bring a domain in step with a file or folder, or with none with what it was made of. Answered by
    /// `IngestAdvanced`, and at last by `IngestFinished`, `IngestFailed` or `IngestCanceled`.
    Ingest {
        /// The domain; it is made where there is none.
        domain: DomainName,
        /// The file or folder as typed; empty for what is known.
        path: String,
    },
    /// Stop the ingest that runs.
    CancelIngest,
    /// Open a domain for searching. One that is still being opened is given up. Answered by
    /// `DomainOpened`, `DomainFailed`, or `DomainNotOpened` once it is given up.
    OpenDomain(DomainName),
    /// Give up the domain that is being opened.
    CancelOpening,
    /// List the conversations of a domain. Answered by `ConversationsListed`.
    ListConversations(DomainName),
    /// Load a conversation. Answered by `ConversationOpened`.
    OpenConversation(ConversationId),
    /// Make a question self-contained. Answered by `QuestionCompleted`, before which `QuestionTranslated` comes where the
    /// documents have another language.
    RewriteQuestion {
        /// The turn.
        turn: TurnKey,
        /// Its domain.
        domain: DomainName,
        /// The question as typed.
        question: String,
        /// What it is to be taken for.
        wording: Wording,
        /// The turns before it.
        past: Vec<HistoryTurn>,
        /// What it is answered with.
        settings: Box<TurnSettings>,
    },
    /// Search. Answered by `HitsRetrieved`.
    Retrieve {
        /// The turn.
        turn: TurnKey,
        /// Its domain.
        domain: DomainName,
        /// The completed question.
        query: String,
        /// The question as typed.
        question: String,
        /// The completed question in the language of the documents, where it has another.
        translated: Option<String>,
        /// The turns before it, oldest first.
        earlier: Vec<EarlierQuestion>,
        /// What it is answered with.
        settings: Box<TurnSettings>,
    },
    /// Answer from the hits. Answered by `PromptBuilt`, `PromptRead`, `AnswerGrew` and `AnswerFinished`.
    GenerateAnswer {
        /// The turn.
        turn: TurnKey,
        /// Its domain.
        domain: DomainName,
        /// The completed question.
        question: String,
        /// The question as typed: the answer has its language.
        typed: String,
        /// The turns before it.
        past: Vec<HistoryTurn>,
        /// The evidence, best first.
        hits: Vec<Hit>,
        /// What it is answered with.
        settings: Box<TurnSettings>,
    },
    /// Look for questions to go on with. Answered by `QuestionsSuggested`.
    Suggest {
        /// The job: a key of its own, so that it is cancelled alone.
        turn: TurnKey,
        /// The completed question.
        question: String,
        /// The answer with its prompt.
        answer: Box<Answer>,
        /// The hits that were in its prompt.
        hits: Vec<Hit>,
        /// All questions of the conversation, as typed and completed.
        asked: Vec<String>,
        /// The model that answered.
        model: GeneratorChoice,
    },
    /// Attribute the answer. Answered by `AttributionAdvanced` and `AttributionFinished`.
    Explain {
        /// The job: the turn, or a key of its own where nobody asked for it, so that it is cancelled alone.
        turn: TurnKey,
        /// The turn.
        of: TurnKey,
        /// Whether it was asked for.
        demand: Trigger,
        /// Its domain.
        domain: DomainName,
        /// How.
        method: Method,
        /// The completed question.
        question: String,
        /// The answer with its prompt.
        answer: Box<Answer>,
        /// The hits that were in its prompt.
        hits: Vec<Hit>,
        /// What is known from an explanation with the same settings that was stopped.
        known: Vec<Cluster>,
        /// What it is explained with; the prompt's limits are those of the answer.
        settings: Box<TurnSettings>,
    },
    /// Store a turn as a whole, over its earlier version where there is one. Answered by `TurnSaved`.
    SaveTurn {
        /// The turn.
        turn: TurnKey,
        /// Its domain.
        domain: DomainName,
        /// Its conversation; none starts a new one.
        conversation: Option<ConversationId>,
        /// What to store.
        record: Box<TurnRecord>,
    },
    /// Load what a domain that is not open changes of the configured settings. Answered by `OtherSettingsLoaded`.
    LoadSettings(DomainName),
    /// Change some of what a domain changes of the configured settings. Answered by `SettingsKept`.
    SaveSettings {
        /// The domain.
        domain: DomainName,
        /// What is changed.
        edit: Edit,
    },
    /// Store what the user thinks of a turn; none takes it back. Answered by `RateFailed` where that fails.
    RateTurn {
        /// The turn.
        id: TurnId,
        /// The rating.
        feedback: Option<Feedback>,
        /// What is stored until then.
        before: Option<Feedback>,
    },
    /// Change a conversation. Answered by `ConversationsListed`.
    ChangeConversation {
        /// The domain whose list is wanted afterwards.
        domain: DomainName,
        /// What becomes of it.
        change: ConversationChange,
    },
    /// Look for words in the conversations of all domains. Answered by `ConversationsFound`.
    FindConversations {
        /// The domain whose conversations come before the others.
        first: Option<DomainName>,
        /// The words.
        text: String,
    },
    /// Write turns to a new file. Answered by `Done`.
    Export {
        /// The conversation.
        conversation: Box<ConversationRecord>,
        /// Its turns that are written.
        turns: Vec<TurnRecord>,
        /// What kind of file.
        format: Format,
    },
    /// Make a conversation of the first turns of another one. Answered by `ConversationsListed` and
    /// `ConversationBranched`.
    Branch {
        /// Its domain.
        domain: DomainName,
        /// The other conversation.
        conversation: ConversationId,
        /// Number of the last turn that both have.
        number: u32,
    },
    /// Write a stored conversation to a new file. Answered by `Done`.
    ExportStored {
        /// The conversation.
        conversation: ConversationId,
        /// What kind of file.
        format: Format,
    },
    /// Add a turn to the questions that `eval` asks. Answered by `Done`.
    WriteEvalCase {
        /// Its domain.
        domain: DomainName,
        /// Its conversation.
        conversation: ConversationId,
        /// The turn.
        turn: Box<TurnRecord>,
    },
    /// Load the whole table of a row or table evidence. Answered by `TableLoaded`.
    LoadTable {
        /// The domain.
        domain: DomainName,
        /// The evidence.
        evidence: EvidenceId,
    },
    /// Rank evidences by meaning with only some parts of their context. Answered by `ContextTried`.
    TryContext {
        /// The job.
        turn: TurnKey,
        /// The domain.
        domain: DomainName,
        /// What they are ranked for.
        query: String,
        /// The evidences.
        evidences: Vec<EvidenceId>,
        /// The parts that stay.
        parts: ContextParts,
    },
    /// Load the text of a document. Answered by `DocumentLoaded`.
    LoadDocument {
        /// The job.
        turn: TurnKey,
        /// The domain.
        domain: DomainName,
        /// The document.
        document: DocumentId,
        /// The evidence that is looked for in it, which is not left out.
        hit: EvidenceId,
    },
    /// Stop all work for a turn. Answered by `TurnCanceled` once it has stopped.
    CancelTurn(TurnKey),
    /// Copy a text through the terminal. Answered by `Done` or `Failed`.
    CopyByTerminal {
        /// What it is.
        what: Copied,
        /// Clean text.
        text: String,
    },
    /// Leave the program.
    Quit,
}
