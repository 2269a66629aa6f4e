//! Confluence spaces exported as HTML: an index page, a file per page, and attachments.
//!
//! Takes the archive; gives a document per page, then one per attachment that is a document. A page from an unpacked
//! archive reads the same.
//! Invariants: the index is not a document; additions of the export (space before the title, breadcrumbs, author,
//! attachments, comments) become title, ancestors, date and blocks, never content.
//! Not here: reading pages (`html`).

use std::collections::HashMap;
use std::ops::ControlFlow;

use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Node};

use super::archive::{Archive, Entry, Names};
use super::format::Format;
use super::markup::Dialect;
use super::reader::{DocumentReader, Inherited, Place};
use super::{Block, Document, DocumentError, encoding, html, tree};
use ragonite_base::{CancelToken, clean_line};

const INDEX: &str = "index.html";

/// Separator between space and page title.
const AFTER_SPACE: &str = " : ";

/// Elements between two checks for cancellation.
const STEP: usize = 1_024;

/// Maximum of pages above a page.
const DEEPEST_HIERARCHY: usize = 64;

/// Whether an `index.html` is that of an export.
pub(super) fn is_index(start: &[u8]) -> bool {
    encoding::decode_start(start).is_some_and(|text| {
        text.contains("confluence") || text.contains("Confluence") || text.contains("id=\"space-details\"")
    })
}

/// Reads an export.
pub(super) fn read(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    mut archive: Archive,
) -> Result<ControlFlow<()>, DocumentError> {
    let Some(index) = archive.find(INDEX).cloned() else { return archive.read(walk, place) };
    let folder = index.name.strip_suffix(INDEX).unwrap_or_default().to_owned();
    let bytes = archive.bytes(&index, &place.member(&index.name), &mut walk.budget)?;
    let mut pages = Vec::new();
    let mut files = Vec::new();
    for entry in std::mem::take(&mut archive.entries) {
        let Some(name) = entry.name.strip_prefix(&folder).map(ToOwned::to_owned) else { continue };
        if !name.contains('/') && has_ending_of_page(&name) && name != INDEX {
            pages.push((name, entry));
        } else if name.starts_with("attachments/") {
            files.push((name, entry));
        }
    }
    let index = Index::read(&encoding::decode(&bytes).unwrap_or_default(), &walk.cancel);
    let mut export = Export { walk, place, archive, index, attached: HashMap::new(), names: Names::default() };
    for (name, entry) in pages {
        if export.page(&name, &entry)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    for (name, entry) in files {
        if export.file(&name, &entry)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

struct Export<'a, 'v> {
    walk: &'a mut DocumentReader<'v>,
    place: &'a Place<'a>,
    archive: Archive,
    index: Index,
    /// Path of an attached file -> its name and the metadata of its page.
    attached: HashMap<String, (String, Inherited)>,
    names: Names,
}

impl Export<'_, '_> {
    fn page(&mut self, name: &str, entry: &Entry) -> Result<ControlFlow<()>, DocumentError> {
        self.walk.take_member(self.place)?;
        let member = self.place.member(&entry.name);
        let page = self.archive.bytes(entry, &member, &mut self.walk.budget).and_then(|bytes| {
            let text = encoding::decode(&bytes);
            let text = text.ok_or_else(|| member.refused("binary data, whatever its name says", "export it again"))?;
            Ok(Page::read(&text, &self.index, name, &self.walk.cancel))
        });
        let document = page.map(|page| {
            let mut ancestors = page.document.ancestors.clone();
            ancestors.push(page.document.title.clone());
            let within = Inherited { space: page.document.space.clone(), ancestors };
            let files = page.attachments.into_iter().map(|file| (file.path, (file.name, within.clone())));
            self.attached.extend(files);
            page.document
        });
        Ok(self.walk.emit(&member, document))
    }

    /// Emits an attached file if it is a document; other files are named by their page.
    fn file(&mut self, path: &str, entry: &Entry) -> Result<ControlFlow<()>, DocumentError> {
        self.walk.take_member(self.place)?;
        let (name, within) = self.attached.remove(path).unwrap_or_default();
        let folder = entry.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = if name.is_empty() { entry.name.clone() } else { format!("{folder}/{name}") };
        let member = self.place.member(&self.names.unique(&name));
        Ok(match self.archive.bytes(entry, &member, &mut self.walk.budget) {
            Ok(bytes) if Format::of(&member.own_name(), &bytes).is_err() => ControlFlow::Continue(()),
            Ok(bytes) => {
                self.walk.within = within;
                let flow = self.walk.member(&member, bytes);
                self.walk.within = Inherited::default();
                flow
            }
            Err(error) => self.walk.emit(&member, Err(error)),
        })
    }
}

/// Reads a page of an unpacked export.
pub(super) fn read_page(place: &Place<'_>, text: &str, cancel: &CancelToken) -> Result<Document, DocumentError> {
    let name = place.own_name();
    if name.file_name().is_some_and(|name| name == INDEX) {
        return Err(place.refused("the index of an exported space", "its pages are read, it needs no reading itself"));
    }
    Ok(Page::read(text, &Index::default(), "", cancel).document)
}

fn has_ending_of_page(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"))
}

/// The index's information about the space and its pages. Each title is held once.
#[derive(Debug, Default)]
struct Index {
    space: Option<String>,
    items: Vec<Item>,
    /// Page file -> item that links to it.
    files: HashMap<String, usize>,
}

/// An item of the lists of pages.
#[derive(Debug)]
struct Item {
    title: Option<String>,
    /// The enclosing item.
    above: Option<usize>,
}

impl Index {
    fn read(text: &str, cancel: &CancelToken) -> Self {
        let tree = tree::of_page(text, cancel);
        let root = tree.tree.root();
        let mut index = Self { space: space_name(root), ..Self::default() };
        let mut numbers: HashMap<NodeId, usize> = HashMap::new();
        for (step, node) in elements(root, |element| matches!(element.name(), "li" | "a")).enumerate() {
            // The path between an element and its item may be deep.
            if step.is_multiple_of(STEP) && cancel.is_canceled() {
                break;
            }
            let around = node.ancestors().find(|node| is(*node, "li"));
            let above = around.and_then(|item| numbers.get(&item.id()).copied());
            if is(node, "li") {
                numbers.insert(node.id(), index.items.len());
                index.items.push(Item { title: first_link(node), above });
            } else if let Some(file) = node.value().as_element().and_then(|link| link.attr("href"))
                && let Some(item) = above
            {
                index.files.entry(file.to_owned()).or_insert(item);
            }
        }
        index
    }

    /// Titles of the pages above, outermost first: the items around the page's own.
    fn ancestors(&self, file: &str) -> Vec<String> {
        let above = |number: usize| self.items.get(number).and_then(|item| item.above);
        let first = self.files.get(file).and_then(|own| above(*own));
        let around = std::iter::successors(first, |number| above(*number)).take(DEEPEST_HIERARCHY);
        let mut titles: Vec<String> = around.filter_map(|number| self.items.get(number)?.title.clone()).collect();
        titles.reverse();
        titles
    }
}

/// The space's name, from the details table.
fn space_name(root: NodeRef<'_, Node>) -> Option<String> {
    let mut rows = elements(root, |element| element.name() == "tr");
    rows.find_map(|row| {
        let mut cells = row.children().filter(|cell| is(*cell, "th") || is(*cell, "td")).map(text_of);
        (cells.next()? == "Name").then(|| cells.next()).flatten()
    })
}

fn first_link(item: NodeRef<'_, Node>) -> Option<String> {
    item.children().find(|child| is(*child, "a")).map(text_of)
}

/// A page as exported.
struct Page {
    document: Document,
    attachments: Vec<Attachment>,
}

struct Attachment {
    /// Its path in the export.
    path: String,
    name: String,
}

impl Page {
    fn read(text: &str, index: &Index, file: &str, cancel: &CancelToken) -> Self {
        let mut document = html::read_page(text, cancel);
        let tree = tree::of_page(text, cancel);
        let root = tree.tree.root();
        let crumbs: Vec<String> = by_id(root, "breadcrumbs")
            .map(|list| list.descendants().filter(|node| is(*node, "li")).map(text_of).collect())
            .unwrap_or_default();
        document.space = crumbs.first().cloned().or_else(|| index.space.clone());
        document.ancestors = match crumbs.get(1..) {
            Some(above) => above.to_vec(),
            None => index.ancestors(file),
        };
        let shown = by_id(root, "title-text").map(text_of).filter(|title| !title.is_empty());
        let shown = shown.unwrap_or_else(|| document.title.clone());
        let title = document.space.as_ref().and_then(|space| shown.strip_prefix(space)?.strip_prefix(AFTER_SPACE));
        title.unwrap_or(&shown).clone_into(&mut document.title);
        let made = elements(root, |element| has_class(element, "page-metadata")).next().map(text_of);
        let made = made.filter(|made| !made.is_empty());
        document.date = made.as_deref().and_then(date_in).or(document.date);
        let attachments = attachments(root);
        let names: Vec<&str> = attachments.iter().map(|file| file.name.as_str()).collect();
        // A page without content is reported as such, whoever made it.
        let made = made.filter(|_| !document.blocks.is_empty());
        let about = about(&document.title, made, &names);
        document.blocks.extend(about);
        document.blocks.append(&mut comments(root, cancel));
        Self { document, attachments }
    }
}

/// Metadata of a page, as blocks under the title.
pub(super) fn about(title: &str, made: Option<String>, attached: &[&str]) -> Vec<Block> {
    let attached = (!attached.is_empty()).then(|| format!("Attachments: {}", attached.join(", ")));
    let mut blocks: Vec<Block> = made.into_iter().chain(attached).map(Block::Text).collect();
    if !blocks.is_empty() && !title.is_empty() {
        blocks.insert(0, Block::Heading { level: 1, text: title.to_owned() });
    }
    blocks
}

/// The date in `Created by A, last modified by B on Oct 21, 2020`, in the language of the space.
fn date_in(made: &str) -> Option<String> {
    let at = [" on ", " am ", " le ", " el "].iter().filter_map(|word| Some(made.rfind(word)? + word.len())).max()?;
    let date = made[at..].trim();
    date.contains(|c: char| c.is_ascii_digit()).then(|| date.to_owned())
}

fn attachments(root: NodeRef<'_, Node>) -> Vec<Attachment> {
    let Some(section) = section(root, "attachments") else { return Vec::new() };
    let links = section.descendants().filter(|node| is(*node, "a"));
    let files = links.filter_map(|link| {
        let path = link.value().as_element()?.attr("href")?.to_owned();
        Some(Attachment { path, name: text_of(link).replace('/', "_") })
    });
    files.filter(|file| !file.name.is_empty()).collect()
}

fn comments(root: NodeRef<'_, Node>, cancel: &CancelToken) -> Vec<Block> {
    let Some(section) = section(root, "comments") else { return Vec::new() };
    let mut blocks = Vec::new();
    let cells = section.descendants().filter(|node| is(*node, "td"));
    // A comment may hold a table of its own.
    let outermost =
        cells.filter(|cell| !cell.ancestors().take_while(|node| node.id() != section.id()).any(|node| is(node, "td")));
    for cell in outermost.filter_map(ElementRef::wrap).take_while(|_| !cancel.is_canceled()) {
        blocks.append(&mut html::read_fragment(&cell.inner_html(), Dialect::Html, cancel).blocks);
    }
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading { level: 1, text: "Comments".to_owned() });
    }
    blocks
}

/// The section below a heading of the export.
fn section<'a>(root: NodeRef<'a, Node>, id: &str) -> Option<NodeRef<'a, Node>> {
    // The page's own headings may have the same id.
    let headings = elements(root, |element| element.attr("id") == Some(id) && has_class(element, "pageSectionTitle"));
    headings.last()?.ancestors().find(|node| node.value().as_element().is_some_and(|e| has_class(e, "pageSection")))
}

fn elements(root: NodeRef<'_, Node>, accept: impl Fn(&Element) -> bool) -> impl Iterator<Item = NodeRef<'_, Node>> {
    root.descendants().filter(move |node| node.value().as_element().is_some_and(&accept))
}

fn by_id<'a>(root: NodeRef<'a, Node>, id: &str) -> Option<NodeRef<'a, Node>> {
    elements(root, |element| element.attr("id") == Some(id)).next()
}

fn has_class(element: &Element, class: &str) -> bool {
    element.attr("class").is_some_and(|classes| classes.split_whitespace().any(|one| one == class))
}

fn is(node: NodeRef<'_, Node>, name: &str) -> bool {
    node.value().as_element().is_some_and(|element| element.name() == name)
}

fn text_of(node: NodeRef<'_, Node>) -> String {
    let text: String = node.descendants().filter_map(|node| node.value().as_text().map(|text| &**text)).collect();
    clean_line(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_gives_the_titles_above_each_page() {
        let source = "<ul><li><a href=1.html>One</a><ul><li><a href=2.html>Two</a><a href=2b.html>Twin</a><ul><li>\
             <a href=3.html>Three</a></ul><li>no link<ul><li><a href=4.html>Four</a></ul></ul></ul>\
             <a href=5.html>Five</a>";
        let index = Index::read(source, &CancelToken::never());
        assert_eq!(index.ancestors("3.html"), ["One", "Two"]);
        assert_eq!(index.ancestors("2b.html"), ["One"]);
        assert_eq!(index.ancestors("4.html"), ["One"]);
        assert_eq!(index.ancestors("1.html").len() + index.ancestors("5.html").len(), 0);
    }

    #[test]
    fn an_item_around_very_many_links_is_searched_once() {
        // Searching its children for each of the links would not end in an hour.
        let lists: String = (0..100_000).map(|n| format!("<ul><li><a href={n}>{n}</a></ul>")).collect();
        let index = Index::read(&format!("<ul><li>{lists}<a href=last>All</a></ul>"), &CancelToken::never());
        assert_eq!((index.items.len(), index.ancestors("99999")), (100_001, vec!["All".to_owned()]));
    }
}
