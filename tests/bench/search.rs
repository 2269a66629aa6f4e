//! Speed of a search, recall of the approximate index, and opening time of a domain.
//!
//! `cargo bench --bench search -- FOLDER` measures the domain in FOLDER, made with all-MiniLM-L6-v2 (such as the domain
//! that `ragonite eval` keeps), and 100,000 evidences generated from it, or another number given. A generated evidence
//! has words of two real ones and the normalized, noisy mix of their vectors, with a fixed seed. The questions are
//! those of the benchmark beside the repository if available, else titles of the domain. A follow-up comes after three
//! questions whose answers cite their best hit. Times without embedding are those of the same searches minus the
//! embedding.
//!
//! Fails if single questions, the opening of the generated domain or its recall exceed their limits. Follow-ups and
//! larger domains have no limits.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ragonite::base::{CancelToken, EvidenceId, Language};
use ragonite::document::evidence::EvidenceSettings;
use ragonite::encoder::load_embedder;
use ragonite::eval::{Benchmark, Limit, Unit, Wanted};
use ragonite::index::{Index, IndexSettings, IngestRequest, Missing, NewDomain, StoredEvidence};
use ragonite::inference::{
    Catalog, DeviceChoice, Embed, Embedding, EncoderIdentity, InferenceError, ModelFolders, TextRole,
};
use ragonite::rag::retrieval::{EarlierQuestion, RetrievalSettings, SearchContext, SearchInput, search};

const MODEL: &str = "all-MiniLM-L6-v2";
/// Default number of generated evidences.
const MADE: usize = 100_000;
/// Questions per domain.
const QUESTIONS: usize = 200;
/// Questions before a follow-up.
const BEFORE: usize = 3;
/// Evidences per generated document.
const PER_DOCUMENT: usize = 100;
/// Words from each of the two real evidences.
const WORDS: usize = 40;
/// Neighbours whose recall is measured.
const NEIGHBOURS: usize = 10;
/// Openings of the generated domain.
const OPENINGS: usize = 5;
/// Noise in each component of a generated vector, before normalization; a real component is about 0.05.
const NOISE: f32 = 0.01;

/// Limits of p95 in milliseconds for single questions in the given domain.
const NAMED: Limits = Limits { without_embedding: 15.0, with_embedding: Some(60.0) };
/// Limits in the generated domain.
const OF_MADE: Limits = Limits { without_embedding: 40.0, with_embedding: None };
/// Limit of the median opening time of the generated domain, in milliseconds.
const OPENING: f64 = 300.0;
/// Least recall of the index.
const RECALL: f64 = 0.97;

/// Limits of p95 in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Limits {
    without_embedding: f64,
    with_embedding: Option<f64>,
}

/// Exceeded limits, in words.
#[derive(Debug, Default)]
struct Past(Vec<String>);

impl Past {
    fn most(&mut self, what: &str, found: f64, limit: f64) {
        if found > limit {
            self.0.push(format!("{what}: {found:.1} ms, where {limit:.0} ms are the most"));
        }
    }

    fn told(self) -> Outcome<()> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0.join("; ").into()) }
    }
}

type Outcome<T> = Result<T, Box<dyn Error>>;

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn main() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let catalog = Catalog::builtin()?;
    let (folders, never) = (ModelFolders::new(vec![models]), CancelToken::never());
    let embedder = load_embedder(catalog.model(MODEL)?, &folders, DeviceChoice::Auto, &never)?;
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = arguments.iter().find_map(|argument| argument.parse::<usize>().ok());
    let folder = arguments.iter().find(|argument| argument.parse::<usize>().is_err());
    let Some(folder) = folder.map(PathBuf::from) else {
        println!("name the folder of a domain made with {MODEL}: cargo bench --bench search -- FOLDER [EVIDENCES]");
        return Ok(());
    };
    let index = open(&folder, embedder.identity())?;
    let real = evidences(&index)?;
    let (questions, source) = questions(root, &real);
    println!("{}: {} evidences, {} questions: {source}", index.name(), real.len(), questions.len());
    let mut past = Past::default();
    measure(&index, &*embedder, &questions, Some(NAMED), &mut past)?;

    let vectors = index.vectors(&real.iter().map(|stored| stored.id).collect::<Vec<_>>())?;
    let mixing = Mixing { identity: embedder.identity().clone(), vectors };
    let data = tempfile::tempdir()?;
    let made = data.path().join("made");
    let number = number.unwrap_or(MADE);
    make(&made, &real, number, &mixing)?;
    let mut times = Vec::new();
    for _ in 0..OPENINGS {
        let started = Instant::now();
        drop(open(&made, embedder.identity())?);
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let (first, last) = (times.first().copied().unwrap_or_default(), times.last().copied().unwrap_or_default());
    println!("made domain: opened {OPENINGS} times in {first:.0} to {last:.0} ms");
    let index = open(&made, embedder.identity())?;
    let limits = (number <= MADE).then_some(OF_MADE);
    measure(&index, &*embedder, &questions, limits, &mut past)?;
    let found = recall(&index, &*embedder, &questions)?;
    if limits.is_some() {
        past.most("opening the made domain", times[OPENINGS / 2], OPENING);
        if found < RECALL {
            past.0.push(format!("recall@{NEIGHBOURS} is {found:.4}, where {RECALL} is the least"));
        }
    }
    past.told()
}

fn open(folder: &Path, embedder: &EncoderIdentity) -> Outcome<Index> {
    Ok(Index::open(folder, embedder, &CancelToken::never(), &mut |_| {})?)
}

fn evidences(index: &Index) -> Outcome<Vec<StoredEvidence>> {
    let mut all = Vec::new();
    for document in index.documents()? {
        all.extend(index.evidences_of(document.id)?);
    }
    Ok(all)
}

/// The questions, and a description of their origin.
fn questions(root: &Path, real: &[StoredEvidence]) -> (Vec<String>, String) {
    let wanted = Wanted {
        domain: None,
        languages: vec![Language::English, Language::German],
        limit: Limit::First(QUESTIONS / 2),
        unit: Unit::Question,
    };
    match Benchmark::read(&root.join("../shared/confquestions"), None, &wanted) {
        Ok(benchmark) => {
            let source = format!("those of {}", benchmark.questions.display());
            let questions = benchmark.parts.into_iter().flat_map(|part| part.questions);
            (questions.map(|question| question.completed).collect(), source)
        }
        Err(error) => {
            let mut seen = HashSet::new();
            let titles = real.iter().map(|stored| stored.title.clone()).filter(|title| seen.insert(title.clone()));
            (titles.take(QUESTIONS).collect(), format!("titles of the domain, for there is no benchmark ({error})"))
        }
    }
}

/// Peak memory so far, where the system reports it.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" unknown");
    format!("at most {} of memory", peak.trim())
}

/// Conversation of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Without a conversation.
    Alone,
    /// After earlier questions, each answered from its best hit.
    FollowUp,
}

/// Asks every question alone and as a follow-up, once to warm up.
fn measure(
    index: &Index,
    embedder: &dyn Embed,
    questions: &[String],
    limits: Option<Limits>,
    past: &mut Past,
) -> Outcome<()> {
    let engines = SearchContext { index, embedder, reranker: None };
    for (asked, name) in [(Asked::Alone, "alone"), (Asked::FollowUp, "follow-up")] {
        let (mut whole, mut searching) = (Vec::new(), Vec::new());
        for round in 0..2 {
            let mut before: Vec<EarlierQuestion> = Vec::new();
            for question in questions {
                let earlier = if asked == Asked::Alone { &[] } else { &before[before.len().saturating_sub(BEFORE)..] };
                let conversation = SearchInput { question, completed: None, translated: None, earlier, today: None };
                let started = Instant::now();
                let retrieved = search(engines, &conversation, &RetrievalSettings::default(), &CancelToken::never())?;
                let milliseconds = started.elapsed().as_secs_f64() * 1e3;
                before.push(EarlierQuestion::answered(question, &retrieved.hits, &[1]));
                if round > 0 {
                    whole.push(milliseconds);
                    searching.push(milliseconds - retrieved.timings_ms.embed.0);
                }
            }
        }
        let limits = limits.filter(|_| asked == Asked::Alone);
        let of_both = [limits.map(|limits| limits.without_embedding), limits.and_then(|limits| limits.with_embedding)];
        let both = [("without embedding", &mut searching), ("with embedding", &mut whole)];
        for ((part, times), limit) in both.into_iter().zip(of_both) {
            times.sort_by(f64::total_cmp);
            let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
            println!("  {name}, {part}: p50 {:.1} ms, p95 {:.1} ms", at(0.5), at(0.95));
            if let Some(limit) = limit {
                past.most(&format!("{} {name}, {part}, p95", index.name()), at(0.95), limit);
            }
        }
    }
    Ok(())
}

/// Share of the exact nearest evidences that the index finds.
fn recall(index: &Index, embedder: &dyn Embed, questions: &[String]) -> Outcome<f64> {
    let never = CancelToken::never();
    let mut queries = Vec::new();
    for question in questions {
        queries.push(embedder.embed(&[question], TextRole::Query, &never)?.remove(0));
    }
    // Document by document, because a million vectors do not fit into memory.
    let mut exact: Vec<Vec<(f64, EvidenceId)>> = vec![Vec::new(); queries.len()];
    for document in index.documents()? {
        let ids: Vec<EvidenceId> = index.evidences_of(document.id)?.into_iter().map(|stored| stored.id).collect();
        let vectors = index.vectors(&ids)?;
        for (query, best) in queries.iter().zip(&mut exact) {
            best.extend(vectors.iter().zip(&ids).map(|(vector, id)| (query.cosine(vector), *id)));
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            best.truncate(NEIGHBOURS);
        }
    }
    let (mut found, mut wanted) = (0, 0);
    for (query, best) in queries.iter().zip(&exact) {
        let near: Vec<EvidenceId> =
            index.dense_search(query, NEIGHBOURS)?.into_iter().map(|scored| scored.evidence).collect();
        wanted += best.len();
        found += best.iter().filter(|(_, id)| near.contains(id)).count();
    }
    let share = f64::from(found as u32) / f64::from(wanted as u32);
    println!("  recall@{NEIGHBOURS} against comparing all: {share:.4}");
    Ok(share)
}

/// Ingests documents with words of real evidences.
fn make(folder: &Path, real: &[StoredEvidence], count: usize, mixing: &Mixing) -> Outcome<()> {
    let documents = tempfile::tempdir()?;
    let words = |at: usize| real[at % real.len()].evidence.content.split_whitespace().take(WORDS);
    for document in 0..count.div_ceil(PER_DOCUMENT) {
        let mut text = format!("# {} {document}\n", real[document * 31 % real.len()].title);
        for evidence in document * PER_DOCUMENT..count.min((document + 1) * PER_DOCUMENT) {
            let mixed: Vec<&str> = words(mix(evidence as u64) as usize).chain(words(evidence * 7)).collect();
            // Words of tables and lists would be parsed as such.
            let mixed = mixed.join(" ").replace(['|', '#', '*', '-', '<', '>', '`', '+'], " ");
            write!(text, "\n## Part {evidence}\n\nNote {evidence}: {mixed}\n")?;
        }
        fs::write(documents.path().join(format!("{document}.md")), text)?;
    }
    let started = Instant::now();
    let never = CancelToken::never();
    let mut index = Index::create(folder, NewDomain::default(), mixing.identity())?;
    let paths = [documents.path().to_path_buf()];
    let (evidence, settings) = (EvidenceSettings::default(), IndexSettings::default());
    let request = IngestRequest { paths: &paths, evidence: &evidence, index: &settings, missing: Missing::Keep };
    let report = index.ingest(&request, mixing, &never, &mut |_| {})?;
    println!(
        "made domain: {} evidences, ingested in {:.0} s, {}",
        report.evidences.total(),
        started.elapsed().as_secs_f64(),
        memory()
    );
    Ok(())
}

/// Mixes real vectors.
struct Mixing {
    identity: EncoderIdentity,
    vectors: Vec<Embedding>,
}

impl Mixing {
    fn vector(&self, text: &str) -> Embedding {
        let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| mix(hash ^ u64::from(byte)));
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        };
        let count = self.vectors.len().max(1) as u64;
        let (a, b) = ((next() % count) as usize, (next() % count) as usize);
        let share = (next() % 1_000) as f32 / 1_000.0;
        let pairs = self.vectors[a].values().iter().zip(self.vectors[b].values());
        let noisy = pairs.map(|(a, b)| {
            let noise = ((next() % 2_001) as f32 / 1_000.0 - 1.0) * NOISE;
            a * share + b * (1.0 - share) + noise
        });
        Embedding::normalized(noisy.collect())
    }
}

impl Embed for Mixing {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        Ok(text.split_whitespace().count())
    }

    fn embed(&self, texts: &[&str], _role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        cancel.check()?;
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// A number that looks random (`SplitMix64`).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
