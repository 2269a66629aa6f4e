//! Logprobs of an answer with parts of its prompt masked.
//!
//! Takes an answer and sets of parts. The prompt is read once, and the answer after it. For each set the state of the
//! prompt is copied up to the recomputed range, the set is masked in the copy, and the rest is read again with the
//! answer, several sets in one call.
//! Invariants: the current slot holds the prompt afterwards, as far as it was there or there was room; no trial stays
//! in the context.
//! Not here: what the logprobs say about a source (`attribution`).

use std::ops::Range;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::batch_policy::Phase;
use super::engine::{BatchSlice, Logits, Sequence};
use ragonite_base::CancelToken;
use ragonite_inference::{InferenceError, PromptPart, Recompute, ScoreRequest, Scores};

const DOING: &str = "scoring an answer";

/// The tokens that each trial reads.
struct Suffix {
    /// Number of prompt tokens before it.
    start: usize,
    /// The end of the prompt, and the answer without its last token, whose logits are not needed.
    tokens: Vec<LlamaToken>,
    answer: Vec<LlamaToken>,
}

impl Suffix {
    /// Row in `tokens` whose logits predict the first token of the answer.
    fn first(&self) -> usize {
        self.tokens.len() - self.answer.len()
    }

    /// The suffix that begins after `start` prompt tokens.
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
        let suffix = self.suffix(&prompt, start, &request.answer)?;
        if suffix.answer.is_empty() {
            return Ok(Scores { whole: Vec::new(), hidden: vec![Vec::new(); hidden.len()] });
        }
        // The prompt's last token is read with the answer: its logits predict the answer's first token.
        let (prefix, _) = prompt.split_at(prompt.len() - 1);
        if !prefix.is_empty() {
            self.reuse(&prompt, suffix.tokens.len())?;
            self.read_prompt(prefix, prefix.len(), cancel, &mut |_| {})?;
        }
        // Trials share copied cells only while nothing is moved.
        self.engine.defragment().map_err(|source| self.lost(DOING, source))?;
        let mut scores = Scores { whole: Vec::new(), hidden: Vec::with_capacity(hidden.len()) };
        if request.returns_all() {
            on_scored(None, &request.told);
            scores.whole.clone_from(&request.told);
        }
        let mut first: Vec<&[Range<usize>]> = if request.returns_all() { Vec::new() } else { vec![&[]] };
        let mut record = |scored: Vec<f32>| {
            if scores.whole.is_empty() {
                on_scored(None, &scored);
                scores.whole = scored;
            } else {
                on_scored(Some(scores.hidden.len()), &scored);
                scores.hidden.push(scored);
            }
        };
        // The first set is scored by itself or, if both read the same tokens, with the whole prompt, so that its result
        // comes soon.
        let mut sets: Vec<&[Range<usize>]> = hidden.iter().map(Vec::as_slice).collect();
        if suffix.start == prefix.len() {
            first.extend(sets.drain(..1.min(sets.len())));
        }
        let together = first.len().clamp(1, self.trials(&suffix));
        for some in first.chunks(together) {
            self.score_without(some, &suffix.from(prefix.len()), cancel)?.into_iter().for_each(&mut record);
        }
        if !sets.is_empty() && self.engine.free_cells() < suffix.tokens.len() {
            self.rewind(suffix.start)?;
        }
        for some in sets.chunks(self.trials(&suffix)) {
            self.score_without(some, &suffix, cancel)?.into_iter().for_each(&mut record);
        }
        Ok(scores)
    }

    /// Number of parallel trials with this suffix: limited by the call size and the free cells.
    fn trials(&self, suffix: &Suffix) -> usize {
        let tokens = suffix.tokens.len().max(1);
        let rows = self.engine.batch_policy();
        let in_call = rows.max_prefill / suffix.answer.len().clamp(1, rows.max_verified);
        let all = self.engine.states.layout().trial_sequences().len();
        all.min(in_call).min(self.engine.free_cells() / tokens).max(1)
    }

    /// The token ranges of each set of parts.
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

    fn suffix(&self, prompt: &[LlamaToken], start: usize, answer: &[i32]) -> Result<Suffix, InferenceError> {
        // At least the last token is read again: its logits predict the first token of the answer.
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

    /// The answer's logprobs with each of these sets masked.
    fn score_without(
        &mut self,
        sets: &[&[Range<usize>]],
        suffix: &Suffix,
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<f32>>, InferenceError> {
        let trials = self.engine.states.layout().trial_sequences();
        let trials: Vec<Trial<'_>> = trials.into_iter().zip(sets.iter().copied()).collect();
        let scored = self.read_trials(&trials, suffix, cancel);
        if !trials.iter().all(|(trial, _)| self.engine.remove_from(*trial, 0)) {
            self.slots.clear();
        }
        scored
    }

    fn read_trials(
        &mut self,
        trials: &[Trial<'_>],
        suffix: &Suffix,
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<f32>>, InferenceError> {
        let from = self.slots.sequence();
        let mut positions = Vec::with_capacity(trials.len());
        for (trial, ranges) in trials {
            let mut position = suffix.start;
            self.engine.copy(from, *trial, suffix.start).map_err(|source| self.lost(DOING, source))?;
            for range in ranges.iter().filter(|range| !range.is_empty()) {
                position = self.engine.mask(*trial, range).map_err(|source| self.lost(DOING, source))?;
            }
            positions.push(position);
        }
        let (prompt, answer) = suffix.tokens.split_at(suffix.first());
        for ((trial, _), position) in trials.iter().zip(&mut positions) {
            for piece in prompt.chunks(self.engine.prefill_chunk()) {
                cancel.check()?;
                let piece = BatchSlice { sequence: *trial, tokens: piece, position: *position, logits: Logits::None };
                self.engine.decode_batch(Phase::Prefill, &[piece]).map_err(|source| self.lost(DOING, source))?;
                *position += piece.tokens.len();
            }
        }
        self.score_tokens(trials, &positions, answer, &suffix.answer, cancel)
    }

    /// Reads `answer` in each trial from its position on; gives the logprobs of the `expected` next tokens.
    fn score_tokens(
        &mut self,
        trials: &[Trial<'_>],
        positions: &[usize],
        answer: &[LlamaToken],
        expected: &[LlamaToken],
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

/// A sequence, and the ranges masked in it.
type Trial<'r> = (Sequence, &'r [Range<usize>]);
