//! The tokens of a call of llama.cpp.
//!
//! Takes what is to be read, adds what makes the call one that rounds like any other of its kind.
//! Invariants: what was to be read comes first, in its order; each sequence's tokens come in the order of their
//! positions.
//! Not here: reading (`engine`), where a token's state lies (`layout`).
//!
//! On a processor llama.cpp has several kernels for the same weights, and several ways to attention, and chooses by the
//! number of tokens in a call; each rounds otherwise. Logits of 1.5 billion parameters with 4 bits were seen to move by
//! 0.7. So only calls of one kind count: an answer's tokens are read by calls of the kind that reads prompts, or,
//! where flash attention is wanted, by another kind that all answers have in common.
//! Where such a call takes much longer than one of a single token, single tokens are written first (`speculative`) and read
//! again together; or they count as they are, where a setting says so (`Decode::Fast`).

use llama_cpp_2::token::LlamaToken;

use super::batch_decode::MAX_PARALLEL;
use super::engine::Sequence;
use ragonite_inference::{FlashAttention, GeneratorSettings, KvCacheType};

/// Tokens that llama.cpp's kernels take at a time when they are quickest.
pub(super) const KERNEL_TILE: usize = 16;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It reads tokens of prompts.
    Prefill,
    /// It reads the last token of a prompt and those of an answer; where both kinds may be one call, those of other
    /// prompts too.
    Decode,
    /// It writes single tokens: those of a sketch, which are read again by a call that counts, or, where an answer need not
    /// be exact, those of the answer.
    SingleToken,
}

/// How many tokens a call of a kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BatchShape {
    /// At least.
    least: usize,
    /// A multiple of so many.
    multiple: usize,
    /// So many of them or a multiple want logits, if any does: the last layer goes through those alone.
    logits: usize,
    /// At least so many of each sequence.
    each: usize,
}

impl BatchShape {
    const ANY: Self = Self::of(1);

    const fn of(tokens: usize) -> Self {
        Self { least: tokens, multiple: tokens, logits: tokens, each: 1 }
    }

    const fn in_pairs(self) -> Self {
        Self { each: 2, ..self }
    }

    /// As many as `tokens` or more.
    fn padded_len(self, tokens: usize) -> usize {
        tokens.max(self.least).next_multiple_of(self.multiple)
    }
}

/// How calls are made, so that what a token gives depends on it and on those before it only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchPolicy {
    /// How attention is computed.
    pub(super) attention: FlashAttention,
    /// Whether llama.cpp may keep weights in another order than the file's, which takes more memory.
    pub(super) repacks_weights: bool,
    prefill: BatchShape,
    decode: BatchShape,
    /// Tokens of a call at most: llama.cpp ends the process over more than it was told.
    pub(super) max_prefill: usize,
    /// Tokens of one sequence in a call that reads an answer, at most.
    pub(super) max_verified: usize,
    /// The same where the answer is a draft, of which nothing is worth reading behind the first token that is wrong.
    pub(super) max_drafted: usize,
    /// Answers that are written at the same time where each has a memory of its own, at most.
    pub(super) max_answers: usize,
    /// Whether one call may read a prompt and write answers; then answers are not sketched.
    pub(super) allows_mixed: bool,
}

impl BatchPolicy {
    /// On a GPU nothing depends on it.
    pub(super) const GPU: Self = Self {
        attention: FlashAttention::Auto,
        repacks_weights: true,
        prefill: BatchShape::ANY,
        decode: BatchShape::ANY,
        max_prefill: 512,
        max_verified: 512,
        max_drafted: 32,
        max_answers: MAX_PARALLEL,
        allows_mixed: true,
    };

    /// The same kernels for any multiple of four tokens.
    pub(super) const MULT4: Self =
        Self { prefill: BatchShape::of(4), decode: BatchShape::of(4), max_verified: 48, ..Self::GPU };

    /// x86-64: weights that are reordered are multiplied with four tokens at a time or, otherwise rounded, with one.
    /// The others go through a tile at a time from eight tokens on, and are multiplied one by one with fewer. Attention
    /// as one table is computed otherwise for a single token of a sequence.
    pub(super) const TILE8: Self = Self {
        attention: FlashAttention::Off,
        prefill: BatchShape::of(8).in_pairs(),
        decode: BatchShape::of(8).in_pairs(),
        max_prefill: 128,
        max_verified: 128,
        max_drafted: 48,
        max_answers: 5,
        allows_mixed: false,
        ..Self::MULT4
    };

    /// x86-64 with AVX-512 VNNI: tiles of weights in the order of the file are half as fast again as reordered ones.
    pub(super) const VNNI: Self = Self { repacks_weights: false, ..Self::TILE8 };

    /// Those for kernels with these features, as llama.cpp calls them.
    pub(super) fn for_kernels(features: &[String]) -> Self {
        let wide = features.iter().any(|feature| feature == "AVX512_VNNI");
        match (cfg!(target_arch = "x86_64"), wide) {
            (false, _) => Self::MULT4,
            (true, false) => Self::TILE8,
            (true, true) => Self::VNNI,
        }
    }

    /// The same with attention as it is wanted. Where prompts are read in calls of many tokens, flash attention has two
    /// ways, tiles of 64 tokens and, for fewer and for states of 8 bits, one token after the other; both are slower than
    /// one table, so that it is only taken where somebody wants it.
    pub(super) fn with_attention(self, settings: &GeneratorSettings) -> Self {
        let alone = |size: BatchShape| BatchShape { each: 1, ..size };
        let flash = |reading| Self {
            attention: FlashAttention::On,
            prefill: reading,
            decode: alone(self.decode),
            max_verified: 56,
            ..self
        };
        match (self.allows_mixed, settings.kv_cache, settings.flash_attention) {
            (true, _, attention) => Self { attention, ..self },
            (false, KvCacheType::Q8, _) => flash(alone(self.decode)),
            (false, KvCacheType::F16, FlashAttention::On) => flash(BatchShape { least: 64, ..alone(self.prefill) }),
            (false, KvCacheType::F16, FlashAttention::Auto | FlashAttention::Off) => self,
        }
    }

    fn size(self, call: Phase) -> BatchShape {
        match call {
            Phase::Prefill => self.prefill,
            Phase::Decode => self.decode,
            Phase::SingleToken => BatchShape::ANY,
        }
    }

    /// Whether the same token has the same state whether it was read in a prompt or written.
    pub(super) fn same_shape_for_all(self) -> bool {
        self.prefill == self.decode
    }

    /// Tokens that fill up a sequence's part of a call at most: of one by itself up to the size of the call, of one
    /// beside others up to the longest of them, which is a sketch.
    pub(super) fn max_padding(self) -> usize {
        let alone = self.prefill.padded_len(1).max(self.decode.padded_len(1)) - 1;
        if self.allows_mixed { alone } else { alone.max(KERNEL_TILE - 1) }
    }

    /// How many tokens each of these pieces has once it is filled up to be as long as the others, as calls for several
    /// memories must have them.
    pub(super) fn even(self, call: Phase, lengths: &[usize]) -> usize {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let size = self.size(call);
        let fits = |length: &usize| {
            let all = length * lengths.len();
            *length >= size.each && size.padded_len(all) == all
        };
        (longest..=longest + self.max_padding()).find(fits).unwrap_or(longest)
    }

    /// Tokens of each of so many pieces in a call that reads answers and has at most `most` tokens.
    pub(super) fn verified_each(self, pieces: usize, most: usize) -> usize {
        let fits = |length: &usize| self.even(Phase::Decode, &vec![*length; pieces]) == *length;
        (1..=self.max_verified.min(most / pieces.max(1))).rev().find(fits).unwrap_or(1)
    }

    /// Tokens of a draft in a call, at most, after so many that were right: one that holds probably goes on to.
    pub(super) fn draft_len_after(self, right: usize) -> usize {
        if right == 0 || self.allows_mixed { self.max_drafted } else { self.max_verified }
    }

    /// Tokens to read in the next call where so many are left and a call has `most`: the calls are alike, since one of
    /// few tokens takes almost as long as one of many.
    pub(super) fn share(left: usize, most: usize) -> usize {
        let calls = left.div_ceil(most.max(1)).max(1);
        left.div_ceil(calls).next_multiple_of(KERNEL_TILE).min(most).min(left)
    }
}

/// A token of a call.
pub(super) struct BatchRow {
    pub(super) token: LlamaToken,
    pub(super) position: usize,
    pub(super) sequence: Sequence,
    pub(super) wants_logits: bool,
}

/// Tokens that fill up a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Padding {
    /// Where they are read, to be forgotten again.
    pub(super) sequence: Sequence,
    /// The position of the first.
    pub(super) position: usize,
    /// How many.
    pub(super) tokens: usize,
}

impl BatchPolicy {
    /// What fills up a call of `tokens` in a sequence of its own.
    pub(super) fn padding(self, call: Phase, sequence: Sequence, tokens: usize) -> Padding {
        Padding { sequence, position: 0, tokens: self.size(call).padded_len(tokens) - tokens }
    }

    /// Adds filler; more tokens want logits until they are as many as a call of this kind has.
    pub(super) fn pad(self, call: Phase, rows: &mut Vec<BatchRow>, filler: &[Padding]) {
        for Padding { sequence, position, tokens } in filler {
            let row =
                |position| BatchRow { token: LlamaToken::new(0), position, sequence: *sequence, wants_logits: false };
            rows.extend((*position..position + tokens).map(row));
        }
        let wanted = rows.iter().filter(|row| row.wants_logits).count();
        let more = wanted.next_multiple_of(self.size(call).logits) - wanted;
        rows.iter_mut().rev().filter(|row| !row.wants_logits).take(more).for_each(|row| row.wants_logits = true);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn attention_as_one_table_is_taken_where_it_can_be_and_nobody_wants_another() {
        let of = |kv_cache, flash_attention| GeneratorSettings { kv_cache, flash_attention, ..Default::default() };
        let (rows, f16) = (BatchPolicy::VNNI, |attention| of(KvCacheType::F16, attention));
        assert_eq!(rows.with_attention(&f16(FlashAttention::Auto)), rows);
        assert_eq!(rows.with_attention(&f16(FlashAttention::Off)), rows);
        assert!(rows.same_shape_for_all());
        let flash = rows.with_attention(&f16(FlashAttention::On));
        assert_eq!(
            (flash.attention, flash.prefill.padded_len(1), flash.decode.padded_len(1)),
            (FlashAttention::On, 64, 8)
        );
        assert!(!flash.same_shape_for_all() && flash.max_verified < 64);
        let small = rows.with_attention(&of(KvCacheType::Q8, FlashAttention::Auto));
        assert_eq!((small.attention, small.prefill), (FlashAttention::On, flash.decode));
        assert_eq!(BatchPolicy::GPU.with_attention(&f16(FlashAttention::On)).prefill, BatchPolicy::GPU.prefill);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn kernels_that_multiply_integers_have_calls_of_their_own() {
        let of =
            |features: &[&str]| BatchPolicy::for_kernels(&features.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["AVX2", "AVX512"]), BatchPolicy::TILE8);
        assert_eq!(of(&["AVX2", "AVX512_VNNI"]), BatchPolicy::VNNI);
    }

    #[test]
    fn pieces_of_several_memories_become_equally_long() {
        let even = |call, lengths: &[usize]| BatchPolicy::TILE8.even(call, lengths);
        assert_eq!([even(Phase::Prefill, &[1]), even(Phase::Prefill, &[65]), even(Phase::Decode, &[1; 3])], [8, 72, 8]);
        assert_eq!(
            [even(Phase::Decode, &[1; 8]), even(Phase::Decode, &[5, 7]), even(Phase::SingleToken, &[1])],
            [2, 8, 1]
        );
        let judged = |pieces| BatchPolicy::TILE8.verified_each(pieces, 128);
        assert_eq!([judged(1), judged(2), judged(3)], [128, 64, 40]);
    }

    #[test]
    fn what_is_left_is_shared_out_evenly() {
        let of = |left| BatchPolicy::share(left, 128);
        assert_eq!([of(0), of(7), of(128), of(129), of(300), of(1000)], [0, 7, 128, 80, 112, 128]);
    }

    proptest! {
        #[test]
        fn calls_and_wanted_logits_come_in_multiples_and_nobody_loses_a_place(
            wants in proptest::collection::vec(any::<bool>(), 1..70),
            rows_of in prop::sample::select(vec![BatchPolicy::GPU, BatchPolicy::MULT4, BatchPolicy::TILE8, BatchPolicy::VNNI]),
            call in prop::sample::select(vec![Phase::Prefill, Phase::Decode, Phase::SingleToken]),
        ) {
            let row = |(position, wants_logits): (usize, &bool)| BatchRow {
                token: LlamaToken::new(7),
                position,
                sequence: Sequence(0),
                wants_logits: *wants_logits,
            };
            let mut rows: Vec<BatchRow> = wants.iter().enumerate().map(row).collect();
            let (filler, size) = (rows_of.padding(call, Sequence(1), rows.len()), rows_of.size(call));
            rows_of.pad(call, &mut rows, &[filler]);
            prop_assert_eq!(rows.len(), wants.len() + filler.tokens);
            prop_assert!(rows.len() >= size.least && rows.len().is_multiple_of(size.multiple));
            prop_assert!(filler.tokens <= rows_of.max_padding());
            let wanted = rows.iter().filter(|row| row.wants_logits).count();
            prop_assert!(wanted.is_multiple_of(size.logits) || wanted == rows.len());
            prop_assert_eq!(wanted == 0, wants.iter().all(|wants| !wants));
            for (at, (row, wants)) in rows.iter().zip(&wants).enumerate() {
                prop_assert!(row.position == at && row.sequence == Sequence(0) && (row.wants_logits || !wants));
            }
            for (at, row) in rows[wants.len()..].iter().enumerate() {
                prop_assert!(row.position == at && row.sequence == Sequence(1));
            }
        }

        #[test]
        fn pieces_that_are_filled_up_are_a_call_of_their_kind(
            lengths in proptest::collection::vec(1_usize..7, 1..4),
            rows in prop::sample::select(vec![BatchPolicy::TILE8, BatchPolicy::VNNI]),
            call in prop::sample::select(vec![Phase::Prefill, Phase::Decode]),
        ) {
            let (even, size) = (rows.even(call, &lengths), rows.size(call));
            let all = even * lengths.len();
            prop_assert!(lengths.iter().all(|length| *length <= even && even > 1));
            prop_assert!(all >= size.least && all.is_multiple_of(size.multiple));
        }
    }
}
