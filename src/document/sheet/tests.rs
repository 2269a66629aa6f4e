//! Spreadsheets and delimited text, and what becomes of them.

use std::fmt::Write as _;

use super::super::docx::tests::{draw, fixture, package};
use super::super::{Block, Document, OfficeError, Table};
use super::workbook::{Room, read_within};
use ragonite_base::CancelToken;

pub(super) fn read_workbook(bytes: &[u8]) -> Result<Document, OfficeError> {
    super::read_workbook(bytes, &CancelToken::never())
}

fn read_delimited(text: &str) -> Result<Document, OfficeError> {
    super::read_delimited(text, &CancelToken::never())
}

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
fn a_single_column_is_a_list_unless_it_has_a_name() {
    let only = |text: &str| read_delimited(text).unwrap().blocks.remove(0);
    let Block::List(list) = only("Anchor\n\"Chain, long\"\n\nBuoy\n") else { panic!("no list") };
    let items: Vec<&str> = list.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(items, ["Anchor", "Chain, long", "Buoy"]);
    assert_eq!(only("Anchor\n"), Block::Text("Anchor".into()));
    let named = read_delimited("Degrees\n12.5\n13\n").unwrap();
    assert_eq!((table(&named).header.clone(), table(&named).rows.len()), (vec!["Degrees".to_owned()], 2));
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
fn one_shared_string_in_many_cells_does_not_fill_the_memory() {
    let long = "long ".repeat(1_000);
    let sheet = format!(
        "<worksheet xmlns='m'><sheetData><row r='1'>{}</row></sheetData></worksheet>",
        "<c t='s'><v>0</v></c>".repeat(1_000)
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
    let bytes = package(&all);
    assert!(read_workbook(&bytes).is_ok());
    let room = Room { text: 1 << 20, ..Room::default() };
    assert!(matches!(read_within(&bytes, room), Err(OfficeError::TooLarge { .. })));
    // Also where nothing is left of the text.
    let room = Room { raw: 1 << 20, ..Room::default() };
    assert!(matches!(read_within(&bytes, room), Err(OfficeError::TooLarge { .. })));
}

/// A record of an XLSB part.
fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = if kind < 0x80 { vec![kind as u8] } else { vec![kind as u8 | 0x80, (kind >> 7) as u8] };
    bytes.extend([data.len() as u8 & 0x7f | 0x80, (data.len() >> 7) as u8]);
    bytes.extend(data);
    bytes
}

fn wide(text: &str) -> Vec<u8> {
    let mut bytes = (text.encode_utf16().count() as u32).to_le_bytes().to_vec();
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

/// The parts of an XLSB workbook: a header of shared strings above a row of a text and a number.
fn binary_parts() -> Vec<(&'static str, Vec<u8>)> {
    let relation = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='{id}' \
             Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}' Target='{target}'/></Relationships>"
        )
    };
    let sheet = [[0; 8].to_vec(), wide("r1"), wide("Fleet")].concat();
    let book = [record(0x8f, &[]), record(0x9c, &sheet), record(0x90, &[]), record(0x84, &[])].concat();
    let string = |text: &str| record(0x13, &[vec![0], wide(text)].concat());
    let strings = [record(0x9f, &[3, 0, 0, 0, 3, 0, 0, 0]), string("Ship"), string("Length"), string("Otter")].concat();
    let shared = |column: u32, at: u32| record(7, &[column, 0, at].map(u32::to_le_bytes).concat());
    let row = |number: u32| record(0, &[number.to_le_bytes().to_vec(), vec![0; 13]].concat());
    let length = [1u32.to_le_bytes().to_vec(), vec![0; 4], 12.5f64.to_le_bytes().to_vec()].concat();
    let cells = [row(0), shared(0, 0), shared(1, 1), row(1), shared(0, 2), record(5, &length)].concat();
    let sheet = [record(0x81, &[]), record(0x94, &[0; 16]), record(0x91, &[]), cells, record(0x92, &[])].concat();
    vec![
        ("[Content_Types].xml", b"<Types/>".to_vec()),
        ("_rels/.rels", relation("r1", "officeDocument", "xl/workbook.bin").into_bytes()),
        ("xl/_rels/workbook.bin.rels", relation("r1", "worksheet", "worksheets/sheet1.bin").into_bytes()),
        ("xl/workbook.bin", book),
        ("xl/sharedStrings.bin", strings),
        ("xl/worksheets/sheet1.bin", sheet),
    ]
}

fn zip_of(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(in super::super) fn binary_workbook() -> Vec<u8> {
    zip_of(&binary_parts())
}

#[test]
fn a_binary_workbook_is_read() {
    let drawn = draw(&read_workbook(&binary_workbook()).unwrap());
    assert!(drawn.contains("# Fleet") && drawn.contains("Ship | Length") && drawn.contains("Otter | 12.5"), "{drawn}");
}

#[test]
fn a_binary_string_that_claims_more_than_its_record_is_refused() {
    let mut parts = binary_parts();
    // The length of the third string, five letters before the end.
    let strings = &mut parts[4].1;
    let at = strings.len() - 10 - 4;
    strings[at] = 200;
    assert!(matches!(read_workbook(&zip_of(&parts)), Err(OfficeError::Broken)));
}

#[test]
fn a_count_of_shared_strings_beyond_all_cells_is_refused() {
    let strings = "<sst xmlns='m' uniqueCount='99999999999'><si><t>a</t></si></sst>";
    let parts = [("xl/sharedStrings.xml", strings), ("xl/workbook.xml", "<workbook/>")];
    assert!(matches!(read_workbook(&package(&parts)), Err(OfficeError::TooManyCells { .. })));
}

#[test]
fn a_long_name_of_a_font_in_many_formats_is_refused() {
    let font = "x".repeat(100_000);
    let formats = "<xf fontId='0'/>".repeat(10_000);
    let styles = format!(
        "<styleSheet><fonts><font><name val='{font}'/></font></fonts><cellXfs>{formats}</cellXfs></styleSheet>"
    );
    let parts = [("xl/styles.xml", styles.as_str()), ("xl/workbook.xml", "<workbook/>")];
    assert!(matches!(read_workbook(&package(&parts)), Err(OfficeError::Broken)));
}

/// An ODS file whose only sheet has these rows.
fn open_sheet(rows: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office='o' xmlns:table='t' xmlns:text='x' xmlns:style='s' xmlns:fo='f'>\
         <office:automatic-styles><style:style style:name='strong' style:family='table-cell'><style:text-properties \
         fo:font-weight='bold'/></style:style></office:automatic-styles><office:body><office:spreadsheet>\
         <table:table table:name='Data'>{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    );
    package(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &content)])
}

fn text_cell(text: &str) -> String {
    format!("<table:table-cell office:value-type='string'><text:p>{text}</text:p></table:table-cell>")
}

#[test]
fn empty_cells_and_rows_that_repeat_take_no_room() {
    let gap = "<table:table-cell table:number-columns-repeated='16383'/>";
    let empty = format!("<table:table-row table:number-rows-repeated='1048574'>{gap}</table:table-row>");
    let row = |text: &str| format!("<table:table-row>{gap}{}</table:table-row>", text_cell(text));
    let document = read_workbook(&open_sheet(&format!("{}{empty}{}{empty}", row("first"), row("last")))).unwrap();
    assert!(format!("{document:?}").contains("first") && format!("{document:?}").contains("last"));
}

#[test]
fn a_cell_that_repeats_beyond_all_sheets_is_refused() {
    let cell =
        text_cell("x").replacen("<table:table-cell", "<table:table-cell table:number-columns-repeated='16384'", 1);
    let row = format!("<table:table-row table:number-rows-repeated='1048576'>{cell}</table:table-row>");
    assert!(matches!(read_workbook(&open_sheet(&row)), Err(OfficeError::TooManyCells { .. })));
    let long = cell.replace(">x<", &format!(">{}<", "long ".repeat(20_000)));
    let row = format!("<table:table-row>{long}</table:table-row>");
    assert!(matches!(read_workbook(&open_sheet(&row)), Err(OfficeError::TooLarge { .. })));
}

#[test]
fn an_open_document_says_what_is_header_merged_and_remarked() {
    let rows = [
        format!(
            "<table:table-header-rows><table:table-row>{}{}</table:table-row></table:table-header-rows>",
            text_cell("Ship"),
            text_cell("Port")
        ),
        format!(
            "<table:table-row>{}{}</table:table-row>",
            text_cell(
                "Otter<office:annotation><dc:creator xmlns:dc='d'>Ann</dc:creator><text:p>sold</text:p></office:annotation>"
            ),
            text_cell("Bremen").replacen("<table:table-cell", "<table:table-cell table:number-rows-spanned='2'", 1)
        ),
        format!("<table:table-row>{}<table:covered-table-cell/></table:table-row>", text_cell("Seal &amp; Co")),
    ];
    let document = read_workbook(&open_sheet(&rows.concat())).unwrap();
    let table = table(&document);
    assert_eq!(table.header, ["Ship", "Port"]);
    assert_eq!(table.rows, [["Otter [Comment by Ann: sold]", "Bremen"], ["Seal & Co", "Bremen"]]);
}

#[test]
fn an_open_document_that_is_cut_off_is_refused() {
    let whole = "<table:table-row></table:table-row>";
    assert!(read_workbook(&open_sheet(whole)).is_ok());
    let parts = [("content.xml", "<office:document-content xmlns:office='o'><office:body>")];
    assert!(matches!(read_workbook(&package(&parts)), Err(OfficeError::Broken)));
}

#[test]
fn a_wide_row_above_many_short_ones_is_written_as_lines() {
    let wide: String = (0..12_000).map(|n| format!("<c t='inlineStr'><is><t>n{n}</t></is></c>")).collect();
    let short: String = (0..3_000).map(|n| format!("<row><c><v>{n}</v></c><c><v>7</v></c></row>")).collect();
    let sheet = format!("<worksheet xmlns='m'><sheetData><row>{wide}</row>{short}</sheetData></worksheet>");
    let document = read_workbook(&workbook(&sheet)).unwrap();
    let text = document.blocks.iter().find_map(|block| if let Block::Text(text) = block { Some(text) } else { None });
    let text = text.unwrap();
    assert!(text.starts_with("n0, n1, ") && text.ends_with("\n2999, 7"));
}
