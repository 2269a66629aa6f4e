//! The screen: ratatui panes over [`App`](ragonite_app::App), keys and mouse to wishes.
//!
//! Takes the app's state and terminal input, gives frames and [`Intent`]s. The loop that owns both is in `run`.
//! Invariants: no I/O but in [`TerminalMode`]; no clock, time is an argument; text of documents and models is cleaned
//! before it is drawn; nothing is told by colour alone; no size of the terminal makes it fail.
//! Not here: what a wish leads to (`app`), which keys a user prefers (`config`).

mod action;
mod arrange;
mod chord;
mod citation;
mod compare;
mod context;
mod difference;
mod document;
mod draw;
mod export;
mod find;
mod flow;
mod help;
mod input;
mod keymap;
mod layout;
mod long_text;
mod markdown;
mod meter;
mod mouse;
mod new_domain;
mod outline;
mod pane;
mod popup;
mod screen;
mod settings;
mod signs;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod typing;
mod words;

pub use action::{Action, Place};
pub use chord::{Chord, ChordError};
pub use draw::draw;
pub use input::{Intent, on_input};
pub use keymap::{Keymap, KeymapError};
pub use screen::{Pane, ScreenState};
pub use signs::Signs;
pub use terminal::{Screen, TerminalGuard, TerminalMode, install_panic_hook};
pub use theme::Theme;
pub use words::Words;
