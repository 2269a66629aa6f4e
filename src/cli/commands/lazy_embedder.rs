//! An embedder that is loaded when the first text needs it; an ingest without changes needs none.
//!
//! Invariant: it has the identity of the domain's vectors, which equals that of the profile's embedder because their
//! fingerprints are equal.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::context::CommandContext;
use super::exit::Failure;
use ragonite_base::{CancelToken, DomainName};
use ragonite_encoder::{embedder_fingerprint, load_embedder};
use ragonite_index::embedder_of;
use ragonite_inference::{
    CatalogModel, DeviceChoice, Embed, Embedding, EncoderIdentity, InferenceError, ModelFolders, TextRole,
};

pub(super) struct LateEmbedder<'a> {
    model: &'a CatalogModel,
    folders: ModelFolders,
    device: DeviceChoice,
    cancel: CancelToken,
    identity: EncoderIdentity,
    loaded: OnceLock<Arc<dyn Embed>>,
    loading: Mutex<()>,
}

impl<'a> LateEmbedder<'a> {
    /// The profile's embedder for a domain: loaded later where the domain was made with it, else now.
    pub(super) fn of(start: &'a CommandContext, domain: &DomainName, cancel: &CancelToken) -> Result<Self, Failure> {
        let model = start.catalog.model(&start.profile.profile.embedder)?;
        let folders = start.folders();
        let loaded = OnceLock::new();
        let present = embedder_of(&start.paths.domain(domain)).ok();
        let fingerprint = embedder_fingerprint(model)?;
        let identity = if let Some(identity) = present.filter(|identity| identity.fingerprint == fingerprint) {
            identity
        } else {
            let embedder = load_embedder(model, &folders, start.device, cancel)?;
            loaded.get_or_init(|| embedder).identity().clone()
        };
        let (device, cancel) = (start.device, cancel.clone());
        Ok(Self { model, folders, device, cancel, identity, loaded, loading: Mutex::default() })
    }

    fn get(&self) -> Result<&dyn Embed, InferenceError> {
        if let Some(embedder) = self.loaded.get() {
            return Ok(embedder.as_ref());
        }
        let alone = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have loaded it meanwhile.
        if self.loaded.get().is_none() {
            let embedder = load_embedder(self.model, &self.folders, self.device, &self.cancel)?;
            return Ok(self.loaded.get_or_init(|| embedder).as_ref());
        }
        drop(alone);
        self.get()
    }
}

impl Embed for LateEmbedder<'_> {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        self.get()?.count_tokens(text)
    }

    fn embed(&self, texts: &[&str], role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        self.get()?.embed(texts, role, cancel)
    }
}
