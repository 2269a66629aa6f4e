//! Draws the popups in the middle of the screen.
//!
//! Not here: keys (`popup`), drawing of one feature (its folder).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};
use time::OffsetDateTime;
use tui_textarea::TextArea;

use super::{Popup, palette};
use crate::chrome::stage;
use crate::look::Look;
use crate::pane::{Focus, block};
use crate::screen::ScreenState;
use crate::text::{cells, width};
use crate::theme::Theme;
use crate::{compare, context, document, export, help, new_domain, settings};
use ragonite_app::App;

/// Width of a popup with a text line.
const WIDE: usize = 64;

/// Rows below the panes: status and hints.
pub(crate) const FOOTER: u16 = 2;

pub(crate) fn draw(app: &App, screen: &mut ScreenState, whole: Rect, now: OffsetDateTime, frame: &mut Frame<'_>) {
    // The footer stays visible, because it names the keys of the popup.
    let area = Rect { height: whole.height.saturating_sub(FOOTER), ..whole };
    let (theme, words) = (screen.theme, screen.words);
    let look = Look { theme: &theme, words, width: usize::from(area.width) };
    let columns = look.width.saturating_sub(4);
    let mut room = columns.min(WIDE);
    let mut below = Line::default();
    let mut rows_from = None;
    let (title, lines, text) = match &mut screen.popup {
        None => return,
        Some(Popup::Help(help)) => return help::draw(help, &screen.keymap, &look, area, frame),
        Some(Popup::NewDomain(form)) => return new_domain::draw(form, &look, area, frame),
        Some(Popup::Settings(view)) => return settings::draw(app, view, &look, &mut screen.targets, area, frame),
        Some(Popup::Compare(menu)) => {
            return compare::draw_menu(app, menu, &look, &mut screen.targets, whole, frame);
        }
        Some(Popup::Comparison(view)) => {
            let running = stage(app, words, now - screen.stage.1);
            return compare::draw_comparison(app, view, running, &look, whole, frame);
        }
        Some(Popup::Context(view)) => return context::draw(app, view, &look, whole, frame),
        Some(Popup::Export(menu)) => return export::draw(menu, &look, area, frame),
        Some(Popup::Document(view)) => return document::draw(app, view, &look, whole, frame),
        Some(Popup::Palette(palette)) => {
            room = columns.min(palette::WIDE);
            let rows = palette::ROWS.min(usize::from(area.height).saturating_sub(5)).max(1);
            let lines = palette.lines(&screen.keymap, rows, &Look { width: room, ..look });
            let found = palette.found(words).len();
            rows_from = (found > 0).then_some((palette.selected + 1).saturating_sub(rows));
            if found > rows {
                below = Line::styled(words.one_of(palette.selected + 1, found), theme.dim).right_aligned();
            }
            (words.actions(), lines, Some(&mut palette.line))
        }
        Some(Popup::Prompt(prompt)) => (words.asked(&prompt.asked), Vec::new(), Some(&mut prompt.line)),
        Some(Popup::Reasons(reasons)) => {
            rows_from = Some(0);
            (words.what_is_wrong(), reasons.lines(&theme, words), None)
        }
        Some(Popup::Confirm(confirm)) => {
            let lines = confirm.lines(&Look { width: room, ..look });
            (words.really(), lines, None)
        }
    };
    let wide = if text.is_some() { room } else { lines.iter().map(Line::width).max().unwrap_or(0).max(width(title)) };
    let at = middle(area, wide + 4, lines.len() + 2 + usize::from(text.is_some()));
    let frame_block = block(title, Focus::Here, &theme).title_bottom(below);
    let inner = frame_block.inner(at);
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    let mut rest = inner;
    if let Some(line) = text {
        let first = Rect { height: inner.height.min(1), ..inner };
        draw_text(line, first, frame);
        rest = Rect { y: inner.y + first.height, height: inner.height - first.height, ..inner };
    }
    if let Some(from) = rows_from {
        screen.targets.popup(rest, (from..from + lines.len()).map(Some));
    }
    frame.render_widget(Paragraph::new(lines), rest);
}

pub(crate) fn middle(area: Rect, columns: usize, rows: usize) -> Rect {
    let size = (cells(columns).min(area.width), cells(rows).min(area.height));
    Rect::new(area.x + (area.width - size.0) / 2, area.y + (area.height - size.1) / 2, size.0, size.1)
}

pub(crate) fn draw_text(line: &mut TextArea<'static>, area: Rect, frame: &mut Frame<'_>) {
    line.set_cursor_line_style(Style::new());
    line.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_widget(&*line, area);
}

/// A popup with a search line below its text.
pub(crate) struct SearchRoom {
    pub(crate) body: Rect,
    /// Without height while no search is typed.
    pub(crate) line: Rect,
}

pub(crate) fn room_for_search(inner: Rect, typed: Option<&TextArea<'static>>) -> SearchRoom {
    let rows = u16::from(typed.is_some()).min(inner.height);
    let body = Rect { height: inner.height - rows, ..inner };
    SearchRoom { body, line: Rect { y: body.bottom(), height: rows, ..inner } }
}

/// Draws the search line, after a `/`.
pub(crate) fn draw_search(line: &mut TextArea<'static>, row: Rect, theme: &Theme, frame: &mut Frame<'_>) {
    let label = Rect { width: 2.min(row.width), ..row };
    frame.render_widget(Line::styled(" /", theme.accent), label);
    draw_text(line, Rect { x: row.x + label.width, width: row.width - label.width, ..row }, frame);
}
