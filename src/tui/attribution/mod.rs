//! The attribution pane: which sources made an answer, or one sentence of it, what it is.
//!
//! Takes the keys that explain and that select a sentence; gives events.
//! Invariant: the selected sentence is one of the answer.
//! Not here: drawing (`view`), computing an explanation (`ragonite-rag`).

mod bars;
pub(crate) mod messages;
mod sentence;
mod view;

use super::input::Intent;
use super::outline::{Outline, Step};
use super::outline_cache::Kept;
use super::pane::Pane;
use super::screen::ScreenState;
use ragonite_app::{App, Event, Explaining, Purpose, Turn};
use ragonite_rag::attribution::Method;

pub(super) use bars::{Explained, Keys, in_short};
pub(super) use view::draw;

/// State of the attribution pane: open clusters, position, selected sentence, cached lines.
#[derive(Debug, Clone)]
pub(super) struct AttributionView {
    pub(super) outline: Outline<usize>,
    pub(super) kept: Kept<usize>,
    /// The selected sentence of the answer; none for the whole answer.
    pub(super) sentence: Option<usize>,
}

impl Default for AttributionView {
    fn default() -> Self {
        Self { outline: Outline::with_open([]), kept: Kept::default(), sentence: None }
    }
}

impl AttributionView {
    /// Goes to the beginning of another answer.
    pub(super) fn rewind(&mut self) {
        self.outline.rewind_to(0);
        self.sentence = None;
    }

    /// Keeps the selected sentence within the answer.
    pub(super) fn sync(&mut self, turn: Option<&Turn>) {
        let is_wanted = |explaining: &Explaining| explaining.purpose == Purpose::Sentences;
        let sentences = turn.map_or(0, |turn| match &turn.explaining {
            Some(explaining) if is_wanted(explaining) => turn.sentences().len().max(1),
            _ => turn.sentences().len(),
        });
        self.sentence = self.sentence.filter(|at| *at < sentences);
    }
}

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
        screen.attribution.sentence = Some(0);
        screen.attribution.outline.rewind_to(0);
        return vec![Intent::App(Event::SentencesWanted { turn })];
    }
    let sentences = screen.turn(app).map_or(0, |turn| turn.sentences().len());
    screen.attribution.sentence = match (screen.attribution.sentence, step) {
        (Some(0) | None, Step::Up) => None,
        (None, _) => (sentences > 0).then_some(0),
        (Some(at), step) => Some(step.from(at, 1, sentences)),
    };
    screen.attribution.outline.rewind_to(0);
    vec![Intent::Redraw]
}
