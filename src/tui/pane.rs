//! The panes by name, and what they share: frame, lines with owners, outline with a cursor.
//!
//! Takes titles, lines and an area; gives the frame and the lines of a pane.
//! Not here: the content of a pane (`view` in the folder of its feature).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::action::{Action, Place};
use super::find::Find;
use super::outline::Outline;
use super::outline_cache::Kept;
use super::reflow::reverse_on;
use super::screen::ScreenState;
use super::text::{self, Indent, fit, paragraphs};
use super::theme::Theme;

/// A pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// The question.
    Composer,
    /// Questions and answers.
    Conversation,
    /// The hits of the selected turn.
    Evidence,
    /// The trace of the selected turn.
    Behind,
    /// The attribution of the selected turn.
    Why,
    /// Domains and conversations.
    Lists,
}

impl Pane {
    /// All panes, in the order of Tab.
    pub(super) const ALL: [Self; 6] =
        [Self::Composer, Self::Conversation, Self::Evidence, Self::Behind, Self::Why, Self::Lists];
}

/// Whether a pane has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Here,
    Elsewhere,
}

impl Focus {
    pub(super) fn of(screen: &ScreenState, pane: Pane) -> Self {
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
pub(super) fn side_block<'a>(screen: &ScreenState, pane: Pane, theme: &Theme) -> Block<'a> {
    let frame_block = block(screen.words.title(pane), Focus::of(screen, pane), theme);
    with_tabs(frame_block, &tab_names(screen, pane), theme)
}

/// Like [`side_block`] with another title; drops the last names where the frame is too narrow.
pub(super) fn side_block_of<'a>(screen: &ScreenState, pane: Pane, title: &str, width: u16) -> Block<'a> {
    let mut names = tab_names(screen, pane);
    let room = usize::from(width).saturating_sub(text::width(title) + 6);
    while text::width(&names.join(TABS)) > room && names.pop().is_some() {}
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
pub(super) struct Parts<K> {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) owners: Vec<K>,
}

impl<K: Copy> Parts<K> {
    pub(super) fn new() -> Self {
        Self { lines: Vec::new(), owners: Vec::new() }
    }

    pub(super) fn push(&mut self, owner: K, line: impl Into<Line<'static>>) {
        self.lines.push(line.into());
        self.owners.push(owner);
    }

    pub(super) fn extend(&mut self, owner: K, lines: impl IntoIterator<Item = Line<'static>>) {
        for line in lines {
            self.push(owner, line);
        }
    }
}

/// Cells before each line of an outline, for the cursor.
pub(super) const GUTTER: u16 = 2;

/// Draws an outline with its cursor.
pub(super) fn draw_outline<K: Ord + Copy>(
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
pub(super) enum Fold {
    Open,
    Closed,
}

impl Fold {
    pub(super) fn mark(self) -> char {
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
pub(super) fn header(open: Fold, title: &str, summary: &str, width: usize, theme: &Theme) -> Line<'static> {
    let mark = format!("{} ", open.mark());
    let title = fit(title, width.saturating_sub(2));
    let room = width.saturating_sub(2 + text::width(&title) + 2);
    let summary = if room < 4 { String::new() } else { format!("  {}", fit(summary, room)) };
    Line::from(vec![
        Span::styled(mark, theme.accent),
        Span::styled(title, theme.strong),
        Span::styled(summary, theme.dim),
    ])
}

/// Draws the explanation of an empty pane.
pub(super) fn say(text: &str, frame: &mut Frame<'_>, inner: Rect, theme: &Theme) {
    let indent = Indent::of(1);
    let lines = paragraphs(text, theme.dim, usize::from(inner.width).saturating_sub(1), &indent);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Writes the number of lines below the view into the frame of a pane.
pub(super) fn say_below(below: usize, screen: &ScreenState, pane: Pane, area: Rect, frame: &mut Frame<'_>) {
    if below == 0 {
        return;
    }
    let style = if Focus::of(screen, pane) == Focus::Here { screen.theme.accent } else { screen.theme.dim };
    let text = Line::styled(screen.words.lines_below(below), style).right_aligned();
    let bottom =
        Rect { y: area.bottom().saturating_sub(1), height: 1, x: area.x + 1, width: area.width.saturating_sub(3) };
    frame.render_widget(text, bottom);
}
