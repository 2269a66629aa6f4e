//! Imports weights from files and folders of the user.
//!
//! Takes files and folders; copies files of the catalog, identified by sha256, into the models folder.
//! Invariant: only complete files get the name of weights.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use super::copying::{Doing, OnBundleProgress, Steps};
use super::error::{BundleError, file_error};
use ragonite_base::CancelToken;
use ragonite_inference::{Catalog, CatalogFile, CatalogModel, ModelFolders};

/// Largest file of unknown size in the catalog, in bytes.
const LARGEST_UNKNOWN: u64 = 64 << 20;

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Imported weights, as `model/file`.
    pub weights: Vec<String>,
    /// Weights that were present already, as `model/file`.
    pub weights_here: Vec<String>,
    /// Files outside the catalog.
    pub unknown: Vec<PathBuf>,
    /// Unreadable files in folders.
    pub unreadable: Vec<PathBuf>,
}

/// Imports weights from files and folders.
///
/// # Errors
/// When a path cannot be read or a file not be written.
pub fn import_weights(
    paths: &[PathBuf],
    catalog: &Catalog,
    folders: &ModelFolders,
    models: &Path,
    cancel: &CancelToken,
    on_progress: &mut OnBundleProgress<'_>,
) -> Result<Imported, BundleError> {
    let mut imported = Imported::default();
    let mut steps = Steps { doing: Doing::Checking, done: 0, total: 0, cancel, on_progress };
    for path in files(paths, &mut imported, cancel)? {
        let bytes = fs::metadata(&path).map_err(file_error("reading", &path))?.len();
        let of_size = || all_files(catalog).filter(|(_, file)| may_be(file, bytes));
        if of_size().next().is_none() {
            imported.unknown.push(path);
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        steps.begin(Doing::Checking, bytes);
        let sha256 = steps.hash(&name, &path)?.sha256;
        // Two models may have the same tokenizer.
        let known: Vec<_> = of_size().filter(|(_, file)| file.sha256 == sha256).collect();
        if known.is_empty() {
            imported.unknown.push(path);
            continue;
        }
        for (model, file) in known {
            let weights = format!("{}/{}", model.id, file.name);
            if folders.find(model, file, cancel).is_ok() {
                imported.weights_here.push(weights);
                continue;
            }
            cancel.check()?;
            steps.begin(Doing::Copying, bytes);
            copy(&path, model, file, models, &mut steps)?;
            imported.weights.push(weights);
        }
    }
    Ok(imported)
}

/// All files in `paths`; follows links, because hub caches keep files behind links.
fn files(paths: &[PathBuf], imported: &mut Imported, cancel: &CancelToken) -> Result<Vec<PathBuf>, BundleError> {
    let mut files = Vec::new();
    for path in paths {
        for entry in walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name() {
            cancel.check()?;
            match entry {
                Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
                Ok(_) => {}
                // A named path must be readable; in folders, unreadable files are skipped.
                Err(error) if error.depth() == 0 => return Err(file_error("reading", path)(error.into())),
                Err(error) => imported.unreadable.extend(error.path().map(Path::to_owned)),
            }
        }
    }
    Ok(files)
}

/// Whether the size matches. Only configurations and tokenizers have an unknown size.
fn may_be(file: &CatalogFile, bytes: u64) -> bool {
    file.bytes.map_or(bytes <= LARGEST_UNKNOWN, |known| known == bytes)
}

fn all_files(catalog: &Catalog) -> impl Iterator<Item = (&CatalogModel, &CatalogFile)> {
    catalog.models.iter().flat_map(|model| model.files.iter().map(move |file| (model, file)))
}

fn copy(
    path: &Path,
    model: &CatalogModel,
    file: &CatalogFile,
    models: &Path,
    steps: &mut Steps<'_, '_>,
) -> Result<(), BundleError> {
    let folder = models.join(&model.id);
    let (reading, writing) = (file_error("reading", path), file_error("writing", &folder));
    fs::create_dir_all(&folder).map_err(&writing)?;
    let mut new = tempfile::Builder::new().prefix(".import-").tempfile_in(&folder).map_err(&writing)?;
    let mut from = File::open(path).map_err(&reading)?;
    let hashed = steps.copy(&file.name, &mut from, &reading, new.as_file_mut(), &writing)?;
    if hashed.sha256 != file.sha256 {
        return Err(reading(std::io::Error::other("it changed while it was read")));
    }
    place(new, &folder.join(&file.name))
}

/// Renames a complete file; replaces a damaged one.
pub(super) fn place(new: NamedTempFile, path: &Path) -> Result<(), BundleError> {
    let writing = file_error("writing", path);
    new.as_file().sync_all().map_err(&writing)?;
    readable(new.path()).map_err(&writing)?;
    new.persist(path).map_err(|error| writing(error.error))?;
    Ok(())
}

/// Weights are no secret; other users of the machine may share the folder.
#[cfg(unix)]
pub(super) fn readable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(super) fn readable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
