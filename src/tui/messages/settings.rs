//! German names and descriptions of the settings; the English ones are in `config`.

use super::Words;
use ragonite_base::Language;
use ragonite_config::Setting;

/// Largest width of a name: the column in the trace pane.
#[cfg(test)]
pub(super) const LABEL: usize = 17;

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
        Setting::Temperature => ("Temperatur", "0: immer das wahrscheinlichste Token; darüber Zufall"),
        Setting::Seed => ("Startwert", "macht gezogene Token wiederholbar"),
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
