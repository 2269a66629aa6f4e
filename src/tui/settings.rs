//! The settings of the open domain: the cursor, the line that is typed, and the keys.
//!
//! Takes keys, gives the changed settings to the app, which keeps them and uses them for the next question.
//! Invariants: a value that a setting cannot have is refused here with a line that says what would do; Esc leaves the line
//! that is typed, then the settings.
//! Not here: what can be set (`config`), drawing (`pane::settings`).

use crossterm::event::{KeyCode, KeyEvent};
use tui_textarea::{CursorMove, TextArea};

use super::action::Action;
use super::input::{Intent, step_of};
use super::outline::Scroll;
use super::popup::Popup;
use super::screen::ScreenState;
use crate::app::{App, Event};
use crate::config::{Changes, Refused, Setting, Takes, Way};

/// Settings that a page moves over.
const PAGE: usize = 8;

/// The settings of the open domain.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsView {
    /// Index of the setting under the cursor.
    pub(super) selected: usize,
    /// The value that is typed for it.
    pub(super) typed: Option<TextArea<'static>>,
    /// Why the last value was refused.
    pub(super) refused: Option<Refused>,
    pub(super) scroll: Scroll,
}

impl SettingsView {
    /// The setting under the cursor.
    pub(super) fn setting(&self) -> Setting {
        Setting::ALL[self.selected.min(Setting::ALL.len() - 1)]
    }

    fn type_value(&mut self, text: &str) {
        let mut line = TextArea::new(vec![text.to_owned()]);
        line.move_cursor(CursorMove::End);
        self.typed = Some(line);
        self.refused = None;
    }

    fn typed_text(&self) -> Option<String> {
        self.typed.as_ref().map(|line| line.lines().join(" "))
    }
}

/// A key while the settings are open.
pub(super) fn on_key(screen: &mut ScreenState, app: &App, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    let Some(Popup::Settings(view)) = &mut screen.popup else { return Vec::new() };
    if view.typed.is_some() {
        return typing(view, app, key, action);
    }
    let setting = view.setting();
    match (action, key.code) {
        (Some(Action::Back | Action::Settings), _) => screen.popup = None,
        (_, KeyCode::Char(digit @ '0'..='9')) if takes_digits(setting) => view.type_value(&digit.to_string()),
        (Some(Action::Left), _) => return step(view, app, Way::Back),
        (Some(Action::Right), _) => return step(view, app, Way::On),
        (Some(Action::Toggle), _) => view.type_value(&setting.text(&app.turn_settings())),
        (Some(Action::Delete), _) | (_, KeyCode::Backspace) => {
            view.refused = None;
            return changed(app, |changes| {
                changes.restore(setting);
                Ok(())
            })
            .unwrap_or_default();
        }
        (Some(action), _) => {
            if let Some(step) = step_of(action) {
                view.selected = step.from(view.selected, PAGE, Setting::ALL.len());
                view.refused = None;
            }
        }
        (None, _) => {}
    }
    vec![Intent::Redraw]
}

fn takes_digits(setting: Setting) -> bool {
    matches!(setting.takes(), Takes::Count(..) | Takes::Number(..))
}

/// A key while a value is typed.
fn typing(view: &mut SettingsView, app: &App, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    match (action, key.code) {
        (Some(Action::Back), _) => {
            view.typed = None;
            view.refused = None;
        }
        (_, KeyCode::Enter) => {
            let text = view.typed_text().unwrap_or_default();
            return choose(view, app, &text);
        }
        _ => {
            if let Some(line) = &mut view.typed {
                line.input(key);
            }
        }
    }
    vec![Intent::Redraw]
}

fn step(view: &mut SettingsView, app: &App, way: Way) -> Vec<Intent> {
    let text = view.setting().stepped(&app.turn_settings(), way);
    choose(view, app, &text)
}

/// Gives the setting under the cursor a value, or says why it cannot have it.
fn choose(view: &mut SettingsView, app: &App, text: &str) -> Vec<Intent> {
    let setting = view.setting();
    match changed(app, |changes| changes.choose(setting, text, app.configured())) {
        Ok(intents) => {
            (view.typed, view.refused) = (None, None);
            intents
        }
        Err(refused) => {
            view.refused = Some(refused);
            vec![Intent::Redraw]
        }
    }
}

fn changed(app: &App, change: impl FnOnce(&mut Changes) -> Result<(), Refused>) -> Result<Vec<Intent>, Refused> {
    let mut changes = app.changes().clone();
    change(&mut changes)?;
    Ok(vec![Intent::App(Event::SettingsChanged(changes)), Intent::Redraw])
}
