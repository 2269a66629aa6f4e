//! The division of the KV cache among sequences.
//!
//! Takes the batch policy and the size of a state; gives the number of sequences and of cells.
//! Invariant: beside the slots there are at least two sequences, so that a prompt can be prefilled while answers to it
//! are decoded.
//! Not here: the contents of a sequence (`kv_cache`, `Slots`).
//!
//! On a processor llama.cpp is fastest where one operation computes the attention of many tokens to many cells. Its
//! rounding depends on the order of the cells. So, for such calls, every sequence has its own memory, in which each
//! token lies in the cell of its position, unless a part before it was masked.

use super::batch_decode::MAX_PARALLEL;
use super::batch_policy::BatchPolicy;
use super::engine::Sequence;
use super::gguf::Shape;
use super::memory_estimate::{self, BatchSizes};
use super::slots::SLOTS;
use ragonite_inference::MemoryNeeds;
use ragonite_inference::{FlashAttention, GeneratorSettings};

/// Cells beyond the context where sequences share them, so that a second, shorter prompt can stay.
const SPARE_CELLS: usize = 1024;

/// Minimum of sequences for answers where each sequence has its own memory.
const MIN_SEQUENCES: usize = 2;

/// Maximum size in bytes of all sequences, above the minimum number, where each has its own memory.
const MAX_STATE_BYTES: u64 = 1792 << 20;

/// llama.cpp rounds the memory of a sequence up to a multiple of this number of cells.
const CELL_ALIGNMENT: usize = 256;

/// How sequences use the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// All sequences in one memory; a token takes the first free cell, and shared cells exist once.
    Shared,
    /// Each sequence in its own memory.
    Apart {
        /// Number of sequences beside the slots.
        others: usize,
    },
}

impl Layout {
    /// The layout for this policy and model. More than the minimum of sequences is taken only if `room` accepts the
    /// memory needs.
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

    /// Number of sequences. With shared memory: the slots, one for trials, the parallel answers with the prompt that is
    /// prefilled meanwhile, the graveyard and the padding.
    pub(super) fn sequences(self) -> usize {
        match self {
            Self::Shared => SLOTS + 1 + MAX_PARALLEL + 1 + 2,
            Self::Apart { others } => SLOTS + others,
        }
    }

    /// Number of cells for a context of `context_tokens`.
    pub(super) fn cells(self, context_tokens: usize, rows: BatchPolicy) -> usize {
        match self {
            Self::Shared => context_tokens + SPARE_CELLS,
            Self::Apart { .. } => {
                self.sequences() * (context_tokens + rows.max_padding()).next_multiple_of(CELL_ALIGNMENT)
            }
        }
    }

    /// Memory needs of a model of this `shape`.
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

    /// The sequences for answers that are decoded at the same time.
    pub(super) fn answer_sequences(self) -> Vec<Sequence> {
        match self {
            Self::Shared => (SLOTS + 1..self.sequences() - 2).map(Sequence).collect(),
            // No trials run meanwhile.
            Self::Apart { .. } => (SLOTS..self.sequences()).map(Sequence).collect(),
        }
    }

    /// The sequences for parallel trials; they lie side by side.
    pub(super) fn trial_sequences(self) -> Vec<Sequence> {
        (SLOTS..SLOTS + self.answer_sequences().len()).map(Sequence).collect()
    }

    /// The sequence for padding; empty between calls.
    pub(super) fn padding(self) -> Option<Sequence> {
        (self == Self::Shared).then(|| Sequence(self.sequences() - 1))
    }

    /// The sequence that owns removed tokens, which stay in place for the order of other sequences.
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
