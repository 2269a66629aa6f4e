//! What every command starts from: configuration, folders, catalog, profile.

use std::sync::Arc;

use super::exit::{Exit, Failure};
use crate::answer::{AnswerSettings, Suggestions};
use crate::app::AppSettings;
use crate::base::{CancelToken, DomainName};
use crate::cli::Shared;
use crate::config::{ChosenProfile, Config, ConfigError, Paths, choose_profile};
use crate::history::HistoryError;
use crate::index::{Index, IndexError, OnProgress};
use crate::inference::{
    Catalog, Embed, EncoderIdentity, InferenceError, ModelFolders, Rerank, load_embedder, load_reranker,
};
use crate::retrieval::{RetrievalError, RetrievalSettings};
use crate::runtime::{RuntimeError, Setup, problem};

/// The start of every command.
pub(super) struct Start {
    pub(super) config: Config,
    pub(super) paths: Paths,
    pub(super) catalog: Catalog,
    pub(super) profile: ChosenProfile,
    pub(super) shared: Shared,
}

impl Start {
    pub(super) fn new(shared: &Shared) -> Result<Self, Failure> {
        let config = Config::load(shared.config.as_deref())?;
        let data = shared.data_dir.as_deref().or(config.data_dir.as_deref());
        let models = shared.models_dir.as_deref().or(config.models_dir.as_deref());
        let paths = Paths::find(data, models)?;
        let catalog = Catalog::builtin()?;
        let profile = choose_profile(&catalog, shared.profile.as_deref(), config.profile.as_deref())?;
        Ok(Self { config, paths, catalog, profile, shared: shared.clone() })
    }

    /// Where weights are looked for.
    pub(super) fn folders(&self) -> ModelFolders {
        ModelFolders::new(self.paths.models.clone()).with_stamp_cache(self.paths.stamps())
    }

    pub(super) fn embedder(&self, cancel: &CancelToken) -> Result<Arc<dyn Embed>, Failure> {
        let model = self.catalog.model(&self.profile.profile.embedder)?;
        Ok(load_embedder(model, &self.folders(), cancel)?)
    }

    pub(super) fn reranker(&self, cancel: &CancelToken) -> Result<Option<Arc<dyn Rerank>>, Failure> {
        let Some(id) = &self.profile.profile.reranker else { return Ok(None) };
        Ok(Some(load_reranker(self.catalog.model(id)?, &self.folders(), cancel)?))
    }

    /// Fails now, with the fix, when a weight file of the profile is missing or of the wrong size. Its bytes are checked
    /// when it is loaded.
    pub(super) fn require_models(&self) -> Result<(), Failure> {
        let folders = self.folders();
        for id in self.profile.profile.model_ids() {
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

    /// Checks every byte of the profile's weights, unless that was done before.
    pub(super) fn check_weights(&self, cancel: &CancelToken) -> Result<(), Failure> {
        let folders = self.folders();
        for id in self.profile.profile.model_ids() {
            let model = self.catalog.model(id)?;
            for file in &model.files {
                folders.find(model, file, cancel)?;
            }
        }
        Ok(())
    }

    /// Opens a domain that must exist.
    pub(super) fn open_domain(
        &self,
        name: &DomainName,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Index, Failure> {
        Ok(Index::open(&self.paths.domain(name), embedder, cancel, on_progress)?)
    }

    /// What the worker threads start from.
    pub(super) fn setup(&self) -> Setup {
        Setup {
            paths: self.paths.clone(),
            catalog: self.catalog.clone(),
            folders: self.folders(),
            profile: self.profile.clone(),
            retrieval: RetrievalSettings {
                top_k: self.config.retrieval.top_k.max(self.sources()),
                ..self.config.retrieval.clone()
            },
            answer: AnswerSettings { sampling: self.config.generation.sampling(), prompt: self.config.prompt.clone() },
            threads: self.config.generation.threads,
            attribution: self.config.attribution,
        }
    }

    /// What the core starts from.
    pub(super) fn app_settings(&self) -> AppSettings {
        let suggestions = self.config.generation.suggestions;
        AppSettings { top_k: self.sources(), suggestions, ..AppSettings::default() }
    }

    /// As [`Start::app_settings`], for a command: nobody is there to go on.
    pub(super) fn headless_settings(&self) -> AppSettings {
        AppSettings { suggestions: Suggestions::Off, ..self.app_settings() }
    }

    /// Evidences that go into the prompt.
    pub(super) fn sources(&self) -> usize {
        self.config.sources.unwrap_or(self.profile.profile.top_k)
    }
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
