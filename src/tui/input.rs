//! Keys, pastes and mouse -> changes of the screen state and events for the app.
//!
//! Invariants: a paste never sends; Esc closes a popup before it cancels the running work; a question that the app
//! would refuse stays in the composer; every key and click leads to a frame.
//! Not here: key bindings (`keymap`), popups (`popup`), mouse targets (`mouse`), handling of events (`app`).

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use time::OffsetDateTime;

use super::action::{Action, Place};
use super::chord::Chord;
use super::compare;
use super::composer::{lines_of, remember, type_key};
use super::context;
use super::conversation;
use super::document;
use super::export;
use super::find::Way;
use super::help::HelpView;
use super::layout::Aside;
use super::layout_actions;
use super::lists::{self, Arrival, Entry};
use super::mouse::on_mouse;
use super::new_domain;
use super::outline::Step;
use super::pane::Pane;
use super::popup::{self, Palette, Popup};
use super::screen::ScreenState;
use super::settings::SettingsView;
use super::steps;
use ragonite_app::{App, ConversationChange, Copied, Event, FoundConversations, Notice, Refusal, Turn};
use ragonite_base::{ConversationId, clean_line, clean_text};
use ragonite_history::{self, Feedback, Format, Rating};
use ragonite_rag::attribution::Method;

/// Result of an input.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// An event for the app.
    App(Event),
    /// The screen has changed.
    Redraw,
    /// Copy a text.
    Copy {
        /// Kind of the text, for the notice.
        what: Copied,
        /// Clean text.
        text: String,
    },
}

/// Cells that a wide table scrolls per step.
const SIDEWAYS: usize = 8;

/// Handles one terminal input. `now` is the time at which a question counts as asked.
pub fn on_input(screen: &mut ScreenState, app: &App, input: &Input, now: OffsetDateTime) -> Vec<Intent> {
    screen.sync(app, now);
    // A letter of a question does not dismiss a notice.
    let is_typed = screen.focus == Pane::Composer && screen.popup.is_none() && is_letter(input);
    let mut intents = match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => on_key(screen, app, *key, now),
        Input::Paste(text) => paste(screen, text),
        Input::Mouse(event) => on_mouse(screen, app, *event, now),
        Input::Resize(..) => vec![Intent::Redraw],
        _ => Vec::new(),
    };
    // A notice stays until the next key that types no letter.
    if app.notice().is_some() && is_pressed(input) && !is_typed {
        intents.insert(0, Intent::App(Event::NoticeSeen));
    }
    // A key without an intent may still have closed a popup or cancelled leaving.
    if intents.is_empty() && is_pressed(input) { vec![Intent::Redraw] } else { intents }
}

/// Pastes into the text line of the popup, else into the question.
fn paste(screen: &mut ScreenState, text: &str) -> Vec<Intent> {
    let taken = if let Some(popup) = &mut screen.popup {
        popup::paste(popup, text)
    } else {
        screen.set_focus(Pane::Composer);
        screen.composer.paste(text)
    };
    let refusal = taken.err().map(|refusal| Intent::App(Event::Refused(refusal)));
    refusal.into_iter().chain([Intent::Redraw]).collect()
}

/// Whether a key writes a letter.
fn is_letter(input: &Input) -> bool {
    let plain = KeyModifiers::NONE | KeyModifiers::SHIFT;
    matches!(input, Input::Key(key) if matches!(key.code, KeyCode::Char(_)) && plain.contains(key.modifiers))
}

/// Whether a key or a button of the mouse was pressed.
fn is_pressed(input: &Input) -> bool {
    match input {
        Input::Key(key) => key.kind != KeyEventKind::Release,
        Input::Mouse(event) => matches!(event.kind, MouseEventKind::Down(_)),
        _ => false,
    }
}

fn on_key(screen: &mut ScreenState, app: &App, key: KeyEvent, now: OffsetDateTime) -> Vec<Intent> {
    let in_composer = screen.focus == Pane::Composer && screen.popup.is_none();
    let place = match &screen.popup {
        Some(popup) => popup::place(popup),
        None if in_composer => Place::Composer,
        None => Place::Panes,
    };
    let action = screen.keymap.action(Chord::of(key), place);
    if action != Some(Action::Cancel) {
        screen.leaving = false;
    }
    match action {
        action if screen.popup.is_some() => popup::on_key(screen, app, key, action, now),
        Some(action) => act(screen, app, action, now),
        None if in_composer => {
            type_key(screen, app, key);
            vec![Intent::Redraw]
        }
        None => Vec::new(),
    }
}

pub(super) fn act(screen: &mut ScreenState, app: &App, action: Action, now: OffsetDateTime) -> Vec<Intent> {
    match action {
        Action::Send => return send(screen, app, now),
        Action::Newline => screen.composer.insert("\n"),
        Action::Back => return back(screen, app),
        Action::Cancel => return cancel(screen, app),
        Action::Quit => return vec![Intent::App(Event::QuitRequested)],
        Action::Help => screen.popup = Some(Popup::Help(HelpView::default())),
        Action::NewConversation => {
            // A completed question that is edited belongs to the conversation that is left.
            if screen.composer.edits() {
                screen.composer.clear();
            }
            screen.set_focus(Pane::Composer);
            return vec![Intent::App(Event::ConversationStarted)];
        }
        Action::WriteQuestion => screen.set_focus(Pane::Composer),
        Action::Explain => return explain(screen, app, app.method()),
        Action::ExplainBySimilarity => return explain(screen, app, Method::Similarity),
        Action::ExplainByPreview => return explain(screen, app, Method::Preview),
        Action::ExplainByLogprob => return explain(screen, app, Method::Logprob),
        Action::ExplainByJsd => return explain(screen, app, Method::Jsd),
        Action::PreviousSentence => return choose_sentence(screen, app, Step::Up),
        Action::NextSentence => return choose_sentence(screen, app, Step::Down),
        Action::PreviousCitation => conversation::choose(screen, app, Step::Up),
        Action::NextCitation => conversation::choose(screen, app, Step::Down),
        Action::Edit => return edit(screen, app),
        Action::AskFirst => return ask_suggested(screen, app, 0, now),
        Action::AskSecond => return ask_suggested(screen, app, 1, now),
        Action::AskThird => return ask_suggested(screen, app, 2, now),
        Action::RateUp => return rate_up(screen, app, now),
        Action::RateDown => return rate_down(screen, app),
        Action::Copy => return copy(screen, app),
        Action::Export => return take_out(screen, app),
        Action::Branch => return branch(screen, app),
        Action::SaveAgain => return vec![Intent::App(Event::SaveAgainWanted)],
        Action::Check => return check(screen, app),
        Action::Compare => return compare::open(screen, app),
        Action::Context => return context::open(screen, app),
        Action::OpenDocument => return document::open(screen, app),
        Action::Palette => screen.popup = Some(Popup::Palette(Palette::default())),
        Action::Settings => return open_settings(screen, app),
        Action::NewDomain => new_domain::open(screen),
        Action::RefreshDomain => return refresh_domain(screen, app),
        Action::StopIngest => return vec![Intent::App(Event::IngestCancelRequested)],
        Action::NextTheme => return next_theme(screen),
        Action::Search => return popup::look_for(screen, app),
        Action::NextMatch => return next_match(screen, app, Way::On),
        Action::PreviousMatch => return next_match(screen, app, Way::Back),
        Action::Rename => return rename(screen, app),
        Action::Pin => return pin(screen, app),
        Action::Delete => return delete(screen, app),
        Action::NextPane => turn_focus(screen, 1),
        Action::PreviousPane => turn_focus(screen, Pane::ALL.len() - 1),
        Action::ShowConversation => screen.set_focus(Pane::Conversation),
        Action::ShowEvidence => screen.set_focus(Pane::Evidence),
        Action::ShowBehind => screen.set_focus(Pane::Behind),
        Action::ShowWhy => screen.set_focus(Pane::Why),
        Action::ShowLists => screen.set_focus(Pane::Lists),
        Action::Enlarge => layout_actions::enlarge(screen),
        Action::Hide => layout_actions::hide(screen),
        Action::BorderLeft => layout_actions::shift(screen, Aside::Left),
        Action::BorderRight => layout_actions::shift(screen, Aside::Right),
        Action::PreviousTurn => choose_turn(screen, app, Step::Up),
        Action::NextTurn => choose_turn(screen, app, Step::Down),
        Action::Left => screen.evidence.left = screen.evidence.left.saturating_sub(SIDEWAYS),
        Action::Right => screen.evidence.left += SIDEWAYS,
        Action::Toggle => return toggle(screen, app),
        other => {
            if let Some(step) = step_of(other) {
                move_by(screen, app, step);
            }
        }
    }
    vec![Intent::Redraw]
}

pub(super) fn step_of(action: Action) -> Option<Step> {
    Some(match action {
        Action::Up => Step::Up,
        Action::Down => Step::Down,
        Action::First => Step::First,
        Action::Last => Step::Last,
        Action::PageUp => Step::PageUp,
        Action::PageDown => Step::PageDown,
        Action::HalfPageUp => Step::HalfUp,
        Action::HalfPageDown => Step::HalfDown,
        _ => return None,
    })
}

fn send(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let text = screen.composer.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let edited = screen.composer.edited().is_some_and(|key| app.turns().iter().any(|turn| turn.key == key));
    if app.may_ask() {
        remember(screen, &text);
        screen.composer.clear();
        screen.chosen = None;
        screen.conversation.follow = true;
    }
    let event = if edited { Event::QuestionEdited { text, at: now } } else { Event::QuestionAsked { text, at: now } };
    vec![Intent::App(event)]
}

/// Asks a suggested question; the text in the composer stays.
fn ask_suggested(screen: &mut ScreenState, app: &App, at: usize, now: OffsetDateTime) -> Vec<Intent> {
    let suggested = app.turns().last().and_then(|turn| turn.record.trace.suggestions.get(at));
    let Some(text) = suggested.map(|text| clean_line(text)) else {
        let waits = app.suggesting().is_some();
        return refused(if waits { Refusal::StillSuggesting } else { Refusal::NothingSuggested });
    };
    if app.may_ask() {
        screen.chosen = None;
        screen.conversation.follow = true;
    }
    vec![Intent::App(Event::QuestionAsked { text, at: now })]
}

/// Opens the completed question of the selected turn in the composer.
fn edit(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app) else { return refused(Refusal::NothingAsked) };
    let lines = lines_of(&turn.record.completed_question);
    screen.composer.edit(turn.key, &lines);
    screen.set_focus(Pane::Composer);
    vec![Intent::Redraw]
}

/// Refuses with a reason.
pub(super) fn refused(refusal: Refusal) -> Vec<Intent> {
    vec![Intent::App(Event::Refused(refusal))]
}

pub(super) fn cancel(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.leaving {
        return vec![Intent::App(Event::QuitRequested)];
    }
    screen.leaving = true;
    if app.opening_domain().is_some() {
        return vec![Intent::App(Event::DomainCancelRequested)];
    }
    let runs = app.is_busy() || app.prefetching().is_some() || app.suggesting().is_some();
    if runs { vec![Intent::App(Event::CancelRequested)] } else { vec![Intent::Redraw] }
}

fn back(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if app.problem().is_some() {
        return vec![Intent::App(Event::ProblemDismissed)];
    }
    if screen.focus == Pane::Lists && app.found().is_some() {
        return vec![Intent::App(Event::ConversationsWanted(String::new()))];
    }
    if app.opening_domain().is_some() {
        return vec![Intent::App(Event::DomainCancelRequested)];
    }
    // Only the cancel key stops a turn of another conversation.
    if app.is_busy_here() && !app.is_canceling() {
        return vec![Intent::App(Event::CancelRequested)];
    }
    if screen.focus == Pane::Lists && app.ingesting().is_some_and(|running| !running.canceling) {
        return vec![Intent::App(Event::IngestCancelRequested)];
    }
    if screen.focus == Pane::Composer && screen.composer.edits() {
        screen.composer.clear();
        return vec![Intent::Redraw];
    }
    // A search in another pane does not take the key.
    if screen.find.take_if(|find| find.says_something()).is_some() || conversation::leave(screen) {
        return vec![Intent::Redraw];
    }
    if screen.shows_ahead(app) || screen.shows_suggesting(app) {
        return vec![Intent::App(Event::CancelRequested)];
    }
    if screen.chosen.take().is_none() {
        screen.set_focus(Pane::Composer);
    }
    vec![Intent::Redraw]
}

fn explain(screen: &mut ScreenState, app: &App, method: Method) -> Vec<Intent> {
    screen.set_focus(Pane::Why);
    let turn = screen.turn_index(app).unwrap_or(0);
    // An earlier explanation is shown again, as it may have taken minutes; the same key then explains anew.
    let event = if app.is_explained_by(turn, method) {
        Event::EarlierWanted { turn, method }
    } else {
        Event::ExplainRequested { turn, method }
    };
    vec![Intent::App(event)]
}

/// Selects a sentence, or the whole answer; requests sentence attribution where it is missing.
fn choose_sentence(screen: &mut ScreenState, app: &App, step: Step) -> Vec<Intent> {
    screen.set_focus(Pane::Why);
    let turn = screen.turn_index(app).filter(|at| app.turns()[*at].sentences().is_empty());
    if let (Some(turn), Step::Down) = (turn, step) {
        // The first sentence is shown as soon as it is explained.
        screen.sentence = Some(0);
        screen.why.rewind_to(0);
        return vec![Intent::App(Event::SentencesWanted { turn })];
    }
    let sentences = screen.turn(app).map_or(0, |turn| turn.sentences().len());
    screen.sentence = match (screen.sentence, step) {
        (Some(0) | None, Step::Up) => None,
        (None, _) => (sentences > 0).then_some(0),
        (Some(at), step) => Some(step.from(at, 1, sentences)),
    };
    screen.why.rewind_to(0);
    vec![Intent::Redraw]
}

fn turn_focus(screen: &mut ScreenState, by: usize) {
    let at = Pane::ALL.iter().position(|pane| *pane == screen.focus).unwrap_or(0);
    screen.set_focus(Pane::ALL[(at + by) % Pane::ALL.len()]);
}

fn choose_turn(screen: &mut ScreenState, app: &App, step: Step) {
    let total = app.turns().len();
    if let Some(at) = screen.turn_index(app) {
        let to = step.from(at, 1, total);
        screen.chosen = (to + 1 < total).then_some(to);
        screen.conversation.follow = to + 1 == total;
        screen.reveal_turn = true;
    }
}

/// Opens or closes the entry under the cursor.
pub(super) fn toggle(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match screen.focus {
        Pane::Evidence => {
            screen.evidence.closed = !screen.evidence.closed;
            screen.evidence.reveal = true;
        }
        Pane::Behind => screen.behind.toggle(),
        Pane::Why => screen.why.toggle(),
        Pane::Lists => match lists::entry(app, screen.lists) {
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
        },
        Pane::Conversation => {
            if !conversation::follow(screen, app) {
                screen.set_focus(Pane::Composer);
            }
        }
        Pane::Composer => {}
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

/// Opens the settings of the domain under the cursor; outside the lists, of the open domain.
fn open_settings(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let selected = match lists::entry(app, screen.lists) {
        Some(Entry::Domain(name)) if screen.focus == Pane::Lists => Some(name),
        _ => None,
    };
    let other = selected.filter(|name| app.domain().is_none_or(|open| open.name != *name));
    screen.popup = Some(Popup::Settings(Box::new(other.clone().map(SettingsView::of).unwrap_or_default())));
    let wanted = other.map(Event::OtherSettingsWanted).into_iter().chain([Event::ModelsWanted]);
    wanted.map(Intent::App).chain([Intent::Redraw]).collect()
}

/// Ingests the domain under the cursor again; outside the lists, the open domain.
fn refresh_domain(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let chosen = match lists::entry(app, screen.lists) {
        Some(Entry::Domain(name)) if screen.focus == Pane::Lists => Some(name),
        _ => app.domain().map(|open| open.name.clone()),
    };
    let wanted = chosen.map(|domain| Event::IngestWanted { domain, path: String::new() });
    wanted.map_or_else(|| refused(Refusal::NoDomain), |wanted| vec![Intent::App(wanted)])
}

/// Goes to the next match, or opens the search line. In the lists, the matches are the conversations that were found.
fn next_match(screen: &mut ScreenState, app: &App, way: Way) -> Vec<Intent> {
    match (app.found().filter(|_| screen.focus == Pane::Lists), &mut screen.find) {
        (Some(found), _) => screen.lists = lists::next_found(app, found, screen.lists, way),
        (None, Some(find)) if screen.focus != Pane::Lists => find.want(way),
        _ => return popup::look_for(screen, app),
    }
    vec![Intent::Redraw]
}

/// Rates the selected turn up, or takes that back.
fn rate_up(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let Some(turn) = screen.turn_index(app) else { return refused(Refusal::NothingToRate) };
    let known = app.turns().get(turn).and_then(|turn| turn.record.feedback.as_ref());
    let is_up = known.is_some_and(|feedback| feedback.rating == Rating::Up);
    let up = Feedback { rating: Rating::Up, reason: None, note: String::new(), rated_at: now };
    vec![Intent::App(Event::TurnRated { turn, feedback: (!is_up).then_some(up) })]
}

/// Asks for the reason of a negative rating.
fn rate_down(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match screen.turn(app).map(|turn| turn.key) {
        Some(turn) => popup::ask_reason(screen, turn),
        None => return refused(Refusal::NothingToRate),
    }
    vec![Intent::Redraw]
}

/// Copies the text under the focus: hit, step, answer or turn.
fn copy(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app) else { return refused(Refusal::NothingAsked) };
    let copied = match screen.focus {
        Pane::Evidence => turn.hits().get(screen.evidence.selected).map(|hit| {
            let lines =
                [clean_line(&hit.title), clean_line(&hit.location), clean_line(&hit.url), clean_text(&hit.content)];
            let texts: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            (Copied::Evidence, texts.join("\n"))
        }),
        Pane::Behind if screen.behind.part().is_some() => {
            let step = screen.behind.part().map(|part| steps::text(turn, part, screen));
            step.map(|text| (Copied::Step, clean_text(&text)))
        }
        Pane::Behind | Pane::Why => whole(turn, app).map(|text| (Copied::Turn, text)),
        Pane::Composer | Pane::Conversation | Pane::Lists => Some((Copied::Answer, clean_text(turn.text()))),
    };
    let copied = copied.filter(|(_, text)| !text.trim().is_empty());
    let copied = copied.map(|(what, text)| vec![Intent::Copy { what, text }]);
    copied.unwrap_or_else(|| refused(Refusal::NothingToCopy))
}

/// The exported turn; none while it is being answered.
fn whole(turn: &Turn, app: &App) -> Option<String> {
    let (conversation, turns) = app.finished(app.turns().iter().position(|known| known.key == turn.key))?;
    ragonite_history::export(&conversation, &turns, Format::Markdown).ok()
}

/// Opens the export popup; in the lists, writes the conversation under the cursor to a file.
fn take_out(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.focus == Pane::Lists {
        let format = Format::Markdown;
        let wanted = conversation(screen, app).map(|conversation| Event::StoredExportWanted { conversation, format });
        return wanted.map_or_else(|| refused(Refusal::NoConversation), |wanted| vec![Intent::App(wanted)]);
    }
    export::open(screen, app)
}

fn branch(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let turn = screen.turn_index(app).map(|turn| vec![Intent::App(Event::BranchWanted { turn })]);
    turn.unwrap_or_else(|| refused(Refusal::NothingToBranch))
}

fn check(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let turn = screen.turn_index(app).map(|turn| vec![Intent::App(Event::ExportEvalCase { turn })]);
    turn.unwrap_or_else(|| refused(Refusal::NothingToCheck))
}

/// The conversation under the cursor of the lists, else the open one.
fn conversation(screen: &ScreenState, app: &App) -> Option<ConversationId> {
    if screen.focus != Pane::Lists {
        return app.conversation().map(|open| open.id);
    }
    match lists::entry(app, screen.lists)? {
        Entry::Conversation(id) | Entry::Trashed(id) => Some(id),
        Entry::Domain(_) | Entry::Unlisted(_) => None,
    }
}

fn rename(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(id) = conversation(screen, app) else { return refused(Refusal::NoConversation) };
    let title = app.title_of(id).unwrap_or_default().to_owned();
    popup::rename(screen, id, &title);
    vec![Intent::Redraw]
}

fn next_theme(screen: &mut ScreenState) -> Vec<Intent> {
    let notice = screen.next_theme().map(|name| Intent::App(Event::Done(Notice::Theme(name))));
    notice.into_iter().chain([Intent::Redraw]).collect()
}

fn pin(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let id = conversation(screen, app);
    let Some(known) = app.conversations().iter().find(|known| Some(known.id) == id) else {
        return refused(Refusal::NoConversation);
    };
    let place = if known.pinned { ragonite_history::Place::Listed } else { ragonite_history::Place::Pinned };
    changed(ConversationChange::Pin(known.id, place))
}

fn delete(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    // Only an entry under a visible cursor is deleted.
    if screen.focus != Pane::Lists {
        return refused(Refusal::NoConversation);
    }
    match lists::entry(app, screen.lists) {
        Some(Entry::Conversation(id)) => changed(ConversationChange::Delete(id)),
        Some(Entry::Trashed(id)) => {
            let title = app.title_of(id).unwrap_or_default().to_owned();
            popup::confirm_purge(screen, id, &title);
            vec![Intent::Redraw]
        }
        _ => refused(Refusal::NoConversation),
    }
}

fn changed(change: ConversationChange) -> Vec<Intent> {
    vec![Intent::App(Event::ConversationChangeWanted(change))]
}

fn move_by(screen: &mut ScreenState, app: &App, step: Step) {
    if let Some(find) = &mut screen.find {
        find.line = None;
    }
    match screen.focus {
        Pane::Composer | Pane::Conversation => {
            // A citation out of sight is deselected.
            screen.citation = None;
            screen.conversation.step_and_follow(step);
        }
        Pane::Behind => screen.behind.step(step),
        Pane::Why => screen.why.step(step),
        Pane::Lists => screen.lists = step.from(screen.lists, 10, lists::entries(app)),
        Pane::Evidence => match step {
            Step::Up | Step::Down | Step::First | Step::Last => {
                let hits = screen.turn(app).map_or(0, |turn| turn.hits().len());
                screen.evidence.selected = step.from(screen.evidence.selected, 1, hits);
                screen.evidence.left = 0;
                screen.evidence.reveal = true;
            }
            // An opened hit may be longer than the pane: pages scroll, the selection stays.
            page => screen.evidence.scroll.step(page),
        },
    }
}
