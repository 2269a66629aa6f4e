//! The form for a new domain, drawn over the panes.
//!
//! Not here: keys (`new_domain`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use ratatui::widgets::{Clear, Paragraph};

use super::{Field, NewDomain};
use crate::look::Look;
use crate::pane::{Focus, block};
use crate::popup::middle;
use crate::text::{Indent, cells, one_line, wrap};

/// Largest width of the form.
const WIDEST: usize = 72;
/// Cells of the labels.
const LABEL: u16 = 9;
const FIELDS: [Field; 2] = [Field::Folder, Field::Name];

pub(crate) fn draw(form: &mut NewDomain, look: &Look<'_>, area: Rect, frame: &mut Frame<'_>) {
    let Look { theme, words, .. } = *look;
    let room = usize::from(area.width).saturating_sub(4).min(WIDEST);
    let hint = words.what_field(form.at);
    let below = match &form.refused {
        Some(why) => {
            let sign = Indent { first: Span::styled(" ! ", theme.warn), rest: Span::raw("   ") };
            wrap(&[one_line(&words.not_taken(why), theme.warn)], room, &sign)
        }
        None => wrap(&[one_line(hint, theme.dim)], room, &Indent::of(1)),
    };
    let at = middle(area, room + 2, below.len() + 5);
    let frame_block = block(words.new_domain(), Focus::Here, theme);
    let inner = frame_block.inner(at);
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    for (row, field) in (0..).zip(FIELDS) {
        let here = form.at == field;
        let line = Rect { y: inner.y + row, height: inner.height.saturating_sub(row).min(1), ..inner };
        let style = if here { theme.accent } else { theme.dim };
        frame.render_widget(Paragraph::new(Span::styled(words.field(field), style)), line);
        let typed = Rect { x: line.x + LABEL.min(line.width), width: line.width.saturating_sub(LABEL), ..line };
        let text = match field {
            Field::Folder => &mut form.folder,
            Field::Name => &mut form.name,
        };
        text.set_cursor_line_style(Style::new());
        let cursor = if here { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        text.set_cursor_style(cursor);
        frame.render_widget(&*text, typed);
    }
    let top = inner.height.min(3);
    let rest = Rect { y: inner.y + top, height: inner.height.saturating_sub(top).min(cells(below.len())), ..inner };
    frame.render_widget(Paragraph::new(below), rest);
}
