//! `ragonite ingest`: documents into a domain.

use std::fmt::Write as _;

use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use super::start::Start;
use crate::app::Problem;
use crate::base::{CancelSource, clean_line};
use crate::cli::Ingest;
use crate::index::{Index, IngestProgress, IngestReport, IngestRequest, IngestStage, NewDomain};
use crate::runtime::cancel_on_interrupt;

pub(super) fn run(start: &Start, args: &Ingest, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let report = ingest(start, args, &cancel, output)?;
    match output.form() {
        Form::Json => output.json(&report)?,
        Form::Text => output.text(&text(&report))?,
    }
    let kept = report.added + report.updated + report.unchanged;
    if kept == 0 && !report.skipped.is_empty() {
        return Err(Failure::failed(Problem {
            what: "none of the documents could be read".to_owned(),
            next: "The reasons stand above; `ragonite ingest --help` names the formats.".to_owned(),
        }));
    }
    Ok(Exit::Done)
}

/// Ingests with progress on stderr.
pub(super) fn ingest(
    start: &Start,
    args: &Ingest,
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<IngestReport, Failure> {
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        return Err(Failure::usage(Problem {
            what: format!("there is no file or folder `{}`", missing.display()),
            next: "Check the path.".to_owned(),
        }));
    }
    output.progress("loading the embedder");
    let token = cancel.token();
    let embedder = start.embedder(&token)?;
    let mut show = |progress: IngestProgress| output.progress(&line(&progress));
    let mut index = start.create_domain(&args.domain, embedder.identity(), &mut show)?;
    describe(&mut index, args)?;
    let request = IngestRequest { paths: &args.paths, evidence: &start.config.evidence, index: &start.config.index };
    Ok(index.ingest(&request, embedder.as_ref(), &token, &mut show)?)
}

/// Sets title and prompt prefix where they were given and are new.
fn describe(index: &mut Index, args: &Ingest) -> Result<(), Failure> {
    let manifest = index.manifest()?;
    let title = args.title.clone().unwrap_or_else(|| manifest.title.clone());
    let prompt_prefix = args.prompt_prefix.clone().unwrap_or_else(|| manifest.prompt_prefix.clone());
    if title != manifest.title || prompt_prefix != manifest.prompt_prefix {
        index.describe(NewDomain { title, prompt_prefix })?;
    }
    Ok(())
}

/// Progress in words.
pub(super) fn line(progress: &IngestProgress) -> String {
    let IngestProgress { done, total, embedded, current, .. } = progress;
    match progress.stage {
        IngestStage::Reading => {
            format!("reading {done} of {total} documents, {embedded} evidences embedded  {current}")
        }
        IngestStage::Embedding => format!("embedding: {done} of {total}, {embedded} evidences embedded  {current}"),
        IngestStage::Indexing => format!("indexing {done} of {total} evidences"),
    }
}

fn text(report: &IngestReport) -> String {
    let kinds = report.evidences;
    let mut text = format!(
        "{}: {} documents ({} added, {} updated, {} unchanged) in {:.1} s\n{} evidences: {} passages, {} lists, {} tables, {} rows\n",
        report.domain,
        report.documents,
        report.added,
        report.updated,
        report.unchanged,
        report.seconds,
        kinds.total(),
        kinds.passage,
        kinds.list,
        kinds.table,
        kinds.row
    );
    for skipped in &report.skipped {
        let _ =
            writeln!(text, "skipped {}: {}", clean_line(&skipped.path.to_string_lossy()), clean_line(&skipped.reason));
    }
    text
}
