//! How much of the context each part of a prompt may take.

use serde::{Deserialize, Serialize};

/// Limits of a prompt, in tokens of the generator unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptSettings {
    /// Kept free for the answer.
    pub answer_tokens: usize,
    /// Kept free for a completed question.
    pub rewrite_tokens: usize,
    /// Most for all evidences together. On two cores 2,000 tokens take about half a minute to read.
    pub evidence_tokens: usize,
    /// Most of the evidence budget for one evidence, a fraction.
    pub share_cap: f64,
    /// Most earlier turns.
    pub history_turns: usize,
    /// Most for the earlier turns together.
    pub history_tokens: usize,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self {
            answer_tokens: 256,
            rewrite_tokens: 64,
            evidence_tokens: 2000,
            share_cap: 0.4,
            history_turns: 3,
            history_tokens: 400,
        }
    }
}
