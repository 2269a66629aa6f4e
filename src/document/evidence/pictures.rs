//! Detects texts that only name picture files.
//!
//! Takes a text; a picture without a description appears in it as its file name.
//! Invariants: a text with a sentence is never just names; names of other files do not count, because a link to them is
//! content.
//! Not here: the treatment of such a text (`split`).

/// Extensions of picture files.
const ENDINGS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "svg", "bmp", "webp", "tif", "tiff", "ico", "heic", "avif", "emf", "wmf"];

/// Maximum of words of a name, such as `Screen Shot 2016-03-01 at 10.22.15 PM.png`; more are a sentence that ends in a
/// name.
const MOST_WORDS: usize = 6;

/// Characters that end a word of a sentence but not of a name.
const STOPS: &[char] = &['.', ',', ';', ':', '!', '?'];

/// Whether a text only names pictures.
pub(super) fn only_names_pictures(text: &str) -> bool {
    !text.trim().is_empty() && text.lines().all(only_names)
}

fn only_names(line: &str) -> bool {
    let mut words = 0;
    for word in line.split_whitespace() {
        words += 1;
        if words > MOST_WORDS || word.ends_with(STOPS) {
            return false;
        }
        if is_picture(word) {
            words = 0;
        }
    }
    words == 0
}

fn is_picture(word: &str) -> bool {
    word.rsplit_once('.')
        .is_some_and(|(name, end)| !name.is_empty() && ENDINGS.iter().any(|ending| end.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pictures_are_told_from_sentences_and_from_other_files() {
        for names in [
            "plan.png",
            "prev.jpg home.JPG next.jpeg",
            "plan b.png",
            "Screen Shot 2016-03-01 at 10.22.15 PM.png",
            "image2018-3-1 10:22:33.png\n\n  a.svg",
        ] {
            assert!(only_names_pictures(names), "{names}");
        }
        for text in [
            "",
            "png",
            ".png",
            "plan.pdf",
            "The plan",
            "See: plan.png",
            "plan.png shows the gate",
            "plan.png\nThe plan",
            "Everything that we said about the plan is in plan.png",
            "plan.png.",
        ] {
            assert!(!only_names_pictures(text), "{text}");
        }
    }
}
