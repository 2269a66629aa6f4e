//! The evidence pane: the hits of the selected turn and their tables.
//!
//! Takes steps and toggles; keeps selection, folding and positions.
//! Invariant: the selection is one of the hits.
//! Not here: drawing (`view`), the whole document of a hit (`document`).

pub(crate) mod messages;
mod table;
mod view;

use super::layout::Aside;
use super::outline::{Scroll, Step};
use ragonite_app::{App, Event, Turn};
use ragonite_base::{clean_line, clean_text};
use ragonite_document::evidence::Kind;
use ragonite_rag::retrieval::Hit;
use table::Measured;

pub(super) use view::{draw, origin, origin_of};

/// Cells that a wide table scrolls per step.
const SIDEWAYS: usize = 8;

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

impl EvidenceView {
    /// Selects a hit and scrolls to it.
    pub(super) fn select(&mut self, hit: usize) {
        (self.selected, self.left, self.reveal) = (hit, 0, true);
    }

    /// Opens or closes the selected hit.
    pub(super) fn toggle(&mut self) {
        (self.closed, self.reveal) = (!self.closed, true);
    }

    /// Moves the selection among `hits`. Pages scroll instead, because an opened hit may be longer than the pane.
    pub(super) fn step(&mut self, step: Step, hits: usize) {
        match step {
            Step::Up | Step::Down | Step::First | Step::Last => self.select(step.from(self.selected, 1, hits)),
            page => self.scroll.step(page),
        }
    }

    /// Scrolls a wide table sideways.
    pub(super) fn shift(&mut self, aside: Aside) {
        self.left = match aside {
            Aside::Left => self.left.saturating_sub(SIDEWAYS),
            Aside::Right => self.left + SIDEWAYS,
        };
    }

    /// Keeps the selection within the hits of the turn.
    pub(super) fn sync(&mut self, turn: Option<&Turn>) {
        let hits = turn.map_or(0, |turn| turn.hits().len());
        self.selected = self.selected.min(hits.saturating_sub(1));
    }

    /// The event that requests the table of the selected hit, where it is missing.
    pub(super) fn wants(&self, app: &App, turn: &Turn) -> Option<Event> {
        let hit = turn.hits().get(self.selected)?;
        let has_table = matches!(hit.kind, Kind::Row | Kind::Table);
        (has_table && !self.closed && app.table(hit.evidence).is_none()).then_some(Event::TableWanted(hit.evidence))
    }
}

/// The selected hit as a text to copy.
pub(super) fn text(hit: &Hit) -> String {
    let lines = [clean_line(&hit.title), clean_line(&hit.location), clean_line(&hit.url), clean_text(&hit.content)];
    let texts: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    texts.join("\n")
}
