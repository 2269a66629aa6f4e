//! Lists as text.
//!
//! Takes a list; gives the text to embed and to show to the model, whole or in parts.
//! Invariants: every item is in the text, below its parent; a part inside an item repeats the items around it; works
//! without recursion at any depth.
//! Not here: passages (`passage`).

use std::fmt::Write as _;
use std::ops::Range;

use super::balance::balance;
use super::passage::{cut, head};
use super::token_counter::TokenCounter;
use crate::{List, ListItem, Ordering};

/// Maximum indentation in columns: with ten thousand levels the text would be mostly indentation.
const DEEPEST_INDENT: usize = 120;

/// A list as text, with nesting as indentation.
pub(super) struct DrawnList {
    pub(super) text: String,
    /// Every item in reading order.
    items: Vec<Drawn>,
}

/// Start of an item in the text, and its depth.
#[derive(Clone, Copy)]
struct Drawn {
    start: usize,
    depth: usize,
}

/// Sibling items with their nested items, or a piece of an item that is too long.
pub(super) struct Items {
    /// The enclosing items, shortened if long; empty for outermost items.
    pub(super) introduction: String,
    /// Byte range of their text.
    pub(super) text: Range<usize>,
    /// The numbers of the first and last outermost item they belong to, from 1.
    pub(super) numbers: (usize, usize),
    /// Number of the piece of one outermost item, from 1.
    pub(super) part: Option<usize>,
}

/// Siblings that are still to be divided.
struct Siblings {
    items: Vec<usize>,
    introduction: String,
    outermost: Option<usize>,
}

/// Remaining work, in reading order.
enum Task {
    Divide(Siblings),
    Write(Items),
}

impl DrawnList {
    pub(super) fn new(list: &List) -> Self {
        let mut drawn = Self { text: String::new(), items: Vec::new() };
        // Open lists, outermost first.
        let mut open = vec![Open { list, next: 0, number: 1, indent: 0, depth: 0 }];
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
            let depth = current.depth;
            drawn.items.push(Drawn { start: drawn.text.len(), depth });
            let inner = drawn.add(item, &mark(ordered, number), indent);
            // The last one opened is drawn first.
            let nested = item.nested.iter().rev();
            open.extend(nested.map(|list| Open { list, next: 0, number: 1, indent: inner, depth: depth + 1 }));
        }
        drawn.text.truncate(drawn.text.trim_end().len());
        drawn
    }

    /// Adds an item's own text; gives the indentation of its nested lists.
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

    /// The list in parts of at most `longest` tokens: cut between outermost items, a longer item between the items
    /// within it, each part with its enclosing items; a longer item without nested ones is cut like a passage.
    pub(super) fn parts(&self, longest: usize, measure: &TokenCounter<'_>) -> Vec<Items> {
        let outermost = self.within(None);
        if measure.fits(&self.text, longest) {
            let (introduction, numbers) = (String::new(), (1, outermost.len()));
            return vec![Items { introduction, text: 0..self.text.len(), numbers, part: None }];
        }
        let mut parts: Vec<Items> = Vec::new();
        let whole = Siblings { items: outermost, introduction: String::new(), outermost: None };
        let mut tasks = vec![Task::Divide(whole)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Write(items) => parts.push(items),
                Task::Divide(siblings) => {
                    let divided = self.divide(&siblings, longest, measure);
                    tasks.extend(divided.into_iter().rev());
                }
            }
        }
        number_pieces(&mut parts);
        parts
    }

    fn divide(&self, siblings: &Siblings, longest: usize, measure: &TokenCounter<'_>) -> Vec<Task> {
        let Siblings { items, introduction, outermost } = siblings;
        let lengths: Vec<usize> = items.iter().map(|item| measure.count(&self.text[self.all(*item)])).collect();
        // The repeated text takes at most half of a part.
        let room = longest.saturating_sub(measure.count(introduction)).max(longest / 2);
        let mut tasks = Vec::new();
        for part in balance(&lengths, room) {
            let (Some(first), Some(last)) = (items.get(part.start), items.get(part.end - 1)) else { continue };
            let numbers = outermost.map_or((part.start + 1, part.end), |number| (number, number));
            let write = |text: Range<usize>| {
                let end = text.start + self.text[text.clone()].trim_end().len();
                let introduction = introduction.clone();
                Task::Write(Items { introduction, text: text.start..end, numbers, part: None })
            };
            if part.len() > 1 || lengths[part.start] <= room {
                tasks.push(write(self.all(*first).start..self.all(*last).end));
                continue;
            }
            let (own, inner) = (self.own(*first), self.within(Some(*first)));
            let own_text = &self.text[own.clone()];
            let above = format!("{introduction}{own_text}");
            let is_short = !inner.is_empty() && measure.fits(&above, longest / 2);
            if !is_short {
                let pieces = cut(own_text, room, measure).into_iter();
                tasks.extend(pieces.map(|piece| write(own.start + piece.start..own.start + piece.end)));
            }
            if !inner.is_empty() {
                let short = || format!("{}\n", head(own_text, longest / 2, measure));
                let introduction = if is_short { above } else { short() };
                let outermost = Some(numbers.0);
                tasks.push(Task::Divide(Siblings { items: inner, introduction, outermost }));
            }
        }
        tasks
    }

    /// The items directly within one, or the outermost ones.
    fn within(&self, item: Option<usize>) -> Vec<usize> {
        let (from, depth) = item.map_or((0, 0), |item| (item + 1, self.items[item].depth + 1));
        let inner = self.items.iter().enumerate().skip(from).take_while(|(_, inner)| inner.depth >= depth);
        inner.filter(|(_, inner)| inner.depth == depth).map(|(at, _)| at).collect()
    }

    /// The bytes of an item's own text.
    fn own(&self, item: usize) -> Range<usize> {
        self.items[item].start..self.items.get(item + 1).map_or(self.text.len(), |next| next.start)
    }

    /// The bytes of an item with all that is nested in it.
    fn all(&self, item: usize) -> Range<usize> {
        let Drawn { start, depth } = self.items[item];
        let next = self.items[item + 1..].iter().find(|next| next.depth <= depth);
        start..next.map_or(self.text.len(), |next| next.start)
    }
}

/// Numbers the pieces of each outermost item that became several.
fn number_pieces(parts: &mut [Items]) {
    for pieces in parts.chunk_by_mut(|a, b| a.numbers == b.numbers) {
        if pieces.len() > 1 {
            (1..).zip(pieces).for_each(|(number, piece)| piece.part = Some(number));
        }
    }
}

/// A list that is being drawn.
struct Open<'a> {
    list: &'a List,
    next: usize,
    number: usize,
    indent: usize,
    depth: usize,
}

fn mark(ordered: Ordering, number: usize) -> String {
    match ordered {
        Ordering::Unordered => "- ".to_owned(),
        Ordering::Ordered => format!("{number}. "),
    }
}

/// Whether an item has text or nested items.
fn says_something(item: &ListItem) -> bool {
    !item.text.trim().is_empty() || item.nested.iter().any(|list| !list.items.is_empty())
}
