//! Keeps one document from filling the list of hits.
//!
//! Takes the documents of the hits, best first; gives the new order.
//! Invariants: pure; every place comes once; the first stays first; hits of one document keep their order.
//! Not here: near-duplicates (`near_duplicates`).

use std::collections::HashMap;
use std::hash::Hash;

/// Places in the new order: hits beyond the first `most` of their document come last; 0 changes nothing.
pub(super) fn cap_per_document<D: Copy + Eq + Hash>(documents: &[D], most: usize) -> Vec<usize> {
    let mut seen: HashMap<D, usize> = HashMap::new();
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..documents.len()).partition(|place| {
        let count = seen.entry(documents[*place]).or_default();
        *count += 1;
        most == 0 || *count <= most
    });
    [first, rest].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_beyond_the_share_of_its_document_goes_behind_the_others() {
        let documents = ["a", "a", "a", "b", "a", "c"];
        assert_eq!(cap_per_document(&documents, 2), [0, 1, 3, 5, 2, 4]);
        assert_eq!(cap_per_document(&documents, 1), [0, 3, 5, 1, 2, 4]);
        assert_eq!(cap_per_document(&documents, 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(cap_per_document(&["a", "a"], 1), [0, 1], "a document alone is shown whole");
        assert!(cap_per_document::<u8>(&[], 2).is_empty());
    }

    proptest! {
        #[test]
        fn every_place_comes_once_and_the_first_stays(documents in proptest::collection::vec(0_u8..5, 0..30), most in 0_usize..5) {
            let order = cap_per_document(&documents, most);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..documents.len()).collect::<Vec<_>>());
            prop_assert!(order.first().is_none_or(|first| *first == 0));
            for document in 0..5 {
                let of: Vec<_> = order.iter().filter(|place| documents[**place] == document).collect();
                prop_assert!(of.is_sorted());
            }
        }
    }
}
