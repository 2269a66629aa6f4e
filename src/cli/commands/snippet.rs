//! Excerpts of a text around matched words.
//!
//! Takes a clean line and words, gives an excerpt of limited length with most of the words, else the beginning.
//! Invariants: words stay whole; `…` marks omissions.
//! Not here: which words match (`index`).

use ragonite_index::word_positions;

/// A word of the text.
struct Word {
    /// Range in bytes.
    from: usize,
    to: usize,
    /// Index of the matched word.
    is: Option<usize>,
}

/// About `most` characters of `text`, with as many words of `sought` as possible.
pub(super) fn excerpt(text: &str, sought: &[String], most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let words = words_of(text, sought);
    let in_part = |first: usize| {
        let last = last_of(text, &words, first, most);
        (found(&words[first..=last], sought.len()), first, last)
    };
    // The first of equal excerpts.
    let parts = (0..words.len()).map(in_part);
    let Some((_, first, last)) = parts.reduce(|best, part| if part.0 > best.0 { part } else { best }) else {
        return String::new();
    };
    let first = centred(text, &words, first, last, most);
    let last = last_of(text, &words, first, most);
    let whole = &text[words[first].from..words[last].to];
    let part: String = whole.chars().take(most).collect();
    let before = if first > 0 { "… " } else { "" };
    let after = if last + 1 < words.len() || part.len() < whole.len() { " …" } else { "" };
    format!("{before}{part}{after}")
}

fn words_of(text: &str, sought: &[String]) -> Vec<Word> {
    let places = word_positions(text, sought);
    let mut places = places.iter().peekable();
    let mut next = 0;
    let words = text.split_inclusive(char::is_whitespace).filter_map(|piece| {
        let from = next;
        next += piece.len();
        let mut is = None;
        while let Some(position) = places.next_if(|position| position.at < next) {
            is = is.or(Some(position.sought));
        }
        let word = piece.trim_end();
        (!word.is_empty()).then_some(Word { from, to: from + word.len(), is })
    });
    words.collect()
}

/// The last word that fits when `first` is the first.
fn last_of(text: &str, words: &[Word], first: usize, most: usize) -> usize {
    let Some(start) = words.get(first) else { return first };
    let mut end = start.from;
    let mut room = most;
    let mut last = first;
    for (at, word) in words.iter().enumerate().skip(first) {
        let letters = text[end..word.to].chars().count();
        if letters > room {
            break;
        }
        (room, end, last) = (room - letters, word.to, at);
    }
    last
}

/// Number of distinct matched words.
fn found(words: &[Word], sought: usize) -> usize {
    (0..sought).filter(|one| words.iter().any(|word| word.is == Some(*one))).count()
}

/// The first word of an excerpt that centres the matches between `first` and `last`, as far as the end of the text
/// allows.
fn centred(text: &str, words: &[Word], first: usize, last: usize, most: usize) -> usize {
    let mut found = (first..=last).filter(|at| words.get(*at).is_some_and(|word| word.is.is_some()));
    let Some(from) = found.next() else { return first };
    let to = found.next_back().unwrap_or(from);
    let mut room = most.saturating_sub(text[words[from].from..words[to].to].chars().count()) / 2;
    let mut start = from;
    while let Some(before) = start.checked_sub(1) {
        let letters = text[words[before].from..words[start].from].chars().count();
        let to_the_end = text[words[before].from..].chars().take(most + 1).count();
        if letters > room && to_the_end > most {
            break;
        }
        (room, start) = (room.saturating_sub(letters), before);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(excerpt("Short and whole.", &sought(&["whole"]), 40), "Short and whole.");
        assert_eq!(excerpt("", &sought(&["whole"]), 40), "");
    }

    #[test]
    fn without_a_word_of_the_question_a_text_begins_at_its_beginning() {
        assert_eq!(excerpt("one two three four five", &[], 14), "one two three …");
        assert_eq!(excerpt("one two three four five", &sought(&["six"]), 14), "one two three …");
    }

    #[test]
    fn what_was_looked_for_stands_in_the_middle() {
        let text =
            "The first words say nothing, but ticket AB-12 has the fault of the left pump, and more is said after it.";
        let around = excerpt(text, &sought(&["ab-12"]), 30);
        assert_eq!(around, "… but ticket AB-12 has the fault …");
        let service = "The first words say nothing of the service, but the server of the left pump has a fault.";
        assert!(excerpt(service, &sought(&["server"]), 30).contains("server"));
        let rules = "The first words say nothing of it, and then there are the rules of the harbour and more.";
        assert!(excerpt(rules, &sought(&["rule"]), 30).contains("rules"));
        let both = excerpt(text, &sought(&["pumps", "faults", "first"]), 30);
        assert!(both.contains("fault") && both.contains("pump"), "{both}");
    }

    #[test]
    fn an_end_is_not_cut() {
        assert_eq!(excerpt("one two three four five", &sought(&["five"]), 10), "… four five");
        assert_eq!(excerpt("one two three four five", &sought(&["five"]), 9), "… four five");
    }

    #[test]
    fn one_endless_word_is_cut() {
        let text = "x".repeat(100);
        assert_eq!(excerpt(&text, &sought(&["x"]), 10), format!("{} …", "x".repeat(10)));
    }

    proptest::proptest! {
        #[test]
        fn no_excerpt_is_longer_than_it_may_be(text in "[a-zäß .…\u{4e00}]{0,300}", most in 1_usize..60) {
            let part = excerpt(&text, &sought(&["ab", "ß"]), most);
            proptest::prop_assert!(part.chars().count() <= (most + 4).max(text.chars().count().min(most)));
        }
    }
}
