//! The settings of a turn.
//!
//! Not here: their origin and the overrides of domains (`config`).

use serde::{Deserialize, Serialize};

use crate::answer::{Abstain, AnswerSettings};
use crate::attribution::AttributionSettings;
use crate::prompt::PromptSettings;
use crate::retrieval::{Reranking, RetrievalSettings};
use ragonite_inference::{GeneratorChoice, Sampling};

/// The settings of answer and attribution, stored with the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnSettings {
    /// Best hits offered to the prompt; the paper's k.
    pub sources: usize,
    /// Settings of the search.
    pub retrieval: RetrievalSettings,
    /// Whether hits are reranked, if there is a reranker.
    pub rerank: Reranking,
    /// The generator.
    pub model: GeneratorChoice,
    /// Limits of prompts.
    pub prompt: PromptSettings,
    /// When an answer becomes an abstention.
    pub abstain: Abstain,
    /// 0 means greedy decoding; above 0 tokens are sampled.
    pub temperature: f32,
    /// Seed of sampling.
    pub seed: u32,
    /// Whether the generator answers where no document fits the question.
    pub answer_without_match: AnswerWithoutMatch,
    /// Settings of attribution.
    pub attribution: AttributionSettings,
}

/// Whether the generator answers where no document fits the question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerWithoutMatch {
    /// It is not asked; the answer is the out-of-scope sentence.
    #[default]
    Off,
    /// It is asked.
    On,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            sources: 10,
            retrieval: RetrievalSettings::default(),
            rerank: Reranking::default(),
            model: GeneratorChoice::default(),
            prompt: PromptSettings::default(),
            abstain: Abstain::default(),
            temperature: 0.0,
            seed: 1,
            answer_without_match: AnswerWithoutMatch::Off,
            attribution: AttributionSettings::default(),
        }
    }
}

impl TurnSettings {
    /// The settings of the search, with at least as many hits as sources.
    #[must_use]
    pub fn searching(&self) -> RetrievalSettings {
        RetrievalSettings { top_k: self.retrieval.top_k.max(self.sources), ..self.retrieval.clone() }
    }

    /// The settings of the answer.
    #[must_use]
    pub fn answering(&self) -> AnswerSettings {
        AnswerSettings { sampling: Sampling::at(self.temperature, self.seed), prompt: self.prompt.clone() }
    }
}
