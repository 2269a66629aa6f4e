//! The tokens of a call of llama.cpp.
//!
//! Takes what is to be read, adds what makes the call one that rounds like any other.
//! Invariant: what was to be read keeps its places.
//! Not here: reading (`engine`).

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;

/// Tokens that llama.cpp's matrix kernels take together on a processor. Those that are left over at the end of a call
/// go through other kernels, and a single token through another attention, which round otherwise: every call is filled
/// up to a multiple of it, and so are the tokens whose logits are wanted. Logits of 1.5 billion parameters with 4 bits
/// were seen to move by 0.7.
pub(super) const ROWS: usize = 4;

/// A token of a call.
pub(super) struct Row {
    pub(super) token: LlamaToken,
    pub(super) position: usize,
    pub(super) sequence: Sequence,
    pub(super) wants_logits: bool,
}

/// Adds tokens of `filler` up to a multiple of [`ROWS`] and gives how many; more tokens want logits until they are a
/// multiple too.
pub(super) fn fill_up(rows: &mut Vec<Row>, filler: Sequence) -> usize {
    let missing = rows.len().next_multiple_of(ROWS) - rows.len();
    let filler = |position| Row { token: LlamaToken::new(0), position, sequence: filler, wants_logits: false };
    rows.extend((0..missing).map(filler));
    let wanted = rows.iter().filter(|row| row.wants_logits).count();
    let more = wanted.next_multiple_of(ROWS) - wanted;
    rows.iter_mut().rev().filter(|row| !row.wants_logits).take(more).for_each(|row| row.wants_logits = true);
    missing
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn calls_and_wanted_logits_come_in_fours_and_nobody_loses_a_place(
            wants in proptest::collection::vec(any::<bool>(), 1..70),
        ) {
            let row = |(position, wants_logits): (usize, &bool)| Row {
                token: LlamaToken::new(7),
                position,
                sequence: Sequence(0),
                wants_logits: *wants_logits,
            };
            let mut rows: Vec<Row> = wants.iter().enumerate().map(row).collect();
            let filled = fill_up(&mut rows, Sequence(1));
            prop_assert!(filled < ROWS && rows.len() == wants.len() + filled && rows.len().is_multiple_of(ROWS));
            let wanted = rows.iter().filter(|row| row.wants_logits).count();
            prop_assert_eq!(wanted % ROWS, 0);
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
