//! Where the states of sequences lie.
//!
//! Takes how calls are made and how large a state is; gives how many sequences there are, and the memory they have.
//! Invariant: there are the slots, and at least two sequences more, so that a prompt can be read while answers to it
//! are written.
//! Not here: what a sequence holds (`kv_cache`), which tokens it has read (`Slots`).
//!
//! On a processor llama.cpp is quickest where it computes attention of many tokens to many cells in one go. What that
//! rounds to depends on the order of the cells. So where calls are made for it, every sequence has a memory of its own,
//! in which each token lies in the cell of its position, unless a part was taken out before it.

use super::batch_decode::MAX_PARALLEL;
use super::batch_policy::BatchPolicy;
use super::engine::Sequence;
use super::gguf::Shape;
use super::memory_estimate::{self, BatchSizes};
use super::slots::SLOTS;
use ragonite_inference::MemoryNeeds;
use ragonite_inference::{FlashAttention, GeneratorSettings};

/// Cells beyond the longest prompt where all sequences share them, so that a second, shorter one can stay beside it.
const SPARE_CELLS: usize = 1024;

/// Answers that are written at the same time where each sequence has a memory of its own, at least.
const MIN_SEQUENCES: usize = 2;

/// What the states of all sequences take at most where each has a memory of its own and there are more than at least.
const MAX_STATE_BYTES: u64 = 1792 << 20;

/// llama.cpp makes the memory of a sequence a multiple of so many cells.
const CELL_ALIGNMENT: usize = 256;

/// How the context holds what sequences have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// All in one memory, a token in the first cell that is free; what they share is there once.
    Shared,
    /// Each in a memory of its own.
    Apart {
        /// Sequences beside the slots.
        others: usize,
    },
}

impl Layout {
    /// For calls as `batch_policy` has them, of a model of this `shape`. Beyond the least a layout is only taken where there is
    /// `room` for what it needs.
    pub(super) fn of(
        rows: BatchPolicy,
        shape: &Shape,
        settings: &GeneratorSettings,
        context_tokens: usize,
        room: impl Fn(&MemoryNeeds) -> bool,
    ) -> Self {
        if rows.allows_mixed {
            return Self::Shared;
        }
        let fits = |others: &usize| {
            let needs = Self::Apart { others: *others }.needs(shape, settings, context_tokens, rows);
            needs.state <= MAX_STATE_BYTES && room(&needs)
        };
        Self::Apart { others: (MIN_SEQUENCES..=rows.max_answers).rev().find(fits).unwrap_or(MIN_SEQUENCES) }
    }

    /// Sequences whose states are told apart. Where they share their memory: the slots, one to try things out, those of
    /// answers that are written at the same time, with the prompt that is read meanwhile, what nobody needs any more
    /// and what fills up a call.
    pub(super) fn sequences(self) -> usize {
        match self {
            Self::Shared => SLOTS + 1 + MAX_PARALLEL + 1 + 2,
            Self::Apart { others } => SLOTS + others,
        }
    }

    /// Cells of all sequences, for prompts and answers of so many tokens.
    pub(super) fn cells(self, context_tokens: usize, rows: BatchPolicy) -> usize {
        match self {
            Self::Shared => context_tokens + SPARE_CELLS,
            Self::Apart { .. } => {
                self.sequences() * (context_tokens + rows.max_padding()).next_multiple_of(CELL_ALIGNMENT)
            }
        }
    }

    /// What a model of this `shape` takes with these settings.
    pub(super) fn needs(
        self,
        shape: &Shape,
        settings: &GeneratorSettings,
        context_tokens: usize,
        rows: BatchPolicy,
    ) -> MemoryNeeds {
        let cells = self.cells(context_tokens, rows);
        let seen = if self == Self::Shared { cells } else { cells / self.sequences() };
        let table = if rows.attention == FlashAttention::Off { seen } else { 0 };
        let calls = BatchSizes { cells: cells as u64, tokens: rows.max_prefill as u64, table: table as u64 };
        memory_estimate::estimate_memory(shape, settings, calls)
    }

    /// The sequences of answers that are written at the same time.
    pub(super) fn answer_sequences(self) -> Vec<Sequence> {
        match self {
            Self::Shared => (SLOTS + 1..self.sequences() - 2).map(Sequence).collect(),
            // Nothing is tried out meanwhile.
            Self::Apart { .. } => (SLOTS..self.sequences()).map(Sequence).collect(),
        }
    }

    /// The sequences of what is tried out at the same time; they lie side by side.
    pub(super) fn trial_sequences(self) -> Vec<Sequence> {
        (SLOTS..SLOTS + self.answer_sequences().len()).map(Sequence).collect()
    }

    /// What fills up a call where it is nobody's; empty between calls.
    pub(super) fn padding(self) -> Option<Sequence> {
        (self == Self::Shared).then(|| Sequence(self.sequences() - 1))
    }

    /// What nobody needs any more, and stays where it is for the order of the others.
    pub(super) fn graveyard(self) -> Option<Sequence> {
        (self == Self::Shared).then(|| Sequence(self.sequences() - 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_policy::KERNEL_TILE;

    /// A model with so many heads of keys and values in all layers together.
    fn shape(kv_heads: u64) -> Shape {
        Shape {
            file: 1 << 30,
            architecture: "qwen2".to_owned(),
            layers: 28,
            heads: 12,
            kv_heads,
            key_and_value: 256,
            embedding: 1536,
            feed_forward: 8960,
            vocabulary: 151_936,
            trained: 32768,
        }
    }

    #[test]
    fn fewer_answers_are_written_at_once_where_a_state_is_large() {
        let of = |rows, shape: &Shape, room: u64| {
            Layout::of(rows, shape, &GeneratorSettings::default(), 4096, |needs| needs.total() <= room)
        };
        let (small, large) = (shape(56), shape(256));
        assert_eq!(of(BatchPolicy::MULT4, &small, 0), Layout::Shared);
        assert_eq!(of(BatchPolicy::VNNI, &small, u64::MAX), Layout::Apart { others: 5 });
        assert_eq!(of(BatchPolicy::VNNI, &large, u64::MAX), Layout::Apart { others: 2 });
        assert_eq!(of(BatchPolicy::TILE8, &small, u64::MAX), Layout::Apart { others: 5 });
        assert_eq!(of(BatchPolicy::TILE8, &small, 2 << 30), Layout::Apart { others: 4 });
        assert_eq!(of(BatchPolicy::TILE8, &small, 0), Layout::Apart { others: 2 }, "never fewer");
    }

    #[test]
    fn every_sequence_has_room_for_the_context_and_what_fills_up_its_last_call() {
        for context in [256, 4095, 4096] {
            let layout = Layout::Apart { others: 2 };
            let each = layout.cells(context, BatchPolicy::TILE8) / layout.sequences();
            assert!(each >= context + KERNEL_TILE - 1 && each.is_multiple_of(256), "{each}");
        }
        assert_eq!(Layout::Apart { others: 2 }.answer_sequences(), [2, 3].map(Sequence));
        assert_eq!(Layout::Shared.answer_sequences().len(), MAX_PARALLEL + 1);
    }
}
