//! Settings of prompts: token limits and the order of sources.

use serde::{Deserialize, Serialize};

use ragonite_base::Language;

/// The order of sources in a prompt. Their numbers are always their ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceOrder {
    /// The best first, which small models cite more correctly; then the others, longest first. Without a source, all
    /// text behind it must be read again: least if long sources come early.
    #[default]
    BestThenLongest,
    /// The best last, next to the question; before it the others, longest first.
    LongestFirst,
    /// By rank, the best last. Without one of the best sources most of the prompt stays the same, so leaving it out is
    /// fast.
    BestLast,
    /// By rank, the best first.
    BestFirst,
}

/// How often a prompt has context that several sources share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// Once: apart from these sources, or in the source that has it as content.
    #[default]
    Once,
    /// With every source, as in RAGonite, Sec. 4.
    Each,
}

/// The language of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerLanguage {
    /// The language of the question.
    #[default]
    Auto,
    /// English.
    En,
    /// German.
    De,
}

impl AnswerLanguage {
    /// The configured language; none if the question decides.
    #[must_use]
    pub fn wanted(self) -> Option<Language> {
        match self {
            Self::Auto => None,
            Self::En => Some(Language::English),
            Self::De => Some(Language::German),
        }
    }
}

/// Limits of a prompt, in tokens of the generator unless stated otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptSettings {
    /// Reserved for the answer.
    pub answer_tokens: usize,
    /// Reserved for a completed question.
    pub rewrite_tokens: usize,
    /// Most for all evidences. A CPU with two cores reads 2,000 tokens in about twenty seconds.
    pub evidence_tokens: usize,
    /// Largest fraction of the evidence budget for one evidence.
    pub share_cap: f64,
    /// Order of the sources.
    pub order: SourceOrder,
    /// How often shared context occurs.
    pub neighbours: Neighbours,
    /// Language of the answer.
    pub language: AnswerLanguage,
    /// Most earlier turns.
    pub history_turns: usize,
    /// Most for all earlier turns.
    pub history_tokens: usize,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self {
            answer_tokens: 256,
            rewrite_tokens: 64,
            evidence_tokens: 2000,
            share_cap: 0.4,
            order: SourceOrder::BestThenLongest,
            neighbours: Neighbours::Once,
            language: AnswerLanguage::Auto,
            history_turns: 3,
            history_tokens: 400,
        }
    }
}
