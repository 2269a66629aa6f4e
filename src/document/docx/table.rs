//! The layout of a Word table, and its caption.
//!
//! Takes a table element, gives the span and look of each cell.
//! Invariants: one pass over the table's own rows, so nested tables cost nothing twice; a cell that continues a merged
//! one is covered, not repeated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use roxmltree::{Node, NodeId};

use super::super::builder::CellMarks;
use super::super::package::{attribute, child};
use super::styles::{Role, Styles, shade, switch};
use super::text::plain;
use ragonite_base::clean_line;

/// Maximum of columns; Word allows 63.
const WIDEST: usize = 256;

/// A cell to open.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub marks: CellMarks,
    /// Bold by the table's style.
    pub bold: bool,
}

/// A table's rows and cells; elements that are missing here are not shown.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Rows by element.
    pub rows: HashMap<NodeId, Row>,
    pub cells: HashMap<NodeId, Cell>,
}

/// A row to open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row {
    pub indent: usize,
    /// Repeated at the top of every page.
    pub is_head: bool,
}

/// Lays out a table.
pub(super) fn lay_out(table: Node<'_, '_>, styles: &Styles) -> Layout {
    let look = table_look(table, styles);
    let mut layout = Layout::default();
    // Merged cells of the row above by first column.
    let mut above: HashMap<usize, NodeId> = HashMap::new();
    let mut in_head = true;
    for (number, row) in members(table, "tr").into_iter().filter(|row| !is_deleted(*row)).enumerate() {
        let properties = child(row, "trPr");
        in_head &= properties.and_then(|node| switch(node, "tblHeader")).unwrap_or(false);
        let indent = properties.map_or(0, |node| number_in(node, "gridBefore", 0));
        layout.rows.insert(row.id(), Row { indent, is_head: in_head });
        let mut column = indent;
        let mut merged = HashMap::new();
        for cell in members(row, "tc") {
            let properties = child(cell, "tcPr");
            let columns = properties.map_or(1, |node| number_in(node, "gridSpan", 1));
            let merge = properties.and_then(|node| child(node, "vMerge"));
            let starts = merge.is_some_and(|node| attribute(node, "val") == Some("restart"));
            let start = above.get(&column).copied().filter(|_| merge.is_some() && !starts);
            if let Some(cell) = start.and_then(|start| layout.cells.get_mut(&start)) {
                cell.marks.rows += 1;
            } else {
                let shade = properties.and_then(shade).map(Arc::from);
                let header = number == 0 && look.marks_first_row;
                let bold = column == 0 && look.bold_first_column;
                layout.cells.insert(cell.id(), Cell { marks: CellMarks { header, shade, columns, rows: 1 }, bold });
            }
            if merge.is_some() {
                merged.insert(column, start.unwrap_or(cell.id()));
            }
            column += columns;
        }
        above = merged;
    }
    layout
}

/// The marks of its style that a table uses.
fn table_look(table: Node<'_, '_>, styles: &Styles) -> super::styles::TableLook {
    let properties = child(table, "tblPr");
    let style = properties.and_then(|node| child(node, "tblStyle")).and_then(|node| attribute(node, "val"));
    let mut look = styles.look(style);
    if let Some(used) = properties.and_then(|node| child(node, "tblLook")) {
        // Old files store the switches as bits of one number.
        let bits = attribute(used, "val").and_then(|bits| u32::from_str_radix(bits, 16).ok());
        let uses = |name: &str, bit: u32| match attribute(used, name) {
            Some(value) => matches!(value, "1" | "true" | "on"),
            None => bits.is_none_or(|bits| bits & bit != 0),
        };
        look.marks_first_row &= uses("firstRow", 0x20);
        look.bold_first_column &= uses("firstColumn", 0x80);
    }
    look
}

fn number_in(properties: Node<'_, '_>, name: &str, least: usize) -> usize {
    let value = child(properties, name).and_then(|node| attribute(node, "val"));
    value.and_then(|value| value.parse().ok()).unwrap_or(least).clamp(least, WIDEST)
}

fn is_deleted(row: Node<'_, '_>) -> bool {
    child(row, "trPr").is_some_and(|properties| child(properties, "del").is_some())
}

/// The rows of a table or cells of a row, also inside content controls.
fn members<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Vec<Node<'a, 'i>> {
    let mut found = Vec::new();
    let mut todo: Vec<Node<'a, 'i>> = node.children().filter(Node::is_element).rev().collect();
    while let Some(node) = todo.pop() {
        match node.tag_name().name() {
            found_name if found_name == name => found.push(node),
            "sdt" | "sdtContent" | "customXml" | "ins" | "moveTo" => {
                todo.extend(node.children().filter(Node::is_element).rev());
            }
            _ => {}
        }
    }
    found
}

/// Captions of tables, and their paragraphs.
#[derive(Debug, Default)]
pub(super) struct Captions {
    pub of_table: HashMap<NodeId, String>,
    pub claimed: HashSet<NodeId>,
}

impl Captions {
    /// Finds the caption above or below each table.
    pub(super) fn find(root: Node<'_, '_>, styles: &Styles) -> Self {
        let mut captions = Self::default();
        let mut below = false;
        for table in root.descendants().filter(|node| node.tag_name().name() == "tbl") {
            let free = |node: &Node<'_, '_>| is_caption(*node, styles) && !captions.claimed.contains(&node.id());
            let before = beside(table, Node::prev_sibling_element).filter(free);
            let after = beside(table, Node::next_sibling_element).filter(free);
            // A caption between two tables belongs to the lower one, unless this document puts captions below.
            let leads_on = |node: &Node<'_, '_>| {
                beside(*node, Node::next_sibling_element).is_some_and(|next| next.tag_name().name() == "tbl")
            };
            let after = after.filter(|node| below || !leads_on(node));
            let caption = if below { after.or(before) } else { before.or(after) };
            if let Some(caption) = caption {
                below = Some(caption) == after;
                captions.claimed.insert(caption.id());
                captions.of_table.insert(table.id(), plain(caption));
            } else if let Some(text) = own_caption(table) {
                captions.of_table.insert(table.id(), text);
            }
        }
        captions
    }
}

/// The caption in a table's properties.
fn own_caption(table: Node<'_, '_>) -> Option<String> {
    let caption = child(child(table, "tblPr")?, "tblCaption")?;
    attribute(caption, "val").map(clean_line).filter(|text| !text.is_empty())
}

/// The nearest neighbour with content.
fn beside<'a, 'i>(node: Node<'a, 'i>, next: impl Fn(&Node<'a, 'i>) -> Option<Node<'a, 'i>>) -> Option<Node<'a, 'i>> {
    /// Maximum of bookmarks and empty paragraphs between caption and table.
    const FARTHEST: usize = 6;
    let mut at = node;
    for _ in 0..FARTHEST {
        at = next(&at)?;
        let is_paragraph = at.tag_name().name() == "p";
        if at.tag_name().name() == "tbl" || (is_paragraph && !plain(at).is_empty()) {
            return Some(at);
        }
    }
    None
}

fn is_caption(node: Node<'_, '_>, styles: &Styles) -> bool {
    if node.tag_name().name() != "p" {
        return false;
    }
    let style = child(node, "pPr").and_then(|node| child(node, "pStyle")).and_then(|node| attribute(node, "val"));
    let text = plain(node).to_lowercase();
    styles.role(style) == Role::Caption && !text.starts_with("fig") && !text.starts_with("abb")
}
