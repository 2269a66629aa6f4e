//! Evidences of a table: the whole or its parts, and each row.
//!
//! Takes a table with its surroundings, gives evidences and the grid that rows refer to.
//! Invariants: a part holds whole rows and repeats caption and header; a row's context holds caption, footer and the
//! text around the table, never another row; a row without text gives no evidence but keeps its number; time and memory
//! are linear in the verbalized table.
//! Not here: the written form (`linearize`, `verbalize`).

use std::cell::Cell;
use std::ops::Range;

use super::balance::balance;
use super::linearize::Linearized;
use super::links::{Frame, TableLinks};
use super::passage::{head, tail, window};
use super::token_counter::TokenCounter;
use super::verbalize::{column_names, line};
use super::{Context, Evidence, EvidenceLink, EvidenceSettings, Kind, TableEvidence, TableGrid};
use crate::{Link, Table};

/// A table in its document.
pub(super) struct PlacedTable<'a> {
    pub(super) table: &'a Table,
    /// Number on its page, from 1.
    pub(super) number: u32,
}

/// The surroundings of a table.
pub(super) struct Around<'a> {
    /// For the table itself: the evidence before and after.
    pub(super) whole: Context,
    /// For its rows: the text before and after.
    pub(super) above: &'a str,
    pub(super) below: &'a str,
}

/// Length limits and how to measure them.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) settings: &'a EvidenceSettings,
    pub(super) measure: &'a TokenCounter<'a>,
    /// Bytes of links that the document's evidences may still repeat.
    pub(super) repeated_links: &'a Cell<usize>,
}

/// A part of a table.
struct Part {
    text: String,
    /// Its rows, from 0; none for the whole table.
    rows: Option<Range<usize>>,
}

impl PlacedTable<'_> {
    /// The table's start as a neighbour sees it.
    pub(super) fn beginning(&self, bounds: Bounds<'_>) -> String {
        let longest = window(bounds.settings.longest_neighbour);
        let form = Linearized::new(self.table, self.number, bounds.settings.linearizer);
        let mut text = form.opening();
        for row in 0..self.table.rows.len() {
            if text.len() > longest {
                return text;
            }
            if form.verbalizer().is_filled(row) {
                text.extend(["\n", &form.line(row)]);
            }
        }
        self.closed(&form, text)
    }

    /// The table's end as a neighbour sees it.
    pub(super) fn ending(&self, bounds: Bounds<'_>) -> String {
        let longest = window(bounds.settings.longest_neighbour);
        let form = Linearized::new(self.table, self.number, bounds.settings.linearizer);
        let mut lines: Vec<String> = Vec::new();
        let mut length = self.table.footer.as_ref().map_or(0, String::len);
        for row in (0..self.table.rows.len()).rev().filter(|row| form.verbalizer().is_filled(*row)) {
            if length > longest {
                break;
            }
            lines.push(form.line(row));
            length += lines.last().map_or(0, String::len);
        }
        if length <= longest {
            lines.push(form.opening());
        }
        lines.reverse();
        self.closed(&form, lines.join("\n"))
    }

    fn closed(&self, form: &Linearized<'_>, mut text: String) -> String {
        let close = form.close(self.table.footer.as_deref());
        if !close.is_empty() {
            text.extend(["\n", &close]);
        }
        text
    }

    /// Whether it has any text.
    pub(super) fn is_filled(&self) -> bool {
        let Table { caption, footer, header, rows, .. } = self.table;
        let mut texts = caption.iter().chain(footer).chain(header).chain(rows.iter().flatten());
        texts.any(|text| !text.trim().is_empty())
    }

    pub(super) fn grid(&self) -> TableGrid {
        TableGrid {
            number: self.number,
            caption: self.table.caption.clone().unwrap_or_default(),
            header: column_names(self.table),
            rows: self.table.rows.clone(),
        }
    }

    /// The evidences of the table: the whole or its parts, then its rows. `place` writes a location.
    pub(super) fn evidences(
        &self,
        around: Around<'_>,
        links: &[&Link],
        bounds: Bounds<'_>,
        place: &dyn Fn(&str) -> String,
    ) -> Vec<Evidence> {
        let form = Linearized::new(self.table, self.number, bounds.settings.linearizer);
        let rows: Vec<usize> = (0..self.table.rows.len()).filter(|row| form.verbalizer().is_filled(*row)).collect();
        let of_rows = self.context_of_rows(&around, bounds);
        let links = TableLinks::find(self.table, links, bounds.repeated_links);
        let mut evidences = Vec::new();
        // Caption and header of a table without rows would otherwise be lost.
        if bounds.settings.tables != TableEvidence::Row || rows.is_empty() {
            let parts = self.parts(&form, &rows, bounds);
            let last = parts.len().saturating_sub(1);
            for (at, Part { text, rows }) in parts.into_iter().enumerate() {
                let mut context = around.whole.clone();
                if at != last {
                    // The last part holds the footer.
                    context.after.clone_from(&of_rows.after);
                }
                let name = name_of(self.number, rows.as_ref());
                let frame = if at == 0 { Frame::Own } else { form.frame_again() };
                let end = |rows: &Range<usize>| if at == last { usize::MAX } else { rows.end };
                let links = links.of_part(rows.as_ref().map_or(0..usize::MAX, |rows| rows.start..end(rows)), frame);
                evidences.push(self.evidence(Kind::Table, text, context, place(&name), links));
            }
        }
        if bounds.settings.tables != TableEvidence::Table {
            for row in rows.into_iter().take_while(|_| !bounds.measure.is_canceled()) {
                let number = u32::try_from(row + 1).unwrap_or(u32::MAX);
                let location = place(&name_of(self.number, Some(&(row..row + 1))));
                let links = links.of_row(row);
                let evidence = self.evidence(Kind::Row, form.row(row), of_rows.clone(), location, links);
                evidences.push(Evidence { row: Some(number), ..evidence });
            }
        }
        evidences
    }

    fn evidence(
        &self,
        kind: Kind,
        content: String,
        context: Context,
        location: String,
        links: Vec<EvidenceLink>,
    ) -> Evidence {
        Evidence { kind, content, context, table: Some(self.number), row: None, location, links }
    }

    /// Caption and footer are the nearest text to a row; the text around the table gets the rest of the room.
    fn context_of_rows(&self, around: &Around<'_>, Bounds { settings, measure, .. }: Bounds<'_>) -> Context {
        let longest = settings.longest_neighbour;
        let caption = self.table.caption.as_deref().map(line).filter(|caption| !caption.is_empty());
        let caption = caption.map(|caption| format!("Table {}: {}", self.number, head(&caption, longest, measure)));
        let caption = caption.filter(|_| longest > 0).unwrap_or_default();
        let footer = self.table.footer.as_deref().map_or_else(String::new, |text| head(&line(text), longest, measure));
        let rest = |taken: &str| if taken.is_empty() { longest } else { longest.saturating_sub(measure.count(taken)) };
        let above = tail(around.above, rest(&caption), measure);
        let below = head(around.below, rest(&footer), measure);
        Context { before: lines([&above, &caption]), after: lines([&footer, &below]), ..around.whole.clone() }
    }

    fn parts(&self, form: &Linearized<'_>, rows: &[usize], Bounds { settings, measure, .. }: Bounds<'_>) -> Vec<Part> {
        let opening = form.opening();
        let footer = self.table.footer.as_deref();
        let going_on = |_: &&usize| !measure.is_canceled();
        let texts: Vec<String> = rows.iter().take_while(going_on).map(|row| form.line(*row)).collect();
        let close = form.close(footer);
        let again = form.opening_again();
        let write = |part: Range<usize>| {
            let opening = if part.start == 0 { &opening } else { &again };
            let close = if part.end == texts.len() { close.clone() } else { form.close(None) };
            let inner = texts[part].iter().map(String::as_str);
            let lines = std::iter::once(opening.as_str()).chain(inner).chain([close.as_str()]);
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
        };
        let bytes = opening.len() + close.len() + texts.iter().map(|text| text.len() + 1).sum::<usize>() + 1;
        if rows.is_empty() || bytes <= settings.longest_table {
            return vec![Part { text: write(0..texts.len()), rows: None }];
        }
        let lengths: Vec<usize> = texts.iter().map(|text| measure.count(text)).collect();
        let frame = measure.count(&opening) + measure.count(&close);
        if lengths.iter().sum::<usize>() + frame <= settings.longest_table {
            return vec![Part { text: write(0..texts.len()), rows: None }];
        }
        // The repeated text takes at most half of a part, even if the part becomes too long.
        let room = settings.longest_table.saturating_sub(frame).max(settings.longest_table / 2);
        let parts = balance(&lengths, room);
        let whole = parts.len() <= 1;
        let numbers = |part: &Range<usize>| Some(*rows.get(part.start)?..*rows.get(part.end - 1)? + 1);
        let parts = parts.into_iter().map(|part| Part { rows: numbers(&part).filter(|_| !whole), text: write(part) });
        parts.collect()
    }
}

/// The name of a table or a part of it in a location; `rows` count from 0.
fn name_of(table: u32, rows: Option<&Range<usize>>) -> String {
    match rows {
        None => format!("Table {table}"),
        Some(rows) if rows.len() == 1 => format!("Table {table}, row {}", rows.end),
        Some(rows) => format!("Table {table}, rows {}-{}", rows.start + 1, rows.end),
    }
}

/// The rows, from 0, of an evidence of this table, parsed from its [location](Evidence::location); none for the whole
/// table.
#[must_use]
pub fn rows_at(location: &str, table: u32) -> Option<Range<usize>> {
    let (_, rows) = location.rsplit_once(&format!("Table {table}, row"))?;
    let (rows, is_several) = rows.strip_prefix('s').map_or((rows, false), |rows| (rows, true));
    let numbers = rows.strip_prefix(' ')?.split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    let (first, last) = if is_several { numbers.split_once('-')? } else { (numbers, numbers) };
    let (first, last) = (first.parse::<usize>().ok()?.checked_sub(1)?, last.parse().ok()?);
    (first < last).then_some(first..last)
}

/// Joins the non-empty texts with a line end.
fn lines(texts: [&str; 2]) -> String {
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_tells_which_rows_of_its_table_an_evidence_holds() {
        for rows in [None, Some(0..1), Some(59..95), Some(0..2)] {
            let place = format!("page 3, Test runs, {}", name_of(12, rows.as_ref()));
            assert_eq!(rows_at(&place, 12), rows, "{place}");
            assert_eq!(rows_at(&format!("{place} (in Reports, row 7)"), 12), rows);
            assert_eq!(rows_at(&place, 2), None, "of another table");
        }
        for other in ["", "Table 1, rows", "Table 1, rows 5", "Table 1, rows 9-3", "Table 1, row 0", "Table 1, row -"] {
            assert_eq!(rows_at(other, 1), None, "{other}");
        }
    }
}
