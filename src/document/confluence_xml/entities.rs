//! The objects of an `entities.xml`, one after the other.
//!
//! Takes a stream, gives each object with its id and wanted properties.
//! Invariants: one object is in memory at a time, with no part larger than [`LARGEST_FILE`]; entities defined by the
//! document are refused, so that a small file cannot become a large text.
//! Not here: the meaning of objects (`space`).

use std::io::{self, BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::super::DocumentError;
use super::super::reader::{LARGEST_FILE, Place};
use ragonite_base::clean_line;

/// Properties that are used; all others are skipped.
const WANTED: &[&str] = &[
    "title",
    "body",
    "bodyType",
    "content",
    "parent",
    "space",
    "contentStatus",
    "originalVersion",
    "version",
    "attachmentVersion",
    "creationDate",
    "lastModificationDate",
    "creator",
    "creatorName",
    "name",
    "key",
    "fileName",
    "containerContent",
    "owner",
    "atlassianAccountId",
];

/// Maximum characters of a title or name. Confluence allows 255.
const LONGEST_LINE: usize = 1_000;

/// Maximum bytes of an id; real ones are numbers, or 32 digits.
const LONGEST_ID: usize = 100;

/// An object of the export.
#[derive(Debug, Default)]
pub(super) struct Entity {
    pub(super) class: String,
    pub(super) id: String,
    values: Vec<Value>,
}

#[derive(Debug)]
struct Value {
    name: &'static str,
    /// The class of a reference; empty for a plain value.
    class: String,
    text: String,
}

impl Entity {
    /// A property, or the id of the object it refers to.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.iter().find(|value| value.name == name)?;
        let text = value.text.trim();
        (!text.is_empty()).then_some(text)
    }

    /// A property as one clean line, possibly cut.
    pub(super) fn line(&self, name: &str) -> Option<String> {
        self.get(name).map(|text| clean_line(start_of(text))).filter(|line| !line.is_empty())
    }

    /// Upper bound of the bytes of its lines.
    pub(super) fn size_of_lines(&self) -> usize {
        self.values.iter().map(|value| start_of(&value.text).len()).sum()
    }

    /// The id of the object that a property refers to, if it is of one of the classes.
    pub(super) fn reference(&self, name: &str, classes: &[&str]) -> Option<&str> {
        let value = self.values.iter().find(|value| value.name == name)?;
        classes.contains(&value.class.as_str()).then(|| value.text.trim()).filter(|id| !id.is_empty() && is_id(id))
    }

    /// Takes a property unchanged.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let value = self.values.iter_mut().find(|value| value.name == name)?;
        Some(std::mem::take(&mut value.text))
    }
}

fn start_of(text: &str) -> &str {
    text.char_indices().nth(LONGEST_LINE).map_or(text, |(end, _)| &text[..end])
}

/// Whether a text can be the id of an object.
pub(super) fn is_id(text: &str) -> bool {
    text.len() <= LONGEST_ID
}

/// Reads objects from a stream.
pub(super) struct Entities<'p, R: Read> {
    reader: Reader<BufReader<Guard<R>>>,
    buffer: Vec<u8>,
    place: &'p Place<'p>,
}

impl<'p, R: Read> Entities<'p, R> {
    pub(super) fn new(source: R, place: &'p Place<'p>) -> Self {
        let mut reader = Reader::from_reader(BufReader::new(Guard { source, since: 0, all: 0 }));
        reader.config_mut().expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), place }
    }

    /// Number of bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.reader.get_ref().get_ref().all
    }

    /// The error for an export that is too large for memory.
    pub(super) fn too_many(&self) -> DocumentError {
        self.place.refused("an export with too many pages, files and comments", "export the space in parts")
    }

    /// The next object; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Entity>, DocumentError> {
        let mut open = Open::default();
        loop {
            self.buffer.clear();
            self.reader.get_mut().get_mut().since = 0;
            let at = self.reader.buffer_position();
            let failed = |source| DocumentError::Xml { path: self.place.shown(), at, source };
            match self.reader.read_event_into(&mut self.buffer).map_err(failed)? {
                Event::Start(tag) => open.start(&tag),
                Event::End(_) => {
                    if let Some(entity) = open.end() {
                        return Ok(Some(entity));
                    }
                }
                Event::Text(text) => open.text(&text.xml10_content()),
                Event::CData(text) => open.text(&text.into_inner()),
                Event::GeneralRef(reference) => open.reference(&reference),
                Event::DocType(definitions) if definitions.to_ascii_uppercase().contains("<!ENTITY") => {
                    return Err(self
                        .place
                        .refused("XML that defines its own entities", "Confluence writes none: export again"));
                }
                Event::Eof if open.depth > 0 => {
                    let source = io::Error::from(io::ErrorKind::UnexpectedEof);
                    return Err(DocumentError::Xml { path: self.place.shown(), at, source: source.into() });
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
            if open.bytes > LARGEST_FILE as usize {
                return Err(self.place.refused("XML with an object too large to be a page", "export the space again"));
            }
        }
    }
}

/// The open object.
#[derive(Default)]
struct Open {
    entity: Entity,
    /// Depth inside the object; 0 outside of objects.
    depth: usize,
    field: Field,
    bytes: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Field {
    #[default]
    None,
    Id,
    Value,
}

impl Open {
    fn start(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        let name = name.as_ref();
        if self.depth == 0 {
            if name == "object" {
                self.entity = Entity { class: attribute(tag, "class"), ..Entity::default() };
                self.depth = 1;
            }
            return;
        }
        if self.depth == 1 {
            self.field = match name {
                "id" => Field::Id,
                "property" => self.property(tag),
                _ => Field::None,
            };
        }
        self.depth += 1;
    }

    fn property(&mut self, tag: &BytesStart<'_>) -> Field {
        let name = attribute(tag, "name");
        let Some(name) = WANTED.iter().find(|wanted| **wanted == name) else { return Field::None };
        if self.entity.values.iter().any(|value| value.name == *name) {
            return Field::None;
        }
        self.entity.values.push(Value { name, class: attribute(tag, "class"), text: String::new() });
        Field::Value
    }

    /// Closes an element; gives the object where it ends.
    fn end(&mut self) -> Option<Entity> {
        self.depth = self.depth.checked_sub(1)?;
        if self.depth == 1 {
            self.field = Field::None;
        }
        (self.depth == 0).then(|| std::mem::take(&mut self.entity))
    }

    fn text(&mut self, text: &str) {
        let target = match self.field {
            Field::None => return,
            Field::Id => &mut self.entity.id,
            Field::Value => match self.entity.values.last_mut() {
                Some(value) => &mut value.text,
                None => return,
            },
        };
        if self.field == Field::Id {
            target.push_str(text.trim());
        } else {
            target.push_str(text);
        }
        self.bytes += text.len();
    }

    /// Adds a character reference; any other name stays as written, since nothing is expanded.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        let name = reference.xml10_content();
        let written = format!("&{name};");
        let text = match reference.resolve_char_ref() {
            Ok(Some(c)) => c.to_string(),
            _ => match &*name {
                "lt" => "<".to_owned(),
                "gt" => ">".to_owned(),
                "amp" => "&".to_owned(),
                "quot" => "\"".to_owned(),
                "apos" => "'".to_owned(),
                _ => written,
            },
        };
        self.text(&text);
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.attributes().with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name);
    found.map(|attribute| attribute.value.into_owned()).unwrap_or_default()
}

/// Counts the bytes read, and stops a single text that would fill the memory.
struct Guard<R> {
    source: R,
    /// Bytes since the last event.
    since: u64,
    all: u64,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since > LARGEST_FILE {
            return Err(io::Error::other("a single text is too large"));
        }
        let read = self.source.read(buffer)?;
        self.since += read as u64;
        self.all += read as u64;
        Ok(read)
    }
}
