//! What the answer would be without each cluster of evidences (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer with its prompt, a generator and an encoder; removes one cluster at a time, generates again, and gives
//! 1 minus the similarity of the two answers as the cluster's contribution.
//! Invariants: a contribution is exactly 0 if and only if every answer without the cluster has the tokens of the
//! original; each source in the prompt is in exactly one cluster, a source that was dropped from it in none.
//! Not here: settling several clusters at once (`How::Group`), estimating without reading (`How::Preview`).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::score::settle;
use super::{
    Attribution, AttributionError, AttributionSettings, AttributionTimings, Cluster, Counterfactual, How, Method,
    SourceVector, cluster,
};
use crate::answer::Answer;
use crate::base::CancelToken;
use crate::inference::{Completion, Embed, Embedding, Generate, GenerateRequest, Sampling, TextRole};
use crate::prompt::{Part, Prompt};

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
/// the settled ones with shares among themselves, best first.
///
/// The cluster that stands last in the prompt is removed first: each prompt then shares its beginning with the one
/// before it, and the generator reads only the rest.
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
        input,
        engines,
        cancel,
    };
    let mut clusters = Vec::with_capacity(order.len());
    let mut decisive = false;
    for (done, hits) in (1..).zip(&order) {
        cancel.check()?;
        clusters.push(explainer.settle_cluster(hits)?);
        decisive = settle(&mut clusters, input.settings.temperature);
        on_cluster(done, order.len(), &clusters);
    }
    let timings_ms = AttributionTimings { total: started.elapsed().into(), ..explainer.timings_ms };
    Ok(Attribution { method: Method::Counterfactual, decisive, clusters, timings_ms })
}

/// The clusters of the sources in the prompt, the one that begins last in it first.
fn removal_order(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let in_prompt = input.answer.prompt.sources();
    let known: Vec<SourceVector> =
        input.sources.iter().filter(|source| in_prompt.contains(&source.rank)).cloned().collect();
    let mut clusters = cluster(&known, input.settings);
    let unknown = in_prompt.iter().filter(|rank| known.iter().all(|source| source.rank != **rank));
    clusters.extend(unknown.map(|rank| vec![*rank]));
    clusters.sort_by_key(|hits| Reverse(beginning(&input.answer.prompt, hits)));
    clusters
}

/// Index of the first segment that holds one of these sources.
fn beginning(prompt: &Prompt, hits: &[usize]) -> Option<usize> {
    prompt.segments.iter().position(|s| matches!(s.part, Part::Evidence { rank } if hits.contains(&rank)))
}

/// The work on one answer.
struct Explainer<'a, 'e> {
    input: ExplainInput<'a>,
    engines: Engines<'e>,
    cancel: &'a CancelToken,
    /// The answer as it is compared.
    original: String,
    /// Answers as they are compared, with their embeddings; each text is embedded once.
    embeddings: HashMap<String, Embedding>,
    timings_ms: AttributionTimings,
}

impl Explainer<'_, '_> {
    /// Removes one cluster and generates as often as the settings say.
    fn settle_cluster(&mut self, hits: &[usize]) -> Result<Cluster, AttributionError> {
        let mut counterfactuals = Vec::new();
        for sampling in samplings(self.input.answer.sampling, self.input.settings.iterations) {
            self.cancel.check()?;
            counterfactuals.push(self.generate_without(hits, sampling)?);
        }
        Ok(Cluster {
            hits: hits.to_vec(),
            how: if self.is_verified(&counterfactuals) { How::Verified } else { How::Regenerated },
            contribution: self.contribution(&counterfactuals),
            share: None,
            counterfactual_answer: counterfactuals.first().map(|one| (self.input.present)(&one.completion.text)),
            counterfactuals,
        })
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
