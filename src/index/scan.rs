//! What is on disk against what is stored: files to look at, files that are gone, files that may only be out of reach.
//!
//! Invariants: a file counts as gone only when the folder it was found in was listed and neither the listing nor the
//! file system has it; a given folder that is missing, cannot be listed or holds no document any more says nothing about
//! its files, for a disk may be unplugged, and neither does a folder below it that is there and has nothing in it, for
//! that is what a disk leaves that was mounted there; files outside the given folders are not looked at.
//! Not here: reading files (`reader`), taking documents out (`ingest`).

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IndexError;
use super::domain::DomainDb;
use super::files::{Root, RootKind, StoredFile};
use super::ingest::Absent;
use super::progress::{Kept, KeptReason, Skipped};
use ragonite_document::{self, DocumentError};

/// What is done about documents whose whole folder seems to be gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are kept, and the report says so.
    #[default]
    Keep,
    /// They are taken out: the user said that the folder is gone for good.
    Remove,
}

/// What was found out.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Files to read, in order, each once.
    pub(super) files: Vec<PathBuf>,
    /// What was given and is there.
    pub(super) roots: Vec<Root>,
    /// What was given and is gone for good.
    pub(super) forgotten: Vec<PathBuf>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) absent: Absent,
    pub(super) kept: Vec<Kept>,
}

/// Looks at `paths`.
pub(super) fn scan(db: &DomainDb, paths: &[PathBuf], missing: Missing) -> Result<Scan, IndexError> {
    let known = db.roots()?;
    let mut survey = Scan::default();
    let mut out = Unreachable::default();
    let mut stored = Vec::new();
    db.each_file(&mut |file| stored.push(file))?;
    for path in paths {
        let resolved = resolved(path);
        match fs::metadata(&resolved) {
            Ok(there) => {
                let kind = if there.is_dir() { RootKind::Folder } else { RootKind::File };
                survey.roots.push(Root { path: resolved, kind });
            }
            Err(source) => {
                let was_given = known.iter().any(|root| root.path == resolved);
                if !was_given && !stored.iter().any(|file| file.path.starts_with(&resolved)) {
                    return Err(IndexError::Documents(DocumentError::Read { path: path.clone(), source }));
                }
                out.roots.push((resolved, reason_of(&source)));
            }
        }
    }
    let given: Vec<PathBuf> = survey.roots.iter().map(|root| root.path.clone()).collect();
    let found = ragonite_document::discover(&given).map_err(IndexError::Documents)?;
    survey.files = found.documents;
    survey.skipped = found.skipped.into_iter().map(|s| Skipped { path: s.path, reason: s.reason }).collect();
    out.unlisted = survey.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    out.look_at_folders(&survey, &known);
    let on_disk: HashSet<&Path> = survey.files.iter().map(PathBuf::as_path).collect();
    stored.retain(|file| !on_disk.contains(file.path.as_path()));
    survey.sort_absent(stored, &out, missing);
    Ok(survey)
}

/// Whether there is surely no file at a path.
pub(super) fn is_gone(path: &Path) -> bool {
    let absent = |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(absent)
}

/// A path as it is stored: the same file has the same path, from whichever folder and through whichever link it was
/// named. What does not exist is resolved as far as it does.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for there in absolute.ancestors() {
        if let Ok(real) = there.canonicalize() {
            let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    absolute
}

fn reason_of(error: &io::Error) -> KeptReason {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => KeptReason::Missing,
        _ => KeptReason::Unreadable,
    }
}

/// Folders whose listing says nothing about the files that were in them.
#[derive(Default)]
struct Unreachable {
    roots: Vec<(PathBuf, KeptReason)>,
    /// What could not be listed or read below a folder that was.
    unlisted: Vec<PathBuf>,
}

impl Unreachable {
    /// Looks at the folders that were given now or earlier: one that holds no document may be a disk that is not there.
    fn look_at_folders(&mut self, survey: &Scan, known: &[Root]) {
        let is_folder = |root: &&Root| root.kind == RootKind::Folder;
        let given = || survey.roots.iter().filter(is_folder);
        let earlier = known.iter().filter(is_folder);
        let earlier = earlier.filter(|root| given().any(|outer| root.path.starts_with(&outer.path)));
        for root in given().chain(earlier) {
            let reason = match fs::metadata(&root.path) {
                Err(error) => Some(reason_of(&error)),
                Ok(there) if !there.is_dir() => None,
                Ok(_) if self.unlisted.contains(&root.path) => Some(KeptReason::Unreadable),
                Ok(_) if !survey.files.iter().any(|file| file.starts_with(&root.path)) => Some(KeptReason::Empty),
                Ok(_) => None,
            };
            if let Some(reason) = reason
                && !self.roots.iter().any(|(path, _)| *path == root.path)
            {
                self.roots.push((root.path.clone(), reason));
            }
        }
    }

    /// The innermost folder around a file that says nothing about it.
    fn around(&self, file: &Path) -> Option<(PathBuf, KeptReason)> {
        let around = self.roots.iter().filter(|(root, _)| file.starts_with(root));
        let around = around.max_by_key(|(root, _)| root.as_os_str().len()).cloned();
        around.or_else(|| bare_folder(file).map(|folder| (folder, KeptReason::Empty)))
    }
}

/// The innermost folder around a file that is still there, where there is nothing at all in it.
fn bare_folder(file: &Path) -> Option<PathBuf> {
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir())?;
    fs::read_dir(folder).ok()?.next().is_none().then(|| folder.to_path_buf())
}

impl Scan {
    /// Sorts the stored files that were not found into those that are gone and those that may come back.
    fn sort_absent(&mut self, stored: Vec<StoredFile>, out: &Unreachable, missing: Missing) {
        for file in stored {
            let listed =
                self.roots.iter().any(|root| root.kind == RootKind::Folder && file.path.starts_with(&root.path));
            let around = out.around(&file.path);
            if !listed && around.is_none()
                || !is_gone(&file.path)
                || out.unlisted.iter().any(|unlisted| file.path.starts_with(unlisted))
            {
                // Not asked about, still there under a name that is not read, or behind a folder that cannot be listed.
                continue;
            }
            match around {
                Some((root, reason)) if missing == Missing::Keep => {
                    match self.kept.iter_mut().find(|kept| kept.path == root) {
                        Some(kept) => kept.documents += file.documents,
                        None => {
                            self.kept.push(Kept { path: root, documents: file.documents, reason });
                        }
                    }
                    self.absent.out_of_reach.push(file);
                }
                _ => self.absent.gone.push(file),
            }
        }
        if missing == Missing::Remove {
            let missing = out.roots.iter().filter(|(_, reason)| *reason == KeptReason::Missing);
            self.forgotten = missing.map(|(root, _)| root.clone()).collect();
        }
    }
}
