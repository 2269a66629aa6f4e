//! The composer: its text, its keys, and the recall of earlier questions.
//!
//! Takes keys; gives the event that asks.
//! Invariants: a question that the app would refuse stays; recall replaces the text only while it is empty or itself
//! recalled.
//! Not here: drawing (`view`), the token budget (`token_meter`).

pub(crate) mod messages;
pub(super) mod token_meter;
mod view;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use time::OffsetDateTime;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use super::input::{Intent, refused};
use super::outline::Step;
use super::pane::Pane;
use super::popup;
use super::screen::ScreenState;
use ragonite_app::{App, Event, Refusal, TurnKey};
use ragonite_base::{clean_line, clean_text};

pub(super) use view::{draw, rows};

/// The composer and its recall of earlier questions.
#[derive(Debug, Clone)]
pub(super) struct Composer {
    pub(super) area: TextArea<'static>,
    /// Index of the recalled question.
    pub(super) recalled: Option<usize>,
    /// The completed question that is edited.
    pub(super) editing: Option<Editing>,
}

/// Longest question that may be pasted, in bytes. Every frame wraps it again.
const MOST_BYTES: usize = 64 * 1024;

/// A completed question that is edited.
#[derive(Debug, Clone)]
pub(super) struct Editing {
    /// The turn of the question.
    turn: TurnKey,
    /// The draft that is restored afterwards.
    before: Vec<String>,
}

impl Default for Composer {
    fn default() -> Self {
        Self::with(&[])
    }
}

impl Composer {
    /// A composer with these lines and the cursor at their end.
    pub(super) fn with(lines: &[String]) -> Self {
        let mut area = TextArea::new(lines.to_vec());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, recalled: None, editing: None }
    }

    /// Edits a completed question and keeps the draft.
    pub(super) fn edit(&mut self, turn: TurnKey, lines: &[String]) {
        let before = self.editing.take().map_or_else(|| self.area.lines().to_vec(), |editing| editing.before);
        *self = Self { editing: Some(Editing { turn, before }), ..Self::with(lines) };
    }

    /// The turn whose completed question is edited here.
    pub(super) fn edited(&self) -> Option<TurnKey> {
        self.editing.as_ref().map(|editing| editing.turn)
    }

    /// Whether a completed question is edited here.
    pub(super) fn edits(&self) -> bool {
        self.editing.is_some()
    }

    /// Clears the text after sending or giving up; restores the draft.
    pub(super) fn clear(&mut self) {
        *self = Self::with(&self.editing.take().map(|editing| editing.before).unwrap_or_default());
    }

    /// Inserts text at the cursor. A recalled question becomes a new one.
    pub(super) fn insert(&mut self, text: &str) {
        self.area.insert_str(text);
        self.recalled = None;
    }

    /// Pastes a text, unless the question becomes too long.
    pub(super) fn paste(&mut self, text: &str) -> Result<(), Refusal> {
        let text = clean_text(&text.replace("\r\n", "\n").replace('\r', "\n"));
        if self.area.lines().iter().map(String::len).sum::<usize>() + text.len() > MOST_BYTES {
            return Err(Refusal::PasteTooLong);
        }
        self.insert(&text);
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.area.lines().iter().all(String::is_empty)
    }
}

/// Sends the question.
pub(super) fn send(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let text = screen.composer.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let edited = screen.composer.edited().is_some_and(|key| app.turns().iter().any(|turn| turn.key == key));
    if app.may_ask() {
        remember(screen, &text);
        screen.composer.clear();
        screen.conversation.follow_last();
    }
    let event = if edited { Event::QuestionEdited { text, at: now } } else { Event::QuestionAsked { text, at: now } };
    vec![Intent::App(event)]
}

/// Asks a suggested question; the text in the composer stays.
pub(super) fn ask_suggested(screen: &mut ScreenState, app: &App, at: usize, now: OffsetDateTime) -> Vec<Intent> {
    let suggested = app.turns().last().and_then(|turn| turn.record.trace.suggestions.get(at));
    let Some(text) = suggested.map(|text| clean_line(text)) else {
        let waits = app.suggesting().is_some();
        return refused(if waits { Refusal::StillSuggesting } else { Refusal::NothingSuggested });
    };
    if app.may_ask() {
        screen.conversation.follow_last();
    }
    vec![Intent::App(Event::QuestionAsked { text, at: now })]
}

/// Opens the completed question of the selected turn in the composer.
pub(super) fn edit(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app) else { return refused(Refusal::NothingAsked) };
    let lines = lines_of(&turn.record.completed_question);
    screen.composer.edit(turn.key, &lines);
    screen.set_focus(Pane::Composer);
    vec![Intent::Redraw]
}

/// Handles a key without an action in the composer.
pub(super) fn type_key(screen: &mut ScreenState, app: &App, key: KeyEvent) {
    let composer = &screen.composer;
    let recalls = !composer.edits() && (composer.is_empty() || composer.recalled.is_some());
    match key.code {
        KeyCode::Up if recalls => recall(screen, app, Step::Up),
        KeyCode::Down if recalls => recall(screen, app, Step::Down),
        // Enter with an unbound modifier inserts a line feed.
        KeyCode::Enter => screen.composer.insert("\n"),
        KeyCode::Home if key.modifiers == KeyModifiers::CONTROL => screen.composer.area.move_cursor(CursorMove::Top),
        KeyCode::End if key.modifiers == KeyModifiers::CONTROL => screen.composer.area.move_cursor(CursorMove::Bottom),
        _ => {
            if popup::edit(&mut screen.composer.area, key) {
                screen.composer.recalled = None;
            }
        }
    }
}

/// Questions of other conversations that can be recalled.
const MOST_ASKED: usize = 100;

/// Records a question for recall in other conversations.
fn remember(screen: &mut ScreenState, question: &str) {
    screen.asked.retain(|known| known != question);
    if screen.asked.len() >= MOST_ASKED {
        screen.asked.remove(0);
    }
    screen.asked.push(question.to_owned());
}

/// Recalls an earlier question: of this conversation first, then of others in this run; past the last one the
/// composer is empty.
fn recall(screen: &mut ScreenState, app: &App, step: Step) {
    let here = || app.turns().iter().map(|turn| turn.record.question.as_str());
    let elsewhere = screen.asked.iter().map(String::as_str).filter(|asked| !here().any(|known| known == *asked));
    let all: Vec<&str> = elsewhere.chain(here()).collect();
    let at = screen.composer.recalled.unwrap_or(all.len());
    let to = if step == Step::Up { at.saturating_sub(1) } else { at + 1 };
    screen.composer = match all.get(to) {
        Some(question) => Composer { recalled: Some(to), ..Composer::with(&lines_of(question)) },
        None => Composer::default(),
    };
}

/// A stored text as lines that can be drawn.
fn lines_of(text: &str) -> Vec<String> {
    clean_text(text).lines().map(str::to_owned).collect()
}
