//! What was done last, for a line on the screen.
//!
//! Not here: its words (`tui`).

use ragonite_base::DomainName;
use ragonite_config::ThemeName;
use ragonite_eval::ExportedCase;
use ragonite_history::Feedback;
use ragonite_index::IngestReport;

/// Something the user wanted is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A turn was rated, or its rating taken back.
    Rated(Option<Feedback>),
    /// Documents were read.
    Read(Box<IngestReport>),
    /// Reading the documents of a domain was stopped.
    StoppedReading(DomainName),
    /// A conversation was moved to the trash.
    MovedToTrash,
    /// A conversation was taken out of the trash.
    Restored,
    /// A conversation was removed for good.
    Purged,
    /// Another theme is shown.
    Theme(ThemeName),
    /// Nothing is left that is not stored.
    AllStored,
    /// A text was copied, or not.
    Copied(Copied, CopyWay),
    /// A file was written.
    Wrote(String),
    /// A turn was made a question that `eval` asks.
    WroteCheck(Box<ExportedCase>),
}

impl Notice {
    /// Whether it tells that something was not done.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Copied(_, CopyWay::TooLong))
    }
}

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// An answer.
    Answer,
    /// An evidence.
    Evidence,
    /// A turn with all that is known of it.
    Turn,
    /// All turns of a conversation.
    Conversation,
    /// One step of what led to an answer.
    Step,
    /// Two turns beside each other.
    Comparison,
}

/// How a text was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyWay {
    /// By this program.
    Tool(&'static str),
    /// By the terminal, if it does that.
    Terminal,
    /// Not at all: it is longer than terminals take.
    TooLong,
}
