//! Saved pages, wiki markup and Markdown: what an analyst would want to find of them.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> Document {
    load(&ragonite_testing::root().join("tests/fixtures/documents").join(name)).unwrap()
}

fn read_as(name: &str, source: &str) -> Document {
    parse(Path::new(name), source.as_bytes()).unwrap()
}

/// A document as a person would check it.
fn draw(document: &Document) -> String {
    let Document { title, url, date, ancestors, .. } = document;
    let mut text = format!("title: {title}\nurl: {url:?}\ndate: {date:?}\nancestors: {ancestors:?}\n");
    for (number, block) in document.blocks.iter().enumerate() {
        write!(text, "\n[{number}] ").unwrap();
        match block {
            Block::Heading { level, text: heading } => write!(text, "{} {heading}", "#".repeat((*level).into())),
            Block::Text(words) => write!(text, "{words}"),
            Block::List(list) => draw_list(list, 0, &mut text),
            Block::Table(table) => draw_table(table, &mut text),
            Block::Page(number) => write!(text, "page {number}"),
        }
        .unwrap();
    }
    text.push('\n');
    for link in &document.links {
        write!(text, "\n[{}] {} -> {}", link.block, link.text, link.target).unwrap();
        assert!(
            words_of(&document.blocks[link.block]).contains(&link.text.replace(char::is_whitespace, "")),
            "`{}` is not in its block",
            link.text
        );
    }
    text
}

fn draw_list(list: &List, indent: usize, text: &mut String) -> std::fmt::Result {
    for (number, item) in (1..).zip(&list.items) {
        let mark = if list.ordered == Ordering::Ordered { format!("{number}.") } else { "-".into() };
        write!(text, "\n{:indent$}{mark} {}", "", item.text.replace('\n', " ⏎ "))?;
        for nested in &item.nested {
            draw_list(nested, indent + 4, text)?;
        }
    }
    Ok(())
}

fn draw_table(table: &Table, text: &mut String) -> std::fmt::Result {
    write!(text, "caption: {:?}\n| {} |", table.caption, table.header.join(" | "))?;
    table.rows.iter().try_for_each(|row| write!(text, "\n| {} |", row.join(" | ")))
}

/// All words of a block without the space between them.
fn words_of(block: &Block) -> String {
    fn of_list(list: &List, text: &mut String) {
        for item in &list.items {
            text.push_str(&item.text);
            item.nested.iter().for_each(|nested| of_list(nested, text));
        }
    }
    let mut text = String::new();
    match block {
        Block::Heading { text: words, .. } | Block::Text(words) => text.push_str(words),
        Block::List(list) => of_list(list, &mut text),
        Block::Table(table) => {
            let around = table.caption.iter().chain(&table.header).chain(&table.footer);
            around.chain(table.rows.iter().flatten()).for_each(|words| text.push_str(words));
        }
        Block::Page(_) => {}
    }
    text.replace(char::is_whitespace, "")
}

#[test]
fn saved_pages_of_common_sites_give_their_content_and_nothing_of_the_site() {
    for name in ["mediawiki", "docusaurus", "github-wiki", "sharepoint", "confluence-export", "no-main"] {
        insta::assert_snapshot!(format!("html_{name}"), draw(&fixture(&format!("html/{name}.html"))));
    }
}

#[test]
fn macros_of_confluence_give_what_readers_see() {
    insta::assert_snapshot!("confluence_macros", draw(&fixture("confluence/macros.storage")));
}

#[test]
fn markdown_as_people_write_it_is_read() {
    insta::assert_snapshot!("markdown_features", draw(&fixture("markdown/features.md")));
}

#[test]
fn a_link_stands_in_its_block_wherever_that_ends_up() {
    let page = read_as(
        "x.html",
        "<title>T</title><h1>T</h1><p>a <a href=one>first</a></p><ul><li><a href=two>second</a>\
         <table><tr><th>k<th>v<tr><td>x<td><a href=three>third</a></table><li><a href=four>fourth</a></ul>\
         <h2><a href=five>fifth</a></h2><a href=six><p>in two</p><p>blocks</p></a><a href='#x'>no</a><a href=y></a>",
    );
    let links: Vec<String> =
        page.links.iter().map(|link| format!("{} {} {}", link.block, link.text, link.target)).collect();
    assert_eq!(
        links,
        [
            "0 first one",
            "1 second two",
            "1 fourth four",
            "2 third three",
            "3 fifth five",
            "4 in two six",
            "5 blocks six"
        ]
    );
    draw(&page);
}

#[test]
fn a_page_without_a_title_is_called_by_its_only_outermost_heading() {
    let page = read_as("123.storage", "<h1>Oven</h1><p>Hot.</p><h2>Settings</h2><p>220</p><ac:x />");
    assert_eq!((page.title.as_str(), page.blocks.len()), ("Oven", 3));
    let parts = read_as("oven.storage", "<h1>Parts</h1><p>Hot.</p><h1>Settings</h1><p>220</p><ac:x />");
    assert_eq!((parts.title.as_str(), parts.blocks.len()), ("oven", 4));
    assert_eq!(read_as("123.html", "<h1>Oven</h1><p>Hot.<ac:x />").title, "Oven");
    assert_eq!(read_as("123.txt", "Oven\n\nIt is hot.").title, "Oven");
    assert_eq!(read_as("oven.txt", "It is hot.\n\nVery hot.").title, "oven");
}

#[test]
fn links_are_bounded_and_lead_somewhere() {
    let many = "<p><a href=x>y</a>".repeat(10_050);
    assert_eq!(read_as("x.html", &many).links.len(), 10_000);
    let targets = [" javascript:alert(1)", "DATA:text/plain,x", "#top", "", &"x".repeat(3_000)];
    let odd: String = targets.iter().map(|target| format!("<p><a href='{target}'>t</a>")).collect();
    assert_eq!(read_as("x.html", &odd).links, []);
    let long = format!("<p><a href=x>{}</a>", "word ".repeat(10_000));
    assert!(read_as("x.html", &long).links[0].text.len() <= 60_000);
    assert!(read_as("x.html", "<p><a href='x\u{1b}[31m'>t</a>").links[0].target == "x");
}

#[test]
fn struck_out_words_never_run_into_those_that_replace_them() {
    let blocks = |name: &str, source: &str| read_as(name, source).blocks;
    let text = |text: &str| vec![Block::Text(text.into())];
    assert_eq!(blocks("x.html", "<p><del>ten</del><ins>twelve</ins> days"), text("ten twelve days"));
    assert_eq!(blocks("x.html", "<p>for <s>10</s>12 days, <strike>a</strike>."), text("for 10 12 days, a."));
    assert_eq!(blocks("x.html", "<p>wo<ins>r</ins>d and w<u>o</u>rd"), text("word and word"));
    assert_eq!(blocks("x.storage", "<p><del>ten</del><ins>twelve</ins><ac:x /></p>"), text("ten twelve"));
    assert_eq!(blocks("x.md", "~~ten~~twelve and <del>a</del><ins>b</ins>"), text("ten twelve and a b"));
    let cell = "<table><tr><th>k<th>v<tr><td>x<td><a href=y><del>1</del>2</a></table>";
    let page = read_as("x.html", cell);
    assert!(matches!(&page.blocks[0], Block::Table(table) if table.rows[0][1] == "1 2"), "{:?}", page.blocks);
    assert_eq!(page.links[0].text, "1 2");
    draw(&page);
}

#[test]
fn attached_pictures_and_files_of_exported_pages_have_their_names() {
    let page = "<p>See<img class=confluence-embedded-image src='attachments/1/2.png' alt='plan.png' \
                data-linked-resource-default-alias='plan.png'>and <a class=confluence-embedded-file \
                href='attachments/1/3.pdf' data-linked-resource-default-alias='manual.pdf'>\
                <img src='thumbnails/1/3' height=250></a>.<img src='bullet.gif' alt='bullet.gif'>";
    let page = read_as("x.html", page);
    assert_eq!(page.blocks, [Block::Text("See plan.png and manual.pdf.".into())]);
    assert_eq!(page.links[0].text, "manual.pdf");
}

#[test]
fn only_a_list_that_repeats_headings_is_a_table_of_contents() {
    let toc = "<p>Contents</p><ul><li><a href='#a'>1. One</a><li><a href='#b'>Two</a></ul><h2>One</h2>x<h2>Two</h2>y";
    assert_eq!(read_as("x.html", toc).blocks.len(), 4);
    let other = toc.replace("Two</a>", "Two</a> is better");
    assert_eq!(read_as("x.html", &other).blocks.len(), 6);
}

#[test]
fn entities_that_expand_to_others_are_not_expanded() {
    let entities = (1..30).map(|n| format!("<!ENTITY e{n} \"&e{};&e{};\">", n - 1, n - 1)).collect::<String>();
    for name in ["x.storage", "x.html", "x.md"] {
        let source = format!("<!DOCTYPE html [<!ENTITY e0 \"lol\">{entities}]><html><p>word &e29; end</p></html>");
        let drawn = draw(&read_as(name, &source));
        assert!(drawn.len() < 10_000 && drawn.contains("word"), "{name}");
    }
}

#[test]
fn pathological_markup_ends_and_keeps_its_words() {
    let large = 1 << 18;
    let sources = [
        ("div.html", format!("{}word", "<div>".repeat(large / 5))),
        ("lists.html", format!("{}word", "<ul><li>".repeat(10_000))),
        ("terms.html", format!("{}word", "<dl><dt>a<dd>".repeat(10_000))),
        ("quotes.html", format!("{}word", "<blockquote>".repeat(10_000))),
        ("unclosed.html", format!("{}word", "<p><a href=x><b>".repeat(large / 40))),
        ("menus.html", format!("{}word", "<div class='sidebar menu'>a".repeat(5_000))),
        ("attribute.html", format!("<p class='{}'>word", "sidebar ".repeat(large / 8))),
        ("nul.html", format!("<p>{}word", "&#0;".repeat(large / 40))),
        ("macros.storage", format!("{}word", "<ac:structured-macro ac:name='x'><ac:rich-text-body>".repeat(10_000))),
        ("links.storage", format!("{}word", "<ac:link><ri:page ri:content-title='a' /><ac:link-body>".repeat(10_000))),
        ("cdata.storage", format!("<p>word{}", "<![CDATA[".repeat(large / 40))),
        ("quotes.md", format!("{} word", ">".repeat(5_000))),
        ("brackets.md", format!("{}word", "[[".repeat(20_000))),
        ("notes.md", format!("{}word", "!!! note\n".repeat(20_000))),
        ("tables.md", format!("word\n\n{}", "<table>\n\n".repeat(2_000))),
    ];
    for (name, source) in sources {
        let document = read_as(name, &source);
        assert!(document.blocks.iter().any(|block| words_of(block).contains("word")), "{name}");
    }
}

/// Markup of nested elements in which every word is visible and none is the site's own: no sidebar, which is taken for
/// that where it is mostly links.
fn markup(tags: &'static [(&'static str, &'static str)]) -> impl Strategy<Value = String> {
    let leaf = Just("@".to_owned());
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let children = prop::collection::vec(inner, 0..6);
        (prop::sample::select(tags), children)
            .prop_map(|((open, close), children)| format!("{open}{}{close}", children.join(" @ ")))
    })
}

const HTML_TAGS: &[(&str, &str)] = &[
    ("<p>", "</p>"),
    ("<div class='content'>", "</div>"),
    ("<ul><li>", "</li></ul>"),
    ("<ol start=4>", "</ol>"),
    ("<li>", "</li>"),
    ("<dl><dt>@</dt><dd>", "</dd></dl>"),
    ("<dd>", "</dd>"),
    ("<table><tr><td>@</td><td>", "</td></tr></table>"),
    ("<table><caption>@</caption><tr><th>@</th></tr><tr><td rowspan=2>", "</td></tr><tr></tr></table>"),
    ("<table role=presentation><tr><td>", "</td></tr></table>"),
    ("<b>", "</b>"),
    ("<a href=x>", "</a>"),
    ("<h2>", "</h2>"),
    ("<pre>", "</pre>"),
    ("<blockquote>", "</blockquote>"),
    ("<details><summary>@</summary>", "</details>"),
    ("<section class=story><h3>@</h3>", "</section>"),
    ("<figure>", "<figcaption>@</figcaption></figure>"),
    ("@<br>", "@"),
];

const STORAGE_TAGS: &[(&str, &str)] = &[
    ("<p>", "</p>"),
    ("<ul><li>", "</li></ul>"),
    ("<table><tbody><tr><td>", "</td><td>@</td></tr></tbody></table>"),
    ("<ac:structured-macro ac:name=\"info\"><ac:rich-text-body>", "</ac:rich-text-body></ac:structured-macro>"),
    (
        "<ac:structured-macro ac:name=\"other\"><ac:parameter ac:name=\"title\">@</ac:parameter><ac:rich-text-body>",
        "</ac:rich-text-body></ac:structured-macro>",
    ),
    (
        "<ac:structured-macro ac:name=\"status\"><ac:parameter ac:name=\"title\">@</ac:parameter></ac:structured-macro>",
        "@",
    ),
    (
        "<ac:structured-macro ac:name=\"code\"><ac:plain-text-body><![CDATA[@ < @]]></ac:plain-text-body></ac:structured-macro>",
        "@",
    ),
    ("<ac:link><ri:page ri:content-title=\"@\" /></ac:link>", "@"),
    ("<ac:link><ri:attachment ri:filename=\"x\" /><ac:link-body>", "</ac:link-body></ac:link>"),
    (
        "<ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>",
        "</ac:task-body></ac:task></ac:task-list>",
    ),
    ("<ac:layout><ac:layout-section><ac:layout-cell>", "</ac:layout-cell></ac:layout-section></ac:layout>"),
    ("<h1>", "</h1>"),
];

/// Numbers the words, reads the source and says which words are in no block.
fn lost(name: &str, source: &str) -> Vec<String> {
    let mut numbered = String::new();
    for (number, piece) in source.split('@').enumerate() {
        if number > 0 {
            write!(numbered, " w{number}w ").unwrap();
        }
        numbered.push_str(piece);
    }
    let words = 1..=source.matches('@').count();
    let Ok(document) = parse(Path::new(name), numbered.as_bytes()) else { return vec![numbered] };
    let text: String = document.blocks.iter().map(words_of).collect::<String>() + &document.title;
    words.map(|number| format!("w{number}w")).filter(|word| !text.contains(word)).collect()
}

proptest! {
    #![proptest_config(ragonite_testing::cases(96))]

    #[test]
    fn every_visible_word_of_html_is_in_some_block(body in markup(HTML_TAGS)) {
        prop_assert_eq!(lost("x.html", &format!("<html><body>@ {body} @")), Vec::<String>::new());
        prop_assert_eq!(lost("x.html", &format!("<html><body><main>@ {body} @</main>")), Vec::<String>::new());
        prop_assert_eq!(lost("x.md", &format!("@\n\n<div>{body}</div>\n\n@")), Vec::<String>::new());
    }

    #[test]
    fn every_visible_word_of_storage_format_is_in_some_block(body in markup(STORAGE_TAGS)) {
        prop_assert_eq!(lost("x.storage", &format!("<p>@ {body} @</p><ac:x />")), Vec::<String>::new());
    }

    #[test]
    fn every_word_of_markdown_is_in_some_block(lines in prop::collection::vec(
        "(  |    |)(- |1\\. |> |# |\\| |: |!!! note |:::tip |)@( @|\\[@\\]\\(x\\)| \\| @|\\*@\\*|)", 1..14,
    )) {
        prop_assert_eq!(lost("x.md", &lines.join("\n")), Vec::<String>::new());
    }

    #[test]
    fn links_always_point_at_a_block(body in markup(HTML_TAGS)) {
        let source = format!("<p>@{body}").replace('@', "<a href=y>w</a>");
        let document = read_as("x.html", &source);
        prop_assert!(document.links.iter().all(|link| link.block < document.blocks.len()));
    }
}
