//! Reads a file into its [`Document`]s: one, or one per member of a container.
//!
//! Takes a path or bytes; detects the format and passes the content to its reader; `parse_format` lists the readers.
//! Invariants: one document is in memory at a time; containers nest at most [`DEEPEST`] deep; unpacking is bounded by a
//! [`Budget`]; a bad member is an error of that member and never ends the reading. After cancellation nothing more is
//! emitted, and a reader may stop with an error or a partial document.
//! Not here: the contents of containers (`archive`, `mail`, `mailbox`, `confluence_html`, `confluence_xml`, `page`).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::format::{Format, LOOK, NoFormat, ToldBy};
use super::markup::Dialect;
use super::page::{self, is_storage};
use super::{
    Block, Document, DocumentError, OfficeError, confluence_html, confluence_xml, docx, encoding, html, mail, mailbox,
    markdown,
};
use super::{pdf, sheet, text};
use ragonite_base::{CancelToken, clean_line};

/// Maximum bytes of a single document, which is parsed in memory at several times its size.
pub const LARGEST_FILE: u64 = 64 << 20;

/// Maximum bytes of a container, which is streamed.
pub const LARGEST_CONTAINER: u64 = 4 << 30;

/// Maximum depth of containers.
const DEEPEST: usize = 3;

/// Minimum unpacking budget in bytes.
const LEAST_BUDGET: u64 = 256 << 20;

/// Unpacking budget per byte of the file. Wiki markup packs at most thirtyfold.
const BUDGET_PER_BYTE: u64 = 100;

/// Maximum unpacking budget in bytes.
const LARGEST_BUDGET: u64 = 64 << 30;

/// Maximum of members of a file, inner containers included.
pub(super) const MOST_MEMBERS: u64 = 200_000;

/// A document of a file.
#[derive(Debug)]
pub struct Member {
    /// Its name inside the file, with `!/` between nested containers; none if the file is the document.
    pub name: Option<String>,
    /// The document, or the error.
    pub content: Result<Document, DocumentError>,
}

/// Reads a file and passes its documents to `visit`, one at a time, until `visit` stops or the work is cancelled.
///
/// # Errors
/// If the file as a whole cannot be read; a bad member is passed on as such. [`DocumentError::Canceled`], after which
/// nothing is passed on.
pub fn read(
    path: &Path,
    cancel: &CancelToken,
    visit: &mut dyn FnMut(Member) -> ControlFlow<()>,
) -> Result<(), DocumentError> {
    let source = Source::open(path)?;
    DocumentReader::new(source.size(), cancel, visit).all(path, source)
}

/// Reads the document in a file; of a container, the first.
///
/// # Errors
/// If the file cannot be read, is too large, has an unknown format or no text.
pub fn load(path: &Path) -> Result<Document, DocumentError> {
    first(path, |visit| read(path, &CancelToken::never(), visit))
}

/// Parses a file's content; `name` decides format and title if the content does not.
///
/// # Errors
/// As [`load`].
pub fn parse(name: &Path, bytes: &[u8]) -> Result<Document, DocumentError> {
    let source = Source::Bytes(Cursor::new(bytes.to_vec()));
    first(name, |visit| DocumentReader::new(source.size(), &CancelToken::never(), visit).all(name, source))
}

fn first(
    path: &Path,
    read: impl FnOnce(&mut dyn FnMut(Member) -> ControlFlow<()>) -> Result<(), DocumentError>,
) -> Result<Document, DocumentError> {
    let mut found = None;
    read(&mut |member| {
        found = Some(member.content);
        ControlFlow::Break(())
    })?;
    found.unwrap_or_else(|| Err(DocumentError::NoDocuments { path: path.to_owned() }))
}

/// The format of a file, by its first bytes and, for an archive, its members.
pub(super) fn look(path: &Path) -> Result<(Format, ToldBy), DocumentError> {
    let place = Place::of(path);
    let mut source = Source::open(path)?;
    match format_of(&place, &mut source)? {
        (Format::Zip, _) => {
            let mut archive = Archive::open(&place, source)?;
            let format = archive.format(&place)?;
            let told_by = if format == Format::Zip { ToldBy::Name } else { ToldBy::Content };
            Ok((format, told_by))
        }
        found => Ok(found),
    }
}

fn format_of(place: &Place<'_>, source: &mut Source) -> Result<(Format, ToldBy), DocumentError> {
    let start = source.start().map_err(|error| place.unreadable(error))?;
    if source.size() <= start.len() as u64 {
        check_content(place, &start)?;
    }
    Format::of(&place.own_name(), &start).map_err(|why| place.no_format(why))
}

/// The location of a document: a file, or containers in a file.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    file: &'a Path,
    inner: Vec<String>,
}

impl<'a> Place<'a> {
    pub(super) fn of(file: &'a Path) -> Self {
        Self { file, inner: Vec::new() }
    }

    /// The location of a member of this container.
    pub(super) fn member(&self, name: &str) -> Self {
        let mut inner = self.inner.clone();
        inner.push(name.to_owned());
        Self { file: self.file, inner }
    }

    /// The path to show.
    pub(super) fn shown(&self) -> PathBuf {
        let mut path = self.file.as_os_str().to_owned();
        for name in &self.inner {
            path.push("!/");
            path.push(name);
        }
        path.into()
    }

    fn name(&self) -> Option<String> {
        (!self.inner.is_empty()).then(|| self.inner.join("!/"))
    }

    /// The name in the innermost container.
    pub(super) fn own_name(&self) -> PathBuf {
        self.inner.last().map_or_else(|| self.file.to_owned(), PathBuf::from)
    }

    pub(super) fn unreadable(&self, source: io::Error) -> DocumentError {
        DocumentError::Read { path: self.shown(), source }
    }

    pub(super) fn refused(&self, what: impl Into<String>, remedy: &'static str) -> DocumentError {
        DocumentError::Refused { path: self.shown(), what: what.into().into(), remedy: remedy.into() }
    }

    fn office(&self, source: OfficeError) -> DocumentError {
        DocumentError::Office { path: self.shown(), source: Box::new(source) }
    }

    pub(super) fn no_format(&self, why: NoFormat) -> DocumentError {
        match why {
            NoFormat::Unknown => DocumentError::UnknownFormat { path: self.shown() },
            NoFormat::Refused { what, remedy } => DocumentError::Refused { path: self.shown(), what, remedy },
        }
    }
}

/// Content to read: a file, or unpacked bytes.
#[derive(Debug)]
pub(super) enum Source {
    File(BufReader<File>, u64),
    Bytes(Cursor<Vec<u8>>),
}

impl Source {
    fn open(path: &Path) -> Result<Self, DocumentError> {
        let place = Place::of(path);
        let failed = |source| place.unreadable(source);
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(place.refused("no regular file", "name a file or a folder of files"));
        }
        Ok(Self::File(BufReader::new(File::open(path).map_err(failed)?), metadata.len()))
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File(_, bytes) => *bytes,
            Self::Bytes(bytes) => bytes.get_ref().len() as u64,
        }
    }

    /// The first bytes; rewinds.
    fn start(&mut self) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        self.by_ref().take(LOOK as u64).read_to_end(&mut start)?;
        self.rewind()?;
        Ok(start)
    }

    /// Rewinds.
    pub(super) fn restart(&mut self) -> io::Result<()> {
        self.rewind()
    }

    /// All bytes of a document.
    pub(super) fn into_bytes(self, place: &Place<'_>, cancel: &CancelToken) -> Result<Vec<u8>, DocumentError> {
        place.check_size(self.size(), LARGEST_FILE)?;
        match self {
            Self::Bytes(bytes) => Ok(bytes.into_inner()),
            Self::File(file, _) => {
                let mut bytes = Vec::new();
                let mut file = cancel.watch(file).take(LARGEST_FILE);
                file.read_to_end(&mut bytes).map_err(|error| place.unreadable(error))?;
                Ok(bytes)
            }
        }
    }
}

impl Place<'_> {
    fn check_size(&self, bytes: u64, limit: u64) -> Result<(), DocumentError> {
        if bytes <= limit { Ok(()) } else { Err(DocumentError::TooLarge { path: self.shown(), bytes, limit }) }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file, _) => file.read(buffer),
            Self::Bytes(bytes) => bytes.read(buffer),
        }
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::File(file, _) => file.fill_buf(),
            Self::Bytes(bytes) => bytes.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::File(file, _) => file.consume(amount),
            Self::Bytes(bytes) => bytes.consume(amount),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file, _) => file.seek(position),
            Self::Bytes(bytes) => bytes.seek(position),
        }
    }
}

/// The remaining unpacking budget.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) bytes: u64,
    pub(super) members: u64,
}

/// Metadata from a container, for documents without their own.
#[derive(Debug, Clone, Default)]
pub(super) struct Inherited {
    pub(super) space: Option<String>,
    pub(super) ancestors: Vec<String>,
}

/// Reads one file.
pub(super) struct DocumentReader<'v> {
    visit: &'v mut dyn FnMut(Member) -> ControlFlow<()>,
    pub(super) cancel: CancelToken,
    pub(super) budget: Budget,
    pub(super) within: Inherited,
}

impl<'v> DocumentReader<'v> {
    pub(super) fn new(bytes: u64, cancel: &CancelToken, visit: &'v mut dyn FnMut(Member) -> ControlFlow<()>) -> Self {
        let bytes = bytes.saturating_mul(BUDGET_PER_BYTE).clamp(LEAST_BUDGET, LARGEST_BUDGET);
        let budget = Budget { bytes, members: MOST_MEMBERS };
        Self { visit, cancel: cancel.clone(), budget, within: Inherited::default() }
    }

    fn all(mut self, path: &Path, source: Source) -> Result<(), DocumentError> {
        let read = self.open(&Place::of(path), source);
        // The error of an interrupted reader says nothing about the file.
        self.cancel.check()?;
        read.map(|_| ())
    }

    /// Emits a document or an error; nothing once cancelled, because the document may be incomplete.
    pub(super) fn emit(&mut self, place: &Place<'_>, content: Result<Document, DocumentError>) -> ControlFlow<()> {
        if self.cancel.is_canceled() {
            return ControlFlow::Break(());
        }
        let content = content.and_then(|document| finished(place, document)).map(|mut document| {
            document.space = document.space.or_else(|| self.within.space.clone());
            if document.ancestors.is_empty() {
                document.ancestors.clone_from(&self.within.ancestors);
            }
            document
        });
        (self.visit)(Member { name: place.name(), content })
    }

    /// Reads a member of a container; a failure is emitted as a bad member.
    pub(super) fn member(&mut self, place: &Place<'_>, bytes: Vec<u8>) -> ControlFlow<()> {
        match self.open(place, Source::Bytes(Cursor::new(bytes))) {
            Ok(flow) => flow,
            Err(error) => self.emit(place, Err(error)),
        }
    }

    fn open(&mut self, place: &Place<'_>, mut source: Source) -> Result<ControlFlow<()>, DocumentError> {
        match format_of(place, &mut source)? {
            (Format::Zip, _) => {
                place.check_size(source.size(), LARGEST_CONTAINER)?;
                self.archive(place, open_archive(place, source)?)
            }
            (format, _) if holds_several(format) => {
                check_depth(place)?;
                place.check_size(source.size(), LARGEST_CONTAINER)?;
                match format {
                    Format::Mailbox => mailbox::read(self, place, source),
                    Format::JsonPages => page::read_several(self, place, source),
                    Format::ConfluenceEntities => confluence_xml::read_entities(self, place, source),
                    _ => mail::read(self, place, &source.into_bytes(place, &self.cancel)?),
                }
            }
            (format, _) => self.parse_leaf(place, format, source),
        }
    }

    fn archive(&mut self, place: &Place<'_>, mut archive: Archive) -> Result<ControlFlow<()>, DocumentError> {
        let format = archive.format(place)?;
        match format {
            Format::Zip | Format::ConfluenceHtmlExport | Format::ConfluenceXmlExport => check_depth(place)?,
            _ => {}
        }
        match format {
            Format::Zip => archive.read(self, place),
            Format::ConfluenceHtmlExport => confluence_html::read(self, place, archive),
            Format::ConfluenceXmlExport => confluence_xml::read(self, place, archive),
            _ => self.parse_leaf(place, format, archive.into_source(place)?),
        }
    }

    fn parse_leaf(
        &mut self,
        place: &Place<'_>,
        format: Format,
        source: Source,
    ) -> Result<ControlFlow<()>, DocumentError> {
        let bytes = source.into_bytes(place, &self.cancel)?;
        check_content(place, &bytes)?;
        let document = parse_format(place, format, bytes, &self.cancel)?;
        // A file without text is refused as a whole.
        check_text(place, &document)?;
        Ok(self.emit(place, Ok(document)))
    }
}

/// Opens an archive. Errors of office files name another remedy.
fn open_archive(place: &Place<'_>, source: Source) -> Result<Archive, DocumentError> {
    let is_office = matches!(Format::of_name(&place.own_name()), Some(Format::Docx | Format::Workbook));
    Archive::open(place, source).map_err(|error| match error {
        DocumentError::Archive { source, .. } if is_office => place.office(OfficeError::Container(source)),
        other => other,
    })
}

fn holds_several(format: Format) -> bool {
    matches!(format, Format::Mail | Format::Mailbox | Format::JsonPages | Format::ConfluenceEntities)
}

/// Checks the depth for opening a container.
pub(super) fn check_depth(place: &Place<'_>) -> Result<(), DocumentError> {
    if place.inner.len() < DEEPEST {
        return Ok(());
    }
    Err(place.refused("in an archive in an archive in an archive", "unpack the outer ones and ingest the folder"))
}

/// The readers, one line per single-document format.
fn parse_format(
    place: &Place<'_>,
    format: Format,
    bytes: Vec<u8>,
    cancel: &CancelToken,
) -> Result<Document, DocumentError> {
    // The bytes are freed before parsing, which takes several times as much.
    let text = |bytes: Vec<u8>| {
        encoding::decode(&bytes).ok_or_else(|| place.refused("binary data, whatever its name says", REMEDY))
    };
    Ok(match format {
        Format::Html => read_html(&text(bytes)?, cancel),
        Format::Confluence => titled(html::read_fragment(&text(bytes)?, Dialect::Storage, cancel)),
        Format::ConfluencePage => confluence_html::read_page(place, &text(bytes)?, cancel)?,
        Format::Markdown => markdown::read(&text(bytes)?, cancel),
        Format::Json => page::read_one(place, &text(bytes)?, cancel)?,
        Format::Text => titled(text::read_file(&text(bytes)?)),
        Format::Docx => docx::read(&bytes, cancel).map_err(|source| place.office(source))?,
        Format::Workbook => sheet::read_workbook(&bytes, cancel).map_err(|source| place.office(source))?,
        Format::Delimited => sheet::read_delimited(&text(bytes)?, cancel).map_err(|source| place.office(source))?,
        Format::Pdf => {
            pdf::read(&bytes, cancel).map_err(|source| DocumentError::Pdf { path: place.shown(), source })?
        }
        Format::JsonPages
        | Format::Mail
        | Format::Mailbox
        | Format::Zip
        | Format::ConfluenceHtmlExport
        | Format::ConfluenceXmlExport
        | Format::ConfluenceEntities => return Err(DocumentError::UnknownFormat { path: place.shown() }),
    })
}

const REMEDY: &str = "save it as HTML or text";

/// An HTML page; storage format is sometimes saved as HTML.
fn read_html(text: &str, cancel: &CancelToken) -> Document {
    let start: String = text.chars().take(LOOK).collect::<String>().to_ascii_lowercase();
    if is_storage(text) && !start.contains("<html") && !start.contains("<!doctype") {
        return titled(html::read_fragment(text, Dialect::Storage, cancel));
    }
    html::read_page(text, cancel)
}

/// A document without a title takes its only outermost heading; several are parts of it.
fn titled(mut document: Document) -> Document {
    let mut headings = document.blocks.iter().filter_map(|block| match block {
        Block::Heading { level: 1, text } => Some(text),
        _ => None,
    });
    if let (true, Some(heading), None) = (document.title.is_empty(), headings.next(), headings.next()) {
        document.title.clone_from(heading);
    }
    document
}

/// Refuses empty content: white space, or the zeros that a crash leaves.
fn check_content(place: &Place<'_>, bytes: &[u8]) -> Result<(), DocumentError> {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let content = marks.iter().find_map(|mark| bytes.strip_prefix(*mark)).unwrap_or(bytes);
    let nothing = content.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace());
    if nothing { Err(DocumentError::Empty { path: place.shown() }) } else { Ok(()) }
}

fn check_text(place: &Place<'_>, document: &Document) -> Result<(), DocumentError> {
    let none = document.blocks.iter().all(|block| matches!(block, Block::Page(_)));
    if none { Err(DocumentError::NoText { path: place.shown() }) } else { Ok(()) }
}

/// A document with title and text, or the error.
fn finished(place: &Place<'_>, mut document: Document) -> Result<Document, DocumentError> {
    check_text(place, &document)?;
    if document.title.is_empty() {
        let name = place.own_name();
        let stem = name.file_stem().unwrap_or(name.as_os_str());
        document.title = clean_line(&stem.to_string_lossy());
    }
    drop_title_heading(&mut document);
    Ok(document)
}

/// Removes a first heading that repeats the title.
fn drop_title_heading(document: &mut Document) {
    let says_title = |block: &Block| matches!(block, Block::Heading { level: 1, text } if *text == document.title);
    if document.blocks.len() > 1 && document.blocks.first().is_some_and(says_title) {
        document.remove_blocks(&[0]);
    }
}
