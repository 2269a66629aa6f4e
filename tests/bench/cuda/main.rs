//! Speed of a GPU: embedding, answering, explaining, and decoding with a model of the size of the profile `full`.
//!
//! `make check-cuda` runs it. Without a GPU it says so and measures nothing; `cargo bench --bench cuda -- small` runs
//! everything at a small size on any device, as a smoke test. Exactness is counted, not asserted, because a GPU sums in
//! another order in larger batches. Vectors are compared with those of the CPU. The model of eight billion parameters
//! has random weights, written on the spot (`gguf`).

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod gguf;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ragonite::base::{CancelToken, DocumentId, EvidenceId, Language};
use ragonite::document::evidence::{Context, Kind};
use ragonite::encoder::load_embedder;
use ragonite::inference::{
    Catalog, Completion, DeviceChoice, Embed, Embedding, Generate as _, GenerateRequest, GeneratorSettings,
    ModelFolders, PromptPart, Sampling, SpecialTokens, TextRole,
};
use ragonite::llama::{LlamaGenerator, device_summary};
use ragonite::rag::answer::{AnswerInput, AnswerSettings, generate_answer};
use ragonite::rag::attribution::{
    AnswerSource, AttributionSettings, Cluster, Engines, ExplainInput, Provenance, SourceVector, explain,
};
use ragonite::rag::prompt::PromptSettings;
use ragonite::rag::retrieval::{Hit, HitExplanation};

const EMBEDDER: &str = "all-MiniLM-L6-v2";
/// The first available one answers and explains.
const GENERATORS: [&str; 3] = ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct", "smollm2-135m-instruct"];
const QUESTION: &str = "On which day is the water of the tank changed?";
/// Least cosine of vectors of the GPU and the CPU.
const PARITY: f32 = 0.9999;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Size of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Full,
    Small,
}

impl Size {
    fn of<T>(self, full: T, small: T) -> T {
        match self {
            Self::Full => full,
            Self::Small => small,
        }
    }
}

fn main() -> Outcome<ExitCode> {
    let size = if std::env::args().any(|argument| argument == "small") { Size::Small } else { Size::Full };
    let gpus = ragonite::llama::gpus(DeviceChoice::Auto)?;
    if gpus.is_empty() && size == Size::Full {
        let why = match DeviceChoice::of_this_build() {
            Some(kind) => format!("no GPU was found by {kind}"),
            None => "this build computes with the processor; `make check-cuda` builds one for NVIDIA GPUs".to_owned(),
        };
        println!("nothing was measured: {why}");
        return Ok(ExitCode::from(2));
    }
    println!("{}", device_summary(DeviceChoice::Auto));
    for gpu in &gpus {
        println!("{gpu}");
    }
    let models = Models::find()?;
    let embedder = embedding(&models, size)?;
    explaining(&models, &*embedder, size)?;
    speed(size)?;
    Ok(ExitCode::SUCCESS)
}

/// The catalog and the folders of weights.
struct Models {
    catalog: Catalog,
    folders: ModelFolders,
}

impl Models {
    #[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
    fn find() -> Outcome<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
        Ok(Self { catalog: Catalog::builtin()?, folders: ModelFolders::new(vec![folder]) })
    }

    fn embedder(&self, device: DeviceChoice) -> Outcome<std::sync::Arc<dyn Embed>> {
        Ok(load_embedder(self.catalog.model(EMBEDDER)?, &self.folders, device, &CancelToken::never())?)
    }

    /// An available generator with its file.
    fn generator(&self) -> Outcome<(&'static str, PathBuf)> {
        for id in GENERATORS {
            let model = self.catalog.model(id)?;
            if self.folders.has(model) {
                return Ok((id, self.folders.find(model, model.weights()?, &CancelToken::never())?));
            }
        }
        Err(format!("none of {} is here; run `make models PROFILE=tiny`", GENERATORS.join(", ")).into())
    }
}

fn load(id: &str, path: &Path, context_tokens: usize) -> Outcome<LlamaGenerator> {
    let settings = GeneratorSettings { context_tokens, ..GeneratorSettings::default() };
    let loaded = LlamaGenerator::load(id, path, &settings, Box::new(|_| ControlFlow::Continue(())))?;
    let on = loaded.placement().map_or_else(|| "on the processor".to_owned(), ToString::to_string);
    println!("{id}: {on}");
    Ok(loaded)
}

/// Texts per second on CPU and GPU, and similarity of the vectors.
fn embedding(models: &Models, size: Size) -> Outcome<std::sync::Arc<dyn Embed>> {
    let (count, rounds) = size.of((2048, 3), (64, 1));
    let texts: Vec<String> = (0..count).map(|text| made_text(text, 20 + text * 7 % 230)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let never = CancelToken::never();
    let measure = |embedder: &dyn Embed, name: &str| -> Outcome<Vec<Embedding>> {
        embedder.embed(&texts[..texts.len().min(32)], TextRole::Evidence, &never)?;
        let (mut best, mut vectors) = (f64::INFINITY, Vec::new());
        for _ in 0..rounds {
            let started = Instant::now();
            vectors = embedder.embed(&texts, TextRole::Evidence, &never)?;
            best = best.min(started.elapsed().as_secs_f64());
        }
        println!("embedding, {name}: {:.0} texts a second (best of {rounds})", texts.len() as f64 / best);
        Ok(vectors)
    };
    let expected = measure(&*models.embedder(DeviceChoice::Cpu)?, "processor")?;
    let embedder = models.embedder(DeviceChoice::Auto)?;
    let found = measure(&*embedder, "GPU where there is one")?;
    let lowest = found.iter().zip(&expected).map(|(a, b)| a.cosine(b)).fold(1.0, f64::min);
    println!("embedding: lowest cosine of both {lowest:.7}");
    if lowest < f64::from(PARITY) {
        return Err(format!("the vectors of the GPU are others than those of the processor: cosine {lowest}").into());
    }
    Ok(embedder)
}

fn made_text(number: usize, tokens: usize) -> String {
    let filler = "The crew of the station writes down wind and pressure every hour, and keeps the log in the office. ";
    format!("Station {number}. {}", filler.repeat(tokens.div_ceil(22)))
}

/// Ten sources of about `tokens` tokens, one of which has the answer.
fn hits(tokens: usize) -> Vec<Hit> {
    let hit = |rank: usize| {
        let water = if rank == 4 { "The water of the tank is changed on Thursday. " } else { "" };
        let content = format!("{water}{}", made_text(rank, tokens));
        Hit {
            rank,
            evidence: EvidenceId(rank as i64),
            document: DocumentId(rank as i64),
            title: format!("Station {rank}"),
            heading: String::new(),
            url: format!("station-{rank}"),
            date: None,
            space: None,
            ancestors: Vec::new(),
            location: String::new(),
            kind: Kind::Passage,
            table: None,
            row: None,
            text: content.clone(),
            content,
            links: Vec::new(),
            context: Context::default(),
            fused: 1.0 / rank as f64,
            dense_rank: Some(rank),
            dense_score: None,
            lexical_rank: None,
            lexical_score: None,
            rerank_score: None,
            copies: Vec::new(),
            version: None,
            why: HitExplanation::default(),
        }
    };
    (1..=10).map(hit).collect()
}

/// Cost of explaining relative to answering, and how many counterfactual answers an empty context reproduces.
fn explaining(models: &Models, embedder: &dyn Embed, size: Size) -> Outcome<()> {
    let (id, path) = models.generator()?;
    let (tokens, context) = size.of((250, 8192), (40, 2048));
    let mut generator = load(id, &path, context)?;
    let never = CancelToken::never();
    let hits = hits(tokens);
    let prompt = PromptSettings { evidence_tokens: 20 * tokens, ..PromptSettings::default() };
    let settings = AnswerSettings { prompt, ..AnswerSettings::default() };
    let language = Language::English;
    let input = AnswerInput { prefix: "", language, past: &[], question: QUESTION, hits: &hits, settings: &settings };
    // The first call warms the GPU; the second begins without its cache.
    generate_answer(&mut generator, &input, &never, &mut |_| {})?;
    say(&mut generator, &request("Nothing in common with what comes next.", 1))?;
    say(&mut generator, &request("Nor with this, which takes the place of the other prompt.", 1))?;
    let started = Instant::now();
    let answer = generate_answer(&mut generator, &input, &never, &mut |_| {})?;
    let answered = started.elapsed().as_secs_f64();
    let texts: Vec<&str> = hits.iter().map(|hit| hit.text.as_str()).collect();
    let vectors = embedder.embed(&texts, TextRole::Evidence, &never)?;
    let pairs = hits.iter().zip(vectors);
    let sources: Vec<SourceVector> = pairs.map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect();
    // Very similar texts would form one cluster.
    let attribution = AttributionSettings { eps: 0.0, ..AttributionSettings::default() };
    let max_tokens = settings.prompt.answer_tokens;
    let (question, settings) = (QUESTION, &attribution);
    let asked = ExplainInput {
        question,
        answer: &answer,
        sources: &sources,
        origin: AnswerSource::Here,
        known: &[],
        settings,
        max_tokens,
    };
    let started = Instant::now();
    let engines = Engines { generator: &mut generator, embedder };
    let explained = explain(asked, engines, &never, &mut |_, _, _: &[Cluster]| {})?;
    let took = started.elapsed().as_secs_f64();
    let verified = explained.clusters.iter().filter(|cluster| cluster.how == Provenance::Verified).count();
    println!(
        "explaining: answer {answered:.2} s ({} + {} tokens), explanation {:.2} times that; {} clusters, {verified} verified",
        answer.completion.prompt_tokens,
        answer.completion.tokens.len(),
        took / answered,
        explained.clusters.len(),
    );
    drop(generator);
    agreement(id, &path, context, &explained.clusters, answer.sampling, max_tokens)
}

/// Regenerates every counterfactual answer, each after an unrelated prompt.
fn agreement(
    id: &str,
    path: &Path,
    context: usize,
    clusters: &[Cluster],
    sampling: Sampling,
    max_tokens: usize,
) -> Outcome<()> {
    let mut generator = load(id, path, context)?;
    let (mut same, mut all, mut narrowest) = (0, 0, f32::INFINITY);
    for counterfactual in clusters.iter().flat_map(|cluster| &cluster.counterfactuals) {
        let prompt = &counterfactual.prompt;
        for text in ["Nothing in common with what comes next.", "Nor with this, which takes the other's place."] {
            say(&mut generator, &request(text, 1))?;
        }
        let (parts, stop) = (prompt.parts(), prompt.stop.clone());
        let again = say(&mut generator, &GenerateRequest { parts, sampling, stop, max_tokens, draft: Vec::new() })?;
        all += 1;
        if again.tokens == counterfactual.completion.tokens {
            same += 1;
        } else {
            narrowest = narrowest.min(again.narrowest.unwrap_or(f32::INFINITY));
        }
    }
    let margin =
        if narrowest.is_finite() { format!("; the closest choice of the others: {narrowest}") } else { String::new() };
    println!("exactness: {same} of {all} counterfactual answers are those of an empty context{margin}");
    Ok(())
}

fn request(text: &str, max_tokens: usize) -> GenerateRequest {
    let parts = vec![PromptPart { text: text.to_owned(), special: SpecialTokens::AsText }];
    GenerateRequest { parts, sampling: Sampling::Greedy, stop: Vec::new(), max_tokens, draft: Vec::new() }
}

fn say(generator: &mut LlamaGenerator, request: &GenerateRequest) -> Outcome<Completion> {
    Ok(generator.generate(request, &CancelToken::never(), &mut |_| {})?)
}

/// Prefill, decoding and batched decoding with the shape of Llama-3.1-8B and random weights.
fn speed(size: Size) -> Outcome<()> {
    let shape = size.of(gguf::LLAMA_8B, gguf::SMALL);
    let (prompt, generated, together) = size.of((2800, 128, 8), (300, 8, 3));
    // Beside the benchmark, on the disk of the build.
    let own = std::env::current_exe()?;
    let folder = tempfile::tempdir_in(own.parent().ok_or("no folder of its own")?)?;
    let path = folder.path().join("random.gguf");
    let started = Instant::now();
    let bytes = gguf::write(&path, &shape)?;
    println!("random weights: {:.2} GB in {:.0} s", bytes as f64 / 1e9, started.elapsed().as_secs_f64());
    let mut generator = load("random weights", &path, size.of(8192, 1024))?;
    say(&mut generator, &request(&letters(99, 64), 4))?;
    let said = say(&mut generator, &request(&letters(1, prompt), generated))?;
    let reading = said.first_token_ms.0 / 1e3;
    let read = said.prompt_tokens - said.reused_tokens;
    let generating = said.total_ms.0 / 1e3 - reading;
    println!("reading {read} tokens: {:.0} a second", read as f64 / reading);
    println!(
        "generating {} tokens: {:.1} a second",
        said.tokens.len(),
        said.tokens.len().saturating_sub(1) as f64 / generating
    );
    // The same prompt with different ends: the shared prefix is cached.
    let requests: Vec<GenerateRequest> = (0..together)
        .map(|one| request(&format!("{}{}", letters(1, prompt), letters(10 + one, 8)), generated / 2))
        .collect();
    let (started, mut tokens) = (Instant::now(), 0);
    generator.generate_batch(&requests, &CancelToken::never(), &mut |_, completion| {
        tokens += completion.tokens.len();
        ControlFlow::Continue(())
    })?;
    let took = started.elapsed().as_secs_f64();
    println!("generating {tokens} tokens in {together} answers together: {:.1} a second", tokens as f64 / took);
    Ok(())
}

/// Letters that repeat late, each a token of the random model.
fn letters(seed: usize, count: usize) -> String {
    let letter = |at: usize| char::from(b'a' + ((at * at + seed * 31 + at / 7) % 26) as u8);
    (0..count).map(letter).collect()
}
