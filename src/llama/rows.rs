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
//! Where such a call takes much longer than one of a single token, single tokens are written first (`sketch`) and read
//! again together; or they count as they are, where a setting says so (`Writing::Quick`).

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;
use super::together::TOGETHER;
use ragonite_inference::{FlashAttention, GeneratorSettings, KvCache};

/// Tokens that llama.cpp's kernels take at a time when they are quickest.
pub(super) const QUICK: usize = 16;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It reads tokens of prompts.
    Reading,
    /// It reads the last token of a prompt and those of an answer; where both kinds may be one call, those of other
    /// prompts too.
    Writing,
    /// It writes single tokens: those of a sketch, which are read again by a call that counts, or, where an answer need not
    /// be exact, those of the answer.
    Single,
}

/// How many tokens a call of a kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    /// At least.
    least: usize,
    /// A multiple of so many.
    multiple: usize,
    /// So many of them or a multiple want logits, if any does: the last layer goes through those alone.
    logits: usize,
    /// At least so many of each sequence.
    each: usize,
}

impl Size {
    const ANY: Self = Self::of(1);

    const fn of(tokens: usize) -> Self {
        Self { least: tokens, multiple: tokens, logits: tokens, each: 1 }
    }

    const fn in_pairs(self) -> Self {
        Self { each: 2, ..self }
    }

    /// As many as `tokens` or more.
    fn filled(self, tokens: usize) -> usize {
        tokens.max(self.least).next_multiple_of(self.multiple)
    }
}

/// How calls are made, so that what a token gives depends on it and on those before it only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// How attention is computed.
    pub(super) attention: FlashAttention,
    /// Whether llama.cpp may keep weights in another order than the file's, which takes more memory.
    pub(super) reorders: bool,
    reading: Size,
    writing: Size,
    /// Tokens of a call at most: llama.cpp ends the process over more than it was told.
    pub(super) most_read: usize,
    /// Tokens of one sequence in a call that reads an answer, at most.
    pub(super) most_judged: usize,
    /// The same where the answer is a draft, of which nothing is worth reading behind the first token that is wrong.
    pub(super) most_drafted: usize,
    /// Answers that are written at the same time where each has a memory of its own, at most.
    pub(super) most_answers: usize,
    /// Whether one call may read a prompt and write answers; then answers are not sketched.
    pub(super) mixes: bool,
}

impl Rows {
    /// On a GPU nothing depends on it.
    pub(super) const GPU: Self = Self {
        attention: FlashAttention::Auto,
        reorders: true,
        reading: Size::ANY,
        writing: Size::ANY,
        most_read: 512,
        most_judged: 512,
        most_drafted: 32,
        most_answers: TOGETHER,
        mixes: true,
    };

    /// The same kernels for any multiple of four tokens.
    pub(super) const FOURS: Self = Self { reading: Size::of(4), writing: Size::of(4), most_judged: 48, ..Self::GPU };

    /// x86-64: weights that are reordered are multiplied with four tokens at a time or, otherwise rounded, with one.
    /// The others go through a tile at a time from eight tokens on, and are multiplied one by one with fewer. Attention
    /// as one table is computed otherwise for a single token of a sequence.
    pub(super) const TILES: Self = Self {
        attention: FlashAttention::Off,
        reading: Size::of(8).in_pairs(),
        writing: Size::of(8).in_pairs(),
        most_read: 128,
        most_judged: 128,
        most_drafted: 48,
        most_answers: 5,
        mixes: false,
        ..Self::FOURS
    };

    /// x86-64 with AVX-512 VNNI: tiles of weights in the order of the file are half as fast again as reordered ones.
    pub(super) const WIDE_TILES: Self = Self { reorders: false, ..Self::TILES };

    /// Those for kernels with these features, as llama.cpp calls them.
    pub(super) fn for_kernels(features: &[String]) -> Self {
        let wide = features.iter().any(|feature| feature == "AVX512_VNNI");
        match (cfg!(target_arch = "x86_64"), wide) {
            (false, _) => Self::FOURS,
            (true, false) => Self::TILES,
            (true, true) => Self::WIDE_TILES,
        }
    }

    /// The same with attention as it is wanted. Where prompts are read in calls of many tokens, flash attention has two
    /// ways, tiles of 64 tokens and, for fewer and for states of 8 bits, one token after the other; both are slower than
    /// one table, so that it is only taken where somebody wants it.
    pub(super) fn with_attention(self, settings: &GeneratorSettings) -> Self {
        let alone = |size: Size| Size { each: 1, ..size };
        let flash = |reading| Self {
            attention: FlashAttention::On,
            reading,
            writing: alone(self.writing),
            most_judged: 56,
            ..self
        };
        match (self.mixes, settings.kv_cache, settings.flash_attention) {
            (true, _, attention) => Self { attention, ..self },
            (false, KvCache::Q8, _) => flash(alone(self.writing)),
            (false, KvCache::F16, FlashAttention::On) => flash(Size { least: 64, ..alone(self.reading) }),
            (false, KvCache::F16, FlashAttention::Auto | FlashAttention::Off) => self,
        }
    }

    fn size(self, call: Call) -> Size {
        match call {
            Call::Reading => self.reading,
            Call::Writing => self.writing,
            Call::Single => Size::ANY,
        }
    }

    /// Whether the same token has the same state whether it was read in a prompt or written.
    pub(super) fn reads_as_it_writes(self) -> bool {
        self.reading == self.writing
    }

    /// Tokens that fill up a sequence's part of a call at most: of one by itself up to the size of the call, of one
    /// beside others up to the longest of them, which is a sketch.
    pub(super) fn most_filled(self) -> usize {
        let alone = self.reading.filled(1).max(self.writing.filled(1)) - 1;
        if self.mixes { alone } else { alone.max(QUICK - 1) }
    }

    /// How many tokens each of these pieces has once it is filled up to be as long as the others, as calls for several
    /// memories must have them.
    pub(super) fn even(self, call: Call, lengths: &[usize]) -> usize {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let size = self.size(call);
        let fits = |length: &usize| {
            let all = length * lengths.len();
            *length >= size.each && size.filled(all) == all
        };
        (longest..=longest + self.most_filled()).find(fits).unwrap_or(longest)
    }

    /// Tokens of each of so many pieces in a call that reads answers and has at most `most` tokens.
    pub(super) fn judged_each(self, pieces: usize, most: usize) -> usize {
        let fits = |length: &usize| self.even(Call::Writing, &vec![*length; pieces]) == *length;
        (1..=self.most_judged.min(most / pieces.max(1))).rev().find(fits).unwrap_or(1)
    }

    /// Tokens of a draft in a call, at most, after so many that were right: one that holds probably goes on to.
    pub(super) fn drafted_after(self, right: usize) -> usize {
        if right == 0 || self.mixes { self.most_drafted } else { self.most_judged }
    }

    /// Tokens to read in the next call where so many are left and a call has `most`: the calls are alike, since one of
    /// few tokens takes almost as long as one of many.
    pub(super) fn share(left: usize, most: usize) -> usize {
        let calls = left.div_ceil(most.max(1)).max(1);
        left.div_ceil(calls).next_multiple_of(QUICK).min(most).min(left)
    }
}

/// A token of a call.
pub(super) struct Row {
    pub(super) token: LlamaToken,
    pub(super) position: usize,
    pub(super) sequence: Sequence,
    pub(super) wants_logits: bool,
}

/// Tokens that fill up a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filler {
    /// Where they are read, to be forgotten again.
    pub(super) sequence: Sequence,
    /// The position of the first.
    pub(super) position: usize,
    /// How many.
    pub(super) tokens: usize,
}

impl Rows {
    /// What fills up a call of `tokens` in a sequence of its own.
    pub(super) fn filler(self, call: Call, sequence: Sequence, tokens: usize) -> Filler {
        Filler { sequence, position: 0, tokens: self.size(call).filled(tokens) - tokens }
    }

    /// Adds filler; more tokens want logits until they are as many as a call of this kind has.
    pub(super) fn fill_up(self, call: Call, rows: &mut Vec<Row>, filler: &[Filler]) {
        for Filler { sequence, position, tokens } in filler {
            let row = |position| Row { token: LlamaToken::new(0), position, sequence: *sequence, wants_logits: false };
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
        let (rows, f16) = (Rows::WIDE_TILES, |attention| of(KvCache::F16, attention));
        assert_eq!(rows.with_attention(&f16(FlashAttention::Auto)), rows);
        assert_eq!(rows.with_attention(&f16(FlashAttention::Off)), rows);
        assert!(rows.reads_as_it_writes());
        let flash = rows.with_attention(&f16(FlashAttention::On));
        assert_eq!((flash.attention, flash.reading.filled(1), flash.writing.filled(1)), (FlashAttention::On, 64, 8));
        assert!(!flash.reads_as_it_writes() && flash.most_judged < 64);
        let small = rows.with_attention(&of(KvCache::Q8, FlashAttention::Auto));
        assert_eq!((small.attention, small.reading), (FlashAttention::On, flash.writing));
        assert_eq!(Rows::GPU.with_attention(&f16(FlashAttention::On)).reading, Rows::GPU.reading);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn kernels_that_multiply_integers_have_calls_of_their_own() {
        let of = |features: &[&str]| Rows::for_kernels(&features.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["AVX2", "AVX512"]), Rows::TILES);
        assert_eq!(of(&["AVX2", "AVX512_VNNI"]), Rows::WIDE_TILES);
    }

    #[test]
    fn pieces_of_several_memories_become_equally_long() {
        let even = |call, lengths: &[usize]| Rows::TILES.even(call, lengths);
        assert_eq!([even(Call::Reading, &[1]), even(Call::Reading, &[65]), even(Call::Writing, &[1; 3])], [8, 72, 8]);
        assert_eq!([even(Call::Writing, &[1; 8]), even(Call::Writing, &[5, 7]), even(Call::Single, &[1])], [2, 8, 1]);
        let judged = |pieces| Rows::TILES.judged_each(pieces, 128);
        assert_eq!([judged(1), judged(2), judged(3)], [128, 64, 40]);
    }

    #[test]
    fn what_is_left_is_shared_out_evenly() {
        let of = |left| Rows::share(left, 128);
        assert_eq!([of(0), of(7), of(128), of(129), of(300), of(1000)], [0, 7, 128, 80, 112, 128]);
    }

    proptest! {
        #[test]
        fn calls_and_wanted_logits_come_in_multiples_and_nobody_loses_a_place(
            wants in proptest::collection::vec(any::<bool>(), 1..70),
            rows_of in prop::sample::select(vec![Rows::GPU, Rows::FOURS, Rows::TILES, Rows::WIDE_TILES]),
            call in prop::sample::select(vec![Call::Reading, Call::Writing, Call::Single]),
        ) {
            let row = |(position, wants_logits): (usize, &bool)| Row {
                token: LlamaToken::new(7),
                position,
                sequence: Sequence(0),
                wants_logits: *wants_logits,
            };
            let mut rows: Vec<Row> = wants.iter().enumerate().map(row).collect();
            let (filler, size) = (rows_of.filler(call, Sequence(1), rows.len()), rows_of.size(call));
            rows_of.fill_up(call, &mut rows, &[filler]);
            prop_assert_eq!(rows.len(), wants.len() + filler.tokens);
            prop_assert!(rows.len() >= size.least && rows.len().is_multiple_of(size.multiple));
            prop_assert!(filler.tokens <= rows_of.most_filled());
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
            rows in prop::sample::select(vec![Rows::TILES, Rows::WIDE_TILES]),
            call in prop::sample::select(vec![Call::Reading, Call::Writing]),
        ) {
            let (even, size) = (rows.even(call, &lengths), rows.size(call));
            let all = even * lengths.len();
            prop_assert!(lengths.iter().all(|length| *length <= even && even > 1));
            prop_assert!(all >= size.least && all.is_multiple_of(size.multiple));
        }
    }
}
