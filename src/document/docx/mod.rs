//! Word documents (DOCX).
//!
//! Takes the bytes of a file; gives a [`Document`] with title, date, headings, paragraphs, lists, tables with merged
//! cells, and links. Also kept: numbers of numbered headings; footnotes, endnotes and comments in brackets at their
//! references; text boxes after their paragraph; check boxes as `[x]` and `[ ]`; descriptions of pictures. Not kept:
//! page headers and footers, tables of contents, deleted and hidden text, charts and diagrams.
//! Invariants: as for packages (`package`); the tree is walked without recursion.

mod body;
mod lists;
mod styles;
mod table;
mod text;

#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;

use roxmltree::Node;

use super::Document;
use super::package::{OfficeError, Package, Relation, attribute, child, parse};
use ragonite_base::{CancelToken, clean_line};
use styles::{Numbering, Styles};

/// Notes by id.
type Notes = HashMap<String, String>;

/// The parts that the main part refers to.
#[derive(Debug, Default)]
struct Surroundings {
    styles: Styles,
    footnotes: Notes,
    endnotes: Notes,
    comments: Notes,
    relations: HashMap<String, Relation>,
}

/// Reads a DOCX file. The title is empty without title paragraph and title property.
pub(super) fn read(bytes: &[u8], cancel: &CancelToken) -> Result<Document, OfficeError> {
    let mut package = Package::open(bytes, cancel)?;
    let roots = package.relations("")?;
    let main = roots.values().find(|relation| relation.kind == "officeDocument");
    let main = main.map_or("word/document.xml", |relation| relation.target.as_str()).to_owned();
    let relations = package.relations(&main)?;
    let mut numbering = Numbering::default();
    let mut around = Surroundings::default();
    for relation in relations.values() {
        let name = relation.target.as_str();
        let kind = relation.kind.as_str();
        if !matches!(kind, "styles" | "numbering" | "footnotes" | "endnotes" | "comments") {
            continue;
        }
        let Some(source) = package.text(name)? else { continue };
        let tree = parse(name, &source, cancel)?;
        let root = tree.root_element();
        match kind {
            "styles" => around.styles = Styles::read(root),
            "numbering" => numbering = Numbering::read(root),
            "footnotes" => around.footnotes = read_notes(root),
            "endnotes" => around.endnotes = read_notes(root),
            _ => around.comments = read_notes(root),
        }
    }
    around.relations = relations;
    let mut document = read_properties(&mut package, cancel)?;
    let source = package.needed(&main)?;
    let tree = parse(&main, &source, cancel)?;
    let body = body::read(tree.root_element(), &around, numbering, cancel)?;
    document.blocks = body.blocks;
    document.links = body.links;
    // The visible title is more reliable than properties, which files inherit from templates.
    if let Some(title) = body.title {
        document.title = title;
    }
    Ok(document)
}

/// Title and date from the properties of the file.
fn read_properties(package: &mut Package<'_>, cancel: &CancelToken) -> Result<Document, OfficeError> {
    let mut document = Document::default();
    let Some(source) = package.text("docProps/core.xml")? else { return Ok(document) };
    let tree = parse("docProps/core.xml", &source, cancel)?;
    let value = |name| child(tree.root_element(), name).and_then(|node| node.text()).map(clean_line);
    document.title = value("title").unwrap_or_default();
    document.date = value("modified").or_else(|| value("created")).filter(|date| !date.is_empty());
    Ok(document)
}

fn read_notes(root: Node<'_, '_>) -> Notes {
    let note = |node: Node<'_, '_>| {
        // Separators between text and notes are special notes.
        if attribute(node, "type").is_some_and(|kind| kind != "normal") {
            return None;
        }
        let id = attribute(node, "id")?;
        let text = text::plain(node);
        let text = match attribute(node, "author").map(str::trim).filter(|author| !author.is_empty()) {
            Some(author) => format!("Comment by {author}: {text}"),
            None => text,
        };
        Some((id.to_owned(), text))
    };
    root.children().filter(Node::is_element).filter_map(note).collect()
}
