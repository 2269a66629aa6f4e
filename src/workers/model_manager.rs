//! Configuration and encoders shared by the worker threads.
//!
//! Invariant: each encoder is loaded once, by the first thread that needs it.
//! Not here: the generator (`generator`).

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Events;
use ragonite_app::{EngineStatus, Event, FetchSupport, Loading, MissingModels};
use ragonite_base::CancelToken;
use ragonite_config::{ChosenProfile, Paths};
use ragonite_document::evidence::EvidenceSettings;
use ragonite_encoder::{load_embedder, load_reranker};
use ragonite_index::IndexSettings;
use ragonite_inference::{
    Catalog, CatalogModel, DeviceChoice, Embed, GeneratorChoice, GeneratorSettings, InferenceError, ModelFolders,
    Placement, Rerank, SharedEmbedder, address_space_left, available_memory, processor_summary, resident_memory,
};
use ragonite_llama::device_summary;

/// Percent between two progress events of loading a model.
const LOADING_STEP: u8 = 5;

/// Configuration of the workers.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Folders and files.
    pub paths: Paths,
    /// The model catalog.
    pub catalog: Catalog,
    /// Folders with weights.
    pub folders: ModelFolders,
    /// The profile.
    pub profile: ChosenProfile,
    /// The generator, unless a domain overrides it.
    pub model: GeneratorChoice,
    /// Allowed devices.
    pub device: DeviceChoice,
    /// The embedder; loaded by a command before, or by the first thread that needs it.
    pub embedder: SharedEmbedder,
    /// Load settings of the generator.
    pub generator: GeneratorSettings,
    /// Idle time after which the generator is unloaded; none for never.
    pub unload_after: Option<Duration>,
    /// Id of the embedder of attribution; none for that of retrieval.
    pub attribution_embedder: Option<String>,
    /// Evidence settings.
    pub evidence: EvidenceSettings,
    /// Index settings.
    pub index: IndexSettings,
}

impl WorkerConfig {
    /// The models of the profile without weights of the right size; none where all are present. Reads no weights.
    pub fn missing_models(&self) -> Option<MissingModels> {
        let profile = &self.profile.profile;
        let is_here = |id: &str| self.catalog.model(id).is_ok_and(|model| self.folders.has(model));
        let wanted = profile.model_ids_with(self.model.id(&profile.generator));
        let models: Vec<String> = wanted.filter(|id| !is_here(id)).map(str::to_owned).collect();
        let folders = self.folders.folders().iter().map(|folder| folder.display().to_string()).collect();
        let fetching = if cfg!(feature = "hub") { FetchSupport::BuiltIn } else { FetchSupport::None };
        (!models.is_empty()).then(|| MissingModels { profile: profile.name.clone(), models, folders, fetching })
    }

    /// Ids of the generators with weights of the right size, besides that of the profile.
    pub fn generators(&self) -> Vec<String> {
        let is_other = |model: &&CatalogModel| model.id != self.profile.profile.generator && self.folders.has(model);
        self.catalog.generators().filter(is_other).map(|model| model.id.clone()).collect()
    }
}

#[cfg(test)]
impl WorkerConfig {
    /// The profile `tiny` with data and weights in `folder`.
    pub(super) fn tiny(folder: &std::path::Path) -> Self {
        let catalog = Catalog::builtin().unwrap();
        Self {
            paths: Paths::find(Some(folder), None).unwrap(),
            folders: ModelFolders::new(vec![folder.to_owned()]),
            profile: ragonite_config::choose_profile(&catalog, Some("tiny"), None).unwrap(),
            catalog,
            model: GeneratorChoice::Profile,
            device: DeviceChoice::Cpu,
            embedder: SharedEmbedder::default(),
            generator: GeneratorSettings { context_tokens: 512, ..GeneratorSettings::default() },
            unload_after: None,
            attribution_embedder: None,
            evidence: EvidenceSettings::default(),
            index: IndexSettings::default(),
        }
    }
}

/// Settings and encoders, shared by the worker threads.
pub(super) struct ModelManager {
    pub(super) setup: WorkerConfig,
    reranker: Mutex<Option<Arc<dyn Rerank>>>,
    status: Mutex<EngineStatus>,
    /// Held while a model is loaded with a limited address space, so that check and use of the space are atomic.
    space: Mutex<()>,
    events: Events,
    /// Cancels loading at exit.
    leaving: CancelToken,
}

impl fmt::Debug for ModelManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("profile", &self.setup.profile.profile.name).finish_non_exhaustive()
    }
}

impl ModelManager {
    pub(super) fn new(setup: WorkerConfig, leaving: CancelToken, events: Events) -> Arc<Self> {
        let chosen = &setup.profile;
        let status = EngineStatus {
            profile: chosen.profile.name.clone(),
            profile_reason: Some(chosen.why),
            embedder: chosen.profile.embedder.clone(),
            generator: chosen.profile.generator.clone(),
            device: device_summary(setup.device),
            memory: resident_memory(),
            loading: None,
        };
        events.send(Event::EngineChanged(status.clone()));
        let status = Mutex::new(status);
        let (reranker, space) = (Mutex::default(), Mutex::default());
        Arc::new(Self { setup, reranker, status, space, events, leaving })
    }

    /// The embedder; the first call loads it.
    pub(super) fn embedder(&self) -> Result<Arc<dyn Embed>, InferenceError> {
        self.setup.embedder.get_or_load(|| self.read_embedder(&self.setup.profile.profile.embedder))
    }

    /// The profile's reranker, if it has one; the first call loads it.
    pub(super) fn reranker(&self) -> Result<Option<Arc<dyn Rerank>>, InferenceError> {
        let Some(id) = &self.setup.profile.profile.reranker else { return Ok(None) };
        let mut slot = locked(&self.reranker);
        if slot.is_none() {
            *slot = Some(self.loading(id, || {
                load_reranker(self.setup.catalog.model(id)?, &self.setup.folders, self.setup.device, &self.leaving)
            })?);
        }
        Ok(slot.clone())
    }

    /// Whether the reranker has still to be loaded and less memory is left than its weights take.
    pub(super) fn reranker_lacks_memory(&self) -> bool {
        let Some(id) = &self.setup.profile.profile.reranker else { return false };
        // A reranker that is being loaded has its memory already.
        let waits = self.reranker.try_lock().is_ok_and(|slot| slot.is_none());
        let Ok(model) = self.setup.catalog.model(id) else { return false };
        let bytes: u64 = model.files.iter().filter_map(|file| file.bytes).sum();
        waits && available_memory().is_some_and(|left| left < bytes)
    }

    /// Unloads the reranker until the next search; false where none was loaded.
    pub(super) fn release_reranker(&self) -> bool {
        locked(&self.reranker).take().is_some()
    }

    /// Loads an embedder that is not shared. Cancelled at exit.
    pub(super) fn read_embedder(&self, id: &str) -> Result<Arc<dyn Embed>, InferenceError> {
        let setup = &self.setup;
        self.loading(id, || load_embedder(setup.catalog.model(id)?, &setup.folders, setup.device, &self.leaving))
    }

    /// Reports the placement of the generator's layers.
    pub(super) fn placed(&self, placement: Option<&Placement>) {
        let device = placement.map_or_else(
            || device_summary(self.setup.device),
            |placement| format!("{placement}, {}", processor_summary()),
        );
        self.change(|status| status.device = device);
    }

    /// Runs `work` while the status line shows `model` as loading.
    pub(super) fn loading<T>(&self, model: &str, work: impl FnOnce() -> T) -> T {
        self.change(|status| status.loading = Some(Loading { model: model.to_owned(), percent: None }));
        let alone = address_space_left().map(|_| locked(&self.space));
        let result = work();
        drop(alone);
        self.change(|status| status.loading = None);
        result
    }

    /// Reports the progress of loading, from 0 to 1.
    pub(super) fn loaded_so_far(&self, part: f32) {
        let now = ((part.clamp(0.0, 1.0) * 100.0) as u8) / LOADING_STEP * LOADING_STEP;
        let shown = locked(&self.status).loading.as_ref().and_then(|loading| loading.percent);
        if shown.is_none_or(|shown| now > shown) {
            self.change(|status| {
                if let Some(loading) = &mut status.loading {
                    loading.percent = Some(now);
                }
            });
        }
    }

    /// Reports the memory after a model was unloaded.
    pub(super) fn left(&self) {
        self.change(|_| {});
    }

    fn change(&self, change: impl FnOnce(&mut EngineStatus)) {
        let mut status = locked(&self.status);
        change(&mut status);
        status.memory = resident_memory();
        self.events.send(Event::EngineChanged(status.clone()));
    }
}

/// Ignores poisoning, because a panic ends the program.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
