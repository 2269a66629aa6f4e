//! The sampler: chooses the next token.
//!
//! Takes logits; gives the likeliest token or one drawn with a seed, within a grammar if there is one.
//! Invariants: drawn tokens depend only on the seed and the logits, not on how many tokens were read at a time. For a
//! seed, the noise of a token at an index of the answer is the same number whatever the prompt (common random numbers):
//! two prompts with the same predictions give the same answer.

use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use super::engine::{Engine, TopToken, top_token_of};
use ragonite_inference::Sampling;

/// The sampler of one answer.
#[derive(Clone)]
pub(super) struct Sampler {
    strategy: SamplingStrategy,
    /// Smallest logit margin so far; none before the first token and within a grammar.
    pub(super) min_margin: Option<f32>,
}

#[derive(Clone)]
enum SamplingStrategy {
    Likeliest,
    Drawn {
        temperature: f32,
        seed: u32,
        drawn: u32,
    },
    /// Samples within a grammar.
    Held(LlamaSampler),
}

impl Sampler {
    /// With `grammar`, only tokens that it allows are chosen.
    pub(super) fn new(sampling: Sampling, grammar: Option<LlamaSampler>) -> Self {
        let strategy = match (sampling, grammar) {
            (Sampling::Greedy, None) => SamplingStrategy::Likeliest,
            (Sampling::Seeded { temperature, seed }, None) => SamplingStrategy::Drawn { temperature, seed, drawn: 0 },
            (Sampling::Greedy, Some(grammar)) => {
                SamplingStrategy::Held(LlamaSampler::chain_simple([grammar, LlamaSampler::greedy()]))
            }
            (Sampling::Seeded { temperature, seed }, Some(grammar)) => {
                let draw = [LlamaSampler::temp(temperature), LlamaSampler::dist(seed)];
                SamplingStrategy::Held(LlamaSampler::chain_simple([grammar].into_iter().chain(draw)))
            }
        };
        Self { strategy, min_margin: None }
    }

    /// Whether both choose the same next tokens where the logits are the same.
    pub(super) fn same_stream_as(&self, other: &Self) -> bool {
        // Greedy decoding has no noise state.
        let noise = |strategy: &SamplingStrategy| match strategy {
            SamplingStrategy::Likeliest => Some((0, 0, 0)),
            SamplingStrategy::Drawn { temperature, seed, drawn } => Some((temperature.to_bits(), *seed, *drawn)),
            SamplingStrategy::Held(_) => None,
        };
        noise(&self.strategy).is_some_and(|mine| noise(&other.strategy) == Some(mine))
    }

    /// The token after row `row` of the engine's last call.
    pub(super) fn next(&mut self, engine: &Engine, row: usize) -> LlamaToken {
        self.next_with_margin(engine, row).token
    }

    /// The same, with its logit margin; within a grammar the margin counts as infinite.
    pub(super) fn next_with_margin(&mut self, engine: &Engine, row: usize) -> TopToken {
        let TopToken { token, margin } = match &mut self.strategy {
            SamplingStrategy::Held(sampler) => {
                return TopToken { token: engine.sample(sampler, row), margin: f32::INFINITY };
            }
            SamplingStrategy::Likeliest => engine.top_token(row),
            SamplingStrategy::Drawn { temperature, seed, drawn } => {
                let noise = Noise::new(*seed, *drawn);
                *drawn += 1;
                draw(engine.logits(row), *temperature, noise)
            }
        };
        self.min_margin = Some(self.min_margin.map_or(margin, |smallest| smallest.min(margin)));
        TopToken { token, margin }
    }
}

/// Draws a token by the softmax of the logits at this temperature: the largest logit after adding noise to each
/// (Gumbel-max trick).
fn draw(logits: &[f32], temperature: f32, noise: Noise) -> TopToken {
    top_token_of(logits.iter().zip(0..).map(|(logit, token)| logit + temperature * noise.of(token)))
}

/// The noise at one index of an answer.
#[derive(Clone, Copy)]
struct Noise(u64);

impl Noise {
    fn new(seed: u32, place: u32) -> Self {
        Self(mixed(u64::from(seed) << 32 | u64::from(place)))
    }

    /// Gumbel-distributed noise of a token.
    fn of(self, token: u32) -> f32 {
        let bits = mixed(self.0 ^ u64::from(token)) >> 11;
        let even = (bits as f64 + 0.5) / (1_u64 << 53) as f64;
        -(-even.ln()).ln() as f32
    }
}

/// SplitMix64: similar inputs become unrelated outputs.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::engine::top_token;
    use super::*;

    #[test]
    fn tokens_are_drawn_as_often_as_their_logits_say() {
        let logits = [1.0, 3.0, f32::NEG_INFINITY, 2.0];
        for temperature in [0.5, 1.0, 2.0] {
            let draws = 20_000;
            let mut counts = [0.0; 4];
            for place in 0..draws {
                counts[draw(&logits, temperature, Noise::new(7, place)).token.0 as usize] += 1.0 / f64::from(draws);
            }
            let powers = logits.map(|logit| f64::from(logit / temperature).exp());
            let sum: f64 = powers.iter().sum();
            for (count, power) in counts.iter().zip(powers) {
                assert!((count - power / sum).abs() < 0.015, "{counts:?} at {temperature}");
            }
        }
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(200))]
        #[test]
        fn the_likeliest_is_the_same_all_at_once_and_one_by_one(logits in prop::collection::vec(-3..3_i8, 1..60)) {
            let logits: Vec<f32> = logits.into_iter().map(f32::from).collect();
            let (at_once, one_by_one) = (top_token(&logits), top_token_of(logits.iter().copied()));
            prop_assert_eq!(at_once.token, one_by_one.token);
            prop_assert_eq!(at_once.margin.to_bits(), one_by_one.margin.to_bits());
        }
    }

    #[test]
    fn choices_are_alike_where_the_same_noise_comes_next() {
        let drawn = |seed| Sampler::new(Sampling::Seeded { temperature: 0.7, seed }, None);
        let likeliest = || Sampler::new(Sampling::Greedy, None);
        assert!(likeliest().same_stream_as(&likeliest()) && drawn(3).same_stream_as(&drawn(3)));
        assert!(!drawn(3).same_stream_as(&drawn(4)) && !drawn(3).same_stream_as(&likeliest()));
        let mut later = drawn(3);
        if let SamplingStrategy::Drawn { drawn, .. } = &mut later.strategy {
            *drawn += 1;
        }
        assert!(!later.same_stream_as(&drawn(3)));
    }

    #[test]
    fn a_seed_gives_each_token_the_same_chance_whatever_the_others_are() {
        for place in 0..50 {
            let noise = Noise::new(3, place);
            let TopToken { token, margin } = draw(&[1.0, 1.5, 0.5, 1.2], 0.8, noise);
            let mut other = [1.0, 1.5, 0.5, 1.2];
            other[token.0 as usize] += 0.1;
            let again = draw(&other, 0.8, noise);
            assert_eq!(again.token, token);
            assert!(margin >= 0.0 && (again.margin - margin - 0.1).abs() < 1e-5);
        }
        assert_ne!(Noise::new(3, 1).of(5).to_bits(), Noise::new(4, 1).of(5).to_bits());
    }
}
