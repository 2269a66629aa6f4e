//! What happened: the user's wishes and the runtime's answers.

use std::sync::Arc;

use time::OffsetDateTime;

use super::{ConversationChange, Copied, DocumentPart, MissingModels, Notice, Problem, Refusal, TurnKey, Variation};
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, TurnId};
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
    /// How it is, as far as that is cheap to know.
    pub health: DomainHealth,
    /// Why it cannot be opened, where that is known already.
    pub problem: Option<Problem>,
}

/// How a domain is, as far as that is cheap to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DomainHealth {
    /// It can be asked.
    #[default]
    Ready,
    /// No ingest of it came to its end, or nothing is in it.
    NeedsIngest,
    /// Another embedder made its vectors.
    OtherEmbedder,
    /// It cannot be read.
    Damaged,
}

/// What the machine runs on, for the status line.
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
    /// What is being loaded right now, for the stage line.
    pub loading: Option<Loading>,
}

/// A model that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loading {
    /// Its id.
    pub model: String,
    /// How much of it is read; none where that is not known.
    pub percent: Option<u8>,
}

impl Loading {
    /// Its id, and how much of it is read: `tiny-model 40 %`.
    pub fn label(&self) -> String {
        self.percent.map_or_else(|| self.model.clone(), |percent| format!("{} {percent} %", self.model))
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user asked.
    QuestionAsked {
        /// As typed.
        text: String,
        /// When.
        at: OffsetDateTime,
    },
    /// The user edited a completed question and asks it.
    QuestionEdited {
        /// As edited.
        text: String,
        /// When.
        at: OffsetDateTime,
    },
    /// The user wants a turn asked again, to compare the two.
    AgainWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// What is to be other.
        other: Variation,
        /// When.
        at: OffsetDateTime,
    },
    /// The user wants the last (or the selected) turn explained.
    ExplainRequested {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// How.
        method: Method,
    },
    /// The user wants to see again what a method found before another one was asked for.
    EarlierWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// The method.
        method: Method,
    },
    /// The user wants to know what each sentence of an answer rests on.
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
    /// The user wants a conversation named, pinned, thrown away or taken back.
    ConversationChangeWanted(ConversationChange),
    /// The user looks for words in the conversations of the open domain; no word ends that.
    ConversationsWanted(String),
    /// The user wants the open conversation as a file.
    ExportWanted {
        /// Index of the only turn that is wanted; none for all.
        turn: Option<usize>,
        /// What kind of file.
        format: Format,
    },
    /// The user wants to go on from a turn in a conversation of its own.
    BranchWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
    },
    /// The user wants a stored conversation as a file.
    StoredExportWanted {
        /// The conversation.
        conversation: ConversationId,
        /// What kind of file.
        format: Format,
    },
    /// The user wants a turn as a question that `eval` asks.
    ExportEvalCase {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
    },
    /// The user changed what the open domain has of its own; it holds from the next question on.
    SettingsChanged(SettingsOverride),
    /// The user wants to see the settings of a domain that is not open.
    OtherSettingsWanted(DomainName),
    /// The user changed what a domain that is not open has of its own.
    OtherSettingsChanged {
        /// The domain.
        domain: DomainName,
        /// All that it is to change.
        changes: SettingsOverride,
    },
    /// The user wants the running work stopped.
    CancelRequested,
    /// The user chose a domain.
    DomainChosen(DomainName),
    /// The user does not wait for the domain that is being opened.
    DomainCancelRequested,
    /// The user chose a conversation.
    ConversationChosen(ConversationId),
    /// The user chose a conversation that was left before the history had it, by its first turn.
    UnlistedChosen(TurnKey),
    /// The user wants a new conversation.
    ConversationStarted,
    /// The screen needs the table of an evidence.
    TableWanted(EvidenceId),
    /// The user wants to see how the sources of a turn would rank by meaning with only these parts of their context. All
    /// parts end that.
    ContextWanted {
        /// Index of the turn in the conversation, from 0.
        turn: usize,
        /// The parts that stay.
        parts: ContextParts,
    },
    /// The user wants to read the whole document of a hit.
    DocumentWanted {
        /// The document.
        document: DocumentId,
        /// The hit.
        hit: EvidenceId,
    },
    /// The user does not wait for the document that is on its way.
    DocumentCancelRequested,
    /// The user wants a domain made, or read again.
    IngestWanted {
        /// The domain.
        domain: DomainName,
        /// A file or folder as typed; empty for what the domain was made of.
        path: String,
    },
    /// The user wants the ingest stopped.
    IngestCancelRequested,
    /// The user has read the problem on screen.
    ProblemDismissed,
    /// A key was pressed since the notice was shown.
    NoticeSeen,
    /// The user wants what could not be stored tried again.
    SaveAgainWanted,
    /// The user wants to leave.
    QuitRequested,
    /// The program has to leave: nobody is there who could be warned.
    LeaveRequested,

    /// Answer to `LookForModels`.
    ModelsLooked {
        /// Those that are needed and not there; none where all are.
        missing: Option<MissingModels>,
        /// Ids of the generators that are there beside that of the profile.
        generators: Vec<String>,
    },
    /// The models that are there are wanted, to choose from.
    ModelsWanted,
    /// Answer to `ListDomains`.
    DomainsListed(Vec<DomainSummary>),
    /// On the way to the answer to `OpenDomain`: what the domain changes of the configured settings.
    SettingsLoaded {
        /// The domain.
        domain: DomainName,
        /// What can be used of it.
        changes: SettingsOverride,
        /// What cannot, and what to do.
        problem: Option<Problem>,
    },
    /// Answer to `LoadSettings`.
    OtherSettingsLoaded {
        /// The domain.
        domain: DomainName,
        /// What can be used of it.
        changes: SettingsOverride,
        /// What cannot, and what to do.
        problem: Option<Problem>,
    },
    /// Answer to `SaveSettings`.
    SettingsKept {
        /// The domain.
        domain: DomainName,
        /// All that it changes now, with what others changed meanwhile; or why it is not kept.
        kept: Result<SettingsOverride, Problem>,
    },
    /// Answer to `OpenDomain`.
    DomainOpened(DomainSummary),
    /// Answer to `OpenDomain`.
    DomainFailed {
        /// The domain.
        name: DomainName,
        /// Why.
        problem: Problem,
    },
    /// Answer to `OpenDomain` that was given up.
    DomainNotOpened(DomainName),
    /// Answer to `ListConversations` and `ChangeConversation`.
    ConversationsListed {
        /// Of this domain.
        domain: DomainName,
        /// Pinned ones first, then the latest.
        conversations: Vec<ConversationRecord>,
        /// What is in the trash, the latest deleted first.
        trash: Vec<ConversationRecord>,
    },
    /// On the way to the answer to `Ingest`: how far it is.
    IngestAdvanced(IngestProgress),
    /// Answer to `Ingest`: what it did.
    IngestFinished(Box<IngestReport>),
    /// Answer to `Ingest`: why it ended early. What was stored before is whole.
    IngestFailed(Problem),
    /// Answer to `Ingest` after `CancelIngest`.
    IngestCanceled,
    /// Answer to `OpenConversation`.
    ConversationOpened {
        /// The conversation.
        record: ConversationRecord,
        /// Its turns in order.
        turns: Vec<TurnRecord>,
    },
    /// Models are being loaded, or are loaded.
    EngineChanged(EngineStatus),
    /// On the way to the answer to `RewriteQuestion`: the completed question was translated.
    QuestionTranslated {
        /// The turn.
        turn: TurnKey,
        /// The translation.
        translation: Box<Translation>,
    },
    /// Answer to `RewriteQuestion`.
    QuestionCompleted {
        /// The turn.
        turn: TurnKey,
        /// The rewrite.
        rewrite: Box<Rewrite>,
    },
    /// Answer to `Retrieve`.
    HitsRetrieved {
        /// The turn.
        turn: TurnKey,
        /// The search.
        retrieved: Box<Retrieved>,
    },
    /// The prompt fits the budget and is about to be read.
    PromptBuilt {
        /// The turn.
        turn: TurnKey,
        /// Its length.
        tokens: usize,
        /// Sources in it.
        sources: usize,
        /// What did not fit.
        cut: Vec<Cut>,
    },
    /// The generator is reading the prompt.
    PromptRead {
        /// The turn.
        turn: TurnKey,
        /// Tokens read.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// The answer goes on.
    AnswerGrew {
        /// The turn.
        turn: TurnKey,
        /// Clean text to append.
        text: String,
    },
    /// Answer to `GenerateAnswer`.
    AnswerFinished {
        /// The turn.
        turn: TurnKey,
        /// The answer.
        answer: Box<Answer>,
    },
    /// More is known of the clusters.
    AttributionAdvanced {
        /// The turn.
        turn: TurnKey,
        /// Clusters settled.
        done: usize,
        /// All of them; 0 until they are counted.
        total: usize,
        /// The settled ones so far with shares among themselves, then the estimated ones; before any of them what each
        /// source is by comparison.
        clusters: Vec<Cluster>,
    },
    /// Answer to `Suggest`.
    QuestionsSuggested {
        /// The job.
        turn: TurnKey,
        /// Questions to go on with; none where there was nothing of use.
        questions: Vec<String>,
    },
    /// Answer to `Explain`.
    AttributionFinished {
        /// The turn.
        turn: TurnKey,
        /// The attribution.
        attribution: Box<Attribution>,
    },
    /// Answer to `SaveTurn`.
    TurnSaved {
        /// The turn.
        turn: TurnKey,
        /// Its conversation in the history, as it is now.
        conversation: ConversationRecord,
        /// Its id in the history.
        id: TurnId,
        /// Its number in the conversation, as the history gave it.
        number: u32,
    },
    /// Answer to `SaveTurn`: the turn could not be stored. It is kept in memory and tried again after the next one
    /// that can be, and when the user wants it.
    SaveFailed {
        /// The turn.
        turn: TurnKey,
        /// Why and what to do.
        problem: Problem,
    },
    /// The screen cannot do what was wanted.
    Refused(Refusal),
    /// Answer to `RateTurn`: the rating could not be stored.
    RateFailed {
        /// The turn.
        id: TurnId,
        /// The rating that could not be stored.
        feedback: Option<Feedback>,
        /// The rating that is still stored.
        stored: Option<Feedback>,
        /// Why and what to do.
        problem: Problem,
    },
    /// Answer to `LoadTable`.
    TableLoaded {
        /// The domain, since evidences of two may have the same number.
        domain: DomainName,
        /// The evidence.
        evidence: EvidenceId,
        /// Its table; none where it has none.
        table: Option<Arc<TableGrid>>,
    },
    /// Answer to `TryContext`.
    ContextTried {
        /// The job.
        turn: TurnKey,
        /// The sources that are still there, in their order.
        tried: Vec<AblatedHit>,
    },
    /// Answer to `LoadDocument`.
    DocumentLoaded {
        /// The document.
        document: DocumentId,
        /// Its text in order; empty where it is gone.
        parts: Result<Arc<[DocumentPart]>, Problem>,
    },
    /// A stage of a turn failed.
    TurnFailed {
        /// The turn.
        turn: TurnKey,
        /// Why and what to do.
        problem: Problem,
    },
    /// The work for a turn has stopped.
    TurnCanceled {
        /// The turn.
        turn: TurnKey,
    },
    /// Answer to `Branch`.
    ConversationBranched {
        /// The conversation whose first turns it has.
        of: ConversationId,
        /// The new one.
        branch: ConversationId,
    },
    /// Answer to `FindConversations`.
    ConversationsFound {
        /// What was looked for.
        text: String,
        /// Conversations with all the words, those of the open domain first, then the latest.
        found: Vec<Found>,
    },
    /// No tool of the desktop took a text that was to be copied.
    NotCopied {
        /// What it is.
        what: Copied,
        /// The text.
        text: String,
    },
    /// Something the user wanted is done.
    Done(Notice),
    /// A conversation could not be opened.
    ConversationFailed {
        /// The conversation.
        conversation: ConversationId,
        /// Why, and what to do.
        problem: Problem,
    },
    /// Something outside any turn failed.
    Failed(Problem),
}

impl Event {
    /// The turn or the job that this is news of.
    pub(super) fn turn(&self) -> Option<TurnKey> {
        match self {
            Self::QuestionTranslated { turn, .. }
            | Self::QuestionCompleted { turn, .. }
            | Self::HitsRetrieved { turn, .. }
            | Self::PromptBuilt { turn, .. }
            | Self::PromptRead { turn, .. }
            | Self::AnswerGrew { turn, .. }
            | Self::AnswerFinished { turn, .. }
            | Self::AttributionAdvanced { turn, .. }
            | Self::QuestionsSuggested { turn, .. }
            | Self::AttributionFinished { turn, .. }
            | Self::TurnSaved { turn, .. }
            | Self::SaveFailed { turn, .. }
            | Self::TurnFailed { turn, .. }
            | Self::TurnCanceled { turn } => Some(*turn),
            _ => None,
        }
    }

    /// Whether the user asks for something; what was said of the last thing is then old.
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
