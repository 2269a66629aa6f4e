//! Models on the machine: [`Embed`] and [`Rerank`] (candle), [`Generate`] (llama.cpp), and where weights lie on disk.
//!
//! Invariants: no network; candle, tokenizers and llama.cpp appear in no other room; every long call takes a
//! [`CancelToken`](crate::base::CancelToken) and stops within one small batch.
//! Not here: what is asked of a model (`prompt`, `answer`), fetching weights (`download`).

mod catalog;
mod choice;
mod compare;
mod device;
mod embedding;
mod encoder;
mod error;
mod fake;
mod generate;
mod llama;
mod memory;
mod powers;
mod revision;
mod weights;

pub use catalog::{
    Architecture, Catalog, CatalogFile, CatalogModel, EncoderSettings, HubSource, ModelRole, Pooling, Profile,
    PypiPart, PypiSource, Source,
};
pub use choice::{GeneratorChoice, NoModelId};
pub use compare::{COMPARED_TOKENS, CompareRequest, Compared, Measure, drops};
pub use device::{DeviceChoice, Gpu, Placement, compute_threads, device_summary, processor_summary};
pub use embedding::{Embed, Embedding, EncoderIdentity, Rerank, TextRole};
pub use encoder::{embedder_fingerprint, load_embedder, load_reranker};
pub use error::InferenceError;
pub use fake::{HashEmbedder, ScriptedGenerator};
pub use generate::{
    ChatTemplate, Completion, Finish, Generate, GenerateEvent, GenerateRequest, GeneratorIdentity, PromptPart, Reread,
    Sampling, ScoreRequest, Scores, Special,
};
pub use llama::{FlashAttention, GeneratorSettings, KvCache, LlamaGenerator, Writing, kernel_features};
pub use memory::{MemoryNeeds, address_space_left, available_memory, gigabytes, machine_memory, resident_memory};
pub use revision::ENGINE_REVISION;
pub use weights::{Checking, FileReport, FileState, ModelFolders};
