//! How a generator is loaded, as the configuration says it.
//!
//! Not here: the engine that follows these settings (`ragonite-llama`).

use serde::{Deserialize, Serialize};

use super::DeviceChoice;

/// How a generator is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorSettings {
    /// Tokens that prompt and answer may have together; no more than the model was trained for is used.
    pub context_tokens: usize,
    /// Threads of llama.cpp; 0 for one per physical core.
    pub threads: usize,
    /// Most layers on GPUs where the program was built for one, none of them with 0; none for as many as fit.
    pub gpu_layers: Option<u32>,
    /// How the state of what was read is kept.
    pub kv_cache: KvCacheType,
    /// How attention is computed.
    pub flash_attention: FlashAttention,
    /// How answers are written.
    pub writing: Decoding,
}

/// The numbers of keys and values in the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KvCacheType {
    /// 16 bits each.
    #[default]
    #[serde(rename = "f16")]
    F16,
    /// 8 bits each with a scale for every 32 of them: about half the memory, and not quite the same answers.
    #[serde(rename = "q8_0")]
    Q8,
}

/// Whether attention is computed piece by piece instead of as one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlashAttention {
    /// On a GPU and on ARM where llama.cpp can; elsewhere one table takes less time.
    #[default]
    Auto,
    /// Always, as [`KvCacheType::Q8`] has it anyway: less memory for a long context, and more time.
    On,
    /// Never; [`KvCacheType::Q8`] needs it.
    Off,
}

/// How an answer of which nothing is known is written. Only on x86-64 there is a difference: calls of one token, which are
/// quickest there, round otherwise than those that read prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decoding {
    /// Tokens are written one by one and count once they are read again together. An answer is then the same whatever was
    /// computed beside it, and so are answers without some of its sources.
    #[default]
    #[serde(rename = "exact")]
    Deterministic,
    /// Tokens count as they are written, which takes less time. Read again, as an explanation does first, the answer may
    /// come out otherwise. An answer with a draft is written exactly.
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
    /// What may compute.
    #[must_use]
    pub fn device(&self) -> DeviceChoice {
        if self.gpu_layers == Some(0) { DeviceChoice::Cpu } else { DeviceChoice::Auto }
    }
}
