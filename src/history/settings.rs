//! What a turn is answered and explained with.
//!
//! Not here: where the values come from and which of them a domain may have of its own (`config`).

use serde::{Deserialize, Serialize};

use ragonite_inference::{GeneratorChoice, Sampling};
use ragonite_rag::answer::AnswerSettings;
use ragonite_rag::attribution::AttributionSettings;
use ragonite_rag::prompt::PromptSettings;
use ragonite_rag::retrieval::{Reranking, RetrievalSettings};

/// Everything about a turn that a setting decides. It is stored with the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnSettings {
    /// How many of the best hits are offered to the answer's prompt; the paper's k.
    pub sources: usize,
    /// How evidence is found.
    pub retrieval: RetrievalSettings,
    /// Whether hits are reranked, where there is a reranker.
    pub rerank: Reranking,
    /// Which model writes.
    pub model: GeneratorChoice,
    /// Limits of the prompts.
    pub prompt: PromptSettings,
    /// 0 takes the likeliest token always; above 0 tokens are drawn.
    pub temperature: f32,
    /// Makes drawn tokens the same again.
    pub seed: u32,
    /// How the answer is explained.
    pub attribution: AttributionSettings,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            sources: 10,
            retrieval: RetrievalSettings::default(),
            rerank: Reranking::default(),
            model: GeneratorChoice::default(),
            prompt: PromptSettings::default(),
            temperature: 0.0,
            seed: 1,
            attribution: AttributionSettings::default(),
        }
    }
}

impl TurnSettings {
    /// How to search, with at least as many hits as there are sources to offer.
    #[must_use]
    pub fn searching(&self) -> RetrievalSettings {
        RetrievalSettings { top_k: self.retrieval.top_k.max(self.sources), ..self.retrieval.clone() }
    }

    /// How to answer.
    #[must_use]
    pub fn answering(&self) -> AnswerSettings {
        AnswerSettings { sampling: Sampling::at(self.temperature, self.seed), prompt: self.prompt.clone() }
    }
}
