//! Texts of the search.

use crate::messages::texts;

texts! { FIND
    look_for = "Look for", "Suchen";
    look_for_words = "Look for words in the conversations of all domains", "Wörter in den Gesprächen aller Domänen suchen";
    look_for_it = "look for it", "suchen";
    found_of(text: &str, at: usize, of: usize) = "“{text}” {at} of {of}  ", "„{text}“ {at} von {of}  ";
}
