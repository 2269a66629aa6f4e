//! Reads Markdown: CommonMark with tables, task lists, footnotes, definition lists, wiki links and admonitions;
//! optional YAML or TOML front matter.
//!
//! Takes text, gives a [`Document`].
//! Invariants: block HTML is read as HTML, neighbouring blocks as one, since an empty line within a table ends a block;
//! of inline tags, links, line breaks and images count.
//! Not here: the meaning of HTML elements (`element`), admonition fences (`admonition`).

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::admonition::open_up;
use super::builder::{Builder, CellMarks, Opened, Part, Section};
use super::html;
use super::markup::Dialect;
use super::{Block, Document, Ordering};
use ragonite_base::{CancelToken, clean_line};

/// Maximum of inline HTML links.
const MOST_LINKS: usize = 10_000;

/// Events between two checks for cancellation.
const STEP: usize = 1_024;

/// Reads a Markdown file. The title is empty without front matter and first-level heading.
pub(super) fn read(source: &str, cancel: &CancelToken) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM
        | Options::ENABLE_WIKILINKS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut reader = Reader { builder: Builder::default().watched(cancel), ..Reader::default() };
    // The parser scans all lines before its first event, at some hundred megabytes a second.
    for (step, event) in Parser::new_ext(&open_up(source), options).enumerate() {
        if step.is_multiple_of(STEP) && cancel.is_canceled() {
            return Document::default();
        }
        reader.take(event, cancel);
    }
    reader.end_html(cancel);
    let mut document = read_front_matter(&reader.front_matter);
    let content = reader.builder.finish();
    (document.blocks, document.links) = (content.blocks, content.links);
    if document.title.is_empty()
        && let Some(Block::Heading { text, .. }) =
            document.blocks.iter().find(|block| matches!(block, Block::Heading { level: 1, .. }))
    {
        document.title.clone_from(text);
    }
    document
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    open: Vec<Option<Opened>>,
    front_matter: String,
    html: String,
    in_front_matter: usize,
    in_table_head: bool,
    /// Open inline links.
    tags: Vec<Opened>,
    links: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, cancel: &CancelToken) {
        if !matches!(event, Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) | Event::Html(_)) {
            self.end_html(cancel);
        }
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_front_matter > 0 => self.front_matter.push_str(&text),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.builder.text(&text);
            }
            Event::Html(html) => self.html.push_str(&html),
            Event::InlineHtml(tag) => self.inline(&tag),
            Event::SoftBreak => self.builder.text(" "),
            Event::HardBreak => self.builder.line_break(),
            Event::Rule => {
                let block = self.builder.open(Part::Block);
                self.builder.close(block);
            }
            Event::TaskListMarker(done) => self.builder.mark(if done { "[x]" } else { "[ ]" }),
            Event::FootnoteReference(name) => self.builder.text(&format!("[{name}]")),
        }
    }

    /// Reads the collected HTML blocks as one.
    fn end_html(&mut self, cancel: &CancelToken) {
        if !self.html.is_empty() {
            html::feed(&std::mem::take(&mut self.html), Dialect::Html, &mut self.builder, cancel);
        }
    }

    /// A single tag inside a line.
    fn inline(&mut self, tag: &str) {
        let name: String = tag.chars().skip(1).take_while(|c| !c.is_whitespace() && *c != '>').collect();
        match name.trim_end_matches('/').to_ascii_lowercase().as_str() {
            "br" => self.builder.line_break(),
            "del" | "/del" | "s" | "/s" | "strike" | "/strike" => self.builder.word_border(),
            "img" => self.builder.text(&html::attribute(tag, "alt").unwrap_or_default()),
            "a" if self.links < MOST_LINKS => {
                self.links += 1;
                if let Some(target) = html::attribute(tag, "href") {
                    let opened = self.builder.open(Part::Link(target));
                    self.tags.push(opened);
                }
            }
            "/a" => {
                if let Some(opened) = self.tags.pop() {
                    self.builder.close(opened);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if *tag == Tag::Strikethrough {
            self.builder.word_border();
        }
        let opened = match tag {
            Tag::MetadataBlock(_) => {
                self.in_front_matter += 1;
                None
            }
            Tag::TableHead => {
                self.in_table_head = true;
                Some(self.builder.open(Part::Row(Section::Head)))
            }
            Tag::FootnoteDefinition(name) => {
                let opened = self.builder.open(Part::Block);
                self.builder.mark(&format!("[{name}]"));
                Some(opened)
            }
            Tag::BlockQuote(Some(kind)) => {
                let opened = self.builder.open(Part::Block);
                self.builder.text(name_of(*kind));
                Some(opened)
            }
            _ => part(tag, CellMarks { header: self.in_table_head, ..CellMarks::default() })
                .map(|part| self.builder.open(part)),
        };
        self.open.push(opened);
        if let Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) = tag {
            // The fence's language is not text.
            self.builder.line_break();
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) => self.in_front_matter = self.in_front_matter.saturating_sub(1),
            TagEnd::TableHead => self.in_table_head = false,
            TagEnd::Strikethrough => self.builder.word_border(),
            _ => {}
        }
        let inline = matches!(
            tag,
            TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
                | TagEnd::HtmlBlock
        );
        if !inline {
            // An unclosed inline tag ends with its paragraph.
            for opened in self.tags.drain(..).rev() {
                self.builder.close(opened);
            }
        }
        if let Some(opened) = self.open.pop().flatten() {
            self.builder.close(opened);
        }
    }
}

fn part(tag: &Tag<'_>, marks: CellMarks) -> Option<Part> {
    Some(match tag {
        Tag::Heading { level, .. } => Part::Heading(match level {
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
            HeadingLevel::H4 => 4,
            HeadingLevel::H5 => 5,
            HeadingLevel::H6 => 6,
        }),
        Tag::CodeBlock(_) => Part::Code,
        Tag::List(Some(1)) => Part::List(Ordering::Ordered),
        Tag::List(Some(start)) => Part::ListFrom(i64::try_from(*start).unwrap_or(i64::MAX)),
        Tag::List(None) | Tag::DefinitionList => Part::List(Ordering::Unordered),
        Tag::Item => Part::Item,
        Tag::Table(_) => Part::Table,
        Tag::TableRow => Part::Row(Section::Body),
        Tag::TableCell => Part::Cell(marks),
        Tag::Strong => Part::Bold,
        Tag::Link { dest_url, .. } => Part::Link(dest_url.to_string()),
        Tag::DefinitionListTitle => Part::Term,
        Tag::DefinitionListDefinition => Part::Definition,
        Tag::Paragraph | Tag::BlockQuote(_) | Tag::HtmlBlock => Part::Block,
        _ => return None,
    })
}

/// The heading of an admonition.
fn name_of(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}

/// Reads `key: value` and `key = value` lines and ignores all other YAML and TOML. Indented lines and lines below a
/// table name are about a part; of repeated keys the first counts.
fn read_front_matter(text: &str) -> Document {
    let mut document = Document::default();
    for line in text.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with([' ', '\t'])) {
        let Some((key, value)) = line.split_once([':', '=']) else { continue };
        let value = clean_line(value.trim().trim_matches(['"', '\'']));
        if value.is_empty() {
            continue;
        }
        match key.trim() {
            "title" if document.title.is_empty() => document.title = value,
            "url" | "source" => document.url = document.url.or(Some(value)),
            "date" => document.date = document.date.or(Some(value)),
            "space" => document.space = document.space.or(Some(value)),
            _ => {}
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_front_matter_says_of_parts_is_not_said_of_the_page() {
        let read = |source: &str| read(source, &CancelToken::never());
        let page = read(
            "---\ntitle: Real\nauthor:\n  title: CTO\nsocial:\n\turl: https://other.example\n\
             date: 2024\ndate: 2025\n---\na",
        );
        assert_eq!((page.title.as_str(), page.url, page.date.as_deref()), ("Real", None, Some("2024")));
        let page = read("+++\nspace = \"Kitchen\"\n[author]\ntitle = \"CTO\"\n+++\na");
        assert_eq!((page.title.as_str(), page.space.as_deref()), ("", Some("Kitchen")));
    }
}
