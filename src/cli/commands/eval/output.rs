//! Output of a benchmark: tables or JSON on stdout, and a report in Markdown.

use std::fs::{self, OpenOptions};
use std::path::Path;

use serde::Serialize;
use time::OffsetDateTime;

use super::super::exit::Failure;
use super::super::output::{Form, Output};
use super::bench::SettingsJson;
use ragonite_app::Problem;
use ragonite_base::clean_line;
use ragonite_config::command_line;
use ragonite_eval::{Comparison, Markdown, Question, Run};

/// Note of the report on the figures of the paper.
const ABOUT_PAPER: &str = "Columns named `paper` are from RAGonite (Saha Roy et al., WSDM 2025, arXiv 2412.10571), Tables \
                           2 to 4: all 600 questions, answered and judged by GPT-4o, bge-m3, pages compared by URL \
                           string; of the run that is nearest in its settings. What it has otherwise is said above each \
                           table.";

/// A table with its heading.
pub(super) struct Table {
    pub(super) heading: &'static str,
    pub(super) text: String,
}

/// The result of a run.
pub(super) struct Given<'a, J> {
    /// What was scored: `retrieval`, `answers`, `attribution` or `planted`.
    pub(super) what: &'static str,
    pub(super) questions: usize,
    pub(super) settings: &'a SettingsJson<'a>,
    pub(super) tables: Vec<Table>,
    pub(super) json: J,
    pub(super) comparison: Comparison,
}

impl<J: Serialize> Given<'_, J> {
    /// Prints the result and writes the report, if any; a failure of one does not prevent the other.
    pub(super) fn give(&self, report: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
        let printed = match output.form() {
            Form::Json => output.json(&self.json),
            Form::Text => {
                let texts: Vec<&str> = self.tables.iter().map(|table| table.text.as_str()).collect();
                output.text(&texts.join("\n"))
            }
        };
        if let Some(path) = report {
            fs::write(path, self.report()).map_err(|error| Failure::failed(unwritten(path, &error)))?;
            output.note(&format!("the report is in {}", path.display()));
        }
        Ok(printed?)
    }

    fn report(&self) -> String {
        let mut report = Markdown::new(&format!("ragonite eval {}", self.what));
        let (version, today) = (env!("CARGO_PKG_VERSION"), OffsetDateTime::now_utc().date());
        report.block(&format!("{} questions; ragonite {version}; {today}, UTC.", self.questions));
        if self.comparison == Comparison::Paper {
            report.block(ABOUT_PAPER);
        }
        report.heading("Run it again");
        report.verbatim(&command_line());
        report.block("Results that would come out the same are taken from `<data>/benchmarks/results`.");
        report.heading("Settings and models");
        report.pairs(&self.settings.pairs());
        for table in &self.tables {
            report.heading(table.heading);
            report.block(&table.text);
        }
        report.finish()
    }
}

/// Fails early where the report cannot be written. Leaves the file unchanged.
pub(super) fn check_report(path: &Path) -> Result<(), Failure> {
    let is_new = !path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Failure::usage(unwritten(path, &error)))?;
    if is_new {
        // The file was created only as a test.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        what: format!("writing the report `{}`: {error}", path.display()),
        next: "Name a file in a folder that exists and can be written with --report.".to_owned(),
    }
}

/// Text above a table with the paper's figures.
pub(super) fn about_paper<T>(run: &Run<T>) -> String {
    run.papers.map(|papers| format!(" paper: {}", papers.said())).unwrap_or_default()
}

/// Most questions named for one flaw.
const MOST_NAMED: usize = 5;

/// Warns of questions without a gold page, which lower the figures.
pub(super) fn warn(without_gold: &[&Question], questions: usize, output: &mut Output) {
    if without_gold.is_empty() {
        return;
    }
    let which = |question: &&Question| {
        let pages: Vec<String> = question.gold.iter().map(|page| format!("`{}`", clean_line(page))).collect();
        format!("turn {} of {} ({})", question.turn, clean_line(&question.conversation), pages.join(", "))
    };
    let named: Vec<String> = without_gold.iter().take(MOST_NAMED).map(which).collect();
    let more = if without_gold.len() > MOST_NAMED { ", …" } else { "" };
    output.note(&format!(
        "{} of {questions} questions have no gold page in the domain and count as not found: {}{more}",
        without_gold.len(),
        named.join(", ")
    ));
}

/// Warns of ambiguous gold pages.
pub(super) fn warn_of_ambiguous(ambiguous: usize, questions: usize, output: &mut Output) {
    if ambiguous > 0 {
        output.note(&format!(
            "the gold pages of {ambiguous} of {questions} questions fit several documents, each of which counts as right: \
             give more of their paths to tell them apart"
        ));
    }
}

/// Reports questions left out because they belong to another domain.
pub(super) fn tell_of_other_domains(questions: usize, output: &mut Output) {
    match questions {
        0 => {}
        1 => output.note("one question to another domain is left out"),
        _ => output.note(&format!("{questions} questions to other domains are left out")),
    }
}

/// Reports results taken from the cache.
pub(super) fn remembered(remembered: usize, questions: usize, damaged: usize, output: &mut Output) {
    if remembered > 0 {
        output.note(&format!("{remembered} of {questions} questions were taken from the cache"));
    }
    if damaged > 0 {
        output.note(&format!("{damaged} damaged lines of the cache were passed over"));
    }
}
