//! A prompt as labelled segments.

use serde::{Deserialize, Serialize};

use super::build::segment;
use super::wording::answer_beginning;
use super::{PromptError, SourceOrder};
use ragonite_base::{EvidenceId, Language};
use ragonite_inference::{Generate, PromptPart, SpecialTokens};

/// The role of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Text of the model's chat template.
    Template,
    /// Domain prefix and instructions.
    System,
    /// Text before or after several evidences.
    #[serde(rename = "around")]
    SharedContext {
        /// Numbers of these sources, ascending.
        ranks: Vec<usize>,
    },
    /// An evidence.
    Evidence {
        /// Its source number.
        rank: usize,
    },
    /// Earlier turns.
    History,
    /// The question.
    Question,
    /// The given beginning of the answer.
    #[serde(rename = "lead")]
    Prefill,
}

impl Part {
    /// Numbers of the sources with this text, ascending: one for an evidence, several for a shared context.
    #[must_use]
    pub fn sources(&self) -> &[usize] {
        match self {
            Self::Evidence { rank } => std::slice::from_ref(rank),
            Self::SharedContext { ranks } => ranks,
            Self::Template | Self::System | Self::History | Self::Question | Self::Prefill => &[],
        }
    }
}

/// A part of a prompt, tokenized on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Role of the segment.
    pub part: Part,
    /// Its text.
    pub text: String,
    /// Whether its text may hold special tokens.
    pub special: SpecialTokens,
    /// Number of tokens.
    pub tokens: usize,
}

/// Why an evidence is not in the prompt as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CutHow {
    /// Left out for lack of room.
    Dropped,
    /// Cut after a row or sentence.
    Shortened,
    /// Left out, because the question is about another version of its page.
    Version,
    /// Only text before or after it is missing, which another source or a shared context has.
    Neighbour,
}

/// An evidence that is not in the prompt as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Its source number.
    pub rank: usize,
    /// The evidence.
    pub evidence: EvidenceId,
    /// Missing tokens.
    pub tokens: usize,
    /// Reason.
    pub how: CutHow,
}

/// The prompt of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The segments in order.
    pub segments: Vec<Segment>,
    /// Stop sequences.
    pub stop: Vec<String>,
    /// Evidences that were cut.
    pub cut: Vec<Cut>,
}

impl Prompt {
    /// Length in tokens.
    pub fn tokens(&self) -> usize {
        self.segments.iter().map(|segment| segment.tokens).sum()
    }

    /// Source numbers in the prompt, ascending.
    pub fn sources(&self) -> Vec<usize> {
        let mut ranks = self.ranks();
        ranks.sort_unstable();
        ranks
    }

    /// Source numbers in the order of the prompt.
    fn ranks(&self) -> Vec<usize> {
        let rank = |segment: &Segment| match segment.part {
            Part::Evidence { rank } => Some(rank),
            _ => None,
        };
        self.segments.iter().filter_map(rank).collect()
    }

    /// The order of the sources; none for fewer than two. An ambiguous order is named by rank.
    pub fn order(&self) -> Option<SourceOrder> {
        match self.ranks().as_slice() {
            [] | [_] => None,
            all if all.is_sorted() => Some(SourceOrder::BestFirst),
            all if all.is_sorted_by(|a, b| a > b) => Some(SourceOrder::BestLast),
            [first, others @ ..] if others.iter().all(|other| other > first) => Some(SourceOrder::BestThenLongest),
            _ => Some(SourceOrder::LongestFirst),
        }
    }

    /// The prompt without these sources; all other tokens stay. A shared context goes with the last of its sources.
    #[must_use]
    pub fn without(&self, ranks: &[usize]) -> Self {
        let gone = self.places(ranks);
        let stay = self.segments.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        let segments = stay.map(|(_, segment)| segment.clone()).collect();
        Self { segments, stop: self.stop.clone(), cut: self.cut.clone() }
    }

    /// Indexes of the segments that go with these sources, ascending.
    pub fn places(&self, ranks: &[usize]) -> Vec<usize> {
        let left: Vec<usize> = self.ranks().into_iter().filter(|rank| !ranks.contains(rank)).collect();
        let goes = |of: &[usize]| !of.is_empty() && of.iter().all(|rank| !left.contains(rank));
        self.segments.iter().enumerate().filter(|(_, one)| goes(one.part.sources())).map(|(at, _)| at).collect()
    }

    /// The given beginning of the answer; may be empty.
    #[must_use]
    pub fn prefill(&self) -> &str {
        let prefill = self.segments.last().filter(|segment| segment.part == Part::Prefill);
        prefill.map_or("", |segment| segment.text.as_str())
    }

    /// The prompt with a given beginning of an answer in `language`.
    ///
    /// # Errors
    /// When the tokens cannot be counted.
    pub fn with_prefill(mut self, generator: &dyn Generate, language: Language) -> Result<Self, PromptError> {
        self.segments.push(segment(generator, Part::Prefill, answer_beginning(language).to_owned())?);
        Ok(self)
    }

    /// The prompt in the generator's form.
    pub fn parts(&self) -> Vec<PromptPart> {
        self.segments.iter().map(|s| PromptPart { text: s.text.clone(), special: s.special }).collect()
    }

    /// The prompt as one text, for people.
    pub fn text(&self) -> String {
        self.segments.iter().map(|segment| segment.text.as_str()).collect()
    }
}
