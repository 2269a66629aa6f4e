//! Deletes a domain.
//!
//! Invariants: only what a domain consists of is deleted, by name, and never through a link; a folder that holds
//! anything else is left as it is; a kill leaves the domain or a folder that is none, which the next ingest
//! of that name takes over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IndexError;
use super::domain::FILE;
use super::error::file_error;
use super::repair::{LOCK_FILE, WriteLock};
use super::{dense, lexical, list};

/// What a domain is asked with where that is not as configured; `config` reads and writes it.
pub const SETTINGS_FILE: &str = "settings.toml";

/// End of the name it has while it is written.
pub const SETTINGS_TEMPORARY: &str = ".new";

/// Deletes the domain in `folder` for good, a damaged one as well.
///
/// # Errors
/// [`IndexError::NotFound`] where no domain is; [`IndexError::Foreign`] where the folder holds what is no part of one;
/// [`IndexError::Busy`] while another process writes to it; when a file cannot be deleted.
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

/// Removes the folder of what a kill left of a domain; nothing where there is none.
pub(super) fn remove_rest(folder: &Path) -> Result<(), IndexError> {
    if !folder.is_dir() {
        return Ok(());
    }
    let _lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
    remove_parts(folder, parts(folder)?)
}

/// Looks whether there is a domain in `folder`; a damaged one is one.
///
/// # Errors
/// [`IndexError::NotFound`] where none is.
pub fn find_domain(folder: &Path) -> Result<(), IndexError> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|there| there.is_dir());
    if is_folder && folder.join(FILE).is_file() {
        return Ok(());
    }
    Err(IndexError::NotFound { path: folder.to_path_buf(), like: list::name_like(folder) })
}

/// What is in the folder, all of it ours; the lock comes last.
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
    // The lock may be made only now, and goes last, so that nobody makes a domain here meanwhile.
    parts.retain(|path| !path.ends_with(LOCK_FILE));
    parts.push(folder.join(LOCK_FILE));
    Ok(parts)
}
