//! Lists as text.
//!
//! Takes a list, gives the text that is embedded and shown to the model, and where its items begin.
//! Invariants: every item is in the text, below its parent; works without recursion, whatever the depth.

use std::fmt::Write as _;
use std::ops::Range;

use super::measure::Measure;
use super::pack::pack;
use crate::document::{List, ListItem, Ordering};

/// Nesting beyond so many columns is drawn no deeper: in a list of ten thousand levels the indentation would be all.
const DEEPEST_INDENT: usize = 120;

/// A list, nesting drawn by indentation.
pub(super) struct DrawnList {
    pub(super) text: String,
    /// Where the outermost items begin in the text.
    items: Vec<usize>,
}

/// Some outermost items with all that is nested in them.
pub(super) struct Items {
    /// Their text, as bytes of the list's text.
    pub(super) text: Range<usize>,
    /// Their numbers, from 1.
    pub(super) numbers: (usize, usize),
}

impl DrawnList {
    pub(super) fn new(list: &List) -> Self {
        let mut drawn = Self { text: String::new(), items: Vec::new() };
        // Lists that are not finished, outermost first.
        let mut open = vec![Open { list, next: 0, number: 1, indent: 0 }];
        while let Some(current) = open.last_mut() {
            let Some(item) = current.list.items.get(current.next) else {
                open.pop();
                continue;
            };
            current.next += 1;
            if !says_something(item) {
                continue;
            }
            let (number, indent) = (current.number, current.indent);
            current.number += 1;
            let ordered = current.list.ordered;
            if open.len() == 1 {
                drawn.items.push(drawn.text.len());
            }
            let inner = drawn.add(item, &mark(ordered, number), indent);
            // The last one opened is drawn first.
            open.extend(item.nested.iter().rev().map(|list| Open { list, next: 0, number: 1, indent: inner }));
        }
        drawn.text.truncate(drawn.text.trim_end().len());
        drawn
    }

    /// Adds an item's own text; gives the indentation of what is nested in it.
    fn add(&mut self, item: &ListItem, mark: &str, indent: usize) -> usize {
        let mut lines = item.text.lines();
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{mark}{}", "", lines.next().unwrap_or_default());
        let inner = (indent + mark.len()).min(DEEPEST_INDENT);
        for line in lines {
            let _ = writeln!(self.text, "{:inner$}{line}", "");
        }
        inner
    }

    /// The list in parts of at most `longest` tokens; a single longer item stays whole.
    pub(super) fn parts(&self, longest: usize, measure: &Measure<'_>) -> Vec<Items> {
        let whole = || vec![Items { text: 0..self.text.len(), numbers: (1, self.items.len()) }];
        if measure.fits(&self.text, longest) {
            return whole();
        }
        let ends = self.items.iter().skip(1).copied().chain([self.text.len()]);
        let texts: Vec<Range<usize>> = self.items.iter().zip(ends).map(|(start, end)| *start..end).collect();
        let lengths: Vec<usize> = texts.iter().map(|range| measure.count(&self.text[range.clone()])).collect();
        let parts = pack(&lengths, longest).into_iter().filter_map(|part| {
            let range = texts.get(part.start)?.start..texts.get(part.end - 1)?.end;
            let end = range.start + self.text[range.clone()].trim_end().len();
            Some(Items { text: range.start..end, numbers: (part.start + 1, part.end) })
        });
        parts.collect()
    }
}

/// A list that is being drawn.
struct Open<'a> {
    list: &'a List,
    next: usize,
    number: usize,
    indent: usize,
}

fn mark(ordered: Ordering, number: usize) -> String {
    match ordered {
        Ordering::Unordered => "- ".to_owned(),
        Ordering::Ordered => format!("{number}. "),
    }
}

/// Whether an item has text of its own or items in it.
fn says_something(item: &ListItem) -> bool {
    !item.text.trim().is_empty() || item.nested.iter().any(|list| !list.items.is_empty())
}
