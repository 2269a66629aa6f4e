//! The mouse: the wheel scrolls what is under the pointer, a click focuses it and opens a row or follows a citation as Enter
//! does.
//!
//! Takes what the last frame had where. Without `mouse = "on"` no event of it ever comes.
//! Invariant: everything the mouse does, keys do too.
//! Not here: taking the mouse from the terminal and giving it back (`terminal`).

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use time::OffsetDateTime;

use super::citation;
use super::input::{self, Intent};
use super::outline::Step;
use super::pane::{self, Entry};
use super::popup;
use super::screen::{Chosen, Pane, ScreenState};
use ragonite_app::App;

/// Lines that one step of the wheel scrolls.
const LINES: usize = 3;

/// Which pane, and which of its rows, was drawn where.
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    panes: Vec<(Pane, Rect)>,
    /// Pane, line of the terminal, and what it belongs to: a turn, a hit or an entry.
    rows: Vec<(Pane, u16, usize)>,
    /// Where citations are, and which of their answer they are.
    citations: Vec<(Rect, Chosen)>,
    /// Rows of what lies over the panes: where each is, and which it is.
    popup: Vec<(Rect, usize)>,
}

impl Targets {
    pub(super) fn clear(&mut self) {
        self.panes.clear();
        self.rows.clear();
        self.citations.clear();
        self.popup.clear();
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

    /// A citation; the row it is on says whose.
    pub(super) fn citation(&mut self, area: Rect, which: Chosen) {
        self.citations.push((area, which));
    }

    fn citation_at(&self, place: Position) -> Option<Chosen> {
        self.citations.iter().find(|(area, _)| area.contains(place)).map(|(_, which)| *which)
    }

    /// As [`Targets::rows`], of what lies over the panes.
    pub(super) fn popup(&mut self, area: Rect, owners: impl IntoIterator<Item = Option<usize>>) {
        let owned = (area.top()..area.bottom()).zip(owners);
        self.popup.extend(owned.filter_map(|(y, owner)| Some((Rect { y, height: 1, ..area }, owner?))));
    }

    fn at(&self, place: Position) -> Option<(Pane, Rect)> {
        self.panes.iter().find(|(_, area)| area.contains(place)).copied()
    }

    fn row(&self, pane: Pane, line: u16) -> Option<usize> {
        self.rows.iter().find(|(of, at, _)| *of == pane && *at == line).map(|(_, _, owner)| *owner)
    }

    /// Whether a row begins on this line.
    fn begins(&self, pane: Pane, line: u16) -> bool {
        self.row(pane, line).is_some_and(|owner| line == 0 || self.row(pane, line - 1) != Some(owner))
    }

    fn in_popup(&self, place: Position) -> Option<usize> {
        self.popup.iter().find(|(area, _)| area.contains(place)).map(|(_, owner)| *owner)
    }
}

/// Takes one event of the mouse.
pub(super) fn on_mouse(screen: &mut ScreenState, app: &App, event: MouseEvent, now: OffsetDateTime) -> Vec<Intent> {
    let step = match event.kind {
        MouseEventKind::ScrollUp => Some(Step::Up),
        MouseEventKind::ScrollDown => Some(Step::Down),
        MouseEventKind::Down(MouseButton::Left) => None,
        _ => return Vec::new(),
    };
    let place = Position::new(event.column, event.row);
    if let Some(popup) = &mut screen.popup {
        match (step, screen.targets.in_popup(place)) {
            (Some(step), _) => popup::scroll(popup, step, screen.words),
            (None, Some(row)) => return popup::click(screen, app, row, now),
            (None, None) => {}
        }
        return vec![Intent::Redraw];
    }
    let Some((pane, area)) = screen.targets.at(place) else { return Vec::new() };
    if let Some(step) = step {
        scroll(screen, app, pane, step);
        return vec![Intent::Redraw];
    }
    let intents = click(screen, app, pane, area, event.row);
    if let Some(citation) = screen.targets.citation_at(place) {
        // Another turn may have been selected by the click.
        screen.sync(app, now);
        screen.citation = Some(citation);
        citation::follow(screen, app);
    }
    intents
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

/// Puts the focus and the cursor where the click was, and opens what Enter would open there.
fn click(screen: &mut ScreenState, app: &App, pane: Pane, area: Rect, line: u16) -> Vec<Intent> {
    screen.set_focus(pane);
    let row = screen.targets.row(pane, line);
    // The first line of a pane is its frame.
    let below = usize::from(line.saturating_sub(area.y + 1));
    let on_frame = line == area.y || line + 1 == area.bottom();
    let opens = match (pane, row) {
        (Pane::Conversation, Some(turn)) => {
            screen.chosen = (turn + 1 < app.turns().len()).then_some(turn);
            false
        }
        (Pane::Evidence, Some(hit)) => {
            let other = hit != screen.evidence.selected;
            if other {
                (screen.evidence.selected, screen.evidence.left, screen.evidence.reveal) = (hit, 0, true);
            }
            // The text of an open source may be clicked without closing it; another source opens.
            if other { screen.evidence.closed } else { screen.targets.begins(pane, line) }
        }
        (Pane::Lists, Some(entry)) => {
            let again = screen.lists == entry;
            screen.lists = entry;
            // What is in the trash is not taken out by the first click.
            again || !matches!(pane::entry(app, entry), Some(Entry::Trashed(_)))
        }
        (Pane::Behind, _) if !on_frame => screen.behind.go_to_seen(below),
        (Pane::Why, _) if !on_frame => screen.why.go_to_seen(below),
        _ => false,
    };
    if opens { input::toggle(screen, app) } else { vec![Intent::Redraw] }
}
