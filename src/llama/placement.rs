//! Plans where a model goes, and checks that there is memory for it.
//!
//! Takes the header of the weights, the settings, and the memory and GPUs of the machine; gives batch policy, layout,
//! GPU placement, and errors that name the shortage.
//! Not here: counting bytes (`memory_estimate`), loading (`engine`).

use std::path::Path;

use super::batch_policy::BatchPolicy;
use super::engine::{Cause, EngineError, MIN_CONTEXT};
use super::gguf::{GgufError, Shape};
use super::gpus;
use super::layout::Layout;
use super::load_params::threads;
use super::log::Errors;
use ragonite_inference::GeneratorSettings;
use ragonite_inference::{InferenceError, MemoryNeeds, Placement, available_memory};
use ragonite_inference::{address_space_left, address_space_of, check_address_space};

/// Where a model can do with less, it takes at most one in `SHARE` parts of the free memory.
const SHARE: u64 = 2;

/// Memory needs, GPU placement, batch policy and layout of a model.
pub(super) struct PlacementPlan {
    /// Memory needs on all devices.
    pub(super) needed: MemoryNeeds,
    /// The part on GPUs, if any.
    pub(super) placement: Option<Placement>,
    pub(super) rows: BatchPolicy,
    pub(super) layout: Layout,
}

impl PlacementPlan {
    /// The plan for the weights at `path`; `on_processor` is the batch policy without a GPU.
    ///
    /// # Errors
    /// [`InferenceError::Read`] if the file cannot be opened, [`InferenceError::Load`] if it is not a model,
    /// [`InferenceError::NoGpu`] if a requested GPU is missing.
    pub(super) fn of(
        on_processor: BatchPolicy,
        model: &str,
        path: &Path,
        settings: &GeneratorSettings,
    ) -> Result<Self, InferenceError> {
        let shape = Shape::read(path).map_err(|error| match error {
            GgufError::Io(source) => InferenceError::Read { path: path.to_owned(), source },
            error => InferenceError::Load { model: model.to_owned(), source: error.into() },
        })?;
        let trained = usize::try_from(shape.trained).unwrap_or(usize::MAX);
        let context = settings.context_tokens.max(MIN_CONTEXT).min(trained);
        let gpus = gpus(settings.device())?;
        let on_gpus = BatchPolicy::GPU.with_attention(settings);
        let with_gpus = Layout::Shared.needs(&shape, settings, context, on_gpus);
        let placement = Placement::of(&with_gpus, shape.layers, &gpus, settings.gpu_layers);
        let rows = if placement.is_some() { on_gpus } else { on_processor.with_attention(settings) };
        let layout = Layout::of(rows, &shape, settings, context, |needs| leaves_room(needs, settings));
        let needed = layout.needs(&shape, settings, context, rows);
        Ok(Self { needed, placement, rows, layout })
    }

    /// The part in the machine's own memory.
    fn beside_gpus(&self) -> MemoryNeeds {
        self.placement.as_ref().map_or(self.needed, |placement| placement.beside(&self.needed))
    }
}

/// Whether a model with these needs stays within its share of the free memory; false if the free memory is not known.
fn leaves_room(needs: &MemoryNeeds, settings: &GeneratorSettings) -> bool {
    available_memory().is_some_and(|left| needs.total() <= left / SHARE)
        && address_space_left().is_none_or(|left| address_space(needs, settings) <= left)
}

/// Address space in bytes of a model with these needs.
pub(super) fn address_space(needed: &MemoryNeeds, settings: &GeneratorSettings) -> u64 {
    address_space_of(needed.weights, needed.state.saturating_add(needed.work), threads(settings))
}

/// A passed memory check for a model that is being loaded.
pub(super) struct MemoryCheck<'m> {
    model: &'m str,
    /// The needs to name if memory runs out all the same.
    needed: MemoryNeeds,
    /// Address space in bytes.
    space: u64,
}

impl<'m> MemoryCheck<'m> {
    /// Checks memory and address space.
    ///
    /// # Errors
    /// [`InferenceError::OutOfMemory`] or [`InferenceError::OutOfAddressSpace`] if there is too little.
    pub(super) fn checked(
        model: &'m str,
        plan: &PlacementPlan,
        settings: &GeneratorSettings,
    ) -> Result<Self, InferenceError> {
        let beside = plan.beside_gpus();
        let check = Self { model, needed: plan.needed, space: address_space(&beside, settings) };
        // A GPU's own memory is mapped into the address space, however little of it is used.
        if plan.placement.is_none() {
            check_address_space(model, check.space)?;
        }
        match available_memory().filter(|available| *available < beside.total()) {
            Some(available) => Err(check.short(beside, Some(available))),
            None => Ok(check),
        }
    }

    fn short(&self, needed: MemoryNeeds, available: Option<u64>) -> InferenceError {
        let (model, space) = (self.model.to_owned(), self.space);
        match address_space_left() {
            Some(left) if left < space => InferenceError::OutOfAddressSpace { model, needed: space, left },
            _ => InferenceError::OutOfMemory { model, needed, available },
        }
    }

    /// The error for a failure of llama.cpp, from its log, else from `source`.
    pub(super) fn why(&self, errors: &Errors, source: Cause) -> InferenceError {
        if errors.ran_out_of_memory() {
            return self.short(self.needed, available_memory());
        }
        let source = errors.reason().map_or(source, |reason| EngineError::Refused(reason).into());
        InferenceError::Load { model: self.model.to_owned(), source }
    }
}
