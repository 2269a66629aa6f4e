//! What can go wrong with models.

use std::io;
use std::path::PathBuf;

use super::DeviceChoice;
use super::memory::{MemoryNeeds, gigabytes};
use ragonite_base::Canceled;

/// Why a model could not be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum InferenceError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A weight file is nowhere.
    #[error("the file `{file}` of the model `{model}` is in none of: {}", list(.looked_in))]
    MissingFile {
        /// Id in the catalog.
        model: String,
        /// File name in the catalog.
        file: String,
        /// Folders that were searched.
        looked_in: Vec<PathBuf>,
    },
    /// A weight file is not what the catalog says.
    #[error("`{path}` is damaged: it has {found}, the catalog says {expected}")]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// What the catalog says.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A file could not be read.
    #[error("reading `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The catalog itself is wrong.
    #[error("the model catalog `{path}` is wrong")]
    Catalog {
        /// The catalog; `models/catalog.toml` for the compiled-in one.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The catalog has no such model or profile.
    #[error("the model catalog has no {what} `{name}`; it has {}", .known.join(", "))]
    Unknown {
        /// `model` or `profile`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Weights were found but the engine refused them.
    #[error("loading the model `{model}`")]
    Load {
        /// Id in the catalog.
        model: String,
        /// The engine's reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The program's own libraries are not where they belong, or not whole.
    #[error("no library with llama.cpp's kernels could be loaded from `{folder}`")]
    NoKernels {
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// There is less memory than the model takes.
    #[error("the model `{model}` needs {needed}, and {}", free(*.available, .needed))]
    OutOfMemory {
        /// Id in the catalog.
        model: String,
        /// What it takes.
        needed: MemoryNeeds,
        /// Bytes that were left; none where the system does not say.
        available: Option<u64>,
    },
    /// The limit of the address space leaves less than the model takes.
    #[error(
        "the model `{model}` takes {} of address space, and the limit of this process (ulimit -v) leaves {}",
        gigabytes(*.needed), gigabytes(*.left)
    )]
    OutOfAddressSpace {
        /// Id in the catalog.
        model: String,
        /// Bytes it takes.
        needed: u64,
        /// Bytes that were left.
        left: u64,
    },
    /// The kind of GPU that was asked for cannot be had.
    #[error("the device is set to {wanted}, and {why}")]
    NoGpu {
        /// The kind.
        wanted: DeviceChoice,
        /// What is missing.
        why: &'static str,
    },
    /// The engine failed at work.
    #[error("{doing} with the model `{model}`")]
    Run {
        /// What was being done: `embedding`, `reading the prompt`.
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
        /// Prompt and answer reserve.
        tokens: usize,
        /// Size of the context.
        context: usize,
    },
}

impl InferenceError {
    /// Whether the model could be loaded if another one left the memory.
    pub fn is_for_want_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory { .. } | Self::OutOfAddressSpace { .. })
    }

    /// The error of a generator that cannot score an answer with parts of its prompt hidden.
    pub fn cannot_hide(model: &str) -> Self {
        let source = "it cannot hide parts of what it has read".into();
        Self::Run { doing: "scoring an answer", model: model.to_owned(), source }
    }

    /// The error of a generator that cannot tell how probable an answer is.
    pub fn cannot_compare(model: &str) -> Self {
        let source = "it cannot tell how probable an answer is".into();
        Self::Run { doing: "comparing an answer's probabilities", model: model.to_owned(), source }
    }

    /// The error of a generator that cannot tell the text of a token.
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
