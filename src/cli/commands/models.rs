//! `ragonite models`: the catalog, and the weights on this machine.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::bundle;
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::{Form, Output, megabytes};
use crate::args;
use ragonite_app::Problem;
use ragonite_base::CancelSource;
use ragonite_inference::{CatalogModel, Checking, FileState};
use ragonite_workers::cancel_on_interrupt;

#[derive(Serialize)]
struct ModelsJson<'a> {
    profile: &'a str,
    models: Vec<ModelJson<'a>>,
}

#[derive(Serialize)]
struct ModelJson<'a> {
    id: &'a str,
    role: ragonite_inference::ModelRole,
    licence: &'a str,
    bytes: u64,
    files: Vec<FileJson>,
}

#[derive(Serialize)]
struct FileJson {
    name: String,
    state: &'static str,
    path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl FileJson {
    fn new(name: String, state: FileState) -> Self {
        match state {
            FileState::Verified { path } => Self { name, state: "verified", path: Some(path), reason: None },
            FileState::Missing => Self { name, state: "missing", path: None, reason: None },
            FileState::Damaged { path, expected, found } => {
                let reason = Some(format!("{found} instead of {expected}"));
                Self { name, state: "damaged", path: Some(path), reason }
            }
        }
    }
}

pub(super) fn run(start: &CommandContext, command: &args::Models, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    match command {
        args::Models::List => list(start, &cancel, output),
        args::Models::Verify { models } => verify(start, models, &cancel, output),
        args::Models::Pull { models } => pull(start, models, &cancel, output),
        args::Models::Import { paths } => bundle::import(start, paths, &cancel, output),
    }
}

fn list(start: &CommandContext, cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
    let models: Vec<&CatalogModel> = start.catalog.models.iter().collect();
    let json = states(start, &models, Checking::TrustStamps, cancel, output)?;
    match output.form() {
        Form::Json => output.json(&json)?,
        Form::Text => {
            let mut text = String::from("Profiles:\n");
            for profile in &start.catalog.profiles {
                let mark = if profile.name == start.profile.profile.name { '*' } else { ' ' };
                let ids: Vec<&str> = profile.model_ids().collect();
                let _ = writeln!(text, " {mark} {:<8} {} ({})", profile.name, ids.join(", "), profile.about);
            }
            let _ = writeln!(text, "   * is used: {}.\n\nModels:", start.profile.why.label());
            text.push_str(&table(&json));
            output.text(&text)?;
        }
    }
    Ok(Exit::Done)
}

/// The models with these ids; without ids, those that the configuration may need.
fn named<'a>(start: &'a CommandContext, ids: &[String]) -> Result<Vec<&'a CatalogModel>, Failure> {
    if ids.is_empty() {
        return start.models();
    }
    let mut models: Vec<&CatalogModel> = Vec::with_capacity(ids.len());
    for id in ids {
        let model = start.catalog.model(id)?;
        if models.iter().all(|other| other.id != model.id) {
            models.push(model);
        }
    }
    Ok(models)
}

fn verify(start: &CommandContext, ids: &[String], cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
    let json = states(start, &named(start, ids)?, Checking::HashAgain, cancel, output)?;
    let good = |model: &ModelJson<'_>| model.files.iter().all(|file| file.state == "verified");
    let lacking: Vec<&str> = json.models.iter().filter(|model| !good(model)).map(|model| model.id).collect();
    match output.form() {
        Form::Json => output.json(&json)?,
        Form::Text => output.text(&table(&json))?,
    }
    if lacking.is_empty() {
        return Ok(Exit::Done);
    }
    let profile = &start.profile.profile.name;
    let pull = format!("ragonite models pull {}", lacking.join(" "));
    let (what, get) = match ids {
        [] => (
            format!("the profile `{profile}` is not complete"),
            format!("`make models PROFILE={profile}` in a checkout or `{pull}`"),
        ),
        _ => (format!("missing or damaged: {}", lacking.join(", ")), format!("`{pull}`")),
    };
    let folder = start.paths.models_to_write().display();
    let next = format!("Run {get} in a build with network code, or put the files into `{folder}` by hand.");
    Err(Failure::usage(Problem { what, next }))
}

fn states<'a>(
    start: &'a CommandContext,
    models: &[&'a CatalogModel],
    checking: Checking,
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<ModelsJson<'a>, Failure> {
    let mut described = Vec::with_capacity(models.len());
    for model in models {
        output.progress(&format!("checking {}", model.id));
        let reports = start.folders().verify(model, checking, &cancel.token())?;
        let files = reports.into_iter().map(|report| FileJson::new(report.file, report.state)).collect();
        described.push(ModelJson {
            id: &model.id,
            role: model.role,
            licence: &model.licence,
            bytes: model.bytes(),
            files,
        });
    }
    Ok(ModelsJson { profile: &start.profile.profile.name, models: described })
}

fn table(json: &ModelsJson<'_>) -> String {
    let mut text = String::new();
    for model in &json.models {
        let _ = writeln!(
            text,
            "   {} ({}, {}, {:.0} MB)",
            model.id,
            model.role.label(),
            model.licence,
            megabytes(model.bytes)
        );
        for file in &model.files {
            let place = file.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            let reason = file.reason.as_deref().unwrap_or_default();
            let _ = writeln!(text, "     {:<9} {} {place} {reason}", file.state, file.name);
        }
    }
    text
}

#[cfg(not(feature = "hub"))]
fn pull(
    start: &CommandContext,
    _ids: &[String],
    _cancel: &CancelSource,
    _output: &mut Output,
) -> Result<Exit, Failure> {
    Err(Failure::usage(Problem {
        what: "this program was built without network code, so it cannot fetch anything".to_owned(),
        next: format!(
            "Run `make models` in a checkout, build with `cargo build --release --features hub`, or put the files into \
             `{}` by hand; `ragonite models list` names them.",
            start.paths.models_to_write().display()
        ),
    }))
}

#[cfg(feature = "hub")]
fn pull(start: &CommandContext, ids: &[String], cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
    use ragonite_download::{DownloadEvent, Downloader, Endpoints, missing_files};

    let models = named(start, ids)?;
    let missing = missing_files(&models, &start.folders(), start.paths.models_to_write(), &cancel.token())?;
    if missing.is_empty() {
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        output.note(&format!("All weights are here: {}.", ids.join(", ")));
        return Ok(Exit::Done);
    }
    let endpoints = Endpoints::from_variables(ragonite_config::variable_text);
    let mut downloader = Downloader::new(start.paths.models_to_write(), endpoints)?;
    let mut report = |event: DownloadEvent| match event {
        DownloadEvent::Progress(progress) => output.progress(&progress.to_string()),
        DownloadEvent::Verifying { file } => output.progress(&format!("{file}: checking")),
        DownloadEvent::SourceFailed { file, reason } => {
            output.note(&format!("{file}: {reason}; trying the next source"));
        }
        DownloadEvent::Done { file, path } => output.note(&format!("{file}: {}", path.display())),
    };
    downloader.fetch_all(&missing, &mut report, &cancel.token())?;
    Ok(Exit::Done)
}

#[cfg(feature = "hub")]
impl From<ragonite_download::DownloadError> for Failure {
    fn from(error: ragonite_download::DownloadError) -> Self {
        if matches!(error, ragonite_download::DownloadError::Canceled(_)) {
            return Self::canceled();
        }
        Self::failed(Problem::of(&error, "What was fetched so far is kept; run the command again to go on."))
    }
}
