//! Repairs source markup so that an HTML parser reads it as its author meant it.
//!
//! Takes HTML or Confluence storage format, gives HTML. An HTML parser would cut CDATA at the first `>`, treat
//! self-closing elements as open ones that swallow what follows, and close a paragraph at a block inside a macro.
//! Invariants: one pass, linear in the input; elements nest at most [`DEEPEST`] deep, since tree building costs time by
//! depth; a tree has at most [`MOST_ELEMENTS`], since it costs memory; text is never dropped; scripts, styles and tags
//! that only change the look are.
//! Not here: building the tree (`tree`).

use ragonite_base::CancelToken;

/// Maximum depth; deeper elements lose their tags, never their text. Browsers stop at a similar depth.
const DEEPEST: usize = 400;

const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that HTML closes implicitly, so that an open one says nothing about depth.
const SELF_ENDING: &[&str] =
    &["a", "p", "li", "td", "th", "tr", "thead", "tbody", "tfoot", "dt", "dd", "option", "colgroup", "caption"];
/// Self-closing forms of these elements are meant as empty elements.
const EXPANDED: &[&str] = &["a", "b", "strong", "span", "sub", "sup", "script", "style", "iframe"];
/// Elements whose markup is ignored. An HTML parser reopens unclosed ones in every paragraph.
const PLAIN: &[&str] = &["font", "i", "em", "u", "small", "big", "tt", "nobr", "code", "ins", "kbd", "samp", "var"];
/// Struck-out text must not touch its replacement, so an empty element marks where it begins and ends.
const STRUCK: &[&str] = &["del", "s", "strike"];
/// Bold elements are reopened in the same way, so fewer of them are kept.
const BOLD: &[&str] = &["b", "strong"];
/// Elements whose content is not page text.
const DROPPED: &[&str] = &["script", "style", "iframe", "noembed", "noframes"];
/// Elements in whose content tags are text.
const RAW: &[&str] = &["title", "textarea", "xmp"];

/// Maximum depth of bold elements; deeper ones add nothing.
const DEEPEST_BOLD: usize = 2;
/// Maximum of elements in the tree, at some 150 bytes each: a table of 50,000 rows and 40 columns. Further tags only
/// separate words.
const MOST_ELEMENTS: usize = 2_500_000;

/// Tags between two checks for cancellation.
const STEP: usize = 4_096;

/// The rules of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// HTML as browsers read it.
    Html,
    /// Confluence storage format: XML, in which every element is closed and any may close itself.
    Storage,
}

/// Rewrites the source for the HTML parser; a prefix of it if cancelled.
pub(super) fn prepare(source: &str, dialect: Dialect, cancel: &CancelToken) -> String {
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let mut limits =
        Limits { all: Depth::new(DEEPEST), bold: Depth::new(DEEPEST_BOLD), links: 0, elements: MOST_ELEMENTS };
    let mut rest = source;
    let mut tags = 0_usize;
    while let Some(at) = rest.find('<') {
        if tags.is_multiple_of(STEP) && cancel.is_canceled() {
            return out;
        }
        tags += 1;
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(body) = rest.strip_prefix("<![CDATA[") {
            let (text, after) = body.split_once("]]>").unwrap_or((body, ""));
            html_escape::encode_text_to_string(text, &mut out);
            rest = after;
        } else if let Some(body) = rest.strip_prefix("<!--") {
            rest = after_comment(body);
        } else if let Some(tag) = Tag::read(rest) {
            rest = &rest[tag.source.len()..];
            rest = write(&tag, rest, dialect, &mut Writer { out: &mut out, limits: &mut limits });
        } else {
            // Not a tag: the HTML parser decides what a lone `<` is.
            out.push('<');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// The text behind a comment. `<!-->` and `<!--->` are complete, as in browsers.
fn after_comment(body: &str) -> &str {
    let empty = body.strip_prefix('>').or_else(|| body.strip_prefix("->"));
    empty.unwrap_or_else(|| body.split_once("-->").map_or("", |(_, after)| after))
}

struct Writer<'a> {
    out: &'a mut String,
    limits: &'a mut Limits,
}

/// Writes one tag; gives the remaining source.
fn write<'s>(tag: &Tag<'s>, rest: &'s str, dialect: Dialect, to: &mut Writer<'_>) -> &'s str {
    let name = tag.name.to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&name.as_str());
    if is(DROPPED) && !tag.closing {
        return if tag.self_closing { rest } else { split_at_end_tag(rest, &name).1 };
    }
    if name.starts_with('!') || name.starts_with('?') {
        to.out.push_str(tag.source);
        return rest;
    }
    if !is(PLAIN) && !to.limits.afford(tag, &name) {
        to.out.push(' ');
        return rest;
    }
    if is(VOID) {
        to.out.push_str(tag.source);
        return rest;
    }
    if is(PLAIN) {
        return rest;
    }
    if is(STRUCK) {
        to.out.push_str("<del></del>");
        return rest;
    }
    let expands = dialect == Dialect::Storage || name.contains(':') || is(EXPANDED);
    let opens_or_closes = tag.closing || !(tag.self_closing && expands);
    // An HTML paragraph ends at the first block inside it, and would close a macro around that block with it.
    let boxed = name == "p" && dialect == Dialect::Storage;
    let limit = if is(BOLD) { &mut to.limits.bold } else { &mut to.limits.all };
    if (boxed || !is(SELF_ENDING)) && opens_or_closes && !limit.allows(tag) {
        return rest;
    }
    let expanded = tag.self_closing && expands;
    let name = if boxed { "div" } else { tag.name };
    if tag.closing {
        to.out.extend(["</", name, ">"]);
        return rest;
    }
    let attributes = if expanded { tag.attributes.trim_end_matches('/') } else { tag.attributes };
    to.out.extend(["<", name, attributes, ">"]);
    if expanded {
        to.out.extend(["</", name, ">"]);
    } else if is(RAW) {
        let (text, after) = split_at_end_tag(rest, name);
        to.out.push_str(text);
        return after;
    }
    rest
}

struct Limits {
    all: Depth,
    bold: Depth,
    /// Links that are open.
    links: usize,
    /// Number of elements still allowed.
    elements: usize,
}

impl Limits {
    /// Whether the tree may have this tag. A parser reopens bold elements and links in every block.
    fn afford(&mut self, tag: &Tag<'_>, name: &str) -> bool {
        if name == "a" {
            self.links = usize::from(!tag.closing && !tag.self_closing);
        }
        // The end of struck-out text is an element of its own.
        if tag.closing && !STRUCK.contains(&name) {
            return self.elements > 0;
        }
        let cost = 1 + self.bold.open + self.links;
        let affordable = self.elements >= cost;
        self.elements = self.elements.saturating_sub(cost);
        affordable
    }
}

/// Counts open elements, including omitted ones.
struct Depth {
    deepest: usize,
    open: usize,
    left_out: usize,
}

impl Depth {
    fn new(deepest: usize) -> Self {
        Self { deepest, open: 0, left_out: 0 }
    }

    /// Whether the tag may be written.
    fn allows(&mut self, tag: &Tag<'_>) -> bool {
        if tag.closing {
            if self.left_out > 0 {
                self.left_out -= 1;
                return false;
            }
            self.open = self.open.saturating_sub(1);
            return true;
        }
        if self.open >= self.deepest {
            self.left_out += 1;
            return false;
        }
        self.open += 1;
        true
    }
}

/// A tag as written.
struct Tag<'a> {
    source: &'a str,
    name: &'a str,
    /// All between the name and `>`.
    attributes: &'a str,
    closing: bool,
    self_closing: bool,
}

impl<'a> Tag<'a> {
    /// Parses the tag at the start of `source`. A tag without an end takes all the rest, as in browsers.
    fn read(source: &'a str) -> Option<Self> {
        let inner = source.strip_prefix('<')?;
        let closing = inner.starts_with('/');
        let inner = if closing { &inner[1..] } else { inner };
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
            return None;
        }
        let name = &inner[..inner.find(|c: char| c.is_whitespace() || c == '/' || c == '>').unwrap_or(inner.len())];
        let body = &inner[name.len()..];
        let (end, in_value) = end_of_tag(body);
        let start = source.len() - inner.len();
        let after = (start + name.len() + end + 1).min(source.len());
        let attributes = &body[..end];
        // In `<a href=/docs/>` the slash is the end of the value.
        let self_closing = attributes.ends_with('/') && !in_value;
        Some(Self { source: &source[..after], name, attributes, closing, self_closing })
    }
}

/// Position of the `>` that ends a tag, and whether an unquoted value ends there. A `>` in quotes does not count.
fn end_of_tag(body: &str) -> (usize, bool) {
    #[derive(Clone, Copy)]
    enum At {
        Name,
        ValueStart,
        Quoted(u8),
        Bare,
    }
    let mut at = At::Name;
    for (place, byte) in body.bytes().enumerate() {
        at = match (at, byte) {
            (At::Quoted(open), _) => {
                if byte == open {
                    At::Name
                } else {
                    at
                }
            }
            (_, b'>') => return (place, matches!(at, At::Bare)),
            (At::Name, b'=') => At::ValueStart,
            (At::ValueStart, b'"' | b'\'') => At::Quoted(byte),
            (At::ValueStart, _) if byte.is_ascii_whitespace() => At::ValueStart,
            (At::ValueStart, _) => At::Bare,
            (At::Bare, _) if byte.is_ascii_whitespace() => At::Name,
            (At::Name | At::Bare, _) => at,
        };
    }
    (body.len(), matches!(at, At::Bare))
}

/// The content of an element in which tags are text, and the rest.
fn split_at_end_tag<'a>(rest: &'a str, name: &str) -> (&'a str, &'a str) {
    let ends = |at: usize| {
        let after = rest.as_bytes().get(at + 2..at + 2 + name.len());
        after.is_some_and(|bytes| bytes.eq_ignore_ascii_case(name.as_bytes()))
    };
    let at = rest.match_indices("</").map(|(at, _)| at).find(|at| ends(*at)).unwrap_or(rest.len());
    rest.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdata_becomes_text_and_empty_elements_close() {
        let storage = r#"<p>a<ri:page ri:content-title="x > y" />b</p><x:c><![CDATA[if (a<b && c>d) {}]]></x:c>"#;
        assert_eq!(
            prepare(storage, Dialect::Storage, &CancelToken::never()),
            "<div>a<ri:page ri:content-title=\"x > y\" ></ri:page>b</div><x:c>if (a&lt;b &amp;&amp; c&gt;d) {}</x:c>"
        );
    }

    #[test]
    fn scripts_go_and_their_end_tags_with_them_do_not_matter() {
        let html = "a<script>if (1<2) { '</p>' }</SCRIPT>b<!-- <p> -->c<br/>d";
        assert_eq!(prepare(html, Dialect::Html, &CancelToken::never()).replace("</SCRIPT>", ""), "abc<br/>d");
    }

    #[test]
    fn a_slash_at_the_end_of_a_bare_value_closes_nothing() {
        let html = "<a href=/docs/>Docs</a><a href=/>Home</a><script src=/x/>code('>')</script>\
                    <a name=\"/x\"/>end<a name=x />";
        assert_eq!(
            prepare(html, Dialect::Html, &CancelToken::never()).replace("</script>", ""),
            "<a href=/docs/>Docs</a><a href=/>Home</a><a name=\"/x\"></a>end<a name=x ></a>"
        );
    }

    #[test]
    fn an_empty_comment_takes_nothing_with_it() {
        assert_eq!(prepare("a<!-->b<!--->c<!-- d -->e<!---->f", Dialect::Html, &CancelToken::never()), "abcef");
    }

    #[test]
    fn ends_without_a_beginning_are_counted_where_they_make_an_element() {
        let ends = "</s>".repeat(MOST_ELEMENTS + 9);
        let made = prepare(&ends, Dialect::Html, &CancelToken::never()).matches("<del>").count();
        assert_eq!(made, MOST_ELEMENTS);
    }

    #[test]
    fn struck_out_text_is_marked_where_it_begins_and_ends() {
        assert_eq!(prepare("<s>a</s>b<u>c</u>", Dialect::Html, &CancelToken::never()), "<del></del>a<del></del>bc");
    }

    #[test]
    fn depth_is_bounded_and_text_is_kept() {
        let deep = format!("{}x{}y", "<div>".repeat(100_000), "</div>".repeat(100_000));
        let prepared = prepare(&deep, Dialect::Html, &CancelToken::never());
        assert_eq!(prepared.matches("<div>").count(), DEEPEST);
        assert_eq!(prepared.matches("</div>").count(), DEEPEST);
        assert!(prepared.ends_with('y') && prepared.contains('x'));
    }
}
