//! The conversation pane: questions, answers, and the citations in them.
//!
//! Takes the keys that select a turn and act on it; gives events.
//! Not here: drawing (`view`, `turn`), the question that is written (`composer`).

pub(super) mod citation;
mod empty_state;
pub(crate) mod messages;
mod turn;
mod turn_cache;
mod view;

use std::collections::BTreeMap;

use super::input::{Intent, refused};
use super::outline::{Scroll, Step};
use super::screen::ScreenState;
use citation::Chosen;
use ragonite_app::{App, Event, Refusal, TurnKey};
use turn_cache::Settled;

pub(super) use turn::cited;
pub(super) use view::draw;

/// State of the conversation pane: selected turn, position, chosen citation.
#[derive(Debug, Clone)]
pub(super) struct ConversationView {
    /// The selected turn; none for the last turn.
    pub(super) chosen: Option<usize>,
    pub(super) scroll: Scroll,
    /// Whether the selected turn must be scrolled into view.
    pub(super) reveal: bool,
    pub(super) citation: Option<Chosen>,
    /// Cached lines of finished turns.
    pub(super) settled: BTreeMap<TurnKey, Settled>,
}

impl Default for ConversationView {
    fn default() -> Self {
        Self { chosen: None, scroll: Scroll::following(), reveal: false, citation: None, settled: BTreeMap::new() }
    }
}

impl ConversationView {
    /// Selects one of `total` turns and scrolls to it.
    pub(super) fn select(&mut self, at: usize, total: usize) {
        self.chosen = (at + 1 < total).then_some(at);
        self.scroll.follow = at + 1 == total;
        self.reveal = true;
    }

    /// Begins at the end of another conversation.
    pub(super) fn restart(&mut self) {
        (self.chosen, self.scroll) = (None, Scroll::following());
        self.settled.clear();
    }

    /// Selects the last turn and follows its end.
    pub(super) fn follow_last(&mut self) {
        (self.chosen, self.scroll.follow) = (None, true);
    }
}

/// Selects the previous or the next turn.
pub(super) fn choose_turn(screen: &mut ScreenState, app: &App, step: Step) {
    let total = app.turns().len();
    if let Some(at) = screen.turn_index(app) {
        screen.conversation.select(step.from(at, 1, total), total);
    }
}

/// Branches a conversation off at the selected turn.
pub(super) fn branch(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let turn = screen.turn_index(app).map(|turn| vec![Intent::App(Event::BranchWanted { turn })]);
    turn.unwrap_or_else(|| refused(Refusal::NothingToBranch))
}

/// Writes the selected turn as a question of an evaluation.
pub(super) fn check(screen: &ScreenState, app: &App) -> Vec<Intent> {
    let turn = screen.turn_index(app).map(|turn| vec![Intent::App(Event::ExportEvalCase { turn })]);
    turn.unwrap_or_else(|| refused(Refusal::NothingToCheck))
}
