//! Operations on stored conversations and turns: ratings, titles, pins, trash, export, branches.
//!
//! Invariants: a conversation is not deleted while it is being answered; a rating of a turn that is not stored yet is
//! written as soon as it is.
//! Not here: the writes themselves (`history`, on the historian thread).

use super::state::{App, Navigation, PendingOpen};
use super::{ConversationChange, Effect, Notice, Problem, Refusal, Turn};
use ragonite_base::{ConversationId, DomainName, TurnId};
use ragonite_history::{ConversationRecord, Feedback, Format, Found, TurnRecord};

/// Result of a search in the conversations of all domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConversations {
    /// The words.
    pub text: String,
    /// Matching conversations, trash included: those of the then open domain first, then the latest.
    pub found: Vec<Found>,
}

impl App {
    /// The trash of the open domain, latest deletion first.
    pub fn trash(&self) -> &[ConversationRecord] {
        &self.lists.trash
    }

    /// The last notice.
    pub fn notice(&self) -> Option<&Notice> {
        self.notes.notice.as_ref()
    }

    /// Rates a turn; none removes the rating.
    pub(super) fn rate(&mut self, index: usize, feedback: Option<Feedback>) -> Vec<Effect> {
        let Some(turn) = self.open.shown.turns.get_mut(index).filter(|turn| turn.answer().is_some()) else {
            return self.refuse(Refusal::NothingToRate);
        };
        let before = std::mem::replace(&mut turn.record.feedback, feedback.clone());
        let id = turn.record.id;
        self.notes.notice = Some(Notice::Rated(feedback.clone()));
        if id == TurnId(0) { Vec::new() } else { vec![Effect::RateTurn { id, feedback, before }] }
    }

    /// Restores the stored rating where a rating could not be stored, unless the turn was rated again since.
    pub(super) fn rate_failed(
        &mut self,
        id: TurnId,
        failed: Option<&Feedback>,
        stored: Option<Feedback>,
        problem: Problem,
    ) -> Vec<Effect> {
        let turns = self.open.all_mut().flat_map(|conversation| &mut conversation.turns);
        for turn in turns.filter(|turn| turn.record.id == id && turn.record.feedback.as_ref() == failed) {
            turn.record.feedback.clone_from(&stored);
        }
        self.notes.notice = None;
        self.noting(Some(problem))
    }

    /// The last search in the conversations; none after it ended.
    pub fn found(&self) -> Option<&FoundConversations> {
        self.lists.found.as_ref()
    }

    pub(super) fn find(&mut self, text: String) -> Vec<Effect> {
        if text.trim().is_empty() {
            self.end_search();
            return Vec::new();
        }
        self.lists.finding = Some(text.clone());
        vec![self.look_for(text)]
    }

    fn look_for(&self, text: String) -> Effect {
        Effect::FindConversations { first: self.domain.as_ref().map(|domain| domain.name.clone()), text }
    }

    /// Ends the search in the conversations.
    pub(super) fn end_search(&mut self) {
        (self.lists.finding, self.lists.found) = (None, None);
    }

    pub(super) fn found_conversations(&mut self, text: String, found: Vec<Found>) -> Vec<Effect> {
        if self.lists.finding.as_ref() == Some(&text) {
            self.lists.found = Some(FoundConversations { text, found });
        }
        Vec::new()
    }

    pub(super) fn change_conversation(&mut self, change: ConversationChange) -> Vec<Effect> {
        // The lists already belong to the domain that is being opened.
        let listed = self.opening.domain.clone().or(self.domain.as_ref().map(|domain| domain.name.clone()));
        let Some(domain) = listed else { return self.refuse(Refusal::NoDomain) };
        let mut effects = Vec::new();
        if let ConversationChange::Delete(id) = change {
            if self.is_kept_by_a_turn(id) {
                return self.refuse(Refusal::BeingAnswered);
            }
            effects = self.stop_unasked_of(id);
            if self.open.shown.is(id) {
                self.show(None, Vec::new());
            }
        }
        (self.notes.notice, self.notes.problem) = (None, None);
        // The change may affect the search result.
        let looked_for = self.lists.finding.clone();
        effects.push(Effect::ChangeConversation { domain, change });
        effects.extend(looked_for.map(|text| self.look_for(text)));
        effects
    }

    /// Writes the open conversation, or one turn of it, to a file.
    pub(super) fn export(&mut self, index: Option<usize>, format: Format) -> Vec<Effect> {
        let Some((conversation, turns)) = self.finished(index) else {
            return self.refuse(Refusal::NothingToExport);
        };
        self.notes.problem = None;
        vec![Effect::Export { conversation: Box::new(conversation), turns, format }]
    }

    /// The finished turns of the open conversation, or one of them; none where no turn is finished. The title of an
    /// unsaved conversation is its first question.
    pub fn finished(&self, index: Option<usize>) -> Option<(ConversationRecord, Vec<TurnRecord>)> {
        let chosen = index.map_or(0..self.turns().len(), |index| index..index + 1);
        // A turn that is being answered is not finished; a turn that is being explained is.
        let is_over = |turn: &&Turn| self.jobs.phase.turn() != Some(turn.key) || turn.answer().is_some();
        let chosen = self.turns().get(chosen).unwrap_or_default().iter().filter(is_over);
        let turns: Vec<TurnRecord> = chosen.map(|turn| turn.record.clone()).collect();
        let asked_at = turns.first()?.asked_at;
        let conversation = self.open.shown.record.clone().or_else(|| {
            let (domain, title) = (self.domain.as_ref()?.name.clone(), self.turns().first()?.record.question.clone());
            Some(ConversationRecord::not_stored(domain, &title, asked_at))
        })?;
        Some((conversation, turns))
    }

    /// Copies the stored turns up to `index` into a new conversation, which is then opened.
    pub(super) fn branch(&mut self, index: usize) -> Vec<Effect> {
        let turn = self.turns().get(index).filter(|turn| self.jobs.phase.turn() != Some(turn.key));
        let number = turn.map(|turn| turn.record.number);
        let (Some(number), Some(conversation)) = (number, &self.open.shown.record) else {
            return self.refuse(Refusal::NothingToBranch);
        };
        let (domain, conversation) = (conversation.domain.clone(), conversation.id);
        self.notes.problem = None;
        // Questions wait, because they would continue the old conversation.
        self.opening.conversation = Some(PendingOpen::BranchOf(conversation));
        vec![Effect::Branch { domain, conversation, number }]
    }

    /// Opens a branch, unless the user opened another conversation meanwhile.
    pub(super) fn branched(&mut self, of: ConversationId, branch: ConversationId) -> Vec<Effect> {
        let is_awaited = self.opening.conversation == Some(PendingOpen::BranchOf(of));
        if is_awaited { self.navigate(Navigation::Conversation(branch)) } else { Vec::new() }
    }

    /// Writes a conversation of the lists to a file. The open conversation is taken from memory, which may have more
    /// than the history.
    pub(super) fn export_stored(&mut self, conversation: ConversationId, format: Format) -> Vec<Effect> {
        if self.open.shown.is(conversation) {
            return self.export(None, format);
        }
        self.notes.problem = None;
        vec![Effect::ExportStored { conversation, format }]
    }

    /// Exports a stored turn as an `eval` question.
    pub(super) fn export_eval_case(&mut self, index: usize) -> Vec<Effect> {
        let turn = self.turns().get(index).filter(|turn| turn.is_answered()).map(|turn| Box::new(turn.record.clone()));
        let (Some(turn), Some(conversation)) = (turn, &self.open.shown.record) else {
            return self.refuse(Refusal::NothingToCheck);
        };
        let (domain, conversation) = (conversation.domain.clone(), conversation.id);
        self.notes.problem = None;
        vec![Effect::WriteEvalCase { domain, conversation, turn }]
    }

    pub(super) fn listed(
        &mut self,
        domain: &DomainName,
        conversations: Vec<ConversationRecord>,
        trash: Vec<ConversationRecord>,
    ) -> Vec<Effect> {
        let open = self.opening.domain.as_ref().or(self.domain.as_ref().map(|domain| &domain.name));
        if open == Some(domain) {
            if let Some(shown) = &mut self.open.shown.record
                && let Some(now) = conversations.iter().find(|listed| listed.id == shown.id)
            {
                shown.clone_from(now);
            }
            self.lists.conversations = conversations;
            self.lists.trash = trash;
        }
        Vec::new()
    }

    /// Puts a newly stored conversation first in the list, after the pinned ones.
    pub(super) fn list_first(&mut self, conversation: &ConversationRecord) {
        self.lists.conversations.retain(|known| known.id != conversation.id);
        let pinned = self.lists.conversations.iter().take_while(|known| known.pinned).count();
        self.lists.conversations.insert(if conversation.pinned { 0 } else { pinned }, conversation.clone());
    }

    /// The title of a conversation of the open domain.
    pub fn title_of(&self, id: ConversationId) -> Option<&str> {
        let all = self.lists.conversations.iter().chain(&self.lists.trash);
        all.into_iter().find(|known| known.id == id).map(|known| known.title.as_str())
    }
}
