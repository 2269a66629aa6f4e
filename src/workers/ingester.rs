//! The thread that ingests documents while questions are answered.
//!
//! Invariant: every ingest is answered once.
//! Not here: `ragonite ingest` (`cli`), the ingest itself (`index`).

use std::path::PathBuf;
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
use ragonite_index::{DomainChange, DomainIngest, IngestProgress, IngestReport, IngestRequest, Missing, NoSource};

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
pub(super) fn start(models: Arc<ModelManager>, events: Events) -> Result<Worker<IngestJob>, RuntimeError> {
    Worker::start("ingester", move |mailbox: Receiver<IngestJob>| {
        for job in mailbox {
            events.send(match ingest(&models, &job, &events) {
                Ok(report) => Event::IngestFinished(Box::new(report)),
                Err(Stop::Canceled) => Event::IngestCanceled,
                Err(Stop::Failed(problem)) => Event::IngestFailed(problem),
            });
        }
    })
}

fn ingest(models: &ModelManager, job: &IngestJob, events: &Events) -> Result<IngestReport, Stop> {
    let setup = &models.setup;
    let folder = setup.paths.domain(&job.domain);
    let paths: Vec<PathBuf> = if job.path.is_empty() { Vec::new() } else { vec![typed_path(&job.path)] };
    let (evidence, index) = (&setup.evidence, &setup.index);
    let request = IngestRequest { paths: &paths, evidence, index, missing: Missing::Keep };
    let ingest = DomainIngest::new(&folder, request).map_err(|reason| no_source(&reason))?;
    let embedder = models.embedder()?;
    let change = DomainChange::default();
    let report = ingest.run(&change, embedder.as_ref(), &job.cancel, &mut progress_sender(events))?;
    nothing_read(&report, &paths).map_or(Ok(report), |problem| Err(problem.into()))
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

fn no_source(reason: &NoSource) -> Problem {
    match reason {
        NoSource::Missing { .. } => Problem {
            what: reason.to_string(),
            next: "Check the path and make the domain again; what was typed is still there".to_owned(),
        },
        NoSource::NotGiven { domain } => Problem {
            what: format!("there is no domain `{domain}` any more"),
            next: "Make it again from its folder".to_owned(),
        },
    }
}

/// Why a domain is empty.
fn nothing_read(report: &IngestReport, paths: &[PathBuf]) -> Option<Problem> {
    report.nothing_read().filter(|_| report.documents == 0)?;
    let typed = paths.first().map(|path| format!("`{}`", clean_line(&path.to_string_lossy())));
    let from = typed.unwrap_or_else(|| "the folders of the domain".to_owned());
    let what = match report.skipped.first() {
        Some(first) => format!("none of the documents of {from} could be read: {}", clean_line(&first.to_string())),
        None => format!("no document was found in {from}"),
    };
    let next = "Choose a folder with documents; `ragonite ingest --help` names the formats".to_owned();
    Some(Problem { what, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_index::Skipped;

    #[test]
    fn a_folder_that_is_not_there_or_has_nothing_to_read_is_refused_in_words() {
        let refused = no_source(&NoSource::Missing { path: "/no/such/folder".into() });
        assert!(refused.what.contains("/no/such/folder"), "{refused}");
        let paths = [PathBuf::from("/docs")];
        let empty = nothing_read(&IngestReport::default(), &paths).unwrap();
        assert_eq!(empty.what, "no document was found in `/docs`");
        let skipped = vec![Skipped { path: "/docs/a.bin".into(), reason: "it is in no known format".into() }];
        let unread = nothing_read(&IngestReport { skipped, ..IngestReport::default() }, &paths).unwrap();
        assert!(unread.what.ends_with("/docs/a.bin: it is in no known format"), "{unread}");
        assert_eq!(nothing_read(&IngestReport { documents: 1, ..IngestReport::default() }, &paths), None);
    }
}
