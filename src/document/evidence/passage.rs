//! Cuts long passages, and takes sentences of neighbours as context.
//!
//! Takes text, gives pieces of it that end at sentence boundaries.
//! Invariants: the parts together hold every word of the text; a neighbour has at most the requested number of tokens.
//! Not here: where a sentence ends (`segment`).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::balance::balance;
use super::segment::{clauses, ends_sentence, sentences};
use super::token_counter::TokenCounter;

/// Maximum length of a word in bytes; longer ones are divided.
const LONGEST_WORD: usize = 400;

/// Cuts a text into byte ranges of at most `longest` tokens at sentence boundaries. A longer sentence is cut at line
/// ends, as in code, then at any possible sentence end. A piece that is still longer stays whole up to twice that
/// length if it ends as a sentence; any other is cut between words.
pub(super) fn cut<'t>(text: &'t str, longest: usize, measure: &TokenCounter<'_>) -> Vec<Range<usize>> {
    let at = |piece: &str| piece.as_ptr().addr() - text.as_ptr().addr();
    let trimmed = |range: Range<usize>| {
        let piece = text[range].trim_end().trim_start_matches('\n');
        at(piece)..at(piece) + piece.len()
    };
    if measure.fits(text, longest) {
        return vec![trimmed(0..text.len())];
    }
    let counted = |piece| (piece, measure.count(piece));
    let finer = |(piece, length), cut: fn(&'t str) -> Vec<&'t str>| {
        let pieces = if length > longest { cut(piece) } else { Vec::new() };
        if pieces.len() > 1 { pieces.into_iter().map(counted).collect() } else { vec![(piece, length)] }
    };
    let sentences = sentences(text).into_iter().map(counted);
    let lines = sentences.flat_map(|sentence| finer(sentence, lines));
    let (mut pieces, mut lengths): (Vec<&str>, Vec<usize>) = lines.flat_map(|line| finer(line, clauses)).unzip();
    divide(&mut pieces, &mut lengths, longest, measure);
    let parts = balance(&lengths, longest).into_iter();
    let bounds = parts.filter_map(|part| {
        let (first, last) = (pieces.get(part.start)?, pieces.get(part.end - 1)?);
        Some(trimmed(at(first)..at(last) + last.len()))
    });
    bounds.collect()
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').filter(|line| !line.trim().is_empty()).collect()
}

/// Where an overlong word is cut: at its last character that is no letter or digit, so that parts of URLs and code stay
/// whole, else at any letter.
fn border_in(word: &str) -> usize {
    let end = word.floor_char_boundary(LONGEST_WORD);
    match word[..end].rfind(|c: char| !c.is_alphanumeric()) {
        Some(0) => word.chars().next().map_or(end, char::len_utf8),
        Some(at) => at,
        None => end,
    }
}

/// Divides pieces that are too long into words, and overlong words into parts.
fn divide(pieces: &mut Vec<&str>, lengths: &mut Vec<usize>, longest: usize, measure: &TokenCounter<'_>) {
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
                let (start, rest) = word.split_at(border_in(word));
                pieces.push(start);
                lengths.push(measure.count(start));
                word = rest;
            }
            pieces.push(word);
            lengths.push(measure.count(word));
        }
    }
}

/// The last sentences of a text within `longest` tokens.
pub(super) fn tail(text: &str, longest: usize, measure: &TokenCounter<'_>) -> String {
    let text = text.trim();
    let window = text.char_indices().nth_back(window(longest)).map_or(text, |(at, _)| &text[at..]);
    let torn = window.len() < text.len();
    if !torn && measure.fits(window, longest) {
        return text.to_owned();
    }
    let mut start = window.len();
    let mut left = longest;
    // The window may start inside a sentence.
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

/// The first sentences of a text within `longest` tokens.
pub(super) fn head(text: &str, longest: usize, measure: &TokenCounter<'_>) -> String {
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
pub(super) fn last_sentence<'t>(text: &'t str, most: usize, measure: &TokenCounter<'_>) -> Option<&'t str> {
    let text = text.trim();
    let window = text.char_indices().nth_back(window(most)).map_or(text, |(at, _)| &text[at..]);
    let pieces = sentences(window);
    let whole = pieces.len() > usize::from(window.len() < text.len());
    pieces.last().copied().filter(|sentence| whole && measure.fits(sentence, most))
}

/// Number of characters examined for a neighbour: a neighbouring table may have megabytes.
pub(super) fn window(longest: usize) -> usize {
    longest.saturating_mul(12).saturating_add(64)
}

/// Some words of a text without a sentence of the right length; none if not even one fits.
fn some_words<'t>(
    text: &'t str,
    longest: usize,
    measure: &TokenCounter<'_>,
    choose: impl for<'w> Fn(&'w [&'t str], usize) -> &'w [&'t str],
) -> Option<String> {
    // The mark takes a token.
    let room = longest.checked_sub(1)?;
    let fitting = |words: Vec<&'t str>, space: &str| {
        let mut kept = words.len().min(room);
        while kept > 0 {
            let some = choose(&words, kept).join(space);
            if !some.trim().is_empty() && measure.fits(&some, room) {
                return Some(some.trim().to_owned());
            }
            kept = kept * 4 / 5;
        }
        None
    };
    let spaced = fitting(text.split_whitespace().collect(), " ");
    // A sentence of Chinese, Japanese or Thai has no white space in it.
    spaced.or_else(|| text.contains(is_caseless).then(|| fitting(text.split_word_bounds().collect(), "")).flatten())
}

fn is_caseless(letter: char) -> bool {
    letter.is_alphabetic() && !letter.is_lowercase() && !letter.is_uppercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ragonite_base::CancelToken;

    /// A character is a token.
    fn characters(text: &str) -> usize {
        text.chars().count()
    }

    fn parts(text: &str, longest: usize) -> Vec<&str> {
        cut(text, longest, &TokenCounter::new(&characters, &CancelToken::never()))
            .into_iter()
            .map(|part| &text[part])
            .collect()
    }

    #[test]
    fn neighbours_are_cut_at_sentences_and_only_then_at_words() {
        let never = CancelToken::never();
        let measure = TokenCounter::new(&characters, &never);
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
    fn text_without_capitals_is_cut_where_its_sentences_end() {
        let text = "we met bob, e.g. at noon. he said no; it was late! then we left.";
        assert_eq!(parts(text, 28), ["we met bob, e.g. at noon.", "he said no; it was late!", "then we left."]);
        assert_eq!(parts(text, 80), [text]);
    }

    #[test]
    fn chinese_and_japanese_are_cut_at_their_stops() {
        let text = "今天天气很好。我们去公园！你来吗？来。";
        assert_eq!(parts(text, 7), ["今天天气很好。", "我们去公园！", "你来吗？来。"]);
        let never = CancelToken::never();
        let measure = TokenCounter::new(&characters, &never);
        assert_eq!(head(text, 14, &measure), "今天天气很好。我们去公园！");
        assert_eq!(tail(text, 7, &measure), "你来吗？来。");
    }

    #[test]
    fn a_neighbour_without_spaces_gives_some_of_its_characters() {
        let never = CancelToken::never();
        let measure = TokenCounter::new(&characters, &never);
        let text = "東京は日本の首都であり世界最大の都市のひとつである";
        assert_eq!(head(text, 3, &measure), "東京 …");
        assert_eq!(tail(text, 3, &measure), "… ある");
        let long = text.repeat(100);
        assert!(head(&long, 20, &measure).chars().count() > 12 && tail(&long, 20, &measure).chars().count() > 12);
    }

    #[test]
    fn what_is_too_long_for_a_word_is_cut_at_its_signs() {
        let (long, run) = ("x".repeat(300), "y".repeat(LONGEST_WORD));
        for text in [format!("{long}/{long}?{long}"), format!("{long}:{run}"), format!(":{run}"), format!("§{run}")] {
            let parts = parts(&text, 10);
            assert_eq!(parts.concat(), text);
            let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
            let held: Vec<String> = parts.iter().flat_map(|part| words(part)).filter(|word| !word.is_empty()).collect();
            let expected: Vec<String> = words(&text).into_iter().filter(|word| !word.is_empty()).collect();
            assert_eq!(held, expected);
        }
        assert_eq!(parts(&"z".repeat(900), 10).concat().len(), 900);
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

    #[test]
    fn short_sentences_with_wide_letters_lose_no_word() {
        let text = "a\n?..aa€a .\n ß?.€.?\n €ß? .€.ß?.\n .\n.a.a?a €€ß€aa€";
        assert_eq!(letters(&parts(text, 0).concat()), letters(text));
        let text = "𞹹0A\"0¡ΣaA\u{11300}A00ો¡a\"a ";
        for longest in 0..4 {
            assert_eq!(letters(&parts(text, longest).concat()), letters(text));
            let never = CancelToken::never();
            let measure = TokenCounter::new(&characters, &never);
            assert!(characters(&tail(text, longest, &measure)) <= longest + 1);
            assert!(characters(&head(text, longest, &measure)) <= longest + 1);
        }
    }

    fn letters(text: &str) -> String {
        text.split_whitespace().collect()
    }

    proptest! {
        #[test]
        fn cutting_loses_no_word(text in "[a-zA-Zß .!?;\n€。！」天]{0,200}", longest in 0usize..60) {
            prop_assert_eq!(letters(&parts(&text, longest).concat()), letters(&text));
        }

        #[test]
        fn neighbours_keep_to_their_length(text in any::<String>(), longest in 0usize..60) {
            let never = CancelToken::never();
            let measure = TokenCounter::new(&characters, &never);
            prop_assert!(characters(&tail(&text, longest, &measure)) <= longest + 1);
            prop_assert!(characters(&head(&text, longest, &measure)) <= longest + 1);
        }
    }
}
