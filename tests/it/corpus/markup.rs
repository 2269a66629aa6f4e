//! A second reader of the storage format that shares no code with the program: a tolerant tokenizer, a tree, the
//! visible text, lists, and tables laid out as in HTML.

/// A node of a page.
pub(super) enum Node {
    Text(String),
    Element(Element),
}

/// An element with its children.
#[derive(Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: String,
    pub(super) children: Vec<Node>,
}

const VOID: &[&str] = &["br", "hr", "img", "col", "input"];
const INLINE: &[&str] = &[
    "a",
    "b",
    "strong",
    "em",
    "i",
    "u",
    "s",
    "del",
    "span",
    "code",
    "sub",
    "sup",
    "small",
    "ac:link",
    "ac:link-body",
    "ac:plain-text-link-body",
    "ac:inline-comment-marker",
    "ac:structured-macro",
    "time",
    "ac:emoticon",
    "ri:page",
    "ac:image",
];
/// Elements that are not displayed.
const UNSEEN: &[&str] = &[
    "ac:parameter",
    "ac:task-id",
    "ac:task-uuid",
    "ac:task-status",
    "ac:placeholder",
    "ac:adf-attribute",
    "ac:adf-fallback",
    "script",
    "style",
];

impl Element {
    /// Reads a page.
    pub(super) fn read(source: &str) -> Self {
        let mut open = vec![Self::default()];
        let mut rest = source;
        while let Some(at) = rest.find('<') {
            push_text(&mut open, &decode(&rest[..at]));
            rest = &rest[at..];
            if let Some(body) = rest.strip_prefix("<![CDATA[") {
                let (text, after) = body.split_once("]]>").unwrap_or((body, ""));
                push_text(&mut open, text);
                rest = after;
            } else if let Some(body) = rest.strip_prefix("<!--") {
                rest = body.split_once("-->").map_or("", |(_, after)| after);
            } else if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
                let end = end_of_tag(rest);
                read_tag(&rest[1..end], &mut open);
                rest = rest.get(end + 1..).unwrap_or_default();
            } else {
                push_text(&mut open, "<");
                rest = &rest[1..];
            }
        }
        push_text(&mut open, &decode(rest));
        while open.len() > 1 {
            close_last(&mut open);
        }
        open.pop().unwrap()
    }

    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let (_, rest) = self.attributes.split_once(&format!(" {name}="))?;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(decode(rest[1..].split_once(quote)?.0))
    }

    fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The visible text of the element without the elements named in `leave_out`.
    pub(super) fn text(&self, leave_out: &[&str]) -> String {
        let mut text = String::new();
        self.write(leave_out, &mut text);
        text.replace(['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}'], "")
    }

    fn write(&self, leave_out: &[&str], text: &mut String) {
        for child in &self.children {
            match child {
                Node::Text(words) => text.push_str(words),
                Node::Element(element) if leave_out.contains(&element.name.as_str()) => text.push(' '),
                Node::Element(element) if UNSEEN.contains(&element.name.as_str()) => {}
                Node::Element(element) => {
                    let border = if INLINE.contains(&element.name.as_str()) { "" } else { " " };
                    text.push_str(border);
                    element.write(leave_out, text);
                    text.push_str(border);
                }
            }
        }
    }

    /// The elements with these names that are inside none of these and none of `outside`.
    pub(super) fn outermost<'e>(&'e self, names: &[&str], outside: &[&str], found: &mut Vec<&'e Self>) {
        for element in self.elements() {
            let name = element.name.as_str();
            if names.contains(&name) {
                found.push(element);
            } else if !outside.contains(&name) && !UNSEEN.contains(&name) {
                element.outermost(names, outside, found);
            }
        }
    }

    /// Whether all words are bold.
    fn is_bold(&self) -> bool {
        !words(&self.text(&[])).is_empty() && words(&self.text(&["strong", "b"])).is_empty()
    }
}

fn push_text(open: &mut [Element], text: &str) {
    if !text.is_empty() {
        open.last_mut().unwrap().children.push(Node::Text(text.to_owned()));
    }
}

fn end_of_tag(rest: &str) -> usize {
    let mut quote = None;
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    rest.len() - 1
}

fn read_tag(tag: &str, open: &mut Vec<Element>) {
    if let Some(name) = tag.strip_prefix('/') {
        let name = name.trim();
        if open.iter().skip(1).any(|element| element.name == name) {
            while open.last().unwrap().name != name {
                close_last(open);
            }
            close_last(open);
        }
        return;
    }
    let name = tag.split([' ', '\n', '\t', '/']).next().unwrap_or_default();
    let empty = tag.ends_with('/') || VOID.contains(&name);
    let attributes = tag[name.len()..].replace(['\n', '\t'], " ");
    open.push(Element { name: name.to_owned(), attributes, children: Vec::new() });
    if empty {
        close_last(open);
    }
}

fn close_last(open: &mut Vec<Element>) {
    let element = open.pop().unwrap();
    open.last_mut().unwrap().children.push(Node::Element(element));
}

fn decode(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = rest.find(';').filter(|end| *end < 12) else {
            decoded.push('&');
            rest = &rest[1..];
            continue;
        };
        let number = |digits: &str| {
            let hex = digits.strip_prefix(['x', 'X']);
            hex.map_or_else(|| digits.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
        };
        let name = &rest[1..end];
        let character = match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "nbsp" => Some(' '),
            _ => name.strip_prefix('#').and_then(number),
        };
        match character {
            Some(character) => decoded.push(character),
            None => decoded.push_str(&rest[..=end]),
        }
        rest = &rest[end + 1..];
    }
    decoded + rest
}

/// Runs of letters and digits.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether the words occur in this order; the program may add words between them, such as the name of a link.
pub(super) fn in_order(wanted: &[String], text: &[String]) -> bool {
    let mut text = text.iter();
    wanted.iter().all(|word| text.any(|other| other == word))
}

/// A cell of the page.
pub(super) struct Cell {
    pub(super) words: Vec<String>,
    pub(super) header: bool,
    pub(super) bold: bool,
    /// Number in its table.
    id: usize,
}

/// A table as a grid: the cell that covers each row and column. Rows and columns without words are left out, and so are
/// columns in which every cell also covers the column to the left.
pub(super) struct Grid<'a> {
    pub(super) rows: Vec<Vec<Option<&'a Cell>>>,
}

/// The cells of a table, row by row, with their spans.
pub(super) struct Cells(Vec<Vec<(Cell, usize, usize)>>);

impl Cells {
    pub(super) fn of(table: &Element) -> Self {
        let mut rows = Vec::new();
        for part in table.elements() {
            match part.name.as_str() {
                "tr" => rows.push(part),
                "thead" | "tbody" => rows.extend(part.elements().filter(|row| row.name == "tr")),
                _ => {}
            }
        }
        let feet = table.elements().filter(|part| part.name == "tfoot");
        rows.extend(feet.flat_map(Element::elements).filter(|row| row.name == "tr"));
        let mut id = 0;
        let cells = |row: &Element| {
            let cells = row.elements().filter(|cell| cell.name == "td" || cell.name == "th");
            let cells = cells.map(|cell| {
                id += 1;
                let span =
                    |name: &str| cell.attribute(name).and_then(|text| text.parse().ok()).unwrap_or(1_usize).max(1);
                let read = Cell { words: words(&cell.text(&[])), header: cell.name == "th", bold: cell.is_bold(), id };
                (read, span("colspan"), span("rowspan"))
            });
            cells.collect()
        };
        Self(rows.into_iter().map(cells).collect())
    }

    /// Number of cells with words.
    pub(super) fn filled(&self) -> usize {
        self.0.iter().flatten().filter(|(cell, ..)| !cell.words.is_empty()).count()
    }

    pub(super) fn grid(&self) -> Grid<'_> {
        let height = self.0.len();
        let mut rows: Vec<Vec<Option<&Cell>>> = vec![Vec::new(); height];
        for (y, cells) in self.0.iter().enumerate() {
            let mut x = 0;
            for (cell, across, down) in cells {
                while rows[y].get(x).is_some_and(Option::is_some) {
                    x += 1;
                }
                for row in rows.iter_mut().skip(y).take(*down) {
                    if row.len() < x + across {
                        row.resize(x + across, None);
                    }
                    row[x..x + across].fill(Some(cell));
                }
                x += across;
            }
        }
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        for row in &mut rows {
            row.resize(width, None);
        }
        let filled = |cell: Option<&Cell>| cell.is_some_and(|cell| !cell.words.is_empty());
        rows.retain(|row| row.iter().copied().any(filled));
        let number = |cell: Option<&Cell>| cell.map(|cell| cell.id);
        let kept: Vec<usize> = (0..width)
            .filter(|x| rows.iter().any(|row| filled(row[*x])))
            .filter(|x| *x == 0 || rows.iter().any(|row| number(row[*x]) != number(row[*x - 1])))
            .collect();
        Grid { rows: rows.iter().map(|row| kept.iter().map(|x| row[*x]).collect()).collect() }
    }
}

impl Grid<'_> {
    /// Whether a single cell covers the whole row.
    pub(super) fn is_across(&self, y: usize) -> bool {
        let row = &self.rows[y];
        let first = row[0].map(|cell| cell.id);
        row.len() > 1 && first.is_some() && row.iter().all(|cell| cell.map(|cell| cell.id) == first)
    }

    /// Whether the first row with several cells is marked as the header.
    pub(super) fn has_marked_header(&self) -> bool {
        let Some(first) = (0..self.rows.len()).find(|y| !self.is_across(*y)) else { return false };
        let cells = || self.rows[first].iter().flatten().filter(|cell| !cell.words.is_empty());
        let others = || self.rows[first + 1..].iter().flatten().flatten().filter(|cell| !cell.words.is_empty());
        (cells().count() > 1 || self.rows[first].len() == 1)
            && (cells().all(|cell| cell.header) || (cells().all(|cell| cell.bold) && others().any(|cell| !cell.bold)))
    }
}
