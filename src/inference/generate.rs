//! The interface of generators: requests, results and [`Generate`].
//!
//! Takes prompts as parts, gives text, tokens and logprobs.
//! Not here: implementations (`llama`, `fake`), building prompts (`prompt`).

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{CompareRequest, Compared, InferenceError};
use ragonite_base::{CancelToken, Millis};

/// Whether text may contain the model's special tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecialTokens {
    /// Template text: `<|im_start|>` is one token.
    Parse,
    /// Content of documents, questions and answers: `<|im_start|>` is plain characters.
    #[serde(rename = "plain")]
    AsText,
}

/// A part of a prompt, tokenized on its own, so that leaving one out is exact to the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// The text.
    pub text: String,
    /// Whether special tokens are parsed.
    pub special: SpecialTokens,
}

/// The sampling strategy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Greedy decoding: always the likeliest token.
    #[default]
    Greedy,
    /// Sampling at a temperature, reproducible for a seed.
    Seeded {
        /// Above 0.
        temperature: f32,
        /// The same seed and prompt give the same text.
        seed: u32,
    },
}

impl Sampling {
    /// Greedy at temperature 0, else seeded sampling.
    #[must_use]
    pub fn at(temperature: f32, seed: u32) -> Self {
        if temperature > 0.0 { Self::Seeded { temperature, seed } } else { Self::Greedy }
    }
}

/// A generation request.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateRequest {
    /// The prompt in order.
    pub parts: Vec<PromptPart>,
    /// The sampling strategy.
    pub sampling: Sampling,
    /// Generation stops before any of these texts.
    pub stop: Vec<String>,
    /// Maximum of generated tokens.
    pub max_tokens: usize,
    /// Draft of the answer, empty if there is none. It is read in batches and verified token by token, which is far
    /// faster than decoding. The answer is the same as without a draft, except for near-ties on a GPU (see
    /// [`Completion::narrowest`]) and with [`Decoding::Fast`](super::Decoding::Fast), where only answers with a draft
    /// are exact.
    pub draft: Vec<i32>,
}

/// Progress of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerateEvent<'a> {
    /// Progress of the prefill, reused tokens included.
    PromptRead {
        /// Prompt tokens read so far.
        done: usize,
        /// Tokens of the prompt.
        total: usize,
    },
    /// The next text of the answer; never a part of a stop text, never half a character.
    Text(&'a str),
}

/// The reason for the end of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// The model ended its turn.
    End,
    /// A stop text came.
    Stop,
    /// The token limit was reached.
    Length,
}

/// A finished generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The text before the stop text or end, trimmed.
    pub text: String,
    /// Generated tokens, with the end token if the model gave one.
    pub tokens: Vec<i32>,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Prompt tokens that were reused from the KV cache or the prefix cache.
    pub reused_tokens: usize,
    /// Number of generated tokens that follow the draft, up to the first difference.
    #[serde(default)]
    pub drafted_tokens: usize,
    /// The smallest logit margin of all generated tokens, with sampling noise included; none with a grammar. Near 0
    /// rounding decides: another machine, or a GPU with other work in the batch, may give another answer to the same
    /// prompt.
    #[serde(default)]
    pub narrowest: Option<f32>,
    /// Natural-log probability of each token given those before it, without temperature, noise or grammar. Empty where
    /// not recorded, as for one of several answers of a batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_probabilities: Vec<f32>,
    /// The same for each draft token that was read, given the draft tokens before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draft_log_probabilities: Vec<f32>,
    /// The reason for the end.
    pub finish: Finish,
    /// Time from the call to the first generated token.
    pub first_token_ms: Millis,
    /// Time of the whole call.
    pub total_ms: Millis,
}

/// The range that is computed again where parts of a prompt are masked. The states of all other tokens were computed
/// with nothing masked, and keep traces of the masked parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recompute {
    /// The answer, from the last prompt token on.
    Answer,
    /// The prompt behind the last part of all sets, and the answer.
    Rest,
}

/// A request for the logprobs of an answer, after a prompt as it is and with parts masked.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRequest {
    /// The prompt in order.
    pub parts: Vec<PromptPart>,
    /// Tokens of the answer.
    pub answer: Vec<i32>,
    /// The answer's logprobs after the whole prompt ([`Completion::log_probabilities`]); computed first unless there is
    /// one for each token.
    pub told: Vec<f32>,
    /// Sets of indices into `parts`.
    pub hidden: Vec<Vec<usize>>,
    /// The range to compute again.
    pub reread: Recompute,
}

impl ScoreRequest {
    /// Whether `told` has a logprob for each token.
    pub fn returns_all(&self) -> bool {
        self.told.len() == self.answer.len() && !self.told.is_empty()
    }
}

/// Natural-log probabilities of an answer's tokens, each given those before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// After the whole prompt.
    pub whole: Vec<f32>,
    /// With each set of parts masked, in the order of the request.
    pub hidden: Vec<Vec<f32>>,
}

/// The chat template in a generator's weights (GGUF key `tokenizer.chat_template`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatTemplate {
    /// Jinja source.
    pub source: String,
    /// Text of the begin-of-sequence token, or empty.
    pub bos: String,
    /// Text of the end-of-sequence token.
    pub eos: String,
}

/// The identity of the generator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorIdentity {
    /// Id in the catalog.
    pub model: String,
    /// Maximum of prompt and answer tokens together.
    pub context_tokens: usize,
    /// The chat template in the weights.
    pub chat_template: ChatTemplate,
}

/// A generator.
pub trait Generate: Send {
    /// The identity of the generator.
    fn identity(&self) -> &GeneratorIdentity;

    /// Number of tokens of `part` in a prompt.
    ///
    /// # Errors
    /// If the tokenizer fails.
    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError>;

    /// Reads the prompt and generates until the model, a stop text or the token limit ends it. The prompt stays in the
    /// KV cache, so that the next prompt is read only from where it differs.
    ///
    /// # Errors
    /// If the prompt does not fit, the model fails, or with [`InferenceError::Canceled`] within one small batch.
    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError>;

    /// As [`Generate::generate`], with the text constrained by a GBNF grammar with the root rule `root`. Generators
    /// without grammars ignore it, and the token limit may cut the text: the caller must check the result.
    ///
    /// # Errors
    /// As [`Generate::generate`], and if the grammar is invalid.
    fn generate_within(
        &mut self,
        _grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.generate(request, cancel, on_event)
    }

    /// As [`Generate::generate`] for each of `requests`, in any order and possibly in parallel. It is fastest if
    /// neighbouring prompts share a prefix. `on_done` gets the index and completion of each finished request, and may
    /// stop the batch.
    ///
    /// # Errors
    /// As [`Generate::generate`].
    fn generate_batch(
        &mut self,
        requests: &[GenerateRequest],
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize, Completion) -> ControlFlow<()>,
    ) -> Result<(), InferenceError> {
        one_by_one(self, requests, cancel, on_done)
    }

    /// Logprobs of an answer with and without parts of its prompt, by masking the parts in the KV cache (attention
    /// ablation) instead of reading the prompt again. An estimate of leave-one-out. `on_scored` gets the logprobs of
    /// each set as they come; the whole prompt comes first, as `None`.
    ///
    /// # Errors
    /// As [`Generate::generate`], and for a generator that cannot mask.
    fn score(
        &mut self,
        _request: &ScoreRequest,
        _cancel: &CancelToken,
        _on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        Err(InferenceError::cannot_hide(&self.identity().model))
    }

    /// Exact leave-one-out logprobs of an answer: each shorter prompt is read on its own. `on_compared` gets each set
    /// as it comes; the result is in the order of the request.
    ///
    /// # Errors
    /// As [`Generate::generate`], and for a generator without logprobs.
    fn compare(
        &mut self,
        _request: &CompareRequest,
        _cancel: &CancelToken,
        _on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        Err(InferenceError::cannot_compare(&self.identity().model))
    }

    /// The bytes of each token of a completion, untrimmed and before a stop text was cut off. An end token has none; a
    /// token may hold a part of a character.
    ///
    /// # Errors
    /// If a token is not in the vocabulary, or the generator cannot give bytes.
    fn token_bytes(&self, _tokens: &[i32]) -> Result<Vec<Vec<u8>>, InferenceError> {
        Err(InferenceError::cannot_tell_pieces(&self.identity().model))
    }
}

/// [`Generate::generate`] for each of `requests`, in their order.
pub(super) fn one_by_one<G: Generate + ?Sized>(
    generator: &mut G,
    requests: &[GenerateRequest],
    cancel: &CancelToken,
    on_done: &mut dyn FnMut(usize, Completion) -> ControlFlow<()>,
) -> Result<(), InferenceError> {
    for (at, request) in requests.iter().enumerate() {
        let completion = generator.generate(request, cancel, &mut |_| {})?;
        if on_done(at, completion).is_break() {
            break;
        }
    }
    Ok(())
}
