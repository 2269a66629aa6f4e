//! How probable an answer is when parts of its prompt are hidden.
//!
//! Takes an answer and sets of parts. The prompt is read once, and the answer after it; for each set the state of the prompt
//! is shared, as far as it is not to be read again, the set taken out of it, and the rest with the answer read again.
//! Invariants: the current slot holds the prompt afterwards as far as it was there or there was room for it, and nothing of
//! the trials stays in the context.
//! Not here: what the probabilities say about a source (`attribution`).

use std::ops::Range;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::engine::{Logits, Sequence};
use crate::base::CancelToken;
use crate::inference::{InferenceError, PromptPart, Reread, ScoreRequest, Scores};

const DOING: &str = "scoring an answer";

/// What is read in a trial.
struct Rest {
    /// Tokens of the prompt before it.
    start: usize,
    /// The end of the prompt and the answer without its last token, whose successor nobody asks for.
    tokens: Vec<LlamaToken>,
    /// Tokens of the answer.
    answer: Vec<LlamaToken>,
}

impl Rest {
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
            Reread::Rest => hidden.iter().flatten().map(|range| range.end).max().unwrap_or(0),
            Reread::Answer => prompt.len(),
        };
        let rest = self.rest(&prompt, start, &request.answer)?;
        if rest.answer.is_empty() {
            return Ok(Scores { whole: Vec::new(), hidden: vec![Vec::new(); hidden.len()] });
        }
        let whole = self.score_whole(&prompt, &rest, cancel)?;
        on_scored(None, &whole);
        if !hidden.is_empty() && self.engine.free_cells() < rest.tokens.len() {
            self.rewind(rest.start)?;
        }
        let mut scores = Scores { whole, hidden: Vec::with_capacity(hidden.len()) };
        for (set, ranges) in hidden.iter().enumerate() {
            let scored = self.score_without(ranges, &rest, cancel)?;
            on_scored(Some(set), &scored);
            scores.hidden.push(scored);
        }
        Ok(scores)
    }

    /// The answer's probabilities after the whole prompt, of which nothing is read twice.
    fn score_whole(
        &mut self,
        prompt: &[LlamaToken],
        rest: &Rest,
        cancel: &CancelToken,
    ) -> Result<Vec<f32>, InferenceError> {
        // The last token is read with the answer: its logits choose the answer's first token.
        let (beginning, _) = prompt.split_at(prompt.len() - 1);
        if !beginning.is_empty() {
            // Room for the other trials, which read more.
            self.reuse(beginning, rest.tokens.len())?;
            self.read_prompt(beginning, beginning.len(), cancel, &mut |_| {})?;
        }
        self.score_without(&[], &rest.from(beginning.len()), cancel)
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

    fn rest(&self, prompt: &[LlamaToken], start: usize, answer: &[i32]) -> Result<Rest, InferenceError> {
        // At least the last token is read again: its logits choose the first token of the answer.
        let start = start.min(prompt.len() - 1);
        let answer: Vec<LlamaToken> = answer.iter().copied().map(LlamaToken::new).collect();
        let read = &answer[..answer.len().saturating_sub(1)];
        if let Some(unknown) = answer.iter().find(|token| !self.engine.knows(**token)) {
            return Err(self.failed(DOING, format!("the vocabulary has no token {unknown}").into()));
        }
        let (tokens, context) = (prompt.len() + read.len(), self.identity.context_tokens);
        if tokens > context {
            return Err(InferenceError::PromptTooLong { tokens, context });
        }
        Ok(Rest { start, tokens: [&prompt[start..], read].concat(), answer })
    }

    /// The answer's probabilities with `ranges` hidden.
    fn score_without(
        &mut self,
        ranges: &[Range<usize>],
        rest: &Rest,
        cancel: &CancelToken,
    ) -> Result<Vec<f32>, InferenceError> {
        let scored = self.read_trial(ranges, rest, cancel);
        if !self.engine.forget_from(Sequence::TRIAL, 0) {
            self.slots.empty_all();
        }
        scored
    }

    fn read_trial(
        &mut self,
        ranges: &[Range<usize>],
        rest: &Rest,
        cancel: &CancelToken,
    ) -> Result<Vec<f32>, InferenceError> {
        let from = self.slots.sequence();
        let mut position = rest.start;
        self.engine.copy(from, Sequence::TRIAL, rest.start).map_err(|source| self.lost(DOING, source))?;
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            position = self.engine.hide(Sequence::TRIAL, range).map_err(|source| self.lost(DOING, source))?;
        }
        let mut scored = Vec::with_capacity(rest.answer.len());
        let step = self.engine.read_step();
        for (start, piece) in (0..).step_by(step).zip(rest.tokens.chunks(step)) {
            cancel.check()?;
            let first = rest.first().saturating_sub(start);
            let logits = Logits::From(first.min(piece.len()));
            let read = self.engine.decode(Sequence::TRIAL, piece, position + start, logits);
            read.map_err(|source| self.lost(DOING, source))?;
            for place in first..piece.len() {
                let token = rest.answer[start + place - rest.first()];
                scored.push(self.engine.log_probability(place, token));
            }
        }
        Ok(scored)
    }
}
