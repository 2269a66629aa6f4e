//! `ragonite eval support`: how often the verdict on the support of an answer is right.

use std::fmt::Write as _;
use std::time::Instant;

use serde::Serialize;

use super::super::context::CommandContext;
use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::bench::{Bench, SettingsJson};
use super::output::{Given, Table};
use super::progress::Step;
use crate::args::EvalSupport;
use ragonite_base::CancelSource;
use ragonite_eval::{Limit, SupportChecked, WRONG_ANSWERS, WrongAnswer, check_support};
use ragonite_rag::answer::SupportVerdict;
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &CommandContext, args: &EvalSupport, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, Limit::None, cancel.token(), output)?;
    let variation = bench.configured();
    let step = Step { name: "", number: 1, of: 1 };
    let mut checked = Vec::new();
    for part in &bench.benchmark.parts {
        let index = bench.index(part, &variation, step, output)?;
        let pages = Bench::pages(&index, part, step, output)?;
        let asking = bench.asking(&index, &pages, &variation);
        let mut tell = |done, total| output.progress(&format!("{done} of {total} answers checked"));
        checked.extend(check_support(asking, &part.questions, bench.sources(), &bench.cancel, &mut tell)?);
    }
    let settings = bench.settings(&variation);
    let lines = lines(&checked);
    let tables = vec![Table { heading: "Support", text: text(&lines) }];
    let json = SupportJson {
        what: "support",
        settings: bench.settings(&variation),
        lines,
        seconds: started.elapsed().as_secs_f64(),
        results: args.common.details.then_some(checked.as_slice()),
    };
    let questions = bench.benchmark.len();
    Given { what: "support", questions, settings: &settings, tables, json, comparison: bench.benchmark.comparison() }
        .give(args.common.report.as_deref(), output)?;
    Ok(Exit::Done)
}

/// The verdicts on answers of one kind.
#[derive(Serialize)]
struct SupportLine {
    /// What is wrong; none for reference answers with a gold page among their sources.
    wrong: Option<WrongAnswer>,
    answers: usize,
    supported: usize,
    partly: usize,
    unsupported: usize,
    unchecked: usize,
}

/// `ragonite eval support --json`.
#[derive(Serialize)]
struct SupportJson<'a> {
    what: &'static str,
    settings: SettingsJson<'a>,
    lines: Vec<SupportLine>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'a [SupportChecked]>,
}

/// The reference answers with a gold page among their sources, then the wrong ones.
fn lines(checked: &[SupportChecked]) -> Vec<SupportLine> {
    let kinds = std::iter::once(None).chain(WRONG_ANSWERS.map(Some));
    kinds
        .map(|wrong| {
            let of_kind: Vec<SupportVerdict> = checked
                .iter()
                .filter(|one| one.wrong == wrong && (wrong.is_some() || one.has_gold))
                .map(SupportChecked::verdict)
                .collect();
            let count = |verdict| of_kind.iter().filter(|one| **one == verdict).count();
            SupportLine {
                wrong,
                answers: of_kind.len(),
                supported: count(SupportVerdict::Supported),
                partly: count(SupportVerdict::Partly),
                unsupported: count(SupportVerdict::Unsupported),
                unchecked: count(SupportVerdict::Unchecked),
            }
        })
        .collect()
}

fn text(lines: &[SupportLine]) -> String {
    let mut text = String::from(
        "Reference answers with a gold page among their sources are right and supported; wrong answers are not.\n\n",
    );
    let _ = writeln!(
        text,
        "{:<20} {:>7} {:>9} {:>6} {:>11} {:>9}",
        "", "answers", "supported", "partly", "unsupported", "unchecked"
    );
    for line in lines {
        let label = line.wrong.map_or("reference answers", WrongAnswer::label);
        let SupportLine { answers, supported, partly, unsupported, unchecked, .. } = line;
        let _ = writeln!(text, "{label:<20} {answers:>7} {supported:>9} {partly:>6} {unsupported:>11} {unchecked:>9}");
    }
    text
}
