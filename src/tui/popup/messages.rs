//! Texts of the palette, the prompts and the confirmation, and what every popup says.
//!
//! Not here: what one popup says (`messages` in its folder).

use super::Asked;
use crate::messages::{Words, texts};
use ragonite_base::Language;

texts! { POPUP
    more_below(below: usize) = " {below} more below ", " noch {below} darunter ";
    actions = "Actions", "Aktionen";
    one_of(at: usize, found: usize) = " {at} of {found} ", " {at} von {found} ";
    no_action_found = " nothing has all of these words", " nichts enthält alle diese Wörter";

    really = "Really?", "Wirklich?";
    remove_it = " remove it   ", " löschen   ";
    rather_keep_it = " keep it", " behalten";
    keep_it = "keep it", "behalten";
}

impl Words {
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
}
