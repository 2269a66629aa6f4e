//! Draws the composer.
//!
//! Not here: its text and keys (`composer`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::token_meter;
use crate::action::{Action, Place};
use crate::pane::{Focus, Pane, block};
use crate::screen::ScreenState;
use crate::text::{Indent, wrap};
use ragonite_app::App;

/// Rows of text the question takes at this width.
pub(crate) fn rows(screen: &ScreenState, width: u16) -> usize {
    // The cursor at the end of a full row stands on the next one.
    let width = usize::from(width.saturating_sub(1));
    let lines = screen.composer.area.lines().iter();
    lines.map(|line| wrap(&[Span::raw(line.as_str())], width, &Indent::default()).len()).sum()
}

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, frame: &mut Frame<'_>) {
    let focus = Focus::of(screen, Pane::Composer);
    let (theme, words) = (screen.theme, screen.words);
    let key = |action| screen.keymap.key(action, Place::Composer);
    let edits = screen.composer.edits();
    let hint = match (key(Action::Send), key(Action::Newline), key(Action::Back)) {
        (Some(send), _, Some(back)) if edits => words.asks_again(&send, &back),
        (Some(send), Some(newline), _) if !edits => words.sends(&send, &newline),
        _ => String::new(),
    };
    let title = if edits { words.completed_question() } else { words.title(Pane::Composer) };
    let mut frame_block = block(title, focus, &theme);
    if area.width > 60 {
        frame_block = frame_block.title(Line::styled(hint, theme.dim).right_aligned());
    }
    if !screen.composer.is_empty() && app.domain().is_some() {
        let room = usize::from(area.width.saturating_sub(2));
        let meter = token_meter::before(app, &screen.composer.text(), room, words).unwrap_or_default();
        frame_block = frame_block.title_bottom(Line::styled(meter, theme.dim).right_aligned());
    }
    let stop = screen.keymap.key(Action::Back, Place::Composer).unwrap_or_default();
    let placeholder = match app.domain() {
        Some(_) if app.is_busy_aside() => {
            let stop = screen.keymap.key(Action::Cancel, Place::Composer).unwrap_or_default();
            words.write_while_another_is_answered(&stop)
        }
        Some(_) if app.is_busy() => words.write_on(&stop),
        Some(domain) if app.turns().is_empty() => words.ask_about(domain.name.as_str()),
        Some(_) => words.ask_on().to_owned(),
        None if app.missing_models().is_some() => words.see_above().to_owned(),
        None => words.open_domain_first().to_owned(),
    };
    let textarea = &mut screen.composer.area;
    textarea.set_block(frame_block);
    textarea.set_placeholder_text(placeholder);
    textarea.set_placeholder_style(theme.dim);
    textarea.set_cursor_line_style(Style::new());
    let cursor = if focus == Focus::Here { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
    textarea.set_cursor_style(cursor);
    frame.render_widget(&*textarea, area);
}
