//! Tables as their authors draw them, and as nobody should.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::{Block, Document, List, Table, load, parse};

/// A document's blocks as a person would check them.
fn report(document: &Document) -> String {
    let mut text = String::new();
    for block in &document.blocks {
        match block {
            Block::Heading { level: 2, text: heading } => writeln!(text, "\n## {heading}"),
            Block::Heading { text: heading, .. } => writeln!(text, "heading: {heading}"),
            Block::Text(words) => writeln!(text, "text: {words:?}"),
            Block::List(list) => writeln!(text, "list: {}", items(list)),
            Block::Table(table) => write!(text, "{}", draw(table)),
            Block::Page(_) => Ok(()),
        }
        .unwrap();
    }
    text.trim_start().to_owned()
}

fn items(list: &List) -> String {
    let items = list.items.iter().map(|item| {
        let nested: Vec<String> = item.nested.iter().map(items).collect();
        if nested.is_empty() { item.text.clone() } else { format!("{} {nested:?}", item.text) }
    });
    items.collect::<Vec<_>>().join(" | ")
}

fn draw(table: &Table) -> String {
    let mut text = String::from("table\n");
    let mut line = |name: &str, words: &str| writeln!(text, "  {name}: {words}").unwrap();
    line("caption", table.caption.as_deref().unwrap_or("-"));
    line("header", &if table.header.is_empty() { "-".to_owned() } else { table.header.join(" | ") });
    line("columns that name rows", &table.row_headers.to_string());
    for (at, row) in table.rows.iter().enumerate() {
        let name = if table.full_width.contains(&at) { "whole row" } else { "row" };
        line(name, &row.join(" | "));
    }
    line("footer", table.footer.as_deref().unwrap_or("-"));
    text
}

fn assert_fixture(name: &str) {
    let folder = ragonite_testing::root().join("tests/fixtures/documents/tables");
    let document = load(&folder.join(format!("{name}.html"))).unwrap();
    insta::assert_snapshot!(name, report(&document));
}

#[test]
fn a_merged_cell_fills_every_place_it_covers() {
    assert_fixture("spans");
}

#[test]
fn several_header_rows_become_one_name_per_column() {
    assert_fixture("header-rows");
}

#[test]
fn columns_that_name_their_row_are_told() {
    assert_fixture("row-headers");
}

#[test]
fn headers_that_are_not_marked_are_told_by_their_look() {
    assert_fixture("unmarked-headers");
}

#[test]
fn keys_and_values_and_transposed_tables_have_no_header() {
    assert_fixture("keys-and-values");
}

#[test]
fn titles_and_remarks_in_rows_are_no_rows() {
    assert_fixture("titles-and-remarks");
}

#[test]
fn rows_that_name_a_part_are_told_and_repeated_headers_go() {
    assert_fixture("parts");
}

#[test]
fn empty_rows_and_columns_go_and_colours_that_are_values_stay() {
    assert_fixture("empty");
}

#[test]
fn lists_and_paragraphs_in_cells_do_not_run_together() {
    assert_fixture("cells");
}

#[test]
fn a_table_in_a_cell_becomes_a_note() {
    assert_fixture("nested");
}

#[test]
fn tables_that_only_place_blocks_become_these_blocks() {
    assert_fixture("layout");
}

fn blocks(source: &str) -> Vec<Block> {
    parse(Path::new("x.html"), source.as_bytes()).unwrap().blocks
}

/// The first table of a page: its header and rows.
fn first_table(rows: &str) -> (Vec<String>, Vec<Vec<String>>, Vec<usize>) {
    let blocks = blocks(&format!("<p>start</p><table>{rows}</table>"));
    let table = blocks.into_iter().find_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    table.map(|table| (table.header, table.rows, table.full_width)).unwrap()
}

#[test]
fn a_row_with_only_its_first_cell_is_a_row() {
    let (header, rows, full_width) = first_table(
        "<tr><th>Phase<th>Task<th>Owner<tr><td>Design<td>draft<td>Nora<tr><td>Build<tr><td>Ship<td>pack<td>Paul",
    );
    assert_eq!(header, ["Phase", "Task", "Owner"]);
    assert_eq!((rows[1][0].as_str(), full_width), ("Build", vec![]));
    let (_, rows, full_width) =
        first_table("<tr><th>Phase<th>Task<tr><td>Design<td>draft<tr><td colspan=2>Build<tr><td>Ship<td>pack");
    assert_eq!((rows[1][0].as_str(), full_width), ("Build", vec![1]));
}

#[test]
fn merged_names_over_names_that_divide_them_are_a_header() {
    let (header, rows, _) = first_table(
        "<tr><td rowspan=2>Site<td colspan=2>Load<tr><td>min<td>max<tr><td>S1<td>1<td>2<tr><td>S2<td>5<td>6",
    );
    assert_eq!(header, ["Site", "Load / min", "Load / max"]);
    assert_eq!(rows.len(), 2);
    let (header, rows, _) = first_table(
        "<tr><td rowspan=2>North<td colspan=2>closed<tr><td>low<td>high<tr><td>South<td>open<td>high<tr><td>East<td>a<td>b",
    );
    assert!(header.is_empty() && rows.len() == 4, "merged words over words may be rows: {header:?}");
}

#[test]
fn two_columns_have_a_header_where_its_words_or_the_values_below_say_so() {
    let (header, rows, _) = first_table("<tr><td>Role<td>Person<tr><td>Lead<td>Anna<tr><td>Tester<td>Boris");
    assert_eq!((header, rows.len()), (vec!["Role".to_owned(), "Person".to_owned()], 2));
    let failed = "<tr><td>K<td>Sum<tr><td>a<td>1<tr><td>b<td>#DIV/0!<tr><td>c<td>3";
    assert_eq!(first_table(failed).0, ["K", "Sum"]);
    let pairs = "<tr><td>Lead<td>Anna<tr><td>Town<td>Kiel<tr><td>Boat<td>Kestrel";
    assert!(first_table(pairs).0.is_empty());
}

#[test]
fn hostile_spans_in_many_tables_cost_no_more_than_in_one() {
    let wide: String = (0..1_000).map(|n| format!("<td>{n}")).collect();
    let one = format!("<table><tr>{wide}</tr>{}</table>", "<tr><td>b".repeat(1_000));
    let places = |blocks: &[Block]| -> usize {
        let tables = blocks.iter().map(|block| match block {
            Block::Table(table) => table.rows.iter().map(Vec::len).sum(),
            _ => 0,
        });
        tables.sum()
    };
    assert_eq!(places(&blocks(&one)), 1_001 * 1_000);
    let many = places(&blocks(&one.repeat(8)));
    assert!((1_000_000..3_000_000).contains(&many), "{many} places");
}

#[test]
fn tables_nested_deeper_than_any_page_end_and_keep_the_text() {
    let deep = format!("{}core{}", "<table><tr><td>a<td>b</tr><tr><td>c<td>".repeat(300), "</table>".repeat(300));
    let text = format!("{:?}", blocks(&deep));
    assert!(text.contains("core"));
    assert!(text.len() < deep.len() * 20, "{} bytes from {}", text.len(), deep.len());
    let names = format!("<th>{}</th><th>y</th>", "long ".repeat(2_000));
    let rows = "<tr><td>1</td><td>2</td></tr>".repeat(500);
    let long = format!("<table><tr><th>a<th>b</tr><tr><td>x<td><table><tr>{names}</tr>{rows}</table></table>");
    let text = format!("{:?}", blocks(&long));
    assert!(text.len() < 100_000, "{} bytes", text.len());
}

#[test]
fn many_titles_remarks_and_headers_in_one_table_cost_time_by_its_size_only() {
    let whole = "<tr><td colspan=2>part</td></tr>".repeat(5_000);
    let parts = "<tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr><tr><th>e</th><th>f</th></tr><tr><td>g</td><td>h</td></tr>";
    let markup = format!("<table>{whole}{}{whole}</table>", parts.repeat(2_500));
    let text = report(&parse(Path::new("x.html"), markup.as_bytes()).unwrap());
    assert_eq!(text.matches("c | d").count() + text.matches("g | h").count(), 5_000);
}

fn words(text: &str) -> HashSet<String> {
    ragonite_base::text::words(text).map(ToOwned::to_owned).collect()
}

/// A cell's source, with words that stand for themselves.
fn cell() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        4 => "[a-z]{0,5}",
        1 => "[0-9]{1,4}",
        1 => "[a-z]{1,4} [a-z]{1,4}\\.?".prop_map(|text| format!("<b>{text}</b>")),
        1 => prop::collection::vec("[a-z]{1,4}", 1..3).prop_map(|items| format!("<ul><li>{}</ul>", items.join("<li>"))),
        1 => "[a-z]{1,4}".prop_map(|text| format!("<h3>{text}</h3><p>{text}x</p>")),
        1 => prop::collection::vec("[a-z]{1,4}", 4).prop_map(|inner| {
            format!("<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table>", inner[0], inner[1], inner[2], inner[3])
        }),
    ];
    let span = || prop_oneof![6 => Just(String::new()), 2 => (0u32..5).prop_map(|n| n.to_string()), 1 => Just("70000".to_owned())];
    (content, prop::bool::weighted(0.2), span(), span()).prop_map(|(content, header, columns, rows)| {
        let tag = if header { "th" } else { "td" };
        format!("<{tag} colspan=\"{columns}\" rowspan=\"{rows}\">{content}</{tag}>")
    })
}

fn visible(markup: &str) -> HashSet<String> {
    let mut text = String::new();
    for piece in markup.split('<') {
        text.push(' ');
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    words(&text)
}

proptest! {
    #![proptest_config(ragonite_testing::cases(500))]

    #[test]
    fn no_word_of_a_table_is_lost_and_rows_are_as_wide_as_the_header(
        rows in prop::collection::vec(prop::collection::vec(cell(), 0..5), 1..7),
        head in 0usize..3,
        foot in 0usize..2,
        caption in "[a-z]{0,4}",
    ) {
        let mut markup = format!("<p>start</p><table><caption>{caption}</caption>");
        for (at, cells) in rows.iter().enumerate() {
            let section = if at < head { "thead" } else if at + foot >= rows.len() { "tfoot" } else { "tbody" };
            write!(markup, "<{section}><tr>{}</tr></{section}>", cells.concat()).unwrap();
        }
        markup += "</table>";
        let document = parse(Path::new("x.html"), markup.as_bytes()).unwrap();
        let held = words(&report(&document));
        let missing: Vec<_> = visible(&markup).difference(&held).cloned().collect();
        prop_assert!(missing.is_empty(), "{:?} of {} in {:#?}", missing, markup, document.blocks);
        for block in &document.blocks {
            if let Block::Table(table) = block {
                let width = table.rows.first().map_or(table.header.len(), Vec::len);
                prop_assert!(table.rows.iter().all(|row| row.len() == width));
                prop_assert!(table.header.is_empty() || table.header.len() == width);
                prop_assert!(table.row_headers < width.max(1));
                prop_assert!(table.full_width.iter().all(|row| *row < table.rows.len()));
            }
        }
    }
}

/// What a person says of one table of the benchmark's pages.
struct Label<'a> {
    page: &'a str,
    table: usize,
    drawn: bool,
    title: usize,
    header: usize,
    row_headers: usize,
    kind: &'a str,
}

fn labels(text: &str) -> Vec<Label<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let label = |line| match str::split(line, ',').collect::<Vec<_>>()[..] {
        [page, table, drawn, title, header, row_headers, kind] => {
            let [table, title, header, row_headers] = [table, title, header, row_headers].map(|n| n.parse().unwrap());
            Label { page, table, drawn: drawn == "yes", title, header, row_headers, kind }
        }
        _ => panic!("no label: {line}"),
    };
    lines.map(label).collect()
}

/// The source of each table of a page that has no tables within tables.
fn sources(content: &str) -> Vec<&str> {
    let ends = |table: &str| table.find("</table>").map_or(table.len(), |at| at + "</table>".len());
    content.match_indices("<table").map(|(at, _)| &content[at..at + ends(&content[at..])]).collect()
}

/// Per column, the words of the cells above the data, read from the source by simpler means than ours.
fn names(source: &str, label: &Label<'_>) -> Vec<String> {
    let tree = scraper::Html::parse_fragment(source);
    let select = |query: &str| scraper::Selector::parse(query).unwrap();
    let (row, cell) = (select("tr"), select("td, th"));
    let rows = tree.select(&row).skip(label.title).take(label.header);
    let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); label.header];
    for (y, row) in rows.enumerate() {
        let mut x = 0;
        for cell in row.select(&cell) {
            while columns[y].get(x).is_some_and(Option::is_some) {
                x += 1;
            }
            let span = |name: &str| cell.attr(name).map_or(1, |text| text.parse::<usize>().unwrap());
            for line in &mut columns[y..(y + span("rowspan")).min(label.header)] {
                line.resize(line.len().max(x + span("colspan")), None);
                line[x..x + span("colspan")].fill(Some(plain(&cell.text().collect::<Vec<_>>().join(" "))));
            }
        }
    }
    let width = columns.iter().map(Vec::len).max().unwrap_or(0);
    let name = |x: usize| {
        let mut parts: Vec<&str> = columns.iter().filter_map(|line| line.get(x)?.as_deref()).collect();
        parts.dedup();
        parts.join(" ").trim().to_owned()
    };
    (0..width).map(name).filter(|name| !name.is_empty()).collect()
}

fn plain(text: &str) -> String {
    ragonite_base::text::words(text).collect::<Vec<_>>().join(" ")
}

/// What is wrong with what was read, in the eyes of the person who labelled the table.
fn disagreement(source: &str, label: &Label<'_>) -> Option<String> {
    let page = serde_json::json!({ "title": "page", "content": format!("<p>start</p>{source}") }).to_string();
    let document = parse(Path::new("page.json"), page.as_bytes()).unwrap();
    let tables: Vec<&Table> =
        document.blocks.iter().filter_map(|b| if let Block::Table(t) = b { Some(t) } else { None }).collect();
    let table = match (label.kind, tables.as_slice()) {
        ("layout", []) => return None,
        ("data" | "key-value", [table]) => table,
        (kind, tables) => return Some(format!("{kind} became {} tables", tables.len())),
    };
    let expected = names(source, label);
    let header: Vec<String> = table.header.iter().map(|name| plain(name)).filter(|name| !name.is_empty()).collect();
    if header != expected {
        return Some(format!("header {header:?} instead of {expected:?}"));
    }
    if table.row_headers != label.row_headers {
        return Some(format!("{} row headers instead of {}", table.row_headers, label.row_headers));
    }
    (table.caption.is_some() != (label.title > 0)).then(|| format!("caption {:?}", table.caption))
}

/// The benchmark's pages, where they are at hand.
#[expect(clippy::disallowed_methods, reason = "the test says where the pages are")]
fn corpus() -> Option<PathBuf> {
    let beside = ragonite_testing::root().join("../shared/confquestions");
    let folder = std::env::var_os("RAGONITE_CONFQUESTIONS").map_or(beside, PathBuf::from).join("documents");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no benchmark corpus at `{}`", folder.display());
    None
}

#[test]
fn headers_of_the_benchmarks_tables_are_those_that_a_person_sees() {
    let Some(folder) = corpus() else { return };
    let file = ragonite_testing::root().join("tests/fixtures/corpus/table-labels.csv");
    let text = fs::read_to_string(file).unwrap();
    let labels = labels(&text);
    let (mut right, mut all) = ([0, 0], [0, 0]);
    for label in &labels {
        let page = fs::read_to_string(folder.join(format!("confluence-{}.json", label.page))).unwrap();
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let sources = sources(page["content"].as_str().unwrap());
        let group = usize::from(!label.drawn);
        all[group] += 1;
        match disagreement(sources[label.table - 1], label) {
            None => right[group] += 1,
            Some(what) => println!("page {} table {}: {what}", label.page, label.table),
        }
    }
    println!("headers right: {} of {} drawn, {} of the {} others", right[0], all[0], right[1], all[1]);
    assert_eq!(all[0], 30);
    assert!(right[0] * 100 >= all[0] * 95 && right[1] * 100 >= all[1] * 95);
}
