//! Evaluates attribution: whether it points to the page with the answer (RAGonite, Table 3).
//!
//! Measured over the questions with a gold page among the sources of their prompt. A method points to the best hit of
//! the cluster with the highest contribution; if no source changes the answer it points to nothing, which counts as
//! wrong.
//! Not here: attribution itself (`attribution`).

use serde::Serialize;

use super::aggregate::Measured;
use super::metric::{Metric, both};
use super::score::share;
use super::{Answered, EvalError, Question};
use ragonite_base::CancelToken;
use ragonite_inference::{Embed, Generate};
use ragonite_rag::attribution::{
    self, AnswerSource, Attribution, AttributionSettings, Cluster, Engines, ExplainInput, Method, Provenance,
    SMALLEST_CHANGE, SourceVector,
};

/// A variant of attribution with figures of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Cosine of answer and evidence, without clusters.
    Similarity,
    /// Masking one evidence at a time.
    PreviewUnclustered,
    /// Masking one cluster at a time.
    Preview,
    /// Divergence of predictions without one evidence at a time.
    JsdUnclustered,
    /// Divergence of predictions without one cluster at a time.
    Jsd,
    /// Loss of probability without one evidence at a time.
    LogprobUnclustered,
    /// Loss of probability without one cluster at a time.
    Logprob,
    /// Leaving out one evidence at a time.
    CounterfactualUnclustered,
    /// Leaving out one cluster at a time.
    Counterfactual,
}

/// Every variant, from rough to exact.
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

/// The unit of leaving out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removed {
    Evidence,
    Cluster,
}

impl Way {
    /// Its attribution method.
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

    /// Whether near-identical sources are left out together.
    pub(super) fn has_clusters(self) -> bool {
        self.removed() == Removed::Cluster
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

    /// Name in JSON.
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

    /// Name in tables.
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

/// The result of a variant for an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pointed {
    /// The variant.
    pub way: Way,
    /// The hit it points to; none if no source changes the answer.
    pub rank: Option<usize>,
    /// Whether that hit is on a gold page.
    pub is_gold: bool,
    /// Whether some source is decisive.
    pub decisive: bool,
}

/// What a method says of a source that has nothing to do with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// The method.
    pub method: Method,
    /// The contribution of that source.
    pub contribution: f64,
}

/// The methods whose values have noise: they read probabilities.
pub const NOISY: [Method; 3] = [Method::Preview, Method::Logprob, Method::Jsd];

/// An answer with the results of all variants.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The answer.
    pub answered: Answered,
    /// One per variant; empty without a gold page among the sources.
    pub pointed: Vec<Pointed>,
    /// What each method says of a source that has nothing to do with the answer; empty if none was added.
    pub noise: Vec<Noise>,
}

impl Explained {
    fn of(&self, way: Way) -> Option<&Pointed> {
        self.pointed.iter().find(|pointed| pointed.way == way)
    }
}

/// Metrics of the paper and of its baselines.
pub const AS_IN_PAPER: &[Metric] = &[
    Metric::GoldRetrievedRate,
    Metric::Accuracy(Way::Similarity),
    Metric::Accuracy(Way::CounterfactualUnclustered),
    Metric::Accuracy(Way::Counterfactual),
    Metric::DecisiveRate,
    Metric::FirstHitAccuracy,
    Metric::OosRate,
];

/// Metrics of the methods that generate nothing.
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

/// The input of attribution.
pub struct Explaining<'a> {
    /// The variants to compare.
    pub ways: &'a [Way],
    /// The vectors of the answer's hits.
    pub sources: &'a [SourceVector],
    /// The generator that gave the answers.
    pub generator: &'a mut dyn Generate,
    /// Embeds answers to compare them.
    pub embedder: &'a dyn Embed,
    /// Settings of clustering and scoring.
    pub settings: &'a AttributionSettings,
    /// Most tokens of a counterfactual answer.
    pub max_tokens: usize,
}

/// Attributes an answer with each variant. `on_cluster` gets the number of settled clusters and of all.
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
            let mut on_progress = |done, total| on_cluster(*way, done, total);
            let attribution = explaining.attribution(*way, &answered, cancel, &mut on_progress)?;
            pointed.push(point(*way, &attribution, &answered));
        }
    }
    Ok(Explained { answered, pointed, noise: Vec::new() })
}

/// What each noisy method says of the last source, which was added to the prompt.
///
/// # Errors
/// When a model fails, or with [`EvalError::Canceled`].
pub fn noise(
    answered: &Answered,
    mut explaining: Explaining<'_>,
    cancel: &CancelToken,
) -> Result<Vec<Noise>, EvalError> {
    let mut noise = Vec::new();
    let Some(added) = answered.hits.last().map(|hit| hit.rank) else { return Ok(noise) };
    for way in [Way::PreviewUnclustered, Way::LogprobUnclustered, Way::JsdUnclustered] {
        let attribution = explaining.attribution(way, answered, cancel, &mut |_, _| {})?;
        let of_added = attribution.clusters.iter().find(|cluster| cluster.hits == [added]);
        noise.extend(of_added.map(|cluster| Noise { method: way.method(), contribution: cluster.contribution }));
    }
    Ok(noise)
}

/// The values below which these shares of the noise of a method lie, by method; none without noise.
#[must_use]
pub fn noise_quantiles(explained: &[Explained], method: Method, parts: &[f64]) -> Vec<f64> {
    let noise = explained.iter().flat_map(|one| &one.noise).filter(|noise| noise.method == method);
    let mut values: Vec<f64> = noise.map(|noise| noise.contribution).collect();
    values.sort_by(f64::total_cmp);
    let at = |part: f64| (part * (values.len().saturating_sub(1)) as f64).ceil() as usize;
    parts.iter().filter_map(|part| values.get(at(*part)).copied()).collect()
}

impl Explaining<'_> {
    /// Attributes an answer with a variant.
    pub(super) fn attribution(
        &mut self,
        way: Way,
        answered: &Answered,
        cancel: &CancelToken,
        on_cluster: &mut dyn FnMut(usize, usize),
    ) -> Result<Attribution, EvalError> {
        // No source has that many neighbours, so every source is a cluster of its own.
        let alone = AttributionSettings { min_points: usize::MAX, ..self.settings.clone() };
        let settings = match way.removed() {
            Removed::Evidence => &alone,
            Removed::Cluster => self.settings,
        };
        let input = ExplainInput {
            question: &answered.query,
            answer: &answered.answer,
            sources: self.sources,
            origin: AnswerSource::Here,
            known: &[],
            settings,
            max_tokens: self.max_tokens,
        };
        let mut on_progress = |done, total, _: &[Cluster]| on_cluster(done, total);
        let engines = Engines { generator: &mut *self.generator, embedder: self.embedder };
        Ok(attribution::attribute(way.method(), input, engines, cancel, &mut on_progress)?)
    }
}

fn point(way: Way, attribution: &Attribution, answered: &Answered) -> Pointed {
    // The highest contribution comes first.
    let top = attribution.clusters.first().filter(|top| is_result(top));
    let rank = top.and_then(|top| top.hits.iter().min().copied());
    let is_gold = rank.is_some_and(|rank| answered.is_gold(rank));
    Pointed { way, rank, is_gold, decisive: attribution.decisive }
}

/// Whether a cluster may be pointed to: one that leaves the words of the answer unchanged is no result.
pub(super) fn is_result(cluster: &Cluster) -> bool {
    cluster.how == Provenance::Similarity || cluster.contribution > SMALLEST_CHANGE
}
