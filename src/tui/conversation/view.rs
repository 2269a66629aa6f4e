//! Draws the conversation pane: questions, answers and the running stage.
//!
//! Invariant: the cost of a frame depends on the visible lines, not on the length of the conversation.
//! Not here: layout of a turn (`turn`), cached turns (`turn_cache`).

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use time::OffsetDateTime;

use super::citation::Chosen;
use super::empty_state;
use super::turn::{self, Drawn};
use super::turn_cache::Column;
use crate::chrome::stage;
use crate::look::Look;
use crate::mouse::Targets;
use crate::pane::{Focus, Pane, block};
use crate::reflow::{Piece, Place, place_of, reverse_on, underline_on};
use crate::screen::ScreenState;
use crate::text::{Indent, cells, fit, width, wrap};
use ragonite_app::{App, Phase, TurnKey};
use ragonite_base::clean_line;

/// Cells before each line, for the mark of the selected turn.
pub(super) const MARK: usize = 2;

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, now: OffsetDateTime, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let title = app.conversation().map_or_else(String::new, |open| format!(" · {}", clean_line(&open.title)));
    let focus = Focus::of(screen, Pane::Conversation);
    let title = fit(&format!("{}{title}", words.title(Pane::Conversation)), usize::from(area.width).saturating_sub(6));
    let mut frame_block = block(title, focus, &theme);
    let inner = frame_block.inner(area);
    let width = usize::from(inner.width).saturating_sub(MARK + 1);
    if app.turns().is_empty() {
        frame.render_widget(frame_block, area);
        frame.render_widget(Paragraph::new(empty_state::lines(app, screen, width)), inner);
        return;
    }
    let running = running(app, screen, width, now);
    let mut column = Column::of(app, screen, width, running);
    let view = view(app, screen, &mut column, usize::from(inner.height), focus);
    let seen = seen_lines(app, screen, &mut column, &view, inner, focus);
    let below = match (screen.conversation.scroll.below(), app.is_busy_here()) {
        (0, _) => String::new(),
        (below, true) => words.new_text_below(below),
        (below, false) => words.lines_below(below),
    };
    frame_block = frame_block.title_bottom(Line::styled(below, theme.accent).right_aligned());
    frame.render_widget(frame_block, area);
    frame.render_widget(Paragraph::new(seen), inner);
}

/// Applies pending scrolls. Returns the visible lines.
fn view(app: &App, screen: &mut ScreenState, column: &mut Column, height: usize, focus: Focus) -> Range<usize> {
    let selected = screen.turn_index(app).unwrap_or(0);
    column.show(app, screen, height);
    if std::mem::take(&mut screen.conversation.reveal) {
        column.settle(app, screen, selected);
        screen.conversation.scroll.reveal(column.lines_of(selected));
        column.show(app, screen, height);
    }
    if let Some(line) = citation_line(app, screen, column, selected) {
        screen.conversation.scroll.go_to(line);
        column.show(app, screen, height);
    }
    if focus == Focus::Here && screen.find.is_some() {
        column.complete(app, screen);
        let view = column.show(app, screen, height);
        if let Some(line) = step_to_match(app, screen, column, view.start) {
            screen.conversation.scroll.go_to(line);
            column.show(app, screen, height);
        }
    }
    column.go_on(app, screen);
    column.show(app, screen, height)
}

/// The line of a newly chosen citation.
fn citation_line(app: &App, screen: &mut ScreenState, column: &mut Column, selected: usize) -> Option<usize> {
    let chosen = screen.conversation.citation.filter(|chosen| chosen.is_new())?;
    screen.conversation.citation = Some(chosen.seen());
    column.settle(app, screen, selected);
    let start = column.lines_of(selected).start;
    let marks = &column.turn(app, screen, selected)?.drawn.marks;
    Some(start + marks.get(chosen.at)?.place.first()?.line)
}

/// Takes the pending step to a match. Returns the line of the match.
fn step_to_match(app: &App, screen: &mut ScreenState, column: &mut Column, top: usize) -> Option<usize> {
    let mut find = screen.find.take()?;
    let mut matches: Vec<(usize, usize)> = Vec::new();
    let mut lines: Vec<usize> = Vec::new();
    let mut start = 0;
    for at in 0..app.turns().len() {
        let found = column.turn(app, screen, at).map(|turn| turn.find(&find)).unwrap_or_default();
        matches.extend((0..found.len()).map(|nth| (at, nth)));
        lines.extend(found.iter().map(|line| start + line));
        start += column.height(at);
    }
    let to = find.step(&lines, find.line.unwrap_or(top));
    screen.find = Some(find);
    let (at, nth) = matches.get(lines.iter().position(|line| Some(*line) == to)?).copied()?;
    // The match may have been found at another width.
    column.settle(app, screen, at);
    let start = column.lines_of(at).start;
    let mut find = screen.find.take()?;
    let found = column.turn(app, screen, at).map(|turn| turn.find(&find)).unwrap_or_default();
    find.line = found.get(nth).or(found.last()).map(|line| start + line);
    let line = find.line;
    screen.find = Some(find);
    line
}

/// The lines of the view; records the mouse targets.
fn seen_lines(
    app: &App,
    screen: &mut ScreenState,
    column: &mut Column,
    view: &Range<usize>,
    inner: Rect,
    focus: Focus,
) -> Vec<Line<'static>> {
    let find = screen.find.clone().filter(|_| focus == Focus::Here);
    let (theme, selected) = (screen.theme, screen.turn_index(app));
    let sentence = screen.attribution.sentence;
    let several = app.turns().len() > 1;
    let mut owners = Vec::new();
    let mut seen = Vec::new();
    let mut targets = std::mem::take(&mut screen.targets);
    for (at, lines) in column.seen(view) {
        let chosen = screen.conversation.citation.filter(|_| Some(at) == selected);
        let Some(turn) = column.turn(app, screen, at) else { continue };
        if let Some(find) = &find {
            turn.find(find);
        }
        let found = find.as_ref().map_or(&[][..], |_| turn.places());
        let drawn = &turn.drawn;
        let explained =
            sentence.filter(|_| Some(at) == selected).and_then(|sentence| explained(app, at, sentence, drawn));
        for number in lines {
            let mut line = drawn.lines.get(number).cloned().unwrap_or_default();
            note_marks(drawn, number, inner, seen.len(), &mut targets);
            reverse_on(&mut line, number, found);
            underline_on(&mut line, number, explained.as_slice());
            if let Some(mark) = chosen.and_then(|chosen| drawn.marks.get(chosen.at)) {
                reverse_on(&mut line, number, std::slice::from_ref(&mark.place));
            }
            let mark = if several && Some(at) == selected { "▌ " } else { "  " };
            line.spans.insert(0, Span::styled(mark, theme.accent));
            owners.push(Some(at));
            seen.push(line);
        }
    }
    targets.rows(Pane::Conversation, inner, owners);
    screen.targets = targets;
    seen
}

/// The place of the sentence that the attribution pane shows.
fn explained(app: &App, turn: usize, sentence: usize, drawn: &Drawn) -> Option<Place> {
    let sentences = app.turns().get(turn)?.sentences();
    let before: String = sentences.get(..sentence)?.iter().map(|sentence| sentence.text.as_str()).collect();
    let mut place = place_of(&sentences.get(sentence)?.text, &before, drawn.lines.get(drawn.answer..)?)?;
    for piece in &mut place {
        piece.line += drawn.answer;
    }
    Some(place)
}

/// Records the areas of the citations of a line.
fn note_marks(drawn: &Drawn, number: usize, inner: Rect, row: usize, targets: &mut Targets) {
    for (nth, mark) in drawn.marks.iter().enumerate() {
        for Piece { letters, .. } in mark.place.iter().filter(|piece| piece.line == number) {
            let text: String = drawn.lines.get(number).map(ToString::to_string).unwrap_or_default();
            let before: String = text.chars().take(letters.start).collect();
            let itself: String = text.chars().skip(letters.start).take(letters.len()).collect();
            let (x, y) = (inner.x + cells(MARK + width(&before)), inner.y + cells(row));
            targets.citation(Rect { x, y, width: cells(width(&itself)), height: 1 }, Chosen::at(nth));
        }
    }
}

/// The running turn, laid out.
fn running(app: &App, screen: &ScreenState, width: usize, now: OffsetDateTime) -> Option<(TurnKey, Drawn)> {
    let turn = app.turn(app.phase().turn()?)?;
    let look = Look { theme: &screen.theme, words: screen.words, width };
    let mut drawn = if matches!(app.phase(), Phase::Explaining(_)) {
        turn::settled(app, turn, &screen.keymap, &look)
    } else {
        turn::unsettled(turn, &look)
    };
    let lines = &mut drawn.lines;
    while lines.last().is_some_and(|line| line.width() == 0) {
        lines.pop();
    }
    lines.push(Line::default());
    if let Some(stage) = stage(app, screen.words, now - screen.stage.1) {
        lines.extend(wrap(&[Span::styled(stage, look.theme.accent)], width, &Indent::default()));
    }
    Some((turn.key, drawn))
}
