//! `ragonite doctor`: capabilities of this machine, missing parts, and proof that nothing can reach the network.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use crate::gpu_handover::CpuReason;
use ragonite_config::Setting;
use ragonite_history::History;
use ragonite_inference::{DeviceChoice, Gpu, InferenceError, MemoryNeeds, Placement, available_memory, machine_memory};
use ragonite_llama::{LlamaGenerator, device_summary, gpus, kernel_features};
use ragonite_workers::problem;

#[derive(Serialize)]
struct DoctorJson {
    version: &'static str,
    network_code: bool,
    device: String,
    /// CPU features used by llama.cpp's kernels; none where they are missing.
    kernels: Option<Vec<String>>,
    gpu: String,
    gpus: Vec<GpuJson>,
    memory_gb: Option<f64>,
    memory_free_gb: Option<f64>,
    generator_needs_gb: Option<f64>,
    generator_gpu_layers: Option<u64>,
    generator_layers: Option<u64>,
    #[serde(skip)]
    needed: Option<(MemoryNeeds, Option<Placement>)>,
    profile: String,
    profile_reason: &'static str,
    models: Vec<ModelState>,
    data_dir: PathBuf,
    data_writable: bool,
    history: String,
    domains: usize,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct GpuJson {
    id: String,
    name: String,
    memory_gb: f64,
    memory_free_gb: f64,
}

#[derive(Serialize)]
struct ModelState {
    id: String,
    present: bool,
}

pub(super) fn run(start: &CommandContext, output: &mut Output) -> Result<Exit, Failure> {
    let found = examine(start)?;
    match output.form() {
        Form::Json => output.json(&found)?,
        Form::Text => output.text(&text(&found))?,
    }
    Ok(if found.problems.is_empty() { Exit::Done } else { Exit::Usage })
}

fn examine(start: &CommandContext) -> Result<DoctorJson, Failure> {
    let mut problems = Vec::new();
    let folders = start.folders();
    let mut models = Vec::new();
    for id in start.profile.profile.model_ids_with(start.generator_id()) {
        let present = folders.has(start.catalog.model(id)?);
        if !present {
            problems.push(format!("The model `{id}` is missing or not whole. `ragonite models list` says more."));
        }
        models.push(ModelState { id: id.to_owned(), present });
    }
    let needed = generator_needs(start, &mut problems)?;
    let data_writable = writable(&start.paths.data);
    if !data_writable {
        problems.push(format!("`{}` cannot be written. Use --data-dir.", start.paths.data.display()));
    }
    let history = history(start, &mut problems);
    let kernels = kernel_features().map_err(|error| problems.push(problem(&error).to_string())).ok();
    let gpus = gpus(start.device)?;
    let placement = || needed.as_ref().and_then(|(_, placement)| placement.as_ref());
    let domains = ragonite_index::list_domains(&start.paths.domains())?.len();
    problems.extend(models_of_domains(start)?);
    Ok(DoctorJson {
        version: env!("CARGO_PKG_VERSION"),
        network_code: cfg!(feature = "hub"),
        device: device_summary(start.device),
        kernels,
        gpu: gpu_line(start, &gpus),
        gpus: gpus.iter().map(gpu_json).collect(),
        memory_gb: machine_memory().map(billions),
        memory_free_gb: available_memory().map(billions),
        generator_needs_gb: needed.as_ref().map(|(needed, _)| billions(needed.total())),
        generator_gpu_layers: placement().map(|placement| placement.layers),
        generator_layers: placement().map(|placement| placement.of),
        needed,
        profile: start.profile.profile.name.clone(),
        profile_reason: start.profile.why.label(),
        models,
        data_dir: start.paths.data.clone(),
        data_writable,
        history,
        domains,
        problems,
    })
}

/// The GPUs in use, or why none is.
fn gpu_line(start: &CommandContext, gpus: &[Gpu]) -> String {
    if !gpus.is_empty() {
        return gpus.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    }
    match (&start.cpu_reason, start.device) {
        (_, DeviceChoice::Cpu) => format!("none is used: {}", CpuReason::Chosen(DeviceChoice::Cpu)),
        (CpuReason::ThisIsFor(kind), _) => format!("none was found by {kind}"),
        (reason, _) => format!("none is used: {reason}"),
    }
}

fn gpu_json(gpu: &Gpu) -> GpuJson {
    let (memory_gb, memory_free_gb) = (billions(gpu.memory), billions(gpu.free));
    GpuJson { id: gpu.id.clone(), name: gpu.name.clone(), memory_gb, memory_free_gb }
}

fn history(start: &CommandContext, problems: &mut Vec<String>) -> String {
    let path = start.paths.history();
    if !path.exists() {
        return "none yet".to_owned();
    }
    match History::open(&path).and_then(|history| history.conversations(None)) {
        Ok(conversations) => format!("{} conversations", conversations.len()),
        Err(error) => {
            problems.push(format!("The history cannot be read: {error}."));
            "unreadable".to_owned()
        }
    }
}

/// Whether a file can be made in the folder, or in the nearest folder above it that exists.
/// Missing generators of the domains.
fn models_of_domains(start: &CommandContext) -> Result<Vec<String>, Failure> {
    let mut problems = Vec::new();
    for domain in ragonite_index::list_domains(&start.paths.domains())? {
        let domain = domain.name;
        let id = start.generator_of(&domain);
        let is_here = start.catalog.model(&id).is_ok_and(|model| start.folders().has(model));
        if id != start.generator_id() && !is_here {
            problems.push(format!(
                "The domain `{domain}` answers with `{id}`, which is missing or not whole. `ragonite domain set {domain} \
                 --setting {}=profile` takes that of the profile.",
                Setting::Model.key()
            ));
        }
    }
    Ok(problems)
}

fn writable(folder: &std::path::Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else { return false };
    folder.ancestors().find(|folder| folder.is_dir()).is_some_and(|folder| tempfile::tempfile_in(folder).is_ok())
}

/// Memory needs and GPU placement of the generator, where present; reports problems.
fn generator_needs(
    start: &CommandContext,
    problems: &mut Vec<String>,
) -> Result<Option<(MemoryNeeds, Option<Placement>)>, Failure> {
    let model = start.catalog.model(start.generator_id())?;
    let Some(path) = model.weights().ok().and_then(|file| start.folders().seen(model, file)) else { return Ok(None) };
    let settings = start.generator_settings();
    let placed = LlamaGenerator::needs(&model.id, &path, &settings)
        .and_then(|needed| Ok((needed, LlamaGenerator::placement_for(&model.id, &path, &settings)?)));
    let (all, placement) = match placed {
        Ok(placed) => placed,
        Err(error) => {
            problems.push(problem(&error).to_string());
            return Ok(None);
        }
    };
    let needed = placement.as_ref().map_or(all, |placement| placement.beside(&all));
    if let Err(short) = LlamaGenerator::fits_address_space(&model.id, &needed, &start.generator_settings()) {
        problems.push(problem(&short).to_string());
    }
    let available = available_memory();
    if available.is_some_and(|available| available < needed.total()) {
        let short = InferenceError::OutOfMemory { model: model.id.clone(), needed, available };
        problems.push(problem(&short).to_string());
    }
    Ok(Some((all, placement)))
}

/// Bytes in billions, to a tenth.
fn billions(bytes: u64) -> f64 {
    (bytes as f64 / 1e8).round() / 10.0
}

fn text(found: &DoctorJson) -> String {
    let mut text = format!("ragonite {}\n", found.version);
    let network = if found.network_code {
        "this build can fetch models with `ragonite models pull`; nothing else in it opens a socket"
    } else {
        "none: this build has no network code and no network crate"
    };
    let mut memory = found.memory_gb.map_or_else(|| "unknown".to_owned(), |gigabytes| format!("{gigabytes} GB"));
    if let Some(free) = found.memory_free_gb {
        let _ = write!(memory, ", {free} GB free");
    }
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    line("network", network);
    line("device", &found.device);
    if let Some(kernels) = &found.kernels {
        line("kernels", &kernels.join(", "));
    }
    line("GPU", &found.gpu);
    line("memory", &memory);
    line("profile", &format!("{} ({})", found.profile, found.profile_reason));
    for model in &found.models {
        line("model", &format!("{} {}", model.id, if model.present { "is here" } else { "is missing" }));
    }
    if let Some((needed, placement)) = &found.needed {
        let on_gpus = placement.as_ref().map_or_else(String::new, |placement| format!("; {placement}"));
        line("generator", &format!("needs {needed}{on_gpus}"));
    }
    line("data", &found.data_dir.display().to_string());
    line("history", &found.history);
    match found.domains {
        0 => line("domains", "none yet; make one with `ragonite ingest --domain NAME FOLDER`, or try `ragonite demo`"),
        some => line("domains", &some.to_string()),
    }
    if found.problems.is_empty() {
        text.push_str("Everything that is needed is here.\n");
    }
    for problem in &found.problems {
        let _ = writeln!(text, "  ! {problem}");
    }
    text
}
