//! Word files and what becomes of them.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::super::{Block, Document, List, Table, load, parse};
use crate::OfficeError;
use ragonite_base::CancelToken;

pub(super) fn read(bytes: &[u8]) -> Result<Document, OfficeError> {
    super::read(bytes, &CancelToken::never())
}

/// A document as a person would check it.
pub(in super::super) fn draw(document: &Document) -> String {
    let mut out = format!("{} · {:?}\n", document.title, document.date);
    for (number, block) in document.blocks.iter().enumerate() {
        write!(out, "\n[{number}] ").unwrap();
        match block {
            Block::Heading { level, text } => writeln!(out, "{} {text}", "#".repeat((*level).into())).unwrap(),
            Block::Text(text) => writeln!(out, "{text}").unwrap(),
            Block::List(list) => {
                out.push('\n');
                draw_list(list, 0, &mut out);
            }
            Block::Table(table) => draw_table(table, &mut out),
            Block::Page(page) => writeln!(out, "-- page {page}").unwrap(),
        }
    }
    for link in &document.links {
        writeln!(out, "\nlink in [{}]: {} -> {}", link.block, link.text, link.target).unwrap();
    }
    out
}

fn draw_list(list: &List, depth: usize, out: &mut String) {
    for item in &list.items {
        writeln!(out, "{}{:?}: {}", "  ".repeat(depth), list.ordered, item.text).unwrap();
        item.nested.iter().for_each(|list| draw_list(list, depth + 1, out));
    }
}

fn draw_table(table: &Table, out: &mut String) {
    writeln!(out, "table, caption {:?}, footer {:?}, full width {:?}", table.caption, table.footer, table.full_width)
        .unwrap();
    writeln!(out, "  || {}", table.header.join(" | ")).unwrap();
    for row in &table.rows {
        writeln!(out, "  | {}", row.join(" | ")).unwrap();
    }
}

pub(in super::super) fn fixture(name: &str) -> Document {
    load(&ragonite_testing::root().join("tests/fixtures/documents").join(name)).unwrap()
}

/// A package with these parts.
pub(in super::super) fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A Word file with this body.
fn word(body: &str) -> Vec<u8> {
    let xml = format!("<w:document xmlns:w='w' xmlns:r='r'><w:body>{body}</w:body></w:document>");
    package(&[("word/document.xml", &xml)])
}

#[test]
fn a_report() {
    insta::assert_snapshot!(draw(&fixture("docx/report.docx")));
}

#[test]
fn tables_of_all_kinds() {
    insta::assert_snapshot!(draw(&fixture("docx/tables.docx")));
}

#[test]
fn numbered_headings_keep_their_numbers() {
    let styles = "<w:styles xmlns:w='w'><w:style w:type='paragraph' w:styleId='u1'><w:name w:val='heading 1'/><w:pPr>\
                  <w:numPr><w:numId w:val='4'/></w:numPr><w:outlineLvl w:val='0'/></w:pPr></w:style><w:style \
                  w:type='paragraph' w:styleId='u2'><w:name w:val='heading 2'/><w:basedOn w:val='u1'/><w:pPr><w:numPr>\
                  <w:ilvl w:val='1'/><w:numId w:val='4'/></w:numPr><w:outlineLvl w:val='1'/></w:pPr></w:style></w:styles>";
    let numbering = "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/>\
                     <w:numFmt w:val='decimal'/><w:lvlText w:val='%1'/></w:lvl><w:lvl w:ilvl='1'><w:start w:val='1'/>\
                     <w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%1.%2'/></w:lvl></w:abstractNum><w:num \
                     w:numId='4'><w:abstractNumId w:val='0'/></w:num></w:numbering>";
    let relations = "<Relationships><Relationship Id='a' Type='x/styles' Target='styles.xml'/><Relationship Id='b' \
                     Type='x/numbering' Target='numbering.xml'/></Relationships>";
    let heading = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body =
        [heading("u1", "Scope"), heading("u2", "Boats"), heading("u2", "Piers"), heading("u1", "Duties")].concat();
    let main = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    let bytes = package(&[
        ("word/document.xml", &main),
        ("word/_rels/document.xml.rels", relations),
        ("word/styles.xml", styles),
        ("word/numbering.xml", numbering),
    ]);
    let texts: Vec<Block> = read(&bytes).unwrap().blocks;
    let heading = |level, text: &str| Block::Heading { level, text: text.into() };
    assert_eq!(
        texts,
        [heading(1, "1 Scope"), heading(2, "1.a Boats"), heading(2, "1.b Piers"), heading(1, "2 Duties")]
    );
}

#[test]
fn only_the_newer_of_two_drawings_of_a_text_box_is_read() {
    let text = |text: &str| format!("<w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent>");
    let body = format!(
        "<w:p><w:r><w:t>Before</w:t></w:r><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice>{}</mc:Choice><mc:Fallback>{}\
         </mc:Fallback></mc:AlternateContent></w:r><w:r><w:t> and after.</w:t></w:r></w:p>",
        text("In the box"),
        text("In the box")
    );
    let blocks = read(&word(&body)).unwrap().blocks;
    assert_eq!(blocks, [Block::Text("Before and after.".into()), Block::Text("In the box".into())]);
}

#[test]
fn hostile_files_end_with_a_clear_error() {
    assert!(matches!(read(b""), Err(OfficeError::Container(_))));
    assert!(matches!(read(b"PK\x03\x04 and no more"), Err(OfficeError::Container(_))));
    assert!(matches!(read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1...."), Err(OfficeError::Protected)));
    assert!(matches!(read(&package(&[("x", "y")])), Err(OfficeError::Missing { .. })));
    let whole = word("<w:p><w:r><w:t>text</w:t></w:r></w:p>");
    assert!(read(&whole[..whole.len() - 30]).is_err());
    let bomb = "<!DOCTYPE a [<!ENTITY b 'bb'>]><w:document xmlns:w='w'>&b;</w:document>";
    assert!(matches!(read(&package(&[("word/document.xml", bomb)])), Err(OfficeError::Xml { .. })));
    let deep = format!("{}{}", "<w:tbl><w:tr><w:tc>".repeat(5_000), "</w:tc></w:tr></w:tbl>".repeat(5_000));
    assert!(matches!(read(&word(&deep)), Err(OfficeError::TooDeep { .. })));
    let nested = format!(
        "{}<w:p><w:r><w:t>deep\0</w:t></w:r></w:p>{}",
        "<w:tbl><w:tr><w:tc>".repeat(500),
        "</w:tc></w:tr></w:tbl>".repeat(500)
    );
    let nested = nested.replace('\0', "");
    assert!(format!("{:?}", read(&word(&nested)).unwrap().blocks).contains("deep"));
}

#[test]
fn a_zip_bomb_is_left_before_it_fills_the_memory() {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        zip.write_all(&zeros).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 20);
    assert!(matches!(read(&bytes), Err(OfficeError::TooLarge { .. })));
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), name in "x\\.(docx|xlsx|xls|ods|csv|tsv)") {
        let _ = parse(Path::new(&name), &bytes);
    }

    #[test]
    fn no_markup_makes_the_reader_panic(
        pieces in prop::collection::vec(
            "(<w:(p|r|t|tbl|tr|tc|hyperlink r:id='x'|txbxContent|sdt|ins)>|</w:(p|r|t|tbl|tr|tc)>|<w:tcPr><w:gridSpan \
             w:val='[0-9]{1,4}'/><w:vMerge( w:val='restart')?/></w:tcPr>|<w:fldChar w:fldCharType='(begin|separate|end)'/>|\
             <w:pPr><w:numPr><w:ilvl w:val='[0-9]'/><w:numId w:val='1'/></w:numPr></w:pPr>|[a-z ]{1,5})",
            0..40,
        ),
    ) {
        // Closing what was left open makes more of them well formed.
        let mut open: Vec<String> = Vec::new();
        let mut body = String::new();
        for piece in pieces {
            if piece.starts_with("</") {
                if let Some(name) = open.pop() {
                    body.extend(["</w:", name.as_str(), ">"]);
                }
            } else {
                if piece.starts_with("<w:") && !piece.contains("/>") {
                    let name = piece[3..].split([' ', '>']).next().unwrap_or_default();
                    open.push(name.to_owned());
                }
                body.push_str(&piece);
            }
        }
        for name in open.iter().rev() {
            body.extend(["</w:", name.as_str(), ">"]);
        }
        let _ = read(&word(&body)).unwrap();
    }
}
