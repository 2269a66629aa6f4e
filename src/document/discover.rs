//! Files and folders as named by the user -> the files to read.
//!
//! Invariants: the order depends on names only; a folder's hidden files are passed over and links in it never lead
//! outside; a file that the user names is always taken.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{DocumentError, Format};

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Files to read, in order, each once.
    pub documents: Vec<PathBuf>,
    /// Files in folders that are not read.
    pub skipped: Vec<Skipped>,
}

/// A file that is not read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why, for people.
    pub reason: String,
}

/// Finds the documents under `paths`.
///
/// # Errors
/// Where a named path does not exist or cannot be read. What fails inside a folder is reported as skipped.
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
        let reason = if kind.is_dir() || seen.contains(path) {
            continue;
        } else if kind.is_symlink() {
            "symbolic link"
        } else if !kind.is_file() {
            "no regular file"
        } else if Format::of_name(path).is_none() {
            "unknown file ending"
        } else {
            seen.insert(path.to_owned());
            found.documents.push(path.to_owned());
            continue;
        };
        found.skipped.push(Skipped { path: path.to_owned(), reason: reason.to_owned() });
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
        for name in ["b/z.md", "a.html", "b/photo.png", "b/.hidden.md", "b/.git/x.md", "notes"] {
            fs::write(at(name), "text").unwrap();
        }
        let named = at("notes");
        let found = discover(&[named.clone(), folder.path().to_owned()]).unwrap();
        assert_eq!(found.documents, [named, at("a.html"), at("b/z.md")]);
        assert_eq!(found.skipped.len(), 1);
        assert_eq!(found.skipped[0].path, at("b/photo.png"));
        assert!(discover(&[at("missing")]).is_err());
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
