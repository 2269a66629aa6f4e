//! What can go wrong while reading a source file.
//!
//! A path inside a container is written behind `!/`: `space.zip!/team/page.html`.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{OfficeError, PdfError};
use ragonite_base::Canceled;

/// Why a file, or a document inside it, gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The work was cancelled by the user. Says nothing about the file.
    #[error(transparent)]
    Canceled(#[from] Canceled),
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
    #[error(
        "`{path}` is in no format that can be read; if it is text, rename it to .txt, else save it as PDF, DOCX or HTML"
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The format is known, and not read.
    #[error("`{path}` is {what}; {remedy}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it is, with its article.
        what: Cow<'static, str>,
        /// What to do about it.
        remedy: Cow<'static, str>,
    },
    /// JSON that is damaged, or no page.
    #[error(
        "`{path}` is {fault} in line {line}, column {column}: {why}; a page is an object with the texts `title` and \
         `content`, several are a list or one a line"
    )]
    NoPage {
        /// The file, or the page in it.
        path: PathBuf,
        /// Whether it is JSON at all.
        fault: JsonFault,
        /// Line of the file, from 1.
        line: usize,
        /// Byte of the line, from 1.
        column: usize,
        /// What the parser says.
        why: Box<str>,
    },
    /// A PDF that gives no text.
    #[error("reading the PDF `{path}`")]
    Pdf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: PdfError,
    },
    /// There is nothing in the file, or only white space.
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
    /// An archive, a mailbox or an export in which nothing is.
    #[error("`{path}` holds no document; check that it was packed or exported whole")]
    NoDocuments {
        /// The file.
        path: PathBuf,
    },
    /// Members of an archive that are hidden, which nobody means to be read.
    #[error("{}", passed_over(*count, first))]
    Hidden {
        /// How many.
        count: usize,
        /// Name of the first.
        first: String,
    },
    /// The file is larger than what is read.
    #[error("`{path}` has {bytes} bytes, more than the {limit} that are read; split it into smaller files")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// A ZIP archive, or a member of one, that is damaged or packed in a way that is not read.
    #[error("`{path}` cannot be unpacked; if other programs can, unpack it and ingest the folder")]
    Archive {
        /// The archive or the member.
        path: PathBuf,
        /// Why.
        #[source]
        source: zip::result::ZipError,
    },
    /// An export whose XML is damaged.
    #[error("`{path}` is damaged from byte {at} on; what came before was read. Export the space again")]
    Xml {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
        /// Why.
        #[source]
        source: quick_xml::Error,
    },
    /// A Word file or a spreadsheet that is damaged, protected or hostile.
    #[error("`{path}` cannot be read as a Word or spreadsheet file")]
    Office {
        /// The file.
        path: PathBuf,
        /// Why.
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

/// What is wrong with JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFault {
    /// It cannot be parsed.
    Damaged,
    /// It is something else than a page.
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
