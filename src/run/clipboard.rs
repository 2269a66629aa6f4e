//! Copying text out of the program.
//!
//! Takes text, hands it to the desktop's own tool where there is one on this machine, else to the terminal (OSC 52,
//! xterm control sequences), which also works over SSH. Says which, since a terminal may take no notice.
//! Invariant: the tool is never waited for; the text goes to its input and nowhere else.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::app::CopyWay;
use crate::config::Desktop;

/// Longest text that is given to a terminal; several drop longer ones without a word.
const LONGEST: usize = 100_000;

/// Copies `text`; what a terminal needs to see goes to `terminal`.
pub(super) fn copy(text: &str, desktop: Desktop, terminal: &mut impl Write) -> io::Result<CopyWay> {
    let tools: &[(&'static str, &[&str])] = match desktop {
        Desktop::Wayland => &[("wl-copy", &[])],
        Desktop::X11 => &[("xclip", &["-selection", "clipboard"]), ("xsel", &["--clipboard", "--input"])],
        Desktop::Mac => &[("pbcopy", &[])],
        Desktop::None => &[],
    };
    if let Some((tool, _)) = tools.iter().find(|(tool, arguments)| hand_to(tool, arguments, text).is_ok()) {
        return Ok(CopyWay::Tool(tool));
    }
    if text.len() > LONGEST {
        return Ok(CopyWay::TooLong);
    }
    write!(terminal, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
    terminal.flush()?;
    Ok(CopyWay::Terminal)
}

fn hand_to(tool: &str, arguments: &[&str], text: &str) -> io::Result<()> {
    let mut child =
        Command::new(tool).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    match child.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_desktop_the_terminal_is_told() {
        let mut seen = Vec::new();
        let how = copy("Jürgen [Source 1]", Desktop::None, &mut seen).unwrap();
        assert_eq!(how, CopyWay::Terminal);
        assert_eq!(String::from_utf8(seen).unwrap(), "\x1b]52;c;SsO8cmdlbiBbU291cmNlIDFd\x07");
    }

    #[test]
    fn what_no_terminal_takes_is_not_given_to_it() {
        let mut seen = Vec::new();
        let how = copy(&"x".repeat(LONGEST + 1), Desktop::None, &mut seen).unwrap();
        assert_eq!((how, seen.len()), (CopyWay::TooLong, 0));
    }

    #[test]
    fn a_tool_that_is_not_there_is_no_error() {
        assert!(hand_to("no-such-tool-of-a-desktop", &[], "x").is_err());
    }
}
