//! The steps pane, behind the scenes: every step of the selected turn, with its input and output.
//!
//! Not here: drawing (`view`), the lines of a step (`lines`), the meaning of a logprob delta (`attribution`).

mod lines;
mod logprob;
pub(crate) mod messages;
mod settings_used;
mod view;

use super::outline::Outline;
use super::outline_cache::Kept;

pub(super) use view::{draw, text};

/// A foldable section, in the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// How the question was completed.
    Rewrite,
    /// Hits of the dense retriever.
    Dense,
    /// Hits of the lexical retriever.
    Lexical,
    /// Both lists fused.
    Fused,
    /// The prompt.
    Prompt,
    /// A segment of the prompt.
    Segment(usize),
    /// What did not fit.
    Cut,
    /// The raw answer.
    Raw,
    /// One counterfactual generation: cluster, iteration.
    Counterfactual(usize, usize),
    /// Prompt of a counterfactual generation: cluster, iteration.
    CounterfactualPrompt(usize, usize),
    /// Logprob deltas of a cluster, token by token.
    Drops(usize),
    /// Time and tokens.
    Costs,
    /// Settings of the turn.
    Settings,
}

impl Section {
    /// Sections that are open at first.
    const OPEN_AT_FIRST: [Self; 3] = [Self::Rewrite, Self::Fused, Self::Costs];

    /// The enclosing section.
    fn outer(self) -> Option<Self> {
        match self {
            Self::Segment(_) => Some(Self::Prompt),
            Self::CounterfactualPrompt(cluster, iteration) => Some(Self::Counterfactual(cluster, iteration)),
            _ => None,
        }
    }
}

/// State of the steps pane: open sections, position, cached lines.
#[derive(Debug, Clone)]
pub(super) struct StepsView {
    pub(super) outline: Outline<Section>,
    pub(super) kept: Kept<Section>,
}

impl Default for StepsView {
    fn default() -> Self {
        Self { outline: Outline::with_open(Section::OPEN_AT_FIRST), kept: Kept::default() }
    }
}
