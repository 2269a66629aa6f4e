//! Weights and context of llama.cpp.
//!
//! Takes token slices, gives logits. Owns the weights and the context that points into them; nothing else talks to
//! them, but for what sequences hold.
//! Invariants: the log is diverted before the back end starts; memory is counted before it is taken; a batch never
//! exceeds its capacity, a position never the context, a sequence never those of its [`Layout`]; without a GPU the
//! logits after a token depend, to the last bit, only on it and on those before it in its sequence (and, with flash
//! attention, on which of these were read and which written); not on what else a call has, on the pieces in which they
//! were read or on what other sequences hold. Sketches are apart: nothing depends on them. This needs calls as [`BatchPolicy`]
//! has them, an architecture that can forget a part and has no experts, and, where sequences share their memory, flash
//! attention and cells enough to keep each in order.
//! Not here: what sequences hold (`kv_cache`), which tokens are in which sequence (`Slots`), when to stop.

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

/// What llama.cpp says.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Tokens of the first calls with a GPU, as long as it is not known what share of the work it does.
const FIRST_GPU_CHUNK: usize = 64;

/// Most tokens of a prompt that are read in one call without a GPU where answers are written in the same call, and with
/// those: from 64 on llama.cpp computes attention in tiles, which rounds otherwise.
const MIXED_CHUNK: usize = 48;
const MIXED_BATCH: usize = 60;

/// What llama.cpp says of a call that was ended.
const ABORTED: i32 = 2;

/// Smallest context that is of any use; llama.cpp rounds smaller ones up anyway.
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

/// A state of its own in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence(pub(super) usize);

impl Sequence {
    /// The one to try things out, which no slot uses.
    pub(super) const TRIAL: Self = Self(SLOTS);

    pub(super) fn id(self) -> i32 {
        i32::try_from(self.0).unwrap_or(0)
    }

    pub(super) fn source(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// Whose logits a call of llama.cpp gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logits {
    /// Nobody's.
    None,
    /// Those of this place in the call and of every one after it.
    From(usize),
}

/// What a call of llama.cpp reads into one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSlice<'a> {
    /// The sequence.
    pub(super) sequence: Sequence,
    /// The tokens.
    pub(super) tokens: &'a [LlamaToken],
    /// The position of the first.
    pub(super) position: usize,
    /// Whose logits are wanted, by their place in the piece.
    pub(super) logits: Logits,
}

/// The token with the highest logit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TopToken {
    /// The token.
    pub(super) token: LlamaToken,
    /// How far its logit is above the next one.
    pub(super) margin: f32,
}

/// Weights and context.
///
/// Field order is drop order: the context points into the model and to who may end its calls, and goes first.
pub(super) struct Engine {
    pub(super) context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    model: Box<LlamaModel>,
    ending: AbortHandle,
    context_tokens: usize,
    pub(super) states: KvCache,
    /// Bytes of the state of a token.
    pub(super) state_of_token: u64,
    kind: Kind,
    rows: BatchPolicy,
    placement: Option<Placement>,
    /// How many tokens of a prompt are read in one call, where nothing ends it.
    pace: Option<PrefillChunk>,
    /// Tokens of the last call, without what filled it up.
    read: usize,
}

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but the processor.
    Processor,
    /// A GPU, for part of the work at least.
    Gpu,
}

/// The process's llama.cpp back end for `model`; llama.cpp allows one, and it stays until the process ends.
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
    /// `on_processor` is for calls where no GPU computes.
    pub(super) fn load(
        on_processor: BatchPolicy,
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        let refused = |source: Cause| InferenceError::Load { model: model.to_owned(), source };
        let placed = PlacementPlan::of(on_processor, model, path, settings)?;
        let backend = backend(model)?;
        let room = MemoryCheck::checked(model, &placed, settings)?;
        let PlacementPlan { needed, placement, rows, layout } = placed;
        let kind = if placement.is_some() { Kind::Gpu } else { Kind::Processor };
        let (weights, errors) = log::collect_errors(|| load_weights(backend, path, placement.as_ref(), rows, progress));
        let weights = weights.map_err(|error| match error {
            LoadError::Ended => InferenceError::Canceled(Canceled),
            LoadError::Refused(source) => room.why(&errors, source),
        })?;
        let model = Box::new(weights);
        if !supports_partial_removal(&model) {
            return Err(refused(EngineError::NoPartialRemoval.into()));
        }
        let trained = usize::try_from(model.n_ctx_train()).unwrap_or(usize::MAX);
        // What fills up a call may lie behind the context, and some models know no position behind those they learned.
        let known = if layout == Layout::Shared { trained } else { trained.saturating_sub(rows.max_padding()) };
        let context_tokens = settings.context_tokens.max(MIN_CONTEXT).min(known);
        let (ending, mut params) =
            (AbortHandle::new(), context_params(settings, context_tokens, placement.as_ref(), (layout, rows)));
        ending.install(&mut params);
        // The box keeps its address for the engine's life.
        let address: *const LlamaModel = &raw const *model;
        #[expect(unsafe_code, reason = "the context points into the boxed model, which `Engine` drops after it")]
        // SAFETY: `address` is valid and never mutated while `ModelManager` lives; fields drop in order, the context first;
        // neither field ever leaves `ModelManager`.
        let borrowed: &'static LlamaModel = unsafe { &*address };
        let (context, errors) = log::collect_errors(|| borrowed.new_context(backend, params));
        let context = context.map_err(|error| room.why(&errors, error.into()))?;
        let cells = usize::try_from(context.n_ctx()).unwrap_or(0);
        let held = if layout == Layout::Shared { cells } else { cells / layout.sequences() };
        Ok(Self {
            context,
            batch: LlamaBatch::new(rows.max_prefill, 1),
            model,
            ending,
            context_tokens: context_tokens.min(held.saturating_sub(rows.max_padding())),
            states: KvCache::new(layout, cells, rows.max_padding()),
            state_of_token: needed.state / (cells as u64).max(1),
            kind,
            rows,
            placement,
            pace: (kind == Kind::Gpu)
                .then(|| PrefillChunk::new(FIRST_GPU_CHUNK, rows.max_prefill, chunked_prefill::GPU_CALL_LIMIT)),
            read: 0,
        })
    }

    /// What of the model is on GPUs.
    pub(super) fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
    }

    /// Tokens that fit the context.
    pub(super) fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// Tokens to read in one call. With a GPU fewer where they take long, since only between calls work can be ended.
    pub(super) fn prefill_chunk(&self) -> usize {
        let alone = if self.rows.allows_mixed { MIXED_CHUNK } else { self.rows.max_prefill };
        self.pace.map_or(alone, PrefillChunk::tokens)
    }

    /// Tokens of a prompt to read in the next call where so many are left: the calls are alike, since one of few tokens
    /// takes almost as long as one of many.
    pub(super) fn next_prefill_chunk(&self, left: usize) -> usize {
        BatchPolicy::share(left, self.prefill_chunk())
    }

    /// Ends calls from now on once `cancel` is cancelled.
    pub(super) fn set_cancel(&self, cancel: &CancelToken) {
        self.ending.watch(cancel);
    }

    /// How calls are made.
    pub(super) fn batch_policy(&self) -> BatchPolicy {
        self.rows
    }

    /// What computes.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Tokens of a call in which a prompt is read and answers are written: [`prefill_chunk`](Self::read_step) and the
    /// answers' own, or less.
    pub(super) fn batch_limit(&self) -> usize {
        self.rows.max_prefill.min(self.prefill_chunk() + MIXED_BATCH - MIXED_CHUNK)
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
    pub(super) fn tokenize(&self, text: &str, special: SpecialTokens) -> Result<Vec<LlamaToken>, Cause> {
        if i32::try_from(text.len()).is_err() {
            return Err(EngineError::TextTooLong(text.len()).into());
        }
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.model.vocab().tokenize(text.as_bytes(), false, special == SpecialTokens::Parse))
    }

    /// Text of a generated token; a control token has none.
    pub(super) fn token_bytes(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, false, None)
    }

    /// Whether the model ends its turn with `token`.
    pub(super) fn is_end_of_generation(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// Adds `tokens`, of an answer that is judged, to the state of `sequence`, the first of them at `position`;
    /// `logits` says whose can be read afterwards.
    pub(super) fn decode(
        &mut self,
        sequence: Sequence,
        tokens: &[LlamaToken],
        position: usize,
        logits: Logits,
    ) -> Result<(), Cause> {
        self.decode_batch(Phase::Decode, &[BatchSlice { sequence, tokens, position, logits }])
    }

    /// Adds each piece to the state of its sequence, in one call.
    pub(super) fn decode_batch(&mut self, call: Phase, pieces: &[BatchSlice<'_>]) -> Result<(), Cause> {
        let started = Instant::now();
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        let filler = self.padding(call, pieces)?;
        let filled: usize = filler.iter().map(|filler| filler.tokens).sum();
        self.check(pieces, all, &filler)?;
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
        self.rows.pad(call, &mut rows, &filler);
        self.batch.clear();
        for BatchRow { token, position, sequence, wants_logits } in rows {
            self.batch.add(token, i32::try_from(position)?, &[sequence.id()], wants_logits)?;
        }
        self.ensure_in_order(pieces, filled)?;
        self.context.decode(&mut self.batch).map_err(|error| match error {
            DecodeError::Unknown(ABORTED) if self.ending.is_requested() => Cause::from(EngineError::Aborted),
            error => error.into(),
        })?;
        self.states.record_batch(pieces);
        for Padding { sequence, position, tokens } in filler {
            self.states.record(sequence, tokens, position);
            if !self.remove_from(sequence, position) {
                return Err(EngineError::NoPartialRemoval.into());
            }
        }
        self.read = all;
        if let Some(pace) = &mut self.pace {
            pace.observe(all, started.elapsed());
        }
        Ok(())
    }

    /// What fills up a call with these pieces.
    fn padding(&self, call: Phase, pieces: &[BatchSlice<'_>]) -> Result<Vec<Padding>, EngineError> {
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.tokens.len()).collect();
        let filler = if let Some(sequence) = self.states.layout().padding() {
            vec![self.rows.padding(call, sequence, lengths.iter().sum())]
        } else {
            // llama.cpp computes memories that lie side by side in one go, and any others one after the other, so that
            // each has fewer tokens than the call.
            let beside = |pair: &[BatchSlice<'_>]| pair[0].sequence.0 + 1 == pair[1].sequence.0;
            if call != Phase::SingleToken && !pieces.windows(2).all(beside)
                || (call == Phase::Prefill && pieces.len() > 1)
            {
                return Err(EngineError::NonContiguous);
            }
            let even = self.rows.even(call, &lengths);
            let filler = |piece: &BatchSlice<'_>| Padding {
                sequence: piece.sequence,
                position: piece.position + piece.tokens.len(),
                tokens: even - piece.tokens.len(),
            };
            pieces.iter().map(filler).collect()
        };
        Ok(filler.into_iter().filter(|filler| filler.tokens > 0).collect())
    }

    /// Checks that a call can be made, of `all` tokens and what fills it up.
    fn check(&self, pieces: &[BatchSlice<'_>], all: usize, filler: &[Padding]) -> Result<(), EngineError> {
        let (most, context) = (self.rows.max_prefill, self.context_tokens);
        let tokens = all + filler.iter().map(|filler| filler.tokens).sum::<usize>();
        let behind = context + self.rows.max_padding();
        let fits = |piece: &&BatchSlice<'_>| !piece.tokens.is_empty() && piece.position + piece.tokens.len() <= context;
        let is_long = tokens > most || filler.iter().any(|filler| filler.position + filler.tokens > behind);
        match pieces.iter().find(|piece| is_long || !fits(piece)) {
            Some(BatchSlice { position, .. }) => {
                Err(EngineError::BatchTooLong { tokens, position: *position, batch: most, context })
            }
            None => Ok(()),
        }
    }

    /// The likeliest token after the one at `row` of the last call; of equals the one with the lowest id.
    pub(super) fn top_token(&self, place: usize) -> TopToken {
        top_token(self.logits(place))
    }

    /// The logits of all words after the token at `row` of the last call.
    pub(super) fn logits(&self, place: usize) -> &[f32] {
        self.context.get_logits_ith(i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// The natural logarithm of the probability of `token` after the one at `row` of the last call, where it is had for
    /// nothing. Beside a GPU a word is written in the time of a few such looks at the whole vocabulary.
    pub(super) fn logprob(&self, place: usize, token: LlamaToken) -> Option<f32> {
        (self.kind == Kind::Processor).then(|| logprob_of(self.logits(place), token))
    }

    /// For each place of the last call with a token the natural logarithm of the probability of the token after it.
    ///
    /// Beside a GPU the vocabulary takes longer to go through than the model, so all processors do it.
    pub(super) fn logprobs(&self, places: impl Iterator<Item = (usize, LlamaToken)>) -> Vec<f32> {
        let rows: Vec<(&[f32], LlamaToken)> = places.map(|(place, token)| (self.logits(place), token)).collect();
        rows.into_par_iter().map(|(logits, token)| logprob_of(logits, token)).collect()
    }

    /// The token after the one at `row` of the last call, drawn by `sampler`, which learns of it.
    pub(super) fn sample(&self, sampler: &mut LlamaSampler, place: usize) -> LlamaToken {
        sampler.sample(&self.context, i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// Lets only tokens through with which the text can still fit a grammar (GBNF, its rule `root`).
    pub(super) fn grammar(&self, grammar: &str) -> Result<LlamaSampler, Cause> {
        Ok(LlamaSampler::grammar(&self.model, grammar, "root")?)
    }

    /// The place of the last token of the last call.
    pub(super) fn last_row(&self) -> usize {
        self.read.saturating_sub(1)
    }

    /// Whether the vocabulary has `token`.
    pub(super) fn is_in_vocabulary(&self, token: LlamaToken) -> bool {
        (0..self.model.vocab().n_tokens()).contains(&token.0)
    }
}

/// Whether the architecture can forget the end of what it has read and keep the rest; all reuse is built on it.
fn supports_partial_removal(model: &LlamaModel) -> bool {
    !model.is_recurrent() && !model.is_hybrid()
}

fn logprob_of(logits: &[f32], token: LlamaToken) -> f32 {
    let chosen = usize::try_from(token.0).ok().and_then(|token| logits.get(token));
    chosen.map_or(f32::NEG_INFINITY, |chosen| (f64::from(*chosen) - log_sum(logits)) as f32)
}

/// The token with the highest of these logits; of equals the one with the lowest id.
pub(super) fn top_token(logits: &[f32]) -> TopToken {
    let best = largest(logits);
    let Some(at) = logits.iter().position(|logit| *logit >= best) else { return top_token_of(logits.iter().copied()) };
    let second = largest(&logits[..at]).max(largest(&logits[at + 1..]));
    TopToken { token: LlamaToken::new(i32::try_from(at).unwrap_or(i32::MAX)), margin: best - second }
}

/// The same of numbers that are worked out one after the other.
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
