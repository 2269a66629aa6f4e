//! Word has no lists, only paragraphs with a level: this opens and closes the lists that they mean.
//!
//! Takes the place of each paragraph, gives nested lists through the builder.
//! Invariant: what is opened is closed in reverse order.

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
    ordered: Ordering,
    list: Opened,
    item: Opened,
}

impl Lists {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Opens an item, after closing what cannot hold it.
    pub(super) fn enter(&mut self, at: Numbered, ordered: Ordering, builder: &mut Builder) {
        while self.open.last().is_some_and(|level| level.at.depth > at.depth) {
            self.close_last(builder);
        }
        if let Some(level) = self.open.last().filter(|level| level.at.depth == at.depth) {
            // Numbers that belong to another list start anew; bullets only look alike.
            let same = level.ordered == ordered && (level.at.list == at.list || ordered == Ordering::Unordered);
            if same {
                builder.close(level.item);
                let item = builder.open(Part::Item);
                if let Some(level) = self.open.last_mut() {
                    level.item = item;
                }
                return;
            }
            self.close_last(builder);
        }
        let list = builder.open(Part::List(ordered));
        let item = builder.open(Part::Item);
        self.open.push(Level { at, ordered, list, item });
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
    use super::super::read;
    use super::super::tests::package;

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
            "<w:lvl w:ilvl='0'><w:start w:val='{start}'/><w:numFmt w:val='{format}'/><w:lvlText w:val='{text}'/></w:lvl>"
        )
    }

    fn item(text: &str) -> String {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
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
