//! ZIP archives: their members, each unpacked in memory, one at a time.
//!
//! Takes a source, gives its list of members and their bytes; `read` passes every document in it to the reader.
//! Invariants: nothing is written to disk, names are only shown; unpacking is bounded per member, by ratio and by the
//! file's budget, whatever sizes the archive claims; hidden members and litter of file managers are counted and
//! skipped.
//! Not here: the formats of members (`reader`).

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use zip::ZipArchive;
use zip::result::ZipError;

use super::format::{Format, NoFormat, refused};
use super::reader::{Budget, DocumentReader, LARGEST_FILE, MOST_MEMBERS, Place, Source};
use super::{DocumentError, confluence_html};
use ragonite_base::clean_line;

/// Maximum of members; their list is held in memory.
const MOST_LISTED: u64 = 200_000;

/// Maximum compression ratio; higher ones are zip bombs.
const HIGHEST_RATIO: u64 = 500;

/// Bytes up to which any ratio is allowed.
const RATIO_FROM: u64 = 8 << 20;

/// Bytes of an index page that are examined.
const INDEX_LOOK: u64 = 1 << 20;

/// Files that file managers leave behind.
const LITTER: &[&str] = &["__MACOSX", "Thumbs.db", "desktop.ini"];

const UNTRUSTED: &str = "if you trust it, unpack it yourself and ingest the folder";

/// A member as listed.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    at: usize,
    /// The clean name, without escapes and without a way out of the folder.
    pub(super) name: String,
    packed: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Encrypted,
    Link,
}

/// An open archive.
pub(super) struct Archive {
    zip: ZipArchive<Source>,
    pub(super) entries: Vec<Entry>,
    /// Number of hidden members, and the name of the first.
    hidden: Option<(usize, String)>,
}

impl Archive {
    pub(super) fn open(place: &Place<'_>, mut source: Source) -> Result<Self, DocumentError> {
        if listed_members(&mut source).is_some_and(|members| members > MOST_LISTED) {
            let what = format!("an archive of more than {MOST_LISTED} members");
            return Err(place.refused(what, "split it, or unpack it and ingest the folder"));
        }
        let failed = |source| DocumentError::Archive { path: place.shown(), source };
        let zip = ZipArchive::new(source).map_err(failed)?;
        let mut entries = Vec::with_capacity(zip.len());
        let mut hidden: Option<(usize, String)> = None;
        for at in 0..zip.len() {
            let entry = zip.by_index_data(at).map_err(failed)?;
            let name = clean_name(entry.name_raw(), entry.name().ok().as_deref());
            if entry.is_dir() || name.is_empty() {
                continue;
            }
            if name.split('/').any(|part| part.starts_with('.') || LITTER.contains(&part)) {
                hidden.get_or_insert((0, name)).0 += 1;
                continue;
            }
            let kind = match () {
                () if entry.is_symlink() => Kind::Link,
                () if entry.encrypted() => Kind::Encrypted,
                () => Kind::Plain,
            };
            entries.push(Entry { at, name, packed: entry.compressed_size(), kind });
        }
        Ok(Self { zip, entries, hidden })
    }

    /// The format of the archive, by its members.
    pub(super) fn format(&mut self, place: &Place<'_>) -> Result<Format, DocumentError> {
        let has = |name: &str| self.entries.iter().any(|entry| entry.name == name);
        let media = |archive: &mut Self| archive.start_of("mimetype", 100).unwrap_or_default();
        let office = "save it as PDF, or copy its text into a document";
        let found = match () {
            () if has("word/document.xml") => Ok(Format::Docx),
            () if has("xl/workbook.xml") || has("xl/workbook.bin") => Ok(Format::Workbook),
            () if has("ppt/presentation.xml") => Err(refused("a presentation", "save it as PDF")),
            () if has("Index/Document.iwa") => Err(refused("an Apple iWork document", "save it as DOCX or PDF")),
            () if has("EncryptedPackage") => Err(refused("encrypted", "remove its password")),
            () if has("mimetype") => match media(self).trim_ascii() {
                b"application/vnd.oasis.opendocument.spreadsheet" => Ok(Format::Workbook),
                b"application/vnd.oasis.opendocument.text" => Err(refused("an OpenDocument text", "save it as DOCX")),
                b"application/epub+zip" => Err(refused("an e-book", "save it as PDF or HTML")),
                media if media.starts_with(b"application/vnd.oasis") => Err(refused("an OpenDocument file", office)),
                _ => Ok(Format::Zip),
            },
            () if has("META-INF/MANIFEST.MF") => Err(refused("a Java program", "only documents are read")),
            () if self.find("entities.xml").is_some() => Ok(Format::ConfluenceXmlExport),
            () if self.is_html_export() => Ok(Format::ConfluenceHtmlExport),
            () => Ok(self.promised(place).unwrap_or(Format::Zip)),
        };
        found.map_err(|why: NoFormat| place.no_format(why))
    }

    /// The office format of the name, if the archive is made as such, whatever parts are missing.
    fn promised(&self, place: &Place<'_>) -> Option<Format> {
        let named = Format::of_name(&place.own_name())?;
        let folder = match named {
            Format::Docx => "word/",
            Format::Workbook => "xl/",
            _ => return None,
        };
        let is_part = |entry: &Entry| entry.name == "[Content_Types].xml" || entry.name.starts_with(folder);
        self.entries.iter().any(is_part).then_some(named)
    }

    fn is_html_export(&mut self) -> bool {
        let Some(index) = self.find("index.html").map(|entry| entry.name.clone()) else { return false };
        let folder = index.strip_suffix("index.html").unwrap_or_default();
        let styled = format!("{folder}styles/site.css");
        self.entries.iter().any(|entry| entry.name == styled)
            && self.start_of(&index, INDEX_LOOK).is_some_and(|start| confluence_html::is_index(&start))
    }

    /// The member of this name, at the top or in the one folder that holds everything.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        let is_it = |entry: &&Entry| match entry.name.split_once('/') {
            None => entry.name == name,
            Some((_, rest)) => rest == name,
        };
        self.entries.iter().find(|entry| entry.name == name).or_else(|| self.entries.iter().find(is_it))
    }

    fn start_of(&mut self, name: &str, bytes: u64) -> Option<Vec<u8>> {
        let at = self.entries.iter().find(|entry| entry.name == name)?.at;
        let mut start = Vec::new();
        let member = self.zip.by_index(at).ok()?;
        // Later damage shows when the member is read.
        let _ = member.take(bytes).read_to_end(&mut start);
        Some(start)
    }

    /// Passes every document in the archive to the reader.
    pub(super) fn read(
        mut self,
        walk: &mut DocumentReader<'_>,
        place: &Place<'_>,
    ) -> Result<ControlFlow<()>, DocumentError> {
        let repeated = self.zip.has_duplicate_names();
        let mut names = Names::default();
        let mut given = false;
        for entry in std::mem::take(&mut self.entries) {
            let member = place.member(&names.unique(&entry.name));
            walk.take_member(place)?;
            given = true;
            let flow = match self.bytes(&entry, &member, &mut walk.budget) {
                Ok(bytes) => walk.member(&member, bytes),
                Err(error) => walk.emit(&member, Err(error)),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if let Some((count, first)) = self.hidden.take() {
            given = true;
            let flow = walk.emit(&place.member("(hidden files)"), Err(DocumentError::Hidden { count, first }));
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if repeated {
            let names = place.member("(repeated names)");
            let error = place.refused("an archive with several files of one name", "the last of each was read");
            return Ok(walk.emit(&names, Err(error)));
        }
        if given { Ok(ControlFlow::Continue(())) } else { Err(DocumentError::NoDocuments { path: place.shown() }) }
    }

    /// Unpacks a member.
    pub(super) fn bytes(
        &mut self,
        entry: &Entry,
        place: &Place<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<u8>, DocumentError> {
        let (member, _) = self.member(entry, place)?;
        let limit = LARGEST_FILE.min(budget.bytes);
        let mut bytes = Vec::new();
        let read = member.take(limit + 1).read_to_end(&mut bytes);
        let unpacked = bytes.len() as u64;
        budget.bytes = budget.bytes.saturating_sub(unpacked);
        if unpacked > RATIO_FROM && unpacked / HIGHEST_RATIO > entry.packed {
            let what = format!("a member that unpacks to more than {HIGHEST_RATIO} times its size, as in a ZIP bomb");
            return Err(place.refused(what, UNTRUSTED));
        }
        if unpacked > LARGEST_FILE {
            return Err(place.refused(
                format!("a member of more than {LARGEST_FILE} bytes"),
                "unpack the archive and split what is too large",
            ));
        }
        if unpacked > limit {
            return Err(exhausted(place));
        }
        read.map_err(|source| DocumentError::Archive { path: place.shown(), source: ZipError::Io(source) })?;
        Ok(bytes)
    }

    /// A member as a stream, limited in bytes and by its plausible size.
    pub(super) fn stream(
        &mut self,
        entry: &Entry,
        place: &Place<'_>,
        bytes: u64,
    ) -> Result<impl BufRead, DocumentError> {
        let (member, packed) = self.member(entry, place)?;
        let limit = bytes.min(packed.saturating_mul(HIGHEST_RATIO).max(RATIO_FROM));
        Ok(BufReader::new(member.take(limit)))
    }

    fn member(&mut self, entry: &Entry, place: &Place<'_>) -> Result<(impl Read, u64), DocumentError> {
        match entry.kind {
            Kind::Link => return Err(place.refused("a symbolic link", "only real files in an archive are read")),
            Kind::Encrypted => {
                return Err(place.refused("encrypted", "unpack the archive with its password and ingest the folder"));
            }
            Kind::Plain => {}
        }
        let failed = |source| DocumentError::Archive { path: place.shown(), source };
        Ok((self.zip.by_index(entry.at).map_err(failed)?, entry.packed))
    }

    /// The archive's own bytes, for a document that is a ZIP archive.
    pub(super) fn into_source(self, place: &Place<'_>) -> Result<Source, DocumentError> {
        let mut source = self.zip.into_inner();
        source.rewind().map_err(|error| place.unreadable(error))?;
        Ok(source)
    }
}

impl DocumentReader<'_> {
    /// Counts a member before it is read. Every container calls it for each member.
    pub(super) fn take_member(&mut self, place: &Place<'_>) -> Result<(), DocumentError> {
        self.cancel.check()?;
        if self.budget.bytes == 0 {
            return Err(exhausted(place));
        }
        let Some(left) = self.budget.members.checked_sub(1) else {
            let what = format!("a file of more than {MOST_MEMBERS} documents");
            return Err(place.refused(what, "the first ones were read; split it to read the others"));
        };
        self.budget.members = left;
        Ok(())
    }
}

fn exhausted(place: &Place<'_>) -> DocumentError {
    place.refused("part of what unpacks to far more than its size, as in a ZIP bomb", UNTRUSTED)
}

/// The number of members that the archive claims; rewinds the source.
fn listed_members(source: &mut Source) -> Option<u64> {
    const END: &[u8] = b"PK\x05\x06";
    const END_64: &[u8] = b"PK\x06\x06";
    let from = source.size().saturating_sub(128 << 10);
    source.seek(SeekFrom::Start(from)).ok()?;
    let mut tail = Vec::new();
    source.take(128 << 10).read_to_end(&mut tail).ok()?;
    source.rewind().ok()?;
    let last = |mark: &[u8]| tail.windows(4).rposition(|four| four == mark);
    if let Some(count) = last(END_64).and_then(|at| tail.get(at + 32..at + 40)) {
        return Some(u64::from_le_bytes(count.try_into().ok()?));
    }
    let count = last(END).and_then(|at| tail.get(at + 10..at + 12))?;
    Some(u16::from_le_bytes(count.try_into().ok()?).into())
}

/// A name to show: `/` between folders, no way out of the archive.
fn clean_name(raw: &[u8], decoded: Option<&str>) -> String {
    // Many programs write UTF-8 without declaring it.
    let name = std::str::from_utf8(raw).ok().or(decoded).map_or_else(|| String::from_utf8_lossy(raw), Into::into);
    let name = name.replace('\\', "/");
    let parts = name.split('/').map(clean_line);
    let kept = parts.filter(|part| !part.is_empty() && part != "." && part != ".." && !is_drive(part));
    kept.collect::<Vec<_>>().join("/")
}

fn is_drive(part: &str) -> bool {
    part.len() == 2 && part.ends_with(':')
}

/// Makes names unique.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Each name with the number to try for its next repetition.
    given: HashMap<String, usize>,
}

impl Names {
    /// The name, with a number if it was given before.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut number = self.given.get(name).copied().unwrap_or(1);
        let mut unique = name.to_owned();
        while number > 1 || self.given.contains_key(name) {
            number = number.max(2);
            unique = format!("{name} ({number})");
            number += 1;
            if !self.given.contains_key(&unique) {
                self.given.insert(name.to_owned(), number);
                break;
            }
        }
        self.given.insert(unique.clone(), 2);
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_a_way_out_of_the_archive() {
        let clean = |name: &[u8]| clean_name(name, None);
        assert_eq!(clean(b"../../etc/passwd.txt"), "etc/passwd.txt");
        assert_eq!(clean(b"C:\\Users\\x\\notes.txt"), "Users/x/notes.txt");
        assert_eq!(clean(b"/abs/./a//b.md"), "abs/a/b.md");
        assert_eq!(clean(b"a\x1b[31m\n.txt"), "a .txt");
        assert_eq!(clean("Übersicht.md".as_bytes()), "Übersicht.md");
        assert_eq!(clean_name(b"\x9abersicht.md", Some("Übersicht.md")), "Übersicht.md");
    }

    #[test]
    fn a_name_that_comes_again_gets_a_number() {
        let mut names = Names::default();
        let given: Vec<String> = ["a", "a", "a (2)", "a"].iter().map(|name| names.unique(name)).collect();
        assert_eq!(given, ["a", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
