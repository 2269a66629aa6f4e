//! The parts of an outline as they were drawn, kept until what they show changes.
//!
//! Takes what a pane shows, gives its parts; looks for a text in them once.
//! Invariant: what still changes by itself, a turn that runs, is never kept.
//! Not here: what is in the parts (`trace`, `attribution`).

use std::collections::BTreeSet;

use super::Parts;
use super::bars::Explained;
use crate::find::{Find, first_lines};
use crate::reflow::Place;
use ragonite_app::{Turn, TurnKey};
use ragonite_history::TurnTimings;

/// What an outline shows; the same of it gives the same parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown<K> {
    turn: TurnKey,
    timings: TurnTimings,
    explained: Option<Explained>,
    width: usize,
    /// The parts that are open; none where all are.
    open: Option<BTreeSet<K>>,
    /// The sentence of the answer that is looked at.
    sentence: Option<usize>,
}

impl<K> Shown<K> {
    /// The whole of a turn that does not run.
    pub(super) fn of(turn: &Turn, width: usize, open: Option<BTreeSet<K>>) -> Self {
        let trace = &turn.record.trace;
        let explained = Explained::of(turn);
        Self { turn: turn.key, timings: trace.timings_ms, explained, width, open, sentence: None }
    }

    /// One sentence of its answer.
    pub(super) fn at(self, sentence: Option<usize>) -> Self {
        Self { sentence, ..self }
    }
}

/// Parts that were drawn.
#[derive(Debug, Clone)]
pub(crate) struct Kept<K> {
    shown: Option<Shown<K>>,
    pub(super) parts: Parts<K>,
    /// A text that was looked for in the parts.
    found: Option<(String, Vec<Place>)>,
}

impl<K> Default for Kept<K> {
    fn default() -> Self {
        Self { shown: None, parts: Parts { lines: Vec::new(), owners: Vec::new() }, found: None }
    }
}

impl<K: Copy + PartialEq> Kept<K> {
    /// Whether the parts are those of what is shown.
    pub(super) fn has(&self, shown: Option<&Shown<K>>) -> bool {
        shown.is_some() && self.shown.as_ref() == shown
    }

    /// Keeps the parts of what is shown; until the next time where it is none.
    pub(super) fn keep(&mut self, shown: Option<Shown<K>>, parts: Parts<K>) {
        *self = Self { shown, parts, found: None };
    }

    /// Where the parts have what is looked for; each part is one text.
    pub(super) fn find(&mut self, find: &Find) -> &[Place] {
        let parts = &self.parts;
        let (text, places) = self.found.take().unwrap_or_default();
        let places = if text == find.text { places } else { places_in(parts, find) };
        &self.found.insert((find.text.clone(), places)).1
    }

    /// The lines that [`Kept::find`] found last.
    pub(super) fn found(&self) -> Vec<usize> {
        self.found.as_ref().map(|(_, places)| first_lines(places)).unwrap_or_default()
    }

    /// The lines, to see in a test whether they were drawn anew.
    #[cfg(test)]
    pub(crate) fn lines(&mut self) -> &mut Vec<ratatui::text::Line<'static>> {
        &mut self.parts.lines
    }
}

fn places_in<K: Copy + PartialEq>(parts: &Parts<K>, find: &Find) -> Vec<Place> {
    let mut all = Vec::new();
    let mut before = 0;
    for owned in parts.owners.chunk_by(|one, next| one == next) {
        let lines = parts.lines.get(before..before + owned.len()).unwrap_or_default();
        all.extend(find.places(lines).into_iter().map(|mut place| {
            for piece in &mut place {
                piece.line += before;
            }
            place
        }));
        before += owned.len();
    }
    all
}
