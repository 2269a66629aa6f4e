//! The lists: domains, the conversations of the open domain, and its trash.
//!
//! Takes the keys for the entry under the cursor; gives events.
//! Invariant: the cursor stays on its entry when entries come and go.
//! Not here: drawing (`view`).

pub(crate) mod messages;
mod view;

use super::find::Way;
use super::input::{Intent, refused};
use super::outline::Scroll;
use super::pane::Pane;
use super::popup::{Asked, Confirm, Popup, Prompt};
use super::screen::ScreenState;
use ragonite_app::{App, ConversationChange, Event, FoundConversations, Refusal, TurnKey};
use ragonite_base::{ConversationId, DomainName, clean_line};

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

/// State of the lists: the cursor and its entry.
#[derive(Debug, Clone, Default)]
pub(super) struct ListsView {
    /// Index of the entry under the cursor.
    pub(super) selected: usize,
    pub(super) scroll: Scroll,
    /// Last cursor and its entry.
    listed: Option<(usize, Entry)>,
    /// The conversation that the cursor last followed.
    open_listed: Option<ConversationId>,
}

impl ListsView {
    /// Adjusts the cursor to the state of the app.
    pub(super) fn sync(&mut self, app: &App, focus: Pane) {
        self.follow_open(app, focus);
        self.follow_entry(app);
    }

    /// Moves the cursor to a conversation opened elsewhere, once it is listed.
    fn follow_open(&mut self, app: &App, focus: Pane) {
        let open = app.conversation().map(|open| open.id);
        if open == self.open_listed {
            return;
        }
        // While the lists have the focus, the cursor stays.
        if let Some(id) = open.filter(|_| focus != Pane::Lists) {
            let is_it = |at: &usize| entry(app, *at) == Some(Entry::Conversation(id));
            let Some(at) = (0..entries(app)).find(is_it) else { return };
            // Another entry may have had this index before.
            (self.selected, self.listed) = (at, None);
        }
        self.open_listed = open;
    }

    /// Keeps the cursor on its entry when entries come and go, unless the user moved it.
    fn follow_entry(&mut self, app: &App) {
        let entries = entries(app);
        if let Some((at, on)) = &self.listed
            && *at == self.selected
            && entry(app, *at).as_ref() != Some(on)
        {
            let is_it = |entry: &Entry| match (entry, on) {
                // The cursor follows a restored conversation.
                (Entry::Conversation(id), Entry::Trashed(before)) => id == before,
                _ => entry == on,
            };
            let now = (0..entries).find(|at| entry(app, *at).as_ref().is_some_and(is_it));
            self.selected = now.unwrap_or(self.selected);
        }
        self.selected = self.selected.min(entries.saturating_sub(1));
        // The cursor does not follow a deleted conversation, because the same key would purge it.
        let was_listed =
            self.listed.as_ref().is_some_and(|(at, on)| *at == self.selected && matches!(on, Entry::Conversation(_)));
        if was_listed
            && matches!(entry(app, self.selected), Some(Entry::Trashed(_)))
            && let Some(before) = self.selected.checked_sub(1)
            && !matches!(entry(app, before), Some(Entry::Trashed(_)))
        {
            self.selected = before;
        }
        self.listed = entry(app, self.selected).map(|on| (self.selected, on));
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

/// Opens the entry under the cursor; restores a conversation from the trash.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match entry(app, screen.lists.selected) {
        Some(Entry::Domain(name)) => {
            screen.set_focus(Pane::Composer);
            // The open entry is only focused.
            if app.domain().is_some_and(|open| open.name == name) && app.opening_domain().is_none() {
                return vec![Intent::Redraw];
            }
            return vec![Intent::App(Event::DomainChosen(name))];
        }
        Some(Entry::Conversation(id)) => {
            screen.set_focus(Pane::Composer);
            screen.arrival = app.found().map(|found| arrival(found, id));
            if screen.arrival.is_some() {
                screen.set_focus(Pane::Conversation);
            }
            // The open entry is only focused.
            if app.conversation().is_some_and(|open| open.id == id) {
                return vec![Intent::Redraw];
            }
            return vec![Intent::App(Event::ConversationChosen(id))];
        }
        Some(Entry::Unlisted(turn)) => {
            screen.set_focus(Pane::Composer);
            return vec![Intent::App(Event::UnlistedChosen(turn))];
        }
        Some(Entry::Trashed(id)) => return changed(ConversationChange::Restore(id)),
        None => {}
    }
    vec![Intent::Redraw]
}

/// The turn and word by which the search found a conversation.
fn arrival(found: &FoundConversations, conversation: ConversationId) -> Arrival {
    let one = found.found.iter().find(|one| one.conversation.id == conversation);
    let turn = one.and_then(|one| one.turns.first()).map(|turn| turn.number);
    // The words of a search need not be adjacent, so the longest word is marked.
    let longest = found.text.split_whitespace().max_by_key(|word| word.len()).unwrap_or_default();
    Arrival { conversation, turn, word: longest.to_owned() }
}

/// Ingests the domain under the cursor again; outside the lists, the open domain.
pub(super) fn refresh_domain(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let chosen = match entry(app, screen.lists.selected) {
        Some(Entry::Domain(name)) if screen.focus == Pane::Lists => Some(name),
        _ => app.domain().map(|open| open.name.clone()),
    };
    let wanted = chosen.map(|domain| Event::IngestWanted { domain, path: String::new() });
    wanted.map_or_else(|| refused(Refusal::NoDomain), |wanted| vec![Intent::App(wanted)])
}

/// The conversation under the cursor of the lists, else the open one.
pub(super) fn conversation(screen: &ScreenState, app: &App) -> Option<ConversationId> {
    if screen.focus != Pane::Lists {
        return app.conversation().map(|open| open.id);
    }
    match entry(app, screen.lists.selected)? {
        Entry::Conversation(id) | Entry::Trashed(id) => Some(id),
        Entry::Domain(_) | Entry::Unlisted(_) => None,
    }
}

/// Asks for a new title.
pub(super) fn rename(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(id) = conversation(screen, app) else { return refused(Refusal::NoConversation) };
    let title = app.title_of(id).unwrap_or_default();
    screen.popup = Some(Popup::Prompt(Prompt::new(Asked::Title(id), &clean_line(title))));
    vec![Intent::Redraw]
}

/// Pins a conversation, or takes that back.
pub(super) fn pin(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let id = conversation(screen, app);
    let Some(known) = app.conversations().iter().find(|known| Some(known.id) == id) else {
        return refused(Refusal::NoConversation);
    };
    let place = if known.pinned { ragonite_history::Place::Listed } else { ragonite_history::Place::Pinned };
    changed(ConversationChange::Pin(known.id, place))
}

/// Moves a conversation to the trash; asks before one is removed from there.
pub(super) fn delete(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    // Only an entry under a visible cursor is deleted.
    if screen.focus != Pane::Lists {
        return refused(Refusal::NoConversation);
    }
    match entry(app, screen.lists.selected) {
        Some(Entry::Conversation(id)) => changed(ConversationChange::Delete(id)),
        Some(Entry::Trashed(id)) => {
            let title = app.title_of(id).unwrap_or_default();
            let says = screen.words.remove_conversation(&clean_line(title));
            screen.popup = Some(Popup::Confirm(Confirm { says, change: ConversationChange::Purge(id) }));
            vec![Intent::Redraw]
        }
        _ => refused(Refusal::NoConversation),
    }
}

fn changed(change: ConversationChange) -> Vec<Intent> {
    vec![Intent::App(Event::ConversationChangeWanted(change))]
}
