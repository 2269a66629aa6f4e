//! Builds a document's blocks from opening and closing parts, whatever the format.
//!
//! Takes parts and text in reading order, gives [`Block`]s.
//! Invariants: works without recursion; lists nest at most [`DEEPEST_LIST`] deep; no text that is put in is lost, also
//! where parts stand in places where no format allows them.
//! Not here: which element is which part (`html`, `confluence`, `markdown`), what a cell says (`cell`) and what a table is for (`table`).

use std::sync::Arc;

use super::cell::{OpenCell, RawCell, Weight};
use super::grid::Room;
use super::run::{Gap, Run, Shape};
use super::table::RawTable;
use super::{Block, List, ListItem, Ordering};

/// Deeper lists continue in the list of this depth. Keeps whatever walks a list from running out of stack.
pub(super) const DEEPEST_LIST: usize = 24;

/// Deeper tables are written as text where they stand.
const DEEPEST_TABLE: usize = 8;

/// A part of a page that has a start and an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A paragraph or any other box with text.
    Block,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// Code or other text whose lines count.
    Code,
    /// Bold text, which may mark a header cell.
    Bold,
    /// A list.
    List(Ordering),
    /// An item of a list.
    Item,
    /// A table.
    Table,
    /// A row; whether it stands among header, body or footer rows.
    Row(Section),
    /// A cell.
    Cell(CellMarks),
    /// A table's caption.
    Caption,
}

/// Where in its table a row stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Section {
    Head,
    #[default]
    Body,
    Foot,
}

/// What the source says of a cell besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CellMarks {
    /// Marked as header cell.
    pub header: bool,
    /// Background colour, where there is one.
    pub shade: Option<Arc<str>>,
    pub columns: usize,
    pub rows: usize,
}

/// What an opened part must undo; returned by [`Builder::open`], given back to [`Builder::close`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Opened {
    Frame,
    /// A part written as text, with the gap that ends it.
    Flat(Gap),
    Code(Gap),
    Bold,
}

#[derive(Debug)]
enum Frame {
    Heading(u8, Run),
    List(List),
    Item(Run, ListItem),
    Table(RawTable),
    Row(Section, Vec<RawCell>),
    Cell(Box<OpenCell>),
    Caption(Run),
}

/// The blocks so far, and what is open.
#[derive(Debug, Default)]
pub(super) struct Builder {
    blocks: Vec<Block>,
    paragraph: Run,
    frames: Vec<Frame>,
    /// Tables met inside list items: they follow their list, which stays whole.
    hoisted: Vec<Block>,
    /// What the tables of the document may still take.
    room: Room,
    tables: usize,
    lists: usize,
    bold: usize,
    code: usize,
}

impl Builder {
    /// Opens a part. Where it cannot stand, its text still goes to where the reader would see it.
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
            _ => {}
        }
        match (self.frames.last(), part) {
            (None | Some(Frame::Item(..) | Frame::Cell(_)), Part::Table) if self.tables < DEEPEST_TABLE => {
                self.tables += 1;
                self.push(Frame::Table(RawTable::default()))
            }
            (None | Some(Frame::Cell(_)), Part::Heading(level)) => {
                self.push(Frame::Heading(level, Run::new(Shape::OneLine)))
            }
            (None | Some(Frame::Item(..) | Frame::List(_) | Frame::Cell(_)), Part::List(ordered))
                if self.lists < DEEPEST_LIST =>
            {
                self.lists += 1;
                self.push(Frame::List(List { ordered, items: Vec::new() }))
            }
            (Some(Frame::List(_)), Part::Item) => self.push(Frame::Item(Run::new(Shape::Lines), ListItem::default())),
            (Some(Frame::Table(_)), Part::Row(section)) => self.push(Frame::Row(section, Vec::new())),
            (Some(Frame::Table(_)), Part::Caption) => self.push(Frame::Caption(Run::new(Shape::OneLine))),
            (Some(Frame::Row(..)), Part::Cell(marks)) => self.push(Frame::Cell(Box::new(OpenCell::new(marks)))),
            (_, part) => {
                let gap = flat_gap(&part);
                self.border(gap);
                Opened::Flat(gap)
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
        }
    }

    fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match (frame, self.frames.last_mut()) {
            (Frame::Heading(level, mut run), parent) => {
                let text = run.take();
                let heading = Block::Heading { level: level.clamp(1, 6), text: text.clone() };
                match parent {
                    _ if text.is_empty() => {}
                    Some(Frame::Cell(cell)) => cell.add(vec![heading]),
                    _ => self.blocks.push(heading),
                }
            }
            (Frame::Item(mut run, mut item), Some(Frame::List(list))) => {
                item.text = run.take();
                if !item.text.is_empty() || !item.nested.is_empty() {
                    list.items.push(item);
                }
            }
            (Frame::List(list), parent) => {
                self.lists -= 1;
                if list.items.is_empty() {
                    return;
                }
                match parent {
                    Some(Frame::Item(_, item)) => item.nested.push(list),
                    Some(Frame::List(outer)) => match outer.items.last_mut() {
                        Some(item) => item.nested.push(list),
                        None => outer.items.push(ListItem { text: String::new(), nested: vec![list] }),
                    },
                    Some(Frame::Cell(cell)) => cell.add(vec![Block::List(list)]),
                    _ => {
                        self.blocks.push(Block::List(list));
                        self.blocks.append(&mut self.hoisted);
                    }
                }
            }
            (Frame::Cell(cell), Some(Frame::Row(_, cells))) => cells.push(cell.close()),
            (Frame::Row(section, cells), Some(Frame::Table(table))) => table.push(section, cells),
            (Frame::Caption(mut run), Some(Frame::Table(table))) => table.add_caption(&run.take()),
            (Frame::Table(table), _) => self.close_table(table),
            (Frame::Item(..) | Frame::Cell(..) | Frame::Row(..) | Frame::Caption(_), _) => {}
        }
    }

    fn close_table(&mut self, table: RawTable) {
        self.tables = self.tables.saturating_sub(1);
        let blocks = table.into_blocks(&mut self.room);
        match self.frames.last_mut() {
            None => self.blocks.extend(blocks),
            Some(Frame::Cell(cell)) => cell.add_table(blocks),
            Some(_) => match self.cell() {
                Some(cell) => cell.hoist(blocks),
                None => self.hoisted.extend(blocks),
            },
        }
    }

    /// The innermost cell that is open.
    fn cell(&mut self) -> Option<&mut OpenCell> {
        self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Cell(cell) => Some(cell.as_mut()),
            _ => None,
        })
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
        if let Some(Frame::List(list)) = self.frames.last_mut() {
            // Text between the items of a list belongs to no item; it must not be lost.
            let mut run = Run::new(Shape::Lines);
            run.push(text);
            let text = run.take();
            if !text.is_empty() {
                list.items.push(ListItem { text, nested: Vec::new() });
            }
            return;
        }
        let run = self.run();
        if code { run.push_code(text) } else { run.push(text) }
    }

    /// A line break inside running text.
    pub(super) fn line_break(&mut self) {
        self.run().gap(Gap::Line);
    }

    /// A border between two pieces; at the outermost level a new block begins.
    fn border(&mut self, gap: Gap) {
        if self.frames.is_empty() {
            self.flush();
        } else {
            self.run().gap(gap);
        }
    }

    /// Where text goes now.
    fn run(&mut self) -> &mut Run {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Heading(_, run) | Frame::Item(run, _) | Frame::Caption(run) => Some(run),
            Frame::Cell(cell) => Some(&mut cell.run),
            Frame::List(_) | Frame::Table(_) | Frame::Row(..) => None,
        });
        inner.unwrap_or(&mut self.paragraph)
    }

    fn flush(&mut self) {
        let text = self.paragraph.take();
        if !text.trim().is_empty() {
            self.blocks.push(Block::Text(text));
        }
    }

    /// The blocks, with everything that is still open closed.
    pub(super) fn finish(mut self) -> Vec<Block> {
        while !self.frames.is_empty() {
            self.close_frame();
        }
        self.flush();
        self.blocks.append(&mut self.hoisted);
        self.blocks
    }
}

/// How a part is set off where it is written as text.
fn flat_gap(part: &Part) -> Gap {
    match part {
        Part::List(_) | Part::Item | Part::Table | Part::Row(_) => Gap::Item,
        Part::Cell(_) => Gap::Cell,
        _ => Gap::Line,
    }
}
