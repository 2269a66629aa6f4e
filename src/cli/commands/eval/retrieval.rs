//! `ragonite eval retrieval`: ranks of the gold pages.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::context::CommandContext;
use super::super::exit::{Exit, Failure};
use super::super::output::Output;
use super::bench::Bench;
use super::output::{Table, remembered, warn};
use super::progress::{Eta, Step};
use super::results::{QuestionJson, Reported, run_all};
use crate::args::EvalRetrieval;
use ragonite_app::Problem;
use ragonite_base::CancelSource;
use ragonite_eval::{
    Ablation, Asked, Asking, Cache, CachedGenerator, Completion, ConversationRunner, EvalError, Found, Limit, Memory,
    Metric, NoMatch, Nonsense, Outcome, Page, PageMatch, Question, Ranking, Run, Variation, ask_again, intervals,
    nonsense, retrieved,
};
use ragonite_rag::answer::translation_wanted;
use ragonite_rag::retrieval::{MatchQuality, unrelated_cosines};
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt};

pub(super) fn run(start: &CommandContext, args: &EvalRetrieval, output: &mut Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    if let Some(setting @ (Ablation::Order | Ablation::Neighbours)) = args.common.ablate {
        let what = match setting {
            Ablation::Neighbours => "how often the prompt has the text around its sources",
            _ => "the order of sources in the prompt",
        };
        return Err(Failure::usage(Problem {
            what: format!("{what} changes no search"),
            next: format!("Compare what becomes of the answers: ragonite eval answers --ablate {}.", setting.word()),
        }));
    }
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok()).map_or(Limit::None, Limit::First);
    let bench = Bench::open(start, &args.common, limit, cancel.token(), output)?;
    let comparing = bench.compare()?;
    let completes = comparing.variants.iter().any(|variant| variant.variation.completion == Completion::Model);
    let generator = if completes { Some(bench.generator(output)?) } else { None };
    let cache = Cache::open(&start.paths.results().join("searches.jsonl"))?;
    let mut searches = Searches { bench: &bench, cache, generator, nonsense: Vec::new(), unrelated: Vec::new() };
    let results =
        run_all(comparing, args.common.ablate, &|v| bench.papers(v), output, &mut |variation, step, output| {
            searches.asked(variation, step, output)
        })?;
    let spoke = searches.generator.is_some();
    let settings = |variation: &Variation| {
        let settings = bench.settings(variation);
        if spoke { settings.spoken(bench.generator_id(), bench.sources()) } else { settings }
    };
    let told = searches.nonsense.iter().filter(|one| one.is_told()).count();
    output.note(&format!("of {} nonsense questions, {told} fit no document", searches.nonsense.len()));
    let mut more = Map::new();
    more.insert("nonsense".to_owned(), json!(searches.nonsense));
    more.insert("unrelated_cosines".to_owned(), json!(searches.unrelated));
    results.give(&bench, started, &more, &settings, output)?;
    Ok(Exit::Done)
}

struct Searches<'a> {
    bench: &'a Bench<'a>,
    cache: Cache,
    /// The generator, where it completes or translates questions.
    generator: Option<CachedGenerator>,
    /// Nonsense questions in each domain of the first run.
    nonsense: Vec<Nonsense>,
    /// The best cosine of each unrelated question, for each of these domains.
    unrelated: Vec<Vec<f64>>,
}

impl Searches<'_> {
    /// Asks every question once.
    fn asked(&mut self, variation: &Variation, step: Step<'_>, output: &mut Output) -> Result<Vec<Asked>, Failure> {
        let bench = self.bench;
        let total = bench.benchmark.len();
        let mut asked = Vec::with_capacity(total);
        let mut from_cache = 0;
        let mut eta = Eta::new(total, Instant::now());
        let answering = bench.answering(variation);
        for part in &bench.benchmark.parts {
            let index = bench.index(part, variation, step, output)?;
            let pages = Bench::pages(&index, part, step, output)?;
            let prefix = bench.prefix(part, &index)?;
            let speaking = bench.speaking(&prefix, &answering, bench.sources());
            let asking = bench.asking(&index, &pages, variation);
            let speaks = variation.completion == Completion::Model || has_another_language(asking, &part.questions)?;
            if speaks && self.generator.is_none() {
                self.generator = Some(bench.generator(output)?);
            }
            let generator = self.generator.as_mut().filter(|_| speaks);
            let spoken = generator.as_ref().map(|generator| (generator.fingerprint(), speaking));
            let settings = bench.fingerprint(&index, variation, spoken)?;
            let mut speaker = generator.map(|generator| ConversationRunner::new(generator, speaking));
            let before = (asked.len(), from_cache);
            let memory = Memory { cache: &mut self.cache, settings: &settings };
            let mut tell = |now: ragonite_eval::Progress, doing| {
                eta.at(before.0 + now.done, before.1 + now.remembered);
                output.progress(&step.line(&eta.line_of(&doing, Instant::now())));
            };
            let resumed = ask_again(asking, speaker.as_mut(), memory, &part.questions, &bench.cancel, &mut tell)?;
            if step.number == 1 {
                self.nonsense.extend(nonsense(asking, &bench.cancel)?);
                self.unrelated.push(unrelated_cosines(asking.engines, &bench.cancel)?.to_vec());
            }
            from_cache += resumed.remembered;
            asked.extend(resumed.asked);
        }
        remembered(from_cache, total, self.cache.damaged(), output);
        if step.number == 1 {
            let missing: Vec<&Question> =
                asked.iter().filter(|one| one.gold.is_empty()).map(|one| &one.question).collect();
            warn(&missing, asked.len(), output);
        }
        Ok(asked)
    }
}

/// Whether a question needs translation.
fn has_another_language(asking: Asking<'_>, questions: &[Question]) -> Result<bool, EvalError> {
    let documents = asking.engines.index.language()?;
    let mut texts = questions.iter().flat_map(|question| [&question.raw, &question.completed]);
    Ok(texts.any(|text| translation_wanted(text, documents, asking.settings.translate).is_some()))
}

/// Questions of which no gold page is in the domain.
fn without_gold(asked: &[Asked]) -> usize {
    asked.iter().filter(|one| one.gold.is_empty()).count()
}

impl Reported for Asked {
    const WHAT: &'static str = "retrieval";
    const HEADLINE: Metric = Metric::Ranked(PageMatch::Page, Ranking::PAt1);
    type Json<'a> = ResultJson<'a>;

    fn json(&self) -> ResultJson<'_> {
        ResultJson {
            question: QuestionJson::of_asked(self),
            gold: &self.gold,
            outcome: self.outcome,
            r#match: self.quality.as_ref(),
            hits: &self.hits,
        }
    }

    fn tables(run: &Run<Self>) -> Vec<Table> {
        let [by_page, by_content_and_url] = retrieved(&run.figures, run.papers);
        vec![
            Table { heading: "Where the gold pages come", text: by_page },
            Table { heading: "By content and by URL", text: by_content_and_url },
            Table { heading: "Intervals", text: intervals(&run.figures) },
            Table { heading: "No document fits", text: NoMatch::of(&run.asked).text() },
        ]
    }

    /// The figures by page, content and URL, and again under `measured` for compatibility.
    fn figures_json(run: &Run<Self>) -> Map<String, Value> {
        let mut figures = run.figures.json();
        let measured = Value::Object(figures.clone());
        figures.insert("measured".to_owned(), measured);
        figures.insert("no_match".to_owned(), json!(NoMatch::of(&run.asked)));
        figures.insert("without_gold".to_owned(), json!(without_gold(&run.asked)));
        figures
    }
}

/// A question with the ranks of its gold pages.
#[derive(Serialize)]
pub(super) struct ResultJson<'a> {
    #[serde(flatten)]
    question: QuestionJson<'a>,
    gold: &'a [Page],
    #[serde(flatten)]
    outcome: Outcome,
    r#match: Option<&'a MatchQuality>,
    hits: &'a [Found],
}
