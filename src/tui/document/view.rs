//! The whole document of a hit, drawn over the panes.
//!
//! Invariant: a frame lays out the visible parts and the parts that a move crosses, never the whole document.
//! Not here: keys (`document`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::{DocumentView, Found, Goal, Place};
use crate::find::{Find, Way, first_lines};
use crate::look::Look;
use crate::messages::Words;
use crate::pane::{Focus, block, say};
use crate::popup::{FOOTER, draw_search, middle};
use crate::text::{Indent, fit, paragraphs};
use crate::theme::Theme;
use ragonite_app::{App, DocumentPart, Fetched, Piece};
use ragonite_base::{EvidenceId, clean_line};

/// Largest width, because longer lines are hard to read.
const WIDEST: usize = 110;
/// Lines that stay visible above a target.
const ABOVE: usize = 3;

pub(crate) fn draw(app: &App, view: &mut DocumentView, look: &Look<'_>, area: Rect, frame: &mut Frame<'_>) {
    let Look { theme, words, .. } = *look;
    let above = Rect { height: area.height.saturating_sub(FOOTER), ..area };
    let at = middle(above, usize::from(area.width).min(WIDEST), usize::from(above.height));
    let room = usize::from(at.width).saturating_sub(3);
    let title = if view.title.is_empty() { words.document() } else { view.title.as_str() };
    let frame_block = block(fit(title, room.saturating_sub(4)), Focus::Here, theme);
    let inner = frame_block.inner(at);
    frame.render_widget(Clear, at);
    let open = app.document().filter(|open| open.document == view.document);
    let parts = match open.map(|open| &open.parts) {
        Some(Fetched::Here(parts)) if !parts.is_empty() => parts,
        other => {
            frame.render_widget(frame_block, at);
            let text = match other {
                Some(Fetched::Here(_)) => words.document_gone().to_owned(),
                Some(Fetched::Failed(problem)) => format!("✗ {problem}"),
                _ => words.opening_document().to_owned(),
            };
            return say(&text, frame, inner, theme);
        }
    };
    let typed = u16::from(view.typed.is_some()).min(inner.height);
    let body = Rect { height: inner.height - typed, ..inner };
    let text = Text { parts, hit: view.hit, room, theme, words };
    let height = usize::from(body.height).max(1);
    go(view, &text, height);
    let mut lines = text.seen(view.top, height);
    if let Some(find) = &view.find {
        find.mark(&mut lines);
    }
    let below = Line::styled(format!(" {} ", where_it_is(view, parts.len(), words)), theme.dim).right_aligned();
    frame.render_widget(frame_block.title_bottom(below), at);
    frame.render_widget(Paragraph::new(lines), body);
    if let Some(line) = &mut view.typed {
        let row = Rect { y: body.bottom(), height: typed, ..inner };
        draw_search(line, row, theme, frame);
    }
}

/// The position in the document, or that the search has no match.
fn where_it_is(view: &DocumentView, parts: usize, words: Words) -> String {
    match (&view.find, view.found) {
        (Some(find), Found::Nowhere) => words.not_in_document(&fit(&clean_line(&find.text), 30)),
        _ => words.part_of_document(&words.thousands(view.top.part + 1), &words.thousands(parts)),
    }
}

/// Applies the pending moves.
fn go(view: &mut DocumentView, text: &Text<'_>, height: usize) {
    view.height = height;
    match view.goal.take() {
        None => {}
        Some(Goal::First) => view.top = Place::default(),
        Some(Goal::Last) => view.top = text.end(),
        Some(Goal::Hit) => {
            let part = text.parts.iter().position(|part| part.evidence == view.hit).unwrap_or(0);
            view.top = text.up(Place { part, line: 0 }, ABOVE);
        }
        Some(Goal::Match(way)) => {
            let from = match view.found {
                Found::At(place) => place,
                Found::Unknown | Found::Nowhere => view.top,
            };
            let found = view.find.as_ref().and_then(|find| text.next(find, way, from));
            view.found = found.map_or(Found::Nowhere, Found::At);
            if let Some(place) = found {
                view.top = text.up(place, ABOVE);
            }
        }
    }
    let by = std::mem::take(&mut view.moves);
    view.top = if by < 0 { text.up(view.top, by.unsigned_abs()) } else { text.down(view.top, by.unsigned_abs()) };
    // The last line never scrolls above the bottom.
    let seen = text.seen(view.top, height).len();
    view.top = text.up(view.top, height - seen.min(height));
}

/// A document with its layout; it has at least one part.
struct Text<'a> {
    parts: &'a [DocumentPart],
    hit: EvidenceId,
    room: usize,
    theme: &'a Theme,
    words: Words,
}

impl Text<'_> {
    /// The lines of a part, at least one.
    fn lines(&self, at: usize) -> Vec<Line<'static>> {
        let Some(part) = self.parts.get(at) else { return vec![Line::default()] };
        let is_hit = part.evidence == self.hit;
        let mut lines = Vec::new();
        if part.piece == Piece::First {
            let before = at.checked_sub(1).and_then(|before| self.parts.get(before));
            if before.is_none_or(|before| before.heading_path != part.heading_path) {
                let heading = part.heading_path.join(" › ");
                lines.extend(paragraphs(&heading, self.theme.strong, self.room, &Indent::of(1)));
            }
            let label = format!("{} · {}", self.words.kind(part.kind), clean_line(&part.location));
            let found = if is_hit { self.words.found_here() } else { "  " };
            lines.push(Line::from(vec![
                Span::styled(found, self.theme.accent),
                Span::styled(fit(&label, self.room.saturating_sub(16)), self.theme.dim),
            ]));
        }
        let margin = Span::styled(if is_hit { "▌ " } else { "  " }, self.theme.accent);
        let margin = Indent { first: margin.clone(), rest: margin };
        lines.extend(paragraphs(&part.text, self.theme.text, self.room, &margin));
        if self.parts.get(at + 1).is_none_or(|next| next.piece == Piece::First) || lines.is_empty() {
            lines.push(Line::default());
        }
        lines
    }

    /// At most `most` lines from a place on.
    fn seen(&self, top: Place, most: usize) -> Vec<Line<'static>> {
        let mut seen = Vec::new();
        let mut skip = top.line;
        for part in top.part..self.parts.len() {
            if seen.len() >= most {
                break;
            }
            seen.extend(self.lines(part).into_iter().skip(skip));
            skip = 0;
        }
        seen.truncate(most);
        seen
    }

    /// The place `by` lines further down, or the last line.
    fn down(&self, from: Place, by: usize) -> Place {
        let (mut part, mut line) = (from.part, from.line + by);
        loop {
            let lines = self.lines(part).len();
            if line < lines {
                return Place { part, line };
            }
            if part + 1 >= self.parts.len() {
                return self.end();
            }
            (part, line) = (part + 1, line - lines);
        }
    }

    /// The place `by` lines further up, or the first line.
    fn up(&self, from: Place, by: usize) -> Place {
        let (mut part, mut line, mut left) = (from.part, from.line, by);
        loop {
            if left <= line {
                return Place { part, line: line - left };
            }
            if part == 0 {
                return Place::default();
            }
            left -= line;
            part -= 1;
            line = self.lines(part).len();
        }
    }

    /// The last line.
    fn end(&self) -> Place {
        let part = self.parts.len() - 1;
        Place { part, line: self.lines(part).len() - 1 }
    }

    /// The next match, cyclically.
    fn next(&self, find: &Find, way: Way, from: Place) -> Option<Place> {
        let total = self.parts.len();
        (0..=total).find_map(|step| {
            let part =
                if way == Way::Back { (from.part + 2 * total - step) % total } else { (from.part + step) % total };
            let beyond = |line: &usize| match way {
                _ if step > 0 => true,
                Way::Here => *line >= from.line,
                Way::On => *line > from.line,
                Way::Back => *line < from.line,
            };
            let mut lines = self.matches(find, part).into_iter().filter(beyond);
            let line = if way == Way::Back { lines.next_back() } else { lines.next() };
            line.map(|line| Place { part, line })
        })
    }

    /// The lines of a part with a match, headings included.
    fn matches(&self, find: &Find, at: usize) -> Vec<usize> {
        let Some(part) = self.parts.get(at) else { return Vec::new() };
        let in_text = find.is_in(&part.text);
        if !in_text && !find.is_in(&part.location) && !part.heading_path.iter().any(|heading| find.is_in(heading)) {
            return Vec::new();
        }
        let lines = first_lines(&find.places(&self.lines(at)));
        if lines.is_empty() && in_text { vec![0] } else { lines }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ragonite_document::evidence::Kind;

    fn parts(texts: &[String]) -> Vec<DocumentPart> {
        let part = |(at, text): (usize, &String)| DocumentPart {
            evidence: EvidenceId(i64::try_from(at).unwrap()),
            kind: Kind::Passage,
            piece: if at % 3 == 2 { Piece::Further } else { Piece::First },
            heading_path: vec![format!("Heading {}", at / 4)],
            location: "text 1".into(),
            text: text.clone(),
        };
        texts.iter().enumerate().map(part).collect()
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]
        #[test]
        fn up_and_down_lead_over_the_same_lines(
            texts in proptest::collection::vec("[ab \n]{0,60}", 1..12),
            room in 0_usize..30,
            by in 0_usize..80,
        ) {
            let parts = parts(&texts);
            let text = Text { parts: &parts, hit: EvidenceId(2), room, theme: &Theme::plain(), words: Words::default() };
            let all = text.seen(Place::default(), usize::MAX);
            let place = text.down(Place::default(), by);
            let moved = by.min(all.len() - 1);
            prop_assert_eq!(text.seen(place, usize::MAX), all[moved..].to_vec());
            prop_assert_eq!(text.up(place, moved), Place::default());
            prop_assert_eq!(text.up(text.end(), all.len() - 1 - moved), place);
        }
    }

    #[test]
    fn matches_follow_one_another_round_the_whole_document() {
        let parts = parts(&["q one".into(), "two".into(), "three\nq four".into()]);
        let text =
            Text { parts: &parts, hit: EvidenceId(9), room: 40, theme: &Theme::plain(), words: Words::default() };
        let find = Find::new("Q").unwrap();
        let first = text.next(&find, Way::Here, Place::default()).unwrap();
        let second = text.next(&find, Way::On, first).unwrap();
        assert_eq!((first.part, second), (0, Place { part: 2, line: 1 }));
        assert_eq!(text.next(&find, Way::On, second), Some(first));
        assert_eq!(text.next(&find, Way::Back, first), Some(second));
        assert_eq!(text.next(&Find::new("nowhere").unwrap(), Way::On, first), None);
        let heading = Find::new("heading 0").unwrap();
        assert_eq!(text.next(&heading, Way::On, second), Some(Place::default()), "it is drawn once");
    }
}
