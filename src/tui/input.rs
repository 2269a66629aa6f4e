//! Keys and pastes -> changes of the screen and wishes to the app.
//!
//! Invariants: a paste never sends; Esc stops what runs before it closes anything; a question that the app would refuse
//! stays in the composer.
//! Not here: which keys mean what (`keymap`), what a wish leads to (`app`).

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use time::OffsetDateTime;
use tui_textarea::CursorMove;

use super::action::{Action, Place};
use super::chord::Chord;
use super::outline::{Scroll, Step};
use super::pane::{self, Entry};
use super::screen::{Composer, Pane, Popup, ScreenState};
use crate::app::{App, Event};
use crate::attribution::Method;
use crate::base::clean_text;

/// What an input leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Hand this to the app.
    App(Event),
    /// The screen has changed.
    Redraw,
}

/// Cells that a wide table moves at once.
const SIDEWAYS: usize = 8;

/// Takes one input of the terminal. `now` is when a question counts as asked.
pub fn on_input(screen: &mut ScreenState, app: &App, input: &Input, now: OffsetDateTime) -> Vec<Intent> {
    screen.sync(app, now);
    match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => on_key(screen, app, *key, now),
        Input::Paste(text) => {
            if screen.popup.is_none() {
                screen.set_focus(Pane::Composer);
                let text = clean_text(&text.replace("\r\n", "\n").replace('\r', "\n"));
                screen.composer.area.insert_str(text);
            }
            vec![Intent::Redraw]
        }
        Input::Resize(..) => vec![Intent::Redraw],
        _ => Vec::new(),
    }
}

fn on_key(screen: &mut ScreenState, app: &App, key: KeyEvent, now: OffsetDateTime) -> Vec<Intent> {
    let in_composer = screen.focus == Pane::Composer && screen.popup.is_none();
    let place = if in_composer { Place::Composer } else { Place::Panes };
    let action = screen.keymap.action(Chord::of(key), place);
    if action != Some(Action::Cancel) {
        screen.leaving = false;
    }
    match action {
        Some(action) if screen.popup.is_some() => in_popup(screen, app, action),
        Some(action) => act(screen, app, action, now),
        None if in_composer => {
            type_key(screen, app, key);
            vec![Intent::Redraw]
        }
        None => Vec::new(),
    }
}

/// While the help is open, keys move in it, close it, stop or leave.
fn in_popup(screen: &mut ScreenState, app: &App, action: Action) -> Vec<Intent> {
    match (action, &mut screen.popup) {
        (Action::Cancel, _) => return cancel(screen, app),
        (Action::Quit, _) => return vec![Intent::App(Event::QuitRequested)],
        (Action::Back, _) if app.is_busy() && !app.is_canceling() => return vec![Intent::App(Event::CancelRequested)],
        (Action::Back | Action::Help, _) => screen.popup = None,
        (other, Some(Popup::Help(scroll))) => {
            if let Some(step) = step_of(other) {
                scroll.step(step);
            }
        }
        _ => {}
    }
    vec![Intent::Redraw]
}

fn act(screen: &mut ScreenState, app: &App, action: Action, now: OffsetDateTime) -> Vec<Intent> {
    match action {
        Action::Send => return send(screen, app, now),
        Action::Newline => screen.composer.area.insert_newline(),
        Action::Back => return back(screen, app),
        Action::Cancel => return cancel(screen, app),
        Action::Quit => return vec![Intent::App(Event::QuitRequested)],
        Action::Help => screen.popup = Some(Popup::Help(Scroll::default())),
        Action::NewConversation => {
            // A completed question belongs to the conversation that is left.
            if screen.composer.edits() {
                screen.composer.clear();
            }
            screen.set_focus(Pane::Composer);
            return vec![Intent::App(Event::ConversationStarted)];
        }
        Action::Explain => return explain(screen, app, app.method()),
        Action::ExplainBySimilarity => return explain(screen, app, Method::Similarity),
        Action::ExplainByPreview => return explain(screen, app, Method::Preview),
        Action::ExplainByLogprob => return explain(screen, app, Method::Logprob),
        Action::ExplainByJsd => return explain(screen, app, Method::Jsd),
        Action::PreviousSentence => choose_sentence(screen, app, Step::Up),
        Action::NextSentence => choose_sentence(screen, app, Step::Down),
        Action::Edit => edit(screen, app),
        Action::NextPane => turn_focus(screen, 1),
        Action::PreviousPane => turn_focus(screen, Pane::ALL.len() - 1),
        Action::ShowConversation => screen.set_focus(Pane::Conversation),
        Action::ShowEvidence => screen.set_focus(Pane::Evidence),
        Action::ShowBehind => screen.set_focus(Pane::Behind),
        Action::ShowWhy => screen.set_focus(Pane::Why),
        Action::ShowLists => screen.set_focus(Pane::Lists),
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

fn step_of(action: Action) -> Option<Step> {
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
    let taken = !app.is_busy() && app.domain().is_some() && !app.is_opening();
    if taken {
        screen.composer.clear();
        screen.chosen = None;
        screen.conversation.follow = true;
    }
    let event = if edited { Event::QuestionEdited { text, at: now } } else { Event::QuestionAsked { text, at: now } };
    vec![Intent::App(event)]
}

/// Opens the completed question of the selected turn in the composer.
fn edit(screen: &mut ScreenState, app: &App) {
    let Some(turn) = screen.turn(app) else { return };
    let lines = lines_of(&turn.record.completed_question);
    screen.composer.edit(turn.key, &lines);
    screen.set_focus(Pane::Composer);
}

fn cancel(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.leaving {
        return vec![Intent::App(Event::QuitRequested)];
    }
    screen.leaving = true;
    if app.is_busy() { vec![Intent::App(Event::CancelRequested)] } else { vec![Intent::Redraw] }
}

fn back(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if app.is_busy() && !app.is_canceling() {
        return vec![Intent::App(Event::CancelRequested)];
    }
    if app.problem().is_some() {
        return vec![Intent::App(Event::ProblemDismissed)];
    }
    if screen.focus == Pane::Composer && screen.composer.edits() {
        screen.composer.clear();
    } else if screen.chosen.take().is_none() {
        screen.set_focus(Pane::Composer);
    }
    vec![Intent::Redraw]
}

fn explain(screen: &mut ScreenState, app: &App, method: Method) -> Vec<Intent> {
    screen.set_focus(Pane::Why);
    let turn = screen.turn_index(app).unwrap_or(0);
    vec![Intent::App(Event::ExplainRequested { turn, method })]
}

/// Goes from the whole answer to its sentences and back.
fn choose_sentence(screen: &mut ScreenState, app: &App, step: Step) {
    screen.set_focus(Pane::Why);
    let sentences = screen.turn(app).map_or(0, |turn| turn.sentences().len());
    screen.sentence = match (screen.sentence, step) {
        (Some(0) | None, Step::Up) => None,
        (None, _) => (sentences > 0).then_some(0),
        (Some(at), step) => Some(step.from(at, 1, sentences)),
    };
    screen.why.rewind_to(0);
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

fn toggle(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match screen.focus {
        Pane::Evidence => {
            screen.evidence.closed = !screen.evidence.closed;
            screen.evidence.reveal = true;
        }
        Pane::Behind => screen.behind.toggle(),
        Pane::Why => screen.why.toggle(),
        Pane::Lists => match pane::entry(app, screen.lists) {
            Some(Entry::Domain(name)) => {
                screen.set_focus(Pane::Composer);
                return vec![Intent::App(Event::DomainChosen(name))];
            }
            Some(Entry::Conversation(id)) => {
                screen.set_focus(Pane::Composer);
                return vec![Intent::App(Event::ConversationChosen(id))];
            }
            None => {}
        },
        Pane::Conversation => screen.set_focus(Pane::Composer),
        Pane::Composer => {}
    }
    vec![Intent::Redraw]
}

fn move_by(screen: &mut ScreenState, app: &App, step: Step) {
    match screen.focus {
        Pane::Composer | Pane::Conversation => screen.conversation.step_and_follow(step),
        Pane::Behind => screen.behind.step(step),
        Pane::Why => screen.why.step(step),
        Pane::Lists => screen.lists = step.from(screen.lists, 10, pane::entries(app)),
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

/// A key that means no action, in the composer.
fn type_key(screen: &mut ScreenState, app: &App, key: KeyEvent) {
    let composer = &screen.composer;
    let recalls = !composer.edits() && (composer.is_empty() || composer.recalled.is_some());
    match key.code {
        KeyCode::Up if recalls => recall(screen, app, Step::Up),
        KeyCode::Down if recalls => recall(screen, app, Step::Down),
        // Enter with a modifier that is no chord must neither send nor be lost.
        KeyCode::Enter => screen.composer.area.insert_newline(),
        KeyCode::Home if key.modifiers == KeyModifiers::CONTROL => screen.composer.area.move_cursor(CursorMove::Top),
        KeyCode::End if key.modifiers == KeyModifiers::CONTROL => screen.composer.area.move_cursor(CursorMove::Bottom),
        _ => {
            if screen.composer.area.input(key) {
                screen.composer.recalled = None;
            }
        }
    }
}

/// Brings back an earlier question of the conversation; past the last one the composer is empty again.
fn recall(screen: &mut ScreenState, app: &App, step: Step) {
    let turns = app.turns();
    let at = screen.composer.recalled.unwrap_or(turns.len());
    let to = if step == Step::Up { at.saturating_sub(1) } else { at + 1 };
    screen.composer = match turns.get(to) {
        Some(turn) => Composer { recalled: Some(to), ..Composer::with(&lines_of(&turn.record.question)) },
        None => Composer::default(),
    };
}

/// A stored text as lines that can be drawn.
fn lines_of(text: &str) -> Vec<String> {
    clean_text(text).lines().map(str::to_owned).collect()
}
