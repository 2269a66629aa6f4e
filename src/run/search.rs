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
use crate::retrieval::{Engines, Retrieved, retrieve};
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
    let mut settings = start.config.retrieval.clone();
    settings.top_k = usize::from(args.k);
    settings.per_leg = settings.per_leg.max(usize::from(args.k));
    settings.mode = args.mode.unwrap_or(settings.mode);
    settings.fusion = args.fusion.unwrap_or(settings.fusion);
    settings.context = args.context.unwrap_or(settings.context);
    if !args.kinds.is_empty() {
        settings.kinds.clone_from(&args.kinds);
    }
    settings.within = Within { document: args.document.clone(), since: args.since, until: args.until };
    let token = cancel.token();
    let embedder = start.embedder(&token)?;
    let reranker = start.reranker(&token)?;
    let mut pace = Pace::default();
    let index = start.open_domain(&args.domain, embedder.identity(), &token, &mut |progress| {
        output.pace(&mut pace, &progress);
    })?;
    let engines = Engines { index: &index, embedder: embedder.as_ref(), reranker: reranker.as_deref() };
    let found = retrieve(engines, &args.query, &settings, &token)?;
    match output.form() {
        Form::Json => output.json(&SearchJson::from(&found))?,
        Form::Text => output.text(&text(&found, args.context))?,
    }
    Ok(Exit::Done)
}

/// The hits; with their whole texts where parts of the context were asked for.
fn text(found: &Retrieved, context: Option<ContextParts>) -> String {
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
    if found.hits.is_empty() {
        text.push_str("Nothing was found.\n");
    }
    let hits = if found.hits.len() == 1 { "hit" } else { "hits" };
    let _ = writeln!(text, "{} {hits} in {:.1} ms", found.hits.len(), found.timings_ms.total.0);
    text
}
