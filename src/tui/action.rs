//! Actions of the user.
//!
//! Invariant: the order of the variants is the order in the help.
//! Not here: default keys and English texts (`keymap`), German texts (`messages::actions`).

use super::keymap::{ENTRIES, Entry};
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
