//! Metadata of XLSX sheets: merged cells, links, comments, header rows.
//!
//! Takes the package, gives one [`SheetMeta`] per sheet name. Invariant: the cells, nearly all of a sheet's part, are
//! cut out before a tree is built.
//! Not here: cells and their styles (`workbook`).

use std::collections::HashMap;

use roxmltree::Node;

use super::super::package::{OfficeError, Package, Relation, attribute, child, parse};
use super::claims::MOST_SHEETS;
use super::layout::Merged;
use ragonite_base::clean_line;

/// Maximum of merged cells in a sheet.
pub(super) const MOST_MERGED: usize = 50_000;
/// Maximum of columns of a merged cell.
pub(super) const WIDEST_MERGED: u32 = 1_024;
/// Maximum of frozen rows that are a header.
const MOST_FROZEN: u32 = 6;

/// Maximum of tables with headers in the same row.
const MOST_HEADERS: usize = 256;

/// A sheet without its cells.
#[derive(Debug, Default)]
pub(super) struct SheetMeta {
    pub merged: Merged,
    /// Cells and targets, in file order.
    pub links: Vec<((u32, u32), String)>,
    pub comments: HashMap<(u32, u32), String>,
    /// First and last columns of header rows that the sheet declares, by row.
    pub headers: HashMap<u32, Vec<(u32, u32)>>,
    /// Number of frozen rows.
    pub frozen: u32,
}

impl SheetMeta {
    /// Records that the first row of an area is a header.
    fn add_header(&mut self, area: Option<Area>) {
        if let Some(((row, first), (_, last))) = area {
            let headers = self.headers.entry(row).or_default();
            if headers.len() < MOST_HEADERS {
                headers.push((first, last));
            }
        }
    }
}

/// Reads the metadata of all sheets by name.
pub(super) fn read(package: &mut Package<'_>) -> Result<HashMap<String, SheetMeta>, OfficeError> {
    const WORKBOOK: &str = "xl/workbook.xml";
    let relations = package.relations(WORKBOOK)?;
    let source = package.needed(WORKBOOK)?;
    let tree = parse(WORKBOOK, &source, &package.cancel)?;
    let mut frames = HashMap::new();
    let Some(sheets) = child(tree.root_element(), "sheets") else { return Ok(frames) };
    // The cell reader searches all sheets for each sheet.
    if sheets.children().count() > MOST_SHEETS {
        return Err(OfficeError::Broken);
    }
    for sheet in sheets.children().filter(Node::is_element) {
        let visible = attribute(sheet, "state").is_none_or(|state| state == "visible");
        let id = sheet.attributes().find(|a| a.name() == "id" && a.namespace().is_some()).map(|a| a.value());
        let part = id.and_then(|id| relations.get(id)).filter(|relation| relation.kind == "worksheet");
        if let (true, Some(name), Some(part)) = (visible, attribute(sheet, "name"), part) {
            frames.insert(name.to_owned(), read_sheet(package, &part.target)?);
        }
    }
    Ok(frames)
}

fn read_sheet(package: &mut Package<'_>, part: &str) -> Result<SheetMeta, OfficeError> {
    let mut frame = SheetMeta::default();
    let relations = package.relations(part)?;
    let Some(source) = package.text(part)? else { return Ok(frame) };
    let Some(rest) = without_cells(&source) else { return Ok(frame) };
    let tree = parse(part, &rest, &package.cancel)?;
    for node in tree.root_element().children() {
        match node.tag_name().name() {
            "sheetViews" => {
                let pane = node.descendants().find(|node| node.tag_name().name() == "pane");
                let pane =
                    pane.filter(|pane| attribute(*pane, "state").is_some_and(|state| state.starts_with("frozen")));
                let rows = pane.and_then(|pane| attribute(pane, "ySplit")).and_then(|rows| rows.parse().ok());
                frame.frozen = rows.filter(|rows| *rows <= MOST_FROZEN).unwrap_or(0);
            }
            "autoFilter" => frame.add_header(attribute(node, "ref").and_then(area)),
            "mergeCells" => {
                for merged in
                    node.children().filter_map(|node| attribute(node, "ref")).filter_map(area).take(MOST_MERGED)
                {
                    let (rows, columns) = (merged.1.0 - merged.0.0 + 1, merged.1.1 - merged.0.1 + 1);
                    frame.merged.insert(merged.0, (rows, columns.min(WIDEST_MERGED)));
                }
            }
            "hyperlinks" => {
                let links = node.children().filter(Node::is_element).filter_map(|node| link(node, &relations));
                frame.links.extend(links);
            }
            _ => {}
        }
    }
    drop(source);
    for relation in relations.values() {
        match relation.kind.as_str() {
            "table" => frame.add_header(read_table(package, &relation.target)?),
            "comments" => read_comments(package, &relation.target, &mut frame.comments)?,
            _ => {}
        }
    }
    Ok(frame)
}

/// A sheet's part without its cells; none if they cannot be located.
fn without_cells(source: &str) -> Option<String> {
    let start =
        source.find("<sheetData").or_else(|| source.find(":sheetData").and_then(|at| source[..at].rfind('<')))?;
    let opened = &source[start..source[start..].find('>').map(|end| start + end + 1)?];
    if opened.ends_with("/>") {
        return Some(format!("{}{}", &source[..start], &source[start + opened.len()..]));
    }
    let name = opened[1..].split(|c: char| c.is_whitespace() || c == '>').next()?;
    let closing = format!("</{name}>");
    let end = source.rfind(&closing)? + closing.len();
    Some(format!("{}{}", &source[..start], &source[end..]))
}

fn link(node: Node<'_, '_>, relations: &HashMap<String, Relation>) -> Option<((u32, u32), String)> {
    let place = attribute(node, "ref").and_then(area)?.0;
    let target = attribute(node, "id").and_then(|id| relations.get(id)).map_or("", |relation| relation.target.as_str());
    let inside = attribute(node, "location").map(|inside| format!("#{inside}")).unwrap_or_default();
    Some((place, clean_line(&format!("{target}{inside}"))))
}

/// The header row of a declared table.
fn read_table(package: &mut Package<'_>, part: &str) -> Result<Option<Area>, OfficeError> {
    let Some(source) = package.text(part)? else { return Ok(None) };
    let tree = parse(part, &source, &package.cancel)?;
    let table = tree.root_element();
    if attribute(table, "headerRowCount") == Some("0") {
        return Ok(None);
    }
    Ok(attribute(table, "ref").and_then(area))
}

fn read_comments(
    package: &mut Package<'_>,
    part: &str,
    comments: &mut HashMap<(u32, u32), String>,
) -> Result<(), OfficeError> {
    let Some(source) = package.text(part)? else { return Ok(()) };
    let tree = parse(part, &source, &package.cancel)?;
    let named =
        |name: &'static str| tree.root_element().descendants().filter(move |node| node.tag_name().name() == name);
    let authors: Vec<&str> = named("author").map(|node| node.text().unwrap_or_default().trim()).collect();
    for comment in named("comment") {
        let Some((place, _)) = attribute(comment, "ref").and_then(area) else { continue };
        let texts = comment.descendants().filter(|node| node.tag_name().name() == "t").filter_map(|node| node.text());
        let text = clean_line(&texts.collect::<String>());
        // Programs put this before every threaded comment, for programs without threads.
        let text = text
            .split_once("Comment:")
            .filter(|_| text.starts_with("[Threaded comment]"))
            .map_or(text.as_str(), |(_, own)| own);
        let author =
            attribute(comment, "authorId").and_then(|id| id.parse::<usize>().ok()).and_then(|id| authors.get(id));
        let author = author.copied().filter(|author| !author.is_empty() && !author.starts_with("tc="));
        let text = match author {
            Some(author) => format!(
                "Comment by {author}: {}",
                text.trim().trim_start_matches(author).trim_start_matches(':').trim()
            ),
            None => format!("Comment: {}", text.trim()),
        };
        comments.insert(place, text);
    }
    Ok(())
}

/// Rows and columns from 0, the last ones included.
type Area = ((u32, u32), (u32, u32));

/// `B2:D7` or `B2`.
fn area(text: &str) -> Option<Area> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    let (first, last) = (place(first)?, place(last)?);
    (first.0 <= last.0 && first.1 <= last.1).then_some((first, last))
}

fn place(text: &str) -> Option<(u32, u32)> {
    let text = text.replace('$', "");
    let letters = text.find(|c: char| !c.is_ascii_alphabetic())?;
    if letters == 0 || letters > 3 {
        return None;
    }
    let column =
        text[..letters].bytes().fold(0, |sum, letter| sum * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row: u32 = text[letters..].parse().ok()?;
    (1..=1 << 20).contains(&row).then(|| (row - 1, column - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_nonsense_is_not() {
        assert_eq!(area("$B$2:AA10"), Some(((1, 1), (9, 26))));
        assert_eq!(area("C3"), Some(((2, 2), (2, 2))));
        for nonsense in ["", "3", "A", "A0", "B2:A1", "AAAA1", "A99999999999", "é1"] {
            assert_eq!(area(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn the_cells_are_cut_out_of_a_sheet() {
        let cut = |source| without_cells(source).unwrap();
        assert_eq!(cut("<w><a/><sheetData><row/></sheetData><b/></w>"), "<w><a/><b/></w>");
        assert_eq!(cut("<w><sheetData/><b/></w>"), "<w><b/></w>");
        assert_eq!(cut("<x:w><x:sheetData ><x:row/></x:sheetData><x:b/></x:w>"), "<x:w><x:b/></x:w>");
    }
}
