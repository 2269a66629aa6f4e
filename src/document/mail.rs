//! E-mail messages (EML) and web pages saved as one (MHTML).
//!
//! Takes a message; gives the document of its text, with sender and receivers as its first block, then one document per
//! attachment that is one; other attachments are named in the text.
//! Invariants: of alternative texts only the most structured one is read; nothing is fetched; messages in messages
//! count as containers and nest no deeper.
//! Not here: mailboxes (`mailbox`).

use std::ops::ControlFlow;
use std::panic::catch_unwind;

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};

use super::archive::Names;
use super::format::Format;
use super::markup::Dialect;
use super::reader::{DocumentReader, Place, check_depth};
use super::{Block, Document, DocumentError, html, text};
use ragonite_base::{CancelToken, clean_line};

/// Maximum of inner messages: the parser builds a tree, which must not be deep.
const MOST_INNER: usize = 300;

/// Bytes searched for the Message-ID.
const ID_WITHIN: usize = 64 << 10;

/// Reads a message and what is attached to it.
pub(super) fn read(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    bytes: &[u8],
) -> Result<ControlFlow<()>, DocumentError> {
    if inner_messages(bytes) > MOST_INNER {
        return Err(place.refused(
            format!("a message with more than {MOST_INNER} messages in it"),
            "save the inner messages on their own",
        ));
    }
    // Parsing cannot be interrupted and takes a second at most. The parser panics if parts are not closed in reverse
    // order.
    let parsed = catch_unwind(|| MessageParser::default().parse(bytes)).unwrap_or_default();
    walk.cancel.check()?;
    let message = parsed.ok_or_else(|| place.refused("no e-mail message", "save it as .eml again"))?;
    take(walk, place, &message)
}

/// The Message-ID of a message.
pub(super) fn id(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(ID_WITHIN)];
    let message = catch_unwind(|| MessageParser::default().parse_headers(start)).unwrap_or_default();
    let message = message.filter(|message| !message.parts.is_empty())?;
    message.message_id().map(clean_line).filter(|id| !id.is_empty())
}

/// Number of headers that announce inner messages, counted as liberally as the parser reads them.
fn inner_messages(bytes: &[u8]) -> usize {
    let says_so = |line: &[u8]| {
        let has = |word: &[u8]| line.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
        has(b"message") || has(b"digest")
    };
    let (mut count, mut in_type) = (0, false);
    for line in bytes.split(|byte| *byte == b'\n') {
        // Indented lines continue a header.
        let folded = line.first().is_some_and(u8::is_ascii_whitespace);
        let starts = starts_content_type(line);
        in_type = starts || (in_type && folded);
        if in_type && says_so(line) {
            count += 1;
            in_type = false;
        }
    }
    count
}

/// The parser ignores white space in a header name, and colons before it.
fn starts_content_type(line: &[u8]) -> bool {
    let mut letters = line.iter().filter(|byte| !byte.is_ascii_whitespace()).skip_while(|byte| **byte == b':');
    b"content-type:".iter().all(|expected| letters.next().is_some_and(|byte| byte.eq_ignore_ascii_case(expected)))
}

fn take(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    message: &Message<'_>,
) -> Result<ControlFlow<()>, DocumentError> {
    if message.parts.is_empty() {
        return Err(place.refused("no e-mail message", "save it as .eml again"));
    }
    if is_encrypted(message) {
        return Err(place.refused("an encrypted message", "decrypt it in the mail program and save it again"));
    }
    if is_saved_page(message) {
        return Ok(walk.emit(place, Ok(saved_page(message, &walk.cancel))));
    }
    let attachments = attachments(message);
    let mut document = Document {
        title: message.subject().map(clean_line).unwrap_or_default(),
        date: header(message, "Date"),
        blocks: people(message).into_iter().collect(),
        ..Document::default()
    };
    document.append(body(message, &walk.cancel));
    let named: Vec<&str> = attachments.iter().filter(|a| a.is_named).map(|a| a.name.as_str()).collect();
    if !named.is_empty() {
        document.blocks.push(Block::Text(format!("Attachments: {}", named.join(", "))));
    }
    let mut flow = walk.emit(place, Ok(document));
    for attachment in attachments {
        if flow.is_break() {
            break;
        }
        walk.take_member(place)?;
        flow = attached(walk, &place.member(&attachment.name), attachment.part);
    }
    Ok(flow)
}

/// Emits an attachment if it is a document; the message's text names it in any case.
fn attached(walk: &mut DocumentReader<'_>, place: &Place<'_>, part: &MessagePart<'_>) -> ControlFlow<()> {
    if let PartType::Message(message) = &part.body {
        return match check_depth(place).and_then(|()| take(walk, place, message)) {
            Ok(flow) => flow,
            Err(error) => walk.emit(place, Err(error)),
        };
    }
    let bytes = part.contents();
    if bytes.is_empty() || Format::of(&place.own_name(), bytes).is_err() {
        return ControlFlow::Continue(());
    }
    walk.member(place, bytes.to_vec())
}

struct Attachment<'a> {
    name: String,
    is_named: bool,
    part: &'a MessagePart<'a>,
}

fn attachments<'a>(message: &'a Message<'a>) -> Vec<Attachment<'a>> {
    let mut names = Names::default();
    let parts = message.attachments.iter().filter_map(|id| message.part(*id));
    let mut found = Vec::new();
    for part in parts {
        let given = part.attachment_name().map(clean_line);
        let subject = part
            .message()
            .filter(|inner| !inner.parts.is_empty())
            .and_then(Message::subject)
            .map(|subject| format!("{}.eml", clean_line(subject)));
        let given = given.or(subject).map(|name| name.replace(['/', '\\'], "_")).filter(|name| !name.is_empty());
        let is_named = given.is_some();
        let plain = || match &part.body {
            PartType::Html(_) => "attachment.html",
            PartType::Text(_) => "attachment.txt",
            PartType::Message(_) => "attachment.eml",
            _ => "attachment",
        };
        let name = names.unique(&given.unwrap_or_else(|| plain().to_owned()));
        found.push(Attachment { name, is_named, part });
    }
    found
}

/// Sender, receivers and date.
fn people(message: &Message<'_>) -> Option<Block> {
    let all = |address: Option<&Address<'_>>| address.map(addresses).filter(|all| !all.is_empty());
    let lines = [
        ("From", all(message.from())),
        ("To", all(message.to())),
        ("Cc", all(message.cc())),
        ("Date", header(message, "Date")),
    ];
    let lines: Vec<String> =
        lines.into_iter().filter_map(|(name, value)| value.map(|value| format!("{name}: {value}"))).collect();
    (!lines.is_empty()).then(|| Block::Text(lines.join("\n")))
}

fn addresses(address: &Address<'_>) -> String {
    let one = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) if name != address => format!("{} <{}>", clean_line(name), clean_line(address)),
        (Some(name), _) => clean_line(name),
        (None, Some(address)) => clean_line(address),
        (None, None) => String::new(),
    };
    let all = address.iter().map(|address| one(address.name(), address.address()));
    all.filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", ")
}

fn header(message: &Message<'_>, name: &'static str) -> Option<String> {
    message.header_raw(name).map(clean_line).filter(|value| !value.is_empty())
}

/// The text of the message. HTML is preferred if it has what plain text loses: tables and lists.
fn body(message: &Message<'_>, cancel: &CancelToken) -> Document {
    let parts = |ids: &[u32]| ids.iter().filter_map(|id| message.part(*id)).map(|part| &part.body).collect::<Vec<_>>();
    let html = parts(&message.html_body);
    let structured = html.iter().any(|part| matches!(part, PartType::Html(html) if has_structure(html)));
    let chosen = if structured { html } else { parts(&message.text_body) };
    let mut body = Document::default();
    for part in chosen {
        match part {
            PartType::Html(source) => body.append(html::read_fragment(inner_part(source), Dialect::Html, cancel)),
            PartType::Text(source) => body.blocks.extend(text::read_mail(&source.replace("\r\n", "\n"))),
            _ => {}
        }
    }
    body
}

fn has_structure(html: &str) -> bool {
    let lower = html.to_ascii_lowercase();
    ["<table", "<ul", "<ol", "<h1", "<h2", "<h3"].iter().any(|tag| lower.contains(tag))
}

/// The body of an HTML page; the title in its head is not text of the message.
fn inner_part(html: &str) -> &str {
    let at = html.as_bytes().windows(5).position(|five| five.eq_ignore_ascii_case(b"<body"));
    at.map_or(html, |at| &html[at..])
}

fn is_encrypted(message: &Message<'_>) -> bool {
    let is = |kind, subtype| message.root_part().is_content_type(kind, subtype);
    let signed = || {
        let kind = message.root_part().content_type();
        kind.and_then(|kind| kind.attribute("smime-type")).is_some_and(|how| how.eq_ignore_ascii_case("signed-data"))
    };
    is("multipart", "encrypted")
        || ((is("application", "pkcs7-mime") || is("application", "x-pkcs7-mime")) && !signed())
}

/// Whether a message is a saved page: browsers and wikis save a page with its pictures as an unsent message.
fn is_saved_page(message: &Message<'_>) -> bool {
    let sent = message.to().is_some() || message.header("Received").is_some();
    let related = message.root_part().is_content_type("multipart", "related");
    let saved = message.header("Snapshot-Content-Location").is_some();
    !sent
        && (related || saved)
        && message.html_body.iter().any(|id| message.part(*id).is_some_and(MessagePart::is_text_html))
}

fn saved_page(message: &Message<'_>, cancel: &CancelToken) -> Document {
    let page = message.html_part(0).and_then(|part| part.text_contents()).unwrap_or_default();
    let mut document = html::read_page(page, cancel);
    let address = header(message, "Snapshot-Content-Location");
    document.url = document.url.or(address).filter(|url| url.starts_with("http"));
    document.date = document.date.or_else(|| header(message, "Date"));
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_say_that_a_message_is_in_a_message() {
        let log = "Digest: sha256:0123\nGET /message/7 HTTP/1.1\ncontent-type is message/rfc822\n".repeat(1_000);
        assert_eq!(inner_messages(log.as_bytes()), 0);
        let headers = "Content-Type: message/rfc822\n\nCONTENT-TYPE:\r\n multipart/digest; boundary=x\n\n\
                       : content - type : text/plain;\n\tname=x\n charset=message/rfc822; y=message\n";
        assert_eq!(inner_messages(headers.as_bytes()), 3);
    }
}
