//! Texts of the export popup.

use super::{To, What};
use crate::messages::{Words, texts};

texts! { EXPORT
    take_out = "Write or copy", "Schreiben oder kopieren";
    format = "As", "Als";
    how_much = "What", "Was";
    where_to = "To", "Ziel";
    much_turn = "this turn", "diese Frage";
    much_conversation = "the conversation", "das Gespräch";
    to_a_file = "a file", "Datei";
    to_the_clipboard = "the clipboard", "Zwischenablage";
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
}
