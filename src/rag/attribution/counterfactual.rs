//! Counterfactual attribution: the answer without each cluster of sources (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer with its prompt, a generator and an embedder. Leaves out one cluster at a time and regenerates; the
//! contribution is 1 minus the similarity of both answers. A group test leaves out several unlikely clusters together:
//! if the answer stays the same, each has contribution 0; otherwise they share one value. With several samples, both
//! answers use common random numbers, so chance is not taken for the effect of a source.
//! Invariants: a contribution is exactly 0 iff every answer without the cluster or its group has the tokens of its
//! original; answers are compared without citations; an estimate is replaced by an exact value before the end.
//! Not here: clusters and their order (`plan`), estimates (`masked_estimate`).

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::content::ContentShares;
use super::plan::{Plan, removal_order};
use super::score::normalize_shares;
use super::{
    Attribution, AttributionError, AttributionSettings, AttributionTimings, Cluster, Counterfactual, EstimateFirst,
    Method, Provenance, SourceVector, masked_estimate,
};
use crate::answer::citation::without_marks;
use crate::answer::{Answer, read_answer};
use crate::prompt::Prompt;
use ragonite_base::{CancelToken, Millis};
use ragonite_inference::{
    Completion, Embed, Embedding, Generate, GenerateRequest, InferenceError, Sampling, TextRole, logprob_deltas,
};

/// Contribution of a cluster whose removal changes the tokens of the answer but not its meaning. Not 0, so that 0
/// always means equal tokens.
pub const SMALLEST_CHANGE: f64 = f64::EPSILON;

/// Origin of the explained answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    /// This generator gave it and would give it again for the same prompt.
    Here,
    /// Another run of the program stored it, maybe of another build or with other settings. The original is regenerated
    /// first; otherwise a difference between the runs would be taken for the effect of a source.
    Stored,
}

/// The input of an explanation.
#[derive(Clone, Copy)]
pub struct ExplainInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The answer with its prompt and sampling.
    pub answer: &'a Answer,
    /// Origin of the answer.
    pub origin: AnswerSource,
    /// The sources of the prompt. Others are ignored; a source without a vector is a cluster of its own.
    pub sources: &'a [SourceVector],
    /// Known clusters, computed with the same settings (the group test may differ); they are not left out again.
    pub known: &'a [Cluster],
    /// Settings of clustering and scoring.
    pub settings: &'a AttributionSettings,
    /// Most tokens of a counterfactual answer, as for the original.
    pub max_tokens: usize,
}

impl ExplainInput<'_> {
    /// The text of an output as it is shown, with citations in one form.
    fn shown_text(&self, completion: &Completion) -> String {
        read_answer(completion, &self.answer.prompt).citations.text
    }
}

/// The models of an explanation.
pub struct Engines<'a> {
    /// The generator of the answer.
    pub generator: &'a mut dyn Generate,
    /// Embeds answers to compare them.
    pub embedder: &'a dyn Embed,
}

/// Computes the contribution of every cluster. `on_cluster` gets the number of settled clusters, the number of all, and
/// the known ones: the settled with shares among themselves, best first, then the estimated. If the generator does not
/// reproduce a stored answer, no cluster is given before the end.
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
    let now = regenerate_original(&input, engines.generator, cancel)?;
    if now.tokens == input.answer.completion.tokens {
        let attribution = by_leaving_out(input, now, engines, cancel, on_cluster)?;
        return Ok(attribution.taking(started.elapsed()));
    }
    let text = input.shown_text(&now);
    let answer =
        Answer { text: text.clone(), completion: now.clone(), named: None, withheld: None, ..input.answer.clone() };
    // Earlier results were compared with the stored answer.
    let input = ExplainInput { answer: &answer, known: &[], ..input };
    // If stopped, values would be taken for those of the stored answer, so they are given with the new answer at the
    // end.
    let mut count = |done: usize, total: usize, _: &[Cluster]| on_cluster(done, total, &[]);
    let attribution = by_leaving_out(input, now, engines, cancel, &mut count)?;
    Ok(Attribution { instead: Some(text), ..attribution }.taking(started.elapsed()))
}

/// The original completion; for a stored answer it is generated again.
fn regenerate_original(
    input: &ExplainInput<'_>,
    generator: &mut dyn Generate,
    cancel: &CancelToken,
) -> Result<Completion, AttributionError> {
    let ExplainInput { answer, origin, max_tokens, .. } = *input;
    if origin == AnswerSource::Here || answer.prompt.sources().is_empty() {
        return Ok(answer.completion.clone());
    }
    let request = request(&answer.prompt, answer.sampling, &answer.completion, max_tokens);
    generator.generate(&request, cancel, &mut |_| {}).map_err(|source| AttributionError::generating(&[], source))
}

/// `original` is the completion with every source.
fn by_leaving_out(
    input: ExplainInput<'_>,
    original: Completion,
    engines: Engines<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    let started = Instant::now();
    let order = removal_order(&input);
    let content = ContentShares::of(input.answer, engines.generator)?;
    let findings = Findings {
        content,
        originals: vec![original],
        timings_ms: AttributionTimings { cluster: started.elapsed().into(), ..AttributionTimings::default() },
        embeddings: HashMap::new(),
        known: Known { total: order.len(), done: 0, settled: Vec::with_capacity(order.len()), estimated: Vec::new() },
        input,
        embedder: engines.embedder,
        cancel,
        on_cluster,
    };
    let mut explainer = Explainer { generator: engines.generator, findings };
    let rest = explainer.findings.go_on(order);
    explainer.estimate()?;
    let estimates = explainer.findings.known.estimated.clone();
    let plan = Plan::of(&input, rest, &estimates);
    explainer.carry_out(&plan)?;
    let without_sources = explainer.without_sources();
    let Findings { known, timings_ms, mut originals, .. } = explainer.findings;
    let mut clusters = known.settled;
    with_drops_of_one_kind(&mut clusters, &estimates);
    let decisive = normalize_shares(&mut clusters, input.settings.temperature);
    let resampled = originals.split_off(1);
    let attribution = Attribution {
        decisive,
        clusters,
        resampled,
        without_sources,
        timings_ms,
        ..Attribution::new(Method::Counterfactual)
    };
    Ok(attribution)
}

/// Drops are comparable only if all have one provenance. If one from the counterfactual answers is missing, all are
/// replaced by the estimated ones.
fn with_drops_of_one_kind(clusters: &mut [Cluster], estimates: &[Cluster]) {
    if clusters.iter().all(|cluster| cluster.drops_how == Some(Provenance::Logprob)) {
        return;
    }
    for cluster in clusters {
        if let Some(estimate) = estimates.iter().find(|estimate| estimate.hits == cluster.hits) {
            cluster.drops.clone_from(&estimate.drops);
            cluster.drops_how = estimate.drops_how;
        }
    }
}

/// The clusters known so far.
struct Known {
    total: usize,
    /// Settled clusters; a group counts all of its clusters.
    done: usize,
    settled: Vec<Cluster>,
    estimated: Vec<Cluster>,
}

impl Known {
    /// Adds a cluster that settles `clusters` clusters.
    fn add(&mut self, cluster: Cluster, clusters: usize, temperature: f64) {
        self.estimated.retain(|estimated| estimated.hits.iter().all(|hit| !cluster.hits.contains(hit)));
        self.done += clusters;
        self.settled.push(cluster);
        normalize_shares(&mut self.settled, temperature);
    }

    fn all(&self) -> Vec<Cluster> {
        self.settled.iter().chain(&self.estimated).cloned().collect()
    }
}

/// Sources left out together.
struct LeftOut<'p> {
    hits: Vec<usize>,
    prompt: Prompt,
    /// The clusters that this settles.
    clusters: &'p [Vec<usize>],
    /// One answer per iteration, as they arrive.
    answers: Vec<Option<Counterfactual>>,
    /// Logprob drop of each token of the original, if the first iteration measured it.
    drops: Option<Vec<f32>>,
}

struct Explainer<'a, 'e> {
    generator: &'e mut dyn Generate,
    findings: Findings<'a, 'e>,
}

/// The results so far.
struct Findings<'a, 'e> {
    input: ExplainInput<'a>,
    content: ContentShares,
    embedder: &'e dyn Embed,
    cancel: &'a CancelToken,
    on_cluster: &'a mut dyn FnMut(usize, usize, &[Cluster]),
    known: Known,
    /// The answer, then the samples of further iterations with every source.
    originals: Vec<Completion>,
    /// Embeddings of compared answers; each text is embedded once.
    embeddings: HashMap<String, Embedding>,
    timings_ms: AttributionTimings,
}

impl Explainer<'_, '_> {
    /// Estimates every cluster, if the settings want it and the generator supports it.
    fn estimate(&mut self) -> Result<(), AttributionError> {
        if self.findings.input.settings.estimate_first == EstimateFirst::Off {
            return Ok(());
        }
        let started = Instant::now();
        let Findings { input, cancel, on_cluster, known, timings_ms, .. } = &mut self.findings;
        let mut on_estimate = |_, total, clusters: &[Cluster]| on_cluster(0, total, clusters);
        match masked_estimate(*input, self.generator, cancel, &mut on_estimate) {
            Ok(estimated) => {
                known.estimated = estimated.clusters;
                known.estimated.retain(|estimated| known.settled.iter().all(|settled| settled.hits != estimated.hits));
            }
            Err(AttributionError::Score { source: InferenceError::Run { .. } }) => {}
            Err(error) => return Err(error),
        }
        add(&mut timings_ms.preview, started.elapsed());
        Ok(())
    }

    /// Leaves out the clusters of the plan one by one, and its group together.
    fn carry_out(&mut self, plan: &Plan) -> Result<(), AttributionError> {
        let group = (!plan.group.is_empty()).then_some(plan.group.as_slice());
        let mut sets = plan.alone.chunks(1).chain(group).peekable();
        if sets.peek().is_some() {
            self.resample()?;
        }
        self.leave_out(sets)
    }

    /// Samples the answer with every source for each further iteration.
    fn resample(&mut self) -> Result<(), AttributionError> {
        let started = Instant::now();
        let Findings { input, originals, cancel, timings_ms, .. } = &mut self.findings;
        let further = samplings(input.answer.sampling, input.settings.iterations).split_off(1);
        for sampling in further {
            let request = request(&input.answer.prompt, sampling, &input.answer.completion, input.max_tokens);
            let original = self.generator.generate(&request, cancel, &mut |_| {});
            originals.push(original.map_err(|source| AttributionError::generating(&[], source))?);
        }
        add(&mut timings_ms.generate, started.elapsed());
        Ok(())
    }

    /// The answer without any source, if no cluster by itself changes the answer. Its prompt is short. None where it is
    /// cancelled or fails, since the explanation is complete without it.
    fn without_sources(&mut self) -> Option<Counterfactual> {
        let Findings { input, originals, known, cancel, .. } = &self.findings;
        let (sources, Some(original)) = (input.answer.prompt.sources(), originals.first()) else { return None };
        let counts = known.settled.iter().any(|cluster| cluster.effect().counts());
        if counts || !input.answer.answered || sources.is_empty() {
            return None;
        }
        let started = Instant::now();
        let prompt = input.answer.prompt.without(&sources);
        let request = request(&prompt, input.answer.sampling, original, input.max_tokens);
        let mut completion = match self.generator.generate(&request, cancel, &mut |_| {}) {
            Ok(completion) => completion,
            Err(error) => {
                tracing::info!("the answer without any source is not known: {error}");
                return None;
            }
        };
        completion.draft_log_probabilities.clear();
        add(&mut self.findings.timings_ms.generate, started.elapsed());
        let similarity = self.findings.similarity(0, &completion).ok();
        similarity.map(|similarity| Counterfactual { prompt, completion, similarity })
    }

    /// Generates without each of these sets of clusters and settles them.
    fn leave_out<'p>(&mut self, sets: impl Iterator<Item = &'p [Vec<usize>]>) -> Result<(), AttributionError> {
        let findings = &mut self.findings;
        let samplings = samplings(findings.input.answer.sampling, findings.input.settings.iterations);
        let mut left_out: Vec<LeftOut<'_>> = sets
            .map(|clusters| {
                let hits = clusters.concat();
                let prompt = findings.input.answer.prompt.without(&hits);
                LeftOut { hits, prompt, clusters, answers: vec![None; samplings.len()], drops: None }
            })
            .collect();
        let iterations = samplings.iter().zip(&findings.originals);
        let limit = findings.input.max_tokens;
        let of_each = |one: &LeftOut<'_>| -> Vec<GenerateRequest> {
            iterations.clone().map(|(sampling, original)| request(&one.prompt, *sampling, original, limit)).collect()
        };
        let requests: Vec<GenerateRequest> = left_out.iter().flat_map(of_each).collect();
        let mut failed = None;
        let (started, before, cancel) = (Instant::now(), findings.timings_ms.compare, findings.cancel);
        let mut on_done = |at: usize, completion: Completion| {
            let one = &mut left_out[at / samplings.len()];
            failed = findings.take_answer(one, at % samplings.len(), completion).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let generated = self.generator.generate_batch(&requests, cancel, &mut on_done);
        if let Some(error) = failed {
            return Err(error);
        }
        generated.map_err(|source| {
            // Answers are decoded in a batch, so a failure can be attributed only if a single set was left.
            let mut left = left_out.iter().filter(|one| !one.answers.is_empty());
            let failed = left.next().filter(|_| left.next().is_none());
            AttributionError::generating(failed.map_or(&[], |one| one.hits.as_slice()), source)
        })?;
        let compared = findings.timings_ms.compare.0 - before.0;
        let spent = (Millis::from(started.elapsed()).0 - compared).max(0.0);
        findings.timings_ms.generate = findings.timings_ms.generate + Millis(spent);
        Ok(())
    }
}

impl Findings<'_, '_> {
    /// Takes over known clusters; gives the remaining ones.
    fn go_on(&mut self, order: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let before = |hits: &[usize]| self.input.known.iter().find(|cluster| cluster.hits == hits);
        let (known, rest): (Vec<_>, Vec<_>) = order.into_iter().partition(|hits| before(hits).is_some());
        for cluster in known.iter().filter_map(|hits| before(hits)) {
            self.known.add(cluster.clone(), 1, self.input.settings.temperature);
        }
        if !known.is_empty() {
            (self.on_cluster)(self.known.done, self.known.total, &self.known.all());
        }
        rest
    }

    /// Takes the answer of an iteration; the last one settles the clusters.
    fn take_answer(
        &mut self,
        one: &mut LeftOut<'_>,
        iteration: usize,
        mut completion: Completion,
    ) -> Result<(), AttributionError> {
        self.cancel.check()?;
        // These belong to the original answer and are not stored with this one.
        let draft_logprobs = std::mem::take(&mut completion.draft_log_probabilities);
        if iteration == 0 {
            one.drops = self.drops(&draft_logprobs);
        }
        let similarity = self.similarity(iteration, &completion)?;
        one.answers[iteration] = Some(Counterfactual { prompt: one.prompt.clone(), completion, similarity });
        if one.answers.iter().any(Option::is_none) {
            return Ok(());
        }
        let counterfactuals: Vec<Counterfactual> = one.answers.drain(..).flatten().collect();
        let drops = one.drops.take().filter(|_| one.clusters.len() == 1);
        let contribution = self.contribution(&counterfactuals);
        let how = match one.clusters.len() {
            1 if self.is_verified(&counterfactuals) => Provenance::Verified,
            1 => Provenance::Regenerated,
            _ => Provenance::Group,
        };
        if contribution == 0.0 {
            // The answer needs none of the clusters.
            for hits in one.clusters {
                let drops = drops.clone();
                self.settle(hits.clone(), 1, how, contribution, drops, counterfactuals.clone());
            }
        } else {
            let mut hits = one.hits.clone();
            hits.sort_unstable();
            self.settle(hits, one.clusters.len(), how, contribution, drops, counterfactuals);
        }
        Ok(())
    }

    /// The similarity of an answer to the original of its iteration.
    fn similarity(&mut self, iteration: usize, completion: &Completion) -> Result<f64, AttributionError> {
        let original = &self.originals[iteration];
        if completion.tokens == original.tokens {
            return Ok(1.0);
        }
        let started = Instant::now();
        // Without citations: a mark disappears with its source, so a source that is only cited would seem to matter.
        let shown = |one: &Completion| without_marks(&self.input.shown_text(one));
        let similarity = self.compare(shown(original), shown(completion))?;
        add(&mut self.timings_ms.compare, started.elapsed());
        Ok(similarity)
    }

    /// Logprob drops of the original answer, which was the draft; none if it was not verified to its end.
    fn drops(&self, draft_logprobs: &[f32]) -> Option<Vec<f32>> {
        let before = &self.originals.first()?.log_probabilities;
        (!before.is_empty() && before.len() == draft_logprobs.len())
            .then(|| self.content.weigh(&logprob_deltas(before, draft_logprobs)))
    }

    /// Settles `clusters` clusters with one value.
    fn settle(
        &mut self,
        hits: Vec<usize>,
        clusters: usize,
        how: Provenance,
        contribution: f64,
        drops: Option<Vec<f32>>,
        counterfactuals: Vec<Counterfactual>,
    ) {
        let cluster = Cluster {
            drops_how: drops.is_some().then_some(Provenance::Logprob),
            drops: drops.unwrap_or_default(),
            hits,
            how,
            contribution,
            share: None,
            counterfactual_answer: counterfactuals.first().map(|one| self.input.shown_text(&one.completion)),
            divergences: Vec::new(),
            counterfactuals,
        };
        self.known.add(cluster, clusters, self.input.settings.temperature);
        (self.on_cluster)(self.known.done, self.known.total, &self.known.all());
    }

    /// Cosine of two answers, each after the question; 1 for equal texts.
    fn compare(&mut self, original: String, other: String) -> Result<f64, AttributionError> {
        if other == original {
            return Ok(1.0);
        }
        let original = self.embedding(original)?;
        let other = self.embedding(other)?;
        let cosine = original.cosine(&other);
        // A broken embedder may give NaN; such answers count as unrelated.
        Ok(if cosine.is_finite() { cosine } else { 0.0 })
    }

    fn embedding(&mut self, answer: String) -> Result<Embedding, AttributionError> {
        if let Some(known) = self.embeddings.get(&answer) {
            return Ok(known.clone());
        }
        let text = format!("{}\n{answer}", self.input.question);
        // Both sides are texts of the same kind, so neither is a query.
        let embedded =
            self.embedder.embed(&[&text], TextRole::Evidence, self.cancel).map_err(AttributionError::embedding)?;
        let embedding = embedded.into_iter().next().unwrap_or_else(|| Embedding::normalized(Vec::new()));
        self.embeddings.insert(answer, embedding.clone());
        Ok(embedding)
    }

    /// Whether every answer equals its original and was verified as a draft token by token.
    fn is_verified(&self, counterfactuals: &[Counterfactual]) -> bool {
        let mut pairs = counterfactuals.iter().map(|one| &one.completion).zip(&self.originals);
        pairs.all(|(one, original)| one.tokens == original.tokens && one.drafted_tokens == original.tokens.len())
    }

    /// 1 minus the mean similarity, at least [`SMALLEST_CHANGE`] if any answer differs.
    fn contribution(&self, counterfactuals: &[Counterfactual]) -> f64 {
        let mut pairs = counterfactuals.iter().map(|one| &one.completion.tokens).zip(&self.originals);
        if pairs.all(|(tokens, original)| *tokens == original.tokens) {
            return 0.0;
        }
        let (distance, count) =
            counterfactuals.iter().fold((0.0, 0.0), |(sum, count), one| (sum + 1.0 - one.similarity, count + 1.0));
        (distance / count).max(SMALLEST_CHANGE)
    }
}

fn request(prompt: &Prompt, sampling: Sampling, original: &Completion, max_tokens: usize) -> GenerateRequest {
    GenerateRequest {
        parts: prompt.parts(),
        sampling,
        stop: prompt.stop.clone(),
        max_tokens,
        // Most answers begin like the original, and verifying a draft is far faster than decoding.
        draft: original.tokens.clone(),
    }
}

/// The samplings of a cluster: the original's, then the next seeds. Greedy answers are all equal, so one is enough.
fn samplings(original: Sampling, iterations: usize) -> Vec<Sampling> {
    match original {
        Sampling::Greedy => vec![Sampling::Greedy],
        Sampling::Seeded { temperature, seed } => {
            let seeds = (0..iterations).scan(seed, |next, _| Some(std::mem::replace(next, next.wrapping_add(1))));
            seeds.map(|seed| Sampling::Seeded { temperature, seed }).collect()
        }
    }
}

fn add(sum: &mut Millis, duration: Duration) {
    *sum = *sum + duration.into();
}
