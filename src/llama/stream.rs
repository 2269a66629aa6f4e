//! Decodes token bytes into text that may be shown.
//!
//! Takes the bytes of tokens, gives text as soon as no later token can change it.
//! Invariants: never half a character, never a part of a stop text; the emitted pieces and the final text are the same.
//! Not here: removing escape sequences and other text that a terminal acts on (`answer`).

/// Collects the bytes of tokens and gives text as soon as it is certain.
pub(super) struct TextStream<'a> {
    stop: &'a [String],
    text: String,
    /// Number of emitted bytes of `text`.
    emitted: usize,
    /// The first bytes of an incomplete character.
    half: Vec<u8>,
}

impl<'a> TextStream<'a> {
    pub(super) fn new(stop: &'a [String]) -> Self {
        Self { stop, text: String::new(), emitted: 0, half: Vec::new() }
    }

    /// Adds the bytes of one token. True once a stop text is complete.
    pub(super) fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) -> bool {
        self.half.extend_from_slice(bytes);
        self.take_whole_characters();
        let first_stop = self
            .stop
            .iter()
            .filter(|stop| !stop.is_empty())
            .filter_map(|stop| self.text[self.emitted..].find(stop.as_str()))
            .min();
        if let Some(place) = first_stop {
            self.text.truncate(self.emitted + place);
        }
        let certain = if first_stop.is_some() { self.text.len() } else { self.certain_end() };
        self.emit_to(certain, emit);
        first_stop.is_some()
    }

    /// Emits the held-back text and gives the whole text; half a character at the end is dropped.
    pub(super) fn finish(mut self, emit: &mut dyn FnMut(&str)) -> String {
        self.emit_to(self.text.len(), emit);
        self.text
    }

    fn emit_to(&mut self, end: usize, emit: &mut dyn FnMut(&str)) {
        if end > self.emitted {
            emit(&self.text[self.emitted..end]);
            self.emitted = end;
        }
    }

    /// Moves every whole character from `half` to `text`; invalid bytes become U+FFFD.
    fn take_whole_characters(&mut self) {
        let bytes = std::mem::take(&mut self.half);
        let mut rest = bytes.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(valid));
                    let Some(wrong) = error.error_len() else {
                        self.half = after.to_vec();
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[wrong..];
                }
            }
        }
    }

    /// End of the text in which no stop text can begin.
    fn certain_end(&self) -> usize {
        let open = &self.text[self.emitted..];
        let begins_stop = |tail: &str| self.stop.iter().any(|stop| !stop.is_empty() && stop.starts_with(tail));
        open.char_indices()
            .map(|(place, _)| place)
            .find(|place| begins_stop(&open[*place..]))
            .map_or(self.text.len(), |place| self.emitted + place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(stop: &[&str], pieces: &[&[u8]]) -> (Vec<String>, String, bool) {
        let stop: Vec<String> = stop.iter().map(|s| (*s).to_owned()).collect();
        let mut emitted = Vec::new();
        let mut stream = TextStream::new(&stop);
        let stopped = pieces.iter().any(|piece| stream.push(piece, &mut |text| emitted.push(text.to_owned())));
        let text = stream.finish(&mut |text| emitted.push(text.to_owned()));
        (emitted, text, stopped)
    }

    #[test]
    fn a_stop_text_across_tokens_is_never_shown() {
        let (emitted, text, stopped) = run(&["User:"], &[b"It is blue.\nUs", b"er", b": and"]);
        assert_eq!(text, "It is blue.\n");
        assert_eq!(emitted, ["It is blue.\n"]);
        assert!(stopped);
    }

    #[test]
    fn the_beginning_of_a_stop_text_is_shown_once_it_is_none() {
        let (emitted, text, stopped) = run(&["User:"], &[b"Us", b"e it"]);
        assert_eq!((text.as_str(), stopped), ("Use it", false));
        assert_eq!(emitted, ["Use it"]);
        assert_eq!(run(&["User:"], &[b"Ask the Us"]).1, "Ask the Us");
    }

    #[test]
    fn half_a_character_waits_for_its_rest() {
        let (emitted, text, _) = run(&[], &["Gr".as_bytes(), &[0xc3], &[0xbc, b'n']]);
        assert_eq!(emitted, ["Gr", "ün"]);
        assert_eq!(text, "Grün");
        assert_eq!(run(&[], &[&[b'a', 0xff, b'b', 0xc3]]).1, "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_the_text_before_the_first_stop(text in "[aUser: ü]{0,40}", cuts in prop::collection::vec(0_usize..4, 0..40)) {
            let mut pieces = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let (emitted, whole, _) = run(&["User:", "er "], &pieces);
            let end = [text.find("User:"), text.find("er ")].into_iter().flatten().min().unwrap_or(text.len());
            prop_assert_eq!(&whole, &text[..end]);
            prop_assert_eq!(emitted.concat(), whole);
        }
    }
}
