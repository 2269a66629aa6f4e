//! Sentence segmentation.
//!
//! Takes text, gives its sentences, each with the white space behind it. Follows the sentence boundaries of Unicode
//! (UAX #29), and adds abbreviations, numbers, continued lines, and scripts without spaces.
//! Invariants: the sentences hold every word of the text in order; time is linear in any text.

use std::sync::LazyLock;

use regex::{Match, Regex};

/// Words that end in a full stop without ending a sentence. A missing cut is less harmful than a wrong one, so
/// ambiguous words are included. Single letters with stops, such as `e.g.`, need no entry.
const ABBREVIATIONS: &[&str] = &[
    "cf.", "vs.", "approx.", "resp.", "incl.", "excl.", "no.", "nos.", "fig.", "figs.", "sec.", "eq.", "ch.", "ed.",
    "eds.", "pp.", "vol.", "al.", "mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "jr.", "sr.", "inc.", "ltd.", "corp.",
    "dept.", "min.", "max.", "jan.", "feb.", "apr.", "jun.", "jul.", "aug.", "sep.", "sept.", "oct.", "nov.", "dec.",
    "bzw.", "ca.", "ggf.", "ggfs.", "inkl.", "exkl.", "einschl.", "zzgl.", "evtl.", "vgl.", "nr.", "abs.", "abb.",
    "tab.", "kap.", "art.", "usw.", "bspw.", "bsp.", "bzgl.", "sog.", "insb.", "mind.", "mio.", "mrd.", "tsd.", "tel.",
    "str.", "gem.", "lt.", "hrsg.", "okt.", "dez.", "hr.", "fr.", "dipl.", "ing.", "sc.", "mt.", "ziff.", "aufl.",
    "bd.", "anm.", "rev.", "chap.", "zt.",
];
/// Characters before the first letter of a word.
const OPENING: &[char] = &['(', '[', '{', '"', '\'', '„', '“', '‚', '‘', '»', '«', '›', '‹', '/'];
/// Opening characters of scripts without spaces.
const OPENING_UNSPACED: &[char] = &['「', '『', '（', '《', '〈', '【', '〔', '“', '‘', '(', '['];
/// Stops of scripts without spaces. The full-width `．` is also a decimal point.
const UNSPACED: &[char] = &['。', '！', '？', '｡'];
/// Maximum length of a Roman numeral; longer ones are company names.
const LONGEST_ROMAN: usize = 5;

/// A stop with closing characters, or a line end.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static STOP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x) [\p{SB=STerm}\p{SB=ATerm}] [\p{SB=Extend}\p{SB=Format}]*
        (?: \p{SB=Close} [\p{SB=Extend}\p{SB=Format}]* )* \p{SB=Sp}* | [\n\u{2028}\u{2029}]",
    )
    .unwrap()
});

/// Behind a stop: the sentence continues, or a better boundary follows.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static GOES_ON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{SB=SContinue}\p{SB=STerm}\p{SB=ATerm}\p{SB=Sep}\p{SB=LF}]").unwrap());

/// Behind a full stop: the next letter is lower-case.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant; a test compiles it")]
static SMALL_LETTER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^[^\p{SB=OLetter}\p{SB=Upper}\p{SB=Lower}\p{SB=Sep}\p{SB=CR}\p{SB=LF}\p{SB=STerm}\p{SB=ATerm}]*\p{SB=Lower}",
    )
    .unwrap()
});

/// The sentences of a text, each with the white space behind it. Line ends are boundaries too, unless the next line
/// continues a sentence.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    let blank = text.len() - text.trim_start().len();
    let stops = STOP.find_iter(text).filter(|stop| stop.end() > blank);
    pieces(text, stops.filter_map(|stop| boundary(text, &stop)))
}

/// The clauses of an overlong sentence, cut where a person who writes no capitals ends one.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let mut borders = Vec::new();
    let (mut last, mut spaced) = (' ', false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            spaced = true;
            continue;
        }
        // The word before is looked at only where white space has ended it.
        let ended = UNSPACED.contains(&last) || spaced && matches!(last, '!' | '?' | '…');
        if ended || spaced && last == '.' && !is_open(&text[..at]) {
            borders.push(at);
        }
        (last, spaced) = (c, false);
    }
    pieces(text, borders.into_iter())
}

/// The text cut at boundaries, without blank pieces.
fn pieces(text: &str, borders: impl Iterator<Item = usize>) -> Vec<&str> {
    let mut start = 0;
    let pieces = borders.chain([text.len()]).map(|border| {
        let piece = &text[start..border];
        start = border;
        piece
    });
    pieces.filter(|piece| !piece.trim().is_empty()).collect()
}

/// Where the sentence of a stop ends, if it does. Each stop looks ahead to the next letter or stop at most, and back to
/// the white space before it, so no character is examined for many stops.
fn boundary(text: &str, stop: &Match<'_>) -> Option<usize> {
    let (before, after) = text.split_at(stop.end());
    let starts_within = after.starts_with(char::is_lowercase);
    if stop.as_str().starts_with(['\n', '\u{2028}', '\u{2029}']) {
        return (!starts_within || ends_sentence(before)).then_some(stop.end());
    }
    if stop.as_str().ends_with(char::is_whitespace) {
        let small = is_full_stop(stop.as_str()) && small_letter_follows(after);
        let within = small || (starts_within && !ends_sentence(before));
        return (!within && !goes_on(after) && !is_open(before)).then_some(stop.end());
    }
    if !stop.as_str().starts_with(UNSPACED) {
        return None;
    }
    let closed = stop.as_str().trim_end_matches(OPENING_UNSPACED);
    let end = stop.start() + closed.len();
    // A quotation with its stop is often part of a longer sentence.
    let within = !closed.ends_with(UNSPACED) && text[end..].starts_with(char::is_alphabetic);
    (!within && !goes_on(&text[end..])).then_some(end)
}

fn goes_on(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_ascii_alphabetic()) && GOES_ON.is_match(after)
}

fn small_letter_follows(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_ascii_uppercase()) && SMALL_LETTER.is_match(after)
}

fn is_full_stop(stop: &str) -> bool {
    stop.starts_with(['.', '\u{2024}', '\u{fe52}', '\u{ff0e}'])
}

pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？', '：', '；'])
}

/// Whether a text ends in an abbreviation, so that the sentence continues.
fn is_open(text: &str) -> bool {
    let word = text.split_whitespace().next_back().unwrap_or_default().trim_start_matches(OPENING);
    let Some(name) = word.strip_suffix('.') else { return false };
    let behind_sign = name.rsplit(['.', '-', '–', '/']).next().unwrap_or_default();
    // `J.-P.`, but not a file such as `rules.h`.
    let initials = name.split('.').all(|part| is_letter(part.trim_start_matches('-')));
    initials
        || is_number(word)
        || is_roman(name)
        || name.eq_ignore_ascii_case("ph.d")
        || ABBREVIATIONS.contains(&format!("{}.", behind_sign.to_lowercase()).as_str())
}

fn is_letter(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
}

/// Whether a word is the number of a list item, a section or a day: `3.`, `2.1.`. A year ends its sentence.
fn is_number(word: &str) -> bool {
    let number = word.trim_end_matches('.');
    let parts = number.split('.').count();
    number.split('.').all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts <= 4
}

/// Whether a word is a Roman numeral, as of a king or chapter: `XIV.`.
fn is_roman(name: &str) -> bool {
    (2..=LONGEST_ROMAN).contains(&name.len()) && name.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(str::trim).collect()
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
    fn what_looks_like_an_end_within_a_sentence_is_none() {
        let whole = [
            "Ask Prof.Dr. Ada or Dipl.-Ing. Bo [cf. Fig. 5].",
            "J.-P. Moor of Mt. Lee wrote v1.2.3 in No. 5 of 3.5 pages.",
            "Der e.V. Nord meldet i.V.m. Art. 3 Abs. 2 S. 1 ca. 5 Std. im XIV. Jahr.",
            "\"Who is it?\" asked Bo.",
            "Wait ... and see.",
            "See a.b/c?d=E.F and https://x.y/z.html now.",
            "He waited... then (Nov. 3) left.",
        ];
        for sentence in whole {
            assert_eq!(trimmed(sentence), [sentence]);
            let twice = format!("{sentence} {sentence}");
            assert_eq!(trimmed(&twice), [sentence, sentence]);
        }
        assert_eq!(trimmed("It is in rules.h. Ask a Ph.D. Bo."), ["It is in rules.h.", "Ask a Ph.D. Bo."]);
        assert_eq!(
            trimmed("So it is. \"Then go.\" (I went.) We left."),
            ["So it is.", "\"Then go.\"", "(I went.)", "We left."]
        );
    }

    #[test]
    fn a_stop_without_space_ends_a_sentence_of_chinese_but_not_what_is_quoted_in_it() {
        assert_eq!(trimmed("今天好。我去！！你呢？ 再见"), ["今天好。", "我去！！", "你呢？", "再见"]);
        assert_eq!(
            trimmed("「行く。」と言った。「はい。」「では。」"),
            ["「行く。」と言った。", "「はい。」", "「では。」"]
        );
        assert_eq!(trimmed("版本１．２。"), ["版本１．２。"]);
    }

    #[test]
    fn a_long_run_of_closing_marks_or_line_ends_is_read_once() {
        // Looking again at the rest of the run for each of its characters would take hours.
        const LONG: usize = 100_000;
        for run in
            [")", "\"", " ", "\n", "\n \n", ")\u{93e}", " \u{300}", "'.", ". ", "e.g.", "1.", ".-", "。", "。」", "! "]
        {
            let text = format!("One.{}Two", run.repeat(LONG));
            assert_eq!(sentences(&text).concat().split_whitespace().next_back(), text.split_whitespace().next_back());
            clauses(&text);
        }
    }
}
