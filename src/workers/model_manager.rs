//! What the workers share: settings, and the encoders, loaded once by whoever needs them first.

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
    Placement, Rerank, address_space_left, available_memory, processor_summary, resident_memory,
};
use ragonite_llama::device_summary;

/// Percent between two steps that are told of a model that is being loaded.
const LOADING_STEP: u8 = 5;

/// What one run of the program works with.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Where things lie.
    pub paths: Paths,
    /// What models there are.
    pub catalog: Catalog,
    /// Where weights are looked for.
    pub folders: ModelFolders,
    /// Which models.
    pub profile: ChosenProfile,
    /// Which generator, where no domain says otherwise.
    pub model: GeneratorChoice,
    /// What may compute.
    pub device: DeviceChoice,
    /// How the generator is loaded.
    pub generator: GeneratorSettings,
    /// Time without work after which the generator leaves the memory; none for never.
    pub unload_after: Option<Duration>,
    /// Id of the embedder that attribution compares with; none for that of retrieval.
    pub comparer: Option<String>,
    /// How documents become evidence.
    pub evidence: EvidenceSettings,
    /// How evidence is stored.
    pub index: IndexSettings,
}

impl WorkerConfig {
    /// The models of the profile that are in none of the folders with the right size; none where all are there. No
    /// byte of them is read.
    pub fn missing_models(&self) -> Option<MissingModels> {
        let profile = &self.profile.profile;
        let is_here = |id: &str| self.catalog.model(id).is_ok_and(|model| self.folders.has(model));
        let wanted = profile.model_ids_with(self.model.id(&profile.generator));
        let models: Vec<String> = wanted.filter(|id| !is_here(id)).map(str::to_owned).collect();
        let folders = self.folders.folders().iter().map(|folder| folder.display().to_string()).collect();
        let fetching = if cfg!(feature = "hub") { FetchSupport::BuiltIn } else { FetchSupport::None };
        (!models.is_empty()).then(|| MissingModels { profile: profile.name.clone(), models, folders, fetching })
    }
}

impl WorkerConfig {
    /// Ids of the generators beside that of the profile whose weights are in one of the folders with the right size.
    pub fn generators(&self) -> Vec<String> {
        let is_other = |model: &&CatalogModel| model.id != self.profile.profile.generator && self.folders.has(model);
        self.catalog.generators().filter(is_other).map(|model| model.id.clone()).collect()
    }
}

/// Settings and encoders, shared by the worker threads.
pub(super) struct ModelManager {
    pub(super) setup: WorkerConfig,
    embedder: Mutex<Option<Arc<dyn Embed>>>,
    reranker: Mutex<Option<Arc<dyn Rerank>>>,
    status: Mutex<EngineStatus>,
    /// Held while a model is loaded where the address space is limited: what is left is checked before and taken then.
    space: Mutex<()>,
    events: Events,
    /// Stops loading when the program is being left.
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
        let (embedder, reranker, space) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { setup, embedder, reranker, status, space, events, leaving })
    }

    /// The embedder; the first call loads it.
    pub(super) fn embedder(&self) -> Result<Arc<dyn Embed>, InferenceError> {
        let mut slot = locked(&self.embedder);
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let id = &self.setup.profile.profile.embedder;
        let embedder = self.read_embedder(id)?;
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
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
        // One that is being loaded at this moment has its memory already.
        let waits = self.reranker.try_lock().is_ok_and(|slot| slot.is_none());
        let Ok(model) = self.setup.catalog.model(id) else { return false };
        let bytes: u64 = model.files.iter().filter_map(|file| file.bytes).sum();
        waits && available_memory().is_some_and(|left| left < bytes)
    }

    /// Takes the reranker out of memory; false where there was none. The next search loads it again.
    pub(super) fn release_reranker(&self) -> bool {
        locked(&self.reranker).take().is_some()
    }

    /// Reads the embedder with this id, shared with nobody. Stops when the program is being left.
    pub(super) fn read_embedder(&self, id: &str) -> Result<Arc<dyn Embed>, InferenceError> {
        let setup = &self.setup;
        self.loading(id, || load_embedder(setup.catalog.model(id)?, &setup.folders, setup.device, &self.leaving))
    }

    /// Says on the status line which layers of the generator GPUs took.
    pub(super) fn placed(&self, placement: Option<&Placement>) {
        let device = placement.map_or_else(
            || device_summary(self.setup.device),
            |placement| format!("{placement}, {}", processor_summary()),
        );
        self.change(|status| status.device = device);
    }

    /// Does `work` while the status line says that `model` is being loaded.
    pub(super) fn loading<T>(&self, model: &str, work: impl FnOnce() -> T) -> T {
        self.change(|status| status.loading = Some(Loading { model: model.to_owned(), percent: None }));
        let alone = address_space_left().map(|_| locked(&self.space));
        let result = work();
        drop(alone);
        self.change(|status| status.loading = None);
        result
    }

    /// Says on the status line how much of what is being loaded is read, in steps that can be seen.
    pub(super) fn loaded_so_far(&self, part: f32) {
        let now = ((part.clamp(0.0, 1.0) * 100.0) as u8) / LOADING_STEP * LOADING_STEP;
        let said = locked(&self.status).loading.as_ref().and_then(|loading| loading.percent);
        if said.is_none_or(|said| now > said) {
            self.change(|status| {
                if let Some(loading) = &mut status.loading {
                    loading.percent = Some(now);
                }
            });
        }
    }

    /// Says on the status line what is left in memory after a model has left it.
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

/// A panic ends the program, so a poisoned lock is never seen by anyone who could be misled.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
