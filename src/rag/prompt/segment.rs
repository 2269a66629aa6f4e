//! A prompt as labelled segments.

use serde::{Deserialize, Serialize};

use super::build::segment;
use super::wording::lead;
use super::{PromptError, SourceOrder};
use ragonite_base::{EvidenceId, Language};
use ragonite_inference::{Generate, PromptPart, SpecialTokens};

/// What a segment is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Text of the model's chat template.
    Template,
    /// Domain prefix and instructions.
    System,
    /// What stands before or after several evidences.
    #[serde(rename = "around")]
    SharedContext {
        /// Their numbers as sources, ascending.
        ranks: Vec<usize>,
    },
    /// One evidence.
    Evidence {
        /// Its number as a source.
        rank: usize,
    },
    /// Earlier turns.
    History,
    /// The question.
    Question,
    /// How the answer begins, where that is given.
    #[serde(rename = "lead")]
    Prefill,
}

impl Part {
    /// Numbers of the sources that this is text of, ascending: of one, or of all that it is around.
    #[must_use]
    pub fn sources(&self) -> &[usize] {
        match self {
            Self::Evidence { rank } => std::slice::from_ref(rank),
            Self::SharedContext { ranks } => ranks,
            Self::Template | Self::System | Self::History | Self::Question | Self::Prefill => &[],
        }
    }
}

/// One piece of a prompt, tokenized on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What it is for.
    pub part: Part,
    /// Its text.
    pub text: String,
    /// How it is tokenized.
    pub special: SpecialTokens,
    /// Its length in tokens.
    pub tokens: usize,
}

/// Why an evidence is not in the prompt as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CutHow {
    /// It is not in the prompt.
    Dropped,
    /// It is in the prompt up to a row or sentence.
    Shortened,
    /// It is not in the prompt: the version of its page that the question is about is.
    Version,
    /// Its content is in the prompt as a whole; text before or after it stands in another source, or apart from all that it
    /// is around.
    Neighbour,
}

/// An evidence that is not in the prompt as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Its number as a source.
    pub rank: usize,
    /// The evidence.
    pub evidence: EvidenceId,
    /// How many of its tokens are missing.
    pub tokens: usize,
    /// Why.
    pub how: CutHow,
}

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The pieces in order.
    pub segments: Vec<Segment>,
    /// Texts that end the generation.
    pub stop: Vec<String>,
    /// Evidences that did not fit.
    pub cut: Vec<Cut>,
}

impl Prompt {
    /// Length in tokens.
    pub fn tokens(&self) -> usize {
        self.segments.iter().map(|segment| segment.tokens).sum()
    }

    /// Numbers of the sources in the prompt, best (lowest) first.
    pub fn sources(&self) -> Vec<usize> {
        let mut ranks = self.ranks();
        ranks.sort_unstable();
        ranks
    }

    /// Numbers of the sources as they stand in the prompt.
    fn ranks(&self) -> Vec<usize> {
        let rank = |segment: &Segment| match segment.part {
            Part::Evidence { rank } => Some(rank),
            _ => None,
        };
        self.segments.iter().filter_map(rank).collect()
    }

    /// In which order its sources stand; none of fewer than two. Where the orders agree, that by rank is named.
    pub fn order(&self) -> Option<SourceOrder> {
        match self.ranks().as_slice() {
            [] | [_] => None,
            all if all.is_sorted() => Some(SourceOrder::BestFirst),
            all if all.is_sorted_by(|a, b| a > b) => Some(SourceOrder::BestLast),
            [first, others @ ..] if others.iter().all(|other| other > first) => Some(SourceOrder::BestThenLongest),
            _ => Some(SourceOrder::LongestFirst),
        }
    }

    /// The same prompt with these sources left out; every other token stays as it is. What is around several sources goes
    /// with the last of them.
    #[must_use]
    pub fn without(&self, ranks: &[usize]) -> Self {
        let gone = self.places(ranks);
        let stay = self.segments.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        let segments = stay.map(|(_, segment)| segment.clone()).collect();
        Self { segments, stop: self.stop.clone(), cut: self.cut.clone() }
    }

    /// Places of the segments that are left out with these sources, ascending.
    pub fn places(&self, ranks: &[usize]) -> Vec<usize> {
        let left: Vec<usize> = self.ranks().into_iter().filter(|rank| !ranks.contains(rank)).collect();
        let goes = |of: &[usize]| !of.is_empty() && of.iter().all(|rank| !left.contains(rank));
        self.segments.iter().enumerate().filter(|(_, one)| goes(one.part.sources())).map(|(at, _)| at).collect()
    }

    /// How the answer begins; empty where that is left to the model.
    #[must_use]
    pub fn prefill(&self) -> &str {
        let lead = self.segments.last().filter(|segment| segment.part == Part::Prefill);
        lead.map_or("", |segment| segment.text.as_str())
    }

    /// The same prompt with the beginning of an answer in `language`, which the model goes on from.
    ///
    /// # Errors
    /// When the tokens cannot be counted.
    pub fn with_prefill(mut self, generator: &dyn Generate, language: Language) -> Result<Self, PromptError> {
        self.segments.push(segment(generator, Part::Prefill, lead(language).to_owned())?);
        Ok(self)
    }

    /// The prompt as the generator takes it.
    pub fn parts(&self) -> Vec<PromptPart> {
        self.segments.iter().map(|s| PromptPart { text: s.text.clone(), special: s.special }).collect()
    }

    /// The prompt as one text, for people.
    pub fn text(&self) -> String {
        self.segments.iter().map(|segment| segment.text.as_str()).collect()
    }
}
