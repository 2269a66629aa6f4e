//! Speed of embedding with all-MiniLM-L6-v2, optionally against sentence-transformers.
//!
//! `cargo bench --bench encoder` measures the encoder; `cargo bench --bench encoder -- PYTHON` measures both, with an
//! interpreter that can import sentence-transformers. The texts are the evidences of the benchmark corpus if available,
//! else generated; both sides get the same, in alternating rounds, so that other load hits both. CPU seconds are those
//! of the process with all threads.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::error::Error;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use ragonite::base::CancelToken;
use ragonite::document;
use ragonite::document::evidence::{ContextParts, EvidenceSettings, split};
use ragonite::encoder::load_embedder;
use ragonite::inference::{Catalog, DeviceChoice, Embed, Embedding, ModelFolders, TextRole};
use serde::Deserialize;

const MODEL: &str = "all-MiniLM-L6-v2";
const ROUNDS: usize = 3;
/// Texts per round.
const TEXTS: usize = 512;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn main() -> Outcome<()> {
    let never = CancelToken::never();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let catalog = Catalog::builtin()?;
    let folders = ModelFolders::new(vec![models.clone()]);
    let embedder = load_embedder(catalog.model(MODEL)?, &folders, DeviceChoice::Auto, &never)?;
    let texts = texts(&root.join("../shared/confquestions/documents"), &*embedder)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let python = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let mut reference = python.map(|python| Reference::start(&python, &models.join(MODEL), &texts)).transpose()?;
    embed(&*embedder, &texts[..texts.len().min(32)], &never)?;
    let (mut ours, mut theirs) = (Cost::default(), Cost::default());
    for round in 1..=ROUNDS {
        let (started, computed) = (Instant::now(), processor_seconds());
        let found = embed(&*embedder, &texts, &never)?;
        let spent = Cost { wall: started.elapsed().as_secs_f64(), cpu: processor_seconds() - computed };
        println!("round {round}, ragonite: {}", spent.of(texts.len()));
        ours.add(&spent);
        if let Some(reference) = &mut reference {
            let (spent, vectors) = reference.round()?;
            println!("round {round}, sentence-transformers: {}", spent.of(texts.len()));
            println!("round {round}, lowest cosine: {:.6}", lowest_cosine(&found, vectors));
            theirs.add(&spent);
        }
    }
    println!("ragonite: {}", ours.of(texts.len() * ROUNDS));
    if reference.is_some() {
        println!("sentence-transformers: {}", theirs.of(texts.len() * ROUNDS));
        let (wall, cpu) = (theirs.wall / ours.wall, theirs.cpu / ours.cpu);
        println!("ratio: {wall:.2} by the clock, {cpu:.2} by processor time (above 1: ragonite is faster)");
    }
    Ok(())
}

fn embed(embedder: &dyn Embed, texts: &[&str], cancel: &CancelToken) -> Outcome<Vec<Embedding>> {
    Ok(embedder.embed(texts, TextRole::Evidence, cancel)?)
}

fn lowest_cosine(found: &[Embedding], expected: Vec<Vec<f32>>) -> f64 {
    let pairs = found.iter().zip(expected.into_iter().map(Embedding::normalized));
    pairs.map(|(found, expected)| found.cosine(&expected)).fold(1.0, f64::min)
}

#[derive(Default, Deserialize)]
struct Cost {
    wall: f64,
    cpu: f64,
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }

    fn of(&self, texts: usize) -> String {
        let texts = texts as f64;
        let (rate, per_cpu) = (texts / self.wall, texts / self.cpu);
        format!(
            "{:.2} s, {:.2} s of processor time: {rate:.1}/s, {per_cpu:.1} per processor second",
            self.wall, self.cpu
        )
    }
}

fn evidences_of(file: &Path, embedder: &dyn Embed, texts: &mut Vec<String>) {
    // Unreadable documents are skipped.
    let Ok(document) = document::load(file) else { return };
    let tokens = |text: &str| embedder.count_tokens(text).unwrap_or(text.len());
    let Ok(split) = split(&document, &EvidenceSettings::default(), &tokens, &CancelToken::never()) else { return };
    texts.extend(split.evidences.iter().map(|evidence| evidence.contextualized(ContextParts::default())));
}

/// The Python process: answers every line with the cost and the vectors of a round.
struct Reference {
    process: Child,
    ask: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(flatten)]
    cost: Cost,
    vectors: Vec<Vec<f32>>,
}

impl Reference {
    fn start(python: &str, model: &Path, texts: &[&str]) -> Outcome<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/reference.py");
        let mut process =
            Command::new(python).arg(script).arg(model).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut ask = process.stdin.take().ok_or("no input of the reference")?;
        let answers = process.stdout.take().ok_or("no output of the reference")?;
        writeln!(ask, "{}", serde_json::to_string(texts)?)?;
        let mut answers = BufReader::new(answers).lines();
        let ready = answers.next().ok_or("the reference ended before it was ready")??;
        println!("reference: {ready}");
        Ok(Self { process, ask: Some(ask), answers })
    }

    fn round(&mut self) -> Outcome<(Cost, Vec<Vec<f32>>)> {
        writeln!(self.ask.as_mut().ok_or("the reference has ended")?, "round")?;
        let answer: Answer = serde_json::from_str(&self.answers.next().ok_or("the reference ended early")??)?;
        Ok((answer.cost, answer.vectors))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // The process ends at the end of its input.
        self.ask = None;
        self.process.wait().ok();
    }
}

/// Paragraph-sized texts: those of the corpus, or generated ones of 5 to 220 words.
fn texts(corpus: &Path, embedder: &dyn Embed) -> Outcome<Vec<String>> {
    let mut texts = Vec::new();
    if corpus.is_dir() {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(corpus)?.map(|entry| Ok(entry?.path())).collect::<Outcome<_>>()?;
        files.sort();
        for file in files {
            evidences_of(&file, embedder, &mut texts);
        }
    }
    if texts.is_empty() {
        println!("no benchmark corpus at {}: texts are generated", corpus.display());
        let words = ["index", "evidence", "the", "deployment", "of", "a", "configuration", "server", "and", "release"];
        texts = (0..TEXTS)
            .map(|text| (0..5 + text * 89 % 216).map(|at| words[(at * 7 + text * 3) % words.len()]).collect::<Vec<_>>())
            .map(|words| words.join(" "))
            .collect();
    }
    // Evenly from all documents.
    let step = (texts.len() / TEXTS).max(1);
    Ok(texts.into_iter().step_by(step).take(TEXTS).collect())
}

/// CPU time of all threads so far (Linux; elsewhere 0), which other load hardly changes.
fn processor_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, which may contain blanks, ends with the last bracket.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}
