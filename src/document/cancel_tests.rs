//! Every reader, cancelled at every place where it looks: it ends with `Canceled`, and what it gave before is whole.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::container_tests::{zip_of, zip_of_folder};
use super::sheet::tests::binary_workbook;
use super::{DocumentError, read};
use ragonite_base::CancelToken;

/// Places of one file at which it is cancelled; of more than that some are taken, the first and the last among them.
const MOST_PLACES: usize = 150;

fn fixtures() -> PathBuf {
    ragonite_testing::root().join("tests/fixtures/documents")
}

/// Reads a file and gives what was handed out: names, and documents or why there is none.
fn read_all(path: &Path, cancel: &CancelToken) -> (Vec<String>, Result<(), DocumentError>) {
    let mut given = Vec::new();
    let ended = read(path, cancel, &mut |member| {
        given.push(format!("{:?} {:?}", member.name, member.content.map_err(|error| error.to_string())));
        ControlFlow::Continue(())
    });
    (given, ended)
}

/// Cancels the reading of a file at its places, and gives how many it has.
fn cancel_everywhere(path: &Path) -> usize {
    let counting = CancelToken::canceled_after(usize::MAX);
    let (whole, _) = read_all(path, &counting);
    let places = counting.checks();
    for place in (0..places).step_by(places.div_ceil(MOST_PLACES)).chain([places - 1]) {
        let (given, ended) = read_all(path, &CancelToken::canceled_after(place));
        let shown = path.display();
        assert!(matches!(ended, Err(DocumentError::Canceled(_))), "{shown} at {place} of {places}: {ended:?}");
        assert_eq!(given, whole[..given.len()], "{shown} at {place} of {places}");
    }
    places
}

#[test]
fn every_file_of_the_fixtures_ends_where_it_is_cancelled() {
    let mut files = 0;
    for entry in WalkDir::new(fixtures()).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let places = cancel_everywhere(entry.path());
            files += usize::from(places > 2);
        }
    }
    assert!(files > 30, "{files} files were read");
}

/// A Word file of so many paragraphs and rows.
fn word(count: usize) -> Vec<u8> {
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let mut body: String = (0..count).map(|number| text(&format!("Paragraph {number}"))).collect();
    body.push_str("<w:tbl>");
    for number in 0..count {
        let cell = |text_of: &str| format!("<w:tc>{}</w:tc>", text(text_of));
        write!(body, "<w:tr>{}{}</w:tr>", cell(&format!("Name {number}")), cell(&number.to_string())).unwrap();
    }
    body.push_str("</w:tbl>");
    let main = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    zip_of(&[("word/document.xml", main.as_bytes())])
}

/// A spreadsheet of so many rows, in the open format.
fn sheet(count: usize) -> Vec<u8> {
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let row = |row: usize| format!("<table:table-row>{}{}</table:table-row>", cell(&format!("r{row}")), cell("x y"));
    let rows: String = (0..count).map(row).collect();
    let content = format!(
        "<office:document-content xmlns:office='o' xmlns:table='t' xmlns:text='x'><office:body><office:spreadsheet>\
         <table:table table:name='S'>{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    );
    zip_of(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content.as_bytes())])
}

#[test]
fn long_documents_and_containers_end_where_they_are_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let many = |line: &dyn Fn(usize) -> String| (0..5_000).map(line).collect::<String>();
    let row = many(&|number| format!("<tr><td>Name {number}</td><td>{number}</td></tr>"));
    let pages: Vec<String> = (0..50)
        .map(|number| format!("{{\"title\":\"Page {number}\",\"content\":\"<table>{}</table>\"}}", &row[..2_000]))
        .collect();
    let message = |number: usize| {
        format!(
            "From a@b Thu Jan  1 00:00:00 2024\nSubject: m{number}\nContent-Type: text/html\n\n<table>{row}</table>\n\n"
        )
    };
    let binary = binary_workbook();
    let word = word(1_500);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("page.html", format!("<title>T</title><main><h1>T</h1><table>{row}</table></main>").into_bytes()),
        ("page.storage", format!("<ac:layout><table>{row}</table></ac:layout>").into_bytes()),
        ("page.md", many(&|number| format!("# H{number}\n\ntext\n\n- item\n\n<b>x</b>\n\n")).into_bytes()),
        ("table.csv", many(&|number| format!("Name {number},{number}\n")).into_bytes()),
        ("text.txt", many(&|number| format!("line {number}\n\n")).into_bytes()),
        ("pages.json", format!("[{}]", pages.join(",")).into_bytes()),
        ("pages.jsonl", pages.join("\n").into_bytes()),
        ("mail.mbox", (0..3).map(message).collect::<String>().into_bytes()),
        ("sheet.ods", sheet(3_000)),
        ("old.zip", zip_of(&[("a/book.xlsb", &binary), ("a/report.docx", &word), ("b.md", b"# B\n\ntext")])),
        ("html.zip", zip_of_folder(&fixtures().join("exports/html"), "")),
        ("xml.zip", zip_of_folder(&fixtures().join("exports/xml"), "")),
        ("long.docx", word),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let places = cancel_everywhere(&path);
        assert!(places > 5, "{name} is looked at {places} times");
    }
}

#[test]
fn a_document_that_is_cancelled_at_its_last_place_is_not_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.md");
    fs::write(&path, "# Title\n\ntext").unwrap();
    let counting = CancelToken::canceled_after(usize::MAX);
    let (whole, ended) = read_all(&path, &counting);
    assert_eq!((whole.len(), ended.is_ok()), (1, true));
    // The last look comes after the document is handed out, the one before decides whether it is.
    let (given, _) = read_all(&path, &CancelToken::canceled_after(counting.checks() - 2));
    assert_eq!(given.len(), 0);
}
