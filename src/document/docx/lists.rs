//! Word has no lists, only paragraphs with a level: this opens and closes the lists that they mean.
//!
//! Takes the place of each paragraph, gives nested lists through the builder.
//! Invariant: what is opened is closed in reverse order.

use super::super::Ordering;
use super::super::builder::{Builder, Opened, Part};
use super::styles::Numbered;

/// The open lists of the text, a cell or a text box; outermost first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    open: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    at: Numbered,
    ordered: Ordering,
    list: Opened,
    item: Opened,
}

impl Lists {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Opens an item, after closing what cannot hold it.
    pub(super) fn enter(&mut self, at: Numbered, ordered: Ordering, builder: &mut Builder) {
        while self.open.last().is_some_and(|level| level.at.depth > at.depth) {
            self.close_last(builder);
        }
        if let Some(level) = self.open.last().filter(|level| level.at.depth == at.depth) {
            // Numbers that belong to another list start anew; bullets only look alike.
            let same = level.ordered == ordered && (level.at.list == at.list || ordered == Ordering::Unordered);
            if same {
                builder.close(level.item);
                let item = builder.open(Part::Item);
                if let Some(level) = self.open.last_mut() {
                    level.item = item;
                }
                return;
            }
            self.close_last(builder);
        }
        let list = builder.open(Part::List(ordered));
        let item = builder.open(Part::Item);
        self.open.push(Level { at, ordered, list, item });
    }

    fn close_last(&mut self, builder: &mut Builder) {
        if let Some(level) = self.open.pop() {
            builder.close(level.item);
            builder.close(level.list);
        }
    }

    pub(super) fn close(&mut self, builder: &mut Builder) {
        while self.is_open() {
            self.close_last(builder);
        }
    }
}
