//! An embedder that a command and the worker threads share.
//!
//! Invariant: it is loaded at most once, by the first caller; other callers wait meanwhile.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Embed, InferenceError};

/// A place for an embedder; clones share it.
#[derive(Clone, Default)]
pub struct SharedEmbedder(Arc<Mutex<Option<Arc<dyn Embed>>>>);

impl fmt::Debug for SharedEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedEmbedder").finish_non_exhaustive()
    }
}

impl SharedEmbedder {
    /// The embedder; the first call loads it.
    ///
    /// # Errors
    /// Those of `load`; the next call then loads again.
    pub fn get_or_load(
        &self,
        load: impl FnOnce() -> Result<Arc<dyn Embed>, InferenceError>,
    ) -> Result<Arc<dyn Embed>, InferenceError> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let embedder = match slot.take() {
            Some(embedder) => embedder,
            None => load()?,
        };
        Ok(Arc::clone(slot.insert(embedder)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashEmbedder;
    use ragonite_base::Canceled;

    #[test]
    fn it_is_loaded_once_and_again_after_a_failure() {
        let (shared, mut loads) = (SharedEmbedder::default(), 0);
        let canceled = shared.get_or_load(|| Err(InferenceError::Canceled(Canceled)));
        assert!(matches!(canceled, Err(InferenceError::Canceled(_))));
        for shared in [shared.clone(), shared] {
            let load = || {
                loads += 1;
                Ok(Arc::new(HashEmbedder::new(64)) as Arc<dyn Embed>)
            };
            assert_eq!(shared.get_or_load(load).unwrap().identity().dimensions, 64);
        }
        assert_eq!(loads, 1);
    }
}
