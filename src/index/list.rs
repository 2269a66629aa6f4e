//! The domains in the data folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IndexError;
use super::domain::{DomainDb, FILE};
use super::error::file_error;
use super::stored::Summary;
use ragonite_base::DomainName;

/// A listed domain.
#[derive(Debug)]
pub struct ListedDomain {
    /// Its name.
    pub name: DomainName,
    /// Its folder.
    pub folder: PathBuf,
    /// Its summary, or the error of reading it.
    pub summary: Result<Summary, IndexError>,
}

/// Minimum similarity (Jaro-Winkler) of a suggested name.
const SUGGESTION_LEVEL: f64 = 0.8;

/// The existing domain with the name most similar to that of `folder`, if similar enough.
pub(super) fn name_like(folder: &Path) -> Option<String> {
    let asked = folder.file_name()?.to_str()?;
    let beside = fs::read_dir(folder.parent()?).ok()?.flatten().filter(|entry| entry.path().join(FILE).is_file());
    let names = beside.filter_map(|entry| entry.file_name().into_string().ok()?.parse::<DomainName>().ok());
    names
        .filter(|name| name.as_str() != asked)
        .map(|name| (strsim::jaro_winkler(asked, name.as_str()), name))
        .filter(|(similarity, _)| *similarity >= SUGGESTION_LEVEL)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.into())
}

/// All domains in `domains_folder` by name; empty without that folder. A damaged domain is listed with its error.
///
/// # Errors
/// If the folder itself cannot be read.
pub fn list_domains(domains_folder: &Path) -> Result<Vec<ListedDomain>, IndexError> {
    let failed = |source| file_error("reading the folder", domains_folder, source);
    let entries = match fs::read_dir(domains_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut domains = Vec::new();
    for entry in entries {
        let folder = entry.map_err(failed)?.path();
        let name = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        let Some(name) = name else { continue };
        if folder.join(FILE).is_file() {
            let summary = DomainDb::open(&folder).and_then(|db| db.summary());
            domains.push(ListedDomain { name, folder, summary });
        }
    }
    domains.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(domains)
}
