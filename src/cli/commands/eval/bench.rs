//! Shared parts of benchmark runs: questions, models, domain, settings.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::super::context::CommandContext;
use super::super::exit::Failure;
use super::super::output::Output;
use super::super::progress::Pace;
use super::models;
use super::output::{check_report, tell_of_other_domains, warn_of_ambiguous};
use super::progress::Step;
use crate::args::EvalCommon;
use ragonite_app::Problem;
use ragonite_base::{CancelToken, DomainName, Language};
use ragonite_config::program_stamp;
use ragonite_document::evidence::{ContextParts, EvidenceSettings};
use ragonite_eval::{
    Ablation, Asking, Benchmark, CachedGenerator, Comparing, Comparison, Completion, EvalError, Limit, Pages, Papers,
    Part, Preparation, Preparing, Question, RunnerSettings, Unit, Variant, Variation, Wanted, prepare,
};
use ragonite_index::{Index, IngestProgress, IngestReport};
use ragonite_inference::{Embed, EncoderIdentity, Rerank};
use ragonite_llama::device_summary;
use ragonite_rag::answer::AnswerSettings;
use ragonite_rag::prompt::PromptSettings;
use ragonite_rag::retrieval::{Reranking, SearchContext, Translate};

/// Shared state of all runs of a benchmark.
pub(super) struct Bench<'a> {
    pub(super) start: &'a CommandContext,
    pub(super) args: &'a EvalCommon,
    pub(super) benchmark: Benchmark,
    pub(super) embedder: Arc<dyn Embed>,
    pub(super) reranker: Option<Arc<dyn Rerank>>,
    pub(super) cancel: CancelToken,
    limit: Limit,
    /// The folder of the benchmark.
    folder: PathBuf,
    /// Whether questions are translated: as requested, where the generator is present.
    translate: Translate,
    /// The open domains, so that each is ingested once.
    open: RefCell<Vec<Opened>>,
}

/// An open domain with the settings that identify it.
struct Opened {
    domain: Option<DomainName>,
    evidence: EvidenceSettings,
    context: ContextParts,
    index: Rc<Index>,
}

impl<'a> Bench<'a> {
    pub(super) fn open(
        start: &'a CommandContext,
        args: &'a EvalCommon,
        limit: Limit,
        cancel: CancelToken,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        if let Some(report) = &args.report {
            check_report(report)?;
        }
        let by_model = args.completion == Completion::Model || args.ablate == Some(Ablation::Completion);
        let unit = if by_model { Unit::Conversation } else { Unit::Question };
        let wanted = Wanted { domain: args.domain.clone(), languages: args.languages.clone(), limit, unit };
        let folder = folder_of(args)?;
        let missing = args.domain.as_ref().filter(|domain| !start.paths.domain(domain).is_dir());
        let benchmark = match (Benchmark::read(&folder, args.questions.as_deref(), &wanted), missing) {
            (Err(EvalError::NothingToAsk { .. }), Some(domain)) => {
                return Err(Failure::usage(Problem {
                    what: format!("there is no domain `{domain}`"),
                    next: "`ragonite domain list` shows those there are; name one with --domain.".to_owned(),
                }));
            }
            (read, _) => read?,
        };
        tell_of_other_domains(benchmark.of_other_domains, output);
        output.progress("loading the embedder");
        let embedder = models::embedder(start, args.how.embedder.as_deref(), &cancel)?;
        let reranker = start.reranker(&cancel)?;
        let bench = Self {
            start,
            args,
            benchmark,
            embedder,
            reranker,
            cancel,
            limit,
            folder,
            translate: args.how.translate.unwrap_or(start.config.retrieval.translate),
            open: RefCell::default(),
        };
        bench.at_hand(output)
    }

    /// Every question of the benchmark, whatever the limit and the languages of the run.
    pub(super) fn all_questions(&self) -> Result<Vec<Question>, Failure> {
        let languages = vec![Language::English, Language::German];
        let domain = self.args.domain.clone();
        let wanted = Wanted { domain, languages, limit: Limit::None, unit: Unit::Question };
        let all = Benchmark::read(&self.folder, self.args.questions.as_deref(), &wanted)?;
        Ok(all.parts.into_iter().flat_map(|part| part.questions).collect())
    }

    /// Turns translation off where the generator is missing.
    fn at_hand(self, output: &mut Output) -> Result<Self, Failure> {
        let generator = self.start.catalog.model(self.generator_id())?;
        if self.translate == Translate::Off || self.start.folders().has(generator) {
            return Ok(self);
        }
        if self.args.how.translate.is_some() || self.args.ablate == Some(Ablation::Translation) {
            // Translation was requested, so missing weights are an error with a remedy.
            self.start.folders().find(generator, generator.weights()?, &self.cancel)?;
        }
        output.note(&format!(
            "questions in another language than the documents are not translated: the weights of {} are not here",
            generator.id
        ));
        Ok(Self { translate: Translate::Off, ..self })
    }

    /// The settings as configured and as typed.
    pub(super) fn configured(&self) -> Variation {
        let (how, config) = (&self.args.how, &self.start.config);
        let context = how.context.unwrap_or(config.index.context);
        let mut retrieval = config.retrieval.clone();
        retrieval.top_k = how.k.map_or(retrieval.top_k, usize::from);
        retrieval.mode = how.mode.unwrap_or(retrieval.mode);
        retrieval.fusion = how.fusion.unwrap_or(retrieval.fusion);
        retrieval.context = how.context.unwrap_or(retrieval.context);
        retrieval.translate = self.translate;
        if !how.kinds.is_empty() {
            retrieval.kinds.clone_from(&how.kinds);
        }
        let mut evidence = config.evidence.clone();
        evidence.linearizer = how.linearizer.unwrap_or(evidence.linearizer);
        evidence.tables = how.index.unwrap_or(evidence.tables);
        let rerank = how.rerank.unwrap_or(config.rerank);
        let rerank = if self.reranker.is_some() { rerank } else { Reranking::Off };
        let (order, neighbours) = (config.prompt.order, config.prompt.neighbours);
        Variation { context, evidence, retrieval, rerank, completion: self.args.completion, order, neighbours }
    }

    /// The variations: one, or one per choice of the ablation.
    pub(super) fn compare(&self) -> Result<Comparing, Failure> {
        self.compare_with(self.configured())
    }

    /// The variations where questions are answered: `k` is then the number of sources.
    pub(super) fn compare_answers(&self) -> Result<Comparing, Failure> {
        let mut configured = self.configured();
        if self.args.ablate == Some(Ablation::K) {
            configured.retrieval.top_k = self.sources();
        }
        self.compare_with(configured)
    }

    fn compare_with(&self, configured: Variation) -> Result<Comparing, Failure> {
        let Some(ablation) = self.args.ablate else {
            let variants = vec![Variant { name: String::new(), variation: configured }];
            return Ok(Comparing { variants, default: 0 });
        };
        if ablation == Ablation::Rerank && self.reranker.is_none() {
            return Err(EvalError::NoReranker.into());
        }
        let is_indexed = matches!(ablation, Ablation::Context | Ablation::Linearizer | Ablation::Index);
        if let (Some(domain), true) = (&self.args.domain, is_indexed) {
            return Err(Failure::usage(Problem {
                what: format!("`{domain}` is indexed with one choice of {}", ablation.word()),
                next: "Leave --domain out: the benchmark's documents are then indexed with each choice.".to_owned(),
            }));
        }
        Ok(ablation.compare(&configured))
    }

    /// The pages of `index`. Reports once which gold pages match several of them.
    pub(super) fn pages(index: &Index, part: &Part, step: Step<'_>, output: &mut Output) -> Result<Pages, Failure> {
        let pages = Pages::of(index)?;
        if step.number == 1 {
            let ambiguous = part.questions.iter().filter(|question| pages.is_ambiguous(question)).count();
            warn_of_ambiguous(ambiguous, part.questions.len(), output);
        }
        Ok(pages)
    }

    /// Context of searching `index`.
    pub(super) fn asking<'b>(&'b self, index: &'b Index, pages: &'b Pages, variation: &'b Variation) -> Asking<'b> {
        let reranker = self.reranker.as_deref().filter(|_| variation.rerank == Reranking::On);
        let engines = SearchContext { index, embedder: self.embedder.as_ref(), reranker };
        let past_turns = self.start.app_settings().past_turns;
        Asking { engines, settings: &variation.retrieval, completion: variation.completion, past_turns, pages }
    }

    /// Figures of the paper for a run; none for other questions.
    pub(super) fn papers(&self, variation: &Variation) -> Option<Papers> {
        (self.benchmark.comparison() == Comparison::Paper)
            .then(|| Papers::beside(&self.ran(variation), self.args.ablate))
    }

    /// Answer settings of a variation; otherwise as in the program.
    pub(super) fn answering(&self, variation: &Variation) -> AnswerSettings {
        let prompt = PromptSettings {
            order: variation.order,
            neighbours: variation.neighbours,
            ..self.start.config.prompt.clone()
        };
        AnswerSettings { sampling: self.start.config.generation.sampling(), prompt }
    }

    /// How the generator speaks in a domain with this prompt prefix.
    pub(super) fn speaking<'b>(
        &self,
        prefix: &'b str,
        settings: &'b AnswerSettings,
        sources: usize,
    ) -> RunnerSettings<'b> {
        let answer_without_match = self.start.config.generation.answer_without_match;
        RunnerSettings { prefix, settings, sources, answer_without_match }
    }

    /// Most sources in a prompt: as in the program, at most as many as requested.
    pub(super) fn sources(&self) -> usize {
        let sources = self.start.sources();
        self.args.how.k.map_or(sources, |k| sources.min(usize::from(k)))
    }

    /// The id of the generator in the catalog.
    pub(super) fn generator_id(&self) -> &str {
        self.args.how.generator.as_deref().unwrap_or_else(|| self.start.generator_id())
    }

    /// The generator, with a cache of earlier runs.
    pub(super) fn generator(&self, output: &mut Output) -> Result<CachedGenerator, Failure> {
        output.progress("loading the generator");
        models::generator(self.start, self.generator_id(), &self.cancel)
    }

    /// The prompt prefix of the domain or of the benchmark.
    pub(super) fn prefix(&self, part: &Part, index: &Index) -> Result<String, Failure> {
        let own = index.manifest()?.prompt_prefix;
        Ok(if own.is_empty() && self.args.domain.is_none() { part.prefix.clone() } else { own })
    }

    /// Everything besides the question that determines a search, the encoder device included; `speaking` is the
    /// fingerprint of a model that takes part.
    pub(super) fn fingerprint(
        &self,
        index: &Index,
        variation: &Variation,
        speaking: Option<(&str, RunnerSettings<'_>)>,
    ) -> Result<String, Failure> {
        let manifest = index.manifest()?;
        let made = (index.name(), manifest.generation, &manifest.created_at, &manifest.embedder.fingerprint);
        let device = device_summary(self.start.device);
        let reranker = self.reranker.as_ref().map(|reranker| reranker.model());
        let all = serde_json::to_string(&(program_stamp(), made, device, variation, reranker, speaking));
        all.map_err(|error| Failure::failed(Problem::of(&error, "")))
    }

    /// The domain: the user's, or the benchmark's own after an ingest.
    pub(super) fn index(
        &self,
        part: &Part,
        variation: &Variation,
        step: Step<'_>,
        output: &mut Output,
    ) -> Result<Rc<Index>, Failure> {
        let same = |opened: &&Opened| {
            opened.domain == part.domain
                && (self.args.domain.is_some()
                    || (opened.evidence == variation.evidence && opened.context == variation.context))
        };
        if let Some(opened) = self.open.borrow().iter().find(same) {
            return Ok(Rc::clone(&opened.index));
        }
        let index = Rc::new(self.in_step(part, variation, step, output)?);
        let (mut context, mut evidence) = (variation.context, variation.evidence.clone());
        if self.args.domain.is_some() {
            let manifest = index.manifest()?;
            context = manifest.context;
            // An empty domain has no evidence settings.
            evidence = serde_json::from_value(manifest.evidence).unwrap_or(evidence);
        }
        let domain = part.domain.clone();
        self.open.borrow_mut().push(Opened { domain, evidence, context, index: Rc::clone(&index) });
        Ok(index)
    }

    /// The actual settings of a run: an existing domain keeps its own.
    fn ran(&self, variation: &Variation) -> Variation {
        let mut ran = variation.clone();
        let open = self.open.borrow();
        if let (Some(_), Some(opened)) = (&self.args.domain, open.first()) {
            (ran.context, ran.evidence) = (opened.context, opened.evidence.clone());
        }
        ran
    }

    fn in_step(
        &self,
        part: &Part,
        variation: &Variation,
        step: Step<'_>,
        output: &mut Output,
    ) -> Result<Index, Failure> {
        let mut pace = Pace::default();
        let mut hear = |progress: IngestProgress| {
            if let Some(line) = pace.hear(&progress, Instant::now()) {
                output.progress(&step.line(&line));
            }
        };
        if let Some(name) = &self.args.domain {
            return self.start.open_domain(name, self.embedder.identity(), &self.cancel, &mut hear);
        }
        let no_documents = || EvalError::NoDocuments { folder: self.folder.clone() };
        let documents = part.documents.as_deref().ok_or_else(no_documents)?;
        let name = part.domain.as_ref().map_or(self.benchmark.name.as_str(), DomainName::as_str);
        let preparation = Preparation { name, documents, evidence: &variation.evidence, context: variation.context };
        let folder = self.start.paths.benchmarks();
        let embedder = self.embedder.as_ref();
        let mut hear = |preparing| {
            let line = match preparing {
                Preparing::Looking { done, total } => Some(format!("{done} of {total} documents looked at")),
                Preparing::Ingesting(progress) => pace.hear(&progress, Instant::now()),
            };
            if let Some(line) = line {
                output.progress(&step.line(&line));
            }
        };
        let (index, report) = prepare(&folder, &preparation, embedder, &self.cancel, &mut hear)?;
        if report.added + report.updated > 0 || !report.skipped.is_empty() {
            output.note(&step.line(&made(&report, &folder)));
        }
        Ok(index)
    }

    pub(super) fn settings(&self, variation: &Variation) -> SettingsJson<'_> {
        SettingsJson {
            benchmark: &self.benchmark.name,
            domain: self.args.domain.as_ref(),
            languages: self.args.languages.iter().copied().map(Language::code).collect(),
            variation: self.ran(variation),
            embedder: self.embedder.identity(),
            reranker: self.reranker.as_ref().map(|reranker| reranker.model().to_owned()),
            limit: match self.limit {
                Limit::None => None,
                Limit::First(limit) | Limit::Spread(limit) => Some(limit),
            },
            generator: None,
            judge: None,
            sources: None,
        }
    }
}

/// The folder of the benchmark: as named, else that of the questions.
fn folder_of(args: &EvalCommon) -> Result<PathBuf, Failure> {
    if let Some(folder) = &args.benchmark {
        return Ok(folder.clone());
    }
    let Some(questions) = &args.questions else {
        return Err(Failure::usage(Problem {
            what: "nothing says which questions to ask".to_owned(),
            next:
                "Name the folder of a benchmark with --benchmark, or a question file with --questions; with --domain \
                   the file is all that is needed."
                    .to_owned(),
        }));
    };
    let beside = questions.parent().filter(|folder| *folder != Path::new(""));
    Ok(beside.unwrap_or(Path::new(".")).to_owned())
}

fn made(report: &IngestReport, folder: &Path) -> String {
    let changed = report.added + report.updated;
    let skipped = if report.skipped.is_empty() { String::new() } else { format!(", {} skipped", report.skipped.len()) };
    format!(
        "{changed} documents read again{skipped}: {} documents, {} in {}",
        report.documents,
        report.evidences,
        folder.display()
    )
}

/// The settings of a run as in the JSON contract.
#[derive(Debug, Serialize)]
pub(super) struct SettingsJson<'a> {
    benchmark: &'a str,
    domain: Option<&'a DomainName>,
    languages: Vec<&'static str>,
    #[serde(flatten)]
    variation: Variation,
    embedder: &'a EncoderIdentity,
    reranker: Option<String>,
    limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<String>,
    /// Hits in the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<usize>,
}

impl SettingsJson<'_> {
    /// Adds the settings of answering.
    pub(super) fn spoken(self, generator: &str, sources: usize) -> Self {
        Self { generator: Some(generator.to_owned()), sources: Some(sources), ..self }
    }

    /// Adds the judge.
    pub(super) fn judged(self, judge: Option<&str>) -> Self {
        Self { judge: judge.map(str::to_owned), ..self }
    }

    /// The settings line by line, for the report: nested ones as `outer.inner`.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        let value = serde_json::to_value(self).unwrap_or_default();
        for (name, value) in value.as_object().into_iter().flatten() {
            match value.as_object() {
                Some(inner) => pairs.extend(inner.iter().map(|(key, value)| (format!("{name}.{key}"), plain(value)))),
                None => pairs.push((name.clone(), plain(value))),
            }
        }
        pairs
    }
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}
