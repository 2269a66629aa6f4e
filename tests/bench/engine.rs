//! Speed of the engine relative to llama.cpp: prefill and decoding, against a minimal C program (`bare.c`) with
//! llama.cpp's defaults.
//!
//! `cargo bench --bench engine -- [MODEL] [ROUNDS] [TOKENS]` compiles that program against the llama.cpp of this build,
//! then both work in turn with the same weights, threads and batch. MODEL is a catalog id or a GGUF file, TOKENS the
//! approximate length of the prompt. The C program prefills in the engine's chunks and in whole batches. `quick` first
//! selects fast decoding. `settings` instead compares the engine's KV cache and attention settings, and `turns` the
//! time to the first token of prompts of which a quarter, half and nine tenths are cached with that of uncached ones.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::SystemTime;

use ragonite::base::CancelToken;
use ragonite::inference::{
    Catalog, Decoding, FlashAttention, Generate as _, GenerateEvent, GenerateRequest, GeneratorSettings, KvCacheType,
    ModelFolders, PromptPart, Sampling, SpecialTokens, compute_threads,
};
use ragonite::llama::LlamaGenerator;

const MODEL: &str = "qwen2.5-coder-1.5b-instruct";
const ROUNDS: usize = 3;
const TOKENS: usize = 1000;
/// Generated tokens.
const GENERATED: usize = 33;
/// Tokens of a whole batch: llama.cpp's default micro-batch. The engine uses fewer on a CPU.
const BATCH: usize = 512;
/// Cells of the KV cache beyond the measured context.
const SPARE: usize = 1024;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Tokens per second.
#[derive(Debug, Clone, Copy)]
struct Speed {
    read: f64,
    generate: f64,
}

fn main() -> Outcome<()> {
    let mut given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let what = match given.first().map(String::as_str) {
        Some("settings") => What::Settings,
        Some("turns") => What::Turns,
        Some("quick") => What::Bare(Decoding::Fast),
        _ => What::Bare(Decoding::Deterministic),
    };
    if what != What::Bare(Decoding::Deterministic) {
        given.remove(0);
    }
    let mut numbers = given.iter().filter_map(|argument| argument.parse::<usize>().ok());
    let (rounds, tokens) = (numbers.next().unwrap_or(ROUNDS), numbers.next().unwrap_or(TOKENS));
    let model = given.iter().find(|argument| argument.parse::<usize>().is_err());
    let weights = weights(model.map_or(MODEL, String::as_str))?;
    println!("{}, {} threads", weights.display(), compute_threads());
    let base = GeneratorSettings {
        context_tokens: (tokens + tokens / 4 + 2 * GENERATED).next_multiple_of(256),
        threads: compute_threads(),
        ..GeneratorSettings::default()
    };
    match what {
        What::Bare(writing) => compare(&weights, &GeneratorSettings { writing, ..base }, rounds, tokens),
        What::Settings => compare_settings(&weights, &base, rounds, tokens),
        What::Turns => compare_turns(&weights, &base, rounds, tokens),
    }
}

/// Kinds of comparisons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Bare(Decoding),
    Settings,
    Turns,
}

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn weights(model: &str) -> Outcome<PathBuf> {
    if Path::new(model).is_file() {
        return Ok(PathBuf::from(model));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("RAGONITE_MODELS").map_or_else(|| root.join("models"), PathBuf::from);
    let catalog = Catalog::builtin()?;
    let model = catalog.model(model)?;
    Ok(ModelFolders::new(vec![models]).find(model, model.weights()?, &CancelToken::never())?)
}

/// A text of about `tokens` tokens; its first line differs in every round.
fn text(round: usize, tokens: usize) -> String {
    let hours = (0..tokens / 25).map(|hour| {
        let (wind, pressure) = (hour * 7 % 31, 990 + hour * 13 % 40);
        format!("Hour {hour}: wind {wind} knots from the west, pressure {pressure} hPa, no rain.\n")
    });
    [format!("Log number {round} of the weather station.\n")].into_iter().chain(hours).collect()
}

fn compare(weights: &Path, settings: &GeneratorSettings, rounds: usize, tokens: usize) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let mut bare = Bare::start(weights, folder.path(), settings, &text(0, tokens))?;
    println!("{}", bare.built.trim());
    let mut engine = Engine::load(weights, settings)?;
    engine.measure(0, tokens)?;
    let step = engine.step;
    let mut all = Vec::new();
    for round in 1..=rounds {
        // The order alternates, so that a slower machine slows both.
        let measured = if round % 2 == 0 {
            let (small, whole) = (bare.measure(step)?, bare.measure(BATCH)?);
            [engine.measure(round, tokens)?, small, whole]
        } else {
            let own = engine.measure(round, tokens)?;
            [own, bare.measure(step)?, bare.measure(BATCH)?]
        };
        let [own, small, whole] = measured;
        println!(
            "round {round}: engine {:.1} / {:.2} tokens a second, bare in pieces of {step} {:.1} / {:.2}, of {BATCH} {:.1} / {:.2}",
            own.read, own.generate, small.read, small.generate, whole.read, whole.generate
        );
        all.push(measured);
    }
    let ratio = |of: &dyn Fn(&[Speed; 3]) -> f64| median(all.iter().map(of).collect());
    println!(
        "medians: engine / bare in pieces of {step}: reading {:.3}, generating {:.3}",
        ratio(&|[own, small, _]| own.read / small.read),
        ratio(&|[own, small, _]| own.generate / small.generate),
    );
    println!(
        "         engine / bare in pieces of {BATCH}: reading {:.3}, generating {:.3}; pieces of {step} / {BATCH}: reading {:.3}",
        ratio(&|[own, _, whole]| own.read / whole.read),
        ratio(&|[own, _, whole]| own.generate / whole.generate),
        ratio(&|[_, small, whole]| small.read / whole.read),
    );
    Ok(())
}

fn compare_settings(weights: &Path, base: &GeneratorSettings, rounds: usize, tokens: usize) -> Outcome<()> {
    let arms = [
        ("f16, attention auto", KvCacheType::F16, FlashAttention::Auto),
        ("f16, attention off", KvCacheType::F16, FlashAttention::Off),
        ("q8_0, attention on", KvCacheType::Q8, FlashAttention::On),
    ];
    let mut engines = Vec::new();
    for (name, kv_cache, flash_attention) in arms {
        let mut engine = Engine::load(weights, &GeneratorSettings { kv_cache, flash_attention, ..base.clone() })?;
        engine.measure(0, tokens)?;
        engines.push((name, engine, Vec::new()));
    }
    for round in 1..=rounds {
        for (_, engine, measured) in &mut engines {
            measured.push(engine.measure(round, tokens)?);
        }
    }
    for (name, engine, measured) in &engines {
        println!(
            "{name}: reading {:.1}, generating {:.2} tokens a second (medians of {rounds}); the answer begins {:?}",
            median(measured.iter().map(|speed| speed.read).collect()),
            median(measured.iter().map(|speed| speed.generate).collect()),
            engine.said.chars().take(40).collect::<String>(),
        );
    }
    Ok(())
}

/// What the engine has cached of the previous turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Kept,
    Forgotten,
}

/// A turn prefills only what differs from the previous turn.
fn compare_turns(weights: &Path, settings: &GeneratorSettings, rounds: usize, tokens: usize) -> Outcome<()> {
    let mut engine = Engine::load(weights, settings)?;
    engine.measure(0, tokens)?;
    for share in [0.25, 0.5, 0.9] {
        let mut measured = Vec::new();
        for round in 1..=rounds {
            // Both turns share this text and differ after it.
            let same = text(round, (tokens as f64 * share) as usize);
            let turn =
                |name: usize| format!("{same}{}", text(1000 * round + name, (tokens as f64 * (1.0 - share)) as usize));
            let mut first_token = |before: Before| -> Outcome<(f64, f64)> {
                engine.generate(&turn(1), 1)?;
                if before == Before::Forgotten {
                    // Two other prompts replace both sequences.
                    engine.generate(&format!("{round} times nothing."), 1)?;
                    engine.generate(&format!("Nothing, {round} times."), 1)?;
                }
                let said = engine.generate(&turn(2), 1)?;
                Ok((said.first_token_ms.0, said.reused_tokens as f64 / said.prompt_tokens as f64))
            };
            let ((reused_ms, reused), (fresh_ms, of_nothing)) =
                (first_token(Before::Kept)?, first_token(Before::Forgotten)?);
            if of_nothing > 0.05 {
                return Err(format!("{of_nothing:.2} of a prompt from nothing was reused").into());
            }
            measured.push((reused_ms / fresh_ms, reused));
        }
        let ratio = median(measured.iter().map(|(ratio, _)| *ratio).collect());
        let reused = median(measured.iter().map(|(_, reused)| *reused).collect());
        println!(
            "{reused:.3} reused: the first token takes {ratio:.3} of the time without; at most {:.3} is wanted",
            1.0 - reused + 0.1
        );
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

struct Engine {
    generator: LlamaGenerator,
    /// Tokens between two checks of its cancel token.
    step: usize,
    said: String,
}

impl Engine {
    fn load(weights: &Path, settings: &GeneratorSettings) -> Outcome<Self> {
        let go_on = Box::new(|_| ControlFlow::Continue(()));
        Ok(Self { generator: LlamaGenerator::load("bench", weights, settings, go_on)?, step: 1, said: String::new() })
    }

    fn measure(&mut self, round: usize, tokens: usize) -> Outcome<Speed> {
        // A short other prompt replaces the last but one, like a rewrite between two answers.
        self.generate(&format!("{round} times nothing, with nothing in common with what comes next."), 1)?;
        let said = self.generate(&text(round, tokens), GENERATED)?;
        let read = said.prompt_tokens - said.reused_tokens;
        if said.reused_tokens > 32 || said.tokens.len() < 2 {
            return Err(format!("{} tokens reused, {} generated", said.reused_tokens, said.tokens.len()).into());
        }
        self.said = said.text;
        let generating = said.total_ms.0 - said.first_token_ms.0;
        let generate = (said.tokens.len() - 1) as f64 * 1e3 / generating;
        Ok(Speed { read: read as f64 * 1e3 / said.first_token_ms.0, generate })
    }

    fn generate(&mut self, text: &str, max_tokens: usize) -> Outcome<ragonite::inference::Completion> {
        let parts = vec![PromptPart { text: text.to_owned(), special: SpecialTokens::AsText }];
        let request =
            GenerateRequest { parts, sampling: Sampling::Greedy, stop: Vec::new(), max_tokens, draft: Vec::new() };
        let (mut before, mut step) = (None, self.step);
        let said = self.generator.generate(&request, &CancelToken::never(), &mut |event| {
            if let GenerateEvent::PromptRead { done, .. } = event {
                step = step.max(done - before.unwrap_or(done));
                before = Some(done);
            }
        })?;
        self.step = step;
        Ok(said)
    }
}

/// The running C program.
struct Bare {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Build features of its llama.cpp.
    built: String,
}

impl Bare {
    fn start(weights: &Path, folder: &Path, settings: &GeneratorSettings, text: &str) -> Outcome<Self> {
        let (program, prompt) = (folder.join("bare"), folder.join("prompt.txt"));
        compile(&program)?;
        fs::write(&prompt, text)?;
        let numbers = [settings.threads, settings.context_tokens + SPARE, BATCH, GENERATED].map(|n| n.to_string());
        let mut child = Command::new(program)
            .args([weights, &prompt])
            .args(numbers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take().ok_or("no input")?, child.stdout.take().ok_or("no output")?);
        let mut bare = Self { child, input, output: BufReader::new(output), built: String::new() };
        bare.output.read_line(&mut bare.built)?;
        bare.measure(BATCH)?;
        Ok(bare)
    }

    fn measure(&mut self, step: usize) -> Outcome<Speed> {
        writeln!(self.input, "{step}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let numbers: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [tokens, reading, generated, generating] = numbers[..] else { return Err("bare ended early".into()) };
        Ok(Speed { read: tokens / reading, generate: generated / generating })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // The process has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compiles the C program against the newest llama.cpp in the target folder of this benchmark.
fn compile(program: &Path) -> Outcome<()> {
    let own = std::env::current_exe()?;
    let build = own.ancestors().nth(2).ok_or("no target folder")?.join("build");
    let mut newest: Option<(SystemTime, PathBuf)> = None;
    for entry in fs::read_dir(&build)? {
        let out = entry?.path().join("out");
        let Ok(facts) = fs::metadata(out.join("lib/libllama.a")) else { continue };
        let made = facts.modified()?;
        if out.to_string_lossy().contains("llama-cpp-sys-2-") && newest.as_ref().is_none_or(|(time, _)| made > *time) {
            newest = Some((made, out));
        }
    }
    let (_, out) = newest.ok_or_else(|| format!("no llama.cpp in {}", build.display()))?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/bare.c");
    let mut compiler = Command::new("c++");
    compiler.args(["-O3", "-march=native", "-x", "c"]).arg(source).args(["-x", "none", "-o"]).arg(program);
    compiler.arg("-I").arg(out.join("include")).arg("-L").arg(out.join("lib"));
    compiler.args(["-lllama", "-lggml", "-lggml-cpu", "-lggml-base", "-lgomp", "-lpthread", "-ldl", "-lm"]);
    let compiled = compiler.output()?;
    if compiled.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&compiled.stderr).into()) }
}
