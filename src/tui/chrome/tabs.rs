//! The tab bar of the layout with one pane.
//!
//! Gives the bar, and its areas for the mouse.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::action::{Action, Place};
use crate::layout::Zoom;
use crate::pane::Pane;
use crate::screen::ScreenState;
use crate::text::{cells, width};

/// The tabs of the layout with one pane.
const TABS: [(Pane, Action); 5] = [
    (Pane::Conversation, Action::ShowConversation),
    (Pane::Evidence, Action::ShowEvidence),
    (Pane::Behind, Action::ShowBehind),
    (Pane::Why, Action::ShowWhy),
    (Pane::Lists, Action::ShowLists),
];

/// The tab bar; the visible pane is in brackets.
pub(crate) fn tab_bar(screen: &ScreenState, room: usize) -> Line<'static> {
    let theme = &screen.theme;
    let seen = if screen.focus == Pane::Composer { Pane::Conversation } else { screen.focus };
    let mut spans = Vec::new();
    for (pane, action) in TABS {
        let name = screen.words.tab(pane);
        let key = screen.keymap.key(action, Place::Composer).filter(|_| room >= 72);
        let name = key.map_or_else(|| name.to_owned(), |key| format!("{key} {name}"));
        let (text, style) =
            if pane == seen { (format!("[{name}]"), theme.accent) } else { (format!(" {name} "), theme.dim) };
        spans.push(Span::styled(text, style));
        spans.push(Span::raw(" "));
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let back = screen.keymap.key(Action::Enlarge, Place::Composer).filter(|_| {
        let enlarged = screen.arrangement.zoom == Zoom::Enlarged;
        enlarged && room >= ROOM_FOR_ENLARGED
    });
    if let Some(back) = back {
        let text = screen.words.enlarged(&back);
        spans.push(Span::raw(" ".repeat(room.saturating_sub(used + width(&text)))));
        spans.push(Span::styled(text, theme.dim));
    }
    Line::from(spans)
}

/// Smallest width at which the tab bar says that a pane is enlarged.
const ROOM_FOR_ENLARGED: usize = 100;

/// Records the areas of the tabs for the mouse.
pub(crate) fn tab_targets(screen: &mut ScreenState, area: Rect) {
    let bar = tab_bar(screen, usize::from(area.width));
    let mut x = area.x;
    // Tabs and spaces alternate.
    for (at, span) in bar.spans.iter().enumerate() {
        let width = cells(span.width()).min(area.right().saturating_sub(x));
        if let Some((pane, _)) = TABS.get(at / 2).filter(|_| at % 2 == 0) {
            screen.targets.pane(*pane, Rect { x, width, ..area });
        }
        x += width;
    }
}
