//! The command palette: its text, its keys, and the actions it finds.
//!
//! Takes keys; gives the chosen action.
//! Not here: its frame (`view`).

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};
use tui_textarea::TextArea;

use super::line::{finishes, text_of, type_into};
use crate::action::{Action, Place};
use crate::keymap::Keymap;
use crate::look::Look;
use crate::messages::Words;
use crate::outline::Step;
use crate::text::{fit, pad, width};

/// Width of the palette, enough for every action.
pub(super) const WIDE: usize = 78;
/// Most rows of its list.
pub(super) const ROWS: usize = 16;

/// The command palette.
#[derive(Debug, Clone, Default)]
pub(crate) struct Palette {
    pub(super) line: TextArea<'static>,
    pub(super) selected: usize,
}

impl Palette {
    /// The actions with all typed words, in the order of the help; where there are none, a fuzzy match: the letters
    /// of each word in order.
    pub(crate) fn found(&self, texts: Words) -> Vec<Action> {
        let written = text_of(&self.line).to_lowercase();
        let words: Vec<&str> = written.split_whitespace().collect();
        let text = |action: &Action| format!("{} {}", action.name(), texts.label_of(*action)).to_lowercase();
        let all: Vec<(Action, String)> =
            Action::all().filter(|action| *action != Action::Palette).map(|action| (action, text(&action))).collect();
        let (whole, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, text)| words.iter().all(|word| text.contains(word)));
        let spread = || others.into_iter().filter(|(_, text)| words.iter().all(|word| has_letters(text, word)));
        let found = if whole.is_empty() { spread().collect() } else { whole };
        found.into_iter().map(|(action, _)| action).collect()
    }

    /// Handles a key. Returns the chosen action.
    pub(super) fn on_key(&mut self, key: KeyEvent, action: Option<Action>, words: Words) -> Option<Action> {
        let found = self.found(words);
        if finishes(key, action) {
            return found.get(self.selected).copied();
        }
        let step = match (key.code, action) {
            (KeyCode::Up, _) => Some((Step::Up, 1)),
            (KeyCode::Down, _) => Some((Step::Down, 1)),
            (KeyCode::PageUp, _) | (_, Some(Action::PageUp)) => Some((Step::PageUp, 8)),
            (KeyCode::PageDown, _) | (_, Some(Action::PageDown)) => Some((Step::PageDown, 8)),
            _ => None,
        };
        match step {
            Some((step, page)) => self.selected = step.from(self.selected, page, found.len()),
            None if type_into(&mut self.line, key, action) => self.selected = 0,
            None => {}
        }
        None
    }

    /// The matching actions with their first keys, around the selected one.
    pub(super) fn lines(&self, keymap: &Keymap, rows: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let Look { theme, words, width: room } = *look;
        let found = self.found(words);
        if found.is_empty() {
            return vec![Line::styled(words.no_action_found(), theme.dim)];
        }
        let key = |action: Action| {
            let anywhere = keymap.key(action, Place::Composer).or_else(|| keymap.key(action, Place::Panes));
            anywhere.unwrap_or_default()
        };
        let top = (self.selected + 1).saturating_sub(rows);
        let shown = found.iter().enumerate().skip(top).take(rows);
        shown
            .map(|(at, action)| {
                let here = at == self.selected;
                let key = key(*action);
                let says = fit(words.label_of(*action), room.saturating_sub(width(&key) + 4));
                let style = if here { theme.selected } else { theme.text };
                let says = pad(&says, room.saturating_sub(width(&key) + 3));
                Line::from(vec![
                    Span::styled(if here { "›" } else { " " }, theme.accent),
                    Span::styled(says, style),
                    Span::styled(format!(" {key} "), theme.accent),
                ])
            })
            .collect()
    }
}

/// Whether the letters of a word are a subsequence of the text.
fn has_letters(text: &str, word: &str) -> bool {
    let mut letters = text.chars();
    word.chars().all(|letter| letters.any(|other| other == letter))
}
