//! Composes blocks from the lines and tables of all pages: headings, paragraphs, lists, tables, page marks.
//!
//! Takes page layouts, gives blocks.
//! Invariants: every line is in exactly one block; a page mark precedes the first block that begins on its page; a
//! paragraph that continues over a column or page end is one block.
//! Not here: the layout of a page (`page_layout`).

use super::heading::Headings;
use super::line::Line;
use super::list::{Item, lists};
use super::page_layout::{PageLayout, Piece, Placed};
use super::paragraph::{Marker, append, marker};
use super::table::Draft;
use crate::Block;
use ragonite_base::{CancelToken, Canceled, clean_line, clean_text, composed};

/// Maximum length of a table caption, in letters.
const LONGEST_CAPTION: usize = 240;
const CAPTIONS: &[&str] = &["table ", "tabelle ", "tab. ", "tbl. "];

/// Text that is growing.
struct Paragraph {
    text: String,
    last: Placed,
    page: u32,
    /// Keeps line ends, as in listings.
    listing: bool,
}

/// Whether a line begins a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Begins,
    GoesOn,
}

/// The blocks so far, and what is open.
struct Composer<'h> {
    blocks: Vec<Block>,
    headings: &'h Headings,
    marked: u32,
    paragraph: Option<Paragraph>,
    items: Vec<Item>,
    items_page: u32,
    heading: Option<(String, Placed, u32)>,
    /// The last table, its page, and its first row if the next page may continue it.
    table: Option<(Draft, u32)>,
}

/// Composes the blocks of a document, without the lines in `skip`, given by page and index.
pub(super) fn compose(
    sheets: &[PageLayout],
    headings: &Headings,
    skip: &[(usize, usize)],
    cancel: &CancelToken,
) -> Result<Vec<Block>, Canceled> {
    let mut composer = Composer {
        blocks: Vec::new(),
        headings,
        marked: 0,
        paragraph: None,
        items: Vec::new(),
        items_page: 0,
        heading: None,
        table: None,
    };
    for (page, sheet) in sheets.iter().enumerate() {
        cancel.check()?;
        let number = page as u32 + 1;
        let pitches = pitches(sheet);
        for (at, piece) in sheet.pieces.iter().enumerate() {
            match piece {
                _ if skip.contains(&(page, at)) => {}
                Piece::Table(draft) => composer.add_table(draft, number, sheet.pieces.get(at + 1), at),
                Piece::Line(placed) if headings.is_heading(&sheet.pieces, at) => composer.add_heading(placed, number),
                Piece::Line(placed) => composer.add_line(placed, number, pitches[placed.region]),
            }
        }
    }
    composer.end_all();
    Ok(composer.blocks)
}

/// The usual distance between the lines of each column.
fn pitches(sheet: &PageLayout) -> Vec<f64> {
    let placed = |piece: &Piece| match piece {
        Piece::Line(placed) => Some(placed.clone()),
        Piece::Table(_) => None,
    };
    let lines: Vec<Placed> = sheet.pieces.iter().filter_map(placed).collect();
    let regions = lines.iter().map(|line| line.region + 1).max().unwrap_or(0);
    let mut steps: Vec<Vec<f64>> = vec![Vec::new(); regions];
    for pair in lines.windows(2).filter(|pair| pair[0].region == pair[1].region) {
        let step = pair[1].line.base - pair[0].line.base;
        let size = pair[1].line.size;
        if step > 0.8 * size && step < 2.2 * size && (pair[0].line.size - size).abs() < 0.1 * size {
            steps[pair[0].region].push(step);
        }
    }
    let median = |mut steps: Vec<f64>| {
        steps.sort_by(f64::total_cmp);
        // The lower third: in short texts most steps are between paragraphs.
        steps.get(steps.len() / 3).copied().unwrap_or(0.0)
    };
    steps.into_iter().map(median).collect()
}

impl Composer<'_> {
    fn push(&mut self, page: u32, blocks: impl IntoIterator<Item = Block>) {
        for block in blocks {
            if page > self.marked {
                self.marked = page;
                self.blocks.push(Block::Page(page));
            }
            self.blocks.push(block);
        }
    }

    fn end_all(&mut self) {
        self.end_paragraph();
        self.end_list();
        self.end_heading();
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraph.take() else { return };
        let text = composed(clean_text(&paragraph.text)).trim().replace('\u{ad}', "");
        if !text.is_empty() {
            self.push(paragraph.page, [Block::Text(text)]);
        }
    }

    fn end_list(&mut self) {
        let items = std::mem::take(&mut self.items);
        if !items.is_empty() {
            let page = self.items_page;
            self.push(page, lists(&items));
        }
    }

    fn end_heading(&mut self) {
        let Some((text, placed, page)) = self.heading.take() else { return };
        let level = self.headings.level(&placed);
        let text = clean_line(&text);
        if !text.is_empty() {
            self.push(page, [Block::Heading { level, text }]);
        }
    }

    fn add_heading(&mut self, placed: &Placed, page: u32) {
        self.end_paragraph();
        self.end_list();
        self.table = None;
        let line = &placed.line;
        if let Some((text, last, _)) = &mut self.heading {
            let step = line.base - last.line.base;
            let alike = (line.size - last.line.size).abs() < 0.05 * line.size && line.look == last.line.look;
            let numbered = marker(&line.text()).is_some() || line.text().starts_with(|c: char| c.is_ascii_digit());
            if alike && placed.region == last.region && step > 0.0 && step < 1.5 * line.size && !numbered {
                append(text, &line.text());
                last.line.base = line.base;
                return;
            }
        }
        self.end_heading();
        self.heading = Some((line.text(), placed.clone(), page));
    }

    fn add_line(&mut self, placed: &Placed, page: u32, pitch: f64) {
        self.end_heading();
        self.table = None;
        let text = clean_line(&placed.line.text());
        let flow = self.paragraph.as_ref().map_or(Flow::Begins, |open| flow(open, placed, pitch));
        if let Some((sign, rest)) = marker(&text).or_else(|| bare_number(&placed.line, &text))
            && self.may_be_item(&sign, placed, flow)
        {
            self.end_paragraph();
            if self.items.is_empty() {
                self.items_page = page;
            }
            self.items.push(Item::new(sign, rest, placed));
            return;
        }
        if let Some(item) = self.items.last_mut()
            && item.takes(placed)
        {
            item.append(placed, &text);
            return;
        }
        self.end_list();
        if flow == Flow::Begins {
            self.end_paragraph();
            let listing = placed.line.look.fixed || is_ragged(&placed.line);
            self.paragraph = Some(Paragraph { text, last: placed.clone(), page, listing });
        } else if let Some(open) = &mut self.paragraph {
            open.push(placed, &text);
        }
    }

    /// Whether a marker begins an item here. Dashes and numbers may start a line by chance.
    fn may_be_item(&self, sign: &Marker, placed: &Placed, flow: Flow) -> bool {
        let beside = self.items.last().is_some_and(|item| item.is_beside(placed));
        let announced = self.paragraph.as_ref().is_some_and(|open| open.text.trim_end().ends_with(':'));
        let indented =
            self.paragraph.as_ref().is_some_and(|open| placed.line.left > open.last.left + 0.8 * placed.line.size);
        match sign {
            Marker::Bullet | Marker::Task(_) => true,
            Marker::Dash | Marker::Number(..) => {
                flow == Flow::Begins || beside || announced || indented || !self.items.is_empty()
            }
        }
    }

    fn add_table(&mut self, draft: &Draft, page: u32, next: Option<&Piece>, at: usize) {
        self.end_list();
        self.end_heading();
        let caption = self.caption_above();
        self.end_paragraph();
        let below = next.and_then(|piece| match piece {
            Piece::Line(placed) if caption.is_none() => Some(clean_line(&placed.line.text())),
            _ => None,
        });
        let mut draft = draft.clone();
        if let Some((last, on)) = self.table.take()
            && at == 0
            && on + 1 == page
            && last.goes_on(&draft)
            && let (Some(names), Some(row)) = (last.rows.first(), draft.rows.first())
            && names.iter().all(|cell| cell.bold && cell.rows <= 1)
            && !row.iter().all(|cell| cell.bold)
        {
            // The next page continues without repeating the column names.
            draft.rows.insert(0, names.clone());
        }
        let caption = caption.or(below.filter(|text| is_caption(text)));
        self.push(page, draft.blocks(caption.as_deref()));
        self.table = Some((draft, page));
    }

    fn caption_above(&mut self) -> Option<String> {
        let open = self.paragraph.take()?;
        let text = clean_line(&open.text);
        if is_caption(&text) {
            return Some(text);
        }
        self.paragraph = Some(open);
        None
    }
}

fn is_caption(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.chars().count() <= LONGEST_CAPTION && CAPTIONS.iter().any(|start| lower.starts_with(start))
}

impl Paragraph {
    fn push(&mut self, placed: &Placed, text: &str) {
        if self.listing || is_ragged(&placed.line) {
            self.text.push('\n');
            let indent = (placed.line.left - placed.left) / (0.6 * placed.line.size.max(1.0));
            if placed.line.look.fixed && indent.is_finite() {
                self.text.push_str(&" ".repeat(indent.clamp(0.0, 40.0).round() as usize));
            }
            self.text.push_str(text);
            self.listing = placed.line.look.fixed || is_ragged(&placed.line);
        } else {
            append(&mut self.text, text);
        }
        self.last = placed.clone();
    }
}

/// A number without a full stop is a marker if a gap follows.
fn bare_number<'t>(line: &Line, text: &'t str) -> Option<(Marker, &'t str)> {
    let [first, second, ..] = line.words.as_slice() else { return None };
    let (number, rest) = text.split_once(' ')?;
    let apart = second.left - first.right > 0.6 * line.size && first.text == number && number.len() <= 3;
    apart.then_some(())?;
    Some((Marker::Number(number.to_owned(), number.parse().ok()?), rest))
}

/// Whether wide gaps divide the line: a row, not running text.
fn is_ragged(line: &Line) -> bool {
    line.has_leader() || line.cells().len() > 1
}

/// Whether a line begins a new paragraph after the open one.
fn flow(open: &Paragraph, placed: &Placed, pitch: f64) -> Flow {
    if begins(open, placed, pitch) { Flow::Begins } else { Flow::GoesOn }
}

fn begins(open: &Paragraph, placed: &Placed, pitch: f64) -> bool {
    let (last, line) = (&open.last.line, &placed.line);
    let text = open.text.trim_end();
    let ends = text.ends_with(['.', '!', '?', ':', '。', '”', '"', '»', '“']);
    let size = line.size.max(1.0);
    let alike = (last.size - line.size).abs() < 0.12 * size && last.look.fixed == line.look.fixed;
    if !alike || open.last.main != placed.main {
        return true;
    }
    let starts_lower = line.text().starts_with(char::is_lowercase);
    if open.last.region != placed.region || line.base < last.base {
        return ends || !(starts_lower || text.ends_with('-')) || line.look.fixed;
    }
    let step = line.base - last.base;
    let usual = if pitch > 0.0 { pitch } else { 1.3 * size };
    if line.look.fixed {
        return step > 2.2 * usual.max(size);
    }
    let width = placed.right - placed.left;
    let indented = line.left > last.left + 0.8 * size && last.left < placed.left + 0.5 * size;
    let short = last.right < placed.right - 0.2 * width;
    let bold_changes = last.look.bold != line.look.bold && (ends || short);
    step > 1.3 * usual.max(0.9 * size) || (indented && ends) || (short && ends) || bold_changes
}
