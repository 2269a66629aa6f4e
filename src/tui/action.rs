//! Actions of the user, their default keys and their English texts.
//!
//! Invariant: the order of the variants is the order in the help.

use serde::{Deserialize, Serialize};

/// An action that a key can trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Send the question.
    Send,
    /// A new line in the question.
    Newline,
    /// Close what lies over the panes; then stop what is running, and go back.
    Back,
    /// Stop what is running; twice leaves the program.
    Cancel,
    /// Leave the program.
    Quit,
    /// Show all keys.
    Help,
    /// Start a new conversation.
    NewConversation,
    /// Go to the box in which a question is written, whatever runs.
    WriteQuestion,
    /// Explain the selected answer by the configured method.
    Explain,
    /// Explain the answer by similarity: quick and rough.
    ExplainBySimilarity,
    /// Explain the answer by a preview, an estimate with masked sources.
    ExplainByPreview,
    /// Explain by log-probability: how much less probable the answer is without each source.
    ExplainByLogprob,
    /// Explain by divergence: how far the token predictions move without each source.
    ExplainByJsd,
    /// Select the previous sentence and show its sources.
    PreviousSentence,
    /// Select the next sentence and show its sources.
    NextSentence,
    /// Select the previous citation of the selected answer.
    PreviousCitation,
    /// Select the next citation of the selected answer.
    NextCitation,
    /// Edit the completed question of the selected turn, to ask it again.
    Edit,
    /// Ask the first question that was suggested.
    AskFirst,
    /// Ask the second suggested question.
    AskSecond,
    /// Ask the third suggested question.
    AskThird,
    /// Rate the selected answer up.
    RateUp,
    /// Rate the selected answer down, with a reason.
    RateDown,
    /// Copy the text under the focus.
    Copy,
    /// Export the selected turn or the conversation; in the lists, write the conversation to a file.
    Export,
    /// Branch: continue from the selected turn in a new conversation.
    Branch,
    /// Store unsaved answers again.
    SaveAgain,
    /// Export the selected turn as an `eval` question.
    Check,
    /// Compare the selected turn with a variant or with another turn.
    Compare,
    /// Show the selected evidence in its context, and its rank without parts of the context.
    Context,
    /// Read the whole document of the selected evidence.
    OpenDocument,
    /// Find an action by words.
    Palette,
    /// See and change the settings of the domain.
    Settings,
    /// Make a domain of a folder.
    NewDomain,
    /// Read the files of the selected domain again.
    RefreshDomain,
    /// Stop reading documents.
    StopIngest,
    /// Switch to the next theme.
    NextTheme,
    /// Look for a text in the pane; in the lists, for words in the conversations of all domains.
    Search,
    /// Go to the next match.
    NextMatch,
    /// Go to the previous match.
    PreviousMatch,
    /// Focus the next pane.
    NextPane,
    /// Focus the previous pane.
    PreviousPane,
    /// Go to the conversation.
    ShowConversation,
    /// Go to the evidence.
    ShowEvidence,
    /// Show the trace of the turn.
    ShowBehind,
    /// Show the attribution of the answer.
    ShowWhy,
    /// Go to domains and conversations.
    ShowLists,
    /// Enlarge the focused pane, or show all panes again.
    Enlarge,
    /// Hide or show the pane beside the conversation.
    Hide,
    /// Move the border between the panes to the left.
    BorderLeft,
    /// Move the border between the panes to the right.
    BorderRight,
    /// Select the previous turn.
    PreviousTurn,
    /// Select the next turn.
    NextTurn,
    /// One up.
    Up,
    /// One down.
    Down,
    /// To the top.
    First,
    /// To the bottom.
    Last,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Half a page up.
    HalfPageUp,
    /// Half a page down.
    HalfPageDown,
    /// Scroll a wide table to the left.
    Left,
    /// Scroll a wide table to the right.
    Right,
    /// Open or close the selected entry.
    Toggle,
    /// Give the selected conversation another title.
    Rename,
    /// Pin or unpin the selected conversation.
    Pin,
    /// Move the selected conversation to the trash; in the trash, purge it.
    Delete,
}

/// Where an action's keys count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Everywhere; keys that type a character only outside the composer.
    Anywhere,
    /// In the composer only.
    Composer,
    /// Outside the composer only.
    Panes,
}

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

impl Action {
    /// Name of the action in the configuration.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// English text for the help.
    pub fn label(self) -> &'static str {
        self.entry().says
    }

    /// English text for the footer, one or two words.
    pub fn hint(self) -> &'static str {
        self.entry().hint
    }

    /// Where the keys of the action count.
    pub fn place(self) -> Place {
        self.entry().place
    }

    /// Every action, in the order of the help.
    pub fn all() -> impl Iterator<Item = Self> {
        ENTRIES.iter().map(|entry| entry.action)
    }

    fn entry(self) -> &'static Entry {
        // The table lists every variant in order; a test checks that.
        &ENTRIES[self as usize]
    }
}
