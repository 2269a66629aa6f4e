//! One of several answers that are written at the same time.
//!
//! Takes the logits of its part of a call, gives what it wants read in the next one: its last token, and the tokens
//! that probably follow where its draft has held so far.
//! Invariants: the answer is what the request alone gives; a guess stays in the state only when it was chosen.
//! Not here: whose turn it is and what there is room for (`batch_decode`).

use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use super::batch_policy::BatchPolicy;
use super::draft::{FIRST_DRAFT_LEN, MAX_DRAFT_LEN, in_vocabulary_len, next_draft_len, ngram_lookup};
use super::engine::{Engine, Kind, Sequence};
use super::sampler::Sampler;
use super::speculative::DraftProposal;
use super::stream::TextStream;
use ragonite_base::Millis;
use ragonite_inference::{Completion, Finish, GenerateRequest};

/// Tokens in a row that an answer has in common with what was said elsewhere, to be believed to go on like that.
const MIN_NGRAM: usize = 2;

/// Tokens that two answers have said alike, to be believed to go on alike.
const LONG_NGRAM: usize = 4;

/// An answer on the way.
pub(super) struct DecodingSequence<'a> {
    /// The request, by its place among all.
    pub(super) at: usize,
    /// The prompt, by its place among all.
    pub(super) group: usize,
    /// Where its state is.
    pub(super) sequence: Sequence,
    /// What is read next: tokens that are certain, the last of all that are among them, and guesses.
    pub(super) piece: Vec<LlamaToken>,
    /// Certain tokens before the last one, whose logits nobody asks for.
    pub(super) lead: usize,
    /// Where the piece begins.
    pub(super) position: usize,
    /// Why it ended, once it has.
    pub(super) finish: Option<Finish>,
    prompt: usize,
    max_tokens: usize,
    choice: Sampler,
    draft: Vec<LlamaToken>,
    /// Tokens of the draft that can be read.
    readable: usize,
    /// Tokens of the draft that were chosen.
    matched: usize,
    /// How probable those were that could be told, from the first on: the natural logarithm.
    draft_logprobs: Vec<f32>,
    rows: BatchPolicy,
    /// Tokens that are read on the next guess.
    draft_len: usize,
    stream: TextStream<'a>,
    tokens: Vec<LlamaToken>,
    started: Instant,
    first_token_at: Option<Instant>,
}

/// Where a writer begins.
pub(super) struct Start<'p> {
    /// The request, by its place among all.
    pub(super) at: usize,
    /// The prompt, by its place among all.
    pub(super) group: usize,
    /// A sequence that has read the beginning of the prompt.
    pub(super) sequence: Sequence,
    /// How much of it: all but the last token, or less where an answer has a draft that is read together with the rest.
    pub(super) read: usize,
    /// The prompt.
    pub(super) prompt: &'p [LlamaToken],
    /// Since when it is being read.
    pub(super) started: Instant,
}

impl<'a> DecodingSequence<'a> {
    /// `room` is how many tokens the context has in all.
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
            choice: Sampler::new(request.sampling, None),
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

    /// Takes what the last call says about the piece, which began at `offset` in it. Gives how many tokens of the
    /// piece stay; those behind them were guessed wrong.
    pub(super) fn accept(&mut self, engine: &Engine, offset: usize, room: usize) -> usize {
        if self.finish.is_some() {
            return self.piece.len();
        }
        self.accept_draft(engine, offset);
        for place in std::mem::take(&mut self.lead)..self.piece.len() {
            let token = self.choice.next(engine, offset + place);
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

    /// Takes down how probable the tokens of the draft are that the piece was made of, and the one after them; those
    /// behind a wrong one too, since each is asked for after the draft's own. Beside a GPU it is not known how probable the
    /// answer was.
    fn accept_draft(&mut self, engine: &Engine, offset: usize) {
        if self.follows_draft() && engine.kind() == Kind::Processor {
            let told =
                (offset + self.lead..offset + self.piece.len()).zip(self.draft[self.tokens.len()..].iter().copied());
            self.draft_logprobs.extend(engine.logprobs(told));
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

    /// The next piece begins with `token`, which is at `position`.
    fn continue_with(&mut self, token: LlamaToken, room: usize) {
        let from = self.tokens.len();
        let guesses = room.saturating_sub(self.position + 1);
        let left = if self.follows_draft() { self.readable.saturating_sub(from).min(guesses) } else { 0 };
        let most = if self.rows.allows_mixed { MAX_DRAFT_LEN + 1 } else { self.rows.draft_len_after(from) };
        let read = BatchPolicy::share(left + 1, most) - 1;
        self.piece = [&[token], self.draft.get(from..from + read).unwrap_or_default()].concat();
    }

    /// Whether the next tokens are probably known, at the end of a draft too: the answer is probably done.
    pub(super) fn follows_draft(&self) -> bool {
        self.finish.is_none() && !self.draft.is_empty() && self.matched == self.tokens.len()
    }

    /// An outline of what comes next, where that is not known; `texts` are those that it may repeat, and the next call
    /// reads `longest` tokens of one at most.
    pub(super) fn draft_proposal<'s>(
        &'s self,
        mut texts: Vec<&'s [LlamaToken]>,
        room: usize,
        longest: usize,
    ) -> DraftProposal<'s> {
        texts.push(&self.tokens);
        let (token, said) = (self.piece[0], &self.tokens[..self.tokens.len().saturating_sub(1)]);
        let rooms = (self.room(room), longest);
        DraftProposal::new((self.sequence, self.position), (said, token), texts, self.choice.clone(), rooms)
    }

    /// Has `token_bytes` read next, which begins with its last token, as far as there is room for it.
    pub(super) fn read_next(&mut self, piece: &[LlamaToken], room: usize) {
        self.piece = piece[..piece.len().min(self.room(room))].to_vec();
    }

    /// Tokens that may be read from its last one on.
    fn room(&self, context: usize) -> usize {
        let wanted = self.max_tokens.saturating_sub(self.tokens.len()).saturating_add(1);
        context.saturating_sub(self.position).min(wanted)
    }

    /// Whether it has said for a while what `other` has, and chooses alike, so that it probably goes on alike.
    pub(super) fn same_tokens_as(&self, other: &Self) -> bool {
        self.tokens.len() >= LONG_NGRAM && self.tokens == other.tokens && self.choice.same_stream_as(&other.choice)
    }

    /// What it said so far.
    pub(super) fn tokens(&self) -> &[LlamaToken] {
        &self.tokens
    }

    /// What it probably says next, once its draft has gone wrong: answers to almost the same prompt come back to the
    /// same words.
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

    /// The answer. `reused` tokens of its prompt had been read before.
    pub(super) fn completion(self, reused: usize) -> Completion {
        let first = self.first_token_at.map(|at| Millis::from(at.duration_since(self.started)));
        Completion {
            text: self.stream.finish(&mut |_| {}).trim().to_owned(),
            tokens: self.tokens.into_iter().map(|token| token.0).collect(),
            prompt_tokens: self.prompt,
            reused_tokens: reused,
            drafted_tokens: self.matched,
            narrowest: self.choice.min_margin,
            log_probabilities: Vec::new(),
            draft_log_probabilities: self.draft_logprobs,
            finish: self.finish.unwrap_or(Finish::Length),
            first_token_ms: first.unwrap_or_default(),
            total_ms: self.started.elapsed().into(),
        }
    }
}
