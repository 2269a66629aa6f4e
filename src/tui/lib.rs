//! The screen: ratatui panes over [`App`](ragonite_app::App), keys and mouse to events.
//!
//! Takes the app's state and terminal input, gives frames and [`Intent`]s; [`EventLoop`] owns both.
//! Invariants: I/O and the clock only in [`TerminalMode`] and [`EventLoop`], elsewhere time is an argument; text of
//! documents and models is cleaned before it is drawn; colour never carries meaning alone; drawing works at every
//! terminal size.
//! Not here: handling of events (`app`), the worker threads (`workers`), the user's key bindings (`config`).

mod action;
mod chord;
mod citation;
mod compare;
mod context;
mod difference;
mod document;
mod draw;
mod event_loop;
mod export;
mod find;
mod glyphs;
mod help;
mod input;
mod keymap;
mod layout;
mod layout_actions;
mod long_text;
mod look;
mod markdown;
mod messages;
mod mouse;
mod new_domain;
mod outline;
mod pane;
mod popup;
mod reflow;
mod screen;
mod settings;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod token_meter;
mod typing;

pub use action::{Action, Place};
pub use chord::{Chord, ChordError};
pub use draw::draw;
pub use event_loop::{EventLoop, FRAME, FirstSteps, Frames, Workers};
pub use glyphs::Signs;
pub use input::{Intent, on_input};
pub use keymap::{Keymap, KeymapError};
pub use messages::Words;
pub use screen::{Pane, ScreenState};
pub use terminal::{Screen, TerminalGuard, TerminalMode, install_panic_hook};
pub use theme::Theme;
