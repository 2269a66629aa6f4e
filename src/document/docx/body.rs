//! The main part of a Word document.
//!
//! Takes the tree, the styles and the notes, gives blocks and links in reading order.
//! Invariants: no recursion over the tree; parts are closed in reverse order; a text box follows the paragraph of its
//! anchor; all text that is repeated is bounded together.
//! Not here: the meaning of styles (`styles`), the layout of cells (`table`).

use std::collections::{HashMap, HashSet};

use roxmltree::{Node, NodeId};

use super::super::builder::{Builder, Opened, Part, Section};
use super::super::links::{LONGEST_TARGET, LONGEST_TEXT, MOST, Search};
use super::super::package::{attribute, child};
use super::super::{Block, Link};
use super::Surroundings;
use super::lists::Lists;
use super::styles::{Numbered, Numbering, Role, bold, role_of_outline, switch};
use super::table::{Captions, Cell, Row, lay_out};
use super::text::{is_silent, plain, symbol, target_of_field};
use ragonite_base::{CancelToken, Canceled, clean_line};

/// Maximum bytes of repeated text: numbers of paragraphs, and notes referenced again.
const MOST_REPEATED: usize = 16 << 20;

/// Characters of a note at a further reference.
const NOTE_START: usize = 60;

/// The content of the main part.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub blocks: Vec<Block>,
    pub links: Vec<Link>,
    /// Text of the first title paragraph.
    pub title: Option<String>,
}

/// Steps between two checks for cancellation.
const STEPS: usize = 1_024;

/// Reads the main part.
pub(super) fn read(
    root: Node<'_, '_>,
    around: &Surroundings,
    numbering: Numbering,
    cancel: &CancelToken,
) -> Result<Content, Canceled> {
    let mut reader = Reader {
        around,
        cancel,
        numbering,
        captions: Captions::find(root, &around.styles),
        builder: Builder::default().watched(cancel),
        content: Content::default(),
        places: vec![Lists::default()],
        rows: HashMap::new(),
        cells: HashMap::new(),
        boxes: Vec::new(),
        fields: Vec::new(),
        open_links: Vec::new(),
        found_links: Vec::new(),
        search: Search::default(),
        written: HashSet::new(),
        repeatable: MOST_REPEATED,
        paragraph_bold: false,
        open: 0,
    };
    let mut todo = vec![Step::Enter(root)];
    let mut steps = 0_usize;
    loop {
        if steps.is_multiple_of(STEPS) {
            cancel.check()?;
        }
        steps += 1;
        match todo.pop() {
            Some(Step::Enter(node)) => reader.enter(node, &mut todo),
            Some(Step::EnterPlace) => reader.places.push(Lists::default()),
            Some(Step::Leave(leave)) => reader.leave(leave, &mut todo),
            None if reader.boxes.is_empty() => break,
            None => reader.enter_boxes(&mut todo),
        }
    }
    reader.close_lists();
    reader.flush();
    Ok(reader.content)
}

/// Remaining work, the next step last.
enum Step<'a, 'i> {
    Enter(Node<'a, 'i>),
    /// The content of a text box.
    EnterPlace,
    Leave(Leave),
}

/// What to close at the end of an element.
enum Leave {
    Part(Opened),
    /// A paragraph: the text boxes anchored in it follow.
    Paragraph(Option<Opened>),
    /// A cell or a text box, with lists of its own.
    Place(Option<Opened>, Option<Opened>),
    Table(Opened),
    Link,
}

/// A field: `begin`, instruction, `separate`, result, `end`.
#[derive(Default)]
struct Field {
    instruction: String,
    has_link: bool,
}

struct OpenLink {
    target: String,
    text: String,
}

impl OpenLink {
    fn add(&mut self, text: &str) {
        let room = LONGEST_TEXT.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

struct Reader<'a, 'i, 's> {
    around: &'s Surroundings,
    cancel: &'s CancelToken,
    numbering: Numbering,
    captions: Captions,
    builder: Builder,
    content: Content,
    /// Open lists of the text and of each open cell and text box.
    places: Vec<Lists>,
    rows: HashMap<NodeId, Row>,
    cells: HashMap<NodeId, Cell>,
    /// Text boxes of the current paragraph.
    boxes: Vec<Node<'a, 'i>>,
    fields: Vec<Field>,
    open_links: Vec<OpenLink>,
    /// Links since the last block.
    found_links: Vec<OpenLink>,
    search: Search,
    /// Notes already written.
    written: HashSet<(Remark, &'s str)>,
    /// Bytes that may still be repeated.
    repeatable: usize,
    paragraph_bold: bool,
    /// Number of open paragraphs and tables.
    open: usize,
}

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Remark {
    Footnote,
    Endnote,
    Comment,
}

impl Remark {
    fn all(self, around: &Surroundings) -> &super::Notes {
        match self {
            Self::Footnote => &around.footnotes,
            Self::Endnote => &around.endnotes,
            Self::Comment => &around.comments,
        }
    }
}

impl<'a, 'i> Reader<'a, 'i, '_> {
    fn enter(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        let name = node.tag_name().name();
        match name {
            "p" => return self.enter_paragraph(node, todo),
            "tbl" => return self.enter_table(node, todo),
            "tr" => return self.enter_row(node, todo),
            "tc" => return self.enter_cell(node, todo),
            "r" => return self.enter_run(node, todo),
            "sdt" => return self.enter_control(node, todo),
            "hyperlink" => {
                self.open_links.push(OpenLink { target: self.target(node), text: String::new() });
                return descend(node, Some(Leave::Link), todo);
            }
            "fldSimple" => {
                if let Some(target) = attribute(node, "instr").and_then(target_of_field) {
                    self.open_links.push(OpenLink { target, text: String::new() });
                    return descend(node, Some(Leave::Link), todo);
                }
            }
            "txbxContent" => return self.boxes.push(node),
            "fldChar" => return self.field(node),
            "instrText" => {
                if let (Some(field), Some(text)) = (self.fields.last_mut(), node.text()) {
                    field.instruction.push_str(text);
                }
                return;
            }
            _ if is_silent(name) => return,
            _ => self.sign(node, name),
        }
        descend(node, None, todo);
    }

    /// Handles elements that represent text.
    fn sign(&mut self, node: Node<'_, '_>, name: &str) {
        match name {
            "t" => self.text(node.text().unwrap_or_default()),
            "tab" | "ptab" => self.text("\t"),
            "br" | "cr" => self.builder.line_break(),
            "noBreakHyphen" => self.text("-"),
            "sym" => self.text(&symbol(node)),
            "den" => self.text("/"),
            "sup" => self.text("^"),
            "sub" => self.text("_"),
            "footnoteReference" => self.note(node, Remark::Footnote),
            "endnoteReference" => self.note(node, Remark::Endnote),
            "commentReference" => self.note(node, Remark::Comment),
            "docPr" => {
                if let Some(words) = description(node) {
                    self.builder.text(&format!(" {words} "));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.builder.text(text);
        if let Some(link) = self.open_links.last_mut() {
            link.add(text);
        }
    }

    /// Writes a note at its reference; at a further one its first words.
    fn note(&mut self, reference: Node<'_, '_>, kind: Remark) {
        let found = attribute(reference, "id").and_then(|id| kind.all(self.around).get_key_value(id));
        let Some((id, note)) = found.filter(|(_, note)| !note.is_empty()) else { return };
        if self.written.insert((kind, id)) {
            return self.builder.text(&format!(" [{note}]"));
        }
        match note.char_indices().nth(NOTE_START) {
            Some((end, _)) => self.repeat(&format!(" [{} …]", &note[..end])),
            None => self.repeat(&format!(" [{note}]")),
        }
    }

    /// Adds repeated text, within the limit.
    fn repeat(&mut self, text: &str) {
        if let Some(left) = self.repeatable.checked_sub(text.len()) {
            self.repeatable = left;
            self.builder.text(text);
        }
    }

    fn target(&self, node: Node<'_, '_>) -> String {
        let id = attribute(node, "id");
        let relation = id.and_then(|id| self.around.relations.get(id)).map_or("", |relation| &relation.target);
        let place = attribute(node, "anchor").map(|place| format!("#{place}")).unwrap_or_default();
        if relation.len() > LONGEST_TARGET { String::new() } else { format!("{relation}{place}") }
    }

    fn enter_paragraph(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        if self.captions.claimed.contains(&node.id()) || is_empty(node) {
            return;
        }
        let properties = child(node, "pPr");
        let style = properties.and_then(|node| child(node, "pStyle")).and_then(|node| attribute(node, "val"));
        let mut role = self.around.styles.role(style);
        let outline = properties.and_then(|node| child(node, "outlineLvl")).and_then(|node| attribute(node, "val"));
        if let Some(outline) = outline.and_then(|level| level.parse().ok()) {
            role = role_of_outline(outline);
        }
        self.paragraph_bold = self.around.styles.paragraph_bold(style);
        let numbered = match properties.and_then(|node| child(node, "numPr")) {
            Some(own) => self.own_number(own, style),
            None => self.around.styles.numbered(style, &self.numbering),
        }
        .filter(|at| at.list != 0);
        let opened = match role {
            Role::Contents => return,
            Role::Title | Role::Heading(_) => Some(self.open_heading(node, role, numbered)),
            _ => match numbered {
                Some(at) => {
                    self.open_item(at);
                    None
                }
                None => Some(self.open_text(role, style)),
            },
        };
        self.open += 1;
        descend(node, Some(Leave::Paragraph(opened)), todo);
    }

    fn own_number(&self, properties: Node<'_, '_>, style: Option<&str>) -> Option<Numbered> {
        let value = |name| child(properties, name).and_then(|node| attribute(node, "val"));
        let by_style = self.around.styles.numbered(style, &self.numbering);
        let list = value("numId").and_then(|id| id.parse().ok()).or(by_style.map(|at| at.list))?;
        let level = value("ilvl").and_then(|level| level.parse().ok());
        let depth = level.or(by_style.map(|at| at.depth)).unwrap_or(0).min(8);
        let level = level.or(by_style.map(|at| at.level)).unwrap_or(0).min(8);
        Some(Numbered { list, level, depth })
    }

    fn open_heading(&mut self, node: Node<'_, '_>, role: Role, numbered: Option<Numbered>) -> Opened {
        self.close_lists();
        if role == Role::Title && self.content.title.is_none() && self.places.len() == 1 {
            self.content.title = Some(plain(node));
        }
        let level = if let Role::Heading(level) = role { level } else { 1 };
        let opened = self.builder.open(Part::Heading(level));
        if let Some(label) = numbered.and_then(|at| self.numbering.count(at)) {
            self.repeat(&format!("{label} "));
        }
        opened
    }

    fn open_item(&mut self, at: Numbered) {
        let label = self.numbering.count(at);
        let written = self.places.last_mut().and_then(|lists| lists.enter(at, label, &mut self.builder));
        if let Some(label) = written {
            self.repeat(&format!("{label} "));
        }
    }

    fn open_text(&mut self, role: Role, style: Option<&str>) -> Opened {
        let in_list = self.places.last().is_some_and(Lists::is_open);
        // Word's item style without a bullet is a further paragraph of the item.
        let continues = role == Role::ListContinued || style.is_some_and(|style| style.starts_with("ListParagraph"));
        if !(in_list && continues) {
            self.close_lists();
        }
        self.builder.open(if role == Role::Code { Part::Code } else { Part::Block })
    }

    fn enter_table(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        self.close_lists();
        let layout = lay_out(node, &self.around.styles);
        self.rows.extend(layout.rows);
        self.cells.extend(layout.cells);
        let table = self.builder.open(Part::Table);
        if let Some(caption) = self.captions.of_table.get(&node.id()) {
            let opened = self.builder.open(Part::Caption);
            self.builder.text(caption);
            self.builder.close(opened);
        }
        self.open += 1;
        descend(node, Some(Leave::Table(table)), todo);
    }

    fn enter_row(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        let Some(row) = self.rows.remove(&node.id()) else { return };
        let section = if row.is_head { Section::Head } else { Section::Body };
        let opened = self.builder.open(Part::Row(section));
        for _ in 0..row.indent {
            let cell = self.builder.open(Part::Cell(super::super::builder::CellMarks::default()));
            self.builder.close(cell);
        }
        descend(node, Some(Leave::Part(opened)), todo);
    }

    fn enter_cell(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        let Some(cell) = self.cells.remove(&node.id()) else { return };
        let opened = self.builder.open(Part::Cell(cell.marks));
        let weight = cell.bold.then(|| self.builder.open(Part::Bold));
        self.places.push(Lists::default());
        descend(node, Some(Leave::Place(Some(opened), weight)), todo);
    }

    fn enter_run(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        let properties = child(node, "rPr");
        if properties.is_some_and(|node| switch(node, "vanish") == Some(true)) {
            return;
        }
        let style = properties.and_then(|node| child(node, "rStyle")).and_then(|node| attribute(node, "val"));
        let own = properties.and_then(bold).or_else(|| style.and_then(|style| self.around.styles.bold(Some(style))));
        let opened = own.unwrap_or(self.paragraph_bold).then(|| Leave::Part(self.builder.open(Part::Bold)));
        descend(node, opened, todo);
    }

    /// A content control: a check box, a table of contents, an unfilled field, or a frame around content.
    fn enter_control(&mut self, node: Node<'a, 'i>, todo: &mut Vec<Step<'a, 'i>>) {
        let properties = child(node, "sdtPr");
        if let Some(check) = properties.and_then(|node| child(node, "checkbox")) {
            let state = child(check, "checked").and_then(|node| attribute(node, "val"));
            let mark = if matches!(state, Some("1" | "true" | "on")) { "[x] " } else { "[ ] " };
            // The control may be a whole paragraph or cell, whose other text stays.
            return match node.descendants().find(|node| matches!(node.tag_name().name(), "p" | "tc")) {
                Some(_) => descend(node, None, todo),
                None => self.text(mark),
            };
        }
        let gallery =
            properties.and_then(|node| child(node, "docPartObj")).and_then(|node| child(node, "docPartGallery"));
        let is_contents = gallery.and_then(|node| attribute(node, "val")) == Some("Table of Contents");
        let is_unfilled = properties.is_some_and(|node| switch(node, "showingPlcHdr") == Some(true));
        if !is_contents && !is_unfilled {
            descend(node, None, todo);
        }
    }

    fn field(&mut self, node: Node<'_, '_>) {
        match attribute(node, "fldCharType") {
            Some("begin") => {
                self.fields.push(Field::default());
                if let Some(check) = child(node, "ffData").and_then(|node| child(node, "checkBox")) {
                    let state = switch(check, "checked").or_else(|| switch(check, "default"));
                    self.text(if state == Some(true) { "[x] " } else { "[ ] " });
                }
            }
            Some("separate") => {
                let Some(field) = self.fields.last_mut() else { return };
                if let Some(target) = target_of_field(&field.instruction) {
                    field.has_link = true;
                    self.open_links.push(OpenLink { target, text: String::new() });
                }
            }
            Some("end") if self.fields.pop().is_some_and(|field| field.has_link) => self.close_link(),
            _ => {}
        }
    }

    fn leave(&mut self, leave: Leave, todo: &mut Vec<Step<'a, 'i>>) {
        match leave {
            Leave::Part(part) => self.builder.close(part),
            Leave::Paragraph(opened) => {
                if let Some(opened) = opened {
                    self.builder.close(opened);
                }
                self.open -= 1;
                if self.boxes.is_empty() { self.flush_at_border() } else { self.enter_boxes(todo) }
            }
            Leave::Place(opened, weight) => {
                self.close_lists();
                self.places.pop();
                for part in weight.into_iter().chain(opened) {
                    self.builder.close(part);
                }
                self.flush_at_border();
            }
            Leave::Table(table) => {
                self.builder.close(table);
                self.open -= 1;
                self.flush_at_border();
            }
            Leave::Link => self.close_link(),
        }
    }

    /// Enters the text boxes of a paragraph, in order.
    fn enter_boxes(&mut self, todo: &mut Vec<Step<'a, 'i>>) {
        for text_box in std::mem::take(&mut self.boxes).into_iter().rev() {
            todo.push(Step::Leave(Leave::Place(None, None)));
            todo.extend(text_box.children().filter(Node::is_element).rev().map(Step::Enter));
            todo.push(Step::EnterPlace);
        }
    }

    fn close_link(&mut self) {
        let Some(link) = self.open_links.pop() else { return };
        // An inner link's text belongs to the outer link.
        if let Some(outer) = self.open_links.last_mut() {
            outer.add(&link.text);
        }
        let noted = self.content.links.len() + self.found_links.len();
        if !link.target.is_empty() && link.target.len() <= LONGEST_TARGET && noted < MOST {
            self.found_links.push(link);
        }
    }

    fn close_lists(&mut self) {
        if let Some(lists) = self.places.last_mut() {
            lists.close(&mut self.builder);
        }
        self.flush_at_border();
    }

    /// Takes the finished blocks when none can still grow, so that links get their blocks.
    fn flush_at_border(&mut self) {
        if self.open == 0 && self.places.len() == 1 && !self.places[0].is_open() {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let next = Builder::default().watched(self.cancel);
        let blocks = std::mem::replace(&mut self.builder, next).finish().blocks;
        self.add_links(&blocks);
        self.content.blocks.extend(blocks);
    }

    /// Adds the links of the blocks that come next.
    fn add_links(&mut self, blocks: &[Block]) {
        let mut links = std::mem::take(&mut self.found_links);
        for link in &mut links {
            link.text = clean_line(&link.text);
        }
        links.retain(|link| !link.text.is_empty() && !blocks.is_empty());
        let places = self.search.places(links.iter().map(|link| link.text.as_str()), blocks);
        for (link, place) in links.into_iter().zip(places) {
            let (block, target) = (self.content.blocks.len() + place, clean_line(&link.target));
            self.content.links.push(Link { block, text: link.text, target });
        }
    }
}

fn descend<'a, 'i>(node: Node<'a, 'i>, leave: Option<Leave>, todo: &mut Vec<Step<'a, 'i>>) {
    todo.extend(leave.map(Step::Leave));
    todo.extend(node.children().filter(Node::is_element).rev().map(Step::Enter));
}

/// Whether a paragraph has no text. Empty ones stand between the items of many lists.
fn is_empty(paragraph: Node<'_, '_>) -> bool {
    !paragraph.descendants().any(|node| match node.tag_name().name() {
        "t" => node.text().is_some_and(|text| !text.trim().is_empty()),
        "docPr" => attribute(node, "descr").is_some(),
        name => matches!(
            name,
            "sym"
                | "txbxContent"
                | "checkBox"
                | "checkbox"
                | "footnoteReference"
                | "endnoteReference"
                | "commentReference"
        ),
    })
}

/// An author's description of a picture; file names and texts of programs are ignored.
fn description(picture: Node<'_, '_>) -> Option<String> {
    let text = attribute(picture, "descr")?;
    let machine = ["Description automatically generated", "AI-generated content may be incorrect"];
    let text = machine.iter().fold(clean_line(text), |text, mark| text.replace(mark, ""));
    let text = text.trim().trim_end_matches(|c: char| c.is_whitespace() || c == '.').to_owned();
    let is_file = text.rsplit_once('.').is_some_and(|(_, end)| (2..=5).contains(&end.len()) && !end.contains(' '));
    (!is_file && !text.is_empty()).then_some(text)
}
