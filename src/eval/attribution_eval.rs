//! Whether attribution points at the page that has the answer (RAGonite, Table 3).
//!
//! Taken over the questions with a gold page among the sources of their prompt. A method points at the best-ranked hit
//! of the cluster with the highest contribution; one that finds that no source changes the answer points at nothing,
//! and counts as wrong.
//! Not here: attribution itself (`attribution`).

use serde::Serialize;

use super::aggregate::Measured;
use super::metric::{Metric, both};
use super::score::share;
use super::{Answered, EvalError, Question};
use ragonite_base::CancelToken;
use ragonite_inference::{Completion, Embed, Generate};
use ragonite_rag::answer::read_answer;
use ragonite_rag::attribution::{
    AnswerSource, Attribution, AttributionSettings, Cluster, Engines, ExplainInput, Method, Provenance, Reading,
    SMALLEST_CHANGE, SimilarityInput, SourceVector, explain, masked_estimate, probability, similarity,
};

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

    /// In JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::PreviewUnclustered => "preview_unclustered",
            Self::Preview => "preview",
            Self::JsdUnclustered => "jsd_unclustered",
            Self::Jsd => "jsd",
            Self::LogprobUnclustered => "logprob_unclustered",
            Self::Logprob => "logprob",
            Self::CounterfactualUnclustered => "counterfactual_unclustered",
            Self::Counterfactual => "counterfactual",
        }
    }

    /// In tables.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::PreviewUnclustered => "preview, no clusters",
            Self::Preview => "preview",
            Self::JsdUnclustered => "jsd, no clusters",
            Self::Jsd => "jsd",
            Self::LogprobUnclustered => "logprob, no clusters",
            Self::Logprob => "logprob",
            Self::CounterfactualUnclustered => "counterfactual, no clusters",
            Self::Counterfactual => "counterfactual",
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
}

/// What the paper has, and what that is to be held against.
pub const AS_IN_PAPER: &[Metric] = &[
    Metric::GoldRetrievedRate,
    Metric::Accuracy(Way::Similarity),
    Metric::Accuracy(Way::CounterfactualUnclustered),
    Metric::Accuracy(Way::Counterfactual),
    Metric::DecisiveRate,
    Metric::FirstHitAccuracy,
    Metric::OosRate,
];

/// The methods that generate nothing.
pub const WITHOUT_ANSWERS: &[Metric] = &[
    Metric::Accuracy(Way::PreviewUnclustered),
    Metric::Accuracy(Way::Preview),
    Metric::Accuracy(Way::LogprobUnclustered),
    Metric::Accuracy(Way::Logprob),
    Metric::Accuracy(Way::JsdUnclustered),
    Metric::Accuracy(Way::Jsd),
];

impl Measured for Explained {
    const NAMES: &'static [Metric] =
        &both::<{ AS_IN_PAPER.len() + WITHOUT_ANSWERS.len() }>(AS_IN_PAPER, WITHOUT_ANSWERS);

    fn question(&self) -> &Question {
        &self.answered.question
    }

    fn value(&self, name: Metric) -> Option<f64> {
        match name {
            Metric::GoldRetrievedRate => Some(share(!self.pointed.is_empty())),
            Metric::Accuracy(way) => self.of(way).map(|pointed| share(pointed.is_gold)),
            Metric::DecisiveRate => self.of(Way::Counterfactual).map(|pointed| share(pointed.decisive)),
            Metric::FirstHitAccuracy => (!self.pointed.is_empty()).then(|| share(self.answered.is_gold(1))),
            Metric::OosRate => Some(share(!self.answered.answer.answered)),
            _ => None,
        }
    }
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
        let present = |said: &Completion| read_answer(said, &answered.answer.prompt).0.text;
        let input = ExplainInput {
            question: &answered.query,
            answer: &answered.answer,
            sources,
            origin: AnswerSource::Here,
            known: &[],
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
            Method::Preview => masked_estimate(input, self.generator, cancel, &mut hear)?,
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
    // The highest contribution comes first. What leaves the words of the answer as they are points nowhere.
    let counts = |top: &&Cluster| top.how == Provenance::Similarity || top.contribution > SMALLEST_CHANGE;
    let top = attribution.clusters.first().filter(counts);
    let rank = top.and_then(|top| top.hits.iter().min().copied());
    let is_gold = rank.is_some_and(|rank| answered.is_gold(rank));
    Pointed { way, rank, is_gold, decisive: attribution.decisive }
}
