//! A table around a hit: the hit's row is marked; a wide table scrolls sideways behind its first column.
//!
//! Not here: the sticky header (`view`).

use std::ops::Range;

use ratatui::text::{Line, Span};

use crate::messages::{Noun, Words};
use crate::text::{Indent, fit, one_line, pad, width, window, wrap};
use crate::theme::Theme;
use ragonite_base::{EvidenceId, clean_line};
use ragonite_document::evidence::{TableGrid, rows_at};
use ragonite_rag::retrieval::Hit;

/// Largest width of a column; longer cells are cut, but those of the hit's row are repeated in full below the table.
const WIDEST: usize = 32;
/// Rows shown around the hit's row.
const AROUND: usize = 4;
/// Most rows shown of a table that is the hit; more would slow every frame down.
const MOST: usize = 500;

/// Separator of columns.
const BORDER: &str = " │ ";

/// Look of a table.
pub(super) struct TableLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) words: Words,
    pub(super) width: usize,
    /// First visible cell.
    pub(super) left: usize,
    /// Names of the keys that scroll sideways.
    pub(super) keys: &'a str,
}

/// Position of a hit in its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InTable {
    evidence: EvidenceId,
    /// Row number, from 1, where the hit is a row.
    row: Option<u32>,
    /// Rows, from 0, where the hit is a part of the table.
    rows: Option<Range<usize>>,
}

impl InTable {
    pub(super) fn of(hit: &Hit) -> Self {
        let rows = hit.table.and_then(|table| rows_at(&hit.location, table));
        Self { evidence: hit.evidence, row: hit.row, rows }
    }
}

/// The part of the table that is the hit.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// This row, from 0.
    Row(usize),
    /// These rows, from 0: the whole table or a part of it.
    Rows(Range<usize>),
}

impl Part {
    fn of(hit: &InTable, count: usize) -> Self {
        let row = hit.row.and_then(|row| usize::try_from(row).ok()).and_then(|row| row.checked_sub(1));
        if let Some(row) = row.filter(|row| *row < count) {
            return Self::Row(row);
        }
        Self::Rows(hit.rows.clone().filter(|rows| rows.end <= count).unwrap_or(0..count))
    }

    /// The rows to show of `count`: those around a row, or the first of several.
    fn shown(&self, count: usize) -> Range<usize> {
        match self {
            Self::Row(row) => row.saturating_sub(AROUND)..(row + AROUND + 1).min(count),
            Self::Rows(rows) => rows.start..rows.end.min(rows.start + MOST),
        }
    }
}

/// The visible cells of a table, cleaned, and the column widths.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    of: EvidenceId,
    part: Part,
    header: Vec<String>,
    /// Cells of the visible rows.
    cells: Vec<Vec<String>>,
    shown: Range<usize>,
    /// Rows of the whole table.
    count: usize,
    widths: Vec<usize>,
    total: usize,
}

impl Measured {
    fn new(hit: &InTable, grid: &TableGrid) -> Self {
        let count = grid.rows.len();
        let part = Part::of(hit, count);
        let shown = part.shown(count);
        let header = clean(&grid.header);
        let cells: Vec<Vec<String>> =
            grid.rows.get(shown.clone()).unwrap_or_default().iter().map(|row| clean(row)).collect();
        let rows = || cells.iter().chain([&header]);
        let columns = rows().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| rows().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0).clamp(1, WIDEST)).collect();
        let total = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1);
        Self { of: hit.evidence, part, header, cells, shown, count, widths, total }
    }

    /// The row of the hit, where the hit is a row.
    fn hit_row(&self) -> Option<&Vec<String>> {
        match self.part {
            Part::Row(row) => self.cells.get(row.checked_sub(self.shown.start)?),
            Part::Rows(_) => None,
        }
    }

    /// Cells of the sticky first column with its border: at most half of the room, else 0.
    fn fixed(&self, room: usize) -> usize {
        let first = self.widths.first().map_or(0, |first| first + width(BORDER));
        if self.widths.len() > 1 && 2 * first <= room && self.total > room { first } else { 0 }
    }

    /// A row in `room` cells, scrolled by `left` cells behind the sticky column.
    fn row(&self, row: &[String], left: usize, room: usize) -> String {
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

/// Measures the table of a hit, once while it is selected.
pub(super) fn measure(known: &mut Option<Measured>, table: Option<(&InTable, &TableGrid)>) {
    let same = known.as_ref().is_some_and(|known| {
        table.is_some_and(|(hit, grid)| known.of == hit.evidence && known.count == grid.rows.len())
    });
    if !same {
        *known = table.map(|(hit, grid)| Measured::new(hit, grid));
    }
}

/// A table as lines.
pub(super) struct TableLines {
    pub(super) lines: Vec<Line<'static>>,
    /// Lines of the header and its rule.
    pub(super) header: Range<usize>,
    /// Lines of the rows.
    pub(super) rows: Range<usize>,
}

/// The table as lines: the rows around the hit's row, or the rows that are the hit.
pub(super) fn lines(grid: &TableGrid, measured: &Measured, look: &TableLook<'_>) -> TableLines {
    let (theme, words) = (look.theme, look.words);
    let Measured { header: names, cells, shown, count, total, .. } = measured;
    let total = *total;
    let room = look.width.saturating_sub(2).max(1);
    let left = look.left.min(total.saturating_sub(room));
    let draw = |row: &[String]| measured.row(row, left, room);

    let mut lines = Vec::new();
    let caption = if grid.caption.is_empty() { String::new() } else { format!(": {}", grid.caption) };
    lines.push(Line::from(one_line(&words.table_number(grid.number, &caption), theme.dim)));
    let header = lines.len();
    lines.push(Line::from(vec![Span::raw("  "), Span::styled(draw(names), theme.strong)]));
    lines.push(Line::styled(format!("  {}", "─".repeat(total.min(room))), theme.dim));
    let header = header..lines.len();
    if shown.start > 0 {
        lines.push(Line::styled(words.rows_above(&words.counted(shown.start, Noun::Row)), theme.dim));
    }
    let rows = lines.len();
    let hit = measured.hit_row();
    for row in cells {
        let is_hit = hit.is_some_and(|hit| std::ptr::eq(hit, row));
        let (mark, style) = if is_hit { ("▶ ", theme.strong) } else { ("  ", theme.text) };
        lines.push(Line::from(vec![Span::styled(mark, theme.accent), Span::styled(draw(row), style)]));
    }
    let rows = rows..lines.len();
    if shown.end < *count {
        let more = words.counted(count - shown.end, Noun::Row);
        lines.push(Line::styled(words.rows_below(&more), theme.dim));
    }
    // Cut cells of the hit's row in full, because they may hold the answer.
    for (at, cell) in hit.into_iter().flatten().enumerate().filter(|(_, cell)| width(cell) > WIDEST) {
        let name = names.get(at).map_or("", String::as_str);
        let indent = Indent { first: Span::styled("▶ ", theme.accent), rest: Span::raw("  ") };
        let name = if name.is_empty() { Vec::new() } else { vec![Span::styled(format!("{name}: "), theme.dim)] };
        let text = name.into_iter().chain([Span::styled(cell.clone(), theme.text)]).collect::<Vec<_>>();
        lines.extend(wrap(&text, look.width, &indent));
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

    fn grid(cells: &[&str]) -> TableGrid {
        TableGrid {
            number: 1,
            caption: String::new(),
            header: vec!["a".into()],
            rows: cells.iter().map(|cell| vec![(*cell).into()]).collect(),
        }
    }

    fn whole(evidence: i64) -> InTable {
        InTable { evidence: EvidenceId(evidence), row: None, rows: None }
    }

    #[test]
    fn a_table_is_measured_once_while_it_is_looked_at() {
        let (first, other) = (grid(&["four"]), grid(&["seventeen letters"]));
        let (one, two) = (whole(1), whole(2));
        let mut known = None;
        measure(&mut known, Some((&one, &first)));
        assert_eq!(known.as_ref().unwrap().total, 4);
        // The grid of an evidence does not change, so it is not read again.
        measure(&mut known, Some((&one, &other)));
        assert_eq!(known.as_ref().unwrap().total, 4);
        measure(&mut known, Some((&two, &other)));
        assert_eq!(known.as_ref().unwrap().total, 17);
        measure(&mut known, None);
        assert!(known.is_none());
    }

    #[test]
    fn a_part_of_a_table_shows_its_own_rows_and_a_row_those_around_it() {
        let cells: Vec<String> = (1..=900).map(|row| row.to_string()).collect();
        let grid = grid(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        let part = |rows: Range<usize>| InTable { rows: Some(rows), ..whole(1) };
        let row = InTable { row: Some(700), rows: Some(699..700), ..whole(1) };
        let shown = |hit: &InTable| Measured::new(hit, &grid).shown;
        assert_eq!(shown(&part(599..640)), 599..640);
        assert_eq!(shown(&whole(1)), 0..MOST);
        assert_eq!(shown(&part(600..901)), 0..MOST, "of a table that was other then");
        assert_eq!(shown(&row), 695..704);
        assert_eq!(Measured::new(&row, &grid).hit_row(), Some(&vec!["700".to_owned()]));
        assert_eq!(Measured::new(&part(699..700), &grid).hit_row(), None, "a part of one row is no row");
    }
}
