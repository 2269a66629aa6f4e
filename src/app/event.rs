//! Events: the user's requests and the workers' answers.

use std::sync::Arc;

use time::OffsetDateTime;

use super::{
    ConversationChange, Copied, DocumentPart, JobId, MissingModels, Notice, Problem, Refusal, TurnKey, Variation,
};
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, Millis, TurnId};
use ragonite_config::{ProfileReason, SettingsOverride};
use ragonite_document::evidence::{ContextParts, TableGrid};
use ragonite_history::{ConversationRecord, Feedback, Format, Found, TurnRecord};
use ragonite_index::{IngestProgress, IngestReport};
use ragonite_rag::answer::{Answer, Rewrite, Translation};
use ragonite_rag::attribution::{Attribution, Cluster, Method};
use ragonite_rag::prompt::Cut;
use ragonite_rag::retrieval::{AblatedHit, Retrieved};

/// A domain in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainSummary {
    /// Its name.
    pub name: DomainName,
    /// Documents in it.
    pub documents: usize,
    /// Evidences in it.
    pub evidences: usize,
    /// When it was last changed by an ingest: RFC 3339, or empty.
    pub changed_at: String,
    /// When an ingest last came to its end: RFC 3339, or empty.
    pub ingested_at: String,
    /// Health, as far as it is cheap to know.
    pub health: DomainHealth,
    /// Why it cannot be opened, where known.
    pub problem: Option<Problem>,
}

/// Health of a domain, as far as it is cheap to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DomainHealth {
    /// Ready for questions.
    #[default]
    Ready,
    /// No ingest was completed, or the domain is empty.
    NeedsIngest,
    /// Another embedder made its vectors.
    OtherEmbedder,
    /// It cannot be read.
    Damaged,
}

/// Models and device, for the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineStatus {
    /// Name of the profile.
    pub profile: String,
    /// Why it was chosen, where that is known.
    pub profile_reason: Option<ProfileReason>,
    /// Embedder id.
    pub embedder: String,
    /// Generator id.
    pub generator: String,
    /// `CPU, 2 threads`.
    pub device: String,
    /// Bytes of memory the program took when models last came or went; none where the system does not say.
    pub memory: Option<u64>,
    /// The model that is being loaded, for the stage line.
    pub loading: Option<Loading>,
}

/// A model that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loading {
    /// Its id.
    pub model: String,
    /// Percentage read; none where unknown.
    pub percent: Option<u8>,
}

impl Loading {
    /// Id and progress: `tiny-model 40 %`.
    pub fn label(&self) -> String {
        self.percent.map_or_else(|| self.model.clone(), |percent| format!("{} {percent} %", self.model))
    }
}

/// What happened: input of the user, or the answer of a worker to an [`Effect`](super::Effect).
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "a field that is named and typed for what it holds needs no words")]
pub enum Event {
    /// The user asked.
    QuestionAsked {
        /// Text as typed.
        text: String,
        /// Time of the question.
        at: OffsetDateTime,
    },
    /// The user edited a completed question and asks it.
    QuestionEdited {
        /// Text as edited.
        text: String,
        /// Time of the question.
        at: OffsetDateTime,
    },
    /// The user asks a variant of a turn.
    AgainWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// The change of the variant.
        other: Variation,
        /// Time of the question.
        at: OffsetDateTime,
    },
    /// The user wants the last (or the selected) turn explained.
    ExplainRequested {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// Attribution method.
        method: Method,
    },
    /// The user wants an earlier explanation by another method.
    EarlierWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        method: Method,
    },
    /// The user wants sentence attribution.
    SentencesWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
    },
    /// The user rated a turn, or took the rating back.
    TurnRated {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// The rating.
        feedback: Option<Feedback>,
    },
    /// The user changes a conversation.
    ConversationChangeWanted(ConversationChange),
    /// The user searches words in the conversations of all domains; an empty text ends the search.
    ConversationsWanted(String),
    /// The user wants the open conversation as a file.
    ExportWanted {
        /// Index of the turn; none for all turns.
        turn: Option<usize>,
        /// Format of the file.
        format: Format,
    },
    /// The user branches from a turn.
    BranchWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
    },
    /// The user wants a stored conversation as a file.
    StoredExportWanted {
        conversation: ConversationId,
        /// Format of the file.
        format: Format,
    },
    /// The user exports a turn as an `eval` question.
    ExportEvalCase {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
    },
    /// The user changed the overrides of the open domain; valid from the next question on.
    SettingsChanged(SettingsOverride),
    /// The user wants to see the settings of a domain that is not open.
    OtherSettingsWanted(DomainName),
    /// The user changed the overrides of a domain that is not open.
    OtherSettingsChanged {
        domain: DomainName,
        /// All overrides.
        changes: SettingsOverride,
    },
    /// The user wants the running work stopped.
    CancelRequested,
    /// The user chose a domain.
    DomainChosen(DomainName),
    /// The user cancelled the opening of a domain.
    DomainCancelRequested,
    /// The user chose a conversation.
    ConversationChosen(ConversationId),
    /// The user chose an unsaved background conversation, by its first turn.
    UnlistedChosen(TurnKey),
    /// The user wants a new conversation.
    ConversationStarted,
    /// The screen needs the table of an evidence.
    TableWanted(EvidenceId),
    /// The user wants the dense ranks of a turn's sources with these parts of their context only. All parts end the
    /// trial.
    ContextWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// The parts of the context that are used.
        parts: ContextParts,
    },
    /// The user wants to read the whole document of a hit.
    DocumentWanted { document: DocumentId, hit: EvidenceId },
    /// The user cancelled the loading of a document.
    DocumentCancelRequested,
    /// The user wants an ingest.
    IngestWanted {
        domain: DomainName,
        /// A file or folder as typed; empty for the earlier ones of the domain.
        path: String,
    },
    /// The user wants the ingest stopped.
    IngestCancelRequested,
    /// The user dismissed the problem.
    ProblemDismissed,
    /// A key was pressed since the notice was shown.
    NoticeSeen,
    /// The user wants unsaved turns stored again.
    SaveAgainWanted,
    /// The user quits.
    QuitRequested,
    /// The program must quit without a warning, as after a signal.
    LeaveRequested,

    /// Answer to `LookForModels`.
    ModelsLooked {
        /// The missing models; none where all are present.
        missing: Option<MissingModels>,
        /// Ids of the present generators besides that of the profile.
        generators: Vec<String>,
    },
    /// The screen needs the list of present models.
    ModelsWanted,
    /// Answer to `ListDomains`.
    DomainsListed(Vec<DomainSummary>),
    /// Precedes the answer to `OpenDomain`: the settings overrides of the domain.
    SettingsLoaded {
        domain: DomainName,
        /// The valid overrides.
        changes: SettingsOverride,
        /// Problem of the invalid overrides.
        problem: Option<Problem>,
    },
    /// Answer to `LoadSettings`.
    OtherSettingsLoaded {
        domain: DomainName,
        /// The valid overrides.
        changes: SettingsOverride,
        /// Problem of the invalid overrides.
        problem: Option<Problem>,
    },
    /// Answer to `SaveSettings`.
    SettingsKept {
        domain: DomainName,
        /// All overrides now, with concurrent changes; or why the edit was not stored.
        kept: Result<SettingsOverride, Problem>,
    },
    /// Answer to `OpenDomain`.
    DomainOpened(DomainSummary),
    /// Answer to `OpenDomain`.
    DomainFailed { name: DomainName, problem: Problem },
    /// Answer to `OpenDomain` after cancellation.
    DomainNotOpened(DomainName),
    /// Answer to `ListConversations` and `ChangeConversation`.
    ConversationsListed {
        domain: DomainName,
        /// Pinned ones first, then the latest.
        conversations: Vec<ConversationRecord>,
        /// The trash, latest deletion first.
        trash: Vec<ConversationRecord>,
    },
    /// Progress of `Ingest`.
    IngestAdvanced(IngestProgress),
    /// Answer to `Ingest`: its report.
    IngestFinished(Box<IngestReport>),
    /// Answer to `Ingest`: why it failed. Documents stored before stay.
    IngestFailed(Problem),
    /// Answer to `Ingest` after `CancelIngest`.
    IngestCanceled,
    /// Answer to `OpenConversation`.
    ConversationOpened {
        record: ConversationRecord,
        /// Its turns in order.
        turns: Vec<TurnRecord>,
    },
    /// Models are being loaded, or are loaded.
    EngineChanged(EngineStatus),
    /// The question of a turn was translated.
    QuestionTranslated { turn: TurnKey, translation: Box<Translation> },
    /// The question of a turn is complete, and the search begins.
    QuestionCompleted { turn: TurnKey, rewrite: Box<Rewrite> },
    /// The search of a turn is over, and the answer begins.
    HitsRetrieved {
        turn: TurnKey,
        /// The search.
        retrieved: Box<Retrieved>,
    },
    /// The prompt was built.
    PromptBuilt {
        turn: TurnKey,
        /// Its length.
        tokens: usize,
        /// Sources in it.
        sources: usize,
        /// What was cut.
        cut: Vec<Cut>,
    },
    /// The generator is reading the prompt.
    PromptRead {
        turn: TurnKey,
        /// Tokens read.
        done: usize,
        /// Tokens of the prompt.
        total: usize,
    },
    /// The answer goes on.
    AnswerGrew {
        turn: TurnKey,
        /// Clean text to append.
        text: String,
    },
    /// Answer to `RunTurn`.
    AnswerFinished { turn: TurnKey, answer: Box<Answer> },
    /// Progress of `Explain`.
    AttributionAdvanced {
        job: JobId,
        /// Clusters settled.
        done: usize,
        /// Clusters in all; 0 until they are counted.
        total: usize,
        /// The settled clusters with shares among themselves, then the estimated ones; before any of them,
        /// similarities of single sources.
        clusters: Vec<Cluster>,
        /// Time since the explanation began.
        elapsed: Millis,
    },
    /// Answer to `Suggest`.
    QuestionsSuggested {
        job: JobId,
        /// Follow-up questions; may be empty.
        questions: Vec<String>,
    },
    /// Answer to `Explain`.
    AttributionFinished { job: JobId, attribution: Box<Attribution> },
    /// Answer to `SaveTurn`.
    TurnSaved {
        turn: TurnKey,
        /// Its stored conversation.
        conversation: ConversationRecord,
        /// Its id in the history.
        id: TurnId,
        /// Its number in the conversation, as the history gave it.
        number: u32,
    },
    /// Answer to `SaveTurn`: the turn could not be stored. It is kept in memory and stored again after the next
    /// successful save or when the user asks.
    SaveFailed { turn: TurnKey, problem: Problem },
    /// The screen refused an action.
    Refused(Refusal),
    /// Answer to `RateTurn`: the rating could not be stored.
    RateFailed {
        id: TurnId,
        /// The rating that could not be stored.
        feedback: Option<Feedback>,
        /// The rating that is still stored.
        stored: Option<Feedback>,
        problem: Problem,
    },
    /// Answer to `LoadTable`.
    TableLoaded {
        /// The domain, because evidence ids are unique only within a domain.
        domain: DomainName,
        evidence: EvidenceId,
        /// Its table; none where it has none.
        table: Option<Arc<TableGrid>>,
    },
    /// Answer to `TryContext`.
    ContextTried {
        job: JobId,
        /// The sources that still exist, in their order.
        tried: Vec<AblatedHit>,
    },
    /// Answer to `LoadDocument`.
    DocumentLoaded {
        document: DocumentId,
        /// Its text in order; empty where the document is gone.
        parts: Result<Arc<[DocumentPart]>, Problem>,
    },
    /// A job failed.
    JobFailed { job: JobId, problem: Problem },
    /// A cancelled job has stopped.
    JobCanceled { job: JobId },
    /// Answer to `Branch`.
    ConversationBranched {
        /// The conversation that was copied.
        of: ConversationId,
        /// The new conversation.
        branch: ConversationId,
    },
    /// Answer to `FindConversations`.
    ConversationsFound {
        /// The search words.
        text: String,
        /// Conversations with all the words, those of the open domain first, then the latest.
        found: Vec<Found>,
    },
    /// No desktop tool could copy a text.
    NotCopied {
        /// Kind of the text.
        what: Copied,
        text: String,
    },
    /// A request of the user is done.
    Done(Notice),
    /// A conversation could not be opened.
    ConversationFailed { conversation: ConversationId, problem: Problem },
    /// Something outside any turn failed.
    Failed(Problem),
}

impl Event {
    /// The job of the event; an event of a turn belongs to the job that runs the turn.
    pub(super) fn job(&self) -> Option<JobId> {
        match self {
            Self::QuestionTranslated { turn, .. }
            | Self::QuestionCompleted { turn, .. }
            | Self::HitsRetrieved { turn, .. }
            | Self::PromptBuilt { turn, .. }
            | Self::PromptRead { turn, .. }
            | Self::AnswerGrew { turn, .. }
            | Self::AnswerFinished { turn, .. } => Some(turn.job()),
            Self::AttributionAdvanced { job, .. }
            | Self::QuestionsSuggested { job, .. }
            | Self::AttributionFinished { job, .. }
            | Self::JobFailed { job, .. }
            | Self::JobCanceled { job } => Some(*job),
            _ => None,
        }
    }

    /// Whether the event is a request of the user, which makes the last notice old.
    pub(super) fn is_a_wish(&self) -> bool {
        matches!(
            self,
            Self::QuestionAsked { .. }
                | Self::QuestionEdited { .. }
                | Self::AgainWanted { .. }
                | Self::ExplainRequested { .. }
                | Self::EarlierWanted { .. }
                | Self::SentencesWanted { .. }
                | Self::TurnRated { .. }
                | Self::ConversationChangeWanted(_)
                | Self::ExportWanted { .. }
                | Self::StoredExportWanted { .. }
                | Self::ExportEvalCase { .. }
                | Self::BranchWanted { .. }
                | Self::ContextWanted { .. }
                | Self::DocumentWanted { .. }
                | Self::DomainChosen(_)
                | Self::DomainCancelRequested
                | Self::IngestWanted { .. }
                | Self::ConversationChosen(_)
                | Self::UnlistedChosen(_)
                | Self::SaveAgainWanted
                | Self::ConversationStarted
                | Self::ProblemDismissed
                | Self::NoticeSeen
        )
    }
}
