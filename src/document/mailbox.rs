//! Mailboxes (mbox): many messages in one file.
//!
//! Takes a stream, passes each message to the reader of `mail`, named by its Message-ID.
//! Invariants: one message is in memory at a time, counted against the file's budget; an oversized message is a bad
//! member, and the next one is read.

use std::io::{BufRead, Read as _};
use std::ops::ControlFlow;

use super::archive::Names;
use super::reader::{DocumentReader, LARGEST_FILE, Place};
use super::{DocumentError, mail};

/// Maximum bytes read of a line at once.
const LONGEST_PIECE: u64 = 1 << 20;

pub(super) fn read(
    walk: &mut DocumentReader<'_>,
    place: &Place<'_>,
    mut source: impl BufRead,
) -> Result<ControlFlow<()>, DocumentError> {
    let mut mailbox = Mailbox { place, names: Names::default(), message: Vec::new(), bytes: 0, number: 0 };
    let (mut line, mut starts_line, mut after_empty) = (Vec::new(), true, true);
    loop {
        // A message may be anything, also gigabytes of lines.
        walk.cancel.check()?;
        line.clear();
        let read = source.by_ref().take(LONGEST_PIECE).read_until(b'\n', &mut line);
        if read.map_err(|error| place.unreadable(error))? == 0 {
            break;
        }
        if starts_line && after_empty && is_separator(&line) {
            if mailbox.give(walk)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        } else {
            mailbox.take(if starts_line { unquoted(&line) } else { &line });
        }
        after_empty = starts_line && line.trim_ascii().is_empty();
        starts_line = line.ends_with(b"\n");
    }
    let flow = mailbox.give(walk)?;
    if mailbox.number == 0 {
        return Err(DocumentError::NoDocuments { path: place.shown() });
    }
    Ok(flow)
}

struct Mailbox<'a> {
    place: &'a Place<'a>,
    names: Names,
    message: Vec<u8>,
    /// Size of the message; its bytes are discarded if it is too large.
    bytes: u64,
    number: usize,
}

impl Mailbox<'_> {
    fn take(&mut self, line: &[u8]) {
        self.bytes += line.len() as u64;
        if self.bytes <= LARGEST_FILE {
            self.message.extend_from_slice(line);
        } else {
            self.message = Vec::new();
        }
    }

    /// Reads the message that ends here.
    fn give(&mut self, walk: &mut DocumentReader<'_>) -> Result<ControlFlow<()>, DocumentError> {
        let message = std::mem::take(&mut self.message);
        let bytes = std::mem::take(&mut self.bytes);
        if bytes <= LARGEST_FILE && message.trim_ascii().is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        walk.take_member(self.place)?;
        self.number += 1;
        let name = mail::id(&message).unwrap_or_else(|| format!("message {}", self.number));
        let place = self.place.member(&self.names.unique(&name));
        if bytes > LARGEST_FILE {
            let error = DocumentError::TooLarge { path: place.shown(), bytes, limit: LARGEST_FILE };
            return Ok(walk.emit(&place, Err(error)));
        }
        let flow = mail::read(walk, &place, &message);
        Ok(flow.unwrap_or_else(|error| walk.emit(&place, Err(error))))
    }
}

/// Whether a line is a separator `From sender Thu Jan  1 00:00:00 2024`: lines of a message may begin with the same
/// word.
fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let rest = String::from_utf8_lossy(rest);
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = rest.split_whitespace().skip(1);
    let (mut time, mut year) = (false, false);
    for word in words.by_ref().take(8) {
        time |= word.contains(':') && word.split(':').all(digits);
        year |= word.len() == 4 && digits(word);
    }
    time && year
}

/// Removes the `>` that protects a line like a separator.
fn unquoted(line: &[u8]) -> &[u8] {
    let text = line.trim_ascii_start();
    let quotes = text.iter().take_while(|byte| **byte == b'>').count();
    let is_quoted = quotes > 0 && text.len() == line.len() && text[quotes..].starts_with(b"From ");
    if is_quoted { &line[1..] } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_separator_with_a_date_starts_a_message() {
        assert!(is_separator(b"From a@b.example Thu Jan  1 00:00:00 2024\n"));
        assert!(is_separator(b"From - Thu Jan 01 00:00:00 2024"));
        assert!(is_separator(b"From MAILER-DAEMON Fri Jul  8 12:08:34 +0200 2011"));
        assert!(!is_separator(b"From Monday on, the office opens at 8:00.\n"));
        assert!(!is_separator(b"From: a@b"));
    }

    #[test]
    fn quoting_of_the_mailbox_is_taken_back() {
        assert_eq!(unquoted(b">From here"), b"From here");
        assert_eq!(unquoted(b">>From here"), b">From here");
        assert_eq!(unquoted(b"> From here"), b"> From here");
    }
}
