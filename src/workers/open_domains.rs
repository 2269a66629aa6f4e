//! The open domains, shared by the worker threads.
//!
//! Invariants: one thread uses a domain at a time; waiting for a domain ends at a cancellation; a domain is used with
//! the changes of other processes.
//! Not here: retrieval (`retrieval`), storage (`index`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::model_manager::ModelManager;
use super::problem::Stop;
use ragonite_base::{CancelToken, DomainName};
use ragonite_index::{Index, IndexError};

/// Most open domains, because each takes memory.
const MAX_OPEN: usize = 3;

/// Interval of checking for cancellation while another thread uses the domain.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// A domain that is opened when it is first used.
type Slot = Arc<Mutex<Option<Index>>>;

/// The open domains.
pub(super) struct OpenDomains {
    models: Arc<ModelManager>,
    open: Mutex<HashMap<DomainName, Slot>>,
}

impl OpenDomains {
    /// No open domains.
    pub(super) fn new(models: Arc<ModelManager>) -> Self {
        Self { models, open: Mutex::default() }
    }

    /// Runs `work` with a domain; opens it when needed.
    pub(super) fn with<T>(
        &self,
        name: &DomainName,
        cancel: &CancelToken,
        work: impl FnOnce(&Index) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        cancel.check()?;
        let slot = self.slot(name);
        let mut index = loop {
            match slot.try_lock_for(CANCEL_INTERVAL) {
                Some(index) => break index,
                None => cancel.check()?,
            }
        };
        let index = match index.take() {
            Some(mut open) => match open.refresh(cancel, &mut |_| {}) {
                // The domain stays usable.
                Err(IndexError::Canceled(canceled)) => {
                    *index = Some(open);
                    return Err(canceled.into());
                }
                refreshed => {
                    refreshed?;
                    index.insert(open)
                }
            },
            None => {
                let embedder = self.models.embedder()?;
                let folder = self.models.setup.paths.domain(name);
                index.insert(Index::open(&folder, embedder.identity(), cancel, &mut |_| {})?)
            }
        };
        work(index)
    }

    /// The slot of a domain. Other domains are closed where too many are open; threads that use them finish first.
    fn slot(&self, name: &DomainName) -> Slot {
        let mut open = self.open.lock();
        if !open.contains_key(name) && open.len() >= MAX_OPEN {
            open.clear();
        }
        Arc::clone(open.entry(name.clone()).or_default())
    }
}
