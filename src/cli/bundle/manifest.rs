//! The manifest: first file of a bundle, with the list of its files.
//!
//! Invariants: every file is named once; a path has plain names only, so that it cannot leave its folder.

use std::collections::HashSet;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use ragonite_base::DomainName;
use ragonite_index::TRANSFERRED_FILES;

/// The current format, and the latest supported one.
pub(super) const FORMAT: u32 = 1;

/// Top folder of a bundle.
pub(super) const FOLDER: &str = "ragonite-bundle";

/// File name of the manifest in the folder.
pub(super) const FILE: &str = "manifest.json";

/// Longest manifest in bytes.
pub(super) const LONGEST: u64 = 4 << 20;

/// The manifest of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the bundle.
    pub format: u32,
    /// Version of the program that made the bundle and is in it.
    pub version: String,
    /// Target platform of the program.
    pub target: String,
    /// The models whose weights are in it.
    pub models: Vec<PackedModel>,
    /// The domains that are in it.
    pub domains: Vec<PackedDomain>,
    /// All other files, in the order of the archive.
    pub(super) files: Vec<PackedFile>,
}

/// A model whose weights are in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedModel {
    /// Its id in the catalog.
    pub id: String,
    /// The licence of the weights.
    pub licence: String,
}

/// A domain that is in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedDomain {
    /// Its name.
    pub name: DomainName,
    /// Number of its documents.
    pub documents: u64,
}

/// A file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PackedFile {
    /// Path in the folder of the bundle, with `/`.
    pub(super) path: String,
    /// Kind of the file.
    pub(super) what: What,
    pub(super) bytes: u64,
    /// Lower-case hex.
    pub(super) sha256: String,
}

/// Kind of a file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(super) enum What {
    /// Text for people.
    Text,
    /// The program or a file beside it.
    Program,
    /// Weights.
    Weights {
        /// Id of the model.
        model: String,
        /// Name of the file in the catalog.
        file: String,
    },
    /// A file of a domain.
    Domain {
        /// The domain.
        name: DomainName,
        /// Name of the file in the folder of the domain.
        file: String,
    },
}

impl Manifest {
    /// The reason why the manifest is invalid.
    pub(super) fn flaw(&self) -> Option<String> {
        let mut seen = HashSet::new();
        self.files.iter().find_map(|file| {
            let path = ragonite_base::clean_line(&file.path);
            if !is_plain(&file.path) {
                return Some(format!("`{path}` leads out of it"));
            }
            let is_of_domain = match &file.what {
                What::Domain { file, .. } => TRANSFERRED_FILES.contains(&file.as_str()),
                What::Text | What::Program | What::Weights { .. } => true,
            };
            if !is_of_domain {
                return Some(format!("`{path}` is no part of a domain"));
            }
            (!seen.insert(&file.path)).then(|| format!("`{path}` is named twice"))
        })
    }
}

/// Whether a path consists of names alone.
fn is_plain(path: &str) -> bool {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.is_empty() && !path.contains('\\') && Path::new(path).components().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, What)]) -> Manifest {
        let file = |(path, what): &(&str, What)| PackedFile {
            path: (*path).to_owned(),
            what: what.clone(),
            bytes: 1,
            sha256: "00".repeat(32),
        };
        Manifest {
            format: FORMAT,
            version: "0.1.0".into(),
            target: "x86_64".into(),
            models: Vec::new(),
            domains: Vec::new(),
            files: files.iter().map(file).collect(),
        }
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        for path in ["../x", "/etc/passwd", "a/../../b", "", "a\\..\\b", "./../a"] {
            assert!(with(&[(path, What::Text)]).flaw().is_some(), "{path}");
        }
        assert_eq!(with(&[("models/a/b.gguf", What::Text), ("ragonite", What::Program)]).flaw(), None);
        assert!(with(&[("a", What::Text), ("a", What::Text)]).flaw().unwrap().contains("twice"));
    }

    #[test]
    fn a_domain_has_no_other_files_than_its_own() {
        let name: DomainName = "wiki".parse().unwrap();
        let of = |file: &str| What::Domain { name: name.clone(), file: file.to_owned() };
        assert_eq!(with(&[("domains/wiki/domain.db", of("domain.db"))]).flaw(), None);
        assert!(with(&[("domains/wiki/x", of("../../history.db"))]).flaw().is_some());
    }

    #[test]
    fn a_manifest_reads_as_it_was_written() {
        let name: DomainName = "wiki".parse().unwrap();
        let written = with(&[
            ("a", What::Weights { model: "m".into(), file: "f".into() }),
            ("b", What::Domain { name, file: "domain.db".into() }),
        ]);
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), written);
        assert!(serde_json::from_str::<Manifest>(&text.replace("wiki", "../up")).is_err(), "a name is a name");
    }
}
