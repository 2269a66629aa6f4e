//! The difference of two answers, word by word.
//!
//! Takes two texts, gives their common and changed parts by longest common subsequence.
//! Invariant: same and removed parts are the first text, same and added parts the second, byte by byte.
//! Not here: colours and line breaks (`tui`).

use serde::{Deserialize, Serialize};

/// Which text has a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Both texts.
    Same,
    /// The first text only.
    Removed,
    /// The second text only.
    Added,
}

/// A part of the difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPart {
    /// Which text has it.
    pub change: Change,
    /// Its text, white space included.
    pub text: String,
}

/// Most cells of the LCS table. With the spaces between words, two answers of 1,000 words need 4 million; larger
/// differences are shown as removed and added as a whole.
const MOST_CELLS: usize = 4_000_000;

/// The difference from `first` to `second`: alternating same and changed parts, removed before added.
#[must_use]
pub fn difference(first: &str, second: &str) -> Vec<DiffPart> {
    let (a, b) = (words(first), words(second));
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);

    let mut steps: Vec<(Change, &str)> = a[..head].iter().map(|word| (Change::Same, *word)).collect();
    steps.extend(align(middle_a, middle_b));
    steps.extend(a[a.len() - tail..].iter().map(|word| (Change::Same, *word)));
    join(&steps)
}

/// Whether words end here. A no-break space joins words (`[Source 2]`).
fn separates(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}' | '\u{2007}')
}

/// Splits a text into words and the space between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_space = None;
    for (at, c) in text.char_indices() {
        if in_space.is_some_and(|space| space != separates(c)) {
            words.push(&text[start..at]);
            start = at;
        }
        in_space = Some(separates(c));
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// One step per word along a longest common subsequence.
fn align<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(Change, &'a str)> {
    let removed = |words: &[&'a str]| words.iter().map(|word| (Change::Removed, *word)).collect::<Vec<_>>();
    let added = |words: &[&'a str]| words.iter().map(|word| (Change::Added, *word)).collect::<Vec<_>>();
    let columns = b.len() + 1;
    if (a.len() + 1).saturating_mul(columns) > MOST_CELLS {
        return [removed(a), added(b)].concat();
    }
    // longest[i * columns + j]: length of the LCS of a[i..] and b[j..].
    let mut longest = vec![0_u32; (a.len() + 1) * columns];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * columns + j] = if a[i] == b[j] {
                longest[(i + 1) * columns + j + 1] + 1
            } else {
                longest[(i + 1) * columns + j].max(longest[i * columns + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps = Vec::with_capacity(a.len() + b.len());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            steps.push((Change::Same, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * columns + j] >= longest[i * columns + j + 1] {
            steps.push((Change::Removed, a[i]));
            i += 1;
        } else {
            steps.push((Change::Added, b[j]));
            j += 1;
        }
    }
    steps.extend(removed(&a[i..]));
    steps.extend(added(&b[j..]));
    steps
}

/// Joins steps to parts. Changes with only white space between them are joined: readers see phrases, not words.
fn join(steps: &[(Change, &str)]) -> Vec<DiffPart> {
    let mut parts = Parts::default();
    for (at, (change, text)) in steps.iter().enumerate() {
        let changed = |step: Option<&(Change, &str)>| step.is_some_and(|(change, _)| *change != Change::Same);
        let alone = at > 0 && changed(steps.get(at - 1)) && changed(steps.get(at + 1));
        match change {
            Change::Same if alone && text.trim().is_empty() => {
                parts.removed.push_str(text);
                parts.added.push_str(text);
            }
            Change::Same => {
                parts.end_change();
                parts.same.push_str(text);
            }
            Change::Removed => parts.removed.push_str(text),
            Change::Added => parts.added.push_str(text),
        }
    }
    parts.end_change();
    parts.end_same();
    parts.done
}

/// Parts under construction.
#[derive(Default)]
struct Parts {
    done: Vec<DiffPart>,
    same: String,
    removed: String,
    added: String,
}

impl Parts {
    fn end_same(&mut self) {
        Self::push(&mut self.done, Change::Same, &mut self.same);
    }

    /// Ends a change; unchanged text before it comes first.
    fn end_change(&mut self) {
        if !self.removed.is_empty() || !self.added.is_empty() {
            self.end_same();
            Self::push(&mut self.done, Change::Removed, &mut self.removed);
            Self::push(&mut self.done, Change::Added, &mut self.added);
        }
    }

    fn push(done: &mut Vec<DiffPart>, change: Change, text: &mut String) {
        if !text.is_empty() {
            done.push(DiffPart { change, text: std::mem::take(text) });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(first: &str, second: &str) -> String {
        difference(first, second)
            .iter()
            .map(|part| match part.change {
                Change::Same => part.text.clone(),
                Change::Removed => format!("[-{}-]", part.text),
                Change::Added => format!("{{+{}+}}", part.text),
            })
            .collect()
    }

    #[test]
    fn only_the_changed_words_are_marked() {
        assert_eq!(shown("tested by Alice in May", "tested by Bob in May"), "tested by [-Alice-]{+Bob+} in May");
        assert_eq!(shown("a b", "a b c"), "a b{+ c+}");
        assert_eq!(shown("a b c", "a c"), "a [-b -]c");
        assert_eq!(shown("same", "same"), "same");
        assert_eq!(shown("", ""), "");
    }

    #[test]
    fn changed_neighbours_are_one_phrase() {
        assert_eq!(shown("by Alice Smith today", "by Bob Jones today"), "by [-Alice Smith-]{+Bob Jones+} today");
    }

    #[test]
    fn a_citation_changes_as_a_whole() {
        let (first, second) = ("by Alice [Source\u{a0}1].", "by Alice [Source\u{a0}2].");
        assert_eq!(shown(first, second), "by Alice [-[Source\u{a0}1].-]{+[Source\u{a0}2].+}");
    }

    #[test]
    fn texts_too_long_to_align_are_shown_as_a_whole() {
        let (first, second) = ("a ".repeat(1500) + "x", "b ".repeat(1500) + "y");
        let changes: Vec<Change> = difference(&first, &second).iter().map(|part| part.change).collect();
        assert_eq!(changes, [Change::Removed, Change::Added]);
    }

    proptest! {
        #[test]
        fn the_parts_give_both_texts(first in "[ab \n\u{a0}ä]{0,40}", second in "[ab \n\u{a0}ä]{0,40}") {
            let parts = difference(&first, &second);
            let without = |change: Change| -> String {
                parts.iter().filter(|part| part.change != change).map(|part| part.text.as_str()).collect()
            };
            prop_assert_eq!(without(Change::Added), first);
            prop_assert_eq!(without(Change::Removed), second);
            prop_assert!(parts.windows(2).all(|pair| pair[0].change != pair[1].change));
        }
    }
}
