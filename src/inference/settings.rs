//! Settings of a generator, as in the configuration.
//!
//! Not here: the engine that follows them (`ragonite-llama`).

use serde::{Deserialize, Serialize};

use super::DeviceChoice;

/// Load settings of a generator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorSettings {
    /// Maximum of prompt and answer tokens together; limited by the model's training context.
    pub context_tokens: usize,
    /// llama.cpp threads; 0 for one per physical core.
    pub threads: usize,
    /// Maximum of layers on GPUs, 0 for the processor only; none for as many as fit.
    pub gpu_layers: Option<u32>,
    /// Number type of the KV cache.
    pub kv_cache: KvCacheType,
    /// Flash attention.
    pub flash_attention: FlashAttention,
    /// Decoding mode.
    pub writing: Decoding,
}

/// The number type of the KV cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KvCacheType {
    /// 16-bit floats.
    #[default]
    #[serde(rename = "f16")]
    F16,
    /// 8-bit integers with a scale for every 32: about half the memory, and slightly different answers.
    #[serde(rename = "q8_0")]
    Q8,
}

/// Whether attention is computed piece by piece instead of as one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlashAttention {
    /// On with a GPU and on ARM if llama.cpp can; elsewhere one table is faster.
    #[default]
    Auto,
    /// Always: less memory for a long context, and more time. [`KvCacheType::Q8`] implies it.
    On,
    /// Never, except with [`KvCacheType::Q8`], which needs it.
    Off,
}

/// Decoding of answers without a draft. It matters only on x86-64, where fast single-token calls round differently from
/// prefill calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decoding {
    /// Tokens are drafted one by one and verified together. An answer then does not depend on what else is computed,
    /// nor do answers without some of its sources.
    #[default]
    #[serde(rename = "exact")]
    Deterministic,
    /// Single tokens count, which is faster. Read again, as an explanation does first, the answer may differ. An answer
    /// with a draft is deterministic.
    #[serde(rename = "quick")]
    Fast,
}

impl Default for GeneratorSettings {
    fn default() -> Self {
        Self {
            context_tokens: 4096,
            threads: 0,
            gpu_layers: None,
            kv_cache: KvCacheType::F16,
            flash_attention: FlashAttention::Auto,
            writing: Decoding::Deterministic,
        }
    }
}

impl GeneratorSettings {
    /// The device choice that follows from `gpu_layers`.
    #[must_use]
    pub fn device(&self) -> DeviceChoice {
        if self.gpu_layers == Some(0) { DeviceChoice::Cpu } else { DeviceChoice::Auto }
    }
}
