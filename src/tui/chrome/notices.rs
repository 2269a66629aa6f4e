//! Texts of notices and refusals.
//!
//! Not here: which there are (`app`), where they are shown (`hints`, `banner`).

use crate::messages::{Noun, Words, texts};
use ragonite_app::{Copied, CopyWay, FetchSupport, Notice, Problem, Refusal};
use ragonite_base::{Language, clean_line};
use ragonite_eval::ExportedCase;
use ragonite_index::{IngestReport, Skipped};

texts! { NOTICES
    rating_taken_back = "rating taken back", "Bewertung zurückgenommen";
    moved_to_trash = "moved to the trash", "in den Papierkorb verschoben";
    taken_from_trash = "taken out of the trash", "aus dem Papierkorb geholt";
    removed_for_good = "removed for good", "endgültig entfernt";
    now_theme(name: &str) =
        "theme {name}, until the program ends; `theme` in config.toml keeps one",
        "Farbschema {name} bis zum Programmende; `theme` in config.toml behält eines";
    all_stored = "everything is stored", "alles ist gespeichert";
    stopped_reading(domain: &str) =
        "stopped; what was stored of {domain} stays", "beendet; was von {domain} gespeichert ist, bleibt";
    wrote(file: &str) = "wrote {file}", "{file} geschrieben";
    the_answer = "the answer", "Antwort";
    selected_evidence = "the evidence", "Beleg";
    whole_conversation = "the conversation", "Gespräch";
    the_step = "the step", "Schritt";
    the_turn = "the turn", "Frage mit Antwort";
    the_comparison = "the comparison", "Vergleich";
    copied_by(what: &str, tool: &str) = "copied {what} with {tool}", "{what} kopiert mit {tool}";
    copied_by_terminal(what: &str) =
        "gave {what} to the terminal to copy (OSC 52)", "{what} dem Terminal zum Kopieren gegeben (OSC 52)";
    too_long_to_copy(what: &str) =
        "{what} is too long to copy through the terminal: write it to a file instead",
        "{what} ist zu lang zum Kopieren über das Terminal: stattdessen in eine Datei schreiben";
    write_to_file = "Write it to a file instead.", "Stattdessen in eine Datei schreiben.";
    count_new(count: usize) = ", {count} new", ", {count} neu";
    count_changed(count: usize) = ", {count} changed", ", {count} geändert";
    count_removed(count: usize) = ", {count} removed", ", {count} entfernt";
    count_unread(count: usize, names: &str) = ", {count} not read ({names})", ", {count} nicht lesbar ({names})";
    count_kept(count: usize) =
        ", {count} kept whose folder is not there", ", {count} behalten, deren Ordner fehlt";
}

impl Words {
    /// What to do where a text cannot be copied.
    pub fn copying_failed(self) -> &'static str {
        self.write_to_file()
    }

    /// A notice on one line.
    pub(crate) fn notice(self, notice: &Notice) -> String {
        match notice {
            Notice::Rated(Some(feedback)) => self.rated(&self.feedback(feedback)),
            Notice::Rated(None) => self.rating_taken_back().to_owned(),
            Notice::Read(report) => self.read(report),
            Notice::StoppedReading(domain) => self.stopped_reading(domain.as_str()),
            Notice::MovedToTrash => self.moved_to_trash().to_owned(),
            Notice::Restored => self.taken_from_trash().to_owned(),
            Notice::Purged => self.removed_for_good().to_owned(),
            Notice::Theme(theme) => self.now_theme(theme.name()),
            Notice::AllStored => self.all_stored().to_owned(),
            Notice::Copied(what, way) => self.copied(*what, *way),
            Notice::Wrote(file) => self.wrote(file),
            Notice::WroteCheck(check) => self.wrote_check(check),
        }
    }

    fn copied(self, what: Copied, way: CopyWay) -> String {
        let what = match what {
            Copied::Answer => self.the_answer(),
            Copied::Evidence => self.selected_evidence(),
            Copied::Turn => self.the_turn(),
            Copied::Conversation => self.whole_conversation(),
            Copied::Step => self.the_step(),
            Copied::Comparison => self.the_comparison(),
        };
        match way {
            CopyWay::Tool(tool) => self.copied_by(what, tool),
            CopyWay::Terminal => self.copied_by_terminal(what),
            CopyWay::TooLong => self.too_long_to_copy(what),
        }
    }

    /// `notes: 12 documents, 3 new, 1 changed, 2 not read (scan.pdf, a.bin)`.
    fn read(self, report: &IngestReport) -> String {
        let kept = report.kept.iter().map(|kept| kept.documents).sum();
        let said = |count: usize, says: &dyn Fn(Self, usize) -> String| {
            if count > 0 { says(self, count) } else { String::new() }
        };
        let counts = [
            said(report.added, &Self::count_new),
            said(report.updated, &Self::count_changed),
            said(report.removed, &Self::count_removed),
            said(report.skipped.len(), &|words, count| words.count_unread(count, &first_names(&report.skipped))),
            said(kept, &Self::count_kept),
        ]
        .concat();
        format!("{}: {}{counts}", report.domain, self.counted(report.documents, Noun::Document))
    }

    fn wrote_check(self, check: &ExportedCase) -> String {
        if self.language() == Language::English {
            return check.label();
        }
        let also = match &check.also_cited[..] {
            [] => String::new(),
            pages => format!(" (auch zitiert: {})", clean_line(&pages.join(", "))),
        };
        let (file, page) = (check.file.display(), clean_line(&check.page));
        format!("in {file} geschrieben: Prüffrage {}, `{}`; erwartet {page}{also}", check.questions, check.id)
    }

    /// Reason and remedy of a refusal.
    pub(crate) fn refusal(self, refusal: &Refusal) -> Problem {
        if self.language() == Language::English {
            return refusal.problem();
        }
        let (what, next) = match refusal {
            Refusal::TurnRuns => {
                ("Eine Frage wird noch bearbeitet", "Warten oder zuerst abbrechen, dann erneut fragen")
            }
            Refusal::AnotherRuns => ("Ein anderes Gespräch wird noch beantwortet", "Warten oder zuerst abbrechen"),
            Refusal::WorkRuns => ("Eine Frage wird noch bearbeitet", "Warten oder zuerst abbrechen"),
            Refusal::OpeningBeforeAsking => ("Es wird noch etwas geöffnet", "Gleich noch einmal fragen"),
            Refusal::Opening => ("Es wird noch etwas geöffnet", "Gleich noch einmal versuchen"),
            Refusal::NoDomain => {
                ("Keine Domäne ist offen", "Eine aus der Liste der Domänen öffnen oder aus einem Ordner anlegen")
            }
            Refusal::NothingToExplain => ("Keine Antwort, die sich erklären ließe", ASK_FIRST),
            Refusal::OtherModel => {
                ("Das Modell dieser Antwort ist nicht hier", "Erneut fragen oder nach Ähnlichkeit erklären")
            }
            Refusal::OtherAnswer => (
                "Erklärt ist nicht die gespeicherte Antwort, und nur sie lässt sich nach Sätzen erklären",
                "Erneut fragen und die neue Antwort erklären",
            ),
            Refusal::NothingToCompare => ("Keine Antwort zum Vergleichen", ASK_FIRST),
            Refusal::NothingToRate => ("Keine Antwort, die sich bewerten ließe", ASK_FIRST),
            Refusal::BeingAnswered => ("In diesem Gespräch läuft noch eine Antwort", "Warten oder zuerst abbrechen"),
            Refusal::NothingToExport => {
                ("Kein gespeichertes Gespräch für eine Datei", "Zuerst fragen oder ein Gespräch wählen")
            }
            Refusal::NothingToCopy => ("Hier ist nichts zu kopieren", ASK_FIRST),
            Refusal::NothingAsked => ("Noch nichts gefragt", "Zuerst eine Frage stellen oder ein Gespräch wählen"),
            Refusal::NothingSuggested => {
                ("Keine Frage zum Weiterfragen vorgeschlagen", "Vorschläge kommen nach einer beantworteten Frage")
            }
            Refusal::StillSuggesting => ("Fragen zum Weiterfragen werden noch gesucht", "Auf sie warten"),
            Refusal::NoEvidence => ("Keine Belegstelle zum Ansehen", ASK_FIRST),
            Refusal::NoConversation => ("Kein Gespräch gewählt", "Eines in der Liste der Gespräche wählen"),
            Refusal::PasteTooLong => {
                ("Der Text ist zu lang für eine Frage", "Als Dokument einlesen oder einen Teil einfügen")
            }
            Refusal::LineTooLong => ("Der Text ist zu lang für eine Zeile", "Einen Teil einfügen"),
            Refusal::NothingToBranch => ("Keine gespeicherte Frage zum Abzweigen", ASK_FIRST),
            Refusal::NothingToCheck => ("Keine gespeicherte Antwort für eine Prüffrage", ASK_FIRST),
            Refusal::SettingsOfNoDomain => (
                "Einstellungen gehören zu einer Domäne, und keine ist offen",
                "Zuerst eine öffnen; was für alle gilt, steht in der Konfigurationsdatei",
            ),
            Refusal::DomainOpening => ("Eine Domäne wird noch geöffnet", "Das Gespräch gleich noch einmal wählen"),
            Refusal::OtherDomain(domain) => {
                let what = format!("Dieses Gespräch befragt die Domäne `{domain}`");
                return Problem { what, next: "Zuerst diese Domäne öffnen".to_owned() };
            }
            Refusal::StillReading => ("Dokumente werden noch eingelesen", "Warten oder zuerst beenden"),
            Refusal::Unsaved(count) => {
                let answers = if *count == 1 { "Antwort ist" } else { "Antworten sind" };
                let next = "Ursache beheben und erneut speichern; nochmals beenden geht ohne sie";
                return Problem { what: format!("{count} {answers} nicht gespeichert"), next: next.to_owned() };
            }
            Refusal::NoModels(FetchSupport::BuiltIn) => {
                ("Die Modelle fehlen noch", "Zuerst laden: ragonite models pull")
            }
            Refusal::NoModels(FetchSupport::None) => (
                "Die Modelle fehlen noch",
                "Dieses Programm hat keinen Netzcode: Seine Begrüßung nennt die Dateien und ihren Ordner",
            ),
        };
        Problem { what: what.to_owned(), next: next.to_owned() }
    }
}

/// Most files named in one line.
const NAMED: usize = 2;

/// Names of the first skipped files; `ragonite ingest` gives the reasons.
fn first_names(skipped: &[Skipped]) -> String {
    let name = |file: &Skipped| clean_line(&file.path.file_name().unwrap_or_default().to_string_lossy());
    let more = (skipped.len() > NAMED).then(|| "…".to_owned());
    skipped.iter().take(NAMED).map(name).chain(more).collect::<Vec<_>>().join(", ")
}

/// Remedy where there is no answer.
const ASK_FIRST: &str = "Zuerst fragen oder eine beantwortete Frage wählen";
