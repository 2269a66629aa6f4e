//! Texts of the composer, and the token budget of a prompt.

use crate::messages::{Words, texts};

texts! { COMPOSER
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
    ask_again = "ask again", "erneut fragen";

    about_so_many(parts: &str, context: &str) = " about {parts} of {context} ", " etwa {parts} von {context} ";
    about_too_many(parts: &str, context: &str) =
        " about {parts} too much for {context} ", " etwa {parts} zu viel für {context} ";
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
}

impl Words {
    /// Names of the token budget: instructions, history, evidence, question, answer.
    pub(crate) fn shares(self) -> [&'static str; 5] {
        [self.share_system(), self.share_history(), self.share_evidence(), self.share_question(), self.share_answer()]
    }

    /// Like [`Words::shares`], shorter.
    pub(crate) fn short_shares(self) -> [&'static str; 5] {
        [self.short_system(), self.short_history(), self.short_evidence(), self.short_question(), self.short_answer()]
    }
}
