//! What an element of a markup tree means for the reader of the page.
//!
//! Takes HTML elements, gives a [`Reading`]; Confluence's own elements are in `confluence`.
//! Invariant: never looks further than the element, its attributes and its direct children.

use std::sync::Arc;

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::Ordering;
use super::builder::{CellMarks, Part, Section};

/// What to do with an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Nothing of it is page text.
    Skip,
    /// Only its content counts.
    Content,
    /// A part of the page.
    Part(Part),
    /// Two parts, the second within the first.
    Parts(Part, Part),
    /// This text stands for the element and all its content.
    Text(String),
    /// A line break.
    Break,
}

/// Whether the place is inside the page's main content, where headers and footers belong to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Main,
    Page,
}

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dt",
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
    "head", "nav", "script", "style", "template", "svg", "iframe", "object", "embed", "audio", "video", "canvas",
    "button", "select", "textarea", "datalist", "noscript", "map", "math",
];

/// The reading of an HTML element.
pub(super) fn reading(element: &Element, place: Place) -> Reading {
    let name = element.name();
    if NO_TEXT.contains(&name) || is_hidden(element) || is_frame_of_the_site(element, place) {
        return Reading::Skip;
    }
    match name {
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Reading::Part(Part::Heading(name.as_bytes()[1] - b'0')),
        "ul" | "menu" | "dir" => Reading::Part(Part::List(Ordering::Unordered)),
        "ol" => Reading::Part(Part::List(Ordering::Ordered)),
        "li" => Reading::Part(Part::Item),
        "pre" | "listing" | "xmp" => Reading::Part(Part::Code),
        "b" | "strong" => Reading::Part(Part::Bold),
        "br" => Reading::Break,
        "img" => Reading::Text(alternative(element)),
        "input" => Reading::Text(check_box(element)),
        "table" => Reading::Part(Part::Table),
        "caption" => Reading::Part(Part::Caption),
        "tr" => Reading::Part(Part::Row(Section::Body)),
        "td" | "th" => {
            let cell = Part::Cell(marks(element));
            if is_bold(element) { Reading::Parts(cell, Part::Bold) } else { Reading::Part(cell) }
        }
        _ if BLOCKS.contains(&name) => Reading::Part(Part::Block),
        _ if is_bold(element) => Reading::Part(Part::Bold),
        _ => Reading::Content,
    }
}

/// The row section that a `thead` or `tfoot` around a row means.
pub(super) fn row_section(row: NodeRef<'_, Node>) -> Section {
    let parent = row.parent().and_then(|parent| parent.value().as_element().map(Element::name));
    match parent {
        Some("thead") => Section::Head,
        Some("tfoot") => Section::Foot,
        _ => Section::Body,
    }
}

fn is_hidden(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default();
    element.attr("hidden").is_some()
        || (style.contains("display") && style.replace(' ', "").to_ascii_lowercase().contains("display:none"))
}

fn is_frame_of_the_site(element: &Element, place: Place) -> bool {
    match element.attr("role") {
        Some("navigation" | "search") => return true,
        Some("banner" | "contentinfo" | "complementary") => return place == Place::Page,
        _ => {}
    }
    place == Place::Page && matches!(element.name(), "header" | "footer" | "aside")
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

/// The text that stands for an image: saved wiki pages draw check marks as images. File names say nothing.
fn alternative(image: &Element) -> String {
    let text = image.attr("alt").unwrap_or_default().trim();
    let file = text.rsplit_once('.').is_some_and(|(_, end)| (2..=5).contains(&end.len()) && !end.contains(' '));
    if file { String::new() } else { text.to_owned() }
}

fn check_box(input: &Element) -> String {
    let mark = match (input.attr("type"), input.attr("checked")) {
        (Some("checkbox"), Some(_)) => "[x] ",
        (Some("checkbox"), None) => "[ ] ",
        _ => "",
    };
    mark.to_owned()
}
