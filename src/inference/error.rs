//! Errors of models.

use std::io;
use std::path::PathBuf;

use super::DeviceChoice;
use super::memory::{MemoryNeeds, gigabytes};
use ragonite_base::Canceled;

/// A failure to load or use a model.
#[derive(Debug, thiserror::Error)]
pub enum InferenceError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A weight file is missing.
    #[error("the file `{file}` of the model `{model}` is in none of: {}", list(.looked_in))]
    MissingFile {
        /// Id in the catalog.
        model: String,
        /// File name in the catalog.
        file: String,
        /// Folders that were searched.
        looked_in: Vec<PathBuf>,
    },
    /// A weight file differs from the catalog.
    #[error("`{path}` is damaged: it has {found}, the catalog says {expected}")]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// The catalog's size or hash.
        expected: String,
        /// The file's size or hash.
        found: String,
    },
    /// A file could not be read.
    #[error("reading `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The catalog is invalid.
    #[error("the model catalog `{path}` is wrong")]
    Catalog {
        /// The catalog; `models/catalog.toml` for the compiled-in one.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The catalog has no such model or profile.
    #[error("the model catalog has no {what} `{name}`; it has {}", .known.join(", "))]
    Unknown {
        /// `model` or `profile`.
        what: &'static str,
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// The engine refused the weights.
    #[error("loading the model `{model}`")]
    Load {
        /// Id in the catalog.
        model: String,
        /// The engine's reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The program's own libraries are missing or damaged.
    #[error("no library with llama.cpp's kernels could be loaded from `{folder}`")]
    NoKernels {
        /// The searched folder.
        folder: PathBuf,
    },
    /// Too little memory for the model.
    #[error("the model `{model}` needs {needed}, and {}", free(*.available, .needed))]
    OutOfMemory {
        /// Id in the catalog.
        model: String,
        /// The memory needs.
        needed: MemoryNeeds,
        /// Free bytes; none where the system does not report them.
        available: Option<u64>,
    },
    /// Too little address space for the model.
    #[error(
        "the model `{model}` takes {} of address space, and the limit of this process (ulimit -v) leaves {}",
        gigabytes(*.needed), gigabytes(*.left)
    )]
    OutOfAddressSpace {
        /// Id in the catalog.
        model: String,
        /// Needed bytes.
        needed: u64,
        /// Free bytes.
        left: u64,
    },
    /// The requested kind of GPU is not available.
    #[error("the device is set to {wanted}, and {why}")]
    NoGpu {
        /// The requested kind.
        wanted: DeviceChoice,
        /// What is missing, as a clause.
        why: &'static str,
    },
    /// The engine failed while running.
    #[error("{doing} with the model `{model}`")]
    Run {
        /// The step: `embedding`, `reading the prompt`.
        doing: &'static str,
        /// Id in the catalog.
        model: String,
        /// The engine's reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The prompt is longer than the context.
    #[error("the prompt has {tokens} tokens, with room for the answer more than the context of {context}")]
    PromptTooLong {
        /// Tokens of prompt and answer reserve.
        tokens: usize,
        /// Context size in tokens.
        context: usize,
    },
}

impl InferenceError {
    /// Whether memory is short, so that unloading another model could help.
    pub fn is_for_want_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory { .. } | Self::OutOfAddressSpace { .. })
    }

    /// For a generator that cannot mask parts of a prompt.
    pub fn cannot_hide(model: &str) -> Self {
        let source = "it cannot hide parts of what it has read".into();
        Self::Run { doing: "scoring an answer", model: model.to_owned(), source }
    }

    /// For a generator without logprobs.
    pub fn cannot_compare(model: &str) -> Self {
        let source = "it cannot tell how probable an answer is".into();
        Self::Run { doing: "comparing an answer's probabilities", model: model.to_owned(), source }
    }

    /// For a generator that cannot give the bytes of a token.
    pub fn cannot_tell_pieces(model: &str) -> Self {
        let source = "it cannot tell which text a token stands for".into();
        Self::Run { doing: "reading an answer's tokens", model: model.to_owned(), source }
    }
}

fn free(available: Option<u64>, needed: &MemoryNeeds) -> String {
    match available {
        Some(available) if available < needed.total() => format!("{} are free", gigabytes(available)),
        _ => "the system gave less".to_owned(),
    }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<_>>().join(", ")
}
