//! Which leading rows of a table name its columns.
//!
//! Takes the filled grid, gives the number of header rows, 0 where nothing tells.
//! On real pages most headers are not marked as such: 65 of the 110 tables of the benchmark corpus have no header cell,
//! and 58 of those show it by a bold first row.
//! Not here: joining the names of several header rows (`grid`).

use super::builder::Section;
use super::grid::{GridRow, Place};

/// More rows than this are never one header; a table of header cells only is one that was marked carelessly.
const MOST_HEADER_ROWS: usize = 4;
/// A column name is at most this long, in characters, where only the look of the words tells.
const LONGEST_NAME: usize = 40;

/// Wider tables are spreadsheets, in which only marks tell.
const MOST_COLUMNS: usize = 64;
/// Last words of column names, English and German.
const WORDS_OF_HEADERS: &[&str] = &[
    "name",
    "description",
    "descriptions",
    "note",
    "notes",
    "comment",
    "comments",
    "remark",
    "remarks",
    "type",
    "value",
    "values",
    "default",
    "unit",
    "units",
    "item",
    "items",
    "explanation",
    "meaning",
    "details",
    "owner",
    "assignee",
    "beschreibung",
    "bemerkung",
    "bemerkungen",
    "kommentar",
    "anmerkung",
    "anmerkungen",
    "typ",
    "wert",
    "werte",
    "einheit",
    "bezeichnung",
    "bedeutung",
    "erklärung",
];

/// The number of leading rows that are header.
pub(super) fn header_rows(rows: &[GridRow]) -> usize {
    let marked = leading(rows, is_marked);
    if marked > 0 {
        return marked;
    }
    // Bold cells only say that they are a header where others are not bold.
    let bold = leading(rows, is_bold);
    if bold > 0 && bold < rows.len() {
        return bold;
    }
    let unmarked = is_shaded_unlike_the_rest(rows)
        || (looks_like_names(rows) && (changes_type_below(rows) || has_words_of_headers(&rows[0])));
    usize::from(unmarked)
}

/// Leading rows that satisfy the test. Where too many do, only the first row and the rows its merged cells reach.
fn leading(rows: &[GridRow], test: impl Fn(&GridRow) -> bool) -> usize {
    let count = rows.iter().take_while(|row| test(row)).count();
    if count == 0 {
        return 0;
    }
    if count <= MOST_HEADER_ROWS && count < rows.len() {
        // A second header row divides columns of the first; a row that repeats nothing of it is data in disguise.
        return 1 + (1..count).take_while(|row| divides(&rows[*row - 1], &rows[*row])).count();
    }
    1 + (1..rows.len()).take_while(|row| shares_cell(&rows[*row - 1], &rows[*row])).count()
}

/// Whether the upper row has merged cells, beside or across the lower row.
fn divides(upper: &GridRow, lower: &GridRow) -> bool {
    let merged = upper.places.windows(2).any(|pair| pair[0].cell == pair[1].cell && pair[0].cell != 0);
    let gaps = upper.places.iter().any(|place| place.text.is_empty());
    let in_head = upper.section == Section::Head && lower.section == Section::Head;
    merged || gaps || in_head || shares_cell(upper, lower)
}

fn shares_cell(upper: &GridRow, lower: &GridRow) -> bool {
    upper.places.iter().zip(&lower.places).any(|(a, b)| a.cell == b.cell && a.cell != 0)
}

/// Marked by the source: in the table's head, or header cells. One header cell before data cells names the row instead.
fn is_marked(row: &GridRow) -> bool {
    if row.is_full_width() {
        return false;
    }
    let filled = row.filled().count();
    let header = row.filled().filter(|place| place.header).count();
    let all = header == filled && (header >= 2 || row.places.iter().all(|place| place.header || place.cell == 0));
    row.section == Section::Head || (header > 0 && all) || (header >= 2 && header * 2 > filled)
}

/// Every cell with words is bold.
fn is_bold(row: &GridRow) -> bool {
    let says_something = |place: &&Place| place.text.chars().any(char::is_alphanumeric);
    let cells = row.filled().filter(says_something).count();
    // A single bold cell beside empty ones is the name of a value that nobody filled in.
    let enough = cells >= 2 || (cells == 1 && row.places.len() == 1);
    enough && row.filled().filter(says_something).all(|place| place.bold) && !row.is_full_width()
}

/// The first row has one background colour that the second has not.
fn is_shaded_unlike_the_rest(rows: &[GridRow]) -> bool {
    let [first, second, ..] = rows else { return false };
    let shade = first.filled().next().and_then(|place| place.shade.as_ref());
    shade.is_some()
        && first.filled().count() > 1
        && first.filled().all(|place| place.shade.as_ref() == shade)
        && second.filled().all(|place| place.shade.as_ref() != shade)
}

/// Short, different words in every cell of the first of several rows.
fn looks_like_names(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    if rest.len() < 2 || first.places.len() < 2 || first.places.len() > MOST_COLUMNS {
        return false;
    }
    if first.places.iter().any(|place| place.header) {
        // Marked cells that do not make a header name the rows.
        return false;
    }
    let names: Vec<&str> = first.places.iter().map(|place| place.text.as_str()).collect();
    let unique = names.iter().enumerate().all(|(at, name)| !names[..at].contains(name));
    unique && names.iter().all(|name| !name.is_empty() && name.chars().count() <= LONGEST_NAME && !is_value(name))
}

/// Some column has only numbers or dates below its name.
fn changes_type_below(rows: &[GridRow]) -> bool {
    let width = rows.first().map_or(0, |row| row.places.len());
    (0..width).any(|column| {
        let below = || rows.iter().skip(1).filter_map(|row| row.places.get(column));
        let filled = || below().filter(|place| !place.text.is_empty());
        filled().count() >= 2 && filled().all(|place| is_value(&place.text))
    })
}

/// At least half of the cells end in a word that hardly stands for anything but a column. In a table of two columns
/// it must be the second, since such words also name the values of key-value tables.
fn has_words_of_headers(row: &GridRow) -> bool {
    let ends_so = |place: &&Place| {
        let word = place.text.split_whitespace().next_back().unwrap_or_default();
        WORDS_OF_HEADERS.contains(&word.trim_end_matches([':', '*']).to_lowercase().as_str())
    };
    match row.places.as_slice() {
        [_, second] => ends_so(&second),
        places => places.iter().filter(ends_so).count() * 2 >= places.len(),
    }
}

/// Whether a text is a number, a date, a version or a measure.
fn is_value(text: &str) -> bool {
    let start = text.trim_start_matches(['-', '+', '<', '>', '~', '≈', '±', '$', '€', 'v', ' ']);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    start.starts_with(|c: char| c.is_ascii_digit()) && digits * 2 >= letters
}
