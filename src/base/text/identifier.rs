//! Tells identifiers from words.
//!
//! Takes a word as written. An identifier names one thing and means it only as it is written:
//! - letters and digits together, or digits with joins: `B2`, `eth0`, `v1.2`, `9.0.2`, `XAPI-12`, `CVE-2024-1`;
//! - two capitals that are not the initials of words: `IT`, `USB`, `iOS`, `Wi-Fi`, `SSH-Key`;
//! - names joined by `_`, `@` or dots: `boot_order`, `mira@example.org`, `pier.example`.
//!
//! None is a number (`2015`), an ordinal or quantity (`3rd`, `10kg`), a word, also with a capital or hyphens
//! (`follow-up`, `Hafen`, `Test-Lauf`), or an abbreviation such as `z.B`. In a text in capitals throughout every word
//! has the form of an identifier.

/// Most letters of a unit or an ordinal's ending.
const LONGEST_UNIT: usize = 2;

/// Fewest letters of a capitalized word.
const LEAST_CAPITALIZED: usize = 3;

/// Whether a word has the form of an identifier.
#[must_use]
pub fn is_identifier(word: &str) -> bool {
    (has_digit(word) && !is_quantity(word)) || has_capitals(word) || is_joined_name(word)
}

/// Whether a word has a digit of any script.
#[must_use]
pub fn has_digit(word: &str) -> bool {
    word.contains(char::is_numeric)
}

/// Whether only the first letter is a capital, as in a German noun or the first word of a sentence.
#[must_use]
pub fn is_capitalized(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.clone().count() + 1 >= LEAST_CAPITALIZED
        && letters.all(char::is_lowercase)
}

/// Whether a word is a number, alone or with a short ending in lower case: `2015`, `3rd`, `10kg`.
fn is_quantity(word: &str) -> bool {
    let ending = word.trim_start_matches(char::is_numeric);
    ending.len() < word.len() && ending.len() <= LONGEST_UNIT && ending.chars().all(|c| c.is_ascii_lowercase())
}

/// Whether a word has two capitals beside those of capitalized words.
fn has_capitals(word: &str) -> bool {
    let others = word.split('-').filter(|part| !is_capitalized(part));
    others.flat_map(str::chars).filter(|c| c.is_uppercase()).nth(1).is_some()
}

fn is_joined_name(word: &str) -> bool {
    word.contains(['_', '@']) || (word.contains('.') && word.split('.').all(|part| part.chars().nth(1).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_told_by_its_form() {
        let identifiers = "B2 b2 eth0 x4711 v1.2 9.0 9.0.2 9.0.2-Release XAPI-12 xapi-12 CVE-2024-1 Titan-7 Türe-77 \
            2024-2025 IT USB OXT iOS PCRs GmbH Wi-Fi QEMU-DM KolMet-pump SSH-Schlüssel boot_order pier.example \
            mira@example.org";
        for word in identifiers.split_whitespace() {
            assert!(is_identifier(word), "{word}");
        }
        let others = "pump Pump follow-up Follow-up qemu-dm rück-lauf-ventil Hafen Öl Test-Lauf E-Mail z.B e.g A I 2015 \
            17 3rd 22nd 10kg 2x";
        for word in others.split_whitespace().chain([""]) {
            assert!(!is_identifier(word), "{word}");
        }
    }
}
