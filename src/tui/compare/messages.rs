//! Texts of the comparison of two turns.

use crate::messages::{Words, texts};
use ragonite_rag::retrieval::OverrideKind;

texts! { COMPARE
    compare_turn(turn: u32) = "Compare turn {turn}", "Frage {turn} vergleichen";
    ask_it_again = "Ask it again, and compare:", "Noch einmal fragen und vergleichen:";
    beside_another = "Beside another turn:", "Neben einer anderen Frage:";
    no_answer_to_compare = "There is no answer to compare yet.", "Noch keine Antwort zum Vergleichen.";
    with_first(source: usize, name: &str) =
        "with source {source} first: {name}", "mit Quelle {source} zuerst: {name}";
    without_source(source: usize, name: &str) =
        "without source {source}: {name}", "ohne Quelle {source}: {name}";
    without_source_and_copies(source: usize, copies: usize, name: &str) =
        "without source {source} and {copies} that say the same: {name}",
        "ohne Quelle {source} und {copies} gleichlautende: {name}";
    without_page_of(source: usize, name: &str) =
        "without the page of source {source}: {name}", "ohne die Seite von Quelle {source}: {name}";
    without_match =
        "with an answer of the model, although no document fits",
        "mit einer Antwort des Modells, obwohl kein Dokument passt";
    with_other_settings = "with other settings, this once…", "mit anderen Einstellungen, nur diesmal…";
    with_settings_now(others: &str) =
        "with the settings as they are now: {others}", "mit den jetzigen Einstellungen: {others}";
    turn_asks(turn: u32, again: &str) = "turn {turn}: asks {again}", "Frage {turn}: stellt {again}";
    turn_of(turn: u32, question: &str) = "turn {turn}: {question}", "Frage {turn}: {question}";

    turn_again(turn: u32, other: &str) = "turn {turn} again: {other}", "Frage {turn} noch einmal: {other}";
    nothing_changed = "nothing changed", "nichts geändert";
    named_first(name: &str) = "“{name}” first", "„{name}“ zuerst";
    named_left_out(name: &str) = "without “{name}”", "ohne „{name}“";
    named_page_left_out(name: &str) = "without the page “{name}”", "ohne die Seite „{name}“";
    compare = "Compare", "Vergleich";
    two_turns(left: u32, right: u32) = "Turn {left} and turn {right}", "Frage {left} und Frage {right}";
    turns_left = "These turns are no longer on screen.", "Diese Fragen sind nicht mehr auf dem Bildschirm.";
    what_differs = "What differs:", "Was verschieden ist:";
    same_word_for_word = "The answers are the same, word for word.", "Die Antworten sind wörtlich gleich.";
    no_source = "none", "keine";
    turn_number(turn: u32) = "Turn {turn}", "Frage {turn}";

    one_settings_unknown =
        "settings: those of one of them are not known", "Einstellungen: von einer der beiden unbekannt";
    turn_picks(turn: u32, said: &str) = "turn {turn} {said}", "Frage {turn} {said}";
    told_of_turns(before: usize, now: usize) =
        "earlier turns that the model was told: {before} → {now}",
        "frühere Fragen, von denen das Modell wusste: {before} → {now}";
    nothing_differs =
        "nothing: question, settings and models are the same", "nichts: Frage, Einstellungen und Modelle sind gleich";

    place_same = "same", "gleich";
    place_now(rank: usize) = "now {rank}", "jetzt {rank}";
    place_left_out = "left out", "entfällt";
    place_gone = "gone", "fehlt";
    place_first = "put first", "zuerst";
    place_new = "new", "neu";
}

impl Words {
    /// An override of a piece of evidence.
    pub(crate) fn picked(self, how: OverrideKind, name: &str) -> String {
        match how {
            OverrideKind::First => self.named_first(name),
            OverrideKind::LeftOut => self.named_left_out(name),
            OverrideKind::PageLeftOut => self.named_page_left_out(name),
        }
    }
}
