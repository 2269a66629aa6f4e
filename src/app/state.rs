//! State of the program; the entry point [`App::handle`].
//!
//! Invariants: at most one turn runs; it is in `turns` or in a background conversation; a running turn that is not
//! being explained is the last of its conversation.
//! Not here: the steps of a turn (`steps`), background conversations (`background`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::background::BackgroundConversation;
use super::context::{ContextTrial, Fetched, OpenDocument};
use super::conversation_ops::FoundConversations;
use super::notification::Notification;
use super::settings::Loaded;
use super::turn::{Purpose, Stored};
use super::{
    DomainSummary, Effect, EngineStatus, Event, Ingesting, MissingModels, Notice, Problem, Refusal, Turn, TurnKey,
    Wording,
};
use ragonite_base::{ConversationId, DomainName, EvidenceId};
use ragonite_config::SettingsOverride;
use ragonite_document::evidence::TableGrid;
use ragonite_history::{ConversationRecord, TurnRecord, TurnSettings};
use ragonite_rag::answer::Suggestions;
use ragonite_rag::attribution::{ExplainAhead, Method};
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

/// State of the program, without that of the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct App {
    pub(super) settings: AppSettings,
    /// Overrides of the open domain.
    pub(super) overrides: SettingsOverride,
    /// Overrides of another domain whose settings are shown.
    pub(super) other_overrides: Option<(DomainName, SettingsOverride)>,
    /// Pending edits of the overrides.
    pub(super) edits: usize,
    pub(super) loaded: Option<Loaded>,
    pub(super) missing_models: Option<MissingModels>,
    pub(super) ingesting: Option<Ingesting>,
    pub(super) domains: Option<Vec<DomainSummary>>,
    pub(super) domain: Option<DomainSummary>,
    pub(super) conversations: Vec<ConversationRecord>,
    pub(super) trash: Vec<ConversationRecord>,
    /// Search in the conversations.
    pub(super) finding: Option<String>,
    pub(super) found: Option<FoundConversations>,
    pub(super) conversation: Option<ConversationRecord>,
    pub(super) turns: Vec<Turn>,
    /// Background conversations.
    pub(super) background: Vec<BackgroundConversation>,
    /// The last save problem, until all turns are stored.
    pub(super) save_problem: Option<Problem>,
    /// Whether the user was warned that quitting loses answers.
    pub(super) quit_warned: bool,
    /// Domain of the background conversation that handles the current event.
    pub(super) background_domain: Option<DomainName>,
    pub(super) phase: Phase,
    pub(super) engine: EngineStatus,
    pub(super) problem: Option<Notification>,
    pub(super) notice: Option<Notice>,
    pub(super) tables: BTreeMap<EvidenceId, Option<Arc<TableGrid>>>,
    pub(super) tables_wanted: BTreeSet<EvidenceId>,
    pub(super) opening_domain: Option<DomainName>,
    /// The conversation that is being opened; questions are refused meanwhile.
    pub(super) pending_open: Option<PendingOpen>,
    /// The job that generates suggestions, and its turn.
    pub(super) suggesting: Option<(TurnKey, TurnKey)>,
    /// The job of the prefetch, and its turn.
    pub(super) prefetch: Option<(TurnKey, TurnKey)>,
    /// Ranks of a turn's sources with parts of their context.
    pub(super) trial: Option<ContextTrial>,
    pub(super) document: Option<OpenDocument>,
    pub(super) canceling: Option<TurnKey>,
    pub(super) last_key: u64,
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
        self.domains.as_deref()
    }

    /// The open domain.
    pub fn domain(&self) -> Option<&DomainSummary> {
        self.domain.as_ref()
    }

    /// The domain that is being opened.
    pub fn opening_domain(&self) -> Option<&DomainName> {
        self.opening_domain.as_ref()
    }

    /// The conversations of the open domain, latest first.
    pub fn conversations(&self) -> &[ConversationRecord] {
        &self.conversations
    }

    /// The open conversation; none until its first turn is stored.
    pub fn conversation(&self) -> Option<&ConversationRecord> {
        self.conversation.as_ref()
    }

    /// The default attribution method.
    pub fn method(&self) -> Method {
        self.turn_settings().attribution.method
    }

    /// The turns of the open conversation, in order.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn with this key.
    pub fn turn(&self, key: TurnKey) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.key == key)
    }

    /// What is running.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether a turn is running.
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Whether the running turn has been told to stop.
    pub fn is_canceling(&self) -> bool {
        self.canceling.is_some()
    }

    /// Whether a domain or a conversation is being opened; questions wait for it.
    pub fn is_opening(&self) -> bool {
        self.opening_domain.is_some() || self.pending_open.is_some()
    }

    /// Whether every finished turn is stored or failed to be. Headless commands wait for it before they exit.
    pub fn is_saved(&self) -> bool {
        let left = self.background.iter().flat_map(|sheet| &sheet.turns);
        self.turns.iter().chain(left).all(|turn| matches!(turn.stored, Stored::Settled | Stored::Unsaved))
    }

    /// The turn for which suggestions are being generated.
    pub fn suggesting(&self) -> Option<TurnKey> {
        self.suggesting.map(|(_, turn)| turn)
    }

    /// Models and device.
    pub fn engine(&self) -> &EngineStatus {
        &self.engine
    }

    /// The last problem, until it is dismissed.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref().map(|told| &told.problem)
    }

    /// The last problem as a refusal, for translation; none where it is no refusal.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.problem.as_ref()?.refusal.as_ref()
    }

    /// The table of a row or table evidence. Outer none: not loaded; inner none: no table.
    pub fn table(&self, evidence: EvidenceId) -> Option<Option<&TableGrid>> {
        self.tables.get(&evidence).map(Option::as_deref)
    }

    /// The history of a prompt: the last answered turns before `key`, oldest first. A variant has the history of its
    /// original.
    pub fn history_before(&self, key: TurnKey) -> Vec<HistoryTurn> {
        self.past_of(self.before(key))
    }

    /// The turns before `key`, or before its original.
    fn before(&self, key: TurnKey) -> &[Turn] {
        let first = self.first_asked(key);
        let before = self.turns.iter().position(|turn| turn.key == first).unwrap_or(self.turns.len());
        &self.turns[..before]
    }

    /// Like [`App::history_before`], for a new turn.
    pub(super) fn history(&self) -> Vec<HistoryTurn> {
        self.past_of(&self.turns)
    }

    fn past_of(&self, turns: &[Turn]) -> Vec<HistoryTurn> {
        self.last(turns, Turn::as_past)
    }

    /// The turns of [`App::history_before`] for the search.
    pub fn earlier_questions(&self, key: TurnKey) -> Vec<EarlierQuestion> {
        self.last(self.before(key), Turn::as_earlier)
    }

    /// The last turns; starts from the end, so that the length of a conversation costs nothing.
    fn last<T>(&self, turns: &[Turn], told: impl Fn(&Turn) -> Option<T>) -> Vec<T> {
        let mut last: Vec<T> = turns.iter().rev().filter_map(told).take(self.settings.past_turns).collect();
        last.reverse();
        last
    }

    /// Handles an event and returns the effects.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        if event.is_a_wish() {
            self.notice = None;
        }
        self.dispatch(event)
    }

    /// Handles an event of the open conversation or of none.
    pub(super) fn handle_open(&mut self, event: Event) -> Vec<Effect> {
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
                self.notice = Some(notice);
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
            Event::ContextTried { turn, tried } => self.tried(turn, Some(Fetched::Here(tried))),
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
            Event::QuestionsSuggested { turn, questions } => self.suggested(turn, questions),
            Event::TurnSaved { turn, conversation, id, number } => self.saved(turn, conversation, id, number),
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
        self.problem = problem.map(Notification::from);
        Vec::new()
    }

    /// Refuses a request.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> Vec<Effect> {
        self.problem = Some(refusal.into());
        Vec::new()
    }

    pub(super) fn turn_mut(&mut self, key: TurnKey) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|turn| turn.key == key)
    }

    pub(super) fn next_key(&mut self) -> TurnKey {
        self.last_key += 1;
        TurnKey(self.last_key)
    }

    /// Navigates. A running turn goes on in the background.
    pub(super) fn navigate(&mut self, wish: Navigation) -> Vec<Effect> {
        self.problem = None;
        match wish {
            Navigation::Domain(name) => {
                self.opening_domain = Some(name.clone());
                self.pending_open = None;
                vec![Effect::OpenDomain(name.clone()), Effect::ListConversations(name)]
            }
            Navigation::Conversation(_) if self.opening_domain.is_some() => self.refuse(Refusal::DomainOpening),
            Navigation::Conversation(id) => self.navigate_to_conversation(id),
            Navigation::NewConversation => {
                // The search result would lack the new conversation.
                self.end_search();
                self.pending_open = None;
                self.show(None, Vec::new());
                Vec::new()
            }
        }
    }

    fn navigate_to_conversation(&mut self, id: ConversationId) -> Vec<Effect> {
        if let Some(other) = self.other_domain_of(id) {
            let effects = self.navigate(Navigation::Domain(other));
            self.pending_open = Some(PendingOpen::InOpening(id));
            return effects;
        }
        if self.is_here(id) {
            self.pending_open = None;
            return Vec::new();
        }
        self.pending_open = Some(PendingOpen::Stored(id));
        vec![Effect::OpenConversation(id)]
    }

    /// Puts a conversation on screen in place of the open one.
    pub(super) fn show(&mut self, conversation: Option<ConversationRecord>, records: Vec<TurnRecord>) {
        self.leave();
        self.leave_evidence();
        self.conversation = conversation;
        for record in records {
            let key = self.next_key();
            self.turns.push(Turn::of(key, record));
        }
    }

    /// Shows a conversation from memory, where it is more complete than in the history. Returns whether it did.
    fn is_here(&mut self, id: ConversationId) -> bool {
        let open = self.conversation.as_ref().is_some_and(|open| open.id == id);
        let is_unsettled = self.is_busy_here() || self.turns.iter().any(|turn| turn.stored != Stored::Settled);
        (open && is_unsettled) || self.return_to_conversation(id)
    }

    fn domain_opened(&mut self, summary: DomainSummary) -> Vec<Effect> {
        if self.opening_domain.as_ref() != Some(&summary.name) {
            return Vec::new();
        }
        self.opening_domain = None;
        let wanted = self.take_awaited_in_opening();
        // The conversation that is left belongs to the previous domain.
        self.show(None, Vec::new());
        self.use_settings_of(&summary.name);
        self.conversations.retain(|conversation| conversation.domain == summary.name);
        self.trash.retain(|conversation| conversation.domain == summary.name);
        self.domain = Some(summary);
        self.tables.clear();
        self.tables_wanted.clear();
        // A search result stays while its conversations are opened.
        if let Some(conversation) = wanted {
            return self.navigate(Navigation::Conversation(conversation));
        }
        self.end_search();
        Vec::new()
    }

    /// Takes the conversation that waits for the domain.
    fn take_awaited_in_opening(&mut self) -> Option<ConversationId> {
        let Some(PendingOpen::InOpening(conversation)) = self.pending_open else { return None };
        self.pending_open = None;
        Some(conversation)
    }

    /// The domain of a found conversation, where it is not the open one.
    fn other_domain_of(&self, id: ConversationId) -> Option<DomainName> {
        let found = self.found.iter().flat_map(|found| &found.found);
        let domain = &found.map(|found| &found.conversation).find(|found| found.id == id)?.domain;
        self.domain.as_ref().is_none_or(|open| open.name != *domain).then(|| domain.clone())
    }

    fn domain_failed(&mut self, name: &DomainName, problem: Problem) -> Vec<Effect> {
        if self.opening_domain.as_ref() != Some(name) {
            return Vec::new();
        }
        self.opening_domain = None;
        self.take_awaited_in_opening();
        self.problem = Some(problem.into());
        self.domain.iter().map(|domain| Effect::ListConversations(domain.name.clone())).collect()
    }

    /// Cancels the opening of a domain; the previous one stays.
    fn cancel_opening(&mut self) -> Vec<Effect> {
        if self.opening_domain.take().is_none() {
            return Vec::new();
        }
        self.loaded = None;
        self.take_awaited_in_opening();
        if self.domain.is_none() {
            self.conversations.clear();
            self.trash.clear();
        }
        let listed = self.domain.iter().map(|domain| Effect::ListConversations(domain.name.clone()));
        [Effect::CancelOpening].into_iter().chain(listed).collect()
    }

    fn conversation_opened(&mut self, record: ConversationRecord, turns: Vec<TurnRecord>) -> Vec<Effect> {
        if self.pending_open != Some(PendingOpen::Stored(record.id)) {
            return Vec::new();
        }
        self.pending_open = None;
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
        if !self.pending_open.is_some_and(|awaited| awaited.fails_with(conversation)) {
            return Vec::new();
        }
        self.pending_open = None;
        self.noting(Some(problem))
    }

    fn want_table(&mut self, evidence: EvidenceId) -> Vec<Effect> {
        let Some(domain) = &self.domain else { return Vec::new() };
        if self.tables.contains_key(&evidence) || !self.tables_wanted.insert(evidence) {
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
            self.tables_wanted.remove(&evidence);
            if self.tables.len() >= MOST_TABLES {
                self.tables.clear();
            }
            self.tables.insert(evidence, table);
        }
        Vec::new()
    }
}
