//! The thread that ingests documents while questions are answered.
//!
//! Invariants: every ingest is answered once; a new domain is removed where nothing could be read, but kept after a
//! cancellation, so that the next ingest continues; documents stored before stay.
//! Not here: `ragonite ingest` (`cli`), storing (`index`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::model_manager::ModelManager;
use super::problem::Stop;
use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{Event, Problem};
use ragonite_base::{CancelToken, DomainName, clean_line};
use ragonite_config::typed_path;
use ragonite_index::{
    Index, IndexError, IngestProgress, IngestReport, IngestRequest, Missing, NewDomain, find_domain, remove_domain,
};

/// Shortest time between two progress events.
const INTERVAL: Duration = Duration::from_millis(100);

/// An ingest.
#[derive(Debug)]
pub(super) struct IngestJob {
    pub(super) domain: DomainName,
    /// The path as typed; empty for the earlier ones of the domain.
    pub(super) path: String,
    pub(super) cancel: CancelToken,
}

/// Starts the thread.
pub(super) fn start(engine: Arc<ModelManager>, events: Events) -> Result<Worker<IngestJob>, RuntimeError> {
    let worker = Worker::start("ingester", move |mailbox: Receiver<IngestJob>| {
        for job in mailbox {
            events.send(match ingest(&engine, &job, &events) {
                Ok(report) => Event::IngestFinished(Box::new(report)),
                Err(Stop::Canceled) => Event::IngestCanceled,
                Err(Stop::Failed(problem)) => Event::IngestFailed(problem),
            });
        }
    })?;
    Ok(worker)
}

fn ingest(engine: &ModelManager, job: &IngestJob, events: &Events) -> Result<IngestReport, Stop> {
    let folder = engine.setup.paths.domain(&job.domain);
    let is_new = find_domain(&folder).is_err();
    let paths: Vec<PathBuf> = if job.path.is_empty() { Vec::new() } else { vec![typed_path(&job.path)] };
    if is_new {
        check_path(&job.domain, paths.first().map(PathBuf::as_path))?;
    }
    let embedder = engine.embedder()?;
    let request = IngestRequest {
        paths: &paths,
        evidence: &engine.setup.evidence,
        index: &engine.setup.index,
        missing: Missing::Keep,
    };
    let mut tell = progress_sender(events);
    let cancel = &job.cancel;
    let mut index = Index::open_or_create(&folder, NewDomain::default(), embedder.identity(), cancel, &mut tell)?;
    let result = index.ingest(&request, embedder.as_ref(), cancel, &mut tell);
    let is_empty = index.summary()?.documents == 0;
    drop(index);
    if is_new && is_empty && !matches!(result, Err(IndexError::Canceled(_))) {
        remove_domain(&folder)?;
    }
    let report = result?;
    match nothing_read(&report, &paths) {
        Some(problem) if is_empty => Err(problem.into()),
        _ => Ok(report),
    }
}

/// Sends progress, at most once per interval.
fn progress_sender(events: &Events) -> impl FnMut(IngestProgress) + '_ {
    let mut last: Option<Instant> = None;
    move |progress| {
        if last.is_none_or(|at| at.elapsed() >= INTERVAL) {
            last = Some(Instant::now());
            events.send(Event::IngestAdvanced(progress));
        }
    }
}

fn check_path(domain: &DomainName, path: Option<&Path>) -> Result<(), Problem> {
    match path {
        Some(path) if path.exists() => Ok(()),
        Some(path) => Err(Problem {
            what: format!("there is no file or folder `{}`", clean_line(&path.to_string_lossy())),
            next: "Check the path and make the domain again; what was typed is still there".to_owned(),
        }),
        None => Err(Problem {
            what: format!("there is no domain `{domain}` any more"),
            next: "Make it again from its folder".to_owned(),
        }),
    }
}

/// Why a domain is empty.
fn nothing_read(report: &IngestReport, paths: &[PathBuf]) -> Option<Problem> {
    let typed = paths.first().map(|path| format!("`{}`", clean_line(&path.to_string_lossy())));
    let from = typed.unwrap_or_else(|| "the folders of the domain".to_owned());
    let what = match report.skipped.first() {
        Some(first) => format!("none of the documents of {from} could be read: {}", clean_line(&first.to_string())),
        None => format!("no document was found in {from}"),
    };
    let next = "Choose a folder with documents; `ragonite ingest --help` names the formats".to_owned();
    (report.documents == 0).then_some(Problem { what, next })
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use crate::WorkerConfig;
    use ragonite_base::CancelSource;
    use ragonite_config::{Paths, choose_profile};
    use ragonite_document::evidence::EvidenceSettings;
    use ragonite_index::{IndexSettings, Skipped, list_domains};
    use ragonite_inference::{Catalog, DeviceChoice, GeneratorSettings, ModelFolders};

    /// What the thread works with, and what it tells; none where the embedder of `tiny` is not here.
    fn engine(data: &Path) -> Option<(Arc<ModelManager>, Events, UnboundedReceiver<Event>)> {
        let models = ragonite_testing::models_folder();
        let catalog = Catalog::builtin().unwrap();
        let profile = choose_profile(&catalog, Some("tiny"), None).unwrap();
        let folders = ModelFolders::new(vec![models.clone()]);
        if !folders.has(catalog.model(&profile.profile.embedder).unwrap()) {
            ragonite_testing::skip_without("the embedder of `tiny`");
            return None;
        }
        let setup = WorkerConfig {
            model: ragonite_inference::GeneratorChoice::Profile,
            paths: Paths::find(Some(data), None).unwrap(),
            catalog,
            folders,
            profile,
            device: DeviceChoice::Cpu,
            generator: GeneratorSettings::default(),
            unload_after: None,
            comparer: None,
            evidence: EvidenceSettings::default(),
            index: IndexSettings::default(),
        };
        let (events, told) = unbounded_channel();
        let events = Events(events);
        Some((ModelManager::new(setup, CancelToken::never(), events.clone()), events, told))
    }

    #[test]
    fn a_domain_is_made_read_again_and_whole_after_a_stop_and_a_failure_leaves_none() {
        let data = tempfile::tempdir().unwrap();
        let Some((engine, events, mut told)) = engine(data.path()) else { return };
        let docs = data.path().join("docs");
        std::fs::create_dir(&docs).unwrap();
        let path = docs.to_str().unwrap();
        let stored = || -> Vec<(String, usize)> {
            let listed = list_domains(&engine.setup.paths.domains()).unwrap();
            listed.into_iter().map(|one| (one.name.to_string(), one.summary.unwrap().documents)).collect()
        };
        let read = |path: &str, cancel: &CancelSource| {
            let job = IngestJob { domain: "wiki".parse().unwrap(), path: path.to_owned(), cancel: cancel.token() };
            ingest(&engine, &job, &events)
        };
        let runs = CancelSource::default();
        for wrong in ["/no/such/folder", path] {
            assert!(matches!(read(wrong, &runs), Err(Stop::Failed(_))), "{wrong}");
            assert_eq!(stored(), [], "{wrong}");
        }

        std::fs::write(docs.join("a.md"), "# Modem\n\nAlice replaces the modem of the station.\n").unwrap();
        assert_eq!(read(path, &runs).unwrap().added, 1);
        let advanced =
            std::iter::from_fn(|| told.try_recv().ok()).any(|event| matches!(event, Event::IngestAdvanced(_)));
        assert!(advanced, "it says how far it is");

        std::fs::write(docs.join("b.md"), "# Board\n\nThe board has revision C.\n").unwrap();
        let stops = CancelSource::default();
        stops.cancel();
        assert!(matches!(read("", &stops), Err(Stop::Canceled)));
        assert_eq!(stored(), [("wiki".to_owned(), 1)]);
        let again = read("", &runs).unwrap();
        assert_eq!((again.added, again.unchanged), (1, 1));
        assert_eq!(stored(), [("wiki".to_owned(), 2)]);
    }

    #[test]
    fn a_folder_that_is_not_there_or_has_nothing_to_read_is_refused_in_words() {
        let domain: DomainName = "wiki".parse().unwrap();
        let refused = check_path(&domain, Some(Path::new("/no/such/folder"))).unwrap_err();
        assert!(refused.what.contains("/no/such/folder"), "{refused}");
        assert!(check_path(&domain, None).is_err());
        let paths = [PathBuf::from("/docs")];
        let empty = nothing_read(&IngestReport::default(), &paths).unwrap();
        assert_eq!(empty.what, "no document was found in `/docs`");
        let skipped = vec![Skipped { path: "/docs/a.bin".into(), reason: "it is in no known format".into() }];
        let unread = nothing_read(&IngestReport { skipped, ..IngestReport::default() }, &paths).unwrap();
        assert!(unread.what.ends_with("/docs/a.bin: it is in no known format"), "{unread}");
        assert_eq!(nothing_read(&IngestReport { documents: 1, ..IngestReport::default() }, &paths), None);
    }
}
