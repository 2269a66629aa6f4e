//! Confluence spaces exported as XML: one `entities.xml`, and the attached files.
//!
//! Takes the archive; gives a document per current page, then one per attachment that is a document. The file is read
//! twice, since a body may come before or after its page: first titles, hierarchy, attachments and comments, then the
//! bodies, one at a time.
//! Invariants: historical versions, drafts and deleted pages are not documents; memory holds one body, the comments up
//! to [`MOST_COMMENTED`] and a little per page.
//! Not here: page URLs, which the export lacks.

mod entities;
mod space;

use std::io::Read;
use std::ops::ControlFlow;

use self::entities::Entities;
use self::space::{Attachment, Space};
use super::DocumentError;
use super::archive::{Archive, Names};
use super::format::Format;
use super::reader::{DocumentReader, Inherited, LARGEST_CONTAINER, Place, Source};

const ENTITIES: &str = "entities.xml";

/// Reads an export.
pub(super) fn read(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    mut archive: Archive,
) -> Result<ControlFlow<()>, DocumentError> {
    let Some(entry) = archive.find(ENTITIES).cloned() else { return archive.read(walk, place) };
    let folder = entry.name.strip_suffix(ENTITIES).unwrap_or_default().to_owned();
    let inside = place.member(&entry.name);
    let mut space = Space::default();
    let allowed = walk.budget.bytes;
    let cancel = walk.cancel.clone();
    let stream = cancel.watch(archive.stream(&entry, &inside, allowed)?);
    let bytes = space.learn(&mut Entities::new(stream, &inside))?;
    // The second pass unpacks the same bytes, which count once.
    walk.budget.bytes = allowed.saturating_sub(bytes).max(1);
    let stream = cancel.watch(archive.stream(&entry, &inside, allowed)?);
    let flow = give_pages(walk, place, &mut space, &mut Entities::new(stream, &inside))?;
    if flow.is_break() {
        return Ok(flow);
    }
    give_attachments(walk, place, &space, &mut archive, &folder)
}

/// Reads an `entities.xml` that was unpacked.
pub(super) fn read_entities(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    mut source: Source,
) -> Result<ControlFlow<()>, DocumentError> {
    let mut space = Space::default();
    let cancel = walk.cancel.clone();
    space.learn(&mut Entities::new(cancel.watch(source.by_ref().take(LARGEST_CONTAINER)), place))?;
    source.restart().map_err(|error| place.unreadable(error))?;
    give_pages(walk, place, &mut space, &mut Entities::new(cancel.watch(source.take(LARGEST_CONTAINER)), place))
}

fn give_pages<R: Read>(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    space: &mut Space,
    entities: &mut Entities<'_, R>,
) -> Result<ControlFlow<()>, DocumentError> {
    let mut names = Names::default();
    let mut given = false;
    while let Some(mut entity) = entities.next()? {
        let Some((title, document)) = space.page(&mut entity, &walk.cancel) else { continue };
        walk.take_member(place)?;
        given = true;
        let flow = walk.emit(&place.member(&names.unique(&title)), Ok(document));
        if flow.is_break() {
            return Ok(flow);
        }
    }
    if given { Ok(ControlFlow::Continue(())) } else { Err(DocumentError::NoDocuments { path: place.shown() }) }
}

/// Emits the attached files that are documents; their pages name the others.
fn give_attachments(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    space: &Space,
    archive: &mut Archive,
    folder: &str,
) -> Result<ControlFlow<()>, DocumentError> {
    let mut names = Names::default();
    for entry in std::mem::take(&mut archive.entries) {
        let path = entry.name.strip_prefix(folder).and_then(|name| name.strip_prefix("attachments/"));
        let Some((Attachment { name, .. }, page)) = path.and_then(|path| space.attachment(path)) else { continue };
        walk.take_member(place)?;
        let member = place.member(&names.unique(&format!("attachments/{}/{name}", page.title.replace('/', "_"))));
        let flow = match archive.bytes(&entry, &member, &mut walk.budget) {
            Ok(bytes) if Format::of(&member.own_name(), &bytes).is_err() => continue,
            Ok(bytes) => {
                let mut ancestors = space.ancestors(page);
                ancestors.push(page.title.clone());
                walk.within = Inherited { space: space.name_of(page), ancestors };
                let flow = walk.member(&member, bytes);
                walk.within = Inherited::default();
                flow
            }
            Err(error) => walk.emit(&member, Err(error)),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}
