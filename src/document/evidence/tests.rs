//! Documents of every format, and what becomes of them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::{Block, Document, Table};
use ragonite_base::CancelToken;

/// As the room does it, without anybody who cancels.
fn split(document: &Document, settings: &EvidenceSettings, tokens: &CountTokens<'_>) -> Split {
    super::split(document, settings, tokens, &CancelToken::never()).unwrap()
}

/// A word is about four letters.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn fixture(name: &str) -> Document {
    let folder = ragonite_testing::root().join("tests/fixtures/documents");
    crate::load(&folder.join(name)).unwrap()
}

fn evidences(document: &Document) -> Split {
    split(document, &EvidenceSettings::default(), &tokens)
}

/// A document and its evidences as a person would check them.
fn report(document: &Document) -> String {
    let Document { title, url, date, space, .. } = document;
    let mut text = format!("{title}\n{url:?} {date:?} {space:?}\n");
    for evidence in evidences(document).evidences {
        let context = &evidence.context;
        assert_eq!(&context.title, title);
        let path = context.heading_path.join(" > ");
        writeln!(text, "\n== {} · {} · under: {path}", evidence.kind.as_str(), evidence.location).unwrap();
        writeln!(text, "before: {}\n{}\nafter: {}", context.before, evidence.content, context.after).unwrap();
    }
    text
}

#[test]
fn the_toy_page_gives_the_row_of_the_paper_with_all_it_needs() {
    for name in ["toy.json", "toy.html"] {
        let split = evidences(&fixture(name));
        let row = split.evidences.iter().find(|e| e.row == Some(2)).unwrap();
        assert_eq!(
            row.content,
            "Row 2 in Table 1: Member is Alice, and Task is Similarity function, and Action items is Fine-tune with \
             gpt4o*, and Time needed is 1 week, and Notes is Now w/ embed cos"
        );
        assert_eq!(row.context.title, "2024-10-02 Meeting Notes");
        assert_eq!(row.context.heading(), "Agenda");
        assert!(row.context.before.starts_with("- A basic round of RAG team updates"));
        assert!(row.context.after.contains("fix a long-standing embedding error"));
        assert!(!row.contextualized(ContextParts::ALL).contains("Trudy, and"), "a neighbouring row in the context");
        assert_eq!(split.tables[0].rows[1][0], "Alice");
    }
}

#[test]
fn every_line_of_a_single_column_is_in_an_evidence() {
    let lines: Vec<String> = (0..2_000).map(|n| format!("Station {n} Kestrel")).collect();
    let document = crate::parse(Path::new("stations.csv"), lines.join("\n").as_bytes()).unwrap();
    let split = evidences(&document);
    assert!(split.evidences.len() > 1 && split.evidences.iter().all(|evidence| evidence.kind == Kind::List));
    let found: Vec<&str> = split.evidences.iter().flat_map(|evidence| evidence.content.lines()).collect();
    assert_eq!(found, lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>());
    let values = crate::parse(Path::new("degrees.csv"), b"Degrees\n12.5\n13\n").unwrap();
    let rows = evidences(&values).evidences;
    assert!(rows.iter().any(|row| row.content == "Row 2 in Table 1: Degrees is 13"), "{rows:?}");
}

#[test]
fn the_toy_page_names_what_stands_around_the_row() {
    let split = evidences(&fixture("toy.json"));
    let row = split.evidences.iter().find(|e| e.row == Some(2)).unwrap();
    assert_eq!(
        row.contextualized(ContextParts::ALL),
        "2024-10-02 Meeting Notes\nAgenda\n\
         - A basic round of RAG team updates in this month's meeting\n\
         - Everyone reports what was done and the to-dos\n\
         Row 2 in Table 1: Member is Alice, and Task is Similarity function, and Action items is Fine-tune with \
         gpt4o*, and Time needed is 1 week, and Notes is Now w/ embed cos\n\
         *Alice and Trudy to fix a long-standing embedding error with openxt strings."
    );
}

#[test]
fn html_and_storage_format_of_one_page_give_the_same_evidences() {
    assert_eq!(evidences(&fixture("toy.json")), evidences(&fixture("toy.html")));
}

#[test]
fn toy_page() {
    insta::assert_snapshot!(report(&fixture("toy.json")));
}

#[test]
fn merged_cells_and_two_header_rows() {
    insta::assert_snapshot!(report(&fixture("merged-cells.html")));
}

#[test]
fn headers_that_are_not_marked() {
    insta::assert_snapshot!(report(&fixture("headers.html")));
}

#[test]
fn nested_lists() {
    insta::assert_snapshot!(report(&fixture("nested-list.html")));
}

#[test]
fn confluence_macros() {
    insta::assert_snapshot!(report(&fixture("macros.storage")));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(report(&fixture("guide.md")));
}

#[test]
fn saved_web_page() {
    insta::assert_snapshot!(report(&fixture("saved-page.html")));
}

#[test]
fn a_long_passage_is_cut_between_sentences_and_keeps_its_context() {
    let long = "One sentence about boats. ".repeat(10);
    let document = Document {
        title: "Boats".into(),
        blocks: vec![Block::Text(long), Block::Heading { level: 1, text: "Next".into() }, Block::Text("End.".into())],
        ..Document::default()
    };
    let settings = EvidenceSettings { longest_passage: 20, longest_neighbour: 12, ..EvidenceSettings::default() };
    let split = split(&document, &settings, &tokens);
    let parts: Vec<_> = split.evidences.iter().filter(|e| e.location.starts_with("Text 1, part")).collect();
    // A sentence has seven tokens.
    assert_eq!(parts.len(), 5);
    assert!(parts.iter().all(|part| part.content.matches("boats").count() == 2));
    assert!(parts.iter().all(|part| part.content.ends_with('.') && part.context.after == "End."));
    assert_eq!(split.evidences[5].context.before, "One sentence about boats.");
    assert_eq!(split.evidences[5].location, "Next, text 1");
}

/// Words as a reader sees them.
fn words(text: &str) -> HashSet<String> {
    ragonite_base::text::words(text).map(ToOwned::to_owned).collect()
}

/// All words that some evidence holds, in content or context.
fn held(document: &Document) -> HashSet<String> {
    let split = evidences(document);
    let texts = split.evidences.iter().map(|e| {
        format!("{} {} {}", e.contextualized(ContextParts::ALL), e.context.heading_path.join(" "), e.location)
    });
    texts.flat_map(|text| words(&text)).collect()
}

/// A piece of HTML, sloppy in every way that real pages are, with words that stand for themselves.
fn markup() -> impl Strategy<Value = String> {
    let leaf = "[a-z]{1,6}( [a-z]{1,6}){0,3}".prop_map(|text| text);
    leaf.prop_recursive(4, 40, 5, |inner| {
        let many = prop::collection::vec(inner, 1..4);
        (many, 0usize..14).prop_map(|(parts, kind)| {
            let all = parts.join(" ");
            let wrap = |tag: &str| parts.iter().map(|part| format!("<{tag}>{part}</{tag}>")).collect::<String>();
            match kind {
                0 => format!("<p>{all}</p>"),
                1 => format!("<div>{all}</div> "),
                2 => format!("<ul>{}</ul>", wrap("li")),
                3 => format!("<ol>{}</ol>", parts.iter().map(|part| format!("<li>{part}")).collect::<String>()),
                4 => format!("<table><tr>{}</tr><tr>{}</tr></table>", wrap("th"), wrap("td")),
                5 => format!("<table><tbody><tr>{}</tr></tbody></table>", wrap("td")),
                6 => format!("<h2>{all}</h2>"),
                7 => format!(" <b>{all}</b> "),
                8 => format!("<pre>{}</pre>", parts.join("\n")),
                9 => format!("<blockquote>{}", parts.join("<br/>")),
                10 => format!("<table><tr><td colspan=2 rowspan=3>{all}</td></tr>{}</table>", wrap("tr")),
                11 => format!("<ac:structured-macro ac:name=\"panel\"><ac:rich-text-body>{all}</ac:rich-text-body></ac:structured-macro>"),
                12 => format!("<dl><dt>{all}</dt><dd>{all}</dd></dl>"),
                _ => format!("<ul>{all}<ul>{}</ul></ul>", wrap("li")),
            }
        })
    })
}

/// The words a browser shows. Where HTML ignores a tag (`</table><td>a</td><td>b</td>`), it draws the texts on both
/// sides as one word, which [`visible`] does not know.
fn shown(markup: &str) -> HashSet<String> {
    scraper::Html::parse_document(markup).root_element().text().flat_map(words).collect()
}

fn visible(markup: &str) -> HashSet<String> {
    let mut text = String::new();
    let mut rest = markup;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = after.split_once('>').map_or("", |(_, after)| after);
    }
    words(&(text + rest))
}

proptest! {
    #![proptest_config(ragonite_testing::cases(400))]

    #[test]
    fn every_visible_word_of_html_is_in_some_evidence(markup in markup(), name in "x\\.(html|storage)") {
        let document = crate::parse(Path::new(&name), markup.as_bytes()).unwrap();
        let (held, shown) = (held(&document), shown(&markup));
        let glued = |word: &String| !shown.contains(word) && held.iter().any(|longer| longer.contains(word));
        let missing: Vec<_> = visible(&markup).into_iter().filter(|word| !held.contains(word) && !glued(word)).collect();
        prop_assert!(missing.is_empty(), "{:?} of {} in {:#?}", missing, markup, document);
    }

    #[test]
    fn every_word_of_markdown_is_in_some_evidence(
        lines in prop::collection::vec("(# |## |- |1\\. |> |    - |\\| |)[a-z]{1,5}( [a-z]{1,5}){0,2}( \\||)\n{1,2}", 1..12)
    ) {
        let source = lines.concat();
        let document = crate::parse(Path::new("x.md"), source.as_bytes()).unwrap();
        let mut held = held(&document);
        // The number of a list item is drawn anew.
        held.insert("1".to_owned());
        let missing: Vec<_> = words(&source).difference(&held).cloned().collect();
        prop_assert!(missing.is_empty(), "{:?} of {}", missing, source);
    }

    #[test]
    fn a_verbalized_row_holds_every_cell_that_is_not_empty(
        header in prop::collection::vec("[a-z]{0,4}", 3),
        rows in prop::collection::vec(prop::collection::vec("[a-z]{0,6}", 3), 1..6),
        named in any::<bool>(),
    ) {
        let header = if named { header } else { Vec::new() };
        let table = Table { header, rows: rows.clone(), ..Table::default() };
        let document = Document { title: "t".into(), blocks: vec![Block::Table(table)], ..Document::default() };
        let split = evidences(&document);
        for (row, cells) in rows.iter().enumerate().filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty())) {
            let evidence = split.evidences.iter().find(|evidence| evidence.row == Some(row as u32 + 1)).unwrap();
            let content = &evidence.content;
            let prefix = format!("Row {} in Table 1: ", row + 1);
            prop_assert!(content.starts_with(&prefix));
            for cell in cells.iter().filter(|cell| !cell.is_empty()) {
                let fact = format!("is {cell}");
                prop_assert!(content.contains(&fact));
            }
        }
    }
}

/// The benchmark's pages, where they are at hand.
#[expect(clippy::disallowed_methods, reason = "the test says where the pages are")]
fn corpus() -> Option<PathBuf> {
    let beside = ragonite_testing::root().join("../shared/confquestions");
    let named = std::env::var_os("RAGONITE_CONFQUESTIONS").map(PathBuf::from);
    let folder = named.unwrap_or(beside).join("documents");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no benchmark corpus at `{}`", folder.display());
    None
}

#[test]
fn every_page_of_the_benchmark_gives_evidences() {
    let Some(folder) = corpus() else { return };
    let found = crate::discover(&[folder]).unwrap();
    assert_eq!((found.documents.len(), found.skipped.len()), (215, 0));
    let mut counts = [0usize; 4];
    let (mut tables, mut with_header, mut longest) = (0, 0, (0, String::new()));
    for path in &found.documents {
        let document = crate::load(path).unwrap();
        let split = evidences(&document);
        assert!(!split.evidences.is_empty(), "{} has no evidence", path.display());
        for evidence in &split.evidences {
            counts[evidence.kind as usize] += 1;
            assert!(!evidence.content.trim().is_empty(), "{} has an empty evidence", path.display());
            longest = longest.max((evidence.content.len(), format!("{} {}", path.display(), evidence.location)));
        }
        tables += split.tables.len();
        with_header += document.blocks.iter().filter(|b| matches!(b, Block::Table(t) if !t.header.is_empty())).count();
    }
    println!(
        "passages, lists, tables, rows: {counts:?}; {with_header} of {tables} tables with header; longest {longest:?}"
    );
    assert!(tables >= 100 && with_header >= 95, "{with_header} of {tables} tables have a header");
}
