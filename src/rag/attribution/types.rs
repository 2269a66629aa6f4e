//! Results of attribution.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::score::{Effect, SAME_ANSWER, normalize_shares};
use crate::prompt::Prompt;
use ragonite_base::Millis;
use ragonite_inference::Completion;

/// How contributions are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Cosine of answer and evidence: the naive baseline.
    Similarity,
    /// Mask one cluster: an estimate.
    Preview,
    /// Leave out one cluster and regenerate.
    #[default]
    Counterfactual,
    /// Leave out one cluster and take the loss of probability of the original answer.
    Logprob,
    /// Leave out one cluster and take the Jensen-Shannon divergence of the predictions.
    Jsd,
}

impl Method {
    /// Every method, from fast to slow.
    pub const ALL: [Self; 5] = [Self::Similarity, Self::Preview, Self::Logprob, Self::Jsd, Self::Counterfactual];

    /// The name in configurations and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::Preview => "preview",
            Self::Counterfactual => "counterfactual",
            Self::Logprob => "logprob",
            Self::Jsd => "jsd",
        }
    }

    /// Whether the method needs the generator.
    #[must_use]
    pub fn asks_the_model(self) -> bool {
        self != Self::Similarity
    }

    /// The provenance of drops in clusters without `drops_how`; none if the method has no drops.
    #[must_use]
    pub fn drops(self) -> Option<Provenance> {
        match self {
            Self::Similarity => None,
            Self::Preview | Self::Counterfactual => Some(Provenance::Preview),
            Self::Logprob | Self::Jsd => Some(Provenance::Logprob),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Method {
    /// A description in a line.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Similarity => "similarity of answer and evidence",
            Self::Preview => "preview: one cluster hidden from the answer, an estimate",
            Self::Counterfactual => "counterfactual: one cluster left out, answer generated again",
            Self::Logprob => "logprob: one cluster left out, how much less probable the same answer is",
            Self::Jsd => "jsd: one cluster left out, how far the predictions of its words move, in bits",
        }
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|method| method.name() == text);
        known.ok_or_else(|| UnknownMethod(ragonite_base::clean_line(text)))
    }
}

/// A text that is no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no attribution method: use similarity, preview, logprob, jsd or counterfactual")]
pub struct UnknownMethod(String);

/// How a value was computed; shown beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// The original answer was verified as a draft, token by token.
    Verified,
    /// The answer was regenerated without the cluster.
    Regenerated,
    /// Left out with other clusters. Contribution 0: the answer without all of them has the tokens of the original.
    /// Otherwise `hits` and contribution are those of the whole group.
    Group,
    /// Estimated by masking the cluster.
    Preview,
    /// Cosine of answer and evidence.
    Similarity,
    /// Loss of probability of the original answer without the cluster.
    Logprob,
    /// Divergence of the predictions without the cluster.
    Jsd,
}

impl Provenance {
    /// A short label beside the value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Regenerated => "regenerated",
            Self::Group => "group, left out together with others",
            Self::Preview => "preview, an estimate",
            Self::Similarity => "similarity, no effect measured",
            Self::Logprob => "log-probability without it",
            Self::Jsd => "divergence without it",
        }
    }
}

/// A counterfactual answer, kept for the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counterfactual {
    /// The prompt.
    pub prompt: Prompt,
    /// The output of the model.
    pub completion: Completion,
    /// Cosine with the original answer of the same iteration, both without citations and after the completed question;
    /// 1 for equal texts.
    pub similarity: f64,
}

/// A cluster of near-identical hits with its effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Ranks of its hits, ascending.
    pub hits: Vec<usize>,
    /// How the contribution was computed.
    pub how: Provenance,
    /// Counterfactual: 1 minus the mean similarity of the answers with and without the cluster. `similarity`: the
    /// cosine. `masked_estimate` and `logprob`: 1 minus the factor by which a token of the answer becomes less
    /// probable. `jsd`: the mean Jensen-Shannon divergence of the predictions in bits.
    pub contribution: f64,
    /// Masked softmax of the contributions, in 0..=1; none up to the [`floor`](super::floor) of the method.
    pub share: Option<f64>,
    /// The clean answer without the cluster or its group, of the first iteration; none if nothing was generated.
    pub counterfactual_answer: Option<String>,
    /// The counterfactual answers, one per iteration.
    #[serde(default)]
    pub counterfactuals: Vec<Counterfactual>,
    /// Drop of the natural logprob of each token of the answer without the cluster, times the share of the token that is
    /// no citation; empty if not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<f32>,
    /// Whether the cluster was masked ([`Provenance::Preview`]) or left out ([`Provenance::Logprob`]) for the drops; by
    /// default as in [`Method::drops`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops_how: Option<Provenance>,
    /// Jensen-Shannon divergence of the predictions of the first tokens in bits, times the same share; empty if not
    /// computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergences: Vec<f32>,
}

impl Cluster {
    /// The contribution with its provenance.
    #[must_use]
    pub fn effect(&self) -> Effect {
        Effect { how: self.how, contribution: self.contribution }
    }

    /// Whether the effect of this cluster alone is known: not for an estimate or a group.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self.how {
            Provenance::Verified | Provenance::Regenerated => true,
            Provenance::Group => self.contribution == 0.0,
            Provenance::Preview | Provenance::Similarity | Provenance::Logprob | Provenance::Jsd => false,
        }
    }

    /// The drop of the natural logprob of the whole answer.
    #[must_use]
    pub fn drop(&self) -> Option<f64> {
        (!self.drops.is_empty()).then(|| self.drops.iter().copied().map(f64::from).sum())
    }
}

/// A drop as the shown change, with `decimals` decimals; zero has no sign.
#[must_use]
pub fn change_of(drop: f64, decimals: usize) -> String {
    let text = format!("{:+.decimals$}", -drop);
    if text.contains(|c: char| ('1'..='9').contains(&c)) { text } else { format!("{:.decimals$}", 0.0) }
}

/// The attribution of a sentence of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// The sentence as shown, with its citations.
    pub text: String,
    /// Its tokens. All sentences together cover all tokens, in order.
    pub tokens: Range<usize>,
    /// The sources that it cites, or that the end of its paragraph cites for it, ascending.
    #[serde(default)]
    pub cited: Vec<usize>,
    /// False if no single source decides.
    pub decisive: bool,
    /// The clusters, highest contribution first.
    pub clusters: Vec<SentenceCluster>,
}

/// The effect of a cluster on a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceCluster {
    /// Ranks of its hits, ascending.
    pub hits: Vec<usize>,
    /// How the drops were computed.
    pub how: Provenance,
    /// Sum of the drops over the tokens of the sentence.
    pub drop: f64,
    /// 1 minus the factor by which a token of the sentence becomes less probable.
    pub contribution: f64,
    /// Masked softmax of the contributions; none as for a [`Cluster`].
    pub share: Option<f64>,
}

/// Time per step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttributionTimings {
    /// Clustering the hits.
    pub cluster: Millis,
    /// Estimating before generating.
    pub preview: Millis,
    /// Generating the counterfactual answers.
    pub generate: Millis,
    /// Embedding and comparing the answers.
    pub compare: Millis,
    /// The whole attribution.
    pub total: Millis,
}

/// Shown before a regenerated answer that is explained instead of the stored one.
pub const ANSWER_CHANGED: &str =
    "From the same prompt the model answers otherwise now. What is explained is this answer:";

/// The attribution of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// The method.
    pub method: Method,
    /// False if no single source decides: no cluster has a share, or the shares are flat
    /// ([`FLAT_RATIO`](super::FLAT_RATIO)).
    pub decisive: bool,
    /// The clusters, highest contribution first.
    pub clusters: Vec<Cluster>,
    /// The regenerated original, if it differs from the stored answer; counterfactual answers are compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The samples of further iterations with every source; each counterfactual answer is compared with the sample of
    /// its iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resampled: Vec<Completion>,
    /// The answer without any source; only where no cluster by itself changes the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_sources: Option<Counterfactual>,
    /// Clusters missing because the explanation was stopped; the shares are among the others, and nothing is decisive.
    #[serde(default, skip_serializing_if = "is_none_missing")]
    pub missing: usize,
    /// Time per step.
    #[serde(default)]
    pub timings_ms: AttributionTimings,
    /// The text of each token of the answer as generated; empty without drops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// The tokens that only cite or name a source; they count in no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citation_tokens: Vec<usize>,
    /// The attribution of each sentence; empty without drops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Sentence>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none_missing(missing: &usize) -> bool {
    *missing == 0
}

impl SentenceCluster {
    /// The contribution with its provenance.
    #[must_use]
    pub fn effect(&self) -> Effect {
        Effect { how: self.how, contribution: self.contribution }
    }
}

impl Attribution {
    /// An attribution without clusters.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            decisive: false,
            clusters: Vec::new(),
            instead: None,
            resampled: Vec::new(),
            without_sources: None,
            missing: 0,
            timings_ms: AttributionTimings::default(),
            tokens: Vec::new(),
            citation_tokens: Vec::new(),
            sentences: Vec::new(),
        }
    }

    /// The result of an explanation stopped with `total` clusters in all: the settled clusters with shares among
    /// themselves. None if no cluster was settled or none is missing.
    #[must_use]
    pub fn stopped(method: Method, clusters: &[Cluster], total: usize, temperature: f64) -> Option<Self> {
        let mut clusters: Vec<Cluster> = clusters.iter().filter(|cluster| cluster.is_settled()).cloned().collect();
        normalize_shares(&mut clusters, temperature);
        let missing = total.saturating_sub(clusters.len());
        (!clusters.is_empty() && missing > 0).then(|| Self { clusters, missing, ..Self::new(method) })
    }

    /// The attribution by similarity that an explanation gave before it was stopped; none where an effect is known.
    #[must_use]
    pub fn of_similarities(clusters: &[Cluster]) -> Option<Self> {
        let are_similar = !clusters.is_empty() && clusters.iter().all(|cluster| cluster.how == Provenance::Similarity);
        are_similar.then(|| Self { clusters: clusters.to_vec(), ..Self::new(Method::Similarity) })
    }

    /// How many clusters were settled, in a line; none for a complete attribution.
    #[must_use]
    pub fn stopped_after(&self) -> Option<String> {
        let (done, missing) = (self.clusters.len(), self.missing);
        let total = done + missing;
        (missing > 0).then(|| format!("stopped after {done} of {total} clusters; shares among these only"))
    }

    /// The answer without any source, if it is nearly the text of the stored answer.
    #[must_use]
    pub fn same_without_sources(&self) -> Option<&Completion> {
        let is_same = |one: &&Counterfactual| 1.0 - one.similarity <= SAME_ANSWER;
        let same = self.without_sources.as_ref().filter(is_same);
        same.filter(|_| self.instead.is_none()).map(|one| &one.completion)
    }

    /// The attribution with its total time.
    #[must_use]
    pub(super) fn taking(mut self, total: Duration) -> Self {
        self.timings_ms.total = total.into();
        self
    }

    /// The generated answers, each once: with every source, then without some. Clusters of a group share theirs.
    pub fn generated(&self) -> impl Iterator<Item = &Completion> {
        let shares = |at: usize| {
            let cluster = &self.clusters[at];
            let before = self.clusters[..at].iter().filter(|other| other.how == Provenance::Group);
            cluster.how == Provenance::Group
                && before.into_iter().any(|other| other.counterfactuals == cluster.counterfactuals)
        };
        let once = (0..self.clusters.len()).filter(move |at| !shares(*at));
        let without = once.flat_map(|at| &self.clusters[at].counterfactuals).map(|one| &one.completion);
        self.resampled.iter().chain(without).chain(self.without_sources.iter().map(|one| &one.completion))
    }

    /// The provenance of a cluster's drops; none without drops.
    #[must_use]
    pub fn how_of_drops(&self, cluster: &Cluster) -> Option<Provenance> {
        cluster.drops_how.or(self.method.drops()).filter(|_| !cluster.drops.is_empty())
    }

    /// The common provenance of all drops; none if it differs or a cluster has no drops, since they are then not
    /// comparable.
    #[must_use]
    pub fn drops_how(&self) -> Option<Provenance> {
        let mut each = self.clusters.iter().map(|cluster| self.how_of_drops(cluster));
        let first = each.next()?;
        first.filter(|_| each.all(|how| how == first))
    }

    /// Whether clusters were left out together, so that leaving them out one by one would tell more.
    #[must_use]
    pub fn has_group(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.how == Provenance::Group)
    }

    /// This attribution with the sentences of `other`, which name their own provenance.
    #[must_use]
    pub fn with_sentences_of(self, other: Self) -> Self {
        Self { sentences: other.sentences, ..self }
    }
}
