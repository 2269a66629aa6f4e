//! Builds a document's blocks from opening and closing parts, whatever the format.
//!
//! Takes parts and text in reading order, gives [`Block`]s.
//! Invariants: works without recursion; lists nest at most [`DEEPEST_LIST`] deep; no text that is put in is lost, also
//! where parts stand in places where no format allows them.
//! Not here: which element is which part (`html`, `confluence`, `markdown`), what a table's header is (`grid`).

use std::sync::Arc;

use super::grid::{RawCell, RawTable};
use super::run::{Gap, Run, Shape};
use super::{Block, List, ListItem, Ordering};

/// Deeper lists continue in the list of this depth. Keeps whatever walks a list from running out of stack.
pub(super) const DEEPEST_LIST: usize = 24;

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
    Cell(CellMarks, Run, Weight),
    Caption(Run),
}

/// How much of a cell is bold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Weight {
    #[default]
    Unknown,
    Bold,
    Plain,
}

/// The blocks so far, and what is open.
#[derive(Debug, Default)]
pub(super) struct Builder {
    blocks: Vec<Block>,
    paragraph: Run,
    frames: Vec<Frame>,
    /// Tables met inside list items: they follow their list, which stays whole.
    hoisted: Vec<Block>,
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
            (None | Some(Frame::Item(..)), Part::Table) => self.push(Frame::Table(RawTable::default())),
            (None, Part::Heading(level)) => {
                self.flush();
                self.push(Frame::Heading(level, Run::new(Shape::OneLine)))
            }
            (None | Some(Frame::Item(..) | Frame::List(_)), Part::List(ordered)) if self.lists < DEEPEST_LIST => {
                self.lists += 1;
                self.push(Frame::List(List { ordered, items: Vec::new() }))
            }
            (Some(Frame::List(_)), Part::Item) => self.push(Frame::Item(Run::new(Shape::Lines), ListItem::default())),
            (Some(Frame::Table(_)), Part::Row(section)) => self.push(Frame::Row(section, Vec::new())),
            (Some(Frame::Table(_)), Part::Caption) => self.push(Frame::Caption(Run::new(Shape::OneLine))),
            (Some(Frame::Row(..)), Part::Cell(marks)) => {
                self.push(Frame::Cell(marks, Run::new(Shape::Lines), Weight::Unknown))
            }
            (_, part) => {
                let gap = flat_gap(&part);
                self.border(gap);
                Opened::Flat(gap)
            }
        }
    }

    fn push(&mut self, frame: Frame) -> Opened {
        if self.frames.is_empty() {
            self.flush();
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
            (Frame::Heading(level, mut run), _) => {
                let text = run.take();
                if !text.is_empty() {
                    self.blocks.push(Block::Heading { level: level.clamp(1, 6), text });
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
                    _ => {
                        self.blocks.push(Block::List(list));
                        self.blocks.append(&mut self.hoisted);
                    }
                }
            }
            (Frame::Cell(marks, mut run, weight), Some(Frame::Row(_, cells))) => {
                cells.push(RawCell { text: run.take(), bold: weight == Weight::Bold, marks });
            }
            (Frame::Row(section, cells), Some(Frame::Table(table))) => table.push(section, cells),
            (Frame::Caption(mut run), Some(Frame::Table(table))) => table.caption = run.take(),
            (Frame::Table(table), parent) => {
                let hoist = parent.is_some();
                let blocks = table.into_blocks();
                if hoist { self.hoisted.extend(blocks) } else { self.blocks.extend(blocks) }
            }
            (Frame::Item(..) | Frame::Cell(..) | Frame::Row(..) | Frame::Caption(_), _) => {}
        }
    }

    /// Adds text at the current place.
    pub(super) fn text(&mut self, text: &str) {
        let (bold, code) = (self.bold > 0, self.code > 0);
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
        if let Some(Frame::Cell(_, _, weight)) = self.frames.last_mut()
            && text.chars().any(char::is_alphanumeric)
        {
            *weight = if bold && *weight != Weight::Plain { Weight::Bold } else { Weight::Plain };
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
            Frame::Heading(_, run) | Frame::Item(run, _) | Frame::Cell(_, run, _) | Frame::Caption(run) => Some(run),
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
