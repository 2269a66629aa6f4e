//! The turns of a conversation as one column of lines, each turn cached.
//!
//! Invariants: a frame lays out the visible turns and a few more, however long the conversation is; the visible lines
//! stay in place while turns above them are laid out; each turn is searched once per text.
//! Not here: layout of a turn (`turn`), scrolling the column (`view`).

use std::ops::Range;

use super::turn::{self, Drawn, Suggested};
use crate::attribution::Explained;
use crate::find::{Find, first_lines};
use crate::look::Look;
use crate::reflow::Place;
use crate::screen::ScreenState;
use ragonite_app::{App, Turn, TurnKey};
use ragonite_history::{Feedback, TurnTimings};

/// Turns laid out per frame besides the visible ones.
const AHEAD: usize = 8;

/// A cached turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settled {
    width: usize,
    timings: TurnTimings,
    feedback: Option<Feedback>,
    suggestions: Suggested,
    explained: Option<Explained>,
    pub(super) drawn: Drawn,
    found: FoundIn,
}

/// Matches of the last search.
#[derive(Debug, Clone, Default)]
struct FoundIn {
    text: String,
    places: Vec<Place>,
    /// Lines on which the matches begin.
    lines: Vec<usize>,
}

impl Settled {
    fn is_as(&self, app: &App, turn: &Turn, width: usize) -> bool {
        self.width == width
            && self.timings == turn.record.trace.timings_ms
            && self.feedback == turn.record.feedback
            && self.suggestions == Suggested::of(app, turn)
            && self.explained == Explained::of(turn)
    }

    /// The width it was drawn for.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The lines with a match.
    pub(super) fn find(&mut self, find: &Find) -> &[usize] {
        if self.found.text != find.text {
            let places = find.places(&self.drawn.lines);
            self.found = FoundIn { text: find.text.clone(), lines: first_lines(&places), places };
        }
        &self.found.lines
    }

    /// The matches of the last [`Settled::find`].
    pub(super) fn places(&self) -> &[Place] {
        &self.found.places
    }
}

/// All turns, one below the other.
pub(super) struct Column {
    width: usize,
    /// Lines per turn; estimated where the turn was never laid out.
    heights: Vec<usize>,
    /// The running turn, which every frame lays out again.
    running: Option<(TurnKey, Settled)>,
}

impl Column {
    pub(super) fn of(app: &App, screen: &mut ScreenState, width: usize, running: Option<(TurnKey, Drawn)>) -> Self {
        let running = running.map(|(key, drawn)| (key, Settled { drawn, ..Settled::default() }));
        if let Some((key, _)) = &running {
            screen.conversation.settled.remove(key);
        }
        let known = |turn: &Turn| match &running {
            Some((key, running)) if *key == turn.key => Some(running.drawn.lines.len()),
            _ => screen.conversation.settled.get(&turn.key).map(|settled| settled.drawn.lines.len()),
        };
        let heights = app.turns().iter().map(|turn| known(turn).unwrap_or_else(|| turn::estimate(turn, width)));
        Self { width, heights: heights.collect(), running }
    }

    /// How many lines a turn has.
    pub(super) fn height(&self, at: usize) -> usize {
        self.heights.get(at).copied().unwrap_or(0)
    }

    /// The lines of a turn.
    pub(super) fn lines_of(&self, at: usize) -> Range<usize> {
        let start: usize = self.heights.iter().take(at).sum();
        start..start + self.height(at)
    }

    /// The turns within these lines, each with its range of own lines.
    pub(super) fn seen(&self, view: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let mut start = 0;
        let mut seen = Vec::new();
        for (at, height) in self.heights.iter().copied().enumerate() {
            let (first, last) = (view.start.max(start), view.end.min(start + height));
            if first < last {
                seen.push((at, first - start..last - start));
            }
            start += height;
        }
        seen
    }

    /// A turn as it was drawn last.
    pub(super) fn turn<'a>(&'a mut self, app: &App, screen: &'a mut ScreenState, at: usize) -> Option<&'a mut Settled> {
        let key = app.turns().get(at)?.key;
        match &mut self.running {
            Some((running, drawn)) if *running == key => Some(drawn),
            _ => screen.conversation.settled.get_mut(&key),
        }
    }

    /// Lays a turn out unless the cache is valid. Returns whether it did.
    pub(super) fn settle(&mut self, app: &App, screen: &mut ScreenState, at: usize) -> bool {
        let Some(turn) = app.turns().get(at) else { return false };
        let runs = self.running.as_ref().is_some_and(|(key, _)| *key == turn.key);
        let known = screen.conversation.settled.get(&turn.key);
        if runs || known.is_some_and(|known| known.is_as(app, turn, self.width)) {
            return false;
        }
        let look = Look { theme: &screen.theme, words: screen.words, width: self.width };
        let drawn = turn::settled(app, turn, &screen.keymap, &look);
        let (before, height) = (self.lines_of(at), drawn.lines.len());
        if let Some(known) = self.heights.get_mut(at) {
            *known = height;
        }
        screen.conversation.scroll.grow(before.clone(), height);
        if let Some(line) = screen.find.as_mut().and_then(|find| find.line.as_mut()).filter(|at| **at >= before.end) {
            *line = *line + height - before.len();
        }
        let settled = Settled {
            width: self.width,
            timings: turn.record.trace.timings_ms,
            feedback: turn.record.feedback.clone(),
            suggestions: Suggested::of(app, turn),
            explained: Explained::of(turn),
            drawn,
            found: FoundIn::default(),
        };
        screen.conversation.settled.insert(turn.key, settled);
        true
    }

    /// Lays out the visible turns and returns the visible lines.
    pub(super) fn show(&mut self, app: &App, screen: &mut ScreenState, height: usize) -> Range<usize> {
        loop {
            let view = screen.conversation.scroll.view(self.heights.iter().sum(), height);
            let mut changed = false;
            for (at, _) in self.seen(&view) {
                changed |= self.settle(app, screen, at);
            }
            if !changed {
                return view;
            }
        }
    }

    /// Lays out a few more turns, the latest first.
    pub(super) fn go_on(&mut self, app: &App, screen: &mut ScreenState) {
        let mut left = AHEAD;
        for at in (0..self.heights.len()).rev() {
            left -= usize::from(self.settle(app, screen, at));
            if left == 0 {
                return;
            }
        }
    }

    /// Lays out all remaining turns.
    pub(super) fn complete(&mut self, app: &App, screen: &mut ScreenState) {
        for (at, turn) in app.turns().iter().enumerate() {
            if !screen.conversation.settled.contains_key(&turn.key) {
                self.settle(app, screen, at);
            }
        }
    }
}
