//! Texts of a rating: the reasons, and a rating on one line.

use crate::messages::{Words, texts};
use ragonite_base::{Language, clean_line};
use ragonite_history::{Feedback, Rating, Reason};

texts! { RATING
    what_is_wrong = "What is wrong with the answer", "Was an der Antwort nicht stimmt";
    in_your_words =
        "What is wrong, in your words (may stay empty)", "Was nicht stimmt, in eigenen Worten (darf leer bleiben)";
    without_words = "rate without words", "ohne Worte bewerten";
    rated(said: &str) = "rated {said}", "bewertet: {said}";

    reason_wrong_answer = "wrong answer", "falsche Antwort";
    reason_wrong_source = "wrong source", "falsche Quelle";
    reason_incomplete = "incomplete", "unvollständig";
    reason_out_of_date = "out of date", "veraltet";
    reason_other = "other", "anderes";
    rating_up = "up", "gut";
    rating_down = "down", "schlecht";
}

impl Words {
    pub(crate) fn reason(self, reason: Reason) -> &'static str {
        match reason {
            Reason::WrongAnswer => self.reason_wrong_answer(),
            Reason::WrongSource => self.reason_wrong_source(),
            Reason::Incomplete => self.reason_incomplete(),
            Reason::OutOfDate => self.reason_out_of_date(),
            Reason::Other => self.reason_other(),
        }
    }

    /// A rating on one line, with the user's note.
    pub(crate) fn feedback(self, feedback: &Feedback) -> String {
        if self.language() == Language::English {
            return feedback.label();
        }
        let rating = match feedback.rating {
            Rating::Up => self.rating_up(),
            Rating::Down => self.rating_down(),
        };
        let reason = feedback.reason.map(|reason| format!(", {}", self.reason(reason))).unwrap_or_default();
        let note = clean_line(&feedback.note);
        let note = if note.is_empty() { note } else { format!(": {note}") };
        format!("{rating}{reason}{note}")
    }
}
