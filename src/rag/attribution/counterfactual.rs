//! What the answer would be without each cluster of evidences (RAGonite, Sec. 5, Algorithm 1).
//!
//! Takes an answer with its prompt, a generator and an encoder; removes one cluster at a time, generates again, and gives
//! 1 minus the similarity of the two answers as the cluster's contribution. Clusters that probably do not matter are
//! removed together: where the answer stays the same, each is settled by that; where it does not, they have one value.
//! Where answers are sampled several times, each is held against what the same random numbers give with every source: so
//! what differs is the source's work, not chance.
//! Invariants: a contribution is exactly 0 if and only if every answer without the cluster, or without its group, has the
//! tokens of its original; answers are compared by what they say, never by the sources they name; a value that is only
//! estimated is replaced before the end.
//! Not here: which clusters, in which order (`query_weights`), estimating (`masked_estimate`).

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::plan::{Plan, removal_order};
use super::score::normalize_shares;
use super::{
    Attribution, AttributionError, AttributionSettings, AttributionTimings, Cluster, Counterfactual, EstimateFirst,
    Method, Provenance, SourceVector, masked_estimate,
};
use crate::answer::Answer;
use crate::answer::citation::without_marks;
use crate::prompt::Prompt;
use ragonite_base::{CancelToken, Millis};
use ragonite_inference::{
    Completion, Embed, Embedding, Generate, GenerateRequest, InferenceError, Sampling, TextRole, logprob_deltas,
};

/// Contribution of a cluster whose removal changes the tokens of the answer but not what it says: only the sources it
/// names, or its form. It is not 0, so that 0 keeps its one meaning: without the cluster the answer is the same.
pub const SMALLEST_CHANGE: f64 = f64::EPSILON;

/// Where an answer comes from that is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    /// This generator gave it: from the same prompt it would give it again.
    Here,
    /// It was stored by another run of the program, which may have been built or set up otherwise: what the generator
    /// says now is to be found out first, else the difference would be taken for that of a source.
    Stored,
}

/// What is explained.
#[derive(Clone, Copy)]
pub struct ExplainInput<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The answer with its prompt and sampling.
    pub answer: &'a Answer,
    /// Where it comes from.
    pub origin: AnswerSource,
    /// The sources of the prompt. Those that are not in it are ignored; one without a vector is a cluster of its own.
    pub sources: &'a [SourceVector],
    /// What is known already, with the same settings but for the group test: these clusters are not left out again.
    pub known: &'a [Cluster],
    /// How to cluster and score.
    pub settings: &'a AttributionSettings,
    /// Most tokens of a counterfactual answer: as many as the original was given.
    pub max_tokens: usize,
    /// Makes what the model said into what is shown: clean, citations in one form. Both answers of a comparison go
    /// through it, so that a difference in form is none in meaning, and lose their citations: without a source its mark
    /// is gone too, and a source that is only named would seem to matter.
    pub present: &'a dyn Fn(&Completion) -> String,
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
/// Where the generator gives another answer than the stored one, nothing is known before the end.
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
        let attribution = by_leaving_out((input, now), engines, cancel, on_cluster)?;
        return Ok(attribution.taking(started.elapsed()));
    }
    let text = (input.present)(&now);
    let answer = Answer { text: text.clone(), completion: now.clone(), named: None, ..input.answer.clone() };
    // What was found before was held against another answer.
    let input = ExplainInput { answer: &answer, known: &[], ..input };
    // Stopped halfway, its values would be taken for those of the stored answer: they are told at the end, with this one.
    let mut count = |done: usize, total: usize, _: &[Cluster]| on_cluster(done, total, &[]);
    let attribution = by_leaving_out((input, now), engines, cancel, &mut count)?;
    Ok(Attribution { instead: Some(text), ..attribution }.taking(started.elapsed()))
}

/// What the generator says now: the answer, or where that was stored by another run what it says once more.
fn regenerate_original(
    input: &ExplainInput<'_>,
    generator: &mut dyn Generate,
    cancel: &CancelToken,
) -> Result<Completion, AttributionError> {
    let ExplainInput { answer, origin, max_tokens, .. } = *input;
    if origin == AnswerSource::Here || answer.prompt.sources().is_empty() {
        return Ok(answer.completion.clone());
    }
    let request = request(&answer.prompt, answer.sampling, (&answer.completion, max_tokens));
    generator.generate(&request, cancel, &mut |_| {}).map_err(|source| AttributionError::generating(&[], source))
}

/// `original` is what was said with every source.
fn by_leaving_out(
    (input, original): (ExplainInput<'_>, Completion),
    engines: Engines<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    let started = Instant::now();
    let order = removal_order(&input);
    let findings = Findings {
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
    let Findings { known, timings_ms, mut originals, .. } = explainer.findings;
    let mut clusters = known.settled;
    with_drops_of_one_kind(&mut clusters, &estimates);
    let decisive = normalize_shares(&mut clusters, input.settings.temperature);
    let resampled = originals.split_off(1);
    Ok(Attribution { decisive, clusters, resampled, timings_ms, ..Attribution::new(Method::Counterfactual) })
}

/// Drops can be held against each other where all came about alike: where one of those that came with the answers is
/// missing, all are those of the estimates, if there are any.
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

/// What is known of the clusters on the way.
struct Known {
    total: usize,
    /// Of these, how many are settled; a group has one value for several.
    done: usize,
    settled: Vec<Cluster>,
    estimated: Vec<Cluster>,
}

impl Known {
    /// Takes note of what is settled now, and of how many clusters.
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

/// Sources that are left out together.
struct LeftOut<'p> {
    hits: Vec<usize>,
    prompt: Prompt,
    /// The clusters it settles.
    clusters: &'p [Vec<usize>],
    /// The answers, one per iteration, as they come.
    answers: Vec<Option<Counterfactual>>,
    /// What each token of the answer loses, where the answer of the first iteration told.
    drops: Option<Vec<f32>>,
}

/// The work on one answer.
struct Explainer<'a, 'e> {
    generator: &'e mut dyn Generate,
    findings: Findings<'a, 'e>,
}

/// What comes of it.
struct Findings<'a, 'e> {
    input: ExplainInput<'a>,
    embedder: &'e dyn Embed,
    cancel: &'a CancelToken,
    on_cluster: &'a mut dyn FnMut(usize, usize, &[Cluster]),
    known: Known,
    /// The answer, then what the seeds of further iterations give with every source.
    originals: Vec<Completion>,
    /// Answers as they are compared, with their embeddings; each text is embedded once.
    embeddings: HashMap<String, Embedding>,
    timings_ms: AttributionTimings,
}

impl Explainer<'_, '_> {
    /// Estimates every cluster, where that is wanted and the generator can do it.
    fn estimate(&mut self) -> Result<(), AttributionError> {
        if self.findings.input.settings.estimate_first == EstimateFirst::Off {
            return Ok(());
        }
        let started = Instant::now();
        let Findings { input, cancel, on_cluster, known, timings_ms, .. } = &mut self.findings;
        let mut tell = |_, total, clusters: &[Cluster]| on_cluster(0, total, clusters);
        match masked_estimate(*input, self.generator, cancel, &mut tell) {
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

    /// Removes the clusters of the plan one by one, and those of its group together.
    fn carry_out(&mut self, plan: &Plan) -> Result<(), AttributionError> {
        let group = (!plan.group.is_empty()).then_some(plan.group.as_slice());
        let mut sets = plan.alone.chunks(1).chain(group).peekable();
        if sets.peek().is_some() {
            self.resample()?;
        }
        self.leave_out(sets)
    }

    /// Generates the answer of each further iteration with every source.
    fn resample(&mut self) -> Result<(), AttributionError> {
        let started = Instant::now();
        let Findings { input, originals, cancel, timings_ms, .. } = &mut self.findings;
        let further = samplings(input.answer.sampling, input.settings.iterations).split_off(1);
        for sampling in further {
            let request = request(&input.answer.prompt, sampling, (&input.answer.completion, input.max_tokens));
            let original = self.generator.generate(&request, cancel, &mut |_| {});
            originals.push(original.map_err(|source| AttributionError::generating(&[], source))?);
        }
        add(&mut timings_ms.generate, started.elapsed());
        Ok(())
    }

    /// Generates without each of these sets of clusters, and settles them by what that tells.
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
            iterations.clone().map(|(sampling, original)| request(&one.prompt, *sampling, (original, limit))).collect()
        };
        let requests: Vec<GenerateRequest> = left_out.iter().flat_map(of_each).collect();
        let mut failed = None;
        let (started, before, cancel) = (Instant::now(), findings.timings_ms.compare, findings.cancel);
        let mut hear = |at: usize, completion: Completion| {
            let one = &mut left_out[at / samplings.len()];
            failed = findings.hear(one, at % samplings.len(), completion).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let generated = self.generator.generate_batch(&requests, cancel, &mut hear);
        if let Some(error) = failed {
            return Err(error);
        }
        generated.map_err(|source| {
            // Several are written at the same time: only of a single one it is known that it failed.
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
    /// Takes over what was known before; gives the clusters that are still to be left out.
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

    /// Takes the answer of one iteration; the last one settles the clusters.
    fn hear(
        &mut self,
        one: &mut LeftOut<'_>,
        iteration: usize,
        mut completion: Completion,
    ) -> Result<(), AttributionError> {
        self.cancel.check()?;
        // Told of the same answer, it is not kept with this one.
        let told = std::mem::take(&mut completion.draft_log_probabilities);
        if iteration == 0 {
            one.drops = self.drops(&told);
        }
        let original = &self.originals[iteration];
        let similarity = if completion.tokens == original.tokens {
            1.0
        } else {
            let started = Instant::now();
            let said = |one: &Completion| without_marks(&(self.input.present)(one));
            let similarity = self.compare(said(original), said(&completion))?;
            add(&mut self.timings_ms.compare, started.elapsed());
            similarity
        };
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
            // The answer does without all of them.
            for hits in one.clusters {
                let drops = drops.clone();
                self.settle((hits.clone(), 1), (how, contribution), drops, counterfactuals.clone());
            }
        } else {
            let mut hits = one.hits.clone();
            hits.sort_unstable();
            self.settle((hits, one.clusters.len()), (how, contribution), drops, counterfactuals);
        }
        Ok(())
    }

    /// By how much the original answer, of which this is told as a draft, became less probable; none where it was not read
    /// to its end.
    fn drops(&self, told: &[f32]) -> Option<Vec<f32>> {
        let before = &self.originals.first()?.log_probabilities;
        (!before.is_empty() && before.len() == told.len()).then(|| logprob_deltas(before, told))
    }

    /// Settles so many clusters with one value.
    fn settle(
        &mut self,
        (hits, clusters): (Vec<usize>, usize),
        (how, contribution): (Provenance, f64),
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
            counterfactual_answer: counterfactuals.first().map(|one| (self.input.present)(&one.completion)),
            divergences: Vec::new(),
            counterfactuals,
        };
        self.known.add(cluster, clusters, self.input.settings.temperature);
        (self.on_cluster)(self.known.done, self.known.total, &self.known.all());
    }

    /// Cosine of an original answer and `other`, each with the question before it; 1 where they are the same text.
    fn compare(&mut self, original: String, other: String) -> Result<f64, AttributionError> {
        if other == original {
            return Ok(1.0);
        }
        let original = self.embedding(original)?;
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
        let embedded =
            self.embedder.embed(&[&text], TextRole::Evidence, self.cancel).map_err(AttributionError::embedding)?;
        let embedding = embedded.into_iter().next().unwrap_or_else(|| Embedding::normalized(Vec::new()));
        self.embeddings.insert(answer, embedding.clone());
        Ok(embedding)
    }

    /// Whether every answer is its original, foreseen token by token.
    fn is_verified(&self, counterfactuals: &[Counterfactual]) -> bool {
        let mut pairs = counterfactuals.iter().map(|one| &one.completion).zip(&self.originals);
        pairs.all(|(one, original)| one.tokens == original.tokens && one.drafted_tokens == original.tokens.len())
    }

    /// 1 minus the mean similarity, at least [`SMALLEST_CHANGE`] when any answer differs.
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

fn request(prompt: &Prompt, sampling: Sampling, (original, max_tokens): (&Completion, usize)) -> GenerateRequest {
    GenerateRequest {
        parts: prompt.parts(),
        sampling,
        stop: prompt.stop.clone(),
        max_tokens,
        // Most answers begin as the original does, and reading it is far faster than writing it again.
        draft: original.tokens.clone(),
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

fn add(sum: &mut Millis, duration: Duration) {
    *sum = *sum + duration.into();
}
