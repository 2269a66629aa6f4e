//! Tables, lists and passages of every shape, made by hand, and their evidences.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::{Block, Document, Link, List, ListItem, Ordering, Table};
use ragonite_base::CancelToken;

/// As the room does it, without anybody who cancels.
fn split(document: &Document, settings: &EvidenceSettings, tokens: &CountTokens<'_>) -> Split {
    super::split(document, settings, tokens, &CancelToken::never()).unwrap()
}

/// A word is about four letters.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn made(blocks: Vec<Block>, settings: &EvidenceSettings) -> Split {
    split(&Document { title: "Harbour".into(), blocks, ..Document::default() }, settings, &tokens)
}

fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn heading(text: &str) -> Block {
    Block::Heading { level: 1, text: text.into() }
}

/// Evidences as a person would check them.
fn report(split: &Split) -> String {
    let mut text = String::new();
    for evidence in &split.evidences {
        let Context { before, after, .. } = &evidence.context;
        writeln!(text, "== {} · {}", evidence.kind.as_str(), evidence.location).unwrap();
        writeln!(text, "before: {before}\n{}\nafter: {after}", evidence.content).unwrap();
        for link in &evidence.links {
            writeln!(text, "link: {} -> {}", link.text, link.target).unwrap();
        }
        text.push('\n');
    }
    text
}

fn contents(split: &Split, kind: Kind) -> Vec<&str> {
    split.evidences.iter().filter(|e| e.kind == kind).map(|e| e.content.as_str()).collect()
}

/// A table with everything that a table can have.
fn fees() -> Table {
    Table {
        caption: Some("Fees & dues".into()),
        footer: Some("In euros, <2026>.".into()),
        header: names(&["Boat", "Fee | day", ""]),
        row_headers: 1,
        rows: rows(&[&["Canoe", "2", "a|b"], &["Barge", "", "x < y"], &["closed", "closed", "closed"], &["", "", ""]]),
        full_width: vec![2],
    }
}

#[test]
fn every_linearizer_writes_rows_and_tables() {
    let mut text = String::new();
    for form in [Linearizer::Verbalized, Linearizer::Piped, Linearizer::Markdown, Linearizer::Html, Linearizer::Plain] {
        let settings = EvidenceSettings { linearizer: form, ..EvidenceSettings::default() };
        let blocks = vec![Block::Text("Pay first.".into()), Block::Table(fees()), Block::Text("Then leave.".into())];
        writeln!(text, "######## {form:?}\n{}", report(&made(blocks, &settings))).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn key_value_and_transposed_tables() {
    let key_value = Table { rows: rows(&[&["Owner:", "Bea"], &["Due", ""], &["", "loose"]]), ..Table::default() };
    let transposed = Table {
        row_headers: 1,
        rows: rows(&[
            &["Berth", "A1", "B7"],
            &["Depth", "3 m", "3 m"],
            &["Rule", "no open fire on deck", "no open fire on deck"],
        ]),
        ..Table::default()
    };
    let unnamed_corner = Table {
        header: names(&["", "2023", "2024"]),
        row_headers: 1,
        rows: rows(&[&["Sales", "5", ""]]),
        ..Table::default()
    };
    let two_names = Table { row_headers: 2, rows: rows(&[&["Bow", "left", "1", "2"]]), ..Table::default() };
    let unnamed = Table { rows: rows(&[&["oak", "", "elm"]]), ..Table::default() };
    let tables = [key_value, transposed, unnamed_corner, two_names, unnamed];
    let split = made(tables.into_iter().map(Block::Table).collect(), &EvidenceSettings::default());
    let expected = [
        "Row 1 in Table 1: Owner is Bea",
        "Row 2 in Table 1: Due",
        "Row 3 in Table 1: loose",
        "Row 1 in Table 2: Berth is A1, and B7",
        "Row 2 in Table 2: Depth is 3 m for A1, and 3 m for B7",
        "Row 3 in Table 2: Rule is no open fire on deck",
        "Row 1 in Table 3: Sales, and 2023 is 5",
        "Row 1 in Table 4: Bow / left is 1, and 2",
        "Row 1 in Table 5: Column 1 is oak, and Column 3 is elm",
    ];
    assert_eq!(contents(&split, Kind::Row), expected);
}

#[test]
fn values_beside_the_name_of_a_row_say_which_column_they_are_of() {
    let table = |first: &[&str]| Table {
        row_headers: 1,
        rows: rows(&[first, &["Limit", "80", "64"], &["Unit", "", "GB"]]),
        ..Table::default()
    };
    let tables = [table(&["Metric", "cpu", "ram"]), table(&["Metric", "12", "9"]), table(&["Metric", "cpu", "cpu"])];
    let split = made(tables.into_iter().map(Block::Table).collect(), &EvidenceSettings::default());
    let told = contents(&split, Kind::Row);
    assert_eq!(
        told[1..3],
        ["Row 2 in Table 1: Limit is 80 for cpu, and 64 for ram", "Row 3 in Table 1: Unit is GB for ram"]
    );
    assert_eq!(told[4], "Row 2 in Table 2: Limit is 80, and 64");
    assert_eq!(told[7], "Row 2 in Table 3: Limit is 80, and 64");
}

#[test]
fn the_columns_of_a_table_are_named_as_its_rows_name_them() {
    let unnamed = Table { header: names(&["", "Pass", ""]), rows: rows(&[&["T1", "yes", "x"]]), ..Table::default() };
    let corner = Table { row_headers: 1, ..unnamed.clone() };
    let split = made(vec![Block::Table(unnamed), Block::Table(corner)], &EvidenceSettings::default());
    let tables = contents(&split, Kind::Table);
    assert!(tables[0].starts_with("Table 1\nColumns: Column 1, Pass, Column 3\n"), "{}", tables[0]);
    assert!(tables[1].starts_with("Table 2\nColumns: Pass, Column 3\n"), "{}", tables[1]);
}

#[test]
fn neighbours_see_a_table_in_the_form_that_was_chosen() {
    let settings = EvidenceSettings { linearizer: Linearizer::Piped, ..EvidenceSettings::default() };
    let blocks = vec![Block::Text("Above.".into()), Block::Table(large(2)), Block::Text("Below.".into())];
    let split = made(blocks, &settings);
    let (first, last) = (split.evidences.first().unwrap(), split.evidences.last().unwrap());
    assert_eq!(first.context.after, "Berths\nBerth | Depth\nB0 | 0 m\nB1 | 1 m\nAll depths at low tide.");
    assert_eq!(last.context.before, first.context.after);
}

#[test]
fn a_part_of_one_row_is_named_by_one_number() {
    let settings = EvidenceSettings { longest_table: 16, tables: TableEvidence::Table, ..EvidenceSettings::default() };
    let split = made(vec![Block::Table(large(3))], &settings);
    assert_eq!(split.evidences[0].location, "Table 1, row 1");
}

#[test]
fn the_setting_says_what_a_table_gives() {
    let kinds = |tables: TableEvidence, table: Table| {
        let settings = EvidenceSettings { tables, ..EvidenceSettings::default() };
        let split = made(vec![Block::Table(table)], &settings);
        split.evidences.iter().map(|e| e.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(TableEvidence::Both, fees()), [Kind::Table, Kind::Row, Kind::Row, Kind::Row]);
    assert_eq!(kinds(TableEvidence::Row, fees()), [Kind::Row, Kind::Row, Kind::Row]);
    assert_eq!(kinds(TableEvidence::Table, fees()), [Kind::Table]);
    let bare = Table { header: names(&["Boat", "Fee"]), ..Table::default() };
    assert_eq!(kinds(TableEvidence::Row, bare), [Kind::Table], "the header would be lost");
    assert_eq!(kinds(TableEvidence::Both, Table::default()), []);
}

fn large(count: usize) -> Table {
    Table {
        caption: Some("Berths".into()),
        footer: Some("All depths at low tide.".into()),
        header: names(&["Berth", "Depth"]),
        rows: (0..count).map(|row| vec![format!("B{row}"), format!("{} m", row % 9)]).collect(),
        ..Table::default()
    }
}

#[test]
fn a_large_table_becomes_parts_that_repeat_caption_and_header() {
    let settings = EvidenceSettings { longest_table: 70, tables: TableEvidence::Table, ..EvidenceSettings::default() };
    let blocks = vec![heading("North"), Block::Text("Moor here.".into()), Block::Table(large(10)), heading("South")];
    insta::assert_snapshot!(report(&made(blocks, &settings)));
}

#[test]
fn fifty_thousand_rows_become_bounded_parts() {
    let count = 50_000;
    let settings = EvidenceSettings::default();
    let split = made(vec![Block::Table(large(count))], &settings);
    let parts: Vec<_> = split.evidences.iter().filter(|e| e.kind == Kind::Table).collect();
    assert!(parts.len() > 100);
    assert!(parts.iter().all(|part| part.content.starts_with("Table 1: Berths\nColumns: Berth, Depth\nRow ")));
    assert!(parts.iter().all(|part| tokens(&part.content) <= settings.longest_table * 9 / 8));
    assert_eq!(contents(&split, Kind::Row).len(), count);
    assert!(parts.last().unwrap().content.contains("\nRow 50000 in Table 1: Berth is B49999, and Depth is 4 m\n"));
    assert!(parts[0].context.after.starts_with("All depths"), "the footer is near every part");
}

#[test]
fn names_as_long_as_books_are_not_repeated_for_every_row() {
    let table = Table {
        header: vec!["n".repeat(200_000), "m".repeat(200_000)],
        rows: (0..2_000).map(|row| vec![row.to_string(), "x".into()]).collect(),
        ..Table::default()
    };
    for linearizer in [Linearizer::Verbalized, Linearizer::Html, Linearizer::Piped] {
        let settings = EvidenceSettings { linearizer, ..EvidenceSettings::default() };
        let split = made(vec![Block::Table(table.clone())], &settings);
        let bytes: usize = split.evidences.iter().map(|e| e.contextualized(ContextParts::ALL).len()).sum();
        assert!(bytes < 150 << 20, "{linearizer:?} {bytes}");
        assert!(split.evidences[0].content.contains(&table.header[0]));
    }
}

fn item(text: &str, nested: Vec<List>) -> ListItem {
    ListItem { text: text.into(), nested }
}

#[test]
fn a_long_list_is_cut_at_its_outermost_items_and_keeps_its_introduction() {
    let ordered = Ordering::Ordered;
    let nested = || vec![List { ordered: Ordering::Unordered, items: vec![item("below deck", vec![])] }];
    let items = (1..=5).map(|n| item(&format!("Step {n} of the lock"), nested())).collect();
    let settings = EvidenceSettings { longest_table: 22, longest_neighbour: 6, ..EvidenceSettings::default() };
    let introduction = "The keeper does all of this in order:";
    let blocks = vec![
        heading("Lock"),
        Block::Text(format!("Boats wait outside. {introduction}")),
        Block::List(List { ordered, items }),
    ];
    let split = made(blocks, &settings);
    let lists: Vec<_> = split.evidences.iter().filter(|e| e.kind == Kind::List).collect();
    assert_eq!(
        lists.iter().map(|e| e.content.as_str()).collect::<Vec<_>>(),
        [
            "1. Step 1 of the lock\n   - below deck\n2. Step 2 of the lock\n   - below deck",
            "3. Step 3 of the lock\n   - below deck\n4. Step 4 of the lock\n   - below deck",
            "5. Step 5 of the lock\n   - below deck",
        ]
    );
    assert_eq!(lists[1].location, "Lock, list 1, items 3-4");
    assert_eq!(lists[2].location, "Lock, list 1, item 5");
    assert!(lists.iter().all(|list| list.context.before == introduction));
}

fn unordered(items: Vec<ListItem>) -> List {
    List { ordered: Ordering::Unordered, items }
}

#[test]
fn a_long_item_is_divided_between_the_items_within_it_and_keeps_its_own_words() {
    let steps = |name: &str| (1..=6).map(|n| item(&format!("{name} step {n}"), vec![])).collect();
    let locks = vec![item("North lock", vec![unordered(steps("gate"))]), item("South lock", vec![])];
    let list = unordered(vec![item("Before dawn", vec![]), item("At the locks", vec![unordered(locks)])]);
    let settings = EvidenceSettings { longest_table: 26, ..EvidenceSettings::default() };
    let split = made(vec![Block::List(list)], &settings);
    assert_eq!(
        contents(&split, Kind::List),
        [
            "- Before dawn",
            "- At the locks\n  - North lock\n    - gate step 1\n    - gate step 2\n    - gate step 3",
            "- At the locks\n  - North lock\n    - gate step 4\n    - gate step 5\n    - gate step 6",
            "- At the locks\n  - South lock",
        ]
    );
    let places: Vec<_> = split.evidences.iter().map(|e| e.location.as_str()).collect();
    assert_eq!(
        places,
        ["List 1, item 1", "List 1, item 2, part 1", "List 1, item 2, part 2", "List 1, item 2, part 3"]
    );
}

#[test]
fn a_text_without_sentences_is_divided_between_its_words() {
    let settings = EvidenceSettings { longest_passage: 50, ..EvidenceSettings::default() };
    let words = "word ".repeat(20_000);
    let list = unordered(vec![item(&words, vec![]), item("end", vec![])]);
    let blob = "x".repeat(9_000);
    let split = made(vec![Block::Text(words.clone()), Block::List(list), Block::Text(blob)], &settings);
    for (kind, longest) in [(Kind::Passage, 100), (Kind::List, settings.longest_table * 9 / 8)] {
        let told = contents(&split, kind);
        assert!(told.len() > 20, "{kind:?} {}", told.len());
        assert!(told.iter().all(|text| tokens(text) <= longest && !text.contains("wo\n")), "{kind:?}");
    }
    assert_eq!(split.evidences.iter().map(|e| e.content.matches("word").count()).sum::<usize>(), 40_000);
    // A sentence a little longer than the limit stays whole.
    let sentence = format!("{}end.", "some words ".repeat(20));
    assert_eq!(contents(&made(vec![Block::Text(sentence.clone())], &settings), Kind::Passage), [sentence]);
}

#[test]
fn pages_are_named_and_end_no_passage() {
    let page = Block::Page;
    let text = |text: &str| Block::Text(text.into());
    let blocks = vec![
        page(1),
        heading("Agenda"),
        text("First we meet."),
        page(2),
        page(3),
        text("Then we part."),
        Block::List(List { items: vec![item("bread", vec![])], ..List::default() }),
        page(4),
        Block::Table(large(1)),
        heading("Notes"),
        page(5),
        text("Late."),
    ];
    let split = made(blocks, &EvidenceSettings::default());
    let places: Vec<_> = split.evidences.iter().map(|e| e.location.as_str()).collect();
    let expected = [
        "page 1-3, Agenda, text 1",
        "page 3, Agenda, list 1",
        "page 4, Table 1",
        "page 4, Table 1, row 1",
        "page 5, Notes, text 1",
    ];
    assert_eq!(places, expected);
    assert_eq!(split.evidences[0].content, "First we meet.\nThen we part.");
}

#[test]
fn links_stand_with_the_evidence_that_holds_their_text() {
    let blocks = vec![
        Block::Text("See the plan and the map.".into()),
        Block::Text("Another plan.".into()),
        Block::Table(Table {
            header: names(&["Boat", "Papers"]),
            rows: rows(&[&["Canoe", "here"], &["Barge", "here"], &["Tug", "shared"], &["Raft", "shared"]]),
            ..Table::default()
        }),
    ];
    let links = vec![
        link(0, "plan", "/plan"),
        link(0, "map", "/map"),
        link(1, "plan", "/other"),
        link(2, "Boat", "/boats"),
        link(2, "here", "/canoe"),
        link(2, "here", "/barge"),
        link(2, "shared", "/rafts"),
        link(2, "gone", "/gone"),
        link(0, "map", &"data:".repeat(1_000)),
    ];
    let split = with_links(blocks, links, &EvidenceSettings::default());
    let targets = |at: usize| split.evidences[at].links.iter().map(|l| l.target.as_str()).collect::<Vec<_>>().join(" ");
    assert_eq!(targets(0), "/plan /map /other");
    assert_eq!(targets(1), "/boats /canoe /barge /rafts");
    assert_eq!((2..6).map(targets).collect::<Vec<_>>(), ["/canoe", "/barge", "/rafts", "/rafts"]);
}

fn link(block: usize, text: &str, target: &str) -> Link {
    Link { block, text: text.into(), target: target.into() }
}

fn with_links(blocks: Vec<Block>, links: Vec<Link>, settings: &EvidenceSettings) -> Split {
    split(&Document { title: "Harbour".into(), blocks, links, ..Document::default() }, settings, &tokens)
}

#[test]
fn a_merged_cell_with_many_long_links_is_not_repeated_without_end() {
    let (links, count) = (100, 4_000);
    let cell = "l ".repeat(links);
    let table = Table { rows: (0..count).map(|row| vec![cell.clone(), row.to_string()]).collect(), ..Table::default() };
    let long: Vec<_> = (0..links).map(|_| link(0, "l", &"t".repeat(2_000))).collect();
    let split = with_links(vec![Block::Table(table)], long, &EvidenceSettings::default());
    let rows: Vec<_> = split.evidences.iter().filter(|e| e.kind == Kind::Row).map(|e| e.links.len()).collect();
    assert_eq!(rows.len(), count);
    assert!(rows.starts_with(&[links; 100]) && rows.ends_with(&[0; 100]));
    assert!(rows.iter().sum::<usize>() * 2_000 <= 65 << 20);
}

#[test]
fn a_header_with_many_long_links_is_not_repeated_without_end() {
    let header = vec!["l ".repeat(100), "Depth".into()];
    let rows = (0..2_000).map(|row| vec![row.to_string(), "deep ".repeat(400)]).collect();
    let long = (0..100).map(|_| link(0, "l", &"t".repeat(2_000))).collect();
    let blocks = vec![Block::Table(Table { header, rows, ..Table::default() })];
    let split = with_links(blocks, long, &EvidenceSettings::default());
    let parts: Vec<_> = split.evidences.iter().filter(|e| e.kind == Kind::Table).map(|e| e.links.len()).collect();
    assert!(parts.len() >= 1_000 && parts[0] == 100 && parts[parts.len() - 1] == 0, "{parts:?}");
    assert!(parts.iter().sum::<usize>() * 2_000 <= 65 << 20);
}

#[test]
fn a_part_of_a_table_has_each_link_once_and_those_of_its_footer_last() {
    let mut table = large(4);
    table.footer = Some("See the chart.".into());
    table.rows.iter_mut().for_each(|row| row[1] = "plan and map".into());
    let links = vec![link(0, "Berth", "/b"), link(0, "plan", "/p"), link(0, "map", "/m"), link(0, "chart", "/c")];
    let settings = EvidenceSettings { longest_table: 60, tables: TableEvidence::Table, ..EvidenceSettings::default() };
    let split = with_links(vec![Block::Table(table)], links, &settings);
    let targets = |e: &Evidence| e.links.iter().map(|link| link.target.as_str()).collect::<Vec<_>>().join(" ");
    assert_eq!(split.evidences.iter().map(targets).collect::<Vec<_>>(), ["/b /p /m", "/b /p /m /c"]);
}

#[test]
fn tables_below_a_long_text_do_not_copy_it() {
    // A copy of the text for each table, or a look at its white space, would be a hundred gigabytes.
    let text = Block::Text(format!("Moor here.{}", " ".repeat(24 << 20)));
    let table = Block::Table(Table { rows: rows(&[&["x", "y"]]), ..Table::default() });
    let blocks = std::iter::once(text).chain(std::iter::repeat_n(table, 4_000)).collect();
    let split = made(blocks, &EvidenceSettings { longest_neighbour: 2, ..EvidenceSettings::default() });
    assert_eq!(contents(&split, Kind::Row).len(), 4_000);
}

#[test]
fn links_of_a_long_text_are_given_to_its_parts_in_one_pass() {
    // Every link looked at for every part would be a hundred thousand million looks.
    let count = 100_000;
    let sentence = "Keepers of all boats read the plan of the harbour twice before they leave. ";
    let items = (0..count).map(|_| item(sentence, vec![])).collect();
    let blocks = vec![Block::Text(sentence.repeat(count)), Block::List(List { items, ..List::default() })];
    let links = (0..2 * count).map(|n| link(n / count, "plan", "/p")).collect();
    let settings = EvidenceSettings { longest_passage: 15, longest_table: 15, ..EvidenceSettings::default() };
    let split = with_links(blocks, links, &settings);
    assert_eq!(split.evidences.iter().map(|e| e.links.len()).sum::<usize>(), 2 * count);
    assert!(split.evidences.len() >= count);
}

#[test]
fn a_list_of_many_levels_is_not_all_indentation() {
    let levels = 20_000;
    let mut list = List { items: vec![item("deepest", vec![])], ..List::default() };
    for _ in 0..levels {
        list = List { items: vec![item("x", vec![list])], ..List::default() };
    }
    let document = Document { title: "Harbour".into(), blocks: vec![Block::List(list)], ..Document::default() };
    let bytes: usize =
        split(&document, &EvidenceSettings::default(), &tokens).evidences.iter().map(|e| e.content.len()).sum();
    // A list so deep has no end of its own: dropping it would nest as deep as the list.
    std::mem::forget(document);
    assert!(bytes < levels * 200, "{bytes}");
}

#[test]
fn the_pages_above_a_page_are_told_but_not_embedded() {
    let document = Document {
        title: "Harbour".into(),
        ancestors: vec!["Coast".into(), "North".into()],
        blocks: vec![Block::Text("Moor here.".into())],
        ..Document::default()
    };
    let split = split(&document, &EvidenceSettings::default(), &tokens);
    assert_eq!(split.evidences[0].location, "Text 1 (in Coast › North)");
    assert_eq!(split.evidences[0].contextualized(ContextParts::ALL), "Harbour\nMoor here.");
}

#[test]
fn a_heading_as_long_as_a_text_is_text_too() {
    let long = "word ".repeat(500).trim().to_owned();
    let split = made(vec![heading(&long), Block::Text("Below.".into())], &EvidenceSettings::default());
    assert!(split.evidences[0].context.heading().len() < 320);
    let contents: Vec<_> = split.evidences.iter().map(|e| e.content.as_str()).collect();
    assert!(contents.join(" ").contains(&long[..900]));
}

#[test]
fn pictures_beside_other_evidences_of_their_section_are_told_with_those() {
    let picture = |name: &str| Block::Text(name.into());
    let list = |item: &str| {
        Block::List(List { items: vec![ListItem { text: item.into(), ..ListItem::default() }], ..List::default() })
    };
    let blocks = vec![
        list("Boot"),
        picture("boot.png"),
        list("Press F6"),
        heading("Plan of the harbour"),
        picture("plan b.png"),
        heading("Slides"),
        picture("slides.pdf"),
        heading("Tides"),
        Block::Text("High at noon.".into()),
        picture("tides.svg"),
        heading("prev.jpg next.jpg"),
    ];
    let split = made(blocks, &EvidenceSettings::default());
    let found: Vec<&str> = split.evidences.iter().map(|e| e.content.as_str()).collect();
    assert_eq!(found, ["- Boot", "- Press F6", "plan b.png", "slides.pdf", "High at noon.\ntides.svg"]);
    assert_eq!(split.evidences[0].context.after, "boot.png");
    assert_eq!(split.evidences[1].context.before, "boot.png");
    assert_eq!(split.evidences[2].context.heading(), "Plan of the harbour");
    assert_eq!(split.evidences[4].context.after, "prev.jpg next.jpg");
    let alone = made(vec![picture("a.png"), picture("b.png")], &EvidenceSettings::default());
    assert_eq!(alone.evidences[0].content, "a.png\nb.png");
}

fn words(text: &str) -> Vec<String> {
    ragonite_base::text::words(text).map(ToOwned::to_owned).collect()
}

fn some_text() -> impl Strategy<Value = String> {
    "([a-z]{1,7}[.!:]? ?){0,12}"
}

fn some_table() -> impl Strategy<Value = Table> {
    let cells = prop::collection::vec(prop::collection::vec("[a-z |<]{0,8}", 3), 0..12);
    let header = prop::option::of(prop::collection::vec("[a-z |<]{0,8}", 3));
    (prop::option::of(some_text()), prop::option::of(some_text()), header, 0_usize..4, cells).prop_map(
        |(caption, footer, header, row_headers, rows)| Table {
            caption,
            footer,
            header: header.unwrap_or_default(),
            row_headers,
            rows,
            full_width: Vec::new(),
        },
    )
}

fn some_list() -> impl Strategy<Value = List> {
    let items = prop::collection::vec(some_text().prop_map(|text| ListItem { text, nested: Vec::new() }), 0..6);
    let leaf = items.prop_map(|items| List { ordered: Ordering::Ordered, items });
    leaf.prop_recursive(3, 20, 4, |inner| {
        let item =
            (some_text(), prop::collection::vec(inner, 0..2)).prop_map(|(text, nested)| ListItem { text, nested });
        prop::collection::vec(item, 0..5).prop_map(|items| List { ordered: Ordering::Unordered, items })
    })
}

fn some_block() -> impl Strategy<Value = Block> {
    prop_oneof![
        (1_u8..4, some_text()).prop_map(|(level, text)| Block::Heading { level, text }),
        some_text().prop_map(Block::Text),
        some_list().prop_map(Block::List),
        some_table().prop_map(Block::Table),
        (1_u32..9).prop_map(Block::Page),
    ]
}

fn some_illustrated_block() -> impl Strategy<Value = Block> {
    prop_oneof![
        "([a-z]{1,4}|[a-z]{1,4}\\.png)".prop_map(|text| Block::Heading { level: 2, text }),
        "[a-z]{1,4}( [a-z]{1,4}){0,3}\\.(png|JPG)( [a-z]{1,9}\\.gif){0,2}".prop_map(Block::Text),
        some_list().prop_map(Block::List),
        some_table().prop_map(Block::Table),
    ]
}

/// All text of a list.
fn list_text(list: &List) -> String {
    list.items.iter().map(|i| i.text.clone() + " " + &i.nested.iter().map(list_text).collect::<String>()).collect()
}

/// All text of a block, headings aside.
fn text_of(block: &Block) -> String {
    match block {
        Block::Heading { .. } | Block::Page(_) => String::new(),
        Block::Text(text) => text.clone(),
        Block::List(list) => list_text(list),
        Block::Table(Table { caption, footer, header, rows, .. }) => {
            let texts = caption.iter().chain(footer).chain(header).chain(rows.iter().flatten());
            texts.fold(String::new(), |all, text| all + " " + text)
        }
    }
}

proptest! {
    #![proptest_config(ragonite_testing::cases(200))]

    #[test]
    fn no_word_of_a_document_is_lost_and_no_evidence_is_empty(
        blocks in prop::collection::vec(some_block(), 0..12),
        longest_passage in 0_usize..40,
        longest_neighbour in 0_usize..20,
        longest_table in 0_usize..60,
        form in prop::sample::select(vec![
            Linearizer::Verbalized, Linearizer::Piped, Linearizer::Markdown, Linearizer::Html, Linearizer::Plain,
        ]),
    ) {
        let settings = EvidenceSettings {
            longest_passage, longest_neighbour, longest_table, linearizer: form, ..EvidenceSettings::default()
        };
        let split = made(blocks.clone(), &settings);
        let all: String = split.evidences.iter().flat_map(|e| [e.content.as_str(), "\n"]).collect();
        let held: std::collections::HashSet<String> = words(&all).into_iter().collect();
        for block in &blocks {
            for word in words(&text_of(block)) {
                prop_assert!(held.contains(&word), "{} of {:?} with {:?}", word, block, settings);
            }
            if let Block::Heading { text, .. } = block {
                let named = split.evidences.iter().any(|e| e.context.heading_path.contains(text));
                prop_assert!(text.trim().is_empty() || named || words(text).iter().all(|word| held.contains(word)));
            }
        }
        for evidence in &split.evidences {
            prop_assert!(!evidence.content.trim().is_empty());
            prop_assert!(tokens(&evidence.context.after) <= longest_neighbour + 2);
        }
    }

    #[test]
    fn the_name_of_a_picture_is_in_an_evidence_or_beside_one_of_its_section(
        blocks in prop::collection::vec(some_illustrated_block(), 1..12),
        longest_neighbour in 0_usize..20,
        tables in prop::sample::select(vec![TableEvidence::Row, TableEvidence::Table, TableEvidence::Both]),
    ) {
        let settings = EvidenceSettings { longest_neighbour, tables, ..EvidenceSettings::default() };
        let split = made(blocks.clone(), &settings);
        let held: String = split.evidences.iter().map(|e| e.contextualized(ContextParts::ALL) + "\n").collect();
        let mut section = String::new();
        for block in &blocks {
            match block {
                Block::Heading { text, .. } => section.clone_from(text),
                Block::Text(text) => prop_assert!(held.contains(text), "{} of {:?}", text, split),
                _ => {}
            }
            let headings: Vec<&String> = split.evidences.iter().flat_map(|e| &e.context.heading_path).collect();
            prop_assert!(held.contains(&section) || headings.contains(&&section), "{} of {:?}", section, split);
        }
    }
}
