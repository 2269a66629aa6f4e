//! Decodes bytes of any encoding into text.
//!
//! Takes bytes, gives text, or none for binary data. A byte order mark decides first, then valid UTF-8, then the
//! declared encoding, then a detector.
//! Invariants: text never fails to decode, invalid bytes become U+FFFD; binary data is never text; line ends are `\n`;
//! no text has a NUL, though a few do not make it binary.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes searched for a declaration. Browsers stop at a quarter of it.
const DECLARED_WITHIN: usize = 4_096;

/// Bytes examined to tell text from binary data.
const LOOKED_AT: usize = 64 << 10;

/// Bytes given to the detector. More does not change its result.
const DETECTED_FROM: usize = 1 << 20;

/// With this many valid characters per invalid one a file is damaged UTF-8.
const VALID_PER_BROKEN: usize = 8;

/// With at most one NUL per this many bytes a file is text with stray NULs.
const BYTES_PER_NUL: usize = 16;

/// Decodes a text; none for binary data.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    let text = if let Some(units) = bytes.strip_prefix(b"\xff\xfe\0\0") {
        wide(units, u32::from_le_bytes)
    } else if let Some(units) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        wide(units, u32::from_be_bytes)
    } else {
        let (encoding, mark) = encoding_of(bytes)?;
        encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned()
    };
    Some(with_plain_line_ends(without_nul(text)))
}

/// Decodes the start of a text, without a character that is cut in two.
pub(super) fn decode_start(bytes: &[u8]) -> Option<String> {
    let cut = bytes.iter().rev().take(4).position(|byte| !matches!(byte, 0x80..=0xbf)).map_or(0, |tail| tail + 1);
    let end = bytes.len() - cut.min(bytes.len());
    let broken = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    decode(if broken { &bytes[..end] } else { bytes })
}

/// The encoding and the length of the byte order mark; none for binary data.
fn encoding_of(bytes: &[u8]) -> Option<(&'static Encoding, usize)> {
    if let Some(found) = Encoding::for_bom(bytes) {
        return Some(found);
    }
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    if start.contains(&0)
        && let Some(encoding) = wide_without_mark(start)
    {
        return Some((encoding, 0));
    }
    if !is_text(bytes) {
        return None;
    }
    let declared = declared(&bytes[..bytes.len().min(DECLARED_WITHIN)]);
    if std::str::from_utf8(bytes).is_ok() {
        // All of ISO-2022-JP is ASCII by its bytes.
        let shifts = declared.filter(|encoding| *encoding == encoding_rs::ISO_2022_JP && bytes.contains(&0x1b));
        return Some((shifts.unwrap_or(UTF_8), 0));
    }
    if is_damaged_utf_8(bytes) {
        return Some((UTF_8, 0));
    }
    let legacy = declared.filter(|encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(encoding));
    Some((legacy.unwrap_or_else(|| detected(bytes)), 0))
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(DETECTED_FROM)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// What `<?xml encoding=…?>` or `<meta charset=…>` names.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let value = |text: &str| {
        let text = text.trim_start_matches([' ', '=', '"', '\'']);
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c))).unwrap_or(text.len());
        Encoding::for_label(&text.as_bytes()[..end])
    };
    let xml = start.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let of_xml = xml.and_then(|(attributes, _)| attributes.split_once("encoding")).and_then(|(_, name)| value(name));
    of_xml.or_else(|| {
        let tags = start.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
        tags.filter_map(|tag| tag.split_once("charset")).find_map(|(_, name)| value(name))
    })
}

/// Detects UTF-16 without a mark by zeros in every other byte.
fn wide_without_mark(start: &[u8]) -> Option<&'static Encoding> {
    let zeros = |offset: usize| start.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), start.len() / 2);
    let found = match () {
        () if half < 2 => None,
        () if odd * 10 >= half * 4 && even * 50 <= half => Some(UTF_16LE),
        () if even * 10 >= half * 4 && odd * 50 <= half => Some(UTF_16BE),
        () => None,
    };
    // Small numbers in a binary file have their zeros in the same places.
    found.filter(|encoding| {
        let (text, broken) = encoding.decode_without_bom_handling(&start[..half * 2]);
        !broken && !is_binary(text.as_bytes()) && !text.starts_with(char::is_control)
    })
}

/// Text has next to no control characters.
fn is_binary(start: &[u8]) -> bool {
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x08 | 0x1b);
    let controls = start.iter().filter(is_control).count();
    controls >= 4 && controls * 50 > start.len()
}

/// Whether control characters are rare at the start, and everywhere if there is a NUL. NULs at the end, as after a
/// crash, do not count.
fn is_text(bytes: &[u8]) -> bool {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let text = &bytes[..end];
    let nul = text.split(|byte| *byte == 0).count() - 1;
    let strayed = nul.saturating_mul(BYTES_PER_NUL) <= text.len();
    !is_binary(&text[..text.len().min(LOOKED_AT)]) && strayed && (nul == 0 || !is_binary(text))
}

fn is_damaged_utf_8(bytes: &[u8]) -> bool {
    let (mut valid, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    valid >= broken.saturating_mul(VALID_PER_BROKEN)
}

fn wide(bytes: &[u8], unit: impl Fn([u8; 4]) -> u32) -> String {
    let units = bytes.as_chunks::<4>().0.iter().map(|four| unit(*four));
    units.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Removes NULs: a single one may stand inside a word, several are padding and separate words.
fn without_nul(text: String) -> String {
    if !text.contains('\0') {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut parts = text.split('\0').peekable();
    while let Some(part) = parts.next() {
        let fills_up = part.is_empty() && parts.peek().is_some() && !kept.is_empty();
        kept.push_str(if fills_up && !kept.ends_with(char::is_whitespace) { " " } else { part });
    }
    kept
}

fn with_plain_line_ends(text: String) -> String {
    let ends: Cow<'_, str> = if text.contains('\r') { text.replace("\r\n", "\n").into() } else { return text };
    ends.replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_decide_before_anything_else() {
        assert_eq!(decode(b"\xef\xbb\xbfGr\xc3\xbc").unwrap(), "Grü");
        assert_eq!(decode(b"\xff\xfeG\0r\0\xfc\0").unwrap(), "Grü");
        assert_eq!(decode(b"\xfe\xff\0G\0r\0\xfc").unwrap(), "Grü");
        assert_eq!(decode(b"\xff\xfe\0\0G\0\0\0\xfc\0\0\0").unwrap(), "Gü");
    }

    #[test]
    fn wide_text_without_a_mark_is_seen_by_its_zeros() {
        let wide: Vec<u8> = "Grüße aus Köln".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide).unwrap(), "Grüße aus Köln");
        let wide: Vec<u8> = "Grüße aus Köln".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&wide).unwrap(), "Grüße aus Köln");
        assert_eq!(decode(b"a\0b"), None);
        assert_eq!(decode(b"\0\x01\x02\x03"), None);
        assert_eq!(decode(b"\x01\0\x02\0\x07\0\x05\0\x04\0"), None);
    }

    #[test]
    fn a_few_nul_bytes_are_left_out_and_only_many_make_binary_data() {
        assert_eq!(decode(b"The pump is serv\0iced in spring.").unwrap(), "The pump is serviced in spring.");
        assert_eq!(decode(b"<p>Gr\xc3\xbc\0\xc3\x9fe aus K\xc3\xb6ln</p>").unwrap(), "<p>Grüße aus Köln</p>");
        assert_eq!(decode(b"Meyer\0\0Berlin, and a line without any").unwrap(), "Meyer Berlin, and a line without any");
        let log = [b"started\nstopped\n".as_slice(), &[0; 4_096]].concat();
        assert_eq!(decode(&log).unwrap().trim_end(), "started\nstopped");
        let late = ["word ".repeat(LOOKED_AT).as_bytes(), b"\0end"].concat();
        assert!(decode(&late).unwrap().ends_with("word end"));
        let script_with_data = ["word ".repeat(LOOKED_AT).as_bytes(), &[0, 1, 2, 3].repeat(LOOKED_AT)].concat();
        assert_eq!(decode(&script_with_data), None);
        assert_eq!(decode(&b"ab\0".repeat(100)), None);
    }

    #[test]
    fn declared_encodings_are_followed_where_the_bytes_allow() {
        let meta = b"<meta http-equiv=content-type content='text/html; charset=koi8-r'><p>\xf0\xd2\xc9\xd7\xc5\xd4";
        assert!(decode(meta).unwrap().ends_with("Привет"));
        let xml = b"<?xml version='1.0' encoding='ISO-8859-2'?><p>\xb1\xea</p>";
        assert!(decode(xml).unwrap().contains("ąę"));
        let lies = "<meta charset=latin1><p>Grüße".as_bytes();
        assert!(decode(lies).unwrap().ends_with("Grüße"));
        let japanese = b"<meta charset=iso-2022-jp>\x1b$B$3$s\x1b(B";
        assert!(decode(japanese).unwrap().ends_with("こん"));
    }

    #[test]
    fn undeclared_encodings_are_guessed_from_the_bytes() {
        assert_eq!(decode(b"Gr\xfc\xdfe \x96 \x80 5").unwrap(), "Grüße – € 5");
        let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Отчёт о работе отдела за третий квартал");
        assert_eq!(decode(&russian).unwrap(), "Отчёт о работе отдела за третий квартал");
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("会議の議事録と次回の予定について");
        assert_eq!(decode(&japanese).unwrap(), "会議の議事録と次回の予定について");
    }

    #[test]
    fn one_broken_byte_does_not_turn_a_whole_text_into_another_encoding() {
        let mut bytes = "Größe, Maße, Tür, Öl, Äpfel, süß".as_bytes().to_vec();
        bytes.push(0xff);
        assert!(decode(&bytes).unwrap().starts_with("Größe, Maße"));
    }

    #[test]
    fn line_ends_of_all_systems_become_one() {
        assert_eq!(decode(b"a\r\nb\rc\nd").unwrap(), "a\nb\nc\nd");
    }

    #[test]
    fn a_character_cut_in_two_at_the_end_of_a_look_does_not_matter() {
        let bytes = "Übergrößenträger".as_bytes();
        for end in 0..=bytes.len() {
            let text = decode_start(&bytes[..end]).unwrap();
            assert!("Übergrößenträger".starts_with(&text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_start(&bytes);
            prop_assert!(decode(&bytes).is_none_or(|text| !text.contains(['\r', '\0'])));
        }

        #[test]
        fn valid_text_comes_back_as_it_was(text in "[^\0-\u{1f}]*") {
            let text = text.trim_start_matches('\u{feff}');
            prop_assert_eq!(decode(text.as_bytes()).unwrap(), text);
        }
    }
}
