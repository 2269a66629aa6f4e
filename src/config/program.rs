//! The running program: its path, arguments and build.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Characters that mean something to a shell.
const SPECIAL: &[char] =
    &[' ', '\t', '\n', '"', '\'', '\\', '$', '`', '*', '?', '&', ';', '|', '<', '>', '(', ')', '#', '~', '!'];

/// The file of the running program.
///
/// # Errors
/// When the system does not know it.
pub fn program_path() -> io::Result<PathBuf> {
    env::current_exe()
}

/// Operating system and architecture of the build.
#[must_use]
pub fn built_for() -> String {
    format!("{} {}", env::consts::OS, env::consts::ARCH)
}

/// The arguments of the program.
#[must_use]
pub fn typed_arguments() -> Vec<OsString> {
    env::args_os().skip(1).collect()
}

/// The command line, quoted for a shell.
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

/// Identifies a build of the program: size and modification time of its file, or else its version.
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
