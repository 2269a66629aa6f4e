//! Guesses at an answer, which are read several tokens at a time.
//!
//! Takes the draft of an answer, and where there is none or it went wrong what was said before or a sketch; tells which
//! piece to read, and which of its tokens held.
//! Invariants: a piece begins with the token that was chosen last; of the draft a piece is only given once everything before
//! it held, so that at most one piece of it is read in vain.
//! Not here: reading (`ModelManager`), choosing the tokens that are compared (`Sampler`).

use llama_cpp_2::token::LlamaToken;

use super::batch_policy::BatchPolicy;
use super::engine::Engine;

/// Tokens that are read on the first guess after a wrong one: as many as cost little more than none.
pub(super) const FIRST_DRAFT_LEN: usize = 3;

/// Tokens that are read on a guess behind a certain one, at most.
pub(super) const MAX_DRAFT_LEN: usize = 15;

/// How many tokens to guess next, after `record` of them of which `kept` were right: more where all were, few where not.
pub(super) fn next_draft_len(guesses: usize, read: usize, kept: usize) -> usize {
    match read {
        0 | 1 => guesses,
        _ if read == kept => MAX_DRAFT_LEN.min(2 * guesses + 1),
        _ => FIRST_DRAFT_LEN,
    }
}

/// What an answer is compared with on the way.
pub(super) struct DraftVerifier {
    tokens: Vec<LlamaToken>,
    /// Tokens that can be read: all before one that is none, or that ends the turn.
    readable: usize,
    /// Tokens from the first on that were chosen.
    pub(super) matched: usize,
    /// The piece that was read last.
    piece: Vec<LlamaToken>,
    /// The place of its first token in the answer.
    start: usize,
    /// Place in the engine's last call whose logits choose the next token.
    pub(super) row: usize,
    rows: BatchPolicy,
    /// Tokens that are read on the next guess.
    draft_len: usize,
}

/// How many of the guessed tokens come before the first that cannot be read, because it is none or ends the turn.
pub(super) fn in_vocabulary_len(tokens: &[LlamaToken], engine: &Engine) -> usize {
    let is_last = |token: &LlamaToken| !engine.is_in_vocabulary(*token) || engine.is_end_of_generation(*token);
    tokens.iter().position(is_last).unwrap_or(tokens.len())
}

/// What followed `last` each time that it was said in `before`, the last time first.
pub(super) fn ngram_lookup_all<'t>(
    before: &'t [LlamaToken],
    last: &[LlamaToken],
) -> impl Iterator<Item = &'t [LlamaToken]> {
    let earlier = &before[..before.len().saturating_sub(1)];
    let said = earlier.windows(last.len()).enumerate().rev().filter(move |(_, words)| *words == last);
    said.map(move |(at, words)| &before[at + words.len()..])
}

/// What followed `last` where it was last said in `before`; nothing where it was not, or nothing came after.
pub(super) fn ngram_lookup<'t>(before: &'t [LlamaToken], last: &[LlamaToken]) -> Option<&'t [LlamaToken]> {
    ngram_lookup_all(before, last).next()
}

impl DraftVerifier {
    pub(super) fn new(tokens: &[i32], engine: &Engine) -> Self {
        let tokens: Vec<LlamaToken> = tokens.iter().copied().map(LlamaToken::new).collect();
        let readable = in_vocabulary_len(&tokens, engine);
        let place = engine.last_row();
        let rows = engine.batch_policy();
        Self { tokens, readable, matched: 0, piece: Vec::new(), start: 0, row: place, rows, draft_len: FIRST_DRAFT_LEN }
    }

    /// Whether nothing is known of the answer.
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Takes note that `token` was chosen as the one at `at`.
    pub(super) fn compare(&mut self, at: usize, token: LlamaToken) {
        if self.matched == at && self.tokens.get(at) == Some(&token) {
            self.matched = at + 1;
        }
    }

    /// Whether `token` was read as the one at `at`, and with it what comes after it.
    pub(super) fn matches_at(&self, at: usize, token: LlamaToken) -> bool {
        at.checked_sub(self.start).is_some_and(|place| self.piece.get(place) == Some(&token))
    }

    /// Goes to the logits after the token at `at`, which was read.
    pub(super) fn seek(&mut self, at: usize) {
        self.row = at - self.start;
    }

    /// What is read next: `token`, the one at `at`, and at most `room - 1` more. `before` is what was read before it.
    pub(super) fn next_tokens(
        &mut self,
        (at, token): (usize, LlamaToken),
        before: &[LlamaToken],
        room: usize,
        engine: &Engine,
    ) -> &[LlamaToken] {
        self.draft_len = next_draft_len(self.draft_len, self.piece.len(), at - self.start);
        let left = self.readable.saturating_sub(at).min(room);
        self.piece = if self.matched > at && left > 0 {
            self.tokens[at..at + BatchPolicy::share(left, self.rows.draft_len_after(at))].to_vec()
        } else if !self.rows.allows_mixed {
            vec![token]
        } else {
            let guessed = self.propose(token, before);
            let guessed = &guessed[..guessed.len().min(room.saturating_sub(1))];
            [&[token], &guessed[..in_vocabulary_len(guessed, engine)]].concat()
        };
        (self.start, self.row) = (at, 0);
        &self.piece
    }

    /// Takes note that this is read instead.
    pub(super) fn replace_next(&mut self, piece: &[LlamaToken]) {
        self.piece = piece.to_vec();
    }

    /// What may come after `token`: what did where it was said last, after the same token if it was.
    fn propose<'t>(&self, token: LlamaToken, before: &'t [LlamaToken]) -> &'t [LlamaToken] {
        let pair = before.last().and_then(|last| ngram_lookup(before, &[*last, token]));
        let followed = pair.or_else(|| ngram_lookup(before, &[token])).unwrap_or_default();
        &followed[..followed.len().min(self.draft_len)]
    }
}
