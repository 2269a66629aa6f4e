//! `ragonite search`: hits without a model's answer.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::json::SearchJson;
use super::output::{Form, Output};
use super::progress::Pace;
use super::report;
use crate::args::Search;
use ragonite_app::Problem;
use ragonite_base::{CancelSource, CancelToken, clean_text};
use ragonite_document::evidence::ContextParts;
use ragonite_index::Within;
use ragonite_rag::answer::{
    self, AnswerError, LanguagePair, TranslateInput, TranslationHow, translate, translation_wanted,
};
use ragonite_rag::retrieval::{Reranking, RetrievalSettings, Retrieved, SearchContext, SearchInput, search};
use ragonite_workers::{cancel_on_interrupt, problem};

pub(super) fn run(start: &CommandContext, args: &Search, output: &mut Output) -> Result<Exit, Failure> {
    if !args.query.contains(char::is_alphanumeric) {
        return Err(Failure::usage(Problem {
            what: "there is nothing to search for".to_owned(),
            next: "Give some words in quotes.".to_owned(),
        }));
    }
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since > until
    {
        return Err(Failure::usage(Problem {
            what: format!("no day is after {since} and before {until}"),
            next: "Give --since the earlier day and --until the later one.".to_owned(),
        }));
    }
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let asked = start.settings_of(&args.domain, output);
    let settings = settings(asked.retrieval, args);
    let token = cancel.token();
    let embedder = start.embedder(&token)?;
    let reranker = if args.rerank.unwrap_or(asked.rerank) == Reranking::On { start.reranker(&token)? } else { None };
    let mut pace = Pace::default();
    let index = start.open_domain(&args.domain, embedder.identity(), &token, &mut |progress| {
        output.pace(&mut pace, &progress);
    })?;
    let holds = if index.summary()?.documents == 0 { Holds::Nothing } else { Holds::Documents };
    if holds == Holds::Nothing {
        output.empty_domain(&args.domain);
    }
    let translation = match translation_wanted(&args.query, index.language()?, settings.translate) {
        Some(LanguagePair { from, to }) if holds == Holds::Documents => {
            let max_tokens = asked.prompt.rewrite_tokens;
            let input = TranslateInput { question: &args.query, from, to, max_tokens };
            let generator = asked.model.id(&start.profile.profile.generator);
            translated(start, args, &input, generator, &token, output)?
        }
        _ => None,
    };
    let most = embedder.identity().max_tokens;
    if embedder.count_tokens(&args.query).is_ok_and(|tokens| tokens > most) {
        output.note(&format!(
            "the query is long: by meaning its first {most} tokens are searched, by words its first thousand words"
        ));
    }
    let engines = SearchContext { index: &index, embedder: embedder.as_ref(), reranker: reranker.as_deref() };
    let (text_of, translating) = match translation {
        Some(Translation { text, took }) => (text, Some(took)),
        None => (None, None),
    };
    let (question, translated) = (args.query.as_str(), text_of.as_deref());
    let today = Some(OffsetDateTime::now_utc().date());
    let conversation = SearchInput { question, completed: None, translated, earlier: &[], today };
    let found = search(engines, &conversation, &settings, &token)?;
    match output.form() {
        Form::Json => output.json(&SearchJson::new(question, translated, &found))?,
        Form::Text => output.text(&text(&found, holds, Among::of(args), args.context, translating))?,
    }
    Ok(Exit::Done)
}

/// The translated query.
struct Translation {
    /// None where the model's text was unusable.
    text: Option<String>,
    /// Time of the translation, without loading the model.
    took: Duration,
}

/// Translates the query where the generator is present; otherwise reports that the query is searched alone.
fn translated(
    start: &CommandContext,
    args: &Search,
    input: &TranslateInput<'_>,
    generator: &str,
    cancel: &CancelToken,
    output: &mut Output,
) -> Result<Option<Translation>, Failure> {
    let generator = start.generator_model(generator)?;
    if !start.folders().has(generator) && args.translate.is_none() {
        output.note(&format!(
            "the query has another language than the documents and is not translated: the weights of {} are not here",
            generator.id
        ));
        return Ok(None);
    }
    // Where translation was requested, missing weights are an error with a remedy.
    output.progress(&format!("translating with {}", generator.id));
    let mut generator = start.generator(generator, cancel)?;
    let started = Instant::now();
    let answer::Translation { text, how, .. } = translate(&mut generator, input, cancel)?;
    let took = started.elapsed();
    match (&text, how) {
        (Some(text), _) => output.note(&format!("also searched for: {text}")),
        (None, TranslationHow::TooLong) => {
            output.note("the query has another language than the documents and is too long to be translated");
            return Ok(None);
        }
        (None, _) => {
            output.note("the query has another language than the documents; the model gave no usable translation");
        }
    }
    Ok(Some(Translation { text, took }))
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Canceled(_) => Self::canceled(),
            error => Self::failed(problem(&error)),
        }
    }
}

/// Whether filters limit the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    All,
    Some,
}

impl Among {
    fn of(args: &Search) -> Self {
        let is_all = args.document.is_none() && args.since.is_none() && args.until.is_none() && args.kinds.is_empty();
        if is_all { Self::All } else { Self::Some }
    }
}

/// Whether the domain has documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Documents,
    Nothing,
}

/// Settings as typed, else of the domain.
fn settings(of_domain: RetrievalSettings, args: &Search) -> RetrievalSettings {
    let mut settings = of_domain;
    settings.top_k = args.k.map_or(settings.top_k, usize::from);
    settings.per_retriever = settings.per_retriever.max(settings.top_k);
    settings.mode = args.mode.unwrap_or(settings.mode);
    settings.fusion = args.fusion.unwrap_or(settings.fusion);
    settings.context = args.context.unwrap_or(settings.context);
    settings.translate = args.translate.unwrap_or(settings.translate);
    if !args.kinds.is_empty() {
        settings.kinds.clone_from(&args.kinds);
    }
    let (since, until) = (args.since, args.until);
    settings.within = Within { document: args.document.clone(), since, until, ..Within::default() };
    settings
}

/// The hits; with whole texts where context was requested, and the time of a translation.
fn text(
    found: &Retrieved,
    holds: Holds,
    among: Among,
    context: Option<ContextParts>,
    translating: Option<Duration>,
) -> String {
    let mut text = report::caution(found);
    for hit in &found.hits {
        text.push_str(&report::hit_lines(hit, ' '));
        if context.is_some() {
            for line in clean_text(&hit.text).lines() {
                let _ = writeln!(text, "       | {line}");
            }
        }
    }
    if found.hits.is_empty() && holds == Holds::Documents {
        text.push_str(match among {
            Among::All => "Nothing was found.\n",
            Among::Some => "Nothing was found among what --document, --since, --until and --kinds leave.\n",
        });
    }
    let hits = if found.hits.len() == 1 { "hit" } else { "hits" };
    let translating = translating.map(|time| format!(", after {:.1} s of translating", time.as_secs_f64()));
    let translating = translating.unwrap_or_default();
    let _ = writeln!(text, "{} {hits} in {:.1} ms{translating}", found.hits.len(), found.timings_ms.total.0);
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};
    use ragonite_config::{Config, Setting, SettingsOverride};
    use ragonite_document::evidence::Kind;
    use ragonite_inference::Catalog;
    use ragonite_rag::retrieval::{Fusion, Mode, Translate};

    #[test]
    fn the_command_line_wins_over_the_domain_and_the_domain_over_the_configuration() {
        let file = "[retrieval]\nmode = \"lexical\"\nkinds = [\"list\"]\nrrf_k = 7\ncontext = \"none\"\n";
        let config = Config::parse(file, std::path::Path::new("c.toml")).unwrap();
        let configured = config.turn_settings(Catalog::builtin().unwrap().profile("tiny").unwrap());
        let mut changes = SettingsOverride::default();
        changes.set(Setting::Mode, "dense").unwrap();
        changes.set(Setting::Kinds, "row").unwrap();
        let of_domain = changes.applied_to(&configured).retrieval;
        let typed = Cli::try_parse_from([
            "ragonite",
            "search",
            "--domain",
            "wiki",
            "--mode",
            "hybrid",
            "--fusion",
            "rrf",
            "--translate",
            "off",
            "who?",
        ]);
        let Some(Command::Search(args)) = typed.unwrap().command else { panic!("no search") };
        let settings = settings(of_domain, &args);
        assert_eq!((settings.mode, settings.fusion), (Mode::Hybrid, Fusion::Rrf));
        assert_eq!(settings.translate, Translate::Off);
        assert_eq!(settings.kinds, [Kind::Row]);
        assert_eq!((settings.rrf_k, settings.context), (7, ContextParts::NONE));
    }
}
