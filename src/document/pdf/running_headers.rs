//! Removes running headers, footers and page numbers.
//!
//! Takes all pages; removes lines at the top and bottom edge that most pages, or every second page, repeat.
//! Invariants: a line is removed only if it is set apart from the text and recurs at the same height on other pages;
//! digits do not count, so page numbers are equal.

use std::collections::HashMap;

use super::page_layout::{PageLayout, Piece, Placed};

/// Number of lines examined at each edge.
const EDGE: usize = 3;
/// Maximum difference of heights between pages, in points.
const NEAR: f64 = 8.0;
/// Part of the page height at the top and at the bottom for running lines.
const MARGIN: f64 = 0.16;

type Key = (String, i64);

/// Removes running lines from all pages.
pub(super) fn remove(sheets: &mut [PageLayout]) {
    let pages = sheets.iter().filter(|sheet| !sheet.pieces.is_empty()).count();
    if pages < 2 {
        return;
    }
    let mut seen: HashMap<Key, usize> = HashMap::new();
    for (page, sheet) in sheets.iter().enumerate() {
        let lines = edge_lines(sheet);
        let mut keys: Vec<Key> = lines.iter().flat_map(|(at, key)| keys(sheet, page, *at, key)).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    // Left and right pages may have their own; of two pages both must have it.
    let enough = (pages * 2).div_ceil(5).max(2);
    for (page, sheet) in sheets.iter_mut().enumerate() {
        let often = |key: &Key| seen.get(key).is_some_and(|count| *count >= enough);
        let is_number = |at: usize| line_of(&sheet.pieces[at]).is_some_and(|placed| says_page(placed, page + 1));
        let mut gone: Vec<usize> = edge_lines(sheet)
            .into_iter()
            .filter(|(at, key)| is_number(*at) || keys(sheet, page, *at, key).iter().any(often))
            .map(|(at, _)| at)
            .collect();
        gone.sort_unstable();
        gone.dedup();
        for at in gone.into_iter().rev() {
            sheet.pieces.remove(at);
        }
    }
}

/// The keys that a line shares with its like on other pages: its words, or a number relative to the page number, each
/// with its height and the next one, so that slightly different heights match.
fn keys(sheet: &PageLayout, page: usize, at: usize, key: &Key) -> Vec<Key> {
    let (text, height) = key;
    let mut keys = vec![(text.clone(), *height), (text.clone(), height + 1)];
    let line = line_of(&sheet.pieces[at]).map(|placed| placed.line.text()).unwrap_or_default();
    for word in [line.split_whitespace().next(), line.split_whitespace().next_back()].into_iter().flatten() {
        if let Ok(number) = word.parse::<i64>() {
            let counted = format!("page{}", number - page as i64);
            keys.extend([(counted.clone(), *height), (counted, height + 1)]);
        }
    }
    keys
}

/// Lines at the top and bottom that are set apart, with their keys.
fn edge_lines(sheet: &PageLayout) -> Vec<(usize, Key)> {
    let lines = || sheet.pieces.iter().enumerate().filter_map(|(at, piece)| Some((at, line_of(piece)?)));
    let mut tops: Vec<(usize, &Placed)> = lines().filter(|(_, line)| line.line.base < MARGIN * sheet.height).collect();
    let mut bottoms: Vec<(usize, &Placed)> =
        lines().filter(|(_, line)| line.line.base > (1.0 - MARGIN) * sheet.height).collect();
    tops.sort_by(|a, b| a.1.line.base.total_cmp(&b.1.line.base));
    bottoms.sort_by(|a, b| b.1.line.base.total_cmp(&a.1.line.base));
    let mut found = Vec::new();
    for edge in [tops, bottoms] {
        let apart = apart(sheet, &edge);
        found.extend(edge.into_iter().take(apart).map(|(at, line)| (at, key(line))));
    }
    found
}

/// Number of lines, from the edge inwards, that have a gap before the next one.
fn apart(sheet: &PageLayout, edge: &[(usize, &Placed)]) -> usize {
    let mut count = 0;
    for (at, (_, placed)) in edge.iter().enumerate().take(EDGE) {
        let base = placed.line.base;
        let nearest = sheet
            .pieces
            .iter()
            .enumerate()
            .filter(|(piece, _)| !edge[..=at].iter().any(|(earlier, _)| earlier == piece))
            .map(|(_, piece)| match piece {
                Piece::Line(other) => (other.line.base - base).abs(),
                Piece::Table(table) => (table.area.y0 - base).abs().min((table.area.y1 - base).abs()),
            })
            .fold(f64::INFINITY, f64::min);
        if nearest > 1.55 * placed.line.size {
            count = at + 1;
        }
    }
    count
}

/// Whether a line is just its page number.
fn says_page(placed: &Placed, page: usize) -> bool {
    let text = placed.line.text();
    let number = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | '—' | '[' | ']'));
    number.parse() == Ok(page)
}

fn line_of(piece: &Piece) -> Option<&Placed> {
    match piece {
        Piece::Line(line) if line.main => Some(line),
        _ => None,
    }
}

fn key(placed: &Placed) -> Key {
    let mut text = String::new();
    for c in placed.line.text().chars().flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()) {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    // Page numbers in Roman digits.
    if !text.is_empty() && text.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l')) {
        "#".clone_into(&mut text);
    }
    (text, (placed.line.base / NEAR).floor() as i64)
}
