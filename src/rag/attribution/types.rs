//! What attribution gives.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::score::normalize_shares;
use crate::prompt::Prompt;
use ragonite_base::Millis;
use ragonite_inference::Completion;

/// How contributions are computed, from quick to exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Softmax of the cosine of answer and evidence: the naive baseline.
    Similarity,
    /// Hide one cluster from the answer: an estimate.
    Preview,
    /// Leave one cluster out and regenerate.
    #[default]
    Counterfactual,
    /// Leave one cluster out and take how much less probable the original answer becomes.
    Logprob,
    /// Leave one cluster out and take how far the predictions of each next word move.
    Jsd,
}

impl Method {
    /// Every method, from quick to exact; those that generate nothing before the one that does.
    pub const ALL: [Self; 5] = [Self::Similarity, Self::Preview, Self::Logprob, Self::Jsd, Self::Counterfactual];

    /// Its name in a configuration and on the command line.
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

    /// Whether it needs the model that gave the answer.
    #[must_use]
    pub fn asks_the_model(self) -> bool {
        self != Self::Similarity
    }

    /// How the drops of its clusters come about where they do not say; none where it has none.
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
    /// What is done, in a line.
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

/// A text that names no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no attribution method: use similarity, preview, logprob, jsd or counterfactual")]
pub struct UnknownMethod(String);

/// How one cluster's value came about; shown beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// The original answer was checked as a draft and came out the same token by token.
    Verified,
    /// The answer was generated again without the cluster.
    Regenerated,
    /// Removed together with others: where the contribution is 0, the answer without all of them is the original token by
    /// token; else these are the hits of all of them, and the contribution is that of all.
    Group,
    /// Estimated by hiding the cluster from the answer.
    Preview,
    /// Cosine of answer and evidence.
    Similarity,
    /// The original answer's probability after the prompt without the cluster.
    Logprob,
    /// The predictions of each next word after the prompt without the cluster.
    Jsd,
}

impl Provenance {
    /// In a word or a few, as it is shown beside the value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Regenerated => "regenerated",
            Self::Group => "group, left out together with others",
            Self::Preview => "preview, an estimate",
            Self::Similarity => "similarity, rough",
            Self::Logprob => "log-probability without it",
            Self::Jsd => "divergence without it",
        }
    }
}

/// One counterfactual generation, kept for behind the scenes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counterfactual {
    /// What the model was asked.
    pub prompt: Prompt,
    /// What it said.
    pub completion: Completion,
    /// Cosine of this answer and the one of the same iteration with every source, both without their citations and with
    /// the completed question before them; 1 when they say the same.
    pub similarity: f64,
}

/// A cluster of near-identical hits and what it mattered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Ranks of its hits, ascending.
    pub hits: Vec<usize>,
    /// How its value came about.
    pub how: Provenance,
    /// 1 minus the mean similarity of the answers with and without it; for `similarity` the cosine itself,
    /// for `masked_estimate` and `logprob` 1 minus the factor by which a token of the answer becomes less probable; for `jsd` the
    /// mean Jensen-Shannon divergence of the predictions in bits.
    pub contribution: f64,
    /// Masked softmax of the contributions, a fraction; none where the contribution is exactly 0 or
    /// [`SMALLEST_CHANGE`](super::SMALLEST_CHANGE), and where the answer hardly moves without any cluster.
    pub share: Option<f64>,
    /// The answer without it (without its group where it was settled in one), clean; none where nothing was generated.
    /// Of several iterations the first.
    pub counterfactual_answer: Option<String>,
    /// The generations behind it, one per iteration.
    #[serde(default)]
    pub counterfactuals: Vec<Counterfactual>,
    /// By how much the natural logarithm of the probability of each token of the answer drops without the cluster; empty
    /// where that was not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<f32>,
    /// How it was taken away for that: hidden ([`Provenance::Preview`]) or left out ([`Provenance::Logprob`]). Where nothing is said, as
    /// [`Method::drops`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops_how: Option<Provenance>,
    /// The Jensen-Shannon divergence of the predictions of the first tokens, in bits; empty where that was not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergences: Vec<f32>,
}

impl Cluster {
    /// Whether it is known what it matters by itself: not where that is an estimate, or the value of a group.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self.how {
            Provenance::Verified | Provenance::Regenerated => true,
            Provenance::Group => self.contribution == 0.0,
            Provenance::Preview | Provenance::Similarity | Provenance::Logprob | Provenance::Jsd => false,
        }
    }

    /// The sum of its drops: by how much the natural logarithm of the probability of the whole answer drops.
    #[must_use]
    pub fn drop(&self) -> Option<f64> {
        (!self.drops.is_empty()).then(|| self.drops.iter().copied().map(f64::from).sum())
    }
}

/// A drop as the change that is shown, with so many decimals; nothing has no sign.
#[must_use]
pub fn change_of(drop: f64, decimals: usize) -> String {
    let text = format!("{:+.decimals$}", -drop);
    if text.contains(|c: char| ('1'..='9').contains(&c)) { text } else { format!("{:.decimals$}", 0.0) }
}

/// What a sentence of the answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// The sentence as it is shown, with its citations.
    pub text: String,
    /// The tokens of the answer it was made of. Those of all sentences are all tokens, in order.
    pub tokens: Range<usize>,
    /// False when no single source decides, as for a whole answer.
    pub decisive: bool,
    /// The clusters, highest contribution first.
    pub clusters: Vec<SentenceCluster>,
}

/// What a cluster mattered for a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceCluster {
    /// Ranks of its hits, ascending.
    pub hits: Vec<usize>,
    /// How the drops came about.
    pub how: Provenance,
    /// The sum of the drops over the sentence's tokens.
    pub drop: f64,
    /// 1 minus the factor by which a token of the sentence becomes less probable.
    pub contribution: f64,
    /// Masked softmax of the contributions, a fraction; none as for a [`Cluster`].
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
    /// All of it.
    pub total: Millis,
}

/// What is said before an answer that is explained instead of the stored one.
pub const ANSWER_CHANGED: &str =
    "From the same prompt the model answers otherwise now. What is explained is this answer:";

/// How much each cluster mattered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// How it was computed.
    pub method: Method,
    /// False when no single source decides: every contribution is 0 and no cluster has a share, or the shares are
    /// flat ([`FLAT_RATIO`](super::FLAT_RATIO)).
    pub decisive: bool,
    /// The clusters, highest contribution first.
    pub clusters: Vec<Cluster>,
    /// What the model says now from the same prompt, where that is not the stored answer: the answers without a cluster
    /// are held against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// Where answers were sampled several times: what the model said with every source in the second iteration and those
    /// after it. Each answer without a cluster is held against that of its iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resampled: Vec<Completion>,
    /// Clusters that are not among them because the explanation was stopped; the shares are those of the others, and
    /// nothing is said to be decisive.
    #[serde(default, skip_serializing_if = "is_none_missing")]
    pub missing: usize,
    /// Time per step.
    #[serde(default)]
    pub timings_ms: AttributionTimings,
    /// The text of each token of the answer, as the model wrote it; empty where no drops were computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// What each sentence of the answer rests on; empty where no drops were computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Sentence>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none_missing(missing: &usize) -> bool {
    *missing == 0
}

impl Attribution {
    /// One without any cluster.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            decisive: false,
            clusters: Vec::new(),
            instead: None,
            resampled: Vec::new(),
            missing: 0,
            timings_ms: AttributionTimings::default(),
            tokens: Vec::new(),
            sentences: Vec::new(),
        }
    }

    /// What was known when it was stopped with `total` clusters to settle: those that were left out, with shares among
    /// themselves at this softmax temperature. Nothing where none was.
    #[must_use]
    pub fn stopped(method: Method, clusters: &[Cluster], (total, temperature): (usize, f64)) -> Option<Self> {
        let mut clusters: Vec<Cluster> = clusters.iter().filter(|cluster| cluster.is_settled()).cloned().collect();
        normalize_shares(&mut clusters, temperature);
        let missing = total.saturating_sub(clusters.len());
        (!clusters.is_empty() && missing > 0).then(|| Self { clusters, missing, ..Self::new(method) })
    }

    /// How far it came, in a line; nothing of one that came to its end.
    #[must_use]
    pub fn stopped_after(&self) -> Option<String> {
        let (done, missing) = (self.clusters.len(), self.missing);
        let total = done + missing;
        (missing > 0).then(|| format!("stopped after {done} of {total} clusters; shares among these only"))
    }

    /// The same, having taken so long as a whole.
    #[must_use]
    pub(super) fn taking(mut self, total: Duration) -> Self {
        self.timings_ms.total = total.into();
        self
    }

    /// What was generated for it, each answer once: with every source, then without some. Clusters that were left out
    /// together share theirs.
    pub fn generated(&self) -> impl Iterator<Item = &Completion> {
        let shares = |at: usize| {
            let cluster = &self.clusters[at];
            let before = self.clusters[..at].iter().filter(|other| other.how == Provenance::Group);
            cluster.how == Provenance::Group
                && before.into_iter().any(|other| other.counterfactuals == cluster.counterfactuals)
        };
        let once = (0..self.clusters.len()).filter(move |at| !shares(*at));
        let without = once.flat_map(|at| &self.clusters[at].counterfactuals).map(|one| &one.completion);
        self.resampled.iter().chain(without)
    }

    /// How the drops of one of its clusters came about; none where it has none.
    #[must_use]
    pub fn how_of_drops(&self, cluster: &Cluster) -> Option<Provenance> {
        cluster.drops_how.or(self.method.drops()).filter(|_| !cluster.drops.is_empty())
    }

    /// How the drops of all of them came about; none where one has none, or others came about otherwise, so that they
    /// cannot be held against each other.
    #[must_use]
    pub fn drops_how(&self) -> Option<Provenance> {
        let mut each = self.clusters.iter().map(|cluster| self.how_of_drops(cluster));
        let first = each.next()?;
        first.filter(|_| each.all(|how| how == first))
    }

    /// Whether clusters were removed together, so that removing them one by one would tell more.
    #[must_use]
    pub fn has_group(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.how == Provenance::Group)
    }

    /// The same for the whole answer, and for its sentences what `other` says. Each sentence names how its values came
    /// about.
    #[must_use]
    pub fn with_sentences_of(self, other: Self) -> Self {
        Self { sentences: other.sentences, ..self }
    }
}
