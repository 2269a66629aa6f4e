//! A line of text in a popup: its keys.
//!
//! Not here: drawing it (`view`).

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::TextArea;

use crate::action::Action;

/// Whether a key finishes a line of text: the send key or Enter.
pub(crate) fn finishes(key: KeyEvent, action: Option<Action>) -> bool {
    action == Some(Action::Send) || key.code == KeyCode::Enter
}

/// Types into a single line; returns whether the text changed.
pub(crate) fn type_into(line: &mut TextArea<'_>, key: KeyEvent, action: Option<Action>) -> bool {
    // The text field would delete the text before the cursor on Ctrl+J.
    action != Some(Action::Newline) && edit(line, key)
}

/// Edits with a key; returns whether the text changed. Ctrl+U deletes the text before the cursor, as in shells.
pub(crate) fn edit(area: &mut TextArea<'_>, key: KeyEvent) -> bool {
    if key.code == KeyCode::Char('u') && key.modifiers == KeyModifiers::CONTROL {
        return area.delete_line_by_head();
    }
    area.input(key)
}

/// The text of a line.
pub(super) fn text_of(line: &TextArea<'_>) -> String {
    line.lines().join(" ")
}
