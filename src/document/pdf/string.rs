//! Decodes text strings of a PDF, which have three encodings.

/// PDFDocEncoding where it differs from Latin-1.
const FROM_24: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const FROM_128: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Decodes a text string.
pub(super) fn decode(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return wide(rest, u16::from_be_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return wide(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(rest).into_owned();
    }
    let decoded = |byte: &u8| match byte {
        24..=31 => FROM_24[usize::from(byte - 24)],
        128..=160 => FROM_128[usize::from(byte - 128)],
        _ => char::from(*byte),
    };
    bytes.iter().map(decoded).collect()
}

fn wide(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn every_encoding_of_a_title_is_read() {
        assert_eq!(decode(b"Gr\xfc\xdfe \x80 \xa0"), "Grüße • €");
        assert_eq!(decode(b"\xfe\xff\0G\0r\0\xfc"), "Grü");
        assert_eq!(decode("\u{feff}Grü".as_bytes()), "Grü");
    }
}
