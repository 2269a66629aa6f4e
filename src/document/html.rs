//! Reads HTML and Confluence storage format into blocks.
//!
//! Takes markup; gives the blocks of the page's main part, its title and the metadata of its head.
//! Invariants: walks the tree without recursion; never fails on any markup; cancelled work gives nothing or a part.
//! Not here: the meaning of elements (`element`, `confluence`), repairs before parsing (`markup`).

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};

use super::boilerplate::{Boilerplate, ancestors, changed_on, headings_of_page, main_parts};
use super::builder::{Builder, Opened, Part};
use super::confluence::Extensions;
use super::element::{ElementRole, PageSource};
use super::markup::Dialect;
use super::{Block, Document, confluence, element, tree};
use ragonite_base::{CancelToken, clean_line};

/// A main part with fewer letters may be an empty shell for a script; then the whole page is read too.
const SHORT: usize = 200;

/// Nodes between two checks for cancellation.
const STEP: usize = 1_024;

/// Reads a whole saved page.
pub(super) fn read_page(source: &str, cancel: &CancelToken) -> Document {
    let tree = tree::of_page(source, cancel);
    let root = tree.tree.root();
    let mut document = read_head(root);
    document.url = document.url.or_else(|| saved_from(source));
    document.date = document.date.or_else(|| changed_on(root));
    let parts = main_parts(root);
    let mut content = content_of(&parts, PageSource::Main, document.url.as_deref(), cancel);
    let letters = letters(&content);
    if letters < SHORT {
        let whole = content_of(&[root], PageSource::Page, document.url.as_deref(), cancel);
        if letters == 0 || letters * 10 < self::letters(&whole) {
            content = whole;
        }
    }
    document.title = choose_title(&document.title, &content.blocks, &headings_of_page(root));
    document.ancestors = ancestors(root, &document.title);
    Document { blocks: content.blocks, links: content.links, ..document }
}

/// Reads a fragment that is all content.
pub(super) fn read_fragment(source: &str, dialect: Dialect, cancel: &CancelToken) -> Document {
    let mut builder = Builder::default().watched(cancel);
    feed(source, dialect, &mut builder, cancel);
    if cancel.is_canceled() { Document::default() } else { builder.finish() }
}

/// Adds a fragment to a document that is being built.
pub(super) fn feed(source: &str, dialect: Dialect, builder: &mut Builder, cancel: &CancelToken) {
    let tree = tree::of_fragment(source, dialect, cancel);
    walk(tree.tree.root(), PageSource::Fragment, builder, cancel);
}

/// An attribute of a single tag.
pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    let tree = Html::parse_fragment(tag);
    let mut elements = tree.tree.root().descendants().filter_map(|node| node.value().as_element());
    elements.find_map(|element| element.attr(name).map(ToOwned::to_owned))
}

/// Adds HTML that a macro holds as text.
fn feed_quoted(source: &str, builder: &mut Builder, cancel: &CancelToken) {
    let tree = tree::of_fragment(source, Dialect::Html, cancel);
    walk(tree.tree.root(), PageSource::Quoted, builder, cancel);
}

fn content_of(parts: &[NodeRef<'_, Node>], place: PageSource, url: Option<&str>, cancel: &CancelToken) -> Document {
    let mut builder = Builder::of_page(url).watched(cancel);
    for part in parts {
        walk(*part, place, &mut builder, cancel);
    }
    if cancel.is_canceled() { Document::default() } else { builder.finish() }
}

/// Approximate number of letters of a document.
fn letters(document: &Document) -> usize {
    let length = |block: &Block| match block {
        Block::Heading { text, .. } | Block::Text(text) => text.len(),
        Block::List(list) => list.items.iter().map(|item| item.text.len()).sum(),
        Block::Table(table) => table.rows.iter().flatten().map(String::len).sum(),
        Block::Page(_) => 0,
    };
    document.blocks.iter().map(length).sum()
}

/// Adds the content below a node; a part of it if cancelled.
fn walk(start: NodeRef<'_, Node>, place: PageSource, builder: &mut Builder, cancel: &CancelToken) {
    let mut boilerplate = Boilerplate::new(start, place);
    let mut extensions = Extensions::default();
    let mut open: Vec<[Option<Opened>; 2]> = Vec::new();
    let mut skipped = None;
    for (step, edge) in start.traverse().enumerate() {
        if step.is_multiple_of(STEP) && cancel.is_canceled() {
            return;
        }
        match edge {
            Edge::Open(node) if skipped.is_none() => {
                match enter(node, place, &mut boilerplate, &mut extensions, builder, cancel) {
                    Some(opened) => open.push(opened),
                    None => skipped = Some(node.id()),
                }
            }
            Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
            Edge::Close(_) if skipped.is_none() => {
                for opened in open.pop().into_iter().flatten().rev().flatten() {
                    builder.close(opened);
                }
            }
            Edge::Open(_) | Edge::Close(_) => {}
        }
    }
}

/// Opens the parts of a node; none if its content is to be skipped.
fn enter(
    node: NodeRef<'_, Node>,
    place: PageSource,
    boilerplate: &mut Boilerplate,
    extensions: &mut Extensions,
    builder: &mut Builder,
    cancel: &CancelToken,
) -> Option<[Option<Opened>; 2]> {
    let element = match node.value() {
        Node::Text(text) => {
            builder.text(text);
            return Some([None, None]);
        }
        Node::Element(element) => element,
        _ => return Some([None, None]),
    };
    if boilerplate.holds(node, element) {
        return None;
    }
    let reading = confluence::reading(node, extensions).unwrap_or_else(|| element::role_of(node, element));
    if let Some(title) = confluence::title_before_body(node) {
        let block = builder.open(Part::Block);
        builder.text(&title);
        builder.close(block);
    }
    match reading {
        ElementRole::Skip => None,
        ElementRole::Text(_) | ElementRole::Linked { .. } | ElementRole::Mark(_) | ElementRole::Markup(_) => {
            let block = confluence::stands_alone(node).then(|| builder.open(Part::Block));
            show(reading, place, builder, cancel);
            if let Some(block) = block {
                builder.close(block);
            }
            None
        }
        ElementRole::Before(text) => {
            boxed(&text, builder);
            Some([None, None])
        }
        ElementRole::Break => {
            builder.line_break();
            Some([None, None])
        }
        ElementRole::Content => Some([None, None]),
        ElementRole::Part(part) => {
            let opened = builder.open(part);
            if let Some(mark) = element::task_state(node) {
                builder.mark(mark);
            }
            Some([Some(opened), None])
        }
        ElementRole::Parts(outer, inner) => Some([Some(builder.open(outer)), Some(builder.open(inner))]),
    }
}

/// Adds the replacement of an element and its content.
fn show(reading: ElementRole, place: PageSource, builder: &mut Builder, cancel: &CancelToken) {
    match reading {
        ElementRole::Linked { text, target } => {
            builder.word_border();
            let link = builder.open(Part::Link(target));
            builder.text(&text);
            builder.close(link);
            builder.word_border();
        }
        ElementRole::Mark(mark) => builder.mark(mark),
        ElementRole::Markup(markup) if place == PageSource::Fragment => feed_quoted(&markup, builder, cancel),
        ElementRole::Text(text) | ElementRole::Markup(text) => boxed(&text, builder),
        _ => {}
    }
}

/// Text that is drawn in a box of its own.
fn boxed(text: &str, builder: &mut Builder) {
    builder.word_border();
    builder.text(text);
    builder.word_border();
}

fn read_head(root: NodeRef<'_, Node>) -> Document {
    let mut head = Document::default();
    for node in root.descendants() {
        let Some(element) = node.value().as_element() else { continue };
        match element.name() {
            "title" if head.title.is_empty() => {
                let text: String = node.children().filter_map(|child| child.value().as_text().map(|t| &**t)).collect();
                head.title = clean_line(&text);
            }
            "link" if element.attr("rel") == Some("canonical") => {
                head.url = head.url.or_else(|| element.attr("href").map(clean_line));
            }
            "meta" => read_meta(element, &mut head),
            _ => {}
        }
    }
    head.url = head.url.filter(|url| url.starts_with("http://") || url.starts_with("https://"));
    head
}

fn read_meta(element: &Element, head: &mut Document) {
    let Some(content) = element.attr("content").map(clean_line).filter(|content| !content.is_empty()) else { return };
    match element.attr("name").or_else(|| element.attr("property")) {
        Some("og:url") if head.url.is_none() => head.url = Some(content),
        Some("date" | "dcterms.date" | "DC.date" | "article:modified_time" | "article:published_time")
            if head.date.is_none() =>
        {
            head.date = Some(content);
        }
        _ => {}
    }
}

/// The address that browsers write into a page they save: `<!-- saved from url=(0023)https://… -->`.
fn saved_from(source: &str) -> Option<String> {
    let (_, rest) = source.split_once("<!-- saved from url=(")?;
    let (url, _) = rest.split_once(')')?.1.split_once("-->")?;
    let url = clean_line(url);
    url.starts_with("http").then_some(url)
}

/// A page's own heading is a better title than `<title>` if that adds the site's name.
fn choose_title(title: &str, blocks: &[Block], outside: &[String]) -> String {
    let own = blocks.iter().find_map(|block| match block {
        Block::Heading { level: 1, text } => Some(text.as_str()),
        _ => None,
    });
    // A first-level heading above the content may be the site's name, so a better one is searched there.
    let outside =
        || outside.iter().map(String::as_str).filter(|text| title.contains(text)).max_by_key(|text| text.len());
    match own.filter(|heading| title.is_empty() || title.contains(heading)).or_else(outside) {
        Some(heading) => without_space(heading, title).to_owned(),
        None => title.to_owned(),
    }
}

/// Exported wiki pages write `Space : Page` as their heading and as their title alike.
fn without_space<'t>(heading: &'t str, title: &str) -> &'t str {
    match heading.split_once(" : ") {
        Some((_, page)) if heading == title && !page.trim().is_empty() => page.trim(),
        _ => heading,
    }
}
