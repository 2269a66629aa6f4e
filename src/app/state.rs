//! State of the program; the entry point [`App::handle`].
//!
//! Invariants: at most one turn runs; a running turn that is not being explained is the last of its conversation.
//! Not here: the steps of a turn (`steps`), the conversations in memory (`open_conversations`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::context::{ContextTrial, Fetched, OpenDocument};
use super::conversation::{OpenConversation, SavedTurn};
use super::conversation_ops::FoundConversations;
use super::notification::Notification;
use super::open_conversations::OpenConversations;
use super::settings::DomainSettings;
use super::turn::{Purpose, Stored};
use super::{
    DomainSummary, Effect, EngineStatus, Event, Ingesting, JobId, MissingModels, Notice, Problem, Refusal, Turn,
    TurnKey,
};
use ragonite_base::{ConversationId, DomainName, EvidenceId};
use ragonite_document::evidence::TableGrid;
use ragonite_history::{ConversationRecord, TurnRecord, TurnSettings};
use ragonite_rag::answer::Suggestions;
use ragonite_rag::attribution::{ExplainAhead, Method};
use ragonite_rag::pipeline::{AnswerWithoutMatch, Wording};
use ragonite_rag::prompt::{HistoryTurn, PAST_TURNS};
use ragonite_rag::retrieval::EarlierQuestion;

/// Most tables in memory; others are loaded again when needed.
const MOST_TABLES: usize = 32;

/// Settings of the app.
#[derive(Debug, Clone, PartialEq)]
pub struct AppSettings {
    /// Settings of turns, without overrides of a domain.
    pub turn: TurnSettings,
    /// Earlier turns in the prompt, at most.
    pub past_turns: usize,
    /// Whether follow-up questions are suggested.
    pub suggestions: Suggestions,
    /// Whether explanations are prefetched.
    pub explain_ahead: ExplainAhead,
    /// Id of the reranker; none where the profile has none.
    pub reranker: Option<String>,
    /// Ids of the generators whose weights are here.
    pub generators: Vec<String>,
    /// Most tokens of prompt and answer together.
    pub context_tokens: usize,
    /// Whether the generator answers where no document fits; wins over the settings of a domain.
    pub answer_without_match: Option<AnswerWithoutMatch>,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            turn: TurnSettings::default(),
            past_turns: PAST_TURNS,
            suggestions: Suggestions::default(),
            explain_ahead: ExplainAhead::default(),
            reranker: None,
            generators: Vec::new(),
            context_tokens: 4096,
            answer_without_match: None,
        }
    }
}

/// What is running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// The question is being completed.
    Rewriting(TurnKey),
    /// Evidence is being searched.
    Retrieving(TurnKey),
    /// The prompt is read or the answer is generated.
    Answering(TurnKey),
    /// The answer is being attributed.
    Explaining(TurnKey),
}

impl Phase {
    /// The running turn.
    pub fn turn(self) -> Option<TurnKey> {
        match self {
            Self::Idle => None,
            Self::Rewriting(turn) | Self::Retrieving(turn) | Self::Answering(turn) | Self::Explaining(turn) => {
                Some(turn)
            }
        }
    }
}

/// A navigation of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Navigation {
    Domain(DomainName),
    Conversation(ConversationId),
    NewConversation,
}

/// A conversation that is being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingOpen {
    /// A conversation of the lists.
    Stored(ConversationId),
    /// A conversation of a domain that is being opened.
    InOpening(ConversationId),
    /// A branch of this conversation.
    BranchOf(ConversationId),
}

impl PendingOpen {
    /// Whether a failure of this conversation ends the wait.
    fn fails_with(self, conversation: ConversationId) -> bool {
        let (Self::Stored(awaited) | Self::InOpening(awaited) | Self::BranchOf(awaited)) = self;
        awaited == conversation
    }
}

/// The lists of domains and conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lists {
    /// None until they are listed.
    pub(super) domains: Option<Vec<DomainSummary>>,
    /// Those of the open domain.
    pub(super) conversations: Vec<ConversationRecord>,
    pub(super) trash: Vec<ConversationRecord>,
    /// The words that conversations are searched for.
    pub(super) finding: Option<String>,
    pub(super) found: Option<FoundConversations>,
}

/// Pieces of evidence as the screen shows them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EvidenceViews {
    pub(super) tables: BTreeMap<EvidenceId, Option<Arc<TableGrid>>>,
    pub(super) tables_wanted: BTreeSet<EvidenceId>,
    /// Ranks of a turn's sources with parts of their context.
    pub(super) trial: Option<ContextTrial>,
    pub(super) document: Option<OpenDocument>,
}

/// A job for a turn that the user did not ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnaskedJob {
    pub(super) job: JobId,
    pub(super) turn: TurnKey,
}

/// The running work.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Jobs {
    pub(super) phase: Phase,
    /// The running turn that has been told to stop.
    pub(super) canceling: Option<TurnKey>,
    /// Generates suggestions.
    pub(super) suggesting: Option<UnaskedJob>,
    /// Explains a turn while the user reads.
    pub(super) prefetch: Option<UnaskedJob>,
    /// The last key of a turn or job.
    pub(super) last_key: u64,
}

/// What is being opened. Questions are refused meanwhile.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Opening {
    pub(super) domain: Option<DomainName>,
    pub(super) conversation: Option<PendingOpen>,
}

/// What the user is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Notes {
    pub(super) problem: Option<Notification>,
    pub(super) notice: Option<Notice>,
    /// The last save problem, until all turns are stored.
    pub(super) save_problem: Option<Problem>,
    /// Whether the user was warned that quitting loses answers.
    pub(super) quit_warned: bool,
}

/// State of the program, without that of the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct App {
    pub(super) settings: AppSettings,
    pub(super) domain_settings: DomainSettings,
    pub(super) missing_models: Option<MissingModels>,
    pub(super) ingesting: Option<Ingesting>,
    pub(super) lists: Lists,
    /// The open domain.
    pub(super) domain: Option<DomainSummary>,
    pub(super) opening: Opening,
    /// The conversations in memory.
    pub(super) open: OpenConversations,
    pub(super) evidence: EvidenceViews,
    pub(super) jobs: Jobs,
    pub(super) engine: EngineStatus,
    pub(super) notes: Notes,
}

impl App {
    /// An app with nothing open.
    pub fn new(settings: AppSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// The first effects.
    pub fn start(&self) -> Vec<Effect> {
        vec![Effect::ListDomains]
    }

    /// The domains; none until they are listed.
    pub fn domains(&self) -> Option<&[DomainSummary]> {
        self.lists.domains.as_deref()
    }

    /// The open domain.
    pub fn domain(&self) -> Option<&DomainSummary> {
        self.domain.as_ref()
    }

    /// The domain that is being opened.
    pub fn opening_domain(&self) -> Option<&DomainName> {
        self.opening.domain.as_ref()
    }

    /// The conversations of the open domain, latest first.
    pub fn conversations(&self) -> &[ConversationRecord] {
        &self.lists.conversations
    }

    /// The open conversation; none until its first turn is stored.
    pub fn conversation(&self) -> Option<&ConversationRecord> {
        self.open.shown.record.as_ref()
    }

    /// The default attribution method.
    pub fn method(&self) -> Method {
        self.turn_settings().attribution.method
    }

    /// The turns of the open conversation, in order.
    pub fn turns(&self) -> &[Turn] {
        &self.open.shown.turns
    }

    /// The turn of the open conversation with this key.
    pub fn turn(&self, key: TurnKey) -> Option<&Turn> {
        self.open.shown.turn(key)
    }

    /// What is running.
    pub fn phase(&self) -> Phase {
        self.jobs.phase
    }

    /// Whether a turn is running.
    pub fn is_busy(&self) -> bool {
        self.jobs.phase != Phase::Idle
    }

    /// Whether the running turn has been told to stop.
    pub fn is_canceling(&self) -> bool {
        self.jobs.canceling.is_some()
    }

    /// Whether a domain or a conversation is being opened; questions wait for it.
    pub fn is_opening(&self) -> bool {
        self.opening.domain.is_some() || self.opening.conversation.is_some()
    }

    /// Whether every finished turn is stored or failed to be. Headless commands wait for it before they exit.
    pub fn is_saved(&self) -> bool {
        self.open.turns().all(|turn| matches!(turn.stored, Stored::Settled | Stored::Unsaved))
    }

    /// The turn for which suggestions are being generated.
    pub fn suggesting(&self) -> Option<TurnKey> {
        self.jobs.suggesting.map(|job| job.turn)
    }

    /// Models and device.
    pub fn engine(&self) -> &EngineStatus {
        &self.engine
    }

    /// The last problem, until it is dismissed.
    pub fn problem(&self) -> Option<&Problem> {
        self.notes.problem.as_ref().map(|told| &told.problem)
    }

    /// The last problem as a refusal, for translation; none where it is no refusal.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.notes.problem.as_ref()?.refusal.as_ref()
    }

    /// The table of a row or table evidence. Outer none: not loaded; inner none: no table.
    pub fn table(&self, evidence: EvidenceId) -> Option<Option<&TableGrid>> {
        self.evidence.tables.get(&evidence).map(Option::as_deref)
    }

    /// The history of a prompt: the last answered turns before `key`, oldest first. A variant has the history of its
    /// original.
    pub fn history_before(&self, key: TurnKey) -> Vec<HistoryTurn> {
        self.open.shown.history_before(key, self.settings.past_turns)
    }

    /// The turns of [`App::history_before`] for the search.
    pub fn earlier_questions(&self, key: TurnKey) -> Vec<EarlierQuestion> {
        self.open.shown.earlier_questions(key, self.settings.past_turns)
    }

    /// Handles an event and returns the effects.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        if event.is_a_wish() {
            self.notes.notice = None;
        }
        let stored = matches!(event, Event::TurnSaved { .. });
        let mut effects = self.handle_event(event);
        if stored {
            effects.extend(self.save_again());
            self.tell_when_all_is_stored();
        }
        self.forget_settled();
        effects
    }

    fn handle_event(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::QuestionAsked { text, at } => self.ask(&text, Wording::Typed, at),
            Event::QuestionEdited { text, at } => self.ask(&text, Wording::Edited, at),
            Event::AgainWanted { turn, other, at } => self.ask_again(turn, &other, at),
            Event::ExplainRequested { turn, method } => self.explain(turn, method, Purpose::Answer),
            Event::EarlierWanted { turn, method } => self.show_earlier(turn, method),
            Event::SentencesWanted { turn } => self.explain(turn, Method::Logprob, Purpose::Sentences),
            Event::TurnRated { turn, feedback } => self.rate(turn, feedback),
            Event::ConversationChangeWanted(change) => self.change_conversation(change),
            Event::ConversationsWanted(text) => self.find(text),
            Event::ConversationsFound { text, found } => self.found_conversations(text, found),
            Event::ExportWanted { turn, format } => self.export(turn, format),
            Event::StoredExportWanted { conversation, format } => self.export_stored(conversation, format),
            Event::ExportEvalCase { turn } => self.export_eval_case(turn),
            Event::BranchWanted { turn } => self.branch(turn),
            Event::OtherSettingsWanted(domain) => self.want_settings_of(domain),
            Event::OtherSettingsLoaded { domain, changes, problem } => self.other_settings(domain, changes, problem),
            Event::OtherSettingsChanged { domain, changes } => self.change_other_settings(domain, changes),
            Event::SettingsChanged(changes) => self.change_settings(changes),
            Event::SettingsKept { domain, kept } => self.settings_kept(&domain, kept),
            Event::SettingsLoaded { domain, changes, problem } => self.settings_loaded(domain, changes, problem),
            Event::NotCopied { what, text } => vec![Effect::CopyByTerminal { what, text }],
            Event::Done(notice) => {
                self.notes.notice = Some(notice);
                Vec::new()
            }
            Event::CancelRequested => self.cancel(),
            Event::DomainChosen(name) => self.navigate(Navigation::Domain(name)),
            Event::DomainCancelRequested => self.cancel_opening(),
            // Cancellation of the opening has done the rest; handling any event clears the notice.
            Event::DomainNotOpened(_) | Event::NoticeSeen => Vec::new(),
            Event::ConversationChosen(id) => self.navigate(Navigation::Conversation(id)),
            Event::ConversationBranched { of, branch } => self.branched(of, branch),
            Event::UnlistedChosen(turn) => self.open_unlisted(turn),
            Event::ConversationStarted => self.navigate(Navigation::NewConversation),
            Event::IngestWanted { domain, path } => self.ingest(domain, path),
            Event::IngestCancelRequested => self.cancel_ingest(),
            Event::TableWanted(evidence) => self.want_table(evidence),
            Event::ContextWanted { turn, parts } => self.try_context(turn, parts),
            Event::ContextTried { job, tried } => self.tried(job, Some(Fetched::Here(tried))),
            Event::DocumentWanted { document, hit } => self.want_document(document, hit),
            Event::DocumentCancelRequested => self.stop_reading(),
            Event::DocumentLoaded { document, parts } => self.document_loaded(document, parts),
            Event::ProblemDismissed => self.noting(None),
            Event::SaveAgainWanted => self.want_saved(),
            Event::QuitRequested => self.quit(),
            Event::LeaveRequested => self.quit_now(),
            Event::TableLoaded { domain, evidence, table } => self.table_loaded(&domain, evidence, table),
            Event::EngineChanged(engine) => {
                self.engine = engine;
                Vec::new()
            }
            Event::Failed(problem) => self.noting(Some(problem)),
            Event::Refused(refusal) => self.refuse(refusal),
            Event::RateFailed { id, feedback, stored, problem } => {
                self.rate_failed(id, feedback.as_ref(), stored, problem)
            }
            Event::QuestionsSuggested { job, questions } => self.suggested(job, questions),
            Event::TurnSaved { turn, conversation, id, number } => {
                self.saved(turn, SavedTurn { conversation, id, number })
            }
            Event::SaveFailed { turn, problem } => self.save_failed(turn, problem),
            Event::ModelsLooked { missing, generators } => self.models_looked(missing, generators),
            Event::ModelsWanted => vec![Effect::LookForModels],
            Event::DomainsListed(domains) => self.domains_listed(domains),
            Event::DomainOpened(summary) => self.domain_opened(summary),
            Event::DomainFailed { name, problem } => self.domain_failed(&name, problem),
            Event::ConversationsListed { domain, conversations, trash } => self.listed(&domain, conversations, trash),
            Event::ConversationOpened { record, turns } => self.conversation_opened(record, turns),
            Event::ConversationFailed { conversation, problem } => self.conversation_failed(conversation, problem),
            told @ (Event::IngestAdvanced(_)
            | Event::IngestFinished(_)
            | Event::IngestFailed(_)
            | Event::IngestCanceled) => self.ingest_told(told),
            step => self.step(step),
        }
    }

    /// Shows a problem, or none.
    pub(super) fn noting(&mut self, problem: Option<Problem>) -> Vec<Effect> {
        self.notes.problem = problem.map(Notification::from);
        Vec::new()
    }

    /// Refuses a request.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> Vec<Effect> {
        self.notes.problem = Some(refusal.into());
        Vec::new()
    }

    pub(super) fn next_key(&mut self) -> TurnKey {
        self.jobs.last_key += 1;
        TurnKey(self.jobs.last_key)
    }

    pub(super) fn next_job(&mut self) -> JobId {
        self.next_key().job()
    }

    /// Navigates. A running turn goes on in the background.
    pub(super) fn navigate(&mut self, wish: Navigation) -> Vec<Effect> {
        self.notes.problem = None;
        match wish {
            Navigation::Domain(name) => {
                self.opening.domain = Some(name.clone());
                self.opening.conversation = None;
                vec![Effect::OpenDomain(name.clone()), Effect::ListConversations(name)]
            }
            Navigation::Conversation(_) if self.opening.domain.is_some() => self.refuse(Refusal::DomainOpening),
            Navigation::Conversation(id) => self.navigate_to_conversation(id),
            Navigation::NewConversation => {
                // The search result would lack the new conversation.
                self.end_search();
                self.opening.conversation = None;
                self.show(None, Vec::new());
                Vec::new()
            }
        }
    }

    fn navigate_to_conversation(&mut self, id: ConversationId) -> Vec<Effect> {
        if let Some(other) = self.other_domain_of(id) {
            let effects = self.navigate(Navigation::Domain(other));
            self.opening.conversation = Some(PendingOpen::InOpening(id));
            return effects;
        }
        if self.is_here(id) {
            self.opening.conversation = None;
            return Vec::new();
        }
        self.opening.conversation = Some(PendingOpen::Stored(id));
        vec![Effect::OpenConversation(id)]
    }

    /// Puts a conversation on screen in place of the open one.
    pub(super) fn show(&mut self, conversation: Option<ConversationRecord>, records: Vec<TurnRecord>) {
        let turns = records.into_iter().map(|record| Turn::of(self.next_key(), record)).collect();
        let domain = self.domain_name();
        self.show_conversation(OpenConversation { domain, record: conversation, turns });
    }

    /// Shows a conversation from memory, where it is more complete than in the history. Returns whether it did.
    fn is_here(&mut self, id: ConversationId) -> bool {
        let shown = &self.open.shown;
        let unasked = [self.jobs.suggesting, self.jobs.prefetch].into_iter().flatten();
        let works = self.is_busy_here() || unasked.into_iter().any(|job| shown.has(job.turn));
        (shown.is(id) && (works || shown.is_unsettled())) || self.return_to_conversation(id)
    }

    fn domain_opened(&mut self, summary: DomainSummary) -> Vec<Effect> {
        if self.opening.domain.as_ref() != Some(&summary.name) {
            return Vec::new();
        }
        self.opening.domain = None;
        let wanted = self.take_awaited_in_opening();
        self.use_settings_of(&summary.name);
        self.lists.conversations.retain(|conversation| conversation.domain == summary.name);
        self.lists.trash.retain(|conversation| conversation.domain == summary.name);
        self.domain = Some(summary);
        self.show(None, Vec::new());
        self.evidence.tables.clear();
        self.evidence.tables_wanted.clear();
        // A search result stays while its conversations are opened.
        if let Some(conversation) = wanted {
            return self.navigate(Navigation::Conversation(conversation));
        }
        self.end_search();
        Vec::new()
    }

    /// Takes the conversation that waits for the domain.
    fn take_awaited_in_opening(&mut self) -> Option<ConversationId> {
        let Some(PendingOpen::InOpening(conversation)) = self.opening.conversation else { return None };
        self.opening.conversation = None;
        Some(conversation)
    }

    /// The domain of a found conversation, where it is not the open one.
    fn other_domain_of(&self, id: ConversationId) -> Option<DomainName> {
        let found = self.lists.found.iter().flat_map(|found| &found.found);
        let domain = &found.map(|found| &found.conversation).find(|found| found.id == id)?.domain;
        self.domain.as_ref().is_none_or(|open| open.name != *domain).then(|| domain.clone())
    }

    fn domain_failed(&mut self, name: &DomainName, problem: Problem) -> Vec<Effect> {
        if self.opening.domain.as_ref() != Some(name) {
            return Vec::new();
        }
        self.opening.domain = None;
        self.take_awaited_in_opening();
        self.notes.problem = Some(problem.into());
        self.domain.iter().map(|domain| Effect::ListConversations(domain.name.clone())).collect()
    }

    /// Cancels the opening of a domain; the previous one stays.
    fn cancel_opening(&mut self) -> Vec<Effect> {
        if self.opening.domain.take().is_none() {
            return Vec::new();
        }
        self.domain_settings.loaded = None;
        self.take_awaited_in_opening();
        if self.domain.is_none() {
            self.lists.conversations.clear();
            self.lists.trash.clear();
        }
        let listed = self.domain.iter().map(|domain| Effect::ListConversations(domain.name.clone()));
        [Effect::CancelOpening].into_iter().chain(listed).collect()
    }

    fn conversation_opened(&mut self, record: ConversationRecord, turns: Vec<TurnRecord>) -> Vec<Effect> {
        if self.opening.conversation != Some(PendingOpen::Stored(record.id)) {
            return Vec::new();
        }
        self.opening.conversation = None;
        if self.domain.as_ref().is_some_and(|domain| domain.name != record.domain) {
            return self.refuse(Refusal::OtherDomain(record.domain));
        }
        if !self.is_here(record.id) {
            self.show(Some(record), turns);
        }
        Vec::new()
    }

    /// Handles a failure to open a conversation, unless the user chose another.
    fn conversation_failed(&mut self, conversation: ConversationId, problem: Problem) -> Vec<Effect> {
        if !self.opening.conversation.is_some_and(|awaited| awaited.fails_with(conversation)) {
            return Vec::new();
        }
        self.opening.conversation = None;
        self.noting(Some(problem))
    }

    fn want_table(&mut self, evidence: EvidenceId) -> Vec<Effect> {
        let Some(domain) = &self.domain else { return Vec::new() };
        if self.evidence.tables.contains_key(&evidence) || !self.evidence.tables_wanted.insert(evidence) {
            return Vec::new();
        }
        vec![Effect::LoadTable { domain: domain.name.clone(), evidence }]
    }

    fn table_loaded(
        &mut self,
        domain: &DomainName,
        evidence: EvidenceId,
        table: Option<Arc<TableGrid>>,
    ) -> Vec<Effect> {
        if self.domain.as_ref().is_some_and(|open| open.name == *domain) {
            self.evidence.tables_wanted.remove(&evidence);
            if self.evidence.tables.len() >= MOST_TABLES {
                self.evidence.tables.clear();
            }
            self.evidence.tables.insert(evidence, table);
        }
        Vec::new()
    }
}
