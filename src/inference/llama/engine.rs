//! The only place that talks to llama.cpp.
//!
//! Takes token slices, gives logits. Owns the weights and the context that points into them.
//! Invariants: logging is off before the back end starts; a batch never exceeds its capacity, a position never the
//! context, a sequence never [`SEQUENCES`].
//! Not here: which tokens are in which sequence (`Slots`), when to stop.

use std::fs::File;
use std::num::NonZeroU32;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::OnceLock;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};

use super::GeneratorSettings;
use super::slots::SLOTS;
use crate::base::Canceled;
use crate::inference::{ChatTemplate, InferenceError, Special};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Most tokens llama.cpp takes in one call; more would end the process.
const BATCH_TOKENS: usize = 512;

/// Tokens read between two looks at the cancel token without a GPU: under a second for 1.5 billion parameters on two
/// cores.
const CPU_STEP: usize = 32;

/// Sequences whose states are told apart: the slots, and one to try things out.
pub(super) const SEQUENCES: usize = SLOTS + 1;

/// Cells of the state beyond the longest prompt, so that a second, shorter one can stay beside it.
const SPARE_CELLS: usize = 1024;

/// Smallest context that is of any use; llama.cpp rounds smaller ones up anyway.
const SMALLEST_CONTEXT: usize = 256;

#[derive(Debug, thiserror::Error)]
enum EngineError {
    #[error("llama.cpp could not be started")]
    Backend,
    #[error("a text of {0} bytes is more than llama.cpp takes")]
    TextTooLong(usize),
    #[error("{tokens} tokens at position {position} do not fit a batch of {batch} and a context of {context}")]
    BatchTooLong { tokens: usize, position: usize, batch: usize, context: usize },
    #[error("the architecture of the model cannot forget a part of what it has read")]
    Unforgetting,
}

/// A state of its own in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence(pub(super) usize);

impl Sequence {
    /// The one that no slot uses.
    pub(super) const TRIAL: Self = Self(SLOTS);

    fn id(self) -> i32 {
        i32::try_from(self.0).unwrap_or(0)
    }

    fn source(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// Whose logits a call of llama.cpp gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logits {
    /// The last token's.
    Last,
    /// Those of this place in the call and of every one after it.
    From(usize),
}

/// A token chosen greedily.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Likeliest {
    /// The token.
    pub(super) token: LlamaToken,
    /// How far its logit is above the next one.
    pub(super) margin: f32,
}

/// Weights and context.
///
/// Field order is drop order: the context points into the model and goes first.
pub(super) struct Engine {
    context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    model: Box<LlamaModel>,
    context_tokens: usize,
    cells: usize,
    read_step: usize,
}

/// The process's llama.cpp back end; llama.cpp allows one, and it stays until the process ends.
fn backend() -> Result<&'static LlamaBackend, EngineError> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    BACKEND
        .get_or_init(|| {
            send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
            LlamaBackend::init().ok()
        })
        .as_ref()
        .ok_or(EngineError::Backend)
}

/// Physical cores this process may use: more threads slow llama.cpp down.
fn physical_cores() -> usize {
    num_cpus::get_physical().min(num_cpus::get()).max(1)
}

impl Engine {
    pub(super) fn load(
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        let refused = |source: Cause| InferenceError::Load { model: model.to_owned(), source };
        File::open(path).map_err(|source| InferenceError::Read { path: path.to_owned(), source })?;
        let backend = backend().map_err(|error| refused(error.into()))?;
        let weights = load_weights(backend, path, settings, progress).map_err(|error| match error {
            LoadError::Ended => InferenceError::Canceled(Canceled),
            LoadError::Refused(source) => refused(source),
        })?;
        let model = Box::new(weights);
        let trained = usize::try_from(model.n_ctx_train()).unwrap_or(usize::MAX);
        let context_tokens = settings.context_tokens.max(SMALLEST_CONTEXT).min(trained);
        let params = context_params(settings, context_tokens);
        // The box keeps its address for the engine's life.
        let address: *const LlamaModel = &raw const *model;
        #[expect(unsafe_code, reason = "the context points into the boxed model, which `Engine` drops after it")]
        // SAFETY: `address` is valid and never mutated while `Engine` lives; fields drop in order, the context first;
        // neither field ever leaves `Engine`.
        let borrowed: &'static LlamaModel = unsafe { &*address };
        let context = borrowed.new_context(backend, params).map_err(|error| refused(error.into()))?;
        let held = usize::try_from(context.n_ctx()).unwrap_or(0);
        Ok(Self {
            context,
            batch: LlamaBatch::new(BATCH_TOKENS, 1),
            model,
            context_tokens: context_tokens.min(held),
            cells: held,
            read_step: if backend.supports_gpu_offload() { BATCH_TOKENS } else { CPU_STEP },
        })
    }

    /// Tokens that fit the context.
    pub(super) fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// Tokens to read in one call.
    pub(super) fn read_step(&self) -> usize {
        self.read_step
    }

    /// The template in the weights, its source empty where they have none. `bos` is empty where neither the vocabulary
    /// asks for one nor the template names it, so that whoever renders may put it first whenever it is not empty.
    pub(super) fn chat_template(&self) -> ChatTemplate {
        let source = self.model.chat_template(None).ok().and_then(|template| template.to_string().ok());
        let source = source.unwrap_or_default();
        let vocab = self.model.vocab();
        let text = |token: LlamaToken| {
            let known = token.0 >= 0 && token.0 < vocab.n_tokens();
            let piece = if known { vocab.token_to_piece(token, true, None) } else { Vec::new() };
            String::from_utf8(piece).unwrap_or_default()
        };
        let wants_bos = vocab.should_add_bos() || source.contains("bos_token");
        let bos = if wants_bos { text(vocab.bos()) } else { String::new() };
        ChatTemplate { source, bos, eos: text(vocab.eos()) }
    }

    /// Token ids of `text` alone: no begin-of-sequence token, no leading space.
    pub(super) fn tokenize(&self, text: &str, special: Special) -> Result<Vec<LlamaToken>, Cause> {
        if i32::try_from(text.len()).is_err() {
            return Err(EngineError::TextTooLong(text.len()).into());
        }
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.model.vocab().tokenize(text.as_bytes(), false, special == Special::Parse))
    }

    /// Text of a generated token; a control token has none.
    pub(super) fn piece(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, false, None)
    }

    /// Whether the model ends its turn with `token`.
    pub(super) fn ends_generation(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// Tokens that all sequences may have together.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Forgets the state of `sequence` from position `keep` on. False where the architecture cannot forget a part, in
    /// which case everything is forgotten, in every sequence.
    pub(super) fn forget_from(&mut self, sequence: Sequence, keep: usize) -> bool {
        let removed = u32::try_from(keep).is_ok_and(|keep| {
            let from = (keep > 0).then_some(keep);
            matches!(self.context.clear_kv_cache_seq(sequence.source(), from, None), Ok(true))
        });
        if !removed {
            self.context.clear_kv_cache();
        }
        removed
    }

    /// Forgets everything in every sequence.
    pub(super) fn forget_all(&mut self) {
        self.context.clear_kv_cache();
    }

    /// Makes `to` begin with the first `tokens` of `from`, and forgets what it had.
    pub(super) fn copy(&mut self, from: Sequence, to: Sequence, tokens: usize) -> Result<(), Cause> {
        if !self.forget_from(to, 0) {
            return Err(EngineError::Unforgetting.into());
        }
        if tokens > 0 {
            self.context.copy_kv_cache_seq(from.id(), to.id(), None, Some(u32::try_from(tokens)?))?;
        }
        Ok(())
    }

    /// Takes the tokens at `range` out of the state of `sequence`; those after them stay as they were read. Gives the
    /// position of the next token.
    pub(super) fn hide(&mut self, sequence: Sequence, range: &Range<usize>) -> Result<usize, Cause> {
        let (start, end) = (u32::try_from(range.start)?, u32::try_from(range.end)?);
        if !self.context.clear_kv_cache_seq(sequence.source(), Some(start), Some(end))? {
            return Err(EngineError::Unforgetting.into());
        }
        let last = self.context.kv_cache_seq_pos_max(sequence.id());
        Ok(usize::try_from(last + 1)?)
    }

    /// Adds `tokens` to the state of `sequence`, the first of them at `position`; `logits` says whose can be read
    /// afterwards.
    pub(super) fn decode(
        &mut self,
        sequence: Sequence,
        tokens: &[LlamaToken],
        position: usize,
        logits: Logits,
    ) -> Result<(), Cause> {
        let end = position + tokens.len();
        if tokens.is_empty() || tokens.len() > BATCH_TOKENS || end > self.context_tokens {
            let (tokens, context) = (tokens.len(), self.context_tokens);
            return Err(EngineError::BatchTooLong { tokens, position, batch: BATCH_TOKENS, context }.into());
        }
        self.batch.clear();
        for (place, token) in tokens.iter().enumerate() {
            let wanted = match logits {
                Logits::Last => place + 1 == tokens.len(),
                Logits::From(first) => place >= first,
            };
            self.batch.add(*token, i32::try_from(position + place)?, &[sequence.id()], wanted)?;
        }
        self.context.decode(&mut self.batch)?;
        Ok(())
    }

    /// The likeliest token after the one at `place` of the last call; of equals the one with the lowest id.
    pub(super) fn likeliest(&self, place: usize) -> Likeliest {
        let logits = self.context.get_logits_ith(i32::try_from(place).unwrap_or(i32::MAX));
        let (mut best, mut second) = ((0, f32::NEG_INFINITY), f32::NEG_INFINITY);
        for (token, logit) in (0..).zip(logits) {
            if *logit > best.1 {
                second = best.1;
                best = (token, *logit);
            } else if *logit > second {
                second = *logit;
            }
        }
        Likeliest { token: LlamaToken::new(best.0), margin: best.1 - second }
    }

    /// The logits of all words after the token at `place` of the last call.
    pub(super) fn logits(&self, place: usize) -> &[f32] {
        self.context.get_logits_ith(i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// The natural logarithm of the probability of `token` after the one at `place` of the last call.
    pub(super) fn log_probability(&self, place: usize, token: LlamaToken) -> f32 {
        let logits = self.context.get_logits_ith(i32::try_from(place).unwrap_or(i32::MAX));
        let chosen = usize::try_from(token.0).ok().and_then(|token| logits.get(token));
        let Some(chosen) = chosen else { return f32::NEG_INFINITY };
        // Relative to the largest, so that nothing overflows.
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|logit| f64::from((logit - largest).exp())).sum();
        (f64::from(chosen - largest) - sum.ln()) as f32
    }

    /// The token after the one at `place` of the last call, drawn by `sampler`, which learns of it.
    pub(super) fn sample(&self, sampler: &mut LlamaSampler, place: usize) -> LlamaToken {
        sampler.sample(&self.context, i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// Lets only tokens through with which the text can still fit a grammar (GBNF, its rule `root`).
    pub(super) fn grammar(&self, grammar: &str) -> Result<LlamaSampler, Cause> {
        Ok(LlamaSampler::grammar(&self.model, grammar, "root")?)
    }

    /// The place of the last token of the last call.
    pub(super) fn last_place(&self) -> usize {
        usize::try_from(self.batch.n_tokens()).unwrap_or(0).saturating_sub(1)
    }

    /// Whether the vocabulary has `token`.
    pub(super) fn knows(&self, token: LlamaToken) -> bool {
        (0..self.model.vocab().n_tokens()).contains(&token.0)
    }
}

enum LoadError {
    Ended,
    Refused(Cause),
}

fn load_weights(
    backend: &LlamaBackend,
    path: &Path,
    settings: &GeneratorSettings,
    mut progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
) -> Result<LlamaModel, LoadError> {
    let ended = std::rc::Rc::new(std::cell::Cell::new(false));
    let seen = std::rc::Rc::clone(&ended);
    let mut params = LlamaModelParams::default();
    if let Some(layers) = settings.gpu_layers {
        params = params.with_n_gpu_layers(layers);
    }
    let params = params.with_progress_callback(move |done| {
        let goes_on = progress(done).is_continue();
        seen.set(!goes_on);
        goes_on
    });
    LlamaModel::load_from_file(backend, path, &params)
        .map_err(|error| if ended.get() { LoadError::Ended } else { LoadError::Refused(error.into()) })
}

fn context_params(settings: &GeneratorSettings, context_tokens: usize) -> LlamaContextParams {
    let threads = if settings.threads == 0 { physical_cores() } else { settings.threads };
    let threads = i32::try_from(threads).unwrap_or(i32::MAX);
    let batch = u32::try_from(BATCH_TOKENS).unwrap_or(u32::MAX);
    LlamaContextParams::default()
        .with_n_ctx(u32::try_from(context_tokens + SPARE_CELLS).ok().and_then(NonZeroU32::new))
        .with_n_seq_max(u32::try_from(SEQUENCES).unwrap_or(1))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_kv_unified(true)
        .with_no_perf(true)
}
