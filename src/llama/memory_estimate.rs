//! Estimates how much memory a generator takes.
//!
//! Takes the header of the weights and the settings; gives the bytes of the weights, the KV cache and the buffers of
//! one call.
//! Invariant: with more memory than this left, llama.cpp can load the model and use all of its context. Not counted:
//! where sequences share their memory, compaction briefly takes up to the KV cache again.
//! Not here: how much memory there is (`memory`).

use super::gguf::Shape;
use ragonite_inference::MemoryNeeds;
use ragonite_inference::{GeneratorSettings, KvCacheType};

/// Bytes of a number in llama.cpp's computations.
const COMPUTED: u64 = 4;

/// The sizes of llama.cpp calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSizes {
    /// Number of KV cells.
    pub(super) cells: u64,
    /// Maximum of tokens in a call.
    pub(super) tokens: u64,
    /// Number of cells in the attention table; 0 with flash attention.
    pub(super) table: u64,
}

/// Memory needs of a model with this `shape`.
pub(super) fn estimate_memory(shape: &Shape, settings: &GeneratorSettings, calls: BatchSizes) -> MemoryNeeds {
    let BatchSizes { cells, tokens, table } = calls;
    let numbers = shape.kv_heads.saturating_mul(shape.key_and_value).saturating_mul(cells);
    let state = match settings.kv_cache {
        KvCacheType::F16 => numbers.saturating_mul(2),
        // 32 numbers of one byte, and a scale of two bytes.
        KvCacheType::Q8 => numbers.saturating_mul(34) / 32,
    };
    // Per token of a call: the logits, both where they are computed and where they are read; the widest layer with its
    // input and output; the attention mask; and the attention scores of each head, also in half precision.
    let attention = shape.heads.saturating_mul(table).saturating_mul(3) / 2;
    let row =
        [shape.vocabulary, shape.vocabulary, shape.feed_forward, shape.embedding, shape.embedding, cells, attention];
    let row = row.into_iter().fold(0, u64::saturating_add);
    // The weights count once: what llama.cpp repacks for the processor need not stay in memory in the file's form.
    MemoryNeeds { weights: shape.file, state, work: row.saturating_mul(tokens).saturating_mul(COMPUTED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Qwen2.5-Coder-1.5B with 5,120 cells and calls of 512 tokens, for which llama.cpp logs 1,059.9 MiB of weights,
    /// 140 MiB of state and 316.8 MiB of work.
    #[test]
    fn the_estimate_is_near_what_llama_cpp_takes() {
        let shape = Shape {
            file: 1_117_320_768,
            architecture: "qwen2".to_owned(),
            layers: 28,
            heads: 12,
            kv_heads: 56,
            key_and_value: 256,
            embedding: 1536,
            feed_forward: 8960,
            vocabulary: 151_936,
            trained: 32768,
        };
        let settings = GeneratorSettings::default();
        let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
        let calls = BatchSizes { cells: 5120, tokens: 512, table: 0 };
        let exact = estimate_memory(&shape, &settings, calls);
        assert!((mib(exact.state) - 140.0).abs() < 0.1, "{exact:?}");
        // The logits of all 512, which a call may want, are 296.8 MiB more.
        assert!((613.0..650.0).contains(&mib(exact.work)), "{exact:?}");
        let smaller = estimate_memory(&shape, &GeneratorSettings { kv_cache: KvCacheType::Q8, ..settings }, calls);
        assert!((mib(smaller.state) - 74.4).abs() < 0.1, "{smaller:?}");
    }
}
