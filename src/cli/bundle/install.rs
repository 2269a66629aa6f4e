//! Unpacks a bundle.
//!
//! Invariants: the archive is read once, in order; a file is used only when its hash matches the manifest and, for
//! weights, the catalog; a domain is installed only when it is complete.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tar::{Archive, Entry, EntryType};
use tempfile::TempDir;

use super::copying::{Doing, OnBundleProgress, Steps};
use super::error::{BundleError, file_error};
use super::manifest::{self, Manifest, PackedFile, What};
use ragonite_base::{CancelToken, DomainName, clean_line};
use ragonite_index::{check_transferred, find_domain, import_domain, replace_domain};
use ragonite_inference::{Catalog, CatalogFile, CatalogModel, ModelFolders};

/// Target of an installation.
#[derive(Debug, Clone, Copy)]
pub struct InstallTo<'a> {
    /// The models that this program knows.
    pub catalog: &'a Catalog,
    /// Folders with weights; present weights stay.
    pub folders: &'a ModelFolders,
    /// The folder that new weights are put into.
    pub models: &'a Path,
    /// The folder of all domains.
    pub domains: &'a Path,
    /// Handling of existing domains.
    pub replace: Replace,
}

/// Handling of a domain whose name is in the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Keep the existing domain.
    Nothing,
    /// Replace the existing domain, once the new one is complete.
    Domains,
}

/// Result of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// Installed weights, as `model/file`.
    pub weights: Vec<String>,
    /// Weights that were present already, as `model/file`.
    pub weights_here: Vec<String>,
    /// Installed domains.
    pub domains: Vec<DomainName>,
    /// Skipped items.
    pub left_out: Vec<LeftOut>,
}

/// A skipped item of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// A domain, or `model/file`.
    pub name: String,
    /// Why it was skipped.
    pub reason: String,
}

/// Unpacks the bundle `file`.
///
/// # Errors
/// [`BundleError::NoBundle`] and [`BundleError::NewerFormat`] where it cannot be read; [`BundleError::Damaged`] where a
/// file is missing or not what its manifest says; when something cannot be written.
pub fn install(
    file: &Path,
    to: &InstallTo<'_>,
    cancel: &CancelToken,
    on_progress: &mut OnBundleProgress<'_>,
) -> Result<(Manifest, Installed), BundleError> {
    let opened = File::open(file).map_err(file_error("reading", file))?;
    let mut archive = Archive::new(opened);
    let no_bundle = |what: &str| BundleError::NoBundle { path: file.to_owned(), what: what.to_owned() };
    let mut entries = archive.entries().map_err(|_| no_bundle("it is no tar archive"))?;
    let first = entries.next().ok_or_else(|| no_bundle("it is empty"))?;
    let manifest = read_manifest(file, first.map_err(|_| no_bundle("it is no tar archive"))?)?;
    let total = manifest.files.iter().fold(0, |total: u64, file| total.saturating_add(file.bytes));
    let steps = Steps { doing: Doing::Unpacking, done: 0, total, cancel, on_progress };
    let mut unpacking = Unpacking { file, to, steps, domains: HashMap::new(), installed: Installed::default() };
    for packed in &manifest.files {
        let damaged = |what: &str| unpacking.damaged(packed, what);
        let entry = entries.next().ok_or_else(|| damaged("is missing"))?;
        let mut entry = entry.map_err(|_| damaged("cannot be read"))?;
        let is_it =
            entry.header().entry_type() == EntryType::Regular && path_of(&entry).as_deref() == Some(&packed.path);
        if !is_it || entry.size() != packed.bytes {
            return Err(damaged("is not where the manifest has it"));
        }
        unpacking.take(packed, &mut entry)?;
    }
    let installed = unpacking.place_domains()?;
    Ok((manifest, installed))
}

fn read_manifest(file: &Path, mut first: Entry<'_, File>) -> Result<Manifest, BundleError> {
    let no_bundle = |what: String| BundleError::NoBundle { path: file.to_owned(), what };
    if path_of(&first).as_deref() != Some(manifest::FILE) || first.size() > manifest::LONGEST {
        return Err(no_bundle(format!("it does not begin with `{}/{}`", manifest::FOLDER, manifest::FILE)));
    }
    let mut text = String::new();
    first.read_to_string(&mut text).map_err(|_| no_bundle("its manifest cannot be read".to_owned()))?;
    // Of a newer format only the number is known.
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| no_bundle(format!("its manifest: {error}")))?;
    let found = json.get("format").and_then(serde_json::Value::as_u64).unwrap_or_default();
    if found > u64::from(manifest::FORMAT) {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        return Err(BundleError::NewerFormat { path: file.to_owned(), found, supported: manifest::FORMAT });
    }
    let manifest: Manifest =
        serde_json::from_value(json).map_err(|error| no_bundle(format!("its manifest: {error}")))?;
    match manifest.flaw() {
        Some(flaw) => Err(no_bundle(flaw)),
        None => Ok(manifest),
    }
}

/// The path of an entry in the folder of the bundle.
fn path_of(entry: &Entry<'_, File>) -> Option<String> {
    let path = entry.path().ok()?;
    Some(path.strip_prefix(manifest::FOLDER).ok()?.to_str()?.to_owned())
}

/// A bundle that is being unpacked.
struct Unpacking<'a, 'b, 'c> {
    file: &'a Path,
    to: &'a InstallTo<'a>,
    steps: Steps<'b, 'c>,
    /// Domains so far, in temporary folders on the target disk.
    domains: HashMap<DomainName, TempDir>,
    installed: Installed,
}

/// Destination of a file.
enum Fate<'a> {
    /// Checked only.
    Checked,
    /// Written to this path.
    Kept(PathBuf),
    /// Installed as weights.
    Weights(&'a CatalogModel, &'a CatalogFile),
}

impl<'a> Unpacking<'a, '_, '_> {
    fn damaged(&self, packed: &PackedFile, what: &str) -> BundleError {
        let what = format!("`{}` {what}", clean_line(&packed.path));
        BundleError::Damaged { path: self.file.to_owned(), what }
    }

    fn take(&mut self, packed: &PackedFile, from: &mut dyn Read) -> Result<(), BundleError> {
        match self.fate(packed)? {
            Fate::Checked => self.copy(packed, from, &mut io::sink(), Path::new(""))?,
            Fate::Kept(path) => {
                let mut file = File::create(&path).map_err(file_error("writing", &path))?;
                self.copy(packed, from, &mut file, &path)?;
                file.sync_all().map_err(file_error("writing", &path))?;
            }
            Fate::Weights(model, file) => {
                let folder = self.to.models.join(&model.id);
                let writing = file_error("writing", &folder);
                fs::create_dir_all(&folder).map_err(&writing)?;
                let mut new = tempfile::Builder::new().prefix(".bundle-").tempfile_in(&folder).map_err(&writing)?;
                self.copy(packed, from, new.as_file_mut(), &folder)?;
                super::import::place(new, &folder.join(&file.name))?;
                self.installed.weights.push(format!("{}/{}", model.id, file.name));
            }
        }
        Ok(())
    }

    /// Copies a file of the bundle and compares it with its hash.
    fn copy(
        &mut self,
        packed: &PackedFile,
        from: &mut dyn Read,
        to: &mut dyn io::Write,
        path: &Path,
    ) -> Result<(), BundleError> {
        let (reading, writing) = (file_error("reading", self.file), file_error("writing", path));
        let hashed = self.steps.copy(&packed.path, from, &reading, to, &writing)?;
        if (hashed.bytes, &hashed.sha256) == (packed.bytes, &packed.sha256) {
            Ok(())
        } else {
            Err(self.damaged(packed, "is not what its hash says"))
        }
    }

    fn fate(&mut self, packed: &PackedFile) -> Result<Fate<'a>, BundleError> {
        match &packed.what {
            What::Text | What::Program => Ok(Fate::Checked),
            What::Weights { model, file } => Ok(self.fate_of_weights(model, file, packed)?),
            What::Domain { name, file } => {
                if self.to.replace == Replace::Nothing && find_domain(&self.to.domains.join(name.as_str())).is_ok() {
                    let reason = "a domain of this name is here; --replace takes that of the bundle".to_owned();
                    if !self.installed.left_out.iter().any(|left_out| left_out.name == name.as_str()) {
                        self.installed.left_out.push(LeftOut { name: name.to_string(), reason });
                    }
                    return Ok(Fate::Checked);
                }
                if !self.domains.contains_key(name) {
                    let making = file_error("making a folder in", self.to.domains);
                    fs::create_dir_all(self.to.domains).map_err(&making)?;
                    let folder = tempfile::Builder::new().prefix(".bundle-").tempdir_in(self.to.domains);
                    self.domains.insert(name.clone(), folder.map_err(&making)?);
                }
                Ok(self.domains.get(name).map_or(Fate::Checked, |folder| Fate::Kept(folder.path().join(file))))
            }
        }
    }

    fn fate_of_weights(&mut self, model: &str, file: &str, packed: &PackedFile) -> Result<Fate<'a>, BundleError> {
        let known = self.to.catalog.models.iter().find(|known| known.id == model);
        let known = known.and_then(|known| Some((known, known.files.iter().find(|one| one.name == file)?)));
        let name = clean_line(&format!("{model}/{file}"));
        match known {
            Some((model, file)) if file.sha256 == packed.sha256 => {
                if self.to.folders.find(model, file, self.steps.cancel).is_ok() {
                    self.installed.weights_here.push(name);
                    return Ok(Fate::Checked);
                }
                self.steps.cancel.check()?;
                Ok(Fate::Weights(model, file))
            }
            _ => {
                let reason = "this program knows no such weights; the one in the bundle does".to_owned();
                self.installed.left_out.push(LeftOut { name, reason });
                Ok(Fate::Checked)
            }
        }
    }

    /// Installs the domains after the whole bundle was read.
    fn place_domains(mut self) -> Result<Installed, BundleError> {
        let mut domains: Vec<(DomainName, TempDir)> = self.domains.drain().collect();
        domains.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, folder) in &domains {
            self.steps.cancel.check()?;
            check_transferred(folder.path())?;
        }
        let place = match self.to.replace {
            Replace::Nothing => import_domain,
            Replace::Domains => replace_domain,
        };
        for (name, folder) in domains {
            self.steps.cancel.check()?;
            place(folder.path(), &self.to.domains.join(name.as_str()))?;
            self.installed.domains.push(name);
        }
        Ok(self.installed)
    }
}
