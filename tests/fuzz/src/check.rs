//! The invariants of the crate `document`, checked independently.
//!
//! Takes a document or a split, panics with the violation. Words are compared, not texts: a splitter may add marks,
//! escape and join, but every word of the document is in an evidence.

use std::collections::HashSet;

use ragonite_base::clean_text;
use ragonite_document::{Block, Document, List, Table};
use ragonite_document::evidence::{Evidence, Kind, Split};

/// In bytes, as in the splitter.
const LONGEST_WORD: usize = 400;

/// Clean text, rectangular tables, and links that point at a block.
pub(crate) fn document(document: &Document) {
    assert!(!document.title.trim().is_empty() || document.title.is_empty(), "a title of blanks");
    for block in &document.blocks {
        texts_of(block, &mut |text| assert_eq!(clean_text(text), text, "unclean text"));
        match block {
            Block::Table(table) => rectangular(table),
            Block::Heading { level, .. } => assert!((1..=6).contains(level), "a heading of level {level}"),
            _ => {}
        }
    }
    for link in &document.links {
        assert!(link.block < document.blocks.len(), "a link at no block: {link:?}");
    }
}

fn rectangular(table: &Table) {
    let width = table.rows.first().map_or(table.header.len(), Vec::len);
    assert!(table.rows.iter().all(|row| row.len() == width), "ragged rows: {table:?}");
    assert!(table.header.is_empty() || table.header.len() == width, "a header of another width: {table:?}");
    assert!(table.row_headers <= width, "more row headers than columns: {table:?}");
    assert!(table.full_width.iter().all(|row| *row < table.rows.len()), "no such row: {table:?}");
}

/// No evidence is empty, rows point into their tables, and every word of the document is in some evidence.
pub(crate) fn split(document: &Document, split: &Split) {
    for grid in &split.tables {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()), "a row of another width: {grid:?}");
    }
    for evidence in &split.evidences {
        assert!(!evidence.content.trim().is_empty(), "an empty evidence: {evidence:?}");
        assert!(!evidence.location.is_empty(), "an evidence that is nowhere: {evidence:?}");
        let of_table = matches!(evidence.kind, Kind::Table | Kind::Row);
        assert_eq!(evidence.table.is_some(), of_table, "{evidence:?}");
        assert_eq!(evidence.row.is_some(), evidence.kind == Kind::Row, "{evidence:?}");
        for link in &evidence.links {
            assert!(!link.target.is_empty(), "a link that leads nowhere: {evidence:?}");
        }
    }
    every_cell_is_in_the_evidence_of_its_row(split);
    every_word_is_held(document, split);
}

fn every_cell_is_in_the_evidence_of_its_row(split: &Split) {
    for evidence in split.evidences.iter().filter(|evidence| evidence.kind == Kind::Row) {
        let (table, row) = (evidence.table.unwrap_or_default(), evidence.row.unwrap_or_default());
        let grid = split.tables.iter().find(|grid| grid.number == table).expect("the table of a row");
        let cells = grid.rows.get(row as usize - 1).expect("the row in its table");
        let held: HashSet<&str> = words(&evidence.content).collect();
        let lost: Vec<&str> = cells.iter().flat_map(|cell| words(cell)).filter(|word| !held.contains(word)).collect();
        assert!(lost.is_empty(), "words of a row are lost: {lost:?} of {cells:?} in {evidence:?}");
    }
}

fn every_word_is_held(document: &Document, split: &Split) {
    let held: HashSet<&str> = split.evidences.iter().flat_map(texts).flat_map(|text| words(text)).collect();
    for block in &document.blocks {
        texts_of(block, &mut |text| {
            for word in words(text) {
                assert!(held.contains(word), "`{word}` of {block:?} is lost in {split:#?}");
            }
        });
    }
}

fn texts(evidence: &Evidence) -> impl Iterator<Item = &str> {
    [evidence.content.as_str()].into_iter().chain(evidence.context.heading_path.iter().map(String::as_str))
}

/// The words of a text, without those longer than [`LONGEST_WORD`], which may be cut.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && word.len() <= LONGEST_WORD)
}

/// Every text of a block.
fn texts_of(block: &Block, visit: &mut dyn FnMut(&str)) {
    match block {
        Block::Heading { text, .. } | Block::Text(text) => visit(text),
        Block::Page(_) => {}
        Block::List(list) => texts_of_list(list, visit),
        Block::Table(table) => {
            let Table { caption, footer, header, rows, .. } = table;
            let texts = caption.iter().chain(footer).chain(header).chain(rows.iter().flatten());
            texts.for_each(|text| visit(text));
        }
    }
}

fn texts_of_list(list: &List, visit: &mut dyn FnMut(&str)) {
    let mut open = vec![list];
    while let Some(list) = open.pop() {
        for item in &list.items {
            visit(&item.text);
            open.extend(&item.nested);
        }
    }
}
