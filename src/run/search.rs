//! `ragonite search`: hits without a model's answer.

use std::fmt::Write as _;

use super::exit::{Exit, Failure};
use super::json::SearchJson;
use super::output::{Form, Output};
use super::pace::Pace;
use super::report;
use super::start::Start;
use crate::app::Problem;
use crate::base::{CancelSource, clean_text};
use crate::cli::Search;
use crate::evidence::ContextParts;
use crate::index::Within;
use crate::retrieval::{Engines, Reranking, RetrievalSettings, Retrieved, retrieve};
use crate::runtime::cancel_on_interrupt;

pub(super) fn run(start: &Start, args: &Search, output: &mut Output) -> Result<Exit, Failure> {
    if args.query.trim().is_empty() {
        return Err(Failure::usage(Problem {
            what: "there is nothing to search for".to_owned(),
            next: "Give some words in quotes.".to_owned(),
        }));
    }
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let asked = start.settings_of(&args.domain, output);
    let settings = settings(asked.retrieval, args);
    let token = cancel.token();
    let embedder = start.embedder(&token)?;
    let reranker = if asked.rerank == Reranking::On { start.reranker(&token)? } else { None };
    let mut pace = Pace::default();
    let index = start.open_domain(&args.domain, embedder.identity(), &token, &mut |progress| {
        output.pace(&mut pace, &progress);
    })?;
    let holds = if index.summary()?.documents == 0 { Holds::Nothing } else { Holds::Documents };
    if holds == Holds::Nothing {
        let name = &args.domain;
        output.note(&format!("the domain `{name}` is empty: fill it with `ragonite ingest --domain {name} PATH`"));
    }
    let engines = Engines { index: &index, embedder: embedder.as_ref(), reranker: reranker.as_deref() };
    let found = retrieve(engines, &args.query, &settings, &token)?;
    match output.form() {
        Form::Json => output.json(&SearchJson::from(&found))?,
        Form::Text => output.text(&text(&found, holds, args.context))?,
    }
    Ok(Exit::Done)
}

/// What there is to search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Documents,
    Nothing,
}

/// How to search: as typed, else as the domain has it.
fn settings(of_domain: RetrievalSettings, args: &Search) -> RetrievalSettings {
    let mut settings = of_domain;
    settings.top_k = args.k.map_or(settings.top_k, usize::from);
    settings.per_leg = settings.per_leg.max(settings.top_k);
    settings.mode = args.mode.unwrap_or(settings.mode);
    settings.fusion = args.fusion.unwrap_or(settings.fusion);
    settings.context = args.context.unwrap_or(settings.context);
    if !args.kinds.is_empty() {
        settings.kinds.clone_from(&args.kinds);
    }
    let (since, until) = (args.since, args.until);
    settings.within = Within { document: args.document.clone(), since, until, ..Within::default() };
    settings
}

/// The hits; with their whole texts where parts of the context were asked for.
fn text(found: &Retrieved, holds: Holds, context: Option<ContextParts>) -> String {
    let mut text = String::new();
    for hit in &found.hits {
        text.push_str(&report::hit_lines(hit, ' '));
        if context.is_some() {
            for line in clean_text(&hit.text).lines() {
                let _ = writeln!(text, "       | {line}");
            }
        }
        let _ = writeln!(text, "       {}", crate::base::clean_line(&hit.url));
    }
    if found.hits.is_empty() && holds == Holds::Documents {
        text.push_str("Nothing was found.\n");
    }
    let hits = if found.hits.len() == 1 { "hit" } else { "hits" };
    let _ = writeln!(text, "{} {hits} in {:.1} ms", found.hits.len(), found.timings_ms.total.0);
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::{Changes, Config, Setting};
    use crate::evidence::Kind;
    use crate::inference::Catalog;
    use crate::retrieval::{Fusion, Mode};

    #[test]
    fn the_command_line_wins_over_the_domain_and_the_domain_over_the_configuration() {
        let file = "[retrieval]\nmode = \"lexical\"\nkinds = [\"list\"]\nrrf_k = 7\ncontext = \"none\"\n";
        let config = Config::parse(file, std::path::Path::new("c.toml")).unwrap();
        let configured = config.turn_settings(Catalog::builtin().unwrap().profile("tiny").unwrap());
        let mut changes = Changes::default();
        changes.set(Setting::Mode, "dense").unwrap();
        changes.set(Setting::Kinds, "row").unwrap();
        let of_domain = changes.applied_to(&configured).retrieval;
        let typed = Cli::try_parse_from([
            "ragonite", "search", "--domain", "wiki", "--mode", "hybrid", "--fusion", "rrf", "who?",
        ]);
        let Some(Command::Search(args)) = typed.unwrap().command else { panic!("no search") };
        let settings = settings(of_domain, &args);
        assert_eq!((settings.mode, settings.fusion), (Mode::Hybrid, Fusion::Rrf));
        assert_eq!(settings.kinds, [Kind::Row]);
        assert_eq!((settings.rrf_k, settings.context), (7, ContextParts::NONE));
    }
}
