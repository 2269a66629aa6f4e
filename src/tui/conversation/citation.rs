//! Moves from a citation of the selected answer to its source, and back.
//!
//! Invariant: a chosen citation names a source that exists.
//! Not here: where citations are drawn (`view`), how citations are recognized (`markdown`).

use super::cited;
use crate::outline::Step;
use crate::pane::Pane;
use crate::screen::ScreenState;
use ragonite_app::{App, Turn};

/// The chosen citation of the selected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Index in reading order.
    pub(crate) at: usize,
    way: Followed,
}

/// How far a citation was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// It must be scrolled into view.
    New,
    /// It is in view and marked.
    Seen,
    /// Its source is shown.
    ToSource,
}

impl Chosen {
    /// The citation at an index, to be scrolled into view.
    pub(crate) fn at(at: usize) -> Self {
        Self { at, way: Followed::New }
    }

    pub(crate) fn is_new(self) -> bool {
        self.way == Followed::New
    }

    /// It has come into view.
    pub(crate) fn seen(self) -> Self {
        Self { way: Followed::Seen, ..self }
    }

    /// Its source is shown.
    pub(crate) fn followed(self) -> Self {
        Self { way: Followed::ToSource, ..self }
    }

    /// Whether there is a way back from its source.
    pub(crate) fn is_followed(self) -> bool {
        self.way == Followed::ToSource
    }
}

/// Indices of the cited hits, in reading order.
fn hits(turn: &Turn, screen: &ScreenState) -> Vec<Option<usize>> {
    let sources = cited(turn, &screen.theme);
    sources.into_iter().map(|source| turn.hits().iter().position(|hit| hit.rank == source)).collect()
}

/// Chooses the next or the previous citation, cyclically.
pub(crate) fn choose(screen: &mut ScreenState, app: &App, step: Step) {
    screen.set_focus(Pane::Conversation);
    let count = screen.turn(app).map_or(0, |turn| hits(turn, screen).len());
    let to = match (screen.conversation.citation.map(|chosen| chosen.at), step) {
        (None | Some(0), Step::Up) => count.saturating_sub(1),
        (None, _) => 0,
        (Some(at), Step::Up) => at - 1,
        (Some(at), _) => at + 1,
    };
    screen.conversation.citation = (count > 0).then(|| Chosen::at(to % count.max(1)));
}

/// Goes to the source of the chosen citation. Returns false where no citation is chosen.
pub(crate) fn follow(screen: &mut ScreenState, app: &App) -> bool {
    let (Some(chosen), Some(turn)) = (screen.conversation.citation, screen.turn(app)) else { return false };
    let Some(hit) = hits(turn, screen).get(chosen.at).copied().flatten() else { return false };
    let evidence = &mut screen.evidence;
    if evidence.selected != hit {
        evidence.left = 0;
    }
    (evidence.selected, evidence.closed, evidence.reveal) = (hit, false, true);
    screen.conversation.citation = Some(chosen.followed());
    screen.set_focus(Pane::Evidence);
    true
}

/// Goes back from the source to its citation, or deselects the citation. Returns false where neither applies.
pub(crate) fn leave(screen: &mut ScreenState) -> bool {
    let Some(chosen) = screen.conversation.citation else { return false };
    match screen.focus {
        Pane::Evidence if chosen.is_followed() => {
            screen.set_focus(Pane::Conversation);
            screen.conversation.citation = Some(Chosen::at(chosen.at));
            true
        }
        Pane::Conversation => {
            screen.conversation.citation = None;
            true
        }
        _ => false,
    }
}
