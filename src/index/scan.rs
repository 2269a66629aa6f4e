//! Compares files on disk with the database: files to read, files that are gone, files that may be unreachable.
//!
//! Takes paths, gives a [`Scan`].
//! Invariants: a file counts as gone only if its folder was listed and neither the listing nor the file system has it.
//! A given folder that is missing, cannot be listed or holds no document says nothing about its files, for a disk may
//! be unplugged; nor does an empty folder below it, which may be an unused mount point. Files outside the given folders
//! are not considered.
//! Not here: reading files (`reader`), removing documents (`ingest`).

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

/// Treatment of documents whose whole folder is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// Keep them and report it.
    #[default]
    Keep,
    /// Remove them: the user said that the folder is gone for good.
    Remove,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Files to read, in order, without repeats.
    pub(super) files: Vec<PathBuf>,
    /// Given paths that exist.
    pub(super) roots: Vec<Root>,
    /// Given paths that are gone for good.
    pub(super) forgotten: Vec<PathBuf>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) absent: Absent,
    pub(super) kept: Vec<Kept>,
}

/// Scans `paths`.
pub(super) fn scan(db: &DomainDb, paths: &[PathBuf], missing: Missing) -> Result<Scan, IndexError> {
    let known = db.roots()?;
    let mut scan = Scan::default();
    let mut out = Unreachable::default();
    let mut stored = Vec::new();
    db.each_file(&mut |file| stored.push(file))?;
    for path in paths {
        let resolved = resolved(path);
        match fs::metadata(&resolved) {
            Ok(there) => {
                let kind = if there.is_dir() { RootKind::Folder } else { RootKind::File };
                scan.roots.push(Root { path: resolved, kind });
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
    let given: Vec<PathBuf> = scan.roots.iter().map(|root| root.path.clone()).collect();
    let found = ragonite_document::discover(&given).map_err(IndexError::Documents)?;
    scan.files = found.documents;
    scan.skipped = found.skipped.into_iter().map(|s| Skipped { path: s.path, reason: s.reason }).collect();
    out.unlisted = scan.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    out.look_at_folders(&scan, &known);
    let on_disk: HashSet<&Path> = scan.files.iter().map(PathBuf::as_path).collect();
    stored.retain(|file| !on_disk.contains(file.path.as_path()));
    scan.sort_absent(stored, &out, missing);
    Ok(scan)
}

/// Whether a path surely does not exist.
pub(super) fn is_gone(path: &Path) -> bool {
    let absent = |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(absent)
}

/// The canonical path: the same for every folder and link through which a file is named. A missing path is resolved as
/// far as it exists.
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

/// Folders whose listing says nothing about their files.
#[derive(Default)]
struct Unreachable {
    roots: Vec<(PathBuf, KeptReason)>,
    /// Entries below a listed folder that could not be listed or read.
    unlisted: Vec<PathBuf>,
}

impl Unreachable {
    /// Checks the folders given now or earlier: one without documents may be an unplugged disk.
    fn look_at_folders(&mut self, scan: &Scan, known: &[Root]) {
        let is_folder = |root: &&Root| root.kind == RootKind::Folder;
        let given = || scan.roots.iter().filter(is_folder);
        let earlier = known.iter().filter(is_folder);
        let earlier = earlier.filter(|root| given().any(|outer| root.path.starts_with(&outer.path)));
        for root in given().chain(earlier) {
            let reason = match fs::metadata(&root.path) {
                Err(error) => Some(reason_of(&error)),
                Ok(there) if !there.is_dir() => None,
                Ok(_) if self.unlisted.contains(&root.path) => Some(KeptReason::Unreadable),
                Ok(_) if !scan.files.iter().any(|file| file.starts_with(&root.path)) => Some(KeptReason::Empty),
                Ok(_) => None,
            };
            if let Some(reason) = reason
                && !self.roots.iter().any(|(path, _)| *path == root.path)
            {
                self.roots.push((root.path.clone(), reason));
            }
        }
    }

    /// The innermost unreachable folder around a file.
    fn around(&self, file: &Path) -> Option<(PathBuf, KeptReason)> {
        let around = self.roots.iter().filter(|(root, _)| file.starts_with(root));
        let around = around.max_by_key(|(root, _)| root.as_os_str().len()).cloned();
        around.or_else(|| bare_folder(file).map(|folder| (folder, KeptReason::Empty)))
    }
}

/// The innermost existing folder around a file, if it is empty.
fn bare_folder(file: &Path) -> Option<PathBuf> {
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir())?;
    fs::read_dir(folder).ok()?.next().is_none().then(|| folder.to_path_buf())
}

impl Scan {
    /// Sorts stored files that were not found into gone and perhaps unreachable ones.
    fn sort_absent(&mut self, stored: Vec<StoredFile>, out: &Unreachable, missing: Missing) {
        for file in stored {
            let listed =
                self.roots.iter().any(|root| root.kind == RootKind::Folder && file.path.starts_with(&root.path));
            let around = out.around(&file.path);
            if !listed && around.is_none()
                || !is_gone(&file.path)
                || out.unlisted.iter().any(|unlisted| file.path.starts_with(unlisted))
            {
                // Outside the given paths, still there but not read, or behind a folder that cannot be listed.
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
