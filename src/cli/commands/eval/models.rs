//! Models of a benchmark run.

use std::sync::Arc;

use super::super::context::CommandContext;
use super::super::exit::Failure;
use ragonite_base::CancelToken;
use ragonite_encoder::load_embedder;
use ragonite_eval::{Cache, CachedGenerator, GeneratorFingerprint};
use ragonite_inference::{CatalogModel, Embed, Generate as _, ModelRole};
use ragonite_llama::{device_summary, kernel_features};

/// The embedder with this id, or that of the profile.
pub(super) fn embedder(
    start: &CommandContext,
    id: Option<&str>,
    cancel: &CancelToken,
) -> Result<Arc<dyn Embed>, Failure> {
    match id {
        None => Ok(start.embedder(cancel)?),
        Some(id) => Ok(load_embedder(start.catalog.model(id)?, &start.folders(), start.device, cancel)?),
    }
}

/// The generator with this id, with a cache of earlier runs.
pub(super) fn generator(start: &CommandContext, id: &str, cancel: &CancelToken) -> Result<CachedGenerator, Failure> {
    let model = generator_of(start, id)?;
    let loaded = start.generator(model, cancel)?;
    let context_tokens = loaded.identity().context_tokens;
    let settings = start.exact_settings();
    let fingerprint = GeneratorFingerprint {
        weights: &model.weights()?.sha256,
        context_tokens,
        settings: &settings,
        device: &device_summary(settings.device()),
        kernels: &kernel_features().unwrap_or_default().join(" "),
    };
    let fingerprint = fingerprint.key();
    let cache = Cache::open(&start.paths.results().join(format!("completions-{}.jsonl", model.id)))?;
    Ok(CachedGenerator::new(Box::new(loaded), &fingerprint, cache))
}

/// The model with this id, which must be a generator.
fn generator_of<'a>(start: &'a CommandContext, id: &str) -> Result<&'a CatalogModel, Failure> {
    let model = start.catalog.model(id)?;
    if model.role == ModelRole::Generator {
        return Ok(model);
    }
    let generators = start.catalog.models.iter().filter(|model| model.role == ModelRole::Generator);
    let known: Vec<&str> = generators.map(|model| model.id.as_str()).collect();
    Err(Failure::usage(ragonite_app::Problem {
        what: format!("`{}` generates no text", model.id),
        next: format!("Choose one of {}.", known.join(", ")),
    }))
}
