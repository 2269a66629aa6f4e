//! The original text of wrapped lines, and places of that text on the lines.
//!
//! Takes lines; gives their characters, with each run of white space (no-break spaces and line ends included) as one
//! space; maps a run of characters to its pieces on the lines.
//! Invariants: a piece is never empty and never beyond its line; reversing changes no text.
//! Not here: search (`find`), recognizing citations (`markdown`).

use std::ops::Range;

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

/// A range of characters of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) line: usize,
    pub(super) letters: Range<usize>,
}

/// A run of the original text; at least one piece.
pub(super) type Place = Vec<Piece>;

/// The characters of lines, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    letters: Vec<char>,
    /// Line and column of each character; none for a line end.
    places: Vec<Option<(usize, usize)>>,
}

impl Flow {
    pub(super) fn of<'a>(lines: impl IntoIterator<Item = &'a Line<'static>>) -> Self {
        let mut flow = Self::default();
        for (number, line) in lines.into_iter().enumerate() {
            flow.push(' ', None);
            let mut leads = true;
            for (at, letter) in line.spans.iter().flat_map(|span| span.content.chars()).enumerate() {
                // A bar at the start of a line (quote or hit) is no text.
                leads = leads && (letter.is_whitespace() || matches!(letter, '│' | '▌'));
                flow.push(if leads { ' ' } else { letter }, Some((number, at)));
            }
        }
        flow
    }

    fn push(&mut self, letter: char, place: Option<(usize, usize)>) {
        let is_space = letter.is_whitespace();
        if is_space && self.letters.last().is_none_or(|last| *last == ' ') {
            return;
        }
        self.letters.push(if is_space { ' ' } else { letter });
        self.places.push(place);
    }

    pub(super) fn letters(&self) -> &[char] {
        &self.letters
    }

    /// The place of a run of characters; none where it is white space only.
    pub(super) fn place(&self, run: Range<usize>) -> Option<Place> {
        let mut place: Place = Vec::new();
        for (line, at) in self.places.get(run)?.iter().flatten().copied() {
            match place.last_mut() {
                Some(last) if last.line == line => last.letters.end = at + 1,
                _ => place.push(Piece { line, letters: at..at + 1 }),
            }
        }
        (!place.is_empty()).then_some(place)
    }
}

/// Draws runs of characters of a line in reverse.
pub(super) fn reverse(line: &mut Line<'static>, runs: &[Range<usize>]) {
    modify(line, runs, Modifier::REVERSED);
}

/// Adds a modifier to runs of characters of a line.
fn modify(line: &mut Line<'static>, runs: &[Range<usize>], modifier: Modifier) {
    if runs.is_empty() {
        return;
    }
    let is_marked = |at: usize| runs.iter().any(|run| run.contains(&at));
    let mut at = 0;
    let mut spans: Vec<Span<'static>> = Vec::new();
    for span in line.spans.drain(..) {
        let (mut run, mut style) = (String::new(), span.style);
        for letter in span.content.chars() {
            let here = if is_marked(at) { span.style.add_modifier(modifier) } else { span.style };
            at += 1;
            if here != style && !run.is_empty() {
                spans.push(Span::styled(std::mem::take(&mut run), style));
            }
            style = here;
            run.push(letter);
        }
        if !run.is_empty() {
            spans.push(Span::styled(run, style));
        }
    }
    line.spans = spans;
}

/// Draws the pieces of places on one line in reverse.
pub(super) fn reverse_on(line: &mut Line<'static>, number: usize, places: &[Place]) {
    modify(line, &runs_on(number, places), Modifier::REVERSED);
}

/// Underlines the pieces of places on one line.
pub(super) fn underline_on(line: &mut Line<'static>, number: usize, places: &[Place]) {
    modify(line, &runs_on(number, places), Modifier::UNDERLINED);
}

fn runs_on(number: usize, places: &[Place]) -> Vec<Range<usize>> {
    let pieces = places.iter().flatten().filter(|piece| piece.line == number);
    pieces.map(|piece| piece.letters.clone()).collect()
}

/// The place of the part of a text that is on `lines` without its markup. `before` is what stands before the part.
pub(super) fn place_of(part: &str, before: &str, lines: &[Line<'static>]) -> Option<Place> {
    let flow = Flow::of(lines);
    let shown: Vec<(usize, char)> =
        flow.letters().iter().copied().enumerate().filter(|(_, letter)| letter.is_alphanumeric()).collect();
    let part: Vec<char> = part.chars().filter(|letter| letter.is_alphanumeric()).collect();
    let is_here =
        |at: &usize| shown.get(*at..*at + part.len()).is_some_and(|run| run.iter().map(|(_, letter)| letter).eq(&part));
    // Markup with letters, such as the target of a link, may be missing on the lines, and a line may stand above.
    let expected = before.chars().filter(|letter| letter.is_alphanumeric()).count();
    let places = (0..shown.len()).filter(|_| !part.is_empty()).filter(is_here);
    let start = places.min_by_key(|at| at.abs_diff(expected))?;
    let (first, last) = (shown.get(start)?.0, shown.get(start + part.len() - 1)?.0);
    // With the punctuation behind it.
    let behind = flow.letters()[last..].iter().take_while(|letter| **letter != ' ').count();
    flow.place(first..last + behind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Style;

    use super::*;
    use crate::text::{Indent, wrap};

    #[test]
    fn a_part_is_found_again_without_its_markup() {
        let lines = wrap(&[Span::raw("It is blue. It is new, and it is blue.")], 12, &Indent::default());
        let on = |part: &str, before: &str| place_of(part, before, &lines).unwrap();
        assert_eq!(on("It **is** blue.", "")[0], Piece { line: 0, letters: 0..11 });
        assert_eq!(on("it is _blue_.", "It is blue. It is new, and ").last().unwrap().line, lines.len() - 1);
        assert_eq!(place_of("It is red.", "", &lines), None);
        assert_eq!(place_of("...", "", &lines), None);
    }

    #[test]
    fn a_wrapped_text_is_one_text_again() {
        let indent = Indent { first: Span::raw("• "), rest: Span::raw("│ ") };
        let lines = wrap(&[Span::raw("the satellite modem of\u{a0}Kestrel")], 12, &indent);
        let flow = Flow::of(&lines);
        assert_eq!(flow.letters().iter().collect::<String>().trim(), "• the satellite modem of Kestrel");
        let place = flow.place(6..21).unwrap();
        assert_eq!(place.len(), 2, "{place:?}");
        assert!(flow.place(1..1).is_none());
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]
        #[test]
        fn every_letter_is_found_where_it_was_drawn(text in "[aÄß \u{a0}x│]{0,60}", width in 1_usize..20) {
            let lines = wrap(&[Span::styled(text, Style::new())], width, &Indent::of(2));
            let flow = Flow::of(&lines);
            for (at, letter) in flow.letters().iter().enumerate() {
                let Some(place) = flow.place(at..at + 1) else { continue };
                let drawn = lines[place[0].line].to_string().chars().nth(place[0].letters.start).unwrap();
                prop_assert!(drawn == *letter || *letter == ' ');
            }
        }

        #[test]
        fn reversing_changes_no_text(parts in proptest::collection::vec("[aÄßx ]{0,6}", 0..5), run in 0_usize..20) {
            let mut line: Line<'static> = parts.iter().map(|part| Span::raw(part.clone())).collect();
            let before = line.to_string();
            reverse(&mut line, std::slice::from_ref(&(run..run + 3)));
            prop_assert_eq!(line.to_string(), before);
        }
    }
}
