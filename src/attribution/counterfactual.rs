//! What the answer would be without each cluster of evidences (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer with its prompt, a generator and an encoder; removes one cluster at a time, generates again, and gives
//! 1 minus the similarity of the two answers as the cluster's contribution. Clusters that probably do not matter are
//! removed together first: where the answer stays the same, they are settled as a group.
//! Invariants: a contribution is exactly 0 if and only if every answer without the cluster, or without its group, has the
//! tokens of the original; a value that is only estimated is replaced before the end.
//! Not here: which clusters, in which order (`plan`), estimating (`preview`).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::plan::{Plan, removal_order};
use super::score::settle;
use super::{
    Attribution, AttributionError, AttributionSettings, AttributionTimings, Cluster, Counterfactual, How, Method,
    SourceVector, preview,
};
use crate::answer::Answer;
use crate::base::CancelToken;
use crate::inference::{Completion, Embed, Embedding, Generate, GenerateRequest, InferenceError, Sampling, TextRole};

/// Contribution of a cluster whose removal changes the tokens of the answer but not its embedding. It is not 0, so
/// that 0 keeps its one meaning: without the cluster the answer is the same.
pub const SMALLEST_CHANGE: f64 = f64::EPSILON;

/// What is explained.
#[derive(Clone, Copy)]
pub struct ExplainInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The answer with its prompt and sampling.
    pub answer: &'a Answer,
    /// The sources of the prompt. Those that are not in it are ignored; one without a vector is a cluster of its own.
    pub sources: &'a [SourceVector],
    /// How to cluster and score.
    pub settings: &'a AttributionSettings,
    /// Most tokens of a counterfactual answer: as many as the original was given.
    pub max_tokens: usize,
    /// Makes what the model said into what is shown and compared: clean, citations in one form. Both answers of a
    /// comparison go through it, so that a difference in form is none in meaning.
    pub present: &'a dyn Fn(&str) -> String,
}

/// The models that are needed.
pub struct Engines<'a> {
    /// The generator that gave the answer.
    pub generator: &'a mut dyn Generate,
    /// Embeds answers to compare them.
    pub embedder: &'a dyn Embed,
}

/// Computes the contribution of every cluster. `on_cluster` gets how many clusters are settled, how many there are, and
/// what is known of them: the settled ones with shares among themselves, best first, then the estimated ones.
///
/// # Errors
/// When a setting is wrong or a model fails, or with [`AttributionError::Canceled`].
pub fn explain(
    input: ExplainInput<'_>,
    engines: Engines<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    input.settings.check()?;
    let started = Instant::now();
    let order = removal_order(&input);
    let mut explainer = Explainer {
        original: (input.present)(&input.answer.completion.text),
        timings_ms: AttributionTimings { cluster: started.elapsed().into(), ..AttributionTimings::default() },
        embeddings: HashMap::new(),
        known: Known { total: order.len(), settled: Vec::with_capacity(order.len()), estimated: Vec::new() },
        input,
        engines,
        cancel,
        on_cluster,
    };
    explainer.estimate()?;
    let plan = Plan::of(&input, order, &explainer.known.estimated);
    for hits in &plan.alone {
        explainer.settle_one(hits)?;
    }
    explainer.settle_group(&plan.group)?;
    let timings_ms = AttributionTimings { total: started.elapsed().into(), ..explainer.timings_ms };
    let mut clusters = explainer.known.settled;
    let decisive = settle(&mut clusters, input.settings.temperature);
    Ok(Attribution { decisive, clusters, timings_ms, ..Attribution::new(Method::Counterfactual) })
}

/// What is known of the clusters on the way.
struct Known {
    total: usize,
    settled: Vec<Cluster>,
    estimated: Vec<Cluster>,
}

impl Known {
    /// Takes note of what is settled now.
    fn add(&mut self, cluster: Cluster, temperature: f64) {
        self.estimated.retain(|estimated| estimated.hits != cluster.hits);
        self.settled.push(cluster);
        settle(&mut self.settled, temperature);
    }

    fn all(&self) -> Vec<Cluster> {
        self.settled.iter().chain(&self.estimated).cloned().collect()
    }
}

/// The work on one answer.
struct Explainer<'a, 'e> {
    input: ExplainInput<'a>,
    engines: Engines<'e>,
    cancel: &'a CancelToken,
    on_cluster: &'a mut dyn FnMut(usize, usize, &[Cluster]),
    known: Known,
    /// The answer as it is compared.
    original: String,
    /// Answers as they are compared, with their embeddings; each text is embedded once.
    embeddings: HashMap<String, Embedding>,
    timings_ms: AttributionTimings,
}

impl Explainer<'_, '_> {
    /// Estimates every cluster, where the generator can do that.
    fn estimate(&mut self) -> Result<(), AttributionError> {
        let started = Instant::now();
        let on_cluster = &mut *self.on_cluster;
        let mut tell = |_, total, clusters: &[Cluster]| on_cluster(0, total, clusters);
        match preview(self.input, self.engines.generator, self.cancel, &mut tell) {
            Ok(estimated) => self.known.estimated = estimated.clusters,
            Err(AttributionError::Score { source: InferenceError::Run { .. } }) => {}
            Err(error) => return Err(error),
        }
        add(&mut self.timings_ms.preview, started.elapsed());
        Ok(())
    }

    /// Removes one cluster.
    fn settle_one(&mut self, hits: &[usize]) -> Result<(), AttributionError> {
        let counterfactuals = self.counterfactuals(hits)?;
        let how = if self.is_verified(&counterfactuals) { How::Verified } else { How::Regenerated };
        let contribution = self.contribution(&counterfactuals);
        self.settle(hits, how, contribution, counterfactuals);
        Ok(())
    }

    /// Removes clusters together, and one by one where that changes the answer.
    fn settle_group(&mut self, group: &[Vec<usize>]) -> Result<(), AttributionError> {
        if group.is_empty() {
            return Ok(());
        }
        let hits: Vec<usize> = group.concat();
        let counterfactuals = self.counterfactuals(&hits)?;
        if self.contribution(&counterfactuals) != 0.0 {
            return group.iter().try_for_each(|hits| self.settle_one(hits));
        }
        for hits in group {
            self.settle(hits, How::Group, 0.0, counterfactuals.clone());
        }
        Ok(())
    }

    fn settle(&mut self, hits: &[usize], how: How, contribution: f64, counterfactuals: Vec<Counterfactual>) {
        let estimated = self.known.estimated.iter().find(|cluster| cluster.hits == hits);
        let cluster = Cluster {
            hits: hits.to_vec(),
            how,
            contribution,
            share: None,
            counterfactual_answer: counterfactuals.first().map(|one| (self.input.present)(&one.completion.text)),
            drops: estimated.map(|cluster| cluster.drops.clone()).unwrap_or_default(),
            divergences: Vec::new(),
            counterfactuals,
        };
        self.known.add(cluster, self.input.settings.temperature);
        (self.on_cluster)(self.known.settled.len(), self.known.total, &self.known.all());
    }

    /// Generates without these sources, as often as the settings say.
    fn counterfactuals(&mut self, hits: &[usize]) -> Result<Vec<Counterfactual>, AttributionError> {
        let samplings = samplings(self.input.answer.sampling, self.input.settings.iterations);
        let generate = |sampling| {
            self.cancel.check()?;
            self.generate_without(hits, sampling)
        };
        samplings.into_iter().map(generate).collect()
    }

    fn generate_without(&mut self, hits: &[usize], sampling: Sampling) -> Result<Counterfactual, AttributionError> {
        let prompt = self.input.answer.prompt.without(hits);
        let request = GenerateRequest {
            parts: prompt.parts(),
            sampling,
            stop: prompt.stop.clone(),
            max_tokens: self.input.max_tokens,
            // Most answers stay what they were, and reading the original is far faster than writing it again.
            draft: self.input.answer.completion.tokens.clone(),
        };
        let started = Instant::now();
        let completion = self
            .engines
            .generator
            .generate(&request, self.cancel, &mut |_| {})
            .map_err(|source| AttributionError::generating(hits, source))?;
        add(&mut self.timings_ms.generate, started.elapsed());

        let similarity = if completion.tokens == self.input.answer.completion.tokens {
            1.0
        } else {
            let started = Instant::now();
            let similarity = self.compare((self.input.present)(&completion.text))?;
            add(&mut self.timings_ms.compare, started.elapsed());
            similarity
        };
        Ok(Counterfactual { prompt, completion, similarity })
    }

    /// Cosine of the original answer and `other`, each with the question before it.
    fn compare(&mut self, other: String) -> Result<f64, AttributionError> {
        let original = self.embedding(self.original.clone())?;
        let other = self.embedding(other)?;
        let cosine = original.cosine(&other);
        // A broken encoder may give no number; such answers count as unrelated.
        Ok(if cosine.is_finite() { cosine } else { 0.0 })
    }

    fn embedding(&mut self, answer: String) -> Result<Embedding, AttributionError> {
        if let Some(known) = self.embeddings.get(&answer) {
            return Ok(known.clone());
        }
        let text = format!("{}\n{answer}", self.input.question);
        // Both sides of the comparison are texts of the same sort, so none of them is a query.
        let embedded = self
            .engines
            .embedder
            .embed(&[&text], TextRole::Evidence, self.cancel)
            .map_err(AttributionError::embedding)?;
        let embedding = embedded.into_iter().next().unwrap_or_else(|| Embedding::normalized(Vec::new()));
        self.embeddings.insert(answer, embedding.clone());
        Ok(embedding)
    }

    /// Whether every answer is the original, foreseen token by token.
    fn is_verified(&self, counterfactuals: &[Counterfactual]) -> bool {
        let original = &self.input.answer.completion.tokens;
        let foreseen = |one: &Completion| one.tokens == *original && one.drafted_tokens == original.len();
        counterfactuals.iter().all(|one| foreseen(&one.completion))
    }

    /// 1 minus the mean similarity, at least [`SMALLEST_CHANGE`] when any answer differs.
    fn contribution(&self, counterfactuals: &[Counterfactual]) -> f64 {
        let original = &self.input.answer.completion.tokens;
        if counterfactuals.iter().all(|one| one.completion.tokens == *original) {
            return 0.0;
        }
        let (distance, count) =
            counterfactuals.iter().fold((0.0, 0.0), |(sum, count), one| (sum + 1.0 - one.similarity, count + 1.0));
        (distance / count).max(SMALLEST_CHANGE)
    }
}

/// How the counterfactual answers of a cluster are sampled: as the original, with the next seeds for further ones.
/// Greedy answers are all the same, so there is one.
fn samplings(original: Sampling, iterations: usize) -> Vec<Sampling> {
    match original {
        Sampling::Greedy => vec![Sampling::Greedy],
        Sampling::Seeded { temperature, seed } => {
            let seeds = (0..iterations).scan(seed, |next, _| Some(std::mem::replace(next, next.wrapping_add(1))));
            seeds.map(|seed| Sampling::Seeded { temperature, seed }).collect()
        }
    }
}

fn add(sum: &mut crate::base::Millis, duration: Duration) {
    *sum = *sum + duration.into();
}
