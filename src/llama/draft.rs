//! Draft tokens of an answer, verified several at a time.
//!
//! Takes the draft of an answer or, where there is none or it failed, prompt lookup or a draft proposal; tells which
//! tokens to read next, and which of them were accepted.
//! Invariants: a piece begins with the last chosen token; draft tokens are given only while all earlier ones were
//! accepted, so that at most one piece of the draft is read in vain.
//! Not here: reading (`engine`), choosing tokens (`sampler`).

use llama_cpp_2::token::LlamaToken;

use super::batch_policy::BatchPolicy;
use super::engine::Engine;

/// Length of the first guess after a rejected one: the number of tokens that adds little cost.
pub(super) const FIRST_DRAFT_LEN: usize = 3;

/// Maximum length of a guess.
pub(super) const MAX_DRAFT_LEN: usize = 15;

/// Length of the next guess, after a piece of `read` tokens of which `kept` were accepted: longer where all were, else
/// short.
pub(super) fn next_draft_len(guesses: usize, read: usize, kept: usize) -> usize {
    match read {
        0 | 1 => guesses,
        _ if read == kept => MAX_DRAFT_LEN.min(2 * guesses + 1),
        _ => FIRST_DRAFT_LEN,
    }
}

/// The draft of an answer, and how much of it was accepted.
pub(super) struct DraftVerifier {
    tokens: Vec<LlamaToken>,
    /// Number of tokens before the first that is not in the vocabulary or ends the turn.
    readable: usize,
    /// Number of accepted tokens.
    pub(super) matched: usize,
    /// The tokens that were read last.
    piece: Vec<LlamaToken>,
    /// Index of its first token in the answer.
    start: usize,
    /// Row of the engine's last call whose logits choose the next token.
    pub(super) row: usize,
    rows: BatchPolicy,
    /// Length of the next guess.
    draft_len: usize,
}

/// Number of tokens before the first that is not in the vocabulary or ends the turn.
pub(super) fn in_vocabulary_len(tokens: &[LlamaToken], engine: &Engine) -> usize {
    let is_last = |token: &LlamaToken| !engine.is_in_vocabulary(*token) || engine.is_end_of_generation(*token);
    tokens.iter().position(is_last).unwrap_or(tokens.len())
}

/// The continuations of the n-gram `last` in `before`, latest first.
pub(super) fn ngram_lookup_all<'t>(
    before: &'t [LlamaToken],
    last: &[LlamaToken],
) -> impl Iterator<Item = &'t [LlamaToken]> {
    let earlier = &before[..before.len().saturating_sub(1)];
    let matches = earlier.windows(last.len()).enumerate().rev().filter(move |(_, words)| *words == last);
    matches.map(move |(at, words)| &before[at + words.len()..])
}

/// The continuation of the latest `last` in `before`, if any.
pub(super) fn ngram_lookup<'t>(before: &'t [LlamaToken], last: &[LlamaToken]) -> Option<&'t [LlamaToken]> {
    ngram_lookup_all(before, last).next()
}

impl DraftVerifier {
    pub(super) fn new(tokens: &[i32], engine: &Engine) -> Self {
        let tokens: Vec<LlamaToken> = tokens.iter().copied().map(LlamaToken::new).collect();
        let readable = in_vocabulary_len(&tokens, engine);
        let row = engine.last_row();
        let rows = engine.batch_policy();
        Self { tokens, readable, matched: 0, piece: Vec::new(), start: 0, row, rows, draft_len: FIRST_DRAFT_LEN }
    }

    /// Whether there is no draft.
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Records that `token` was chosen at index `at`.
    pub(super) fn compare(&mut self, at: usize, token: LlamaToken) {
        if self.matched == at && self.tokens.get(at) == Some(&token) {
            self.matched = at + 1;
        }
    }

    /// Whether `token` was read at index `at`.
    pub(super) fn matches_at(&self, at: usize, token: LlamaToken) -> bool {
        at.checked_sub(self.start).is_some_and(|place| self.piece.get(place) == Some(&token))
    }

    /// Selects the logits after the token at index `at`.
    pub(super) fn seek(&mut self, at: usize) {
        self.row = at - self.start;
    }

    /// The tokens to read next: `token`, at index `at`, and at most `room - 1` more. `before` are the tokens read
    /// before it.
    pub(super) fn next_tokens(
        &mut self,
        at: usize,
        token: LlamaToken,
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
            let proposed = self.propose(token, before);
            let proposed = &proposed[..proposed.len().min(room.saturating_sub(1))];
            [&[token], &proposed[..in_vocabulary_len(proposed, engine)]].concat()
        };
        (self.start, self.row) = (at, 0);
        &self.piece
    }

    /// Replaces the piece that is read next.
    pub(super) fn replace_next(&mut self, piece: &[LlamaToken]) {
        self.piece = piece.to_vec();
    }

    /// Prompt lookup for the tokens after `token`, preferring a place with the same previous token.
    fn propose<'t>(&self, token: LlamaToken, before: &'t [LlamaToken]) -> &'t [LlamaToken] {
        let pair = before.last().and_then(|last| ngram_lookup(before, &[*last, token]));
        let followed = pair.or_else(|| ngram_lookup(before, &[token])).unwrap_or_default();
        &followed[..followed.len().min(self.draft_len)]
    }
}
