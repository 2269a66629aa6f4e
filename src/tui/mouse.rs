//! The mouse: the wheel scrolls the pane under the pointer; a click focuses it and, like Enter, opens a row or
//! follows a citation.
//!
//! Takes the areas of the last frame. Without `mouse = "on"` the terminal sends no mouse event.
//! Invariant: keys can do everything that the mouse does.
//! Not here: mouse mode of the terminal (`terminal`).

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use time::OffsetDateTime;

use super::conversation::citation::{self, Chosen};
use super::input::{self, Intent};
use super::lists::{self, Entry};
use super::outline::Step;
use super::pane::Pane;
use super::popup;
use super::screen::ScreenState;
use ragonite_app::App;

/// Lines that one step of the wheel scrolls.
const LINES: usize = 3;

/// Areas of panes, rows and citations in the last frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    panes: Vec<(Pane, Rect)>,
    /// Pane, terminal line, and index of the turn, hit or entry.
    rows: Vec<(Pane, u16, usize)>,
    /// Areas of citations.
    citations: Vec<(Rect, Chosen)>,
    /// Area and index of each row of the popup.
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

    /// The lines of an area from its top, each with its index.
    pub(super) fn rows(&mut self, pane: Pane, area: Rect, owners: impl IntoIterator<Item = Option<usize>>) {
        let owned = (area.top()..area.bottom()).zip(owners);
        self.rows.extend(owned.filter_map(|(line, owner)| Some((pane, line, owner?))));
    }

    /// A citation; its row gives the turn.
    pub(super) fn citation(&mut self, area: Rect, which: Chosen) {
        self.citations.push((area, which));
    }

    fn citation_at(&self, place: Position) -> Option<Chosen> {
        self.citations.iter().find(|(area, _)| area.contains(place)).map(|(_, which)| *which)
    }

    /// Like [`Targets::rows`], for the popup.
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

/// Handles a mouse event.
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
        // The click may have selected another turn.
        screen.sync(app, now);
        screen.conversation.citation = Some(citation);
        citation::follow(screen, app);
    }
    intents
}

fn scroll(screen: &mut ScreenState, app: &App, pane: Pane, step: Step) {
    match pane {
        // A list has no position but its cursor.
        Pane::Lists => screen.lists.selected = step.from(screen.lists.selected, 1, lists::entries(app)),
        Pane::Composer => screen.composer.area.scroll((if step == Step::Up { -1_i16 } else { 1 }, 0_i16)),
        _ => {
            for _ in 0..LINES {
                match pane {
                    Pane::Evidence => screen.evidence.scroll.step(step),
                    Pane::Behind => screen.steps.outline.scroll(step),
                    Pane::Why => screen.attribution.outline.scroll(step),
                    _ => screen.conversation.scroll.step_and_follow(step),
                }
            }
        }
    }
}

/// Moves focus and cursor to the click, and opens the entry that Enter would open there.
fn click(screen: &mut ScreenState, app: &App, pane: Pane, area: Rect, line: u16) -> Vec<Intent> {
    screen.set_focus(pane);
    let row = screen.targets.row(pane, line);
    // The first line of a pane is its frame.
    let below = usize::from(line.saturating_sub(area.y + 1));
    let on_frame = line == area.y || line + 1 == area.bottom();
    let opens = match (pane, row) {
        (Pane::Conversation, Some(turn)) => {
            screen.conversation.chosen = (turn + 1 < app.turns().len()).then_some(turn);
            false
        }
        (Pane::Evidence, Some(hit)) => {
            let other = hit != screen.evidence.selected;
            if other {
                screen.evidence.select(hit);
            }
            // The text of an open source may be clicked without closing it; another source opens.
            if other { screen.evidence.closed } else { screen.targets.begins(pane, line) }
        }
        (Pane::Lists, Some(entry)) => {
            let again = screen.lists.selected == entry;
            screen.lists.selected = entry;
            // The first click restores nothing from the trash.
            again || !matches!(lists::entry(app, entry), Some(Entry::Trashed(_)))
        }
        (Pane::Behind, _) if !on_frame => screen.steps.outline.go_to_seen(below),
        (Pane::Why, _) if !on_frame => screen.attribution.outline.go_to_seen(below),
        _ => false,
    };
    if opens { input::toggle(screen, app) } else { vec![Intent::Redraw] }
}
