//! The tokens of a call of llama.cpp.
//!
//! Takes what is to be read, adds what makes the call one that rounds like any other of its kind.
//! Invariants: what was to be read comes first, in its order; each sequence's tokens come in the order of their
//! positions.
//! Not here: reading (`engine`), where a token's state lies (`layout`).
//!
//! On a processor llama.cpp has several kernels for the same weights, and two ways to attention, and chooses by the
//! number of tokens in a call; each rounds otherwise. Logits of 1.5 billion parameters with 4 bits were seen to move by
//! 0.7. Where the best kernels for many tokens are slow for few, prompts and answers are computed with different ones:
//! an answer's tokens are then always read by calls of few, whoever writes it and whatever else is written.

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;
use super::together::TOGETHER;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It reads tokens of prompts.
    Reading,
    /// It reads an answer that is only judged, by values that no answer depends on.
    Judging,
    /// It reads the last token of a prompt and those of an answer that is being written; where both kinds may be one
    /// call, those of other prompts too.
    Writing,
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
}

impl Size {
    const ANY: Self = Self::of(1);

    const fn of(tokens: usize) -> Self {
        Self { least: tokens, multiple: tokens, logits: tokens }
    }

    /// As many as `tokens` or more.
    fn filled(self, tokens: usize) -> usize {
        tokens.max(self.least).next_multiple_of(self.multiple)
    }
}

/// How calls are made, so that what a token gives depends on it and on those before it only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// Whether llama.cpp may keep weights in another order than the file's, which takes more memory.
    pub(super) reorders: bool,
    reading: Size,
    judging: Size,
    writing: Size,
    /// Tokens of a call that reads or judges, at most: llama.cpp ends the process over more than it was told.
    pub(super) most_read: usize,
    /// Tokens of one sequence in a call that judges, at most: with more attention takes another way.
    pub(super) most_judged: usize,
    /// Answers that are written at the same time, at most.
    pub(super) most_answers: usize,
    /// Tokens of a call that writes, at most, where it does not read prompts too: few enough to cancel between, and to
    /// lose little when a draft goes wrong.
    pub(super) most_written: usize,
    /// Tokens that are read on the first guess after a wrong one: as many as cost little more than none.
    pub(super) first_guesses: usize,
    /// Tokens that are read on a guess behind a certain one, at most.
    pub(super) most_guesses: usize,
    /// Whether reading and writing may be one call.
    pub(super) mixes: bool,
}

impl Rows {
    /// On a GPU nothing depends on it.
    pub(super) const GPU: Self = Self {
        reorders: true,
        reading: Size::ANY,
        judging: Size::ANY,
        writing: Size::ANY,
        most_read: 512,
        most_judged: 512,
        most_answers: TOGETHER,
        most_written: 32,
        first_guesses: 3,
        most_guesses: 15,
        mixes: true,
    };

    /// The same kernels for any multiple of four tokens.
    pub(super) const FOURS: Self =
        Self { reading: Size::of(4), judging: Size::of(4), writing: Size::of(4), most_judged: 48, ..Self::GPU };

    /// x86-64: weights that are reordered are multiplied with four tokens at a time or, otherwise rounded, with one.
    /// The others go through a tile at a time from eight tokens on, and are multiplied one by one with fewer. Attention
    /// goes through a tile at a time from 64 tokens on.
    pub(super) const TILES: Self = Self {
        reading: Size { least: 64, ..Size::of(8) },
        judging: Size::of(8),
        most_read: 128,
        most_judged: 56,
        most_answers: 2,
        most_written: 4,
        most_guesses: 3,
        mixes: false,
        ..Self::FOURS
    };

    /// x86-64 with AVX-512 VNNI: tiles of weights in the order of the file are half as fast again as reordered ones;
    /// fewer than eight tokens are multiplied one by one; for a single one attention, and weights that are not of K or
    /// I quants, have another way.
    pub(super) const WIDE_TILES: Self = Self {
        reorders: false,
        writing: Size { least: 2, multiple: 1, logits: 2 },
        most_answers: 3,
        most_written: 6,
        first_guesses: 1,
        most_guesses: 5,
        ..Self::TILES
    };

    /// Those for kernels with these features, as llama.cpp calls them.
    pub(super) fn for_kernels(features: &[String]) -> Self {
        let wide = features.iter().any(|feature| feature == "AVX512_VNNI");
        match (cfg!(target_arch = "x86_64"), wide) {
            (false, _) => Self::FOURS,
            (true, false) => Self::TILES,
            (true, true) => Self::WIDE_TILES,
        }
    }

    /// The same where attention is never computed in tiles.
    pub(super) fn without_tiled_attention(self) -> Self {
        Self { reading: self.judging, ..self }
    }

    fn size(self, call: Call) -> Size {
        match call {
            Call::Reading => self.reading,
            Call::Judging => self.judging,
            Call::Writing => self.writing,
        }
    }

    /// Tokens of a call of this kind, at least.
    pub(super) fn fewest(self, call: Call) -> usize {
        self.size(call).least
    }

    /// Tokens that fill up a sequence's part of a call at most.
    pub(super) fn most_filled(self) -> usize {
        self.reading.filled(1).max(self.writing.filled(1)) - 1
    }

    /// How many tokens each of these pieces has once it is filled up to be as long as the others, as calls for several
    /// memories must have them.
    pub(super) fn even(self, call: Call, lengths: &[usize]) -> usize {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let fits = |length: &usize| {
            let all = length * lengths.len();
            self.size(call).filled(all) == all
        };
        (longest..=longest + self.most_filled()).find(fits).unwrap_or(longest)
    }

    /// Tokens of each of so many pieces in a call that judges and has at most `most` tokens.
    pub(super) fn judged_each(self, pieces: usize, most: usize) -> usize {
        let fits = |length: &usize| self.even(Call::Judging, &vec![*length; pieces]) == *length;
        (1..=self.most_judged.min(most / pieces.max(1))).rev().find(fits).unwrap_or(1)
    }

    /// How many of so many answers can be written in one call, and tokens of each then.
    pub(super) fn written_each(self, answers: usize) -> (usize, usize) {
        let each = |answers: usize| self.even(Call::Writing, &vec![1; answers]);
        let fits = |answers: &usize| answers * each(*answers) <= self.most_written;
        let most = (1..=answers).rev().find(fits).unwrap_or(1);
        // Alone its guesses take the place of filler, and more of them may be worth a try.
        (most, if most == 1 { self.most_written } else { each(most) })
    }

    /// How many tokens to guess next, after `read` of them of which `kept` were right: more where all were, few where
    /// not.
    pub(super) fn guesses_after(self, guesses: usize, read: usize, kept: usize) -> usize {
        match read {
            0 | 1 => guesses,
            _ if read == kept => self.most_guesses.min(2 * guesses + 1),
            _ => self.first_guesses,
        }
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
    fn calls_that_read_and_calls_that_write_are_told_apart_by_their_size_where_kernels_are() {
        for rows in [Rows::TILES, Rows::WIDE_TILES] {
            let writes = rows.writing.filled(rows.most_written);
            assert!(writes < 8 && rows.reading.least >= 64 && rows.most_guesses < rows.most_written, "{rows:?}");
            assert_eq!(rows.most_read, rows.reading.filled(rows.most_read), "{rows:?}");
        }
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
        let even = |lengths: &[usize]| Rows::WIDE_TILES.even(Call::Writing, lengths);
        assert_eq!([even(&[1]), even(&[6]), even(&[1, 1, 1]), even(&[1, 3])], [2, 6, 1, 3]);
        let even = |call, length| Rows::TILES.even(call, &[length]);
        assert_eq!([even(Call::Writing, 1), even(Call::Reading, 1), even(Call::Reading, 65)], [4, 64, 72]);
        let judged = |pieces| Rows::TILES.judged_each(pieces, 128);
        assert_eq!([judged(1), judged(2), judged(3)], [56, 56, 40]);
    }

    #[test]
    fn no_more_answers_are_written_at_once_than_a_call_takes() {
        let of = |rows: Rows| [1, 2, 3].map(|answers| rows.written_each(answers));
        assert_eq!(of(Rows::TILES), [(1, 4), (2, 2), (2, 2)]);
        assert_eq!(of(Rows::WIDE_TILES), [(1, 6), (2, 1), (3, 1)]);
    }

    proptest! {
        #[test]
        fn calls_and_wanted_logits_come_in_multiples_and_nobody_loses_a_place(
            wants in proptest::collection::vec(any::<bool>(), 1..70),
            rows_of in prop::sample::select(vec![Rows::GPU, Rows::FOURS, Rows::TILES, Rows::WIDE_TILES]),
            call in prop::sample::select(vec![Call::Reading, Call::Judging, Call::Writing]),
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
            call in prop::sample::select(vec![Call::Judging, Call::Writing]),
        ) {
            let (even, size) = (rows.even(call, &lengths), rows.size(call));
            let all = even * lengths.len();
            prop_assert!(lengths.iter().all(|length| *length <= even));
            prop_assert!(all >= size.least && all.is_multiple_of(size.multiple));
            let (answers, each) = rows.written_each(lengths.len());
            let written = rows.even(Call::Writing, &vec![each; answers]) * answers;
            prop_assert!(answers <= lengths.len() && written <= rows.most_written);
        }
    }
}
