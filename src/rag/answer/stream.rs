//! Cleans streamed text.
//!
//! Invariant: the joined output is `clean_text` of the joined input; no piece of output has a part of an escape
//! sequence.

use ragonite_base::clean_text;

/// Text whose cleaning is not decided yet.
#[derive(Debug, Default)]
pub(super) struct CleanStream {
    held: String,
}

impl CleanStream {
    /// Adds a piece, gives the text that is final.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        // An escape sequence ends with its line at the latest. Models write none, so the stream does not stall.
        let certain = match self.held.find(begins_sequence) {
            None => self.held.len(),
            Some(start) => match self.held[start..].rfind('\n') {
                Some(line_end) => {
                    let after = start + line_end + 1;
                    self.held[after..].find(begins_sequence).map_or(self.held.len(), |next| after + next)
                }
                None => start,
            },
        };
        let rest = self.held.split_off(certain);
        clean_text(&std::mem::replace(&mut self.held, rest))
    }

    /// The held text.
    pub(super) fn finish(self) -> String {
        clean_text(&self.held)
    }
}

/// The escape character and the C1 controls, some of which begin a sequence.
fn begins_sequence(c: char) -> bool {
    c == '\u{1b}' || ('\u{80}'..='\u{9f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_sequence_over_two_pieces_never_comes_out() {
        let mut stream = CleanStream::default();
        assert_eq!(stream.push("red \u{1b}[3"), "red ");
        assert_eq!(stream.push("1m text"), "");
        assert_eq!(stream.push(" ends\nnext"), " text ends\nnext");
        assert_eq!(stream.finish(), "");
    }

    proptest! {
        #[test]
        fn pieces_clean_like_the_whole(pieces in prop::collection::vec("[a-c\n;0m\\[\\]\\\\P\u{1b}\u{7}\u{90}\u{9b}\u{9d}\u{202e}]{0,6}", 0..8)) {
            let mut stream = CleanStream::default();
            let mut out: String = pieces.iter().map(|piece| stream.push(piece)).collect();
            out.push_str(&stream.finish());
            prop_assert_eq!(out, clean_text(&pieces.concat()));
        }
    }
}
