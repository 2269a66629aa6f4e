//! Conversations as files for others: Markdown to read and edit, HTML to open, JSON with everything.
//!
//! Takes a conversation and some or all of its turns, gives the text of one self-contained file.
//! Invariants: all text from documents and models is clean and escaped, so that it shows and never acts; only `http`,
//! `https` and `mailto` addresses become links; JSON holds the whole trace, as `ragonite history show --json` prints it.
//! Not here: where the file goes (`run`, `tui`).

mod html;
mod markdown;
mod source;

use std::str::FromStr;

use serde::Serialize;

use super::{ConversationRecord, HistoryError, TurnRecord};
use crate::base::clean_line;

/// What kind of file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// To read and edit.
    #[default]
    Markdown,
    /// To open in a browser: one file, without scripts, that loads nothing.
    Html,
    /// With the whole trace.
    Json,
}

impl Format {
    /// What its file names end with.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
        }
    }
}

/// A text that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no format: use markdown, html or json")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "markdown" | "md" => Ok(Self::Markdown),
            "html" => Ok(Self::Html),
            "json" => Ok(Self::Json),
            other => Err(UnknownFormat(clean_line(other))),
        }
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    conversation: &'a ConversationRecord,
    turns: &'a [TurnRecord],
}

/// The file's text, ending in a line feed.
///
/// # Errors
/// When a trace cannot be put into JSON.
pub fn export(
    conversation: &ConversationRecord,
    turns: &[TurnRecord],
    format: Format,
) -> Result<String, HistoryError> {
    match format {
        Format::Markdown => Ok(markdown::write(conversation, turns)),
        Format::Html => Ok(html::write(conversation, turns)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&Whole { conversation, turns });
            json.map(|json| json + "\n").map_err(|source| HistoryError::Trace { source })
        }
    }
}
