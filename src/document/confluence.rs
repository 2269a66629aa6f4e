//! Confluence's own elements (`ac:` and `ri:`) in its storage format.
//!
//! Takes an element, gives its [`Reading`]; plain HTML elements are in `element`.
//! Invariants: a macro's parameters are never page text, except those that readers see (a status, an issue key, the
//! title of a panel); a macro that is not known keeps its body.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::Ordering;
use super::builder::Part;
use super::element::Reading;

/// The reading of an `ac:` or `ri:` element; nothing for any other.
pub(super) fn reading(node: NodeRef<'_, Node>) -> Option<Reading> {
    let element = node.value().as_element()?;
    let name = element.name();
    if let Some(name) = name.strip_prefix("ac:") {
        return Some(match name {
            "structured-macro" | "macro" => macro_reading(node),
            "rich-text-body" | "layout" | "layout-section" | "layout-cell" | "adf-content" | "caption" => {
                Reading::Part(Part::Block)
            }
            "plain-text-body" => Reading::Part(Part::Code),
            "link" => link(node),
            "emoticon" | "hipchat-emoticon" => Reading::Text(emoticon(element)),
            "task-list" => Reading::Part(Part::List(Ordering::Unordered)),
            "task" => Reading::Part(Part::Item),
            "adf-node" => match element.attr("type") {
                Some("decision-list") => Reading::Part(Part::List(Ordering::Unordered)),
                Some("decision-item") => Reading::Part(Part::Item),
                _ => Reading::Content,
            },
            "task-status" => {
                Reading::Text(if own_text(node).trim() == "complete" { "[x] " } else { "[ ] " }.to_owned())
            }
            "parameter" | "default-parameter" | "task-id" | "task-uuid" | "placeholder" | "adf-attribute"
            | "adf-fallback" | "adf-parameter" | "adf-mark" => Reading::Skip,
            _ => Reading::Content,
        });
    }
    if name.starts_with("ri:") {
        return Some(Reading::Skip);
    }
    if name == "time" && own_text(node).trim().is_empty() {
        return element.attr("datetime").map(|date| Reading::Text(date.to_owned()));
    }
    None
}

/// Text of a macro that stands before its body: the title of a panel.
pub(super) fn title_before_body(node: NodeRef<'_, Node>) -> Option<String> {
    let element = node.value().as_element()?;
    let titled = matches!(
        element.attr("ac:name")?,
        "info" | "note" | "warning" | "tip" | "panel" | "expand" | "code" | "noformat" | "ui-expand" | "ui-tab"
    );
    if titled && element.name().ends_with("macro") { parameter(node, "title") } else { None }
}

fn macro_reading(node: NodeRef<'_, Node>) -> Reading {
    let name = node.value().as_element().and_then(|element| element.attr("ac:name")).unwrap_or_default();
    match name {
        "status" => Reading::Text(parameter(node, "title").unwrap_or_default()),
        "jira" => Reading::Text(parameter(node, "key").unwrap_or_default()),
        "anchor" | "toc" | "children" | "style" | "css" | "html" => Reading::Skip,
        _ => Reading::Content,
    }
}

/// What a link shows: its body, else the name of what it points to.
fn link(node: NodeRef<'_, Node>) -> Reading {
    let children = || node.children().filter_map(|child| child.value().as_element());
    if children().any(|child| child.name().ends_with("-body")) {
        return Reading::Content;
    }
    let name = children().find_map(|target| match target.name() {
        "ri:page" | "ri:blog-post" => target.attr("ri:content-title"),
        "ri:attachment" => target.attr("ri:filename"),
        "ri:space" => target.attr("ri:space-key"),
        "ri:user" => target.attr("ri:username"),
        "ri:url" => target.attr("ri:value"),
        _ => None,
    });
    let anchor = || node.value().as_element().and_then(|link| link.attr("ac:anchor"));
    Reading::Text(name.or_else(anchor).unwrap_or_default().to_owned())
}

fn emoticon(element: &Element) -> String {
    let name = element.attr("ac:name").unwrap_or_default();
    let known = match name {
        "tick" => "✓",
        "cross" => "✗",
        "warning" => "⚠",
        "information" => "ℹ",
        "question" => "?",
        "plus" => "+",
        "minus" => "−",
        "light-on" => "💡",
        "yellow-star" | "red-star" | "green-star" | "blue-star" => "★",
        "smile" => "🙂",
        "sad" => "🙁",
        "cheeky" => "😛",
        "laugh" => "😀",
        "wink" => "😉",
        "thumbs-up" => "👍",
        "thumbs-down" => "👎",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let shown = element.attr("ac:emoji-fallback").or_else(|| element.attr("ac:shortcut"));
    shown.map_or_else(|| if name.is_empty() { String::new() } else { format!("({name})") }, ToOwned::to_owned)
}

fn parameter(node: NodeRef<'_, Node>, name: &str) -> Option<String> {
    let is_it = |child: &NodeRef<'_, Node>| {
        let element = child.value().as_element();
        element.is_some_and(|element| element.name() == "ac:parameter" && element.attr("ac:name") == Some(name))
    };
    let text = own_text(node.children().find(is_it)?);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// The text directly inside an element.
fn own_text(node: NodeRef<'_, Node>) -> String {
    node.children().filter_map(|child| child.value().as_text().map(|text| &**text)).collect()
}
