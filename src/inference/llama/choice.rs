//! Which token comes next.
//!
//! Takes the logits in the engine, gives the likeliest token or one drawn with a seed.
//! Invariant: drawn tokens depend on the seed and the logits only, not on how many tokens were read at a time.

use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::engine::{Engine, Likeliest};
use crate::inference::Sampling;

/// The choice of one answer's tokens.
pub(super) struct Choice {
    /// None for greedy choice.
    sampler: Option<LlamaSampler>,
    /// The smallest margin so far; none before the first token and for drawn ones.
    pub(super) narrowest: Option<f32>,
}

impl Choice {
    pub(super) fn new(sampling: Sampling) -> Self {
        let sampler = match sampling {
            Sampling::Greedy => None,
            Sampling::Seeded { temperature, seed } => {
                Some(LlamaSampler::chain_simple([LlamaSampler::temp(temperature), LlamaSampler::dist(seed)]))
            }
        };
        Self { sampler, narrowest: None }
    }

    /// The token after the one at `place` of the engine's last call.
    pub(super) fn next(&mut self, engine: &Engine, place: usize) -> LlamaToken {
        if let Some(sampler) = &mut self.sampler {
            return engine.sample(sampler, place);
        }
        let Likeliest { token, margin } = engine.likeliest(place);
        self.narrowest = Some(self.narrowest.map_or(margin, |narrowest| narrowest.min(margin)));
        token
    }
}
