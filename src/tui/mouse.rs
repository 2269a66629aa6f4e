//! The mouse: the wheel scrolls what is under the pointer, a click focuses it and selects a row.
//!
//! Takes what the last frame had where. Without `mouse = "on"` no event of it ever comes.
//! Invariant: everything the mouse does, keys do too.
//! Not here: taking the mouse from the terminal and giving it back (`terminal`).

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::input::Intent;
use super::outline::Step;
use super::pane;
use super::popup;
use super::screen::{Pane, ScreenState};
use crate::app::App;

/// Lines that one step of the wheel scrolls.
const LINES: usize = 3;

/// Which pane, and which of its rows, was drawn where.
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    panes: Vec<(Pane, Rect)>,
    /// Pane, line of the terminal, and what it belongs to: a turn, a hit or an entry.
    rows: Vec<(Pane, u16, usize)>,
}

impl Targets {
    pub(super) fn clear(&mut self) {
        self.panes.clear();
        self.rows.clear();
    }

    /// A pane, or a tab that leads to it.
    pub(super) fn pane(&mut self, pane: Pane, area: Rect) {
        self.panes.push((pane, area));
    }

    /// The lines of an area from its top, each with what it belongs to.
    pub(super) fn rows(&mut self, pane: Pane, area: Rect, owners: impl IntoIterator<Item = Option<usize>>) {
        let owned = (area.top()..area.bottom()).zip(owners);
        self.rows.extend(owned.filter_map(|(line, owner)| Some((pane, line, owner?))));
    }

    fn at(&self, place: Position) -> Option<(Pane, Rect)> {
        self.panes.iter().find(|(_, area)| area.contains(place)).copied()
    }

    fn row(&self, pane: Pane, line: u16) -> Option<usize> {
        self.rows.iter().find(|(of, at, _)| *of == pane && *at == line).map(|(_, _, owner)| *owner)
    }
}

/// Takes one event of the mouse.
pub(super) fn on_mouse(screen: &mut ScreenState, app: &App, event: MouseEvent) -> Vec<Intent> {
    let step = match event.kind {
        MouseEventKind::ScrollUp => Some(Step::Up),
        MouseEventKind::ScrollDown => Some(Step::Down),
        MouseEventKind::Down(MouseButton::Left) => None,
        _ => return Vec::new(),
    };
    if let Some(popup) = &mut screen.popup {
        if let Some(step) = step {
            popup::scroll(popup, step, screen.words);
        }
        return vec![Intent::Redraw];
    }
    let place = Position::new(event.column, event.row);
    let Some((pane, area)) = screen.targets.at(place) else { return Vec::new() };
    match step {
        Some(step) => scroll(screen, app, pane, step),
        None => click(screen, app, pane, (area, event.row)),
    }
    vec![Intent::Redraw]
}

fn scroll(screen: &mut ScreenState, app: &App, pane: Pane, step: Step) {
    match pane {
        // A list has no position but its cursor.
        Pane::Lists => screen.lists = step.from(screen.lists, 1, pane::entries(app)),
        Pane::Composer => screen.composer.area.scroll((if step == Step::Up { -1_i16 } else { 1 }, 0_i16)),
        _ => {
            for _ in 0..LINES {
                match pane {
                    Pane::Evidence => screen.evidence.scroll.step(step),
                    Pane::Behind => screen.behind.scroll(step),
                    Pane::Why => screen.why.scroll(step),
                    _ => screen.conversation.step_and_follow(step),
                }
            }
        }
    }
}

fn click(screen: &mut ScreenState, app: &App, pane: Pane, (area, line): (Rect, u16)) {
    screen.set_focus(pane);
    let row = screen.targets.row(pane, line);
    // The first line of a pane is its frame.
    let below = usize::from(line.saturating_sub(area.y + 1));
    let on_frame = line == area.y || line + 1 == area.bottom();
    match (pane, row) {
        (Pane::Conversation, Some(turn)) => screen.chosen = (turn + 1 < app.turns().len()).then_some(turn),
        (Pane::Evidence, Some(hit)) if hit != screen.evidence.selected => {
            (screen.evidence.selected, screen.evidence.left) = (hit, 0);
            screen.evidence.reveal = true;
        }
        (Pane::Lists, Some(entry)) => screen.lists = entry,
        (Pane::Behind, _) if !on_frame => screen.behind.go_to_seen(below),
        (Pane::Why, _) if !on_frame => screen.why.go_to_seen(below),
        _ => {}
    }
}
