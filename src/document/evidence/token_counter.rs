//! Counts the embedder's tokens.
//!
//! Takes the embedder's counter, gives counts without special tokens. Counting takes about a microsecond for four
//! characters, so it is done only if bytes and words cannot decide.
//! Invariant: a text that fits has at most the requested number of tokens, if the counter is right.

use ragonite_base::CancelToken;

/// Counts the embedder's tokens of a text.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// A counter of tokens.
pub(super) struct TokenCounter<'a> {
    tokens: &'a CountTokens<'a>,
    /// Tokens of an empty text.
    special: usize,
    cancel: &'a CancelToken,
}

impl<'a> TokenCounter<'a> {
    pub(super) fn new(tokens: &'a CountTokens<'a>, cancel: &'a CancelToken) -> Self {
        Self { tokens, special: tokens(""), cancel }
    }

    /// Counts tokens; any number once cancelled, since the result is discarded.
    pub(super) fn count(&self, text: &str) -> usize {
        if self.is_canceled() { 0 } else { (self.tokens)(text).saturating_sub(self.special) }
    }

    /// Whether the work is cancelled.
    pub(super) fn is_canceled(&self) -> bool {
        self.cancel.is_canceled()
    }

    /// Whether a text has at most `longest` tokens.
    pub(super) fn fits(&self, text: &str, longest: usize) -> bool {
        // A token is at least one byte, and every word at least one token.
        text.len() <= longest || (text.split_whitespace().nth(longest).is_none() && self.count(text) <= longest)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_embedder_is_asked_only_where_bytes_and_words_cannot_tell() {
        let asked = Cell::new(0);
        let tokens = |text: &str| {
            asked.set(asked.get() + 1);
            text.len() / 4 + 2
        };
        let cancel = CancelToken::never();
        let measure = TokenCounter::new(&tokens, &cancel);
        assert_eq!(asked.take(), 1);
        assert!(measure.fits("a few bytes", 11) && !measure.fits("more words than tokens are left", 5));
        assert_eq!(asked.take(), 0);
        assert!(measure.fits("a few bytes", 3) && !measure.fits("muchtoolong", 1));
        assert_eq!(asked.take(), 2);
    }
}
