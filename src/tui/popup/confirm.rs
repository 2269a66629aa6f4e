//! A confirmation of an irreversible change.
//!
//! Invariant: only the letter for yes confirms.
//! Not here: the question (`lists`).

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use super::Handled;
use crate::input::Intent;
use crate::look::Look;
use crate::messages::Words;
use crate::text::{Indent, paragraphs};
use ragonite_app::{ConversationChange, Event};

/// A confirmation of an irreversible change.
#[derive(Debug, Clone)]
pub(crate) struct Confirm {
    /// Text of the question.
    pub(crate) says: String,
    pub(crate) change: ConversationChange,
}

impl Confirm {
    pub(super) fn on_key(&self, key: KeyEvent, words: Words) -> Handled {
        match key.code {
            _ if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => Handled::stay([]),
            KeyCode::Char(letter) if ['y', words.yes()].contains(&letter.to_ascii_lowercase()) => {
                Handled::close_with(vec![Intent::App(Event::ConversationChangeWanted(self.change.clone()))])
            }
            KeyCode::Char('n' | 'N') => Handled::close([]),
            _ => Handled::stay([]),
        }
    }

    pub(super) fn lines(&self, look: &Look<'_>) -> Vec<Line<'static>> {
        let Look { theme, words, width } = *look;
        let mut lines = paragraphs(&self.says, theme.text, width, &Indent::of(1));
        lines.push(Line::default());
        lines.push(Line::from(vec![
            Span::styled(format!(" {}", words.yes()), theme.accent),
            Span::styled(words.remove_it(), theme.text),
            Span::styled("n", theme.accent),
            Span::styled(words.rather_keep_it(), theme.text),
        ]));
        lines
    }
}
