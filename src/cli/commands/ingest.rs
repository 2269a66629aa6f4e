//! `ragonite ingest`: reads files and folders into a domain.

use std::fmt::Write as _;
use std::path::Path;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::lazy_embedder::LazyEmbedder;
use super::output::{Form, Output};
use super::progress::Pace;
use crate::args::Ingest;
use ragonite_app::Problem;
use ragonite_base::{CancelSource, DomainName, clean_line};
use ragonite_index::{
    DomainChange, DomainIngest, IndexError, IngestReport, IngestRequest, Missing, NoSource, NothingRead, show_domain,
};
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

/// Most skipped documents that are named; a hostile archive may hold thousands.
const MOST_SHOWN: usize = 100;

pub(super) fn run(start: &CommandContext, args: &Ingest, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let report = ingest(start, args, &cancel, output)?;
    match output.form() {
        Form::Json => output.json(&report)?,
        Form::Text => output.text(&text(&report))?,
    }
    match report.nothing_read() {
        Some(nothing) => Err(Failure::failed(unread(nothing, &report))),
        None => Ok(Exit::Done),
    }
}

fn unread(nothing: NothingRead, report: &IngestReport) -> Problem {
    let (what, next) = match nothing {
        NothingRead::Kept => {
            let command = remove_missing(report);
            let next =
                format!("Mount the disk or share, put the files back, or run `{command}` if they are gone for good.");
            ("no file or folder to read is there, so nothing was changed", next)
        }
        NothingRead::Skipped => {
            let next = "The reasons stand above; `ragonite ingest --help` names the formats.".to_owned();
            ("none of the documents could be read", next)
        }
        NothingRead::NotFound => {
            let next = "Check the paths; hidden files and links inside folders are passed over.".to_owned();
            ("no document was found", next)
        }
    };
    Problem { what: what.to_owned(), next }
}

/// Ingests with progress on stderr.
pub(super) fn ingest(
    start: &CommandContext,
    args: &Ingest,
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<IngestReport, Failure> {
    let folder = start.paths.domain(&args.domain);
    let request = IngestRequest {
        paths: &args.paths,
        evidence: &start.config.evidence,
        index: &start.config.index,
        missing: if args.remove_missing { Missing::Remove } else { Missing::Keep },
    };
    let ingest = DomainIngest::new(&folder, request).map_err(|reason| no_source(&reason, &args.domain))?;
    output.progress("opening the domain");
    let token = cancel.token();
    let embedder = LazyEmbedder::of(start, &args.domain, &token)?;
    let change = DomainChange { title: args.title.clone(), prompt_prefix: args.prompt_prefix.clone() };
    let mut pace = Pace::default();
    let result = ingest.run(&change, &embedder, &token, &mut |progress| output.pace(&mut pace, &progress));
    if matches!(result, Err(IndexError::Canceled(_))) {
        output.note(&stopped(&args.domain, &folder));
    }
    Ok(result?)
}

fn no_source(reason: &NoSource, domain: &DomainName) -> Failure {
    let next = match reason {
        NoSource::NotGiven { .. } => format!("Name some: `ragonite ingest --domain {domain} PATH`."),
        NoSource::Missing { .. } => "Check the path.".to_owned(),
    };
    Failure::usage(Problem { what: reason.to_string(), next })
}

fn stopped(domain: &DomainName, folder: &Path) -> String {
    match show_domain(folder) {
        Ok(details) => format!(
            "stopped; {} documents are stored, `ragonite ingest --domain {domain}` goes on from here",
            details.documents
        ),
        Err(_) => "stopped; nothing was stored".to_owned(),
    }
}

/// The command that removes missing documents.
fn remove_missing(report: &IngestReport) -> String {
    let quoted = |path: &Path| format!("'{}'", clean_line(&path.to_string_lossy()).replace('\'', r"'\''"));
    let paths = report.kept.iter().map(|kept| quoted(&kept.path));
    format!("ragonite ingest --domain {} --remove-missing {}", report.domain, paths.collect::<Vec<_>>().join(" "))
}

fn text(report: &IngestReport) -> String {
    let kinds = report.evidences;
    let counts = [
        (report.added, "added"),
        (report.updated, "updated"),
        (report.renamed, "renamed"),
        (report.removed, "removed"),
        (report.unchanged, "unchanged"),
    ];
    // Zero counts are omitted, except `added` and `unchanged`.
    let counts = counts.iter().filter(|(count, word)| *count > 0 || ["added", "unchanged"].contains(word));
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let mut text = format!(
        "{}: {} ({}) in {:.1} s\n{} evidence{}: {kinds}\n",
        report.domain,
        documents(report.documents),
        counts.join(", "),
        report.seconds,
        kinds.total(),
        if kinds.total() == 1 { "" } else { "s" },
    );
    for skipped in report.skipped.iter().take(MOST_SHOWN) {
        let _ = writeln!(text, "skipped {}", clean_line(&skipped.to_string()));
    }
    if let Some(more) = report.skipped.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "skipped {more} more; with `--json` the report names each");
    }
    for kept in &report.kept {
        let path = clean_line(&kept.path.to_string_lossy());
        let _ = writeln!(text, "kept {} of {path}, which {}", documents(kept.documents), kept.reason.as_str());
    }
    if !report.kept.is_empty() {
        let what = if report.kept.len() == 1 { "it is" } else { "they are" };
        let _ = writeln!(text, "if {what} gone for good, this takes out what was read: `{}`", remove_missing(report));
    }
    text
}

fn documents(count: usize) -> String {
    if count == 1 { "1 document".to_owned() } else { format!("{count} documents") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_index::{Kept, KeptReason, KindCounts, Skipped};

    #[test]
    fn a_report_of_very_many_bad_documents_names_some_and_counts_the_rest() {
        let skipped = |number| Skipped {
            path: format!("/docs/all.zip/inner.zip!/{number}.txt").into(),
            reason: format!("`/docs/all.zip!/inner.zip!/{number}.txt` has no text"),
        };
        let report = IngestReport { skipped: (0..4_096).map(skipped).collect(), ..IngestReport::default() };
        let text = text(&report);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines[0], "skipped `/docs/all.zip!/inner.zip!/0.txt` has no text");
        assert_eq!((lines.len(), lines[100]), (101, "skipped 3996 more; with `--json` the report names each"));
    }

    #[test]
    fn the_report_says_what_happened_and_what_to_do_about_the_rest() {
        let report = IngestReport {
            domain: "wiki".to_owned(),
            documents: 12,
            added: 0,
            updated: 1,
            renamed: 2,
            unchanged: 9,
            evidences: KindCounts { passage: 40, list: 3, table: 2, row: 30 },
            skipped: vec![
                Skipped { path: "/docs/scan.pdf".into(), reason: "it has no text".to_owned() },
                Skipped { path: "/docs/a.bin".into(), reason: "`/docs/a.bin` is in no known format".to_owned() },
            ],
            kept: vec![Kept { path: "/mnt/share".into(), documents: 3, reason: KeptReason::Missing }],
            seconds: 1.25,
            ..IngestReport::default()
        };
        insta::assert_snapshot!(text(&report), @r"
        wiki: 12 documents (0 added, 1 updated, 2 renamed, 9 unchanged) in 1.2 s
        75 evidences: 40 passages, 3 lists, 2 tables, 30 rows
        skipped /docs/scan.pdf: it has no text
        skipped `/docs/a.bin` is in no known format
        kept 3 documents of /mnt/share, which is not there
        if it is gone for good, this takes out what was read: `ragonite ingest --domain wiki --remove-missing '/mnt/share'`
        ");
    }
}
