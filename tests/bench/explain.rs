//! Cost of explaining an answer relative to answering, and agreement of estimates with exact values.
//!
//! `cargo bench --bench explain -- FOLDER [QUESTIONS] [MODEL] [RESULTS.jsonl] [ratios] [k=N] [order=ORDER]
//! [neighbours=once|each]` asks the first English questions of the benchmark beside the repository, in completed form,
//! of the domain in FOLDER, made with all-MiniLM-L6-v2 (such as the domain that `ragonite eval` keeps), with 5 and with
//! 10 sources or with N only; then a generated prompt of ten sources of about 250 tokens. Every answer is explained by
//! leave-one-out, with a group test, and by estimates: the masked estimate, the same with the end of the prompt
//! recomputed, and for five sources logprob (for ten it takes about as long as leave-one-out). `ratios` leaves out all
//! estimates but the first, which halves the time. Before each explanation the KV cache is that after the answer.
//! Ratios are to the time of the answer with prefill, in wall-clock and CPU time; additional tokens are counted.
//!
//! Results go to RESULTS or `FOLDER.explain.jsonl`, question by question. Results there of the same model, engine,
//! machine, settings and question are reused, so a stopped run can be resumed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "agreement.rs"]
mod agreement;
#[path = "clock.rs"]
mod clock;
#[path = "results.rs"]
mod results;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ragonite::base::{CancelToken, Language};
use ragonite::encoder::load_embedder;
use ragonite::eval::{Benchmark, Limit, Unit, Wanted};
use ragonite::index::Index;
use ragonite::inference::{
    Catalog, Completion, DeviceChoice, ENGINE_REVISION, Embed, Generate, GeneratorSettings, ModelFolders, Recompute,
    ScoreRequest, logprob_deltas,
};
use ragonite::llama::{LlamaGenerator, device_summary};
use ragonite::rag::answer::{Answer, AnswerInput, AnswerSettings, generate_answer};
use ragonite::rag::attribution::{
    AnswerSource, Attribution, AttributionSettings, Cluster, Engines, ExplainInput, GroupTest, Method, Provenance,
    Reading, SourceVector, explain, masked_estimate, probability,
};
use ragonite::rag::prompt::{Neighbours, PromptSettings, SourceOrder};
use ragonite::rag::retrieval::{self, Hit, RetrievalSettings, search_alone};
use serde::{Deserialize, Serialize};

use agreement::{all_equal, median, same_first, spearman};
use clock::{Clock, Spent};
use results::{Key, Results};

const EMBEDDER: &str = "all-MiniLM-L6-v2";
const GENERATOR: &str = "qwen2.5-coder-1.5b-instruct";
/// Default number of questions.
const QUESTIONS: usize = 20;
/// Question about the generated sources.
const MADE_QUESTION: &str = "On which day is the water of the tank changed?";
/// Option for the shared context.
const NEIGHBOURS: &str = "neighbours=";
/// Option for the order of the sources.
const ORDER: &str = "order=";
/// Option that leaves out all estimates but the masked one.
const RATIOS: &str = "ratios";
/// Option for the number of sources.
const SOURCES: &str = "k=";
/// Most sources for which logprob is measured.
const FEW: usize = 5;
/// Tokens whose logits are nearer may change places with the batch size.
const NEAR: f32 = 0.05;
/// Approximate tokens of a generated source.
const MADE_TOKENS: usize = 250;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let Some(given) = Given::of(&arguments)? else {
        println!(
            "name the folder of a domain made with {EMBEDDER}: cargo bench --bench explain -- FOLDER [QUESTIONS] [MODEL] [RESULTS.jsonl] [ratios] [k=N] [order=ORDER] [neighbours=once|each]"
        );
        return Ok(());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let (catalog, folders, never) = (Catalog::builtin()?, ModelFolders::new(vec![models]), CancelToken::never());
    let results = Results::open(&given.results)?;
    let model = catalog.model(&given.model)?;
    let path = folders.find(model, model.weights()?, &never)?;
    let settings = GeneratorSettings::default();
    let mut generator = LlamaGenerator::load(&model.id, &path, &settings, Box::new(|_| ControlFlow::Continue(())))?;
    let embedder = load_embedder(catalog.model(EMBEDDER)?, &folders, DeviceChoice::Auto, &never)?;
    let index = Index::open(Path::new(&given.folder), embedder.identity(), &never, &mut |_| {})?;
    let asked = questions(root, given.count)?;
    println!("{}: {} questions; {}; results in {}", index.name(), asked.len(), model.id, results.path.display());
    let mut work = Work {
        generator: &mut generator,
        embedder: &*embedder,
        index: &index,
        settings: AnswerSettings {
            prompt: PromptSettings { order: given.order, neighbours: given.neighbours, ..PromptSettings::default() },
            ..AnswerSettings::default()
        },
        estimates: given.estimates,
    };
    let engine = format!("{ENGINE_REVISION}; {}", device_summary(DeviceChoice::Auto));
    let mut book = Book { model: model.id.clone(), engine, results };
    for sources in given.sources {
        with_sources(&mut work, &mut book, sources, &asked)?;
    }
    made_prompt(&mut work, &mut book)
}

/// The arguments.
struct Given {
    folder: String,
    count: usize,
    model: String,
    results: PathBuf,
    estimates: Estimates,
    /// Numbers of sources.
    sources: Vec<usize>,
    /// Order of the sources.
    order: SourceOrder,
    /// How often shared context occurs.
    neighbours: Neighbours,
}

impl Given {
    /// None without a folder.
    fn of(arguments: &[String]) -> Outcome<Option<Self>> {
        let is_name = |argument: &&String| {
            argument.parse::<usize>().is_err()
                && !is_results(argument)
                && *argument != RATIOS
                && !argument.starts_with(SOURCES)
                && !argument.starts_with(ORDER)
                && !argument.starts_with(NEIGHBOURS)
        };
        let mut names = arguments.iter().filter(is_name);
        let Some(folder) = names.next() else { return Ok(None) };
        let beside = format!("{}.explain.jsonl", folder.trim_end_matches('/'));
        let only = arguments.iter().find_map(|argument| argument.strip_prefix(SOURCES));
        let order = arguments.iter().find_map(|argument| argument.strip_prefix(ORDER));
        let neighbours = arguments.iter().find_map(|argument| argument.strip_prefix(NEIGHBOURS));
        let is_short = arguments.iter().any(|argument| argument == RATIOS);
        Ok(Some(Self {
            folder: folder.clone(),
            count: arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(QUESTIONS),
            model: names.next().map_or(GENERATOR, String::as_str).to_owned(),
            results: arguments.iter().find(|argument| is_results(argument)).unwrap_or(&beside).into(),
            estimates: if is_short { Estimates::Preview } else { Estimates::All },
            order: order.map(|name| serde_json::from_value(name.into())).transpose()?.unwrap_or_default(),
            neighbours: neighbours.map(|name| serde_json::from_value(name.into())).transpose()?.unwrap_or_default(),
            sources: match only {
                Some(only) => vec![only.parse()?],
                None => vec![5, 10],
            },
        }))
    }
}

/// Whether an argument is a results file.
fn is_results(argument: &str) -> bool {
    Path::new(argument).extension().is_some_and(|extension| extension == "jsonl")
}

/// The first English questions of the benchmark, in their completed form.
fn questions(root: &Path, count: usize) -> Outcome<Vec<String>> {
    let wanted =
        Wanted { domain: None, languages: vec![Language::English], limit: Limit::First(count), unit: Unit::Question };
    let benchmark = Benchmark::read(&root.join("../shared/confquestions"), None, &wanted)?;
    Ok(benchmark.parts.into_iter().flat_map(|part| part.questions).map(|question| question.completed).collect())
}

/// Measures the questions with `sources` sources each.
fn with_sources(work: &mut Work<'_>, book: &mut Book, sources: usize, asked: &[String]) -> Outcome<()> {
    let retrieval = RetrievalSettings { top_k: sources, ..RetrievalSettings::default() };
    let (settings, estimates) = (&work.settings, work.estimates);
    let told = format!("{retrieval:?} {settings:?} {:?} {estimates:?}", AttributionSettings::default());
    let mut measured = Vec::new();
    for question in asked {
        let key = book.key(&told, question);
        let one = book.results.get(key, || work.measure(question, &work.find(question, &retrieval)?))?;
        println!("  {}", one.line());
        measured.push(one);
    }
    println!("{sources} sources, medians (near-ties and one value: means): {}", Measured::medians(&measured).line());
    print_estimates(&measured);
    Ok(())
}

/// Measures the generated prompt.
fn made_prompt(work: &mut Work<'_>, book: &mut Book) -> Outcome<()> {
    let prompt = PromptSettings { evidence_tokens: 20 * MADE_TOKENS, ..work.settings.prompt.clone() };
    work.settings = AnswerSettings { prompt, ..AnswerSettings::default() };
    let (settings, estimates) = (&work.settings, work.estimates);
    let told = format!("made sources {settings:?} {:?} {estimates:?}", AttributionSettings::default());
    let key = book.key(&told, MADE_QUESTION);
    let made = book.results.get(key, || {
        let mut hits = work.find(MADE_QUESTION, &RetrievalSettings::default())?;
        for hit in &mut hits {
            hit.text = made_text(hit.rank);
        }
        work.measure(MADE_QUESTION, &hits)
    })?;
    println!("made prompt: {}", made.line());
    Ok(())
}

/// The results with their key.
struct Book {
    model: String,
    engine: String,
    results: Results,
}

impl Book {
    fn key(&self, settings: &str, question: &str) -> Key {
        let (model, engine) = (self.model.clone(), self.engine.clone());
        Key { model, engine, settings: settings.to_owned(), question: question.to_owned() }
    }
}

/// A source of about [`MADE_TOKENS`] tokens; one of ten has the answer.
fn made_text(rank: usize) -> String {
    let water =
        if rank == 4 { "The water of the tank is changed on Thursday." } else { "The tank is checked at noon." };
    let filler = "The crew of the station writes down wind and pressure every hour, and keeps the log in the office. ";
    format!("Station {rank}. {water} {}", filler.repeat(MADE_TOKENS / 22))
}

/// Estimates that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Estimates {
    /// All estimates.
    All,
    /// The masked estimate only.
    Preview,
}

struct Work<'a> {
    generator: &'a mut LlamaGenerator,
    embedder: &'a dyn Embed,
    index: &'a Index,
    settings: AnswerSettings,
    estimates: Estimates,
}

/// An estimate of the contributions; times are multiples of the answer's.
#[derive(Clone, Serialize, Deserialize)]
struct Estimate {
    name: String,
    whole: f64,
    /// The same in CPU time.
    work: f64,
    first: f64,
    /// Spearman correlation with the exact contributions; none if those are all equal.
    spearman: Option<f64>,
    same_first: Option<f64>,
    /// Logprob drop of each token of the answer, per cluster.
    #[serde(default)]
    drops: Vec<Vec<f32>>,
}

/// A question; times are multiples of the answer's.
#[derive(Default, Clone, Serialize, Deserialize)]
struct Measured {
    answer_ms: f64,
    tokens: f64,
    said: f64,
    clusters: f64,
    verified: f64,
    /// Sources in the group test.
    grouped_sources: f64,
    /// 1 if the group has one value because the answer changed, else 0.
    left_together: f64,
    read: f64,
    written: f64,
    first: f64,
    exact: f64,
    grouped: f64,
    /// Both in CPU time.
    exact_work: f64,
    grouped_work: f64,
    /// Counterfactual answers with a near-tie somewhere.
    near_ties: f64,
    /// Contribution of each cluster.
    #[serde(default)]
    contributions: Vec<f64>,
    estimates: Vec<Estimate>,
}

impl Measured {
    /// Without estimates.
    fn of(asked: &Asked<'_>, exact: &Explained, grouped: &Explained) -> Self {
        let (Asked { answer, spent, .. }, clusters) = (asked, &exact.attribution.clusters);
        let count =
            |clusters: &[Cluster], is: fn(&Cluster) -> bool| clusters.iter().filter(|one| is(one)).count() as f64;
        let completions = || clusters.iter().flat_map(|one| &one.counterfactuals).map(|one| &one.completion);
        let own = |one: &Completion| one.tokens.len() - one.drafted_tokens;
        let in_group = grouped.attribution.clusters.iter().filter(|one| one.how == Provenance::Group);
        Self {
            answer_ms: spent.wall,
            tokens: answer.completion.prompt_tokens as f64,
            said: answer.completion.tokens.len() as f64,
            clusters: clusters.len() as f64,
            verified: count(clusters, |one| one.how == Provenance::Verified),
            grouped_sources: in_group.flat_map(|one| &one.hits).count() as f64,
            left_together: count(&grouped.attribution.clusters, |one| {
                one.how == Provenance::Group && one.contribution > 0.0
            }),
            read: completions().map(|one| one.prompt_tokens - one.reused_tokens).sum::<usize>() as f64,
            written: completions().map(own).sum::<usize>() as f64,
            first: exact.first.wall / spent.wall,
            exact: exact.spent.wall / spent.wall,
            grouped: grouped.spent.wall / spent.wall,
            exact_work: exact.spent.processor / spent.processor,
            grouped_work: grouped.spent.processor / spent.processor,
            near_ties: completions().filter(|one| one.narrowest.is_some_and(|margin| margin < NEAR)).count() as f64,
            contributions: contributions(clusters),
            estimates: Vec::new(),
        }
    }

    fn line(&self) -> String {
        format!(
            "answer {:.1} s, {:.0} + {:.0} tokens, {:.0} clusters ({:.0} verified, {:.0} sources in a group, {:.2} with one value) | exact {:.2} ({:.2}), first {:.2}, {:.0} read {:.0} written, {:.1} near-ties | grouped {:.2} ({:.2})",
            self.answer_ms / 1e3,
            self.tokens,
            self.said,
            self.clusters,
            self.verified,
            self.grouped_sources,
            self.left_together,
            self.exact,
            self.exact_work,
            self.first,
            self.read,
            self.written,
            self.near_ties,
            self.grouped,
            self.grouped_work,
        )
    }

    fn medians(all: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| median(all.iter().map(of).collect());
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self {
            answer_ms: median(|one| one.answer_ms),
            tokens: median(|one| one.tokens),
            said: median(|one| one.said),
            clusters: median(|one| one.clusters),
            verified: median(|one| one.verified),
            grouped_sources: median(|one| one.grouped_sources),
            // A median would be 0 or 1.
            left_together: mean(|one| one.left_together),
            read: median(|one| one.read),
            written: median(|one| one.written),
            first: median(|one| one.first),
            exact: median(|one| one.exact),
            grouped: median(|one| one.grouped),
            exact_work: median(|one| one.exact_work),
            grouped_work: median(|one| one.grouped_work),
            near_ties: mean(|one| one.near_ties),
            contributions: Vec::new(),
            estimates: Vec::new(),
        }
    }
}

/// Each estimate: medians of its times, and means of its agreement over the questions whose contributions are not all
/// equal (otherwise there is no order).
fn print_estimates(measured: &[Measured]) {
    let Some(first) = measured.first() else { return };
    for Estimate { name, .. } in &first.estimates {
        let all: Vec<&Estimate> =
            measured.iter().flat_map(|one| &one.estimates).filter(|estimate| estimate.name == *name).collect();
        let median = |of: fn(&Estimate) -> f64| median(all.iter().map(|one| of(one)).collect());
        let mean = |of: fn(&Estimate) -> Option<f64>| {
            let values: Vec<f64> = all.iter().filter_map(|one| of(one)).collect();
            (values.iter().sum::<f64>() / values.len().max(1) as f64, values.len())
        };
        let ((spearman, of), (same_first, _)) = (mean(|one| one.spearman), mean(|one| one.same_first));
        println!(
            "  {name}: {:.2} ({:.2}), first {:.2} | against exact, {of} of {} questions: Spearman {spearman:.2}, same first {same_first:.2}",
            median(|one| one.whole),
            median(|one| one.work),
            median(|one| one.first),
            all.len(),
        );
    }
}

impl Work<'_> {
    fn find(&self, question: &str, retrieval: &RetrievalSettings) -> Outcome<Vec<Hit>> {
        let engines = retrieval::SearchContext { index: self.index, embedder: self.embedder, reranker: None };
        Ok(search_alone(engines, question, retrieval, &CancelToken::never())?.hits)
    }

    fn measure(&mut self, question: &str, hits: &[Hit]) -> Outcome<Measured> {
        let settings = &self.settings;
        let input = AnswerInput { prefix: "", language: Language::English, past: &[], question, hits, settings };
        let clock = Clock::start();
        let answer = generate_answer(self.generator, &input, &CancelToken::never(), &mut |_| {})?;
        let spent = clock.spent();
        println!(
            "  {question}: {:.1} s, {:.1} s of the processors; in brackets below, multiples of these",
            spent.wall / 1e3,
            spent.processor / 1e3
        );
        let asked = Asked { question, answer: &answer, sources: self.sources(hits)?, spent };
        let exact = self.timed(&asked, GroupTest::Off, Method::Counterfactual)?;
        let grouped = self.timed(&asked, GroupTest::Auto, Method::Counterfactual)?;
        let estimates = self.estimates(&asked, &exact.attribution.clusters)?;
        Ok(Measured { estimates, ..Measured::of(&asked, &exact, &grouped) })
    }

    /// Explains, starting from the KV cache after the answer.
    fn timed(&mut self, asked: &Asked<'_>, group_test: GroupTest, method: Method) -> Outcome<Explained> {
        self.restore(asked.answer)?;
        let explained = self.explained(asked, group_test, method)?;
        let (all, first) = (explained.spent.of(asked.spent), explained.first.of(asked.spent));
        println!("    {method:?}, group test {group_test:?}: {all}, first {first}");
        Ok(explained)
    }

    /// Estimates of the contributions, with their agreement.
    fn estimates(&mut self, asked: &Asked<'_>, exact: &[Cluster]) -> Outcome<Vec<Estimate>> {
        let mut methods = vec![("preview", Method::Preview)];
        if asked.sources.len() <= FEW && self.estimates == Estimates::All {
            methods.push(("logprob", Method::Logprob));
        }
        let mut estimates = Vec::new();
        for (name, method) in methods {
            let explained = self.timed(asked, GroupTest::Off, method)?;
            let drops: Vec<Vec<f32>> = exact.iter().map(|one| explained.logprob_deltas(&one.hits)).collect();
            let values: Vec<f64> = drops.iter().map(|drops| sum(drops)).collect();
            let estimate = asked.estimate(name, &values, exact, explained.spent, explained.first);
            estimates.push(Estimate { drops, ..estimate });
        }
        if self.estimates == Estimates::All {
            let Recomputed { drops, whole, first } = self.recompute_rest(asked.answer, exact)?;
            estimates.push(asked.estimate("end of the prompt read again", &drops, exact, whole, first));
        }
        Ok(estimates)
    }

    /// The vectors for clustering.
    fn sources(&self, hits: &[Hit]) -> Outcome<Vec<SourceVector>> {
        let ids: Vec<_> = hits.iter().map(|hit| hit.evidence).collect();
        let vectors = self.index.vectors(&ids)?;
        Ok(hits.iter().zip(vectors).map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect())
    }

    /// Logprob drops of the answer with each cluster masked and the rest of the prompt recomputed.
    fn recompute_rest(&mut self, answer: &Answer, clusters: &[Cluster]) -> Outcome<Recomputed> {
        self.restore(answer)?;
        let (parts, tokens) = (answer.prompt.parts(), answer.completion.tokens.clone());
        let hidden = clusters.iter().map(|one| answer.prompt.places(&one.hits)).collect();
        let told = answer.completion.log_probabilities.clone();
        let request = ScoreRequest { parts, answer: tokens, told, hidden, reread: Recompute::Rest };
        let (clock, mut first) = (Clock::start(), None);
        let mut hear = |set: Option<usize>, _: &[f32]| {
            if set.is_some() {
                first.get_or_insert_with(|| clock.spent());
            }
        };
        let scores = self.generator.score(&request, &CancelToken::never(), &mut hear)?;
        let spent = clock.spent();
        let drop = |hidden: &Vec<f32>| sum(&logprob_deltas(&scores.whole, hidden));
        let drops = scores.hidden.iter().map(drop).collect();
        Ok(Recomputed { drops, whole: spent, first: first.unwrap_or_default() })
    }

    /// Restores the KV cache after the answer.
    fn restore(&mut self, answer: &Answer) -> Outcome<()> {
        let (parts, tokens) = (answer.prompt.parts(), answer.completion.tokens.clone());
        let (told, hidden) = (Vec::new(), Vec::new());
        let request = ScoreRequest { parts, answer: tokens, told, hidden, reread: Recompute::Rest };
        self.generator.score(&request, &CancelToken::never(), &mut |_, _| {})?;
        Ok(())
    }

    fn explained(&mut self, asked: &Asked<'_>, group_test: GroupTest, method: Method) -> Outcome<Explained> {
        let Asked { question, answer, sources, .. } = asked;
        let settings = AttributionSettings { group_test, ..AttributionSettings::default() };
        let max_tokens = self.settings.prompt.answer_tokens;
        let input = ExplainInput {
            question,
            answer,
            sources,
            origin: AnswerSource::Here,
            known: &[],
            settings: &settings,
            max_tokens,
        };
        let (clock, mut first) = (Clock::start(), None);
        let mut hear = |_: usize, _: usize, _: &[Cluster]| {
            first.get_or_insert_with(|| clock.spent());
        };
        let never = CancelToken::never();
        let attribution = match method {
            Method::Preview => masked_estimate(input, self.generator, &never, &mut hear)?,
            Method::Logprob => probability(input, Reading::Logprob, self.generator, &never, &mut hear)?,
            _ => {
                let engines = Engines { generator: &mut *self.generator, embedder: self.embedder };
                explain(input, engines, &never, &mut hear)?
            }
        };
        Ok(Explained { attribution, spent: clock.spent(), first: first.unwrap_or_default() })
    }
}

/// A question with its answer and the time of the answer.
struct Asked<'a> {
    question: &'a str,
    answer: &'a Answer,
    /// The vectors for clustering.
    sources: Vec<SourceVector>,
    spent: Spent,
}

impl Asked<'_> {
    /// Agreement of estimated `values` with the exact ones; `whole` is the time of all, `first` of the first.
    fn estimate(&self, name: &str, values: &[f64], exact: &[Cluster], whole: Spent, first: Spent) -> Estimate {
        let contributions = contributions(exact);
        println!(
            "    {name}: {}, first {}: {values:.3?} where exact is {contributions:.3?}",
            whole.of(self.spent),
            first.of(self.spent)
        );
        let mattered = !all_equal(&contributions);
        Estimate {
            name: name.to_owned(),
            whole: whole.wall / self.spent.wall,
            work: whole.processor / self.spent.processor,
            first: first.wall / self.spent.wall,
            spearman: mattered.then(|| spearman(values, &contributions)),
            same_first: mattered.then(|| f64::from(u8::from(same_first(values, &contributions)))),
            drops: Vec::new(),
        }
    }
}

fn contributions(clusters: &[Cluster]) -> Vec<f64> {
    clusters.iter().map(|one| one.contribution).collect()
}

/// Logprob drops per cluster with the end of the prompt recomputed.
struct Recomputed {
    drops: Vec<f64>,
    /// Time of all clusters.
    whole: Spent,
    /// Time of the first cluster.
    first: Spent,
}

/// An explanation with its time, and the time of its first bar.
struct Explained {
    attribution: Attribution,
    spent: Spent,
    first: Spent,
}

impl Explained {
    /// Logprob drops of the answer's tokens without these sources.
    fn logprob_deltas(&self, hits: &[usize]) -> Vec<f32> {
        let found = self.attribution.clusters.iter().find(|one| one.hits == hits);
        found.map_or_else(Vec::new, |one| one.drops.clone())
    }
}

fn sum(drops: &[f32]) -> f64 {
    drops.iter().map(|drop| f64::from(*drop)).sum()
}
