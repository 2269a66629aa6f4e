//! What the sequences of a context hold: to copy it, forget it, keep it for later and take a part out of it.
//!
//! Takes sequences and positions. Where sequences share their memory it keeps each one's tokens in order, as long as
//! there are cells; where each has its own, a token lies in the cell of its position, unless a part was taken out
//! before it.
//! Invariant: what is counted here is what llama.cpp holds, also after a failure.
//! Not here: reading (`engine`), which tokens are in which sequence (`Slots`).

use std::ops::Range;

use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;

use super::batch_policy::Phase;
use super::cell_map::CellMap;
use super::engine::{BatchSlice, Cause, Engine, EngineError, Kind, Logits, Sequence};
use super::layout::Layout;

/// Where what was read lies.
pub(super) struct KvCache {
    layout: Layout,
    /// Where they share their memory.
    cells: Option<CellMap>,
    /// Cells that may be used.
    usable: usize,
    /// Whether a copy has been asked for that llama.cpp makes in its next call.
    copies_pending: bool,
}

impl KvCache {
    /// Of a context with `cell_map` cells in all, of which `spare` are left for what fills up a call.
    pub(super) fn new(layout: Layout, cells: usize, spare: usize) -> Self {
        let shared = (layout == Layout::Shared).then(|| CellMap::new(cells));
        // Where each has a memory of its own, no prompt is in the way of another.
        let usable = if shared.is_some() { cells.saturating_sub(spare) } else { usize::MAX / 2 };
        Self { layout, cells: shared, usable, copies_pending: false }
    }

    /// How the context holds them.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Takes note that pieces were read.
    pub(super) fn record_batch(&mut self, pieces: &[BatchSlice<'_>]) {
        self.copies_pending = false;
        for BatchSlice { sequence, tokens, position, .. } in pieces {
            self.record(*sequence, tokens.len(), *position);
        }
    }

    /// Takes note that so many tokens lie in a sequence from `position` on.
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
    /// Tokens that all sequences may have together.
    pub(super) fn cells(&self) -> usize {
        self.states.usable
    }

    /// Tokens that all sequences may have more than they have, copies counted once.
    pub(super) fn free_cells(&self) -> usize {
        let taken = self.states.cells.as_ref().map_or(0, |cells| cells.all() - cells.free());
        self.states.usable.saturating_sub(taken)
    }

    /// Plans as if all sequences together had no more than this.
    #[cfg(test)]
    pub(super) fn pretend_cells(&mut self, cells: usize) {
        self.states.usable = cells;
    }

    /// Forgets the state of `sequence` from position `store` on. False where the architecture cannot forget a part, in
    /// which case everything is forgotten, in every sequence.
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

    /// Forgets everything in every sequence.
    pub(super) fn remove_all(&mut self) {
        self.context.clear_kv_cache();
        if let Some(cells) = &mut self.states.cells {
            cells.clear();
        }
    }

    /// As [`remove_from`](Self::forget_from), without making room where others would come to lie in front of what they
    /// have. The room is there after [`clear_graveyard`](Self::forget_waste).
    pub(super) fn defer_removal(&mut self, sequence: Sequence, keep: usize) -> bool {
        if let Some(waste) = self.states.layout.graveyard().filter(|_| self.kind() == Kind::Processor) {
            let (from, source) = (sequence.id(), u32::try_from(keep).ok());
            if self.context.copy_kv_cache_seq(from, waste.id(), source, None).is_ok()
                && let Some(cells) = &mut self.states.cells
            {
                cells.copy(sequence, waste, keep..usize::MAX);
            }
        }
        self.remove_from(sequence, keep)
    }

    /// Makes room of what was given up.
    pub(super) fn clear_graveyard(&mut self) -> bool {
        self.states.layout.graveyard().is_none_or(|waste| self.remove_from(waste, 0))
    }

    /// Makes `to` begin with the first `tokens` of `from`, and forgets what it had.
    pub(super) fn copy(&mut self, from: Sequence, to: Sequence, tokens: usize) -> Result<(), Cause> {
        if !self.remove_from(to, 0) {
            return Err(EngineError::NoPartialRemoval.into());
        }
        if tokens == 0 {
            return Ok(());
        }
        let Some(cells) = &mut self.states.cells else {
            // From one memory to another only all of it can be copied.
            self.context.copy_kv_cache_seq(from.id(), to.id(), None, None)?;
            self.states.copies_pending = true;
            return if self.remove_from(to, tokens) { Ok(()) } else { Err(EngineError::NoPartialRemoval.into()) };
        };
        self.context.copy_kv_cache_seq(from.id(), to.id(), None, Some(u32::try_from(tokens)?))?;
        cells.copy(from, to, 0..tokens);
        Ok(())
    }

    /// Has llama.cpp make the copies that were asked for, by a call that reads into the sequence for trials, which
    /// holds so many tokens.
    fn flush_copies(&mut self, held: usize) -> Result<(), Cause> {
        if !self.states.copies_pending {
            return Ok(());
        }
        let (sequence, tokens) = (Sequence::TRIAL, [LlamaToken::new(0)]);
        let piece = BatchSlice { sequence, tokens: &tokens, position: held, logits: Logits::None };
        self.decode_batch(Phase::SingleToken, &[piece])?;
        if self.remove_from(sequence, held) { Ok(()) } else { Err(EngineError::NoPartialRemoval.into()) }
    }

    /// Whether what a sequence holds is the same to the last bit wherever and however it was read, so that its state
    /// can be given to a later run.
    pub(super) fn can_save_state(&self) -> bool {
        self.kind() == Kind::Processor
    }

    /// Bytes of the state of so many tokens, about.
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
        #[expect(unsafe_code, reason = "the safe way gives no bytes that could be kept")]
        // SAFETY: llama.cpp writes as many bytes as it said it would; nothing happened to the context in between.
        let written = unsafe { self.context.state_seq_get_data_ext(state.as_mut_ptr(), trial.id(), whole) };
        if written == state.len() { Ok(state) } else { Err(EngineError::State.into()) }
    }

    /// Makes `sequence` hold so many tokens by a state that [`state`](Self::state) gave, in whichever run, of an engine
    /// of the same weights, settings and build. False where llama.cpp refuses it; then the sequence holds nothing.
    pub(super) fn restore(&mut self, sequence: Sequence, tokens: usize, state: &[u8]) -> bool {
        let ready = self.remove_from(sequence, 0) && self.flush_copies(0).is_ok() && self.free_cells() >= tokens;
        #[expect(unsafe_code, reason = "the safe way takes no bytes that were kept")]
        // SAFETY: whoever calls vouches for the bytes; llama.cpp itself checks its way through them.
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

    /// Closes the gaps that forgetting left.
    pub(super) fn defragment(&mut self) -> Result<(), Cause> {
        let have_gaps = self.states.cells.as_ref().is_some_and(CellMap::has_gaps);
        if self.kind() == Kind::Processor && have_gaps { self.compact(&[], 0) } else { Ok(()) }
    }

    /// Sees to it that each of these pieces, and so much filler, comes to lie behind what its sequence has.
    pub(super) fn ensure_in_order(&mut self, pieces: &[BatchSlice<'_>], filler: usize) -> Result<(), Cause> {
        let lengths = pieces.iter().map(|piece| (piece.sequence, piece.tokens.len()));
        let stay = self.states.cells.as_ref().is_none_or(|cells| cells.stay_in_order(lengths));
        if self.kind() == Kind::Gpu || stay {
            return Ok(());
        }
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        self.compact(&pieces.iter().map(|piece| piece.sequence).collect::<Vec<_>>(), all + filler)
    }

    /// Moves the states of all sequences to the front, those of `last` behind the others. What they share is there for
    /// each of them afterwards; where that leaves no room for the `coming` tokens, everything stays where it is.
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

    /// Takes the tokens at `range` out of the state of `sequence`; those after them stay as they were read. Gives the
    /// position of the next token.
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
