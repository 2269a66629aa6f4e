//! Models on the machine: [`Embed`] and [`Rerank`] (candle), [`Generate`] (llama.cpp), and where weights lie on disk.
//!
//! Invariants: no network; candle, tokenizers and llama.cpp appear in no other room; every long call takes a
//! [`CancelToken`](ragonite_base::CancelToken) and stops within one small batch.
//! Not here: what is asked of a model (`prompt`, `answer`), fetching weights (`download`).

mod catalog;
mod choice;
mod compare;
mod device;
mod embedding;
mod error;
mod fake;
mod generate;
mod memory;
mod powers;
mod revision;
mod settings;
mod weights;

pub use catalog::{
    Architecture, Catalog, CatalogFile, CatalogModel, EncoderSettings, HubSource, ModelRole, Pooling, Profile,
    PypiPart, PypiSource, Source,
};
pub use choice::{GeneratorChoice, NoModelId};
pub use compare::{COMPARED_TOKENS, CompareRequest, Compared, Measure, divergence, drops, largest, log_sum, softmax};
pub use device::{DeviceChoice, Gpu, Placement, compute_threads, processor_summary};
pub use embedding::{Embed, Embedding, EncoderIdentity, Rerank, TextRole};
pub use error::InferenceError;
pub use fake::{HashEmbedder, ScriptedGenerator};
pub use generate::{
    ChatTemplate, Completion, Finish, Generate, GenerateEvent, GenerateRequest, GeneratorIdentity, PromptPart, Reread,
    Sampling, ScoreRequest, Scores, Special,
};
pub use memory::{
    MemoryNeeds, address_space_left, address_space_of, available_memory, check_address_space, gigabytes,
    machine_memory, resident_memory,
};
pub use powers::exp_of_negative;
pub use revision::ENGINE_REVISION;
pub use settings::{FlashAttention, GeneratorSettings, KvCache, Writing};
pub use weights::{Checking, FileReport, FileState, ModelFolders};
