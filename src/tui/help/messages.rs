//! Texts of the help.

use crate::messages::texts;

texts! { HELP
    keys = "Keys", "Tasten";
    next_page = "next page of the guide", "nächste Seite der Anleitung";
    no_key = "none", "keine";
    everywhere = "Everywhere", "Überall";
    in_the_composer = "Writing a question", "Beim Schreiben einer Frage";
    in_the_panes = "In the other panes", "In den anderen Bereichen";
    characters_are_text =
        "While a question is written, single characters are text.",
        "Beim Schreiben einer Frage sind einzelne Zeichen Text.";
}
