//! Exports conversations: Markdown to read and edit, HTML for a browser, JSON with the whole trace.
//!
//! Takes a conversation and some or all of its turns, gives the text of one self-contained file.
//! Invariants: text from documents and models is clean and escaped; only `http`, `https` and `mailto` addresses become
//! links; JSON is that of `ragonite history show --json`; an existing file is never overwritten.
//! Not here: choosing the folder (`cli`, `workers`).

mod html;
mod markdown;
mod source;

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::{ConversationRecord, HistoryError, TurnRecord};
use ragonite_base::clean_line;
use ragonite_base::text::lower_words;

/// Format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// To read and edit.
    #[default]
    Markdown,
    /// To open in a browser: one file, without scripts, that loads nothing.
    Html,
    /// JSON with the whole trace.
    Json,
}

impl Format {
    /// The file extension.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
        }
    }
}

/// A text that is no format.
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

/// The text of the file, ending in a line feed.
///
/// # Errors
/// When a trace cannot be serialized.
pub fn export(conversation: &ConversationRecord, turns: &[TurnRecord], format: Format) -> Result<String, HistoryError> {
    match format {
        Format::Markdown => Ok(markdown::write(conversation, turns)),
        Format::Html => Ok(html::write(conversation, turns)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&Whole { conversation, turns });
            json.map(|json| without_signs(&json) + "\n").map_err(|source| HistoryError::Trace { source })
        }
    }
}

/// Most file names that are tried.
const NAMES: usize = 1000;

/// Most characters of the title in a file name.
const LONGEST_NAME: usize = 40;

/// Writes a new file in `folder`, named after the conversation, and gives its path.
///
/// # Errors
/// When the folder cannot be written, or all tried names exist.
pub fn write_export(
    folder: &Path,
    conversation: &ConversationRecord,
    turns: &[TurnRecord],
    format: Format,
) -> Result<PathBuf, HistoryError> {
    let text = export(conversation, turns, format)?;
    let failed = |path: &Path, source| HistoryError::Export { path: path.to_owned(), source };
    let folder = folder.canonicalize().map_err(|source| failed(folder, source))?;
    let name = file_name(&conversation.title);
    let numbers = std::iter::once(String::new()).chain((2..NAMES).map(|number| format!("-{number}")));
    for number in numbers {
        let path = folder.join(format!("ragonite-{}-{name}{number}.{}", conversation.id, format.extension()));
        match write_new(&path, &text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => return written.map(|()| path.clone()).map_err(|source| failed(&path, source)),
        }
    }
    Err(failed(&folder, io::Error::from(io::ErrorKind::AlreadyExists)))
}

/// Writes a new file that only its owner can read, like the history.
///
/// # Errors
/// When it exists or cannot be written.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// JSON without control characters for terminals: `serde_json` only escapes those below the space.
fn without_signs(json: &str) -> String {
    let mut clean = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter != '\n' && (letter.is_control() || is_bidi_control(letter)) {
            let _ = write!(clean, "\\u{:04x}", u32::from(letter));
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Bidirectional formatting characters (Unicode Standard Annex 9).
fn is_bidi_control(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The words of a title as a part of a file name.
fn file_name(title: &str) -> String {
    let mut name = lower_words(title).collect::<Vec<_>>().join("-");
    if let Some((end, _)) = name.char_indices().nth(LONGEST_NAME) {
        name.truncate(end);
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "conversation".to_owned() } else { name.to_owned() }
}
