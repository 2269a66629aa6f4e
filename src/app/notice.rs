//! Notices: what was done last, for a line on the screen.
//!
//! Not here: the texts (`tui`).

use ragonite_base::DomainName;
use ragonite_config::ThemeName;
use ragonite_eval::ExportedCase;
use ragonite_history::Feedback;
use ragonite_index::IngestReport;

/// A completed request of the user.
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
    /// All turns are stored.
    AllStored,
    /// A text was copied, or not.
    Copied(Copied, CopyWay),
    /// A file was written.
    Wrote(String),
    /// A turn was exported as an `eval` question.
    WroteCheck(Box<ExportedCase>),
}

impl Notice {
    /// Whether it reports a failure.
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
    /// A whole turn.
    Turn,
    /// All turns of a conversation.
    Conversation,
    /// One step of a trace.
    Step,
    /// A comparison of two turns.
    Comparison,
}

/// How a text was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyWay {
    /// By this desktop tool.
    Tool(&'static str),
    /// By the terminal, where it supports that.
    Terminal,
    /// Not copied: too long for terminals.
    TooLong,
}
