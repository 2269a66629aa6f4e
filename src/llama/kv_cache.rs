//! The KV cache of a context: copying, removing, saving, restoring and masking parts of sequences.
//!
//! Takes sequences and positions. Where sequences share their memory, it keeps each one's tokens in order as long as
//! there are cells. Where each has its own, a token lies in the cell of its position, unless a part before it was
//! masked.
//! Invariant: the record equals llama.cpp's cache, also after a failure.
//! Not here: decoding (`engine`), which tokens are in which sequence (`Slots`).

use std::ops::Range;

use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;

use super::batch_policy::Phase;
use super::cell_map::CellMap;
use super::engine::{BatchSlice, Cause, Engine, EngineError, Kind, Logits, Sequence};
use super::layout::Layout;

/// The record of the KV cache.
pub(super) struct KvCache {
    layout: Layout,
    /// Only where sequences share their memory.
    cells: Option<CellMap>,
    /// Number of cells for prompts and answers.
    usable: usize,
    /// Whether llama.cpp makes a requested copy in its next call.
    copies_pending: bool,
}

impl KvCache {
    /// For a context with `cells` cells, of which `spare` are reserved for padding.
    pub(super) fn new(layout: Layout, cells: usize, spare: usize) -> Self {
        let shared = (layout == Layout::Shared).then(|| CellMap::new(cells));
        // Where each sequence has its own memory, prompts do not compete for cells.
        let usable = if shared.is_some() { cells.saturating_sub(spare) } else { usize::MAX / 2 };
        Self { layout, cells: shared, usable, copies_pending: false }
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Records the tokens of a call.
    pub(super) fn record_batch(&mut self, pieces: &[BatchSlice<'_>]) {
        self.copies_pending = false;
        for BatchSlice { sequence, tokens, position, .. } in pieces {
            self.record(*sequence, tokens.len(), *position);
        }
    }

    /// Records `tokens` tokens in `sequence` from `position` on.
    pub(super) fn record(&mut self, sequence: Sequence, tokens: usize, position: usize) {
        if let Some(cells) = &mut self.cells {
            cells.read(sequence, tokens, position);
        }
    }

    fn remove_range(&mut self, sequence: Sequence, positions: Range<usize>) {
        if let Some(cells) = &mut self.cells {
            cells.remove(sequence, positions);
        }
    }
}

impl Engine {
    /// Number of cells for all sequences.
    pub(super) fn cells(&self) -> usize {
        self.states.usable
    }

    /// Number of free cells; shared cells count once.
    pub(super) fn free_cells(&self) -> usize {
        let taken = self.states.cells.as_ref().map_or(0, |cells| cells.all() - cells.free());
        self.states.usable.saturating_sub(taken)
    }

    /// Limits the usable cells.
    #[cfg(test)]
    pub(super) fn pretend_cells(&mut self, cells: usize) {
        self.states.usable = cells;
    }

    /// Removes the tokens of `sequence` from position `keep` on. False where the architecture has no partial removal;
    /// then every sequence is cleared.
    pub(super) fn remove_from(&mut self, sequence: Sequence, keep: usize) -> bool {
        let removed = u32::try_from(keep).is_ok_and(|keep| {
            let from = (keep > 0).then_some(keep);
            matches!(self.context.clear_kv_cache_seq(sequence.source(), from, None), Ok(true))
        });
        if removed {
            self.states.remove_range(sequence, keep..usize::MAX);
        } else {
            self.remove_all();
        }
        removed
    }

    /// Clears every sequence.
    pub(super) fn remove_all(&mut self) {
        self.context.clear_kv_cache();
        if let Some(cells) = &mut self.states.cells {
            cells.clear();
        }
    }

    /// As [`remove_from`](Self::remove_from), but where freed cells could bring later tokens out of order, they are
    /// freed only by [`clear_graveyard`](Self::clear_graveyard).
    pub(super) fn defer_removal(&mut self, sequence: Sequence, keep: usize) -> bool {
        if let Some(graveyard) = self.states.layout.graveyard().filter(|_| self.kind() == Kind::Processor) {
            let (from, source) = (sequence.id(), u32::try_from(keep).ok());
            if self.context.copy_kv_cache_seq(from, graveyard.id(), source, None).is_ok()
                && let Some(cells) = &mut self.states.cells
            {
                cells.copy(sequence, graveyard, keep..usize::MAX);
            }
        }
        self.remove_from(sequence, keep)
    }

    /// Frees the cells whose removal was deferred.
    pub(super) fn clear_graveyard(&mut self) -> bool {
        self.states.layout.graveyard().is_none_or(|graveyard| self.remove_from(graveyard, 0))
    }

    /// Makes `to` a copy of the first `tokens` tokens of `from`.
    pub(super) fn copy(&mut self, from: Sequence, to: Sequence, tokens: usize) -> Result<(), Cause> {
        if !self.remove_from(to, 0) {
            return Err(EngineError::NoPartialRemoval.into());
        }
        if tokens == 0 {
            return Ok(());
        }
        let Some(cells) = &mut self.states.cells else {
            // Between two KV memories llama.cpp copies only whole sequences.
            self.context.copy_kv_cache_seq(from.id(), to.id(), None, None)?;
            self.states.copies_pending = true;
            return if self.remove_from(to, tokens) { Ok(()) } else { Err(EngineError::NoPartialRemoval.into()) };
        };
        self.context.copy_kv_cache_seq(from.id(), to.id(), None, Some(u32::try_from(tokens)?))?;
        cells.copy(from, to, 0..tokens);
        Ok(())
    }

    /// Makes llama.cpp carry out requested copies, by a one-token call in the trial sequence, which holds `held`
    /// tokens.
    fn flush_copies(&mut self, held: usize) -> Result<(), Cause> {
        if !self.states.copies_pending {
            return Ok(());
        }
        let (sequence, tokens) = (Sequence::TRIAL, [LlamaToken::new(0)]);
        let piece = BatchSlice { sequence, tokens: &tokens, position: held, logits: Logits::None };
        self.decode_batch(Phase::SingleToken, &[piece])?;
        if self.remove_from(sequence, held) { Ok(()) } else { Err(EngineError::NoPartialRemoval.into()) }
    }

    /// Whether states are bit-exact however they were computed, so that a later run can use them.
    pub(super) fn can_save_state(&self) -> bool {
        self.kind() == Kind::Processor
    }

    /// Approximate size in bytes of the state of `tokens` tokens.
    pub(super) fn state_bytes(&self, tokens: usize) -> u64 {
        self.state_of_token.saturating_mul(tokens as u64)
    }

    /// The state of the first `tokens` tokens of `sequence`.
    pub(super) fn state(&mut self, sequence: Sequence, tokens: usize) -> Result<Vec<u8>, Cause> {
        let state = self.state_of_copy(sequence, tokens);
        if self.remove_from(Sequence::TRIAL, 0) { state } else { Err(EngineError::NoPartialRemoval.into()) }
    }

    fn state_of_copy(&mut self, sequence: Sequence, tokens: usize) -> Result<Vec<u8>, Cause> {
        let (whole, trial) = (LlamaStateSeqFlags::empty(), Sequence::TRIAL);
        self.copy(sequence, trial, tokens)?;
        self.flush_copies(tokens)?;
        let mut state = vec![0; self.context.state_seq_get_size_ext(trial.id(), whole)];
        #[expect(unsafe_code, reason = "the safe API gives no bytes that could be stored")]
        // SAFETY: llama.cpp writes as many bytes as it announced; the context did not change in between.
        let written = unsafe { self.context.state_seq_get_data_ext(state.as_mut_ptr(), trial.id(), whole) };
        if written == state.len() { Ok(state) } else { Err(EngineError::State.into()) }
    }

    /// Loads into `sequence` a state of `tokens` tokens that [`state`](Self::state) gave in any run with the same
    /// weights, settings and build. False if llama.cpp refuses it; then the sequence is empty.
    pub(super) fn restore(&mut self, sequence: Sequence, tokens: usize, state: &[u8]) -> bool {
        let ready = self.remove_from(sequence, 0) && self.flush_copies(0).is_ok() && self.free_cells() >= tokens;
        #[expect(unsafe_code, reason = "the safe API takes no stored bytes")]
        // SAFETY: the caller vouches for the bytes; llama.cpp checks lengths while it reads them.
        let read =
            ready && unsafe { self.context.state_seq_set_data_ext(state, sequence.id(), LlamaStateSeqFlags::empty()) };
        let last = self.context.kv_cache_seq_pos_max(sequence.id());
        if read && usize::try_from(last + 1).is_ok_and(|held| held == tokens) {
            self.states.record(sequence, tokens, 0);
            return true;
        }
        self.remove_from(sequence, 0);
        false
    }

    /// Closes gaps between cells.
    pub(super) fn defragment(&mut self) -> Result<(), Cause> {
        let have_gaps = self.states.cells.as_ref().is_some_and(CellMap::has_gaps);
        if self.kind() == Kind::Processor && have_gaps { self.compact(&[], 0) } else { Ok(()) }
    }

    /// Makes sure that these slices, and `padding` tokens, land behind the earlier tokens of their sequences.
    pub(super) fn ensure_in_order(&mut self, pieces: &[BatchSlice<'_>], padding: usize) -> Result<(), Cause> {
        let lengths = pieces.iter().map(|piece| (piece.sequence, piece.tokens.len()));
        let stay = self.states.cells.as_ref().is_none_or(|cells| cells.stay_in_order(lengths));
        if self.kind() == Kind::Gpu || stay {
            return Ok(());
        }
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        self.compact(&pieces.iter().map(|piece| piece.sequence).collect::<Vec<_>>(), all + padding)
    }

    /// Moves all sequences to the front of the cache, those of `last` behind the others. Shared cells are duplicated;
    /// where that leaves too few cells for the `coming` tokens, nothing moves.
    fn compact(&mut self, last: &[Sequence], coming: usize) -> Result<(), Cause> {
        let Some(cells) = &self.states.cells else { return Ok(()) };
        let live = (0..self.states.layout.sequences()).map(Sequence);
        let live =
            live.filter(|one| ![self.states.layout.padding(), self.states.layout.graveyard()].contains(&Some(*one)));
        let all = live.map(|sequence| (sequence, cells.positions(sequence)));
        let mut all: Vec<(Sequence, Vec<usize>)> = all.filter(|(_, positions)| !positions.is_empty()).collect();
        if all.iter().map(|(_, positions)| positions.len()).sum::<usize>() + coming > cells.all() {
            return Ok(());
        }
        all.sort_by_key(|(sequence, _)| last.contains(sequence));
        let state =
            |(sequence, _): &(Sequence, _)| self.context.state_seq_get(sequence.id(), LlamaStateSeqFlags::empty());
        let states = all.iter().map(state).collect::<Result<Vec<_>, _>>()?;
        self.remove_all();
        for ((sequence, positions), state) in all.iter().zip(&states) {
            self.context.state_seq_set(state, sequence.id())?;
            for position in positions {
                self.states.record(*sequence, 1, *position);
            }
        }
        Ok(())
    }

    /// Masks the tokens at `range` in `sequence`; the states of later tokens stay as they are. Gives the position of
    /// the next token.
    pub(super) fn mask(&mut self, sequence: Sequence, range: &Range<usize>) -> Result<usize, Cause> {
        let (start, end) = (u32::try_from(range.start)?, u32::try_from(range.end)?);
        if !self.context.clear_kv_cache_seq(sequence.source(), Some(start), Some(end))? {
            return Err(EngineError::NoPartialRemoval.into());
        }
        self.states.remove_range(sequence, range.clone());
        let last = self.context.kv_cache_seq_pos_max(sequence.id());
        Ok(usize::try_from(last + 1)?)
    }
}
