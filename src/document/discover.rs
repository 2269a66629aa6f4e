//! Finds the files to read under the paths that the user named.
//!
//! Takes files and folders; gives files. A file with a known extension is taken unseen; any other if its first bytes
//! reveal a format.
//! Invariants: the order depends on names only; hidden files in folders are skipped and links never lead outside; a
//! file that the user names is always taken.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::format::ToldBy;
use super::{DocumentError, Format, reader};

/// The files found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Files to read, in order, without repeats.
    pub documents: Vec<PathBuf>,
    /// Skipped files.
    pub skipped: Vec<Skipped>,
}

/// A skipped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// The reason, for people.
    pub reason: String,
}

/// Finds the documents under `paths`.
///
/// # Errors
/// If a named path does not exist or cannot be read. Failures inside a folder are reported as skipped.
pub fn discover(paths: &[PathBuf]) -> Result<Found, DocumentError> {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for path in paths {
        let failed = |source| DocumentError::Read { path: path.clone(), source };
        if fs::metadata(path).map_err(failed)?.is_dir() {
            walk(path, &mut found, &mut seen);
        } else if seen.insert(path.clone()) {
            found.documents.push(path.clone());
        }
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Found, seen: &mut HashSet<PathBuf>) {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                let reason = error.io_error().map_or_else(|| "cannot be read".to_owned(), io::Error::to_string);
                found.skipped.push(Skipped { path, reason });
                continue;
            }
        };
        let kind = entry.file_type();
        let path = entry.path();
        if kind.is_dir() || seen.contains(path) {
            continue;
        }
        let taken = if kind.is_symlink() {
            Err("a symbolic link; name its target to read it".to_owned())
        } else if !kind.is_file() {
            Err("no regular file".to_owned())
        } else {
            is_document(path)
        };
        match taken {
            Ok(()) => {
                seen.insert(path.to_owned());
                found.documents.push(path.to_owned());
            }
            Err(reason) => found.skipped.push(Skipped { path: path.to_owned(), reason }),
        }
    }
}

/// Checks whether a file in a folder is read, or gives the reason why not.
fn is_document(path: &Path) -> Result<(), String> {
    if Format::of_name(path).is_some() {
        return Ok(());
    }
    match reader::look(path) {
        Ok((_, ToldBy::Content)) => Ok(()),
        Ok((Format::Text, ToldBy::Name)) if path.extension().is_none() => Ok(()),
        Ok((_, ToldBy::Name)) | Err(DocumentError::UnknownFormat { .. }) => Err(format!(
            "unknown file ending; if it is a document, name it on the command line or give it an ending such as {}",
            "`.txt` or `.zip`"
        )),
        Err(DocumentError::Refused { what, remedy, .. }) => Err(format!("{what}; {remedy}")),
        Err(DocumentError::Empty { .. }) => Err("an empty file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_known_files_in_order_and_say_what_they_leave_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/.git")).unwrap();
        for name in ["b/z.md", "a.html", "b/code.xyz", "b/.hidden.md", "b/.git/x.md", "notes.xyz"] {
            fs::write(at(name), "text").unwrap();
        }
        let named = at("notes.xyz");
        let found = discover(&[named.clone(), folder.path().to_owned()]).unwrap();
        assert_eq!(found.documents, [named, at("a.html"), at("b/z.md")]);
        assert_eq!(found.skipped.len(), 1);
        assert_eq!(found.skipped[0].path, at("b/code.xyz"));
        assert!(discover(&[at("missing")]).is_err());
    }

    #[test]
    fn files_of_unknown_endings_are_taken_where_their_content_tells_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let files: [(&str, &[u8]); 7] = [
            ("README", b"text without an ending"),
            ("archive.bak", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            ("mail.1", b"Message-ID: <1@a>\nFrom: a@b\n\nHello"),
            ("nothing.xyz", b""),
            ("page.aspx", b"<!DOCTYPE html><p>a"),
            ("photo.png", b"\x89PNG\r\n\x1a\n\0"),
            ("program", b"\x7fELF\0\0"),
        ];
        for (name, content) in files {
            fs::write(at(name), content).unwrap();
        }
        let found = discover(&[folder.path().to_owned()]).unwrap();
        assert_eq!(found.documents, [at("README"), at("mail.1"), at("page.aspx")]);
        let reasons: Vec<&str> = found.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        assert_eq!(reasons.len(), 4);
        assert!(reasons[0].starts_with("unknown file ending"), "{}", reasons[0]);
        assert_eq!(reasons[1], "an empty file");
        assert!(reasons[2].starts_with("a PNG image; ") && reasons[3].starts_with("a program; "));
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_folder_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.md"), "text").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.md"), folder.path().join("one.md")).unwrap();
        let found = discover(&[folder.path().to_owned()]).unwrap();
        assert_eq!(found.documents, Vec::<PathBuf>::new());
        assert_eq!(found.skipped.len(), 2);
    }
}
