//! Checks the benchmark's pages with a second reader that shares no code with the program: no text is lost, and no cell
//! is in the wrong row or column.
//!
//! Differences are printed in short form, never the text of a page: file, table, row, first words.

mod markup;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use markup::{Cell, Cells, Element, Grid, in_order, words};
use ragonite::base::CancelToken;
use ragonite::document::evidence::{ContextParts, Evidence, EvidenceSettings, Kind, Split, TableGrid, split};
use ragonite::document::{self, Document};

/// A share, with everything that is missing.
#[derive(Default)]
struct Tally {
    good: usize,
    all: usize,
    exceptions: Vec<String>,
}

impl Tally {
    fn add(&mut self, good: usize, all: usize, exception: impl FnOnce() -> String) {
        self.good += good;
        self.all += all;
        if good < all {
            self.exceptions.push(exception());
        }
    }

    fn share(&self) -> f64 {
        if self.all == 0 { 1.0 } else { self.good as f64 / self.all as f64 }
    }

    fn print(&self, name: &str) {
        println!("{name}: {} of {} ({:.3} %)", self.good, self.all, self.share() * 100.0);
        for exception in &self.exceptions {
            println!("    {exception}");
        }
    }
}

#[derive(Default)]
struct Tallies {
    pages: Tally,
    words: Tally,
    items: Tally,
    tables: Tally,
    cells: Tally,
    headers: Tally,
    marked: Tally,
    lengths: Tally,
}

/// The benchmark's pages, if available.
#[expect(clippy::disallowed_methods, reason = "the test says where the pages are")]
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/confquestions");
    let named = std::env::var_os("RAGONITE_CONFQUESTIONS").map(PathBuf::from);
    let folder = named.unwrap_or(beside).join("documents");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no benchmark corpus at `{}`", folder.display());
    None
}

/// About four letters per token.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn split_of(document: &Document) -> Split {
    split(document, &EvidenceSettings::default(), &tokens, &CancelToken::never()).unwrap()
}

#[test]
fn a_second_reader_finds_everything_where_it_belongs() {
    let Some(folder) = corpus() else { return };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut tallies = Tallies::default();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy().replace("confluence-", "");
        let source: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let page = Element::read(source["content"].as_str().unwrap());
        let document = document::load(file).unwrap();
        let made = split_of(&document);
        tallies.pages.add(usize::from(!made.evidences.is_empty()), 1, || name.clone());
        check_words(&name, &page, &made, &mut tallies.words);
        check_lists(&name, &page, &made, &mut tallies.items);
        check_tables(&name, &page, &made, &mut tallies);
        check_lengths(&name, &made, &mut tallies.lengths);
    }
    let Tallies { pages, words, items, tables, cells, headers, marked, lengths } = &tallies;
    let named = [
        ("pages with evidence", pages, 1.0),
        ("visible words in some evidence", words, 0.995),
        ("list items in their list", items, 0.99),
        ("tables found", tables, 0.99),
        ("data cells in the evidence of their own row", cells, 0.99),
        ("header cells in the name of their column", headers, 0.99),
        ("tables whose marked header is their header", marked, 0.95),
        ("rows within 1.5 times row, header and context", lengths, 1.0),
    ];
    for (name, tally, _) in &named {
        tally.print(name);
    }
    for (name, tally, least) in &named {
        assert!(tally.all > 0 && tally.share() >= *least, "{name}: {} of {}", tally.good, tally.all);
    }
}

fn start(words: &[String]) -> String {
    words.iter().take(4).cloned().collect::<Vec<_>>().join(" ")
}

fn counted(words: Vec<String>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Every word occurs as often as on the page, in contents and headings.
fn check_words(name: &str, page: &Element, made: &Split, tally: &mut Tally) {
    let mut held = Vec::new();
    let mut path: &[String] = &[];
    for evidence in made.evidences.iter().filter(|evidence| evidence.kind != Kind::Row) {
        held.extend(words(&evidence.content));
        let new = &evidence.context.heading_path;
        let same = new.iter().zip(path).take_while(|(a, b)| a == b).count();
        held.extend(new[same..].iter().flat_map(|heading| words(heading)));
        path = new;
    }
    let (held, seen) = (counted(held), counted(words(&page.text(&[]))));
    let all = seen.values().sum();
    let missing: Vec<_> = seen
        .iter()
        .map(|(word, count)| (word, count.saturating_sub(held.get(word).copied().unwrap_or(0))))
        .filter(|(_, missing)| *missing > 0)
        .collect();
    let lost: usize = missing.iter().map(|(_, missing)| missing).sum();
    tally.add(all - lost, all, || {
        let mut examples: Vec<_> = missing.iter().map(|(word, _)| word.as_str()).collect();
        examples.sort_unstable();
        format!("{name}: {lost} of {all}, such as {}", examples.into_iter().take(4).collect::<Vec<_>>().join(" "))
    });
}

const LISTS: &[&str] = &["ul", "ol", "ac:task-list"];

/// The words of every item are in the evidence of its outermost list.
fn check_lists(name: &str, page: &Element, made: &Split, tally: &mut Tally) {
    let mut lists = Vec::new();
    page.outermost(LISTS, &["table"], &mut lists);
    // Parts of a list count as one list.
    let mut texts: Vec<(&str, Vec<String>)> = Vec::new();
    for evidence in made.evidences.iter().filter(|evidence| evidence.kind == Kind::List) {
        let (place, part) = evidence.location.rsplit_once(", item").unwrap_or((&evidence.location, ""));
        match texts.last_mut() {
            Some((last, text)) if *last == place && !part.is_empty() && !part.starts_with("s 1-") => {
                text.extend(words(&evidence.content));
            }
            _ => texts.push((place, words(&evidence.content))),
        }
    }
    let mut next = 0;
    for (number, list) in (1..).zip(lists) {
        let mut items = Vec::new();
        own_items(list, &mut items);
        items.retain(|item: &Vec<String>| !item.is_empty());
        if items.is_empty() {
            continue;
        }
        let found = |text: &(&str, Vec<String>)| items.iter().filter(|item| in_order(item, &text.1)).count();
        let ahead = texts.iter().enumerate().skip(next).take(4);
        let best = ahead.map(|(at, text)| (found(text), at)).max_by_key(|(found, at)| (*found, usize::MAX - at));
        let (good, at) = best.unwrap_or((0, next));
        next = if good > 0 { at + 1 } else { next };
        tally.add(good, items.len(), || {
            let lost = items.iter().find(|item| texts.get(at).is_none_or(|text| !in_order(item, &text.1)));
            format!("{name} list {number}: {good} of {}, not {}", items.len(), start(lost.unwrap_or(&items[0])))
        });
    }
}

fn own_items(list: &Element, items: &mut Vec<Vec<String>>) {
    let mut found = Vec::new();
    list.outermost(&["li", "ac:task"], &["table"], &mut found);
    for item in found {
        items.push(words(&item.text(&["ul", "ol", "ac:task-list", "table"])));
        own_items(item, items);
    }
}

fn check_tables(name: &str, page: &Element, made: &Split, tallies: &mut Tallies) {
    let mut found = Vec::new();
    page.outermost(&["table"], &[], &mut found);
    let tables: Vec<Cells> = found.into_iter().map(Cells::of).filter(|cells| cells.filled() > 1).collect();
    let mut next = 0;
    for (number, cells) in (1..).zip(&tables) {
        let grid = cells.grid();
        let place = format!("{name} table {number}");
        let candidates = made.tables.iter().enumerate().skip(next).take(2);
        let aligned = candidates.filter_map(|(at, ours)| Aligned::new(&grid, ours, made).map(|aligned| (at, aligned)));
        let Some((at, aligned)) = aligned.max_by_key(|(at, aligned)| (aligned.found, usize::MAX - at)) else {
            tallies.tables.add(0, 1, || format!("{place}: no table with as many rows"));
            continue;
        };
        next = at + 1;
        tallies.tables.add(1, 1, String::new);
        aligned.check(&place, tallies);
        aligned.check_footer(&place, made, &mut tallies.cells);
    }
}

/// The cells with words in a row of the page.
struct RowCells<'a> {
    /// Cells that the row's evidence holds under their names.
    found: usize,
    all: usize,
    /// Words of the first cell that it does not hold.
    first_lost: Option<&'a [String]>,
}

/// A table of the page aligned with the program's table.
struct Aligned<'a> {
    grid: &'a Grid<'a>,
    ours: &'a TableGrid,
    rows: Vec<Option<&'a Evidence>>,
    /// Rows above the program's first row.
    above: usize,
    /// Cells found in this alignment.
    found: usize,
}

impl<'a> Aligned<'a> {
    /// The alignment with the most found cells.
    fn new(grid: &'a Grid<'a>, ours: &'a TableGrid, made: &'a Split) -> Option<Self> {
        let count = ours.rows.len();
        let mut rows = vec![None; count];
        for evidence in made.evidences.iter().filter(|evidence| evidence.table == Some(ours.number)) {
            if let Some(row) = evidence.row.and_then(|row| rows.get_mut(row as usize - 1)) {
                *row = Some(evidence);
            }
        }
        let spare = grid.rows.len().checked_sub(count)?;
        let alignments = (0..=spare).map(|above| {
            let mut aligned = Self { grid, ours, rows: rows.clone(), above, found: 0 };
            aligned.found = (0..count).map(|row| aligned.cells(row).found).sum();
            aligned
        });
        // Column names occur in every row, so the header matches as a row; of equal alignments the lower one is right.
        alignments.max_by_key(|aligned| {
            let all: usize = (0..count).map(|row| aligned.cells(row).all).sum();
            (aligned.found * 1_000_000 / all.max(1), aligned.above)
        })
    }

    fn cells(&self, row: usize) -> RowCells<'a> {
        let content = self.rows[row].map_or_else(Vec::new, |evidence| words(&evidence.content));
        let y = self.above + row;
        let cells = self.grid.rows[y].iter().enumerate().filter_map(|(x, cell)| Some((x, (*cell)?)));
        let cells = cells.filter(|(_, cell)| !cell.words.is_empty());
        let holds = |x: usize, cell: &Cell| {
            let ours = words(self.ours.rows[row].get(x).map_or("", String::as_str));
            let mut fact = Vec::new();
            if self.is_named(x) && !self.grid.is_across(y) {
                fact = words(&self.ours.header[x]);
                fact.push("is".to_owned());
            }
            fact.extend(ours.iter().cloned());
            in_order(&cell.words, &ours) && content.windows(fact.len()).any(|run| run == fact)
        };
        let (held, lost): (Vec<_>, Vec<_>) = cells.partition(|(x, cell)| holds(*x, cell));
        RowCells {
            found: held.len(),
            all: held.len() + lost.len(),
            first_lost: lost.first().map(|(_, cell)| cell.words.as_slice()),
        }
    }

    /// Whether the page has a name for the column.
    fn is_named(&self, x: usize) -> bool {
        let above = (0..self.above).filter(|y| !self.grid.is_across(*y));
        above.into_iter().any(|y| self.grid.rows[y][x].is_some_and(|cell| !cell.words.is_empty()))
            && x < self.ours.header.len()
    }

    fn check(&self, place: &str, tallies: &mut Tallies) {
        for row in 0..self.ours.rows.len() {
            let RowCells { found: good, all, first_lost: lost } = self.cells(row);
            let lost = || format!("{place} row {}: {good} of {all}, not {}", row + 1, start(lost.unwrap_or_default()));
            tallies.cells.add(good, all, lost);
        }
        self.check_header(place, &mut tallies.headers);
        if self.grid.has_marked_header() {
            let named = (0..self.above).any(|row| !self.grid.is_across(row));
            tallies.marked.add(usize::from(named), 1, || format!("{place}: a marked first row is read as data"));
        }
    }

    /// Rows below the program's last are the footer, which is in the evidence of the whole table.
    fn check_footer(&self, place: &str, made: &Split, tally: &mut Tally) {
        let tables = made.evidences.iter().filter(|evidence| evidence.table == Some(self.ours.number));
        let tables = tables.filter(|evidence| evidence.kind == Kind::Table);
        let content: Vec<String> = tables.flat_map(|evidence| words(&evidence.content)).collect();
        for row in &self.grid.rows[self.above + self.ours.rows.len()..] {
            for cell in row.iter().flatten() {
                let good = usize::from(in_order(&cell.words, &content));
                tally.add(good, 1, || format!("{place} footer: not {}", start(&cell.words)));
            }
        }
    }

    /// Every cell above the program's first row is in the name of its column, or in the caption if it covers the whole
    /// table.
    fn check_header(&self, place: &str, tally: &mut Tally) {
        for y in 0..self.above {
            for (x, cell) in self.grid.rows[y].iter().enumerate() {
                let Some(cell) = cell.filter(|cell| !cell.words.is_empty()) else { continue };
                let name = if self.grid.is_across(y) { Some(&self.ours.caption) } else { self.ours.header.get(x) };
                let named = name.is_some_and(|name| in_order(&cell.words, &words(name)));
                tally.add(usize::from(named), 1, || format!("{place} column {}: not {}", x + 1, start(&cell.words)));
            }
        }
    }
}

fn check_lengths(name: &str, made: &Split, tally: &mut Tally) {
    let grids: HashMap<u32, &TableGrid> = made.tables.iter().map(|grid| (grid.number, grid)).collect();
    for evidence in made.evidences.iter().filter(|evidence| evidence.kind == Kind::Row) {
        let (Some(grid), Some(row)) = (evidence.table.and_then(|table| grids.get(&table)), evidence.row) else {
            continue;
        };
        let length = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
        let context = &evidence.context;
        let around = [context.title.as_str(), context.heading(), &context.before, &context.after];
        let parts = length(&grid.rows[row as usize - 1])
            + length(&grid.header)
            + around.iter().map(|text| text.chars().count()).sum::<usize>();
        let own = evidence.contextualized(ContextParts::ALL).chars().count();
        tally.add(usize::from(own * 2 <= parts * 3), 1, || format!("{name} {}: {own} of {parts}", evidence.location));
    }
}

/// The checks of the tables of a page.
fn tables_of(source: &str, made: &Split) -> Tallies {
    let mut tallies = Tallies::default();
    check_tables("x", &Element::read(source), made, &mut tallies);
    tallies
}

const PAGE: &str = "<table><tbody><tr><td rowspan='2'><strong>Pump</strong></td><td colspan=\"2\"><b>Flow</b></td></tr>\
    <tr><td><b>dry</b></td><td><b>wet &amp; cold</b></td></tr>\
    <tr><td>P1</td><td rowspan=\"2\">low</td><td>7</td></tr><tr><td>P2</td><td>9</td></tr></tbody></table>";

#[test]
fn the_second_reader_lays_out_merged_cells() {
    let page = Element::read(PAGE);
    let mut tables = Vec::new();
    page.outermost(&["table"], &[], &mut tables);
    let cells = Cells::of(tables[0]);
    let grid = cells.grid();
    let row = |y: usize| grid.rows[y].iter().map(|cell| cell.unwrap().words.join(" ")).collect::<Vec<_>>().join(", ");
    assert_eq!((row(1), row(3)), ("Pump, dry, wet cold".to_owned(), "P2, low, 9".to_owned()));
    assert!(grid.has_marked_header());
}

#[test]
fn the_check_finds_a_cell_in_the_wrong_row_and_a_wrong_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.html");
    fs::write(&file, PAGE).unwrap();
    let made = split_of(&document::load(&file).unwrap());
    let tallies = tables_of(PAGE, &made);
    assert_eq!((tallies.cells.good, tallies.cells.all), (6, 6), "{:?}", tallies.cells.exceptions);
    assert_eq!((tallies.headers.good, tallies.headers.all), (6, 6), "{:?}", tallies.headers.exceptions);
    assert_eq!((tallies.marked.good, tallies.marked.all), (1, 1));

    let mut shuffled = made.clone();
    let last = shuffled.evidences.len() - 1;
    let other = shuffled.evidences[last - 1].content.clone();
    shuffled.evidences[last].content = other;
    let tallies = tables_of(PAGE, &shuffled);
    assert_eq!((tallies.cells.good, tallies.cells.all), (4, 6), "{:?}", tallies.cells.exceptions);

    let mut renamed = made;
    renamed.tables[0].header[2] = "Flow".to_owned();
    let tallies = tables_of(PAGE, &renamed);
    assert_eq!((tallies.headers.good, tallies.cells.good), (5, 4));
}
