//! Key bindings.
//!
//! Takes the defaults and the user's overrides; gives lookups for input, help and footer.
//! Invariants: in each place a key means one action; a key to quit and a key to close popups always exist.

use indexmap::IndexMap;

use super::action::{Action, ENTRIES, Place};
use super::chord::{Chord, ChordError};
use super::messages::Words;

/// Which keys mean which action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    chords: IndexMap<Action, Vec<Chord>>,
    /// Language of the key names.
    words: Words,
}

/// Error in the overrides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// There is no such action.
    #[error("`{name}` is no action; the nearest is `{nearest}`")]
    UnknownAction {
        /// The name in the configuration.
        name: String,
        /// The most similar name of an action.
        nearest: &'static str,
    },
    /// A key cannot be parsed.
    #[error("the keys of `{action}`")]
    Key {
        /// Name of the action.
        action: &'static str,
        /// The parse error.
        #[source]
        source: ChordError,
    },
    /// A key has two actions in one place.
    #[error("`{chord}` would mean both `{first}` and `{second}`; give one of them another key or `none`")]
    Conflict {
        /// The chord.
        chord: String,
        /// The first action.
        first: &'static str,
        /// The second action.
        second: &'static str,
    },
    /// No key quits the program.
    #[error("no key is left for `quit`")]
    NoQuit,
    /// No key closes a popup.
    #[error("no key is left for `back` that types no character")]
    NoBack,
}

impl Default for Keymap {
    fn default() -> Self {
        // A test checks that every default parses.
        let keys = |keys: &[&str]| keys.iter().filter_map(|key| key.parse().ok()).collect();
        let chords = ENTRIES.iter().map(|entry| (entry.action, keys(entry.keys))).collect();
        Self { chords, words: Words::default() }
    }
}

impl Keymap {
    /// The defaults with the keys of some actions replaced. `none` or an empty list leaves an action without keys.
    ///
    /// # Errors
    /// Unknown actions and keys, keys that mean two things, no key for `quit` or `back`.
    pub fn with_overrides(overrides: &IndexMap<String, Vec<String>>) -> Result<Self, KeymapError> {
        let mut keymap = Self::default();
        for (name, keys) in overrides {
            let entry = ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))?;
            let written = keys.iter().filter(|key| *key != "none");
            let chords: Result<Vec<Chord>, _> = written.map(|key| key.parse()).collect();
            let chords = chords.map_err(|source| KeymapError::Key { action: entry.name, source })?;
            keymap.chords.insert(entry.action, chords);
        }
        keymap.check()?;
        Ok(keymap)
    }

    /// Sets the language of the key names.
    #[must_use]
    pub(super) fn with_words(self, words: Words) -> Self {
        Self { words, ..self }
    }

    /// The action of a chord in a place.
    pub fn action(&self, chord: Chord, place: Place) -> Option<Action> {
        let means =
            |(action, chords): &(&Action, &Vec<Chord>)| chords.contains(&chord) && counts(**action, chord, place);
        self.chords.iter().find(means).map(|(action, _)| *action)
    }

    /// The keys of an action for the help, separated by two spaces because a comma is a key.
    pub fn keys(&self, action: Action) -> String {
        let chords = self.chords.get(&action).map_or(&[][..], Vec::as_slice);
        chords.iter().map(|chord| chord.shown(self.words)).collect::<Vec<_>>().join("  ")
    }

    /// The first key of an action in this place, for the footer.
    pub fn key(&self, action: Action, place: Place) -> Option<String> {
        let mut chords = self.chords.get(&action)?.iter();
        chords.find(|chord| counts(action, **chord, place)).map(|chord| chord.shown(self.words))
    }

    fn check(&self) -> Result<(), KeymapError> {
        if self.chords.get(&Action::Quit).is_none_or(Vec::is_empty) {
            return Err(KeymapError::NoQuit);
        }
        // In a text line a character key cannot close anything.
        if self.key(Action::Back, Place::Composer).is_none() {
            return Err(KeymapError::NoBack);
        }
        for place in [Place::Composer, Place::Panes] {
            let mut seen: IndexMap<Chord, Action> = IndexMap::new();
            let bound =
                self.chords.iter().flat_map(|(action, chords)| chords.iter().map(move |chord| (*action, *chord)));
            for (action, chord) in bound.filter(|(action, chord)| counts(*action, *chord, place)) {
                if let Some(first) = seen.insert(chord, action).filter(|first| *first != action) {
                    let (first, second) = (first.name(), action.name());
                    return Err(KeymapError::Conflict { chord: chord.to_string(), first, second });
                }
            }
        }
        Ok(())
    }
}

/// Whether a key of an action counts in a place. In the composer, a key that types a character is text.
fn counts(action: Action, chord: Chord, place: Place) -> bool {
    let here = action.place() == Place::Anywhere || action.place() == place;
    here && !(place == Place::Composer && chord.is_text())
}

fn unknown(name: &str) -> KeymapError {
    let distance = |entry: &&super::action::Entry| strsim::levenshtein(entry.name, name);
    let nearest = ENTRIES.iter().min_by_key(distance).map_or("quit", |entry| entry.name);
    KeymapError::UnknownAction { name: ragonite_base::clean_line(name), nearest }
}
