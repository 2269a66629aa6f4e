//! Verbalizes rows (RAGonite, Sec. 4).
//!
//! Takes a table, gives `Row 2 in Table 1: Member is Alice, and Task is Similarity function`.
//! Invariants: every non-empty cell is in the text of its row; a row is one line.
//! Not here: other written forms (`linearize`), which rows go together (`table`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::Table;

/// Maximum of bytes of column names in all rows of a table; beyond it names are shortened. A hostile table may repeat
/// names as long as a book in fifty thousand rows.
pub(super) const MOST_REPEATED: usize = 64 << 20;
/// Minimum length of a shortened name, in bytes.
const SHORTEST_NAME: usize = 24;
/// A value of this many words that occurs twice side by side, in a row without column names, was a merged cell.
const MERGED_WORDS: usize = 4;
/// Maximum characters of a text that tells columns apart.
const LONGEST_NAME: usize = 40;

/// The label before a row's cells, as written by [`Verbalizer::row`].
#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static LABEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bRow \d+ in Table \d+:").unwrap());

/// Whether a text contains a verbalized row.
pub fn has_row_label(text: &str) -> bool {
    LABEL.is_match(text)
}

/// A text without row labels, which are not in any cell.
pub fn without_row_labels(text: &str) -> Cow<'_, str> {
    LABEL.replace_all(text, " ")
}

/// What gives a cell its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The name of its column.
    Column,
    /// The cell to its left: two columns, key and value.
    Key,
    /// So many leading cells of its row.
    Leading(usize),
    /// Nothing: it is the only cell.
    Alone,
}

/// Writes the rows of one table.
pub(super) struct Verbalizer<'a> {
    table: &'a Table,
    number: u32,
    names: Vec<String>,
    meaning: Meaning,
    /// If rows have names and columns have none: the row whose cells tell the columns apart.
    apart: Option<usize>,
    full_width: HashSet<usize>,
}

impl<'a> Verbalizer<'a> {
    pub(super) fn new(table: &'a Table, number: u32) -> Self {
        let mut names = column_names(table);
        let is_named = table.header.iter().any(|name| !name.is_empty());
        let meaning = match names.len() {
            _ if is_named => Meaning::Column,
            0 | 1 => Meaning::Alone,
            2 => Meaning::Key,
            width if (1..width).contains(&table.row_headers) => Meaning::Leading(table.row_headers),
            _ => Meaning::Column,
        };
        let repeated = names.iter().map(String::len).sum::<usize>().saturating_mul(table.rows.len());
        if repeated > MOST_REPEATED {
            let longest = (MOST_REPEATED / (names.len() * table.rows.len()).max(1)).max(SHORTEST_NAME);
            for name in &mut names {
                let end = (0..=longest.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
                name.truncate(end.unwrap_or(0));
            }
        }
        let full_width: HashSet<usize> = table.full_width.iter().copied().collect();
        let first = (0..table.rows.len()).find(|row| !full_width.contains(row));
        let apart = match meaning {
            Meaning::Leading(leading) => first.filter(|row| tells_apart(&table.rows[*row], leading)),
            _ => None,
        };
        Self { table, number, names, meaning, apart, full_width }
    }

    /// The column names as the rows write them; none without names.
    pub(super) fn columns(&self) -> Option<String> {
        let header = &self.table.header;
        let is_named = |column: usize| header.get(column).is_some_and(|name| !name.trim().is_empty());
        let is_used = |column: usize| {
            let unnamed = column >= self.table.row_headers;
            unnamed && self.table.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.trim().is_empty()))
        };
        let width = (0..header.len()).any(is_named).then_some(self.names.len())?;
        let shown = (0..width).filter(|column| is_named(*column) || is_used(*column));
        let names = shown.map(|column| match header.get(column) {
            Some(name) if is_named(column) => name.trim(),
            _ => &self.names[column],
        });
        Some(names.collect::<Vec<_>>().join(", "))
    }

    /// Whether a row has any text.
    pub(super) fn is_filled(&self, row: usize) -> bool {
        self.cells(row).iter().any(|cell| !cell.trim().is_empty())
    }

    /// Whether a row was one cell across the whole table.
    pub(super) fn is_full_width(&self, row: usize) -> bool {
        self.full_width.contains(&row)
    }

    fn cells(&self, row: usize) -> &'a [String] {
        self.table.rows.get(row).map(Vec::as_slice).unwrap_or_default()
    }

    /// A row as a sentence. `row` counts from 0.
    pub(super) fn row(&self, row: usize) -> String {
        format!("Row {} in Table {}: {}", row + 1, self.number, self.facts(row))
    }

    fn facts(&self, row: usize) -> String {
        let cells = self.cells(row);
        if self.is_full_width(row) {
            return without_repetition(cells, 1).join(", and ");
        }
        match self.meaning {
            Meaning::Column => self.named(cells),
            Meaning::Key => keyed(cells, 1, &[]),
            Meaning::Leading(leading) => {
                let apart = self.apart.filter(|first| *first < row).map(|first| self.cells(first));
                keyed(cells, leading, apart.and_then(|names| names.get(leading..)).unwrap_or_default())
            }
            Meaning::Alone => without_repetition(cells, usize::MAX).join(", and "),
        }
    }

    fn named(&self, cells: &[String]) -> String {
        let filled = cells.iter().enumerate().filter(|(_, cell)| !cell.trim().is_empty());
        let facts: Vec<String> = filled
            .map(|(column, cell)| {
                let cell = line(cell);
                let named = self.table.header.get(column).is_some_and(|name| !name.is_empty());
                match self.names.get(column) {
                    // A cell that names its row needs no column number.
                    _ if !named && column < self.table.row_headers => cell.into_owned(),
                    Some(name) => format!("{} is {cell}", line(name)),
                    None => format!("Column {} is {cell}", column + 1),
                }
            })
            .collect();
        facts.join(", and ")
    }
}

/// Names of a table's columns; `Column n` where the source has none.
pub(super) fn column_names(table: &Table) -> Vec<String> {
    let width = table.rows.iter().map(Vec::len).chain([table.header.len()]).max().unwrap_or(0);
    let name = |column: usize| match table.header.get(column) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("Column {}", column + 1),
    };
    (0..width).map(name).collect()
}

/// Whether the cells behind the leading ones are short, different names: `Metric | cpu | ram`.
fn tells_apart(cells: &[String], leading: usize) -> bool {
    let mut seen = HashSet::new();
    let is_name = |name: &str| name.starts_with(char::is_alphabetic) && name.chars().count() <= LONGEST_NAME;
    let mut names = cells.get(leading..).unwrap_or_default().iter().map(|cell| line(cell));
    cells.len() > leading + 1 && names.all(|name| is_name(&name) && seen.insert(name))
}

/// `key is v1, and v2`, or `key is v1 for a, and v2 for b` if names tell the values apart. An incomplete pair is
/// written as it is, without column numbers.
fn keyed(cells: &[String], leading: usize, names: &[String]) -> String {
    let (keys, values) = cells.split_at(leading.min(cells.len()));
    let key = without_repetition(keys, 1).join(" / ");
    let kept = without_repetition(values, MERGED_WORDS);
    let merged = kept.len() == 1 && values.iter().filter(|value| !value.trim().is_empty()).count() > 1;
    let values = if names.is_empty() || merged {
        kept.join(", and ")
    } else {
        let filled = values.iter().zip(names).filter(|(value, _)| !value.trim().is_empty());
        filled.map(|(value, name)| format!("{} for {}", line(value), line(name))).collect::<Vec<_>>().join(", and ")
    };
    match (key.trim_end_matches([':', ' ']), values.as_str()) {
        ("", _) => key + &values,
        (_, "") => key,
        (key, _) => format!("{key} is {values}"),
    }
}

/// The non-empty cells; a cell of at least `words` words equal to the previous one is left out.
fn without_repetition(cells: &[String], words: usize) -> Vec<Cow<'_, str>> {
    let mut kept: Vec<Cow<'_, str>> = Vec::new();
    for cell in cells.iter().map(|cell| line(cell)).filter(|cell| !cell.is_empty()) {
        let repeated = kept.last() == Some(&cell) && cell.split_whitespace().nth(words.saturating_sub(1)).is_some();
        if !repeated {
            kept.push(cell);
        }
    }
    kept
}

/// A cell on one line.
pub(super) fn line(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim();
    if !cell.contains('\n') {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_a_row_is_told_from_its_cells() {
        let (header, rows) = (vec!["Member".to_owned()], vec![vec!["Alice".to_owned()]]);
        let table = Table { header, rows, ..Table::default() };
        let row = Verbalizer::new(&table, 12).row(0);
        assert!(has_row_label(&row) && !has_row_label("Row by row in Table 1"), "{row}");
        assert_eq!(without_row_labels(&row).trim(), "Member is Alice");
    }
}
