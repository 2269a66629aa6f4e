//! Shortens an evidence that exceeds its share of the budget.
//!
//! Takes a text and a test whether a text fits; gives the longest beginning that fits, cut after a row or sentence and
//! marked with `[…]`.
//! Invariant: the result fits and is a beginning of the text with the mark.
//! Not here: the share of an evidence (`build`).

/// Mark of omitted text.
const MARK: &str = "[…]";

/// Where a text may be cut, best first.
const BORDERS: [fn(&str) -> Vec<usize>; 2] = [row_and_sentence_ends, word_ends];

/// The longest marked beginning of `text` that `fits`; none if not even a word does.
pub(super) fn shorten<E>(text: &str, mut fits: impl FnMut(&str) -> Result<bool, E>) -> Result<Option<String>, E> {
    for borders in BORDERS {
        let ends = borders(text);
        // Binary search: apart from a token at the border, a longer beginning has no fewer tokens.
        let (mut low, mut high) = (0, ends.len());
        let mut best = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let candidate = marked(&text[..ends[middle]]);
            if fits(&candidate)? {
                best = Some(candidate);
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if best.is_some() {
            return Ok(best);
        }
    }
    Ok(None)
}

fn marked(beginning: &str) -> String {
    let beginning = beginning.trim_end();
    // After a line break the mark gets its own line, so that it does not look like part of a row.
    let separator = if beginning.contains('\n') { '\n' } else { ' ' };
    format!("{beginning}{separator}{MARK}")
}

/// Byte offsets after a line, a sentence, or a column of a verbalized row.
fn row_and_sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut before = ' ';
    for (place, c) in text.char_indices() {
        let sentence = c.is_whitespace() && matches!(before, '.' | '!' | '?' | ';');
        let column = text[place..].starts_with(", and ");
        if (c == '\n' || sentence || column) && !text[..place].trim().is_empty() {
            ends.push(place);
        }
        before = c;
    }
    ends
}

fn word_ends(text: &str) -> Vec<usize> {
    text.char_indices()
        .filter(|(place, c)| c.is_whitespace() && !text[..*place].trim().is_empty())
        .map(|(place, _)| place)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn to(limit: usize, text: &str) -> Option<String> {
        shorten(text, |candidate| Ok::<_, Infallible>(candidate.chars().count() <= limit)).unwrap()
    }

    #[test]
    fn a_text_is_cut_at_a_row_or_sentence() {
        assert_eq!(to(24, "Row one is here.\nRow two is here.").unwrap(), "Row one is here. […]");
        assert_eq!(to(30, "T\nFirst one. Second one. Third one.").unwrap(), "T\nFirst one. Second one.\n[…]");
        assert_eq!(to(32, "Row 2 in Table 1: A is 1, and B is 2, and C is 3").unwrap(), "Row 2 in Table 1: A is 1 […]");
    }

    #[test]
    fn without_a_sentence_the_last_word_that_fits_ends_it() {
        assert_eq!(to(14, "one two three four").unwrap(), "one two […]");
        assert_eq!(to(3, "one two"), None);
        assert_eq!(to(6, "onewordonly"), None);
    }

    proptest! {
        #[test]
        fn what_is_left_fits_and_begins_the_text(text in "[a-zäö., \n]{0,120}", limit in 0_usize..80) {
            if let Some(short) = to(limit, &text) {
                prop_assert!(short.chars().count() <= limit);
                let beginning = short.strip_suffix("[…]").unwrap().trim_end();
                prop_assert!(text.starts_with(beginning) && !beginning.trim().is_empty());
            }
        }
    }
}
