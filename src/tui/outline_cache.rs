//! Cache of the lines of an outline, valid until their content changes.
//!
//! Takes the identity of the content; keeps the lines and the matches of one search.
//! Invariant: a running turn is never cached.
//! Not here: the content (`steps`, `attribution`).

use std::collections::BTreeSet;

use super::attribution::Explained;
use super::find::{Find, first_lines};
use super::pane::Parts;
use super::reflow::Place;
use ragonite_app::{Turn, TurnKey};
use ragonite_history::TurnTimings;

/// Identity of the content; equal identities have equal lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown<K> {
    turn: TurnKey,
    timings: TurnTimings,
    explained: Option<Explained>,
    width: usize,
    /// The open sections; none where all are open.
    open: Option<BTreeSet<K>>,
    /// The selected sentence of the answer.
    sentence: Option<usize>,
}

impl<K> Shown<K> {
    /// The content of a finished turn.
    pub(super) fn of(turn: &Turn, width: usize, open: Option<BTreeSet<K>>) -> Self {
        let trace = &turn.record.trace;
        let explained = Explained::of(turn);
        Self { turn: turn.key, timings: trace.timings_ms, explained, width, open, sentence: None }
    }

    /// Selects a sentence of the answer.
    pub(super) fn at(self, sentence: Option<usize>) -> Self {
        Self { sentence, ..self }
    }
}

/// Cached lines.
#[derive(Debug, Clone)]
pub(super) struct Kept<K> {
    shown: Option<Shown<K>>,
    pub(super) parts: Parts<K>,
    /// The last search and its matches.
    found: Option<(String, Vec<Place>)>,
}

impl<K> Default for Kept<K> {
    fn default() -> Self {
        Self { shown: None, parts: Parts { lines: Vec::new(), owners: Vec::new() }, found: None }
    }
}

impl<K: Copy + PartialEq> Kept<K> {
    /// Whether the cache holds this content.
    pub(super) fn has(&self, shown: Option<&Shown<K>>) -> bool {
        shown.is_some() && self.shown.as_ref() == shown
    }

    /// Stores the lines of a content; without an identity only until the next call.
    pub(super) fn keep(&mut self, shown: Option<Shown<K>>, parts: Parts<K>) {
        *self = Self { shown, parts, found: None };
    }

    /// The matches; each section is one text.
    pub(super) fn find(&mut self, find: &Find) -> &[Place] {
        let parts = &self.parts;
        let (text, places) = self.found.take().unwrap_or_default();
        let places = if text == find.text { places } else { places_in(parts, find) };
        &self.found.insert((find.text.clone(), places)).1
    }

    /// The lines of the last [`Kept::find`].
    pub(super) fn found(&self) -> Vec<usize> {
        self.found.as_ref().map(|(_, places)| first_lines(places)).unwrap_or_default()
    }

    /// The lines, to see in a test whether they were drawn anew.
    #[cfg(test)]
    pub(super) fn lines(&mut self) -> &mut Vec<ratatui::text::Line<'static>> {
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
