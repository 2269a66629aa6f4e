//! Spreadsheets and delimited text, and what becomes of them.

use std::fmt::Write as _;

use super::super::docx::tests::{draw, fixture, package};
use super::super::{Block, Document, OfficeError, Table};
use super::{read_delimited, read_workbook};

#[test]
fn a_workbook() {
    insta::assert_snapshot!(draw(&fixture("sheets/accounts.xlsx")));
}

#[test]
fn an_old_workbook() {
    insta::assert_snapshot!(draw(&fixture("sheets/fleet.xls")));
}

#[test]
fn an_open_document_spreadsheet() {
    insta::assert_snapshot!(draw(&fixture("sheets/tides.ods")));
}

#[test]
fn delimited_files() {
    let drawn: Vec<String> =
        ["prices.csv", "ragged.csv", "cities.tsv"].map(|name| draw(&fixture(&format!("sheets/{name}")))).into();
    insta::assert_snapshot!(drawn.join("\n==\n"));
}

fn table(document: &Document) -> &Table {
    document.blocks.iter().find_map(|block| if let Block::Table(table) = block { Some(table) } else { None }).unwrap()
}

fn first_row(text: &str) -> Vec<String> {
    let document = read_delimited(text).unwrap();
    table(&document).rows[0].clone()
}

#[test]
fn the_delimiter_is_told_by_how_evenly_it_splits() {
    assert_eq!(first_row("Name;Wert\nA;1,5\nB;2,5\n"), ["A", "1,5"]);
    assert_eq!(first_row("1,5;2,5\n3,5;4,5\n"), ["1,5", "2,5"]);
    assert_eq!(first_row("name,note\nAnn,\"likes; semicolons\"\nBob,none\n"), ["Ann", "likes; semicolons"]);
    assert_eq!(first_row("a|b\n1|2,3\n4|5,6\n"), ["1", "2,3"]);
    assert_eq!(first_row("sep=;\na;b\n1;2\n"), ["1", "2"]);
}

#[test]
fn the_first_line_is_header_only_where_it_names_columns() {
    let header = |text: &str| table(&read_delimited(text).unwrap()).header.clone();
    assert_eq!(header("City,Country\nParis,France\n"), ["City", "Country"]);
    assert_eq!(header("Country,2022,2023\nFrance,10,12\n"), ["Country", "2022", "2023"]);
    assert!(header("1,Ann\n2,Bob\n").is_empty());
    assert!(header("x,x\n1,2\n").is_empty());
}

#[test]
fn a_sheet_of_fifty_thousand_rows_keeps_every_row_below_its_header() {
    let mut rows = String::new();
    for row in 2..=50_001 {
        // The last column is empty in the rows from which the header is told.
        let late = if row > 40_000 { format!("<c r='C{row}'><v>7</v></c>") } else { String::new() };
        write!(rows, "<row r='{row}'><c r='A{row}' t='inlineStr'><is><t>name {row}</t></is></c><c r='B{row}'><v>{row}</v></c>{late}</row>").unwrap();
    }
    let sheet = format!(
        "<worksheet xmlns='m'><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>Name</t></is></c><c r='B1' \
         t='inlineStr'><is><t>Number</t></is></c><c r='C1' t='inlineStr'><is><t>Late</t></is></c></row>{rows}</sheetData>\
         <mergeCells><mergeCell ref='A45000:A45001'/></mergeCells></worksheet>"
    );
    let document = read_workbook(&workbook(&sheet)).unwrap();
    let table = table(&document);
    assert_eq!(table.header, ["Name", "Number", "Late"]);
    assert_eq!(table.rows.len(), 50_000);
    assert_eq!(table.rows[49_999], ["name 50001", "50001", "7"]);
    assert!(table.rows.iter().all(|row| row.len() == 3));
}

/// A workbook with this one sheet.
fn workbook(sheet: &str) -> Vec<u8> {
    let relation = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='{id}' \
             Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}' Target='{target}'/></Relationships>"
        )
    };
    package(&[
        ("_rels/.rels", &relation("r1", "officeDocument", "xl/workbook.xml")),
        (
            "xl/workbook.xml",
            "<workbook xmlns='m' xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'><sheets><sheet \
             name='Data' sheetId='1' r:id='r1'/></sheets></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", &relation("r1", "worksheet", "worksheets/sheet1.xml")),
        ("xl/worksheets/sheet1.xml", sheet),
    ])
}

/// The tables of a sheet with these cells; an empty text is no cell.
fn tables_of(rows: &[&[&str]]) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let mut drawn = String::new();
    for (row, cells) in (1..).zip(rows) {
        write!(drawn, "<row r='{row}'>").unwrap();
        for (column, text) in ('A'..).zip(*cells).filter(|(_, text)| !text.is_empty()) {
            write!(drawn, "<c r='{column}{row}' t='inlineStr'><is><t>{text}</t></is></c>").unwrap();
        }
        drawn += "</row>";
    }
    let sheet = format!("<worksheet xmlns='m'><sheetData>{drawn}</sheetData></worksheet>");
    let blocks = read_workbook(&workbook(&sheet)).unwrap().blocks;
    let tables =
        blocks.into_iter().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    tables.map(|table| (table.header, table.rows)).collect()
}

#[test]
fn two_tables_side_by_side_stay_two() {
    let sheet: [&[&str]; 3] = [
        &["Order", "Amount", "Paid", "", "Code", "Meaning"],
        &["A-1", "12", "yes", "", "X", "external"],
        &["A-2", "99", "no", "", "Y", "internal"],
    ];
    let tables = tables_of(&sheet);
    assert_eq!(tables.len(), 2, "{tables:?}");
    assert_eq!(tables[0].1[0], ["A-1", "12", "yes"]);
    assert_eq!(tables[1].1[1], ["Y", "internal"]);
    let twice: [&[&str]; 3] =
        [&["Name", "Size", "", "Name", "Size"], &["p", "1", "", "q", "2"], &["r", "3", "", "q", "4"]];
    assert_eq!(tables_of(&twice).len(), 2);
}

#[test]
fn an_empty_column_before_more_values_of_the_same_rows_only_makes_room() {
    let values: [&[&str]; 3] =
        [&["Item", "Plan", "", "Spent", "Left"], &["oil", "12", "", "10", "2"], &["rope", "9", "", "4", "5"]];
    assert_eq!(tables_of(&values).len(), 1);
    let repeated: [&[&str]; 3] =
        [&["Item", "Plan", "", "Owner", "State"], &["oil", "12", "", "Bea", "open"], &["rope", "9", "", "Bea", "done"]];
    assert_eq!(tables_of(&repeated).len(), 1);
}

#[test]
fn a_merged_cell_fills_every_place_it_covers_also_far_down() {
    let mut rows = String::new();
    for row in 1..=2_000 {
        let first = if row % 2 == 1 {
            format!("<c r='A{row}' t='inlineStr'><is><t>pair {row}</t></is></c>")
        } else {
            String::new()
        };
        write!(rows, "<row r='{row}'>{first}<c r='B{row}'><v>{row}</v></c></row>").unwrap();
    }
    let merged: String = (1..2_000).step_by(2).map(|row| format!("<mergeCell ref='A{row}:A{}'/>", row + 1)).collect();
    let sheet =
        format!("<worksheet xmlns='m'><sheetData>{rows}</sheetData><mergeCells>{merged}</mergeCells></worksheet>");
    let document = read_workbook(&workbook(&sheet)).unwrap();
    let rows = &table(&document).rows;
    assert_eq!(rows.last().unwrap(), &["pair 1999", "2000"]);
    assert!(rows.iter().all(|row| row[0].starts_with("pair ")));
}

#[test]
fn one_shared_string_in_a_million_cells_does_not_fill_the_memory() {
    let long = "long ".repeat(20_000);
    let sheet = format!(
        "<worksheet xmlns='m'><sheetData><row r='1'>{}</row></sheetData></worksheet>",
        "<c t='s'><v>0</v></c>".repeat(5_000)
    );
    let mut parts = vec![("xl/sharedStrings.xml", format!("<sst xmlns='m'><si><t>{long}</t></si></sst>"))];
    parts.push(("xl/worksheets/sheet1.xml", sheet));
    let relations = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='r1' \
                     Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet' \
                     Target='worksheets/sheet1.xml'/><Relationship Id='r2' \
                     Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings' \
                     Target='sharedStrings.xml'/></Relationships>";
    let book = "<workbook xmlns='m' xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'><sheets><sheet \
                name='Data' sheetId='1' r:id='r1'/></sheets></workbook>";
    let root = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='r1' \
                Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument' \
                Target='xl/workbook.xml'/></Relationships>";
    let mut all = vec![("_rels/.rels", root), ("xl/workbook.xml", book), ("xl/_rels/workbook.xml.rels", relations)];
    all.extend(parts.iter().map(|(name, text)| (*name, text.as_str())));
    assert!(matches!(read_workbook(&package(&all)), Err(OfficeError::TooLarge { .. })));
}
