//! Errors of reading a source file.
//!
//! A path inside a container is written behind `!/`: `space.zip!/team/page.html`.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{OfficeError, PdfError};
use ragonite_base::Canceled;

/// A failure to read a file or a document in it.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The user cancelled. Says nothing about the file.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// The file could not be read.
    #[error("reading `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Unknown format.
    #[error(
        "`{path}` is in no format that can be read; if it is text, rename it to .txt, else save it as PDF, DOCX or HTML"
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A known format that is not supported.
    #[error("`{path}` is {what}; {remedy}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it is, with an article.
        what: Cow<'static, str>,
        /// What to do about it.
        remedy: Cow<'static, str>,
    },
    /// Damaged JSON, or JSON that is not a page.
    #[error(
        "`{path}` is {fault} in line {line}, column {column}: {why}; a page is an object with the texts `title` and \
         `content`, several are a list or one a line"
    )]
    NoPage {
        /// The file, or the page in it.
        path: PathBuf,
        /// The kind of fault.
        fault: JsonFault,
        /// Line of the file, from 1.
        line: usize,
        /// Byte of the line, from 1.
        column: usize,
        /// The parser's message.
        why: Box<str>,
    },
    /// A PDF without text.
    #[error("reading the PDF `{path}`")]
    Pdf {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: PdfError,
    },
    /// An empty file, or only white space.
    #[error("`{path}` is empty; if something should be in it, get it anew from its source")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file with content, none of which is text.
    #[error("`{path}` has no text; if it shows pictures of text, run a text recognition over it and save the result")]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// An empty archive, mailbox or export.
    #[error("`{path}` holds no document; check that it was packed or exported whole")]
    NoDocuments {
        /// The file.
        path: PathBuf,
    },
    /// Hidden members of an archive, which are skipped.
    #[error("{}", passed_over(*count, first))]
    Hidden {
        /// Their number.
        count: usize,
        /// Name of the first.
        first: String,
    },
    /// The file is too large.
    #[error("`{path}` has {bytes} bytes, more than the {limit} that are read; split it into smaller files")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A ZIP archive, or a member of one, that is damaged or packed in a way that is not read.
    #[error("`{path}` cannot be unpacked; if other programs can, unpack it and ingest the folder")]
    Archive {
        /// The archive or the member.
        path: PathBuf,
        /// The cause.
        #[source]
        source: zip::result::ZipError,
    },
    /// An export whose XML is damaged.
    #[error("`{path}` is damaged from byte {at} on; what came before was read. Export the space again")]
    Xml {
        /// The file.
        path: PathBuf,
        /// Byte position.
        at: u64,
        /// The cause.
        #[source]
        source: quick_xml::Error,
    },
    /// A Word file or a spreadsheet that is damaged, protected or hostile.
    #[error("`{path}` cannot be read as a Word or spreadsheet file")]
    Office {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<OfficeError>,
    },
}

fn passed_over(hidden: usize, first: &str) -> String {
    match hidden {
        1 => format!("the hidden file `{first}` was passed over"),
        _ => format!("{hidden} hidden files were passed over, such as `{first}`"),
    }
}

/// A fault of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFault {
    /// It does not parse.
    Damaged,
    /// It is not a page.
    OtherShape,
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "damaged JSON",
            Self::OtherShape => "JSON but no page",
        })
    }
}
