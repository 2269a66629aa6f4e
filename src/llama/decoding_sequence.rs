//! One of several answers that are decoded at the same time.
//!
//! Takes the logits of its part of a call; gives the tokens to read next: its last token, and draft tokens where its
//! draft has held so far.
//! Invariants: the answer equals the answer its request gets alone; a draft token stays in the state only if it was
//! chosen.
//! Not here: scheduling and memory (`batch_decode`).

use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use super::batch_policy::BatchPolicy;
use super::draft::{FIRST_DRAFT_LEN, MAX_DRAFT_LEN, in_vocabulary_len, next_draft_len, ngram_lookup};
use super::engine::{Engine, Kind, Sequence};
use super::sampler::Sampler;
use super::speculative::{DraftLimits, DraftProposal};
use super::stream::TextStream;
use ragonite_base::Millis;
use ragonite_inference::{Completion, Finish, GenerateRequest};

/// Length of the n-gram that prompt lookup must match.
const MIN_NGRAM: usize = 2;

/// Number of equal tokens after which two answers are expected to continue alike.
const LONG_NGRAM: usize = 4;

/// An answer that is being decoded.
pub(super) struct DecodingSequence<'a> {
    /// Index of the request.
    pub(super) at: usize,
    /// Index of the prompt's group.
    pub(super) group: usize,
    pub(super) sequence: Sequence,
    /// Tokens to read next: certain tokens, at least the last one, then draft tokens.
    pub(super) piece: Vec<LlamaToken>,
    /// Number of certain tokens before the last one; their logits are not needed.
    pub(super) lead: usize,
    /// Position of the first token of `piece`.
    pub(super) position: usize,
    /// Set once the answer has ended.
    pub(super) finish: Option<Finish>,
    prompt: usize,
    max_tokens: usize,
    sampler: Sampler,
    draft: Vec<LlamaToken>,
    /// Number of draft tokens that can be read.
    readable: usize,
    /// Number of draft tokens that were chosen.
    matched: usize,
    /// Natural-log probabilities of draft tokens, from the first one on.
    draft_logprobs: Vec<f32>,
    rows: BatchPolicy,
    /// Length of the next guess.
    draft_len: usize,
    stream: TextStream<'a>,
    tokens: Vec<LlamaToken>,
    started: Instant,
    first_token_at: Option<Instant>,
}

/// The start of an answer.
pub(super) struct Start<'p> {
    /// Index of the request.
    pub(super) at: usize,
    /// Index of the prompt's group.
    pub(super) group: usize,
    /// A sequence that has read the first `read` tokens of the prompt.
    pub(super) sequence: Sequence,
    /// All tokens but the last, or fewer where a draft is read together with the rest.
    pub(super) read: usize,
    pub(super) prompt: &'p [LlamaToken],
    /// Start of its prefill.
    pub(super) started: Instant,
}

impl<'a> DecodingSequence<'a> {
    /// `room` is the size of the context in tokens.
    pub(super) fn new(start: Start<'_>, request: &'a GenerateRequest, engine: &Engine, room: usize) -> Self {
        let Start { at, group, sequence, read, prompt, started } = start;
        let last = prompt.len() - 1;
        let draft: Vec<LlamaToken> = request.draft.iter().copied().map(LlamaToken::new).collect();
        let mut writer = Self {
            at,
            group,
            sequence,
            piece: Vec::new(),
            lead: 0,
            position: last,
            finish: (request.max_tokens == 0).then_some(Finish::Length),
            prompt: prompt.len(),
            max_tokens: request.max_tokens,
            sampler: Sampler::new(request.sampling, None),
            readable: in_vocabulary_len(&draft, engine),
            draft,
            matched: 0,
            draft_logprobs: Vec::new(),
            rows: engine.batch_policy(),
            draft_len: FIRST_DRAFT_LEN,
            stream: TextStream::new(&request.stop),
            tokens: Vec::new(),
            started,
            first_token_at: None,
        };
        writer.continue_with(prompt[last], room);
        writer.piece.splice(..0, prompt[read..last].iter().copied());
        (writer.position, writer.lead) = (read, last - read);
        writer
    }

    /// Applies the logits of the last call, in which this piece began at `offset`. Gives how many tokens of the piece
    /// stay; the tokens behind them were rejected.
    pub(super) fn accept(&mut self, engine: &Engine, offset: usize, room: usize) -> usize {
        if self.finish.is_some() {
            return self.piece.len();
        }
        self.accept_draft(engine, offset);
        for place in std::mem::take(&mut self.lead)..self.piece.len() {
            let token = self.sampler.next(engine, offset + place);
            self.finish = self.take(token, engine, room);
            if self.finish.is_some() || self.piece.get(place + 1) != Some(&token) {
                let kept = place + 1;
                self.position += kept;
                self.draft_len = next_draft_len(self.draft_len, self.piece.len(), kept);
                self.continue_with(token, room);
                return kept;
            }
        }
        self.piece.len()
    }

    /// Records the logprobs of the draft tokens in the piece and of the next one, also behind a rejected token, since
    /// each is conditioned on the draft. With a GPU no logprobs of answers are computed.
    fn accept_draft(&mut self, engine: &Engine, offset: usize) {
        if self.follows_draft() && engine.kind() == Kind::Processor {
            let expected =
                (offset + self.lead..offset + self.piece.len()).zip(self.draft[self.tokens.len()..].iter().copied());
            self.draft_logprobs.extend(engine.logprobs(expected));
        }
    }

    /// Adds a chosen token to the answer.
    fn take(&mut self, token: LlamaToken, engine: &Engine, room: usize) -> Option<Finish> {
        self.first_token_at.get_or_insert_with(Instant::now);
        if self.matched == self.tokens.len() && self.draft.get(self.matched) == Some(&token) {
            self.matched += 1;
        }
        self.tokens.push(token);
        if engine.is_end_of_generation(token) {
            return Some(Finish::End);
        }
        if self.stream.push(&engine.token_bytes(token), &mut |_| {}) {
            return Some(Finish::Stop);
        }
        let full = self.tokens.len() >= self.max_tokens || self.prompt + self.tokens.len() > room;
        full.then_some(Finish::Length)
    }

    /// Starts the next piece with `token`, which is at `position`.
    fn continue_with(&mut self, token: LlamaToken, room: usize) {
        let from = self.tokens.len();
        let guesses = room.saturating_sub(self.position + 1);
        let left = if self.follows_draft() { self.readable.saturating_sub(from).min(guesses) } else { 0 };
        let most = if self.rows.allows_mixed { MAX_DRAFT_LEN + 1 } else { self.rows.draft_len_after(from) };
        let read = BatchPolicy::share(left + 1, most) - 1;
        self.piece = [&[token], self.draft.get(from..from + read).unwrap_or_default()].concat();
    }

    /// Whether all tokens so far follow the draft. True also at its end, where the answer is probably done.
    pub(super) fn follows_draft(&self) -> bool {
        self.finish.is_none() && !self.draft.is_empty() && self.matched == self.tokens.len()
    }

    /// A draft proposal for the next tokens. `texts` are the texts for prompt lookup; `longest` is the maximum of
    /// tokens of this answer in the next call.
    pub(super) fn draft_proposal<'s>(
        &'s self,
        mut texts: Vec<&'s [LlamaToken]>,
        room: usize,
        longest: usize,
    ) -> DraftProposal<'s> {
        texts.push(&self.tokens);
        let (token, before) = (self.piece[0], &self.tokens[..self.tokens.len().saturating_sub(1)]);
        let limits = DraftLimits { room: self.room(room), lookup: longest };
        DraftProposal::new(self.sequence, self.position, before, token, texts, self.sampler.clone(), limits)
    }

    /// Sets the next piece, which begins with the last token; cut to the room left.
    pub(super) fn read_next(&mut self, piece: &[LlamaToken], room: usize) {
        self.piece = piece[..piece.len().min(self.room(room))].to_vec();
    }

    /// Number of tokens that may be read from the last one on.
    fn room(&self, context: usize) -> usize {
        let wanted = self.max_tokens.saturating_sub(self.tokens.len()).saturating_add(1);
        context.saturating_sub(self.position).min(wanted)
    }

    /// Whether both answers have the same tokens, at least [`LONG_NGRAM`], and the same sampling stream, so that they
    /// probably continue alike.
    pub(super) fn same_tokens_as(&self, other: &Self) -> bool {
        self.tokens.len() >= LONG_NGRAM && self.tokens == other.tokens && self.sampler.same_stream_as(&other.sampler)
    }

    /// The tokens so far.
    pub(super) fn tokens(&self) -> &[LlamaToken] {
        &self.tokens
    }

    /// Prompt lookup, used once the draft has failed: answers to almost the same prompt come back to the same words.
    pub(super) fn propose<'s>(
        &self,
        mut others: impl Iterator<Item = &'s [LlamaToken]>,
        room: usize,
    ) -> Vec<LlamaToken> {
        let Some(last) = self.tokens.len().checked_sub(MIN_NGRAM).filter(|_| self.piece.len() == 1) else {
            return Vec::new();
        };
        let most = self.draft_len.min(room.saturating_sub(self.position + 1));
        let rest = others.find_map(|other| ngram_lookup(other, &self.tokens[last..])).unwrap_or_default();
        rest[..rest.len().min(most)].to_vec()
    }

    /// The finished answer; `reused` is the number of its prompt tokens that were not read again.
    pub(super) fn completion(self, reused: usize) -> Completion {
        let first = self.first_token_at.map(|at| Millis::from(at.duration_since(self.started)));
        Completion {
            text: self.stream.finish(&mut |_| {}).trim().to_owned(),
            tokens: self.tokens.into_iter().map(|token| token.0).collect(),
            prompt_tokens: self.prompt,
            reused_tokens: reused,
            drafted_tokens: self.matched,
            narrowest: self.sampler.min_margin,
            log_probabilities: Vec::new(),
            draft_log_probabilities: self.draft_logprobs,
            finish: self.finish.unwrap_or(Finish::Length),
            first_token_ms: first.unwrap_or_default(),
            total_ms: self.started.elapsed().into(),
        }
    }
}
