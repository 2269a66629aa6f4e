//! The tokens of a call of llama.cpp.
//!
//! Takes what is to be read, adds what makes the call one that rounds like any other of its kind.
//! Invariant: what was to be read keeps its places.
//! Not here: reading (`engine`).
//!
//! On a processor llama.cpp has several kernels for the same weights and chooses by the number of tokens in a call; each
//! rounds otherwise, and so does attention for a single token. Logits of 1.5 billion parameters with 4 bits were seen to
//! move by 0.7. Where the best kernels for many tokens are slow for few, prompts and answers are computed with different
//! ones: an answer's tokens are then always read by calls of few, whoever writes it and whatever else is written.

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It reads tokens of prompts, or of an answer that is only judged.
    Reading,
    /// It reads the last token of a prompt and those of an answer that is being written; where both kinds may be one call,
    /// those of other prompts too.
    Writing,
}

/// How calls are made, so that what a token gives depends on it and on those before it only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// Whether llama.cpp may keep weights in another order than the file's, which takes more memory.
    pub(super) reorders: bool,
    /// A call that reads has a multiple of so many tokens.
    reading: usize,
    /// A call that writes has a multiple of so many tokens.
    writing: usize,
    /// Tokens of a call that writes, at most, where it does not read prompts too: few enough to cancel between, and to lose
    /// little when a draft goes wrong.
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
        reading: 1,
        writing: 1,
        most_written: 32,
        first_guesses: 3,
        most_guesses: 15,
        mixes: true,
    };

    /// The same kernels for any multiple of four tokens.
    pub(super) const FOURS: Self = Self { reading: 4, writing: 4, ..Self::GPU };

    /// x86-64: weights that are reordered are multiplied with four tokens at a time or, otherwise rounded, with one. The
    /// others go through a tile at a time from eight tokens on, and are multiplied one by one with fewer.
    pub(super) const TILES: Self =
        Self { reading: 8, writing: 4, most_written: 4, most_guesses: 3, mixes: false, ..Self::GPU };

    /// x86-64 with AVX-512 VNNI: tiles of weights in the order of the file are half as fast again as reordered ones; fewer
    /// than eight tokens are multiplied one by one; for a single one attention, and weights that are not of K or I quants, have
    /// another way.
    pub(super) const WIDE_TILES: Self = Self {
        reorders: false,
        reading: 8,
        writing: 2,
        most_written: 6,
        first_guesses: 1,
        most_guesses: 5,
        mixes: false,
    };

    /// Those for the kernels of this processor.
    pub(super) fn of_this_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        let multiplies_integers = std::arch::is_x86_feature_detected!("avx512vnni");
        #[cfg(not(target_arch = "x86_64"))]
        let multiplies_integers = false;
        match multiplies_integers {
            _ if !cfg!(target_arch = "x86_64") => Self::FOURS,
            true => Self::WIDE_TILES,
            false => Self::TILES,
        }
    }

    /// A call of this kind has a multiple of so many tokens.
    pub(super) fn multiple(self, call: Call) -> usize {
        match call {
            Call::Reading => self.reading,
            Call::Writing => self.writing,
        }
    }

    /// Tokens that fill up a call at most.
    pub(super) fn most_filled(self) -> usize {
        self.reading.max(self.writing) - 1
    }

    /// How many tokens to guess next, after `read` of them of which `kept` were right: more where all were, few where not.
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

/// Adds tokens of `filler` up to a `multiple` and gives how many; more tokens want logits until they are a multiple too,
/// since the last layer goes through those alone.
pub(super) fn fill_up(rows: &mut Vec<Row>, filler: Sequence, multiple: usize) -> usize {
    let missing = rows.len().next_multiple_of(multiple) - rows.len();
    let filler = |position| Row { token: LlamaToken::new(0), position, sequence: filler, wants_logits: false };
    rows.extend((0..missing).map(filler));
    let wanted = rows.iter().filter(|row| row.wants_logits).count();
    let more = wanted.next_multiple_of(multiple) - wanted;
    rows.iter_mut().rev().filter(|row| !row.wants_logits).take(more).for_each(|row| row.wants_logits = true);
    missing
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_that_read_and_calls_that_write_are_told_apart_by_their_size_where_kernels_are() {
        for rows in [Rows::TILES, Rows::WIDE_TILES] {
            let writes = rows.most_written.next_multiple_of(rows.writing);
            assert!(writes < 8 && rows.reading >= 8 && rows.most_guesses < rows.most_written, "{rows:?}");
        }
    }

    proptest! {
        #[test]
        fn calls_and_wanted_logits_come_in_multiples_and_nobody_loses_a_place(
            wants in proptest::collection::vec(any::<bool>(), 1..70),
            multiple in 1_usize..9,
        ) {
            let row = |(position, wants_logits): (usize, &bool)| Row {
                token: LlamaToken::new(7),
                position,
                sequence: Sequence(0),
                wants_logits: *wants_logits,
            };
            let mut rows: Vec<Row> = wants.iter().enumerate().map(row).collect();
            let filled = fill_up(&mut rows, Sequence(1), multiple);
            prop_assert!(filled < multiple && rows.len() == wants.len() + filled && rows.len().is_multiple_of(multiple));
            let wanted = rows.iter().filter(|row| row.wants_logits).count();
            prop_assert_eq!(wanted % multiple, 0);
            prop_assert_eq!(wanted == 0, wants.iter().all(|wants| !wants));
            for (at, (row, wants)) in rows.iter().zip(&wants).enumerate() {
                prop_assert!(row.position == at && row.sequence == Sequence(0) && (row.wants_logits || !wants));
            }
            for (at, row) in rows[wants.len()..].iter().enumerate() {
                prop_assert!(row.position == at && row.sequence == Sequence(1));
            }
        }
    }
}
