//! Detects headings and their levels.
//!
//! Takes the pages of a document. The body size is the size of most text; a heading is larger, or bold and set apart,
//! or numbered with at least two numbers and set apart.
//! Invariant: levels run from 1 to 6 by size, then by weight; within one look the number gives the depth.

use std::collections::BTreeMap;

use super::page_layout::{PageLayout, Piece, Placed};

/// Maximum length of a heading, in letters.
const LONGEST: usize = 160;
/// Minimum size of a heading, relative to the body.
const LARGER: f64 = 1.12;

/// A heading's look: size in half points, largest first, then bold first.
type Look = (std::cmp::Reverse<i64>, std::cmp::Reverse<bool>);

/// The looks of a document's headings.
#[derive(Debug)]
pub(super) struct Headings {
    body: f64,
    /// Whether bold type stands out.
    bold_counts: bool,
    /// For each look the smallest depth of its numbers.
    looks: BTreeMap<Look, usize>,
}

impl Headings {
    /// Learns the looks from all pages, without the lines in `skip`, such as the title.
    pub(super) fn learn(sheets: &[PageLayout], skip: &[(usize, usize)]) -> Self {
        let mut letters: BTreeMap<i64, usize> = BTreeMap::new();
        let (mut bold, mut all) = (0, 0);
        for piece in sheets.iter().flat_map(|sheet| &sheet.pieces) {
            let placed = match piece {
                Piece::Line(placed) => placed,
                Piece::Table(table) => {
                    *letters.entry(half_points(table.size)).or_default() += table.letters();
                    continue;
                }
            };
            for word in &placed.line.words {
                let count = word.text.chars().count();
                *letters.entry(half_points(word.size)).or_default() += count;
                bold += if word.look.bold { count } else { 0 };
                all += count;
            }
        }
        let body = letters.into_iter().max_by_key(|(_, count)| *count).map_or(10.0, |(size, _)| size as f64 / 2.0);
        let mut headings = Self { body, bold_counts: bold * 5 < all * 2, looks: BTreeMap::new() };
        for (page, sheet) in sheets.iter().enumerate() {
            for at in 0..sheet.pieces.len() {
                if skip.contains(&(page, at)) || !headings.is_heading(&sheet.pieces, at) {
                    continue;
                }
                let Some(placed) = line_of(&sheet.pieces[at]) else { continue };
                let depth = depth(&placed.line.text()).unwrap_or(1);
                let least = headings.looks.entry(look(placed)).or_insert(depth);
                *least = (*least).min(depth);
            }
        }
        headings
    }

    pub(super) fn body(&self) -> f64 {
        self.body
    }

    /// The level of a heading, from 1 to 6.
    pub(super) fn level(&self, placed: &Placed) -> u8 {
        let look = look(placed);
        let rank = self.looks.keys().take_while(|other| **other < look).count();
        let least = self.looks.get(&look).copied().unwrap_or(1);
        let deeper = depth(&placed.line.text()).unwrap_or(least).saturating_sub(least);
        (rank + 1 + deeper).min(6) as u8
    }

    /// Whether a line is a heading.
    pub(super) fn is_heading(&self, pieces: &[Piece], at: usize) -> bool {
        let Some(placed) = pieces.get(at).and_then(line_of).filter(|placed| placed.main) else { return false };
        let line = &placed.line;
        let text = line.text();
        let letters = text.chars().count();
        let says = text.chars().filter(|c| c.is_alphabetic()).count() >= 2;
        if !says || letters > LONGEST || line.has_leader() || line.look.fixed || text.ends_with([',', ';']) {
            return false;
        }
        if line.size >= LARGER * self.body {
            return !(text.ends_with('.') && letters > 80);
        }
        if line.size < 0.95 * self.body || text.ends_with(['.', ':']) || line.cells().len() > 1 {
            return false;
        }
        let numbered = depth(&text);
        let bold = self.bold_counts && line.look.bold;
        let above = gap(pieces, at.checked_sub(1), placed);
        let below = pieces.get(at + 1).and_then(line_of);
        let apart = above > 1.35 * line.size;
        if bold {
            let same_below =
                below.is_some_and(|next| next.line.look.bold && next.line.base - line.base < 1.5 * line.size);
            let same_above = above < 1.5 * line.size;
            return (apart || numbered.is_some())
                && (!same_below || letters < 60)
                && !(same_above && !apart && numbered.is_none());
        }
        let title = text.split_whitespace().nth(1).is_some_and(|word| word.starts_with(char::is_uppercase));
        let below_apart = below.is_none_or(|next| (next.line.base - line.base).abs() > 1.35 * line.size);
        numbered.is_some_and(|depth| depth >= 2) && title && apart && below_apart && letters < 80
    }
}

/// The distance of a line from the piece before it.
fn gap(pieces: &[Piece], before: Option<usize>, placed: &Placed) -> f64 {
    match before.and_then(|at| pieces.get(at)) {
        Some(Piece::Line(last)) if last.region == placed.region => (placed.line.base - last.line.base).abs(),
        Some(Piece::Table(table)) => (placed.line.base - table.area.y1).abs() + placed.line.size,
        _ => f64::INFINITY,
    }
}

fn line_of(piece: &Piece) -> Option<&Placed> {
    match piece {
        Piece::Line(placed) => Some(placed),
        Piece::Table(_) => None,
    }
}

fn half_points(size: f64) -> i64 {
    (size * 2.0).round() as i64
}

fn look(placed: &Placed) -> Look {
    (std::cmp::Reverse(half_points(placed.line.size)), std::cmp::Reverse(placed.line.look.bold))
}

/// How many numbers a heading begins with: 2 for "3.1 Method".
fn depth(text: &str) -> Option<usize> {
    let word = text.split(' ').next()?.trim_end_matches('.');
    let parts: Vec<&str> = word.split('.').collect();
    let number = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let letter = |part: &&str| part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let first = parts.first().filter(|part| number(part) || (letter(part) && parts.len() > 1))?;
    (!first.is_empty() && parts.len() <= 6 && parts.iter().skip(1).all(number)).then_some(parts.len())
}
