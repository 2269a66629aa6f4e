//! The list of all keys, over everything: where it is scrolled to, and what is looked for in it.
//!
//! Invariant: Esc leaves what is typed first, then the list with what is looked for.
//! Not here: drawing it (`pane::popup`), what lies under it (`popup`).

use crossterm::event::KeyEvent;
use tui_textarea::TextArea;

use super::action::Action;
use super::find::{Find, Way};
use super::input::{Intent, step_of};
use super::outline::{Scroll, Step};
use super::popup::{Popup, finishes, type_into};
use super::screen::ScreenState;

/// The list of all keys.
#[derive(Debug, Clone, Default)]
pub(super) struct HelpView {
    pub(super) scroll: Scroll,
    /// The text to look for, while it is typed.
    pub(super) typed: Option<TextArea<'static>>,
    pub(super) find: Option<Find>,
}

impl HelpView {
    pub(super) fn step(&mut self, step: Step) {
        if let Some(find) = &mut self.find {
            find.line = None;
        }
        self.scroll.step(step);
    }

    fn look_for(&mut self, way: Way) {
        match &mut self.find {
            Some(find) => find.want(way),
            None => self.typed = Some(TextArea::default()),
        }
    }

    /// A key while the text to look for is typed.
    fn type_key(&mut self, key: KeyEvent, action: Option<Action>) {
        match (&mut self.typed, action) {
            (_, Some(Action::Back)) => self.typed = None,
            (Some(line), _) if finishes(key, action) => {
                self.find = Find::new(&line.lines().join(" "));
                self.typed = None;
            }
            (Some(line), _) => {
                type_into(line, key, action);
            }
            (None, _) => {}
        }
    }
}

/// A key while the list is open.
pub(super) fn on_key(screen: &mut ScreenState, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    let Some(Popup::Help(view)) = &mut screen.popup else { return Vec::new() };
    match action {
        Some(Action::Help) => screen.popup = screen.under_help.take(),
        action if view.typed.is_some() => view.type_key(key, action),
        Some(Action::Back) => screen.popup = screen.under_help.take(),
        Some(Action::Search) => view.typed = Some(TextArea::default()),
        Some(Action::NextMatch) => view.look_for(Way::On),
        Some(Action::PreviousMatch) => view.look_for(Way::Back),
        action => {
            if let Some(step) = action.and_then(step_of) {
                view.step(step);
            }
        }
    }
    vec![Intent::Redraw]
}
