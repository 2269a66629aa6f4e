//! Sentences: where a long passage may be cut, and how much of a neighbour is taken over as context.
//!
//! Takes text, gives pieces of it that end at sentence borders.
//! Invariants: parts together hold every word of the text; a neighbour has at most as many tokens as asked for.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::measure::Measure;
use super::pack::pack;

/// Words that end in a full stop without ending a sentence. Where one may do both, a cut less is the lesser harm.
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "i.e.", "cf.", "vs.", "approx.", "resp.", "incl.", "excl.", "no.", "nos.", "fig.", "figs.", "sec.", "eq.",
    "ch.", "ed.", "eds.", "pp.", "vol.", "al.", "mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "jr.", "sr.", "inc.",
    "ltd.", "corp.", "dept.", "min.", "max.", "jan.", "feb.", "apr.", "aug.", "sept.", "oct.", "nov.", "dec.", "u.s.",
    "z.b.", "d.h.", "u.a.", "i.d.r.", "v.a.", "o.ä.", "u.ä.", "bzw.", "ca.", "ggf.", "inkl.", "exkl.", "zzgl.",
    "evtl.", "vgl.", "nr.", "abs.", "abb.", "tab.", "kap.", "art.", "usw.", "bspw.", "sog.", "insb.", "mind.", "mio.",
    "mrd.", "tel.", "str.", "gem.", "lt.", "hrsg.", "okt.", "dez.",
];

/// Longer words, in bytes, are no words.
const LONGEST_WORD: usize = 400;

/// The sentences of a text, each with the white space that follows it. Line ends are borders too, unless the next
/// line goes on in the middle of a sentence.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut borders = Vec::new();
    let mut end = 0;
    for piece in text.split_sentence_bounds() {
        let starts_within = piece.starts_with(char::is_lowercase) && end > 0;
        let before = &text[..end];
        // In this order: looking at the last word is cheap only where white space has ended it.
        if before.ends_with(char::is_whitespace) && !(is_open(before) || (starts_within && !ends_sentence(before))) {
            borders.push(end);
        }
        end += piece.len();
    }
    borders.push(text.len());
    let mut start = 0;
    let pieces = borders.into_iter().map(|border| {
        let piece = &text[start..border];
        start = border;
        piece
    });
    pieces.filter(|piece| !piece.trim().is_empty()).collect()
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', ':', ';', '…'])
}

/// Whether a text ends in an abbreviation, so that its sentence goes on.
fn is_open(text: &str) -> bool {
    let Some(word) = text.split_whitespace().next_back() else { return true };
    if !word.ends_with('.') || text.ends_with('\n') {
        return false;
    }
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let initial = letters == 1 && word.chars().count() == 2;
    is_number(word) || initial || ABBREVIATIONS.contains(&word.to_lowercase().trim_start_matches(['(', '"', '„', '“']))
}

/// The number of a list item, of a section or of a day: `3.`, `2.1.`. A year ends its sentence.
fn is_number(word: &str) -> bool {
    let number = word.trim_start_matches('(').trim_end_matches('.');
    let parts = number.split('.').count();
    number.split('.').all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts <= 4
}

/// Cuts a text into parts of at most `longest` tokens at sentence borders, or at line ends where a sentence is longer
/// than that, as in code. A longer line that ends as a sentence stays whole up to twice that length; any other one is
/// cut between words. Gives byte ranges.
pub(super) fn cut(text: &str, longest: usize, measure: &Measure<'_>) -> Vec<Range<usize>> {
    let at = |piece: &str| piece.as_ptr().addr() - text.as_ptr().addr();
    let trimmed = |range: Range<usize>| {
        let piece = text[range].trim_end().trim_start_matches('\n');
        at(piece)..at(piece) + piece.len()
    };
    if measure.fits(text, longest) {
        return vec![trimmed(0..text.len())];
    }
    let mut pieces: Vec<&str> = Vec::new();
    let mut lengths = Vec::new();
    for sentence in sentences(text) {
        let length = measure.count(sentence);
        if length > longest && sentence.trim_end().contains('\n') {
            let lines = sentence.split_inclusive('\n').filter(|line| !line.trim().is_empty());
            for line in lines {
                pieces.push(line);
                lengths.push(measure.count(line));
            }
        } else {
            pieces.push(sentence);
            lengths.push(length);
        }
    }
    divide(&mut pieces, &mut lengths, longest, measure);
    let parts = pack(&lengths, longest).into_iter();
    let bounds = parts.filter_map(|part| {
        let (first, last) = (pieces.get(part.start)?, pieces.get(part.end - 1)?);
        Some(trimmed(at(first)..at(last) + last.len()))
    });
    bounds.collect()
}

/// Divides pieces that are too long into their words, and words that no language has at any letter.
fn divide(pieces: &mut Vec<&str>, lengths: &mut Vec<usize>, longest: usize, measure: &Measure<'_>) {
    let is_long = |piece: &str, length: usize| length > longest * if ends_sentence(piece) { 2 } else { 1 };
    if !pieces.iter().zip(lengths.iter()).any(|(piece, length)| is_long(piece, *length)) {
        return;
    }
    let whole = std::mem::take(pieces).into_iter().zip(std::mem::take(lengths));
    for (piece, length) in whole {
        if !is_long(piece, length) {
            pieces.push(piece);
            lengths.push(length);
            continue;
        }
        for mut word in piece.split_inclusive(char::is_whitespace).filter(|word| !word.trim().is_empty()) {
            while word.len() > LONGEST_WORD {
                let (start, rest) = word.split_at(word.floor_char_boundary(LONGEST_WORD));
                pieces.push(start);
                lengths.push(measure.count(start));
                word = rest;
            }
            pieces.push(word);
            lengths.push(measure.count(word));
        }
    }
}

/// The last sentences of a text, as many as fit into `longest` tokens.
pub(super) fn tail(text: &str, longest: usize, measure: &Measure<'_>) -> String {
    let text = text.trim();
    let window = text.char_indices().nth_back(window(longest)).map_or(text, |(at, _)| &text[at..]);
    let torn = window.len() < text.len();
    if !torn && measure.fits(window, longest) {
        return text.to_owned();
    }
    let mut start = window.len();
    let mut left = longest;
    // The first sentence of a part of the text may have lost its beginning.
    for sentence in sentences(window).into_iter().skip(usize::from(torn)).rev() {
        let Some(rest) = left.checked_sub(measure.count(sentence)) else { break };
        left = rest;
        start = sentence.as_ptr().addr() - window.as_ptr().addr();
    }
    let kept = window[start..].trim();
    if !kept.is_empty() {
        return kept.to_owned();
    }
    some_words(window, longest, measure, |words, kept| {
        let from = words.len() - kept;
        // The first word of a part of the text may be torn too.
        let from = if torn { from.max(1) } else { from };
        words.get(from..).unwrap_or_default()
    })
    .map_or_else(String::new, |words| format!("… {words}"))
}

/// The first sentences of a text, as many as fit into `longest` tokens.
pub(super) fn head(text: &str, longest: usize, measure: &Measure<'_>) -> String {
    let text = text.trim();
    let window = text.char_indices().nth(window(longest)).map_or(text, |(at, _)| &text[..at]);
    let torn = window.len() < text.len();
    if !torn && measure.fits(window, longest) {
        return text.to_owned();
    }
    let mut pieces = sentences(window);
    if torn {
        pieces.pop();
    }
    let mut end = 0;
    let mut left = longest;
    for sentence in pieces {
        let Some(rest) = left.checked_sub(measure.count(sentence)) else { break };
        left = rest;
        end = sentence.as_ptr().addr() - window.as_ptr().addr() + sentence.len();
    }
    let kept = window[..end].trim();
    if !kept.is_empty() {
        return kept.to_owned();
    }
    some_words(window, longest, measure, |words, kept| {
        let kept = if torn { kept.min(words.len().saturating_sub(1)) } else { kept };
        words.get(..kept).unwrap_or_default()
    })
    .map_or_else(String::new, |words| format!("{words} …"))
}

/// The last sentence of a text in at most `most` tokens: what introduces a list.
pub(super) fn last_sentence<'t>(text: &'t str, most: usize, measure: &Measure<'_>) -> Option<&'t str> {
    let text = text.trim();
    let window = text.char_indices().nth_back(window(most)).map_or(text, |(at, _)| &text[at..]);
    let pieces = sentences(window);
    let whole = pieces.len() > usize::from(window.len() < text.len());
    pieces.last().copied().filter(|sentence| whole && measure.fits(sentence, most))
}

/// How many characters of a text are looked at for a neighbour: a table beside an evidence may have megabytes.
pub(super) fn window(longest: usize) -> usize {
    longest.saturating_mul(12).saturating_add(64)
}

/// Some words of a text that has no sentence of the right length; none where not even one word fits.
fn some_words<'t>(
    text: &'t str,
    longest: usize,
    measure: &Measure<'_>,
    choose: impl for<'w> Fn(&'w [&'t str], usize) -> &'w [&'t str],
) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // The mark takes a token.
    let room = longest.checked_sub(1)?;
    let mut kept = words.len().min(room);
    while kept > 0 {
        let some = choose(&words, kept).join(" ");
        if !some.is_empty() && measure.fits(&some, room) {
            return Some(some);
        }
        kept = kept * 4 / 5;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A character is a token.
    fn characters(text: &str) -> usize {
        text.chars().count()
    }

    fn parts(text: &str, longest: usize) -> Vec<&str> {
        cut(text, longest, &Measure::new(&characters)).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn abbreviations_dates_and_wrapped_lines_end_no_sentence() {
        let text = "We use it, e.g. Bob does. A line\ngoes on here.\n1. Next one. Siehe z.B. Nr. 5.\nAm 3. März um 9. \
                    See 2.1. Then 2024. It is z. B. Prof. A. Müller. See http://a.b/c?d=E.F now. So it is, U.S. law.";
        let trimmed: Vec<_> = sentences(text).iter().map(|s| s.trim()).collect();
        let expected = [
            "We use it, e.g. Bob does.",
            "A line\ngoes on here.",
            "1. Next one.",
            "Siehe z.B. Nr. 5.",
            "Am 3. März um 9. See 2.1. Then 2024.",
            "It is z. B. Prof. A. Müller.",
            "See http://a.b/c?d=E.F now.",
            "So it is, U.S. law.",
        ];
        assert_eq!(trimmed, expected);
    }

    #[test]
    fn neighbours_are_cut_at_sentences_and_only_then_at_words() {
        let measure = Measure::new(&characters);
        let text = "First one. Second one. Third one.";
        assert_eq!(tail(text, 22, &measure), "Second one. Third one.");
        assert_eq!(head(text, 23, &measure), "First one. Second one.");
        assert_eq!(tail("one two three four five", 12, &measure), "… four five");
        assert_eq!(head("one two three four five", 12, &measure), "one two …");
        assert_eq!(tail(text, 0, &measure), "");
        assert_eq!(head("onelongword", 5, &measure), "");
    }

    #[test]
    fn a_sentence_up_to_twice_as_long_stays_whole() {
        let long = format!("Long {}", "word ".repeat(13));
        let text = format!("Short it is. {long}end. Short again.");
        assert_eq!(parts(&text, 40), ["Short it is.".to_owned(), format!("{long}end."), "Short again.".to_owned()]);
    }

    #[test]
    fn code_is_cut_at_its_lines() {
        let code = "x = 1\ny = 2\nif z:\n    a()\nb()\nc()";
        assert_eq!(parts(code, 12), ["x = 1\ny = 2", "if z:", "    a()\nb()", "c()"]);
    }

    #[test]
    fn parts_of_a_passage_are_of_about_equal_length() {
        let text = "Nine here. ".repeat(7);
        let lengths: Vec<_> = parts(&text, 66).iter().map(|part| part.split_whitespace().count() / 2).collect();
        assert_eq!(lengths, [4, 3]);
    }

    proptest! {
        #[test]
        fn cutting_loses_no_word(text in "[a-zß .!?\n€]{0,200}", longest in 0usize..60) {
            let words = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
            let joined = parts(&text, longest).join("\n");
            prop_assert_eq!(words(&joined), words(&text));
        }

        #[test]
        fn neighbours_keep_to_their_length(text in any::<String>(), longest in 0usize..60) {
            let measure = Measure::new(&characters);
            prop_assert!(characters(&tail(&text, longest, &measure)) <= longest + 1);
            prop_assert!(characters(&head(&text, longest, &measure)) <= longest + 1);
        }
    }
}
