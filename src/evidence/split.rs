//! Splits a document into evidences and gives each its context (RAGonite, Sec. 4).
//!
//! Takes a document's blocks in reading order. A passage is an unbroken span of text between headings, lists and
//! tables; a list and a table are one evidence each, and each row of a table is one more.
//! Invariants: rows follow their table; a neighbour is the text beside an evidence, whatever its kind, but never a row;
//! a heading with nothing under it is a passage of its own, so that no words are lost.

use super::sentence::{cut, head, tail};
use super::verbalize::{column_names, draw_list, verbalize_row, verbalize_table};
use super::{Context, Evidence, EvidenceSettings, Kind, Split, TableGrid};
use crate::document::{Block, Document, Table};

/// How many tokens of the embedder a text has.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// Splits a document.
pub fn split(document: &Document, settings: &EvidenceSettings, _tokens: &CountTokens<'_>) -> Split {
    let mut outline = Outline::default();
    let mut pieces = Vec::new();
    let mut paragraphs: Vec<&str> = Vec::new();
    for block in &document.blocks {
        if let Block::Text(text) = block {
            paragraphs.push(text);
            continue;
        }
        outline.add_passage(&mut paragraphs, &mut pieces);
        match block {
            Block::Heading { level, text } => outline.enter(*level, text, &mut pieces),
            Block::List(list) => outline.add(Kind::List, Body::Text(draw_list(list)), &mut pieces),
            Block::Table(table) => outline.add_table(table, &mut pieces),
            Block::Text(_) | Block::Page(_) => {}
        }
    }
    outline.add_passage(&mut paragraphs, &mut pieces);
    outline.leave(1, &mut pieces);
    outline.add_bare(&mut pieces);
    contextualize(&document.title, &pieces, settings)
}

/// An evidence before it knows its neighbours.
struct Piece<'a> {
    kind: Kind,
    heading_path: Vec<String>,
    location: String,
    body: Body<'a>,
}

enum Body<'a> {
    Text(String),
    Table { table: &'a Table, grid: TableGrid, text: String },
}

impl Body<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Table { text, .. } => text,
        }
    }
}

/// The headings above the current place, and what was counted under them.
#[derive(Default)]
struct Outline {
    headings: Vec<Heading>,
    /// Headings that stood alone, waiting to become one passage, and the path they stood under.
    bare: Vec<String>,
    bare_path: Vec<String>,
    /// Passages and lists since the last heading.
    texts: usize,
    lists: usize,
    tables: u32,
}

struct Heading {
    level: u8,
    text: String,
    /// Whether anything stood under it, also a deeper heading.
    used: bool,
}

impl Outline {
    fn path(&self) -> Vec<String> {
        self.headings.iter().map(|heading| heading.text.clone()).collect()
    }

    fn enter(&mut self, level: u8, text: &str, pieces: &mut Vec<Piece<'_>>) {
        self.leave(level, pieces);
        if let Some(above) = self.headings.last_mut() {
            above.used = true;
        }
        self.headings.push(Heading { level, text: text.to_owned(), used: false });
        (self.texts, self.lists) = (0, 0);
    }

    /// Ends the headings of this level and deeper.
    fn leave(&mut self, level: u8, pieces: &mut Vec<Piece<'_>>) {
        while self.headings.last().is_some_and(|heading| heading.level >= level) {
            let Some(left) = self.headings.pop() else { return };
            if left.used {
                continue;
            }
            let path = self.path();
            if self.bare_path != path {
                self.add_bare(pieces);
            }
            self.bare_path = path;
            self.bare.push(left.text);
        }
    }

    fn add_bare(&mut self, pieces: &mut Vec<Piece<'_>>) {
        if self.bare.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.bare).join("\n");
        let heading_path = std::mem::take(&mut self.bare_path);
        let location = within(&heading_path, "headings");
        pieces.push(Piece { kind: Kind::Passage, heading_path, location, body: Body::Text(text) });
    }

    fn add_passage(&mut self, paragraphs: &mut Vec<&str>, pieces: &mut Vec<Piece<'_>>) {
        let text = std::mem::take(paragraphs).join("\n");
        if !text.trim().is_empty() {
            self.add(Kind::Passage, Body::Text(text), pieces);
        }
    }

    fn add<'a>(&mut self, kind: Kind, body: Body<'a>, pieces: &mut Vec<Piece<'a>>) {
        self.add_bare(pieces);
        if let Some(heading) = self.headings.last_mut() {
            heading.used = true;
        }
        let heading_path = self.path();
        let location = match kind {
            Kind::Passage => {
                self.texts += 1;
                within(&heading_path, &format!("text {}", self.texts))
            }
            Kind::List => {
                self.lists += 1;
                within(&heading_path, &format!("list {}", self.lists))
            }
            Kind::Table | Kind::Row => format!("Table {}", self.tables),
        };
        pieces.push(Piece { kind, heading_path, location, body });
    }

    fn add_table<'a>(&mut self, table: &'a Table, pieces: &mut Vec<Piece<'a>>) {
        self.tables += 1;
        let grid = TableGrid {
            number: self.tables,
            caption: table.caption.clone().unwrap_or_default(),
            header: column_names(table),
            rows: table.rows.clone(),
        };
        let text = verbalize_table(table, &grid);
        self.add(Kind::Table, Body::Table { table, grid, text }, pieces);
    }
}

/// `Agenda, list 1`, or `List 1` above the first heading.
fn within(heading_path: &[String], place: &str) -> String {
    if let Some(heading) = heading_path.last() {
        return format!("{heading}, {place}");
    }
    let mut letters = place.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn contextualize(title: &str, pieces: &[Piece<'_>], settings: &EvidenceSettings) -> Split {
    let mut split = Split::default();
    let longest = settings.longest_neighbour * 4;
    let beside = |at: Option<usize>| at.and_then(|at| pieces.get(at)).map_or("", |piece| piece.body.text());
    for (at, piece) in pieces.iter().enumerate() {
        let context = Context {
            title: title.to_owned(),
            heading_path: piece.heading_path.clone(),
            before: tail(beside(at.checked_sub(1)), longest),
            after: head(beside(Some(at + 1)), longest),
        };
        match &piece.body {
            Body::Text(text) if piece.kind == Kind::Passage => {
                add_passage_parts(piece, text, &context, (&mut split, settings));
            }
            body => split.evidences.push(evidence(piece, body.text(), context.clone())),
        }
        if let Body::Table { table, grid, .. } = &piece.body {
            let (above, below) = around_table(pieces, at);
            let context = Context { before: tail(above, longest), after: head(below, longest), ..context };
            let caption = tail(&grid.caption, longest);
            add_rows(table, grid, with_caption(context, grid.number, &caption), &mut split);
            split.tables.push(grid.clone());
        }
    }
    split
}

fn evidence(piece: &Piece<'_>, content: &str, context: Context) -> Evidence {
    let table = match &piece.body {
        Body::Table { grid, .. } => Some(grid.number),
        Body::Text(_) => None,
    };
    let content = content.to_owned();
    Evidence {
        kind: piece.kind,
        content,
        context,
        table,
        row: None,
        location: piece.location.clone(),
        links: Vec::new(),
    }
}

/// A long passage becomes several, each with the context of the whole.
fn add_passage_parts(
    piece: &Piece<'_>,
    text: &str,
    context: &Context,
    (split, settings): (&mut Split, &EvidenceSettings),
) {
    let parts = cut(text, settings.longest_passage * 8);
    let several = parts.len() > 1;
    for (number, part) in (1..).zip(parts) {
        let mut part = evidence(piece, &part, context.clone());
        if several {
            part.location = format!("{}, part {number}", part.location);
        }
        split.evidences.push(part);
    }
}

/// The text above and below a table, for its rows: the nearest that is no table, in the table's own section unless it
/// stands right beside the table. Rows of another table would pass for facts of this one.
fn around_table<'p>(pieces: &'p [Piece<'_>], at: usize) -> (&'p str, &'p str) {
    let section = &pieces[at].heading_path;
    let nearest = |mut beside: Box<dyn Iterator<Item = &'p Piece<'_>> + 'p>| {
        let first = beside.next()?;
        if first.kind != Kind::Table {
            return Some(first.body.text());
        }
        let text = beside.find(|piece| piece.kind != Kind::Table)?;
        (text.heading_path == *section).then(|| text.body.text())
    };
    let above = nearest(Box::new(pieces[..at].iter().rev()));
    let below = nearest(Box::new(pieces[at + 1..].iter()));
    (above.unwrap_or_default(), below.unwrap_or_default())
}

/// A table's caption is the nearest text before its rows.
fn with_caption(mut context: Context, number: u32, caption: &str) -> Context {
    if !caption.is_empty() {
        let border = if context.before.is_empty() { "" } else { "\n" };
        context.before = format!("{}{border}Table {number}: {caption}", context.before);
    }
    context
}

fn add_rows(table: &Table, grid: &TableGrid, context: Context, split: &mut Split) {
    for (row, number) in (0..grid.rows.len()).zip(1u32..) {
        split.evidences.push(Evidence {
            kind: Kind::Row,
            content: verbalize_row(table, grid, row),
            context: context.clone(),
            table: Some(grid.number),
            row: Some(number),
            location: format!("Table {}, row {number}", grid.number),
            links: Vec::new(),
        });
    }
}
