//! `ragonite eval answers`: quality of the answers.

use std::time::Instant;

use serde::Serialize;
use serde_json::Map;

use super::super::context::CommandContext;
use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::bench::Bench;
use super::models;
use super::output::{Table, about_paper, remembered};
use super::progress::{Eta, Step};
use super::results::{QuestionJson, Reported, run_all};
use crate::args::EvalAnswers;
use ragonite_base::{CancelSource, CancelToken};
use ragonite_eval::{
    ABOUT_SOURCES, ABOUT_TEXT, Ablation, Answered, CachedGenerator, ConversationRunner, Doing, EvalError, Judged,
    Judgement, Limit, Metric, Run, ScoredAnswer, Used, Variation, Verdict, answer, intervals, judge, measured,
};
use ragonite_rag::answer::Support;
use ragonite_rag::prompt::CutHow;
use ragonite_rag::retrieval::RetrievalSettings;
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

/// The word for no judge.
const NO_JUDGE: &str = "none";

pub(super) fn run(start: &CommandContext, args: &EvalAnswers, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let bench = Bench::open(start, &args.common, spread(args.limit), cancel.token(), output)?;
    let comparing = bench.compare_answers()?;
    let mut answers = Answers::open(&bench, args.judge.as_deref(), output)?;
    let results =
        run_all(comparing, args.common.ablate, &|v| bench.papers(v), output, &mut |variation, step, output| {
            answers.asked(variation, step, output)
        })?;
    let (judge, sources) = (answers.judge.name(bench.generator_id()), answers.sources);
    let settings = |variation: &Variation| {
        let searched = sources.enough(variation);
        bench.settings(&searched).spoken(bench.generator_id(), sources.of(&variation.retrieval)).judged(judge)
    };
    results.give(&bench, started, &Map::new(), &settings, output)?;
    Ok(Exit::Done)
}

/// A limit on questions, spread over the slices.
pub(super) fn spread(limit: Option<u32>) -> Limit {
    limit.and_then(|limit| usize::try_from(limit).ok()).map_or(Limit::None, Limit::Spread)
}

struct Answers<'a> {
    bench: &'a Bench<'a>,
    sources: Sources,
    generator: CachedGenerator,
    judge: Judge,
}

/// Number of sources in the prompt.
#[derive(Clone, Copy)]
pub(super) enum Sources {
    /// As in the program, at most as many as requested.
    Configured(usize),
    /// All hits, where their number is under test.
    AllHits,
}

enum Judge {
    /// No judge.
    Nobody,
    /// The generator itself.
    Generator,
    /// Another model.
    Other(String, Box<CachedGenerator>),
}

impl<'a> Answers<'a> {
    fn open(bench: &'a Bench<'a>, judge: Option<&str>, output: &mut Output) -> Result<Self, Failure> {
        let generator = bench.generator(output)?;
        let judge = match judge {
            Some(NO_JUDGE) => Judge::Nobody,
            None => Judge::Generator,
            Some(id) if id == bench.generator_id() => Judge::Generator,
            Some(id) => {
                output.progress("loading the judge");
                Judge::Other(id.to_owned(), Box::new(models::generator(bench.start, id, &bench.cancel)?))
            }
        };
        Ok(Self { bench, sources: Sources::of_bench(bench), generator, judge })
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
        let variation = self.sources.enough(variation);
        let answering = bench.answering(&variation);
        for part in &bench.benchmark.parts {
            let index = bench.index(part, &variation, step, output)?;
            let prefix = bench.prefix(part, &index)?;
            let pages = Bench::pages(&index, part, step, output)?;
            let asking = bench.asking(&index, &pages, &variation);
            let sources = self.sources.of(&variation.retrieval);
            let speaking = bench.speaking(&prefix, &answering, sources);
            let mut speaker = ConversationRunner::new(&mut self.generator, speaking);
            for question in &part.questions {
                let before = speaker.used().and(self.judge.used());
                let mut tell = |event| {
                    output.progress(&step.line(&eta.line_of(&Doing::Answering(event), Instant::now())));
                };
                let answered = answer(asking, &mut speaker, question, None, &bench.cancel, &mut tell)?;
                if self.judge.will_judge(&answered) {
                    output.progress(&step.line(&eta.line("judging", Instant::now())));
                }
                let judged = self.judge.judged(speaker.generator(), &answered, &bench.cancel)?;
                scored.push(ScoredAnswer::new(answered, judged));
                let used = speaker.used().and(self.judge.used());
                from_cache += usize::from(used.only_recalled_since(before));
                eta.at(scored.len(), from_cache);
            }
        }
        remembered(from_cache, total, self.generator.damaged(), output);
        Ok(scored)
    }
}

impl Sources {
    pub(super) fn of_bench(bench: &Bench<'_>) -> Self {
        let by_k = bench.args.ablate == Some(Ablation::K);
        if by_k { Self::AllHits } else { Self::Configured(bench.sources()) }
    }

    /// Number of sources in the prompt.
    pub(super) fn of(self, settings: &RetrievalSettings) -> usize {
        match self {
            Self::Configured(sources) => sources,
            Self::AllHits => settings.top_k,
        }
    }

    /// Raises the number of hits to that of the sources.
    pub(super) fn enough(self, variation: &Variation) -> Variation {
        let mut enough = variation.clone();
        enough.retrieval.top_k = enough.retrieval.top_k.max(self.of(&variation.retrieval));
        enough
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

    /// Usage of a separate judge.
    fn used(&self) -> Used {
        if let Self::Other(_, judge) = self { judge.used() } else { Used::default() }
    }

    /// Whether the answer is judged; abstentions are not.
    fn will_judge(&self, answered: &Answered) -> bool {
        !matches!(self, Self::Nobody) && answered.answer.answered
    }

    fn judged(
        &mut self,
        generator: &mut CachedGenerator,
        answered: &Answered,
        cancel: &CancelToken,
    ) -> Result<Judgement, EvalError> {
        let judge_model = match self {
            Self::Nobody => return Ok(Judgement::NotAsked),
            _ if !answered.answer.answered => return Ok(Judgement::Verdict(Verdict::nothing_found())),
            Self::Generator => generator,
            Self::Other(_, judge) => judge.as_mut(),
        };
        let text = ScoredAnswer::text(answered);
        let (question, right) = (answered.question.completed.as_str(), answered.question.answer.as_str());
        let verdict = judge(judge_model, Judged { question, right, answer: &text }, cancel)?;
        Ok(verdict.map_or(Judgement::NotJudged, Judgement::Verdict))
    }
}

impl Reported for ScoredAnswer {
    const WHAT: &'static str = "answers";
    const HEADLINE: Metric = Metric::AnswerRelevance;
    type Json<'a> = ResultJson<'a>;

    fn json(&self) -> ResultJson<'_> {
        let Self { answered, judged, overlap } = self;
        let answer = &answered.answer;
        ResultJson {
            question: QuestionJson::of_answered(answered),
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
            answer_ms: answer.total_ms(),
            support: answer.support(),
        }
    }

    fn tables(run: &Run<Self>) -> Vec<Table> {
        tables(run)
    }
}

fn tables(run: &Run<ScoredAnswer>) -> Vec<Table> {
    let paper = about_paper(run);
    vec![
        Table {
            heading: "What the answers say",
            text: format!(
                "Relevance: 1 for all of the gold answer, 0.5 for some, 0 for nothing, as the judge rates it. F1 and recall: \
                 words shared with the gold answer, which ConfQuestions has in English only.{paper}\n\n{}",
                measured(&run.figures, ABOUT_TEXT, run.papers)
            ),
        },
        Table {
            heading: "Where they are from",
            text: format!(
                "Expected: no gold page among the sources, so out of scope is right. Valid citations: share of cited numbers \
                 that were sources. Cites gold: of answers that cite and had a gold page among their sources. Unsupported: \
                 of answers, those that the program itself calls so.{paper}\n\n{}",
                measured(&run.figures, ABOUT_SOURCES, run.papers)
            ),
        },
        Table { heading: "Intervals", text: intervals(&run.figures) },
    ]
}

/// An answer with its scores.
#[derive(Serialize)]
pub(super) struct ResultJson<'a> {
    #[serde(flatten)]
    question: QuestionJson<'a>,
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
    /// Sources that were dropped from the prompt.
    dropped: usize,
    prompt_tokens: usize,
    answer_ms: ragonite_base::Millis,
    /// The program's own verdict.
    support: Option<Support>,
}
