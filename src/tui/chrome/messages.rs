//! Texts of the tab bar, the problem, the status line and the hint line; the running stage.
//!
//! Not here: notices and refusals (`notices`); hints of one popup (`messages` in its folder).

use crate::messages::{Noun, Words, texts};
use ragonite_config::{GpuFit, GpuUnavailable, ProfileReason};

texts! { CHROME
    offline = " offline ", " offline ";
    no_domain = "no domain", "keine Domäne";
    models_missing = "models missing", "Modelle fehlen";
    ready = "ready", "bereit";
    enlarged(back: &str) = "enlarged, {back} shows all ", "vergrößert, {back} zeigt alle ";
    dismisses(key: &str) = "  ({key}\u{a0}dismisses)", "  ({key}\u{a0}schließt)";
    leaves(key: &str) = " {key} again leaves", " {key} noch einmal: beenden";

    in_memory(size: &str) = "{size} in memory", "{size} im Speicher";
    layers_on(some: &str, all: &str, gpu: &str) = "{some} of {all} layers on {gpu}", "{some} von {all} Schichten auf {gpu}";
    no_gpu = "no GPU", "ohne GPU";
    little_gpu = "less than 10 GB free on the GPU", "weniger als 10 GB auf der GPU frei";
    no_weights_for_gpu = "the weights of full are not here", "die Gewichte von full fehlen";
    enough_gpu = "a GPU with 10 GB free", "GPU mit 10 GB frei";
    no_driver = "no NVIDIA driver", "ohne NVIDIA-Treiber";
    driver_fails = "the NVIDIA driver fails", "NVIDIA-Treiber versagt";
    no_nvidia_gpu = "no NVIDIA GPU", "ohne NVIDIA-GPU";
    cuda_not_started = "ragonite-cuda does not start", "ragonite-cuda startet nicht";
    cuda_other_version = "ragonite-cuda is another version", "ragonite-cuda hat eine andere Version";
    gpu_not_wanted = "the device is set to cpu", "als Gerät ist cpu gesetzt";
    nothing_to_compute = "nothing to compute", "nichts zu rechnen";
    by_command_line = "asked for on the command line", "von der Befehlszeile";
    by_configuration = "set in the configuration file", "aus der Konfiguration";

    reading(domain: &str) = "reading {domain}…", "{domain} wird eingelesen…";
    stopping_to_read(domain: &str) = "stopping to read {domain}…", "Einlesen von {domain} wird beendet…";
    reading_files(domain: &str, done: &str, files: &str) =
        "reading {domain}: {done} of {files}", "{domain} wird eingelesen: {done} von {files}";
    indexing(domain: &str) = "indexing {domain}…", "{domain} wird indexiert…";

    loading(model: &str) = "loading {model}", "{model} wird geladen";
    loading_first(model: &str) = "loading {model}…", "{model} wird geladen…";
    answers_not_stored(count: usize) = "! {count} not stored", "! {count} nicht gespeichert";
    elsewhere = "another conversation: ", "anderes Gespräch: ";
    stopping = "stopping…", "wird abgebrochen…";
    rewriting = "rewriting…", "Frage wird vervollständigt…";
    searching_for(question: &str) = "searching for: {question}", "Suche nach: {question}";
    writing = "writing…", "Antwort wird geschrieben…";
    building_prompt = "building the prompt…", "Prompt wird erstellt…";
    reading_prompt(sources: &str, tokens: &str, percent: &str) =
        "reading {sources}, {tokens}…{percent}", "Lesen von {sources}, {tokens}…{percent}";
    explaining(done: usize, clusters: &str) = "explaining: {done} of {clusters}", "Erklärung: {done}/{clusters}";
    in_background(doing: &str) = "meanwhile {doing}", "nebenbei {doing}";
    explaining_first = "explaining: the first cluster…", "Erklärung: erster Cluster…";

    close = "close", "schließen";
    do_it = "do it", "ausführen";
    done = "done", "fertig";
    leave_it = "leave it", "verwerfen";
    choose = "choose", "wählen";
    next = "next", "nächster";
    previous = "previous", "voriger";
    more_next = "more, next", "mehr, danach";
    stop = "stop", "abbrechen";
    end = "end", "beenden";
}

impl Words {
    /// The device, as in `CPU, 2 threads` or `20 of 29 layers on NVIDIA H100`.
    pub(crate) fn device(self, summary: &str) -> String {
        let part = |part: &str| {
            let threads = part.strip_suffix(" threads").or_else(|| part.strip_suffix(" thread"));
            if let Some(number) = threads.and_then(|number| number.parse().ok()) {
                return self.counted(number, Noun::Thread);
            }
            let layers =
                part.split_once(" layers on ").and_then(|(layers, gpu)| Some((layers.split_once(" of ")?, gpu)));
            layers.map_or_else(|| part.to_owned(), |((some, all), gpu)| self.layers_on(some, all, gpu))
        };
        summary.split(", ").map(part).collect::<Vec<_>>().join(", ")
    }

    /// Why this profile was chosen.
    pub(crate) fn profile_reason(self, reason: ProfileReason) -> &'static str {
        match reason {
            ProfileReason::CommandLine => self.by_command_line(),
            ProfileReason::Configuration => self.by_configuration(),
            ProfileReason::Machine(room) => self.gpu_room(room),
        }
    }

    fn gpu_room(self, room: GpuFit) -> &'static str {
        match room {
            GpuFit::NotBuilt | GpuFit::NoGpu => self.no_gpu(),
            GpuFit::Little => self.little_gpu(),
            GpuFit::NoWeights => self.no_weights_for_gpu(),
            GpuFit::Enough => self.enough_gpu(),
            GpuFit::OfNoUse(reason) => match reason {
                GpuUnavailable::NoDriver => self.no_driver(),
                GpuUnavailable::DriverFails => self.driver_fails(),
                GpuUnavailable::NoGpu => self.no_nvidia_gpu(),
                GpuUnavailable::NotStarted => self.cuda_not_started(),
                GpuUnavailable::OtherVersion => self.cuda_other_version(),
                GpuUnavailable::NotWanted => self.gpu_not_wanted(),
                GpuUnavailable::NothingToCompute => self.nothing_to_compute(),
            },
        }
    }
}
