//! Shared contexts: text before and after several sources stands in the prompt once.
//!
//! Takes the hits of a prompt, best first, and which of them are in it as a whole; gives the text of each hit without
//! text of other sources of the document, and the shared contexts. Adjacent rows have the same surroundings, which are
//! often a source themselves; repeated they take a third of a prompt, and a small model takes them for an answer that
//! many sources give. A shared context stays as long as one of its sources is there.
//! Invariants: text left out of a source stands whole in another source of the document or in a shared context; title,
//! heading and content stay.
//! Not here: cuts for lack of room (`build`).

use crate::retrieval::Hit;
use ragonite_base::DocumentId;

/// Fewest characters of a shared context. Shorter text takes no room and may coincide by chance.
const LEAST_LETTERS: usize = 40;

/// The texts of hits, and the shared contexts.
pub(super) struct SharedContexts {
    /// The text of each hit, in the given order.
    pub(super) of_hits: Vec<String>,
    /// Shared contexts, by best source.
    pub(super) around: Vec<SharedContext>,
}

/// Text around several sources.
pub(super) struct SharedContext {
    /// Source numbers, ascending; at least two.
    pub(super) ranks: Vec<usize>,
    /// Title of the page and the text before and after.
    pub(super) text: String,
}

/// `is_whole` tells whether a hit is in the prompt as a whole, so that other hits need not repeat it.
pub(super) fn shared_contexts(hits: &[&Hit], is_whole: impl Fn(&Hit) -> bool) -> SharedContexts {
    let whole: Vec<&Hit> = hits.iter().copied().filter(|hit| is_whole(hit)).collect();
    let is_content = |of: &Hit, text: &str| {
        let others = whole.iter().filter(|hit| hit.document == of.document && hit.rank != of.rank);
        is_long(text) && others.into_iter().any(|hit| hit.content.contains(core(text)))
    };
    let mut neighbours = Vec::new();
    for hit in &whole {
        let Some(Shown { before, after, .. }) = Shown::of(hit) else { continue };
        for text in [before, after].into_iter().flatten().filter(|text| is_long(text) && !is_content(hit, text)) {
            Neighbour::join(&mut neighbours, hit, text);
        }
    }
    let text_of = |hit: &Hit| {
        let Some(shown) = Shown::of(hit) else { return hit.text.clone() };
        let stays = |text: &&str| {
            let by_another = neighbours.iter().any(|neighbour| neighbour.is_said_for(hit, text));
            !(is_long(text) && (by_another || is_content(hit, text)))
        };
        let lines = [shown.above, shown.before.filter(stays), Some(shown.content), shown.after.filter(stays)];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    SharedContexts { of_hits: hits.iter().map(|hit| text_of(hit)).collect(), around: together(&neighbours) }
}

/// A text before or after some hits.
struct Neighbour<'a> {
    document: DocumentId,
    /// Title of the page, if the hits show it.
    title: Option<&'a str>,
    /// Numbers of the hits, ascending.
    ranks: Vec<usize>,
    text: &'a str,
}

impl<'a> Neighbour<'a> {
    /// Adds the surroundings of a hit. If a text was shortened for one of the hits, the longer form counts.
    fn join(all: &mut Vec<Self>, hit: &'a Hit, text: &'a str) {
        let is_same = |one: &&mut Self| {
            one.document == hit.document && (one.text.contains(core(text)) || core(text).contains(core(one.text)))
        };
        let Some(same) = all.iter_mut().find(is_same) else {
            let above = Shown::of(hit).and_then(|shown| shown.above);
            let title = Some(hit.context.title.as_str()).filter(|title| above.is_some_and(|it| it.starts_with(title)));
            all.push(Self { document: hit.document, title, ranks: vec![hit.rank], text });
            return;
        };
        if !same.text.contains(core(text)) {
            same.text = text;
        }
        if same.ranks.last() != Some(&hit.rank) {
            same.ranks.push(hit.rank);
        }
    }

    fn is_shared(&self) -> bool {
        self.ranks.len() > 1
    }

    /// Whether a hit can omit a text: it is a shared context of the hit, or a better hit has it.
    fn is_said_for(&self, hit: &Hit, text: &str) -> bool {
        let apart = self.is_shared() && self.ranks.contains(&hit.rank);
        let is_better = self.ranks.first().is_some_and(|best| *best < hit.rank);
        (apart || is_better) && self.document == hit.document && self.text.contains(core(text))
    }
}

/// The texts around the same hits, joined.
fn together(neighbours: &[Neighbour<'_>]) -> Vec<SharedContext> {
    let mut all: Vec<SharedContext> = Vec::new();
    for Neighbour { title, ranks, text, .. } in neighbours.iter().filter(|one| one.is_shared()) {
        if let Some(same) = all.iter_mut().find(|one| one.ranks == *ranks) {
            same.text = format!("{}\n{text}", same.text);
        } else {
            let lines: Vec<&str> = title.iter().copied().chain([*text]).collect();
            all.push(SharedContext { ranks: ranks.clone(), text: lines.join("\n") });
        }
    }
    all.sort_by(|a, b| a.ranks.cmp(&b.ranks));
    all
}

/// The parts of the contextualized text of a hit, without the line breaks between them.
struct Shown<'a> {
    /// Title and heading.
    above: Option<&'a str>,
    before: Option<&'a str>,
    content: &'a str,
    after: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// None if the text is not made of the content and context of the hit.
    fn of(hit: &'a Hit) -> Option<Self> {
        let (text, after) = match before_line(&hit.text, &hit.context.after) {
            Some(text) => (text, Some(hit.context.after.as_str())),
            None => (hit.text.as_str(), None),
        };
        if text == hit.content {
            return Some(Self { above: None, before: None, content: &hit.content, after });
        }
        let above = before_line(text, &hit.content)?;
        let (above, before) = match before_line(above, &hit.context.before) {
            Some(above) => (Some(above), Some(hit.context.before.as_str())),
            None if above == hit.context.before => (None, Some(above)),
            None => (Some(above), None),
        };
        Some(Self { above, before, content: &hit.content, after })
    }
}

/// The lines before `last`; none if the text does not end with it.
fn before_line<'a>(text: &'a str, last: &str) -> Option<&'a str> {
    text.strip_suffix(last).filter(|_| !last.is_empty())?.strip_suffix('\n')
}

fn is_long(text: &str) -> bool {
    core(text).chars().count() >= LEAST_LETTERS
}

/// A text without the marks of shortening.
fn core(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '…')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::prompt::tests::hit;
    use ragonite_document::evidence::{Context, ContextParts};

    const AROUND: &str = "Every board was flashed from an empty state before the first test.";
    const BELOW: &str = "The A1 stays on the 3.3 branch because its flash is too small.";

    fn of(rank: usize, [before, content, after]: [&str; 3], parts: ContextParts) -> Hit {
        let context = Context {
            title: "Regression run".into(),
            heading_path: vec!["Results".into()],
            before: before.into(),
            after: after.into(),
        };
        let whole = [
            (ContextParts::TITLE, "Regression run"),
            (ContextParts::HEADING, "Results"),
            (ContextParts::BEFORE, before),
            (ContextParts::ALL, content),
            (ContextParts::AFTER, after),
        ];
        let shown = whole
            .iter()
            .filter(|(part, text)| !text.is_empty() && (*part == ContextParts::ALL || parts.contains(*part)));
        let text = shown.map(|(_, text)| *text).collect::<Vec<_>>().join("\n");
        Hit { text, content: content.into(), context, ..hit(rank, "") }
    }

    fn contexts_of(hits: &[Hit]) -> SharedContexts {
        shared_contexts(&hits.iter().collect::<Vec<_>>(), |_| true)
    }

    fn around(contexts: &SharedContexts) -> Vec<(&[usize], &str)> {
        contexts.around.iter().map(|one| (one.ranks.as_slice(), one.text.as_str())).collect()
    }

    #[test]
    fn what_is_around_two_rows_stands_apart_from_both() {
        let rows = [[AROUND, "Row 2: Board is B2", BELOW], [AROUND, "Row 1: Board is A1", ""]];
        let hits: Vec<Hit> = (1..).zip(rows).map(|(rank, row)| of(rank, row, ContextParts::ALL)).collect();
        let contexts = contexts_of(&hits);
        assert_eq!(contexts.of_hits[0], format!("Regression run\nResults\nRow 2: Board is B2\n{BELOW}"));
        assert_eq!(contexts.of_hits[1], "Regression run\nResults\nRow 1: Board is A1");
        assert_eq!(around(&contexts), [(&[1, 2][..], format!("Regression run\n{AROUND}").as_str())]);
    }

    #[test]
    fn what_is_around_the_same_rows_is_one_text_and_the_longer_where_one_was_shortened() {
        let shortened = format!("… {}", AROUND.split_once(' ').unwrap().1);
        let rows = [[shortened.as_str(), "Row 2", BELOW], [AROUND, "Row 1", BELOW], ["", "Row 3", ""]];
        let parts = ContextParts::BEFORE.with(ContextParts::AFTER);
        let hits: Vec<Hit> = (1..).zip(rows).map(|(rank, row)| of(rank, row, parts)).collect();
        let contexts = contexts_of(&hits);
        assert_eq!(contexts.of_hits, ["Row 2", "Row 1", "Row 3"]);
        assert_eq!(
            around(&contexts),
            [(&[1, 2][..], format!("{AROUND}\n{BELOW}").as_str())],
            "no title where none is shown"
        );
    }

    #[test]
    fn what_is_a_source_itself_is_around_no_other() {
        let shortened = format!("… {}", AROUND.split_once(' ').unwrap().1);
        let hits = [
            of(1, [&shortened, "Row 2: Board is B2", BELOW], ContextParts::ALL),
            of(2, ["", &format!("The run took five days. {AROUND}"), "Row 1: Board is A1"], ContextParts::ALL),
        ];
        let contexts = contexts_of(&hits);
        assert!(contexts.around.is_empty());
        let [row, text] = contexts.of_hits.try_into().unwrap();
        assert_eq!(row, format!("Regression run\nResults\nRow 2: Board is B2\n{BELOW}"));
        assert_eq!(text, hits[1].text, "what is short stays: it says what stood here and takes no room");
    }

    #[test]
    fn a_source_that_is_not_whole_says_nothing_for_another() {
        let hits = [
            of(1, [AROUND, "Row 2: Board is B2", ""], ContextParts::ALL),
            of(2, [AROUND, "Row 1: Board is A1", ""], ContextParts::ALL),
        ];
        let contexts = shared_contexts(&hits.iter().collect::<Vec<_>>(), |hit| hit.rank != 1);
        assert_eq!(contexts.of_hits, [hits[0].text.clone(), hits[1].text.clone()]);
        assert!(contexts.around.is_empty());
    }

    #[test]
    fn another_document_says_it_for_itself() {
        let first = of(1, [AROUND, "Row 2: Board is B2", ""], ContextParts::ALL);
        let other = Hit { document: DocumentId(2), ..of(2, [AROUND, "Row 2: B3", ""], ContextParts::ALL) };
        let contexts = contexts_of(&[first.clone(), other.clone()]);
        assert_eq!(contexts.of_hits, [first.text, other.text]);
        assert!(contexts.around.is_empty());
    }

    proptest! {
        #[test]
        fn all_that_is_left_out_stands_in_another_source(
            rows in proptest::collection::vec((0..4_usize, 0..4_usize, 0..4_usize), 1..6),
            parts in 0..16_u8,
        ) {
            let words = |n: usize, what: &str| match n {
                0 => String::new(),
                n => format!("{what} number {n} that is said of several rows in the middle of the page"),
            };
            let chosen = [ContextParts::TITLE, ContextParts::HEADING, ContextParts::BEFORE, ContextParts::AFTER];
            let chosen = (0..4).filter(|bit| parts & (1 << bit) != 0).map(|bit| chosen[bit]);
            let parts = chosen.fold(ContextParts::NONE, ContextParts::with);
            let hits: Vec<Hit> = (1..).zip(&rows).map(|(rank, (before, content, after))| {
                let content = format!("{} in row {rank}", words(*content, "Text"));
                of(rank, [&words(*before, "Text"), &content, &words(*after, "Text")], parts)
            }).collect();
            let contexts = contexts_of(&hits);
            for around in &contexts.around {
                prop_assert!(around.ranks.len() > 1 && around.ranks.is_sorted_by(|a, b| a < b));
                for hit in around.ranks.iter().map(|rank| &hits[rank - 1]) {
                    prop_assert!(around.text.lines().all(|line| hit.text.contains(line)));
                }
            }
            for (hit, text) in hits.iter().zip(&contexts.of_hits) {
                prop_assert!(text.contains(&hit.content));
                let around = contexts.around.iter().filter(|one| one.ranks.contains(&hit.rank)).map(|one| &one.text);
                for line in hit.text.lines() {
                    let is_said = contexts.of_hits.iter().chain(around.clone()).any(|text| text.contains(line));
                    prop_assert!(is_said, "{line}");
                }
                prop_assert!(text.lines().all(|line| hit.text.lines().any(|other| other == line)));
            }
        }
    }
}
