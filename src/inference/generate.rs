//! What a generator takes and gives.

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
    /// Content of documents, questions and answers: `<|im_start|>` is just characters.
    AsText,
}

/// A piece of a prompt that is tokenized on its own, so that leaving one out is exact to the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// The text.
    pub text: String,
    /// How it is tokenized.
    pub special: SpecialTokens,
}

/// How the next token is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Always the likeliest token.
    #[default]
    Greedy,
    /// Drawn at this temperature, reproducibly for a seed.
    Seeded {
        /// Above 0.
        temperature: f32,
        /// Same seed, same prompt: same text.
        seed: u32,
    },
}

impl Sampling {
    /// Greedy at temperature 0, drawn above it.
    #[must_use]
    pub fn at(temperature: f32, seed: u32) -> Self {
        if temperature > 0.0 { Self::Seeded { temperature, seed } } else { Self::Greedy }
    }
}

/// What to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateRequest {
    /// The prompt in order.
    pub parts: Vec<PromptPart>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Generation ends before any of these texts.
    pub stop: Vec<String>,
    /// Most tokens to generate.
    pub max_tokens: usize,
    /// Tokens the answer probably has, empty where nothing is known. They are read many at a time and checked one by
    /// one, which is far faster than generating them; the answer is the same as without (on a GPU near-ties aside, see
    /// [`Completion::narrowest`]; and but for a generator that is to write quickly, which writes with a draft exactly).
    pub draft: Vec<i32>,
}

/// Progress of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerateEvent<'a> {
    /// So many of the prompt's tokens have been read, reused ones included.
    PromptRead {
        /// Read so far.
        done: usize,
        /// All of the prompt.
        total: usize,
    },
    /// The answer goes on with this text; never a part of a stop text, never half a character.
    Text(&'a str),
}

/// Why a generation ended.
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
    /// The text up to the stop text or the end, white space at both ends removed.
    pub text: String,
    /// Generated tokens, the end token included where the model gave one.
    pub tokens: Vec<i32>,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Of these, tokens whose state was still there from an earlier call, or was kept by an earlier run.
    pub reused_tokens: usize,
    /// Generated tokens that the draft had foreseen, counted up to the first that it had not.
    #[serde(default)]
    pub drafted_tokens: usize,
    /// The smallest distance of the two highest logits at any generated token, those of a sampled answer with the noise
    /// of its seed; none for text held to a grammar. Where it is near 0, rounding decides: on another machine, or on a GPU
    /// beside other work, the same prompt may give another answer.
    #[serde(default)]
    pub narrowest: Option<f32>,
    /// The natural logarithm of each token's probability, given those before it, as the model had it: without
    /// temperature, noise or grammar. Empty where it was not taken down, as for one of several answers written at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_probabilities: Vec<f32>,
    /// The same of each token of the draft, given those of the draft before it, from its first on as far as it was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draft_log_probabilities: Vec<f32>,
    /// Why it ended.
    pub finish: Finish,
    /// From the call to the first generated token.
    pub first_token_ms: Millis,
    /// The whole call.
    pub total_ms: Millis,
}

/// What is read again where parts of a prompt are hidden. All else was read with nothing hidden, and keeps traces of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recompute {
    /// The answer, from the last token before it on.
    Answer,
    /// What comes after the last place of all sets, and the answer.
    Rest,
}

/// An answer whose probability is asked for, after a prompt as it is and with some of its parts hidden.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRequest {
    /// The prompt in order.
    pub parts: Vec<PromptPart>,
    /// Tokens of the answer.
    pub answer: Vec<i32>,
    /// How probable they are after the whole prompt ([`Completion::log_probabilities`]). Where that is not one number for
    /// each, it is found out first.
    pub told: Vec<f32>,
    /// Places in `parts`, one set after the other.
    pub hidden: Vec<Vec<usize>>,
    /// What is read with a set hidden.
    pub reread: Recompute,
}

impl ScoreRequest {
    /// Whether it says how probable each token is after the whole prompt.
    pub fn returns_all(&self) -> bool {
        self.told.len() == self.answer.len() && !self.told.is_empty()
    }
}

/// How probable an answer is: the natural logarithm for each of its tokens, given those before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// After the whole prompt.
    pub whole: Vec<f32>,
    /// With each set of parts hidden, in the order of the request.
    pub hidden: Vec<Vec<f32>>,
}

/// The chat template that comes with a generator's weights (GGUF key `tokenizer.chat_template`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatTemplate {
    /// Jinja source.
    pub source: String,
    /// Text of the begin-of-sequence token, empty where the model has none.
    pub bos: String,
    /// Text of the end-of-sequence token.
    pub eos: String,
}

/// Which generator this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorIdentity {
    /// Id in the catalog.
    pub model: String,
    /// Tokens that prompt and answer may have together.
    pub context_tokens: usize,
    /// The weights' own chat template.
    pub chat_template: ChatTemplate,
}

/// Prompt to text.
pub trait Generate: Send {
    /// Which generator this is.
    fn identity(&self) -> &GeneratorIdentity;

    /// How many tokens `part` has in a prompt.
    ///
    /// # Errors
    /// When the tokenizer fails.
    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError>;

    /// Reads the prompt and generates until the model, a stop text or the limit ends it.
    /// Keeps the state of the prompt, so that the next prompt re-reads only what differs from it.
    ///
    /// # Errors
    /// When the prompt does not fit, the model fails, or with [`InferenceError::Canceled`] within one small batch.
    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError>;

    /// As [`Generate::generate`], with the text held to a grammar (GBNF, its rule `root`) by a generator that can do
    /// that. Others take no notice of the grammar, and the token limit may cut any text short: what comes back has to be
    /// read with care.
    ///
    /// # Errors
    /// As [`Generate::generate`], and when the grammar has a wrong form.
    fn generate_within(
        &mut self,
        _grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.generate(request, cancel, on_event)
    }

    /// As [`Generate::generate`] for each of `requests`, in any order and several at a time where the generator can do
    /// that. It is quickest where a prompt shares its beginning with the one before it. `on_done` hears which request is
    /// done and its completion, and may end the work.
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

    /// How probable an answer is with and without parts of its prompt, without reading the rest of the prompt again
    /// (attention ablation: the hidden parts are taken out of the state). An estimate of what leaving them out does.
    /// `on_scored` hears each set's tokens as they come; the whole prompt's come first, as no set.
    ///
    /// # Errors
    /// As [`Generate::generate`]; also for a generator that cannot hide what it has read.
    fn score(
        &mut self,
        _request: &ScoreRequest,
        _cancel: &CancelToken,
        _on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        Err(InferenceError::cannot_hide(&self.identity().model))
    }

    /// How much less probable each token of an answer is without parts of its prompt, each shorter prompt read as one of
    /// its own. `on_compared` hears each set as it comes; in the end all are given in the order of the request.
    ///
    /// # Errors
    /// As [`Generate::generate`]; also for a generator that cannot tell probabilities.
    fn compare(
        &mut self,
        _request: &CompareRequest,
        _cancel: &CancelToken,
        _on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        Err(InferenceError::cannot_compare(&self.identity().model))
    }

    /// The bytes of each of the tokens of a completion, as the model wrote them: before a stop text was cut off, white
    /// space at both ends included. A token that ends the turn has none; one may hold a part of a character only.
    ///
    /// # Errors
    /// When a token is not of this generator's vocabulary, or it cannot tell.
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
