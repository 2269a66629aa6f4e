//! What explaining an answer costs beside answering, and how far the preview agrees with the exact explanation.
//!
//! `cargo bench --bench explain -- FOLDER [QUESTIONS] [MODEL]` asks the first questions of the benchmark beside the
//! repository in English, in their completed form, of the domain in FOLDER, made with all-MiniLM-L6-v2 (for one, the domain
//! that `ragonite eval` keeps for the benchmark), with 5 and with 10 sources; then a made prompt of ten sources of about
//! 250 tokens each. Every answer is explained three times: one by one, with what hardly matters settled as a group, and by
//! a preview. Before each explanation the state of the model is that after the answer. All ratios are to the time of the
//! answer, prompt reading included; what is read and written beside the answer's own is counted in tokens.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ragonite::answer::{Answer, AnswerInput, AnswerSettings, generate_answer, read_answer};
use ragonite::attribution::{
    Attribution, AttributionSettings, Cluster, Engines, ExplainInput, GroupTest, How, Method, Origin, SourceVector,
    explain, preview,
};
use ragonite::base::{CancelToken, Language};
use ragonite::eval::{Benchmark, Limit, Unit, Wanted};
use ragonite::index::Index;
use ragonite::inference::{
    Catalog, Completion, DeviceChoice, Embed, Generate, GenerateRequest, GeneratorSettings, LlamaGenerator,
    ModelFolders, ScoreRequest, TextRole, load_embedder,
};
use ragonite::prompt::{Part, PromptSettings};
use ragonite::retrieval::{self, Hit, RetrievalSettings, retrieve};

const EMBEDDER: &str = "all-MiniLM-L6-v2";
const GENERATOR: &str = "qwen2.5-coder-1.5b-instruct";
/// Questions that are asked where no number is given.
const QUESTIONS: usize = 20;
/// What is asked of the made sources.
const MADE_QUESTION: &str = "On which day is the water of the tank changed?";
/// Tokens of a made source, about.
const MADE_TOKENS: usize = 250;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn main() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let (catalog, folders, never) = (Catalog::builtin()?, ModelFolders::new(vec![models]), CancelToken::never());
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let count = given.iter().find_map(|argument| argument.parse::<usize>().ok()).unwrap_or(QUESTIONS);
    let mut names = given.iter().filter(|argument| argument.parse::<usize>().is_err());
    let Some(folder) = names.next() else {
        println!(
            "name the folder of a domain made with {EMBEDDER}: cargo bench --bench explain -- FOLDER [QUESTIONS] [MODEL]"
        );
        return Ok(());
    };
    let model = catalog.model(names.next().map_or(GENERATOR, String::as_str))?;
    let path = folders.find(model, model.weights()?, &never)?;
    let settings = GeneratorSettings::default();
    let mut generator = LlamaGenerator::load(&model.id, &path, &settings, Box::new(|_| ControlFlow::Continue(())))?;
    let embedder = load_embedder(catalog.model(EMBEDDER)?, &folders, DeviceChoice::Auto, &never)?;
    let index = Index::open(Path::new(folder), embedder.identity(), &never, &mut |_| {})?;
    let wanted =
        Wanted { domain: None, languages: vec![Language::English], limit: Limit::First(count), unit: Unit::Question };
    let benchmark = Benchmark::read(&root.join("../shared/confquestions"), None, &wanted)?;
    let asked: Vec<String> =
        benchmark.parts.into_iter().flat_map(|part| part.questions).map(|question| question.completed).collect();
    println!("{}: {} questions; {}", index.name(), asked.len(), model.id);
    for sources in [5, 10] {
        let mut measured = Vec::new();
        for question in &asked {
            let engines = retrieval::Engines { index: &index, embedder: &*embedder, reranker: None };
            let retrieved = RetrievalSettings { top_k: sources, ..RetrievalSettings::default() };
            let hits = retrieve(engines, question, &retrieved, &never)?.hits;
            let settings = AnswerSettings::default();
            let mut work = Work { generator: &mut generator, embedder: &*embedder, index: &index, settings };
            let one = work.measure(question, &hits)?;
            println!("  {}", one.line());
            measured.push(one);
        }
        println!("{sources} sources, medians: {}", Measured::medians(&measured).line());
        agreement(&measured);
    }
    let engines = retrieval::Engines { index: &index, embedder: &*embedder, reranker: None };
    let mut hits = retrieve(engines, MADE_QUESTION, &RetrievalSettings::default(), &never)?.hits;
    for hit in &mut hits {
        hit.text = made_text(hit.rank);
    }
    let prompt = PromptSettings { evidence_tokens: 20 * MADE_TOKENS, ..PromptSettings::default() };
    let settings = AnswerSettings { prompt, ..AnswerSettings::default() };
    let mut work = Work { generator: &mut generator, embedder: &*embedder, index: &index, settings };
    println!("made prompt: {}", work.measure(MADE_QUESTION, &hits)?.line());
    Ok(())
}

/// A source of about [`MADE_TOKENS`] tokens; one of ten has the answer.
fn made_text(rank: usize) -> String {
    let water =
        if rank == 4 { "The water of the tank is changed on Thursday." } else { "The tank is checked at noon." };
    let filler = "The crew of the station writes down wind and pressure every hour, and keeps the log in the office. ";
    format!("Station {rank}. {water} {}", filler.repeat(MADE_TOKENS / 22))
}

struct Work<'a> {
    generator: &'a mut LlamaGenerator,
    embedder: &'a dyn Embed,
    index: &'a Index,
    settings: AnswerSettings,
}

/// One question; times are multiples of the answer's.
#[derive(Default, Clone)]
struct Measured {
    answer_ms: f64,
    tokens: f64,
    said: f64,
    clusters: f64,
    verified: f64,
    grouped_clusters: f64,
    read: f64,
    written: f64,
    first: f64,
    exact: f64,
    grouped: f64,
    first_estimate: f64,
    preview: f64,
    spearman: Option<f64>,
    same_first: Option<f64>,
    hidden: f64,
    first_hidden: f64,
    spearman_hidden: Option<f64>,
    same_first_hidden: Option<f64>,
}

impl Measured {
    fn line(&self) -> String {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        format!(
            "answer {:.1} s, {:.0} + {:.0} tokens, {:.0} clusters ({:.0} verified, {:.0} in a group) | exact {:.2}, first {:.2}, {:.0} read {:.0} written | grouped {:.2} | preview {:.2}, first {:.2}, Spearman {} same first {} | written with sources hidden {:.2}, first {:.2}, Spearman {} same first {}",
            self.answer_ms / 1e3,
            self.tokens,
            self.said,
            self.clusters,
            self.verified,
            self.grouped_clusters,
            self.exact,
            self.first,
            self.read,
            self.written,
            self.grouped,
            self.preview,
            self.first_estimate,
            number(self.spearman),
            number(self.same_first),
            self.hidden,
            self.first_hidden,
            number(self.spearman_hidden),
            number(self.same_first_hidden),
        )
    }

    fn medians(all: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| {
            let mut values: Vec<f64> = all.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        Self {
            answer_ms: median(|one| one.answer_ms),
            tokens: median(|one| one.tokens),
            said: median(|one| one.said),
            clusters: median(|one| one.clusters),
            verified: median(|one| one.verified),
            grouped_clusters: median(|one| one.grouped_clusters),
            read: median(|one| one.read),
            written: median(|one| one.written),
            first: median(|one| one.first),
            exact: median(|one| one.exact),
            grouped: median(|one| one.grouped),
            first_estimate: median(|one| one.first_estimate),
            preview: median(|one| one.preview),
            hidden: median(|one| one.hidden),
            first_hidden: median(|one| one.first_hidden),
            ..Self::default()
        }
    }
}

/// Means over the questions where some source mattered.
fn agreement(measured: &[Measured]) {
    let mean = |of: fn(&Measured) -> Option<f64>| {
        let values: Vec<f64> = measured.iter().filter_map(of).collect();
        (values.iter().sum::<f64>() / values.len().max(1) as f64, values.len())
    };
    let ((spearman, of), (first, _)) = (mean(|one| one.spearman), mean(|one| one.same_first));
    let ((hidden, _), (first_hidden, _)) = (mean(|one| one.spearman_hidden), mean(|one| one.same_first_hidden));
    println!(
        "against exact, {of} questions where a source mattered: preview Spearman {spearman:.2}, same first {first:.2}; written with sources hidden {hidden:.2}, {first_hidden:.2}"
    );
}

impl Work<'_> {
    fn measure(&mut self, question: &str, hits: &[Hit]) -> Outcome<Measured> {
        let never = CancelToken::never();
        let settings = &self.settings;
        let input = AnswerInput { prefix: "", language: Language::English, past: &[], question, hits, settings };
        let clock = Clock::start();
        let answer = generate_answer(self.generator, &input, &never, &mut |_| {})?;
        let answered = clock.spent();
        let answer_ms = answered.wall;
        println!(
            "  {question}: {:.1} s, {:.1} s of the processors; in brackets below, multiples of these",
            answer_ms / 1e3,
            answered.processor / 1e3
        );
        let ids: Vec<_> = hits.iter().map(|hit| hit.evidence).collect();
        let vectors = self.index.vectors(&ids)?;
        let sources: Vec<SourceVector> =
            hits.iter().zip(vectors).map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect();
        let mut timed = |group_test, method| {
            self.restore(&answer)?;
            let explained = self.explained(question, &answer, &sources, (group_test, method))?;
            let (all, first) = (explained.spent.of(answered), explained.first.of(answered));
            println!("    {method:?}, group test {group_test:?}: {all}, first {first}");
            Ok::<_, Box<dyn Error>>(explained)
        };
        let exact = timed(GroupTest::Off, Method::Counterfactual)?;
        let grouped = timed(GroupTest::Auto, Method::Counterfactual)?;
        let estimated = timed(GroupTest::Off, Method::Preview)?;
        let clusters = &exact.attribution.clusters;
        let of = |hits: &[usize]| estimated.attribution.clusters.iter().find(|one| one.hits == hits).map_or(0.0, drop);
        let estimates: Vec<f64> = clusters.iter().map(|one| of(&one.hits)).collect();
        let contributions: Vec<f64> = clusters.iter().map(|one| one.contribution).collect();
        let (hidden, hidden_spent, first_hidden) = self.hiding(question, &answer, clusters)?;
        println!(
            "    written with sources hidden: {}, first {}: {hidden:.3?} where exact is {contributions:.3?}",
            hidden_spent.of(answered),
            first_hidden.of(answered)
        );
        let mattered = contributions.iter().any(|one| *one > 0.0);
        let top = |values: &[f64]| values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at);
        let count = |clusters: &[Cluster], how| clusters.iter().filter(|one| one.how == how).count() as f64;
        let completions = || clusters.iter().flat_map(|one| &one.counterfactuals).map(|one| &one.completion);
        let own = |one: &Completion| one.tokens.len() - one.drafted_tokens;
        Ok(Measured {
            answer_ms,
            tokens: answer.completion.prompt_tokens as f64,
            said: answer.completion.tokens.len() as f64,
            clusters: clusters.len() as f64,
            verified: count(clusters, How::Verified),
            grouped_clusters: count(&grouped.attribution.clusters, How::Group),
            read: completions().map(|one| one.prompt_tokens - one.reused_tokens).sum::<usize>() as f64,
            written: completions().map(own).sum::<usize>() as f64,
            first: exact.first.wall / answer_ms,
            exact: exact.spent.wall / answer_ms,
            grouped: grouped.spent.wall / answer_ms,
            first_estimate: estimated.first.wall / answer_ms,
            preview: estimated.spent.wall / answer_ms,
            spearman: mattered.then(|| spearman(&estimates, &contributions)),
            same_first: mattered.then(|| f64::from(u8::from(top(&estimates) == top(&contributions)))),
            hidden: hidden_spent.wall / answer_ms,
            first_hidden: first_hidden.wall / answer_ms,
            spearman_hidden: mattered.then(|| spearman(&hidden, &contributions)),
            same_first_hidden: mattered.then(|| f64::from(u8::from(top(&hidden) == top(&contributions)))),
        })
    }

    /// What the answers written with each cluster hidden differ from the original by, and the time of all and of the first.
    fn hiding(&mut self, question: &str, answer: &Answer, clusters: &[Cluster]) -> Outcome<(Vec<f64>, Spent, Spent)> {
        self.restore(answer)?;
        let parts = answer.prompt.segments.iter().enumerate();
        let places = |hits: &[usize]| -> Vec<usize> {
            let is_of = |part: Part| matches!(part, Part::Evidence { rank } if hits.contains(&rank));
            parts.clone().filter(|(_, segment)| is_of(segment.part)).map(|(place, _)| place).collect()
        };
        let hidden: Vec<Vec<usize>> = clusters.iter().map(|cluster| places(&cluster.hits)).collect();
        let request = GenerateRequest {
            parts: answer.prompt.parts(),
            sampling: answer.sampling,
            stop: answer.prompt.stop.clone(),
            max_tokens: self.settings.prompt.answer_tokens,
            draft: answer.completion.tokens.clone(),
        };
        let (clock, mut first, never) = (Clock::start(), None, CancelToken::never());
        let mut texts = vec![None; hidden.len()];
        let mut hear = |at: usize, completion: Completion| {
            first.get_or_insert_with(|| clock.spent());
            texts[at] = (completion.tokens != answer.completion.tokens).then_some(completion.text);
            ControlFlow::Continue(())
        };
        self.generator.generate_hiding(&request, &hidden, &never, &mut hear)?;
        let embed = |text: &str| -> Outcome<_> {
            let text = format!("{question}\n{}", read_answer(text, &answer.prompt).0.text);
            Ok(self.embedder.embed(&[&text], TextRole::Evidence, &never)?.remove(0))
        };
        let original = embed(&answer.completion.text)?;
        let distance = |text: &Option<String>| -> Outcome<f64> {
            text.as_ref().map_or(Ok(0.0), |text| Ok(1.0 - original.cosine(&embed(text)?)))
        };
        let distances = texts.iter().map(distance).collect::<Outcome<Vec<f64>>>()?;
        Ok((distances, clock.spent(), first.unwrap_or_default()))
    }

    /// Brings back the state after the answer.
    fn restore(&mut self, answer: &Answer) -> Outcome<()> {
        let (parts, tokens) = (answer.prompt.parts(), answer.completion.tokens.clone());
        let request = ScoreRequest { parts, answer: tokens, hidden: Vec::new() };
        self.generator.score(&request, &CancelToken::never(), &mut |_, _| {})?;
        Ok(())
    }

    fn explained(
        &mut self,
        question: &str,
        answer: &Answer,
        sources: &[SourceVector],
        (group_test, method): (GroupTest, Method),
    ) -> Outcome<Explained> {
        let settings = AttributionSettings { group_test, ..AttributionSettings::default() };
        let present = |text: &str| read_answer(text, &answer.prompt).0.text;
        let max_tokens = self.settings.prompt.answer_tokens;
        let input = ExplainInput {
            question,
            answer,
            sources,
            origin: Origin::Here,
            known: &[],
            settings: &settings,
            max_tokens,
            present: &present,
        };
        let (clock, mut first) = (Clock::start(), None);
        let mut hear = |_: usize, _: usize, _: &[Cluster]| {
            first.get_or_insert_with(|| clock.spent());
        };
        let attribution = if method == Method::Preview {
            preview(input, self.generator, &CancelToken::never(), &mut hear)?
        } else {
            let engines = Engines { generator: &mut *self.generator, embedder: self.embedder };
            explain(input, engines, &CancelToken::never(), &mut hear)?
        };
        Ok(Explained { attribution, spent: clock.spent(), first: first.unwrap_or_default() })
    }
}

/// An explanation, its time and that of its first bar.
struct Explained {
    attribution: Attribution,
    spent: Spent,
    first: Spent,
}

/// Wall-clock and processor time from here on.
struct Clock {
    started: Instant,
    processor: f64,
}

/// Milliseconds by the wall and of all processors.
#[derive(Default, Clone, Copy)]
struct Spent {
    wall: f64,
    processor: f64,
}

impl Clock {
    fn start() -> Self {
        Self { started: Instant::now(), processor: processor_ms() }
    }

    fn spent(&self) -> Spent {
        Spent { wall: self.started.elapsed().as_secs_f64() * 1e3, processor: processor_ms() - self.processor }
    }
}

impl Spent {
    /// As a multiple of another time; what the processors did is in brackets, which a busy machine changes little.
    fn of(self, other: Self) -> String {
        format!("{:.2} ({:.2})", self.wall / other.wall, self.processor / other.processor)
    }
}

/// What all threads of this process have had of the processors, in hundredths of a second exact; 0 where the system
/// does not say.
fn processor_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() * 10.0
}

/// By how much the log-probability of the answer drops in all.
fn drop(cluster: &Cluster) -> f64 {
    cluster.drops.iter().map(|drop| f64::from(*drop)).sum()
}

/// Spearman's rank correlation; equal values share the mean of their ranks.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count() as f64;
            below + (equal - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(&b) {
        both += (a - mean) * (b - mean);
        of_a += (a - mean).powi(2);
        of_b += (b - mean).powi(2);
    }
    if of_a * of_b == 0.0 { 0.0 } else { both / f64::sqrt(of_a * of_b) }
}
