//! Answers in outline.
//!
//! Takes answers on the way; writes the next tokens of each by the calls that take least time, one token of each in a
//! call, and forgets them again. They are a guess like any other: one call reads them all, and what it says counts.
//! That one and the calls for single tokens round otherwise, and almost always choose the same.
//! Where the last words were said before, what followed them there is taken for what follows here.
//! Invariant: nothing of a sketch stays in the context; whether a token is in an answer never depends on it.
//! Not here: reading a guess, and what is kept of it (`single`, `together`).

use llama_cpp_2::token::LlamaToken;

use super::choice::Choice;
use super::draft::{readable, went_on};
use super::engine::{Cause, Engine, EngineError, Logits, Piece, Sequence};
use super::rows::{Call, QUICK};

/// Tokens in a row that an answer has in common with another text, to be believed to go on like that.
const IN_COMMON: usize = 4;

/// As many, to be believed to go on for long.
const LONG_IN_COMMON: usize = 12;

/// Tokens that what follows there must have to be worth it, unless there is no room for more.
const WORTH: usize = 4;

/// An answer whose next tokens are wanted.
pub(super) struct Sketch<'a> {
    /// Where its state is.
    pub(super) sequence: Sequence,
    /// The position of its last certain token, which is not in the state.
    pub(super) position: usize,
    /// Its tokens before that one.
    pub(super) said: &'a [LlamaToken],
    /// The last certain token, then the sketch.
    pub(super) piece: Vec<LlamaToken>,
    /// How tokens are chosen.
    pub(super) choice: Choice,
    /// Texts that it may repeat, the likeliest first.
    pub(super) texts: Vec<&'a [LlamaToken]>,
    /// Whether it goes no further.
    done: bool,
    /// Tokens of the piece at most.
    most: usize,
    /// The same where it surely repeats a text.
    longest: usize,
}

impl<'a> Sketch<'a> {
    /// Of an answer that `said` something and goes on with `token` at `position`; `room` tokens may come from there on,
    /// and what is read of a text that it repeats has `longest` at most.
    pub(super) fn new(
        (sequence, position): (Sequence, usize),
        (said, token): (&'a [LlamaToken], LlamaToken),
        texts: Vec<&'a [LlamaToken]>,
        choice: Choice,
        (room, longest): (usize, usize),
    ) -> Self {
        let (most, longest) = (QUICK.min(room), longest.min(room));
        Self { sequence, position, said, piece: vec![token], choice, texts, done: false, most, longest }
    }

    fn goes_on(&self) -> bool {
        !self.done && self.piece.len() < self.most
    }

    /// Adds a token, and what follows it elsewhere. `readable` tells how many tokens at the beginning can be read.
    fn add(&mut self, token: LlamaToken, readable: impl Fn(&[LlamaToken]) -> usize) {
        if readable(&[token]) == 0 {
            self.done = true;
            return;
        }
        self.piece.push(token);
        let Some((followed, in_common)) = self.followed() else { return };
        let most = if in_common >= LONG_IN_COMMON { self.longest } else { self.most };
        let room = most.saturating_sub(self.piece.len());
        let followed = &followed[..followed.len().min(room)];
        let followed = &followed[..readable(followed)];
        if followed.len() >= WORTH.min(room) {
            self.piece.extend(followed);
            self.done = true;
        }
    }

    /// What followed the last tokens where they were said before, and how many in a row they have in common there.
    fn followed(&self) -> Option<(&'a [LlamaToken], usize)> {
        let said = || self.piece.iter().rev().chain(self.said.iter().rev());
        let mut last: Vec<LlamaToken> = said().take(IN_COMMON).copied().collect();
        last.reverse();
        let known = last.len() == IN_COMMON;
        self.texts.iter().filter(|_| known).find_map(|text| {
            let followed = went_on(text, &last)?;
            let before = text[..text.len() - followed.len()].iter().rev();
            Some((followed, before.zip(said()).take_while(|(a, b)| a == b).count()))
        })
    }
}

impl Engine {
    /// Sketches the next tokens of these answers.
    pub(super) fn sketch(&mut self, sketches: &mut [Sketch<'_>]) -> Result<(), Cause> {
        let sketched = self.sketch_on(sketches);
        let stuck = sketches.iter().filter(|one| !self.forget_from(one.sequence, one.position)).count();
        sketched?;
        if stuck == 0 { Ok(()) } else { Err(EngineError::Unforgetting.into()) }
    }

    fn sketch_on(&mut self, sketches: &mut [Sketch<'_>]) -> Result<(), Cause> {
        loop {
            let going: Vec<usize> = (0..sketches.len()).filter(|at| sketches[*at].goes_on()).collect();
            if going.is_empty() {
                return Ok(());
            }
            let piece = |at: &usize| {
                let Sketch { sequence, piece, position, .. } = &sketches[*at];
                let last = piece.len() - 1;
                let (sequence, tokens, position) = (*sequence, &piece[last..], position + last);
                Piece { sequence, tokens, position, logits: Logits::From(0) }
            };
            let pieces: Vec<Piece<'_>> = going.iter().map(piece).collect();
            self.decode_pieces(Call::Sketching, &pieces)?;
            for (place, at) in going.into_iter().enumerate() {
                let token = sketches[at].choice.next(self, place);
                sketches[at].add(token, |tokens| readable(tokens, self));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Sampling;

    fn tokens(ids: &[i32]) -> Vec<LlamaToken> {
        ids.iter().copied().map(LlamaToken::new).collect()
    }

    /// How many tokens of a text come before the first with a high number.
    fn small(tokens: &[LlamaToken]) -> usize {
        tokens.iter().take_while(|token| token.0 < 90).count()
    }

    #[test]
    fn a_text_is_gone_on_with_once_four_words_are_its_own() {
        let text = tokens(&[7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let said = tokens(&[1]);
        let place = (Sequence(0), 30);
        let sketch = |room| {
            Sketch::new(
                place,
                (&said, LlamaToken::new(2)),
                vec![&text],
                Choice::new(Sampling::Greedy, None),
                (room, 48),
            )
        };
        let mut one = sketch(20);
        one.add(LlamaToken::new(3), small);
        assert!(one.piece == tokens(&[2, 3]) && one.goes_on(), "three are not enough");
        one.add(LlamaToken::new(4), small);
        assert!(one.piece == tokens(&[2, 3, 4, 5, 6, 7, 8, 9, 10]) && !one.goes_on());

        let mut short = sketch(5);
        short.add(LlamaToken::new(3), small);
        short.add(LlamaToken::new(4), small);
        assert!(short.piece == tokens(&[2, 3, 4, 5, 6]) && !short.goes_on(), "no longer than there is room");

        let mut other = sketch(20);
        other.add(LlamaToken::new(3), small);
        other.add(LlamaToken::new(8), small);
        assert!(other.piece == tokens(&[2, 3, 8]) && other.goes_on(), "other words go their own way");
    }

    #[test]
    fn a_text_that_is_repeated_for_long_is_read_for_long() {
        let text: Vec<LlamaToken> = (1..80).map(LlamaToken::new).collect();
        for (said, read) in [(4, QUICK), (LONG_IN_COMMON, 48)] {
            let (said, token) = (&text[..said], text[said]);
            let choice = Choice::new(Sampling::Greedy, None);
            let mut sketch = Sketch::new((Sequence(0), 9), (said, token), vec![&text], choice, (70, 48));
            sketch.add(text[said.len() + 1], small);
            assert_eq!(sketch.piece, text[said.len()..said.len() + read]);
        }
    }

    #[test]
    fn a_sketch_ends_before_what_cannot_be_read_and_a_short_end_is_not_worth_it() {
        let (said, text) = (tokens(&[1, 2, 3]), tokens(&[1, 2, 3, 4, 5, 6, 99, 7, 8]));
        let sketch = |text| {
            let choice = Choice::new(Sampling::Greedy, None);
            Sketch::new((Sequence(0), 30), (&said[..2], LlamaToken::new(3)), vec![text], choice, (40, 48))
        };
        let mut one = sketch(&text);
        one.add(LlamaToken::new(4), small);
        assert!(one.piece == tokens(&[3, 4]) && one.goes_on(), "two words before the end of a turn");
        one.add(LlamaToken::new(99), small);
        assert!(one.piece == tokens(&[3, 4]) && !one.goes_on());
        assert_eq!(sketch(&text).most, QUICK, "no longer than a call is quick");
    }
}
