//! Finds the model files to download.

use std::path::Path;

use ragonite_base::CancelToken;
use ragonite_inference::{CatalogModel, Checking, FileState, InferenceError, ModelFolders};

use super::{Source, Wanted, WheelMember};

/// The files of `models` that are missing or damaged in `folders`. A damaged copy below `into`, the download folder, is
/// removed.
///
/// # Errors
/// If a file cannot be read or removed, or with [`InferenceError::Canceled`].
pub fn missing_files(
    models: &[&CatalogModel],
    folders: &ModelFolders,
    into: &Path,
    cancel: &CancelToken,
) -> Result<Vec<Wanted>, InferenceError> {
    let mut wanted = Vec::new();
    for model in models {
        let reports = folders.verify(model, Checking::TrustStamps, cancel)?;
        for (file, report) in model.files.iter().zip(reports) {
            if matches!(report.state, FileState::Verified { .. }) {
                continue;
            }
            if let FileState::Damaged { path, .. } = report.state
                && path.starts_with(into)
            {
                std::fs::remove_file(&path).map_err(|source| InferenceError::Read { path, source })?;
            }
            wanted.push(Wanted {
                model: model.id.clone(),
                file: file.name.clone(),
                bytes: file.bytes,
                sha256: file.sha256.clone(),
                sources: file.sources.iter().map(Source::from).collect(),
            });
        }
    }
    Ok(wanted)
}

impl From<&ragonite_inference::Source> for Source {
    fn from(source: &ragonite_inference::Source) -> Self {
        match source {
            ragonite_inference::Source::Hub(hub) => {
                Self::Hub { repo: hub.repo.clone(), revision: hub.revision.clone(), file: hub.file.clone() }
            }
            ragonite_inference::Source::Pypi(pypi) => {
                let parts = pypi.parts().into_iter();
                let packages =
                    parts.map(|part| WheelMember { name: part.package, version: part.version, member: part.member });
                Self::Pypi { packages: packages.collect() }
            }
        }
    }
}
