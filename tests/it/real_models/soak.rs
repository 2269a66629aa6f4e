//! Cancels at random moments, over and over, with real weights: SmolLM2-135M (profile `tiny`).
//!
//! The work runs in a process of its own, to measure its memory. `RAGONITE_CANCELS` sets the number.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use ragonite::base::{CancelToken, Language};
use ragonite::inference::{
    CompareRequest, Completion, Embed as _, Generate as _, GenerateRequest, GeneratorSettings, HashEmbedder,
    InferenceError, Measure, PromptPart, Recompute, Sampling, ScoreRequest, SpecialTokens, TextRole, resident_memory,
};
use ragonite::llama::LlamaGenerator;
use ragonite::rag::answer::Answer;
use ragonite::rag::attribution::{AnswerSource, AttributionSettings, Engines, ExplainInput, SourceVector, explain};
use ragonite::rag::prompt::{Part, Prompt, Segment};

/// Default number of cancellations.
const CANCELS: usize = 15;

/// Largest difference in resident memory between the first rounds and the last.
const FLAT: u64 = 50_000_000;

/// Set in the process that does the work.
const ALONE: &str = "RAGONITE_CANCELS_HERE";

#[expect(clippy::disallowed_methods, reason = "the test says where the weights are and what it may take")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn cancelling_at_any_moment_leaks_nothing_and_changes_no_later_answer() {
    let Some(path) = ragonite_testing::weights(super::TINY) else { return };
    if variable(ALONE).is_some() {
        let cancels = variable("RAGONITE_CANCELS").map_or(CANCELS, |text| text.parse().unwrap());
        return Soak::new(path).run(cancels);
    }
    let this = "real_models::soak::cancelling_at_any_moment_leaks_nothing_and_changes_no_later_answer";
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let said = alone.args(["--exact", this, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    println!("{out}");
    assert!(said.status.success() && out.contains("1 passed"), "{}: {out}\n{errors}", said.status);
}

/// What is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Load,
    Read,
    Generate,
    Score,
    Compare,
    Held,
    Explain,
}

const PHASES: [Phase; 7] =
    [Phase::Load, Phase::Read, Phase::Generate, Phase::Score, Phase::Compare, Phase::Held, Phase::Explain];

struct Soak {
    path: PathBuf,
    generator: LlamaGenerator,
    embedder: HashEmbedder,
    /// The expected answer to the next question.
    expected: Completion,
    /// State of the random numbers.
    random: u64,
    /// Cancelled work, and work that was finished before, by phase.
    counts: [[usize; 2]; PHASES.len()],
}

impl Soak {
    fn new(path: PathBuf) -> Self {
        let mut generator = load(&path, usize::MAX).unwrap();
        let expected = generator.generate(&reference(), &CancelToken::never(), &mut |_| {}).unwrap();
        let embedder = HashEmbedder::new(64);
        Self { path, generator, embedder, expected, random: 0x9e37_79b9, counts: Default::default() }
    }

    fn run(mut self, cancels: usize) {
        let (mut first, mut most) = (None, 0);
        let mut done = 0;
        for round in 0.. {
            for phase in PHASES {
                let canceled = self.cancel(phase, round);
                done += usize::from(canceled);
                self.counts[phase as usize][usize::from(!canceled)] += 1;
                let said = self.generator.generate(&reference(), &CancelToken::never(), &mut |_| {}).unwrap();
                assert_eq!(said.tokens, self.expected.tokens, "after {phase:?} in round {round}");
            }
            // The first rounds allocate what is needed once.
            if round > 0 {
                let now = resident_memory().unwrap_or(0);
                most = most.max(now);
                first.get_or_insert(now);
            }
            if done >= cancels && round > 1 {
                break;
            }
        }
        let first = first.unwrap();
        println!("{done} cancelled, {:?} cancelled and over before, by phase {PHASES:?}", self.counts);
        println!("resident: {first} bytes after the first rounds, {most} at most after them");
        assert!(most < first + FLAT, "{first} bytes grew to {most}");
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % (end as u64)).unwrap()
    }

    /// Starts the work of `phase` and cancels it at a random moment; false if it finished before.
    fn cancel(&mut self, phase: Phase, round: usize) -> bool {
        let request = asked(round);
        // About as many checks of the cancel token as the work makes.
        let checks = match phase {
            Phase::Load => 280,
            Phase::Read => 10,
            Phase::Generate => 22,
            Phase::Score => 5,
            Phase::Compare => 12,
            Phase::Held => 16,
            Phase::Explain => 40,
        };
        let moment = self.below(checks);
        let cancel = CancelToken::canceled_after(moment);
        let ended = match phase {
            Phase::Load => load(&self.path, moment).map(|generator| self.generator = generator),
            Phase::Read | Phase::Generate => self.generator.generate(&request, &cancel, &mut |_| {}).map(drop),
            Phase::Score => {
                let said = self.generator.generate(&request, &CancelToken::never(), &mut |_| {}).unwrap();
                let hidden = vec![vec![1], vec![2], vec![1, 2]];
                let score = ScoreRequest {
                    parts: request.parts,
                    answer: said.tokens,
                    told: if moment.is_multiple_of(3) { said.log_probabilities } else { Vec::new() },
                    hidden,
                    reread: if moment.is_multiple_of(2) { Recompute::Rest } else { Recompute::Answer },
                };
                self.generator.score(&score, &cancel, &mut |_, _| {}).map(drop)
            }
            Phase::Compare => {
                let said = self.generator.generate(&request, &CancelToken::never(), &mut |_| {}).unwrap();
                let without = vec![vec![1], vec![2]];
                let measure = if moment.is_multiple_of(2) { Measure::Token } else { Measure::Distribution };
                let compare = CompareRequest { parts: request.parts, answer: said.tokens, without, measure };
                self.generator.compare(&compare, &cancel, &mut |_, _| {}).map(drop)
            }
            Phase::Held => {
                let grammar = "root ::= \"none\" | [0-9] (\", \" [0-9])*";
                self.generator.generate_within(grammar, &request, &cancel, &mut |_| {}).map(drop)
            }
            Phase::Explain => return self.cancel_explaining(&request, &cancel),
        };
        match ended {
            Ok(()) => false,
            Err(InferenceError::Canceled(_)) => true,
            Err(error) => panic!("{phase:?} in round {round}, cancelled after {moment}: {error:?}"),
        }
    }

    fn cancel_explaining(&mut self, request: &GenerateRequest, cancel: &CancelToken) -> bool {
        let completion = self.generator.generate(request, &CancelToken::never(), &mut |_| {}).unwrap();
        let answer = answer(request, completion);
        let texts: Vec<&str> = request.parts[1..3].iter().map(|part| part.text.as_str()).collect();
        let vectors = self.embedder.embed(&texts, TextRole::Evidence, &CancelToken::never()).unwrap();
        let sources: Vec<SourceVector> =
            vectors.into_iter().zip([2, 1]).map(|(embedding, rank)| SourceVector { rank, embedding }).collect();
        let settings = AttributionSettings::default();
        let input = ExplainInput {
            question: "When?",
            answer: &answer,
            sources: &sources,
            origin: AnswerSource::Here,
            known: &[],
            settings: &settings,
            max_tokens: request.max_tokens,
        };
        let engines = Engines { generator: &mut self.generator, embedder: &self.embedder };
        match explain(input, engines, cancel, &mut |_, _, _| {}) {
            Ok(_) => false,
            Err(ragonite::rag::attribution::AttributionError::Canceled(_)) => true,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Loads the weights, cancelled at the progress report number `moment`.
fn load(path: &Path, moment: usize) -> Result<LlamaGenerator, InferenceError> {
    let settings = GeneratorSettings { context_tokens: 512, ..GeneratorSettings::default() };
    let mut told = 0;
    let go_on = move |_| {
        told += 1;
        if told > moment { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    LlamaGenerator::load("smollm2", path, &settings, Box::new(go_on))
}

fn request(contents: &[String]) -> GenerateRequest {
    let template = |text: &str| PromptPart { text: text.to_owned(), special: SpecialTokens::Parse };
    let mut parts = vec![template("<|im_start|>user\n")];
    parts.extend(contents.iter().map(|text| PromptPart { text: text.clone(), special: SpecialTokens::AsText }));
    parts.push(template("<|im_end|>\n<|im_start|>assistant\n"));
    GenerateRequest { parts, sampling: Sampling::Greedy, stop: Vec::new(), max_tokens: 8, draft: Vec::new() }
}

/// The question whose answer must never change.
fn reference() -> GenerateRequest {
    request(&["Name three fruits.".to_owned()])
}

/// About 300 tokens, different in every round.
fn asked(round: usize) -> GenerateRequest {
    let source = |name: &str| format!("{name} {round} opens at {} and closes late. ", round % 24).repeat(10);
    let question = "When does the office open?".to_owned();
    request(&[source("The harbour office"), source("The old lighthouse"), question])
}

/// The answer to such a question, with its prompt.
fn answer(request: &GenerateRequest, completion: Completion) -> Answer {
    let kinds =
        [Part::Template, Part::Evidence { rank: 2 }, Part::Evidence { rank: 1 }, Part::Question, Part::Template];
    let segment = |(part, prompt): (Part, &PromptPart)| Segment {
        part,
        text: prompt.text.clone(),
        special: prompt.special,
        tokens: 1,
    };
    Answer {
        named: None,
        withheld: None,
        text: completion.text.clone(),
        answered: true,
        citations: Vec::new(),
        invalid_citations: Vec::new(),
        language: Language::English,
        prompt: Prompt {
            segments: kinds.into_iter().zip(&request.parts).map(segment).collect(),
            stop: Vec::new(),
            cut: Vec::new(),
        },
        sampling: Sampling::Greedy,
        completion,
    }
}
