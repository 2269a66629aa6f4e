//! Actions on the arrangement of the panes: enlarge, hide, move a border.
//!
//! Invariant: the focused pane is never hidden.
//! Not here: the resulting areas (`layout`).

use super::layout::{Aside, Border, Shown, Zoom};
use super::pane::Pane;
use super::screen::ScreenState;

/// Enlarges the focused pane, or shows all panes again.
pub(super) fn enlarge(screen: &mut ScreenState) {
    screen.arrangement.zoom = match screen.arrangement.zoom {
        Zoom::Apart => Zoom::Enlarged,
        Zoom::Enlarged => Zoom::Apart,
    };
}

/// Hides the focused side pane or list pane, else the pane on the right; or shows the pane on the right again. Does
/// nothing with one column.
pub(super) fn hide(screen: &mut ScreenState) {
    let on_lists = screen.focus == Pane::Lists;
    match screen.columns {
        0 | 1 => {}
        3.. if on_lists => {
            screen.arrangement.lists = Shown::Hidden;
            screen.set_focus(Pane::Conversation);
        }
        _ if is_side(screen.focus) || screen.arrangement.side == Shown::Shown => {
            screen.arrangement.side = Shown::Hidden;
            if is_side(screen.focus) {
                screen.set_focus(Pane::Conversation);
            }
        }
        _ => screen.arrangement.side = Shown::Shown,
    }
}

/// Moves the border of the focused list column, else the border right of the conversation.
pub(super) fn shift(screen: &mut ScreenState, aside: Aside) {
    let border = if screen.focus == Pane::Lists && screen.columns > 2 { Border::Lists } else { Border::Side };
    if screen.columns > 1 && (border == Border::Lists || screen.arrangement.side == Shown::Shown) {
        screen.arrangement.shift(border, aside);
    }
}

/// Shows the focused pane, whatever was hidden before.
pub(super) fn show_focus(screen: &mut ScreenState) {
    if screen.focus == Pane::Lists && screen.columns > 2 {
        screen.arrangement.lists = Shown::Shown;
    } else if is_side(screen.focus) {
        screen.side = screen.focus;
        screen.arrangement.side = Shown::Shown;
    }
}

fn is_side(pane: Pane) -> bool {
    match pane {
        Pane::Evidence | Pane::Behind | Pane::Why | Pane::Lists => true,
        Pane::Composer | Pane::Conversation => false,
    }
}
