//! What a model takes, where, and whether there is room for it.
//!
//! Takes the header of the weights, the settings, and what memory and GPUs there are now; gives how calls are made, how
//! sequences lie, and errors that name what is short.
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

/// A model takes at most one part in so many of the memory that is left where it can do with less.
const SHARE: u64 = 2;

/// What a model takes, and where.
pub(super) struct PlacementPlan {
    /// All of it.
    pub(super) needed: MemoryNeeds,
    /// What of it goes onto GPUs, if anything does.
    pub(super) placement: Option<Placement>,
    /// How calls are made.
    pub(super) rows: BatchPolicy,
    /// How sequences lie.
    pub(super) layout: Layout,
}

impl PlacementPlan {
    /// For the weights at `path`; `on_processor` is for calls where no GPU computes.
    ///
    /// # Errors
    /// [`InferenceError::Read`] where the file cannot be opened, [`InferenceError::Load`] where it is no model, and where
    /// GPUs are asked for that are not there.
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

    /// What of it goes into the memory of the machine.
    fn beside_gpus(&self) -> MemoryNeeds {
        self.placement.as_ref().map_or(self.needed, |placement| placement.beside(&self.needed))
    }
}

/// Whether a model with these needs leaves others their share of the memory; false where nothing says how much there is.
fn leaves_room(needs: &MemoryNeeds, settings: &GeneratorSettings) -> bool {
    available_memory().is_some_and(|left| needs.total() <= left / SHARE)
        && address_space_left().is_none_or(|left| address_space(needs, settings) <= left)
}

/// Address space that a model with these needs takes.
pub(super) fn address_space(needed: &MemoryNeeds, settings: &GeneratorSettings) -> u64 {
    address_space_of(needed.weights, needed.state.saturating_add(needed.work), threads(settings))
}

/// Room for a model that is being loaded.
pub(super) struct MemoryCheck<'m> {
    model: &'m str,
    /// What is named where memory runs out all the same.
    needed: MemoryNeeds,
    /// Address space it takes.
    space: u64,
}

impl<'m> MemoryCheck<'m> {
    /// Checks that there is enough.
    ///
    /// # Errors
    /// [`InferenceError::OutOfMemory`] and [`InferenceError::OutOfAddressSpace`] where there is not.
    pub(super) fn checked(
        model: &'m str,
        placed: &PlacementPlan,
        settings: &GeneratorSettings,
    ) -> Result<Self, InferenceError> {
        let beside = placed.beside_gpus();
        let room = Self { model, needed: placed.needed, space: address_space(&beside, settings) };
        // A GPU's own memory is mapped into the address space, however little of it is used.
        if placed.placement.is_none() {
            check_address_space(model, room.space)?;
        }
        match available_memory().filter(|available| *available < beside.total()) {
            Some(available) => Err(room.short(beside, Some(available))),
            None => Ok(room),
        }
    }

    fn short(&self, needed: MemoryNeeds, available: Option<u64>) -> InferenceError {
        let (model, space) = (self.model.to_owned(), self.space);
        match address_space_left() {
            Some(left) if left < space => InferenceError::OutOfAddressSpace { model, needed: space, left },
            _ => InferenceError::OutOfMemory { model, needed, available },
        }
    }

    /// Why llama.cpp failed, by what it logged, else by what it gave.
    pub(super) fn why(&self, errors: &Errors, source: Cause) -> InferenceError {
        if errors.ran_out_of_memory() {
            return self.short(self.needed, available_memory());
        }
        let source = errors.reason().map_or(source, |reason| EngineError::Refused(reason).into());
        InferenceError::Load { model: self.model.to_owned(), source }
    }
}
