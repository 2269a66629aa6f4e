//! Scroll positions: a scroll that may follow its end, and an outline with foldable sections.
//!
//! Invariant: a position is always within the last drawn lines.

use std::collections::BTreeSet;
use std::ops::Range;

/// Direction and distance of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Up,
    Down,
    PageUp,
    PageDown,
    HalfUp,
    HalfDown,
    First,
    Last,
}

impl Step {
    /// The index after a step from `at`, among `total` entries with `page` visible.
    pub(super) fn from(self, at: usize, page: usize, total: usize) -> usize {
        let last = total.saturating_sub(1);
        let page = page.max(1);
        let to = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at + 1,
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at + page,
            Self::HalfUp => at.saturating_sub(page.div_ceil(2)),
            Self::HalfDown => at + page.div_ceil(2),
            Self::First => 0,
            Self::Last => last,
        };
        to.min(last)
    }
}

/// A scroll position.
#[derive(Debug, Clone, Default)]
pub(super) struct Scroll {
    top: usize,
    height: usize,
    total: usize,
    /// Lines at the top that a sticky header may cover; pages overlap by this number, so that each line becomes
    /// visible.
    pub(super) covered: usize,
    /// Whether the end stays in view as lines are added.
    pub(super) follow: bool,
}

impl Scroll {
    /// Starts at the end and stays there.
    pub(super) fn following() -> Self {
        Self { follow: true, ..Self::default() }
    }

    /// The visible lines for this number of lines and this height.
    pub(super) fn view(&mut self, total: usize, height: usize) -> Range<usize> {
        (self.total, self.height) = (total, height);
        let last_top = total.saturating_sub(height);
        self.top = if self.follow { last_top } else { self.top.min(last_top) };
        self.top..(self.top + height).min(total)
    }

    /// The visible lines around one line.
    pub(super) fn view_around(&mut self, total: usize, height: usize, line: usize) -> Range<usize> {
        self.view(total, height);
        self.reveal(line..line + 1);
        // The heading is visible with the first entry.
        if line <= 1 {
            self.top = 0;
        }
        self.view(total, height)
    }

    pub(super) fn step(&mut self, step: Step) {
        let tops = (self.total + 1).saturating_sub(self.height);
        self.top = step.from(self.top, self.height.saturating_sub(self.covered), tops);
        self.follow = self.follow && self.top + self.height >= self.total;
    }

    /// Like [`Scroll::step`]; follows the end once it is reached.
    pub(super) fn step_and_follow(&mut self, step: Step) {
        self.step(step);
        self.follow = self.top + self.height >= self.total;
    }

    /// Brings lines into view, the first line in any case.
    pub(super) fn reveal(&mut self, lines: Range<usize>) {
        if lines.end > self.top + self.height {
            self.top = lines.end.saturating_sub(self.height);
        }
        self.top = self.top.min(lines.start);
    }

    /// Replaces the lines `before` by `lines` lines; the view stays where they are above it.
    pub(super) fn grow(&mut self, before: Range<usize>, lines: usize) {
        if before.end <= self.top {
            self.top = self.top + lines - before.len();
        }
    }

    /// Brings one line into view and stops following.
    pub(super) fn go_to(&mut self, line: usize) {
        self.follow = false;
        self.reveal(line..line + 1);
    }

    /// How many lines are below the view.
    pub(super) fn below(&self) -> usize {
        self.total.saturating_sub(self.top + self.height)
    }
}

/// Lines in sections, a cursor, and the open sections.
#[derive(Debug, Clone)]
pub(super) struct Outline<K> {
    cursor: usize,
    owners: Vec<K>,
    /// The section to which the cursor goes at the next layout.
    goal: Option<K>,
    open: BTreeSet<K>,
    scroll: Scroll,
}

impl<K: Ord + Copy> Outline<K> {
    pub(super) fn with_open(open: impl IntoIterator<Item = K>) -> Self {
        Self { cursor: 0, owners: Vec::new(), goal: None, open: open.into_iter().collect(), scroll: Scroll::default() }
    }

    pub(super) fn is_open(&self, part: K) -> bool {
        self.open.contains(&part)
    }

    /// The open sections.
    pub(super) fn opened(&self) -> BTreeSet<K> {
        self.open.clone()
    }

    /// Scrolls to the top and puts the cursor on a section at the next layout.
    pub(super) fn rewind_to(&mut self, part: K) {
        self.cursor = 0;
        self.goal = Some(part);
        self.scroll = Scroll::default();
    }

    pub(super) fn step(&mut self, step: Step) {
        self.goal = None;
        self.cursor = step.from(self.cursor, self.scroll.height, self.owners.len());
    }

    /// The line of the cursor.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The section under the cursor.
    pub(super) fn part(&self) -> Option<K> {
        self.owners.get(self.cursor).copied()
    }

    /// Puts the cursor on a line.
    pub(super) fn go_to(&mut self, line: usize) {
        self.goal = None;
        self.cursor = line;
    }

    /// Puts the cursor on a visible line, counted from the top. Returns whether a section begins there.
    pub(super) fn go_to_seen(&mut self, line: usize) -> bool {
        let line = self.scroll.top + line;
        self.go_to(line.min(self.owners.len().saturating_sub(1)));
        let before = line.checked_sub(1).and_then(|before| self.owners.get(before));
        self.owners.get(line).is_some_and(|owner| before != Some(owner))
    }

    /// Scrolls by a step; the cursor moves only to stay visible.
    pub(super) fn scroll(&mut self, step: Step) {
        self.goal = None;
        self.scroll.step(step);
        let top = self.scroll.top;
        self.cursor = self.cursor.clamp(top, top + self.scroll.height.saturating_sub(1));
    }

    /// Opens or closes the section under the cursor; the cursor goes to its first line.
    pub(super) fn toggle(&mut self) {
        let Some(part) = self.owners.get(self.cursor).copied() else { return };
        if !self.open.remove(&part) {
            self.open.insert(part);
        }
        self.goal = Some(part);
    }

    /// The section under the cursor and the line within it.
    fn held(&self) -> Option<(K, usize)> {
        let part = self.part()?;
        Some((part, self.owners[..self.cursor].iter().rev().take_while(|owner| **owner == part).count()))
    }

    /// The visible lines and the line of the cursor, given the section of each line. The cursor stays in its section
    /// when lines come or go above it.
    pub(super) fn view(&mut self, owners: Vec<K>, height: usize) -> (Range<usize>, usize) {
        let held = self.held();
        self.owners = owners;
        let first_of = |part: K| self.owners.iter().position(|owner| *owner == part);
        if let Some(line) = self.goal.and_then(first_of) {
            self.cursor = line;
            self.goal = None;
        } else if let Some((part, offset)) = held
            && let Some(first) = first_of(part)
        {
            let lines = self.owners[first..].iter().take_while(|owner| **owner == part).count();
            self.cursor = first + offset.min(lines - 1);
        }
        self.cursor = self.cursor.min(self.owners.len().saturating_sub(1));
        self.scroll.view(self.owners.len(), height);
        self.scroll.reveal(self.cursor..self.cursor + 1);
        (self.scroll.view(self.owners.len(), height), self.cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_followed_only_from_the_bottom() {
        let mut scroll = Scroll::following();
        assert_eq!(scroll.view(10, 4), 6..10);
        assert_eq!(scroll.view(12, 4), 8..12);
        scroll.step_and_follow(Step::Up);
        assert_eq!(scroll.view(14, 4), 7..11);
        assert_eq!(scroll.below(), 3);
        scroll.step_and_follow(Step::Last);
        assert_eq!(scroll.view(20, 4), 16..20);
    }

    #[test]
    fn the_cursor_stays_on_its_part_while_lines_come_above_it() {
        let mut outline = Outline::with_open([]);
        outline.view(vec!['a', 'b', 'b', 'c'], 9);
        outline.go_to(2);
        assert_eq!(outline.view(vec!['a', 'a', 'b', 'b', 'c'], 9).1, 3);
        assert_eq!(outline.view(vec!['a', 'b', 'c'], 9).1, 1, "its second line is gone");
        assert_eq!(outline.view(vec!['a', 'c'], 9).1, 1, "it is gone");
    }

    #[test]
    fn what_is_seen_stays_where_it_is_while_lines_above_it_grow() {
        let mut scroll = Scroll::default();
        scroll.view(40, 4);
        scroll.step(Step::Last);
        scroll.grow(10..12, 7);
        assert_eq!(scroll.view(45, 4), 41..45);
        scroll.grow(40..44, 1);
        assert_eq!(scroll.view(42, 4), 38..42, "what is seen itself has become less");
    }

    #[test]
    fn closing_a_part_leads_the_cursor_to_its_first_line() {
        let mut outline = Outline::with_open([2]);
        outline.view(vec![1, 2, 2, 2, 3], 10);
        outline.step(Step::Last);
        outline.step(Step::Up);
        outline.toggle();
        assert!(!outline.is_open(2));
        assert_eq!(outline.view(vec![1, 2, 3], 10), (0..3, 1));
    }

    #[test]
    fn scrolling_moves_the_cursor_only_when_it_would_leave_the_view() {
        let mut outline = Outline::with_open([]);
        let owners: Vec<usize> = (0..20).collect();
        outline.view(owners.clone(), 5);
        assert!(outline.go_to_seen(2), "a part begins on each line");
        outline.scroll(Step::Down);
        assert_eq!(outline.view(owners.clone(), 5), (1..6, 2));
        outline.scroll(Step::Down);
        outline.scroll(Step::Down);
        assert_eq!(outline.view(owners.clone(), 5), (3..8, 3));
        outline.go_to_seen(4);
        outline.scroll(Step::Up);
        assert_eq!(outline.view(owners.clone(), 5), (2..7, 6));
        assert!(!outline.go_to_seen(90));
        assert_eq!(outline.view(owners, 5), (15..20, 19));
    }

    #[test]
    fn no_step_leaves_what_is_there() {
        for step in [Step::Up, Step::Down, Step::PageUp, Step::PageDown, Step::First, Step::Last, Step::HalfDown] {
            assert_eq!(step.from(7, 0, 0), 0);
            assert!(step.from(2, 3, 3) < 3);
        }
    }
}
