//! Interfaces of models on this machine ([`Embed`], [`Rerank`], [`Generate`]), the catalog, devices, memory and weight
//! files.
//!
//! Invariants: no network; every long call takes a [`CancelToken`](ragonite_base::CancelToken) and stops within one
//! small batch.
//! Not here: candle (`encoder`), llama.cpp (`llama`), prompts (`prompt`, `answer`), downloading weights (`download`).

mod catalog;
mod choice;
mod device;
mod embedding;
mod error;
mod fake;
mod fast_exp;
mod generate;
mod logprob_delta;
mod memory;
mod revision;
mod settings;
mod shared_embedder;
mod weights;

pub use catalog::{
    Architecture, Catalog, CatalogFile, CatalogModel, EncoderSettings, HubSource, ModelRole, Pooling, Profile,
    PypiPart, PypiSource, Source,
};
pub use choice::{GeneratorChoice, NoModelId};
pub use device::{DeviceChoice, Gpu, Placement, compute_threads, processor_summary};
pub use embedding::{Embed, Embedding, EncoderIdentity, Rerank, TextRole};
pub use error::InferenceError;
pub use fake::{HashEmbedder, ScriptedGenerator};
pub use fast_exp::fast_exp;
pub use generate::{
    ChatTemplate, Completion, Finish, Generate, GenerateEvent, GenerateRequest, GeneratorIdentity, PromptPart,
    Recompute, Sampling, ScoreRequest, Scores, SpecialTokens,
};
pub use logprob_delta::{
    COMPARED_TOKENS, CompareRequest, Compared, Measure, divergence, largest, log_sum, logprob_deltas, softmax,
};
pub use memory::{
    MemoryNeeds, address_space_left, address_space_of, available_memory, check_address_space, gigabytes,
    machine_memory, resident_memory,
};
pub use revision::ENGINE_REVISION;
pub use settings::{Decoding, FlashAttention, GeneratorSettings, KvCacheType};
pub use shared_embedder::SharedEmbedder;
pub use weights::{Checking, FileReport, FileState, ModelFolders};
