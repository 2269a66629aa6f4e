//! Packs answers into adjacent KV streams.
//!
//! Takes sequence numbers; tells which answers are decoded in one call, which answer is moved next to them, and which
//! answers share a draft. llama.cpp computes adjacent KV memories in one operation, and others one after the other.
//! Not here: copying and decoding (`batch_decode`), the tokens of an answer (`decoding_sequence`).

use std::cmp::Reverse;

/// Indices of the longest run of adjacent sequences, in order; of equals the first.
pub(super) fn contiguous_run(sequences: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..sequences.len()).collect();
    places.sort_by_key(|at| sequences[*at]);
    let runs = places.chunk_by(|a, b| sequences[*a] + 1 == sequences[*b]);
    runs.max_by_key(|run| (run.len(), Reverse(sequences[run[0]]))).unwrap_or_default().to_vec()
}

/// The answer to move next to the longest run, as an index into `sequences`, and its target, as an index into `free`;
/// none where all are adjacent or no neighbour is free.
pub(super) fn next_move(sequences: &[usize], free: &[usize]) -> Option<(usize, usize)> {
    let run = contiguous_run(sequences);
    let (first, last) = (sequences[*run.first()?], sequences[*run.last()?]);
    let apart = (0..sequences.len()).find(|at| !run.contains(at))?;
    let place = free.iter().position(|free| free + 1 == first || *free == last + 1)?;
    Some((apart, place))
}

/// For each answer, in sequence order, the index of the answer whose draft it takes: one of those with the `same`
/// tokens, if the drafted sequences are then adjacent, else itself.
pub(super) fn draft_owners(sequences: &[usize], same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let places = 0..sequences.len();
    let first = |at: usize| places.clone().find(|other| *other == at || same(at, *other)).unwrap_or(at);
    let last = |at: usize| places.clone().rfind(|other| *other == at || same(at, *other)).unwrap_or(at);
    let [by_first, by_last]: [Vec<usize>; 2] =
        [places.clone().map(first).collect(), places.clone().map(last).collect()];
    let in_one_go = |by: &Vec<usize>| {
        let own: Vec<usize> = places.clone().filter(|at| by[*at] == *at).map(|at| sequences[at]).collect();
        own.windows(2).all(|pair| pair[0] + 1 == pair[1])
    };
    [by_first, by_last].into_iter().find(in_one_go).unwrap_or_else(|| places.clone().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_whose_sequences_lie_side_by_side_are_written_in_one_call() {
        assert_eq!(contiguous_run(&[4, 2, 3]), [1, 2, 0]);
        assert_eq!(contiguous_run(&[4, 2]), [1], "of equals the first sequence");
        assert!(contiguous_run(&[]).is_empty());
    }

    #[test]
    fn an_answer_by_itself_moves_beside_the_others_where_there_is_room() {
        assert_eq!(next_move(&[6, 2, 3], &[5, 4]), Some((0, 1)), "behind the run");
        assert_eq!(next_move(&[6, 3, 4], &[2]), Some((0, 0)), "before the run");
        assert_eq!(next_move(&[2, 4], &[3, 5, 6]), Some((1, 0)));
        assert_eq!(next_move(&[3, 2, 4], &[5]), None, "they lie side by side");
        assert_eq!(next_move(&[2, 4], &[6]), None, "somebody is between them");
        assert_eq!(next_move(&[], &[2]), None);
    }

    #[test]
    fn one_of_those_that_say_the_same_is_sketched_where_no_gap_comes_of_it() {
        let by = |words: &[u8]| {
            let sequences: Vec<usize> = (2..2 + words.len()).collect();
            draft_owners(&sequences, |a, b| words[a] == words[b])
        };
        assert_eq!(by(b"aaa"), [0, 0, 0]);
        assert_eq!(by(b"abb"), [0, 1, 1]);
        assert_eq!(by(b"aab"), [1, 1, 2], "the last of them lies beside the other");
        assert_eq!(by(b"abab"), [0, 1, 0, 1]);
        assert_eq!(by(b"abbc"), [0, 1, 2, 3], "a gap takes longer than a sketch");
        assert!(by(b"").is_empty());
    }

    proptest! {
        #[test]
        fn a_call_for_several_answers_has_sequences_in_order_without_a_gap(
            sequences in proptest::collection::btree_set(2_usize..9, 1..7),
        ) {
            let sequences: Vec<usize> = sequences.into_iter().rev().collect();
            let places = contiguous_run(&sequences);
            prop_assert!(!places.is_empty());
            prop_assert!(places.windows(2).all(|pair| sequences[pair[0]] + 1 == sequences[pair[1]]));
        }

        #[test]
        fn moving_ends_with_all_side_by_side_where_nobody_else_has_a_sequence(
            taken in proptest::collection::btree_set(2_usize..9, 1..7),
        ) {
            let mut free: Vec<usize> = (2..9).filter(|one| !taken.contains(one)).collect();
            let mut sequences: Vec<usize> = taken.into_iter().collect();
            for _ in 0..sequences.len() {
                if let Some((at, place)) = next_move(&sequences, &free) {
                    std::mem::swap(&mut sequences[at], &mut free[place]);
                }
            }
            prop_assert_eq!(contiguous_run(&sequences).len(), sequences.len());
        }
    }
}
