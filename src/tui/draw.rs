//! One frame: the layout, the panes in it, the bars around them, the popup over them.
//!
//! Invariant: draws from the app and the screen's own state only; the same state at the same time gives the same frame.

use ratatui::Frame;
use ratatui::widgets::{Clear, Paragraph};
use time::OffsetDateTime;

use super::layout::{Wanted, areas, columns, composer_width};
use super::pane;
use super::screen::{Pane, ScreenState};
use super::text::cells;
use crate::app::App;

/// Draws everything. `now` is for the time the running stage has taken.
pub fn draw(app: &App, screen: &mut ScreenState, now: OffsetDateTime, frame: &mut Frame<'_>) {
    screen.sync(app, now);
    let area = frame.area();
    screen.columns = columns(area);
    let banner = pane::banner_lines(app, screen, usize::from(area.width));
    let wanted = Wanted {
        focus: screen.focus,
        banner: cells(banner.len()),
        question: cells(pane::composer_rows(screen, composer_width(area))),
    };
    let Some(areas) = areas(area, wanted) else {
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new("window too small"), area);
        return;
    };
    if let Some(area) = areas.tabs {
        frame.render_widget(pane::tab_bar(screen, usize::from(area.width)), area);
    }
    if let Some(area) = areas.lists {
        pane::draw_lists(app, screen, area, frame);
    }
    if let Some(area) = areas.conversation {
        pane::draw_conversation(app, screen, (area, now), frame);
    }
    if let Some(area) = areas.composer {
        pane::draw_composer(app, screen, area, frame);
    }
    if let Some(side) = areas.side {
        // With a column of their own, the lists are never shown on the right.
        let shown = if screen.side == Pane::Lists && screen.columns == 3 { Pane::Evidence } else { screen.side };
        match shown {
            Pane::Behind => pane::draw_behind(app, screen, side, frame),
            Pane::Why => pane::draw_why(app, screen, (side, now), frame),
            Pane::Lists => pane::draw_lists(app, screen, side, frame),
            _ => pane::draw_evidence(app, screen, side, frame),
        }
    }
    frame.render_widget(Paragraph::new(banner), areas.banner);
    frame.render_widget(pane::status_line(app, screen, (areas.status, now)), areas.status);
    frame.render_widget(pane::hint_line(app, screen, usize::from(areas.hints.width)), areas.hints);
    pane::draw_popup(app, screen, area, frame);
}
