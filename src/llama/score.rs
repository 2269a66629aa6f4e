//! How probable an answer is when parts of its prompt are hidden.
//!
//! Takes an answer and sets of parts. The prompt is read once, and the answer after it; for each set the state of the
//! prompt is copied, as far as it is not to be read again, the set taken out of it, and the rest with the answer read
//! again, for several sets in one call.
//! Invariants: the current slot holds the prompt afterwards as far as it was there or there was room for it, and
//! nothing of the trials stays in the context.
//! Not here: what the probabilities say about a source (`attribution`).

use std::ops::Range;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::batch_policy::Phase;
use super::engine::{BatchSlice, Logits, Sequence};
use ragonite_base::CancelToken;
use ragonite_inference::{InferenceError, PromptPart, Recompute, ScoreRequest, Scores};

const DOING: &str = "scoring an answer";

/// What is read in a trial.
struct Suffix {
    /// Tokens of the prompt before it.
    start: usize,
    /// The end of the prompt and the answer without its last token, whose successor nobody asks for.
    tokens: Vec<LlamaToken>,
    /// Tokens of the answer.
    answer: Vec<LlamaToken>,
}

impl Suffix {
    /// Place in `tokens` whose logits give the first token of the answer.
    fn first(&self) -> usize {
        self.tokens.len() - self.answer.len()
    }

    /// The part of it that begins after `start` tokens of the prompt.
    fn from(&self, start: usize) -> Self {
        Self { start, tokens: self.tokens[start - self.start..].to_vec(), answer: self.answer.clone() }
    }
}

impl LlamaGenerator {
    pub(super) fn score_hidden(
        &mut self,
        request: &ScoreRequest,
        cancel: &CancelToken,
        on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        let prompt = self.prompt(&request.parts)?;
        let hidden = self.ranges(&request.parts, &request.hidden)?;
        let start = match request.reread {
            Recompute::Rest => hidden.iter().flatten().map(|range| range.end).max().unwrap_or(0),
            Recompute::Answer => prompt.len(),
        };
        let rest = self.rest(&prompt, start, &request.answer)?;
        if rest.answer.is_empty() {
            return Ok(Scores { whole: Vec::new(), hidden: vec![Vec::new(); hidden.len()] });
        }
        // The last token of the prompt is read with the answer: its logits choose the answer's first token.
        let (beginning, _) = prompt.split_at(prompt.len() - 1);
        if !beginning.is_empty() {
            self.reuse(&prompt, rest.tokens.len())?;
            self.read_prompt(beginning, beginning.len(), cancel, &mut |_| {})?;
        }
        // Trials share what they copy only as long as nothing is moved.
        self.engine.defragment().map_err(|source| self.lost(DOING, source))?;
        let mut scores = Scores { whole: Vec::new(), hidden: Vec::with_capacity(hidden.len()) };
        if request.returns_all() {
            on_scored(None, &request.told);
            scores.whole.clone_from(&request.told);
        }
        let mut first: Vec<&[Range<usize>]> = if request.returns_all() { Vec::new() } else { vec![&[]] };
        let mut hear = |scored: Vec<f32>| {
            if scores.whole.is_empty() {
                on_scored(None, &scored);
                scores.whole = scored;
            } else {
                on_scored(Some(scores.hidden.len()), &scored);
                scores.hidden.push(scored);
            }
        };
        // The first set comes by itself, or with the whole prompt unless they read not the same, so that it is known soon.
        let mut sets: Vec<&[Range<usize>]> = hidden.iter().map(Vec::as_slice).collect();
        if rest.start == beginning.len() {
            first.extend(sets.drain(..1.min(sets.len())));
        }
        let together = first.len().clamp(1, self.trials(&rest));
        for some in first.chunks(together) {
            self.score_without(some, &rest.from(beginning.len()), cancel)?.into_iter().for_each(&mut hear);
        }
        if !sets.is_empty() && self.engine.free_cells() < rest.tokens.len() {
            self.rewind(rest.start)?;
        }
        for some in sets.chunks(self.trials(&rest)) {
            self.score_without(some, &rest, cancel)?.into_iter().for_each(&mut hear);
        }
        Ok(scores)
    }

    /// How many trials that read this are made at the same time: as many as a call takes, and there is room for.
    fn trials(&self, rest: &Suffix) -> usize {
        let tokens = rest.tokens.len().max(1);
        let rows = self.engine.batch_policy();
        let in_call = rows.max_prefill / rest.answer.len().clamp(1, rows.max_verified);
        let all = self.engine.states.layout().trial_sequences().len();
        all.min(in_call).min(self.engine.free_cells() / tokens).max(1)
    }

    /// The tokens of each set.
    pub(super) fn ranges(
        &self,
        parts: &[PromptPart],
        sets: &[Vec<usize>],
    ) -> Result<Vec<Vec<Range<usize>>>, InferenceError> {
        let mut ends = vec![0];
        for part in parts {
            ends.push(ends[ends.len() - 1] + self.tokenize(part)?.len());
        }
        let range = |place: &usize| Some(*ends.get(*place)?..*ends.get(place + 1)?);
        let ranges = |set: &Vec<usize>| set.iter().map(range).collect::<Option<Vec<_>>>();
        let sets = sets.iter().map(ranges).collect::<Option<Vec<_>>>();
        sets.ok_or_else(|| self.failed(DOING, "a part that is to be hidden is not in the prompt".into()))
    }

    fn rest(&self, prompt: &[LlamaToken], start: usize, answer: &[i32]) -> Result<Suffix, InferenceError> {
        // At least the last token is read again: its logits choose the first token of the answer.
        let start = start.min(prompt.len() - 1);
        let answer: Vec<LlamaToken> = answer.iter().copied().map(LlamaToken::new).collect();
        let read = &answer[..answer.len().saturating_sub(1)];
        if let Some(unknown) = answer.iter().find(|token| !self.engine.is_in_vocabulary(**token)) {
            return Err(self.failed(DOING, format!("the vocabulary has no token {unknown}").into()));
        }
        let (tokens, context) = (prompt.len() + read.len(), self.identity.context_tokens);
        if tokens > context {
            return Err(InferenceError::PromptTooLong { tokens, context });
        }
        Ok(Suffix { start, tokens: [&prompt[start..], read].concat(), answer })
    }

    /// The answer's probabilities with each of these sets hidden.
    fn score_without(
        &mut self,
        sets: &[&[Range<usize>]],
        rest: &Suffix,
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<f32>>, InferenceError> {
        let trials = self.engine.states.layout().trial_sequences();
        let trials: Vec<Trial<'_>> = trials.into_iter().zip(sets.iter().copied()).collect();
        let scored = self.read_trials(&trials, rest, cancel);
        if !trials.iter().all(|(trial, _)| self.engine.remove_from(*trial, 0)) {
            self.slots.clear();
        }
        scored
    }

    fn read_trials(
        &mut self,
        trials: &[Trial<'_>],
        rest: &Suffix,
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<f32>>, InferenceError> {
        let from = self.slots.sequence();
        let mut positions = Vec::with_capacity(trials.len());
        for (trial, ranges) in trials {
            let mut position = rest.start;
            self.engine.copy(from, *trial, rest.start).map_err(|source| self.lost(DOING, source))?;
            for range in ranges.iter().filter(|range| !range.is_empty()) {
                position = self.engine.mask(*trial, range).map_err(|source| self.lost(DOING, source))?;
            }
            positions.push(position);
        }
        let (prompt, answer) = rest.tokens.split_at(rest.first());
        for ((trial, _), position) in trials.iter().zip(&mut positions) {
            for piece in prompt.chunks(self.engine.prefill_chunk()) {
                cancel.check()?;
                let piece = BatchSlice { sequence: *trial, tokens: piece, position: *position, logits: Logits::None };
                self.engine.decode_batch(Phase::Prefill, &[piece]).map_err(|source| self.lost(DOING, source))?;
                *position += piece.tokens.len();
            }
        }
        self.score_tokens(trials, &positions, (answer, &rest.answer), cancel)
    }

    /// Reads an answer in each trial, from these positions on, with what is `expected` after each of its tokens.
    fn score_tokens(
        &mut self,
        trials: &[Trial<'_>],
        positions: &[usize],
        (answer, expected): (&[LlamaToken], &[LlamaToken]),
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<f32>>, InferenceError> {
        let mut scored = vec![Vec::with_capacity(answer.len()); trials.len()];
        let step = self.engine.batch_policy().verified_each(trials.len(), self.engine.prefill_chunk());
        for (start, tokens) in (0..).step_by(step).zip(answer.chunks(step)) {
            cancel.check()?;
            let piece = |((sequence, _), position): (&Trial<'_>, &usize)| BatchSlice {
                sequence: *sequence,
                tokens,
                position: position + start,
                logits: Logits::From(0),
            };
            let pieces: Vec<BatchSlice<'_>> = trials.iter().zip(positions).map(piece).collect();
            self.engine.decode_batch(Phase::Decode, &pieces).map_err(|source| self.lost(DOING, source))?;
            for (trial, scored) in scored.iter_mut().enumerate() {
                let places = (trial * tokens.len()..).zip(&expected[start..start + tokens.len()]);
                scored.extend(self.engine.logprobs(places.map(|(place, token)| (place, *token))));
            }
        }
        Ok(scored)
    }
}

/// A sequence, and what is hidden in it.
type Trial<'r> = (Sequence, &'r [Range<usize>]);
