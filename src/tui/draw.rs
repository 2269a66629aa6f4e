//! Draws one frame: layout, panes, bars, popup.
//!
//! Invariants: the frame depends only on the app, the screen state and the time; the areas are recorded for the mouse.

use ratatui::Frame;
use ratatui::widgets::{Clear, Paragraph};
use time::OffsetDateTime;

use super::layout::{Areas, Wanted, areas, columns, composer_width};
use super::layout_actions;
use super::pane::Pane;
use super::screen::ScreenState;
use super::text::cells;
use super::{attribution, chrome, composer, conversation, evidence, lists, popup, steps};
use ragonite_app::App;

/// Draws a frame. `now` gives the time that the running stage has taken.
pub fn draw(app: &App, screen: &mut ScreenState, now: OffsetDateTime, frame: &mut Frame<'_>) {
    screen.sync(app, now);
    let area = frame.area();
    screen.columns = columns(area, screen.arrangement);
    layout_actions::show_focus(screen);
    screen.targets.clear();
    let banner = chrome::banner_lines(app, screen, usize::from(area.width));
    let wanted = Wanted {
        focus: screen.focus,
        arrangement: screen.arrangement,
        banner: cells(banner.len()),
        question: cells(composer::rows(screen, composer_width(area, screen.arrangement))),
    };
    if let Some(areas) = areas(area, wanted) {
        draw_panes(app, screen, &areas, now, frame);
        frame.render_widget(chrome::status_line(app, screen, usize::from(areas.status.width), now), areas.status);
        popup::draw(app, screen, area, now, frame);
        // The banner covers the popup, because the problem may come from a key in the popup.
        frame.render_widget(Clear, areas.banner);
        frame.render_widget(Paragraph::new(banner), areas.banner);
        // The hint line shows the current match, which is known after the panes are laid out.
        frame.render_widget(chrome::hint_line(app, screen, usize::from(areas.hints.width)), areas.hints);
    } else {
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(screen.words.too_small()), area);
    }
    screen.signs.apply(frame.buffer_mut());
    screen.theme.lay_ground(frame.buffer_mut());
}

fn draw_panes(app: &App, screen: &mut ScreenState, areas: &Areas, now: OffsetDateTime, frame: &mut Frame<'_>) {
    if let Some(area) = areas.tabs {
        frame.render_widget(chrome::tab_bar(screen, usize::from(area.width)), area);
        chrome::tab_targets(screen, area);
    }
    if let Some(area) = areas.lists {
        screen.targets.pane(Pane::Lists, area);
        lists::draw(app, screen, area, frame);
    }
    if let Some(area) = areas.conversation {
        screen.targets.pane(Pane::Conversation, area);
        conversation::draw(app, screen, area, now, frame);
    }
    if let Some(area) = areas.composer {
        screen.targets.pane(Pane::Composer, area);
        composer::draw(app, screen, area, frame);
    }
    let Some(side) = areas.side else { return };
    // With a column of its own, the list pane is never shown on the right.
    let shown = if screen.side == Pane::Lists && screen.columns == 3 { Pane::Evidence } else { screen.side };
    screen.targets.pane(shown, side);
    match shown {
        Pane::Behind => steps::draw(app, screen, side, frame),
        Pane::Why => attribution::draw(app, screen, side, now, frame),
        Pane::Lists => lists::draw(app, screen, side, frame),
        _ => evidence::draw(app, screen, side, frame),
    }
}
