//! `ragonite eval planted`: whether attribution names the source that an answer depends on.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::context::CommandContext;
use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::answers::{Sources, spread};
use super::attribution::{attribution_embedder, vectors, without_groups};
use super::bench::Bench;
use super::output::{Table, remembered};
use super::progress::{Eta, Step};
use super::results::{QuestionJson, Reported, run_all};
use crate::args::EvalPlanted;
use ragonite_base::{CancelSource, CancelToken};
use ragonite_eval::{
    CachedGenerator, ConversationRunner, Doing, EvalError, Explaining, FactPool, Metric, PLANT_TOP, Plant, PlantArea,
    PlantChance, PlantCounts, PlantScore, PlantedAnswer, PlantedQuestion, Planting, Run, RunnerSettings, Unplanted,
    Variation, WAYS, Way, Weighed, ask_planted, measured, planted, weigh_planted,
};
use ragonite_index::Index;
use ragonite_inference::Embed;
use ragonite_rag::attribution::{Engines, SourceVector};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &CommandContext, args: &EvalPlanted, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, spread(args.limit), cancel.token(), output)?;
    let comparing = bench.compare_answers()?;
    let sources = Sources::of_bench(&bench);
    let pool = FactPool::of(&bench.all_questions()?);
    let ways = WAYS.into_iter().filter(|way| args.methods.contains(&way.method())).collect();
    let attribution_embedder = attribution_embedder(&bench, output)?;
    let generator = bench.generator(output)?;
    let mut plants =
        Plants { bench: &bench, sources, generator, attribution_embedder, ways, pool: &pool, seed: args.seed };
    let results =
        run_all(comparing, args.common.ablate, &|v| bench.papers(v), output, &mut |variation, step, output| {
            plants.asked(variation, step, output)
        })?;
    let settings = |variation: &Variation| {
        let searched = sources.enough(variation);
        bench.settings(&searched).spoken(bench.generator_id(), sources.of(&variation.retrieval))
    };
    let more = Map::from_iter([
        ("attribution".to_owned(), json!(start.config.attribution)),
        ("seed".to_owned(), json!(args.seed)),
    ]);
    results.give(&bench, started, &more, &settings, output)?;
    Ok(Exit::Done)
}

const ABOUT: &str = "In one source the gold fact gives way to another fact; other sources with the gold fact are \
                     dropped. An answer with the planted fact has it from that source. Top-1: the planted source \
                     is in the cluster with the largest contribution; of equal ones each counts in part, and a \
                     method that finds that no source changes the answer counts as wrong. Area: under the \
                     precision-recall curve over all pairs of an answer and a source, by contribution. Decisive: \
                     some source stands out, and it is the planted one (right) or not (wrong); similarity calls \
                     no source decisive. Chance: every source has the same contribution.";

const BY_SLICE: &str =
    "Top-1 by slice: questions counts all, and each share is over the answers with the planted fact.";

struct Plants<'a> {
    bench: &'a Bench<'a>,
    sources: Sources,
    generator: CachedGenerator,
    /// Embedder for clustering sources and comparing answers.
    attribution_embedder: Arc<dyn Embed>,
    ways: Vec<Way>,
    pool: &'a FactPool,
    seed: u64,
}

impl Plants<'_> {
    /// Plants a fact for every question, asks it and explains the answer.
    fn asked(
        &mut self,
        variation: &Variation,
        step: Step<'_>,
        output: &mut Output,
    ) -> Result<Vec<PlantedQuestion>, Failure> {
        let bench = self.bench;
        let variation = self.sources.enough(variation);
        let answering = bench.answering(&variation);
        let planting = Planting { pool: self.pool, seed: self.seed };
        let total = bench.benchmark.len();
        let mut asked = Vec::with_capacity(total);
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
            for question in &part.questions {
                let before = speaker.used();
                let mut tell = |event| {
                    output.progress(&step.line(&eta.line_of(&Doing::Answering(event), Instant::now())));
                };
                let mut one = ask_planted(asking, &mut speaker, question, planting, &bench.cancel, &mut tell)?;
                let mut tell = |done: usize, total: usize| {
                    let doing = format!("explaining: {done} of {total} clusters");
                    output.progress(&step.line(&eta.line(&doing, Instant::now())));
                };
                let engines = Engines { generator: speaker.generator(), embedder: self.attribution_embedder.as_ref() };
                if let Some(planted) = one.taken() {
                    one.weighed = weighed(bench, &self.ways, engines, planted, &index, &mut tell)?;
                }
                asked.push(one);
                from_cache += usize::from(speaker.used().only_recalled_since(before));
                eta.at(asked.len(), from_cache);
            }
        }
        remembered(from_cache, total, self.generator.damaged(), output);
        Ok(asked)
    }
}

fn weighed(
    bench: &Bench<'_>,
    ways: &[Way],
    engines: Engines<'_>,
    planted: &PlantedAnswer,
    index: &Index,
    on_cluster: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Weighed>, EvalError> {
    let Engines { generator, embedder } = engines;
    let sources = planted_vectors(planted, index, embedder, &bench.cancel)?;
    let settings = without_groups(&bench.start.config.attribution);
    let explaining = Explaining {
        ways,
        sources: &sources,
        generator,
        embedder,
        settings: &settings,
        max_tokens: bench.start.config.prompt.answer_tokens,
    };
    weigh_planted(planted, explaining, &bench.cancel, &mut |_, done, total| on_cluster(done, total))
}

/// The source vectors for clustering, that of the planted source with its new words.
fn planted_vectors(
    planted: &PlantedAnswer,
    index: &Index,
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<Vec<SourceVector>, EvalError> {
    let PlantedAnswer { plant, answered, .. } = planted;
    let mut sources = vectors(answered, index, embedder, cancel)?;
    let hit = answered.hits.iter().find(|hit| hit.rank == plant.rank);
    let own = sources.iter_mut().find(|source| source.rank == plant.rank);
    if let (Some(hit), Some(own)) = (hit, own)
        && let Some(vector) = index.vector_changed(hit.evidence, &|text| plant.replaced(text), embedder, cancel)?
    {
        own.embedding = vector;
    }
    Ok(sources)
}

impl Reported for PlantedQuestion {
    const WHAT: &'static str = "planted";
    const HEADLINE: Metric = Metric::Plant(PlantScore::Top, Way::Counterfactual);
    type Json<'a> = ResultJson<'a>;

    fn json(&self) -> ResultJson<'_> {
        let planted = self.planted();
        ResultJson {
            question: QuestionJson::of_planted(self),
            unplanted: self.unplanted(),
            plant: planted.map(|planted| &planted.plant),
            answer: planted.map(|planted| planted.answered.answer.text.as_str()),
            taken: self.taken().is_some(),
            methods: &self.weighed,
        }
    }

    fn tables(run: &Run<Self>) -> Vec<Table> {
        let text = format!("{ABOUT}\n\n{}", planted(&run.asked, &run.figures));
        let by_slice = format!("{BY_SLICE}\n\n{}", measured(&run.figures, PLANT_TOP, None));
        vec![Table { heading: "Planted sources", text }, Table { heading: "Planted sources by slice", text: by_slice }]
    }

    /// The means, and beside them the areas, which are no means.
    fn figures_json(run: &Run<Self>) -> Map<String, Value> {
        let mut figures = run.figures.json();
        figures.insert("plants".to_owned(), json!(PlantCounts::of(&run.asked)));
        figures.insert("area".to_owned(), json!(PlantArea::of_all(&run.asked)));
        figures.insert("chance".to_owned(), json!(PlantChance::of(&run.asked)));
        figures
    }
}

/// A question with its plant and what each method says of the sources.
#[derive(Serialize)]
pub(super) struct ResultJson<'a> {
    #[serde(flatten)]
    question: QuestionJson<'a>,
    /// Why nothing was planted.
    #[serde(skip_serializing_if = "Option::is_none")]
    unplanted: Option<Unplanted>,
    plant: Option<&'a Plant>,
    answer: Option<&'a str>,
    /// Whether the answer has the planted fact.
    taken: bool,
    methods: &'a [Weighed],
}
