//! Weight files on this machine, and their verification against the catalog.
//!
//! Takes the model folders in order; gives the path of the first verified file. To avoid hashing gigabytes at every
//! start, a stamp (size, modification time, sha256) is stored beside the file, or in the cache folder if the model
//! folder is read-only. A stamp guards against damage, not against an attacker who can write to the model folder.
//! Invariant: only stamps are written; a stamp that cannot be written is no error.
//! Not here: downloading weights (crate `download`).

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::InferenceError;
use super::catalog::{CatalogFile, CatalogModel};
use ragonite_base::CancelToken;
pub(super) use ragonite_base::hex;

/// Bytes hashed between two checks for cancellation.
const HASH_BLOCK: usize = 1 << 20;

/// The folders to search for models, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFolders {
    folders: Vec<PathBuf>,
    stamp_cache: Option<PathBuf>,
}

/// Whether a check trusts stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checking {
    /// A file with the size and modification time of its stamp counts as verified.
    TrustStamps,
    /// Every file is hashed.
    HashAgain,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Exactly the bytes of the catalog.
    Verified {
        /// Its path.
        path: PathBuf,
    },
    /// There, but not the bytes of the catalog.
    Damaged {
        /// Its path.
        path: PathBuf,
        /// The catalog's size or hash, in words.
        expected: String,
        /// The file's size or hash, in words.
        found: String,
    },
    /// In none of the folders.
    Missing,
}

/// The state of one file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Name in the catalog.
    pub file: String,
    /// Its state.
    pub state: FileState,
}

impl ModelFolders {
    /// Searches these folders in order, for `<folder>/<model id>/<file name>`.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, stamp_cache: None }
    }

    /// Stores stamps in `folder` if they cannot be stored beside the weights.
    #[must_use]
    pub fn with_stamp_cache(mut self, folder: PathBuf) -> Self {
        self.stamp_cache = Some(folder);
        self
    }

    /// The folders in order.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether every file of `model` exists with the right size. Reads no contents, so it is cheap.
    pub fn has(&self, model: &CatalogModel) -> bool {
        model.files.iter().all(|file| self.seen(model, file).is_some())
    }

    /// The first copy of the right size, contents unchecked.
    pub fn seen(&self, model: &CatalogModel, file: &CatalogFile) -> Option<PathBuf> {
        self.candidates(model, file).find(|path| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && file.bytes.is_none_or(|bytes| bytes == found.len()))
        })
    }

    /// The first verified copy of a file.
    ///
    /// # Errors
    /// [`InferenceError::MissingFile`]; if there is no good copy, [`InferenceError::DamagedFile`] or
    /// [`InferenceError::Read`] for the first bad one; or [`InferenceError::Canceled`].
    pub fn find(
        &self,
        model: &CatalogModel,
        file: &CatalogFile,
        cancel: &CancelToken,
    ) -> Result<PathBuf, InferenceError> {
        match self.state(model, file, Checking::TrustStamps, cancel)? {
            FileState::Verified { path } => Ok(path),
            FileState::Damaged { path, expected, found } => Err(InferenceError::DamagedFile { path, expected, found }),
            FileState::Missing => Err(InferenceError::MissingFile {
                model: model.id.clone(),
                file: file.name.clone(),
                looked_in: self.folders.clone(),
            }),
        }
    }

    /// The state of every file of `model`, in the order of the catalog.
    ///
    /// # Errors
    /// [`InferenceError::Read`] if a file exists but cannot be read, or [`InferenceError::Canceled`].
    pub fn verify(
        &self,
        model: &CatalogModel,
        checking: Checking,
        cancel: &CancelToken,
    ) -> Result<Vec<FileReport>, InferenceError> {
        model
            .files
            .iter()
            .map(|file| Ok(FileReport { file: file.name.clone(), state: self.state(model, file, checking, cancel)? }))
            .collect()
    }

    fn candidates(&self, model: &CatalogModel, file: &CatalogFile) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().map(|folder| folder.join(&model.id).join(&file.name))
    }

    fn state(
        &self,
        model: &CatalogModel,
        file: &CatalogFile,
        checking: Checking,
        cancel: &CancelToken,
    ) -> Result<FileState, InferenceError> {
        let mut second_best: Option<Result<FileState, InferenceError>> = None;
        for path in self.candidates(model, file) {
            let checked = match FileFacts::read(&path) {
                Ok(Some(facts)) => self.check(&path, facts, file, checking, cancel),
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            match checked {
                Ok(FileState::Verified { .. }) | Err(InferenceError::Canceled(_)) => return checked,
                _ => second_best = second_best.or(Some(checked)),
            }
        }
        second_best.unwrap_or(Ok(FileState::Missing))
    }

    fn check(
        &self,
        path: &Path,
        facts: FileFacts,
        file: &CatalogFile,
        checking: Checking,
        cancel: &CancelToken,
    ) -> Result<FileState, InferenceError> {
        if let Some(expected) = file.bytes.filter(|bytes| *bytes != facts.bytes) {
            return Ok(FileState::Damaged {
                path: path.to_owned(),
                expected: format!("{expected} bytes"),
                found: format!("{} bytes", facts.bytes),
            });
        }
        let stamped = match checking {
            Checking::TrustStamps => self.read_stamp(path, facts),
            Checking::HashAgain => None,
        };
        let sha256 = if let Some(sha256) = stamped {
            sha256
        } else {
            let sha256 = hash(path, cancel)?;
            self.write_stamp(path, facts, &sha256);
            sha256
        };
        if sha256 == file.sha256 {
            return Ok(FileState::Verified { path: path.to_owned() });
        }
        Ok(FileState::Damaged {
            path: path.to_owned(),
            expected: format!("sha256 {}", file.sha256),
            found: format!("sha256 {sha256}"),
        })
    }

    /// Stamps beside the weights come first, so that a copied model folder brings them along.
    fn stamp_paths(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let beside = path.with_file_name(format!(".{name}.verified"));
        let cached = self.stamp_cache.as_ref().map(|folder| {
            let key = hex(&Sha256::digest(path.to_string_lossy().as_bytes()));
            folder.join(format!("{}.verified", &key[..16]))
        });
        [Some(beside), cached].into_iter().flatten()
    }

    fn read_stamp(&self, path: &Path, facts: FileFacts) -> Option<String> {
        self.stamp_paths(path)
            .filter_map(|stamp| fs::read(stamp).ok())
            .filter_map(|bytes| serde_json::from_slice::<Stamp>(&bytes).ok())
            .find(|stamp| stamp.file == facts)
            .map(|stamp| stamp.sha256)
    }

    fn write_stamp(&self, path: &Path, facts: FileFacts, sha256: &str) {
        let stamp = Stamp { file: facts, sha256: sha256.to_owned() };
        let Ok(text) = serde_json::to_vec(&stamp) else { return };
        for place in self.stamp_paths(path) {
            if let Some(folder) = place.parent().filter(|folder| self.stamp_cache.as_deref() == Some(*folder)) {
                // If the folder cannot be created, the write below fails.
                fs::create_dir_all(folder).ok();
            }
            if fs::write(&place, &text).is_ok() {
                return;
            }
        }
        tracing::debug!(path = %path.display(), "no place for the stamp; the file is hashed again at the next start");
    }
}

/// Tells a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FileFacts {
    bytes: u64,
    /// Nanoseconds since 1970; 0 where the file system has no modification time.
    modified: u64,
}

impl FileFacts {
    /// `None` if there is no such file.
    fn read(path: &Path) -> Result<Option<Self>, InferenceError> {
        let found = match fs::metadata(path) {
            Ok(found) if found.is_file() => found,
            Ok(_) => return Ok(None),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(source) => return Err(InferenceError::Read { path: path.to_owned(), source }),
        };
        let modified = found
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .and_then(|since| u64::try_from(since.as_nanos()).ok())
            .unwrap_or_default();
        Ok(Some(Self { bytes: found.len(), modified }))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Stamp {
    file: FileFacts,
    sha256: String,
}

fn hash(path: &Path, cancel: &CancelToken) -> Result<String, InferenceError> {
    let failed = |source| InferenceError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut block = vec![0; HASH_BLOCK];
    let mut hasher = Sha256::new();
    loop {
        cancel.check()?;
        let read = file.read(&mut block).map_err(failed)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&block[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::ModelRole;

    fn model(content: &[u8]) -> CatalogModel {
        CatalogModel {
            id: "m".into(),
            role: ModelRole::Generator,
            licence: "CC0".into(),
            encoder: None,
            files: vec![CatalogFile {
                name: "w.gguf".into(),
                bytes: Some(content.len() as u64),
                sha256: hex(&Sha256::digest(content)),
                sources: Vec::new(),
            }],
        }
    }

    fn put(folder: &Path, content: &[u8]) -> PathBuf {
        let path = folder.join("m").join("w.gguf");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn find(folders: &ModelFolders, model: &CatalogModel) -> Result<PathBuf, InferenceError> {
        folders.find(model, &model.files[0], &CancelToken::never())
    }

    #[test]
    fn the_first_verified_copy_wins() {
        let (a, b, c) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(a.path(), b"trunc");
        let good = put(b.path(), b"weights");
        put(c.path(), b"weights");
        let folders = ModelFolders::new([&a, &b, &c].map(|folder| folder.path().to_owned()).to_vec());
        let model = model(b"weights");
        assert_eq!(find(&folders, &model).unwrap(), good);
        assert!(folders.has(&model));
    }

    #[test]
    fn a_truncated_file_is_named_with_both_sizes() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), b"weig");
        let folders = ModelFolders::new(vec![folder.path().to_owned()]);
        let message = find(&folders, &model(b"weights")).unwrap_err().to_string();
        assert!(message.contains("4 bytes") && message.contains("7 bytes"), "{message}");
        assert!(!folders.has(&model(b"weights")));
    }

    #[test]
    fn a_missing_file_lists_the_folders() {
        let folders = ModelFolders::new(vec!["/nowhere/a".into(), "/nowhere/b".into()]);
        let message = find(&folders, &model(b"weights")).unwrap_err().to_string();
        assert!(message.contains("`/nowhere/a`, `/nowhere/b`"), "{message}");
        let report = folders.verify(&model(b"x"), Checking::HashAgain, &CancelToken::never()).unwrap();
        assert_eq!(report, [FileReport { file: "w.gguf".into(), state: FileState::Missing }]);
    }

    #[test]
    fn a_stamp_spares_the_hashing_until_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = put(folder.path(), b"weights");
        let folders = ModelFolders::new(vec![folder.path().to_owned()]);
        let model = model(b"weights");
        find(&folders, &model).unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();

        // Same size and time, other bytes: only hashing again can tell.
        fs::write(&path, b"wEights").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert!(find(&folders, &model).is_ok());
        let again = folders.verify(&model, Checking::HashAgain, &CancelToken::never()).unwrap();
        assert!(matches!(again[0].state, FileState::Damaged { .. }));

        let later = before + std::time::Duration::from_secs(1);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(matches!(find(&folders, &model), Err(InferenceError::DamagedFile { .. })));
    }

    #[test]
    fn a_folder_that_takes_no_stamp_still_works() {
        let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = put(folder.path(), b"weights");
        // A folder in the stamp's place refuses the write also for root, whom permissions do not stop.
        fs::create_dir(path.with_file_name(".w.gguf.verified")).unwrap();
        let model = model(b"weights");
        let without = ModelFolders::new(vec![folder.path().to_owned()]);
        assert_eq!(find(&without, &model).unwrap(), path);
        let cached = without.clone().with_stamp_cache(cache.path().join("stamps"));
        assert_eq!(find(&cached, &model).unwrap(), path);
        assert_eq!(fs::read_dir(cache.path().join("stamps")).unwrap().count(), 1);
        assert!(cached.read_stamp(&path, FileFacts::read(&path).unwrap().unwrap()).is_some());
    }

    #[test]
    fn hashing_stops_when_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), b"weights");
        let folders = ModelFolders::new(vec![folder.path().to_owned()]);
        let source = ragonite_base::CancelSource::default();
        source.cancel();
        let model = model(b"weights");
        let result = folders.find(&model, &model.files[0], &source.token());
        assert!(matches!(result, Err(InferenceError::Canceled(_))));
    }
}
