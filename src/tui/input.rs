//! Keys, pastes and mouse -> changes of the screen state and events for the app.
//!
//! Invariants: a paste never sends; Esc closes a popup before it cancels the running work; every key and click leads to
//! a frame.
//! Not here: key bindings (`keymap`), what a key does in one feature (its folder), popups (`popup`), mouse targets
//! (`mouse`), handling of events (`app`).

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use time::OffsetDateTime;

use super::action::{Action, Place};
use super::chord::Chord;
use super::conversation::{self, citation};
use super::find::{self, Way};
use super::help::HelpView;
use super::layout::Aside;
use super::layout_actions;
use super::lists;
use super::mouse::on_mouse;
use super::outline::Step;
use super::pane::Pane;
use super::popup::{self, Palette, Popup};
use super::screen::ScreenState;
use super::{attribution, compare, composer, context, document, evidence, export, new_domain, rating, settings, steps};
use ragonite_app::{App, Copied, Event, Notice, Refusal, Turn};
use ragonite_base::clean_text;
use ragonite_history::{self, Format};
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
            composer::type_key(screen, app, key);
            vec![Intent::Redraw]
        }
        None => Vec::new(),
    }
}

pub(super) fn act(screen: &mut ScreenState, app: &App, action: Action, now: OffsetDateTime) -> Vec<Intent> {
    match action {
        Action::Send => return composer::send(screen, app, now),
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
        Action::Explain => return attribution::explain(screen, app, app.method()),
        Action::ExplainBySimilarity => return attribution::explain(screen, app, Method::Similarity),
        Action::ExplainByPreview => return attribution::explain(screen, app, Method::Preview),
        Action::ExplainByLogprob => return attribution::explain(screen, app, Method::Logprob),
        Action::ExplainByJsd => return attribution::explain(screen, app, Method::Jsd),
        Action::PreviousSentence => return attribution::choose_sentence(screen, app, Step::Up),
        Action::NextSentence => return attribution::choose_sentence(screen, app, Step::Down),
        Action::PreviousCitation => citation::choose(screen, app, Step::Up),
        Action::NextCitation => citation::choose(screen, app, Step::Down),
        Action::Edit => return composer::edit(screen, app),
        Action::AskFirst => return composer::ask_suggested(screen, app, 0, now),
        Action::AskSecond => return composer::ask_suggested(screen, app, 1, now),
        Action::AskThird => return composer::ask_suggested(screen, app, 2, now),
        Action::RateUp => return rating::rate_up(screen, app, now),
        Action::RateDown => return rating::rate_down(screen, app),
        Action::Copy => return copy(screen, app),
        Action::Export => return export::open(screen, app),
        Action::Branch => return conversation::branch(screen, app),
        Action::SaveAgain => return vec![Intent::App(Event::SaveAgainWanted)],
        Action::Check => return conversation::check(screen, app),
        Action::Compare => return compare::open(screen, app),
        Action::Context => return context::open(screen, app),
        Action::OpenDocument => return document::open(screen, app),
        Action::Palette => screen.popup = Some(Popup::Palette(Palette::default())),
        Action::Settings => return settings::open(screen, app),
        Action::NewDomain => new_domain::open(screen),
        Action::RefreshDomain => return lists::refresh_domain(screen, app),
        Action::StopIngest => return vec![Intent::App(Event::IngestCancelRequested)],
        Action::NextTheme => return next_theme(screen),
        Action::Search => return find::open(screen, app),
        Action::NextMatch => return find::next_match(screen, app, Way::On),
        Action::PreviousMatch => return find::next_match(screen, app, Way::Back),
        Action::Rename => return lists::rename(screen, app),
        Action::Pin => return lists::pin(screen, app),
        Action::Delete => return lists::delete(screen, app),
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
        Action::PreviousTurn => conversation::choose_turn(screen, app, Step::Up),
        Action::NextTurn => conversation::choose_turn(screen, app, Step::Down),
        Action::Left => screen.evidence.shift(Aside::Left),
        Action::Right => screen.evidence.shift(Aside::Right),
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
    if screen.find.take_if(|find| find.says_something()).is_some() || citation::leave(screen) {
        return vec![Intent::Redraw];
    }
    if screen.shows_ahead(app) || screen.shows_suggesting(app) {
        return vec![Intent::App(Event::CancelRequested)];
    }
    if screen.conversation.chosen.take().is_none() {
        screen.set_focus(Pane::Composer);
    }
    vec![Intent::Redraw]
}

fn turn_focus(screen: &mut ScreenState, by: usize) {
    let at = Pane::ALL.iter().position(|pane| *pane == screen.focus).unwrap_or(0);
    screen.set_focus(Pane::ALL[(at + by) % Pane::ALL.len()]);
}

/// Opens or closes the entry under the cursor.
pub(super) fn toggle(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match screen.focus {
        Pane::Evidence => screen.evidence.toggle(),
        Pane::Behind => screen.steps.outline.toggle(),
        Pane::Why => screen.attribution.outline.toggle(),
        Pane::Lists => return lists::open(screen, app),
        Pane::Conversation => {
            if !citation::follow(screen, app) {
                screen.set_focus(Pane::Composer);
            }
        }
        Pane::Composer => {}
    }
    vec![Intent::Redraw]
}

/// Copies the text under the focus: hit, step, answer or turn.
fn copy(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app) else { return refused(Refusal::NothingAsked) };
    let copied = match screen.focus {
        Pane::Evidence => turn.hits().get(screen.evidence.selected).map(|hit| (Copied::Evidence, evidence::text(hit))),
        Pane::Behind if screen.steps.outline.part().is_some() => {
            let step = screen.steps.outline.part().map(|part| steps::text(turn, part, screen));
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

fn next_theme(screen: &mut ScreenState) -> Vec<Intent> {
    let notice = screen.next_theme().map(|name| Intent::App(Event::Done(Notice::Theme(name))));
    notice.into_iter().chain([Intent::Redraw]).collect()
}

fn move_by(screen: &mut ScreenState, app: &App, step: Step) {
    if let Some(find) = &mut screen.find {
        find.line = None;
    }
    match screen.focus {
        Pane::Composer | Pane::Conversation => {
            // A citation out of sight is deselected.
            screen.conversation.citation = None;
            screen.conversation.scroll.step_and_follow(step);
        }
        Pane::Behind => screen.steps.outline.step(step),
        Pane::Why => screen.attribution.outline.step(step),
        Pane::Lists => screen.lists.selected = step.from(screen.lists.selected, 10, lists::entries(app)),
        Pane::Evidence => {
            let hits = screen.turn(app).map_or(0, |turn| turn.hits().len());
            screen.evidence.step(step, hits);
        }
    }
}
