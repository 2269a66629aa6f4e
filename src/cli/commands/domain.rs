//! `ragonite domain`: the domains on this machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::confirm::{Asking, Question, agreed};
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::{Form, Output, megabytes};
use super::progress::Pace;
use crate::args::{self, Assignment, SetDomain};
use ragonite_base::{CancelSource, DomainName, clean_line};
use ragonite_config::{Setting, SettingsOverride, read_changes, write_changes};
use ragonite_history::TurnSettings;
use ragonite_index::{
    CheckReport, DomainChange, DomainDetails, Fault, Finding, Index, IndexState, ListedDomain, Remedy, Summary,
    check_domain, embedder_of, find_domain, list_domains, remove_domain, set_domain, show_domain,
};
use ragonite_inference::GeneratorChoice;
use ragonite_workers::{cancel_on_escape, cancel_on_interrupt, damage_of, problem};

#[derive(Serialize)]
struct ListJson {
    domains: Vec<DomainJson>,
}

#[derive(Serialize)]
struct DomainJson {
    name: DomainName,
    #[serde(flatten)]
    summary: Option<Summary>,
    /// Its settings overrides.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Serialize)]
struct RemovedJson<'a> {
    removed: &'a DomainName,
}

/// A domain with its settings overrides.
#[derive(Serialize)]
struct ShownJson<'a> {
    #[serde(flatten)]
    details: &'a DomainDetails,
    settings: BTreeMap<&'static str, String>,
}

impl From<ListedDomain> for DomainJson {
    fn from(listed: ListedDomain) -> Self {
        let settings = by_key(&read_changes(&listed.folder).changes);
        match listed.summary {
            Ok(summary) => Self { name: listed.name, summary: Some(summary), settings, problem: None },
            Err(error) => {
                let problem = Some(problem(&error).to_string());
                Self { name: listed.name, summary: None, settings, problem }
            }
        }
    }
}

fn by_key(changes: &SettingsOverride) -> BTreeMap<&'static str, String> {
    changes.iter().map(|(setting, text)| (setting.key(), text.to_owned())).collect()
}

pub(super) fn run(start: &CommandContext, command: &args::Domain, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        args::Domain::List => list(start, output),
        args::Domain::Show { name } => show(start, name, output),
        args::Domain::Set(args) => set(start, args, output),
        args::Domain::Remove { name, yes } => remove(start, name, Asking::from(*yes), output),
        args::Domain::Check { name } => check(start, name, output),
        args::Domain::Rebuild { name } => rebuild(start, name, output),
    }
}

fn list(start: &CommandContext, output: &mut Output) -> Result<Exit, Failure> {
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
                "{:<20} {:>16} {:>18}  {}  {}{}",
                domain.name.as_str(),
                counted(summary.documents, "document"),
                counted(summary.evidences.total(), "evidence"),
                clean_line(&summary.embedder.model),
                clean_line(&summary.title),
                own_settings(domain.settings.len())
            ),
            (None, problem) => {
                writeln!(text, "{:<20} {}", domain.name.as_str(), clean_line(problem.as_deref().unwrap_or_default()))
            }
        };
        text
    })
}

fn own_settings(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "  (1 setting of its own)".to_owned(),
        count => format!("  ({count} settings of its own)"),
    }
}

fn show(start: &CommandContext, name: &DomainName, output: &mut Output) -> Result<Exit, Failure> {
    let folder = start.paths.domain(name);
    let details = show_domain(&folder)?;
    let stored = read_changes(&folder);
    if let Some(damage) = damage_of(&stored.damage) {
        output.problem(&damage);
    }
    match output.form() {
        Form::Json => output.json(&ShownJson { details: &details, settings: by_key(&stored.changes) })?,
        Form::Text => output.text(&details_text(&details, &settings_lines(&stored.changes, &start.turn_settings())))?,
    }
    Ok(Exit::Done)
}

/// The settings overrides of a domain, one line each.
fn settings_lines(changes: &SettingsOverride, configured: &TurnSettings) -> Vec<String> {
    let line = |(setting, text): (Setting, &str)| {
        format!("{} = {text} (configured: {})", setting.key(), setting.text(configured))
    };
    changes.iter().map(line).collect()
}

fn set(start: &CommandContext, args: &SetDomain, output: &mut Output) -> Result<Exit, Failure> {
    let folder = start.paths.domain(&args.name);
    find_domain(&folder)?;
    let mut changes = read_changes(&folder).changes;
    for assignment in &args.settings {
        let Assignment { setting, text } = assignment;
        if let (Setting::Model, Ok(GeneratorChoice::Named(id))) = (*setting, text.trim().parse()) {
            let model = start.generator_model(&id)?;
            if !start.folders().has(model) {
                output.note(&format!("the weights of {id} are not here yet; until they are, nothing is answered"));
            }
        }
        changes.choose(*setting, text, &start.turn_settings()).map_err(|error| Failure::usage(problem(&error)))?;
    }
    if args.restore_settings {
        changes = SettingsOverride::default();
    }
    if args.title.is_some() || args.prompt_prefix.is_some() {
        let change = DomainChange { title: args.title.clone(), prompt_prefix: args.prompt_prefix.clone() };
        set_domain(&folder, &change)?;
    }
    if args.restore_settings || !args.settings.is_empty() {
        write_changes(&folder, &changes).map_err(|error| Failure::failed(problem(&error)))?;
    }
    show(start, &args.name, output)
}

fn remove(start: &CommandContext, name: &DomainName, asking: Asking, output: &mut Output) -> Result<Exit, Failure> {
    let folder = start.paths.domain(name);
    // No confirmation for a missing domain.
    find_domain(&folder)?;
    if asking == Asking::Needed {
        // A damaged domain cannot be counted, but it can be removed.
        let documents = show_domain(&folder).map_or_else(|_| "all".to_owned(), |details| details.documents.to_string());
        let question = Question {
            doing: &format!("removing the domain `{name}`"),
            means: &format!("This deletes the domain `{name}` with {documents} documents; their files stay."),
            word: name.as_str(),
            command: &format!("ragonite domain remove {name} --yes"),
        };
        agreed(&question, output)?;
    }
    remove_domain(&folder)?;
    match output.form() {
        Form::Json => output.json(&RemovedJson { removed: name })?,
        Form::Text => output.text(&format!("removed {name}\n"))?,
    }
    Ok(Exit::Done)
}

fn check(start: &CommandContext, name: &DomainName, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let mut pace = Pace::default();
    let report = check_domain(&start.paths.domain(name), &cancel.token(), &mut |progress| {
        output.pace(&mut pace, &progress);
    })?;
    match output.form() {
        Form::Json => output.json(&report)?,
        Form::Text => output.text(&check_text(&report))?,
    }
    let all_repaired = report.findings.iter().all(|finding| finding.remedy == Remedy::Repaired);
    Ok(if all_repaired { Exit::Done } else { Exit::Failed })
}

fn rebuild(start: &CommandContext, name: &DomainName, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let _escape = cancel_on_escape(&cancel)?;
    let folder = start.paths.domain(name);
    // Fails before the embedder is loaded where the domain is missing.
    embedder_of(&folder)?;
    let embedder = start.embedder(&cancel.token())?;
    let mut pace = Pace::default();
    let index = Index::rebuild(&folder, embedder.as_ref(), &cancel.token(), &mut |progress| {
        output.pace(&mut pace, &progress);
    })?;
    let settings = by_key(&read_changes(&folder).changes);
    let json = DomainJson { name: name.clone(), summary: Some(index.summary()?), settings, problem: None };
    match output.form() {
        Form::Json => output.json(&json)?,
        Form::Text => output.text(&text(&ListJson { domains: vec![json] }))?,
    }
    Ok(Exit::Done)
}

/// A count with its noun.
fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

fn check_text(report: &CheckReport) -> String {
    let CheckReport { domain, documents, evidences, findings, .. } = report;
    let state = if report.clean { "nothing is wrong" } else { "this was found:" };
    let (documents, evidences) = (counted(*documents, "document"), counted(evidences.total(), "evidence"));
    let mut text = format!("{domain}: {documents}, {evidences}; {state}\n");
    for finding in findings {
        let _ = writeln!(text, "  {}: {}", fault(*finding), remedy(finding.remedy, domain));
    }
    text
}

fn fault(finding: Finding) -> String {
    let Finding { fault, count, .. } = finding;
    match fault {
        Fault::LooseRows => format!("{count} rows of the database belonged to nothing"),
        Fault::NoVector => format!("{count} evidences have no vector"),
        Fault::OtherText => format!("the text of {count} evidences is not the one that was embedded"),
        Fault::DenseUnusable => "the index by embedding was missing or damaged".to_owned(),
        Fault::DenseBehind => "the index by embedding was behind the database".to_owned(),
        Fault::DenseDiffers => format!("the index by embedding differed in {count} evidences"),
        Fault::LexicalUnusable => "the index by words was missing or damaged".to_owned(),
        Fault::LexicalBehind => "the index by words was behind the database".to_owned(),
        Fault::LexicalDiffers => format!("the index by words differed in {count} evidences"),
    }
}

fn remedy(remedy: Remedy, domain: &str) -> String {
    match remedy {
        Remedy::Repaired => "repaired".to_owned(),
        Remedy::NextIngest => format!("`ragonite ingest --domain {domain}` reads their documents again"),
        Remedy::Rebuild => format!("`ragonite domain rebuild {domain}` embeds them"),
    }
}

fn details_text(details: &DomainDetails, settings: &[String]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<14} {}", clean_line(value));
        }
    };
    line("domain", &details.name);
    line("title", &details.title);
    line("prompt prefix", &details.prompt_prefix);
    line("documents", &details.documents.to_string());
    line("evidences", &format!("{} ({})", details.evidences.total(), details.evidences));
    for root in &details.roots {
        line("ingested from", &root.path.to_string_lossy());
    }
    if let Some(last) = &details.last_ingest {
        let (at, added, updated, renamed, removed) = (&last.at, last.added, last.updated, last.renamed, last.removed);
        line(
            "last ingest",
            &format!(
                "{at}: {added} added, {updated} updated, {renamed} renamed, {removed} removed, {} unchanged, {} skipped",
                last.unchanged, last.skipped
            ),
        );
    }
    line("changed", &details.changed_at);
    line("made", &details.created_at);
    let embedder = &details.embedder;
    line("embedder", &format!("{}, {} dimensions", embedder.model, embedder.dimensions));
    line("context", &details.context.to_string());
    line("splitting", &details.evidence_settings.to_string());
    for setting in settings {
        line("own setting", setting);
    }
    let bytes = details.bytes;
    let sizes = [bytes.database, bytes.dense, bytes.lexical].map(|bytes| format!("{:.1} MB", megabytes(bytes)));
    line("on disk", &format!("database {}, by embedding {}, by words {}", sizes[0], sizes[1], sizes[2]));
    let health = details.health;
    line("indexes", &format!("by embedding {}, by words {}", state(health.dense), state(health.lexical)));
    for skipped in &details.skipped {
        line("not read", &skipped.to_string());
    }
    text.push('\n');
    for entry in &details.contents {
        let date = entry.date.as_deref().map(|date| format!("  {}", clean_line(date))).unwrap_or_default();
        let _ = writeln!(
            text,
            "{:>16}  {}{date}\n                  {}",
            counted(entry.evidences.total(), "evidence"),
            clean_line(&entry.title),
            clean_line(&entry.source.to_string_lossy())
        );
    }
    text
}

fn state(state: IndexState) -> &'static str {
    match state {
        IndexState::InStep => "in step",
        IndexState::Behind => "behind (the next command that opens the domain brings it in step)",
        IndexState::Unusable => "missing or damaged (the next command that opens the domain makes it again)",
    }
}
