//! The lists: domains, the conversations of the open domain, and its trash.
//!
//! Gives the entry under a cursor.
//! Not here: drawing (`view`).

pub(crate) mod messages;
mod view;

use super::find::Way;
use ragonite_app::{App, FoundConversations, TurnKey};
use ragonite_base::{ConversationId, DomainName};

pub(super) use view::draw;

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Domain(DomainName),
    Conversation(ConversationId),
    /// A conversation that was left before it was stored.
    Unlisted(TurnKey),
    Trashed(ConversationId),
}

/// How many entries there are.
pub(super) fn entries(app: &App) -> usize {
    let domains = app.domains().map_or(0, <[_]>::len);
    let others = app.unlisted().count() + app.conversations().len() + app.trash().len();
    domains + app.found().map_or(others, |found| found.found.len())
}

/// The entry at an index; domains come first.
pub(super) fn entry(app: &App, at: usize) -> Option<Entry> {
    let domains = app.domains().unwrap_or_default();
    if let Some(domain) = domains.get(at) {
        return Some(Entry::Domain(domain.name.clone()));
    }
    let at = at.checked_sub(domains.len())?;
    if let Some(found) = app.found() {
        let conversation = &found.found.get(at)?.conversation;
        let trashed = conversation.deleted_at.is_some();
        return Some(if trashed { Entry::Trashed(conversation.id) } else { Entry::Conversation(conversation.id) });
    }
    if let Some(left) = app.unlisted().nth(at) {
        return Some(Entry::Unlisted(left.turn));
    }
    let at = at.checked_sub(app.unlisted().count())?;
    if let Some(conversation) = app.conversations().get(at) {
        return Some(Entry::Conversation(conversation.id));
    }
    let trashed = app.trash().get(at.checked_sub(app.conversations().len())?)?;
    Some(Entry::Trashed(trashed.id))
}

/// Index of the next or previous found conversation, cyclically.
pub(super) fn next_found(app: &App, found: &FoundConversations, at: usize, way: Way) -> usize {
    let first = app.domains().map_or(0, <[_]>::len);
    let Some(last) = (first + found.found.len()).checked_sub(1).filter(|last| *last >= first) else { return at };
    match way {
        Way::Here => at,
        Way::On if at < first || at >= last => first,
        Way::On => at + 1,
        Way::Back if at <= first || at > last => last,
        Way::Back => at - 1,
    }
}

/// Target in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) conversation: ConversationId,
    /// Number of the turn, from 1; none where only the title matches.
    pub(super) turn: Option<u32>,
    /// The word that is marked.
    pub(super) word: String,
}
