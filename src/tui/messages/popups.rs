//! The popups: help, palette, prompts, new domain, settings.

use super::{Words, texts};
use crate::export::{To, What};
use crate::new_domain::{Field, NotTaken};
use crate::popup::Asked;
use ragonite_base::Language;
use ragonite_config::{Group, Refused, Setting, Takes};

texts! { POPUPS
    keys = "Keys", "Tasten";
    next_page = "next page of the guide", "nächste Seite der Anleitung";
    no_key = "none", "keine";
    everywhere = "Everywhere", "Überall";
    in_the_composer = "Writing a question", "Beim Schreiben einer Frage";
    in_the_panes = "In the other panes", "In den anderen Bereichen";
    characters_are_text =
        "While a question is written, single characters are text.",
        "Beim Schreiben einer Frage sind einzelne Zeichen Text.";

    actions = "Actions", "Aktionen";
    one_of(at: usize, found: usize) = " {at} of {found} ", " {at} von {found} ";
    no_action_found = " nothing has all of these words", " nichts enthält alle diese Wörter";
    what_is_wrong = "What is wrong with the answer", "Was an der Antwort nicht stimmt";
    really = "Really?", "Wirklich?";
    remove_it = " remove it   ", " löschen   ";
    rather_keep_it = " keep it", " behalten";
    remove_conversation(title: &str) =
        "Remove “{title}” for good? It cannot be brought back.",
        "„{title}“ endgültig löschen? Das lässt sich nicht rückgängig machen.";
    look_for = "Look for", "Suchen";
    look_for_words = "Look for words in the conversations of all domains", "Wörter in den Gesprächen aller Domänen suchen";
    title_of_conversation = "Title of the conversation", "Titel des Gesprächs";
    in_your_words =
        "What is wrong, in your words (may stay empty)", "Was nicht stimmt, in eigenen Worten (darf leer bleiben)";

    take_out = "Write or copy", "Schreiben oder kopieren";
    format = "As", "Als";
    how_much = "What", "Was";
    where_to = "To", "Ziel";
    much_turn = "this turn", "diese Frage";
    much_conversation = "the conversation", "das Gespräch";
    to_a_file = "a file", "Datei";
    to_the_clipboard = "the clipboard", "Zwischenablage";

    new_domain = "New domain", "Neue Domäne";
    folder = " Folder", " Ordner";
    name = " Name", " Name";
    what_folder =
        "The folder or file with the documents, as in a shell: ~/notes. Its folders are read too.",
        "Ordner oder Datei mit den Dokumenten, wie in einer Shell: ~/notes. Unterordner werden mitgelesen.";
    what_name =
        "Small letters, digits, - and _. The documents are read while you go on asking.",
        "Kleinbuchstaben, Ziffern, - und _. Während die Dokumente eingelesen werden, kann weiter gefragt werden.";
    no_path = "type the path of a folder or of a file", "Pfad eines Ordners oder einer Datei eingeben";
    domain_exists(domain: &str) =
        "there is a domain `{domain}` already; choose another name",
        "Die Domäne `{domain}` gibt es schon; anderen Namen wählen";
    reading_others =
        "other documents are still being read; wait, or stop that first",
        "Andere Dokumente werden noch eingelesen; warten oder das zuerst beenden";

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
}

impl Words {
    /// Extent of an export.
    pub(crate) fn much(self, what: What) -> &'static str {
        match what {
            What::Turn => self.much_turn(),
            What::Conversation => self.much_conversation(),
        }
    }

    /// Target of an export.
    pub(crate) fn place_of(self, to: To) -> &'static str {
        match to {
            To::File => self.to_a_file(),
            To::Clipboard => self.to_the_clipboard(),
        }
    }

    /// Title of a prompt.
    pub(crate) fn asked(self, asked: &Asked) -> &'static str {
        match asked {
            Asked::Text => self.look_for(),
            Asked::Words => self.look_for_words(),
            Asked::Title(_) => self.title_of_conversation(),
            Asked::Note(..) => self.in_your_words(),
        }
    }

    /// The letter for yes, besides `y`.
    pub(crate) fn yes(self) -> char {
        match self.language() {
            Language::English => 'y',
            Language::German => 'j',
        }
    }

    pub(crate) fn field(self, field: Field) -> &'static str {
        match field {
            Field::Folder => self.folder(),
            Field::Name => self.name(),
        }
    }

    /// Hint of a form field.
    pub(crate) fn what_field(self, field: Field) -> &'static str {
        match field {
            Field::Folder => self.what_folder(),
            Field::Name => self.what_name(),
        }
    }

    /// Why the form is refused.
    pub(crate) fn not_taken(self, why: &NotTaken) -> String {
        match (why, self.language()) {
            (NotTaken::NoPath, _) => self.no_path().to_owned(),
            (NotTaken::Name(error), Language::English) => error.to_string(),
            (NotTaken::Name(_), Language::German) => {
                "Kein Domänenname: 1 bis 64 Zeichen aus a-z, 0-9, - und _, am Anfang Buchstabe oder Ziffer".to_owned()
            }
            (NotTaken::Exists(domain), _) => self.domain_exists(domain.as_str()),
            (NotTaken::ReadingOthers, _) => self.reading_others().to_owned(),
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
