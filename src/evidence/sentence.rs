//! Sentences: where a long passage may be cut, and how much of a neighbour is taken over as context.
//!
//! Takes text, gives pieces of it that end at sentence borders.
//! Invariant: pieces together hold every word of the text.

use unicode_segmentation::UnicodeSegmentation;

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "i.e.", "cf.", "vs.", "approx.", "resp.", "incl.", "no.", "fig.", "sec.", "mr.", "mrs.", "ms.", "dr.",
    "prof.", "z.b.", "d.h.", "u.a.", "bzw.", "ca.", "ggf.", "inkl.", "evtl.", "vgl.", "nr.", "abs.", "abb.", "usw.",
];

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
    // The number of a list item or of a day.
    let number = word.len() <= 3 && word.trim_end_matches('.').chars().all(|c| c.is_ascii_digit());
    initial || number || ABBREVIATIONS.contains(&word.to_lowercase().trim_start_matches(['(', '"', '„', '“']))
}

/// Cuts a text into pieces of at most `longest` characters at sentence borders, or at line ends where a sentence is
/// longer than that, as in code. A single longer line stays whole.
pub(super) fn cut(text: &str, longest: usize) -> Vec<String> {
    if text.chars().count() <= longest {
        return vec![text.to_owned()];
    }
    let mut pieces: Vec<String> = Vec::new();
    let mut length = 0;
    for sentence in sentences(text) {
        let parts: Vec<&str> =
            if sentence.chars().count() > longest { sentence.split_inclusive('\n').collect() } else { vec![sentence] };
        for part in parts {
            let count = part.chars().count();
            match pieces.last_mut() {
                Some(piece) if length + count <= longest => {
                    piece.push_str(part);
                    length += count;
                }
                _ => {
                    pieces.push(part.to_owned());
                    length = count;
                }
            }
        }
    }
    pieces
        .iter()
        .map(|piece| piece.trim_end().trim_matches('\n').to_owned())
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// The last sentences of a text, as many as fit into `longest` characters.
pub(super) fn tail(text: &str, longest: usize) -> String {
    let text = text.trim();
    let window =
        window(longest).and_then(|back| text.char_indices().nth_back(back)).map_or(text, |(at, _)| &text[at..]);
    // The first sentence of a part of the text may have lost its beginning.
    let torn = usize::from(window.len() < text.len());
    let mut start = window.len();
    let mut length = 0;
    for sentence in sentences(window).into_iter().skip(torn).rev() {
        length += sentence.chars().count();
        if length > longest {
            break;
        }
        start = sentence.as_ptr().addr() - window.as_ptr().addr();
    }
    let kept = window[start..].trim();
    if kept.is_empty() { last_words(text, longest) } else { kept.to_owned() }
}

/// The first sentences of a text, as many as fit into `longest` characters.
pub(super) fn head(text: &str, longest: usize) -> String {
    let text = text.trim();
    let window = window(longest).and_then(|count| text.char_indices().nth(count)).map_or(text, |(at, _)| &text[..at]);
    let mut pieces = sentences(window);
    if window.len() < text.len() {
        pieces.pop();
    }
    let mut kept = String::new();
    let mut length = 0;
    for sentence in pieces {
        if length + sentence.trim_end().chars().count() > longest {
            break;
        }
        length += sentence.chars().count();
        kept.push_str(sentence);
    }
    let kept = kept.trim();
    if kept.is_empty() { first_words(text, longest) } else { kept.to_owned() }
}

/// How many characters of a text are looked at for a neighbour: a table beside an evidence may have megabytes.
fn window(longest: usize) -> Option<usize> {
    longest.checked_mul(4)?.checked_add(64)
}

/// The end of a text that is too long for a neighbour, from a word border on.
fn last_words(text: &str, longest: usize) -> String {
    // The mark takes two characters.
    let Some(back) = longest.checked_sub(3) else { return String::new() };
    let Some((at, _)) = text.char_indices().nth_back(back) else { return text.to_owned() };
    let rest = &text[at..];
    let rest = rest.split_once(char::is_whitespace).map_or(rest, |(_, words)| words);
    format!("… {}", rest.trim())
}

fn first_words(text: &str, longest: usize) -> String {
    let Some(count) = longest.checked_sub(2) else { return String::new() };
    let Some((at, _)) = text.char_indices().nth(count) else { return text.to_owned() };
    let rest = &text[..at];
    let rest = rest.rsplit_once(char::is_whitespace).map_or(rest, |(words, _)| words);
    format!("{} …", rest.trim())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn abbreviations_and_wrapped_lines_end_no_sentence() {
        let text = "We use it, e.g. Bob does. A line\ngoes on here.\n1. Next one. Siehe z.B. Nr. 5.";
        let trimmed: Vec<_> = sentences(text).iter().map(|s| s.trim()).collect();
        assert_eq!(
            trimmed,
            ["We use it, e.g. Bob does.", "A line\ngoes on here.", "1. Next one.", "Siehe z.B. Nr. 5."]
        );
    }

    #[test]
    fn neighbours_are_cut_at_sentences_and_only_then_at_words() {
        let text = "First one. Second one. Third one.";
        assert_eq!(tail(text, 22), "Second one. Third one.");
        assert_eq!(head(text, 23), "First one. Second one.");
        assert_eq!(tail("one two three four five", 12), "… four five");
        assert_eq!(head("one two three four five", 12), "one two …");
        assert_eq!(tail(text, 0), "");
    }

    #[test]
    fn a_long_sentence_stays_whole() {
        let long = format!("Long {}", "word ".repeat(50));
        let text = format!("Short. {long}end. Short again.");
        let pieces = cut(&text, 40);
        assert_eq!(pieces, ["Short.".to_owned(), format!("{long}end."), "Short again.".to_owned()]);
    }

    proptest! {
        #[test]
        fn cutting_loses_no_word(text in "[a-zß .!?\n€]{0,200}", longest in 0usize..60) {
            let words = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
            let joined = cut(&text, longest).join("\n");
            prop_assert_eq!(words(&joined), words(&text));
        }

        #[test]
        fn neighbours_keep_to_their_length(text in any::<String>(), longest in 0usize..60) {
            prop_assert!(tail(&text, longest).chars().count() <= longest);
            prop_assert!(head(&text, longest).chars().count() <= longest);
        }
    }
}
