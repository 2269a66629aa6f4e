//! The attribution pane: which sources made an answer, or one sentence of it, what it is.

mod bars;
pub(crate) mod messages;
mod sentence;
mod view;

pub(super) use bars::{Explained, Keys, in_short};
pub(super) use view::draw;
