//! The export popup, drawn over the panes.
//!
//! Not here: keys (`export`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::{ExportMenu, FORMATS, Row, To, What};
use crate::look::Look;
use crate::messages::Words;
use crate::pane::{Focus, block};
use crate::popup::middle;
use crate::text::{pad, width};
use crate::theme::Theme;
use ragonite_history::Format;

/// Cells of the names of the rows.
const NAMES: usize = 8;

pub(crate) fn draw(menu: &ExportMenu, look: &Look<'_>, area: Rect, frame: &mut Frame<'_>) {
    let Look { theme, words, .. } = *look;
    let lines: Vec<Line<'static>> = Row::ALL.into_iter().map(|row| line(menu, row, theme, words)).collect();
    let title = words.take_out();
    let wide = lines.iter().map(Line::width).max().unwrap_or(0).max(width(title));
    let at = middle(area, wide + 4, lines.len() + 2);
    frame.render_widget(Clear, at);
    let frame_block = block(title, Focus::Here, theme);
    let inner = frame_block.inner(at);
    frame.render_widget(frame_block, at);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Name of a format, the same in every language.
fn name_of(format: Format) -> &'static str {
    match format {
        Format::Markdown => "Markdown",
        Format::Html => "HTML",
        Format::Json => "JSON",
    }
}

/// `› As       [Markdown]  HTML   JSON`.
fn line(menu: &ExportMenu, row: Row, theme: &Theme, words: Words) -> Line<'static> {
    let (name, choices) = match row {
        Row::Format => (words.format(), FORMATS.map(|one| (name_of(one), one == menu.format)).to_vec()),
        Row::What => (words.how_much(), What::ALL.map(|one| (words.much(one), one == menu.what)).to_vec()),
        Row::To => (words.where_to(), To::ALL.map(|one| (words.place_of(one), one == menu.to)).to_vec()),
    };
    let here = menu.row == row;
    let lead = format!("{} {} ", if here { "›" } else { " " }, pad(name, NAMES));
    let mut spans = vec![Span::styled(lead, theme.accent)];
    for (text, chosen) in choices {
        let (text, style) = match chosen {
            true if here => (format!("[{text}] "), theme.selected),
            true => (format!("[{text}] "), theme.strong),
            false => (format!(" {text}  "), theme.text),
        };
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}
