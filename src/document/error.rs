//! What can go wrong while reading a source file.
//!
//! A path inside a container is written behind `!/`: `space.zip!/team/page.html`.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::{OfficeError, PdfError};
use crate::base::Canceled;

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
    /// A JSON file that is no page.
    #[error(
        "`{path}` is JSON but no page; a page is an object with `title` and `content`, several are a list or one a line"
    )]
    NoPage {
        /// The file.
        path: PathBuf,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
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
    /// The file holds no text at all.
    #[error("`{path}` has no text; if it shows pictures of text, run a text recognition over it and save the result")]
    Empty {
        /// The file.
        path: PathBuf,
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
        source: OfficeError,
    },
}
