//! What every reader must bear.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;

fn blocks(name: &str, source: &str) -> Vec<Block> {
    parse(Path::new(name), source.as_bytes()).unwrap().blocks
}

#[test]
fn errors_name_the_file_and_what_is_wrong_with_it() {
    let failure = |name: &str, bytes: &[u8]| parse(Path::new(name), bytes).unwrap_err();
    assert!(matches!(failure("a.json", b"{}"), DocumentError::NoPage { .. }));
    assert!(matches!(failure("a.html", b"<p> </p><script>x</script>"), DocumentError::NoText { .. }));
    assert!(matches!(failure("a.md", b"a\0b"), DocumentError::Refused { .. }));
    assert!(matches!(failure("a.xyz", b"a"), DocumentError::UnknownFormat { .. }));
    for (name, empty) in
        [("a.txt", ""), ("a.pdf", ""), ("a.docx", " \n"), ("a.html", "\u{feff}\n\n"), ("a.md", "\0\0\0\0")]
    {
        let error = failure(name, empty.as_bytes());
        assert!(matches!(error, DocumentError::Empty { .. }), "{name}: {error}");
        assert!(error.to_string().contains("is empty") && !error.to_string().contains("recognition"), "{error}");
    }
    assert!(failure("pages/a.pdf", b"%PDF-1.7").to_string().contains("pages/a.pdf"));
    assert!(matches!(load(Path::new("missing.md")).unwrap_err(), DocumentError::Read { .. }));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    fs::write(&path, vec![b'a'; LARGEST_FILE as usize + 1]).unwrap();
    assert!(matches!(load(&path).unwrap_err(), DocumentError::TooLarge { .. }));
}

#[test]
fn a_few_nul_bytes_do_not_cost_a_page() {
    let sentence = "The pump is ser\0viced in spring and in autumn.";
    for (name, source) in [
        ("a.html", format!("<html><body><h1>Pump</h1><p>{sentence}</p></body></html>")),
        ("a.md", format!("# Pump\n\n{sentence}\n")),
        ("a.txt", sentence.to_owned()),
        ("a.csv", format!("Pump\n{sentence}\n")),
        ("a.json", format!("{{\"title\":\"Pump\",\"content\":\"{sentence}\"}}")),
        ("a.storage", format!("<p>{sentence}</p><ac:x />")),
    ] {
        let read = format!("{:?}", blocks(name, &source));
        assert!(read.contains("The pump is serviced in spring"), "{name}: {read}");
    }
}

#[test]
fn a_damaged_office_file_is_called_damaged_and_nothing_to_unpack() {
    let whole = fs::read(ragonite_testing::root().join("tests/fixtures/documents/docx/report.docx")).unwrap();
    let mut torn = whole.clone();
    let body = torn.windows(17).position(|name| name == b"word/document.xml").unwrap();
    torn[body + 60] ^= 0xff;
    torn[body + 61] ^= 0xff;
    let mut headless = whole.clone();
    headless[..64].fill(1);
    let without_body: Vec<u8> = {
        let at =
            |from: usize| torn[from..].windows(17).position(|name| name == b"word/document.xml").map(|at| at + from);
        let mut renamed = whole.clone();
        let mut from = 0;
        while let Some(found) = at(from) {
            renamed[found..found + 17].copy_from_slice(b"word/dokument.xml");
            from = found + 17;
        }
        renamed
    };
    for bytes in [&whole[..whole.len() / 2], &whole[..whole.len() - 30], &torn, &headless, &without_body] {
        let error = parse(Path::new("report.docx"), bytes).unwrap_err();
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |cause| cause.source());
        let text: String = causes.map(|cause| format!("{cause}: ")).collect();
        assert!(text.contains("damaged") && text.contains("save it again"), "{text}");
        assert!(!text.contains("unpack"), "{text}");
    }
}

#[test]
fn escape_sequences_do_not_get_into_a_document() {
    let read = blocks("x.html", "<h2>a\u{1b}[31m</h2><td>x<table><tr><td>1\u{7}<td>2");
    assert!(!format!("{read:?}").contains("\\u{1b}") && !format!("{read:?}").contains("\\u{7}"));
}

#[test]
fn hostile_spans_cost_little() {
    let cells = "<td colspan=1000 rowspan=1000>x</td>".repeat(50);
    let rows = format!("<tr>{cells}</tr>").repeat(200);
    assert!(!blocks("x.html", &format!("<table>{rows}</table>")).is_empty());
    let ragged = format!("<table><tr>{}</tr>{}</table>", "<td>a".repeat(5_000), "<tr><td>b".repeat(5_000));
    assert_eq!(blocks("x.html", &ragged).len(), 5_001);
    let long = format!("<table><tr><td colspan=900 rowspan=900>{}<td>y</table>", "long ".repeat(10_000));
    assert!(!blocks("x.html", &long).is_empty());
}

#[test]
fn deep_nesting_ends_and_keeps_the_text() {
    for (open, close) in [("<div>", "</div>"), ("<ul><li>", "</li></ul>"), ("<b>", "</b>"), ("<blockquote>", "")] {
        let source = format!("{}deep{}", open.repeat(20_000), close.repeat(20_000));
        assert!(format!("{:?}", blocks("x.html", &source)).contains("deep"));
    }
    let unclosed: String = (0..20_000).map(|n| format!("<font color={n}><b id=b{n}><p>a")).collect();
    assert_eq!(blocks("x.html", &unclosed).len(), 20_000);
    let table = format!("{}deep", "<table><tr><td>".repeat(10_000));
    assert!(format!("{:?}", blocks("x.html", &table)).contains("deep"));
    let items = format!("{}- deep", (0..300).map(|n| format!("{}- a\n", "  ".repeat(n))).collect::<String>());
    assert!(format!("{:?}", blocks("x.md", &items)).contains("deep"));
    assert!(format!("{:?}", blocks("x.md", &format!("{} deep", ">".repeat(5_000)))).contains("deep"));
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), name in "x\\.(html|storage|md|json|txt|xyz)") {
        let _ = parse(Path::new(&name), &bytes);
    }

    #[test]
    fn no_markup_makes_a_reader_panic(
        pieces in prop::collection::vec(
            "(</?(p|b|ul|ol|li|table|thead|tr|td|th|h1|pre|div|dl|dt|br|ac:link|ri:page|ac:task|ac:task-status|ac:structured-macro|caption|main)( colspan=\"?[0-9]{1,4}| rowspan='0'|)/?>?|<!\\[CDATA\\[|\\]\\]>|<!--|-->|\\| |---|\n|- |[a-zä&;<>\"'=]{1,4})",
            0..60,
        ),
        name in "x\\.(html|storage|md)",
    ) {
        if let Ok(document) = parse(Path::new(&name), pieces.concat().as_bytes()) {
            for block in &document.blocks {
                if let Block::Table(table) = block {
                    let width = table.rows.first().map_or(0, Vec::len);
                    prop_assert!(table.rows.iter().all(|row| row.len() == width));
                    prop_assert!(table.header.is_empty() || table.rows.is_empty() || table.header.len() == width);
                }
            }
        }
    }
}
