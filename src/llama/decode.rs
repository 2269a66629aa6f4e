//! An answer by itself.
//!
//! Takes a request whose prompt was just read; chooses one token after the other, tells the text as it comes, and reads
//! what was chosen, drafts, guesses and sketches.
//! Invariant: guesses that were wrong are forgotten before the next ones are read.
//! Not here: reading prompts (`mod`), several answers at once (`batch_decode`).

use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::batch_policy::Phase;
use super::draft::{DraftVerifier, in_vocabulary_len};
use super::engine::Logits;
use super::sampler::Sampler;
use super::speculative::DraftProposal;
use super::stream::TextStream;
use ragonite_base::CancelToken;
use ragonite_inference::Decoding;
use ragonite_inference::{Finish, GenerateEvent, GenerateRequest, InferenceError};

/// How a generation ended and what it gave.
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
    /// Generates after what was read last.
    pub(super) fn decode_text(
        &mut self,
        request: &GenerateRequest,
        mut choice: Sampler,
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
            self.advance((&tokens, prompt), left.saturating_add(1), &mut draft, &choice)?;
            cancel.check()?;
            let token = choice.next(&self.engine, draft.row);
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
        let (drafted, narrowest) = (draft.matched, choice.min_margin);
        // No file can hold what weights that are no numbers give.
        if !log_probabilities.iter().all(|one: &f32| one.is_finite()) {
            log_probabilities.clear();
        }
        Ok(Generated { text, tokens, finish, first_token_at, drafted, narrowest, log_probabilities })
    }

    /// Takes the last of these tokens, which were said after `prompt` tokens, into the state, where a guess has not
    /// brought it there yet. Then the logits of `draft.place` choose the next one, as those of the prompt do where nothing
    /// was said. `wanted` is how many tokens of the answer may come from this one on.
    fn advance(
        &mut self,
        (tokens, prompt): (&[LlamaToken], usize),
        wanted: usize,
        draft: &mut DraftVerifier,
        choice: &Sampler,
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
        let mut piece = draft.next_tokens((at, token), before, room, &self.engine).to_vec();
        let mut call = Phase::Decode;
        if piece.len() == 1 && !self.engine.batch_policy().allows_mixed {
            let place = (self.slots.sequence(), before.len());
            let rooms = (room, self.engine.batch_policy().max_drafted);
            let mut sketch = DraftProposal::new(place, (said, token), vec![before], choice.clone(), rooms);
            if self.writing == Decoding::Fast && draft.is_empty() {
                piece = sketch.with_prompt_lookup(|tokens| in_vocabulary_len(tokens, &self.engine));
                call = if piece.len() == 1 { Phase::SingleToken } else { Phase::Decode };
            } else {
                let sketched = self.engine.propose_drafts(std::slice::from_mut(&mut sketch));
                piece = sketch.piece;
                sketched.map_err(|source| self.lost("generating", source))?;
            }
            draft.replace_next(&piece);
        }
        self.decode(call, &piece, Logits::From(0), "generating")
    }
}
