//! The evidence pane: the hits of the selected turn and their tables.
//!
//! Not here: drawing (`view`), the whole document of a hit (`document`).

pub(crate) mod messages;
mod table;
mod view;

use super::outline::Scroll;

pub(super) use table::Measured;
pub(super) use view::{draw, origin, origin_of};

/// State of the evidence pane: selected hit, folding, horizontal scroll of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct EvidenceView {
    pub(super) selected: usize,
    pub(super) closed: bool,
    pub(super) left: usize,
    /// The table of the selected hit, measured.
    pub(super) table: Option<Measured>,
    pub(super) scroll: Scroll,
    /// Whether the selection must be scrolled into view.
    pub(super) reveal: bool,
}
