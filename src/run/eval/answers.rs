//! `ragonite eval answers`: what the answers are worth.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::super::start::Start;
use super::bench::{Bench, SettingsJson};
use super::models;
use super::output::{Given, Table, remembered};
use super::pace::{Eta, Step};
use crate::answer::{AnswerEvent, AnswerSettings};
use crate::base::CancelSource;
use crate::cli::EvalAnswers;
use crate::eval::{
    ABOUT_TEXT, Ablation, Answered, Answering, Comparing, EvalError, Figures, Judged, Judgement, Limit, Pages,
    Remembering, Run, Runs, ScoredAnswer, Significance, Variant, Variation, Verdict, answer, answer_figures, intervals,
    judge, measured,
};
use crate::prompt::CutHow;
use crate::runtime::{cancel_on_escape, cancel_on_interrupt};

/// The word for no judge.
const NO_JUDGE: &str = "none";

pub(super) fn run(start: &Start, args: &EvalAnswers, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, spread(args.limit), cancel.token(), output)?;
    let Comparing { variants, default } = bench.compare(args.ablate)?;
    let mut answers = Answers::open(&bench, args, started, output)?;
    let mut runs = Vec::with_capacity(variants.len());
    for (number, variant) in (1..).zip(&variants) {
        let step = Step { name: &variant.name, number, of: variants.len() };
        let asked = answers.asked(&variant.variation, step, output)?;
        runs.push(Run { name: variant.name.clone(), figures: answer_figures(&asked), asked });
    }
    answers.give(&variants, default, runs, output)?;
    Ok(Exit::Done)
}

/// So many questions, spread over the slices.
pub(super) fn spread(limit: Option<u32>) -> Limit {
    limit.and_then(|limit| usize::try_from(limit).ok()).map_or(Limit::None, Limit::Spread)
}

/// How answers are made, as the program itself makes them.
pub(super) fn answer_settings(start: &Start) -> AnswerSettings {
    AnswerSettings { sampling: start.config.generation.sampling(), prompt: start.config.prompt.clone() }
}

struct Answers<'a> {
    bench: &'a Bench<'a>,
    args: &'a EvalAnswers,
    started: Instant,
    settings: AnswerSettings,
    /// Whether the number of hits under test is that of the prompt too.
    sources: Sources,
    generator: Remembering,
    judge: Judge,
    generator_id: &'a str,
}

/// Hits that go into the prompt.
#[derive(Clone, Copy)]
enum Sources {
    /// As many as the program puts there.
    Configured(usize),
    /// As many as are found.
    AllHits,
}

enum Judge {
    /// Nobody judges.
    Nobody,
    /// The generator judges its own answers.
    Generator,
    /// Another model does.
    Other(String, Box<Remembering>),
}

impl<'a> Answers<'a> {
    fn open(
        bench: &'a Bench<'a>,
        args: &'a EvalAnswers,
        started: Instant,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        let start = bench.start;
        let generator_id = args.generator.as_deref().unwrap_or(&start.profile.profile.generator);
        output.progress("loading the generator");
        let generator = models::generator(start, generator_id, &bench.cancel)?;
        let judge = match args.judge.as_deref() {
            Some(NO_JUDGE) => Judge::Nobody,
            None => Judge::Generator,
            Some(id) if id == generator_id => Judge::Generator,
            Some(id) => {
                output.progress("loading the judge");
                Judge::Other(id.to_owned(), Box::new(models::generator(start, id, &bench.cancel)?))
            }
        };
        let by_k = args.ablate == Some(Ablation::K);
        let sources = if by_k { Sources::AllHits } else { Sources::Configured(start.sources()) };
        Ok(Self { bench, args, started, settings: answer_settings(start), sources, generator, judge, generator_id })
    }

    /// Answers every question once.
    fn asked(
        &mut self,
        variation: &Variation,
        step: Step<'_>,
        output: &mut Output,
    ) -> Result<Vec<ScoredAnswer>, Failure> {
        let bench = self.bench;
        let total = bench.benchmark.len();
        let mut scored = Vec::with_capacity(total);
        let mut from_cache = 0;
        let mut eta = Eta::new(total, Instant::now());
        for part in &bench.benchmark.parts {
            let index = bench.index(part, variation, step, output)?;
            let prefix = bench.prefix(part, &index)?;
            let pages = Pages::of(&index)?;
            let mut asking = bench.asking(&index, variation);
            let enough = self.enough(variation);
            asking.settings = &enough;
            let sources = self.sources.of(&enough);
            for question in &part.questions {
                let before = self.asked_models();
                let answering = Answering { asking, pages: &pages, prefix: &prefix, settings: &self.settings, sources };
                let mut tell = |event| show(&eta, step, &event, output);
                let answered = answer(answering, &mut self.generator, question, &bench.cancel, &mut tell)?;
                output.progress(&step.line(&eta.line("judging", Instant::now())));
                let judged = self.judged(&answered)?;
                scored.push(ScoredAnswer::new(answered, judged));
                from_cache += usize::from(self.asked_models() == before);
                eta.at(scored.len(), from_cache);
            }
        }
        remembered(from_cache, total, self.generator.damaged(), output);
        Ok(scored)
    }

    /// At least as many hits as the prompt takes.
    fn enough(&self, variation: &Variation) -> crate::retrieval::RetrievalSettings {
        let mut settings = variation.retrieval.clone();
        if let Sources::Configured(sources) = self.sources {
            settings.top_k = settings.top_k.max(sources);
        }
        settings
    }

    fn asked_models(&self) -> usize {
        let judge = if let Judge::Other(_, judge) = &self.judge { judge.asked() } else { 0 };
        self.generator.asked() + judge
    }

    fn judged(&mut self, answered: &Answered) -> Result<Judgement, EvalError> {
        let judge_model = match &mut self.judge {
            Judge::Nobody => return Ok(Judgement::NotAsked),
            _ if !answered.answer.answered => return Ok(Judgement::Verdict(Verdict::nothing_found())),
            Judge::Generator => &mut self.generator,
            Judge::Other(_, judge) => judge.as_mut(),
        };
        let text = ScoredAnswer::text(answered);
        let (question, right) = (answered.question.completed.as_str(), answered.question.answer.as_str());
        let verdict = judge(judge_model, Judged { question, right, answer: &text }, &self.bench.cancel)?;
        Ok(verdict.map_or(Judgement::NotJudged, Judgement::Verdict))
    }

    fn give(
        &self,
        variants: &[Variant],
        default: usize,
        runs: Vec<Run<ScoredAnswer>>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (bench, args) = (self.bench, self.args);
        let comparison = bench.benchmark.comparison();
        let judge = self.judge.name(self.generator_id);
        let settings = |variant: &Variant| {
            let sources = self.sources.of(&variant.variation.retrieval);
            bench.settings(&variant.variation, args.limit).of_answers(self.generator_id, judge, sources)
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let report = args.common.report.as_deref();
        let of_default = settings(&variants[default]);
        let questions = bench.benchmark.len();
        let Some(ablation) = args.ablate else {
            let Run { asked, figures, .. } = &runs[default];
            let json = EvalJson::new(settings(&variants[default]), figures, asked, args, seconds);
            let tables = tables(figures, comparison);
            let given = Given { what: "answers", questions, settings: &of_default, tables, json, comparison };
            return given.give(report, output);
        };
        let runs = Runs { ablation, default, runs, comparison };
        let mut of_runs = Vec::with_capacity(variants.len());
        for (place, (run, variant)) in runs.runs.iter().zip(variants).enumerate() {
            let json = EvalJson::new(settings(variant), &run.figures, &run.asked, args, seconds);
            let significance = (place != default).then(|| runs.significance(place));
            of_runs.push(EvalJson { choice: Some(run.name.clone()), significance, ..json });
        }
        let json = AblationJson {
            what: "answers",
            ablation: ablation.word(),
            default: runs.runs[default].name.clone(),
            runs: of_runs,
            seconds,
        };
        let tables = vec![Table { heading: "Comparison", text: runs.text() }];
        Given { what: "answers", questions, settings: &of_default, tables, json, comparison }.give(report, output)
    }
}

impl Sources {
    fn of(self, settings: &crate::retrieval::RetrievalSettings) -> usize {
        match self {
            Self::Configured(sources) => sources,
            Self::AllHits => settings.top_k,
        }
    }
}

impl Judge {
    fn name<'n>(&'n self, generator: &'n str) -> Option<&'n str> {
        match self {
            Self::Nobody => None,
            Self::Generator => Some(generator),
            Self::Other(id, _) => Some(id),
        }
    }
}

fn tables(figures: &Figures, comparison: crate::eval::Comparison) -> Vec<Table> {
    let all = figures.columns.len();
    vec![
        Table {
            heading: "What the answers say",
            text: format!(
                "Relevance: 1 for all of the gold answer, 0.5 for some, 0 for nothing, as the judge rates it. F1 and recall: \
                 words shared with the gold answer, which ConfQuestions has in English only.\n\n{}",
                measured(figures, 0..ABOUT_TEXT, comparison)
            ),
        },
        Table {
            heading: "Where they are from",
            text: format!(
                "Expected: no gold page among the sources, so out of scope is right. Valid citations: share of cited numbers \
                 that were sources. Cites gold: of answers that cite and had a gold page among their sources.\n\n{}",
                measured(figures, ABOUT_TEXT..all, comparison)
            ),
        },
        Table { heading: "Intervals", text: intervals(figures) },
    ]
}

/// What is being done for a question, in the words of `ragonite ask`.
pub(super) fn show(eta: &Eta, step: Step<'_>, event: &AnswerEvent, output: &mut Output) {
    let doing = match event {
        AnswerEvent::PromptBuilt { sources, .. } => format!("reading {sources} sources"),
        AnswerEvent::PromptRead { done, total } => format!("reading {done} of {total} tokens"),
        AnswerEvent::Text(_) => "answering".to_owned(),
    };
    output.progress(&step.line(&eta.line(&doing, Instant::now())));
}

/// `ragonite eval answers --json`.
#[derive(Serialize)]
struct EvalJson<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
    settings: SettingsJson<'a>,
    #[serde(flatten)]
    figures: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    significance: Option<Significance>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultJson<'a>>>,
}

/// `ragonite eval answers --ablate … --json`.
#[derive(Serialize)]
struct AblationJson<'a> {
    what: &'static str,
    ablation: &'static str,
    default: String,
    runs: Vec<EvalJson<'a>>,
    seconds: f64,
}

impl<'a> EvalJson<'a> {
    fn new(
        settings: SettingsJson<'a>,
        figures: &Figures,
        asked: &'a [ScoredAnswer],
        args: &EvalAnswers,
        seconds: f64,
    ) -> Self {
        Self {
            what: "answers",
            choice: None,
            settings,
            figures: figures.json(),
            significance: None,
            seconds,
            results: args.common.details.then(|| asked.iter().map(ResultJson::from).collect()),
        }
    }
}

#[derive(Serialize)]
struct ResultJson<'a> {
    conversation: &'a str,
    turn: usize,
    language: &'static str,
    query: &'a str,
    answer: &'a str,
    gold_answer: &'a str,
    answered: bool,
    citations: &'a [usize],
    invalid_citations: &'a [usize],
    judgement: &'a Judgement,
    token_f1: f64,
    gold_recall: f64,
    gold_contained: bool,
    gold_in_prompt: bool,
    /// Rank of the first hit on a gold page, by number.
    page: Option<usize>,
    /// Sources that did not fit the prompt.
    dropped: usize,
    prompt_tokens: usize,
    answer_ms: crate::base::Millis,
}

impl<'a> From<&'a ScoredAnswer> for ResultJson<'a> {
    fn from(scored: &'a ScoredAnswer) -> Self {
        let ScoredAnswer { answered, judged, overlap } = scored;
        let answer = &answered.answer;
        Self {
            conversation: &answered.question.conversation,
            turn: answered.question.turn,
            language: answered.question.language.code(),
            query: &answered.query,
            answer: &answer.text,
            gold_answer: &answered.question.answer,
            answered: answer.answered,
            citations: &answer.citations,
            invalid_citations: &answer.invalid_citations,
            judgement: judged,
            token_f1: overlap.f1,
            gold_recall: overlap.recall,
            gold_contained: overlap.contained,
            gold_in_prompt: answered.has_gold(),
            page: answered.outcome.page,
            dropped: answer.prompt.cut.iter().filter(|cut| cut.how == CutHow::Dropped).count(),
            prompt_tokens: answer.completion.prompt_tokens,
            answer_ms: answer.completion.total_ms,
        }
    }
}
