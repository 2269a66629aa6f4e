//! Speculative decoding: drafts the next tokens of answers.
//!
//! Takes answers in progress; decodes their next tokens with the fastest calls, one token of each answer per call, and
//! removes them again. One verifying call then reads all of a draft, and only its logits count. Single-token calls
//! round differently: where two tokens are almost equally likely both calls may choose differently, so a draft ends
//! there.
//! Where the last tokens occurred before, prompt lookup proposes the tokens that followed, from the place with the
//! longest match.
//! Invariant: no draft stays in the context; whether a token is in an answer never depends on a draft.
//! Not here: verifying and accepting (`decode`, `batch_decode`).

use llama_cpp_2::token::LlamaToken;

use super::batch_policy::{KERNEL_TILE, Phase};
use super::draft::{in_vocabulary_len, ngram_lookup_all};
use super::engine::{BatchSlice, Cause, Engine, EngineError, Logits, Sequence, TopToken};
use super::sampler::Sampler;

/// Length of the n-gram that prompt lookup must match.
const MIN_NGRAM: usize = 4;

/// Match length from which a long continuation is proposed.
const LONG_NGRAM: usize = 16;

/// Minimum length of a looked-up continuation, unless there is room for fewer tokens.
const MIN_PROPOSAL: usize = 4;

/// Logit margin below which a draft ends: the verifying call often chooses the other token, and tokens behind it would
/// be in vain.
const MIN_DRAFT_MARGIN: f32 = 0.2;

/// The draft for the next tokens of an answer.
pub(super) struct DraftProposal<'a> {
    pub(super) sequence: Sequence,
    /// Position of the last certain token, which is not in the state yet.
    pub(super) position: usize,
    /// The answer's tokens before that one.
    pub(super) before: &'a [LlamaToken],
    /// The last certain token, then the draft.
    pub(super) piece: Vec<LlamaToken>,
    pub(super) sampler: Sampler,
    /// Texts for prompt lookup, the likeliest first.
    pub(super) texts: Vec<&'a [LlamaToken]>,
    /// Whether the draft is complete.
    done: bool,
    /// Maximum length of `piece`.
    most: usize,
    /// The same with a long lookup match.
    longest: usize,
}

/// Limits for the tokens of a proposal, the last certain token included.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftLimits {
    /// Maximum of any proposal.
    pub(super) room: usize,
    /// Maximum with a long lookup match.
    pub(super) lookup: usize,
}

impl<'a> DraftProposal<'a> {
    /// A draft for an answer with the tokens `before`, which goes on with `token` at `position`.
    pub(super) fn new(
        sequence: Sequence,
        position: usize,
        before: &'a [LlamaToken],
        token: LlamaToken,
        texts: Vec<&'a [LlamaToken]>,
        sampler: Sampler,
        limits: DraftLimits,
    ) -> Self {
        let (most, longest) = (KERNEL_TILE.min(limits.room), limits.lookup.min(limits.room));
        let piece = vec![token];
        Self { sequence, position, before, piece, sampler, texts, done: false, most, longest }
    }

    fn is_open(&self) -> bool {
        !self.done && self.piece.len() < self.most
    }

    /// Adds a token. `readable` gives how many tokens of a slice can be read.
    fn add(&mut self, TopToken { token, margin }: TopToken, readable: impl Fn(&[LlamaToken]) -> usize) {
        if readable(&[token]) == 0 {
            self.done = true;
            return;
        }
        self.piece.push(token);
        self.extend_by_lookup(readable);
        self.done |= margin < MIN_DRAFT_MARGIN;
    }

    /// Adds the continuation of the last tokens in the texts.
    fn extend_by_lookup(&mut self, readable: impl Fn(&[LlamaToken]) -> usize) {
        let Some((followed, in_common)) = self.lookup() else { return };
        let most = if in_common >= LONG_NGRAM { self.longest } else { self.most };
        let room = most.saturating_sub(self.piece.len());
        let followed = &followed[..followed.len().min(room)];
        let followed = &followed[..readable(followed)];
        if followed.len() >= MIN_PROPOSAL.min(room) {
            self.piece.extend(followed);
            self.done = true;
        }
    }

    /// The last certain token and, after a long lookup match, its continuation, without decoding.
    pub(super) fn with_prompt_lookup(mut self, readable: impl Fn(&[LlamaToken]) -> usize) -> Vec<LlamaToken> {
        if self.lookup().is_some_and(|(_, in_common)| in_common >= LONG_NGRAM) {
            self.extend_by_lookup(readable);
        }
        self.piece
    }

    /// The continuation with the longest match, of equals in the likeliest text, and the length of the match.
    fn lookup(&self) -> Option<(&'a [LlamaToken], usize)> {
        let backwards = || self.piece.iter().rev().chain(self.before.iter().rev());
        let mut last: Vec<LlamaToken> = backwards().take(MIN_NGRAM).copied().collect();
        last.reverse();
        let is_complete = last.len() == MIN_NGRAM;
        let in_common = |text: &[LlamaToken], followed: &'a [LlamaToken]| {
            let before = text[..text.len() - followed.len()].iter().rev();
            (followed, before.zip(backwards()).take_while(|(a, b)| a == b).count())
        };
        let places = self
            .texts
            .iter()
            .filter(|_| is_complete)
            .flat_map(|text| ngram_lookup_all(text, &last).map(|followed| in_common(text, followed)));
        places.reduce(|most, next| if next.1 > most.1 { next } else { most })
    }
}

impl Engine {
    /// Drafts the next tokens of these answers.
    pub(super) fn propose_drafts(&mut self, proposals: &mut [DraftProposal<'_>]) -> Result<(), Cause> {
        for proposal in &mut *proposals {
            proposal.extend_by_lookup(|tokens| in_vocabulary_len(tokens, self));
        }
        let proposed = self.extend_drafts(proposals);
        let stuck = proposals.iter().filter(|one| !self.remove_from(one.sequence, one.position)).count();
        proposed?;
        if stuck == 0 { Ok(()) } else { Err(EngineError::NoPartialRemoval.into()) }
    }

    fn extend_drafts(&mut self, proposals: &mut [DraftProposal<'_>]) -> Result<(), Cause> {
        loop {
            let going: Vec<usize> = (0..proposals.len()).filter(|at| proposals[*at].is_open()).collect();
            if going.is_empty() {
                return Ok(());
            }
            let piece = |at: &usize| {
                let DraftProposal { sequence, piece, position, .. } = &proposals[*at];
                let last = piece.len() - 1;
                let (sequence, tokens, position) = (*sequence, &piece[last..], position + last);
                BatchSlice { sequence, tokens, position, logits: Logits::From(0) }
            };
            let pieces: Vec<BatchSlice<'_>> = going.iter().map(piece).collect();
            self.decode_batch(Phase::SingleToken, &pieces)?;
            for (place, at) in going.into_iter().enumerate() {
                let next = proposals[at].sampler.next_with_margin(self, place);
                proposals[at].add(next, |tokens| in_vocabulary_len(tokens, self));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_inference::Sampling;

    fn tokens(ids: &[i32]) -> Vec<LlamaToken> {
        ids.iter().copied().map(LlamaToken::new).collect()
    }

    /// A token that is far likelier than any other.
    fn sure(id: i32) -> TopToken {
        TopToken { token: LlamaToken::new(id), margin: 5.0 }
    }

    /// How many tokens of a text come before the first with a high number.
    fn small(tokens: &[LlamaToken]) -> usize {
        tokens.iter().take_while(|token| token.0 < 90).count()
    }

    fn sketch<'a>(said: &'a [LlamaToken], token: i32, texts: &[&'a [LlamaToken]], room: usize) -> DraftProposal<'a> {
        let (token, sampler) = (LlamaToken::new(token), Sampler::new(Sampling::Greedy, None));
        let limits = DraftLimits { room, lookup: 48 };
        DraftProposal::new(Sequence(0), 30, said, token, texts.to_vec(), sampler, limits)
    }

    #[test]
    fn a_text_is_gone_on_with_once_four_words_are_its_own() {
        let text = tokens(&[7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let said = tokens(&[1]);
        let sketch = |room| sketch(&said, 2, &[&text], room);
        let mut one = sketch(20);
        one.add(sure(3), small);
        assert!(one.piece == tokens(&[2, 3]) && one.is_open(), "three are not enough");
        one.add(sure(4), small);
        assert!(one.piece == tokens(&[2, 3, 4, 5, 6, 7, 8, 9, 10]) && !one.is_open());

        let mut short = sketch(5);
        short.add(sure(3), small);
        short.add(sure(4), small);
        assert!(short.piece == tokens(&[2, 3, 4, 5, 6]) && !short.is_open(), "no longer than there is room");

        let mut other = sketch(20);
        other.add(sure(3), small);
        other.add(sure(8), small);
        assert!(other.piece == tokens(&[2, 3, 8]) && other.is_open(), "its own way");
    }

    #[test]
    fn a_sketch_ends_at_a_word_that_is_in_doubt_and_with_what_a_text_has_behind_it() {
        let text = tokens(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut one = sketch(&[], 8, &[&text], 20);
        one.add(sure(9), small);
        assert!(one.is_open());
        one.add(TopToken { margin: MIN_DRAFT_MARGIN / 2.0, ..sure(10) }, small);
        assert!(one.piece == tokens(&[8, 9, 10]) && !one.is_open());

        let mut repeats = sketch(&text[..2], 3, &[&text], 20);
        repeats.add(TopToken { margin: 0.0, ..sure(4) }, small);
        assert_eq!(repeats.piece, text[2..], "it is read at little more than no price");
    }

    #[test]
    fn a_text_that_is_repeated_already_is_gone_on_with_at_once() {
        let text = tokens(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut one = sketch(&text[..3], 4, &[&text], 20);
        one.extend_by_lookup(small);
        assert!(one.piece == text[3..] && !one.is_open(), "without a word of its own");
    }

    #[test]
    fn of_several_places_the_one_with_most_in_common_is_gone_on_with() {
        let (first, second) = (tokens(&[9, 2, 3, 4, 5, 20, 21, 22, 23]), tokens(&[1, 2, 3, 4, 5, 30, 31, 32, 33]));
        let said = tokens(&[1, 2, 3, 4]);
        let mut one = sketch(&said, 5, &[&first, &second], 20);
        one.extend_by_lookup(small);
        assert_eq!(one.piece[1..], second[5..]);
        let mut other = sketch(&said[1..], 5, &[&first, &second], 20);
        other.extend_by_lookup(small);
        assert_eq!(other.piece[1..], first[5..], "as many in both");
    }

    #[test]
    fn a_text_that_is_repeated_for_long_is_read_for_long() {
        let text: Vec<LlamaToken> = (1..80).map(LlamaToken::new).collect();
        for (said, read) in [(4, KERNEL_TILE), (LONG_NGRAM, 48)] {
            let mut sketch = sketch(&text[..said], text[said].0, &[&text], 70);
            sketch.add(sure(text[said + 1].0), small);
            assert_eq!(sketch.piece, text[said..said + read]);
        }
    }

    #[test]
    fn without_words_of_its_own_it_is_what_surely_follows() {
        let text: Vec<LlamaToken> = (1..40).map(LlamaToken::new).collect();
        let repeated =
            |said: usize| sketch(&text[..said], text[said].0, &[&text], 30).with_prompt_lookup(<[LlamaToken]>::len);
        assert_eq!(repeated(LONG_NGRAM - 2), text[LONG_NGRAM - 2..LONG_NGRAM - 1]);
        assert_eq!(repeated(LONG_NGRAM - 1), text[LONG_NGRAM - 1..]);
    }

    #[test]
    fn a_sketch_ends_before_what_cannot_be_read_and_a_short_end_is_not_worth_it() {
        let (said, text) = (tokens(&[1, 2]), tokens(&[1, 2, 3, 4, 5, 6, 99, 7, 8]));
        let mut one = sketch(&said, 3, &[&text], 40);
        one.add(sure(4), small);
        assert!(one.piece == tokens(&[3, 4]) && one.is_open(), "two words before the end of a turn");
        one.add(sure(99), small);
        assert!(one.piece == tokens(&[3, 4]) && !one.is_open());
        assert_eq!(sketch(&said, 3, &[&text], 40).most, KERNEL_TILE, "no longer than a call is quick");
    }
}
