//! A long text in a popup: scroll position and search.
//!
//! Takes keys and laid-out lines; gives the visible lines with the matches marked.
//! Invariant: Esc closes the search line first; it has no other effect here.
//! Not here: the text itself (`help`, `compare`, `context`), drawing the search line (`popup`).

use crossterm::event::KeyEvent;
use ratatui::text::Line;
use tui_textarea::TextArea;

use super::action::Action;
use super::find::{Find, Way};
use super::outline::{Scroll, Step};
use super::popup::{finishes, type_into};

/// How a search joins lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flowing {
    /// The lines are one wrapped text.
    OneText,
    /// Each line is a text of its own, as with columns side by side.
    LineByLine,
}

/// Whether a key was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Handled.
    Yes,
    /// Not handled.
    No,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LongText {
    pub(super) scroll: Scroll,
    /// The search text while it is typed.
    pub(super) typed: Option<TextArea<'static>>,
    pub(super) find: Option<Find>,
}

impl LongText {
    pub(super) fn step(&mut self, step: Step) {
        if let Some(find) = &mut self.find {
            find.line = None;
        }
        self.scroll.step(step);
    }

    /// Handles a key of the search: typing, opening, next and previous match.
    pub(super) fn look_for(&mut self, key: KeyEvent, action: Option<Action>) -> Taken {
        match action {
            _ if self.typed.is_some() => self.type_key(key, action),
            Some(Action::Search) => self.typed = Some(TextArea::default()),
            Some(Action::NextMatch) => self.go(Way::On),
            Some(Action::PreviousMatch) => self.go(Way::Back),
            _ => return Taken::No,
        }
        Taken::Yes
    }

    /// The search, once it is typed.
    pub(super) fn looked_for(&self) -> Option<&Find> {
        self.find.as_ref().filter(|_| self.typed.is_none())
    }

    /// The keys for the next and previous match, during a search.
    pub(super) fn match_keys(&self) -> impl Iterator<Item = Action> {
        let keys = self.find.is_some().then_some([Action::NextMatch, Action::PreviousMatch]);
        keys.into_iter().flatten()
    }

    fn go(&mut self, way: Way) {
        match &mut self.find {
            Some(find) => find.want(way),
            None => self.typed = Some(TextArea::default()),
        }
    }

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

    /// The visible lines in `height` rows, after the pending step.
    pub(super) fn seen(
        &mut self,
        mut lines: Vec<Line<'static>>,
        height: usize,
        flowing: Flowing,
    ) -> Vec<Line<'static>> {
        let mut view = self.scroll.view(lines.len(), height);
        if let Some(find) = &mut self.find {
            let matches = match flowing {
                Flowing::OneText => find.mark(&mut lines),
                Flowing::LineByLine => {
                    let mark = |(at, line): (usize, &mut Line<'static>)| {
                        (!find.mark(std::slice::from_mut(line)).is_empty()).then_some(at)
                    };
                    lines.iter_mut().enumerate().filter_map(mark).collect()
                }
            };
            if let Some(to) = find.step(&matches, find.line.unwrap_or(view.start)) {
                find.line = Some(to);
                self.scroll.go_to(to);
                view = self.scroll.view(lines.len(), height);
            }
        }
        lines.into_iter().skip(view.start).take(view.len()).collect()
    }
}
