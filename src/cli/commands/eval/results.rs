//! Turns runs into tables, JSON of the contract and the report.
//!
//! The commands score differently; the iteration over choices and the output are shared.
//! Not here: scoring a question (`retrieval`, `answers`, `attribution`, `planted`), writing (`output`).

use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::exit::Failure;
use super::super::output::Output;
use super::bench::{Bench, SettingsJson};
use super::output::{Given, Table};
use super::progress::Step;
use ragonite_eval::{
    Ablation, Answered, Asked, Comparing, Metric, Papers, PlantedQuestion, Question, Run, Runs, Scored, Significance,
    Variant, Variation,
};
use ragonite_rag::answer::RewriteHow;

/// How a command reports its scores.
pub(super) trait Reported: Scored {
    /// Name in the JSON contract.
    const WHAT: &'static str;
    /// The metric shown while choices are compared.
    const HEADLINE: Metric;
    /// A question with its result.
    type Json<'a>: Serialize
    where
        Self: 'a;

    /// The result of one question.
    fn json(&self) -> Self::Json<'_>;

    /// The tables of a single run.
    fn tables(run: &Run<Self>) -> Vec<Table>;

    /// The figures of a run as in the JSON contract.
    fn figures_json(run: &Run<Self>) -> Map<String, Value> {
        run.figures.json()
    }
}

/// The runs of a command, each with its settings and the seconds it took.
pub(super) struct Results<T> {
    variants: Vec<Variant>,
    default: usize,
    runs: Vec<Run<T>>,
    seconds: Vec<f64>,
    ablation: Option<Ablation>,
}

/// Asks all questions with one choice.
type Ask<'a, T> = dyn FnMut(&Variation, Step<'_>, &mut Output) -> Result<Vec<T>, Failure> + 'a;

/// Runs every choice. `papers` gives the figures of the paper for a choice.
pub(super) fn run_all<T: Reported>(
    comparing: Comparing,
    ablation: Option<Ablation>,
    papers: &dyn Fn(&Variation) -> Option<Papers>,
    output: &mut Output,
    ask: &mut Ask<'_, T>,
) -> Result<Results<T>, Failure> {
    let Comparing { variants, default } = comparing;
    let (mut runs, mut seconds) = (Vec::with_capacity(variants.len()), Vec::with_capacity(variants.len()));
    for (number, variant) in (1..).zip(&variants) {
        let started = Instant::now();
        let step = Step { name: &variant.name, number, of: variants.len() };
        let run = Run::new(&variant.name, ask(&variant.variation, step, output)?, papers(&variant.variation));
        let took = started.elapsed().as_secs_f64();
        if let Some(ablation) = ablation {
            output.note(&format!("{} {}: {} ({took:.0} s)", ablation.word(), variant.name, headline(&run)));
        }
        runs.push(run);
        seconds.push(took);
    }
    Ok(Results { variants, default, runs, seconds, ablation })
}

fn headline<T: Reported>(run: &Run<T>) -> String {
    let title = T::HEADLINE.title();
    let found = run.figures.get(None, T::HEADLINE);
    found.map_or_else(|| format!("no {title}"), |mean| format!("{title} {:.3}", mean.value))
}

impl<T: Reported> Results<T> {
    /// Prints the results and writes the report. `settings` gives the settings of a choice, `started` the start of
    /// the command; `more` goes into the JSON of each run.
    pub(super) fn give<'a>(
        self,
        bench: &'a Bench<'a>,
        started: Instant,
        more: &Map<String, Value>,
        settings: &dyn Fn(&Variation) -> SettingsJson<'a>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let Self { variants, default, runs, seconds, ablation } = self;
        let comparison = bench.benchmark.comparison();
        let details = bench.args.details;
        let json = |place: usize, run: &Run<T>| RunJson::<T> {
            what: T::WHAT,
            choice: None,
            settings: settings(&variants[place].variation),
            figures: T::figures_json(run).into_iter().chain(more.clone()).collect(),
            significance: None,
            seconds: seconds[place],
            results: None,
        };
        let of_default = settings(&variants[default].variation);
        let questions = runs[default].asked.len();
        let report = bench.args.report.as_deref();
        let Some(ablation) = ablation else {
            let run = &runs[default];
            let tables = T::tables(run);
            let seconds = started.elapsed().as_secs_f64();
            let json = RunJson { results: details.then(|| of_questions(run)), seconds, ..json(default, run) };
            return Given { what: T::WHAT, questions, settings: &of_default, tables, json, comparison }
                .give(report, output);
        };
        let runs = Runs { ablation, default, runs };
        let significance = runs.significance();
        let of_runs = runs.runs.iter().enumerate().map(|(place, run)| RunJson {
            choice: Some(run.name.clone()),
            significance: significance.get(place).filter(|_| place != default).cloned(),
            results: details.then(|| of_questions(run)),
            ..json(place, run)
        });
        let json = AblationJson {
            what: T::WHAT,
            ablation: ablation.word(),
            default: &runs.runs[default].name,
            runs: of_runs.collect(),
            seconds: started.elapsed().as_secs_f64(),
        };
        let tables = vec![Table { heading: "Comparison", text: runs.text() }];
        Given { what: T::WHAT, questions, settings: &of_default, tables, json, comparison }.give(report, output)
    }
}

fn of_questions<T: Reported>(run: &Run<T>) -> Vec<T::Json<'_>> {
    run.asked.iter().map(T::json).collect()
}

/// `ragonite eval … --json`.
#[derive(Serialize)]
#[serde(bound = "")]
struct RunJson<'a, 'r, T: Reported + 'r> {
    what: &'static str,
    /// The choice, where choices are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
    settings: SettingsJson<'a>,
    #[serde(flatten)]
    figures: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    significance: Option<Significance>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<T::Json<'r>>>,
}

/// `ragonite eval … --ablate … --json`.
#[derive(Serialize)]
#[serde(bound = "")]
struct AblationJson<'a, 'r, T: Reported + 'r> {
    what: &'static str,
    ablation: &'static str,
    /// The baseline.
    default: &'r str,
    runs: Vec<RunJson<'a, 'r, T>>,
    seconds: f64,
}

/// The question of a result, and its queries.
#[derive(Serialize)]
pub(super) struct QuestionJson<'a> {
    conversation: &'a str,
    turn: usize,
    language: &'static str,
    query: &'a str,
    /// How the program completed the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed: Option<RewriteHow>,
    /// The translation, where it was searched too.
    #[serde(skip_serializing_if = "Option::is_none")]
    translated: Option<&'a str>,
}

impl<'a> QuestionJson<'a> {
    pub(super) fn of_asked(asked: &'a Asked) -> Self {
        Self::new(&asked.question, &asked.query, asked.how, asked.translated.as_deref())
    }

    pub(super) fn of_answered(answered: &'a Answered) -> Self {
        Self::new(&answered.question, &answered.query, answered.how, answered.translated.as_deref())
    }

    pub(super) fn of_planted(planted: &'a PlantedQuestion) -> Self {
        Self::new(&planted.question, &planted.query, planted.how, planted.translated.as_deref())
    }

    fn new(question: &'a Question, query: &'a str, how: Option<RewriteHow>, translated: Option<&'a str>) -> Self {
        let Question { conversation, turn, language, .. } = question;
        Self { conversation, turn: *turn, language: language.code(), query, completed: how, translated }
    }
}
