//! Areas of the panes for every terminal size and the user's arrangement.
//!
//! One pane under a tab bar below 100 columns or 20 rows, or while a pane is enlarged; two columns below 150 columns;
//! else three.
//! Invariants: the composer is visible whenever the conversation is; the focused pane is always visible.

use ratatui::layout::{Constraint, Layout, Rect};

use super::pane::Pane;

/// Smallest usable size.
const SMALLEST: (u16, u16) = (40, 12);
/// Smallest size for two columns.
const TWO: (u16, u16) = (100, 20);
/// Smallest width for three columns.
const THREE: u16 = 150;
/// Fewest cells of a column.
const NARROWEST: u16 = 30;

/// Whether a pane has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Shown,
    Hidden,
}

/// Whether one pane is enlarged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zoom {
    /// As many panes as fit.
    Apart,
    /// The focused pane only.
    Enlarged,
}

/// The user's arrangement of the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrangement {
    pub(super) zoom: Zoom,
    /// The column right of the conversation.
    pub(super) side: Shown,
    /// The column of the lists, where there is one.
    pub(super) lists: Shown,
    /// Percentage of the conversation in the width that it shares with the side pane.
    split: u16,
    /// Cells of the column of the lists.
    lists_width: u16,
}

impl Default for Arrangement {
    fn default() -> Self {
        Self { zoom: Zoom::Apart, side: Shown::Shown, lists: Shown::Shown, split: 50, lists_width: 32 }
    }
}

/// A border that can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// Between the lists and the conversation.
    Lists,
    /// Between the conversation and the pane beside it.
    Side,
}

/// Which way a border is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aside {
    Left,
    Right,
}

impl Arrangement {
    /// Moves a border by a step, within its range.
    pub(super) fn shift(&mut self, border: Border, aside: Aside) {
        let (place, step, range) = match border {
            Border::Lists => (&mut self.lists_width, 4, 20..=60),
            Border::Side => (&mut self.split, 5, 25..=75),
        };
        let to = match aside {
            Aside::Left => place.saturating_sub(step),
            Aside::Right => *place + step,
        };
        *place = to.clamp(*range.start(), *range.end());
    }

    fn widths(self, area: Rect) -> Widths {
        let columns = columns(area, self);
        if columns == 1 {
            return Widths { lists: 0, conversation: area.width, side: 0 };
        }
        let lists = if columns == 3 && self.lists == Shown::Shown { self.lists_width } else { 0 };
        let rest = area.width - lists;
        if self.side == Shown::Hidden {
            return Widths { lists, conversation: rest, side: 0 };
        }
        let side = u32::from(rest) * u32::from(100 - self.split) / 100;
        let side = u16::try_from(side).unwrap_or(rest).clamp(NARROWEST, rest - NARROWEST);
        Widths { lists, conversation: rest - side, side }
    }
}

/// Cells of each column, 0 for a column that is not there.
struct Widths {
    lists: u16,
    conversation: u16,
    side: u16,
}

/// Areas of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The tab bar, in the layout with one pane.
    pub(super) tabs: Option<Rect>,
    pub(super) lists: Option<Rect>,
    pub(super) conversation: Option<Rect>,
    pub(super) composer: Option<Rect>,
    /// The side pane: evidence, trace or attribution, with two columns also the lists.
    pub(super) side: Option<Rect>,
    pub(super) banner: Rect,
    pub(super) status: Rect,
    pub(super) hints: Rect,
}

/// Input of the layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) focus: Pane,
    pub(super) arrangement: Arrangement,
    /// Rows of the problem, 0 for none.
    pub(super) banner: u16,
    /// Rows of text in the composer.
    pub(super) question: u16,
}

/// Width of the composer text, to count its rows before the layout.
pub(super) fn composer_width(area: Rect, arrangement: Arrangement) -> u16 {
    arrangement.widths(area).conversation.saturating_sub(2).max(1)
}

/// How many columns there are.
pub(super) fn columns(area: Rect, arrangement: Arrangement) -> u16 {
    if area.width < TWO.0 || area.height < TWO.1 || arrangement.zoom == Zoom::Enlarged {
        1
    } else if area.width < THREE {
        2
    } else {
        3
    }
}

/// The areas; none below the smallest usable size.
pub(super) fn areas(area: Rect, wanted: Wanted) -> Option<Areas> {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        return None;
    }
    let columns = columns(area, wanted.arrangement);
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
    if columns == 1 {
        areas.tabs = Some(tab_bar);
        match wanted.focus {
            Pane::Composer | Pane::Conversation => place_conversation(&mut areas, body, wanted),
            Pane::Lists => areas.lists = Some(body),
            Pane::Evidence | Pane::Behind | Pane::Why => areas.side = Some(body),
        }
        return Some(areas);
    }
    let Widths { lists, conversation, side } = wanted.arrangement.widths(area);
    let column = |from: u16, width: u16| Rect { x: body.x + from, width, ..body };
    areas.lists = (lists > 0).then(|| column(0, lists));
    place_conversation(&mut areas, column(lists, conversation), wanted);
    areas.side = (side > 0).then(|| column(lists + conversation, side));
    Some(areas)
}

fn place_conversation(areas: &mut Areas, body: Rect, wanted: Wanted) {
    let most = (body.height / 3).max(3);
    let rows = (wanted.question + 2).clamp(3, most);
    let [conversation, composer] = Layout::vertical([Constraint::Min(0), Constraint::Length(rows)]).areas(body);
    areas.conversation = Some(conversation);
    areas.composer = Some(composer);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(focus: Pane, arrangement: Arrangement) -> Wanted {
        Wanted { focus, arrangement, banner: 0, question: 1 }
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]
        #[test]
        fn columns_fill_the_width_and_none_is_too_narrow_to_read(
            width in 40u16..400,
            height in 12u16..100,
            moves in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..20),
            hidden in any::<(bool, bool)>(),
        ) {
            let shown = |hidden| if hidden { Shown::Hidden } else { Shown::Shown };
            let mut arrangement =
                Arrangement { side: shown(hidden.0), lists: shown(hidden.1), ..Arrangement::default() };
            for (lists, left) in moves {
                let border = if lists { Border::Lists } else { Border::Side };
                arrangement.shift(border, if left { Aside::Left } else { Aside::Right });
            }
            let area = Rect::new(0, 0, width, height);
            let areas = areas(area, wanted(Pane::Composer, arrangement)).unwrap();
            let columns: Vec<u16> =
                [areas.lists, areas.conversation, areas.side].into_iter().flatten().map(|area| area.width).collect();
            prop_assert_eq!(columns.iter().sum::<u16>(), width);
            prop_assert!(columns.iter().all(|width| *width >= 20));
            prop_assert_eq!(areas.composer.unwrap().width - 2, composer_width(area, arrangement));
        }
    }

    #[test]
    fn an_enlarged_pane_is_alone_at_every_size() {
        let arrangement = Arrangement { zoom: Zoom::Enlarged, ..Arrangement::default() };
        for size in [(80, 24), (120, 40), (200, 60)] {
            let areas = areas(Rect::new(0, 0, size.0, size.1), wanted(Pane::Why, arrangement)).unwrap();
            assert_eq!((areas.side.unwrap().width, areas.lists, areas.conversation), (size.0, None, None));
        }
    }

    #[test]
    fn a_border_goes_as_far_as_it_may_and_back() {
        let mut arrangement = Arrangement::default();
        for _ in 0..50 {
            arrangement.shift(Border::Side, Aside::Left);
            arrangement.shift(Border::Lists, Aside::Right);
        }
        assert_eq!((arrangement.split, arrangement.lists_width), (25, 60));
        arrangement.shift(Border::Side, Aside::Right);
        assert_eq!(arrangement.split, 30);
    }
}
