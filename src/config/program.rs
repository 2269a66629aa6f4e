//! The running program: how it was called, and which build it is.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Characters that mean something to a shell.
const SPECIAL: &[char] =
    &[' ', '\t', '\n', '"', '\'', '\\', '$', '`', '*', '?', '&', ';', '|', '<', '>', '(', ')', '#', '~', '!'];

/// The file this program was started from.
///
/// # Errors
/// Where the system does not say.
pub fn program_path() -> io::Result<PathBuf> {
    env::current_exe()
}

/// The system and the processor that the program was built for.
#[must_use]
pub fn built_for() -> String {
    format!("{} {}", env::consts::OS, env::consts::ARCH)
}

/// What was typed after the program's name.
#[must_use]
pub fn typed_arguments() -> Vec<OsString> {
    env::args_os().skip(1).collect()
}

/// The command as it would be typed again.
#[must_use]
pub fn command_line() -> String {
    let typed: Vec<String> = env::args_os().skip(1).map(|argument| quoted(&argument.to_string_lossy())).collect();
    format!("ragonite {}", typed.join(" "))
}

fn quoted(argument: &str) -> String {
    if !argument.is_empty() && !argument.contains(SPECIAL) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Tells this build of the program from others: its length and when it was made; its version where the system does not
/// say.
#[must_use]
pub fn program_stamp() -> String {
    let file = env::current_exe().and_then(fs::metadata);
    let made = file.and_then(|file| Ok((file.len(), file.modified()?)));
    let since = made.ok().and_then(|(bytes, at)| Some((bytes, at.duration_since(UNIX_EPOCH).ok()?.as_nanos())));
    since.map_or_else(|| env!("CARGO_PKG_VERSION").to_owned(), |(bytes, nanos)| format!("{bytes} {nanos}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_change_them() {
        assert_eq!(quoted("--limit"), "--limit");
        assert_eq!(quoted("my pages"), "'my pages'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_build_has_one_stamp() {
        assert!(!program_stamp().is_empty());
        assert_eq!(program_stamp(), program_stamp());
    }
}
