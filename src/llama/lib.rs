//! Text generation with llama.cpp.
//!
//! Takes a GGUF file, gives a [`Generate`]. The KV cache keeps the last prompts, so that the next one is read only from
//! where it differs; the prefix cache keeps the state of the instructions on disk for later runs.
//! Invariants: every limit is checked before llama.cpp could assert, which would end the process; nothing is printed;
//! `slots` names exactly the tokens whose state is in the context, also after a cancellation or a failure.
//! Not here: rendering the chat template and the token budget (`prompt`), cleaning the text (`answer`).

mod abort;
mod batch_decode;
mod batch_policy;
mod cell_map;
mod chunked_prefill;
mod compare;
mod decode;
mod decoding_sequence;
mod draft;
mod engine;
mod gguf;
mod gpu;
#[cfg(feature = "portable")]
mod kernels;
mod kv_cache;
mod layout;
mod load_params;
mod log;
mod memory_estimate;
mod placement;
mod prefix_cache;
mod sampler;
mod score;
mod slots;
mod speculative;
mod stream;
mod stream_packing;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use self::batch_policy::{BatchPolicy, Phase};
use self::engine::{BatchSlice, Engine, EngineError, Logits, Sequence};
pub use self::gpu::{device_summary, gpus};
pub use self::load_params::kernel_features;
use self::load_params::kernel_features_for;
use self::placement::PlacementPlan;
use self::prefix_cache::PrefixCache;
use self::sampler::Sampler;
use self::slots::{MIN_SHARED_PREFIX, Slots};
use ragonite_base::{CancelToken, Canceled, Millis};
use ragonite_inference::{
    CatalogModel, CompareRequest, Compared, Completion, Decoding, Generate, GenerateEvent, GenerateRequest,
    GeneratorIdentity, GeneratorSettings, InferenceError, MemoryNeeds, ModelFolders, Placement, PromptPart,
    ScoreRequest, Scores, SpecialTokens, check_address_space,
};

/// A generator that runs a GGUF file with llama.cpp.
pub struct LlamaGenerator {
    engine: Engine,
    identity: GeneratorIdentity,
    slots: Slots,
    /// Decoding mode of an answer without a draft.
    decoding: Decoding,
    /// Stored states of prompt prefixes, if they are stored.
    prefix_cache: Option<PrefixCache>,
}

impl std::fmt::Debug for LlamaGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlamaGenerator").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// Loads a generator of the catalog, with a prefix cache if a folder is given for it. `progress` gets the loaded part,
/// 0 to 1, and may stop the loading, as `cancel` does.
///
/// # Errors
/// If the weights are missing or damaged, and as [`LlamaGenerator::load`].
pub fn load_generator(
    model: &CatalogModel,
    folders: &ModelFolders,
    settings: &GeneratorSettings,
    prefix_cache: Option<&Path>,
    cancel: &CancelToken,
    mut progress: impl FnMut(f32) -> ControlFlow<()> + 'static,
) -> Result<LlamaGenerator, InferenceError> {
    let path = folders.find(model, model.weights()?, cancel)?;
    let cancel = cancel.clone();
    let go_on = Box::new(move |part| if cancel.is_canceled() { ControlFlow::Break(()) } else { progress(part) });
    let generator = LlamaGenerator::load(&model.id, &path, settings, go_on)?;
    Ok(match prefix_cache {
        Some(folder) => generator.with_prefix_cache(folder, &path, settings),
        None => generator,
    })
}

impl LlamaGenerator {
    /// Loads the weights at `path`. `progress` gets the loaded part, 0 to 1, and may stop the loading.
    ///
    /// # Errors
    /// [`InferenceError::Read`] if the file cannot be opened, [`InferenceError::Load`] if it is not a usable model,
    /// [`InferenceError::OutOfMemory`] if memory is short, [`InferenceError::Canceled`] if `progress` stopped it.
    pub fn load(
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        Self::load_for(BatchPolicy::for_kernels(&kernel_features_for(model)?), model, path, settings, progress)
    }

    /// As [`load`](Self::load), with the batch policy to use without a GPU.
    fn load_for(
        on_processor: BatchPolicy,
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
        progress: Box<dyn FnMut(f32) -> ControlFlow<()>>,
    ) -> Result<Self, InferenceError> {
        let engine = Engine::load(on_processor, model, path, settings, progress)?;
        let identity = GeneratorIdentity {
            model: model.to_owned(),
            context_tokens: engine.context_tokens(),
            chat_template: engine.chat_template(),
        };
        Ok(Self { engine, identity, slots: Slots::new(), decoding: settings.writing, prefix_cache: None })
    }

    /// Adds a prefix cache in `folder` for the weights at `path`, so that a later run need not read the same
    /// instructions again. If the cache cannot be used, they are read.
    fn with_prefix_cache(self, folder: &Path, path: &Path, settings: &GeneratorSettings) -> Self {
        let prefix_cache = self.engine.can_save_state().then(|| PrefixCache::of(folder, path, settings));
        let prefix_cache = prefix_cache
            .and_then(|cache| cache.inspect_err(|error| tracing::warn!("no states of prompts are kept: {error}")).ok());
        Self { prefix_cache, ..self }
    }

    /// Memory that loading the weights at `path` would take now. More free memory allows more parallel answers.
    ///
    /// # Errors
    /// [`InferenceError::Read`] if the file cannot be opened, [`InferenceError::Load`] if it is not a model.
    pub fn needs(model: &str, path: &Path, settings: &GeneratorSettings) -> Result<MemoryNeeds, InferenceError> {
        PlacementPlan::of(BatchPolicy::for_kernels(&kernel_features_for(model)?), model, path, settings)
            .map(|placed| placed.needed)
    }

    /// The part of the weights at `path` that would go onto GPUs; none where nothing would.
    ///
    /// # Errors
    /// As [`LlamaGenerator::needs`].
    pub fn placement_for(
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
    ) -> Result<Option<Placement>, InferenceError> {
        PlacementPlan::of(BatchPolicy::for_kernels(&kernel_features_for(model)?), model, path, settings)
            .map(|placed| placed.placement)
    }

    /// Whether answers are the same with and without a draft. False only with [`Decoding::Fast`] where calls of
    /// different shapes round differently.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.decoding == Decoding::Deterministic || self.engine.batch_policy().allows_mixed
    }

    /// The part of the model that is on GPUs.
    pub fn placement(&self) -> Option<&Placement> {
        self.engine.placement()
    }

    /// Checks that a model with these needs fits the address-space limit (`ulimit -v`).
    ///
    /// # Errors
    /// [`InferenceError::OutOfAddressSpace`] if it does not fit.
    pub fn fits_address_space(
        model: &str,
        needed: &MemoryNeeds,
        settings: &GeneratorSettings,
    ) -> Result<(), InferenceError> {
        check_address_space(model, placement::address_space(needed, settings))
    }

    /// The token ids of `part` in a prompt.
    ///
    /// # Errors
    /// If the text is longer than llama.cpp can take.
    pub fn tokens(&self, part: &PromptPart) -> Result<Vec<i32>, InferenceError> {
        Ok(self.tokenize(part)?.into_iter().map(|token| token.0).collect())
    }

    fn tokenize(&self, part: &PromptPart) -> Result<Vec<LlamaToken>, InferenceError> {
        self.engine
            .tokenize(&part.text, part.special)
            .map_err(|source| self.failed("splitting text into tokens", source))
    }

    fn failed(&self, doing: &'static str, source: Box<dyn std::error::Error + Send + Sync>) -> InferenceError {
        InferenceError::Run { doing, model: self.identity.model.clone(), source }
    }

    /// The tokens of a prompt.
    fn prompt(&self, parts: &[PromptPart]) -> Result<Vec<LlamaToken>, InferenceError> {
        let mut prompt = Vec::new();
        for part in parts {
            prompt.extend(self.tokenize(part)?);
        }
        let context = self.identity.context_tokens;
        if prompt.len() >= context {
            return Err(InferenceError::PromptTooLong { tokens: prompt.len() + 1, context });
        }
        if prompt.is_empty() {
            return Err(self.failed("reading the prompt", "the prompt is empty".into()));
        }
        Ok(prompt)
    }

    /// Selects a slot for `prompt`, keeps the shared prefix and removes the rest of that slot; gives the number of kept
    /// tokens. `more` tokens will follow the prompt.
    fn reuse(&mut self, prompt: &[LlamaToken], more: usize) -> Result<usize, InferenceError> {
        let place = self.slots.best_slot(prompt);
        // The last token is always read again: its logits choose the first token of the answer.
        let mut kept = place.shared.min(prompt.len() - 1);
        if place.slot == place.from {
            if !self.engine.remove_from(Sequence(place.slot), kept) {
                self.slots.clear();
                kept = 0;
            }
        } else {
            let (from, to) = (Sequence(place.from), Sequence(place.slot));
            self.engine.copy(from, to, kept).map_err(|source| {
                self.slots.clear();
                self.failed("reading the prompt", source)
            })?;
        }
        self.slots.take(place.slot, place.from, kept);
        Ok(if self.make_room(prompt.len() - kept + more) { kept } else { 0 })
    }

    /// Number of prefix tokens that prompts of the same kind share: those before the second plain-text part, since the
    /// first one holds the instructions.
    fn prefix_tokens(&self, parts: &[PromptPart]) -> Result<usize, InferenceError> {
        let mut plain = parts.iter().enumerate().filter(|(_, part)| part.special == SpecialTokens::AsText);
        let Some((second, _)) = plain.nth(1) else { return Ok(0) };
        parts[..second].iter().map(|part| self.tokenize(part).map(|tokens| tokens.len())).sum()
    }

    /// Loads the stored state of the prompt's prefix into the current slot if the slot holds less. Gives the number of
    /// tokens to store after this run.
    fn restore_prefix(&mut self, parts: &[PromptPart], prompt: &[LlamaToken]) -> Result<usize, InferenceError> {
        if self.prefix_cache.is_none() {
            return Ok(0);
        }
        // The last token is always read again.
        let prefix = self.prefix_tokens(parts)?.min(prompt.len() - 1);
        if prefix < self.slots.current().len() + MIN_SHARED_PREFIX {
            return Ok(0);
        }
        let tokens = &prompt[..prefix];
        let Some(state) = self.prefix_cache.as_ref().and_then(|kept| kept.find(tokens)) else { return Ok(prefix) };
        self.slots.truncate(0);
        if self.engine.restore(self.slots.sequence(), prefix, &state) {
            self.slots.extend(tokens);
            return Ok(0);
        }
        tracing::warn!("llama.cpp refused a state that was kept");
        Ok(prefix)
    }

    /// Stores the state of the first `tokens` tokens of the current slot for later runs. A failure is only logged.
    fn store_prefix(&mut self, tokens: usize) {
        let is_kept = tokens > 0 && self.engine.state_bytes(tokens) <= prefix_cache::MAX_ENTRY_BYTES;
        let Some(kept) = self.prefix_cache.as_ref().filter(|_| is_kept) else { return };
        let of = &self.slots.current()[..tokens];
        match self.engine.state(self.slots.sequence(), tokens) {
            Ok(state) => {
                if let Err(error) = kept.store(of, &state) {
                    tracing::warn!("the state of a prompt's beginning is not kept: {error}");
                }
            }
            Err(source) => {
                let error = self.lost("keeping the state of a prompt's beginning", source);
                tracing::warn!("{error}");
            }
        }
    }

    /// Clears the other slots if there are too few cells for `tokens` more. False if everything had to be cleared.
    fn make_room(&mut self, tokens: usize) -> bool {
        for slot in self.slots.to_evict(tokens, self.engine.cells()) {
            if !self.engine.remove_from(Sequence(slot), 0) {
                self.slots.clear();
                return false;
            }
            self.slots.clear_slot(slot);
        }
        true
    }

    /// Reads the rest of the first `end` tokens of `prompt`, in chunks, checking for cancellation between them.
    fn read_prompt(
        &mut self,
        prompt: &[LlamaToken],
        end: usize,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<(), InferenceError> {
        on_event(GenerateEvent::PromptRead { done: self.slots.current().len(), total: prompt.len() });
        while self.slots.current().len() < end {
            cancel.check()?;
            let start = self.slots.current().len();
            let piece = &prompt[start..start + self.engine.next_prefill_chunk(end - start)];
            self.decode(Phase::Prefill, piece, Logits::None, "reading the prompt")?;
            on_event(GenerateEvent::PromptRead { done: start + piece.len(), total: prompt.len() });
        }
        Ok(())
    }

    /// Reads `tokens` into the current slot.
    fn decode(
        &mut self,
        call: Phase,
        tokens: &[LlamaToken],
        logits: Logits,
        doing: &'static str,
    ) -> Result<(), InferenceError> {
        let (sequence, position) = (self.slots.sequence(), self.slots.current().len());
        match self.engine.decode_batch(call, &[BatchSlice { sequence, tokens, position, logits }]) {
            Ok(()) => {
                self.slots.extend(tokens);
                Ok(())
            }
            Err(source) => Err(self.lost(doing, source)),
        }
    }

    /// Turns a llama.cpp error into an [`InferenceError`]. Clears the context, since after a failure llama.cpp may have
    /// stored a part of the tokens; an aborted call leaves it as it was.
    fn lost(&mut self, doing: &'static str, source: Box<dyn std::error::Error + Send + Sync>) -> InferenceError {
        if let Some(EngineError::Aborted) = source.downcast_ref() {
            return InferenceError::Canceled(Canceled);
        }
        self.engine.remove_all();
        self.slots.clear();
        self.failed(doing, source)
    }

    fn run(
        &mut self,
        grammar: Option<&str>,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        let started = Instant::now();
        cancel.check()?;
        let grammar = grammar.map(|grammar| self.engine.grammar(grammar)).transpose();
        let grammar = grammar.map_err(|source| self.failed("reading the grammar of what it may say", source))?;
        let prompt = self.prompt(&request.parts)?;
        let more = request.max_tokens.min(self.identity.context_tokens - prompt.len());
        self.reuse(&prompt, more)?;
        let prefix = self.restore_prefix(&request.parts, &prompt)?;
        let reused_tokens = self.slots.current().len();
        let total = prompt.len();
        let last = total - self.last_chunk(total - reused_tokens);
        self.read_prompt(&prompt, last, cancel, on_event)?;
        // Its logits choose the first token of the answer.
        let wanted = Logits::From(total - last - 1);
        self.decode(Phase::Decode, &prompt[last..], wanted, "reading the prompt")?;
        on_event(GenerateEvent::PromptRead { done: total, total });
        let generated = self.decode_text(request, Sampler::new(request.sampling, grammar), cancel, on_event);
        self.remove_generated(total - 1)?;
        let generated = generated?;
        self.store_prefix(prefix);
        let first_token = generated.first_token_at.map(|at| Millis::from(at.duration_since(started)));
        Ok(Completion {
            text: generated.text.trim().to_owned(),
            tokens: generated.tokens.into_iter().map(|token| token.0).collect(),
            prompt_tokens: prompt.len(),
            reused_tokens,
            drafted_tokens: generated.drafted,
            narrowest: generated.narrowest,
            log_probabilities: generated.log_probabilities,
            draft_log_probabilities: Vec::new(),
            finish: generated.finish,
            first_token_ms: first_token.unwrap_or_default(),
            total_ms: started.elapsed().into(),
        })
    }

    /// Runs `work`; its llama.cpp calls are aborted once `cancel` is cancelled.
    fn with_cancel<T>(&mut self, cancel: &CancelToken, work: impl FnOnce(&mut Self) -> T) -> T {
        self.engine.set_cancel(cancel);
        let done = work(self);
        self.engine.set_cancel(&CancelToken::never());
        done
    }

    /// Number of tokens at the end of a prompt, of which `left` are unread, that go into the call whose logits choose
    /// the first token of the answer: one, where answers and prompts have different call shapes.
    fn last_chunk(&self, mut left: usize) -> usize {
        let step = self.engine.prefill_chunk();
        if !self.engine.batch_policy().same_shape_for_all() {
            return 1;
        }
        while left > step {
            left -= self.engine.next_prefill_chunk(left);
        }
        left
    }

    /// Removes generated tokens behind the first `read` tokens of the current slot, where a prompt with the same tokens
    /// would round differently.
    fn remove_generated(&mut self, read: usize) -> Result<(), InferenceError> {
        if self.engine.batch_policy().same_shape_for_all() || self.slots.current().len() <= read {
            Ok(())
        } else {
            self.rewind(read)
        }
    }

    /// Keeps the first `keep` tokens of the current slot.
    fn rewind(&mut self, keep: usize) -> Result<(), InferenceError> {
        let kept = self.slots.current()[..keep].to_vec();
        if self.engine.remove_from(self.slots.sequence(), keep) {
            self.slots.truncate(keep);
            return Ok(());
        }
        self.slots.clear();
        let step = self.engine.prefill_chunk();
        kept.chunks(step).try_for_each(|piece| self.decode(Phase::Prefill, piece, Logits::None, "reading the prompt"))
    }
}

impl Generate for LlamaGenerator {
    fn identity(&self) -> &GeneratorIdentity {
        &self.identity
    }

    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError> {
        self.tokenize(part).map(|tokens| tokens.len())
    }

    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.with_cancel(cancel, |this| this.run(None, request, cancel, on_event))
    }

    fn generate_within(
        &mut self,
        grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.with_cancel(cancel, |this| this.run(Some(grammar), request, cancel, on_event))
    }

    fn generate_batch(
        &mut self,
        requests: &[GenerateRequest],
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize, Completion) -> ControlFlow<()>,
    ) -> Result<(), InferenceError> {
        self.with_cancel(cancel, |this| this.decode_batch_of(requests, cancel, on_done))
    }

    fn score(
        &mut self,
        request: &ScoreRequest,
        cancel: &CancelToken,
        on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        self.with_cancel(cancel, |this| this.score_hidden(request, cancel, on_scored))
    }

    fn compare(
        &mut self,
        request: &CompareRequest,
        cancel: &CancelToken,
        on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        self.with_cancel(cancel, |this| this.compare_without(request, cancel, on_compared))
    }

    fn token_bytes(&self, tokens: &[i32]) -> Result<Vec<Vec<u8>>, InferenceError> {
        let piece =
            |token: &i32| Some(LlamaToken::new(*token)).filter(|t| self.engine.is_in_vocabulary(*t)).ok_or(*token);
        let known: Result<Vec<LlamaToken>, i32> = tokens.iter().map(piece).collect();
        let known = known.map_err(|unknown| {
            let why = format!("the vocabulary has no token {unknown}");
            self.failed("reading an answer's tokens", why.into())
        })?;
        Ok(known.into_iter().map(|token| self.engine.token_bytes(token)).collect())
    }
}

#[cfg(test)]
mod batch_decode_tests;
#[cfg(test)]
mod prefix_cache_tests;
#[cfg(test)]
mod reuse_tests;
#[cfg(test)]
mod survival_tests;
#[cfg(test)]
mod tests;
