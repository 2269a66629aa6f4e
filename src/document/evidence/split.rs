//! Splits a document into evidences and gives each its context (RAGonite, Sec. 4).
//!
//! Takes a document, gives a passage for each span of text, one evidence for each list and table, and one for each row.
//! Long passages, lists and tables become several evidences with the same context: cut at sentences, items and rows.
//! Invariants: rows follow their table; the neighbour of an evidence is the text beside it, never a row; no evidence is
//! empty.
//! Not here: the parts of a document (`sections`), tables (`table`).

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use super::links::{Located, MOST_REPEATED, locate, within};
use super::passage::{cut, head, last_sentence, tail};
use super::pictures::only_names_pictures;
use super::sections::{Body, Passage, SectionPart, pieces, shortened};
use super::table::{Around, Bounds};
use super::token_counter::{CountTokens, TokenCounter};
use super::{Context, Evidence, EvidenceSettings, Kind, Split};
use crate::{Document, Link};
use ragonite_base::{CancelToken, Canceled};

/// The sentence that introduces a list may be this many times as long as a neighbour.
const INTRODUCTION: usize = 2;
/// Maximum of characters shown of the pages above.
const LONGEST_ANCESTRY: usize = 200;

/// Splits a document. `tokens` counts the embedder's tokens of a text.
///
/// # Errors
/// [`Canceled`]; a document is split whole or not at all.
pub fn split(
    document: &Document,
    settings: &EvidenceSettings,
    tokens: &CountTokens<'_>,
    cancel: &CancelToken,
) -> Result<Split, Canceled> {
    let measure = TokenCounter::new(tokens, cancel);
    let repeated_links = Cell::new(MOST_REPEATED);
    let pieces = pieces(document);
    let mut links: HashMap<usize, Vec<&Link>> = HashMap::new();
    for link in &document.links {
        links.entry(link.block).or_default().push(link);
    }
    let splitter = Splitter {
        title: shortened(&document.title),
        ancestry: ancestry(&document.ancestors),
        beside: Beside::of(&pieces),
        texts: pieces.iter().map(|piece| trimmed(&piece.body)).collect(),
        pieces: &pieces,
        links,
        bounds: Bounds { settings, measure: &measure, repeated_links: &repeated_links },
    };
    let mut split = Split::default();
    for at in 0..pieces.len() {
        cancel.check()?;
        splitter.add(at, &mut split);
    }
    // The last part may be incomplete.
    cancel.check()?;
    Ok(split)
}

/// The pages above a document, for people: ` (in Projects › RAG)`.
fn ancestry(ancestors: &[String]) -> String {
    let path = ancestors.iter().map(String::as_str).filter(|title| !title.is_empty()).collect::<Vec<_>>().join(" › ");
    match path.char_indices().nth_back(LONGEST_ANCESTRY) {
        // The nearest pages matter most.
        Some((at, _)) => format!(" (in … {})", path[at..].trim_start()),
        None if path.is_empty() => path,
        None => format!(" (in {path})"),
    }
}

struct Splitter<'a> {
    title: String,
    ancestry: String,
    pieces: &'a [SectionPart<'a>],
    /// The trimmed text of each part; empty for a table. Computed once, because every table below a text looks at it.
    texts: Vec<&'a str>,
    beside: Beside,
    links: HashMap<usize, Vec<&'a Link>>,
    bounds: Bounds<'a>,
}

impl<'a> Splitter<'a> {
    fn add(&self, at: usize, split: &mut Split) {
        let Some(piece) = self.pieces.get(at).filter(|piece| !self.only_illustrates(at, piece)) else { return };
        let context = self.context(at, piece);
        match &piece.body {
            Body::Passage(passage) => self.add_passage(piece, passage, &context, split),
            Body::List { drawn, block, page } => {
                let links = locate(&drawn.text, self.links_of(*block));
                let parts = drawn.parts(self.bounds.settings.longest_table, self.bounds.measure);
                let several = parts.len() > 1;
                for part in parts {
                    let place = match part.numbers {
                        (first, last) if several && first == last => {
                            let which = part.part.map_or_else(String::new, |part| format!(", part {part}"));
                            format!("{}, item {first}{which}", piece.place)
                        }
                        (first, last) if several => format!("{}, items {first}-{last}", piece.place),
                        _ => piece.place.clone(),
                    };
                    let location = self.location(piece, page.map(|page| (page, page)), &place);
                    let links = within(&links, &part.text);
                    let content = part.introduction + &drawn.text[part.text];
                    split.evidences.push(text_evidence(Kind::List, content, &context, location, links));
                }
            }
            Body::Table { table, block, page } => {
                split.tables.push(table.grid());
                let place = |place: &str| self.location(piece, page.map(|page| (page, page)), place);
                let (above, below) = self.around(at, piece);
                let around = Around { whole: context, above, below };
                split.evidences.extend(table.evidences(around, self.links_of(*block), self.bounds, &place));
            }
        }
    }

    /// Whether a part only names pictures beside an evidence of its section: that evidence has them in its context, and
    /// alone they would only crowd out answers. A section with nothing else keeps them.
    fn only_illustrates(&self, at: usize, piece: &SectionPart<'_>) -> bool {
        let names = self.names_of_pictures(at);
        let beside = || {
            let near = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
            let near = near.filter(|near| self.names_of_pictures(*near).is_none());
            // The neighbours of a row are its table's caption and footer, which may leave no room.
            near.filter_map(|near| self.pieces.get(near)).filter(|near| !matches!(near.body, Body::Table { .. }))
        };
        // Names that do not fit a neighbour stay.
        let is_held = |names| head(names, self.bounds.settings.longest_neighbour, self.bounds.measure) == names;
        names.is_some_and(|names| {
            beside().any(|near| near.heading_path.starts_with(&piece.heading_path)) && is_held(names)
        })
    }

    fn names_of_pictures(&self, at: usize) -> Option<&'a str> {
        let is_passage = self.pieces.get(at).is_some_and(|piece| matches!(piece.body, Body::Passage(_)));
        self.texts.get(at).copied().filter(|text| is_passage && only_names_pictures(text))
    }

    /// A long passage becomes several, each with the context of the whole.
    fn add_passage(&self, piece: &SectionPart<'_>, passage: &Passage, context: &Context, split: &mut Split) {
        let mut links: Vec<Located<'_>> = Vec::new();
        for (block, range) in passage.blocks() {
            let found = locate(&passage.text[range.clone()], self.links_of(block)).into_iter();
            links.extend(found.map(|found| Located { at: range.start + found.at, ..found }));
        }
        let parts = cut(&passage.text, self.bounds.settings.longest_passage, self.bounds.measure);
        let several = parts.len() > 1;
        for (number, part) in (1..).zip(parts) {
            let place = if several { format!("{}, part {number}", piece.place) } else { piece.place.clone() };
            let location = self.location(piece, passage.pages(&part), &place);
            let links = within(&links, &part);
            let content = passage.text[part].to_owned();
            split.evidences.push(text_evidence(Kind::Passage, content, context, location, links));
        }
    }

    fn location(&self, piece: &SectionPart<'_>, pages: Option<(u32, u32)>, place: &str) -> String {
        piece.location(pages, place) + &self.ancestry
    }

    fn links_of(&self, block: usize) -> &[&Link] {
        self.links.get(&block).map(Vec::as_slice).unwrap_or_default()
    }

    fn context(&self, at: usize, piece: &SectionPart<'_>) -> Context {
        let Bounds { settings, measure, .. } = self.bounds;
        let longest = settings.longest_neighbour;
        let before = at.checked_sub(1).map(|at| self.text(at, Side::Before)).unwrap_or_default();
        let mut kept = tail(&before, longest, measure);
        if kept.starts_with('…') && matches!(piece.body, Body::List { .. }) {
            // The sentence above a list introduces it.
            let introduction = last_sentence(&before, longest.saturating_mul(INTRODUCTION), measure);
            kept = introduction.map_or(kept, |sentence| sentence.trim().to_owned());
        }
        Context {
            title: self.title.clone(),
            heading_path: piece.heading_path.clone(),
            before: kept,
            after: head(&self.text(at + 1, Side::After), longest, measure),
        }
    }

    /// The text of a part as its neighbour sees it.
    fn text(&self, at: usize, side: Side) -> Cow<'a, str> {
        match (self.pieces.get(at).map(|piece| &piece.body), side) {
            (Some(Body::Table { table, .. }), Side::Before) => Cow::Owned(table.ending(self.bounds)),
            (Some(Body::Table { table, .. }), Side::After) => Cow::Owned(table.beginning(self.bounds)),
            _ => Cow::Borrowed(self.texts.get(at).copied().unwrap_or_default()),
        }
    }

    /// The text above and below a table, for its rows: the nearest part that is not a table, in the table's own section
    /// unless it is adjacent. Rows of another table would pass for facts of this one.
    fn around(&self, at: usize, table: &SectionPart<'_>) -> (&'a str, &'a str) {
        let text = |nearest: Option<usize>| {
            let near = nearest.filter(|near| {
                near.abs_diff(at) == 1
                    || self.pieces.get(*near).is_some_and(|piece| piece.heading_path == table.heading_path)
            });
            near.and_then(|near| self.texts.get(near)).copied().unwrap_or_default()
        };
        let (above, below) = self.beside.0.get(at).copied().unwrap_or_default();
        (text(above), text(below))
    }
}

fn trimmed<'a>(body: &'a Body<'_>) -> &'a str {
    match body {
        Body::Passage(passage) => passage.text.trim(),
        Body::List { drawn, .. } => drawn.text.trim(),
        Body::Table { .. } => "",
    }
}

/// The side of a neighbour.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// For every part the nearest parts above and below that are not tables.
struct Beside(Vec<(Option<usize>, Option<usize>)>);

impl Beside {
    fn of(pieces: &[SectionPart<'_>]) -> Self {
        let is_text = |at: &usize| pieces.get(*at).is_some_and(|piece| !matches!(piece.body, Body::Table { .. }));
        let mut beside = vec![(None, None); pieces.len()];
        let mut near = None;
        for (at, (above, _)) in beside.iter_mut().enumerate() {
            *above = near;
            near = Some(at).filter(is_text).or(near);
        }
        near = None;
        for (at, (_, below)) in beside.iter_mut().enumerate().rev() {
            *below = near;
            near = Some(at).filter(is_text).or(near);
        }
        Self(beside)
    }
}

fn text_evidence(
    kind: Kind,
    content: String,
    context: &Context,
    location: String,
    links: Vec<super::EvidenceLink>,
) -> Evidence {
    Evidence { kind, content, context: context.clone(), table: None, row: None, location, links }
}
