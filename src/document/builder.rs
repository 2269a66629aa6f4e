//! Builds a document's blocks from opening and closing parts, for every format.
//!
//! Takes parts and text in reading order, gives [`Block`]s.
//! Invariants: works without recursion; lists nest at most [`DEEPEST_LIST`] deep; no text is lost, even if parts stand
//! where no format allows them.
//! Not here: which element is which part (`html`, `confluence`, `markdown`), the text of a cell (`cell`), the meaning
//! of a table (`table`).

use std::sync::Arc;

use super::caption::take_captions;
use super::cell::{OpenCell, RawCell, Weight};
use super::grid::Room;
use super::links::{Links, Mark};
use super::table::RawTable;
use super::text_buffer::{Gap, Shape, TextBuffer};
use super::toc::remove_toc;
use super::{Block, Document, List, ListItem, Ordering};
use ragonite_base::CancelToken;

/// Maximum list depth; deeper lists continue at this depth, so that walking a list cannot overflow the stack.
pub(super) const DEEPEST_LIST: usize = 24;

/// Maximum table depth; deeper tables are written as text.
const DEEPEST_TABLE: usize = 8;

/// A part of a page that has a start and an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A paragraph or any other box with text.
    Block,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// Code or other text with meaningful line ends.
    Code,
    /// Bold text, which may mark a header cell.
    Bold,
    /// A link, with its target as in the source.
    Link(String),
    /// A list.
    List(Ordering),
    /// A numbered list that does not begin with 1: the numbers become text.
    ListFrom(i64),
    /// An item of a list.
    Item,
    /// A term in a list of definitions.
    Term,
    /// A definition, which continues the item of its terms.
    Definition,
    /// A table.
    Table,
    /// A row, with its section.
    Row(Section),
    /// A cell.
    Cell(CellMarks),
    /// A table's caption.
    Caption,
}

/// The section of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Section {
    Head,
    #[default]
    Body,
    Foot,
}

/// A cell's attributes in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CellMarks {
    /// Marked as header cell.
    pub header: bool,
    /// Background colour, if any.
    pub shade: Option<Arc<str>>,
    pub columns: usize,
    pub rows: usize,
}

/// What closing a part must undo; from [`Builder::open`] to [`Builder::close`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Opened {
    Frame,
    /// A part written as text, with the gap that ends it.
    Flat(Gap),
    Code(Gap),
    Bold,
    Link,
}

#[derive(Debug)]
enum Frame {
    Heading(u8, TextBuffer),
    List(OpenList),
    Item(TextBuffer, ListItem),
    Table(RawTable, Mark),
    Row(Section, Vec<RawCell>),
    Cell(Box<OpenCell>),
    Caption(TextBuffer),
}

#[derive(Debug, Default)]
struct OpenList {
    list: List,
    /// Text between the items, which becomes an item.
    stray: TextBuffer,
    /// Number of the next item, if numbers are text.
    number: Option<i64>,
    last: Last,
    /// The last item while a definition may follow: taking its text out and putting it back for each of many
    /// definitions would take quadratic time.
    open: Option<(TextBuffer, ListItem)>,
}

/// The kind of the last item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Item,
    Term,
    Defined,
}

impl OpenList {
    /// Starts an item, or continues the last one if the part belongs to it.
    fn enter(&mut self, part: &Part) -> (TextBuffer, ListItem) {
        self.end_stray();
        let gap = match (part, self.last) {
            (Part::Definition, Last::Term) => Some(Gap::Meaning),
            (Part::Definition, Last::Defined) => Some(Gap::Item),
            (Part::Term, Last::Term) => Some(Gap::Cell),
            _ => None,
        };
        self.last = match part {
            Part::Term => Last::Term,
            Part::Definition if gap.is_some() => Last::Defined,
            _ => Last::Item,
        };
        if let Some(gap) = gap
            && let Some((mut run, item)) = self.open.take()
        {
            run.resume(gap);
            return (run, item);
        }
        self.settle();
        let mut run = TextBuffer::new(Shape::Lines);
        if let Some(number) = self.number.as_mut().filter(|_| *part == Part::Item) {
            run.push_mark(&format!("{number}."));
            *number = number.saturating_add(1);
        }
        (run, ListItem::default())
    }

    /// Ends an item, provisionally if a definition may follow.
    fn leave(&mut self, run: TextBuffer, item: ListItem) {
        if run.len() > 0 || !item.nested.is_empty() {
            self.settle();
            self.open = Some((run, item));
        }
        if self.last == Last::Item {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let Some((mut run, mut item)) = self.open.take() else { return };
        item.text = run.take();
        if !item.text.is_empty() || !item.nested.is_empty() {
            self.list.items.push(item);
        }
    }

    fn end_stray(&mut self) {
        let text = self.stray.take();
        if !text.is_empty() {
            self.settle();
            self.list.items.push(ListItem { text, nested: Vec::new() });
            self.last = Last::Item;
        }
    }

    fn nest(&mut self, inner: List) {
        self.end_stray();
        self.settle();
        match self.list.items.last_mut() {
            Some(item) => item.nested.push(inner),
            None => self.list.items.push(ListItem { text: String::new(), nested: vec![inner] }),
        }
    }
}

/// The blocks so far, and the open parts.
#[derive(Debug, Default)]
pub(super) struct Builder {
    blocks: Vec<Block>,
    paragraph: TextBuffer,
    frames: Vec<Frame>,
    /// Tables inside list items: they follow their list, which stays whole.
    hoisted: Vec<Block>,
    links: Links,
    /// What the tables of the document may still use.
    room: Room,
    tables: usize,
    lists: usize,
    bold: usize,
    code: usize,
}

impl Builder {
    /// A builder for the page with this URL.
    pub(super) fn of_page(url: Option<&str>) -> Self {
        Self { links: Links::of_page(url), ..Self::default() }
    }

    /// Stops assembling tables once cancelled.
    pub(super) fn watched(mut self, cancel: &CancelToken) -> Self {
        self.room.cancel = cancel.clone();
        self
    }

    /// Opens a part. A misplaced part keeps its text in reading order.
    pub(super) fn open(&mut self, part: Part) -> Opened {
        match part {
            Part::Bold => {
                self.bold += 1;
                return Opened::Bold;
            }
            Part::Code => {
                self.border(Gap::Line);
                self.code += 1;
                return Opened::Code(Gap::Line);
            }
            Part::Link(target) => {
                self.links.open(&target);
                return Opened::Link;
            }
            _ => {}
        }
        match (self.frames.last_mut(), part) {
            (None | Some(Frame::Item(..) | Frame::Cell(_)), Part::Table) if self.tables < DEEPEST_TABLE => {
                self.tables += 1;
                let opened = self.push(Frame::Table(RawTable::default(), Mark::default()));
                let mark = self.links.mark();
                if let Some(Frame::Table(_, from)) = self.frames.last_mut() {
                    *from = mark;
                }
                opened
            }
            (None | Some(Frame::Cell(_)), Part::Heading(level)) => {
                self.push(Frame::Heading(level, TextBuffer::new(Shape::OneLine)))
            }
            (
                None | Some(Frame::Item(..) | Frame::List(_) | Frame::Cell(_)),
                part @ (Part::List(_) | Part::ListFrom(_)),
            ) if self.lists < DEEPEST_LIST => {
                self.lists += 1;
                let (ordered, number) = match part {
                    Part::List(ordered) => (ordered, None),
                    Part::ListFrom(number) => (Ordering::Unordered, Some(number)),
                    _ => (Ordering::Unordered, None),
                };
                let list = List { ordered, items: Vec::new() };
                self.push(Frame::List(OpenList { list, number, ..OpenList::default() }))
            }
            (Some(Frame::List(list)), part @ (Part::Item | Part::Term | Part::Definition)) => {
                let (run, item) = list.enter(&part);
                self.push(Frame::Item(run, item))
            }
            (Some(Frame::Table(..)), Part::Row(section)) => self.push(Frame::Row(section, Vec::new())),
            (None | Some(Frame::Table(..)), Part::Caption) => {
                self.push(Frame::Caption(TextBuffer::new(Shape::OneLine)))
            }
            (Some(Frame::Row(..)), Part::Cell(marks)) => self.push(Frame::Cell(Box::new(OpenCell::new(marks)))),
            (_, part) => {
                let (before, after) = flat_gaps(&part);
                self.border(before);
                Opened::Flat(after)
            }
        }
    }

    fn push(&mut self, frame: Frame) -> Opened {
        match self.frames.last_mut() {
            None => self.flush(),
            Some(Frame::Cell(cell)) => cell.flush(),
            Some(_) => {}
        }
        self.frames.push(frame);
        Opened::Frame
    }

    /// Closes what [`Builder::open`] opened; parts close in reverse order.
    pub(super) fn close(&mut self, opened: Opened) {
        match opened {
            Opened::Frame => self.close_frame(),
            Opened::Flat(gap) => self.border(gap),
            Opened::Code(gap) => {
                self.code = self.code.saturating_sub(1);
                self.border(gap);
            }
            Opened::Bold => self.bold = self.bold.saturating_sub(1),
            Opened::Link => self.links.close(),
        }
    }

    fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match (frame, self.frames.last_mut()) {
            (Frame::Heading(level, mut run), parent) => {
                let text = run.take();
                let empty = text.is_empty();
                let heading = vec![Block::Heading { level: level.clamp(1, 6), text }];
                match parent {
                    _ if empty => {}
                    Some(Frame::Cell(cell)) => cell.add(heading),
                    _ => self.add(heading),
                }
            }
            (Frame::Item(run, item), Some(Frame::List(open))) => open.leave(run, item),
            (Frame::List(open), _) => self.close_list(open),
            (Frame::Cell(cell), Some(Frame::Row(_, cells))) => cells.push(cell.close()),
            (Frame::Row(section, cells), Some(Frame::Table(table, _))) => table.push(section, cells),
            (Frame::Caption(mut run), Some(Frame::Table(table, _))) => table.add_caption(&run.take()),
            (Frame::Caption(mut run), None) => self.caption(run.take()),
            (Frame::Table(table, mark), _) => self.close_table(table, mark),
            (Frame::Item(..) | Frame::Cell(..) | Frame::Row(..) | Frame::Caption(_), _) => {}
        }
    }

    fn close_table(&mut self, table: RawTable, mark: Mark) {
        self.tables = self.tables.saturating_sub(1);
        let blocks = table.into_blocks(&mut self.room);
        match self.frames.last_mut() {
            None => return self.add(blocks),
            Some(Frame::Cell(cell)) => return cell.add_table(blocks),
            Some(_) => {}
        }
        if let Some(cell) = self.cell() {
            cell.hoist(blocks);
        } else {
            self.links.hoist(mark, self.hoisted.len(), &blocks);
            self.hoisted.extend(blocks);
        }
    }

    /// Adds a caption to the table before it, else a text.
    fn caption(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        let at = self.blocks.len().saturating_sub(1);
        if let Some(Block::Table(table)) = self.blocks.last_mut()
            && table.caption.is_none()
        {
            table.caption = Some(text);
            self.links.settle(at, &self.blocks[at..]);
        } else {
            self.add(vec![Block::Text(text)]);
        }
    }

    /// The innermost cell that is open.
    fn cell(&mut self) -> Option<&mut OpenCell> {
        self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Cell(cell) => Some(cell.as_mut()),
            _ => None,
        })
    }

    fn close_list(&mut self, mut open: OpenList) {
        self.lists = self.lists.saturating_sub(1);
        open.end_stray();
        open.settle();
        let list = open.list;
        match self.frames.last_mut() {
            _ if list.items.is_empty() => {}
            Some(Frame::Item(_, item)) => item.nested.push(list),
            Some(Frame::List(outer)) => outer.nest(list),
            Some(Frame::Cell(cell)) => cell.add(vec![Block::List(list)]),
            _ => self.add(vec![Block::List(list)]),
        }
        if self.frames.is_empty() {
            self.lower();
        }
    }

    fn add(&mut self, blocks: Vec<Block>) {
        self.links.settle(self.blocks.len(), &blocks);
        self.blocks.extend(blocks);
    }

    /// Adds the tables of a list behind it.
    fn lower(&mut self) {
        self.links.lower(self.blocks.len());
        self.blocks.append(&mut self.hoisted);
    }

    /// Adds text at the current place.
    pub(super) fn text(&mut self, text: &str) {
        let code = self.code > 0;
        if self.tables > 0 {
            let bold = self.bold > 0 || matches!(self.frames.last(), Some(Frame::Heading(..)));
            if let Some(cell) = self.cell() {
                cell.weigh(text, if bold { Weight::Bold } else { Weight::Plain });
            }
        }
        self.links.text(text);
        let run = self.run();
        if code { run.push_code(text) } else { run.push(text) }
    }

    /// Adds a mark, such as a number, on the line of the next words.
    pub(super) fn mark(&mut self, mark: &str) {
        self.run().push_mark(mark);
    }

    /// A line break inside running text.
    pub(super) fn line_break(&mut self) {
        self.links.gap(Gap::Space);
        self.run().gap(Gap::Line);
    }

    /// The border of a box: words do not run together across it.
    pub(super) fn word_border(&mut self) {
        self.links.gap(Gap::Word);
        self.run().gap(Gap::Word);
    }

    /// A border between two texts; at the outermost level a new block begins.
    fn border(&mut self, gap: Gap) {
        if self.frames.is_empty() {
            self.flush();
        } else {
            self.links.gap(Gap::Space);
            self.run().gap(gap);
        }
    }

    /// The buffer for text at the current place.
    fn run(&mut self) -> &mut TextBuffer {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Heading(_, run) | Frame::Item(run, _) | Frame::Caption(run) => Some(run),
            Frame::Cell(cell) => Some(&mut cell.run),
            Frame::List(open) => Some(&mut open.stray),
            Frame::Table(..) | Frame::Row(..) => None,
        });
        inner.unwrap_or(&mut self.paragraph)
    }

    fn flush(&mut self) {
        if self.paragraph.is_mark() {
            return;
        }
        self.flush_text();
    }

    fn flush_text(&mut self) {
        let text = self.paragraph.take();
        if !text.trim().is_empty() {
            self.add(vec![Block::Text(text)]);
        }
    }

    /// The blocks and their links; closes all open parts.
    pub(super) fn finish(mut self) -> Document {
        while !self.frames.is_empty() {
            self.close_frame();
        }
        self.flush();
        self.flush_text();
        self.lower();
        let within: Vec<(usize, String)> = self.links.within_page().map(|(at, text)| (at, text.to_owned())).collect();
        let mut document = Document { blocks: self.blocks, links: self.links.finish(), ..Document::default() };
        remove_toc(&mut document, &within);
        take_captions(&mut document);
        document
    }
}

/// The gaps before and after a part that is written as text.
fn flat_gaps(part: &Part) -> (Gap, Gap) {
    match part {
        Part::Definition => (Gap::Meaning, Gap::Item),
        Part::Term => (Gap::Item, Gap::Space),
        Part::List(_) | Part::ListFrom(_) | Part::Item | Part::Table | Part::Row(_) => (Gap::Item, Gap::Item),
        Part::Cell(_) => (Gap::Cell, Gap::Cell),
        _ => (Gap::Line, Gap::Line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(builder: &mut Builder, part: Part, text: &str) {
        let opened = builder.open(part);
        builder.text(text);
        builder.close(opened);
    }

    fn items(document: &Document) -> Vec<&str> {
        let lists = document.blocks.iter().filter_map(|block| match block {
            Block::List(list) => Some(list),
            _ => None,
        });
        lists.flat_map(|list| &list.items).map(|item| item.text.as_str()).collect()
    }

    #[test]
    fn terms_and_definitions_make_one_item_until_another_term_comes() {
        let mut builder = Builder::default();
        let list = builder.open(Part::List(Ordering::Unordered));
        let parts = [
            (Part::Term, "a"),
            (Part::Term, "b"),
            (Part::Definition, "one"),
            (Part::Definition, "two"),
            (Part::Term, "c"),
            (Part::Term, ""),
            (Part::Definition, "three"),
            (Part::Item, "d"),
            (Part::Definition, "four"),
        ];
        for (part, text) in parts {
            put(&mut builder, part, text);
        }
        builder.text("stray");
        put(&mut builder, Part::Definition, "five");
        builder.close(list);
        assert_eq!(items(&builder.finish()), ["a, b: one; two", "c: three", "d", "four", "stray", "five"]);
    }

    #[test]
    fn a_term_with_very_many_definitions_is_read_in_one_pass() {
        // Copying the item for each definition would not end in an hour.
        const DEFINITIONS: usize = 300_000;
        let mut builder = Builder::default();
        let list = builder.open(Part::List(Ordering::Unordered));
        put(&mut builder, Part::Term, "a");
        for _ in 0..DEFINITIONS {
            put(&mut builder, Part::Definition, "b");
        }
        builder.close(list);
        assert_eq!(items(&builder.finish())[0].len(), "a".len() + DEFINITIONS * "; b".len());
    }
}
