//! The panes, one file each, and their shared parts.
//!
//! Takes the app, the screen state and an area; draws a pane there.
//! Invariant: a pane changes only its own positions, which depend on its height.

mod attribution;
mod bars;
mod chrome;
mod compare;
mod composer;
mod context;
mod conversation;
mod document;
mod empty_state;
mod evidence;
mod export;
mod lists;
mod logprob;
mod new_domain;
mod outline_cache;
mod popup;
mod sentence;
mod settings;
mod settings_used;
mod steps;
mod table;
mod trace;
mod turn;
mod turn_cache;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::action::{Action, Place};
use super::find::Find;
use super::outline::Outline;
use super::reflow::reverse_on;
use super::screen::{Pane, ScreenState};
use super::text::fit;
use super::theme::Theme;

pub(super) use attribution::draw as draw_why;
use chrome::help_lines;
pub(super) use chrome::{banner_lines, hint_line, status_line, tab_bar, tab_targets};
pub(super) use compare::text as comparison_text;
pub(super) use composer::{draw as draw_composer, rows as composer_rows};
pub(super) use conversation::draw as draw_conversation;
pub(super) use evidence::draw as draw_evidence;
pub(super) use lists::{Entry, draw as draw_lists, entries, entry, next_found};
pub(super) use outline_cache::Kept;
pub(super) use popup::draw as draw_popup;
pub(super) use table::Measured;
pub(super) use trace::{Section, draw as draw_behind, text as step_text};
pub(super) use turn::cited;
pub(super) use turn_cache::Settled;

/// Whether a pane has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Here,
    Elsewhere,
}

impl Focus {
    fn of(screen: &ScreenState, pane: Pane) -> Self {
        if screen.focus == pane { Self::Here } else { Self::Elsewhere }
    }
}

/// A pane's frame: thick and accented with the focus, thin and dim without.
pub(super) fn block<'a>(title: impl Into<Span<'a>>, focus: Focus, theme: &Theme) -> Block<'a> {
    let title: Span<'a> = title.into();
    let (kind, border, words) = match focus {
        Focus::Here => (BorderType::Thick, theme.accent, theme.accent),
        Focus::Elsewhere => (BorderType::Plain, theme.dim, theme.text),
    };
    let title = Line::from(vec![Span::raw(" "), title, Span::raw(" ")]).style(words);
    Block::bordered().border_type(kind).border_style(border).title(title)
}

/// The frame of the side pane, with the names of the other side panes.
fn side_block<'a>(screen: &ScreenState, pane: Pane, theme: &Theme) -> Block<'a> {
    let frame_block = block(screen.words.title(pane), Focus::of(screen, pane), theme);
    with_tabs(frame_block, &tab_names(screen, pane), theme)
}

/// Like [`side_block`] with another title; drops the last names where the frame is too narrow.
fn side_block_of<'a>(screen: &ScreenState, pane: Pane, title: &str, width: u16) -> Block<'a> {
    let mut names = tab_names(screen, pane);
    let room = usize::from(width).saturating_sub(super::text::width(title) + 6);
    while super::text::width(&names.join(TABS)) > room && names.pop().is_some() {}
    let frame_block = block(title.to_owned(), Focus::of(screen, pane), &screen.theme);
    with_tabs(frame_block, &names, &screen.theme)
}

/// Separator of names on a frame.
const TABS: &str = " · ";

fn with_tabs<'a>(frame_block: Block<'a>, names: &[String], theme: &Theme) -> Block<'a> {
    if names.is_empty() {
        return frame_block;
    }
    frame_block.title(Line::styled(format!(" {} ", names.join(TABS)), theme.dim).right_aligned())
}

/// The other side panes with their keys; empty with one column, where the tab bar names them.
fn tab_names(screen: &ScreenState, pane: Pane) -> Vec<String> {
    if screen.columns < 2 {
        return Vec::new();
    }
    let tabs = [
        (Pane::Evidence, Action::ShowEvidence),
        (Pane::Behind, Action::ShowBehind),
        (Pane::Why, Action::ShowWhy),
        (Pane::Lists, Action::ShowLists),
    ];
    let others = tabs.into_iter().filter(|(other, _)| *other != pane && (screen.columns == 2 || *other != Pane::Lists));
    let named = others.map(|(other, action)| {
        let key = screen.keymap.key(action, Place::Composer).map(|key| key + " ").unwrap_or_default();
        format!("{key}{}", screen.words.tab(other))
    });
    named.collect()
}

/// Lines, each with its owner, such as a section.
#[derive(Debug, Clone)]
struct Parts<K> {
    lines: Vec<Line<'static>>,
    owners: Vec<K>,
}

impl<K: Copy> Parts<K> {
    fn new() -> Self {
        Self { lines: Vec::new(), owners: Vec::new() }
    }

    fn push(&mut self, owner: K, line: impl Into<Line<'static>>) {
        self.lines.push(line.into());
        self.owners.push(owner);
    }

    fn extend(&mut self, owner: K, lines: impl IntoIterator<Item = Line<'static>>) {
        for line in lines {
            self.push(owner, line);
        }
    }
}

/// Cells before each line of an outline, for the cursor.
const GUTTER: u16 = 2;

/// Draws an outline with its cursor.
fn draw_outline<K: Ord + Copy>(
    kept: &mut Kept<K>,
    outline: &mut Outline<K>,
    focus: Focus,
    theme: &Theme,
    find: Option<&mut Find>,
    inner: Rect,
) -> Paragraph<'static> {
    let mut places = Vec::new();
    if let Some(find) = find.filter(|_| focus == Focus::Here) {
        places = kept.find(find).to_vec();
        if let Some(line) = find.step(&kept.found(), outline.cursor()) {
            outline.go_to(line);
        }
    }
    let (view, cursor) = outline.view(kept.parts.owners.clone(), usize::from(inner.height));
    let seen = kept.parts.lines.iter().enumerate().skip(view.start).take(view.len());
    let lines: Vec<Line<'static>> = seen
        .map(|(at, line)| {
            let mut line = line.clone();
            reverse_on(&mut line, at, &places);
            let here = at == cursor && focus == Focus::Here;
            line.spans.insert(0, Span::styled(if here { "› " } else { "  " }, theme.accent));
            line
        })
        .collect();
    Paragraph::new(lines)
}

/// Whether a section shows its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    Open,
    Closed,
}

impl Fold {
    fn mark(self) -> char {
        match self {
            Self::Open => '▾',
            Self::Closed => '▸',
        }
    }
}

impl From<bool> for Fold {
    fn from(open: bool) -> Self {
        if open { Self::Open } else { Self::Closed }
    }
}

/// The header line of a section.
fn header(open: Fold, title: &str, summary: &str, width: usize, theme: &Theme) -> Line<'static> {
    let mark = format!("{} ", open.mark());
    let title = fit(title, width.saturating_sub(2));
    let room = width.saturating_sub(2 + super::text::width(&title) + 2);
    let summary = if room < 4 { String::new() } else { format!("  {}", fit(summary, room)) };
    Line::from(vec![
        Span::styled(mark, theme.accent),
        Span::styled(title, theme.strong),
        Span::styled(summary, theme.dim),
    ])
}

/// Draws the explanation of an empty pane.
fn say(text: &str, frame: &mut Frame<'_>, inner: Rect, theme: &Theme) {
    let indent = super::text::Indent::of(1);
    let lines = super::text::paragraphs(text, theme.dim, usize::from(inner.width).saturating_sub(1), &indent);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Writes the number of lines below the view into the frame of a pane.
fn say_below(below: usize, screen: &ScreenState, pane: Pane, area: Rect, frame: &mut Frame<'_>) {
    if below == 0 {
        return;
    }
    let style = if Focus::of(screen, pane) == Focus::Here { screen.theme.accent } else { screen.theme.dim };
    let text = Line::styled(screen.words.lines_below(below), style).right_aligned();
    let bottom =
        Rect { y: area.bottom().saturating_sub(1), height: 1, x: area.x + 1, width: area.width.saturating_sub(3) };
    frame.render_widget(text, bottom);
}
