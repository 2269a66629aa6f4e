//! Which token comes next.
//!
//! Takes the logits in the engine, gives the likeliest token or one drawn with a seed, of those that a grammar
//! allows where there is one.
//! Invariant: drawn tokens depend on the seed and the logits only, not on how many tokens were read at a time.

use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::engine::{Engine, Likeliest};
use crate::inference::Sampling;

/// The choice of one answer's tokens.
pub(super) struct Choice {
    /// None where it is simply the likeliest token.
    sampler: Option<LlamaSampler>,
    /// The smallest margin so far; none before the first token and for drawn ones.
    pub(super) narrowest: Option<f32>,
}

impl Choice {
    /// `grammar` lets only the tokens through that it allows.
    pub(super) fn new(sampling: Sampling, grammar: Option<LlamaSampler>) -> Self {
        let choice = match sampling {
            Sampling::Greedy if grammar.is_none() => None,
            Sampling::Greedy => Some(vec![LlamaSampler::greedy()]),
            Sampling::Seeded { temperature, seed } => {
                Some(vec![LlamaSampler::temp(temperature), LlamaSampler::dist(seed)])
            }
        };
        let sampler = choice.map(|choice| LlamaSampler::chain_simple(grammar.into_iter().chain(choice)));
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
