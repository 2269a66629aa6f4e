//! Text search in the focused pane: its keys, and its matches.
//!
//! Takes a text, marks its matches in drawn lines and steps to the next match. The search ignores case and treats all
//! white space alike, no-break spaces and line ends included.
//! Invariants: marking changes no text; a step from the last match leads to the first, and back.
//! Not here: search in other conversations (`history`), scrolling.

pub(crate) mod messages;

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::text::Line;

use super::input::{Intent, refused};
use super::lists;
use super::pane::Pane;
use super::popup::{Asked, Popup, Prompt};
use super::reflow::{Flow, Place, reverse};
use super::screen::ScreenState;
use ragonite_app::{App, Refusal};

/// Direction of the next match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// At the position or after it.
    Here,
    /// After the position.
    On,
    /// Before the position.
    Back,
}

/// A search.
#[derive(Debug, Clone)]
pub(super) struct Find {
    /// As it was typed.
    pub(super) text: String,
    letters: Vec<char>,
    /// A step that the pane takes once its lines are laid out.
    wanted: Option<Way>,
    /// The line of the last match, for a pane without a cursor.
    pub(super) line: Option<usize>,
    /// Which match the pane is at, from 1, and how many there are.
    pub(super) at: (usize, usize),
    /// Whether the pane of the search still has the focus.
    is_here: bool,
}

impl Find {
    /// Searches for `text` from the current position; none for white space.
    pub(super) fn new(text: &str) -> Option<Self> {
        let letters = folded(text.trim());
        let text = text.trim().to_owned();
        (!letters.is_empty()).then_some(Self {
            text,
            letters,
            wanted: Some(Way::Here),
            line: None,
            at: (0, 0),
            is_here: true,
        })
    }

    /// Requests a step.
    pub(super) fn want(&mut self, way: Way) {
        self.wanted = Some(way);
    }

    /// The focus moves to another pane; drops a pending step.
    pub(super) fn leave(&mut self) {
        (self.wanted, self.at, self.is_here) = (None, (0, 0), false);
    }

    /// Whether the search belongs to the focused pane.
    pub(super) fn says_something(&self) -> bool {
        self.is_here || self.at.1 > 0
    }

    /// Whether a text has a match.
    pub(super) fn is_in(&self, text: &str) -> bool {
        !self.runs(&folded(text)).is_empty()
    }

    /// Takes the pending step from `place` to one of `matches`, which ascend.
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

    /// The matches in wrapped lines of one text.
    pub(super) fn places<'a>(&self, lines: impl IntoIterator<Item = &'a Line<'static>>) -> Vec<Place> {
        let flow = Flow::of(lines);
        let letters: Vec<char> = flow.letters().iter().copied().map(lower).collect();
        self.runs(&letters).into_iter().filter_map(|at| flow.place(at..at + self.letters.len())).collect()
    }

    /// Marks the matches in wrapped lines of one text. Returns the lines on which they begin.
    pub(super) fn mark(&self, lines: &mut [Line<'static>]) -> Vec<usize> {
        let places = self.places(lines.iter());
        for (at, runs) in by_line(&places) {
            if let Some(line) = lines.get_mut(at) {
                reverse(line, &runs);
            }
        }
        first_lines(&places)
    }

    /// Positions of the matches in folded letters.
    fn runs(&self, text: &[char]) -> Vec<usize> {
        let windows = text.windows(self.letters.len()).enumerate();
        windows.filter(|(_, window)| *window == self.letters).map(|(at, _)| at).collect()
    }
}

/// Opens the search prompt.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.focus == Pane::Composer {
        screen.set_focus(Pane::Conversation);
    }
    let (asked, before) = if screen.focus == Pane::Lists {
        if app.domain().is_none() && app.domains().is_none_or(<[_]>::is_empty) {
            return refused(Refusal::NoDomain);
        }
        (Asked::Words, None)
    } else {
        (Asked::Text, screen.find.as_ref().map(|find| find.text.clone()))
    };
    screen.popup = Some(Popup::Prompt(Prompt::new(asked, &before.unwrap_or_default())));
    vec![Intent::Redraw]
}

/// Goes to the next match, or opens the search line. In the lists, the matches are the conversations that were found.
pub(super) fn next_match(screen: &mut ScreenState, app: &App, way: Way) -> Vec<Intent> {
    match (app.found().filter(|_| screen.focus == Pane::Lists), &mut screen.find) {
        (Some(found), _) => screen.lists.selected = lists::next_found(app, found, screen.lists.selected, way),
        (None, Some(find)) if screen.focus != Pane::Lists => find.want(way),
        _ => return open(screen, app),
    }
    vec![Intent::Redraw]
}

/// The lines on which matches begin, each once.
pub(super) fn first_lines(places: &[Place]) -> Vec<usize> {
    let mut lines: Vec<usize> = places.iter().filter_map(|place| place.first()).map(|piece| piece.line).collect();
    lines.dedup();
    lines
}

fn by_line(places: &[Place]) -> BTreeMap<usize, Vec<Range<usize>>> {
    let mut lines: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
    for piece in places.iter().flatten() {
        lines.entry(piece.line).or_default().push(piece.letters.clone());
    }
    lines
}

/// In lower case, with one space for every run of white space.
fn folded(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = Vec::new();
    for letter in text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { lower(letter) }) {
        if letter != ' ' || letters.last() != Some(&' ') {
            letters.push(letter);
        }
    }
    letters
}

/// Maps one character to one, so that positions stay valid.
fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::{Modifier, Style};
    use ratatui::text::Span;

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

    fn marked(lines: &[Line<'static>]) -> Vec<String> {
        let spans = lines.iter().flat_map(|line| &line.spans);
        let marked = spans.filter(|span| span.style.add_modifier.contains(Modifier::REVERSED));
        marked.map(|span| span.content.to_string()).collect()
    }

    #[test]
    fn a_place_is_marked_across_spans_and_in_any_case() {
        let find = Find::new("MODEM").unwrap();
        let mut drawn = [line(&["the mo", "dem of"])];
        assert_eq!(find.mark(&mut drawn), [0]);
        assert_eq!(marked(&drawn), ["mo", "dem"]);
        assert!(find.mark(&mut [line(&["nothing"])]).is_empty() && find.is_in("Das Modem"));
    }

    #[test]
    fn a_phrase_is_found_over_the_end_of_a_line_and_with_a_no_break_space() {
        let find = Find::new("source  1").unwrap();
        assert!(find.is_in("[Source\u{a0}1]") && find.is_in("the source\n1"));
        let mut drawn = [line(&["as the", " source"]), line(&["  1 says"]), line(&["[Source\u{a0}1]"])];
        assert_eq!(find.mark(&mut drawn), [0, 2]);
        assert_eq!(marked(&drawn), ["source", "1", "Source\u{a0}1"]);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]
        #[test]
        fn marking_changes_no_text(parts in proptest::collection::vec("[aÄßx ]{0,6}", 0..5), text in "[aäßx]{1,2}") {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let mut drawn = [line(&parts)];
            let before = drawn[0].to_string();
            let find = Find::new(&text).unwrap();
            let marked = find.mark(&mut drawn);
            prop_assert_eq!(drawn[0].to_string(), before.clone());
            prop_assert_eq!(!marked.is_empty(), find.is_in(&before));
        }
    }
}
