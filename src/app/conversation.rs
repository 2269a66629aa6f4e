//! A conversation in memory: its turns, their history for prompts and searches, and their storing.
//!
//! Invariants: at most one save of a turn is on its way; saves of a new conversation wait until the first save has
//! returned its id; a variant has the history of its original.
//! Not here: which conversation is shown (`open_conversations`), the steps of a turn (`steps`).

use super::turn::Stored;
use super::{Effect, Turn, TurnKey};
use ragonite_base::{ConversationId, DomainName, TurnId};
use ragonite_history::ConversationRecord;
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::EarlierQuestion;

/// A conversation with its turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OpenConversation {
    /// None until a domain is open.
    pub(super) domain: Option<DomainName>,
    /// None until its first turn is stored.
    pub(super) record: Option<ConversationRecord>,
    pub(super) turns: Vec<Turn>,
}

/// The answer of the history to a save.
pub(super) struct SavedTurn {
    pub(super) conversation: ConversationRecord,
    pub(super) id: TurnId,
    /// Its number in the conversation. It may be higher than before, where another program continued the conversation or
    /// a later turn was stored first.
    pub(super) number: u32,
}

impl OpenConversation {
    pub(super) fn turn(&self, key: TurnKey) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.key == key)
    }

    pub(super) fn turn_mut(&mut self, key: TurnKey) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|turn| turn.key == key)
    }

    pub(super) fn has(&self, key: TurnKey) -> bool {
        self.turn(key).is_some()
    }

    pub(super) fn is(&self, id: ConversationId) -> bool {
        self.record.as_ref().is_some_and(|record| record.id == id)
    }

    /// Whether a turn is not stored as it is.
    pub(super) fn is_unsettled(&self) -> bool {
        self.turns.iter().any(|turn| turn.stored != Stored::Settled)
    }

    /// The original of a turn, through all variants; the turn itself where it is no variant.
    pub(super) fn first_asked(&self, key: TurnKey) -> TurnKey {
        let mut first = key;
        // Each original stands before its variant, so the loop ends.
        for turn in self.turns.iter().rev().skip_while(|turn| turn.key != key) {
            let of = self.turn(first).and_then(|first| first.variant()).map(|variant| variant.of);
            match of {
                None => break,
                Some(of) if turn.record.number == of && turn.key != key => first = turn.key,
                Some(_) => {}
            }
        }
        first
    }

    /// The turns before `key`, or before its original.
    fn before(&self, key: TurnKey) -> &[Turn] {
        let first = self.first_asked(key);
        let before = self.turns.iter().position(|turn| turn.key == first).unwrap_or(self.turns.len());
        &self.turns[..before]
    }

    /// The last answered turns before `key`, oldest first, for prompts.
    pub(super) fn history_before(&self, key: TurnKey, most: usize) -> Vec<HistoryTurn> {
        last(self.before(key), most, Turn::as_past)
    }

    /// The turns of [`Self::history_before`] for searches.
    pub(super) fn earlier_questions(&self, key: TurnKey, most: usize) -> Vec<EarlierQuestion> {
        last(self.before(key), most, Turn::as_earlier)
    }

    /// The last answered turns for the prompt of a new turn.
    pub(super) fn history(&self, most: usize) -> Vec<HistoryTurn> {
        last(&self.turns, most, Turn::as_past)
    }

    /// Stores a turn, or notes that it has to be stored again or later.
    pub(super) fn save(&mut self, key: TurnKey) -> Vec<Effect> {
        let first_is_on_its_way = self.record.is_none() && self.turns.iter().any(|turn| turn.stored.is_on_its_way());
        let conversation = self.record.as_ref().map(|record| record.id);
        let Some(domain) = self.domain.clone() else { return Vec::new() };
        let Some(turn) = self.turn_mut(key) else { return Vec::new() };
        match turn.stored {
            Stored::Saving | Stored::SavingOld => {
                turn.stored = Stored::SavingOld;
                Vec::new()
            }
            Stored::Settled | Stored::Waiting | Stored::Unsaved if first_is_on_its_way => {
                turn.stored = Stored::Waiting;
                Vec::new()
            }
            Stored::Settled | Stored::Waiting | Stored::Unsaved => {
                turn.stored = Stored::Saving;
                let record = Box::new(turn.record.clone());
                vec![Effect::SaveTurn { turn: key, domain, conversation, record }]
            }
        }
    }

    /// Stores the turns that wait or could not be stored.
    pub(super) fn save_waiting(&mut self) -> Vec<Effect> {
        let waiting = self.turns.iter().filter(|turn| matches!(turn.stored, Stored::Waiting | Stored::Unsaved));
        let keys: Vec<TurnKey> = waiting.map(|turn| turn.key).collect();
        keys.into_iter().flat_map(|key| self.save(key)).collect()
    }

    /// Takes what the history gave a stored turn.
    pub(super) fn saved(&mut self, key: TurnKey, saved: SavedTurn) -> Vec<Effect> {
        let Some(turn) = self.turn_mut(key).filter(|turn| turn.stored.is_on_its_way()) else { return Vec::new() };
        let (is_new, before) = (turn.record.id == TurnId(0), turn.record.number);
        (turn.record.number, turn.record.id) = (saved.number, saved.id);
        turn.stored = if turn.stored == Stored::SavingOld { Stored::Waiting } else { Stored::Settled };
        // A rating from before the turn had an id.
        let rating = turn.record.feedback.clone().filter(|_| is_new);
        self.follow_number(key, before, saved.number);
        self.record = Some(saved.conversation);
        let mut effects = self.save_waiting();
        effects.extend(rating.map(|rating| Effect::RateTurn { id: saved.id, feedback: Some(rating), before: None }));
        effects
    }

    /// Notes that a turn could not be stored. Returns whether it was on its way.
    pub(super) fn save_failed(&mut self, key: TurnKey) -> bool {
        let Some(turn) = self.turn_mut(key).filter(|turn| turn.stored.is_on_its_way()) else { return false };
        turn.stored = Stored::Unsaved;
        if self.record.is_none() {
            // Turns that wait for the new conversation cannot be stored either.
            for turn in self.turns.iter_mut().filter(|turn| turn.stored == Stored::Waiting) {
                turn.stored = Stored::Unsaved;
            }
        }
        true
    }

    /// Updates the variants of a turn whose number changed when it was stored.
    fn follow_number(&mut self, key: TurnKey, before: u32, now: u32) {
        if before == now {
            return;
        }
        for turn in self.turns.iter_mut().skip_while(|turn| turn.key != key).skip(1) {
            let Some(variant) = turn.record.trace.variant.as_mut().filter(|variant| variant.of == before) else {
                continue;
            };
            variant.of = now;
            match turn.stored {
                Stored::Saving => turn.stored = Stored::SavingOld,
                Stored::Settled if turn.record.id.0 != 0 => turn.stored = Stored::Waiting,
                Stored::Settled | Stored::SavingOld | Stored::Waiting | Stored::Unsaved => {}
            }
        }
    }
}

/// The last turns; starts from the end, so that the length of a conversation costs nothing.
fn last<T>(turns: &[Turn], most: usize, as_earlier: impl Fn(&Turn) -> Option<T>) -> Vec<T> {
    let mut last: Vec<T> = turns.iter().rev().filter_map(as_earlier).take(most).collect();
    last.reverse();
    last
}
