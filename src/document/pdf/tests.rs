//! PDFs of several programs, and what is read from them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::{Block, Document, DocumentError, List, Ordering, parse};
use super::PdfError;
use ragonite_base::CancelToken;

fn read(bytes: &[u8]) -> Result<Document, PdfError> {
    super::read(bytes, &CancelToken::never())
}

fn folder() -> PathBuf {
    ragonite_testing::root().join("tests/fixtures/documents/pdf")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn document(name: &str) -> Document {
    parse(Path::new(name), &bytes(name)).unwrap()
}

/// A document as a person would check it.
fn drawn(document: &Document) -> String {
    let mut text = format!("title: {}\ndate: {:?}\n", document.title, document.date.as_deref().unwrap_or_default());
    for (at, block) in document.blocks.iter().enumerate() {
        match block {
            Block::Heading { level, text: heading } => writeln!(text, "\n{} {heading}", "#".repeat((*level).into())),
            Block::Text(paragraph) => writeln!(text, "\n{paragraph}"),
            Block::List(list) => writeln!(text, "\n{}", draw_list(list, 0).trim_end()),
            Block::Page(page) => writeln!(text, "\n---- page {page}"),
            Block::Table(table) => {
                writeln!(text, "\ntable: {:?} / {:?}", table.caption, table.footer).unwrap();
                writeln!(text, "= {}", table.header.join(" | ")).unwrap();
                table.rows.iter().try_for_each(|row| writeln!(text, "  {}", row.join(" | ")))
            }
        }
        .unwrap();
        for link in document.links.iter().filter(|link| link.block == at) {
            writeln!(text, "    -> {:?} {}", link.text, link.target).unwrap();
        }
    }
    text
}

fn draw_list(list: &List, depth: usize) -> String {
    let mut text = String::new();
    for (number, item) in list.items.iter().enumerate() {
        let sign = if list.ordered == Ordering::Ordered { format!("{}.", number + 1) } else { "-".to_owned() };
        writeln!(text, "{}{sign} {}", "  ".repeat(depth), item.text).unwrap();
        item.nested.iter().for_each(|nested| text.push_str(&draw_list(nested, depth + 1)));
    }
    text
}

#[test]
fn headings_and_lists_without_running_lines() {
    insta::assert_snapshot!(drawn(&document("report.pdf")));
}

#[test]
fn two_columns_are_read_one_after_the_other() {
    insta::assert_snapshot!(drawn(&document("two-columns.pdf")));
}

#[test]
fn a_table_with_lines_keeps_its_merged_cells() {
    insta::assert_snapshot!(drawn(&document("ruled-table.pdf")));
}

#[test]
fn a_table_without_lines_is_told_by_its_columns() {
    insta::assert_snapshot!(drawn(&document("aligned-table.pdf")));
}

#[test]
fn umlauts_ligatures_hyphens_links_and_nested_lists() {
    insta::assert_snapshot!(drawn(&document("german.pdf")));
}

#[test]
fn a_table_over_several_pages_has_its_names_on_each() {
    let document = document("long-table.pdf");
    let tables = document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let mut rows = 0;
    for table in tables {
        assert_eq!(table.header, ["Ship", "Flag", "Tons", "Arrived"]);
        for row in &table.rows {
            rows += 1;
            assert_eq!(row[0], format!("Vessel {rows}"));
        }
    }
    assert_eq!(rows, 70);
    let pages: Vec<_> = document.blocks.iter().filter(|block| matches!(block, Block::Page(_))).collect();
    assert_eq!(pages, [&Block::Page(1), &Block::Page(2)]);
}

#[test]
fn text_layers_and_sideways_pages_are_read() {
    insta::assert_snapshot!(drawn(&document("layers.pdf")));
}

#[test]
fn a_font_that_is_only_named_is_read_and_its_lines_join_without_spaces() {
    let text = Block::Text("港の記録は毎朝書かれ、正午に台帳へ写される。".into());
    assert_eq!(document("japanese.pdf").blocks, [Block::Page(1), text]);
}

#[test]
fn a_pdf_without_text_says_what_to_do() {
    let error = parse(Path::new("scanned.pdf"), &bytes("scanned.pdf")).unwrap_err();
    assert!(matches!(&error, DocumentError::Pdf { source: PdfError::NoText { pages: 2 }, .. }));
    let DocumentError::Pdf { source, .. } = error else { return };
    let text = "its 2 pages hold no text (a scanned document?); run it through OCR first";
    assert_eq!(source.to_string(), text);
}

#[test]
fn an_empty_password_opens_and_any_other_is_asked_for() {
    assert_eq!(read(&bytes("locked.pdf")), Err(PdfError::Locked));
    assert!(document("open-lock.pdf").blocks.contains(&Block::Text("The tide turns at noon.".into())));
}

#[test]
fn what_is_no_pdf_is_broken() {
    assert_eq!(read(b"%PDF-1.7"), Err(PdfError::Broken));
    assert_eq!(
        read(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>"),
        Err(PdfError::Broken)
    );
}

#[test]
fn a_cut_off_file_gives_what_is_left() {
    let whole = bytes("report.pdf");
    let cut = read(&whole[..whole.len() * 2 / 3]);
    assert!(cut.is_ok_and(|document| !document.blocks.is_empty()));
}

#[test]
fn a_file_that_was_cut_off_is_never_taken_for_a_scan() {
    let mut incomplete = 0;
    for name in ["report.pdf", "german.pdf", "ruled-table.pdf", "two-columns.pdf"] {
        let whole = bytes(name);
        for tenths in 1..10 {
            let read = read(&whole[..whole.len() * tenths / 10]);
            let fine = matches!(&read, Ok(_) | Err(PdfError::Incomplete { .. } | PdfError::Broken));
            assert!(fine, "{name} cut at {tenths} tenths: {read:?}");
            incomplete += usize::from(matches!(read, Err(PdfError::Incomplete { .. })));
        }
    }
    assert!(incomplete > 0, "no cut left pages without text");
    let mut scan = bytes("scanned.pdf");
    scan.extend(b"\n\0\0");
    assert_eq!(read(&scan), Err(PdfError::NoText { pages: 2 }));
    let text = PdfError::Incomplete { pages: 2 }.to_string();
    assert!(text.contains("incomplete") && !text.contains("scan"), "{text}");
}

#[test]
fn a_page_whose_content_is_lost_is_damaged_and_a_blank_one_is_not() {
    let lost = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
        2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
        3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>\nendobj\n\
        trailer\n<< /Root 1 0 R >>\n%%EOF\n";
    assert_eq!(read(lost), Err(PdfError::Incomplete { pages: 1 }));
    let blank = String::from_utf8_lossy(lost).replace("/Contents 4 0 R ", "");
    assert_eq!(read(blank.as_bytes()), Err(PdfError::NoText { pages: 1 }));
}

/// A page whose content is `content`, with more objects from number 5 on.
fn page(content: &str, more: &str) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    format!(
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
         2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
         3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
         /Resources << /Font << /F {font} >> /XObject << /X 5 0 R >> >> >>\nendobj\n\
         4 0 obj\n<< /Length {} >>\nstream\n{content}\nendstream\nendobj\n{more}\ntrailer\n<< /Root 1 0 R >>\n",
        content.len()
    )
    .into_bytes()
}

#[test]
fn a_form_that_draws_itself_ends() {
    let form = "5 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /X 5 0 R >> >> \
                /Length 40 >>\nstream\n/X Do /X Do /X Do /X Do /X Do /X Do     \nendstream\nendobj";
    let read = read(&page("BT /F 12 Tf 72 700 Td (Before it) Tj ET /X Do", form)).unwrap();
    assert!(read.blocks.contains(&Block::Text("Before it".into())));
}

#[test]
fn endless_nesting_and_odd_numbers_do_no_harm() {
    let deep = format!("{} BT /F 12 Tf 72 700 Td (deep) Tj ET", "q 1 0 0 1 0 0 cm ".repeat(20_000));
    assert!(read(&page(&deep, "")).is_ok());
    let lists = format!("BT /F 12 Tf 72 700 Td (text) Tj {} TJ ET", "[".repeat(20_000));
    assert!(read(&page(&lists, "")).is_ok());
    let far = "BT /F 1e30 Tf 1e38 1e38 Td (far) Tj /F 12 Tf 1 0 0 1 72 700 Tm (near) Tj 1e38 0 0 1e38 0 0 cm (x) Tj ET";
    assert!(read(&page(far, "")).is_ok());
    let boxes: String = (0..30_000).map(|n| format!("{} {} 5 5 re S ", n % 600, n % 800)).collect();
    assert!(read(&page(&format!("{boxes} BT /F 12 Tf 72 700 Td (boxes) Tj ET"), "")).is_ok());
}

#[test]
fn a_stream_that_unpacks_to_far_too_much_is_refused() {
    use std::io::Write as _;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    (0..300).for_each(|_| packed.write_all(&zeros).unwrap());
    let packed = packed.finish().unwrap();
    let mut file =
        format!("%PDF-1.4\n4 0 obj\n<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).into_bytes();
    file.extend(packed);
    file.extend(b"\nendstream\nendobj\n");
    assert!(matches!(read(&file), Err(PdfError::TooLarge { .. })));
    let twice = b"%PDF-1.4\n4 0 obj\n<< /Filter [/FlateDecode /FlateDecode] >>\nstream\nx\nendstream";
    assert!(matches!(read(twice), Err(PdfError::TooLarge { .. })));
}

proptest! {
    #![proptest_config(ragonite_testing::cases(60))]

    #[test]
    fn damage_never_makes_the_reader_panic(
        name in prop::sample::select(vec!["report.pdf", "two-columns.pdf", "german.pdf", "ruled-table.pdf", "open-lock.pdf"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = bytes(name);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = read(&bytes);
    }

    #[test]
    fn no_word_of_a_page_is_lost(
        words in prop::collection::vec(("[a-z]{2,9}", 0u32..8, 0u32..30, 8u32..16), 1..60),
    ) {
        // Words at places that may touch and overlap, which no program would write.
        let mut content = String::from("BT ");
        for (word, x, y, size) in &words {
            write!(content, "/F {size} Tf 1 0 0 1 {} {} Tm ({word}) Tj ", 40 + x * 68, 60 + y * 22).unwrap();
        }
        content.push_str("ET");
        let text = drawn(&parse(Path::new("x.pdf"), &page(&content, "")).unwrap());
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
        let given: std::collections::HashSet<_> = words.iter().map(|(word, x, y, _)| (word, x, y)).collect();
        let least: usize = given.iter().map(|(word, ..)| word.len()).sum();
        prop_assert!(letters(&text) >= least, "{least} letters given, {text}");
    }
}
