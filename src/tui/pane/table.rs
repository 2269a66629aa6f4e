//! A table evidence in its place: the hit's row is marked, a wide table scrolls sideways behind its first column.
//!
//! Not here: that the header stays while its rows scroll (`evidence`).

use std::ops::Range;

use ratatui::text::{Line, Span};

use crate::base::{EvidenceId, clean_line};
use crate::evidence::TableGrid;
use crate::tui::text::{Indent, fit, one_line, pad, width, window, wrap};
use crate::tui::theme::Theme;
use crate::tui::words::{Noun, Words};

/// Widest a column gets; longer cells are cut, and those of the hit's row stand whole below it.
const WIDEST: usize = 32;
/// Rows shown around the hit's row.
const AROUND: usize = 4;
/// Rows shown of a table that is itself the hit; more would slow every frame down.
const MOST: usize = 500;

/// Between two columns.
const BORDER: &str = " │ ";

/// How a table is looked at.
pub(super) struct TableLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) words: Words,
    pub(super) width: usize,
    /// The hit's row, from 1.
    pub(super) row: Option<u32>,
    /// First cell seen.
    pub(super) left: usize,
    /// How the keys for sideways are called.
    pub(super) keys: &'a str,
}

/// A table's clean cells, the header first, and how wide each column is drawn.
#[derive(Debug, Clone)]
pub(in crate::tui) struct Measured {
    of: EvidenceId,
    cells: Vec<Vec<String>>,
    widths: Vec<usize>,
    total: usize,
}

impl Measured {
    fn new(of: EvidenceId, grid: &TableGrid) -> Self {
        let cells: Vec<Vec<String>> = std::iter::once(&grid.header).chain(&grid.rows).map(|row| clean(row)).collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| cells.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0).clamp(1, WIDEST)).collect();
        let total = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1);
        Self { of, cells, widths, total }
    }

    /// Cells of the first column with its border, where it stays as the table scrolls sideways: it may take half of the
    /// room.
    fn fixed(&self, room: usize) -> usize {
        let first = self.widths.first().map_or(0, |first| first + width(BORDER));
        if self.widths.len() > 1 && 2 * first <= room && self.total > room { first } else { 0 }
    }

    /// A row in so much room, `left` cells scrolled away behind what stays.
    fn row(&self, row: &[String], (left, room): (usize, usize)) -> String {
        let cells: Vec<String> =
            self.widths.iter().enumerate().map(|(at, w)| pad(row.get(at).map_or("", String::as_str), *w)).collect();
        let (row, fixed) = (cells.join(BORDER), self.fixed(room));
        window(&row, 0, fixed) + &window(&row, fixed + left, room.saturating_sub(fixed))
    }

    /// How far the table can be scrolled at this width.
    pub(super) fn farthest(&self, width: usize) -> usize {
        self.total.saturating_sub(width.saturating_sub(2).max(1))
    }
}

/// Measures the table of an evidence, once for as long as it is the one that is looked at.
pub(super) fn measure(known: &mut Option<Measured>, table: Option<(EvidenceId, &TableGrid)>) {
    let same = known.as_ref().is_some_and(|known| {
        table.is_some_and(|(of, grid)| known.of == of && known.cells.len() == grid.rows.len() + 1)
    });
    if !same {
        *known = table.map(|(of, grid)| Measured::new(of, grid));
    }
}

/// A table as lines.
pub(super) struct TableLines {
    pub(super) lines: Vec<Line<'static>>,
    /// Which of them are the header and what is below it.
    pub(super) header: Range<usize>,
    /// Which of them are rows.
    pub(super) rows: Range<usize>,
}

/// The table as lines: the rows around the hit's row, or all of a table that is itself the hit.
pub(super) fn lines(grid: &TableGrid, measured: &Measured, look: &TableLook<'_>) -> TableLines {
    let (theme, words) = (look.theme, look.words);
    let Measured { cells, total, .. } = measured;
    let total = *total;
    let room = look.width.saturating_sub(2).max(1);
    let left = look.left.min(total.saturating_sub(room));
    let draw = |row: &[String]| measured.row(row, (left, room));
    let hit = look.row.and_then(|row| usize::try_from(row).ok()).and_then(|row| row.checked_sub(1));
    let hit = hit.filter(|hit| *hit < grid.rows.len());
    let first = hit.map_or(0, |hit| hit.saturating_sub(AROUND));
    let last = hit.map_or(MOST, |hit| hit + AROUND + 1).min(grid.rows.len());

    let mut lines = Vec::new();
    let caption = if grid.caption.is_empty() { String::new() } else { format!(": {}", grid.caption) };
    lines.push(Line::from(one_line(&words.table_number(grid.number, &caption), theme.dim)));
    let header = lines.len();
    lines.push(Line::from(vec![
        Span::raw("  "),
        Span::styled(draw(cells.first().map_or(&[], Vec::as_slice)), theme.strong),
    ]));
    lines.push(Line::styled(format!("  {}", "─".repeat(total.min(room))), theme.dim));
    let header = header..lines.len();
    if first > 0 {
        lines.push(Line::styled(words.rows_above(&words.counted(first, Noun::Row)), theme.dim));
    }
    let rows = lines.len();
    for (at, row) in cells.iter().skip(1).enumerate().take(last).skip(first) {
        let (mark, style) = if Some(at) == hit { ("▶ ", theme.strong) } else { ("  ", theme.text) };
        lines.push(Line::from(vec![Span::styled(mark, theme.accent), Span::styled(draw(row), style)]));
    }
    let rows = rows..lines.len();
    if last < grid.rows.len() {
        let more = words.counted(grid.rows.len() - last, Noun::Row);
        lines.push(Line::styled(words.rows_below(&more), theme.dim));
    }
    // A cell that is cut in the hit's row is what the hit may be about.
    for (at, cell) in hit.and_then(|hit| cells.get(hit + 1)).into_iter().flatten().enumerate() {
        if width(cell) > WIDEST {
            let name = cells.first().and_then(|header| header.get(at)).map_or("", String::as_str);
            let indent = Indent { first: Span::styled("▶ ", theme.accent), rest: Span::raw("  ") };
            let name = if name.is_empty() { Vec::new() } else { vec![Span::styled(format!("{name}: "), theme.dim)] };
            let text = name.into_iter().chain([Span::styled(cell.clone(), theme.text)]).collect::<Vec<_>>();
            lines.extend(wrap(&text, look.width, &indent));
        }
    }
    if total > room {
        let from = if left == 0 { 0 } else { measured.fixed(room) + left };
        let text = words.cells_of_table(from + 1, (left + room).min(total), total, look.keys);
        lines.push(Line::styled(fit(&text, look.width), theme.dim));
    }
    TableLines { lines, header, rows }
}

fn clean(row: &[String]) -> Vec<String> {
    row.iter().map(|cell| clean_line(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_measured_once_while_it_is_looked_at() {
        let grid = |cell: &str| TableGrid {
            number: 1,
            caption: String::new(),
            header: vec!["a".into()],
            rows: vec![vec![cell.into()]],
        };
        let (first, other) = (grid("four"), grid("seventeen letters"));
        let mut known = None;
        measure(&mut known, Some((EvidenceId(1), &first)));
        assert_eq!(known.as_ref().unwrap().total, 4);
        // The grid of an evidence does not change, so it is not read again.
        measure(&mut known, Some((EvidenceId(1), &other)));
        assert_eq!(known.as_ref().unwrap().total, 4);
        measure(&mut known, Some((EvidenceId(2), &other)));
        assert_eq!(known.as_ref().unwrap().total, 17);
        measure(&mut known, None);
        assert!(known.is_none());
    }
}
