//! How much memory a generator takes, before it takes it.
//!
//! Takes the header of the weights and the settings, gives bytes: weights, the state of the tokens that were read, and
//! what one call of llama.cpp works in.
//! Invariant: with more memory than this left, llama.cpp can load the model and use all of its context. Where sequences
//! share their memory, closing its gaps takes up to the state again for a moment, which is not counted.
//! Not here: how much there is (`memory`).

use super::gguf::Shape;
use ragonite_inference::MemoryNeeds;
use ragonite_inference::{GeneratorSettings, KvCacheType};

/// Bytes of a number that llama.cpp computes with.
const COMPUTED: u64 = 4;

/// What calls of llama.cpp work on.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSizes {
    /// Tokens of state.
    pub(super) cells: u64,
    /// Tokens of a call.
    pub(super) tokens: u64,
    /// Cells to which the attention of a token is kept as a table; none with flash attention.
    pub(super) table: u64,
}

/// Bytes the model described by `shape` takes with these settings and calls.
pub(super) fn estimate_memory(shape: &Shape, settings: &GeneratorSettings, calls: BatchSizes) -> MemoryNeeds {
    let BatchSizes { cells, tokens, table } = calls;
    let numbers = shape.kv_heads.saturating_mul(shape.key_and_value).saturating_mul(cells);
    let state = match settings.kv_cache {
        KvCacheType::F16 => numbers.saturating_mul(2),
        // 32 numbers of a byte and their scale.
        KvCacheType::Q8 => numbers.saturating_mul(34) / 32,
    };
    // For every token of a call the logits, where they are computed and where they are read, the widest layer with its
    // input and output, which cells it sees, and how much each head sees of them, also as half as wide numbers.
    let attention = shape.heads.saturating_mul(table).saturating_mul(3) / 2;
    let row =
        [shape.vocabulary, shape.vocabulary, shape.feed_forward, shape.embedding, shape.embedding, cells, attention];
    let row = row.into_iter().fold(0, u64::saturating_add);
    // The weights count once: what llama.cpp reorders for the processor need not stay in memory as it is in the file.
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
