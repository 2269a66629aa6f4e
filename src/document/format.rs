//! Detects the format of a file, by its content first and its name second.
//!
//! Takes a name and the first [`LOOK`] bytes, gives a [`Format`]. A ZIP archive is only known as such; its member list
//! decides (`archive`).

use std::borrow::Cow;
use std::path::Path;

use super::encoding;
use super::page::is_storage;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A web page.
    Html,
    /// Confluence storage format on its own.
    Confluence,
    /// A page of a Confluence space that was exported as HTML.
    ConfluencePage,
    /// Markdown, with or without front matter.
    Markdown,
    /// A JSON object with `title` and `content`.
    Json,
    /// Several such objects: a JSON list, or one a line.
    JsonPages,
    /// Plain text.
    Text,
    /// Comma or tab separated values.
    Delimited,
    /// A Word document.
    Docx,
    /// A spreadsheet: XLSX, XLS, ODS.
    Workbook,
    /// PDF.
    Pdf,
    /// One e-mail message, or a web page saved as one (MHTML).
    Mail,
    /// Many messages in one file.
    Mailbox,
    /// A ZIP archive of documents.
    Zip,
    /// A Confluence space exported as HTML.
    ConfluenceHtmlExport,
    /// A Confluence space exported as XML.
    ConfluenceXmlExport,
    /// The `entities.xml` of an XML export on its own.
    ConfluenceEntities,
}

/// Content of no supported [`Format`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoFormat {
    /// Unknown.
    Unknown,
    /// Known but not supported.
    Refused {
        /// What it is, with an article.
        what: Cow<'static, str>,
        /// What to do about it.
        remedy: Cow<'static, str>,
    },
}

/// The basis of a detected format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToldBy {
    Content,
    Name,
}

/// Number of bytes examined.
pub(super) const LOOK: usize = 64 << 10;

/// Header fields that every mail program writes, and no other program.
const MAIL_FIELDS: &[&str] = &["message-id", "mime-version", "received", "return-path", "delivered-to", "x-mailer"];

const SAVE_AS: &str = "save what matters of it as PDF, DOCX or HTML";
const ONLY_TEXT: &str = "only text is read; run a text recognition over it and save the result as PDF or text";
const UNPACK: &str = "unpack it, or pack its files as ZIP";
const DAMAGED: &str = "damaged: it does not begin as its name promises";
const GET_ANEW: &str = "open it in the program it comes from and save it again, or get it anew from its source";
const NO_DOCUMENT: &str = "only documents are read";

/// Signatures of unsupported files, with what they are and the remedy.
const REFUSED: &[(&[u8], &str, &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image", ONLY_TEXT),
    (b"\xff\xd8\xff", "a JPEG image", ONLY_TEXT),
    (b"GIF87a", "a GIF image", ONLY_TEXT),
    (b"GIF89a", "a GIF image", ONLY_TEXT),
    (b"II*\0", "a TIFF image", ONLY_TEXT),
    (b"MM\0*", "a TIFF image", ONLY_TEXT),
    (b"\x1f\x8b", "a gzip archive", UNPACK),
    (b"BZh", "a bzip2 archive", UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"SQLite format 3\0", "an SQLite database", "export its tables as CSV"),
    (b"\x7fELF", "a program", NO_DOCUMENT),
    (b"MZ", "a program", NO_DOCUMENT),
    (b"ID3", "an audio file", NO_DOCUMENT),
    (b"OggS", "an audio file", NO_DOCUMENT),
    (b"RIFF", "an image, audio or video file", NO_DOCUMENT),
    (b"!BDN", "an Outlook mailbox (.pst)", "export the messages as .eml or .mbox"),
    (b"{\\rtf", "RTF", "save it as DOCX or PDF"),
    (b"%!PS", "PostScript", "save it as PDF"),
];

/// Signature of old Office files and Outlook messages.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

impl Format {
    /// The format of a file extension.
    pub fn of_name(name: &Path) -> Option<Self> {
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "html" | "htm" | "xhtml" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::JsonPages,
            "txt" | "text" | "rst" | "adoc" | "log" => Self::Text,
            "storage" => Self::Confluence,
            "csv" | "tsv" | "tab" => Self::Delimited,
            "docx" | "docm" | "dotx" => Self::Docx,
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Self::Workbook,
            "pdf" => Self::Pdf,
            "eml" | "mht" | "mhtml" => Self::Mail,
            "mbox" | "mbx" => Self::Mailbox,
            "zip" => Self::Zip,
            _ => return None,
        })
    }

    /// The format of content that starts with `bytes`, and the basis of the decision.
    pub(super) fn of(name: &Path, bytes: &[u8]) -> Result<(Self, ToldBy), NoFormat> {
        let start = &bytes[..bytes.len().min(LOOK)];
        let named = Self::of_name(name);
        if let Some(format) = of_signature(start, named)? {
            return Ok((format, ToldBy::Content));
        }
        let text = if start.len() == bytes.len() { encoding::decode(start) } else { encoding::decode_start(start) };
        let Some(text) = text else {
            return Err(match named {
                Some(Self::Docx | Self::Workbook | Self::Pdf | Self::Zip) => refused(DAMAGED, GET_ANEW),
                Some(_) => refused("binary data, whatever its name says", SAVE_AS),
                None => refused("binary data of an unknown kind", SAVE_AS),
            });
        };
        let told = of_text(named, text.trim_start());
        let is_markup = matches!(told, None | Some(Self::Html | Self::Confluence));
        if is_markup && matches!(named, None | Some(Self::Html | Self::Confluence)) && defines_entities(&text) {
            return Err(refused("XML that defines its own entities", "save it as HTML or text with them written out"));
        }
        if let Some(format) = told {
            return Ok((format, ToldBy::Content));
        }
        of_name_and_text(name, named, text.trim_start())
    }
}

/// The format if the name has to decide.
fn of_name_and_text(name: &Path, named: Option<Format>, text: &str) -> Result<(Format, ToldBy), NoFormat> {
    match named {
        // Web applications name their tables `.xls`, whatever they write.
        Some(Format::Workbook) if text.starts_with('<') => Ok((Format::Html, ToldBy::Name)),
        Some(Format::Workbook) if text.contains(['\t', ';', ',']) => Ok((Format::Delimited, ToldBy::Name)),
        Some(Format::Docx | Format::Workbook | Format::Pdf | Format::Zip) => {
            Err(refused("plain text, whatever its name says", "rename it to .txt if the text is what matters"))
        }
        Some(format) => Ok((format, ToldBy::Name)),
        None if text.starts_with("<?xml") => Err(refused("XML of an unknown kind", "save it as HTML, CSV or text")),
        None if name.extension().is_none() && !text.is_empty() => Ok((Format::Text, ToldBy::Name)),
        None => Err(NoFormat::Unknown),
    }
}

pub(super) fn refused(what: &'static str, remedy: &'static str) -> NoFormat {
    NoFormat::Refused { what: what.into(), remedy: remedy.into() }
}

fn of_signature(start: &[u8], named: Option<Format>) -> Result<Option<Format>, NoFormat> {
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") || start.starts_with(b"PK\x07\x08") {
        return Ok(Some(Format::Zip));
    }
    // PDF allows bytes before its signature; a text may mention the signature.
    let pdf = start.windows(5).take(1_024).position(|five| five == b"%PDF-");
    if pdf.is_some_and(|at| at == 0 || named == Some(Format::Pdf) || start.contains(&0)) {
        return Ok(Some(Format::Pdf));
    }
    if start.starts_with(COMPOUND) {
        return match named {
            Some(Format::Workbook) => Ok(Some(Format::Workbook)),
            _ => Err(refused(
                "an old or encrypted Office file or an Outlook message (.doc, .ppt, .msg)",
                "remove its password, or save it as DOCX, PDF or EML",
            )),
        };
    }
    if start.get(4..8) == Some(b"ftyp") {
        return Err(refused("a video or an image", NO_DOCUMENT));
    }
    let known = REFUSED.iter().find(|(signature, ..)| start.starts_with(signature));
    // Text may begin with the letters of a short signature.
    let known = known.filter(|(signature, ..)| {
        signature.len() > 4 || signature.iter().any(|byte| *byte >= 0x80 || *byte < 0x20) || start.contains(&0)
    });
    known.map_or(Ok(None), |(_, what, remedy)| Err(refused(what, remedy)))
}

/// The format of a text, if it is unambiguous.
fn of_text(named: Option<Format>, start: &str) -> Option<Format> {
    if start.starts_with(['{', '[']) {
        return of_json(named, start);
    }
    if named != Some(Format::Markdown) {
        if is_mailbox(start) {
            return Some(Format::Mailbox);
        }
        if is_mail(named, start) {
            return Some(Format::Mail);
        }
    }
    let lower = start.to_ascii_lowercase();
    let is_page = lower.starts_with("<!doctype html") || (lower.starts_with('<') && lower.contains("<html"));
    match named {
        _ if is_page && is_exported_page(start) => Some(Format::ConfluencePage),
        _ if is_page => Some(Format::Html),
        _ if lower.starts_with("<?xml") && lower.contains("<hibernate-generic") => Some(Format::ConfluenceEntities),
        None | Some(Format::Html | Format::Text) if start.starts_with('<') && is_storage(start) => {
            Some(Format::Confluence)
        }
        None if lower.starts_with('<') && lower.contains("</") && !lower.starts_with("<?xml") => Some(Format::Html),
        _ => None,
    }
}

/// Whether XML defines entities, which would have to be expanded: a small file can expand to more than the memory.
fn defines_entities(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(inner) = rest.strip_prefix("<?").or_else(|| rest.strip_prefix("<!--")) {
        let end = if rest.starts_with("<?") { "?>" } else { "-->" };
        rest = inner.split_once(end).map_or("", |(_, after)| after.trim_start());
    }
    let declaration = match rest.get(..9) {
        Some(start) if start.eq_ignore_ascii_case("<!doctype") => &rest[9..],
        _ => return false,
    };
    let Some((name, subset)) = declaration.split_once('[') else { return false };
    let is_page = name.split_whitespace().next().is_some_and(|name| name.eq_ignore_ascii_case("html"));
    !is_page && !name.contains('>') && subset.contains("<!ENTITY")
}

fn of_json(named: Option<Format>, start: &str) -> Option<Format> {
    match named {
        Some(Format::JsonPages) => return Some(Format::JsonPages),
        None | Some(Format::Json | Format::Text) => {}
        Some(_) => return None,
    }
    let is_page = start.contains("\"title\"") && start.contains("\"content\"");
    if named != Some(Format::Json) && !is_page {
        return None;
    }
    let mut lines = start.lines().map(str::trim).filter(|line| !line.is_empty());
    let one_a_line =
        lines.next().is_some_and(|line| line.ends_with('}')) && lines.next().is_some_and(|line| line.starts_with('{'));
    Some(if start.starts_with('[') || one_a_line { Format::JsonPages } else { Format::Json })
}

/// Whether a page is from an export. A page saved from a browser has `ajs-` fields instead.
fn is_exported_page(start: &str) -> bool {
    let marks = ["id=\"breadcrumb", "class=\"page-metadata\"", "class=\"pageSectionTitle\""];
    start.contains("id=\"title-text\"")
        && !start.contains("name=\"ajs-")
        && marks.iter().any(|mark| start.contains(mark))
}

/// A mailbox starts with a separator, and a header follows.
fn is_mailbox(start: &str) -> bool {
    let mut lines = start.lines();
    lines.next().is_some_and(|line| line.starts_with("From ")) && lines.next().is_some_and(|line| field(line).is_some())
}

/// A message starts with a block of header fields.
fn is_mail(named: Option<Format>, start: &str) -> bool {
    let header = start.lines().take_while(|line| !line.trim().is_empty());
    let mut own = false;
    for line in header.filter(|line| !line.starts_with([' ', '\t'])) {
        let Some(name) = field(line) else { return false };
        own |= MAIL_FIELDS.contains(&name.to_ascii_lowercase().as_str());
    }
    own || (named == Some(Format::Mail) && field(start).is_some())
}

/// The name of a header field.
fn field(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    (plain && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, content: impl AsRef<[u8]>) -> Option<Format> {
        Format::of(Path::new(name), content.as_ref()).ok().map(|(format, _)| format)
    }

    #[test]
    fn content_decides_the_format_before_the_name() {
        assert_eq!(of("x.txt", "<!DOCTYPE html><p>a"), Some(Format::Html));
        assert_eq!(of("x.html", "<p>a<ac:link /></p>"), Some(Format::Confluence));
        assert_eq!(of("x.xml", "<p>a<ac:link /></p>"), Some(Format::Confluence));
        assert_eq!(of("x", r#"{"title":"a","content":"b"}"#), Some(Format::Json));
        assert_eq!(of("x.json", r#"[{"title":"a","content":"b"}]"#), Some(Format::JsonPages));
        assert_eq!(of("x.txt", "{\"title\":\"a\",\"content\":\"b\"}\n{\"title\":"), Some(Format::JsonPages));
        assert_eq!(of("x.md", "{{ template }}"), Some(Format::Markdown));
        assert_eq!(of("README.MD", "<div align=center>x</div>\n\n# y"), Some(Format::Markdown));
        assert_eq!(of("x.txt", "a < b"), Some(Format::Text));
        assert_eq!(of("x.txt", "%PDF-1.7\n%\u{e2}"), Some(Format::Pdf));
        assert_eq!(of("report.pdf", b"PK\x03\x04rest"), Some(Format::Zip));
        assert_eq!(of("table.xls", "<table><tr><td>1</table>"), Some(Format::Html));
        assert_eq!(of("table.xls", "a\tb\n1\t2"), Some(Format::Delimited));
        assert_eq!(of("old.xls", COMPOUND), Some(Format::Workbook));
        assert_eq!(of("x.bin", "a"), None);
        assert_eq!(of("NOTES", "a"), Some(Format::Text));
    }

    #[test]
    fn mail_is_told_from_text_that_looks_like_it() {
        let mail = "Received: from a\n\tby b\nFrom: a@b.example\nMessage-ID: <1@b>\n\nHello";
        assert_eq!(of("saved", mail), Some(Format::Mail));
        assert_eq!(of("x.mbox", format!("From a@b Thu Jan  1 00:00:00 2024\n{mail}")), Some(Format::Mailbox));
        assert_eq!(of("x.txt", "Subject: my notes\nFrom: here\n\ntext"), Some(Format::Text));
        assert_eq!(of("x.txt", "From here on\nit is a text"), Some(Format::Text));
        assert_eq!(of("x.eml", "Subject: a\n\nb"), Some(Format::Mail));
    }

    #[test]
    fn what_is_not_read_is_called_by_its_name() {
        let what = |name: &str, content: &[u8]| match Format::of(Path::new(name), content) {
            Err(NoFormat::Refused { what, .. }) => what.into_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(what("x.txt", b"\x89PNG\r\n\x1a\n\0"), "a PNG image");
        assert_eq!(what("x.txt", b"\0\x01\x02\x03binary"), "binary data, whatever its name says");
        assert_eq!(what("x.docx", b"plain"), "plain text, whatever its name says");
        assert!(what("x.docx", b"\0\x01\x02\x03binary").starts_with("damaged"));
        assert!(what("x.msg", COMPOUND).contains(".msg"));
        assert_eq!(what("x.xml", b"<?xml version='1.0'?><a/>"), "XML of an unknown kind");
        let laughs = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>\n<lolz>&lol2;</lolz>";
        for name in ["lol.xml", "lol.html", "lol"] {
            assert_eq!(what(name, laughs.as_bytes()), "XML that defines its own entities", "{name}");
            let declared = format!("<?xml version=\"1.0\"?>\n<!-- a --> {laughs}");
            assert_eq!(what(name, declared.as_bytes()), "XML that defines its own entities", "{name}");
        }
        assert_eq!(of("x.html", "<!DOCTYPE html [<!ENTITY a \"b\">]><p>&a;</p>"), Some(Format::Html));
        assert_eq!(of("x.txt", "MZ is the first part of a program"), Some(Format::Text));
        assert_eq!(of("x.txt", "%!PS is how PostScript begins"), Some(Format::Text));
    }
}
