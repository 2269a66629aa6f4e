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
        let current = if let Some(mut open) = index.take() {
            match open.refresh(cancel, &mut |_| {}) {
                // The domain stays usable.
                Err(IndexError::Canceled(canceled)) => {
                    *index = Some(open);
                    return Err(canceled.into());
                }
                refreshed => refreshed?,
            }
            open
        } else {
            let embedder = self.models.embedder()?;
            let folder = self.models.setup.paths.domain(name);
            Index::open(&folder, embedder.identity(), cancel, &mut |_| {})?
        };
        work(index.insert(current))
    }

    /// The slot of a domain. Where too many are open, those that no thread uses are closed.
    fn slot(&self, name: &DomainName) -> Slot {
        let mut open = self.open.lock();
        if !open.contains_key(name) && open.len() >= MAX_OPEN {
            open.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(open.entry(name.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{Events, WorkerConfig};
    use ragonite_base::CancelSource;
    use ragonite_index::NewDomain;
    use ragonite_index::test_kit::WordEmbedder;

    /// Domains `a` to `d`, which need no weights.
    fn domains(data: &std::path::Path) -> OpenDomains {
        let config = WorkerConfig::tiny(data);
        let embedder = config.embedder.get_or_load(|| Ok(Arc::new(WordEmbedder::new("f00d")))).unwrap();
        for name in ["a", "b", "c", "d"] {
            let folder = config.paths.domain(&name.parse().unwrap());
            let never = CancelToken::never();
            Index::open_or_create(&folder, NewDomain::default(), embedder.identity(), &never, &mut |_| {}).unwrap();
        }
        let events = Events(unbounded_channel().0);
        OpenDomains::new(ModelManager::new(config, CancelToken::never(), events))
    }

    fn touch(domains: &OpenDomains, name: &str, cancel: &CancelToken) -> Result<(), Stop> {
        domains.with(&name.parse().unwrap(), cancel, |_| Ok(()))
    }

    #[test]
    fn waiting_for_a_domain_in_use_ends_at_a_cancellation() {
        let data = tempfile::tempdir().unwrap();
        let domains = domains(data.path());
        let (entered, enter) = mpsc::channel();
        let (leave, left) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let held = &domains;
            scope.spawn(move || {
                held.with(&"a".parse().unwrap(), &CancelToken::never(), |_| {
                    entered.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
            });
            enter.recv().unwrap();
            let cancel = CancelSource::default();
            let waiting = scope.spawn({
                let (domains, token) = (&domains, cancel.token());
                move || touch(domains, "a", &token)
            });
            assert!(touch(&domains, "b", &CancelToken::never()).is_ok(), "another domain is free");
            cancel.cancel();
            assert!(matches!(waiting.join().unwrap(), Err(Stop::Canceled)));
            leave.send(()).unwrap();
        });
        assert!(touch(&domains, "a", &CancelToken::never()).is_ok());
    }

    #[test]
    fn a_domain_in_use_stays_open_when_others_are_closed() {
        let data = tempfile::tempdir().unwrap();
        let domains = domains(data.path());
        let never = CancelToken::never();
        touch(&domains, "a", &never).unwrap();
        touch(&domains, "b", &never).unwrap();
        domains.with(&"c".parse().unwrap(), &never, |_| touch(&domains, "d", &never)).unwrap();
        let mut open: Vec<String> = domains.open.lock().keys().map(ToString::to_string).collect();
        open.sort_unstable();
        assert_eq!(open, ["c", "d"]);
    }
}
