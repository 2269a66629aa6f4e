//! The conversation pane: questions, answers, and the citations in them.

mod citation;
mod empty_state;
pub(crate) mod messages;
mod turn;
mod turn_cache;
mod view;

pub(super) use citation::{Chosen, choose, follow, leave};
pub(super) use turn::cited;
pub(super) use turn_cache::Settled;
pub(super) use view::draw;
