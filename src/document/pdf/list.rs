//! Makes lists from items and their indentation.
//!
//! Takes items, gives list blocks.
//! Invariants: an item further right belongs to the item above it; a number is written out if counting from 1 would not
//! give it; a single number makes no list.

use super::page_layout::Placed;
use super::paragraph::{Marker, append};
use crate::builder::{Builder, Opened, Part};
use crate::{Block, Ordering};

/// Maximum difference of aligned markers, in points.
const NEAR: f64 = 4.0;

#[derive(Debug, Clone)]
pub(super) struct Item {
    marker: Marker,
    text: String,
    /// Where its marker and its text begin.
    left: f64,
    text_left: f64,
    last: Placed,
}

impl Item {
    pub(super) fn new(marker: Marker, text: &str, placed: &Placed) -> Self {
        let left = placed.line.left;
        let text_left = placed.line.words.get(1).map_or(left + placed.line.size, |word| word.left);
        Self { marker, text: text.to_owned(), left, text_left, last: placed.clone() }
    }

    /// Whether a line without marker continues the item.
    pub(super) fn takes(&self, placed: &Placed) -> bool {
        let (line, last) = (&placed.line, &self.last.line);
        let size = line.size;
        if (size - last.size).abs() > 0.12 * size {
            return false;
        }
        let step = line.base - last.base;
        if self.last.region != placed.region || step <= 0.0 {
            return line.text().starts_with(char::is_lowercase) && !self.text.ends_with(['.', '!', '?']);
        }
        let inside = line.left > self.left + 0.3 * size;
        // Items with lines below their marker are detected by distance alone.
        let hanging = line.left > self.left - NEAR && line.text().starts_with(char::is_lowercase);
        let near = (line.left - self.text_left).abs() < 1.5 * size;
        step < 1.7 * size && ((inside && (near || line.left < self.text_left)) || hanging)
    }

    /// Whether an item that begins here stands below this one.
    pub(super) fn is_beside(&self, placed: &Placed) -> bool {
        (placed.line.left - self.left).abs() < NEAR
    }

    pub(super) fn append(&mut self, placed: &Placed, text: &str) {
        append(&mut self.text, text);
        self.last = placed.clone();
    }

    fn written(&self) -> String {
        match &self.marker {
            Marker::Bullet | Marker::Dash => self.text.clone(),
            Marker::Task(task) => format!("{task}{}", self.text),
            Marker::Number(number, _) => format!("{number} {}", self.text),
        }
    }
}

/// An open list: its indentation, its counting, and what to close.
struct Open {
    left: f64,
    ordered: Ordering,
    list: Opened,
    item: Opened,
}

/// The blocks of items that follow each other.
pub(super) fn lists(items: &[Item]) -> Vec<Block> {
    if let [Item { marker: Marker::Number(..), .. }] = items {
        return items.iter().map(|item| Block::Text(item.written())).collect();
    }
    let mut builder = Builder::default();
    let mut open: Vec<Open> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        while open.len() > 1 && open.last().is_some_and(|list| item.left < list.left - NEAR) {
            if let Some(list) = open.pop() {
                builder.close(list.item);
                builder.close(list.list);
            }
        }
        if let Some(list) = open.last_mut().filter(|list| item.left <= list.left + NEAR) {
            builder.close(list.item);
            list.left = item.left;
            list.item = builder.open(Part::Item);
        } else {
            let ordered = ordering(&items[at..]);
            let list = builder.open(Part::List(ordered));
            open.push(Open { left: item.left, ordered, list, item: builder.open(Part::Item) });
        }
        let counted = open.last().is_some_and(|list| list.ordered == Ordering::Ordered);
        let text = if counted { item.text.clone() } else { item.written() };
        builder.text(&text.replace('\u{ad}', ""));
    }
    while let Some(list) = open.pop() {
        builder.close(list.item);
        builder.close(list.list);
    }
    builder.finish().blocks
}

/// Whether the items beside the first one are numbered 1, 2, 3.
fn ordering(items: &[Item]) -> Ordering {
    let left = items.first().map_or(0.0, |item| item.left);
    let siblings = items.iter().take_while(|item| item.left > left - NEAR).filter(|item| item.left <= left + NEAR);
    for (expected, item) in (1..).zip(siblings) {
        let digits = matches!(&item.marker, Marker::Number(word, number)
            if *number == expected && word.starts_with(|c: char| c.is_ascii_digit()));
        if !digits {
            return Ordering::Unordered;
        }
    }
    Ordering::Ordered
}
