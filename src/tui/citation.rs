//! Moves from a citation of the selected answer to its source, and back.
//!
//! Invariant: a chosen citation names a source that exists.
//! Not here: where citations are drawn (`pane`), how citations are recognized (`markdown`).

use super::outline::Step;
use super::pane;
use super::screen::{Chosen, Pane, ScreenState};
use ragonite_app::{App, Turn};

/// Indices of the cited hits, in reading order.
fn hits(turn: &Turn, screen: &ScreenState) -> Vec<Option<usize>> {
    let sources = pane::cited(turn, &screen.theme);
    sources.into_iter().map(|source| turn.hits().iter().position(|hit| hit.rank == source)).collect()
}

/// Chooses the next or the previous citation, cyclically.
pub(super) fn choose(screen: &mut ScreenState, app: &App, step: Step) {
    screen.set_focus(Pane::Conversation);
    let count = screen.turn(app).map_or(0, |turn| hits(turn, screen).len());
    let to = match (screen.citation.map(|chosen| chosen.at), step) {
        (None | Some(0), Step::Up) => count.saturating_sub(1),
        (None, _) => 0,
        (Some(at), Step::Up) => at - 1,
        (Some(at), _) => at + 1,
    };
    screen.citation = (count > 0).then(|| Chosen::at(to % count.max(1)));
}

/// Goes to the source of the chosen citation. Returns false where no citation is chosen.
pub(super) fn follow(screen: &mut ScreenState, app: &App) -> bool {
    let (Some(chosen), Some(turn)) = (screen.citation, screen.turn(app)) else { return false };
    let Some(hit) = hits(turn, screen).get(chosen.at).copied().flatten() else { return false };
    let evidence = &mut screen.evidence;
    if evidence.selected != hit {
        evidence.left = 0;
    }
    (evidence.selected, evidence.closed, evidence.reveal) = (hit, false, true);
    screen.citation = Some(chosen.followed());
    screen.set_focus(Pane::Evidence);
    true
}

/// Goes back from the source to its citation, or deselects the citation. Returns false where neither applies.
pub(super) fn leave(screen: &mut ScreenState) -> bool {
    let Some(chosen) = screen.citation else { return false };
    match screen.focus {
        Pane::Evidence if chosen.is_followed() => {
            screen.set_focus(Pane::Conversation);
            screen.citation = Some(Chosen::at(chosen.at));
            true
        }
        Pane::Conversation => {
            screen.citation = None;
            true
        }
        _ => false,
    }
}
