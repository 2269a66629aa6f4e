//! The screen: ratatui panes over [`App`](ragonite_app::App), keys and mouse to events.
//!
//! Takes the app's state and terminal input, gives frames and [`Intent`]s; [`EventLoop`] owns both.
//! Invariants: I/O and the clock only in [`TerminalMode`] and [`EventLoop`], elsewhere time is an argument; text of
//! documents and models is cleaned before it is drawn; colour never carries meaning alone; drawing works at every
//! terminal size.
//! Not here: handling of events (`app`), the worker threads (`workers`), the user's key bindings (`config`).

mod action;
mod attribution;
mod chord;
mod chrome;
mod compare;
mod composer;
mod context;
mod conversation;
mod difference;
mod document;
mod draw;
mod event_loop;
mod evidence;
mod export;
mod find;
mod glyphs;
mod help;
mod input;
mod keymap;
mod layout;
mod layout_actions;
mod lists;
mod long_text;
mod look;
mod markdown;
mod messages;
mod mouse;
mod new_domain;
mod outline;
mod outline_cache;
mod pane;
mod popup;
mod rating;
mod reflow;
mod screen;
mod settings;
mod steps;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;

pub use action::{Action, Place};
pub use chord::{Chord, ChordError};
pub use draw::draw;
pub use event_loop::{EventLoop, FRAME, FirstSteps, Frames, Workers};
pub use glyphs::Signs;
pub use input::{Intent, on_input};
pub use keymap::{Keymap, KeymapError};
pub use messages::Words;
pub use pane::Pane;
pub use screen::ScreenState;
pub use terminal::{Screen, TerminalGuard, TerminalMode, install_panic_hook};
pub use theme::Theme;
