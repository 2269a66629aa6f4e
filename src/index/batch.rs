//! Documents that wait for their vectors, and the order in which their texts are embedded.
//!
//! Takes parsed documents, gives bounded embedder calls.
//! Invariants: texts of similar length are embedded together, because a batch is as slow as its longest text; an
//! embedder call is bounded in tokens, so that progress is shown and cancellation checked in between; all texts of one
//! evidence are in one call.
//! Not here: storing documents (`write`).

use std::collections::HashSet;

use super::IndexError;
use super::domain::TextHash;
use super::ingest::NewDocument;
use super::windows::{self, Piece};
use super::write::FinishedFile;
use ragonite_base::CancelToken;
use ragonite_inference::{Embed, Embedding, TextRole};

/// A batch is full with this number of texts to embed: enough to find texts of similar length.
const UNITS: usize = 512;

/// Or with this number of bytes.
const BYTES: usize = 8 << 20;

/// Or with this number of entries, so that files without new texts are stored soon too.
const ENTRIES: usize = 512;

/// Tokens per embedder call: about a second's work for a small embedder.
const CALL_TOKENS: usize = 8192;

/// Texts per embedder call.
const CALL_TEXTS: usize = 128;

/// An evidence text without a vector.
pub(super) struct Unit {
    pub(super) hash: TextHash,
    /// The texts to embed; several if the text is longer than the embedder's window.
    pub(super) pieces: Vec<Piece>,
}

impl Unit {
    fn tokens(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    fn longest(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).max().unwrap_or(0)
    }
}

/// A waiting entry, in storing order.
pub(super) enum Entry {
    Document(NewDocument, Vec<TextHash>),
    File(FinishedFile),
}

/// Documents that wait for their vectors.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    units: Vec<Unit>,
    waiting: HashSet<TextHash>,
    bytes: usize,
}

impl Batch {
    /// Whether this batch embeds the text.
    pub(super) fn has(&self, hash: &TextHash) -> bool {
        self.waiting.contains(hash)
    }

    pub(super) fn add(&mut self, unit: Unit) {
        self.bytes += unit.pieces.iter().map(|piece| piece.text.len()).sum::<usize>();
        self.waiting.insert(unit.hash.clone());
        self.units.push(unit);
    }

    pub(super) fn is_full(&self) -> bool {
        self.units.len() >= UNITS || self.bytes >= BYTES || self.entries.len() >= ENTRIES
    }

    /// Number of files that end in this batch.
    pub(super) fn files(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::File(_))).count()
    }

    /// Path of the first waiting document.
    pub(super) fn first_path(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Document(document, _) => Some(document.path.as_str()),
            Entry::File(_) => None,
        })
    }

    /// Takes the units out, shortest first, in calls of bounded size.
    pub(super) fn calls(&mut self) -> Vec<Vec<Unit>> {
        let mut units = std::mem::take(&mut self.units);
        units.sort_by_key(Unit::longest);
        let mut calls: Vec<Vec<Unit>> = Vec::new();
        let (mut tokens, mut texts) = (0, 0);
        for unit in units {
            let (more_tokens, more_texts) = (unit.tokens(), unit.pieces.len());
            let fits = tokens + more_tokens <= CALL_TOKENS && texts + more_texts <= CALL_TEXTS;
            if let Some(call) = calls.last_mut().filter(|_| fits) {
                call.push(unit);
                (tokens, texts) = (tokens + more_tokens, texts + more_texts);
            } else {
                calls.push(vec![unit]);
                (tokens, texts) = (more_tokens, more_texts);
            }
        }
        calls
    }
}

/// The vectors of one call's units.
///
/// # Errors
/// If the embedder fails, or gives vectors of another size or number.
pub(super) fn embed_call(
    call: &[Unit],
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<Vec<(TextHash, Embedding)>, IndexError> {
    let texts: Vec<&str> = call.iter().flat_map(|unit| &unit.pieces).map(|piece| piece.text.as_str()).collect();
    let made = embedder.embed(&texts, TextRole::Evidence, cancel)?;
    let expected = embedder.identity().dimensions;
    if let Some(wrong) = made.iter().find(|vector| vector.values().len() != expected) {
        return Err(IndexError::Dimensions { found: wrong.values().len(), expected });
    }
    if made.len() != texts.len() {
        return Err(IndexError::Dimensions { found: 0, expected });
    }
    let mut rest = made.as_slice();
    let mut ready = Vec::with_capacity(call.len());
    for unit in call {
        let (own, others) = rest.split_at(unit.pieces.len());
        rest = others;
        ready.push((unit.hash.clone(), windows::pool(own)));
    }
    Ok(ready)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(number: usize, tokens: &[usize]) -> Unit {
        let pieces = tokens.iter().map(|tokens| Piece { text: "x".to_owned(), tokens: *tokens }).collect();
        Unit { hash: TextHash(number.to_string()), pieces }
    }

    proptest! {
        #[test]
        fn calls_hold_every_unit_once_within_their_bounds(
            all in proptest::collection::vec(proptest::collection::vec(1..300usize, 1..5), 0..600),
        ) {
            let mut batch = Batch::default();
            for (number, tokens) in all.iter().enumerate() {
                batch.add(unit(number, tokens));
            }
            let calls = batch.calls();
            prop_assert_eq!(calls.iter().map(Vec::len).sum::<usize>(), all.len());
            for call in &calls {
                let tokens: usize = call.iter().map(Unit::tokens).sum();
                let texts: usize = call.iter().map(|unit| unit.pieces.len()).sum();
                prop_assert!(tokens <= CALL_TOKENS && texts <= CALL_TEXTS);
            }
            // The padding of a call is what its longest text has more than the others.
            let flat: Vec<usize> = calls.iter().flatten().map(Unit::longest).collect();
            prop_assert!(flat.is_sorted());
        }
    }
}
