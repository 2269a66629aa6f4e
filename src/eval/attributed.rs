//! Whether attribution points at the page that has the answer (RAGonite, Table 3).
//!
//! Taken over the questions with a gold page among the sources of their prompt. A method points at the best-ranked hit
//! of the cluster with the highest contribution; one that finds that no source changes the answer points at nothing,
//! and counts as wrong.
//! Not here: attribution itself (`attribution`).

use serde::Serialize;

use super::answers::share;
use super::figures::{Figures, Measure, not_in_paper};
use super::{Answered, EvalError, paper};
use crate::answer::read_answer;
use crate::attribution::{
    Attribution, AttributionSettings, Cluster, Engines, ExplainInput, How, Method, Reading, SimilarityInput,
    SourceVector, explain, preview, probability, similarity,
};
use crate::base::CancelToken;
use crate::inference::{Embed, Generate};

/// A way to attribute, as far as figures tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Cosine of answer and evidence, each evidence by itself.
    Similarity,
    /// Hiding one evidence after the other.
    PreviewUnclustered,
    /// Hiding one cluster after the other.
    Preview,
    /// How far predictions move without one evidence after the other.
    JsdUnclustered,
    /// How far predictions move without one cluster after the other.
    Jsd,
    /// How much less probable the answer is without one evidence after the other.
    LogprobUnclustered,
    /// How much less probable the answer is without one cluster after the other.
    Logprob,
    /// Leaving out one evidence after the other.
    CounterfactualUnclustered,
    /// Leaving out one cluster after the other.
    Counterfactual,
}

/// Every way, from rough to exact.
pub const WAYS: [Way; 9] = [
    Way::Similarity,
    Way::PreviewUnclustered,
    Way::Preview,
    Way::JsdUnclustered,
    Way::Jsd,
    Way::LogprobUnclustered,
    Way::Logprob,
    Way::CounterfactualUnclustered,
    Way::Counterfactual,
];

/// What is removed at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removed {
    Evidence,
    Cluster,
}

impl Way {
    /// The method it belongs to.
    #[must_use]
    pub fn method(self) -> Method {
        match self {
            Self::Similarity => Method::Similarity,
            Self::PreviewUnclustered | Self::Preview => Method::Preview,
            Self::JsdUnclustered | Self::Jsd => Method::Jsd,
            Self::LogprobUnclustered | Self::Logprob => Method::Logprob,
            Self::CounterfactualUnclustered | Self::Counterfactual => Method::Counterfactual,
        }
    }

    fn removed(self) -> Removed {
        match self {
            Self::Preview | Self::Jsd | Self::Logprob | Self::Counterfactual => Removed::Cluster,
            Self::Similarity
            | Self::PreviewUnclustered
            | Self::JsdUnclustered
            | Self::LogprobUnclustered
            | Self::CounterfactualUnclustered => Removed::Evidence,
        }
    }

    /// In words, for a sentence.
    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::PreviewUnclustered => "the preview without clusters",
            Self::Preview => "the preview",
            Self::JsdUnclustered => "divergence without clusters",
            Self::Jsd => "divergence",
            Self::LogprobUnclustered => "log-probability without clusters",
            Self::Logprob => "log-probability",
            Self::CounterfactualUnclustered => "counterfactuals without clusters",
            Self::Counterfactual => "counterfactuals",
        }
    }

    /// Name of its accuracy among the figures.
    pub(super) fn accuracy(self) -> &'static str {
        match self {
            Self::Similarity => "attribution_accuracy.similarity",
            Self::PreviewUnclustered => "attribution_accuracy.preview_unclustered",
            Self::Preview => "attribution_accuracy.preview",
            Self::JsdUnclustered => "attribution_accuracy.jsd_unclustered",
            Self::Jsd => "attribution_accuracy.jsd",
            Self::LogprobUnclustered => "attribution_accuracy.logprob_unclustered",
            Self::Logprob => "attribution_accuracy.logprob",
            Self::CounterfactualUnclustered => "attribution_accuracy.counterfactual_unclustered",
            Self::Counterfactual => "attribution_accuracy.counterfactual",
        }
    }
}

/// What one way says of one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pointed {
    /// How.
    pub way: Way,
    /// The hit it points at; none where no source changes the answer.
    pub rank: Option<usize>,
    /// Whether that is on a gold page.
    pub is_gold: bool,
    /// Whether some source stands out from the others.
    pub decisive: bool,
}

/// An answer with what each way says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The answer.
    pub answered: Answered,
    /// One for each way; none of them where no gold page was among the sources.
    pub pointed: Vec<Pointed>,
}

impl Explained {
    fn of(&self, way: Way) -> Option<&Pointed> {
        self.pointed.iter().find(|pointed| pointed.way == way)
    }

    pub(super) fn right(&self, way: Way) -> Option<f64> {
        self.of(way).map(|pointed| share(pointed.is_gold))
    }

    fn decisive(&self, way: Way) -> Option<f64> {
        self.of(way).map(|pointed| share(pointed.decisive))
    }
}

/// The accuracy of a way.
macro_rules! accuracy {
    ($way:ident, $name:literal, $title:literal) => {
        Measure {
            name: $name,
            title: $title,
            value: |one: &Explained| one.right(Way::$way),
            paper: |slice| paper::attribution(slice, Way::$way),
        }
    };
}

/// The first of the measures are those the paper has, and what they are to be held against.
pub const AS_IN_PAPER: usize = 7;

const MEASURES: &[Measure<Explained>] = &[
    Measure {
        name: "gold_retrieved_rate",
        title: "gold retrieved",
        value: |one| Some(share(!one.pointed.is_empty())),
        paper: not_in_paper,
    },
    accuracy!(Similarity, "attribution_accuracy.similarity", "similarity"),
    accuracy!(
        CounterfactualUnclustered,
        "attribution_accuracy.counterfactual_unclustered",
        "counterfactual, no clusters"
    ),
    accuracy!(Counterfactual, "attribution_accuracy.counterfactual", "counterfactual"),
    Measure {
        name: "decisive_rate.counterfactual",
        title: "decisive",
        value: |one| one.decisive(Way::Counterfactual),
        paper: not_in_paper,
    },
    Measure {
        name: "first_hit_accuracy",
        title: "first hit",
        value: |one| (!one.pointed.is_empty()).then(|| share(one.answered.is_gold(1))),
        paper: not_in_paper,
    },
    Measure {
        name: "oos_rate",
        title: "out of scope",
        value: |one| Some(share(!one.answered.answer.answered)),
        paper: not_in_paper,
    },
    accuracy!(PreviewUnclustered, "attribution_accuracy.preview_unclustered", "preview, no clusters"),
    accuracy!(Preview, "attribution_accuracy.preview", "preview"),
    accuracy!(LogprobUnclustered, "attribution_accuracy.logprob_unclustered", "logprob, no clusters"),
    accuracy!(Logprob, "attribution_accuracy.logprob", "logprob"),
    accuracy!(JsdUnclustered, "attribution_accuracy.jsd_unclustered", "jsd, no clusters"),
    accuracy!(Jsd, "attribution_accuracy.jsd", "jsd"),
];

/// The figures of attribution.
#[must_use]
pub fn attribution_figures(explained: &[Explained]) -> Figures {
    Figures::of(MEASURES, &explained.iter().map(|one| (&one.answered.question, one)).collect::<Vec<_>>())
}

/// What explaining needs.
pub struct Explaining<'a> {
    /// The ways that are compared.
    pub ways: &'a [Way],
    /// The vectors of the answer's hits.
    pub sources: &'a [SourceVector],
    /// The generator that gave the answers.
    pub generator: &'a mut dyn Generate,
    /// Embeds answers to compare them.
    pub embedder: &'a dyn Embed,
    /// How to cluster and score.
    pub settings: &'a AttributionSettings,
    /// Most tokens of a counterfactual answer.
    pub max_tokens: usize,
}

/// Attributes an answer in each way. `on_cluster` hears how many clusters are settled and how many there are.
///
/// # Errors
/// When a model fails, or with [`EvalError::Canceled`].
pub fn attribute(
    answered: Answered,
    mut explaining: Explaining<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(Way, usize, usize),
) -> Result<Explained, EvalError> {
    let mut pointed = Vec::new();
    if answered.has_gold() {
        for way in explaining.ways {
            let mut hear = |done, total| on_cluster(*way, done, total);
            let attribution = explaining.attribution(*way, &answered, cancel, &mut hear)?;
            pointed.push(point(*way, &attribution, &answered));
        }
    }
    Ok(Explained { answered, pointed })
}

impl Explaining<'_> {
    fn attribution(
        &mut self,
        way: Way,
        answered: &Answered,
        cancel: &CancelToken,
        on_cluster: &mut dyn FnMut(usize, usize),
    ) -> Result<Attribution, EvalError> {
        let sources = self.sources;
        // With a core of more points than there can be, every source is a cluster of its own.
        let alone = AttributionSettings { min_points: usize::MAX, ..self.settings.clone() };
        let settings = match way.removed() {
            Removed::Evidence => &alone,
            Removed::Cluster => self.settings,
        };
        let in_prompt = answered.answer.prompt.sources();
        let present = |text: &str| read_answer(text, &in_prompt).0.text;
        let input = ExplainInput {
            question: &answered.query,
            answer: &answered.answer,
            sources,
            settings,
            max_tokens: self.max_tokens,
            present: &present,
        };
        let mut hear = |done, total, _: &[Cluster]| on_cluster(done, total);
        Ok(match way.method() {
            Method::Similarity => {
                let input = SimilarityInput { answer: &answered.answer, sources, settings };
                similarity(input, self.embedder, cancel)?
            }
            Method::Preview => preview(input, self.generator, cancel, &mut hear)?,
            Method::Logprob => probability(input, Reading::Logprob, self.generator, cancel, &mut hear)?,
            Method::Jsd => probability(input, Reading::Divergence, self.generator, cancel, &mut hear)?,
            Method::Counterfactual => {
                let engines = Engines { generator: &mut *self.generator, embedder: self.embedder };
                explain(input, engines, cancel, &mut hear)?
            }
        })
    }
}

fn point(way: Way, attribution: &Attribution, answered: &Answered) -> Pointed {
    // The highest contribution comes first.
    let top = attribution.clusters.first().filter(|top| top.how == How::Similarity || top.contribution > 0.0);
    let rank = top.and_then(|top| top.hits.iter().min().copied());
    let is_gold = rank.is_some_and(|rank| answered.is_gold(rank));
    Pointed { way, rank, is_gold, decisive: attribution.decisive }
}
