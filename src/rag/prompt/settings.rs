//! How much of the context each part of a prompt may take, and in which order sources stand in it.

use serde::{Deserialize, Serialize};

use ragonite_base::Language;

/// In which order sources stand in a prompt. Their numbers are their ranks in each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceOrder {
    /// The best one first, which small models cite more rightly; then the others, the longest first. Without one of them
    /// all that comes after it is read again, which is least where the long ones come early.
    #[default]
    BestThenLongest,
    /// The best one last, next to the question; before it the others, the longest first.
    LongestFirst,
    /// By rank, the best one last. Without one of the best sources most of the prompt stays as it was, so that leaving
    /// them out takes little time.
    BestLast,
    /// The best one first.
    BestFirst,
}

/// How often a prompt has the text before and after its sources that several of them share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// Once: apart from these sources, or where it is a source itself only there.
    #[default]
    Once,
    /// With each of them, as in RAGonite, Sec. 4.
    Each,
}

/// The language that answers have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerLanguage {
    /// That of the question.
    #[default]
    Auto,
    /// English.
    En,
    /// German.
    De,
}

impl AnswerLanguage {
    /// The language that is asked for; nothing where the question decides.
    #[must_use]
    pub fn wanted(self) -> Option<Language> {
        match self {
            Self::Auto => None,
            Self::En => Some(Language::English),
            Self::De => Some(Language::German),
        }
    }
}

/// Limits of a prompt, in tokens of the generator unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptSettings {
    /// Kept free for the answer.
    pub answer_tokens: usize,
    /// Kept free for a completed question.
    pub rewrite_tokens: usize,
    /// Most for all evidences together. On two cores 2,000 tokens take about twenty seconds to read.
    pub evidence_tokens: usize,
    /// Most of the evidence budget for one evidence, a fraction.
    pub share_cap: f64,
    /// In which order the evidences stand.
    pub order: SourceOrder,
    /// How often the text around them stands there.
    pub neighbours: Neighbours,
    /// In which language the answer is written.
    pub language: AnswerLanguage,
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
            order: SourceOrder::BestThenLongest,
            neighbours: Neighbours::Once,
            language: AnswerLanguage::Auto,
            history_turns: 3,
            history_tokens: 400,
        }
    }
}
