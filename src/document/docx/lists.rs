//! Opens and closes lists, which Word stores only as paragraphs with a level.
//!
//! Takes the list position and number label of each paragraph, gives nested lists through the builder.
//! Invariants: parts are closed in reverse order; an item keeps its number as text if counting its list from 1 would
//! not give it.

use super::super::Ordering;
use super::super::builder::{Builder, Opened, Part};
use super::styles::Numbered;

/// The open lists of the text, a cell or a text box; outermost first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    open: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    at: Numbered,
    kind: Kind,
    list: Opened,
    item: Opened,
}

/// The numbering of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bullets,
    /// Numbers as counted from 1; the last one.
    Counted(u32),
    /// Numbers that are part of the text.
    Written,
}

impl Kind {
    fn of(label: Option<&str>) -> Self {
        match label {
            None => Self::Bullets,
            Some(label) if says(label, 1) => Self::Counted(1),
            Some(_) => Self::Written,
        }
    }

    /// The kind after one more item, if the list can take it.
    fn next(self, label: Option<&str>) -> Option<Self> {
        match (self, label) {
            (Self::Bullets, None) => Some(Self::Bullets),
            (Self::Counted(last), Some(label)) => {
                last.checked_add(1).filter(|number| says(label, *number)).map(Self::Counted)
            }
            (Self::Written, Some(_)) => Some(Self::Written),
            _ => None,
        }
    }
}

/// Whether a label is this number in digits, apart from punctuation.
fn says(label: &str, number: u32) -> bool {
    label.trim_matches(['.', ')', '(', ':', '-', ' ']) == number.to_string()
}

impl Lists {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Opens an item, after closing what cannot hold it; gives a label that must be in its text.
    pub(super) fn enter(&mut self, at: Numbered, label: Option<String>, builder: &mut Builder) -> Option<String> {
        while self.open.last().is_some_and(|level| level.at.depth > at.depth) {
            self.close_last(builder);
        }
        let label = label.filter(|label| !label.is_empty());
        let beside = self.open.last_mut().filter(|level| level.at.depth == at.depth);
        let goes_on = beside.and_then(|level| {
            // Numbers of another list start anew; bullets only look alike.
            let same = level.at.list == at.list || level.kind == Kind::Bullets;
            let kind = level.kind.next(label.as_deref()).filter(|_| same)?;
            level.kind = kind;
            builder.close(level.item);
            level.item = builder.open(Part::Item);
            Some(kind)
        });
        let kind = goes_on.unwrap_or_else(|| self.begin(at, Kind::of(label.as_deref()), builder));
        label.filter(|_| kind == Kind::Written)
    }

    fn begin(&mut self, at: Numbered, kind: Kind, builder: &mut Builder) -> Kind {
        if self.open.last().is_some_and(|level| level.at.depth == at.depth) {
            self.close_last(builder);
        }
        let ordered = if matches!(kind, Kind::Counted(_)) { Ordering::Ordered } else { Ordering::Unordered };
        let list = builder.open(Part::List(ordered));
        let item = builder.open(Part::Item);
        self.open.push(Level { at, kind, list, item });
        kind
    }

    fn close_last(&mut self, builder: &mut Builder) {
        if let Some(level) = self.open.pop() {
            builder.close(level.item);
            builder.close(level.list);
        }
    }

    pub(super) fn close(&mut self, builder: &mut Builder) {
        while self.is_open() {
            self.close_last(builder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Block, Document, List};
    use super::super::tests::{package, read};

    /// A Word file with this body, the levels of its only list, and its only footnote.
    fn word(body: &str, levels: &str, note: &str) -> Document {
        let main = format!("<w:document xmlns:w='w' xmlns:r='r'><w:body>{body}</w:body></w:document>");
        let numbering = format!(
            "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>{levels}</w:abstractNum><w:num w:numId='1'>\
             <w:abstractNumId w:val='0'/></w:num></w:numbering>"
        );
        let notes = format!(
            "<w:footnotes xmlns:w='w'><w:footnote w:id='1'><w:p><w:r><w:t>{note}</w:t></w:r></w:p></w:footnote>\
             </w:footnotes>"
        );
        let far = format!(
            "<Relationship Id='far' Type='x/hyperlink' TargetMode='External' Target='x:{}'/>",
            "y".repeat(5_000)
        );
        let relations = format!(
            "<Relationships><Relationship Id='a' Type='x/footnotes' Target='footnotes.xml'/><Relationship Id='b' \
             Type='x/numbering' Target='numbering.xml'/>{far}</Relationships>"
        );
        read(&package(&[
            ("word/document.xml", &main),
            ("word/_rels/document.xml.rels", &relations),
            ("word/numbering.xml", &numbering),
            ("word/footnotes.xml", &notes),
        ]))
        .unwrap()
    }

    /// A level of a list: what it counts with and what it draws.
    fn level(format: &str, text: &str, start: u32) -> String {
        format!(
            "<w:lvl w:ilvl='0'><w:start w:val='{start}'/><w:numFmt w:val='{format}'/>\
             <w:lvlText w:val='{text}'/></w:lvl>"
        )
    }

    fn item(text: &str) -> String {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr>\
             <w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    }

    fn drawn(document: &Document) -> String {
        let list = |list: &List| list.items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" / ");
        let one = |block: &Block| match block {
            Block::Text(text) => text.clone(),
            Block::List(inner) => format!("{:?}: {}", inner.ordered, list(inner)),
            other => format!("{other:?}"),
        };
        document.blocks.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_note_is_written_in_full_once() {
        let note = "so it is ".repeat(1_000);
        let reference = "<w:r><w:footnoteReference w:id='1'/></w:r>";
        let text = drawn(&word(&format!("<w:p><w:r><w:t>a</w:t></w:r>{}</w:p>", reference.repeat(1_000)), "", &note));
        assert!(text.contains(note.trim()));
        assert!(text.len() < note.len() + 1_000 * 80, "{} bytes", text.len());
        assert!(text.ends_with(" so it …]"), "{}", &text[text.len() - 100..]);
    }

    #[test]
    fn steps_keep_their_numbers_where_something_stands_between_them() {
        let between = "<w:p><w:r><w:t>Wait.</w:t></w:r></w:p>";
        let body = [&*item("Open."), between, &*item("Take it out."), &*item("Close.")].concat();
        assert_eq!(
            drawn(&word(&body, &level("decimal", "%1.", 1), "n")),
            "Ordered: Open.\nWait.\nUnordered: 2. Take it out. / 3. Close."
        );
    }

    #[test]
    fn numbers_that_counting_from_one_does_not_give_are_written_out() {
        let body = [item("a"), item("b")].concat();
        let drawn = |format, text, start| drawn(&word(&body, &level(format, text, start), "n"));
        assert_eq!(drawn("lowerLetter", "%1)", 1), "Unordered: a) a / b) b");
        assert_eq!(drawn("decimal", "%1.", 5), "Unordered: 5. a / 6. b");
        assert_eq!(drawn("decimal", "§ %1", 1), "Unordered: § 1 a / § 2 b");
        assert_eq!(drawn("decimal", "(%1)", 1), "Ordered: a / b");
        assert_eq!(drawn("bullet", "•", 1), "Unordered: a / b");
        assert_eq!(drawn("decimal", "", 1), "Unordered: a / b");
    }

    #[test]
    fn the_label_of_a_numbered_paragraph_is_short() {
        let level = level("decimal", &format!("§ {}%1", "x".repeat(100_000)), 1);
        let text = drawn(&word(&item("a").repeat(100), &level, "n"));
        assert!(text.len() < 100 * 120, "{} bytes", text.len());
    }

    #[test]
    fn a_target_that_many_links_may_name_is_short() {
        let link = "<w:hyperlink r:id='far'><w:r><w:t>far</w:t></w:r></w:hyperlink>";
        let document = word(&format!("<w:p>{}</w:p>", link.repeat(3)), "", "n");
        assert_eq!((drawn(&document).as_str(), document.links.len()), ("farfarfar", 0));
    }
}
