//! The list of all keys, over everything.
//!
//! Not here: looking for something in it (`long_text`), drawing it (`pane::popup`), what lies under it (`popup`).

use crossterm::event::KeyEvent;

use super::action::Action;
use super::input::{Intent, step_of};
use super::long_text::Taken;
use super::popup::Popup;
use super::screen::ScreenState;

/// A key while the list is open.
pub(super) fn on_key(screen: &mut ScreenState, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    let Some(Popup::Help(view)) = &mut screen.popup else { return Vec::new() };
    if action == Some(Action::Help) {
        screen.popup = screen.under_help.take();
    } else if view.look_for(key, action) == Taken::No {
        match action {
            Some(Action::Back) => screen.popup = screen.under_help.take(),
            action => {
                if let Some(step) = action.and_then(step_of) {
                    view.step(step);
                }
            }
        }
    }
    vec![Intent::Redraw]
}
