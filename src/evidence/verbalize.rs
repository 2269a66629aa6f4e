//! Tables and lists as text (RAGonite, Sec. 4).
//!
//! Takes a table or list, gives the text that is embedded and shown to the model.
//! Invariant: every cell that is not empty is in the text of its row, every item in the text of its list.

use std::fmt::Write as _;

use super::TableGrid;
use crate::document::{List, Ordering, Table};

/// Names of a table's columns; `Column n` where the source has none.
pub(super) fn column_names(table: &Table) -> Vec<String> {
    let width = table.rows.iter().map(Vec::len).chain([table.header.len()]).max().unwrap_or(0);
    let name = |column: usize| match table.header.get(column) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("Column {}", column + 1),
    };
    (0..width).map(name).collect()
}

/// A row as a sentence: `Row 2 in Table 1: Member is Alice, and Task is Similarity function`. `row` counts from 0.
pub(super) fn verbalize_row(table: &Table, grid: &TableGrid, row: usize) -> String {
    let cells = grid.rows.get(row).map(Vec::as_slice).unwrap_or_default();
    let prefix = format!("Row {} in Table {}: ", row + 1, grid.number);
    let filled = || cells.iter().filter(|cell| !cell.is_empty());
    if table.full_width.contains(&row) {
        return prefix + cells.first().map_or("", String::as_str);
    }
    if table.header.is_empty() {
        match (grid.header.len(), cells) {
            (1, [only]) => return prefix + only,
            (2, [key, value]) if !key.is_empty() && !value.is_empty() => {
                return format!("{prefix}{} is {value}", key.trim_end_matches([':', ' ']));
            }
            // Half a pair says what it says; a column number would add nothing.
            (2, _) => return filled().fold(prefix, |text, cell| text + cell),
            _ => {}
        }
    }
    let facts = grid.header.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
    let facts: Vec<String> = facts.map(|(name, cell)| format!("{name} is {cell}")).collect();
    prefix + &facts.join(", and ")
}

/// A whole table: its number and caption, its columns, and each row on a line.
pub(super) fn verbalize_table(table: &Table, grid: &TableGrid) -> String {
    let mut lines = vec![match &table.caption {
        Some(caption) => format!("Table {}: {caption}", grid.number),
        None => format!("Table {}", grid.number),
    }];
    if !table.header.is_empty() {
        let names: Vec<&str> = table.header.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        lines.push(format!("Columns: {}", names.join(", ")));
    }
    lines.extend((0..grid.rows.len()).map(|row| verbalize_row(table, grid, row)));
    lines.extend(table.footer.clone());
    lines.join("\n")
}

/// A whole list, nesting drawn by indentation.
pub(super) fn draw_list(list: &List) -> String {
    let mut text = String::new();
    draw(list, 0, &mut text);
    text.truncate(text.trim_end().len());
    text
}

fn draw(list: &List, indent: usize, text: &mut String) {
    for (number, item) in (1..).zip(&list.items) {
        let mark = match list.ordered {
            Ordering::Unordered => "- ".to_owned(),
            Ordering::Ordered => format!("{number}. "),
        };
        let mut lines = item.text.lines();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:indent$}{mark}{}", "", lines.next().unwrap_or_default());
        let inner = indent + mark.len();
        for line in lines {
            let _ = writeln!(text, "{:inner$}{line}", "");
        }
        for nested in &item.nested {
            draw(nested, inner, text);
        }
    }
}
