//! Reads plain text into blocks.
//!
//! Takes text without markup; gives paragraphs, underlined headings and lists; for a file also its title, if its first
//! line clearly is one.
//! Invariants: no word is lost; an item keeps its number as text if counting its list from 1 would not give it; one
//! pass, lists nest at most [`DEEPEST_LIST`] deep.

use super::builder::DEEPEST_LIST;
use super::{Block, Document, List, ListItem, Ordering};
use ragonite_base::{clean_text, composed};

/// Maximum characters of a heading.
const LONGEST_HEADING: usize = 120;

/// Marks a paragraph that quotes an earlier message.
const QUOTED: &str = "Quoted: ";

/// Maximum characters and words of a title that is not underlined.
const LONGEST_TITLE: usize = 80;
const MOST_WORDS: usize = 12;

/// First words of greetings.
const GREETINGS: &[&str] = &[
    "hi", "hello", "hey", "dear", "good", "hallo", "liebe", "lieber", "liebes", "sehr", "guten", "moin", "servus",
    "bonjour", "hola",
];

/// Reads a text file, with its title if it opens with one.
pub(super) fn read_file(text: &str) -> Document {
    let text = composed(clean_text(text));
    let empty: usize = text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    match opening(&text[empty..]) {
        Some((title, rest)) => {
            let mut blocks = vec![Block::Heading { level: 1, text: title.to_owned() }];
            blocks.extend(read(rest));
            Document { title: title.to_owned(), blocks, ..Document::default() }
        }
        None => Document { blocks: read(&text), ..Document::default() },
    }
}

/// The title at the start of a text, and the rest.
fn opening(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let [first, second, third] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let behind = |lines: &[&str]| &text[lines.iter().map(|line| line.len()).sum::<usize>()..];
    let (name, rest) =
        if rule(first).is_some() && rule(first) == rule(third) && first.trim().len() >= second.trim().len() {
            // As in reStructuredText: a line above it and the same below.
            (second, behind(&[first, second, third]))
        } else if underline(first.trim_end(), second.trim_end()).is_some() {
            (first, behind(&[first, second]))
        } else if let Some(name) = first.strip_prefix("= ") {
            // As in AsciiDoc.
            (name, behind(&[first]))
        } else if second.trim().is_empty() && !behind(&[first, second]).trim().is_empty() {
            let marked = first.strip_prefix("# ");
            (marked.or_else(|| is_title(first.trim_end()).then_some(first))?, behind(&[first]))
        } else {
            return None;
        };
    let name = name.trim();
    (name.chars().any(char::is_alphanumeric) && name.chars().count() <= LONGEST_HEADING).then_some((name, rest))
}

/// The character of a line that consists of it.
fn rule(line: &str) -> Option<char> {
    let line = line.trim_end();
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|c| c == sign)).then_some(sign)
}

/// Whether a first line that stands alone is a title: short, capitalized, without punctuation at its end, and no item,
/// URL, greeting or log line.
fn is_title(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let starts = line.starts_with(|c: char| c.is_uppercase() || c.is_numeric());
    let ends = line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '”' | '“' | '»' | '?'));
    let plain = !line.contains(['\t', '=', '{', '}', '<', '>', '|', ';', '@']);
    let broken = line.contains(". ") || line.contains(": ") || line.contains("://");
    let greets = line.split(|c: char| !c.is_alphabetic()).next().is_some_and(|first| {
        let first = first.to_lowercase();
        GREETINGS.contains(&first.as_str())
    });
    starts
        && ends
        && plain
        && !broken
        && !greets
        && bullet(line).is_none()
        && words <= MOST_WORDS
        && letters * 2 > line.chars().count()
        && line.chars().count() <= LONGEST_TITLE
}

/// Splits text at empty lines, with headings and lists.
pub(super) fn read(text: &str) -> Vec<Block> {
    let text = composed(clean_text(text));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut reader = Reader::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        match (reader.at_border(), lines.get(at + 1).and_then(|next| underline(line, next))) {
            (true, Some(level)) => {
                reader.heading(level, line);
                at += 1;
            }
            _ => reader.line(line),
        }
        at += 1;
    }
    reader.finish()
}

/// Splits text at empty lines, without structure.
pub(super) fn paragraphs(text: &str) -> Vec<Block> {
    let text = composed(clean_text(&text.replace("\r\n", "\n").replace('\r', "\n")));
    let mut reader = Reader::default();
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            reader.close();
        } else {
            reader.paragraph.push(line.to_owned());
        }
    }
    reader.finish()
}

/// As [`read`] for the body of a mail, with quotations of earlier messages marked.
pub(super) fn read_mail(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut quoted = false;
    for line in text.lines() {
        let is_quote = line.starts_with('>');
        if is_quote != quoted && !(line.trim().is_empty() && quoted) {
            let ended = read(&std::mem::take(&mut run).join("\n"));
            blocks.extend(if quoted { marked(ended) } else { ended });
            quoted = is_quote;
        }
        run.push(if is_quote { line.trim_start_matches(['>', ' ']) } else { line });
    }
    let ended = read(&run.join("\n"));
    blocks.extend(if quoted { marked(ended) } else { ended });
    blocks
}

/// Marks blocks of an earlier message. Its headings become text.
fn marked(blocks: Vec<Block>) -> Vec<Block> {
    let mark = |block| match block {
        Block::Text(text) | Block::Heading { text, .. } => Block::Text(format!("{QUOTED}{text}")),
        other => other,
    };
    blocks.into_iter().map(mark).collect()
}

/// The level of the heading that `next` underlines.
fn underline(line: &str, next: &str) -> Option<u8> {
    let level = match next.chars().next()? {
        '=' => 1,
        '-' | '~' => 2,
        _ => return None,
    };
    let width = line.trim().chars().count();
    let drawn = next.chars().count();
    let uniform = next.chars().all(|c| next.starts_with(c));
    let heading = line.chars().any(char::is_alphanumeric) && width <= LONGEST_HEADING && bullet(line).is_none();
    (uniform && drawn >= 3 && drawn + 2 >= width && drawn <= width * 2 + 4 && heading).then_some(level)
}

/// A line that starts an item.
struct Bullet<'a> {
    indent: usize,
    /// `2.`, as written; none for a plain bullet.
    number: Option<&'a str>,
    text: &'a str,
}

fn bullet(line: &str) -> Option<Bullet<'_>> {
    let rest = line.trim_start();
    let indent = line.len() - rest.len();
    for sign in ["- ", "* ", "• ", "– ", "o "] {
        // A lone `o` is a word in some languages; Outlook writes it as a bullet of the second level only.
        if let Some(text) = rest.strip_prefix(sign).filter(|_| sign != "o " || indent > 0) {
            return Some(Bullet { indent, number: None, text: text.trim_start() });
        }
    }
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let text = rest[digits..].strip_prefix(". ").or_else(|| rest[digits..].strip_prefix(") "))?;
    let number = Some(&rest[..=digits]);
    (1..=3).contains(&digits).then_some(Bullet { indent, number, text: text.trim_start() })
}

/// An open list.
#[derive(Default)]
struct Open {
    /// Indentation of its items.
    indent: usize,
    list: List,
    /// The number of each item, as written.
    numbers: Vec<Option<String>>,
}

impl Open {
    fn is_numbered(&self) -> bool {
        self.numbers.first().is_some_and(Option::is_some)
    }

    /// The list, numbered if counting gives the written numbers.
    fn close(mut self) -> List {
        let counted = |(expected, number): (usize, &Option<String>)| {
            number.as_deref().is_some_and(|number| number.trim_end_matches(['.', ')']) == expected.to_string())
        };
        if (1..).zip(&self.numbers).all(counted) {
            self.list.ordered = Ordering::Ordered;
            return self.list;
        }
        for (item, number) in self.list.items.iter_mut().zip(self.numbers) {
            if let Some(number) = number {
                item.text = format!("{number} {}", item.text);
            }
        }
        self.list
    }
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    paragraph: Vec<String>,
    /// Open lists, outermost first.
    lists: Vec<Open>,
}

impl Reader {
    fn at_border(&self) -> bool {
        self.paragraph.is_empty()
    }

    fn heading(&mut self, level: u8, line: &str) {
        self.close();
        self.blocks.push(Block::Heading { level, text: line.trim().to_owned() });
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            return self.close_paragraph();
        }
        let indented = line.starts_with([' ', '\t']);
        match bullet(line) {
            // Inside a paragraph, a number at the start of a line usually belongs to the sentence.
            Some(bullet) if bullet.number.is_some() && !self.paragraph.is_empty() => {
                self.paragraph.push(line.to_owned());
            }
            Some(bullet) => {
                self.close_paragraph();
                self.item(&bullet);
            }
            None => match self.lists.last_mut().and_then(|open| open.list.items.last_mut()) {
                Some(item) if indented && self.paragraph.is_empty() => {
                    item.text.push(' ');
                    item.text.push_str(line.trim_start());
                }
                _ => {
                    self.close_lists();
                    self.paragraph.push(line.to_owned());
                }
            },
        }
    }

    fn item(&mut self, bullet: &Bullet<'_>) {
        while self.lists.len() > 1 && self.lists.last().is_some_and(|open| open.indent > bullet.indent) {
            self.close_list();
        }
        let new = || Open { indent: bullet.indent, ..Open::default() };
        let deeper = self.lists.last().is_none_or(|open| bullet.indent > open.indent + 1);
        if deeper && self.lists.len() < DEEPEST_LIST {
            self.lists.push(new());
        } else if let [only] = self.lists.as_slice()
            && only.is_numbered() != bullet.number.is_some()
        {
            self.close_lists();
            self.lists.push(new());
        }
        if let Some(open) = self.lists.last_mut() {
            open.list.items.push(ListItem { text: bullet.text.to_owned(), nested: Vec::new() });
            open.numbers.push(bullet.number.map(ToOwned::to_owned));
        }
    }

    fn close_list(&mut self) {
        let Some(list) = self.lists.pop().map(Open::close) else { return };
        match self.lists.last_mut().and_then(|outer| outer.list.items.last_mut()) {
            Some(item) => item.nested.push(list),
            None => self.blocks.push(Block::List(list)),
        }
    }

    fn close_lists(&mut self) {
        while !self.lists.is_empty() {
            self.close_list();
        }
    }

    fn close_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.blocks.push(Block::Text(std::mem::take(&mut self.paragraph).join("\n")));
        }
    }

    fn close(&mut self) {
        self.close_lists();
        self.close_paragraph();
    }

    fn finish(mut self) -> Vec<Block> {
        self.close();
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Block {
        Block::Text(text.to_owned())
    }

    #[test]
    fn underlined_lines_are_headings_and_other_rules_are_not() {
        let read = read("Report\n======\n\nFirst part\n----------\na\n\n-----\nb | c\n--+--\n");
        let heading = |level, text: &str| Block::Heading { level, text: text.to_owned() };
        assert_eq!(read, [heading(1, "Report"), heading(2, "First part"), text("a"), text("-----\nb | c\n--+--")]);
    }

    #[test]
    fn lists_keep_their_nesting_and_their_continued_lines() {
        let read = read("To do:\n- one\n  goes on\n- two\n  - inner\n- three\nEnd.\n\n1. first\n2. second");
        let item = |text: &str| ListItem { text: text.to_owned(), nested: Vec::new() };
        let inner = List { items: vec![item("inner")], ..List::default() };
        let outer = vec![item("one goes on"), ListItem { text: "two".into(), nested: vec![inner] }, item("three")];
        let numbered = List { ordered: Ordering::Ordered, items: vec![item("first"), item("second")] };
        assert_eq!(
            read,
            [
                text("To do:"),
                Block::List(List { items: outer, ..List::default() }),
                text("End."),
                Block::List(numbered)
            ]
        );
    }

    #[test]
    fn steps_keep_their_numbers_where_something_stands_between_them() {
        let list = |ordered, items: &[&str]| {
            let item = |text: &&str| ListItem { text: (*text).to_owned(), nested: Vec::new() };
            Block::List(List { ordered, items: items.iter().map(item).collect() })
        };
        assert_eq!(
            read("1. Open.\n\nIt is hot.\n\n2. Take it out.\n3) Close.\n\n* a\n* b\n"),
            [
                list(Ordering::Ordered, &["Open."]),
                text("It is hot."),
                list(Ordering::Unordered, &["2. Take it out.", "3) Close."]),
                list(Ordering::Unordered, &["a", "b"]),
            ]
        );
    }

    #[test]
    fn a_file_that_opens_with_a_title_has_it() {
        let title = |source: &str| read_file(source).title;
        for titled in [
            "Pump service\n\nThe pump is serviced in spring.",
            "\n  \nPump service\n============\nThe pump",
            "============\nPump service\n============\n\nThe pump",
            "Pump service\n------------\n\nThe pump",
            "# Pump service\n\nThe pump",
            "= Pump service\n:toc:\n\nThe pump",
        ] {
            assert_eq!(title(titled), "Pump service", "{titled:?}");
            let blocks = read_file(titled).blocks;
            assert_eq!(blocks[0], Block::Heading { level: 1, text: "Pump service".into() });
            assert!(format!("{:?}", &blocks[1..]).contains("The pump"), "{titled:?}");
        }
        for untitled in [
            "The pump is serviced in spring.\n\nAnd in autumn.",
            "Pump service\nin spring\n\nThe pump",
            "Pump service\n\n",
            "Dear Anna\n\nthe pump is broken.",
            "Hallo zusammen\n\nwie besprochen",
            "# a comment\nkey=value\n\nother=value",
            "2024-05-01 12:00:07 started\n\n2024-05-01 12:00:09 stopped",
            "- Pump\n\nThe pump",
            "Size of the boxes: 40 cm\n\nColour: green",
            "---\nkind: note\n---\n\nThe pump",
            "https://pump.example/a\n\nThe pump",
            "pump\n\nThe pump",
        ] {
            assert_eq!(title(untitled), "", "{untitled:?}");
        }
    }

    #[test]
    fn what_a_mail_quotes_is_marked() {
        let read = read_mail("Yes.\n\n> Shall we?\n> \n> > Before.\n\nBest");
        assert_eq!(read, [text("Yes."), text("Quoted: Shall we?"), text("Quoted: Before."), text("Best")]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost(source in "([a-z]{1,4}|- |  |\n|\n\n|1\\. |====|----|> ){0,40}") {
            let all = format!("{:?}{:?}", read(&source), read_mail(&source));
            let file = format!("{:?}", read_file(&source));
            for word in ragonite_base::text::words(&source).filter(|word| word.chars().all(char::is_alphabetic)) {
                prop_assert!(all.contains(word) && file.contains(word), "{word} of {source:?} is lost");
            }
        }
    }
}
