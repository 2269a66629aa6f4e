//! How documents are split. Changing any of it changes the evidences, so the index keeps these settings beside them.

use serde::{Deserialize, Serialize};

/// Settings of the evidence room. Lengths are in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceSettings {
    /// A passage beyond this length is split at sentence borders. A single longer sentence stays whole.
    pub longest_passage: usize,
    /// The most that an evidence takes over from the text before it, and from the text after it.
    pub longest_neighbour: usize,
}

impl Default for EvidenceSettings {
    fn default() -> Self {
        // 2,000 characters are about 500 tokens; twice 300 of context leave most of a 256-token window to content.
        Self { longest_passage: 2_000, longest_neighbour: 300 }
    }
}
