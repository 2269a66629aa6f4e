//! German texts of actions and keys; the English texts are in `action` and `chord`.

use crossterm::event::KeyCode;

use super::{Words, texts};
use crate::action::Action;
use ragonite_base::Language;

texts! { KEYS
    control = "Ctrl+", "Strg+";
    alt = "Alt+", "Alt+";
    shift = "Shift+", "Umsch+";
}

impl Words {
    /// Text of an action for help and palette.
    pub(crate) fn label_of(self, action: Action) -> &'static str {
        match self.language() {
            Language::English => action.label(),
            Language::German => german(action).1,
        }
    }

    /// Text of an action for the footer, one or two words.
    pub(crate) fn hint(self, action: Action) -> &'static str {
        match self.language() {
            Language::English => action.hint(),
            Language::German => german(action).0,
        }
    }

    /// Name of a named key; `english` is its name in English and in the configuration.
    pub(crate) fn key(self, key: KeyCode, english: &'static str) -> &'static str {
        match (self.language(), key) {
            (Language::German, KeyCode::Char(' ')) => "Leertaste",
            (Language::German, KeyCode::Up) => "Auf",
            (Language::German, KeyCode::Down) => "Ab",
            (Language::German, KeyCode::Left) => "Links",
            (Language::German, KeyCode::Right) => "Rechts",
            (Language::German, KeyCode::PageUp) => "Bild↑",
            (Language::German, KeyCode::PageDown) => "Bild↓",
            (Language::German, KeyCode::Home) => "Pos1",
            (Language::German, KeyCode::End) => "Ende",
            (Language::German, KeyCode::Backspace) => "Rücktaste",
            (Language::German, KeyCode::Delete) => "Entf",
            (Language::German, KeyCode::Insert) => "Einfg",
            _ => english,
        }
    }
}

/// Texts for the footer, and for help and palette.
fn german(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::Send => ("senden", "Frage senden"),
        Action::Newline => ("neue Zeile", "neue Zeile in der Frage"),
        Action::Back => ("zurück", "schließen; Laufendes abbrechen; sonst zurück"),
        Action::Cancel => ("abbrechen", "Laufendes abbrechen; zweimal beendet"),
        Action::Quit => ("beenden", "Programm beenden"),
        Action::Help => ("Hilfe", "diese Liste und die Anleitung"),
        Action::NewConversation => ("neu", "neues Gespräch"),
        Action::WriteQuestion => ("Frage", "eine Frage schreiben, auch wenn etwas läuft"),
        Action::Explain => ("erklären", "gewählte Antwort erklären"),
        Action::ExplainBySimilarity => ("Ähnlichkeit", "nach Ähnlichkeit erklären (schnell, grob)"),
        Action::ExplainByPreview => ("Vorschau", "mit einer Vorschau erklären (Schätzung)"),
        Action::ExplainByLogprob => ("Log-Wahrscheinlichkeit", "nach Log-Wahrscheinlichkeit erklären, exakt"),
        Action::ExplainByJsd => ("Divergenz", "nach Divergenz je Quelle erklären"),
        Action::PreviousSentence => ("Satz davor", "Erklärung: der Satz davor"),
        Action::NextSentence => ("nächster Satz", "Erklärung: der nächste Satz der Antwort"),
        Action::PreviousCitation => ("voriger Verweis", "voriger Quellenverweis der Antwort"),
        Action::NextCitation => ("nächster Verweis", "nächster Quellenverweis; Enter zur Quelle"),
        Action::Edit => ("Frage bearbeiten", "vervollständigte Frage ändern, neu stellen"),
        Action::AskFirst => ("Frage 1", "erste Anschlussfrage stellen"),
        Action::AskSecond => ("Frage 2", "zweite Anschlussfrage stellen"),
        Action::AskThird => ("Frage 3", "dritte Anschlussfrage stellen"),
        Action::RateUp => ("gut", "Antwort gut bewerten; erneut nimmt zurück"),
        Action::RateDown => ("schlecht", "Antwort schlecht bewerten, mit Grund"),
        Action::Copy => ("kopieren", "Antwort, Beleg, Schritt, Ablauf kopieren"),
        Action::Export => ("ausgeben", "Frage oder Gespräch in Datei oder kopieren"),
        Action::Branch => ("abzweigen", "abzweigen: ab hier in neuem Gespräch weiter"),
        Action::SaveAgain => ("erneut speichern", "nicht Gespeichertes erneut speichern"),
        Action::Check => ("als Prüffrage", "als Prüffrage für eval in questions.toml"),
        Action::Compare => ("vergleichen", "Frage anders stellen und vergleichen"),
        Action::Context => ("im Kontext", "Beleg im Kontext; Ränge ohne Teile davon"),
        Action::OpenDocument => ("Dokument", "ganzes Dokument des Belegs lesen"),
        Action::Palette => ("Aktionen", "Aktion nach Wörtern finden"),
        Action::Settings => ("Einstellungen", "Einstellungen der Domäne"),
        Action::NewDomain => ("neue Domäne", "Domäne aus einem Ordner anlegen"),
        Action::RefreshDomain => ("neu einlesen", "Dateien der Domäne neu einlesen"),
        Action::StopIngest => ("Einlesen beenden", "Einlesen beenden; Gespeichertes bleibt"),
        Action::NextTheme => ("nächstes Farbschema", "nächstes Farbschema bis zum Programmende"),
        Action::Search => ("suchen", "Text suchen; in den Listen: alle Gespräche"),
        Action::NextMatch => ("nächste Stelle", "zur nächsten Fundstelle"),
        Action::PreviousMatch => ("vorige Stelle", "zur vorigen Fundstelle"),
        Action::NextPane => ("nächster Bereich", "nächster Bereich"),
        Action::PreviousPane => ("voriger Bereich", "voriger Bereich"),
        Action::ShowConversation => ("Gespräch", "zum Gespräch"),
        Action::ShowEvidence => ("Belege", "zu den Belegen"),
        Action::ShowBehind => ("Ablauf", "zum Ablauf: jeder Schritt der Antwort"),
        Action::ShowWhy => ("Erklärung", "zur Erklärung: warum diese Antwort"),
        Action::ShowLists => ("Domänen", "zu Domänen und Gesprächen"),
        Action::Enlarge => ("vergrößern", "Bereich vergrößern oder wieder alle zeigen"),
        Action::Hide => ("Bereich ausblenden", "Bereich daneben aus- oder einblenden"),
        Action::BorderLeft => ("Grenze links", "Grenze der Bereiche nach links"),
        Action::BorderRight => ("Grenze rechts", "Grenze der Bereiche nach rechts"),
        Action::PreviousTurn => ("vorige Frage", "vorige Frage wählen"),
        Action::NextTurn => ("nächste Frage", "nächste Frage wählen"),
        Action::Up => ("hoch", "nach oben"),
        Action::Down => ("runter", "nach unten"),
        Action::First => ("Anfang", "zum Anfang"),
        Action::Last => ("Ende", "zum Ende, neuem Text folgen"),
        Action::PageUp => ("Seite hoch", "eine Seite nach oben"),
        Action::PageDown => ("Seite runter", "eine Seite nach unten"),
        Action::HalfPageUp => ("halbe Seite hoch", "eine halbe Seite nach oben"),
        Action::HalfPageDown => ("halbe Seite runter", "eine halbe Seite nach unten"),
        Action::Left => ("links", "breite Tabelle nach links"),
        Action::Right => ("rechts", "breite Tabelle nach rechts"),
        Action::Toggle => ("öffnen", "Gewähltes öffnen oder schließen"),
        Action::Rename => ("umbenennen", "Gespräch umbenennen"),
        Action::Pin => ("anheften", "Gespräch anheften oder lösen"),
        Action::Delete => ("in den Papierkorb", "Gespräch in den Papierkorb; dort endgültig"),
    }
}
