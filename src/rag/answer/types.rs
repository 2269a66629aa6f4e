//! Results of rewriting, translating and answering.

use serde::{Deserialize, Serialize};

use super::{AskedDate, MiscitedNumber, RepairedCitation, asked_date, citation, elsewhere, figures};
use crate::prompt::Prompt;
use ragonite_base::{Language, Millis};
use ragonite_inference::{Completion, Finish, Sampling};

/// Origin of the completed question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RewriteHow {
    /// First question of the conversation, nothing to complete.
    First,
    /// A self-contained follow-up; no model was called.
    Complete,
    /// The model completed it.
    Model,
    /// The model completed it, and dropped names were added.
    Mended,
    /// The model's output was unusable; names from the conversation were added to the original.
    Named,
    /// The model's output was unusable; the original was kept.
    Kept,
    /// The user edited the completed question; no model was called.
    Edited,
    /// The completed question of a turn that is asked again; no model was called.
    Again,
}

/// The result of a rewrite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The completed question.
    pub completed: String,
    /// Origin of the completed question.
    pub how: RewriteHow,
    /// The prompt; none without a model.
    pub prompt: Option<Prompt>,
    /// The model's output; none without a model.
    pub completion: Option<Completion>,
    /// Time of the step.
    pub total_ms: Millis,
}

/// Origin of a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslationHow {
    /// The model translated it.
    Model,
    /// From an earlier translation of the question.
    Known,
    /// The model's output was unusable.
    Dropped,
    /// The question is too long; no model was called.
    TooLong,
}

/// The result of a translation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Translation {
    /// The translated question; none if unusable.
    pub text: Option<String>,
    /// The language of the question.
    pub from: Language,
    /// The language of the documents.
    pub to: Language,
    /// Origin of the translation.
    pub how: TranslationHow,
    /// The prompt.
    pub prompt: Option<Prompt>,
    /// The model's output.
    pub completion: Option<Completion>,
    /// Time of the step.
    pub total_ms: Millis,
}

/// An answer with its prompt and citations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer as shown, citations in one form: `[Source 1, Source 2]`.
    pub text: String,
    /// False for an abstention.
    pub answered: bool,
    /// Cited numbers that are sources of the prompt, ascending.
    pub citations: Vec<usize>,
    /// Cited numbers that are not, ascending.
    pub invalid_citations: Vec<usize>,
    /// Language of the out-of-scope sentence and the instructions.
    pub language: Language,
    /// The prompt.
    pub prompt: Prompt,
    /// How tokens were sampled.
    pub sampling: Sampling,
    /// The raw output of the model.
    pub completion: Completion,
    /// Repaired citations, if the answer had none.
    #[serde(default)]
    pub named: Option<RepairedCitation>,
    /// What the model answered without support of its sources, if the text is the out-of-scope sentence for it
    /// ([`Abstain::Strict`](super::Abstain)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

impl Answer {
    /// The answer without repaired citations, for comparison with other answers.
    #[must_use]
    pub fn own_text(&self) -> &str {
        let mark = self.named.as_ref().map_or("", |named| named.mark.as_str());
        self.text.strip_suffix(mark).unwrap_or(&self.text)
    }

    /// The citations that the next search may rely on. Repaired ones were forced, and an abstention rests on no source.
    #[must_use]
    pub fn cited_sources(&self) -> &[usize] {
        if self.answered && self.named.is_none() { &self.citations } else { &[] }
    }

    /// The hits cited by the explained text: this answer, or the text that was regenerated for the same prompt.
    #[must_use]
    pub fn cited_by(&self, instead: Option<&str>) -> Vec<usize> {
        instead.map_or_else(|| self.citations.clone(), |text| citation::read(text, &self.prompt.sources()).valid)
    }

    /// Whether the answer reached the token limit.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.completion.finish == Finish::Length
    }

    /// Figures that neither sources nor question have. None for a stopped answer, whose sources are unknown.
    #[must_use]
    pub fn ungrounded_numbers(&self) -> Vec<String> {
        let is_known = self.answered && !self.prompt.segments.is_empty();
        if is_known { figures::ungrounded_numbers(&self.text, &self.prompt) } else { Vec::new() }
    }

    /// Figures that only uncited sources have.
    #[must_use]
    pub fn miscited_numbers(&self) -> Vec<MiscitedNumber> {
        if self.answered { figures::miscited_numbers(&self.text, &self.prompt, &self.citations) } else { Vec::new() }
    }

    /// The date of the question, if no cited source has it.
    #[must_use]
    pub fn uncited_date(&self) -> Option<AskedDate> {
        if self.answered { asked_date::uncited_date(&self.prompt, &self.citations) } else { None }
    }

    /// Uncited sources that say what the answer says, ascending; none if cited sources have some of its words, or if
    /// its figures give a warning already.
    #[must_use]
    pub fn overlapping_uncited(&self) -> Vec<usize> {
        if !self.answered || !self.miscited_numbers().is_empty() {
            return Vec::new();
        }
        elsewhere::overlapping_uncited(&self.text, &self.prompt, &self.citations, self.language)
    }

    /// Time of the answer and of citation repair.
    #[must_use]
    pub fn total_ms(&self) -> Millis {
        self.completion.total_ms + self.named.as_ref().map(|named| named.completion.total_ms).unwrap_or_default()
    }

    /// Whether the answer has citations but no words, as from small models at times.
    #[must_use]
    pub fn only_cites(&self) -> bool {
        let own = self.text.strip_prefix(self.prompt.prefill()).unwrap_or(&self.text);
        let citations = citation::read(own, &self.prompt.sources());
        !citations.marks.is_empty() && !citations.without_marks().contains(char::is_alphanumeric)
    }
}
