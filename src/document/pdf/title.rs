//! Title and date of a document: what it says of itself, else its first and largest line.
//!
//! Invariant: lines that are the title are named, so that they do not stand in the text again.

use hayro_syntax::metadata::Metadata;

use super::heading::Headings;
use super::page_layout::{PageLayout, Piece, Placed};
use super::paragraph::append;
use super::string::decode;
use ragonite_base::clean_line;

/// Longer titles are text.
const LONGEST: usize = 200;
/// Lines that a title takes, and lines that may stand before it.
const LINES_OF_TITLE: usize = 4;
const LINES_BEFORE: usize = 5;
/// The part of the first page in which a title begins.
const UPPER: f64 = 0.6;
/// Titles that programs make up begin or end so.
const MADE_UP: &[&str] =
    &["untitled", "unbenannt", "microsoft word", "microsoft powerpoint", "document", "dokument", "slide 1"];
const ENDINGS: &[&str] =
    &[".doc", ".docx", ".odt", ".tex", ".dvi", ".pdf", ".indd", ".ppt", ".pptx", ".xls", ".xlsx", ".html", ".ps"];

/// The title, empty where nothing tells, and the lines that are it, by page and place.
pub(super) fn find(metadata: &Metadata, sheets: &[PageLayout]) -> (String, Vec<(usize, usize)>) {
    let written = metadata.title.as_deref().map(|title| clean_line(&decode(title))).filter(|title| is_sensible(title));
    let shown = largest(sheets);
    match (written, shown) {
        (Some(title), Some((text, lines))) if alike(&title, &text) => (title, lines),
        (Some(title), _) => {
            let lines = opening(&title, sheets);
            (title, lines)
        }
        (None, Some((text, lines))) => (text, lines),
        (None, None) => (String::new(), Vec::new()),
    }
}

/// When the document was made, else changed.
pub(super) fn date(metadata: &Metadata) -> Option<String> {
    let date = metadata.creation_date.as_ref().or(metadata.modification_date.as_ref())?;
    // Tools that want the same bytes each time write the first day of their clock.
    let real = date.year > 1980 && (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
    real.then(|| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day))
}

fn is_sensible(title: &str) -> bool {
    let lower = title.to_lowercase();
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3
        && title.chars().count() <= LONGEST
        && !title.contains(char::REPLACEMENT_CHARACTER)
        && !MADE_UP.iter().any(|start| lower == *start || (start.contains(' ') && lower.starts_with(start)))
        && !ENDINGS.iter().any(|end| lower.ends_with(end))
        && lower != "(anonymous)"
}

/// The same words, whatever stands between them.
fn alike(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    letters(a) == letters(b)
}

/// The lines that say the title where a document opens with it.
fn opening(title: &str, sheets: &[PageLayout]) -> Vec<(usize, usize)> {
    let Some((page, sheet)) = sheets.iter().enumerate().find(|(_, sheet)| !sheet.pieces.is_empty()) else {
        return Vec::new();
    };
    for first in 0..sheet.pieces.len().min(LINES_BEFORE) {
        let mut text = String::new();
        for (at, piece) in sheet.pieces.iter().enumerate().skip(first).take(LINES_OF_TITLE) {
            let Piece::Line(placed) = piece else { break };
            append(&mut text, &placed.line.text());
            if alike(title, &text) {
                return (first..=at).map(|at| (page, at)).collect();
            }
        }
    }
    Vec::new()
}

/// The largest line in the upper part of the first page that has text, with those that go on with it.
fn largest(sheets: &[PageLayout]) -> Option<(String, Vec<(usize, usize)>)> {
    let body = Headings::learn(sheets, &[]).body();
    let (page, sheet) = sheets.iter().enumerate().find(|(_, sheet)| !sheet.pieces.is_empty())?;
    let upper = |placed: &&Placed| placed.main && placed.line.base < UPPER * sheet.height;
    let lines = || {
        sheet.pieces.iter().enumerate().filter_map(|(at, piece)| match piece {
            Piece::Line(placed) => Some((at, placed)),
            Piece::Table(_) => None,
        })
    };
    let says = |placed: &Placed| placed.line.text().chars().filter(|c| c.is_alphabetic()).count() >= 3;
    let size =
        lines().filter(|(_, line)| upper(line) && says(line)).map(|(_, line)| line.line.size).reduce(f64::max)?;
    if size < 1.15 * body {
        return None;
    }
    let large = |placed: &Placed| placed.line.size > 0.95 * size;
    let (first, _) = lines().find(|(_, line)| upper(line) && says(line) && large(line))?;
    // A look that comes back is one of headings, and the first of them is no title unless it opens the page.
    let again = sheets.iter().skip(page + 1).flat_map(|sheet| &sheet.pieces);
    let again = again.filter(|piece| matches!(piece, Piece::Line(placed) if large(placed))).count();
    let mut text = String::new();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let mut last: Option<&Placed> = None;
    for (at, placed) in lines().skip_while(|(at, _)| *at < first) {
        let near = last.is_none_or(|last| placed.line.base - last.line.base < 1.6 * size);
        if !large(placed) || !near {
            break;
        }
        append(&mut text, &placed.line.text());
        taken.push((page, at));
        last = Some(placed);
    }
    let here = lines().filter(|(_, placed)| large(placed)).count();
    let alone = here == taken.len() && again == 0;
    let text = clean_line(&text);
    (alone && text.chars().count() <= LONGEST).then_some((text, taken))
}
