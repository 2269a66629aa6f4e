//! The settings popup, drawn over the panes.
//!
//! Invariant: an override of the domain is marked with `*` and shown beside its configured value; matches are marked
//! where they are visible.
//! Not here: keys (`settings`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::SettingsView;
use crate::look::Look;
use crate::messages::Words;
use crate::mouse::Targets;
use crate::pane::{Focus, block};
use crate::popup::{SearchRoom, draw_search, draw_text, middle, room_for_search};
use crate::text::{Indent, cells, fit, pad, paragraphs, width};
use ragonite_app::App;
use ragonite_base::clean_line;
use ragonite_config::{Group, Setting};
use ragonite_history::TurnSettings;
use ragonite_inference::GeneratorChoice;

/// Cells of the names.
const NAMES: usize = 20;
/// Cells of the values.
const VALUES: usize = 22;
/// Largest width of the popup.
const WIDEST: usize = 84;
/// Rows below the settings, for the description.
const DESCRIPTION: u16 = 4;

/// Lines, each with the index of its setting; headings have none.
type Rows = Vec<(Option<usize>, Line<'static>)>;

pub(crate) fn draw(
    app: &App,
    view: &mut SettingsView,
    look: &Look<'_>,
    targets: &mut Targets,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let Look { theme, words, .. } = *look;
    let room = usize::from(area.width).saturating_sub(4).min(WIDEST);
    view.go_to_match(words);
    let look = Look { width: room, ..*look };
    let rows = rows(app, view, &look);
    let at = middle(area, room + 2, rows.len() + 2 + usize::from(DESCRIPTION));
    let changed = view.changes(app).iter().count();
    let mut frame_block = block(title(app, view, words), Focus::Here, theme);
    if changed > 0 {
        let note = words.so_many_changed(changed);
        frame_block = frame_block.title(Line::styled(note, theme.accent).right_aligned());
    }
    let inner = frame_block.inner(at);
    let below = DESCRIPTION.min(inner.height / 2);
    let list = Rect { height: inner.height - below, ..inner };
    let under = Rect { y: list.bottom(), height: below, ..inner };
    let SearchRoom { body: description, line: search } = room_for_search(under, view.text.typed.as_ref());
    let cursor = rows.iter().position(|(setting, _)| *setting == Some(view.selected)).unwrap_or(0);
    let scroll = &mut view.text.scroll;
    scroll.view(rows.len(), usize::from(list.height));
    // The heading is visible with the first setting.
    scroll.reveal(if cursor <= 2 { 0..cursor + 1 } else { cursor..cursor + 1 });
    let seen = scroll.view(rows.len(), usize::from(list.height));
    if scroll.below() > 0 {
        let more = words.more_below(scroll.below());
        frame_block = frame_block.title_bottom(Line::from(more).right_aligned());
    }
    let rows = rows.into_iter().skip(seen.start).take(seen.len());
    let (owners, mut lines): (Vec<Option<usize>>, Vec<Line<'static>>) = rows.unzip();
    if let Some(find) = &view.text.find {
        for line in &mut lines {
            find.mark(std::slice::from_mut(line));
        }
    }
    targets.popup(list, owners);
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    frame.render_widget(Paragraph::new(lines), list);
    frame.render_widget(Paragraph::new(description_lines(view, &look)), description);
    if let Some(line) = &mut view.text.typed {
        draw_search(line, search, theme, frame);
    }
    if let Some(row) = cursor.checked_sub(seen.start) {
        draw_typed(view, list, row, frame);
    }
}

/// Draws the typed value in place of the current one.
fn draw_typed(view: &mut SettingsView, list: Rect, row: usize, frame: &mut Frame<'_>) {
    let Some(line) = view.typed.as_mut().filter(|_| row < usize::from(list.height)) else { return };
    let from = cells(4 + NAMES);
    let value =
        Rect { x: list.x + from, y: list.y + cells(row), width: list.width.saturating_sub(from + 1), height: 1 };
    frame.render_widget(Clear, value);
    draw_text(line, value, frame);
}

fn title(app: &App, view: &SettingsView, words: Words) -> String {
    if let Some(turn) = view.turn(app) {
        return words.ask_turn_again_with(turn.record.number);
    }
    if let Some(domain) = view.other() {
        return words.settings_of(domain.as_str());
    }
    let domain = app.domain().map_or_else(|| words.no_domain().to_owned(), |domain| domain.name.to_string());
    words.settings_of(&domain)
}

fn rows(app: &App, view: &SettingsView, look: &Look<'_>) -> Rows {
    let Look { theme, words, .. } = *look;
    let (before, now) = (view.before(app), view.now(app));
    let mut rows = Rows::new();
    for group in [Group::Retriever, Group::Generator, Group::Attribution] {
        if !rows.is_empty() {
            rows.push((None, Line::default()));
        }
        rows.push((None, Line::styled(format!(" {}", words.group(group)), theme.strong)));
        let settings = Setting::ALL.iter().copied().enumerate().filter(|(_, setting)| setting.group() == group);
        rows.extend(settings.map(|(at, setting)| (Some(at), row(app, view, setting, at, &before, &now, look))));
    }
    rows
}

fn row(
    app: &App,
    view: &SettingsView,
    setting: Setting,
    at: usize,
    before: &TurnSettings,
    now: &TurnSettings,
    look: &Look<'_>,
) -> Line<'static> {
    let Look { theme, words, width: room } = *look;
    let (own, here) = (view.changes(app).has(setting), at == view.selected);
    let text = setting.text(now);
    let value = if here { format!("‹ {text} ›") } else { format!("  {text}") };
    let style = if here { theme.selected } else { theme.text };
    let beside = match setting {
        Setting::Rerank if app.reranker().is_none() => words.no_reranker().to_owned(),
        _ if own && view.is_again() => words.was(&setting.text(before)),
        _ if own => words.configured(&setting.text(before)),
        Setting::Model if now.model == GeneratorChoice::Profile => clean_line(&app.engine().generator),
        _ => String::new(),
    };
    // The id of a model may be longer than the column.
    let values = VALUES.max(width(&value) + 1);
    let used = 4 + NAMES.saturating_sub(2) + values;
    Line::from(vec![
        Span::styled(if here { " ›" } else { "  " }, theme.accent),
        Span::styled(if own { "* " } else { "  " }, theme.accent),
        Span::styled(pad(words.label(setting), NAMES - 2), if own { theme.strong } else { theme.text }),
        Span::styled(value.clone(), style),
        Span::raw(" ".repeat(values.saturating_sub(width(&value)))),
        Span::styled(fit(&beside, room.saturating_sub(used)), theme.dim),
    ])
}

/// Description and range of the setting under the cursor, or why a value was refused.
fn description_lines(view: &SettingsView, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width: room } = *look;
    let setting = view.setting();
    let indent = Indent::of(1);
    let mut lines = vec![Line::default()];
    if let Some(refused) = &view.refused {
        lines.extend(paragraphs(&format!("✗ {}", words.refused(refused)), theme.bad, room, &indent));
    } else {
        lines.extend(paragraphs(words.what_setting(setting), theme.text, room, &indent));
        let range = format!("{}: {}", setting.key(), words.needed(setting));
        lines.extend(paragraphs(&range, theme.dim, room, &indent));
    }
    let most = usize::from(DESCRIPTION) - 1;
    if lines.len() > most {
        // The text matters more than the empty line above it.
        lines.remove(0);
    }
    lines.truncate(most);
    let note = if view.is_again() { words.for_this_question() } else { words.needs_new_ingest() };
    lines.push(Line::styled(fit(&format!(" {note}"), room), theme.dim));
    lines
}
