//! HTML and Confluence storage format -> blocks.
//!
//! Takes markup, gives the blocks of the page's main part, its title and what its head says.
//! Invariants: walks the tree without recursion; never fails, whatever the markup.
//! Not here: what single elements mean (`element`, `confluence`), repairs before parsing (`markup`).

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};

use super::builder::{Builder, Opened, Part};
use super::element::{Place, Reading};
use super::markup::{Dialect, prepare};
use super::{Block, Document, confluence, element};
use crate::base::clean_line;

/// Reads a whole saved page.
pub(super) fn read_page(source: &str) -> Document {
    let tree = Html::parse_document(&prepare(source, Dialect::Html));
    let root = tree.tree.root();
    let mut document = read_head(root);
    document.url = document.url.or_else(|| saved_from(source));
    if let Some(main) = main_part(root) {
        document.blocks = blocks_of(main, Place::Main);
    }
    if document.blocks.is_empty() {
        document.blocks = blocks_of(root, Place::Page);
    }
    document.title = choose_title(&document.title, &document.blocks);
    document
}

/// Reads a piece of markup that is all content.
pub(super) fn read_fragment(source: &str, dialect: Dialect) -> Vec<Block> {
    let mut builder = Builder::default();
    feed(source, dialect, &mut builder);
    builder.finish()
}

/// Adds a piece of markup to a document that is being built.
pub(super) fn feed(source: &str, dialect: Dialect, builder: &mut Builder) {
    let tree = Html::parse_fragment(&prepare(source, dialect));
    walk(tree.tree.root(), Place::Main, builder);
}

fn blocks_of(node: NodeRef<'_, Node>, place: Place) -> Vec<Block> {
    let mut builder = Builder::default();
    walk(node, place, &mut builder);
    builder.finish()
}

fn walk(start: NodeRef<'_, Node>, place: Place, builder: &mut Builder) {
    let mut open: Vec<[Option<Opened>; 2]> = Vec::new();
    let mut skipped = None;
    for edge in start.traverse() {
        match edge {
            Edge::Open(node) if skipped.is_none() => match enter(node, place, builder) {
                Some(opened) => open.push(opened),
                None => skipped = Some(node.id()),
            },
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

/// Opens what a node means; nothing where its content is to be skipped.
fn enter(node: NodeRef<'_, Node>, place: Place, builder: &mut Builder) -> Option<[Option<Opened>; 2]> {
    let element = match node.value() {
        Node::Text(text) => {
            builder.text(text);
            return Some([None, None]);
        }
        Node::Element(element) => element,
        _ => return Some([None, None]),
    };
    let reading = confluence::reading(node).unwrap_or_else(|| element::reading(element, place));
    if let Some(title) = confluence::title_before_body(node) {
        let block = builder.open(Part::Block);
        builder.text(&title);
        builder.close(block);
    }
    match reading {
        Reading::Skip => None,
        Reading::Text(text) => {
            builder.text(&text);
            None
        }
        Reading::Break => {
            builder.line_break();
            Some([None, None])
        }
        Reading::Content => Some([None, None]),
        Reading::Part(Part::Row(_)) => Some([Some(builder.open(Part::Row(element::row_section(node)))), None]),
        Reading::Part(part) => Some([Some(builder.open(part)), None]),
        Reading::Parts(outer, inner) => Some([Some(builder.open(outer)), Some(builder.open(inner))]),
    }
}

/// The element that holds what the page is about, where the page says so.
fn main_part(root: NodeRef<'_, Node>) -> Option<NodeRef<'_, Node>> {
    let mut articles = Vec::new();
    let mut content = None;
    for node in root.descendants() {
        let Some(element) = node.value().as_element() else { continue };
        if element.name() == "main" || element.attr("role") == Some("main") {
            return Some(node);
        }
        if element.name() == "article" {
            articles.push(node);
        }
        if content.is_none() && element.attr("id") == Some("main-content") {
            content = Some(node);
        }
    }
    // Several articles are a page of several posts: all of it is content.
    content.or(if articles.len() == 1 { articles.pop() } else { None })
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

/// A page's own heading is a better title than `<title>` where that adds the name of the site.
fn choose_title(title: &str, blocks: &[Block]) -> String {
    let heading = blocks.iter().find_map(|block| match block {
        Block::Heading { level: 1, text } => Some(text.as_str()),
        _ => None,
    });
    match heading {
        Some(heading) if title.is_empty() || title.contains(heading) => heading.to_owned(),
        _ => title.to_owned(),
    }
}
