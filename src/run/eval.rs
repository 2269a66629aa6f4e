//! `ragonite eval`: a benchmark's questions against a domain.
//!
//! Without `--domain` the benchmark's documents are kept in a domain of their own for each choice of settings, under
//! `<data>/benchmarks`; stopping and starting again goes on there.
//! Not here: scoring (`eval`).

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use super::pace::Pace;
use super::start::Start;
use crate::app::Problem;
use crate::base::{CancelSource, CancelToken, DomainName, Language};
use crate::cli::{Ablation, Eval, EvalRetrieval};
use crate::eval::{
    Asked, Asking, Benchmark, CONTEXTS, Completion, EvalError, Found, Outcome, Page, Part, Preparation, Report, Wanted,
    ablation, ask, figures, prepare,
};
use crate::evidence::{ContextParts, EvidenceSettings};
use crate::index::{Index, IngestProgress};
use crate::inference::{Embed, EncoderIdentity, Rerank};
use crate::retrieval::{Engines, RetrievalSettings};
use crate::runtime::{cancel_on_interrupt, problem};

pub(super) fn run(start: &Start, command: &Eval, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Eval::Retrieval(args) => retrieval(start, args, output),
    }
}

fn retrieval(start: &Start, args: &EvalRetrieval, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let wanted = Wanted { languages: args.languages.clone(), limit };
    let mut benchmark = Benchmark::read(&args.benchmark, args.questions.as_deref(), &wanted)?;
    if let Some(name) = &args.domain {
        benchmark.keep_domain(name);
    }
    if benchmark.is_empty() {
        return Err(Failure::usage(Problem {
            what: "the benchmark has no question to ask".to_owned(),
            next: "Check --languages and --domain.".to_owned(),
        }));
    }
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let cancel = cancel.token();
    output.progress("loading the embedder");
    let embedder = start.embedder(&cancel)?;
    let reranker = start.reranker(&cancel)?;
    let bench = Bench { start, args, benchmark: &benchmark, embedder, reranker, cancel };
    match args.ablate {
        None => bench.single(started, output),
        Some(Ablation::Context) => bench.contexts(started, output),
    }
}

/// What every run of the benchmark shares.
struct Bench<'a> {
    start: &'a Start,
    args: &'a EvalRetrieval,
    benchmark: &'a Benchmark,
    embedder: Arc<dyn Embed>,
    reranker: Option<Arc<dyn Rerank>>,
    cancel: CancelToken,
}

/// Which of several runs this is.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// What is tried, for people; empty where there is nothing to compare.
    name: &'a str,
    number: usize,
    of: usize,
}

impl Bench<'_> {
    fn single(&self, started: Instant, output: &mut Output) -> Result<Exit, Failure> {
        let context = self.args.how.context.unwrap_or(self.start.config.index.context);
        let asked = self.one(context, Step { name: "", number: 1, of: 1 }, output)?;
        let report = Report::of(&asked);
        warn(&report, output);
        match output.form() {
            Form::Json => output.json(&self.json(context, &report, &asked, started))?,
            Form::Text => output.text(&figures(&report, context, self.benchmark.comparison()))?,
        }
        Ok(Exit::Done)
    }

    fn contexts(&self, started: Instant, output: &mut Output) -> Result<Exit, Failure> {
        let mut runs = Vec::with_capacity(CONTEXTS.len());
        for (number, (context, name)) in (1..).zip(CONTEXTS) {
            let started = Instant::now();
            let asked = self.one(context, Step { name, number, of: CONTEXTS.len() }, output)?;
            let report = Report::of(&asked);
            let p_at_1 = report.all.page.p_at_1;
            output.note(&format!("context {name}: P@1 {p_at_1:.3} ({:.0} s)", started.elapsed().as_secs_f64()));
            runs.push((context, report, asked, started));
        }
        if let Some((_, report, ..)) = runs.first() {
            warn(report, output);
        }
        match output.form() {
            Form::Json => {
                let json = runs.iter().map(|(context, report, asked, at)| self.json(*context, report, asked, *at));
                let seconds = started.elapsed().as_secs_f64();
                output.json(&AblationJson { what: "retrieval", ablation: "context", runs: json.collect(), seconds })?;
            }
            Form::Text => {
                let runs: Vec<_> = runs.into_iter().map(|(context, report, ..)| (context, report)).collect();
                output.text(&ablation(&runs, self.benchmark.comparison()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// Asks every question once.
    fn one(&self, context: ContextParts, step: Step<'_>, output: &mut Output) -> Result<Vec<Asked>, Failure> {
        let settings = self.retrieval_settings(context);
        let mut asked = Vec::with_capacity(self.benchmark.len());
        for part in &self.benchmark.parts {
            let index = self.index(part, context, step, output)?;
            let engines =
                Engines { index: &index, embedder: self.embedder.as_ref(), reranker: self.reranker.as_deref() };
            let asking = Asking { engines, settings: &settings, completion: self.args.completion };
            let before = asked.len();
            let of_part = ask(asking, &part.questions, &self.cancel, &mut |done| {
                output.progress(&step.line(&format!("asked {} of {}", before + done, self.benchmark.len())));
            })?;
            asked.extend(of_part);
        }
        Ok(asked)
    }

    fn retrieval_settings(&self, context: ContextParts) -> RetrievalSettings {
        let how = &self.args.how;
        let mut settings = self.start.config.retrieval.clone();
        settings.top_k = usize::from(how.k);
        settings.mode = how.mode.unwrap_or(settings.mode);
        settings.context = context;
        if !how.kinds.is_empty() {
            settings.kinds.clone_from(&how.kinds);
        }
        settings
    }

    fn evidence_settings(&self) -> EvidenceSettings {
        let mut settings = self.start.config.evidence.clone();
        settings.linearizer = self.args.how.linearizer.unwrap_or(settings.linearizer);
        settings.tables = self.args.how.index.unwrap_or(settings.tables);
        settings
    }

    /// The domain that is asked: the user's, or the benchmark's own, brought in step.
    fn index(&self, part: &Part, context: ContextParts, step: Step<'_>, output: &mut Output) -> Result<Index, Failure> {
        let mut pace = Pace::default();
        let mut hear = |progress: IngestProgress| {
            if let Some(line) = pace.hear(&progress, Instant::now()) {
                output.progress(&step.line(&line));
            }
        };
        if let Some(name) = &self.args.domain {
            return self.start.open_domain(name, self.embedder.identity(), &self.cancel, &mut hear);
        }
        let no_documents = || EvalError::NoDocuments { folder: self.args.benchmark.clone() };
        let documents = part.documents.as_deref().ok_or_else(no_documents)?;
        let evidence = self.evidence_settings();
        let name = part.domain.as_ref().map_or(self.benchmark.name.as_str(), DomainName::as_str);
        let preparation = Preparation { name, documents, evidence: &evidence, context };
        let folder = self.start.paths.benchmarks();
        let embedder = self.embedder.as_ref();
        let (index, report) = prepare(&folder, &preparation, embedder, &self.cancel, &mut hear)?;
        if report.added + report.updated > 0 || !report.skipped.is_empty() {
            output.note(&step.line(&made(&report, &folder)));
        }
        Ok(index)
    }

    fn json<'r>(
        &'r self,
        context: ContextParts,
        report: &'r Report,
        asked: &'r [Asked],
        started: Instant,
    ) -> EvalJson<'r> {
        let settings = SettingsJson {
            benchmark: &self.benchmark.name,
            domain: self.args.domain.as_ref(),
            languages: self.args.languages.iter().copied().map(Language::code).collect(),
            completion: self.args.completion,
            context,
            evidence: self.evidence_settings(),
            retrieval: self.retrieval_settings(context),
            embedder: self.embedder.identity(),
            reranker: self.reranker.as_ref().map(|reranker| reranker.model().to_owned()),
            limit: self.args.limit,
        };
        let results = self.args.details.then(|| asked.iter().map(ResultJson::from).collect());
        let seconds = started.elapsed().as_secs_f64();
        EvalJson { what: "retrieval", settings, report, seconds, results }
    }
}

impl Step<'_> {
    fn line(self, text: &str) -> String {
        let Self { name, number, of } = self;
        if of > 1 { format!("context {name} ({number} of {of}): {text}") } else { text.to_owned() }
    }
}

/// Says what makes the figures lower than they are.
fn warn(report: &Report, output: &mut Output) {
    if report.without_gold > 0 {
        output.note(&format!(
            "{} of {} questions have no gold page in the domain and count as not found",
            report.without_gold, report.all.questions
        ));
    }
}

fn made(report: &crate::index::IngestReport, folder: &Path) -> String {
    let changed = report.added + report.updated;
    let skipped = if report.skipped.is_empty() { String::new() } else { format!(", {} skipped", report.skipped.len()) };
    format!(
        "{changed} documents read again{skipped}: {} documents, {} in {}",
        report.documents,
        report.evidences,
        folder.display()
    )
}

/// `ragonite eval --json`.
#[derive(Serialize)]
struct EvalJson<'a> {
    what: &'static str,
    settings: SettingsJson<'a>,
    #[serde(flatten)]
    report: &'a Report,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultJson<'a>>>,
}

/// `ragonite eval --ablate … --json`.
#[derive(Serialize)]
struct AblationJson<'a> {
    what: &'static str,
    ablation: &'static str,
    runs: Vec<EvalJson<'a>>,
    seconds: f64,
}

#[derive(Serialize)]
struct SettingsJson<'a> {
    benchmark: &'a str,
    domain: Option<&'a DomainName>,
    languages: Vec<&'static str>,
    completion: Completion,
    context: ContextParts,
    evidence: EvidenceSettings,
    retrieval: RetrievalSettings,
    embedder: &'a EncoderIdentity,
    reranker: Option<String>,
    limit: Option<u32>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    conversation: &'a str,
    turn: usize,
    language: &'static str,
    query: &'a str,
    gold: &'a [Page],
    #[serde(flatten)]
    outcome: Outcome,
    hits: &'a [Found],
}

impl<'a> From<&'a Asked> for ResultJson<'a> {
    fn from(asked: &'a Asked) -> Self {
        Self {
            conversation: &asked.question.conversation,
            turn: asked.question.turn,
            language: asked.question.language.code(),
            query: &asked.query,
            gold: &asked.gold,
            outcome: asked.outcome,
            hits: &asked.hits,
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Canceled(_) => Self::canceled(),
            EvalError::Index(error) => error.into(),
            EvalError::Retrieval(error) => error.into(),
            error => Self::usage(problem(&error)),
        }
    }
}
