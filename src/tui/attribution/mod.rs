//! The attribution pane: which sources made an answer, or one sentence of it, what it is.
//!
//! Takes the keys that explain and that select a sentence; gives events.
//! Not here: drawing (`view`), computing an explanation (`ragonite-rag`).

mod bars;
pub(crate) mod messages;
mod sentence;
mod view;

use super::input::Intent;
use super::outline::Step;
use super::pane::Pane;
use super::screen::ScreenState;
use ragonite_app::{App, Event};
use ragonite_rag::attribution::Method;

pub(super) use bars::{Explained, Keys, in_short};
pub(super) use view::draw;

/// Explains the selected answer, or shows its earlier explanation.
pub(super) fn explain(screen: &mut ScreenState, app: &App, method: Method) -> Vec<Intent> {
    screen.set_focus(Pane::Why);
    let turn = screen.turn_index(app).unwrap_or(0);
    // An earlier explanation is shown again, as it may have taken minutes; the same key then explains anew.
    let event = if app.is_explained_by(turn, method) {
        Event::EarlierWanted { turn, method }
    } else {
        Event::ExplainRequested { turn, method }
    };
    vec![Intent::App(event)]
}

/// Selects a sentence, or the whole answer; requests sentence attribution where it is missing.
pub(super) fn choose_sentence(screen: &mut ScreenState, app: &App, step: Step) -> Vec<Intent> {
    screen.set_focus(Pane::Why);
    let turn = screen.turn_index(app).filter(|at| app.turns()[*at].sentences().is_empty());
    if let (Some(turn), Step::Down) = (turn, step) {
        // The first sentence is shown as soon as it is explained.
        screen.sentence = Some(0);
        screen.why.rewind_to(0);
        return vec![Intent::App(Event::SentencesWanted { turn })];
    }
    let sentences = screen.turn(app).map_or(0, |turn| turn.sentences().len());
    screen.sentence = match (screen.sentence, step) {
        (Some(0) | None, Step::Up) => None,
        (None, _) => (sentences > 0).then_some(0),
        (Some(at), step) => Some(step.from(at, 1, sentences)),
    };
    screen.why.rewind_to(0);
    vec![Intent::Redraw]
}
