//! `ragonite eval retrieval`: where the gold pages come.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::super::start::Start;
use super::bench::{Bench, SettingsJson};
use super::output::{Given, Table, remembered, warn};
use super::pace::{Eta, Step};
use crate::base::CancelSource;
use crate::cli::EvalRetrieval;
use crate::eval::{
    Ablation, Asked, Cache, Comparing, Figures, Found, Limit, Memory, Outcome, Page, Report, Run, Runs, Significance,
    Variation, ask_again, figures, intervals, retrieval_figures,
};
use crate::runtime::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &Start, args: &EvalRetrieval, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok()).map_or(Limit::None, Limit::First);
    let bench = Bench::open(start, &args.common, limit, cancel.token(), output)?;
    let compared = bench.compare(args.ablate)?;
    let cache = Cache::open(&start.paths.results().join("searches.jsonl"))?;
    let mut searches = Searches { bench: &bench, args, started, cache };
    match args.ablate {
        None => searches.single(output)?,
        Some(ablation) => searches.ablation(ablation, compared, output)?,
    }
    Ok(Exit::Done)
}

struct Searches<'a> {
    bench: &'a Bench<'a>,
    args: &'a EvalRetrieval,
    started: Instant,
    cache: Cache,
}

impl Searches<'_> {
    fn single(&mut self, output: &mut Output) -> Result<(), Failure> {
        let args = self.args;
        let variation = self.bench.configured();
        let asked = self.asked(&variation, Step::ONLY, output)?;
        let report = Report::of(&asked);
        warn(&report, output);
        let measured = retrieval_figures(&asked);
        let comparison = self.bench.benchmark.comparison();
        let settings = self.bench.settings(&variation, args.limit);
        let tables = vec![
            Table { heading: "Where the gold pages come", text: figures(&report, variation.context, comparison) },
            Table { heading: "Intervals", text: intervals(&measured) },
        ];
        let json = self.json(&variation, &report, &measured, &asked);
        let given = Given { what: "retrieval", questions: asked.len(), settings: &settings, tables, json, comparison };
        given.give(args.common.report.as_deref(), output)
    }

    fn ablation(&mut self, ablation: Ablation, compared: Comparing, output: &mut Output) -> Result<(), Failure> {
        let args = self.args;
        let Comparing { variants, default } = compared;
        let (mut runs, mut times) = (Vec::with_capacity(variants.len()), Vec::with_capacity(variants.len()));
        for (number, variant) in (1..).zip(&variants) {
            let started = Instant::now();
            let asked =
                self.asked(&variant.variation, Step { name: &variant.name, number, of: variants.len() }, output)?;
            let report = Report::of(&asked);
            if number == 1 {
                warn(&report, output);
            }
            let (word, name, p_at_1) = (ablation.word(), &variant.name, report.all.page.p_at_1);
            output.note(&format!("{word} {name}: P@1 {p_at_1:.3} ({:.0} s)", started.elapsed().as_secs_f64()));
            times.push(started.elapsed().as_secs_f64());
            runs.push(Run { name: variant.name.clone(), figures: retrieval_figures(&asked), asked });
        }
        let comparison = self.bench.benchmark.comparison();
        let runs = Runs { ablation, default, runs, comparison };
        let mut of_runs = Vec::with_capacity(variants.len());
        for (place, (run, variant)) in runs.runs.iter().zip(&variants).enumerate() {
            let significance = (place != default).then(|| runs.significance(place));
            let report = Report::of(&run.asked);
            let json = self.json(&variant.variation, &report, &run.figures, &run.asked);
            of_runs.push(EvalJson { choice: Some(variant.name.clone()), significance, seconds: times[place], ..json });
        }
        let settings = self.bench.settings(&variants[default].variation, args.limit);
        let tables = vec![Table { heading: "Comparison", text: runs.text() }];
        let questions = self.bench.benchmark.len();
        let json = AblationJson {
            what: "retrieval",
            ablation: ablation.word(),
            default: &variants[default].name,
            runs: of_runs,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let given = Given { what: "retrieval", questions, settings: &settings, tables, json, comparison };
        given.give(args.common.report.as_deref(), output)
    }

    /// Asks every question once.
    fn asked(&mut self, variation: &Variation, step: Step<'_>, output: &mut Output) -> Result<Vec<Asked>, Failure> {
        let bench = self.bench;
        let total = bench.benchmark.len();
        let mut asked = Vec::with_capacity(total);
        let mut from_cache = 0;
        let mut eta = Eta::new(total, Instant::now());
        for part in &bench.benchmark.parts {
            let index = bench.index(part, variation, step, output)?;
            let settings = bench.fingerprint(&index, variation)?;
            let before = (asked.len(), from_cache);
            let asking = bench.asking(&index, variation);
            let memory = Memory { cache: &mut self.cache, settings: &settings };
            let resumed = ask_again(asking, memory, &part.questions, &bench.cancel, &mut |now| {
                eta.at(before.0 + now.done, before.1 + now.remembered);
                output.progress(&step.line(&eta.line("searching", Instant::now())));
            })?;
            from_cache += resumed.remembered;
            asked.extend(resumed.asked);
        }
        remembered(from_cache, total, self.cache.damaged(), output);
        Ok(asked)
    }

    fn json<'r>(
        &'r self,
        variation: &Variation,
        report: &Report,
        measured: &Figures,
        asked: &'r [Asked],
    ) -> EvalJson<'r> {
        EvalJson {
            what: "retrieval",
            choice: None,
            settings: self.bench.settings(variation, self.args.limit),
            report: report.clone(),
            measured: measured.json(),
            significance: None,
            seconds: self.started.elapsed().as_secs_f64(),
            results: self.args.common.details.then(|| asked.iter().map(ResultJson::from).collect()),
        }
    }
}

/// `ragonite eval retrieval --json`.
#[derive(Serialize)]
struct EvalJson<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
    settings: SettingsJson<'a>,
    #[serde(flatten)]
    report: Report,
    /// The same figures with their intervals.
    measured: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    significance: Option<Significance>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultJson<'a>>>,
}

/// `ragonite eval retrieval --ablate … --json`.
#[derive(Serialize)]
struct AblationJson<'a> {
    what: &'static str,
    ablation: &'static str,
    /// The choice the others are held against.
    default: &'a str,
    runs: Vec<EvalJson<'a>>,
    seconds: f64,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    conversation: &'a str,
    turn: usize,
    language: &'static str,
    query: &'a str,
    gold: &'a [Page],
    #[serde(flatten)]
    outcome: Outcome,
    hits: &'a [Found],
}

impl<'a> From<&'a Asked> for ResultJson<'a> {
    fn from(asked: &'a Asked) -> Self {
        Self {
            conversation: &asked.question.conversation,
            turn: asked.question.turn,
            language: asked.question.language.code(),
            query: &asked.query,
            gold: &asked.gold,
            outcome: asked.outcome,
            hits: &asked.hits,
        }
    }
}
