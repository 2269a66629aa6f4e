//! Shapes of llama.cpp calls, chosen so that logits are batch invariant.
//!
//! Takes the tokens of a call; adds padding until the call has the shape of its phase.
//! Invariants: the given tokens come first, in their order; each sequence's tokens come in the order of their
//! positions.
//! Not here: decoding (`engine`), where a token's state lies (`layout`).
//!
//! On a processor llama.cpp has several kernels for the same weights and several forms of attention. It chooses by the
//! number of tokens in a call, and each choice rounds differently: logits of a model with 1.5 billion parameters in 4
//! bits moved by 0.7. So only calls of one shape count: an answer's tokens are read by calls of the prefill shape or,
//! with flash attention, by another shape that all answers share. Where such a call takes much longer than a
//! single-token call, single tokens are drafted first (`speculative`) and verified together, or they count as they are
//! (`Decoding::Fast`).

use llama_cpp_2::token::LlamaToken;

use super::batch_decode::MAX_PARALLEL;
use super::engine::Sequence;
use ragonite_inference::{FlashAttention, GeneratorSettings, KvCacheType};

/// Number of tokens that llama.cpp's fastest kernels take at a time.
pub(super) const KERNEL_TILE: usize = 16;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Reads prompt tokens.
    Prefill,
    /// Reads the last token of a prompt and tokens of an answer; in mixed calls also tokens of other prompts.
    Decode,
    /// Decodes single tokens: draft tokens, which another call verifies, or tokens of an answer with `Decoding::Fast`.
    SingleToken,
}

/// The number of tokens in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BatchShape {
    /// Minimum.
    least: usize,
    /// The number is a multiple of this one.
    multiple: usize,
    /// If any token wants logits, the number that want them is a multiple of this one: the last layer computes only
    /// those.
    logits: usize,
    /// Minimum for each sequence.
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

    /// `tokens` with padding.
    fn padded_len(self, tokens: usize) -> usize {
        tokens.max(self.least).next_multiple_of(self.multiple)
    }
}

/// The call shapes under which a token's logits depend only on it and on the tokens before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchPolicy {
    /// How attention is computed.
    pub(super) attention: FlashAttention,
    /// Whether llama.cpp may repack weights, which takes more memory.
    pub(super) repacks_weights: bool,
    prefill: BatchShape,
    decode: BatchShape,
    /// Maximum of tokens in a call: llama.cpp ends the process above its configured batch size.
    pub(super) max_prefill: usize,
    /// Maximum of tokens of one sequence in a call that reads an answer.
    pub(super) max_verified: usize,
    /// The same for draft tokens: tokens behind the first wrong one are read in vain.
    pub(super) max_drafted: usize,
    /// Maximum of answers decoded at the same time where each has its own KV memory.
    pub(super) max_answers: usize,
    /// Whether one call may prefill and decode; if so, no drafts are decoded.
    pub(super) allows_mixed: bool,
}

impl BatchPolicy {
    /// For GPUs, where logits do not depend on the call shape.
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

    /// llama.cpp uses the same kernels for any multiple of four tokens.
    pub(super) const MULT4: Self =
        Self { prefill: BatchShape::of(4), decode: BatchShape::of(4), max_verified: 48, ..Self::GPU };

    /// x86-64: repacked weights are multiplied with four tokens at a time or, with other rounding, with one. Other
    /// weights use tiles from eight tokens on, and single products below. Attention without flash rounds differently
    /// for a single token of a sequence.
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

    /// x86-64 with AVX-512 VNNI: tiles of unpacked weights are half as fast again as repacked weights.
    pub(super) const VNNI: Self = Self { repacks_weights: false, ..Self::TILE8 };

    /// The policy for kernels with these features, in llama.cpp's names.
    pub(super) fn for_kernels(features: &[String]) -> Self {
        let wide = features.iter().any(|feature| feature == "AVX512_VNNI");
        match (cfg!(target_arch = "x86_64"), wide) {
            (false, _) => Self::MULT4,
            (true, false) => Self::TILE8,
            (true, true) => Self::VNNI,
        }
    }

    /// The same with the configured attention. For large prefill calls flash attention has two forms: tiles of 64
    /// tokens and, for fewer tokens and for an 8-bit KV cache, one token after the other. Both are slower than plain
    /// attention, so flash attention is used only on request.
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

    /// Whether a token gets the same state in a prompt and in an answer.
    pub(super) fn same_shape_for_all(self) -> bool {
        self.prefill == self.decode
    }

    /// Maximum of padding tokens of a sequence in a call: up to the call's shape, or up to the longest other slice,
    /// which is a draft.
    pub(super) fn max_padding(self) -> usize {
        let alone = self.prefill.padded_len(1).max(self.decode.padded_len(1)) - 1;
        if self.allows_mixed { alone } else { alone.max(KERNEL_TILE - 1) }
    }

    /// Tokens of each slice after padding all to equal length, as calls for several KV memories need.
    pub(super) fn even(self, call: Phase, lengths: &[usize]) -> usize {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let size = self.size(call);
        let fits = |length: &usize| {
            let all = length * lengths.len();
            *length >= size.each && size.padded_len(all) == all
        };
        (longest..=longest + self.max_padding()).find(fits).unwrap_or(longest)
    }

    /// Tokens of each of `pieces` slices in a verifying call of at most `most` tokens.
    pub(super) fn verified_each(self, pieces: usize, most: usize) -> usize {
        let fits = |length: &usize| self.even(Phase::Decode, &vec![*length; pieces]) == *length;
        (1..=self.max_verified.min(most / pieces.max(1))).rev().find(fits).unwrap_or(1)
    }

    /// Maximum of draft tokens in a call after `right` accepted ones: a draft that held so far probably goes on to
    /// hold.
    pub(super) fn draft_len_after(self, right: usize) -> usize {
        if right == 0 || self.allows_mixed { self.max_drafted } else { self.max_verified }
    }

    /// Tokens for the next of several equally long calls, with `left` tokens left and at most `most` in a call: a short
    /// call takes almost as long as a long one.
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

/// Padding tokens of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Padding {
    /// The sequence that reads them; they are removed afterwards.
    pub(super) sequence: Sequence,
    pub(super) position: usize,
    pub(super) tokens: usize,
}

impl BatchPolicy {
    /// Padding for a call of `tokens`, in its own sequence.
    pub(super) fn padding(self, call: Phase, sequence: Sequence, tokens: usize) -> Padding {
        Padding { sequence, position: 0, tokens: self.size(call).padded_len(tokens) - tokens }
    }

    /// Adds padding, and marks more tokens as wanting logits until the number fits the shape.
    pub(super) fn pad(self, call: Phase, rows: &mut Vec<BatchRow>, padding: &[Padding]) {
        for Padding { sequence, position, tokens } in padding {
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
            let (padding, size) = (rows_of.padding(call, Sequence(1), rows.len()), rows_of.size(call));
            rows_of.pad(call, &mut rows, &[padding]);
            prop_assert_eq!(rows.len(), wants.len() + padding.tokens);
            prop_assert!(rows.len() >= size.least && rows.len().is_multiple_of(size.multiple));
            prop_assert!(padding.tokens <= rows_of.max_padding());
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
