//! Copies text through the terminal (OSC 52, xterm control sequences), which also works over SSH.
//!
//! Takes a text, gives what was done; a terminal may ignore the sequence.
//! Not here: the copy tools of the desktop (`workers`).

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use ragonite_app::CopyWay;

/// Longest text for a terminal, in bytes; several terminals drop longer ones silently.
const LONGEST: usize = 100_000;

/// Copies `text`; the control sequence goes to `terminal`.
pub(super) fn copy(text: &str, terminal: &mut impl Write) -> io::Result<CopyWay> {
    if text.len() > LONGEST {
        return Ok(CopyWay::TooLong);
    }
    write!(terminal, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
    terminal.flush()?;
    Ok(CopyWay::Terminal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_is_told() {
        let mut seen = Vec::new();
        let how = copy("Jürgen [Source 1]", &mut seen).unwrap();
        assert_eq!(how, CopyWay::Terminal);
        assert_eq!(String::from_utf8(seen).unwrap(), "\x1b]52;c;SsO8cmdlbiBbU291cmNlIDFd\x07");
    }

    #[test]
    fn what_no_terminal_takes_is_not_given_to_it() {
        let mut seen = Vec::new();
        let how = copy(&"x".repeat(LONGEST + 1), &mut seen).unwrap();
        assert_eq!((how, seen.len()), (CopyWay::TooLong, 0));
    }
}
