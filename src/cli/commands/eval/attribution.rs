//! `ragonite eval attribution`: whether attribution points at the gold page.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, json};

use super::super::context::CommandContext;
use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::answers::{Sources, spread};
use super::bench::Bench;
use super::models;
use super::output::{Table, about_paper, remembered};
use super::progress::{Eta, Step};
use super::results::{QuestionJson, Reported, run_all};
use crate::args::EvalAttribution;
use ragonite_base::{CancelSource, CancelToken};
use ragonite_eval::{
    AS_IN_PAPER, Answered, CachedGenerator, ConversationRunner, Doing, EvalError, Explained, Explaining, Metric, NOISY,
    Noise, Pointed, Run, RunnerSettings, Variation, WAYS, WITHOUT_ANSWERS, Way, answer, attribute, by_method,
    intervals, measured, noise, noise_quantiles,
};
use ragonite_index::Index;
use ragonite_inference::Embed;
use ragonite_rag::attribution::{AttributionSettings, Engines, GroupTest, SourceVector};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_rag::retrieval::Hit;
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &CommandContext, args: &EvalAttribution, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, spread(args.limit), cancel.token(), output)?;
    let comparing = bench.compare_answers()?;
    let sources = Sources::of_bench(&bench);
    let ways = WAYS.into_iter().filter(|way| args.methods.contains(&way.method())).collect();
    let attribution_embedder = attribution_embedder(&bench, output)?;
    let generator = bench.generator(output)?;
    let floor = if args.floor { Floor::Measured } else { Floor::NotMeasured };
    let mut attributions = Attributions { bench: &bench, sources, generator, attribution_embedder, ways, floor };
    let results =
        run_all(comparing, args.common.ablate, &|v| bench.papers(v), output, &mut |variation, step, output| {
            attributions.explained(variation, step, output)
        })?;
    let settings = |variation: &Variation| {
        let searched = sources.enough(variation);
        bench.settings(&searched).spoken(bench.generator_id(), sources.of(&variation.retrieval))
    };
    let more = Map::from_iter([("attribution".to_owned(), json!(start.config.attribution))]);
    results.give(&bench, started, &more, &settings, output)?;
    Ok(Exit::Done)
}

const BY_METHOD: &str = "Share of questions where a method points at a gold page, over those with a gold page among \
                         the sources. Clusters: near-identical sources are left out together.";

const ABOUT: &str = "Share of questions where the best-ranked hit of the top cluster is on a gold page, over those with a gold \
                     page among the sources (gold retrieved). A method that finds that no source changes the answer counts \
                     as wrong. First hit: always pointing at Source 1. Decisive: some source stands out.";

const OTHERS: &str = "The same share for the methods that generate nothing: preview hides sources, logprob and jsd leave them out and \
                      read the original answer. No clusters: each source by itself.";

struct Attributions<'a> {
    bench: &'a Bench<'a>,
    sources: Sources,
    generator: CachedGenerator,
    /// Embedder for clustering sources and comparing answers.
    attribution_embedder: Arc<dyn Embed>,
    ways: Vec<Way>,
    floor: Floor,
}

/// Whether the noise of the methods is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Floor {
    Measured,
    NotMeasured,
}

/// The embedder of attribution: that of the run unless the configuration names another.
pub(super) fn attribution_embedder(bench: &Bench<'_>, output: &mut Output) -> Result<Arc<dyn Embed>, Failure> {
    let id = bench.start.config.attribution.embedder().filter(|id| *id != bench.embedder.identity().model);
    let Some(id) = id else { return Ok(Arc::clone(&bench.embedder)) };
    output.progress(&format!("loading {id}"));
    models::embedder(bench.start, Some(id), &bench.cancel)
}

impl Attributions<'_> {
    /// Answers and explains every question once.
    fn explained(
        &mut self,
        variation: &Variation,
        step: Step<'_>,
        output: &mut Output,
    ) -> Result<Vec<Explained>, Failure> {
        let bench = self.bench;
        let variation = self.sources.enough(variation);
        let answering = bench.answering(&variation);
        let total = bench.benchmark.len();
        let mut explained = Vec::with_capacity(total);
        let mut from_cache = 0;
        let mut eta = Eta::new(total, Instant::now());
        for part in &bench.benchmark.parts {
            let index = bench.index(part, &variation, step, output)?;
            let prefix = bench.prefix(part, &index)?;
            let pages = Bench::pages(&index, part, step, output)?;
            let asking = bench.asking(&index, &pages, &variation);
            let sources = self.sources.of(&variation.retrieval);
            let speaking = bench.speaking(&prefix, &answering, sources);
            // Only the answers of a model can be explained.
            let speaking = RunnerSettings { answer_without_match: AnswerWithoutMatch::On, ..speaking };
            let mut speaker = ConversationRunner::new(&mut self.generator, speaking);
            // The best hit of the question before.
            let mut unrelated: Option<Hit> = None;
            for question in &part.questions {
                let before = speaker.used();
                let mut tell = |event| {
                    output.progress(&step.line(&eta.line_of(&Doing::Answering(event), Instant::now())));
                };
                let answered = answer(asking, &mut speaker, question, None, &bench.cancel, &mut tell)?;
                let mut tell = |done: usize, total: usize| {
                    let doing = format!("explaining: {done} of {total} clusters");
                    output.progress(&step.line(&eta.line(&doing, Instant::now())));
                };
                let engines = Engines { generator: speaker.generator(), embedder: self.attribution_embedder.as_ref() };
                let mut one = explain(bench, &self.ways, engines, answered, &index, &mut tell)?;
                if let Some(added) = unrelated.take().filter(|_| self.floor == Floor::Measured) {
                    let mut tell = |_| output.progress(&step.line(&eta.line("measuring the noise", Instant::now())));
                    let answered = answer(asking, &mut speaker, question, Some(&added), &bench.cancel, &mut tell)?;
                    let engines =
                        Engines { generator: speaker.generator(), embedder: self.attribution_embedder.as_ref() };
                    one.noise = noise_of(bench, engines, &answered, &index)?;
                }
                unrelated = one.answered.hits.first().cloned();
                explained.push(one);
                from_cache += usize::from(speaker.used().only_recalled_since(before));
                eta.at(explained.len(), from_cache);
            }
        }
        remembered(from_cache, total, self.generator.damaged(), output);
        Ok(explained)
    }
}

fn explain(
    bench: &Bench<'_>,
    ways: &[Way],
    engines: Engines<'_>,
    answered: Answered,
    index: &Index,
    on_cluster: &mut dyn FnMut(usize, usize),
) -> Result<Explained, EvalError> {
    let Engines { generator, embedder } = engines;
    let sources = vectors(&answered, index, embedder, &bench.cancel)?;
    let settings = without_groups(&bench.start.config.attribution);
    let explaining = Explaining {
        ways,
        sources: &sources,
        generator,
        embedder,
        settings: &settings,
        max_tokens: bench.start.config.prompt.answer_tokens,
    };
    attribute(answered, explaining, &bench.cancel, &mut |_, done, total| on_cluster(done, total))
}

/// The settings without group test, because the best rank of a group would stand for the whole group.
pub(super) fn without_groups(settings: &AttributionSettings) -> AttributionSettings {
    AttributionSettings { group_test: GroupTest::Off, ..settings.clone() }
}

/// What the methods say of the source that was added; nothing where it is one of the answer's pages.
fn noise_of(
    bench: &Bench<'_>,
    engines: Engines<'_>,
    answered: &Answered,
    index: &Index,
) -> Result<Vec<Noise>, EvalError> {
    let Some((added, others)) = answered.hits.split_last() else { return Ok(Vec::new()) };
    if !answered.answer.answered || others.iter().any(|hit| hit.document == added.document) {
        return Ok(Vec::new());
    }
    let Engines { generator, embedder } = engines;
    let sources = vectors(answered, index, embedder, &bench.cancel)?;
    let settings = &bench.start.config.attribution;
    let max_tokens = bench.start.config.prompt.answer_tokens;
    let explaining = Explaining { ways: &[], sources: &sources, generator, embedder, settings, max_tokens };
    noise(answered, explaining, &bench.cancel)
}

/// The source vectors for clustering.
pub(super) fn vectors(
    answered: &Answered,
    index: &Index,
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<Vec<SourceVector>, EvalError> {
    let ids: Vec<_> = answered.hits.iter().map(|hit| hit.evidence).collect();
    let vectors = index.vectors_by(&ids, embedder, cancel)?;
    let source = |hit: &Hit| Some(SourceVector { rank: hit.rank, embedding: vectors.get(&hit.evidence)?.clone() });
    Ok(answered.hits.iter().filter_map(source).collect())
}

impl Reported for Explained {
    const WHAT: &'static str = "attribution";
    const HEADLINE: Metric = Metric::Accuracy(Way::Counterfactual);
    type Json<'a> = ResultJson<'a>;

    fn json(&self) -> ResultJson<'_> {
        let Self { answered, pointed, .. } = self;
        let sources = answered.answer.prompt.sources();
        ResultJson {
            question: QuestionJson::of_answered(answered),
            answer: &answered.answer.text,
            answered: answered.answer.answered,
            gold_sources: sources.into_iter().filter(|rank| answered.is_gold(*rank)).collect(),
            pointed,
        }
    }

    fn tables(run: &Run<Self>) -> Vec<Table> {
        let text = format!("{ABOUT}{}\n\n{}", about_paper(run), measured(&run.figures, AS_IN_PAPER, run.papers));
        let others = format!("{OTHERS}\n\n{}", measured(&run.figures, WITHOUT_ANSWERS, None));
        let by_method = format!("{BY_METHOD} {}", by_method(&run.figures));
        vec![
            Table { heading: "Attribution accuracy by method", text: by_method },
            Table { heading: "Attribution accuracy", text },
            Table { heading: "Attribution accuracy without another answer", text: others },
            Table { heading: "Intervals", text: intervals(&run.figures) },
            Table { heading: "Noise", text: noise_table(run) },
        ]
    }
}

/// Shares of the noise in the table.
const NOISE_SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

fn noise_table(run: &Run<Explained>) -> String {
    let mut text =
        "What each method says of a source that has nothing to do with the answer: value below which 50, 90, 95 \
                    and 99 % of them lie."
            .to_owned();
    for method in NOISY {
        let values = noise_quantiles(&run.asked, method, &NOISE_SHARES);
        let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
        let _ = write!(text, "\n  {:<8} {}", method.name(), values.join("  "));
    }
    text
}

/// An answer with the sources that each method points at.
#[derive(Serialize)]
pub(super) struct ResultJson<'a> {
    #[serde(flatten)]
    question: QuestionJson<'a>,
    answer: &'a str,
    answered: bool,
    /// Sources on gold pages.
    gold_sources: Vec<usize>,
    pointed: &'a [Pointed],
}
