//! An embedder that is loaded when the first text needs it; an ingest without changes needs none.
//!
//! Invariant: it has the identity of the domain's vectors, which equals that of the profile's embedder because their
//! fingerprints are equal.

use super::context::CommandContext;
use super::exit::Failure;
use ragonite_base::{CancelToken, DomainName};
use ragonite_encoder::embedder_fingerprint;
use ragonite_index::embedder_of;
use ragonite_inference::{Embed, Embedding, EncoderIdentity, InferenceError, TextRole};

pub(super) struct LazyEmbedder<'a> {
    start: &'a CommandContext,
    cancel: CancelToken,
    identity: EncoderIdentity,
}

impl<'a> LazyEmbedder<'a> {
    /// The profile's embedder for a domain: loaded later where the domain was made with it, else now.
    pub(super) fn of(start: &'a CommandContext, domain: &DomainName, cancel: &CancelToken) -> Result<Self, Failure> {
        let fingerprint = embedder_fingerprint(start.embedder_model()?)?;
        let present = embedder_of(&start.paths.domain(domain)).ok();
        let identity = match present.filter(|identity| identity.fingerprint == fingerprint) {
            Some(identity) => identity,
            None => start.embedder(cancel)?.identity().clone(),
        };
        Ok(Self { start, cancel: cancel.clone(), identity })
    }
}

impl Embed for LazyEmbedder<'_> {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        self.start.embedder(&self.cancel)?.count_tokens(text)
    }

    fn embed(&self, texts: &[&str], role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        self.start.embedder(&self.cancel)?.embed(texts, role, cancel)
    }
}
