//! A guess at the answer, which is read many tokens at a time.
//!
//! Takes the guessed tokens, tells which of them held and which pieces to read.
//! Invariant: a piece is only given once everything before it held, so that at most one piece is read in vain.
//! Not here: reading (`Engine`), choosing the tokens that are compared (`Choice`).

use std::ops::Range;

use llama_cpp_2::token::LlamaToken;

use super::engine::Engine;

/// Tokens read at a time: few enough to cancel between, and to lose little when the draft goes wrong.
const PIECE: usize = 32;

/// What an answer is compared with on the way.
pub(super) struct Draft {
    tokens: Vec<LlamaToken>,
    /// Tokens that can be read: all before one that is none, or that ends the turn.
    readable: usize,
    /// Tokens from the first on that were chosen.
    pub(super) matched: usize,
    /// The piece that was read last.
    pub(super) read: Range<usize>,
    /// Place in the engine's last call whose logits choose the next token.
    pub(super) place: usize,
}

/// How many of the guessed tokens come before the first that cannot be read, because it is none or ends the turn.
pub(super) fn readable(tokens: &[LlamaToken], engine: &Engine) -> usize {
    let is_last = |token: &LlamaToken| !engine.knows(*token) || engine.ends_generation(*token);
    tokens.iter().position(is_last).unwrap_or(tokens.len())
}

impl Draft {
    pub(super) fn new(tokens: &[i32], engine: &Engine) -> Self {
        let tokens: Vec<LlamaToken> = tokens.iter().copied().map(LlamaToken::new).collect();
        let readable = readable(&tokens, engine);
        Self { tokens, readable, matched: 0, read: 0..0, place: engine.last_place() }
    }

    /// Takes note that `token` was chosen as the one at `at`.
    pub(super) fn compare(&mut self, at: usize, token: LlamaToken) {
        if self.matched == at && self.tokens.get(at) == Some(&token) {
            self.matched = at + 1;
        }
    }

    /// Whether the answer is the draft up to and with `at`.
    pub(super) fn holds_at(&self, at: usize) -> bool {
        self.matched > at
    }

    /// Whether the token at `at` was read, and with it its logits.
    pub(super) fn has_read(&self, at: usize) -> bool {
        self.read.contains(&at)
    }

    /// The piece that begins at `at`, at most `room` tokens; nothing where the draft does not hold or ends.
    pub(super) fn next_piece(&mut self, at: usize, room: usize) -> Option<Vec<LlamaToken>> {
        let end = self.readable.min(at + PIECE.min(room));
        if !self.holds_at(at) || at >= end {
            return None;
        }
        self.read = at..end;
        Some(self.tokens[at..end].to_vec())
    }
}
