//! `styles.xml` and `numbering.xml`: the role of paragraphs, in any language of Word.
//!
//! Takes the two parts; gives a paragraph's role, its weight and its position in a list.
//! Invariants: `basedOn` chains are followed for a bounded number of steps; repeated texts of styles and lists are
//! short, so that the time per paragraph is bounded.
//! Not here: the content (`body`).

use std::collections::HashMap;

use roxmltree::Node;

use super::super::package::{attribute, child, child_value};

/// Maximum steps through `basedOn`; longer chains are cycles.
const LONGEST_CHAIN: usize = 32;

/// Maximum characters of a style or list name, as in Word.
const LONGEST_NAME: usize = 255;

/// Maximum characters of a number label, which is repeated for each paragraph.
const LONGEST_LABEL: usize = 100;

/// Number of list levels.
const LEVELS: usize = 9;

/// The role of a paragraph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Text,
    Title,
    Heading(u8),
    Caption,
    /// An entry of a table of contents, which repeats headings.
    Contents,
    Code,
    /// A further paragraph of a list item.
    ListContinued,
}

/// A list definition and a level of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbered {
    pub list: u32,
    pub level: usize,
    /// Its depth: the styles `List Bullet 2` and on are separate lists, a level deeper.
    pub depth: usize,
}

/// What a table style does to the first row and column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TableLook {
    pub marks_first_row: bool,
    pub bold_first_column: bool,
}

#[derive(Debug, Default)]
struct Style {
    /// In lower case. Built-in styles have the same names in every language.
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    bold: Option<bool>,
    list: Option<u32>,
    list_level: Option<usize>,
    look: TableLook,
}

/// All styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// The default paragraph style.
    normal: Option<String>,
}

impl Styles {
    pub(super) fn read(root: Node<'_, '_>) -> Self {
        let mut styles = Self::default();
        for node in root.children().filter(|node| node.tag_name().name() == "style") {
            let Some(id) = attribute(node, "styleId").filter(is_name) else { continue };
            let is_paragraph = attribute(node, "type") == Some("paragraph");
            if is_paragraph && attribute(node, "default").is_some_and(is_on) {
                styles.normal = Some(id.to_owned());
            }
            styles.styles.insert(id.to_owned(), Style::read(node));
        }
        styles
    }

    /// A style and its base styles, nearest first.
    fn chain<'s>(&'s self, id: Option<&'s str>) -> impl Iterator<Item = (&'s str, &'s Style)> {
        let find = |id: &'s str| self.styles.get(id).map(|style| (id, style));
        let first = id.and_then(find);
        std::iter::successors(first, move |(_, style)| style.based_on.as_deref().and_then(find)).take(LONGEST_CHAIN)
    }

    fn paragraph<'s>(&'s self, id: Option<&'s str>) -> Option<&'s str> {
        id.or(self.normal.as_deref())
    }

    /// The role of a paragraph of this style, unless the paragraph overrides it.
    pub(super) fn role(&self, id: Option<&str>) -> Role {
        let id = self.paragraph(id);
        let named = self.chain(id).find_map(|(_, style)| role_of_name(&style.name));
        let outline = self.chain(id).find_map(|(_, style)| style.outline);
        match (named, outline) {
            (Some(Role::Heading(_)) | None, Some(outline)) => role_of_outline(outline),
            (Some(role), _) => role,
            (None, None) => Role::Text,
        }
    }

    pub(super) fn bold(&self, id: Option<&str>) -> Option<bool> {
        self.chain(id).find_map(|(_, style)| style.bold)
    }

    pub(super) fn paragraph_bold(&self, id: Option<&str>) -> bool {
        self.bold(self.paragraph(id)).unwrap_or(false)
    }

    pub(super) fn look(&self, id: Option<&str>) -> TableLook {
        let mut look = TableLook::default();
        for (_, style) in self.chain(id) {
            look.marks_first_row |= style.look.marks_first_row;
            look.bold_first_column |= style.look.bold_first_column;
        }
        look
    }

    /// The list and level of a style's paragraphs.
    pub(super) fn numbered(&self, id: Option<&str>, numbering: &Numbering) -> Option<Numbered> {
        let (style_id, style) = self.chain(self.paragraph(id)).find(|(_, style)| style.list.is_some())?;
        let list = style.list?;
        let level = style.list_level.or_else(|| numbering.level_of_style(list, style_id)).unwrap_or(0);
        let named = self.chain(self.paragraph(id)).find_map(|(_, style)| depth_of_name(&style.name));
        Some(Numbered { list, level, depth: named.filter(|_| level == 0).unwrap_or(level) })
    }
}

impl Style {
    fn read(node: Node<'_, '_>) -> Self {
        let paragraph = child(node, "pPr");
        let list = paragraph.and_then(|node| child(node, "numPr"));
        let mut look = TableLook::default();
        for part in node.children().filter(|part| part.tag_name().name() == "tblStylePr") {
            let bold = child(part, "rPr").and_then(bold).unwrap_or(false);
            let shaded = child(part, "tcPr").and_then(shade).is_some();
            match attribute(part, "type") {
                Some("firstRow") => look.marks_first_row |= bold || shaded,
                Some("firstCol") => look.bold_first_column |= bold,
                _ => {}
            }
        }
        Self {
            name: child_value(node, "name").filter(is_name).unwrap_or_default().trim().to_lowercase(),
            based_on: child_value(node, "basedOn").filter(is_name).map(ToOwned::to_owned),
            outline: paragraph.and_then(|node| child_value(node, "outlineLvl")).and_then(|level| level.parse().ok()),
            bold: child(node, "rPr").and_then(bold),
            list: list.and_then(|node| child_value(node, "numId")).and_then(|id| id.parse().ok()),
            list_level: list.and_then(|node| child_value(node, "ilvl")).and_then(|level| level.parse().ok()),
            look,
        }
    }
}

/// Outline levels count from 0; 9 is running text.
pub(super) fn role_of_outline(outline: u8) -> Role {
    if outline < 9 { Role::Heading((outline + 1).min(6)) } else { Role::Text }
}

fn role_of_name(name: &str) -> Option<Role> {
    if let Some(level) = name.strip_prefix("heading ").and_then(|level| level.parse::<u8>().ok()) {
        return Some(Role::Heading(level.clamp(1, 6)));
    }
    Some(match name {
        "title" => Role::Title,
        "caption" => Role::Caption,
        "toc heading" | "table of figures" => Role::Contents,
        "html preformatted" | "source code" | "code" | "code block" | "preformatted text" | "plain text" => Role::Code,
        _ if name.starts_with("toc ") => Role::Contents,
        _ if name.starts_with("list continue") => Role::ListContinued,
        _ => return None,
    })
}

/// `list bullet 3` is two levels deep.
fn depth_of_name(name: &str) -> Option<usize> {
    let number = name.strip_prefix("list bullet ").or_else(|| name.strip_prefix("list number "))?;
    number.parse::<usize>().ok().filter(|number| (1..=9).contains(number)).map(|number| number - 1)
}

/// Whether a switch with this value is on.
fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "false" | "off" | "none")
}

/// A switch in run or row properties; on without a value.
pub(super) fn switch(properties: Node<'_, '_>, name: &str) -> Option<bool> {
    child(properties, name).map(|node| attribute(node, "val").is_none_or(is_on))
}

pub(super) fn bold(properties: Node<'_, '_>) -> Option<bool> {
    switch(properties, "b")
}

/// The background of a cell, unless white.
pub(super) fn shade<'a>(cell: Node<'a, '_>) -> Option<&'a str> {
    let shading = child(cell, "shd")?;
    let fill = attribute(shading, "themeFill").or_else(|| attribute(shading, "fill"))?;
    (!fill.eq_ignore_ascii_case("auto") && !fill.eq_ignore_ascii_case("ffffff")).then_some(fill)
}

fn is_name(name: &&str) -> bool {
    name.len() <= LONGEST_NAME
}

/// A level of a list definition.
#[derive(Debug, Clone, Default)]
struct Level {
    format: Format,
    /// `%1.%2` with the numbers of the levels.
    text: String,
    start: u32,
    style: Option<String>,
}

impl Level {
    fn read(node: Node<'_, '_>) -> Self {
        let value = |name| child(node, name).and_then(|node| attribute(node, "val"));
        Self {
            format: Format::of(value("numFmt").unwrap_or_default()),
            text: value("lvlText").unwrap_or_default().chars().take(LONGEST_LABEL).collect(),
            start: value("start").and_then(|start| start.parse().ok()).unwrap_or(1),
            style: value("pStyle").filter(is_name).map(ToOwned::to_owned),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Definition {
    levels: HashMap<usize, Level>,
    style_link: Option<String>,
    /// Refers to the definition with that `style_link`.
    linked: Option<String>,
}

/// All list definitions and their counters.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    /// The definition of each list.
    lists: HashMap<u32, String>,
    restarts: HashMap<(u32, usize), u32>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
}

impl Numbering {
    pub(super) fn read(root: Node<'_, '_>) -> Self {
        let mut numbering = Self::default();
        for node in root.children() {
            match node.tag_name().name() {
                "abstractNum" => numbering.add_definition(node),
                "num" => numbering.add_list(node),
                _ => {}
            }
        }
        numbering.follow_links();
        numbering
    }

    fn add_definition(&mut self, node: Node<'_, '_>) {
        let Some(id) = attribute(node, "abstractNumId").filter(is_name) else { return };
        let value = |name| child(node, name).and_then(|node| attribute(node, "val")).map(ToOwned::to_owned);
        let mut definition =
            Definition { style_link: value("styleLink"), linked: value("numStyleLink"), ..Definition::default() };
        for level in node.children().filter(|node| node.tag_name().name() == "lvl") {
            let number = attribute(level, "ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
            if number < LEVELS {
                definition.levels.insert(number, Level::read(level));
            }
        }
        self.definitions.insert(id.to_owned(), definition);
    }

    fn add_list(&mut self, node: Node<'_, '_>) {
        let id = attribute(node, "numId").and_then(|id| id.parse().ok());
        let definition = child(node, "abstractNumId").and_then(|node| attribute(node, "val")).filter(is_name);
        let (Some(id), Some(definition)) = (id, definition) else { return };
        self.lists.insert(id, definition.to_owned());
        for change in node.children().filter(|node| node.tag_name().name() == "lvlOverride") {
            let level = attribute(change, "ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
            let start = child(change, "startOverride").and_then(|node| attribute(node, "val"));
            if let Some(start) = start.and_then(|start| start.parse().ok()) {
                self.restarts.insert((id, level), start);
            }
        }
    }

    /// Resolves lists whose definition refers to another one.
    fn follow_links(&mut self) {
        let linked: HashMap<&str, &String> =
            self.definitions.iter().filter_map(|(id, other)| Some((other.style_link.as_deref()?, id))).collect();
        for definition in self.lists.values_mut() {
            let link = self.definitions.get(definition).and_then(|found| found.linked.as_deref());
            if let Some(target) = link.and_then(|link| linked.get(link)) {
                (*target).clone_into(definition);
            }
        }
    }

    fn level_of_style(&self, list: u32, style: &str) -> Option<usize> {
        let definition = self.definitions.get(self.lists.get(&list)?)?;
        definition.levels.iter().find(|(_, level)| level.style.as_deref() == Some(style)).map(|(number, _)| *number)
    }

    /// Counts a paragraph and gives its number label, as in `2.1` or `§ 3`.
    pub(super) fn count(&mut self, at: Numbered) -> Option<String> {
        let id = self.lists.get(&at.list)?;
        let levels = &self.definitions.get(id)?.levels;
        let level = levels.get(&at.level)?;
        let restart = self.restarts.remove(&(at.list, at.level));
        let counters = self.counters.entry(id.clone()).or_default();
        let counter = counters.get_mut(at.level)?;
        *counter = Some(restart.unwrap_or_else(|| counter.map_or(level.start, |count| count.saturating_add(1))));
        counters.iter_mut().skip(at.level + 1).for_each(|deeper| *deeper = None);
        if level.format == Format::None {
            return None;
        }
        let number = |place: usize| {
            let start = levels.get(&place).map_or(1, |level| level.start);
            let format = levels.get(&place).map_or(Format::Decimal, |level| level.format);
            format.write(counters[place].unwrap_or(start))
        };
        let mut pieces = level.text.split('%');
        let mut label = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            match (1..=at.level + 1).find(|place| piece.starts_with(&place.to_string())) {
                Some(place) => label.extend([&number(place - 1), &piece[1..]]),
                None => label.extend(["%", piece]),
            }
        }
        Some(label.trim().chars().take(LONGEST_LABEL).collect())
    }
}

/// The number format of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Format {
    /// Bullets, or no label.
    #[default]
    None,
    Decimal,
    DecimalZero,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
}

impl Format {
    fn of(name: &str) -> Self {
        match name {
            "bullet" | "none" | "" => Self::None,
            "lowerLetter" => Self::LowerLetter,
            "upperLetter" => Self::UpperLetter,
            "lowerRoman" => Self::LowerRoman,
            "upperRoman" => Self::UpperRoman,
            "decimalZero" => Self::DecimalZero,
            _ => Self::Decimal,
        }
    }

    fn write(self, number: u32) -> String {
        match self {
            Self::LowerLetter => letters(number, b'a'),
            Self::UpperLetter => letters(number, b'A'),
            Self::LowerRoman => roman(number).to_lowercase(),
            Self::UpperRoman => roman(number),
            Self::DecimalZero => format!("{number:02}"),
            Self::None | Self::Decimal => number.to_string(),
        }
    }
}

/// a to z, then aa, bb: the letter repeats.
fn letters(number: u32, first: u8) -> String {
    let index = number.saturating_sub(1);
    let letter = char::from(first + (index % 26) as u8);
    std::iter::repeat_n(letter, (index as usize / 26 + 1).min(8)).collect()
}

fn roman(number: u32) -> String {
    const PARTS: &[(u32, &str)] = &[
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > 3_999 {
        return number.to_string();
    }
    let mut left = number;
    let mut text = String::new();
    for (value, sign) in PARTS {
        while left >= *value {
            text.push_str(sign);
            left -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_their_level_says() {
        let drawn: Vec<String> =
            [(4, "lowerRoman"), (28, "lowerLetter"), (3, "upperLetter"), (7, "decimalZero"), (1994, "upperRoman")]
                .iter()
                .map(|(number, format)| Format::of(format).write(*number))
                .collect();
        assert_eq!(drawn, ["iv", "bb", "C", "07", "MCMXCIV"]);
    }

    #[test]
    fn a_circle_of_styles_ends() {
        let xml = "<s><style styleId='a'><name val='x'/><basedOn val='b'/></style><style styleId='b'><basedOn \
                   val='a'/><pPr><outlineLvl val='2'/></pPr></style></s>";
        let tree = roxmltree::Document::parse(xml).unwrap();
        let styles = Styles::read(tree.root_element());
        assert_eq!(styles.role(Some("a")), Role::Heading(3));
        assert_eq!(styles.bold(Some("a")), None);
    }
}
