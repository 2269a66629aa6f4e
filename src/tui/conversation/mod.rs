//! The conversation pane: questions, answers, and the citations in them.
//!
//! Not here: drawing (`view`, `turn`), the question that is written (`composer`).

pub(super) mod citation;
mod empty_state;
pub(crate) mod messages;
mod turn;
mod turn_cache;
mod view;

use super::input::{Intent, refused};
use super::outline::Step;
use super::screen::ScreenState;
use ragonite_app::{App, Event, Refusal};

pub(super) use turn::cited;
pub(super) use turn_cache::Settled;
pub(super) use view::draw;

/// Selects the previous or the next turn.
pub(super) fn choose_turn(screen: &mut ScreenState, app: &App, step: Step) {
    let total = app.turns().len();
    if let Some(at) = screen.turn_index(app) {
        let to = step.from(at, 1, total);
        screen.chosen = (to + 1 < total).then_some(to);
        screen.conversation.follow = to + 1 == total;
        screen.reveal_turn = true;
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
