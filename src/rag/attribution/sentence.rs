//! Attributes each sentence of an answer to clusters.
//!
//! Takes an attribution with logprob drops and the texts of the answer's tokens; splits the shown answer into
//! sentences, finds the tokens of each, and sums their drops. The output of the model differs from the shown text in
//! white space at the ends, the form of citations, and control characters. Both are aligned word by word; within a
//! differing phrase, the place of a token is proportional.
//! Invariant: every token is in exactly one sentence, in order.
//! Not here: computing drops (`counterfactual`, `masked_estimate`, `logprob`), splitting the answer
//! (`answer::sentences`).

use std::ops::Range;

use super::content::ContentShares;
use super::score::{Effect, is_decisive, shares};
use super::{
    Attribution, AttributionError, AttributionSettings, Change, Cluster, Provenance, Sentence, SentenceCluster,
    difference,
};
use crate::answer::Answer;
use crate::answer::sentences::{AnswerSentence, sentences_of};
use ragonite_inference::{Generate, InferenceError};

/// Adds the sentences to an attribution. It stays without them if a cluster has no drops (its share would go to the
/// others), if the drops are those of a regenerated answer, or if the generator cannot give the texts of tokens.
///
/// # Errors
/// When the generator fails.
pub fn by_sentence(
    mut attribution: Attribution,
    answer: &Answer,
    settings: &AttributionSettings,
    generator: &dyn Generate,
) -> Result<Attribution, AttributionError> {
    let tokens = &answer.completion.tokens;
    let is_of_answer = attribution.instead.is_none() && !tokens.is_empty();
    let has_all = is_of_answer && attribution.clusters.iter().all(|one| one.drops.len() == tokens.len());
    let Some(how) = attribution.drops_how().filter(|_| has_all) else {
        return Ok(attribution);
    };
    let pieces = match generator.token_bytes(tokens) {
        Ok(pieces) => pieces,
        Err(InferenceError::Run { .. }) => return Ok(attribution),
        Err(source) => return Err(AttributionError::Pieces { source }),
    };
    let content = ContentShares::of_pieces(&pieces, &answer.prompt.sources());
    let texts = texts(&pieces);
    let found = sentences_of(&answer.text, &answer.prompt.sources());
    let starts: Vec<usize> = found.iter().map(|sentence| sentence.span.start).collect();
    let tokens = tokens_of(&texts, &answer.text, &starts);
    let sentences = found.into_iter().zip(tokens).map(|(AnswerSentence { span, cited }, tokens)| {
        let text = answer.text[span].trim().to_owned();
        let clusters = clusters_of(&tokens, &attribution.clusters, how, &content);
        with_shares(Sentence { text, tokens, cited, decisive: false, clusters }, settings.temperature)
    });
    attribution.sentences = sentences.collect();
    attribution.tokens = texts;
    attribution.citation_tokens = content.citation_tokens();
    Ok(attribution)
}

/// The effect of each cluster on these tokens.
fn clusters_of(
    tokens: &Range<usize>,
    clusters: &[Cluster],
    how: Provenance,
    content: &ContentShares,
) -> Vec<SentenceCluster> {
    let found = clusters.iter().filter_map(|cluster| {
        let drops = cluster.drops.get(tokens.clone())?;
        let drop = drops.iter().copied().map(f64::from).sum();
        let contribution = content.loss(drops, tokens.start);
        Some(SentenceCluster { hits: cluster.hits.clone(), how, drop, contribution, share: None })
    });
    found.collect()
}

/// The sentence with its clusters in order, with their shares.
fn with_shares(mut sentence: Sentence, temperature: f64) -> Sentence {
    let clusters = &mut sentence.clusters;
    clusters.sort_by(|a, b| {
        b.contribution.total_cmp(&a.contribution).then(b.drop.total_cmp(&a.drop)).then_with(|| a.hits.cmp(&b.hits))
    });
    let effects: Vec<Effect> = clusters.iter().map(SentenceCluster::effect).collect();
    sentence.decisive = is_decisive(&effects, temperature);
    for (cluster, share) in sentence.clusters.iter_mut().zip(shares(&effects, temperature)) {
        cluster.share = share;
    }
    sentence
}

/// The text of each token. A character spread over several tokens belongs to the first.
fn texts(pieces: &[Vec<u8>]) -> Vec<String> {
    let mut texts = vec![String::new(); pieces.len()];
    let ends: Vec<usize> = pieces
        .iter()
        .scan(0, |end, piece| {
            *end += piece.len();
            Some(*end)
        })
        .collect();
    let mut give = |at: usize, c: char| {
        if let Some(text) = texts.get_mut(ends.partition_point(|end| *end <= at)) {
            text.push(c);
        }
    };
    let mut at = 0;
    for chunk in pieces.concat().utf8_chunks() {
        chunk.valid().char_indices().for_each(|(within, c)| give(at + within, c));
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            give(at, char::REPLACEMENT_CHARACTER);
            at += chunk.invalid().len();
        }
    }
    texts
}

/// The tokens of each sentence.
fn tokens_of(texts: &[String], text: &str, starts: &[usize]) -> Vec<Range<usize>> {
    let aligned = Aligned::of(&texts.concat(), text);
    let mut begin = 0;
    let mut last = 0;
    let owners: Vec<usize> = texts
        .iter()
        .map(|token| {
            // A token begins with the white space before its word, a sentence with the word.
            let blank = token.len() - token.trim_start().len();
            let at = begin + if blank == token.len() { 0 } else { blank };
            begin += token.len();
            let owner = starts.partition_point(|start| *start <= aligned.place(at)).saturating_sub(1);
            last = last.max(owner);
            last
        })
        .collect();
    (0..starts.len())
        .map(|sentence| {
            let from = |sentence: usize| owners.partition_point(|owner| *owner < sentence);
            from(sentence)..from(sentence + 1)
        })
        .collect()
}

/// The alignment of the model's output with the shown text.
struct Aligned {
    /// Aligned ranges of both texts, in order.
    spans: Vec<(Range<usize>, Range<usize>)>,
    /// Length of the shown text.
    end: usize,
}

impl Aligned {
    fn of(written: &str, shown: &str) -> Self {
        let mut spans: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        let (mut from, mut to) = (0, 0);
        for part in difference(written, shown) {
            let length = part.text.len();
            match part.change {
                Change::Same => spans.push((from..from + length, to..to + length)),
                Change::Removed => spans.push((from..from + length, to..to)),
                // A removed part comes before the added part that replaces it.
                Change::Added => match spans.last_mut() {
                    Some((_, shown)) if shown.start == shown.end => shown.end = to + length,
                    _ => spans.push((from..from, to..to + length)),
                },
            }
            from += if part.change == Change::Added { 0 } else { length };
            to += if part.change == Change::Removed { 0 } else { length };
        }
        Self { spans, end: to }
    }

    fn place(&self, at: usize) -> usize {
        let span = self.spans.iter().find(|(written, _)| written.contains(&at));
        span.map_or(self.end, |(written, shown)| shown.start + (at - written.start) * shown.len() / written.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn starts(text: &str, sources: &[usize]) -> Vec<usize> {
        sentences_of(text, sources).iter().map(|sentence| sentence.span.start).collect()
    }

    #[test]
    fn tokens_go_to_the_sentence_their_text_is_shown_in() {
        let written = pieces(&[" ", "It", " is", " blue", " [", "1", "].", " It", " is", " old", ".", "\n", ""]);
        let shown = "It is blue [Source 1]. It is old.";
        assert_eq!(tokens_of(&written, shown, &starts(shown, &[1])), [0..7, 7..13]);
    }

    #[test]
    fn an_answer_of_one_sentence_has_all_tokens_whatever_the_model_wrote() {
        let written = pieces(&["I", " cannot", " say", "."]);
        assert_eq!(tokens_of(&written, "The information cannot be found.", &[0]), vec![0..4]);
        assert_eq!(tokens_of(&[], "", &[0]), vec![0..0]);
    }

    #[test]
    fn a_character_over_several_tokens_is_the_first_ones() {
        let bytes = "a→b".as_bytes();
        assert_eq!(texts(&[bytes[..2].to_vec(), bytes[2..3].to_vec(), bytes[3..].to_vec()]), ["a→", "", "b"]);
        assert_eq!(texts(&[vec![0xff], b"x".to_vec(), vec![0xe2]]), ["\u{fffd}", "x", "\u{fffd}"]);
    }

    #[test]
    fn the_drops_of_a_sentence_are_added_up() {
        let cluster = |hit: usize, drops: &[f32]| Cluster {
            hits: vec![hit],
            how: Provenance::Logprob,
            contribution: 0.5,
            share: None,
            counterfactual_answer: None,
            counterfactuals: Vec::new(),
            drops: drops.to_vec(),
            drops_how: None,
            divergences: Vec::new(),
        };
        let clusters = [cluster(1, &[1.0, 2.0, 0.0]), cluster(2, &[0.0, -0.5, 3.0])];
        let content = ContentShares::of_pieces(&[b"a".to_vec(), b"b".to_vec(), b"c".to_vec()], &[]);
        let sentence = |tokens: Range<usize>| {
            let clusters = clusters_of(&tokens, &clusters, Provenance::Logprob, &content);
            let (text, cited) = ("One.".to_owned(), Vec::new());
            with_shares(Sentence { text, tokens, cited, decisive: false, clusters }, 0.05)
        };
        let first = sentence(0..2);
        assert_eq!(first.clusters.iter().map(|c| (c.hits[0], c.drop)).collect::<Vec<_>>(), [(1, 3.0), (2, -0.5)]);
        assert_eq!(first.clusters.iter().map(|c| c.share).collect::<Vec<_>>(), [Some(1.0), None]);
        assert!(first.decisive && (first.clusters[0].contribution - (1.0 - (-1.5_f64).exp())).abs() < 1e-12);
        let second = sentence(2..3);
        assert_eq!(second.clusters[0].hits, [2]);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(300))]

        #[test]
        fn every_token_is_in_exactly_one_sentence(
            written in prop::collection::vec(r"( ?[aB1.]{0,3}|\[|Source|\n| ?\[1\]|ü)", 0..40),
            shown in prop::option::of(r"([aB1 .\n]|\[Source 1\]|ü){0,60}"),
        ) {
            let raw = written.concat();
            let shown = shown.unwrap_or_else(|| crate::answer::citation::read(raw.trim(), &[1]).text);
            let starts = starts(&shown, &[1]);
            prop_assert!(starts[0] == 0 && starts.is_sorted() && starts.iter().all(|at| shown.is_char_boundary(*at)));
            let tokens = tokens_of(&written, &shown, &starts);
            prop_assert_eq!(tokens.len(), starts.len());
            prop_assert_eq!(tokens.first().map(|range| range.start), Some(0));
            prop_assert_eq!(tokens.last().map(|range| range.end), Some(written.len()));
            prop_assert!(tokens.windows(2).all(|pair| pair[0].end == pair[1].start));
        }

        #[test]
        fn the_texts_of_tokens_are_the_bytes_of_all(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..20)) {
            let bytes = pieces.concat();
            prop_assert_eq!(texts(&pieces).concat(), String::from_utf8_lossy(&bytes));
        }
    }
}
