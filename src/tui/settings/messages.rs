//! Texts of the settings popup, and the German names and descriptions of the settings.
//!
//! Not here: the English names and descriptions (`config`).

use crate::messages::{Words, texts};
use ragonite_base::Language;
use ragonite_config::{Group, Refused, Setting, Takes};

/// Largest width of a name: the column in the trace pane.
#[cfg(test)]
pub(crate) const LABEL: usize = 17;

texts! { SETTINGS
    settings_of(domain: &str) = "Settings of {domain}", "Einstellungen von {domain}";
    ask_turn_again_with(turn: u32) = "Ask turn {turn} again with", "Frage {turn} noch einmal mit";
    so_many_changed(changed: usize) = " * {changed} changed ", " * {changed} geändert ";
    needs_new_ingest =
        "What needs a new ingest (embedder, splitting, tables) is set in config.toml",
        "Was neues Einlesen braucht, steht in config.toml";
    for_this_question =
        "For this question only; the settings of the domain stay as they are",
        "Nur für diese Frage; die der Domäne bleiben unverändert";
    retriever = "Retriever", "Suche";
    generator = "Generator", "Antwort";
    attribution = "Attribution", "Erklärung";
    no_reranker = "the profile has no reranker", "kein Modell";
    was(value: &str) = "was: {value}", "vorher {value}";
    configured(value: &str) = "configured: {value}", "statt {value}";

    take_it = "take it", "übernehmen";
    leave_as_it_was = "leave it as it was", "unverändert lassen";
    less_before = "less, before", "weniger, davor";
    type_it = "type it", "eintippen";
    as_configured_hint = "as configured", "wie konfiguriert";
    ask_again_compare = "ask again, compare", "fragen, vergleichen";
    as_it_was = "as it was", "wie vorher";
}

impl Words {
    /// The name of a setting.
    pub(crate) fn label(self, setting: Setting) -> &'static str {
        match self.language() {
            Language::English => setting.label(),
            Language::German => german(setting).0,
        }
    }

    /// Description of a setting in one line.
    pub(crate) fn what_setting(self, setting: Setting) -> &'static str {
        match self.language() {
            Language::English => setting.description(),
            Language::German => german(setting).1,
        }
    }

    pub(crate) fn group(self, group: Group) -> &'static str {
        match group {
            Group::Retriever => self.retriever(),
            Group::Generator => self.generator(),
            Group::Attribution => self.attribution(),
        }
    }

    /// Valid values of a setting, as in the configuration.
    pub(crate) fn needed(self, setting: Setting) -> String {
        if self.language() == Language::English {
            return setting.needed();
        }
        match setting.takes() {
            Takes::OneOf(words) => listed(words),
            Takes::SomeOf(words, _) => format!("{}, auch mehrere mit Komma", listed(words)),
            Takes::Generator => "profile oder ein Generator, der hier ist (`ragonite models list`)".to_owned(),
            Takes::Count(least, most, _) => format!("ganze Zahl von {least} bis {most}"),
            Takes::Number(least, most, _) => format!("Zahl von {least} bis {most}, mit Punkt, etwa {}", least.max(0.5)),
        }
    }

    /// Why a value was refused.
    pub(crate) fn refused(self, refused: &Refused) -> String {
        match (self.language(), Setting::of_key(refused.key)) {
            (Language::German, Some(setting)) => {
                format!("{} kann nicht `{}` sein: {}", refused.key, refused.found, self.needed(setting))
            }
            _ => refused.to_string(),
        }
    }
}

/// `a, b oder c`.
fn listed(words: &[&str]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => format!("{} oder {last}", most.join(", ")),
        _ => words.concat(),
    }
}

/// Name, and description in at most 55 cells.
fn german(setting: Setting) -> (&'static str, &'static str) {
    match setting {
        Setting::Sources => ("Quellen", "so viele der besten Treffer gehen an den Prompt (k)"),
        Setting::Mode => ("Suchart", "semantisch (dense), lexikalisch (lexical) oder beides"),
        Setting::Fusion => ("Fusion", "Listen der Suchen vereinen: nach Wert oder Rang (rrf)"),
        Setting::RrfK => ("k der Fusion", "k von rrf: je kleiner, desto mehr zählen erste Ränge"),
        Setting::Rerank => ("Reranking", "ob der Reranker des Profils die Treffer ordnet"),
        Setting::Context => ("Kontext", "Kontext, den das Modell mit jeder Quelle liest"),
        Setting::Kinds => ("Belegarten", "Arten von Belegen, die gesucht werden"),
        Setting::Copies => ("Kopien", "gleichlautende Belege: ein Treffer, oder jeder einer"),
        Setting::Translate => ("Übersetzung", "Frage auch in der Sprache der Dokumente suchen"),
        Setting::Model => ("Modell", "welches Modell schreibt; profile: das des Profils"),
        Setting::Language => ("Sprache", "Sprache der Antworten; auto: die der Frage"),
        Setting::Abstain => ("Enthaltung", "strict: auch wenn die Quellen die Antwort nicht stützen"),
        Setting::Temperature => ("Temperatur", "0: immer das wahrscheinlichste Token; darüber Zufall"),
        Setting::Seed => ("Startwert", "macht gezogene Token wiederholbar"),
        Setting::AnswerWithoutMatch => ("ohne Treffer", "ob das Modell antwortet, wenn kein Dokument passt"),
        Setting::AnswerTokens => ("Antwortlänge", "Token höchstens je Antwort; im Prompt bleiben sie frei"),
        Setting::EvidenceTokens => ("Beleglänge", "Token höchstens für alle Belege im Prompt zusammen"),
        Setting::Method => ("Methode", "wie ohne andere Taste erklärt wird"),
        Setting::Eps => ("eps", "Quellen mit kleinerem Kosinusabstand sind ein Cluster"),
        Setting::MinPoints => ("Mindestzahl", "ab so vielen Nachbarn (mit sich) ist eine Quelle Kern"),
        Setting::Iterations => ("Wiederholungen", "Antworten je Cluster; mehr nur bei Temperatur über 0"),
        Setting::ShareTemperature => ("Anteilstemperatur", "je kleiner, desto mehr sticht der größte Beitrag hervor"),
        Setting::GroupTest => ("Gruppentest", "auto lässt kaum wichtige Quellen zuerst gemeinsam weg"),
        Setting::EstimateFirst => ("Schätzung zuerst", "zeigt vor den exakten Werten eine Schätzung je Cluster"),
    }
}
