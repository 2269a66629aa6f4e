//! The checksum manifest of `lexical/`: the files of the last commit, with their hashes.
//!
//! Takes the folder, writes or verifies `seal.json`.
//! Invariant: it is written after the commit, so that a kill in between makes the folder look damaged, never intact.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::domain::hex;
use ragonite_base::{CancelToken, Canceled};

/// File name of the checksum manifest.
const FILE: &str = "seal.json";

/// Writes the hashes of all files except hidden ones, which are tantivy's locks and metadata.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let mut hashes = BTreeMap::new();
    for name in names(folder)? {
        let hash = hash_file(&folder.join(&name), &CancelToken::never())?;
        hashes.insert(name, hash);
    }
    let temporary = tempfile::Builder::new().prefix(".seal-").tempfile_in(folder)?;
    serde_json::to_writer(temporary.as_file(), &hashes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(folder.join(FILE)).map_err(|error| error.error)?;
    Ok(())
}

/// Whether files without a checksum are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Accepted: another process may be about to commit.
    Allowed,
    /// Refused: leftovers of a kill would block the next commit.
    Refused,
}

/// Whether every listed file is present and unchanged.
///
/// A check interrupted by `cancel` is an error, not damage.
pub(super) fn matches(folder: &Path, others: Others, cancel: &CancelToken) -> Result<bool, Canceled> {
    let intact = has_same_checksums(folder, others, cancel);
    if intact { Ok(true) } else { cancel.check().map(|()| false) }
}

fn has_same_checksums(folder: &Path, others: Others, cancel: &CancelToken) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(FILE)) else { return false };
    let Ok(hashes) = serde_json::from_str::<BTreeMap<String, String>>(&text) else { return false };
    let alone =
        || names(folder).is_ok_and(|names| names.len() == hashes.len() && names.iter().all(|n| hashes.contains_key(n)));
    !hashes.is_empty()
        && (others == Others::Allowed || alone())
        && hashes.iter().all(|(name, hash)| hash_file(&folder.join(name), cancel).is_ok_and(|found| found == *hash))
}

/// Names of the files to list.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != FILE && !name.starts_with('.') && entry.file_type()?.is_file() {
            names.push(name);
        }
    }
    Ok(names)
}

/// SHA-256 of a file in lower-case hex; an error once cancelled.
pub(super) fn hash_file(path: &Path, cancel: &CancelToken) -> io::Result<String> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    hash_of(cancel.watch(file), length)
}

/// SHA-256 of the next `length` bytes in lower-case hex.
pub(super) fn hash_of(source: impl io::Read, length: u64) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut rest = source.take(length);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = rest.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..read]);
    }
}
