//! `ragonite eval attribution`: whether attribution points at the gold page.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::super::start::Start;
use super::answers::{answer_settings, show, spread};
use super::bench::{Bench, SettingsJson};
use super::models;
use super::output::{Given, Table, remembered};
use super::pace::{Eta, Step};
use crate::answer::AnswerSettings;
use crate::attribution::{Method, SourceVector};
use crate::base::CancelSource;
use crate::cli::EvalAttribution;
use crate::eval::{
    Answered, Answering, EvalError, Explained, Explaining, Pages, Pointed, Remembering, WAYS, Way, answer, attribute,
    attribution_figures, intervals, measured,
};
use crate::index::Index;
use crate::runtime::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &Start, args: &EvalAttribution, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, spread(args.limit), cancel.token(), output)?;
    let generator_id = args.generator.as_deref().unwrap_or(&start.profile.profile.generator);
    output.progress("loading the generator");
    let generator = models::generator(start, generator_id, &bench.cancel)?;
    let settings = answer_settings(start);
    let ways = WAYS.into_iter().filter(|way| args.methods.contains(&method(*way))).collect();
    let mut attributions = Attributions { bench: &bench, settings, generator, ways };
    let explained = attributions.explained(output)?;
    let figures = attribution_figures(&explained);
    let comparison = bench.benchmark.comparison();
    let variation = bench.configured();
    let settings = || bench.settings(&variation, args.limit).of_answers(generator_id, None, start.sources());
    let columns = 0..figures.columns.len();
    let tables = vec![
        Table {
            heading: "Attribution accuracy",
            text: format!("{ABOUT}\n\n{}", measured(&figures, columns, comparison)),
        },
        Table { heading: "Intervals", text: intervals(&figures) },
    ];
    let json = EvalJson {
        what: "attribution",
        settings: settings(),
        attribution: start.config.attribution,
        figures: figures.json(),
        seconds: started.elapsed().as_secs_f64(),
        results: args.common.details.then(|| explained.iter().map(ResultJson::from).collect()),
    };
    let questions = explained.len();
    let settings = settings();
    Given { what: "attribution", questions, settings: &settings, tables, json, comparison }
        .give(args.common.report.as_deref(), output)?;
    Ok(Exit::Done)
}

const ABOUT: &str = "Share of questions where the best-ranked hit of the top cluster is on a gold page, over those with a gold \
                     page among the sources (gold retrieved). A method that finds that no source changes the answer counts \
                     as wrong. First hit: always pointing at Source 1. Decisive: some source stands out.";

/// The method that a way belongs to.
fn method(way: Way) -> Method {
    match way {
        Way::Similarity => Method::Similarity,
        Way::Preview => Method::Preview,
        Way::CounterfactualUnclustered | Way::Counterfactual => Method::Counterfactual,
    }
}

struct Attributions<'a> {
    bench: &'a Bench<'a>,
    settings: AnswerSettings,
    generator: Remembering,
    ways: Vec<Way>,
}

impl Attributions<'_> {
    /// Answers and explains every question once.
    fn explained(&mut self, output: &mut Output) -> Result<Vec<Explained>, Failure> {
        let bench = self.bench;
        let sources = bench.start.sources();
        let mut variation = bench.configured();
        variation.retrieval.top_k = variation.retrieval.top_k.max(sources);
        let total = bench.benchmark.len();
        let mut explained = Vec::with_capacity(total);
        let mut from_cache = 0;
        let mut eta = Eta::new(total, Instant::now());
        for part in &bench.benchmark.parts {
            let index = bench.index(part, &variation, Step::ONLY, output)?;
            let prefix = bench.prefix(part, &index)?;
            let pages = Pages::of(&index)?;
            let asking = bench.asking(&index, &variation);
            for question in &part.questions {
                let before = self.generator.asked();
                let answering = Answering { asking, pages: &pages, prefix: &prefix, settings: &self.settings, sources };
                let mut tell = |event| show(&eta, Step::ONLY, &event, output);
                let answered = answer(answering, &mut self.generator, question, &bench.cancel, &mut tell)?;
                explained.push(self.explain(answered, &index, &eta, output)?);
                from_cache += usize::from(self.generator.asked() == before);
                eta.at(explained.len(), from_cache);
            }
        }
        remembered(from_cache, total, self.generator.damaged(), output);
        Ok(explained)
    }

    fn explain(
        &mut self,
        answered: Answered,
        index: &Index,
        eta: &Eta,
        output: &mut Output,
    ) -> Result<Explained, EvalError> {
        let bench = self.bench;
        let sources = vectors(&answered, index)?;
        let explaining = Explaining {
            ways: &self.ways,
            sources: &sources,
            generator: &mut self.generator,
            embedder: bench.embedder.as_ref(),
            settings: &bench.start.config.attribution,
            max_tokens: self.settings.prompt.answer_tokens,
        };
        let mut tell = |_: Way, done: usize, total: usize| {
            output.progress(&eta.line(&format!("explaining: {done} of {total} clusters"), Instant::now()));
        };
        attribute(answered, explaining, &bench.cancel, &mut tell)
    }
}

/// The vectors of the sources, as the index has them.
fn vectors(answered: &Answered, index: &Index) -> Result<Vec<SourceVector>, EvalError> {
    let ids: Vec<_> = answered.hits.iter().map(|hit| hit.evidence).collect();
    let vectors = index.vectors(&ids)?;
    let known =
        answered.hits.iter().zip(vectors).filter(|(_, vector)| vector.values().iter().any(|value| *value != 0.0));
    Ok(known.map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect())
}

/// `ragonite eval attribution --json`.
#[derive(Serialize)]
struct EvalJson<'a> {
    what: &'static str,
    settings: SettingsJson<'a>,
    attribution: crate::attribution::AttributionSettings,
    #[serde(flatten)]
    figures: Map<String, Value>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultJson<'a>>>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    conversation: &'a str,
    turn: usize,
    language: &'static str,
    query: &'a str,
    answer: &'a str,
    answered: bool,
    /// Sources on gold pages.
    gold_sources: Vec<usize>,
    pointed: &'a [Pointed],
}

impl<'a> From<&'a Explained> for ResultJson<'a> {
    fn from(explained: &'a Explained) -> Self {
        let Explained { answered, pointed } = explained;
        let sources = answered.answer.prompt.sources();
        Self {
            conversation: &answered.question.conversation,
            turn: answered.question.turn,
            language: answered.question.language.code(),
            query: &answered.query,
            answer: &answered.answer.text,
            answered: answered.answer.answered,
            gold_sources: sources.into_iter().filter(|rank| answered.is_gold(*rank)).collect(),
            pointed,
        }
    }
}
