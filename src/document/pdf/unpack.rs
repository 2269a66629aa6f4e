//! Refuses streams that unpack to far more than they hold.
//!
//! Takes the bytes of a file; checks its packed streams before they are read.
//! Invariant: the check itself takes a fixed amount of memory. Streams of encrypted files cannot be checked.

use std::io::{self, Read};

use flate2::read::ZlibDecoder;

use super::error::PdfError;
use ragonite_base::CancelToken;

/// Maximum bytes of an unpacked stream.
const LARGEST: usize = 256 << 20;
/// Maximum bytes of all unpacked object streams, which stay in memory.
const LARGEST_OBJECTS: usize = 512 << 20;
/// Upper bound of the growth of packed data.
const MOST_GROWTH: usize = 1_040;
/// Maximum bytes of LZW data that is not an image.
const LARGEST_LZW: usize = 1 << 20;
/// Bytes before a stream that are searched for its dictionary.
const DICTIONARY: usize = 512;

/// Checks all streams of a file.
pub(super) fn check(bytes: &[u8], cancel: &CancelToken) -> Result<(), PdfError> {
    let too_large = |limit: usize| PdfError::TooLarge { limit: limit >> 20, unit: "MiB" };
    let mut objects = 0;
    let mut at = 0;
    while let Some(found) = find(&bytes[at..], b"stream") {
        cancel.check()?;
        let start = at + found;
        at = start + 6;
        if bytes[..start].ends_with(b"end") {
            continue;
        }
        let data = &bytes[at..];
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        let length = find(data, b"endstream").unwrap_or(data.len());
        let before = &bytes[start.saturating_sub(DICTIONARY)..start];
        let before = &before[rfind(before, b" obj").unwrap_or(0)..];
        let packed = count(before, b"FlateDecode") + count(before, b"LZWDecode") + count(before, b"/Fl ");
        let lzw = count(before, b"LZWDecode") > 0 && count(before, b"/Image") == 0 && length > LARGEST_LZW;
        if packed > 1 && count(before, b"stream") == 0 || lzw {
            return Err(too_large(LARGEST));
        }
        let holds_objects = count(before, b"ObjStm") + count(before, b"XRef") > 0;
        if packed > 0 && (holds_objects || length > LARGEST / MOST_GROWTH) {
            let size = unpacked(cancel.watch(&data[..length]));
            if size > LARGEST {
                return Err(too_large(LARGEST));
            }
            objects += if holds_objects { size } else { 0 };
            if objects > LARGEST_OBJECTS {
                return Err(too_large(LARGEST_OBJECTS));
            }
        }
        at += length.min(bytes.len() - at);
    }
    Ok(())
}

/// The unpacked size of data, or slightly above the limit.
fn unpacked(data: impl Read) -> usize {
    let mut limited = ZlibDecoder::new(data).take(LARGEST as u64 + 1);
    let mut sink = Count(0);
    // Damaged data ends early; what came before counts.
    let _ = io::copy(&mut limited, &mut sink);
    sink.0
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut at = 0;
    while let Some(found) = bytes.get(at..)?.iter().position(|byte| *byte == first) {
        at += found;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn rfind(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).rposition(|part| part == word)
}

fn count(bytes: &[u8], word: &[u8]) -> usize {
    bytes.windows(word.len()).filter(|part| *part == word).count()
}
