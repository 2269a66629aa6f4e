//! The only place that talks to llama.cpp.
//!
//! Takes token slices, gives logits. Owns the weights and the context that points into them.
//! Invariants: the log is diverted before the back end starts; memory is counted before it is taken; a batch never
//! exceeds its capacity, a position never the context, a sequence never [`SEQUENCES`]; without a GPU the logits after a
//! token depend, to the last bit, only on it, on those before it in its sequence, and on which of these were read and which
//! written; not on what else a call has, on the pieces in which they were read or on where in the context they lie. This
//! needs flash attention, calls as [`Rows`] has them, an architecture that can forget a part and has no experts, and cells
//! enough to keep each sequence in order.
//! Not here: which tokens are in which sequence (`Slots`), when to stop.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::cells::Cells;
use super::gguf::{GgufError, Shape};
use super::loading::{LoadError, context_params, load_weights, threads};
use super::log::{self, Errors};
use super::pace::{self, Pace};
use super::rows::{Call, Row, Rows, fill_up};
use super::slots::SLOTS;
use super::together::TOGETHER;
use super::{GeneratorSettings, needs};
use crate::base::Canceled;
use crate::inference::compare::log_sum;
use crate::inference::memory::{address_space_left, address_space_of, check_address_space};
use crate::inference::{ChatTemplate, InferenceError, MemoryNeeds, Placement, Special, available_memory};

/// What llama.cpp says.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Most tokens llama.cpp takes in one call; more would end the process.
pub(super) const BATCH_TOKENS: usize = 512;

/// Tokens of the first calls with a GPU, as long as it is not known what share of the work it does.
const FIRST_GPU_STEP: usize = 64;

/// Most tokens of a prompt that are read in one call without a GPU, and with those of answers beside them: from 64 on
/// llama.cpp computes attention in tiles, which rounds otherwise, for a fifth more speed.
const CPU_STEP: usize = 48;
const CPU_CALL: usize = 60;

/// Sequences whose states are told apart: the slots, one to try things out, those of answers that are written at the
/// same time, with the prompt that is read meanwhile, what nobody needs any more and what fills up a call.
pub(super) const SEQUENCES: usize = SLOTS + 1 + TOGETHER + 1 + 2;

/// Cells of the state beyond the longest prompt, so that a second, shorter one can stay beside it.
pub(super) const SPARE_CELLS: usize = 1024;

/// Smallest context that is of any use; llama.cpp rounds smaller ones up anyway.
const SMALLEST_CONTEXT: usize = 256;

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
    Unforgetting,
    #[error("llama.cpp gave another state than it said")]
    State,
    #[error("llama.cpp refuses it: {0}")]
    Refused(String),
}

/// A state of its own in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence(pub(super) usize);

impl Sequence {
    /// The one that no slot uses.
    pub(super) const TRIAL: Self = Self(SLOTS);

    /// What fills up a call; empty between calls.
    const FILLER: Self = Self(SEQUENCES - 1);

    /// What nobody needs any more, and stays where it is for the order of the others.
    const WASTE: Self = Self(SEQUENCES - 2);

    /// Those of answers that are written at the same time.
    pub(super) fn of_together() -> Vec<Self> {
        (SLOTS + 1..SEQUENCES - 2).map(Self).collect()
    }

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
    /// Nobody's.
    None,
    /// Those of this place in the call and of every one after it.
    From(usize),
}

/// What a call of llama.cpp reads into one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
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
    cells: Cells,
    /// Cells that may be used.
    usable: usize,
    kind: Kind,
    rows: Rows,
    placement: Option<Placement>,
    pace: Pace,
    /// Tokens of the last call, without what filled it up.
    read: usize,
}

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Processor,
    Gpu,
}

/// The process's llama.cpp back end for `model`; llama.cpp allows one, and it stays until the process ends.
pub(super) fn backend(model: &str) -> Result<&'static LlamaBackend, InferenceError> {
    static BACKEND: OnceLock<Result<LlamaBackend, Option<PathBuf>>> = OnceLock::new();
    let start = || {
        log::divert();
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
        on_processor: Rows,
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        let refused = |source: Cause| InferenceError::Load { model: model.to_owned(), source };
        let (all, placement) = Self::placed(model, path, settings)?;
        let needed = placement.as_ref().map_or(all, |placement| placement.beside(&all));
        let space = Self::address_space(&needed, settings);
        let short = |needed, available| match address_space_left() {
            Some(left) if left < space => {
                InferenceError::OutOfAddressSpace { model: model.to_owned(), needed: space, left }
            }
            _ => InferenceError::OutOfMemory { model: model.to_owned(), needed, available },
        };
        let backend = backend(model)?;
        let (kind, rows) = if placement.is_some() { (Kind::Gpu, Rows::GPU) } else { (Kind::Processor, on_processor) };
        // A GPU's own memory is mapped into the address space, however little of it is used.
        if placement.is_none() {
            check_address_space(model, space)?;
        }
        if let Some(available) = available_memory().filter(|available| *available < needed.total()) {
            return Err(short(needed, Some(available)));
        }
        let failed = |errors: &Errors, source: Cause| {
            if errors.ran_out_of_memory() {
                return short(if placement.is_some() { all } else { needed }, available_memory());
            }
            refused(errors.reason().map_or(source, |reason| EngineError::Refused(reason).into()))
        };
        let (weights, errors) = log::heard(|| load_weights(backend, path, placement.as_ref(), rows, progress));
        let weights = weights.map_err(|error| match error {
            LoadError::Ended => InferenceError::Canceled(Canceled),
            LoadError::Refused(source) => failed(&errors, source),
        })?;
        let model = Box::new(weights);
        if !can_forget_a_part(&model) {
            return Err(refused(EngineError::Unforgetting.into()));
        }
        let trained = usize::try_from(model.n_ctx_train()).unwrap_or(usize::MAX);
        let context_tokens = settings.context_tokens.max(SMALLEST_CONTEXT).min(trained);
        let params = context_params(settings, context_tokens, placement.as_ref());
        // The box keeps its address for the engine's life.
        let address: *const LlamaModel = &raw const *model;
        #[expect(unsafe_code, reason = "the context points into the boxed model, which `Engine` drops after it")]
        // SAFETY: `address` is valid and never mutated while `Engine` lives; fields drop in order, the context first;
        // neither field ever leaves `Engine`.
        let borrowed: &'static LlamaModel = unsafe { &*address };
        let (context, errors) = log::heard(|| borrowed.new_context(backend, params));
        let context = context.map_err(|error| failed(&errors, error.into()))?;
        let held = usize::try_from(context.n_ctx()).unwrap_or(0);
        Ok(Self {
            context,
            batch: LlamaBatch::new(BATCH_TOKENS, 1),
            model,
            context_tokens: context_tokens.min(held),
            cells: Cells::new(held),
            usable: held.saturating_sub(rows.most_filled()),
            kind,
            rows,
            placement,
            pace: match kind {
                Kind::Gpu => Pace::new(FIRST_GPU_STEP, BATCH_TOKENS, pace::ON_GPU),
                Kind::Processor => Pace::new(CPU_STEP, CPU_STEP, pace::ON_PROCESSOR),
            },
            read: 0,
        })
    }

    /// Memory the weights at `path` take with these settings, and what of them goes onto GPUs.
    pub(super) fn placed(
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
    ) -> Result<(MemoryNeeds, Option<Placement>), InferenceError> {
        let shape = Shape::read(path).map_err(|error| match error {
            GgufError::Io(source) => InferenceError::Read { path: path.to_owned(), source },
            error => InferenceError::Load { model: model.to_owned(), source: error.into() },
        })?;
        let context = (settings.context_tokens.max(SMALLEST_CONTEXT) as u64).min(shape.trained);
        let cells = context.saturating_add(SPARE_CELLS as u64);
        let needed = needs::needs(&shape, settings, cells, BATCH_TOKENS as u64);
        let gpus = settings.device().gpus()?;
        Ok((needed, Placement::of(&needed, shape.layers, &gpus, settings.gpu_layers)))
    }

    /// What of the model is on GPUs.
    pub(super) fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
    }

    /// Address space that a model with these needs takes.
    pub(super) fn address_space(needed: &MemoryNeeds, settings: &GeneratorSettings) -> u64 {
        address_space_of(needed.weights, needed.state.saturating_add(needed.work), threads(settings))
    }

    /// Tokens that fit the context.
    pub(super) fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// Tokens to read in one call: fewer where they take long, so that work can be ended in time.
    pub(super) fn read_step(&self) -> usize {
        self.pace.step()
    }

    /// How calls are made.
    pub(super) fn rows(&self) -> Rows {
        self.rows
    }

    /// Tokens of a call in which a prompt is read and answers are written: [`read_step`](Self::read_step) and the answers'
    /// own, or less.
    pub(super) fn call_limit(&self) -> usize {
        BATCH_TOKENS.min(self.read_step() + CPU_CALL - CPU_STEP)
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
        self.usable
    }

    /// Tokens that all sequences may have more than they have, copies counted once.
    pub(super) fn free_cells(&self) -> usize {
        (self.usable + self.cells.free()).saturating_sub(self.cells.all())
    }

    /// Plans as if all sequences together had no more than this.
    #[cfg(test)]
    pub(super) fn pretend_cells(&mut self, cells: usize) {
        self.usable = cells;
    }

    /// Forgets the state of `sequence` from position `keep` on. False where the architecture cannot forget a part, in
    /// which case everything is forgotten, in every sequence.
    pub(super) fn forget_from(&mut self, sequence: Sequence, keep: usize) -> bool {
        let removed = u32::try_from(keep).is_ok_and(|keep| {
            let from = (keep > 0).then_some(keep);
            matches!(self.context.clear_kv_cache_seq(sequence.source(), from, None), Ok(true))
        });
        if removed {
            self.cells.forget(sequence, keep..usize::MAX);
        } else {
            self.forget_all();
        }
        removed
    }

    /// Forgets everything in every sequence.
    pub(super) fn forget_all(&mut self) {
        self.context.clear_kv_cache();
        self.cells.clear();
    }

    /// As [`forget_from`](Self::forget_from), without making room: what is read into other sequences next would come to
    /// lie in front of what they have. The room is there after [`forget_waste`](Self::forget_waste).
    pub(super) fn give_up_from(&mut self, sequence: Sequence, keep: usize) -> bool {
        let source = u32::try_from(keep).ok();
        let (from, waste) = (sequence.id(), Sequence::WASTE);
        if self.kind == Kind::Processor && self.context.copy_kv_cache_seq(from, waste.id(), source, None).is_ok() {
            self.cells.copy(sequence, waste, keep..usize::MAX);
        }
        self.forget_from(sequence, keep)
    }

    /// Makes room of what was given up.
    pub(super) fn forget_waste(&mut self) -> bool {
        self.forget_from(Sequence::WASTE, 0)
    }

    /// Makes `to` begin with the first `tokens` of `from`, and forgets what it had.
    pub(super) fn copy(&mut self, from: Sequence, to: Sequence, tokens: usize) -> Result<(), Cause> {
        if !self.forget_from(to, 0) {
            return Err(EngineError::Unforgetting.into());
        }
        if tokens > 0 {
            self.context.copy_kv_cache_seq(from.id(), to.id(), None, Some(u32::try_from(tokens)?))?;
            self.cells.copy(from, to, 0..tokens);
        }
        Ok(())
    }

    /// Whether what a sequence holds is the same to the last bit wherever and however it was read, so that its state can be
    /// given to a later run.
    pub(super) fn keeps_states(&self) -> bool {
        self.kind == Kind::Processor
    }

    /// The state of the first `tokens` tokens of `sequence`.
    pub(super) fn state(&mut self, sequence: Sequence, tokens: usize) -> Result<Vec<u8>, Cause> {
        let (whole, trial) = (LlamaStateSeqFlags::empty(), Sequence::TRIAL);
        self.copy(sequence, trial, tokens)?;
        let mut state = vec![0; self.context.state_seq_get_size_ext(trial.id(), whole)];
        #[expect(unsafe_code, reason = "the safe way gives no bytes that could be kept")]
        // SAFETY: llama.cpp writes as many bytes as it said it would; nothing happened to the context in between.
        let written = unsafe { self.context.state_seq_get_data_ext(state.as_mut_ptr(), trial.id(), whole) };
        if !self.forget_from(trial, 0) || written != state.len() {
            return Err(EngineError::State.into());
        }
        Ok(state)
    }

    /// Makes `sequence` hold so many tokens by a state that [`state`](Self::state) gave, in whichever run, of an engine of
    /// the same weights, settings and build. False where llama.cpp refuses it; then the sequence holds nothing.
    pub(super) fn restore(&mut self, sequence: Sequence, tokens: usize, state: &[u8]) -> bool {
        let ready = self.forget_from(sequence, 0) && self.free_cells() >= tokens;
        #[expect(unsafe_code, reason = "the safe way takes no bytes that were kept")]
        // SAFETY: whoever calls vouches for the bytes; llama.cpp itself checks its way through them.
        let read =
            ready && unsafe { self.context.state_seq_set_data_ext(state, sequence.id(), LlamaStateSeqFlags::empty()) };
        let last = self.context.kv_cache_seq_pos_max(sequence.id());
        if read && usize::try_from(last + 1).is_ok_and(|held| held == tokens) {
            self.cells.read(sequence, tokens, 0);
            return true;
        }
        self.forget_from(sequence, 0);
        false
    }

    /// Closes the gaps that forgetting left.
    pub(super) fn close_gaps(&mut self) -> Result<(), Cause> {
        if self.kind == Kind::Processor && self.cells.have_gaps() { self.move_together(&[], 0) } else { Ok(()) }
    }

    /// Moves the states of all sequences to the front, those of `last` behind the others. What they share is there for
    /// each of them afterwards; where that leaves no room for the `coming` tokens, everything stays where it is.
    fn move_together(&mut self, last: &[Sequence], coming: usize) -> Result<(), Cause> {
        let all = (0..SEQUENCES - 2).map(Sequence).map(|sequence| (sequence, self.cells.positions(sequence)));
        let mut all: Vec<(Sequence, Vec<usize>)> = all.filter(|(_, positions)| !positions.is_empty()).collect();
        if all.iter().map(|(_, positions)| positions.len()).sum::<usize>() + coming > self.cells.all() {
            return Ok(());
        }
        all.sort_by_key(|(sequence, _)| last.contains(sequence));
        let state =
            |(sequence, _): &(Sequence, _)| self.context.state_seq_get(sequence.id(), LlamaStateSeqFlags::empty());
        let states = all.iter().map(state).collect::<Result<Vec<_>, _>>()?;
        self.forget_all();
        for ((sequence, positions), state) in all.iter().zip(&states) {
            self.context.state_seq_set(state, sequence.id())?;
            for position in positions {
                self.cells.read(*sequence, 1, *position);
            }
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
        self.cells.forget(sequence, range.clone());
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
        self.decode_pieces(Call::Reading, &[Piece { sequence, tokens, position, logits }])
    }

    /// Adds each piece to the state of its sequence, in one call.
    pub(super) fn decode_pieces(&mut self, call: Call, pieces: &[Piece<'_>]) -> Result<(), Cause> {
        let started = Instant::now();
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        let most = if call == Call::Writing && !self.rows.mixes { self.rows.most_written } else { BATCH_TOKENS };
        let mut rows = Vec::with_capacity(all + self.rows.most_filled());
        for piece in pieces {
            let Piece { sequence, tokens, position, logits } = *piece;
            if tokens.is_empty() || all > most || position + tokens.len() > self.context_tokens {
                let (batch, context) = (most, self.context_tokens);
                return Err(EngineError::BatchTooLong { tokens: all, position, batch, context }.into());
            }
            rows.extend(tokens.iter().enumerate().map(|(place, token)| Row {
                token: *token,
                position: position + place,
                sequence,
                wants_logits: match logits {
                    Logits::None => false,
                    Logits::From(first) => place >= first,
                },
            }));
        }
        let filled = fill_up(&mut rows, Sequence::FILLER, self.rows.multiple(call));
        self.batch.clear();
        for Row { token, position, sequence, wants_logits } in rows {
            self.batch.add(token, i32::try_from(position)?, &[sequence.id()], wants_logits)?;
        }
        let lengths = pieces.iter().map(|piece| (piece.sequence, piece.tokens.len()));
        if self.kind == Kind::Processor && !self.cells.stay_in_order(lengths) {
            self.move_together(&pieces.iter().map(|piece| piece.sequence).collect::<Vec<_>>(), all + filled)?;
        }
        self.context.decode(&mut self.batch)?;
        for Piece { sequence, tokens, position, .. } in pieces {
            self.cells.read(*sequence, tokens.len(), *position);
        }
        self.cells.read(Sequence::FILLER, filled, 0);
        if filled > 0 && !self.forget_from(Sequence::FILLER, 0) {
            return Err(EngineError::Unforgetting.into());
        }
        self.read = all;
        self.pace.hear(all, started.elapsed());
        Ok(())
    }

    /// The likeliest token after the one at `place` of the last call; of equals the one with the lowest id.
    pub(super) fn likeliest(&self, place: usize) -> Likeliest {
        likeliest(self.logits(place).iter().copied())
    }

    /// The logits of all words after the token at `place` of the last call.
    pub(super) fn logits(&self, place: usize) -> &[f32] {
        self.context.get_logits_ith(i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// The natural logarithm of the probability of `token` after the one at `place` of the last call.
    pub(super) fn log_probability(&self, place: usize, token: LlamaToken) -> f32 {
        let logits = self.logits(place);
        let chosen = usize::try_from(token.0).ok().and_then(|token| logits.get(token));
        let Some(chosen) = chosen else { return f32::NEG_INFINITY };
        (f64::from(*chosen) - log_sum(logits)) as f32
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
        self.read.saturating_sub(1)
    }

    /// Whether the vocabulary has `token`.
    pub(super) fn knows(&self, token: LlamaToken) -> bool {
        (0..self.model.vocab().n_tokens()).contains(&token.0)
    }
}

/// Whether the architecture can forget the end of what it has read and keep the rest; all reuse is built on it.
fn can_forget_a_part(model: &LlamaModel) -> bool {
    !model.is_recurrent() && !model.is_hybrid()
}

/// The token with the highest of these logits; of equals the one with the lowest id.
pub(super) fn likeliest(logits: impl Iterator<Item = f32>) -> Likeliest {
    let (mut best, mut second) = ((0, f32::NEG_INFINITY), f32::NEG_INFINITY);
    for (token, logit) in (0..).zip(logits) {
        if logit > best.1 {
            second = best.1;
            best = (token, logit);
        } else if logit > second {
            second = logit;
        }
    }
    Likeliest { token: LlamaToken::new(best.0), margin: best.1 - second }
}
