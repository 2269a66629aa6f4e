//! Context of every command: configuration, folders, catalog, profile.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::exit::{Exit, Failure};
use super::output::Output;
use crate::args::Shared;
use crate::gpu_handover::CpuReason;
use ragonite_app::{AppSettings, Problem};
use ragonite_base::{CancelToken, DomainName};
use ragonite_config::{
    ChosenProfile, Config, ConfigError, GpuFit, GpuUnavailable, Paths, Setting, Weights, choose_profile_for,
    read_changes,
};
use ragonite_encoder::{embedder_fingerprint, load_embedder, load_reranker};
use ragonite_history::{HistoryError, TurnSettings};
use ragonite_index::{Index, IndexError, OnProgress, check_embedder_of};
use ragonite_inference::{
    Catalog, CatalogModel, Decoding, DeviceChoice, Embed, EncoderIdentity, GeneratorChoice, GeneratorSettings,
    InferenceError, ModelFolders, ModelRole, Rerank, SharedEmbedder,
};
use ragonite_llama::{LlamaGenerator, gpus, load_generator};
use ragonite_rag::answer::Suggestions;
use ragonite_rag::attribution::ExplainAhead;
use ragonite_rag::retrieval::RetrievalError;
use ragonite_workers::{RuntimeError, WorkerConfig, damage_of, problem};

/// Context of a command.
pub(super) struct CommandContext {
    pub(super) config: Config,
    pub(super) paths: Paths,
    pub(super) catalog: Catalog,
    pub(super) profile: ChosenProfile,
    /// Allowed devices.
    pub(super) device: DeviceChoice,
    /// Why this build runs and not the one for NVIDIA GPUs.
    pub(super) cpu_reason: CpuReason,
    pub(super) shared: Shared,
    embedder: SharedEmbedder,
}

impl CommandContext {
    pub(super) fn new(shared: &Shared, cpu_reason: &CpuReason) -> Result<Self, Failure> {
        let config = Config::load(shared.config.as_deref())?;
        let device = config.device_of_this_run()?;
        check_device(device, cpu_reason)?;
        let data = shared.data_dir.as_deref().or(config.data_dir.as_deref());
        let models = shared.models_dir.as_deref().or(config.models_dir.as_deref());
        let paths = Paths::find(data, models)?;
        let catalog = Catalog::builtin()?;
        let (asked, configured) = (shared.profile.as_deref(), config.profile.as_deref());
        let room = if asked.or(configured).is_some() {
            GpuFit::NotBuilt
        } else {
            gpu_room(&catalog, &ModelFolders::new(paths.models.clone()), device, cpu_reason)?
        };
        let profile = choose_profile_for(&catalog, asked, configured, room)?;
        if let Some(id) = config.attribution.embedder() {
            check_is(ModelRole::Embedder, catalog.model(id)?, "attribution.embedder")?;
        }
        let (cpu_reason, shared, embedder) = (cpu_reason.clone(), shared.clone(), SharedEmbedder::default());
        Ok(Self { config, paths, catalog, profile, device, cpu_reason, shared, embedder })
    }

    /// Folders with weights.
    pub(super) fn folders(&self) -> ModelFolders {
        ModelFolders::new(self.paths.models.clone()).with_stamp_cache(self.paths.stamps())
    }

    /// The profile's embedder. The first call loads it, and the workers share it.
    pub(super) fn embedder(&self, cancel: &CancelToken) -> Result<Arc<dyn Embed>, InferenceError> {
        self.embedder.get_or_load(|| load_embedder(self.embedder_model()?, &self.folders(), self.device, cancel))
    }

    pub(super) fn embedder_model(&self) -> Result<&CatalogModel, InferenceError> {
        self.catalog.model(&self.profile.profile.embedder)
    }

    pub(super) fn reranker(&self, cancel: &CancelToken) -> Result<Option<Arc<dyn Rerank>>, Failure> {
        let Some(id) = &self.profile.profile.reranker else { return Ok(None) };
        Ok(Some(load_reranker(self.catalog.model(id)?, &self.folders(), self.device, cancel)?))
    }

    /// Loads a generator as configured, but with exact [`Decode`], for comparisons.
    pub(super) fn generator(&self, model: &CatalogModel, cancel: &CancelToken) -> Result<LlamaGenerator, Failure> {
        let go_on = |_| ControlFlow::Continue(());
        Ok(load_generator(model, &self.folders(), &self.exact_settings(), None, cancel, go_on)?)
    }

    /// Id of the generator, without domain overrides.
    pub(super) fn generator_id(&self) -> &str {
        self.config.generation.model.id(&self.profile.profile.generator)
    }

    /// Id of the generator that answers in a domain.
    pub(super) fn generator_of(&self, domain: &DomainName) -> String {
        self.model_of(domain).id(&self.profile.profile.generator).to_owned()
    }

    /// The generator of a domain.
    pub(super) fn model_of(&self, domain: &DomainName) -> GeneratorChoice {
        read_changes(&self.paths.domain(domain)).changes.applied_to(&self.turn_settings()).model
    }

    /// The generator with this id, as named by a setting.
    pub(super) fn generator_model(&self, id: &str) -> Result<&CatalogModel, Failure> {
        let model = self.catalog.model(id)?;
        check_is(ModelRole::Generator, model, Setting::Model.key())?;
        Ok(model)
    }

    /// Fails with a remedy where weights of the configured models are missing or of the wrong size. Loading checks
    /// the bytes.
    pub(super) fn require_models(&self) -> Result<(), Failure> {
        let folders = self.folders();
        for id in self.profile.profile.model_ids_with(self.generator_id()) {
            let model = self.catalog.model(id)?;
            if folders.has(model) {
                continue;
            }
            for file in &model.files {
                folders.find(model, file, &CancelToken::never())?;
            }
        }
        Ok(())
    }

    /// All models that the configuration may need: the profile's, and a separate embedder of attribution.
    pub(super) fn models(&self) -> Result<Vec<&CatalogModel>, Failure> {
        self.models_with(self.generator_id(), self.own_embedder())
    }

    /// The embedder of attribution, where it is not the profile's.
    fn own_embedder(&self) -> Option<&str> {
        self.config.attribution.embedder().filter(|id| *id != self.profile.profile.embedder)
    }

    /// The models of the profile with this generator, and `more`.
    fn models_with<'a>(
        &'a self,
        generator: &'a str,
        more: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<&'a CatalogModel>, Failure> {
        self.generator_model(generator)?;
        let ids = self.profile.profile.model_ids_with(generator).chain(more);
        Ok(ids.map(|id| self.catalog.model(id)).collect::<Result<_, _>>()?)
    }

    /// Checks the weights for explaining with this generator, unless checked before.
    pub(super) fn check_weights_to_explain(&self, generator: &str, cancel: &CancelToken) -> Result<(), Failure> {
        self.check_all(&self.models_with(generator, self.own_embedder())?, cancel)
    }

    /// Checks the weights for answering with this generator, unless checked before.
    pub(super) fn check_weights(&self, generator: &str, cancel: &CancelToken) -> Result<(), Failure> {
        self.check_all(&self.models_with(generator, None)?, cancel)
    }

    fn check_all(&self, models: &[&CatalogModel], cancel: &CancelToken) -> Result<(), Failure> {
        let folders = self.folders();
        for (model, file) in models.iter().flat_map(|model| model.files.iter().map(move |file| (model, file))) {
            folders.find(model, file, cancel)?;
        }
        Ok(())
    }

    /// Fails if the domain is missing or was made with another embedder. Loads no weights and no index.
    pub(super) fn check_domain(&self, name: &DomainName) -> Result<(), Failure> {
        let model = self.embedder_model()?;
        Ok(check_embedder_of(&self.paths.domain(name), &model.id, &embedder_fingerprint(model)?)?)
    }

    /// Opens an existing domain.
    pub(super) fn open_domain(
        &self,
        name: &DomainName,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Index, Failure> {
        Ok(Index::open(&self.paths.domain(name), embedder, cancel, on_progress)?)
    }

    /// Configuration of the workers.
    pub(super) fn setup(&self) -> WorkerConfig {
        WorkerConfig {
            paths: self.paths.clone(),
            catalog: self.catalog.clone(),
            folders: self.folders(),
            profile: self.profile.clone(),
            model: self.config.generation.model.clone(),
            device: self.device,
            embedder: self.embedder.clone(),
            generator: self.generator_settings(),
            unload_after: self.config.generation.unload_after(),
            attribution_embedder: self.config.attribution.embedder().map(str::to_owned),
            evidence: self.config.evidence.clone(),
            index: self.config.index.clone(),
        }
    }

    /// Load settings of the generator for comparisons.
    pub(super) fn exact_settings(&self) -> GeneratorSettings {
        GeneratorSettings { writing: Decoding::Deterministic, ..self.generator_settings() }
    }

    /// Load settings of the generator for questions.
    pub(super) fn generator_settings(&self) -> GeneratorSettings {
        self.config.generation.generator(self.profile.profile.context_tokens, self.device)
    }

    /// Settings of the app.
    pub(super) fn app_settings(&self) -> AppSettings {
        AppSettings {
            turn: self.turn_settings(),
            suggestions: self.config.generation.suggestions,
            explain_ahead: self.config.generation.explain_ahead,
            reranker: self.profile.profile.reranker.clone(),
            generators: self.setup().generators(),
            context_tokens: self.generator_settings().context_tokens,
            ..AppSettings::default()
        }
    }

    /// Like [`CommandContext::app_settings`], for headless commands: without suggestions and prefetch.
    pub(super) fn headless_settings(&self) -> AppSettings {
        AppSettings { suggestions: Suggestions::Off, explain_ahead: ExplainAhead::Off, ..self.app_settings() }
    }

    /// Settings of turns, without domain overrides.
    pub(super) fn turn_settings(&self) -> TurnSettings {
        self.config.turn_settings(&self.profile.profile)
    }

    /// Settings of turns in a domain. Reports overrides and invalid ones.
    pub(super) fn settings_of(&self, domain: &DomainName, output: &mut Output) -> TurnSettings {
        let stored = read_changes(&self.paths.domain(domain));
        output.changes(&stored.changes, damage_of(&stored.damage).as_ref());
        stored.changes.applied_to(&self.turn_settings())
    }

    /// Sources in the prompt.
    pub(super) fn sources(&self) -> usize {
        self.config.sources.unwrap_or(self.profile.profile.top_k)
    }
}

/// Fails where the configured kind of GPU is unavailable; explains why the build for it does not run.
fn check_device(device: DeviceChoice, cpu_reason: &CpuReason) -> Result<(), Failure> {
    // A command that computes nothing needs no GPU.
    if matches!(cpu_reason, CpuReason::NothingToCompute) {
        return Ok(());
    }
    match gpus(device) {
        Ok(_) => Ok(()),
        Err(error) if device == DeviceChoice::Cuda && DeviceChoice::of_this_build().is_none() => {
            let Problem { what, next } = problem(&error);
            Err(Failure::usage(Problem { what: format!("{what}: {cpu_reason}"), next }))
        }
        Err(error) => Err(Failure::from(error)),
    }
}

/// How the generator fits the GPUs.
fn gpu_room(
    catalog: &Catalog,
    folders: &ModelFolders,
    device: DeviceChoice,
    cpu_reason: &CpuReason,
) -> Result<GpuFit, Failure> {
    if let Some(reason) = cpu_reason.in_short() {
        return Ok(GpuFit::OfNoUse(reason));
    }
    if DeviceChoice::of_this_build().is_none() {
        return Ok(GpuFit::NotBuilt);
    }
    if device == DeviceChoice::Cpu {
        return Ok(GpuFit::OfNoUse(GpuUnavailable::NotWanted));
    }
    if matches!(cpu_reason, CpuReason::NothingToCompute) {
        return Ok(GpuFit::OfNoUse(GpuUnavailable::NothingToCompute));
    }
    let mut here = true;
    for id in catalog.profile(GpuFit::PROFILE)?.model_ids() {
        here &= folders.has(catalog.model(id)?);
    }
    let free = gpus(device)?.iter().map(|gpu| gpu.free).max();
    Ok(GpuFit::of(free, if here { Weights::Here } else { Weights::Missing }))
}

/// Fails where the model of a setting has another role.
fn check_is(role: ModelRole, model: &CatalogModel, key: &str) -> Result<(), Failure> {
    if model.role == role {
        return Ok(());
    }
    Err(Failure::usage(Problem {
        what: format!("`{key}` is `{}`, which is no {}", model.id, role.label()),
        next: format!("Name one as `ragonite models list` shows them, each with what it is: {}.", role.label()),
    }))
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(problem(&error))
    }
}

impl From<InferenceError> for Failure {
    fn from(error: InferenceError) -> Self {
        let exit = match &error {
            InferenceError::Canceled(_) => return Self::canceled(),
            InferenceError::MissingFile { .. }
            | InferenceError::DamagedFile { .. }
            | InferenceError::NoGpu { .. }
            | InferenceError::Unknown { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self { exit, problem: Some(problem(&error)) }
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Self::failed(problem(&error))
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let exit = match &error {
            HistoryError::NoConversation { .. }
            | HistoryError::NoTurn { .. }
            | HistoryError::InTrash { .. }
            | HistoryError::NotInTrash { .. }
            | HistoryError::NoTitle => Exit::Usage,
            _ => Exit::Failed,
        };
        Self { exit, problem: Some(problem(&error)) }
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        let exit = match &error {
            IndexError::Canceled(_) => return Self::canceled(),
            IndexError::NotFound { .. }
            | IndexError::EmbedderMismatch { .. }
            | IndexError::NewerFormat { .. }
            | IndexError::OlderFormat { .. }
            | IndexError::Foreign { .. }
            | IndexError::NoRoots { .. }
            | IndexError::Documents(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        Self { exit, problem: Some(problem(&error)) }
    }
}

impl From<RetrievalError> for Failure {
    fn from(error: RetrievalError) -> Self {
        match error {
            RetrievalError::Canceled(_) => Self::canceled(),
            error => Self::failed(problem(&error)),
        }
    }
}
