//! What can go wrong while reading a source file.

use std::io;
use std::path::PathBuf;

use super::package::OfficeError;

/// Why a file gave no document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file could not be read.
    #[error("reading `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Neither the content nor the name tells a format that is understood.
    #[error("`{path}` is in no format that can be read (HTML, Confluence storage format, Markdown, JSON pages, text)")]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A JSON file that is no page.
    #[error("`{path}` is JSON but no page with `title` and `content`")]
    NoPage {
        /// The file.
        path: PathBuf,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
    /// The file holds no text at all.
    #[error("`{path}` has no text")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is larger than what is read into memory.
    #[error("`{path}` has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// A Word file or a spreadsheet that is damaged, protected or hostile.
    #[error("`{path}` cannot be read as a Word or spreadsheet file")]
    Office {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: OfficeError,
    },
}
