//! Detects which leading rows name a table's columns, and which leading columns name its rows.
//!
//! Takes the filled grid, gives their numbers, 0 if nothing decides. On real pages most headers are not marked as such:
//! 65 of the 110 tables of the benchmark corpus have no header cell, and 58 of those show it by a bold first row.
//! Not here: joining the names of several header rows (`table`).

use std::collections::HashSet;

use super::builder::Section;
use super::grid::{GridRow, Place};

/// Maximum of header rows; a table of header cells only was marked carelessly.
const MOST_HEADER_ROWS: usize = 4;
/// Maximum characters of a column name, if only the words decide.
const LONGEST_NAME: usize = 40;
/// Maximum characters of a key in a key-value table.
const LONGEST_KEY: usize = 80;
/// Maximum characters of a unit in brackets.
const LONGEST_UNIT: usize = 16;
/// Maximum of columns that name rows.
const MOST_ROW_HEADERS: usize = 3;
/// Maximum of columns; in wider tables, which are spreadsheets, only marks decide.
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
    "person",
    "state",
    "val",
    "amount",
    "category",
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
    "zustand",
    "kategorie",
    "betrag",
    "einheit",
    "status",
    "result",
    "results",
    "date",
    "version",
    "role",
    "priority",
    "responsible",
    "deadline",
    "price",
    "cost",
    "quantity",
    "mail",
    "email",
    "e-mail",
    "phone",
    "datum",
    "ergebnis",
    "rolle",
    "priorität",
    "verantwortlich",
    "frist",
    "preis",
    "kosten",
    "menge",
    "anzahl",
    "telefon",
    "bezeichnung",
    "bedeutung",
    "erklärung",
];

/// Numbers of leading name rows and name columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Rows that name the columns.
    pub header_rows: usize,
    /// Columns that name the rows below the header.
    pub row_headers: usize,
}

/// Detects name rows and name columns.
pub(super) fn name_columns(rows: &[GridRow]) -> Names {
    let header_rows = header_rows(rows);
    let row_headers = match row_headers(&rows[header_rows..], header_rows) {
        0 if header_rows == 1 && has_empty_corner(rows) => 1,
        marked => marked,
    };
    Names { header_rows, row_headers }
}

/// Number of leading header rows.
pub(super) fn header_rows(rows: &[GridRow]) -> usize {
    let marked = leading(rows, is_marked);
    if marked > 0 {
        return marked + rows[marked..].iter().take_while(|row| is_row_of_units(row)).take(1).count();
    }
    // Bold cells mark a header only if other rows are not bold.
    let bold = leading(rows, is_bold);
    if bold > 0 && bold < rows.len() {
        return bold + rows[bold..].iter().take_while(|row| is_row_of_units(row)).take(1).count();
    }
    if is_shaded_unlike_the_rest(rows) {
        return 1;
    }
    if is_row_of_years(rows) || has_empty_corner(rows) {
        return 1;
    }
    let divided = divided_names(rows);
    if divided > 0 {
        return divided;
    }
    let told_below = || changes_type_below(rows) || has_few_values_below(rows) || has_sentences_below(rows);
    let told = || told_below() || has_words_of_headers(&rows[0]);
    usize::from(looks_like_names(rows) && !names_its_rows(rows, 0) && told())
}

/// Number of leading rows in which merged names stand over the names that divide them, above columns of values: `Site |
/// Load | Load` over `Site | min | max`.
fn divided_names(rows: &[GridRow]) -> usize {
    let Some(first) = rows.first().filter(|first| first.places.len() > 2) else { return 0 };
    let across = |row: &GridRow| row.places.windows(2).any(|pair| pair[0].cell == pair[1].cell && pair[0].cell != 0);
    let goes_on = |at: usize| across(&rows[at - 1]) || shares_cell(&rows[at - 1], &rows[at]);
    let count = 1 + (1..rows.len().min(MOST_HEADER_ROWS + 1)).take_while(|at| goes_on(*at)).count();
    if !across(first) || !(2..=MOST_HEADER_ROWS).contains(&count) || count == rows.len() {
        return 0;
    }
    let (names, data) = rows.split_at(count);
    let is_name = |place: &Place| place.text.chars().count() <= LONGEST_NAME && !is_value(&place.text);
    let last = &names[count - 1];
    // One place of a merged name is divided: each name below it stands for itself, above nothing but values.
    let divides = first.places.windows(2).zip(last.places.windows(2)).any(|(above, below)| {
        above[0].cell == above[1].cell && below[0].cell != below[1].cell && below[0].text != below[1].text
    });
    let values = |column: usize| {
        let mut filled = data.iter().filter_map(|row| row.places.get(column)).filter(|p| !p.text.is_empty()).peekable();
        filled.peek().is_some() && filled.all(|place| is_value(&place.text))
    };
    let whole = names.iter().all(|row| !row.full_width && row.places.iter().all(is_name));
    let filled = last.places.iter().all(|place| !place.text.is_empty());
    if whole && filled && divides && (0..first.places.len()).any(values) { count } else { 0 }
}

/// Whether the first row has ordered years behind its first cell.
fn is_row_of_years(rows: &[GridRow]) -> bool {
    let [first, _, ..] = rows else { return false };
    let year = |place: &Place| place.text.parse::<u16>().ok().filter(|year| (1900..2100).contains(year));
    let years: Option<Vec<u16>> = first.places.iter().skip(1).map(year).collect();
    let in_order = |years: &[u16]| years.is_sorted_by(|a, b| a < b) || years.is_sorted_by(|a, b| a > b);
    let below = |rows: &[GridRow]| rows[1..].iter().any(|row| row.places.iter().skip(1).any(|p| year(p).is_none()));
    year(&first.places[0]).is_none() && years.is_some_and(|years| years.len() > 1 && in_order(&years)) && below(rows)
}

/// An empty corner between different names on top and different names on the left.
fn has_empty_corner(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    let are_names = |texts: &[&str]| {
        let different: HashSet<&&str> = texts.iter().collect();
        let short = |text: &&str| !text.is_empty() && text.chars().count() <= LONGEST_NAME;
        different.len() == texts.len() && texts.iter().all(short)
    };
    let top: Vec<&str> = first.places.iter().skip(1).map(|place| place.text.as_str()).collect();
    let left: Vec<&str> = rest.iter().filter_map(|row| row.places.first()).map(|place| place.text.as_str()).collect();
    let filled = rest.iter().any(|row| row.filled().count() > 1);
    top.len() > 1 && left.len() > 1 && first.places[0].text.is_empty() && are_names(&top) && are_names(&left) && filled
}

/// Whether every cell is a unit in brackets.
fn is_row_of_units(row: &GridRow) -> bool {
    let is_unit = |text: &str| {
        let open = text.starts_with('(') && text.ends_with(')') || text.starts_with('[') && text.ends_with(']');
        open && text.chars().count() <= LONGEST_UNIT
    };
    !row.full_width && row.filled().next().is_some() && row.filled().all(|place| is_unit(place.text.trim()))
}

/// Number of leading columns that name their row.
fn row_headers(data: &[GridRow], header: usize) -> usize {
    let width = data.first().map_or(0, |row| row.places.len());
    if width < 2 {
        return 0;
    }
    let marked = (0..(width - 1).min(MOST_ROW_HEADERS)).take_while(|column| names_its_rows(data, *column)).count();
    if marked == 0 && header == 0 && width == 2 && is_column_of_keys(data) { 1 } else { marked }
}

/// Whether a column is marked unlike its neighbours: by header cells, bold text or a background colour.
fn names_its_rows(rows: &[GridRow], column: usize) -> bool {
    let rows = || rows.iter().filter(|row| !row.full_width);
    let filled = |column: usize| rows().filter_map(move |row| row.places.get(column)).filter(|p| !p.text.is_empty());
    let width = rows().next().map_or(0, |row| row.places.len());
    let all = |column: usize, test: &dyn Fn(&Place) -> bool| filled(column).all(test);
    // The mark counts only if another column lacks it.
    let stands_out = |test: &dyn Fn(&Place) -> bool| all(column, test) && (column + 1..width).any(|c| !all(c, test));
    let count = filled(column).count();
    if count >= 1 && stands_out(&|place| place.header) {
        return true;
    }
    let shade = filled(column).next().and_then(|place| place.shade.clone());
    count >= 2
        && (stands_out(&|place| place.bold)
            || (shade.is_some() && all(column, &|place| place.shade == shade) && {
                let mut others = (column + 1..width).flat_map(filled).peekable();
                others.peek().is_some() && others.all(|place| place.shade != shade)
            }))
}

/// Whether keys and values alternate over at least four columns: every other column is marked.
pub(super) fn alternates_keys_and_values(rows: &[GridRow]) -> bool {
    let width = rows.first().map_or(0, |row| row.places.len());
    let key = |place: &Place| place.header || place.bold;
    let column = |at: usize| rows.iter().filter_map(move |row| row.places.get(at)).filter(|p| !p.text.is_empty());
    let is_right = |at: usize| {
        let found = column(at).next().is_some();
        found && if at.is_multiple_of(2) { column(at).all(key) } else { !column(at).any(key) }
    };
    let merged = || rows.iter().any(|row| row.places.windows(2).any(|pair| pair[0].cell == pair[1].cell));
    width >= 4 && width.is_multiple_of(2) && (0..width).all(is_right) && !merged()
}

/// Whether the texts are short, different, and name the values beside them.
fn is_column_of_keys(rows: &[GridRow]) -> bool {
    let pairs = || rows.iter().filter(|row| !row.full_width && row.places.len() == 2);
    let mut seen = HashSet::new();
    let is_key = |text: &str| !text.is_empty() && text.chars().count() <= LONGEST_KEY && !text.contains('\n');
    let keys = pairs().filter(|row| is_key(&row.places[0].text) && seen.insert(row.places[0].text.as_str())).count();
    match pairs().count() {
        // Two texts are a pair only if the first one stands out.
        0 | 1 => pairs().any(|row| row.places[0].bold && !row.places[1].bold),
        count => keys * 5 >= count * 4,
    }
}

/// Number of leading rows that satisfy the test. If too many do, only the first row and the rows its merged cells
/// reach.
fn leading(rows: &[GridRow], test: impl Fn(&GridRow) -> bool) -> usize {
    let count = rows.iter().take_while(|row| test(row)).count();
    if count == 0 {
        return 0;
    }
    if count <= MOST_HEADER_ROWS && count < rows.len() {
        // A second header row divides columns of the first; otherwise it is data.
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

/// Whether the source marks the row as header. A single header cell before data cells names the row instead.
fn is_marked(row: &GridRow) -> bool {
    if row.full_width {
        return false;
    }
    let filled = row.filled().count();
    let header = row.filled().filter(|place| place.header).count();
    let all = header == filled && (header >= 2 || row.places.iter().all(|place| place.header || place.cell == 0));
    row.section == Section::Head || (header > 0 && all) || (header >= 2 && header * 2 > filled)
}

/// The start of another header within a table: a row of header cells without numbers, above a row of data.
pub(super) fn next_header(rows: &[GridRow]) -> Option<usize> {
    let is_header = |row: &GridRow| {
        let filled = row.filled().count();
        !row.full_width
            && filled > 1
            && filled * 2 > row.places.len()
            && row.filled().all(|place| place.header && !is_value(&place.text))
    };
    let is_data = |row: &GridRow| !row.full_width && row.filled().any(|place| !place.header);
    let begins = |at: &usize| {
        let after_data = is_data(&rows[at - 1]) || (*at > 1 && rows[at - 1].full_width && is_data(&rows[at - 2]));
        after_data && is_header(&rows[*at]) && is_data(&rows[at + 1])
    };
    // A full-width row above the header names what follows.
    let at = (1..rows.len().saturating_sub(1)).find(begins)?;
    Some(if rows[at - 1].full_width { at - 1 } else { at })
}

/// Whether every cell with words is bold.
fn is_bold(row: &GridRow) -> bool {
    let says_something = |place: &&Place| place.text.chars().any(char::is_alphanumeric);
    let cells = row.filled().filter(says_something).count();
    // A single bold cell beside empty ones names a missing value.
    let enough = cells >= 2 || (cells == 1 && row.places.len() == 1);
    enough && row.filled().filter(says_something).all(|place| place.bold) && !row.full_width
}

/// Whether the first row has a background colour that no other whole row has.
fn is_shaded_unlike_the_rest(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    let shade = first.filled().next().and_then(|place| place.shade.as_ref());
    let in_shade = |row: &GridRow| row.filled().all(|place| place.shade.as_ref() == shade);
    // A long table repeats its header.
    let repeats = |row: &GridRow| row.filled().map(|place| &place.text).eq(first.filled().map(|place| &place.text));
    shade.is_some()
        && !rest.is_empty()
        && !first.full_width
        && (first.filled().count() > 1 || first.places.len() == 1)
        && in_shade(first)
        && !rest.iter().any(|row| !row.full_width && in_shade(row) && !repeats(row))
}

/// Whether the first of several rows has short, different words in every cell.
fn looks_like_names(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    if rest.len() < 2 || first.places.len() < 2 || first.places.len() > MOST_COLUMNS {
        return false;
    }
    if first.places.iter().any(|place| place.header) {
        // Marked cells that are not a header name the rows.
        return false;
    }
    let names: Vec<&str> = first.places.iter().map(|place| place.text.as_str()).collect();
    let unique = names.iter().enumerate().all(|(at, name)| !names[..at].contains(name));
    unique
        && names.iter().all(|name| {
            !name.is_empty() && name.chars().count() <= LONGEST_NAME && !is_value(name) && !is_address(name)
        })
}

/// Whether some column has only numbers, dates or addresses below its name.
fn changes_type_below(rows: &[GridRow]) -> bool {
    let width = rows.first().map_or(0, |row| row.places.len());
    (0..width).any(|column| {
        let below = || rows.iter().skip(1).filter_map(|row| row.places.get(column));
        // The result of a failed formula has no type.
        let filled = || below().filter(|place| !place.text.is_empty() && !is_failure(&place.text));
        filled().count() >= 2 && filled().all(|place| is_value(&place.text) || is_address(&place.text))
    })
}

/// Whether some column repeats a few values below its name.
fn has_few_values_below(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    (0..first.places.len()).any(|column| {
        let values = || rest.iter().filter_map(|row| row.places.get(column)).filter(|place| !place.text.is_empty());
        // A merged cell counts once.
        let cells: HashSet<usize> = values().map(|place| place.cell).collect();
        let texts: HashSet<&str> = values().map(|place| place.text.as_str()).collect();
        cells.len() >= 4 && texts.len() * 2 <= cells.len() && !texts.contains(first.places[column].text.as_str())
    })
}

/// Whether a cell behind the first column ends in a typical word of column names. In the first column such words also
/// name values.
fn has_words_of_headers(row: &GridRow) -> bool {
    row.places.iter().skip(1).any(|place| {
        let word = place.text.split_whitespace().next_back().unwrap_or_default();
        WORDS_OF_HEADERS.contains(&word.trim_end_matches([':', '*']).to_lowercase().as_str())
    })
}

/// Whether, in a table of at least three columns, some column has only sentences below a short name.
fn has_sentences_below(rows: &[GridRow]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    let is_sentence = |text: &str| text.chars().count() >= 12 && text.ends_with('.') && text.contains(' ');
    first.places.len() > 2
        && (0..first.places.len()).any(|column| {
            let below = || rest.iter().filter_map(|row| row.places.get(column)).filter(|place| !place.text.is_empty());
            below().count() >= 2 && below().all(|place| is_sentence(&place.text))
        })
}

/// Whether a text is a spreadsheet's error value.
fn is_failure(text: &str) -> bool {
    matches!(text, "#DIV/0!" | "#N/A" | "#NAME?" | "#NULL!" | "#NUM!" | "#REF!" | "#VALUE!" | "#NV" | "#WERT!")
}

/// Whether a text is an address of a page or a person.
fn is_address(text: &str) -> bool {
    !text.contains(char::is_whitespace) && (text.contains("://") || text.contains('@'))
}

/// Whether a text is a number, a date, a version or a measure.
pub(super) fn is_value(text: &str) -> bool {
    let start = text.trim_start_matches(['-', '+', '<', '>', '~', '≈', '±', '$', '€', 'v', ' ']);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    start.starts_with(|c: char| c.is_ascii_digit()) && digits * 2 >= letters
}
