//! Where the panes are, for every size of the terminal.
//!
//! Below 100 columns or 30 rows one pane at a time under a tab bar; below 150 columns two columns; else three.
//! Invariant: the composer is there whenever the conversation is.

use ratatui::layout::{Constraint, Layout, Rect};

use super::screen::Pane;

/// Smallest size anything can be read in.
const SMALLEST: (u16, u16) = (40, 12);
/// From here on two columns.
const TWO: (u16, u16) = (100, 30);
/// From here on three columns.
const THREE: u16 = 150;
/// Width of the lists in three columns.
const LISTS: u16 = 32;

/// Where everything is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The tab bar, where only one pane is seen.
    pub(super) tabs: Option<Rect>,
    pub(super) lists: Option<Rect>,
    pub(super) conversation: Option<Rect>,
    pub(super) composer: Option<Rect>,
    /// The pane that shows evidence, behind the scenes or why, and in two columns the lists too.
    pub(super) side: Option<Rect>,
    pub(super) banner: Rect,
    pub(super) status: Rect,
    pub(super) hints: Rect,
}

/// What the layout depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) focus: Pane,
    /// Rows of the problem, 0 for none.
    pub(super) banner: u16,
    /// Rows of text in the composer.
    pub(super) question: u16,
}

/// How wide the text of the composer is, so that its rows can be counted before the layout.
pub(super) fn composer_width(area: Rect) -> u16 {
    let whole = match columns(area) {
        1 => area.width,
        2 => area.width.div_ceil(2),
        _ => (area.width - LISTS).div_ceil(2),
    };
    whole.saturating_sub(2).max(1)
}

/// How many columns fit.
pub(super) fn columns(area: Rect) -> u16 {
    if area.width < TWO.0 || area.height < TWO.1 {
        1
    } else if area.width < THREE {
        2
    } else {
        3
    }
}

/// The areas; none where nothing can be read.
pub(super) fn areas(area: Rect, wanted: Wanted) -> Option<Areas> {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        return None;
    }
    let columns = columns(area);
    let tabs = u16::from(columns == 1);
    let rows = [tabs, 0, wanted.banner.min(area.height / 4), 1, 1];
    let [tab_bar, body, banner, status, hints] = Layout::vertical([
        Constraint::Length(rows[0]),
        Constraint::Min(0),
        Constraint::Length(rows[2]),
        Constraint::Length(rows[3]),
        Constraint::Length(rows[4]),
    ])
    .areas(area);
    let mut areas = Areas { banner, status, hints, ..Areas::default() };
    match columns {
        1 => {
            areas.tabs = Some(tab_bar);
            match wanted.focus {
                Pane::Composer | Pane::Conversation => place_conversation(&mut areas, body, wanted),
                Pane::Lists => areas.lists = Some(body),
                Pane::Evidence | Pane::Behind | Pane::Why => areas.side = Some(body),
            }
        }
        2 => {
            let [left, right] = Layout::horizontal([Constraint::Ratio(1, 2); 2]).areas(body);
            place_conversation(&mut areas, left, wanted);
            areas.side = Some(right);
        }
        _ => {
            let [lists, middle, right] =
                Layout::horizontal([Constraint::Length(LISTS), Constraint::Fill(1), Constraint::Fill(1)]).areas(body);
            areas.lists = Some(lists);
            place_conversation(&mut areas, middle, wanted);
            areas.side = Some(right);
        }
    }
    Some(areas)
}

fn place_conversation(areas: &mut Areas, body: Rect, wanted: Wanted) {
    let most = (body.height / 3).max(3);
    let rows = (wanted.question + 2).clamp(3, most);
    let [conversation, composer] = Layout::vertical([Constraint::Min(0), Constraint::Length(rows)]).areas(body);
    areas.conversation = Some(conversation);
    areas.composer = Some(composer);
}
