//! Splits texts into words.
//!
//! Takes a text, gives its words in order.
//! Invariants: a word begins and ends with a letter or digit; no letter or digit is left out.
//! Not here: capitals and punctuation (`sentence_words`).

use std::ops::Range;

/// Characters that join the parts of a name or version: `9.0.2`, `qemu-dm`, `boot_order`.
pub const NAME_JOINS: &[char] = &['.', '-', '_'];

/// A word with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// As written.
    pub text: &'a str,
    /// Byte offset in the text.
    pub start: usize,
}

impl<'a> Word<'a> {
    /// Byte range in the text.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Its parts that `joins` do not join; one if there are no others.
    pub fn parts(self, joins: &'a [char]) -> impl Iterator<Item = Self> {
        split_words(self.text, joins).map(move |part| Self { start: self.start + part.start, ..part })
    }
}

/// Runs of letters and digits; a character of `joins` between two of them joins them.
pub fn split_words<'a>(text: &'a str, joins: &'a [char]) -> impl Iterator<Item = Word<'a>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + text[end..].find(char::is_alphanumeric)?;
        end = end_of_word(text, start, joins);
        Some(Word { text: &text[start..end], start })
    })
}

/// The end of the word that begins at `start`.
fn end_of_word(text: &str, start: usize, joins: &[char]) -> usize {
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins_next = joins.contains(&c) && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !c.is_alphanumeric() && !joins_next {
            return start + at;
        }
    }
    text.len()
}

/// Runs of letters and digits.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    split_words(text, &[]).map(|word| word.text)
}

/// Runs of letters and digits in lower case.
pub fn lower_words(text: &str) -> impl Iterator<Item = String> {
    words(text).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_join_joins_letters_and_digits_only() {
        let joined = |text| split_words(text, NAME_JOINS).map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(
            joined("qemu-dm 9.0.2, a_b... (XY-165) -x- a--b"),
            ["qemu-dm", "9.0.2", "a_b", "XY-165", "x", "a", "b"]
        );
        assert_eq!(words("qemu-dm 9.0").collect::<Vec<_>>(), ["qemu", "dm", "9", "0"]);
        assert_eq!(lower_words("Die Häuser?").collect::<Vec<_>>(), ["die", "häuser"]);
        assert_eq!(words(" ?! ").count(), 0);
    }

    proptest! {
        #[test]
        fn no_letter_or_digit_is_left_out(text in any::<String>()) {
            let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            prop_assert_eq!(words(&text).collect::<String>(), letters);
            for word in split_words(&text, NAME_JOINS) {
                prop_assert_eq!(&text[word.span()], word.text);
            }
        }
    }
}
