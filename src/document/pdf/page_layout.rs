//! Lays out a page's content as lines and tables in reading order.
//!
//! Takes glyphs and rules; gives pieces, first in the page's main direction, then in others. Invisible text (the text
//! layer of a scanned page) counts only if it is most of the page's text.
//! Invariant: apart from that, every word is in exactly one piece.

use hayro_font::kurbo::{Point, Rect};

use super::content::{Content, Glyph};
use super::line::{Line, Word, lines, words};
use super::table::{Draft, aligned};
use super::{layout, ruled};

/// Maximum of lines in a column that is searched for tables.
const MOST_LINES: usize = 1_000;

/// A line or a table.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Line(Placed),
    Table(Draft),
}

/// A line and its column.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub line: Line,
    /// Edges of the column.
    pub left: f64,
    pub right: f64,
    /// Number of the column on its page.
    pub region: usize,
    /// Whether it is written in the page's main direction.
    pub main: bool,
}

/// What a page says, in reading order.
#[derive(Debug, Clone, Default)]
pub(super) struct PageLayout {
    pub pieces: Vec<Piece>,
    pub height: f64,
    /// Number of shown characters, and of unknown ones.
    pub letters: usize,
    pub unknown: usize,
}

/// Orders a page's content.
pub(super) fn layout(mut content: Content) -> PageLayout {
    let hidden = content.glyphs.iter().filter(|glyph| glyph.hidden).count();
    if hidden * 2 < content.glyphs.len() {
        content.glyphs.retain(|glyph| !glyph.hidden);
    }
    let letters = content.glyphs.iter().filter(|glyph| !glyph.text.trim().is_empty()).count();
    let unknown = content.glyphs.iter().filter(|glyph| glyph.text.contains(char::REPLACEMENT_CHARACTER)).count();
    let mut turns: Vec<(u8, usize)> =
        (0..4).map(|turn| (turn, content.glyphs.iter().filter(|glyph| glyph.turn == turn).count())).collect();
    turns.sort_by_key(|(turn, count)| (std::cmp::Reverse(*count), *turn));
    let sideways = turns.first().is_some_and(|(turn, _)| turn % 2 == 1);
    let mut sheet = PageLayout {
        height: if sideways { content.width } else { content.height },
        letters,
        unknown,
        ..PageLayout::default()
    };
    let mut regions = 0;
    for (at, (turn, _)) in turns.iter().filter(|(_, count)| *count > 0).enumerate() {
        let upright = |point: Point| turned(point, *turn, &content);
        let mut glyphs: Vec<Glyph> = content.glyphs.iter().filter(|glyph| glyph.turn == *turn).cloned().collect();
        for glyph in &mut glyphs {
            (glyph.start, glyph.end) = (upright(glyph.start), upright(glyph.end));
        }
        let rules: Vec<Rect> = if at == 0 {
            let corners = |rule: &Rect| (Point::new(rule.x0, rule.y0), Point::new(rule.x1, rule.y1));
            content.rules.iter().map(corners).map(|(a, b)| Rect::from_points(upright(a), upright(b))).collect()
        } else {
            Vec::new()
        };
        add_direction(&mut sheet, words(&glyphs), &rules, &mut regions, at);
    }
    sheet
}

/// A point, rotated so that text of this direction is upright.
fn turned(point: Point, turn: u8, content: &Content) -> Point {
    match turn {
        1 => Point::new(point.y, content.width - point.x),
        2 => Point::new(content.width - point.x, content.height - point.y),
        3 => Point::new(content.height - point.y, point.x),
        _ => point,
    }
}

/// Adds the text of one direction; rank 0 is the page's main direction.
fn add_direction(sheet: &mut PageLayout, words: Vec<Word>, rules: &[Rect], regions: &mut usize, rank: usize) {
    let (mut drafts, mut rest) = ruled::find(rules, words);
    let stands_for = |(at, draft): (usize, &Draft)| Word {
        left: draft.area.x0,
        right: draft.area.x1,
        base: draft.area.y1,
        size: 1.0,
        table: Some(at),
        ..Word::default()
    };
    let tables: Vec<Word> = drafts.iter().enumerate().map(stands_for).collect();
    rest.extend(tables);
    for region in layout::regions(rest) {
        let lines = lines(region);
        let text = || lines.iter().filter(|line| line.words.iter().all(|word| word.table.is_none()));
        let left = text().map(|line| line.left).fold(f64::INFINITY, f64::min);
        let right = text().map(|line| line.right).fold(f64::NEG_INFINITY, f64::max);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if let Some(table) = line.words.first().and_then(|word| word.table) {
                sheet.pieces.push(Piece::Table(std::mem::take(&mut drafts[table])));
                at += 1;
            } else if let Some((count, draft)) = table_at(&lines, at) {
                sheet.pieces.push(Piece::Table(draft));
                at += count;
            } else {
                let placed = Placed { line: line.clone(), left, right, region: *regions, main: rank == 0 };
                sheet.pieces.push(Piece::Line(placed));
                at += 1;
            }
        }
        *regions += 1;
    }
}

fn table_at(lines: &[Line], at: usize) -> Option<(usize, Draft)> {
    if lines.len() > MOST_LINES { None } else { aligned(&lines[at..]) }
}
