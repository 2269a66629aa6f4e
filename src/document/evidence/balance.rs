//! Divides what is too long for one evidence into parts of about equal length.
//!
//! Takes the lengths of indivisible pieces, gives the pieces of each part.
//! Invariants: every piece is in one part, in order; there are no more parts than needed; a part is too long only if a
//! piece is, or by an eighth if a few words would be left over.

use std::ops::Range;

/// A part below one in this number of the allowed length is left over, and may lengthen its neighbour by as much.
const LEFT_OVER: usize = 8;

/// The pieces of each part, so that the longest part is as short as the fewest parts allow.
pub(super) fn balance(lengths: &[usize], longest: usize) -> Vec<Range<usize>> {
    let fewest = fill(lengths, longest).len();
    let (mut low, mut high) = (0, longest);
    while low < high {
        let middle = low + (high - low) / 2;
        if fill(lengths, middle).len() <= fewest { high = middle } else { low = middle + 1 }
    }
    join_left_over(fill(lengths, high), lengths, longest)
}

/// Fills parts one after the other.
fn fill(lengths: &[usize], room: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut used = 0_usize;
    for (at, length) in lengths.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if used.saturating_add(*length) <= room => {
                part.end = at + 1;
                used += length;
            }
            _ => {
                parts.push(at..at + 1);
                used = *length;
            }
        }
    }
    parts
}

fn join_left_over(parts: Vec<Range<usize>>, lengths: &[usize], longest: usize) -> Vec<Range<usize>> {
    let total = |part: &Range<usize>| lengths[part.clone()].iter().sum::<usize>();
    let small = |length: usize| length < longest / LEFT_OVER;
    let mut joined: Vec<(Range<usize>, usize)> = Vec::new();
    for part in parts {
        let length = total(&part);
        match joined.last_mut() {
            Some((before, used))
                if (small(length) || small(*used)) && *used + length <= longest + longest / LEFT_OVER =>
            {
                before.end = part.end;
                *used += length;
            }
            _ => joined.push((part, length)),
        }
    }
    joined.into_iter().map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sums(lengths: &[usize], longest: usize) -> Vec<usize> {
        balance(lengths, longest).into_iter().map(|part| lengths[part].iter().sum()).collect()
    }

    #[test]
    fn parts_are_balanced_and_leave_no_crumbs() {
        assert_eq!(sums(&[10; 9], 80), [50, 40]);
        assert_eq!(sums(&[50, 50, 3], 100), [50, 53]);
        assert_eq!(sums(&[98, 4], 100), [102]);
        assert_eq!(sums(&[98, 40], 100), [98, 40]);
        assert_eq!(sums(&[5, 300, 5], 100), [5, 300, 5]);
        assert_eq!(sums(&[], 100), [0; 0]);
        assert_eq!(sums(&[1, 1], 0), [1, 1]);
    }

    proptest! {
        #[test]
        fn every_piece_is_in_one_part_in_order(
            lengths in prop::collection::vec(0_usize..120, 0..40), longest in 0_usize..150,
        ) {
            let parts = balance(&lengths, longest);
            let pieces: Vec<usize> = parts.iter().cloned().flatten().collect();
            prop_assert_eq!(pieces, (0..lengths.len()).collect::<Vec<_>>());
            for part in parts {
                let sum: usize = lengths[part.clone()].iter().sum();
                prop_assert!(part.len() == 1 || sum <= longest + longest / LEFT_OVER);
            }
        }
    }
}
