//! Title and date of a document: its metadata, else its first and largest line.
//!
//! Takes metadata and page layouts.
//! Invariant: the lines of the title are reported, so that they are not repeated in the text.

use hayro_syntax::metadata::Metadata;

use super::heading::Headings;
use super::page_layout::{PageLayout, Piece, Placed};
use super::paragraph::append;
use super::string::decode;
use ragonite_base::clean_line;

/// Maximum length of a title.
const LONGEST: usize = 200;
/// Maximum lines of a title, and of lines before it.
const LINES_OF_TITLE: usize = 4;
const LINES_BEFORE: usize = 5;
/// The upper part of the first page in which a title begins.
const UPPER: f64 = 0.6;
/// First or last words of titles made by programs.
const MADE_UP: &[&str] =
    &["untitled", "unbenannt", "microsoft word", "microsoft powerpoint", "document", "dokument", "slide 1"];
const ENDINGS: &[&str] =
    &[".doc", ".docx", ".odt", ".tex", ".dvi", ".pdf", ".indd", ".ppt", ".pptx", ".xls", ".xlsx", ".html", ".ps"];

/// The title, or empty, and its lines by page and index.
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

/// The date of creation, else of the last change.
pub(super) fn date(metadata: &Metadata) -> Option<String> {
    let date = metadata.creation_date.as_ref().or(metadata.modification_date.as_ref())?;
    // Tools with reproducible output write the first day of their clock.
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

/// Whether two texts have the same words, apart from separators.
fn alike(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    letters(a) == letters(b)
}

/// The lines of the title at the start of the document.
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

/// The largest line in the upper part of the first page with text, with its continuation lines.
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
    // A recurring look is one of headings, and the first of them is a title only if it opens the page.
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
