//! The tokens of an answer that say something, apart from those that cite or only name a source.
//!
//! Takes the bytes of the tokens as generated; gives each token the share of its bytes outside of citations. A number
//! in a citation names a place of the prompt: without its source it becomes improbable whatever the source says.
//! Invariants: shares are in 0..=1; text without a citation has shares of 1; a token that a citation shares with its
//! neighbour counts in part.
//! Not here: the forms of citations (`citation`), computing values of tokens (`logprob`, `masked_estimate`).

use std::ops::Range;

use super::AttributionError;
use super::masked_estimate::loss_of_mean;
use crate::answer::{Answer, citation};
use ragonite_inference::{Generate, InferenceError};

/// The share of each token of an answer that is content.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ContentShares(Vec<f32>);

impl ContentShares {
    /// The shares of the tokens of `answer`; all 1 where the generator cannot give their bytes.
    pub(super) fn of(answer: &Answer, generator: &dyn Generate) -> Result<Self, AttributionError> {
        match generator.token_bytes(&answer.completion.tokens) {
            Ok(pieces) => Ok(Self::of_pieces(&pieces, &answer.prompt.sources())),
            Err(InferenceError::Run { .. }) => Ok(Self(vec![1.0; answer.completion.tokens.len()])),
            Err(source) => Err(AttributionError::Pieces { source }),
        }
    }

    /// The shares of tokens with these bytes. A token without bytes counts whole.
    pub(super) fn of_pieces(pieces: &[Vec<u8>], sources: &[usize]) -> Self {
        let spans = citation::spans(&text_of(&pieces.concat()), sources);
        let mut begin = 0;
        let share = |piece: &Vec<u8>| {
            let bytes = begin..begin + piece.len();
            begin = bytes.end;
            let named: usize = spans.iter().map(|span| overlap(&bytes, span)).sum();
            if piece.is_empty() { 1.0 } else { (piece.len() - named) as f32 / piece.len() as f32 }
        };
        Self(pieces.iter().map(share).collect())
    }

    /// Values of the first tokens, each times its share.
    pub(super) fn weigh(&self, values: &[f32]) -> Vec<f32> {
        values.iter().zip(&self.0).map(|(value, share)| if *share == 0.0 { 0.0 } else { value * share }).collect()
    }

    /// The mean of weighed values over the content of their tokens, which begin at `first`; 0 without content.
    pub(super) fn mean(&self, weighed: &[f32], first: usize) -> f64 {
        let content: f64 = self.0.iter().skip(first).take(weighed.len()).copied().map(f64::from).sum();
        let sum: f64 = weighed.iter().copied().map(f64::from).sum();
        if content > 0.0 { sum / content } else { 0.0 }
    }

    /// 1 minus the factor by which a content token becomes less probable, from the weighed drops of tokens from `first`
    /// on.
    pub(super) fn loss(&self, weighed: &[f32], first: usize) -> f64 {
        loss_of_mean(self.mean(weighed, first))
    }

    /// The tokens that are no content at all.
    pub(super) fn citation_tokens(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|token| self.0[*token] == 0.0).collect()
    }
}

/// The text of bytes, with as many bytes: each invalid one becomes a question mark.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> usize {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn shares(texts: &[&str]) -> Vec<f32> {
        ContentShares::of_pieces(&pieces(texts), &[1, 2, 3, 4]).0
    }

    #[test]
    fn the_tokens_of_a_citation_are_no_content() {
        assert_eq!(
            shares(&["Paris", ".", " [", "Source", " ", "4", "]", ""]),
            [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(shares(&["According", " to", " Source", " 2", ",", " yes"]), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(shares(&["It", " says", " 4", "."]), [1.0; 4]);
        let named = shares(&["In", " Source", " 2", ",", " 4800", " EUR", " and", " 15"]);
        assert_eq!(named, [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], "a figure behind a source is no source");
    }

    #[test]
    fn a_token_that_a_citation_shares_with_its_neighbour_counts_in_part() {
        assert_eq!(shares(&["Paris", " [", "4", "].", " Yes"]), [1.0, 0.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn values_of_citations_count_neither_in_sums_nor_in_means() {
        let content = ContentShares::of_pieces(&pieces(&["Paris", " [", "4", "]."]), &[4]);
        let weighed = content.weigh(&[0.5, 9.0, f32::INFINITY, 1.0]);
        assert_eq!(weighed, [0.5, 0.0, 0.0, 0.5]);
        assert!((content.mean(&weighed, 0) - 1.0 / 1.5).abs() < 1e-9);
        assert_eq!((content.mean(&weighed[1..3], 1), content.citation_tokens()), (0.0, vec![1, 2]));
    }

    /// Every form in which models cite source 2.
    const FORMS: &[&str] = &[
        " [Source 2]",
        " [Sources 1, 2]",
        " [2]",
        " [1, 2]",
        " (Source 2)",
        " (see Sources 1 and 2)",
        " 【Source 2】",
        " [Quelle 2]",
        " [Quellen 1 bis 3]",
        " (Quelle 2)",
        " [[Source 2]]",
        " [Source 1][Source 2]",
        " [Source 2: Notes]",
        " [Source 2 (older version)]",
        " [source #2]",
    ];

    proptest! {
        #![proptest_config(ragonite_testing::cases(300))]

        /// However a tokenizer cuts the text, the content of all tokens is the text without its citation.
        #[test]
        fn any_tokenizer_leaves_the_same_content(
            form in prop::sample::select(FORMS),
            cuts in prop::collection::btree_set(0usize..60, 0..12),
        ) {
            let text = format!("Grün ist es.{form} Und alt.");
            let bytes = text.as_bytes();
            let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            ends.push(bytes.len());
            let mut begin = 0;
            let pieces: Vec<Vec<u8>> = ends.iter().map(|end| bytes[std::mem::replace(&mut begin, *end)..*end].to_vec()).collect();
            let ContentShares(shares) = ContentShares::of_pieces(&pieces, &[1, 2, 3]);
            let content: f32 = pieces.iter().zip(&shares).map(|(piece, share)| piece.len() as f32 * share).sum();
            prop_assert!((content - (text.len() - form.len()) as f32).abs() < 0.01, "{form}: {content}");
        }

        #[test]
        fn any_bytes_have_shares_between_0_and_1(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..20),
        ) {
            let ContentShares(shares) = ContentShares::of_pieces(&pieces, &[1, 2]);
            prop_assert_eq!(shares.len(), pieces.len());
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }
}
