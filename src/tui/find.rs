//! Looking for a text in the pane that has the focus.
//!
//! Takes a text, marks it in drawn lines and says which line comes next. Upper and lower case are the same.
//! Invariants: marking changes no text; a step from the last match leads to the first, and back.
//! Not here: looking in other conversations (`history`), where a pane scrolls to.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

/// Where the next match is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// At the place itself or after it.
    Here,
    /// After it.
    On,
    /// Before it.
    Back,
}

/// A text that is looked for.
#[derive(Debug, Clone)]
pub(super) struct Find {
    /// As it was typed.
    pub(super) text: String,
    letters: Vec<char>,
    /// A step that the pane takes when its lines are known.
    wanted: Option<Way>,
    /// The line of the last match, for a pane without a cursor.
    pub(super) line: Option<usize>,
    /// Which match the pane is at, from 1, and how many there are.
    pub(super) at: (usize, usize),
}

impl Find {
    /// Looks for `text`, from the place the pane is at; none where it has nothing to look for.
    pub(super) fn new(text: &str) -> Option<Self> {
        let letters: Vec<char> = text.trim().chars().map(lower).collect();
        let text = text.trim().to_owned();
        (!letters.is_empty()).then_some(Self { text, letters, wanted: Some(Way::Here), line: None, at: (0, 0) })
    }

    /// Wants a step.
    pub(super) fn want(&mut self, way: Way) {
        self.wanted = Some(way);
    }

    /// A step that no pane took is wanted no more.
    pub(super) fn want_none(&mut self) {
        self.wanted = None;
    }

    /// Whether a text has it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().map(lower).collect();
        !self.places(&text).is_empty()
    }

    /// Takes the step that is wanted, from `place` to one of `matches`, which ascend.
    pub(super) fn step(&mut self, matches: &[usize], place: usize) -> Option<usize> {
        let way = self.wanted.take();
        let to = match way {
            None => None,
            Some(Way::Here) => matches.iter().find(|at| **at >= place).or(matches.first()),
            Some(Way::On) => matches.iter().find(|at| **at > place).or(matches.first()),
            Some(Way::Back) => matches.iter().rev().find(|at| **at < place).or(matches.last()),
        };
        let now = to.copied().unwrap_or(place);
        let before = matches.iter().take_while(|at| **at <= now).count();
        self.at = (before.max(usize::from(!matches.is_empty())), matches.len());
        to.copied()
    }

    /// Marks every place of a line, and says whether there is one.
    pub(super) fn mark(&self, line: &mut Line<'static>) -> bool {
        let text: Vec<char> = line.spans.iter().flat_map(|span| span.content.chars()).map(lower).collect();
        let places = self.places(&text);
        if places.is_empty() {
            return false;
        }
        let is_marked = |at: usize| places.iter().any(|start| (*start..start + self.letters.len()).contains(&at));
        let mut at = 0;
        let mut spans: Vec<Span<'static>> = Vec::new();
        for span in line.spans.drain(..) {
            let mut run = (String::new(), false);
            for letter in span.content.chars() {
                let marked = is_marked(at);
                at += 1;
                if marked != run.1 && !run.0.is_empty() {
                    spans.push(styled(&span, std::mem::take(&mut run)));
                }
                run.1 = marked;
                run.0.push(letter);
            }
            if !run.0.is_empty() {
                spans.push(styled(&span, run));
            }
        }
        line.spans = spans;
        true
    }

    /// Where it begins in letters of lower case.
    fn places(&self, text: &[char]) -> Vec<usize> {
        let windows = text.windows(self.letters.len()).enumerate();
        windows.filter(|(_, window)| *window == self.letters).map(|(at, _)| at).collect()
    }
}

fn styled(span: &Span<'static>, (text, marked): (String, bool)) -> Span<'static> {
    let style = if marked { span.style.add_modifier(Modifier::REVERSED) } else { span.style };
    Span::styled(text, style)
}

/// One letter for one, so that places in the text stay what they are.
fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Style;

    use super::*;

    fn line(parts: &[&str]) -> Line<'static> {
        parts.iter().map(|part| Span::styled((*part).to_owned(), Style::new())).collect()
    }

    #[test]
    fn steps_go_round() {
        let mut find = Find::new(" x ").unwrap();
        let matches = [2, 5, 9];
        assert_eq!((find.step(&matches, 5), find.at), (Some(5), (2, 3)));
        find.want(Way::On);
        assert_eq!(find.step(&matches, 5), Some(9));
        find.want(Way::On);
        assert_eq!((find.step(&matches, 9), find.at), (Some(2), (1, 3)));
        find.want(Way::Back);
        assert_eq!(find.step(&matches, 2), Some(9));
        assert_eq!(find.step(&matches, 9), None, "nothing is wanted any more");
        find.want(Way::On);
        assert_eq!((find.step(&[], 0), find.at), (None, (0, 0)));
        assert!(Find::new("  ").is_none());
    }

    #[test]
    fn a_place_is_marked_across_spans_and_in_any_case() {
        let find = Find::new("MODEM").unwrap();
        let mut drawn = line(&["the mo", "dem of"]);
        assert!(find.mark(&mut drawn));
        let marked: Vec<&str> = drawn
            .spans
            .iter()
            .filter(|span| span.style.add_modifier.contains(Modifier::REVERSED))
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(marked, ["mo", "dem"]);
        assert!(!find.mark(&mut line(&["nothing"])) && find.is_in("Das Modem"));
    }

    proptest! {
        #![proptest_config(crate::base::cases(64))]
        #[test]
        fn marking_changes_no_text(parts in proptest::collection::vec("[aÄßx ]{0,6}", 0..5), text in "[aäßx]{1,2}") {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let mut drawn = line(&parts);
            let before = drawn.to_string();
            let marked = Find::new(&text).is_some_and(|find| find.mark(&mut drawn));
            prop_assert_eq!(drawn.to_string(), before.clone());
            prop_assert_eq!(marked, Find::new(&text).unwrap().is_in(&before));
        }
    }
}
