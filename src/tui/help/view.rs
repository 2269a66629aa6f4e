//! Draws the help: the list of keys, or a page of the guide.
//!
//! Not here: keys (`help`), rendering a page (`markdown`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::HelpView;
use crate::action::{Action, Place};
use crate::keymap::Keymap;
use crate::long_text::Flowing;
use crate::look::Look;
use crate::markdown::{MarkdownLook, render};
use crate::pane::{Focus, block};
use crate::popup::{SearchRoom, draw_search, middle, room_for_search};
use crate::text::{Indent, fit, pad, width, wrap};

/// Width of a guide page, because longer lines are hard to read.
const GUIDE_COLUMNS: usize = 100;

pub(crate) fn draw(help: &mut HelpView, keymap: &Keymap, look: &Look<'_>, area: Rect, frame: &mut Frame<'_>) {
    let Look { theme, words, .. } = *look;
    // The frame, and a space before it.
    let room = usize::from(area.width).saturating_sub(3);
    let (title, lines) = match help.page() {
        None => (words.keys(), help_lines(keymap, &Look { width: room, ..*look })),
        Some(page) => {
            let width = room.min(GUIDE_COLUMNS);
            (page.title, render(&page.flowing(), &MarkdownLook { theme, width, holds: &|_| true }))
        }
    };
    let wide = lines.iter().map(Line::width).max().unwrap_or(0);
    let at = middle(area, wide + 4, lines.len() + 2);
    let position = words.one_of(help.page_number(), HelpView::page_count());
    let pages = Line::styled(position, theme.dim).right_aligned();
    let frame_block = block(title, Focus::Here, theme).title_top(pages);
    let inner = frame_block.inner(at);
    let SearchRoom { body, line: typed } = room_for_search(inner, help.text.typed.as_ref());
    let seen = help.text.seen(lines, usize::from(body.height), Flowing::OneText);
    let frame_block = match help.text.scroll.below() {
        0 => frame_block,
        below => frame_block.title_bottom(Line::from(words.more_below(below)).right_aligned()),
    };
    frame.render_widget(Clear, at);
    frame.render_widget(Paragraph::new(seen).block(frame_block), at);
    if let Some(line) = &mut help.text.typed {
        draw_search(line, typed, theme, frame);
    }
}

/// Every action with its keys.
fn help_lines(keymap: &Keymap, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width: room } = *look;
    let keys: Vec<(Action, String)> = Action::all().map(|action| (action, keymap.keys(action))).collect();
    let widest = keys.iter().map(|(_, keys)| width(keys)).max().unwrap_or(0);
    let row = |action: &Action, keys: &str| {
        let keys = if keys.is_empty() { words.no_key() } else { keys };
        let first = Span::styled(format!(" {}  ", pad(keys, widest)), theme.accent);
        let rest = Span::raw(" ".repeat(first.width()));
        wrap(&[Span::styled(words.label_of(*action), theme.text)], room, &Indent { first, rest })
    };
    let mut lines = Vec::new();
    let groups = [
        (Place::Anywhere, words.everywhere()),
        (Place::Composer, words.in_the_composer()),
        (Place::Panes, words.in_the_panes()),
    ];
    for (place, title) in groups {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(format!(" {title}"), theme.strong));
        let here = keys.iter().filter(|(action, _)| action.place() == place);
        lines.extend(here.flat_map(|(action, keys)| row(action, keys)));
    }
    let note = words.characters_are_text();
    lines.push(Line::default());
    lines.push(Line::styled(format!(" {}", fit(note, 60)), theme.dim));
    lines
}
