//! The role of an element of a markup tree.
//!
//! Takes HTML elements, gives an [`ElementRole`]; Confluence's own elements are in `confluence`.
//! Invariant: examines only the element, its attributes and its direct children.

use std::sync::Arc;

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::Ordering;
use super::builder::{CellMarks, Part, Section};
use super::confluence::emoticon;

/// The role of an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ElementRole {
    /// No page text.
    Skip,
    /// Only its content counts.
    Content,
    /// A part of the page.
    Part(Part),
    /// Two parts, the second within the first.
    Parts(Part, Part),
    /// Replaced by this text, with all its content.
    Text(String),
    /// Replaced by this text, as a link.
    Linked { text: String, target: String },
    /// A mark of the item or paragraph that it begins.
    Mark(&'static str),
    /// A text before its content.
    Before(String),
    /// HTML in a text.
    Markup(String),
    /// A line break.
    Break,
}

/// The kind of markup that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageSource {
    /// A fragment that is all content.
    Fragment,
    /// The main part of a saved page, in which headers and footers belong to the text.
    Main,
    /// A saved page without a marked main part.
    Page,
    /// HTML in a macro's text; it holds no further HTML of that kind.
    Quoted,
}

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "blockquote",
    "body",
    "center",
    "details",
    "dialog",
    "div",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "legend",
    "main",
    "p",
    "section",
    "summary",
    "aside",
];
const NO_TEXT: &[&str] = &[
    "head",
    "nav",
    "script",
    "style",
    "template",
    "svg",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "canvas",
    "button",
    "select",
    "textarea",
    "datalist",
    "noscript",
    "map",
    "annotation-xml",
];
/// Attribute of exported wiki pages with the name of an attached file, for pictures and for links drawn as one.
const ATTACHED: &str = "data-linked-resource-default-alias";
/// Maximum of nodes examined in a formula.
const LONGEST_FORMULA: usize = 2_000;
/// Class words of content that a click shows: hidden when the page was saved, but content.
const UNFOLDS: &[&str] = &["expand", "expander", "collaps", "accordion", "tab", "spoiler", "toggle", "details"];

/// The role of an HTML element.
pub(super) fn role_of(node: NodeRef<'_, Node>, element: &Element) -> ElementRole {
    let name = element.name();
    if NO_TEXT.contains(&name) && !is_label(node, element) || is_hidden(element) {
        return ElementRole::Skip;
    }
    match name {
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => ElementRole::Part(Part::Heading(name.as_bytes()[1] - b'0')),
        "ul" | "menu" | "dir" | "dl" => ElementRole::Part(Part::List(Ordering::Unordered)),
        "ol" => ElementRole::Part(match element.attr("start").and_then(|start| start.trim().parse().ok()) {
            None | Some(1) => Part::List(Ordering::Ordered),
            Some(start) => Part::ListFrom(start),
        }),
        "li" => ElementRole::Part(Part::Item),
        "dt" => ElementRole::Part(Part::Term),
        "dd" => ElementRole::Part(Part::Definition),
        "a" => {
            element.attr("href").map_or(ElementRole::Content, |target| ElementRole::Part(Part::Link(target.to_owned())))
        }
        "pre" | "listing" | "xmp" => ElementRole::Part(Part::Code),
        "b" | "strong" => ElementRole::Part(Part::Bold),
        "br" => ElementRole::Break,
        // Empty: the border of struck-out text (`markup`).
        "del" => ElementRole::Text(String::new()),
        "img" => ElementRole::Text(alternative(node, element)),
        "input" => check_box(element),
        "math" => formula(node, element),
        "table" | "tr" | "td" | "th" if is_layout(node) => ElementRole::Part(Part::Block),
        "table" => ElementRole::Part(Part::Table),
        "caption" => ElementRole::Part(Part::Caption),
        "figcaption" if follows_table(node) => ElementRole::Part(Part::Caption),
        "tr" => ElementRole::Part(Part::Row(row_section(node))),
        "td" | "th" => {
            let cell = Part::Cell(marks(element));
            if is_bold(element) { ElementRole::Parts(cell, Part::Bold) } else { ElementRole::Part(cell) }
        }
        _ if BLOCKS.contains(&name) => ElementRole::Part(Part::Block),
        _ if is_bold(element) => ElementRole::Part(Part::Bold),
        _ => ElementRole::Content,
    }
}

/// The row section that a `thead` or `tfoot` around a row means.
fn row_section(row: NodeRef<'_, Node>) -> Section {
    let parent = row.parent().and_then(|parent| parent.value().as_element().map(Element::name));
    match parent {
        Some("thead") => Section::Head,
        Some("tfoot") => Section::Foot,
        _ => Section::Body,
    }
}

/// Whether a figure's caption stands right below a table.
fn follows_table(caption: NodeRef<'_, Node>) -> bool {
    let mut above = caption.prev_siblings().filter_map(|node| node.value().as_element().map(|element| (node, element)));
    let is_table = |node: NodeRef<'_, Node>| node.value().as_element().is_some_and(|inner| inner.name() == "table");
    above.next().is_some_and(|(node, _)| is_table(node) || node.last_child().is_some_and(is_table))
}

/// Whether a table is marked as layout. The table of a cell is at most three levels up.
fn is_layout(node: NodeRef<'_, Node>) -> bool {
    let around = std::iter::once(node).chain(node.ancestors().take(3));
    let table = around.filter_map(|node| node.value().as_element()).find(|element| element.name() == "table");
    table.is_some_and(|table| matches!(table.attr("role"), Some("presentation" | "none")))
}

/// Whether a button is a heading that folds the content below it.
fn is_label(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let parent = node.parent().and_then(|parent| parent.value().as_element().map(Element::name));
    element.name() == "button" && matches!(parent, Some("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "summary" | "dt"))
}

/// A formula as typed by its author, else its characters.
fn formula(node: NodeRef<'_, Node>, element: &Element) -> ElementRole {
    if let Some(text) = element.attr("alttext").filter(|text| !text.trim().is_empty()) {
        return ElementRole::Text(text.to_owned());
    }
    let typed = node.descendants().take(LONGEST_FORMULA).find(|inner| {
        let inner = inner.value().as_element();
        inner.is_some_and(|inner| inner.name() == "annotation" && inner.attr("encoding") == Some("application/x-tex"))
    });
    let text = typed.map(own_text).filter(|text| !text.trim().is_empty());
    text.map_or(ElementRole::Content, ElementRole::Text)
}

/// The text directly inside an element.
pub(super) fn own_text(node: NodeRef<'_, Node>) -> String {
    node.children().filter_map(|child| child.value().as_text().map(|text| &**text)).collect()
}

fn is_hidden(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default();
    let hidden = element.attr("hidden").is_some()
        || (style.contains("display") && style.replace(' ', "").to_ascii_lowercase().contains("display:none"));
    hidden && !unfolds(element)
}

fn unfolds(element: &Element) -> bool {
    let class = element.attr("class").unwrap_or_default().to_ascii_lowercase();
    let words = class.split(|c: char| !c.is_ascii_alphanumeric());
    let opens = |word: &str| UNFOLDS.iter().any(|start| word.starts_with(start)) && !word.starts_with("table");
    element.attr("role") == Some("tabpanel")
        || element.attr("hidden") == Some("until-found")
        || words.into_iter().any(opens)
}

fn is_bold(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default();
    style.contains("font-weight") && {
        let style = style.replace(' ', "").to_ascii_lowercase();
        ["font-weight:bold", "font-weight:6", "font-weight:7", "font-weight:8"].iter().any(|bold| style.contains(bold))
    }
}

fn marks(cell: &Element) -> CellMarks {
    let span = |name: &str| cell.attr(name).and_then(|text| text.trim().parse().ok()).unwrap_or(1);
    let style = cell.attr("style").unwrap_or_default();
    let background = style
        .split(';')
        .filter_map(|rule| rule.split_once(':'))
        .find(|(property, _)| matches!(property.trim(), "background-color" | "background"))
        .map(|(_, value)| value.trim());
    let shade = cell.attr("data-highlight-colour").or_else(|| cell.attr("bgcolor")).or(background);
    CellMarks {
        header: cell.name() == "th",
        shade: shade.filter(|shade| !matches!(*shade, "" | "transparent" | "inherit" | "none")).map(Arc::from),
        columns: span("colspan"),
        rows: match span("rowspan") {
            // HTML: zero reaches to the end of the table section.
            0 => usize::MAX,
            rows => rows,
        },
    }
}

/// The text of an image: saved wiki pages draw check marks as images. File names are ignored, except those of attached
/// pictures and documents in a wiki.
fn alternative(node: NodeRef<'_, Node>, image: &Element) -> String {
    let class = image.attr("class").unwrap_or_default();
    if let Some(name) = class.split_ascii_whitespace().find_map(|class| class.strip_prefix("emoticon-"))
        && let Some(sign) = emoticon(name)
    {
        return sign.to_owned();
    }
    let text = image.attr("alt").unwrap_or_default().trim();
    let file = text.rsplit_once('.').is_some_and(|(_, end)| (2..=5).contains(&end.len()) && !end.contains(' '));
    if !file && !text.is_empty() {
        return text.to_owned();
    }
    let around = node.parent().and_then(|parent| parent.value().as_element());
    let attached = [Some(image), around].into_iter().flatten().find_map(|element| element.attr(ATTACHED));
    attached.map(str::trim).unwrap_or_default().to_owned()
}

fn check_box(input: &Element) -> ElementRole {
    match (input.attr("type"), input.attr("checked")) {
        (Some("checkbox"), Some(_)) => ElementRole::Mark("[x]"),
        (Some("checkbox"), None) => ElementRole::Mark("[ ]"),
        _ => ElementRole::Skip,
    }
}

/// The state of a task, which saved wiki pages encode in the class of its item.
pub(super) fn task_state(node: NodeRef<'_, Node>) -> Option<&'static str> {
    let item = node.value().as_element().filter(|item| item.attr("data-inline-task-id").is_some())?;
    let done = item.attr("class").unwrap_or_default().split_ascii_whitespace().any(|class| class == "checked");
    Some(if done { "[x]" } else { "[ ]" })
}
