//! The bars around the panes: tabs, the current problem, status, hints.
//!
//! Takes the app and the screen state; gives lines.
//! Invariant: a bar fits the width of the terminal.
//! Not here: where the bars are (`layout`), the frame of a pane (`pane`).

mod banner;
mod hints;
pub(crate) mod messages;
pub(crate) mod notices;
mod stage;
mod status;
mod tabs;

pub(super) use banner::banner_lines;
pub(super) use hints::{Hint, hint_line};
pub(super) use stage::{reading, stage};
pub(super) use status::status_line;
pub(super) use tabs::{tab_bar, tab_targets};
