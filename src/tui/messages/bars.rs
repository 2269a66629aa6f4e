//! The bars around the panes, the composer, the running stage, and the token budget.

use super::{Noun, Words, texts};
use ragonite_config::{GpuFit, GpuUnavailable, ProfileReason};

texts! { BARS
    offline = " offline ", " offline ";
    no_domain = "no domain", "keine Domäne";
    models_missing = "models missing", "Modelle fehlen";
    ready = "ready", "bereit";
    enlarged(back: &str) = "enlarged, {back} shows all ", "vergrößert, {back} zeigt alle ";
    dismisses(key: &str) = "  ({key}\u{a0}dismisses)", "  ({key}\u{a0}schließt)";
    leaves(key: &str) = " {key} again leaves", " {key} noch einmal: beenden";
    found_of(text: &str, at: usize, of: usize) = "“{text}” {at} of {of}  ", "„{text}“ {at} von {of}  ";
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

    completed_question = "Completed question", "Vervollständigte Frage";
    asks_again(send: &str, back: &str) =
        " {send} asks again · {back} leaves it ", " {send} fragt erneut · {back} verwirft ";
    sends(send: &str, newline: &str) = " {send} sends · {newline} new line ", " {send} sendet · {newline} neue Zeile ";
    write_while_another_is_answered(stop: &str) =
        "write on; another conversation is being answered, {stop} stops that",
        "anderes Gespräch läuft, {stop} bricht ab";
    write_on(stop: &str) =
        "{stop} stops it; the next question can be written", "{stop} bricht ab; weiterschreiben geht schon";
    ask_about(domain: &str) = "Ask something about {domain}", "Frage zu {domain} stellen";
    ask_on = "Ask on; the question may refer to what was said", "Weiterfragen; Bezug auf Gesagtes ist möglich";
    see_above = "Models are missing; see above", "Modelle fehlen, siehe oben";
    open_domain_first = "Open a domain first", "Zuerst eine Domäne öffnen";

    about_so_many(parts: &str, context: &str) = " about {parts} of {context} ", " etwa {parts} von {context} ";
    about_too_many(parts: &str, context: &str) =
        " about {parts} too much for {context} ", " etwa {parts} zu viel für {context} ";
    left_out = "left out", "weggelassen";
    another_version = "left out, another version", "weggelassen, andere Fassung";
    shortened = "shortened", "gekürzt";
    without_neighbours = "without text that stands elsewhere", "ohne Text, der anderswo steht";
    cut(told: &str, tokens: &str) = " · cut: {told}, {tokens}", " · Kürzung: {told}, {tokens}";
    share_system = "system", "System";
    share_history = "history", "Verlauf";
    share_evidence = "evidence", "Belege";
    share_question = "question", "Frage";
    share_answer = "answer", "Antwort";
    short_system = "sys", "Sys";
    short_history = "hist", "Verl";
    short_evidence = "evid", "Bel";
    short_question = "q", "Fr";
    short_answer = "ans", "Antw";

    close = "close", "schließen";
    do_it = "do it", "ausführen";
    done = "done", "fertig";
    leave_it = "leave it", "verwerfen";
    without_words = "rate without words", "ohne Worte bewerten";
    next_make_it = "next, make it", "weiter, anlegen";
    other_line = "other line", "andere Zeile";
    choose = "choose", "wählen";
    keep_it = "keep it", "behalten";
    take_it = "take it", "übernehmen";
    leave_as_it_was = "leave it as it was", "unverändert lassen";
    less_before = "less, before", "weniger, davor";
    more_next = "more, next", "mehr, danach";
    type_it = "type it", "eintippen";
    as_configured_hint = "as configured", "wie konfiguriert";
    ask_again_compare = "ask again, compare", "fragen, vergleichen";
    as_it_was = "as it was", "wie vorher";
    stop = "stop", "abbrechen";
    end = "end", "beenden";
    source_before = "source before", "Quelle davor";
    next_source = "next source", "Quelle danach";
    look_for_it = "look for it", "suchen";
    next = "next", "nächster";
    previous = "previous", "voriger";
    ask_again = "ask again", "erneut fragen";
    scroll_table = "scroll table", "Tabelle verschieben";
    in_memory(size: &str) = "{size} in memory", "{size} im Speicher";
    layers_on(some: &str, all: &str, gpu: &str) = "{some} of {all} layers on {gpu}", "{some} von {all} Schichten auf {gpu}";
    to_its_source = "to its source", "zur Quelle";
    to_its_citation = "to the answer", "zur Antwort";
    all_conversations = "all conversations", "alle Gespräche";
    restore = "restore", "zurückholen";
    remove_for_good = "remove for good", "endgültig löschen";
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

    /// Names of the token budget: instructions, history, evidence, question, answer.
    pub(crate) fn shares(self) -> [&'static str; 5] {
        [self.share_system(), self.share_history(), self.share_evidence(), self.share_question(), self.share_answer()]
    }

    /// Like [`Words::shares`], shorter.
    pub(crate) fn short_shares(self) -> [&'static str; 5] {
        [self.short_system(), self.short_history(), self.short_evidence(), self.short_question(), self.short_answer()]
    }
}
