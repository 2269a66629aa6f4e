//! Deletes a domain.
//!
//! Takes the folder of a domain.
//! Invariants: only known files of a domain are deleted, by name, and never through a link; a folder with anything else
//! is not touched; a kill leaves the domain, or a folder that is not one and that the next ingest of that name takes
//! over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IndexError;
use super::domain::FILE;
use super::error::file_error;
use super::repair::{LOCK_FILE, WriteLock};
use super::{dense, lexical, list};

/// File name of a domain's own settings; `config` reads and writes it.
pub const SETTINGS_FILE: &str = "settings.toml";

/// Suffix of its name while it is written.
pub const SETTINGS_TEMPORARY: &str = ".new";

/// Deletes the domain in `folder`, even a damaged one.
///
/// # Errors
/// [`IndexError::NotFound`] without a domain; [`IndexError::Foreign`] if the folder holds foreign files;
/// [`IndexError::Busy`] while another process writes; if a file cannot be deleted.
pub fn remove_domain(folder: &Path) -> Result<(), IndexError> {
    find_domain(folder)?;
    let parts = parts(folder)?;
    let _lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
    remove_parts(folder, parts)
}

fn remove_parts(folder: &Path, parts: Vec<PathBuf>) -> Result<(), IndexError> {
    for path in parts {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir());
        let deleted = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match deleted {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file_error("deleting", &path, error)),
            _ => {}
        }
    }
    fs::remove_dir(folder).map_err(|source| file_error("deleting", folder, source))
}

/// Removes the leftovers of a killed deletion, if any.
pub(super) fn remove_rest(folder: &Path) -> Result<(), IndexError> {
    if !folder.is_dir() {
        return Ok(());
    }
    let _lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
    remove_parts(folder, parts(folder)?)
}

/// Checks that there is a domain in `folder`, even a damaged one.
///
/// # Errors
/// [`IndexError::NotFound`] if there is none.
pub fn find_domain(folder: &Path) -> Result<(), IndexError> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|there| there.is_dir());
    if is_folder && folder.join(FILE).is_file() {
        return Ok(());
    }
    Err(IndexError::NotFound { path: folder.to_path_buf(), like: list::name_like(folder) })
}

/// The entries of the folder, all known; the lock comes last.
fn parts(folder: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let failed = |source| file_error("reading the folder", folder, source);
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_database = name.strip_prefix(FILE).is_some_and(|rest| ["", "-wal", "-shm", "-journal"].contains(&rest));
        let is_ours = is_database
            || [dense::FILE, lexical::FOLDER, LOCK_FILE].contains(&name.as_str())
            || name.strip_prefix(SETTINGS_FILE).is_some_and(|rest| ["", SETTINGS_TEMPORARY].contains(&rest))
            || name.starts_with(dense::TEMPORARY);
        if !is_ours {
            return Err(IndexError::Foreign { path: folder.to_path_buf(), found: ragonite_base::clean_line(&name) });
        }
        parts.push(entry.path());
    }
    // The lock file may not exist yet, and goes last, so that nobody creates a domain here meanwhile.
    parts.retain(|path| !path.ends_with(LOCK_FILE));
    parts.push(folder.join(LOCK_FILE));
    Ok(parts)
}
