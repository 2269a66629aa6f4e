//! Key bindings: the table of actions with their default keys, and the user's overrides.
//!
//! Takes the overrides; gives lookups for input, help and footer.
//! Invariants: in each place a key means one action; a key to quit and a key to close popups always exist.

use indexmap::IndexMap;

use super::action::{Action, Place};
use super::chord::{Chord, ChordError};
use super::messages::Words;

/// An action with its texts and keys.
pub(super) struct Entry {
    pub(super) action: Action,
    /// Name in the configuration.
    pub(super) name: &'static str,
    /// For the help.
    pub(super) says: &'static str,
    /// For the footer; short.
    pub(super) hint: &'static str,
    pub(super) place: Place,
    /// Its default keys.
    pub(super) keys: &'static [&'static str],
}

macro_rules! entries {
    ($($action:ident $name:literal $place:ident [$($key:literal),*] $hint:literal $says:literal;)*) => {
        &[$(Entry {
            action: Action::$action, name: $name, says: $says, hint: $hint, place: Place::$place, keys: &[$($key),*],
        }),*]
    };
}

// Ctrl+I, Ctrl+M, Ctrl+[ and Ctrl+H are Tab, Enter, Esc and Backspace on many terminals and are never a default.
pub(super) const ENTRIES: &[Entry] = entries! {
    Send "send" Composer ["Enter"] "send" "send the question";
    Newline "newline" Composer ["Alt+Enter", "Ctrl+J", "Shift+Enter"] "new line" "new line in the question";
    Back "back" Anywhere ["Esc"] "back" "close; then stop what runs; go back";
    Cancel "cancel" Anywhere ["Ctrl+C"] "stop" "stop what runs; twice leaves";
    Quit "quit" Anywhere ["Ctrl+Q"] "quit" "leave";
    Help "help" Anywhere ["F1", "?"] "help" "all keys, and the guide";
    NewConversation "new-conversation" Anywhere ["Ctrl+N"] "new" "new conversation";
    WriteQuestion "write-question" Panes ["i"] "question" "write a question, also while something runs";
    Explain "explain" Anywhere ["Ctrl+E", "x"] "explain" "explain the selected answer";
    ExplainBySimilarity "explain-by-similarity" Panes ["s"] "similarity" "explain by similarity (quick, rough)";
    ExplainByPreview "explain-by-preview" Panes ["v"] "preview" "explain by a preview (an estimate)";
    ExplainByLogprob "explain-by-logprob" Panes ["b"] "log-probability" "explain by log-probability without each source";
    ExplainByJsd "explain-by-jsd" Panes ["d"] "divergence" "explain by divergence without each source";
    PreviousSentence "previous-sentence" Panes ["(", ","] "sentence before" "why: the sentence before";
    NextSentence "next-sentence" Panes [")", "."] "next sentence" "why: the next sentence of the answer";
    PreviousCitation "previous-citation" Panes ["M"] "citation before" "the citation before in the answer";
    NextCitation "next-citation" Panes ["m"] "next citation" "next citation; Enter to its source, Esc back";
    Edit "edit" Panes ["e"] "edit question" "edit the completed question, ask again";
    AskFirst "ask-first" Anywhere ["Alt+1"] "ask 1" "ask the first suggested question";
    AskSecond "ask-second" Anywhere ["Alt+2"] "ask 2" "ask the second suggested question";
    AskThird "ask-third" Anywhere ["Alt+3"] "ask 3" "ask the third suggested question";
    RateUp "rate-up" Panes ["Plus"] "useful" "rate the answer up; again takes it back";
    RateDown "rate-down" Panes ["-"] "not useful" "rate the answer down, with a reason";
    Copy "copy" Panes ["y"] "copy" "copy the answer, the evidence, the step or the turn";
    Export "export" Panes ["w"] "write out" "write or copy turn or conversation; lists: to a file";
    Branch "branch" Panes ["B"] "branch" "branch: go on from the turn in a new conversation";
    SaveAgain "save-again" Panes ["W"] "store again" "try again to store what could not be stored";
    Check "check" Panes ["c"] "as a check" "make the rated turn a check for eval (questions.toml)";
    Compare "compare" Panes ["="] "compare" "ask the turn again otherwise and compare; or two turns";
    Context "context" Panes ["a"] "in context" "the evidence in its context; ranks without parts of it";
    OpenDocument "open-document" Panes ["o"] "document" "read the whole document of the evidence";
    Palette "palette" Anywhere ["Ctrl+P"] "actions" "find an action by words";
    Settings "settings" Anywhere ["F7", "S"] "settings" "settings of the domain";
    NewDomain "new-domain" Anywhere ["F8", "A"] "new domain" "make a domain of a folder";
    RefreshDomain "refresh-domain" Panes ["R"] "read again" "read the files of the domain again";
    StopIngest "stop-ingest" Panes ["K"] "stop reading" "stop reading documents; what is stored stays";
    NextTheme "next-theme" Panes ["T"] "next theme" "switch to the next theme until the program ends";
    Search "search" Panes ["/"] "look for" "look for a text; in the lists, in all conversations";
    NextMatch "next-match" Panes ["n"] "next match" "to the next place that has it";
    PreviousMatch "previous-match" Panes ["N"] "match before" "to the place before that has it";
    NextPane "next-pane" Anywhere ["Tab"] "next pane" "next pane";
    PreviousPane "previous-pane" Anywhere ["Shift+Tab"] "previous pane" "previous pane";
    ShowConversation "show-conversation" Anywhere ["F2", "1"] "conversation" "go to the conversation";
    ShowEvidence "show-evidence" Anywhere ["F3", "2"] "evidence" "go to the evidence";
    ShowBehind "show-behind" Anywhere ["F4", "3"] "behind the scenes" "go behind the scenes";
    ShowWhy "show-why" Anywhere ["F5", "4"] "why" "go to why the answer came out so";
    ShowLists "show-lists" Anywhere ["F6", "5"] "domains" "go to domains and conversations";
    Enlarge "enlarge" Anywhere ["Alt+z", "z"] "enlarge" "enlarge the pane, or show the others again";
    Hide "hide" Anywhere ["Alt+h", "H"] "hide pane" "hide the pane beside, or show it again";
    BorderLeft "border-left" Anywhere ["Alt+Left", "<"] "border left" "move the border of the panes left";
    BorderRight "border-right" Anywhere ["Alt+Right", ">"] "border right" "move the border of the panes right";
    PreviousTurn "previous-turn" Panes ["[", "Ctrl+Up"] "turn before" "select the turn before";
    NextTurn "next-turn" Panes ["]", "Ctrl+Down"] "next turn" "select the next turn";
    Up "up" Panes ["Up", "k"] "up" "up";
    Down "down" Panes ["Down", "j"] "down" "down";
    First "first" Panes ["g", "Home"] "top" "to the top";
    Last "last" Panes ["G", "End"] "bottom" "to the bottom, follow new text";
    PageUp "page-up" Anywhere ["PgUp"] "page up" "a page up";
    PageDown "page-down" Anywhere ["PgDn"] "page down" "a page down";
    HalfPageUp "half-page-up" Panes ["Ctrl+U"] "half a page up" "half a page up";
    HalfPageDown "half-page-down" Panes ["Ctrl+D"] "half a page down" "half a page down";
    Left "left" Panes ["Left", "h"] "left" "scroll a wide table left";
    Right "right" Panes ["Right", "l"] "right" "scroll a wide table right";
    Toggle "toggle" Panes ["Enter", "Space"] "open" "open or close what is selected";
    Rename "rename" Panes ["r"] "rename" "give the conversation another title";
    Pin "pin" Panes ["P"] "pin" "put the conversation first, or back";
    Delete "delete" Panes ["Delete", "D"] "to the trash" "move the conversation to the trash; there, remove it for good";
};

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
    let distance = |entry: &&Entry| strsim::levenshtein(entry.name, name);
    let nearest = ENTRIES.iter().min_by_key(distance).map_or("quit", |entry| entry.name);
    KeymapError::UnknownAction { name: ragonite_base::clean_line(name), nearest }
}
