//! Numbers, times and counts in each language.
//!
//! Invariant: a rounded time never reaches the next unit: 999.6 ms are `999 ms`, 59.96 s are `59.9 s`.

use super::{Noun, Words};
use ragonite_base::{Language, Millis};

impl Words {
    /// Converts a number with a decimal point to this language.
    pub(crate) fn number(self, written: &str) -> String {
        match self.0 {
            Language::English => written.to_owned(),
            Language::German => written.replace('.', ","),
        }
    }

    /// A number with a fixed number of decimals.
    pub(crate) fn decimal(self, number: f64, decimals: usize) -> String {
        self.number(&format!("{number:.decimals$}"))
    }

    /// `1,240`, in German `1.240`.
    pub(crate) fn thousands(self, number: usize) -> String {
        let separator = match self.0 {
            Language::English => ',',
            Language::German => '.',
        };
        let digits = number.to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// `850 ms`, `1.2 s`, `1 min 12 s`.
    pub(crate) fn duration(self, time: Millis) -> String {
        if time.0 < 1_000.0 {
            format!("{:.0} ms", time.0.min(999.0))
        } else if time.0 < 60_000.0 {
            format!("{} s", self.decimal((time.0 / 1_000.0).min(59.9), 1))
        } else {
            let seconds = (time.0 / 1_000.0).round();
            let minutes = (seconds / 60.0).floor();
            format!("{minutes:.0} min {:.0} s", seconds - 60.0 * minutes)
        }
    }

    /// A time that still runs, in whole seconds: `12 s`, `1 min 12 s`.
    pub(crate) fn running_time(self, seconds: u32) -> String {
        if seconds < 60 { format!("{seconds} s") } else { self.duration(Millis(f64::from(seconds) * 1_000.0)) }
    }

    /// `1 document`, `2 documents`.
    pub(crate) fn counted(self, number: usize, noun: Noun) -> String {
        let (one, several) = noun.forms(self.0);
        format!("{} {}", self.thousands(number), if number == 1 { one } else { several })
    }

    /// Sources, tokens and time of an answer: `4 sources · 1,240 tokens read · 5.1 s`.
    pub(crate) fn read_and_took(self, sources: usize, tokens: usize, total: Millis) -> String {
        let (sources, tokens) = (self.counted(sources, Noun::Source), self.counted(tokens, Noun::Token));
        self.answered(&sources, &tokens, &self.duration(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: Words = Words(Language::English);
    const GERMAN: Words = Words(Language::German);

    #[test]
    fn a_time_never_reaches_the_next_unit() {
        let edges = [
            (0.0, "0 ms"),
            (850.4, "850 ms"),
            (999.6, "999 ms"),
            (1_000.0, "1.0 s"),
            (1_234.0, "1.2 s"),
            (59_940.0, "59.9 s"),
            (59_960.0, "59.9 s"),
            (59_999.9, "59.9 s"),
            (60_000.0, "1 min 0 s"),
            (72_400.0, "1 min 12 s"),
            (119_700.0, "2 min 0 s"),
            (3_599_600.0, "60 min 0 s"),
            (3_600_000.0, "60 min 0 s"),
        ];
        for (time, says) in edges {
            assert_eq!(ENGLISH.duration(Millis(time)), says, "{time} ms");
            assert_eq!(GERMAN.duration(Millis(time)), says.replace('.', ","), "{time} ms");
        }
        assert_eq!(
            [0, 59, 60, 72].map(|seconds| GERMAN.running_time(seconds)),
            ["0 s", "59 s", "1 min 0 s", "1 min 12 s"]
        );
    }

    #[test]
    fn what_an_answer_read_is_counted_and_grouped() {
        let says =
            |words: Words| (words.read_and_took(1, 1, Millis(999.6)), words.read_and_took(4, 1_240, Millis(65e3)));
        let english = ("1 source · 1 token read · 999 ms", "4 sources · 1,240 tokens read · 1 min 5 s");
        let german = ("1 Quelle · 1 Token gelesen · 999 ms", "4 Quellen · 1.240 Token gelesen · 1 min 5 s");
        assert_eq!(says(ENGLISH), (english.0.into(), english.1.into()));
        assert_eq!(says(GERMAN), (german.0.into(), german.1.into()));
    }
}
