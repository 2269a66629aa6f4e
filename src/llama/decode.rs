//! Decoding of one answer.
//!
//! Takes a request whose prompt was just read; chooses one token after the other, streams the text, and reads drafts,
//! guesses and draft proposals.
//! Invariant: rejected tokens are removed from the state before the next tokens are read.
//! Not here: reading prompts (`lib`), several answers at once (`batch_decode`).

use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::batch_policy::Phase;
use super::draft::{DraftVerifier, in_vocabulary_len};
use super::engine::Logits;
use super::sampler::Sampler;
use super::speculative::{DraftLimits, DraftProposal};
use super::stream::TextStream;
use ragonite_base::CancelToken;
use ragonite_inference::Decoding;
use ragonite_inference::{Finish, GenerateEvent, GenerateRequest, InferenceError};

/// The result of a generation.
pub(super) struct Generated {
    pub(super) text: String,
    pub(super) tokens: Vec<LlamaToken>,
    pub(super) finish: Finish,
    pub(super) first_token_at: Option<Instant>,
    pub(super) drafted: usize,
    pub(super) narrowest: Option<f32>,
    pub(super) log_probabilities: Vec<f32>,
}

impl LlamaGenerator {
    /// Generates after the tokens in the current slot.
    pub(super) fn decode_text(
        &mut self,
        request: &GenerateRequest,
        mut sampler: Sampler,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Generated, InferenceError> {
        let mut draft = DraftVerifier::new(&request.draft, &self.engine);
        let mut stream = TextStream::new(&request.stop);
        let (mut tokens, mut log_probabilities) = (Vec::new(), Vec::new());
        let mut first_token_at = None;
        let prompt = self.slots.current().len();
        let finish = loop {
            let left = request.max_tokens - tokens.len();
            if left == 0 || prompt + tokens.len() > self.identity.context_tokens {
                break Finish::Length;
            }
            self.advance(&tokens, prompt, left.saturating_add(1), &mut draft, &sampler)?;
            cancel.check()?;
            let token = sampler.next(&self.engine, draft.row);
            log_probabilities.extend(self.engine.logprob(draft.row, token));
            first_token_at.get_or_insert_with(Instant::now);
            tokens.push(token);
            draft.compare(tokens.len() - 1, token);
            if self.engine.is_end_of_generation(token) {
                break Finish::End;
            }
            let stopped = stream.push(&self.engine.token_bytes(token), &mut |text| on_event(GenerateEvent::Text(text)));
            if stopped {
                break Finish::Stop;
            }
        };
        let text = stream.finish(&mut |text| on_event(GenerateEvent::Text(text)));
        let (drafted, narrowest) = (draft.matched, sampler.min_margin);
        // Broken weights give NaN, which JSON cannot hold.
        if !log_probabilities.iter().all(|one: &f32| one.is_finite()) {
            log_probabilities.clear();
        }
        Ok(Generated { text, tokens, finish, first_token_at, drafted, narrowest, log_probabilities })
    }

    /// Reads the last of `tokens`, an answer after `prompt` prompt tokens, unless a draft has read it already.
    /// Afterwards the logits of row `draft.row` choose the next token. `wanted` is how many tokens of the answer may
    /// follow from this one on.
    fn advance(
        &mut self,
        tokens: &[LlamaToken],
        prompt: usize,
        wanted: usize,
        draft: &mut DraftVerifier,
        sampler: &Sampler,
    ) -> Result<(), InferenceError> {
        let Some((token, said)) = tokens.split_last() else { return Ok(()) };
        let (token, at) = (*token, said.len());
        if draft.matches_at(at, token) {
            draft.seek(at);
            return Ok(());
        }
        if self.slots.current().len() > prompt + at {
            self.rewind(prompt + at)?;
        }
        let before = self.slots.current();
        let room = wanted.min(self.identity.context_tokens - before.len());
        let mut piece = draft.next_tokens(at, token, before, room, &self.engine).to_vec();
        let mut call = Phase::Decode;
        if piece.len() == 1 && !self.engine.batch_policy().allows_mixed {
            let limits = DraftLimits { room, lookup: self.engine.batch_policy().max_drafted };
            let (sequence, position) = (self.slots.sequence(), before.len());
            let mut proposal =
                DraftProposal::new(sequence, position, said, token, vec![before], sampler.clone(), limits);
            if self.decoding == Decoding::Fast && draft.is_empty() {
                piece = proposal.with_prompt_lookup(|tokens| in_vocabulary_len(tokens, &self.engine));
                call = if piece.len() == 1 { Phase::SingleToken } else { Phase::Decode };
            } else {
                let proposed = self.engine.propose_drafts(std::slice::from_mut(&mut proposal));
                piece = proposal.piece;
                proposed.map_err(|source| self.lost("generating", source))?;
            }
            draft.replace_next(&piece);
        }
        self.decode(call, &piece, Logits::From(0), "generating")
    }
}
