//! `ragonite bundle` and `ragonite models import`: weights and domains from files.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::{Form, Output, megabytes};
use crate::args::{Bundle, CreateBundle, InstallBundle};
use crate::bundle::{
    BundleError, BundleProgress, Contents, Doing, DomainSource, Imported, InstallTo, Installed, Manifest, Packed,
    ProgramFile, Replace, import_weights, install, pack,
};
use crate::gpu_handover;
use ragonite_app::Problem;
use ragonite_base::{CancelSource, DomainName};
use ragonite_config::{built_for, program_path};
use ragonite_index::{find_domain, show_domain};
use ragonite_inference::CatalogModel;
use ragonite_workers::{cancel_on_interrupt, problem};

/// The licence of the program.
const LICENCE: &str = include_str!("../../../LICENSE");

/// Machines on which this build runs.
const RUNS_ON: &str = if !cfg!(feature = "portable") {
    "The program in it runs on processors such as the one it was built on; one that `make portable` built runs on others too."
} else if cfg!(target_arch = "x86_64") {
    "The program in it runs on every x86-64 processor with AVX2: those of Intel since 2013 and of AMD since 2015, without some \
     of the cheapest."
} else {
    "The program in it runs on every processor of this architecture."
};

#[derive(Serialize)]
struct CreatedJson<'a> {
    #[serde(flatten)]
    packed: &'a Packed,
    profile: &'a str,
    seconds: f64,
}

#[derive(Serialize)]
struct InstalledJson<'a> {
    version: &'a str,
    target: &'a str,
    #[serde(flatten)]
    installed: &'a Installed,
    seconds: f64,
}

pub(super) fn run(start: &CommandContext, command: &Bundle, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    match command {
        Bundle::Create(args) => create(start, args, &cancel, output),
        Bundle::Install(args) => unpack(start, args, &cancel, output),
    }
}

fn create(
    start: &CommandContext,
    args: &CreateBundle,
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let profile = &start.profile.profile.name;
    let models = if args.without_models { Vec::new() } else { models(start, &args.domains)? };
    let target = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("ragonite-{profile}.tar")));
    let domains = domains(start, &args.domains)?;
    let program = program()?;
    let built_for = built_for();
    let contents = Contents {
        version: env!("CARGO_PKG_VERSION"),
        target: &built_for,
        program: &program,
        texts: &[("README.txt", read_me(&models, &args.domains, &program)), ("LICENSES.txt", licences(&models))],
        models: &models,
        folders: &start.folders(),
        domains: &domains,
    };
    let packed = pack(&contents, &target, &cancel.token(), &mut |progress| tell(&progress, output))?;
    match output.form() {
        Form::Json => {
            output.json(&CreatedJson { packed: &packed, profile, seconds: started.elapsed().as_secs_f64() })?;
        }
        Form::Text => output.text(&format!(
            "{}: {:.0} MB with the program, {}, {}.\n{RUNS_ON}\nThe file README.txt in it says how to install it.\n",
            packed.file.display(),
            megabytes(packed.bytes),
            several(packed.models.len(), "model"),
            several(packed.domains.len(), "domain"),
        ))?,
    }
    Ok(Exit::Done)
}

fn unpack(
    start: &CommandContext,
    args: &InstallBundle,
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let (folders, domains) = (start.folders(), start.paths.domains());
    let to = InstallTo {
        catalog: &start.catalog,
        folders: &folders,
        models: start.paths.models_to_write(),
        domains: &domains,
        replace: if args.replace { Replace::Domains } else { Replace::Nothing },
    };
    let (Manifest { version, target, .. }, installed) =
        install(&args.file, &to, &cancel.token(), &mut |progress| tell(&progress, output))?;
    match output.form() {
        Form::Json => {
            let seconds = started.elapsed().as_secs_f64();
            output.json(&InstalledJson { version: &version, target: &target, installed: &installed, seconds })?;
        }
        Form::Text => output.text(&installed_text(&installed, &to))?,
    }
    Ok(Exit::Done)
}

/// `ragonite models import`.
pub(super) fn import(
    start: &CommandContext,
    paths: &[PathBuf],
    cancel: &CancelSource,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let folders = start.folders();
    let models = start.paths.models_to_write();
    let imported = import_weights(paths, &start.catalog, &folders, models, &cancel.token(), &mut |progress| {
        tell(&progress, output);
    })?;
    match output.form() {
        Form::Json => output.json(&imported)?,
        Form::Text => output.text(&imported_text(&imported, models))?,
    }
    if imported.weights.is_empty() && imported.weights_here.is_empty() {
        return Err(Failure::usage(Problem {
            what: "none of the files are weights of the catalog".to_owned(),
            next: "`ragonite models list` names them with their sizes.".to_owned(),
        }));
    }
    Ok(Exit::Done)
}

fn installed_text(installed: &Installed, to: &InstallTo<'_>) -> String {
    let mut text = weights_text(&installed.weights, &installed.weights_here, to.models);
    for domain in &installed.domains {
        let _ = writeln!(text, "domain {domain}; its indexes are made when it is first opened");
    }
    for left_out in &installed.left_out {
        let _ = writeln!(text, "left out: {} ({})", left_out.name, left_out.reason);
    }
    text
}

fn imported_text(imported: &Imported, models: &Path) -> String {
    let mut text = weights_text(&imported.weights, &imported.weights_here, models);
    for path in &imported.unknown {
        let _ = writeln!(text, "not in the catalog: {}", ragonite_base::clean_line(&path.display().to_string()));
    }
    for path in &imported.unreadable {
        let _ = writeln!(text, "cannot be read: {}", ragonite_base::clean_line(&path.display().to_string()));
    }
    text
}

fn weights_text(new: &[String], here: &[String], models: &Path) -> String {
    let mut text = String::new();
    for weights in new {
        let _ = writeln!(text, "weights {}", models.join(weights).display());
    }
    for weights in here {
        let _ = writeln!(text, "weights {weights} were here already");
    }
    text
}

/// The configured models, and the generators of the domains.
fn models<'s>(start: &'s CommandContext, domains: &[DomainName]) -> Result<Vec<&'s CatalogModel>, Failure> {
    let mut models = start.models()?;
    for domain in domains {
        let own = start.generator_model(&start.generator_of(domain))?;
        if models.iter().all(|known| known.id != own.id) {
            models.push(own);
        }
    }
    Ok(models)
}

/// The requested domains, each once.
fn domains(start: &CommandContext, wanted: &[DomainName]) -> Result<Vec<DomainSource>, Failure> {
    let mut domains: Vec<DomainSource> = Vec::new();
    for name in wanted {
        if domains.iter().any(|known| known.name == *name) {
            continue;
        }
        let folder = start.paths.domain(name);
        find_domain(&folder).map_err(BundleError::from)?;
        let documents = show_domain(&folder).map_err(BundleError::from)?.documents;
        domains.push(DomainSource { name: name.clone(), folder, documents: documents as u64 });
    }
    Ok(domains)
}

/// This program and the one for NVIDIA GPUs beside it, with their libraries.
fn program() -> Result<Vec<ProgramFile>, Failure> {
    let own = program_path().map_err(|error| unreadable(&error))?;
    let beside = own.parent().unwrap_or(Path::new("."));
    let mut program = vec![ProgramFile { path: own.clone(), name: "ragonite".to_owned() }];
    if cfg!(feature = "portable") {
        add_libraries(&mut program, beside, gpu_handover::PORTABLE_LIBRARIES)?;
    }
    let cuda = beside.join(gpu_handover::PROGRAM);
    if cuda.is_file() {
        program.push(ProgramFile { path: cuda, name: gpu_handover::PROGRAM.to_owned() });
        add_libraries(&mut program, beside, gpu_handover::LIBRARIES)?;
    }
    program.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(program)
}

/// The files of a folder beside the program, where there is one.
fn add_libraries(program: &mut Vec<ProgramFile>, beside: &Path, folder: &str) -> Result<(), Failure> {
    let libraries = beside.join(folder);
    if !libraries.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&libraries).map_err(|error| unreadable(&error))? {
        let path = entry.map_err(|error| unreadable(&error))?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            let name = format!("{folder}/{}", name.to_string_lossy());
            program.push(ProgramFile { path, name });
        }
    }
    Ok(())
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::failed(Problem::of(error, "Check that the folder of the program can be read."))
}

/// Text of README.txt.
fn read_me(models: &[&CatalogModel], domains: &[DomainName], program: &[ProgramFile]) -> String {
    let names = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let beside = |file: &ProgramFile| file.name.split('/').next().unwrap_or(&file.name).to_owned();
    let mut taken_out: Vec<String> = program.iter().map(|file| format!("ragonite-bundle/{}", beside(file))).collect();
    taken_out.dedup();
    format!(
        "ragonite {}\n\n\
         Weights: {}\nDomains: {}\n\n\
         On the machine without network, with this file's archive called BUNDLE.tar:\n\n\
         \x20   tar --strip-components=1 -xf BUNDLE.tar {}\n\
         \x20   ./ragonite bundle install BUNDLE.tar\n\
         \x20   ./ragonite\n\n\
         The first line takes the program out of the archive, the second puts weights and domains into your data folder\n\
         and compares each file with its sha256. What is taken out stays together: where the program is moved, its folders\n\
         go with it.\n\n\
         {RUNS_ON}\nIt needs a system as recent as the one it was built on (glibc).\n",
        env!("CARGO_PKG_VERSION"),
        names(models.iter().map(|model| model.id.clone()).collect()),
        names(domains.iter().map(DomainName::to_string).collect()),
        taken_out.join(" "),
    )
}

fn licences(models: &[&CatalogModel]) -> String {
    let mut text = String::new();
    for model in models {
        let _ = writeln!(text, "The weights of {}: {}", model.id, model.licence);
    }
    let _ = writeln!(text, "llama.cpp in the program, and its libraries libllama and libggml: MIT, the ggml authors.");
    if cfg!(feature = "portable") {
        let _ = writeln!(
            text,
            "libgomp, libstdc++ and libgcc_s in {}: GPL-3.0 with the GCC Runtime Library Exception.",
            gpu_handover::PORTABLE_LIBRARIES
        );
    }
    let _ = writeln!(text, "The program: Apache-2.0, as follows.\n\n{LICENCE}");
    text
}

fn several(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn tell(progress: &BundleProgress<'_>, output: &mut Output) {
    let doing = match progress.doing {
        Doing::Checking => "checking",
        Doing::Copying => "copying",
        Doing::Packing => "packing",
        Doing::Unpacking => "unpacking",
    };
    let (done, total) = (megabytes(progress.done), megabytes(progress.total));
    let so_far = if progress.total == 0 { String::new() } else { format!("{done:.0} of {total:.0} MB, ") };
    output.progress(&format!("{doing}: {so_far}{}", progress.file));
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Canceled(_) => Self::canceled(),
            BundleError::Index(error) => error.into(),
            BundleError::Weights(error) => error.into(),
            BundleError::Exists { .. } | BundleError::NoBundle { .. } | BundleError::NewerFormat { .. } => {
                Self::usage(problem(&error))
            }
            error => Self::failed(problem(&error)),
        }
    }
}
