//! Texts of the form for a new domain.

use super::{Field, NotTaken};
use crate::messages::{Words, texts};
use ragonite_base::Language;

texts! { NEW_DOMAIN
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
    next_make_it = "next, make it", "weiter, anlegen";
    other_line = "other line", "andere Zeile";
}

impl Words {
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
}
