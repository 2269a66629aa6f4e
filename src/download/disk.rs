//! Files while they grow: appending, hashing, moving into place.
//!
//! Takes paths and bytes. Invariant: after [`persist`] returns, the file is under its name and on the disk, even after
//! a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::DownloadError;
use ragonite_base::CancelToken;

/// Bytes left free beside the file, for state files and other programs.
const SPARE: u64 = 16 << 20;

pub(super) fn create_folder(path: &Path) -> Result<(), DownloadError> {
    fs::create_dir_all(path).map_err(failed("creating the folder", path))
}

/// `path` with `.ending` behind its whole name.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

pub(super) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Opens `path` for appending after its first `keep` bytes, cutting off the rest.
pub(super) fn open_after(path: &Path, keep: u64) -> Result<File, DownloadError> {
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(failed("opening for writing", path))?;
    file.set_len(keep).map_err(failed("cutting", path))?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(keep)).map_err(failed("writing", path))?;
    Ok(file)
}

/// Turns a failed write into an error that names the remedy.
pub(super) fn write_failed(path: &Path, source: io::Error) -> DownloadError {
    if source.kind() == io::ErrorKind::StorageFull || source.kind() == io::ErrorKind::QuotaExceeded {
        return DownloadError::DiskFull { path: path.to_owned(), needed: SPARE, free: free(path).unwrap_or(0) };
    }
    DownloadError::File { doing: "writing", path: path.to_owned(), source }
}

/// Fails early if `needed` bytes cannot fit beside `path`.
pub(super) fn check_room(path: &Path, needed: u64) -> Result<(), DownloadError> {
    match free(path) {
        Some(free) if free < needed.saturating_add(SPARE) => {
            Err(DownloadError::DiskFull { path: path.to_owned(), needed, free })
        }
        _ => Ok(()),
    }
}

fn free(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path.parent()?).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

pub(super) fn sha256_of(path: &Path, cancel: &CancelToken) -> Result<String, DownloadError> {
    let mut file = File::open(path).map_err(failed("reading", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        cancel.check()?;
        let read = file.read(&mut buffer).map_err(failed("reading", path))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(ragonite_base::hex(&hasher.finalize()))
}

/// Writes a small file atomically.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DownloadError> {
    let draft = beside(path, "new");
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().map_err(|source| write_failed(path, source))
}

/// Moves a finished file into place.
pub(super) fn persist(part: &Path, target: &Path) -> Result<(), DownloadError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(part).map_err(|source| write_failed(part, source))?;
    fs::rename(part, target).map_err(failed("moving into place", target))?;
    if let Some(folder) = target.parent() {
        sync(folder).map_err(failed("writing", folder))?;
    }
    Ok(())
}

/// Removes a file, which may be missing.
pub(super) fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "a file of a download could not be removed");
    }
}

pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DownloadError {
    move |source| DownloadError::File { doing, path: path.to_owned(), source }
}
