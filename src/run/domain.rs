//! `ragonite domain`: the domains on this machine.

use std::fmt::Write as _;

use serde::Serialize;

use super::exit::{Exit, Failure};
use super::ingest;
use super::output::{Form, Output};
use super::start::Start;
use crate::base::{CancelSource, DomainName, clean_line};
use crate::cli;
use crate::index::{Index, ListedDomain, Summary, list_domains};
use crate::runtime::{cancel_on_interrupt, problem};

#[derive(Serialize)]
struct ListJson {
    domains: Vec<DomainJson>,
}

#[derive(Serialize)]
struct DomainJson {
    name: DomainName,
    #[serde(flatten)]
    summary: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl From<ListedDomain> for DomainJson {
    fn from(listed: ListedDomain) -> Self {
        match listed.summary {
            Ok(summary) => Self { name: listed.name, summary: Some(summary), problem: None },
            Err(error) => Self { name: listed.name, summary: None, problem: Some(problem(&error).to_string()) },
        }
    }
}

pub(super) fn run(start: &Start, command: &cli::Domain, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        cli::Domain::List => list(start, output),
        cli::Domain::Check { name } => check(start, name, output),
        cli::Domain::Rebuild { name } => rebuild(start, name, output),
    }
}

fn list(start: &Start, output: &mut Output) -> Result<Exit, Failure> {
    let listed = list_domains(&start.paths.domains())?;
    let json = ListJson { domains: listed.into_iter().map(DomainJson::from).collect() };
    match output.form() {
        Form::Json => output.json(&json)?,
        Form::Text => output.text(&text(&json))?,
    }
    let none_can_be_read = !json.domains.is_empty() && json.domains.iter().all(|domain| domain.summary.is_none());
    Ok(if none_can_be_read { Exit::Failed } else { Exit::Done })
}

fn text(json: &ListJson) -> String {
    if json.domains.is_empty() {
        return "No domains yet. Make one with `ragonite ingest --domain NAME PATH`.\n".to_owned();
    }
    json.domains.iter().fold(String::new(), |mut text, domain| {
        let _ = match (&domain.summary, &domain.problem) {
            (Some(summary), _) => writeln!(
                text,
                "{:<20} {:>6} documents {:>8} evidences  {}  {}",
                domain.name.as_str(),
                summary.documents,
                summary.evidences.total(),
                clean_line(&summary.embedder.model),
                clean_line(&summary.title)
            ),
            (None, problem) => {
                writeln!(text, "{:<20} {}", domain.name.as_str(), clean_line(problem.as_deref().unwrap_or_default()))
            }
        };
        text
    })
}

fn check(start: &Start, name: &DomainName, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let embedder = start.embedder(&cancel.token())?;
    let mut show = |progress| output.progress(&ingest::line(&progress));
    let mut index = start.open_domain(name, embedder.identity(), &mut show)?;
    index.repair(&mut show)?;
    report(name, &index, output)
}

fn rebuild(start: &Start, name: &DomainName, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let embedder = start.embedder(&cancel.token())?;
    let folder = start.paths.domain(name);
    let index = Index::rebuild(&folder, embedder.as_ref(), &cancel.token(), &mut |progress| {
        output.progress(&ingest::line(&progress));
    })?;
    report(name, &index, output)
}

fn report(name: &DomainName, index: &Index, output: &mut Output) -> Result<Exit, Failure> {
    let json = DomainJson { name: name.clone(), summary: Some(index.summary()?), problem: None };
    match output.form() {
        Form::Json => output.json(&json)?,
        Form::Text => output.text(&text(&ListJson { domains: vec![json] }))?,
    }
    Ok(Exit::Done)
}
