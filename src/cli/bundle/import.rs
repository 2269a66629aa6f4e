//! Weights that somebody has in some folder.
//!
//! Takes files and folders, puts those of the catalog into their place by their sha256, whatever their names are.
//! Invariant: only whole files get the name of weights.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use super::copying::{Doing, OnBundleProgress, Steps};
use super::error::{BundleError, file_error};
use ragonite_base::CancelToken;
use ragonite_inference::{Catalog, CatalogFile, CatalogModel, ModelFolders};

/// Bytes of the largest file whose size the catalog does not know.
const LARGEST_UNKNOWN: u64 = 64 << 20;

/// What became of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Files of weights that are new, as `model/file`.
    pub weights: Vec<String>,
    /// Those that were here already.
    pub weights_here: Vec<String>,
    /// Files that are none of the catalog.
    pub unknown: Vec<PathBuf>,
    /// What could not be read in a folder.
    pub unreadable: Vec<PathBuf>,
}

/// Takes in the weights among `paths` and in the folders among them.
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

/// The files among `paths` and in the folders among them, links followed: hubs keep their files behind links.
fn files(paths: &[PathBuf], imported: &mut Imported, cancel: &CancelToken) -> Result<Vec<PathBuf>, BundleError> {
    let mut files = Vec::new();
    for path in paths {
        for entry in walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name() {
            cancel.check()?;
            match entry {
                Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
                Ok(_) => {}
                // What was named has to be there; of a folder the rest is looked at.
                Err(error) if error.depth() == 0 => return Err(file_error("reading", path)(error.into())),
                Err(error) => imported.unreadable.extend(error.path().map(Path::to_owned)),
            }
        }
    }
    Ok(files)
}

/// Whether a file of so many bytes may be this one. Of unknown size are configurations and tokenizers only.
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

/// Gives a whole file its name. A damaged one that has it goes.
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
