//! Leave-one-out logprobs: the probability of an answer after its prompt without some of its parts.
//!
//! Takes an answer and sets of parts. The whole prompt is read first, then the prompt without each set; a prefix shared
//! with the previous prompt is reused. The answer is read in its own sequence after each prompt.
//! Invariants: the current slot holds the last prompt afterwards; no token of an answer stays in the context.
//! Not here: masking parts in the KV cache (`score`), comparing distributions (`inference::logprob_delta`).

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::engine::{Logits, Sequence};
use ragonite_base::CancelToken;
use ragonite_inference::{COMPARED_TOKENS, CompareRequest, Compared, Measure, divergence, logprob_deltas, softmax};
use ragonite_inference::{InferenceError, PromptPart};

const DOING: &str = "comparing an answer's probabilities";

/// Parameters shared by all prompts.
struct Comparison<'a> {
    answer: &'a [LlamaToken],
    measure: Measure,
    cancel: &'a CancelToken,
}

/// Predictions for the tokens of an answer.
struct Predicted {
    /// Natural-log probability of each token.
    tokens: Vec<f32>,
    /// Distributions for the first tokens.
    words: Words,
}

/// The distributions of the first tokens.
enum Words {
    /// Not requested.
    Unread,
    /// The distributions of the whole prompt.
    Kept(Vec<Vec<f32>>),
    /// The divergence of each from the whole prompt's distribution.
    Compared(Vec<f32>),
}

impl LlamaGenerator {
    pub(super) fn compare_without(
        &mut self,
        request: &CompareRequest,
        cancel: &CancelToken,
        on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        let answer: Vec<LlamaToken> = request.answer.iter().copied().map(LlamaToken::new).collect();
        if let Some(unknown) = answer.iter().find(|token| !self.engine.is_in_vocabulary(**token)) {
            return Err(self.failed(DOING, format!("the vocabulary has no token {unknown}").into()));
        }
        if request.without.iter().flatten().any(|place| *place >= request.parts.len()) {
            return Err(self.failed(DOING, "a part that is to be left out is not in the prompt".into()));
        }
        if answer.is_empty() || request.without.is_empty() {
            return Ok(vec![Compared::default(); request.without.len()]);
        }
        let asked = Comparison { answer: &answer, measure: request.measure, cancel };
        let whole = self.predict(&request.parts, &asked, None)?;
        let mut all = Vec::with_capacity(request.without.len());
        for (set, places) in request.without.iter().enumerate() {
            let without = self.predict(&request.without(places), &asked, Some(&whole))?;
            let divergences = if let Words::Compared(far) = without.words { far } else { Vec::new() };
            let compared = Compared { drops: logprob_deltas(&whole.tokens, &without.tokens), divergences };
            on_compared(set, &compared);
            all.push(compared);
        }
        Ok(all)
    }

    /// Reads a prompt and the answer after it.
    fn predict(
        &mut self,
        parts: &[PromptPart],
        asked: &Comparison<'_>,
        whole: Option<&Predicted>,
    ) -> Result<Predicted, InferenceError> {
        let answer = asked.answer;
        let prompt = self.prompt(parts)?;
        let (tokens, context) = (prompt.len() + answer.len() - 1, self.identity.context_tokens);
        if tokens > context {
            return Err(InferenceError::PromptTooLong { tokens, context });
        }
        // The prompt's last token is read with the answer: its logits predict the answer's first token.
        let (prefix, last) = prompt.split_at(prompt.len() - 1);
        if !prefix.is_empty() {
            self.reuse(&prompt, answer.len())?;
            self.read_prompt(prefix, prefix.len(), asked.cancel, &mut |_| {})?;
        }
        let read = [last, &answer[..answer.len() - 1]].concat();
        let words = match (asked.measure, whole) {
            (Measure::Token, _) => Words::Unread,
            (Measure::Distribution, None) => Words::Kept(Vec::new()),
            (Measure::Distribution, Some(_)) => Words::Compared(Vec::new()),
        };
        let mut predicted = Predicted { tokens: Vec::with_capacity(answer.len()), words };
        let result = self.read_answer(prefix.len(), &read, asked, whole, &mut predicted);
        if !self.engine.remove_from(Sequence::TRIAL, 0) {
            self.slots.clear();
        }
        result.map(|()| predicted)
    }

    /// Reads `read` in the trial sequence from `position` on, and records the predictions.
    fn read_answer(
        &mut self,
        position: usize,
        read: &[LlamaToken],
        asked: &Comparison<'_>,
        whole: Option<&Predicted>,
        predicted: &mut Predicted,
    ) -> Result<(), InferenceError> {
        let from = self.slots.sequence();
        self.engine.copy(from, Sequence::TRIAL, position).map_err(|source| self.lost(DOING, source))?;
        let step = self.engine.batch_policy().verified_each(1, self.engine.prefill_chunk());
        for (start, piece) in (0..).step_by(step).zip(read.chunks(step)) {
            asked.cancel.check()?;
            let decoded = self.engine.decode(Sequence::TRIAL, piece, position + start, Logits::From(0));
            decoded.map_err(|source| self.lost(DOING, source))?;
            let places = (0..piece.len()).zip(asked.answer[start..].iter().copied());
            predicted.tokens.extend(self.engine.logprobs(places));
            for place in 0..piece.len().min(COMPARED_TOKENS.saturating_sub(start)) {
                predicted.words.add(self.engine.logits(place), whole.map(|whole| &whole.words));
            }
        }
        Ok(())
    }
}

impl Words {
    /// Records the distribution of the next token.
    fn add(&mut self, logits: &[f32], whole: Option<&Self>) {
        match self {
            Self::Unread => {}
            Self::Kept(kept) => kept.push(softmax(logits)),
            Self::Compared(far) => {
                if let Some(Self::Kept(kept)) = whole
                    && let Some(other) = kept.get(far.len())
                {
                    far.push(divergence(other, &softmax(logits)));
                }
            }
        }
    }
}
