//! What is open and what is running; the front door [`App::handle`].
//!
//! Invariants: at most one turn runs; the running turn is one of `turns`, or of a conversation that was left; a turn that is
//! not explained runs last.
//! Not here: the steps of a turn (`steps`), conversations that were left (`background`).

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

/// Tables that are kept, each of them whole; those that are looked at are loaded again.
const MOST_TABLES: usize = 32;

/// How a conversation is led.
#[derive(Debug, Clone, PartialEq)]
pub struct AppSettings {
    /// What turns are answered with, where their domain changes nothing of it.
    pub turn: TurnSettings,
    /// How many earlier turns the model is told about.
    pub past_turns: usize,
    /// Whether questions to go on with are looked for.
    pub suggestions: Suggestions,
    /// Whether answers are explained before that is asked for.
    pub explain_ahead: ExplainAhead,
    /// Id of the reranker; none where the profile has none.
    pub reranker: Option<String>,
    /// Ids of the generators whose weights are here.
    pub generators: Vec<String>,
    /// Tokens that prompt and answer may have together.
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

/// What the user wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Navigation {
    Domain(DomainName),
    Conversation(ConversationId),
    NewConversation,
}

/// A conversation that is on its way to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingOpen {
    /// One of the lists.
    Stored(ConversationId),
    /// One of another domain, which is being opened.
    InOpening(ConversationId),
    /// One that is being made of the turns of another.
    BranchOf(ConversationId),
}

impl PendingOpen {
    /// Whether what failed with a conversation is what is waited for.
    fn fails_with(self, conversation: ConversationId) -> bool {
        let (Self::Stored(awaited) | Self::InOpening(awaited) | Self::BranchOf(awaited)) = self;
        awaited == conversation
    }
}

/// The state of the program that is not the screen's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct App {
    pub(super) settings: AppSettings,
    /// What the open domain changes of them.
    pub(super) overrides: SettingsOverride,
    /// What another domain changes, whose settings are looked at.
    pub(super) other_overrides: Option<(DomainName, SettingsOverride)>,
    /// Edits of them that are on their way to its file.
    pub(super) edits: usize,
    pub(super) loaded: Option<Loaded>,
    pub(super) missing_models: Option<MissingModels>,
    pub(super) ingesting: Option<Ingesting>,
    pub(super) domains: Option<Vec<DomainSummary>>,
    pub(super) domain: Option<DomainSummary>,
    pub(super) conversations: Vec<ConversationRecord>,
    pub(super) trash: Vec<ConversationRecord>,
    /// What is looked for in the conversations, and what was found.
    pub(super) finding: Option<String>,
    pub(super) found: Option<FoundConversations>,
    pub(super) conversation: Option<ConversationRecord>,
    pub(super) turns: Vec<Turn>,
    /// Conversations that were left and are still needed.
    pub(super) background: Vec<BackgroundConversation>,
    /// Why something could last not be stored, while it is not.
    pub(super) save_problem: Option<Problem>,
    /// The user was told that leaving loses something.
    pub(super) quit_warned: bool,
    /// The domain of the one of them that something happens to at this moment.
    pub(super) background_domain: Option<DomainName>,
    pub(super) phase: Phase,
    pub(super) engine: EngineStatus,
    pub(super) problem: Option<Notification>,
    pub(super) notice: Option<Notice>,
    pub(super) tables: BTreeMap<EvidenceId, Option<Arc<TableGrid>>>,
    pub(super) tables_wanted: BTreeSet<EvidenceId>,
    pub(super) opening_domain: Option<DomainName>,
    /// The conversation that is waited for; questions wait too.
    pub(super) pending_open: Option<PendingOpen>,
    /// The job that looks for questions to go on with, and its turn.
    pub(super) suggesting: Option<(TurnKey, TurnKey)>,
    /// The job that explains an answer though nobody asked for it yet, and its turn.
    pub(super) prefetch: Option<(TurnKey, TurnKey)>,
    /// What became of the ranks of a turn's sources without some of their context.
    pub(super) trial: Option<ContextTrial>,
    /// The document that is read.
    pub(super) document: Option<OpenDocument>,
    pub(super) canceling: Option<TurnKey>,
    pub(super) last_key: u64,
}

impl App {
    /// Nothing open yet.
    pub fn new(settings: AppSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// What to do first.
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

    /// How an answer is explained unless another method is asked for.
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

    /// Whether every finished turn is stored, or cannot be. Headless commands wait for it before they leave.
    pub fn is_saved(&self) -> bool {
        let left = self.background.iter().flat_map(|sheet| &sheet.turns);
        self.turns.iter().chain(left).all(|turn| matches!(turn.stored, Stored::Settled | Stored::Unsaved))
    }

    /// The turn for which questions to go on with are looked for.
    pub fn suggesting(&self) -> Option<TurnKey> {
        self.suggesting.map(|(_, turn)| turn)
    }

    /// What the machine runs on.
    pub fn engine(&self) -> &EngineStatus {
        &self.engine
    }

    /// What went wrong last and is not yet dismissed.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref().map(|told| &told.problem)
    }

    /// The same where the program itself refused, so that it can be said in another language.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.problem.as_ref()?.refusal.as_ref()
    }

    /// The table of a row or table evidence. Outer none: not loaded; inner none: it has none.
    pub fn table(&self, evidence: EvidenceId) -> Option<Option<&TableGrid>> {
        self.tables.get(&evidence).map(Option::as_deref)
    }

    /// The last answered turns before `key`, oldest first, as the model is told about them. A turn that asks another one
    /// again is told what that one was told.
    pub fn history_before(&self, key: TurnKey) -> Vec<HistoryTurn> {
        self.past_of(self.before(key))
    }

    /// The turns before `key`, or before the one that it asks again.
    fn before(&self, key: TurnKey) -> &[Turn] {
        let first = self.first_asked(key);
        let before = self.turns.iter().position(|turn| turn.key == first).unwrap_or(self.turns.len());
        &self.turns[..before]
    }

    /// As [`App::history_before`], for a turn that is not there yet.
    pub(super) fn history(&self) -> Vec<HistoryTurn> {
        self.past_of(&self.turns)
    }

    fn past_of(&self, turns: &[Turn]) -> Vec<HistoryTurn> {
        self.last(turns, Turn::as_past)
    }

    /// The turns of [`App::history_before`], as the search goes by them.
    pub fn earlier_questions(&self, key: TurnKey) -> Vec<EarlierQuestion> {
        self.last(self.before(key), Turn::as_earlier)
    }

    /// From the end, so that a long conversation costs no more than a short one.
    fn last<T>(&self, turns: &[Turn], told: impl Fn(&Turn) -> Option<T>) -> Vec<T> {
        let mut last: Vec<T> = turns.iter().rev().filter_map(told).take(self.settings.past_turns).collect();
        last.reverse();
        last
    }

    /// Takes in what happened and says what to do about it.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        if event.is_a_wish() {
            self.notice = None;
        }
        self.dispatch(event)
    }

    /// Takes in what happened to the open conversation, or to none.
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
            // Who gave the domain up has seen to everything else, and taking an event in ends its notice.
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
            Event::RateFailed { id, feedback, stored, problem } => self.rate_failed(id, &feedback, stored, problem),
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

    /// Says why something is not done.
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

    /// Grants a wish. What runs goes on in the conversation that is left.
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
                // What is new would not be among what was found.
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

    /// Whether a conversation is on screen afterwards without being loaded: the history has less of it than is known here.
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
        // What is left belongs to the domain that was open until now.
        self.show(None, Vec::new());
        self.use_settings_of(&summary.name);
        self.conversations.retain(|conversation| conversation.domain == summary.name);
        self.trash.retain(|conversation| conversation.domain == summary.name);
        self.domain = Some(summary);
        self.tables.clear();
        self.tables_wanted.clear();
        // Who opens one conversation after the other that was found is not done with them.
        if let Some(conversation) = wanted {
            return self.navigate(Navigation::Conversation(conversation));
        }
        self.end_search();
        Vec::new()
    }

    /// The conversation that was to be opened with the domain, which is waited for no longer.
    fn take_awaited_in_opening(&mut self) -> Option<ConversationId> {
        let Some(PendingOpen::InOpening(conversation)) = self.pending_open else { return None };
        self.pending_open = None;
        Some(conversation)
    }

    /// The domain of a conversation that was found, where it is not the open one.
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

    /// Gives up the domain that is being opened; the one before it stays.
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

    /// What is no longer wanted has not failed.
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
