//! The file of the history and its permissions.
//!
//! Invariant: the file has mode 0600 before it has content. SQLite gives `-wal` and `-shm` the mode of the file.
//! Not here: the contents (`schema`).

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::HistoryError;

/// Read and written by the owner only.
const FILE_MODE: u32 = 0o600;
/// Entered by the owner only.
const FOLDER_MODE: u32 = 0o700;
/// Mode bits of everyone but the owner.
const OTHERS: u32 = 0o077;

/// Creates the file and its folder if missing, and removes the permissions of others from an existing file.
pub(super) fn prepare(path: &Path) -> Result<(), HistoryError> {
    let create = |path: &Path, source| HistoryError::Create { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder).map_err(|error| create(folder, error))?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")].iter().try_for_each(|path| protect(path))
        }
        Err(error) => Err(create(path, error)),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn protect(path: &Path) -> Result<(), HistoryError> {
    let protect = |source| HistoryError::Protect { path: path.to_owned(), source };
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.permissions().mode(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(protect(error)),
    };
    if mode & OTHERS == 0 {
        Ok(())
    } else {
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE)).map_err(protect)
    }
}
