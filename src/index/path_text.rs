//! Paths as text, and back.
//!
//! Takes any path, gives a text to store and show, and the same path again.
//! Invariants: different paths have different texts; a valid UTF-8 path is its own text; every other byte is written as
//! U+FFFD and two hex digits.

use std::path::{Path, PathBuf};

/// Escape before the hex digits of a byte.
const ESCAPE: char = char::REPLACEMENT_CHARACTER;

/// The text of a path.
pub(super) fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == ESCAPE {
                character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| escape(byte, &mut text));
            } else {
                text.push(character);
            }
        }
        chunk.invalid().iter().for_each(|byte| escape(*byte, &mut text));
    }
    text
}

fn escape(byte: u8, text: &mut String) {
    text.push(ESCAPE);
    text.extend([byte >> 4, byte & 15].iter().filter_map(|digit| char::from_digit(u32::from(*digit), 16)));
}

/// The path of a text.
pub(super) fn text_path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once(ESCAPE) {
        bytes.extend_from_slice(plain.as_bytes());
        let digits = escaped.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &escaped[2..];
        } else {
            bytes.extend_from_slice(ESCAPE.encode_utf8(&mut [0; 4]).as_bytes());
            rest = escaped;
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    from_bytes(bytes)
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(all(test, unix))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_path_is_its_own_text() {
        assert_eq!(path_text(Path::new("/notes/Größe 100%.txt")), "/notes/Größe 100%.txt");
        assert_eq!(path_text(&from_bytes(b"/caf\xe9.txt".to_vec())), "/caf\u{fffd}e9.txt");
    }

    proptest! {
        #[test]
        fn every_path_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let path = from_bytes(bytes);
            prop_assert_eq!(text_path(&path_text(&path)), path);
        }

        #[test]
        fn marks_of_lost_bytes_come_back(text in "[\u{fffd}a-f0-9/]{0,20}") {
            let path = PathBuf::from(&text);
            prop_assert_eq!(text_path(&path_text(&path)), path);
        }
    }
}
