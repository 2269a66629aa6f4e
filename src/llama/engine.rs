//! The weights and the context of llama.cpp.
//!
//! Takes tokens, gives logits. Owns the weights and the context that points into them; except for `kv_cache`, no other
//! module calls llama.cpp on them.
//! Invariants: the log is redirected before the backend starts; memory is checked before it is taken; a batch never
//! exceeds its capacity, a position never the context, a sequence never its [`Layout`]. Without a GPU, the logits after
//! a token depend bit for bit only on it and on the tokens before it in its sequence (with flash attention also on
//! which of these were prompt and which answer): not on the rest of the call, on the chunks, or on other sequences.
//! Draft calls ([`Phase::SingleToken`]) are exempt. This needs calls shaped by [`BatchPolicy`], an architecture with
//! partial removal and without experts and, where sequences share their memory, flash attention and enough cells to
//! keep each sequence in order.
//! Not here: the contents of sequences (`kv_cache`), which tokens are in which sequence (`Slots`), when to stop.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use rayon::prelude::*;

use super::abort::AbortHandle;
use super::batch_policy::{BatchPolicy, BatchRow, Padding, Phase};
use super::chunked_prefill::{self, PrefillChunk};
use super::kv_cache::KvCache;
use super::layout::Layout;
use super::load_params::{LoadError, context_params, load_weights};
use super::log;
use super::placement::{MemoryCheck, PlacementPlan};
use super::slots::SLOTS;
use ragonite_base::{CancelToken, Canceled};
use ragonite_inference::GeneratorSettings;
use ragonite_inference::{ChatTemplate, InferenceError, Placement, SpecialTokens};
use ragonite_inference::{largest, log_sum};

/// An error of llama.cpp.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Tokens of the first GPU calls, while the speed is not known.
const FIRST_GPU_CHUNK: usize = 64;

/// Maximum of prompt tokens in a mixed call without a GPU, and of all tokens in it: from 64 tokens on llama.cpp
/// computes attention in tiles, which rounds differently.
const MIXED_CHUNK: usize = 48;
const MIXED_BATCH: usize = 60;

/// llama.cpp's status of an aborted call.
const ABORTED: i32 = 2;

/// Minimum of context tokens; llama.cpp rounds smaller contexts up.
pub(super) const MIN_CONTEXT: usize = 256;

#[derive(Debug, thiserror::Error)]
pub(super) enum EngineError {
    #[error("llama.cpp could not be started")]
    Backend,
    #[error("a text of {0} bytes is more than llama.cpp takes")]
    TextTooLong(usize),
    #[error("{tokens} tokens at position {position} do not fit a batch of {batch} and a context of {context}")]
    BatchTooLong { tokens: usize, position: usize, batch: usize, context: usize },
    #[error(
        "the architecture of the model (recurrent, in part at least) cannot forget a part of what it has read; choose another model"
    )]
    NoPartialRemoval,
    #[error("sequences that do not lie one beside the other cannot be in one call")]
    NonContiguous,
    #[error("the call was ended")]
    Aborted,
    #[error("llama.cpp gave another state than it said")]
    State,
    #[error("llama.cpp refuses it: {0}")]
    Refused(String),
}

/// A sequence of the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence(pub(super) usize);

impl Sequence {
    /// The sequence for trials, which no slot uses.
    pub(super) const TRIAL: Self = Self(SLOTS);

    pub(super) fn id(self) -> i32 {
        i32::try_from(self.0).unwrap_or(0)
    }

    pub(super) fn source(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// The rows of a slice whose logits a call gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logits {
    /// No logits.
    None,
    /// The logits from this row on.
    From(usize),
}

/// Tokens that a call reads into one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSlice<'a> {
    pub(super) sequence: Sequence,
    pub(super) tokens: &'a [LlamaToken],
    /// Position of the first token.
    pub(super) position: usize,
    /// Rows whose logits are wanted, counted from the start of the slice.
    pub(super) logits: Logits,
}

/// The token with the highest logit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TopToken {
    pub(super) token: LlamaToken,
    /// Distance between the two best logits.
    pub(super) margin: f32,
}

/// Weights and context.
///
/// Field order is drop order: the context points into the model and the abort handle, so it is dropped first.
pub(super) struct Engine {
    pub(super) context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    model: Box<LlamaModel>,
    abort: AbortHandle,
    context_tokens: usize,
    pub(super) states: KvCache,
    /// Bytes of KV cache per token.
    pub(super) state_of_token: u64,
    kind: Kind,
    rows: BatchPolicy,
    placement: Option<Placement>,
    /// The prefill chunk size with a GPU, whose calls cannot be aborted.
    chunk: Option<PrefillChunk>,
    /// Tokens of the last call, without padding.
    read: usize,
}

/// The kind of device that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The processor alone.
    Processor,
    /// A GPU, for at least a part of the work.
    Gpu,
}

/// The process's llama.cpp backend; `model` is named in errors. llama.cpp allows one backend, which stays until the
/// process ends.
pub(super) fn backend(model: &str) -> Result<&'static LlamaBackend, InferenceError> {
    static BACKEND: OnceLock<Result<LlamaBackend, Option<PathBuf>>> = OnceLock::new();
    let start = || {
        log::redirect();
        #[cfg(feature = "portable")]
        super::kernels::load().map_err(Some)?;
        LlamaBackend::init().map_err(|_| None)
    };
    BACKEND.get_or_init(start).as_ref().map_err(|folder| match folder {
        Some(folder) => InferenceError::NoKernels { folder: folder.clone() },
        None => InferenceError::Load { model: model.to_owned(), source: EngineError::Backend.into() },
    })
}

impl Engine {
    /// `on_processor` is the batch policy without a GPU.
    pub(super) fn load(
        on_processor: BatchPolicy,
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        let refused = |source: Cause| InferenceError::Load { model: model.to_owned(), source };
        let plan = PlacementPlan::of(on_processor, model, path, settings)?;
        let backend = backend(model)?;
        let memory = MemoryCheck::checked(model, &plan, settings)?;
        let PlacementPlan { needed, placement, rows, layout } = plan;
        let kind = if placement.is_some() { Kind::Gpu } else { Kind::Processor };
        let (weights, errors) = log::collect_errors(|| load_weights(backend, path, placement.as_ref(), rows, progress));
        let weights = weights.map_err(|error| match error {
            LoadError::Ended => InferenceError::Canceled(Canceled),
            LoadError::Refused(source) => memory.why(&errors, source),
        })?;
        let model = Box::new(weights);
        if !supports_partial_removal(&model) {
            return Err(refused(EngineError::NoPartialRemoval.into()));
        }
        let trained = usize::try_from(model.n_ctx_train()).unwrap_or(usize::MAX);
        // Padding may lie behind the context, and some models know no positions behind those they were trained on.
        let known = if layout == Layout::Shared { trained } else { trained.saturating_sub(rows.max_padding()) };
        let context_tokens = settings.context_tokens.max(MIN_CONTEXT).min(known);
        let (abort, mut params) =
            (AbortHandle::new(), context_params(settings, context_tokens, placement.as_ref(), layout, rows));
        abort.install(&mut params);
        // The box keeps its address for the engine's life.
        let address: *const LlamaModel = &raw const *model;
        #[expect(unsafe_code, reason = "the context points into the boxed model, which `Engine` drops after it")]
        // SAFETY: `address` is valid and never mutated while `Engine` lives; fields drop in order, the context first;
        // neither field ever leaves `Engine`.
        let borrowed: &'static LlamaModel = unsafe { &*address };
        let (context, errors) = log::collect_errors(|| borrowed.new_context(backend, params));
        let context = context.map_err(|error| memory.why(&errors, error.into()))?;
        let cells = usize::try_from(context.n_ctx()).unwrap_or(0);
        let held = if layout == Layout::Shared { cells } else { cells / layout.sequences() };
        Ok(Self {
            context,
            batch: LlamaBatch::new(rows.max_prefill, 1),
            model,
            abort,
            context_tokens: context_tokens.min(held.saturating_sub(rows.max_padding())),
            states: KvCache::new(layout, cells, rows.max_padding()),
            state_of_token: needed.state / (cells as u64).max(1),
            kind,
            rows,
            placement,
            chunk: (kind == Kind::Gpu)
                .then(|| PrefillChunk::new(FIRST_GPU_CHUNK, rows.max_prefill, chunked_prefill::GPU_CALL_LIMIT)),
            read: 0,
        })
    }

    /// The part of the model that is on GPUs.
    pub(super) fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
    }

    pub(super) fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// Maximum of prompt tokens in one call; adapted with a GPU.
    pub(super) fn prefill_chunk(&self) -> usize {
        let alone = if self.rows.allows_mixed { MIXED_CHUNK } else { self.rows.max_prefill };
        self.chunk.map_or(alone, PrefillChunk::tokens)
    }

    /// Tokens for the next of several equally long calls, with `left` tokens left: a short call takes almost as long as
    /// a long one.
    pub(super) fn next_prefill_chunk(&self, left: usize) -> usize {
        BatchPolicy::share(left, self.prefill_chunk())
    }

    /// Aborts calls from now on once `cancel` is cancelled.
    pub(super) fn set_cancel(&self, cancel: &CancelToken) {
        self.abort.watch(cancel);
    }

    pub(super) fn batch_policy(&self) -> BatchPolicy {
        self.rows
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Maximum of tokens in a mixed call: a [`prefill_chunk`](Self::prefill_chunk) and the answers' tokens.
    pub(super) fn batch_limit(&self) -> usize {
        self.rows.max_prefill.min(self.prefill_chunk() + MIXED_BATCH - MIXED_CHUNK)
    }

    /// The template in the weights; its source is empty where they have none. `bos` is empty where neither the
    /// vocabulary asks for one nor the template names it, so that a renderer can always put a non-empty `bos` first.
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

    /// Token ids of `text` alone, without a begin-of-sequence token or a leading space.
    pub(super) fn tokenize(&self, text: &str, special: SpecialTokens) -> Result<Vec<LlamaToken>, Cause> {
        if i32::try_from(text.len()).is_err() {
            return Err(EngineError::TextTooLong(text.len()).into());
        }
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.model.vocab().tokenize(text.as_bytes(), false, special == SpecialTokens::Parse))
    }

    /// Bytes of a generated token; empty for a control token.
    pub(super) fn token_bytes(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, false, None)
    }

    /// Whether the model ends its turn with `token`.
    pub(super) fn is_end_of_generation(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// Reads `tokens` of an answer into `sequence`, the first at `position`; `logits` selects the rows that can be read
    /// afterwards.
    pub(super) fn decode(
        &mut self,
        sequence: Sequence,
        tokens: &[LlamaToken],
        position: usize,
        logits: Logits,
    ) -> Result<(), Cause> {
        self.decode_batch(Phase::Decode, &[BatchSlice { sequence, tokens, position, logits }])
    }

    /// Reads each slice into its sequence, in one call.
    pub(super) fn decode_batch(&mut self, call: Phase, pieces: &[BatchSlice<'_>]) -> Result<(), Cause> {
        let started = Instant::now();
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        let padding = self.padding(call, pieces)?;
        let filled: usize = padding.iter().map(|padding| padding.tokens).sum();
        self.check(pieces, all, &padding)?;
        let mut rows = Vec::with_capacity(all + filled);
        for BatchSlice { sequence, tokens, position, logits } in pieces {
            let wants_logits = |place| matches!(logits, Logits::From(first) if place >= *first);
            rows.extend((0..).zip(*tokens).map(|(place, token)| BatchRow {
                token: *token,
                position: position + place,
                sequence: *sequence,
                wants_logits: wants_logits(place),
            }));
        }
        self.rows.pad(call, &mut rows, &padding);
        self.batch.clear();
        for BatchRow { token, position, sequence, wants_logits } in rows {
            self.batch.add(token, i32::try_from(position)?, &[sequence.id()], wants_logits)?;
        }
        self.ensure_in_order(pieces, filled)?;
        self.context.decode(&mut self.batch).map_err(|error| match error {
            DecodeError::Unknown(ABORTED) if self.abort.is_requested() => Cause::from(EngineError::Aborted),
            error => error.into(),
        })?;
        self.states.record_batch(pieces);
        for Padding { sequence, position, tokens } in padding {
            self.states.record(sequence, tokens, position);
            if !self.remove_from(sequence, position) {
                return Err(EngineError::NoPartialRemoval.into());
            }
        }
        self.read = all;
        if let Some(chunk) = &mut self.chunk {
            chunk.observe(all, started.elapsed());
        }
        Ok(())
    }

    /// The padding for a call with these slices.
    fn padding(&self, call: Phase, pieces: &[BatchSlice<'_>]) -> Result<Vec<Padding>, EngineError> {
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.tokens.len()).collect();
        let padding = if let Some(sequence) = self.states.layout().padding() {
            vec![self.rows.padding(call, sequence, lengths.iter().sum())]
        } else {
            // llama.cpp computes KV memories that lie side by side in one operation, and others one after the other, so
            // that each of those has fewer tokens than the call.
            let adjacent = |pair: &[BatchSlice<'_>]| pair[0].sequence.0 + 1 == pair[1].sequence.0;
            if call != Phase::SingleToken && !pieces.windows(2).all(adjacent)
                || (call == Phase::Prefill && pieces.len() > 1)
            {
                return Err(EngineError::NonContiguous);
            }
            let even = self.rows.even(call, &lengths);
            let padding = |piece: &BatchSlice<'_>| Padding {
                sequence: piece.sequence,
                position: piece.position + piece.tokens.len(),
                tokens: even - piece.tokens.len(),
            };
            pieces.iter().map(padding).collect()
        };
        Ok(padding.into_iter().filter(|padding| padding.tokens > 0).collect())
    }

    /// Checks the limits for a call of `all` tokens and its padding.
    fn check(&self, pieces: &[BatchSlice<'_>], all: usize, padding: &[Padding]) -> Result<(), EngineError> {
        let (most, context) = (self.rows.max_prefill, self.context_tokens);
        let tokens = all + padding.iter().map(|padding| padding.tokens).sum::<usize>();
        let behind = context + self.rows.max_padding();
        let fits = |piece: &&BatchSlice<'_>| !piece.tokens.is_empty() && piece.position + piece.tokens.len() <= context;
        let is_long = tokens > most || padding.iter().any(|padding| padding.position + padding.tokens > behind);
        match pieces.iter().find(|piece| is_long || !fits(piece)) {
            Some(BatchSlice { position, .. }) => {
                Err(EngineError::BatchTooLong { tokens, position: *position, batch: most, context })
            }
            None => Ok(()),
        }
    }

    /// The likeliest token after row `row` of the last call; of equals the one with the lowest id.
    pub(super) fn top_token(&self, row: usize) -> TopToken {
        top_token(self.logits(row))
    }

    /// The logits after row `row` of the last call.
    pub(super) fn logits(&self, row: usize) -> &[f32] {
        self.context.get_logits_ith(i32::try_from(row).unwrap_or(i32::MAX))
    }

    /// Natural-log probability of `token` after row `row` of the last call; none with a GPU, where a pass over the
    /// vocabulary takes a large part of the time of a decode.
    pub(super) fn logprob(&self, row: usize, token: LlamaToken) -> Option<f32> {
        (self.kind == Kind::Processor).then(|| logprob_of(self.logits(row), token))
    }

    /// For each row and token, the token's natural-log probability after that row of the last call.
    ///
    /// With a GPU the vocabulary takes longer to go through than the model, so all processor cores share the work.
    pub(super) fn logprobs(&self, rows: impl Iterator<Item = (usize, LlamaToken)>) -> Vec<f32> {
        let rows: Vec<(&[f32], LlamaToken)> = rows.map(|(row, token)| (self.logits(row), token)).collect();
        rows.into_par_iter().map(|(logits, token)| logprob_of(logits, token)).collect()
    }

    /// The token that `sampler` draws after row `row` of the last call; the sampler records it.
    pub(super) fn sample(&self, sampler: &mut LlamaSampler, row: usize) -> LlamaToken {
        sampler.sample(&self.context, i32::try_from(row).unwrap_or(i32::MAX))
    }

    /// A sampler that lets only tokens through with which the text can still fit a GBNF grammar, whose root rule is
    /// `root`.
    pub(super) fn grammar(&self, grammar: &str) -> Result<LlamaSampler, Cause> {
        Ok(LlamaSampler::grammar(&self.model, grammar, "root")?)
    }

    /// Row of the last token of the last call.
    pub(super) fn last_row(&self) -> usize {
        self.read.saturating_sub(1)
    }

    pub(super) fn is_in_vocabulary(&self, token: LlamaToken) -> bool {
        (0..self.model.vocab().n_tokens()).contains(&token.0)
    }
}

/// Whether the KV cache can drop the end of a sequence and keep the rest; all reuse needs it.
fn supports_partial_removal(model: &LlamaModel) -> bool {
    !model.is_recurrent() && !model.is_hybrid()
}

fn logprob_of(logits: &[f32], token: LlamaToken) -> f32 {
    let chosen = usize::try_from(token.0).ok().and_then(|token| logits.get(token));
    chosen.map_or(f32::NEG_INFINITY, |chosen| (f64::from(*chosen) - log_sum(logits)) as f32)
}

/// The token with the highest logit; of equals the one with the lowest id.
pub(super) fn top_token(logits: &[f32]) -> TopToken {
    let best = largest(logits);
    let Some(at) = logits.iter().position(|logit| *logit >= best) else { return top_token_of(logits.iter().copied()) };
    let second = largest(&logits[..at]).max(largest(&logits[at + 1..]));
    TopToken { token: LlamaToken::new(i32::try_from(at).unwrap_or(i32::MAX)), margin: best - second }
}

/// The same for an iterator of logits.
pub(super) fn top_token_of(logits: impl Iterator<Item = f32>) -> TopToken {
    let (mut best, mut second) = ((0, f32::NEG_INFINITY), f32::NEG_INFINITY);
    for (token, logit) in (0..).zip(logits) {
        if logit > best.1 {
            second = best.1;
            best = (token, logit);
        } else if logit > second {
            second = logit;
        }
    }
    TopToken { token: LlamaToken::new(best.0), margin: best.1 - second }
}
