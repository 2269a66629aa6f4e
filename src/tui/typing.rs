//! Keys of the composer: editing and recall of earlier questions.
//!
//! Takes keys without an action.
//! Invariant: recall replaces the text only while it is empty or itself recalled.
//! Not here: sending (`input`), drawing (`pane::composer`).

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::CursorMove;

use super::outline::Step;
use super::popup;
use super::screen::{Composer, ScreenState};
use ragonite_app::App;
use ragonite_base::clean_text;

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
pub(super) fn remember(screen: &mut ScreenState, question: &str) {
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
pub(super) fn lines_of(text: &str) -> Vec<String> {
    clean_text(text).lines().map(str::to_owned).collect()
}
