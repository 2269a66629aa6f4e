//! Packs a bundle.
//!
//! Invariants: the file gets its name when it is complete and on disk; until then it is a temporary file, which an
//! error removes. A bundle with a domain is readable by its owner only, like the domain.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tar::{Builder, EntryType, Header};

use super::copying::{Doing, Hashed, OnBundleProgress, Steps, Watched};
use super::error::{BundleError, file_error};
use super::manifest::{self, Manifest, PackedDomain, PackedFile, PackedModel, What};
use ragonite_base::{CancelToken, DomainName};
use ragonite_index::{TRANSFERRED_FILES, copy_domain};
use ragonite_inference::{CatalogModel, ModelFolders};

/// Contents of a new bundle.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// Target platform of the program.
    pub target: &'a str,
    /// The program and the files beside it.
    pub program: &'a [ProgramFile],
    /// Texts for people: name and text.
    pub texts: &'a [(&'a str, String)],
    /// The models whose weights go in.
    pub models: &'a [&'a CatalogModel],
    /// Folders with weights.
    pub folders: &'a ModelFolders,
    /// The domains to copy.
    pub domains: &'a [DomainSource],
}

/// A domain on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainSource {
    /// Name of the domain.
    pub name: DomainName,
    /// Folder of its database.
    pub folder: PathBuf,
    /// Number of its documents.
    pub documents: u64,
}

/// A file of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Its name beside the program, with `/` between names.
    pub name: String,
}

/// Result of packing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Packed {
    /// The bundle.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Models in the bundle.
    pub models: Vec<PackedModel>,
    /// Domains in the bundle.
    pub domains: Vec<PackedDomain>,
}

/// A file to pack.
struct Source {
    from: From,
    path: String,
    what: What,
}

enum From {
    File(PathBuf),
    Text(String),
}

/// Writes a bundle to `target`.
///
/// # Errors
/// [`BundleError::Exists`] where a file is already; [`BundleError::Weights`] where weights are missing or not those of the
/// catalog; when a domain cannot be copied, a file not be read, or the bundle not be written.
pub fn pack(
    contents: &Contents<'_>,
    target: &Path,
    cancel: &CancelToken,
    on_progress: &mut OnBundleProgress<'_>,
) -> Result<Packed, BundleError> {
    if target.exists() {
        return Err(BundleError::Exists { path: target.to_owned() });
    }
    let folder = target.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let making = file_error("making a file in", folder);
    let copies = tempfile::Builder::new().prefix(".ragonite-bundle-").tempdir_in(folder).map_err(&making)?;
    let mut steps = Steps { doing: Doing::Copying, done: 0, total: 0, cancel, on_progress };
    let sources = sources(contents, copies.path(), &mut steps)?;
    let manifest = manifest(contents, &sources, &mut steps)?;
    let mut file = tempfile::Builder::new().prefix(".ragonite-bundle-").tempfile_in(folder).map_err(&making)?;
    steps.begin(Doing::Packing, manifest.files.iter().map(|file| file.bytes).sum());
    write(file.as_file_mut(), &manifest, &sources, target, &mut steps)?;
    if contents.domains.is_empty() {
        super::import::readable(file.path()).map_err(file_error("writing", target))?;
    }
    file.as_file().sync_all().map_err(file_error("writing", target))?;
    let file = file.persist_noclobber(target).map_err(|error| file_error("writing", target)(error.error))?;
    let bytes = file.metadata().map_err(file_error("reading", target))?.len();
    Ok(Packed { file: target.to_owned(), bytes, models: manifest.models, domains: manifest.domains })
}

/// The files in the order of the archive; the program first, so that `tar` finds it at once.
fn sources(contents: &Contents<'_>, copies: &Path, steps: &mut Steps<'_, '_>) -> Result<Vec<Source>, BundleError> {
    let mut sources = Vec::new();
    for (name, text) in contents.texts {
        sources.push(Source { from: From::Text(text.clone()), path: (*name).to_owned(), what: What::Text });
    }
    for ProgramFile { path, name } in contents.program {
        sources.push(Source { from: From::File(path.clone()), path: name.clone(), what: What::Program });
    }
    for model in contents.models {
        for file in &model.files {
            // The hash is checked below.
            let found = contents.folders.find(model, file, steps.cancel)?;
            let (model, file) = (model.id.clone(), file.name.clone());
            let path = format!("models/{model}/{file}");
            sources.push(Source { from: From::File(found), path, what: What::Weights { model, file } });
        }
    }
    for DomainSource { name, folder, .. } in contents.domains {
        steps.cancel.check()?;
        steps.tell(name.as_str());
        let copy = copies.join(name.as_str());
        copy_domain(folder, &copy)?;
        for file in TRANSFERRED_FILES.into_iter().filter(|file| copy.join(file).is_file()) {
            let what = What::Domain { name: name.clone(), file: file.to_owned() };
            sources.push(Source { from: From::File(copy.join(file)), path: format!("domains/{name}/{file}"), what });
        }
    }
    Ok(sources)
}

fn manifest(contents: &Contents<'_>, sources: &[Source], steps: &mut Steps<'_, '_>) -> Result<Manifest, BundleError> {
    let mut total = 0;
    for source in sources {
        total += source.bytes()?;
    }
    steps.begin(Doing::Checking, total);
    let mut files = Vec::with_capacity(sources.len());
    for source in sources {
        let Hashed { bytes, sha256 } = source.hash(steps)?;
        if let What::Weights { model, file } = &source.what {
            check_weights(contents.models, model, file, &sha256, source)?;
        }
        files.push(PackedFile { path: source.path.clone(), what: source.what.clone(), bytes, sha256 });
    }
    let model = |model: &&CatalogModel| PackedModel { id: model.id.clone(), licence: model.licence.clone() };
    let domain = |domain: &DomainSource| PackedDomain { name: domain.name.clone(), documents: domain.documents };
    Ok(Manifest {
        format: manifest::FORMAT,
        version: contents.version.to_owned(),
        target: contents.target.to_owned(),
        models: contents.models.iter().map(model).collect(),
        domains: contents.domains.iter().map(domain).collect(),
        files,
    })
}

/// Compares the hash of weights with the catalog; an earlier check does not count.
fn check_weights(
    models: &[&CatalogModel],
    model: &str,
    file: &str,
    sha256: &str,
    source: &Source,
) -> Result<(), BundleError> {
    let of_model = models.iter().find(|known| known.id == model);
    let expected = of_model.and_then(|known| known.files.iter().find(|known| known.name == file));
    match (expected, &source.from) {
        (Some(expected), From::File(path)) if expected.sha256 != sha256 => {
            Err(ragonite_inference::InferenceError::DamagedFile {
                path: path.clone(),
                expected: format!("sha256 {}", expected.sha256),
                found: format!("sha256 {sha256}"),
            }
            .into())
        }
        _ => Ok(()),
    }
}

impl Source {
    fn bytes(&self) -> Result<u64, BundleError> {
        match &self.from {
            From::File(path) => Ok(fs::metadata(path).map_err(file_error("reading", path))?.len()),
            From::Text(text) => Ok(text.len() as u64),
        }
    }

    fn hash(&self, steps: &mut Steps<'_, '_>) -> Result<Hashed, BundleError> {
        self.read(|from, reading| steps.copy(&self.path, from, reading, &mut io::sink(), reading))
    }

    /// Opens the source and passes it to `with`, together with the mapping of read errors.
    fn read<T>(
        &self,
        with: impl FnOnce(&mut dyn Read, &dyn Fn(io::Error) -> BundleError) -> Result<T, BundleError>,
    ) -> Result<T, BundleError> {
        match &self.from {
            From::File(path) => {
                let reading = file_error("reading", path);
                with(&mut File::open(path).map_err(&reading)?, &reading)
            }
            From::Text(text) => with(&mut text.as_bytes(), &file_error("reading", Path::new(&self.path))),
        }
    }
}

fn write(
    file: &mut File,
    manifest: &Manifest,
    sources: &[Source],
    target: &Path,
    steps: &mut Steps<'_, '_>,
) -> Result<(), BundleError> {
    let writing = file_error("writing", target);
    let mut archive = Builder::new(BufWriter::new(file));
    let text = serde_json::to_vec_pretty(manifest).map_err(|error| writing(error.into()))?;
    let mut header = header(text.len() as u64, 0o644);
    archive.append_data(&mut header, inside(manifest::FILE), text.as_slice()).map_err(&writing)?;
    for (source, packed) in sources.iter().zip(&manifest.files) {
        let mode = if packed.what == What::Program { 0o755 } else { 0o644 };
        let hashed = source.read(|from, reading| {
            let mut watched = Watched::new(&packed.path, from, reading, steps);
            let mut header = self::header(packed.bytes, mode);
            let appended = archive.append_data(&mut header, inside(&packed.path), &mut watched);
            watched.finish(appended, &writing)
        })?;
        if (hashed.bytes, &hashed.sha256) != (packed.bytes, &packed.sha256) {
            let changed = io::Error::other("it changed while it was read");
            return Err(file_error("packing", Path::new(&packed.path))(changed));
        }
    }
    archive.into_inner().and_then(|mut to| to.flush()).map_err(&writing)
}

fn inside(path: &str) -> String {
    format!("{}/{path}", manifest::FOLDER)
}

fn header(bytes: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_cksum();
    header
}
