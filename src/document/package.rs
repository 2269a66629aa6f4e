//! Zip packages of XML parts: DOCX, XLSX and OpenDocument files.
//!
//! Takes a file's bytes; gives single parts as text or tree, and the relationships between them.
//! Invariants: nothing is written to disk; all parts together inflate to at most [`MOST_INFLATED`] bytes, so a zip bomb
//! costs bounded memory; only the five entities of XML are expanded; elements nest at most [`DEEPEST`] deep.
//! Not here: the meaning of parts (`docx`, `sheet`).

use std::collections::HashMap;
use std::io::{self, Cursor, Read};

use roxmltree::{Node, ParsingOptions};
use zip::ZipArchive;

use ragonite_base::{CancelToken, Canceled, Watched};

/// Maximum bytes of all inflated parts of a package.
pub(super) const MOST_INFLATED: u64 = 256 << 20;
/// Maximum bytes of a part that is parsed into a tree, which takes several times its size.
const LARGEST_TREE: usize = 128 << 20;
/// Maximum of nodes in a tree.
const MOST_NODES: u32 = 8_000_000;
/// Maximum element depth. Word stops far earlier.
const DEEPEST: usize = 2_000;
/// Maximum of attributes of an element.
const MOST_ATTRIBUTES: usize = 256;
/// Maximum of parts of a package. Real ones have a few per sheet or picture.
const MOST_PARTS: usize = 20_000;
/// Signature of a compound file: old binary formats, and all encrypted documents.
pub(super) const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The remedy for damage.
const AGAIN: &str =
    "open it in an office program, which may repair it, and save it again, or export it anew from where it comes from";

/// A failure to read a Word file or a spreadsheet.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// The work was cancelled by the user.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A compound file where a zip package is expected.
    #[error("it is protected by a password or in an old binary format; save it without password as DOCX or XLSX")]
    Protected,
    /// Damaged, cut off, or not a package.
    #[error("it is damaged or cut off; {AGAIN}")]
    Container(#[source] zip::result::ZipError),
    /// A part cannot be inflated.
    #[error("its part `{part}` is damaged; {AGAIN}")]
    Part {
        /// The part.
        part: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Larger than what is read into memory.
    #[error("it inflates to more than {limit} bytes; split it into smaller files")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// More parts than any real file has.
    #[error("it has {parts} parts, more than the limit of {MOST_PARTS}; remove what is not needed and save it again")]
    TooManyParts {
        /// Their number.
        parts: usize,
    },
    /// More cells than are read.
    #[error("it has more than {limit} filled cells; split it into smaller files")]
    TooManyCells {
        /// The limit.
        limit: usize,
    },
    /// Sparse cells or repeated texts that need too much memory.
    #[error("reading it would take more than {limit} bytes of memory; split it into smaller files or save it as XLSX")]
    TooMuchMemory {
        /// The limit.
        limit: usize,
    },
    /// Elements nested too deep.
    #[error("the XML of its part `{part}` is nested beyond all bounds; {AGAIN}")]
    TooDeep {
        /// The part.
        part: String,
    },
    /// A part is not XML.
    #[error("the XML of its part `{part}` is damaged; {AGAIN}")]
    Xml {
        /// The part.
        part: String,
        /// The parser's error.
        #[source]
        source: roxmltree::Error,
    },
    /// The content part is missing.
    #[error("it is damaged or no document of its kind, for it has no part `{part}`; {AGAIN}")]
    Missing {
        /// The part.
        part: String,
    },
    /// The spreadsheet reader failed.
    #[error("its sheets cannot be read; {AGAIN}")]
    Workbook(#[source] calamine::Error),
    /// An internal failure of the spreadsheet reader.
    #[error("its sheets are damaged; {AGAIN}")]
    Broken,
    /// A delimited text cannot be split into records.
    #[error("its records cannot be told apart; check its quotes")]
    Records(#[source] csv::Error),
}

/// An open package.
pub(super) struct Package<'a> {
    /// Inflating fails once cancelled.
    archive: ZipArchive<Watched<Cursor<&'a [u8]>>>,
    /// Lower-case names, since package names are case-insensitive.
    names: HashMap<String, usize>,
    left: u64,
    pub(super) cancel: CancelToken,
}

/// A relationship's target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    /// Last word of its type: `hyperlink`, `styles`.
    pub kind: String,
    /// A part's name, or an external URL.
    pub target: String,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8], cancel: &CancelToken) -> Result<Self, OfficeError> {
        if bytes.starts_with(COMPOUND_FILE) {
            return Err(OfficeError::Protected);
        }
        let archive = ZipArchive::new(cancel.watch(Cursor::new(bytes))).map_err(OfficeError::Container)?;
        if archive.len() > MOST_PARTS {
            return Err(OfficeError::TooManyParts { parts: archive.len() });
        }
        let mut names = HashMap::new();
        for index in 0..archive.len() {
            if let Some(Ok(name)) = archive.name_for_index(index) {
                names.insert(name.to_ascii_lowercase().replace('\\', "/"), index);
            }
        }
        Ok(Self { archive, names, left: MOST_INFLATED, cancel: cancel.clone() })
    }

    /// Inflates everything once and discards it, so that later unbounded readers of the package are safe.
    pub(super) fn check(&mut self) -> Result<(), OfficeError> {
        for index in 0..self.archive.len() {
            self.inflate(index, &mut io::sink())?;
        }
        self.left = MOST_INFLATED;
        Ok(())
    }

    fn inflate(&mut self, index: usize, to: &mut dyn io::Write) -> Result<(), OfficeError> {
        let part = match self.archive.name_for_index(index) {
            Some(Ok(name)) => name.into_owned(),
            _ => format!("number {index}"),
        };
        let file = self.archive.by_index(index).map_err(OfficeError::Container)?;
        let copied = io::copy(&mut file.take(self.left + 1), to);
        let bytes = copied.map_err(|source| OfficeError::Part { part, source })?;
        self.left = self.left.checked_sub(bytes).ok_or(OfficeError::TooLarge { limit: MOST_INFLATED })?;
        Ok(())
    }

    /// The text of a part; none if there is no such part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, OfficeError> {
        let name = name.trim_start_matches('/').to_ascii_lowercase();
        let Some(index) = self.names.get(&name).copied() else { return Ok(None) };
        let mut bytes = Vec::new();
        self.inflate(index, &mut bytes)?;
        Ok(Some(decode(bytes)))
    }

    /// The parts with this name ending. Names that differ only in case may be several.
    pub(super) fn ending(&self, end: &str) -> Vec<usize> {
        self.named(|name| name.ends_with(end))
    }

    /// The parts in a folder.
    pub(super) fn inside(&self, folder: &str) -> Vec<usize> {
        self.named(|name| name.starts_with(folder) && !name.contains("_rels/"))
    }

    fn named(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
        let name = |index: &usize| match self.archive.name_for_index(*index) {
            Some(Ok(name)) => is_wanted(&name.to_ascii_lowercase().replace('\\', "/")),
            _ => false,
        };
        (0..self.archive.len()).filter(name).collect()
    }

    pub(super) fn bytes_at(&mut self, index: usize) -> Result<Vec<u8>, OfficeError> {
        let mut bytes = Vec::new();
        self.inflate(index, &mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn text_at(&mut self, index: usize) -> Result<String, OfficeError> {
        self.bytes_at(index).map(decode)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains_key(&name.to_ascii_lowercase())
    }

    /// As [`Package::text`], for a required part.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, OfficeError> {
        self.text(name)?.ok_or_else(|| OfficeError::Missing { part: name.to_owned() })
    }

    /// The relationships of a part by id; those of the package for the empty name.
    pub(super) fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, OfficeError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let name = format!("{folder}{slash}_rels/{file}.rels");
        let Some(text) = self.text(&name)? else { return Ok(HashMap::new()) };
        let tree = parse(&name, &text, &self.cancel)?;
        let relation = |node: Node<'_, '_>| {
            let target = node.attribute("Target")?;
            let outside = node.attribute("TargetMode") == Some("External");
            let kind = node.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let target = if outside { target.to_owned() } else { resolve(folder, target) };
            Some((node.attribute("Id")?.to_owned(), Relation { kind, target }))
        };
        Ok(tree.root_element().children().filter_map(relation).collect())
    }
}

/// Resolves a part's name relative to a folder of the package.
fn resolve(folder: &str, target: &str) -> String {
    let full = match target.strip_prefix('/') {
        Some(rooted) => rooted.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let mut path: Vec<&str> = Vec::new();
    for step in full.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(path.pop()),
            step => path.push(step),
        }
    }
    path.join("/")
}

/// XML is in UTF-8, or in UTF-16 with a mark.
fn decode(bytes: Vec<u8>) -> String {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The tree of a part.
pub(super) fn parse<'t>(
    part: &str,
    text: &'t str,
    cancel: &CancelToken,
) -> Result<roxmltree::Document<'t>, OfficeError> {
    if text.len() > LARGEST_TREE {
        return Err(OfficeError::TooLarge { limit: LARGEST_TREE as u64 });
    }
    if !is_shallow(text) {
        return Err(OfficeError::TooDeep { part: part.to_owned() });
    }
    // The parser cannot be interrupted; its limits bound it to about a second.
    cancel.check()?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    roxmltree::Document::parse_with_options(text, options)
        .map_err(|source| OfficeError::Xml { part: part.to_owned(), source })
}

/// Whether depth and attributes are within the limits. Trees take time and memory by depth.
fn is_shallow(text: &str) -> bool {
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let skipped =
            [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")].iter().find(|(start, _)| rest.starts_with(start));
        if let Some((_, end)) = skipped {
            rest = rest.split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        let tag = &rest[..end_of_tag(rest)];
        rest = &rest[tag.len()..];
        if tag.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with("/>") {
            depth += 1;
        }
        if depth > DEEPEST
            || tag.bytes().filter(|byte| *byte == b'=').take(4 * MOST_ATTRIBUTES).count() == 4 * MOST_ATTRIBUTES
        {
            return false;
        }
    }
    true
}

/// The end of a tag; a `>` in quotes does not count.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            _ => {}
        }
    }
    tag.len()
}

/// The first child element of a name, whatever its namespace.
pub(super) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.is_element() && child.tag_name().name() == name)
}

/// The attribute `val` of the first child element of a name.
pub(super) fn child_value<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name).and_then(|node| attribute(node, "val"))
}

/// The value of an attribute of a name, whatever its namespace.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name() == name).map(|attribute| attribute.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<roxmltree::Document<'_>, OfficeError> {
        parse("x", text, &CancelToken::never())
    }

    #[test]
    fn targets_never_leave_the_package() {
        assert_eq!(resolve("word", "media/../../../../etc/passwd"), "etc/passwd");
        assert_eq!(resolve("xl/worksheets", "../tables/table1.xml"), "xl/tables/table1.xml");
        assert_eq!(resolve("xl", "/xl/styles.xml"), "xl/styles.xml");
    }

    #[test]
    fn deep_or_overloaded_xml_is_refused_before_a_tree_is_built() {
        let deep = format!("{}{}", "<a b='/>'>".repeat(3_000), "</a>".repeat(3_000));
        assert!(matches!(tree(&deep), Err(OfficeError::TooDeep { .. })));
        let wide: String = (0..5_000).map(|n| format!(" a{n}=''")).collect();
        assert!(matches!(tree(&format!("<a{wide}/>")), Err(OfficeError::TooDeep { .. })));
        assert!(tree("<a><!-- <b> --><![CDATA[<c>]]><d/></a>").is_ok());
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;</a>";
        assert!(matches!(tree(bomb), Err(OfficeError::Xml { .. })));
    }
}
