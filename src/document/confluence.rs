//! Confluence's own elements (`ac:` and `ri:`) in its storage format.
//!
//! Takes an element, gives its [`ElementRole`]; plain HTML elements are in `element`.
//! Invariants: a macro's parameters are never page text, except those that readers see (a status, an issue key, a panel
//! title, a file name); an unknown macro keeps its body; only the element's children and grandchildren are examined.

use std::collections::HashMap;

use ego_tree::{NodeId, NodeRef};
use scraper::Node;
use scraper::node::Element;

use super::Ordering;
use super::builder::Part;
use super::element::{ElementRole, own_text};

/// Parameters with the visible text of a macro without a body.
const SHOWN: &[&str] = &["title", "text", "label", "heading", "caption", "content", "message", "description", "body"];

/// Shown for a person without a known name.
const SOMEBODY: &str = "@user";

/// Cache of the extensions of a page, and whether they show content without their fallbacks.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    speak: HashMap<NodeId, bool>,
}

impl Extensions {
    /// Whether the extension around a fallback shows content. Computed once per extension.
    fn speaks_for(&mut self, fallback: NodeRef<'_, Node>) -> bool {
        let Some(extension) = fallback.parent() else { return false };
        *self.speak.entry(extension.id()).or_insert_with(|| {
            let nodes = extension.children().filter(|node| named_child(*node, "adf-node"));
            let mut parts = nodes.flat_map(|node| node.children());
            parts.any(|part| named_child(part, "adf-content") || named_child(part, "adf-node"))
        })
    }
}

/// The role of an `ac:`, `ri:` or `at:` element; none for any other.
pub(super) fn reading(node: NodeRef<'_, Node>, extensions: &mut Extensions) -> Option<ElementRole> {
    let element = node.value().as_element()?;
    let name = element.name();
    if let Some(name) = name.strip_prefix("ac:") {
        return Some(match name {
            "structured-macro" | "macro" => macro_reading(node),
            "rich-text-body" | "layout" | "layout-section" | "layout-cell" | "adf-content" | "caption" => {
                ElementRole::Part(Part::Block)
            }
            "plain-text-body" => ElementRole::Part(Part::Code),
            "link" => link(node),
            "image" => ElementRole::Before(picture_name(node, element)),
            "emoticon" | "hipchat-emoticon" => ElementRole::Text(sign(element)),
            "task-list" => ElementRole::Part(Part::List(Ordering::Unordered)),
            "task" => ElementRole::Part(Part::Item),
            "adf-node" => match element.attr("type") {
                Some("decision-list") => ElementRole::Part(Part::List(Ordering::Unordered)),
                Some("decision-item") => ElementRole::Part(Part::Item),
                _ => ElementRole::Content,
            },
            "adf-fallback" if !extensions.speaks_for(node) => ElementRole::Part(Part::Block),
            "task-status" => ElementRole::Mark(if own_text(node).trim() == "complete" { "[x]" } else { "[ ]" }),
            "parameter" | "default-parameter" | "task-id" | "task-uuid" | "placeholder" | "adf-attribute"
            | "adf-fallback" | "adf-parameter" | "adf-mark" => ElementRole::Skip,
            _ => ElementRole::Content,
        });
    }
    if name.starts_with("ri:") || name.starts_with("at:") {
        return Some(ElementRole::Skip);
    }
    if name == "time" && own_text(node).trim().is_empty() {
        return element.attr("datetime").map(|date| ElementRole::Text(date.to_owned()));
    }
    None
}

/// A macro's text above its body: the title of a panel.
pub(super) fn title_before_body(node: NodeRef<'_, Node>) -> Option<String> {
    let element = node.value().as_element()?;
    if !element.name().ends_with("macro") {
        return None;
    }
    match element.attr("ac:name")? {
        "status" => None,
        _ => has_body(node).then(|| parameter(node, "title")).flatten(),
    }
}

/// Whether a macro that is only a text is a block of its own, not a word in a line.
pub(super) fn stands_alone(node: NodeRef<'_, Node>) -> bool {
    let Some(element) = node.value().as_element().filter(|element| element.name().ends_with("macro")) else {
        return false;
    };
    let name = element.attr("ac:name").unwrap_or_default();
    let in_line = matches!(name, "status" | "jira" | "jiraissues" | "profile" | "mention") || name.contains("inline");
    !in_line && !has_body(node)
}

fn macro_reading(node: NodeRef<'_, Node>) -> ElementRole {
    let name = node.value().as_element().and_then(|element| element.attr("ac:name")).unwrap_or_default();
    match name {
        "status" => ElementRole::Text(parameter(node, "title").unwrap_or_default()),
        "jira" | "jiraissues" => match parameter(node, "key") {
            Some(key) => ElementRole::Linked { text: key.clone(), target: key },
            None => ElementRole::Text(parameter(node, "jqlQuery").unwrap_or_default()),
        },
        "style" | "css" | "toc" | "children" | "anchor" => ElementRole::Skip,
        "html" => body_text(node).map_or(ElementRole::Skip, ElementRole::Markup),
        "mathinline" | "mathblock" | "mathinline-macro" | "latex" | "latex-formatting" | "eazy-math-inline" => {
            let formula = parameter(node, "body").or_else(|| parameter(node, "equation"));
            formula.map_or(ElementRole::Content, ElementRole::Text)
        }
        _ if has_body(node) => ElementRole::Content,
        _ => named(node),
    }
}

/// A macro without a body: its page, file or URL, else a text among its parameters.
fn named(node: NodeRef<'_, Node>) -> ElementRole {
    let parameters = || node.children().filter(|child| named_child(*child, "parameter"));
    for resource in
        parameters().flat_map(|parameter| parameter.children().chain(parameter.children().flat_map(|c| c.children())))
    {
        let Some(element) = resource.value().as_element().filter(|element| element.name() != "ri:space") else {
            continue;
        };
        if let Some(name) = resource_name(element) {
            return ElementRole::Linked { text: name.clone(), target: target_of(element).unwrap_or(name) };
        }
    }
    let is_include = node.value().as_element().is_some_and(|element| {
        matches!(
            element.attr("ac:name"),
            Some("include" | "excerpt-include" | "viewpdf" | "viewdoc" | "viewxls" | "viewppt")
        )
    });
    let included =
        is_include.then(|| ["", "name", "page", "pageTitle"].iter().find_map(|key| parameter(node, key))).flatten();
    if let Some(name) = included.or_else(|| if is_include { default_parameter(node) } else { None }) {
        return ElementRole::Linked { text: name.clone(), target: name };
    }
    ElementRole::Text(SHOWN.iter().find_map(|key| parameter(node, key)).unwrap_or_default())
}

/// A link's text: its body, else its target's name.
fn link(node: NodeRef<'_, Node>) -> ElementRole {
    let children = || node.children().filter_map(|child| child.value().as_element());
    let target = children().find_map(target_of);
    let says_something = |body: NodeRef<'_, Node>| {
        let named = body.value().as_element().is_some_and(|body| body.name().ends_with("-body"));
        named && body.children().any(|child| child.value().as_text().is_none_or(|text| !text.trim().is_empty()))
    };
    if node.children().any(says_something) {
        return target.map_or(ElementRole::Content, |target| ElementRole::Part(Part::Link(target)));
    }
    let anchor = || node.value().as_element().and_then(|link| link.attr("ac:anchor")).map(ToOwned::to_owned);
    let text = children().find_map(resource_name).or_else(anchor).unwrap_or_default();
    match target {
        Some(target) => ElementRole::Linked { text, target },
        None => ElementRole::Text(text),
    }
}

/// A picture's name: its text, its title, else its file.
fn picture_name(node: NodeRef<'_, Node>, image: &Element) -> String {
    let said = ["ac:alt", "ac:title"].into_iter().filter_map(|name| image.attr(name));
    if let Some(text) = said.map(str::trim).find(|text| !text.is_empty()) {
        return text.to_owned();
    }
    let sources = node.children().filter_map(|child| child.value().as_element());
    let file = sources.filter_map(|source| match source.name() {
        "ri:url" => source.attr("ri:value").map(file_of),
        _ => source.attr("ri:filename"),
    });
    file.map(str::trim).find(|name| !name.is_empty()).unwrap_or_default().to_owned()
}

/// The last path component of a URL.
fn file_of(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// The visible name of a page, file, person or URL.
fn resource_name(resource: &Element) -> Option<String> {
    let name = match resource.name() {
        "ri:page" | "ri:blog-post" => resource.attr("ri:content-title"),
        "ri:attachment" => resource.attr("ri:filename"),
        "ri:space" => resource.attr("ri:space-key"),
        "ri:user" => return Some(person(resource)),
        "ri:url" => resource.attr("ri:value"),
        "ri:shortcut" => resource.attr("ri:parameter"),
        _ => None,
    };
    name.filter(|name| !name.trim().is_empty()).map(ToOwned::to_owned)
}

/// The text of a mention. Most pages name people by keys, which mean nothing to a reader.
fn person(user: &Element) -> String {
    let name = user.attr("ri:username").map(str::trim).filter(|name| !name.is_empty());
    name.unwrap_or(SOMEBODY).to_owned()
}

/// The target of a resource: a page, with the key of its space if it is another one.
fn target_of(resource: &Element) -> Option<String> {
    let name = resource_name(resource);
    match resource.name() {
        "ri:page" | "ri:blog-post" => match (resource.attr("ri:space-key"), name) {
            (Some(space), Some(page)) => Some(format!("{space}:{page}")),
            (_, page) => page,
        },
        "ri:shortcut" => Some(format!("{}@{}", name?, resource.attr("ri:key")?)),
        "ri:content-entity" => resource.attr("ri:content-id").map(ToOwned::to_owned),
        "ri:user" => {
            let keys = ["ri:username", "ri:account-id", "ri:userkey"].into_iter().filter_map(|key| resource.attr(key));
            keys.map(str::trim).find(|key| !key.is_empty()).map(ToOwned::to_owned)
        }
        _ => name,
    }
}

/// The character of an emoticon, if it has one.
pub(super) fn emoticon(name: &str) -> Option<&'static str> {
    Some(match name {
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
        _ => return None,
    })
}

/// The text of an emoticon element. Newer pages name every emoji `blue-star` and have the right one beside it.
fn sign(element: &Element) -> String {
    let name = element.attr("ac:name").unwrap_or_default();
    let fallback = element.attr("ac:emoji-fallback").unwrap_or_default().trim();
    if !fallback.is_ascii() {
        return fallback.to_owned();
    }
    if let Some(known) = emoticon(name).filter(|_| fallback.is_empty() || name != "blue-star") {
        return known.to_owned();
    }
    let words = [
        fallback,
        element.attr("ac:shortcut").unwrap_or_default(),
        element.attr("ac:emoji-shortname").unwrap_or_default(),
    ];
    let shown = words.into_iter().find(|text| !text.trim().is_empty());
    shown.map_or_else(|| if name.is_empty() { String::new() } else { format!("({name})") }, ToOwned::to_owned)
}

fn has_body(node: NodeRef<'_, Node>) -> bool {
    node.children().any(|child| named_child(child, "rich-text-body") || named_child(child, "plain-text-body"))
}

fn body_text(node: NodeRef<'_, Node>) -> Option<String> {
    node.children().find(|child| named_child(*child, "plain-text-body")).map(own_text)
}

/// Whether a node is the `ac:` element of that name.
fn named_child(node: NodeRef<'_, Node>, name: &str) -> bool {
    node.value().as_element().is_some_and(|element| element.name().strip_prefix("ac:") == Some(name))
}

fn parameter(node: NodeRef<'_, Node>, name: &str) -> Option<String> {
    let is_it = |child: &NodeRef<'_, Node>| {
        let key = child.value().as_element().and_then(|element| element.attr("ac:name")).unwrap_or_default();
        named_child(*child, "parameter") && key == name
    };
    one_line(&own_text(node.children().find(is_it)?))
}

/// The only parameter of old macros.
fn default_parameter(node: NodeRef<'_, Node>) -> Option<String> {
    one_line(&own_text(node.children().find(|child| named_child(*child, "default-parameter"))?))
}

fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::super::Document;
    use super::super::html;
    use super::super::markup::Dialect;
    use ragonite_base::CancelToken;

    fn read(storage: &str) -> Document {
        html::read_fragment(storage, Dialect::Storage, &CancelToken::never())
    }

    fn texts(storage: &str) -> Vec<Block> {
        html::read_fragment(storage, Dialect::Storage, &CancelToken::never()).blocks
    }

    #[test]
    fn a_picture_is_called_by_its_text_its_title_or_its_file() {
        let picture = |attributes: &str, source: &str| {
            let storage = format!("<p>see<ac:image {attributes}>{source}</ac:image>here</p>");
            match texts(&storage).as_slice() {
                [Block::Text(text)] => text.clone(),
                other => format!("{other:?}"),
            }
        };
        let file = "<ri:attachment ri:filename=\"plan b.png\" />";
        assert_eq!(picture("ac:alt=\"The plan\" ac:title=\"t\"", file), "see The plan here");
        assert_eq!(picture("ac:alt=\"\" ac:title=\"A title\"", file), "see A title here");
        assert_eq!(picture("", file), "see plan b.png here");
        let elsewhere = "<ri:attachment ri:filename=\"x.png\"><ri:page ri:content-title=\"Other\" /></ri:attachment>";
        assert_eq!(picture("", elsewhere), "see x.png here");
        let address = "<ri:url ri:value=\"https://pics.example/a/gate.jpg?size=2#x\" />";
        assert_eq!(picture("ac:width=\"300\"", address), "see gate.jpg here");
        assert_eq!(picture("", ""), "see here");
    }

    #[test]
    fn somebody_without_a_name_is_still_somebody() {
        for key in ["ri:userkey=\"8a7f\"", "ri:account-id=\"557058:f5\"", ""] {
            let storage = format!("<p>ask<ac:link><ri:user {key} /></ac:link>first</p>");
            assert_eq!(texts(&storage), [Block::Text("ask @user first".into())]);
        }
        let macro_of_one = "<ac:structured-macro ac:name=\"profile\"><ac:parameter ac:name=\"user\">\
                            <ri:user ri:userkey=\"8a7f\" /></ac:parameter></ac:structured-macro>";
        assert_eq!(texts(&format!("<p>by {macro_of_one}, today</p>")), [Block::Text("by @user, today".into())]);
    }

    #[test]
    fn an_extension_with_very_many_fallbacks_is_looked_at_once() {
        // Looking at all parts for each fallback would not end in an hour.
        let silent =
            format!("<ac:adf-extension>{}</ac:adf-extension>", "<ac:adf-fallback>a</ac:adf-fallback>".repeat(100_000));
        assert_eq!(read(&silent).blocks.len(), 100_000);
        let speaks = "<ac:adf-extension><ac:adf-fallback>a</ac:adf-fallback><ac:adf-node>\
                      <ac:adf-content>b</ac:adf-content></ac:adf-node><ac:adf-fallback>a</ac:adf-fallback></ac:adf-extension>";
        assert_eq!(read(speaks).blocks, [Block::Text("b".into())]);
    }
}
