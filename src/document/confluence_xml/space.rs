//! The pages of an XML export, and the documents made from them.
//!
//! Takes entities, gives documents with ancestors, attachments and comments.
//! Not here: parsing (`entities`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

use super::super::confluence_html::about;
use super::super::markup::Dialect;
use super::super::text::paragraphs;
use super::super::{Block, Document, DocumentError, html};
use super::entities::{Entities, Entity, is_id};
use ragonite_base::CancelToken;

/// Maximum bytes of comments. Later ones are counted, not read.
pub(super) const MOST_COMMENTED: usize = 64 << 20;

/// Maximum bytes of everything else: some millions of pages, files and comments.
const MOST_KNOWN: usize = 1 << 30;

/// Approximate bytes of an object without its lines.
const OBJECT: usize = 100;

/// Maximum depth of the hierarchy; a cycle ends here.
const DEEPEST_HIERARCHY: usize = 64;

/// Classes that are pages.
const PAGES: &[&str] = &["Page", "BlogPost"];

/// Start of a mention in a body.
const USER: &str = "<ri:user";

/// Maximum bytes of a mention, and of names inserted into one body.
const LONGEST_TAG: usize = 1_000;
const MOST_NAMED: usize = 16 << 20;

/// Body type of the old wiki markup.
const WIKI_MARKUP: &str = "0";

/// Everything read before the bodies.
#[derive(Debug, Default)]
pub(super) struct Space {
    pages: HashMap<String, Page>,
    /// Name of each space by its id.
    names: HashMap<String, String>,
    /// Name of each person by key and by account.
    users: HashMap<String, String>,
    /// Attachments by their page and id.
    attachments: HashMap<String, BTreeMap<String, Attachment>>,
    /// Comments by their page.
    comments: HashMap<String, Vec<Comment>>,
    /// Text of each comment; the comment itself may come later.
    bodies: HashMap<String, String>,
    commented: usize,
    /// Bytes held.
    known: usize,
    /// Pages whose body was found, to ignore repeated ones.
    given: HashSet<String>,
}

/// A current page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) title: String,
    parent: Option<String>,
    space: Option<String>,
    date: Option<String>,
}

/// A current attachment.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) name: String,
    version: String,
}

#[derive(Debug)]
struct Comment {
    id: String,
    author: Option<String>,
    date: Option<String>,
}

impl Space {
    /// Reads everything but page bodies; gives the number of bytes.
    pub(super) fn learn<R: Read>(&mut self, entities: &mut Entities<'_, R>) -> Result<u64, DocumentError> {
        while let Some(entity) = entities.next()? {
            if is_kept(&entity) {
                self.known += OBJECT + entity.size_of_lines();
            }
            if self.known > MOST_KNOWN {
                return Err(entities.too_many());
            }
            if is_id(&entity.id) {
                self.take(entity);
            }
        }
        Ok(entities.bytes())
    }

    fn take(&mut self, mut entity: Entity) {
        match entity.class.as_str() {
            "Page" | "BlogPost" if is_current(&entity) => {
                let changed = entity.line("lastModificationDate").or_else(|| entity.line("creationDate"));
                let page = Page {
                    title: entity.line("title").unwrap_or_default(),
                    parent: entity.line("parent"),
                    space: entity.line("space"),
                    date: changed.map(without_fraction),
                };
                self.pages.insert(entity.id, page);
            }
            "Space" => {
                if let Some(name) = entity.line("name").or_else(|| entity.line("key")) {
                    self.names.insert(entity.id, name);
                }
            }
            "ConfluenceUserImpl" => {
                let account = entity.line("atlassianAccountId").filter(|account| is_id(account));
                if let Some(name) = entity.line("name").filter(|name| account.as_ref() != Some(name)) {
                    self.users.extend(account.map(|account| (account, name.clone())));
                    self.users.insert(entity.id, name);
                }
            }
            "Attachment" if is_current(&entity) => self.take_attachment(entity),
            "Comment" if is_current(&entity) => self.take_comment(entity),
            "BodyContent" => {
                let comment = entity.reference("content", &["Comment"]).map(ToOwned::to_owned);
                if let (Some(comment), Some(body)) = (comment, entity.take("body"))
                    && self.commented + body.len() <= MOST_COMMENTED
                {
                    self.commented += body.len();
                    self.bodies.insert(comment, body);
                }
            }
            _ => {}
        }
    }

    fn take_attachment(&mut self, entity: Entity) {
        let page = entity.line("containerContent").or_else(|| entity.line("content"));
        let name = entity.line("title").or_else(|| entity.line("fileName"));
        if let (Some(page), Some(name)) = (page, name) {
            let version = entity.line("version").or_else(|| entity.line("attachmentVersion")).unwrap_or_default();
            let attachment = Attachment { name: name.replace('/', "_"), version };
            self.attachments.entry(page).or_default().insert(entity.id, attachment);
        }
    }

    fn take_comment(&mut self, entity: Entity) {
        if let Some(page) = entity.line("containerContent").or_else(|| entity.line("owner")) {
            let author = entity.line("creator").or_else(|| entity.line("creatorName"));
            let date = entity.line("creationDate").map(without_fraction);
            self.comments.entry(page).or_default().push(Comment { id: entity.id, author, date });
        }
    }

    /// The document of a body and its page's title, if the body is that of a current page.
    pub(super) fn page(&mut self, entity: &mut Entity, cancel: &CancelToken) -> Option<(String, Document)> {
        if entity.class != "BodyContent" {
            return None;
        }
        let id = entity.reference("content", PAGES)?.to_owned();
        let page = self.pages.get(&id)?;
        if !self.given.insert(id.clone()) {
            return None;
        }
        let mut document = Document {
            title: page.title.clone(),
            date: page.date.clone(),
            space: self.name_of(page),
            ancestors: self.ancestors(page),
            ..Document::default()
        };
        let is_wiki_markup = entity.get("bodyType") == Some(WIKI_MARKUP);
        let body = entity.take("body").unwrap_or_default();
        if is_wiki_markup {
            document.blocks = paragraphs(&body);
        } else {
            document.append(self.storage(&body, cancel));
        }
        let files = self.attachments.get(&id).into_iter().flat_map(BTreeMap::values);
        let mut files: Vec<&str> = files.map(|file| file.name.as_str()).collect();
        files.sort_unstable();
        document.blocks.append(&mut about(&page.title, None, &files));
        document.blocks.append(&mut self.comments(&id, cancel));
        let title = if page.title.is_empty() { id } else { page.title.clone() };
        Some((title, document))
    }

    fn comments(&self, page: &str, cancel: &CancelToken) -> Vec<Block> {
        let mut comments: Vec<&Comment> = self.comments.get(page).into_iter().flatten().collect();
        comments.sort_unstable_by_key(|comment| (&comment.date, &comment.id));
        let mut blocks = Vec::new();
        let mut unread = 0_usize;
        for comment in comments.into_iter().take_while(|_| !cancel.is_canceled()) {
            match self.bodies.get(&comment.id) {
                Some(body) => blocks.append(&mut signed(self.storage(body, cancel).blocks, &self.signature(comment))),
                None => unread += 1,
            }
        }
        if unread > 0 {
            blocks.push(Block::Text(format!("{unread} more comments are not in the export or too long to be read.")));
        }
        if !blocks.is_empty() {
            blocks.insert(0, Block::Heading { level: 1, text: "Comments".to_owned() });
        }
        blocks
    }

    /// Parses a body: restores `]]>`, which cannot stand in the export's CDATA, and inserts names of people.
    fn storage(&self, body: &str, cancel: &CancelToken) -> Document {
        html::read_fragment(&with_names(&body.replace("]] >", "]]>"), &self.users), Dialect::Storage, cancel)
    }

    fn signature(&self, comment: &Comment) -> String {
        let author = comment.author.as_ref().map(|author| self.users.get(author).unwrap_or(author).clone());
        let parts: Vec<String> = author.into_iter().chain(comment.date.clone()).collect();
        parts.join(", ")
    }

    pub(super) fn name_of(&self, page: &Page) -> Option<String> {
        // An export is of one space; old ones do not name it for each page.
        let only = || if self.names.len() == 1 { self.names.values().next() } else { None };
        page.space.as_ref().and_then(|space| self.names.get(space)).or_else(only).cloned()
    }

    /// Titles of the pages above, outermost first.
    pub(super) fn ancestors(&self, page: &Page) -> Vec<String> {
        let above = std::iter::successors(self.parent(page), |above| self.parent(above));
        let mut titles: Vec<String> = above.take(DEEPEST_HIERARCHY).map(|page| page.title.clone()).collect();
        titles.reverse();
        titles
    }

    fn parent(&self, page: &Page) -> Option<&Page> {
        self.pages.get(page.parent.as_ref()?)
    }

    /// The attachment in a file at `page/attachment/version`.
    pub(super) fn attachment(&self, path: &str) -> Option<(&Attachment, &Page)> {
        let mut parts = path.split('/');
        let (page, id, version) = (parts.next()?, parts.next()?, parts.next()?);
        let attachment = self.attachments.get(page)?.get(id)?;
        let current = attachment.version.is_empty() || attachment.version == version;
        current.then_some(()).and(Some((attachment, self.pages.get(page)?)))
    }
}

/// Whether an object is held until the end.
fn is_kept(entity: &Entity) -> bool {
    match entity.class.as_str() {
        "Page" | "BlogPost" | "Attachment" | "Comment" => is_current(entity),
        "Space" | "ConfluenceUserImpl" => true,
        _ => false,
    }
}

/// Whether an object is neither a historical version nor a draft nor deleted.
fn is_current(entity: &Entity) -> bool {
    entity.get("contentStatus").is_none_or(|status| status == "current") && entity.get("originalVersion").is_none()
}

/// The markup with names inserted beside mentions by key or account.
fn with_names(markup: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = rest.find(USER) {
        let (before, tag) = rest.split_at(at + USER.len());
        out.push_str(before);
        rest = tag;
        let end = tag.bytes().take(LONGEST_TAG).position(|byte| byte == b'>');
        let tag = end.map_or("", |end| &tag[..end]);
        let name = ["ri:userkey", "ri:account-id"].iter().find_map(|key| names.get(value_of(tag, key)?));
        let room = out.len() < markup.len() + MOST_NAMED;
        if let Some(name) = name.filter(|_| room && value_of(tag, "ri:username").is_none()) {
            out.push_str(" ri:username=\"");
            html_escape::encode_double_quoted_attribute_to_string(name, &mut out);
            out.push('"');
        }
    }
    out.push_str(rest);
    out
}

/// An attribute's value in a machine-written tag.
fn value_of<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = tag.split_once(name)?;
    value.strip_prefix("=\"")?.split('"').next()
}

/// A comment with its author's signature.
fn signed(mut blocks: Vec<Block>, signature: &str) -> Vec<Block> {
    if signature.is_empty() || blocks.is_empty() {
        return blocks;
    }
    match blocks.first_mut() {
        Some(Block::Text(text)) => *text = format!("{signature}: {text}"),
        _ => blocks.insert(0, Block::Text(format!("{signature}:"))),
    }
    blocks
}

fn without_fraction(date: String) -> String {
    match date.split_once('.') {
        Some((date, _)) => date.to_owned(),
        None => date,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::reader::Place;
    use super::*;

    fn learn(space: &mut Space, xml: &str) -> Result<u64, DocumentError> {
        let place = Place::of(Path::new("entities.xml"));
        space.learn(&mut Entities::new(xml.as_bytes(), &place))
    }

    #[test]
    fn a_page_takes_a_little_whatever_its_title_says() {
        let page = |id: &str| {
            format!(
                "<object class='Page'><id>{id}</id><property name='title'>{}</property></object>",
                "ä".repeat(5_000)
            )
        };
        let mut space = Space::default();
        learn(&mut space, &format!("<x>{}{}</x>", page("1"), page(&"2".repeat(500)))).unwrap();
        let titles: Vec<usize> = space.pages.values().map(|page| page.title.chars().count()).collect();
        assert_eq!(titles, [1_000]);
    }

    #[test]
    fn people_are_called_by_their_names_where_the_export_has_them() {
        let mut space = Space::default();
        let users = "<x><object class='ConfluenceUserImpl'><id name='key'>8a7f</id><property name='name'>car\"ol\
                     </property></object><object class='ConfluenceUserImpl'><id name='key'>8a80</id>\
                     <property name='name'>dan</property><property name='atlassianAccountId'>557058:f5</property>\
                     </object></x>";
        learn(&mut space, users).unwrap();
        let mention = |key: &str| format!("<ac:link><ri:user {key} /></ac:link>");
        let body = format!(
            "<p>ask{}or {}, {} and {}</p>",
            mention("ri:userkey=\"8a7f\""),
            mention("ri:account-id=\"557058:f5\" ri:local-id=\"1\""),
            mention("ri:userkey=\"8a99\""),
            mention("ri:username=\"eve\" ri:userkey=\"8a7f\""),
        );
        assert_eq!(
            space.storage(&body, &CancelToken::never()).blocks,
            [Block::Text("ask car\"ol or dan, @user and eve".into())]
        );
    }

    #[test]
    fn an_export_of_too_many_objects_is_refused() {
        let mut space = Space { known: MOST_KNOWN - OBJECT, ..Space::default() };
        learn(&mut space, "<x><object class='Page'><id>1</id></object></x>").unwrap();
        let error = learn(&mut space, "<x><object class='Space'><id>2</id></object></x>").unwrap_err();
        assert!(error.to_string().contains("in parts"), "{error}");
    }
}
