//! A generator with a [`Cache`] of completions.
//!
//! The key of a completion is the fingerprint of the generator (weights, settings, device, engine revision), the whole
//! request, and the manner of generation: alone, with a grammar, or in a batch.
//! Invariant: a cached completion is one that the model gave, with its original times.

use std::ops::ControlFlow;

use serde::Serialize;

use super::EvalError;
use super::cache::{Cache, key};
use ragonite_base::CancelToken;
use ragonite_inference::{
    CompareRequest, Compared, Completion, ENGINE_REVISION, Generate, GenerateEvent, GenerateRequest, GeneratorIdentity,
    GeneratorSettings, InferenceError, Measure, PromptPart, ScoreRequest, Scores, SpecialTokens,
};

/// Number of requests to the model and hits in the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Requests to the model.
    pub asked: usize,
    /// Hits in the cache.
    pub recalled: usize,
}

impl Used {
    /// Whether all requests since `before` were hits.
    #[must_use]
    pub fn only_recalled_since(self, before: Self) -> bool {
        self.asked == before.asked && self.recalled > before.recalled
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { asked: self.asked + other.asked, recalled: self.recalled + other.recalled }
    }
}

/// The manner of generation, as far as it may change the output.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Manner<'a> {
    /// A single request.
    Alone,
    /// A single request with a grammar.
    Within(&'a str),
    /// In a batch, whose size may decide near-ties.
    Together,
}

/// Everything that decides the output of a generator besides the request.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorFingerprint<'a> {
    /// The sha256 of the weights.
    pub weights: &'a str,
    /// Context size in tokens.
    pub context_tokens: usize,
    /// Settings of loading.
    pub settings: &'a GeneratorSettings,
    /// Description of the devices.
    pub device: &'a str,
    /// CPU features of llama.cpp's kernels, which differ between builds.
    pub kernels: &'a str,
}

impl GeneratorFingerprint<'_> {
    /// A key that changes with each field and with the engine revision.
    #[must_use]
    pub fn key(&self) -> String {
        let settings = (self.context_tokens, self.settings);
        let settings = serde_json::to_string(&settings).unwrap_or_else(|_| format!("{:?}", self.settings));
        key([self.weights, settings.as_str(), self.device, self.kernels, ENGINE_REVISION])
    }
}

/// A generator with a cache.
pub struct CachedGenerator {
    inner: Box<dyn Generate>,
    fingerprint: String,
    cache: Cache,
    used: Used,
}

impl std::fmt::Debug for CachedGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remembering").field("identity", self.inner.identity()).finish_non_exhaustive()
    }
}

impl CachedGenerator {
    /// Adds a cache to a generator. `fingerprint` identifies everything that may change its output.
    #[must_use]
    pub fn new(inner: Box<dyn Generate>, fingerprint: &str, cache: Cache) -> Self {
        Self { inner, fingerprint: fingerprint.to_owned(), cache, used: Used::default() }
    }

    /// Identifies everything that may change the output.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Number of requests to the model and hits in the cache.
    #[must_use]
    pub fn used(&self) -> Used {
        self.used
    }

    /// Number of damaged lines in the cache.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.cache.damaged()
    }

    fn key(&self, manner: Manner<'_>, request: &GenerateRequest) -> Result<String, InferenceError> {
        let GenerateRequest { parts, sampling, stop, max_tokens, draft: _ } = request;
        let settings = serde_json::to_string(&(sampling, stop, max_tokens, manner));
        let settings = settings.map_err(|error| self.failed(error.into()))?;
        let texts = parts.iter().flat_map(|part| [mark(part), part.text.as_str()]);
        Ok(key([self.fingerprint.as_str(), settings.as_str()].into_iter().chain(texts)))
    }

    /// The logprobs of the whole prompt are not part of the key: they only save time.
    fn key_of_scores(&self, request: &ScoreRequest) -> Result<String, InferenceError> {
        let ScoreRequest { parts, answer, told: _, hidden, reread } = request;
        let scored =
            serde_json::to_string(&("score", answer, hidden, reread)).map_err(|error| self.failed(error.into()))?;
        let texts = parts.iter().flat_map(|part| [mark(part), part.text.as_str()]);
        Ok(key([self.fingerprint.as_str(), scored.as_str()].into_iter().chain(texts)))
    }

    /// A result does not depend on the other sets or the wanted measure: all measures are stored.
    fn key_of_compared(&self, request: &CompareRequest, set: &[usize]) -> Result<String, InferenceError> {
        let CompareRequest { parts, answer, without: _, measure: _ } = request;
        let asked = serde_json::to_string(&("without", answer, set)).map_err(|error| self.failed(error.into()))?;
        let texts = parts.iter().flat_map(|part| [mark(part), part.text.as_str()]);
        Ok(key([self.fingerprint.as_str(), asked.as_str()].into_iter().chain(texts)))
    }

    fn failed(&self, source: Box<dyn std::error::Error + Send + Sync>) -> InferenceError {
        let model = self.inner.identity().model.clone();
        InferenceError::Run { doing: "keeping what it said", model, source }
    }

    fn recall(
        &mut self,
        grammar: Option<&str>,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        cancel.check()?;
        let key = self.key(grammar.map_or(Manner::Alone, Manner::Within), request)?;
        if let Some(known) = self.cache.get::<Completion>(&key) {
            self.used.recalled += 1;
            on_event(GenerateEvent::PromptRead { done: known.prompt_tokens, total: known.prompt_tokens });
            on_event(GenerateEvent::Text(&known.text));
            return Ok(known);
        }
        self.used.asked += 1;
        let completion = match grammar {
            Some(grammar) => self.inner.generate_within(grammar, request, cancel, on_event)?,
            None => self.inner.generate(request, cancel, on_event)?,
        };
        self.cache.put(&key, &completion).map_err(|error: EvalError| self.failed(error.into()))?;
        Ok(completion)
    }
}

/// Text that may hold special tokens is tokenized differently.
fn mark(part: &PromptPart) -> &'static str {
    match part.special {
        SpecialTokens::Parse => "template",
        SpecialTokens::AsText => "text",
    }
}

impl Generate for CachedGenerator {
    fn identity(&self) -> &GeneratorIdentity {
        self.inner.identity()
    }

    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError> {
        self.inner.count_tokens(part)
    }

    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.recall(None, request, cancel, on_event)
    }

    fn generate_within(
        &mut self,
        grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        self.recall(Some(grammar), request, cancel, on_event)
    }

    /// Cached completions come first; each new one is stored at once, so that a stopped run can be resumed.
    fn generate_batch(
        &mut self,
        requests: &[GenerateRequest],
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize, Completion) -> ControlFlow<()>,
    ) -> Result<(), InferenceError> {
        cancel.check()?;
        let keys = requests.iter().map(|request| self.key(Manner::Together, request));
        let keys = keys.collect::<Result<Vec<String>, _>>()?;
        let mut missing = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let Some(known) = self.cache.get::<Completion>(key) else {
                missing.push(place);
                continue;
            };
            self.used.recalled += 1;
            if on_done(place, known).is_break() {
                return Ok(());
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.used.asked += 1;
        let rest: Vec<GenerateRequest> = missing.iter().map(|place| requests[*place].clone()).collect();
        let cache = &mut self.cache;
        let mut kept = Ok(());
        let mut on_done = |at: usize, completion: Completion| {
            let place = missing[at];
            // Stored without draft logprobs, since the next request may have another draft.
            let completion = Completion { draft_log_probabilities: Vec::new(), ..completion };
            kept = cache.put(&keys[place], &completion);
            if kept.is_err() {
                return ControlFlow::Break(());
            }
            on_done(place, completion)
        };
        self.inner.generate_batch(&rest, cancel, &mut on_done)?;
        kept.map_err(|error: EvalError| self.failed(error.into()))
    }

    fn score(
        &mut self,
        request: &ScoreRequest,
        cancel: &CancelToken,
        on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        cancel.check()?;
        let key = self.key_of_scores(request)?;
        if let Some(known) = self.cache.get::<Scores>(&key) {
            self.used.recalled += 1;
            on_scored(None, &known.whole);
            known.hidden.iter().enumerate().for_each(|(set, scored)| on_scored(Some(set), scored));
            return Ok(known);
        }
        self.used.asked += 1;
        let scores = self.inner.score(request, cancel, on_scored)?;
        self.cache.put(&key, &scores).map_err(|error: EvalError| self.failed(error.into()))?;
        Ok(scores)
    }

    fn compare(
        &mut self,
        request: &CompareRequest,
        cancel: &CancelToken,
        on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        cancel.check()?;
        let keys = request.without.iter().map(|set| self.key_of_compared(request, set));
        let keys = keys.collect::<Result<Vec<String>, _>>()?;
        let mut all: Vec<Option<Compared>> = keys.iter().map(|key| self.cache.get(key)).collect();
        for (set, known) in all.iter_mut().enumerate() {
            if let Some(known) = known {
                *known = as_asked(known, request.measure);
                on_compared(set, known);
            }
        }
        let missing: Vec<usize> = (0..all.len()).filter(|set| all[*set].is_none()).collect();
        if missing.is_empty() {
            self.used.recalled += 1;
            return Ok(all.into_iter().flatten().collect());
        }
        self.used.asked += 1;
        let without = missing.iter().map(|set| request.without[*set].clone()).collect();
        let rest = CompareRequest { without, measure: Measure::Distribution, ..request.clone() };
        let cache = &mut self.cache;
        let mut kept = Ok(());
        // Each set is stored at once, so that a stopped run can be resumed.
        let mut on_done = |at: usize, compared: &Compared| {
            let set = missing[at];
            if kept.is_ok() {
                kept = cache.put(&keys[set], compared);
            }
            let compared = as_asked(compared, request.measure);
            on_compared(set, &compared);
            all[set] = Some(compared);
        };
        self.inner.compare(&rest, cancel, &mut on_done)?;
        kept.map_err(|error: EvalError| self.failed(error.into()))?;
        Ok(all.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn token_bytes(&self, tokens: &[i32]) -> Result<Vec<Vec<u8>>, InferenceError> {
        self.inner.token_bytes(tokens)
    }
}

/// The stored result, reduced to the wanted measure.
fn as_asked(kept: &Compared, measure: Measure) -> Compared {
    match measure {
        Measure::Token => Compared { drops: kept.drops.clone(), divergences: Vec::new() },
        Measure::Distribution => kept.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use ragonite_inference::{Decoding, FlashAttention, KvCacheType, Recompute, Sampling, ScriptedGenerator};

    fn cached_generator(folder: &Path, fingerprint: &str, answers: &[&str]) -> CachedGenerator {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let cache = Cache::open(&folder.join("completions.jsonl")).unwrap();
        CachedGenerator::new(Box::new(ScriptedGenerator::queue(answers)), fingerprint, cache)
    }

    fn request(text: &str) -> GenerateRequest {
        let parts = vec![PromptPart { text: text.to_owned(), special: SpecialTokens::AsText }];
        GenerateRequest { parts, sampling: Sampling::Greedy, stop: Vec::new(), max_tokens: 20, draft: Vec::new() }
    }

    fn say(generator: &mut CachedGenerator, request: &GenerateRequest) -> String {
        generator.generate(request, &CancelToken::never(), &mut |_| {}).unwrap().text
    }

    #[test]
    fn what_was_said_is_not_asked_again_even_by_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut generator = cached_generator(folder.path(), "f00d", &["one", "two"]);
        assert_eq!(say(&mut generator, &request("first")), "one");
        assert_eq!(say(&mut generator, &request("second")), "two");
        assert_eq!(say(&mut generator, &request("first")), "one");
        assert_eq!(generator.used(), Used { asked: 2, recalled: 1 });
        let mut again = cached_generator(folder.path(), "f00d", &[]);
        let mut streamed = String::new();
        let mut on_done = |event: GenerateEvent<'_>| {
            if let GenerateEvent::Text(text) = event {
                streamed.push_str(text);
            }
        };
        again.generate(&request("second"), &CancelToken::never(), &mut on_done).unwrap();
        assert_eq!((streamed.as_str(), again.used().asked), ("two", 0));
    }

    #[test]
    fn another_request_or_other_weights_ask_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut generator = cached_generator(folder.path(), "f00d", &["one", "two", "three", "four", "five"]);
        let first = request("first");
        assert_eq!(say(&mut generator, &first), "one");
        let special = PromptPart { text: "first".to_owned(), special: SpecialTokens::Parse };
        assert_eq!(say(&mut generator, &GenerateRequest { parts: vec![special], ..first.clone() }), "two");
        assert_eq!(say(&mut generator, &GenerateRequest { max_tokens: 9, ..first.clone() }), "three");
        assert_eq!(say(&mut generator, &GenerateRequest { stop: vec!["x".into()], ..first.clone() }), "four");
        let held = generator.generate_within("root ::= \"a\"", &first, &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!(held.text, "five");
        let mut other = cached_generator(folder.path(), "beef", &["other"]);
        assert_eq!(say(&mut other, &first), "other");
    }

    #[test]
    fn whatever_may_change_an_answer_changes_the_fingerprint() {
        let usual = GeneratorSettings::default();
        let key = |weights: &str, context_tokens: usize, settings: &GeneratorSettings, machine: [&str; 2]| {
            let [device, kernels] = machine;
            GeneratorFingerprint { weights, context_tokens, settings, device, kernels }.key()
        };
        let here = ["CPU, 2 threads", "AVX2"];
        let of = |settings: &GeneratorSettings| key("f00d", 4096, settings, here);
        assert_eq!(of(&usual), of(&usual.clone()));
        let others = [
            key("beef", 4096, &usual, here),
            key("f00d", 2048, &usual, here),
            key("f00d", 4096, &usual, ["CPU, 4 threads", "AVX2"]),
            key("f00d", 4096, &usual, ["CPU, 2 threads", "AVX512"]),
            of(&GeneratorSettings { context_tokens: 2048, ..usual.clone() }),
            of(&GeneratorSettings { threads: 1, ..usual.clone() }),
            of(&GeneratorSettings { gpu_layers: Some(0), ..usual.clone() }),
            of(&GeneratorSettings { kv_cache: KvCacheType::Q8, ..usual.clone() }),
            of(&GeneratorSettings { flash_attention: FlashAttention::Off, ..usual.clone() }),
            of(&GeneratorSettings { writing: Decoding::Fast, ..usual.clone() }),
        ];
        let different: std::collections::HashSet<&String> = others.iter().collect();
        assert!(different.len() == others.len() && !different.contains(&of(&usual)), "{others:?}");
    }

    #[test]
    fn answers_that_are_written_together_are_kept_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let never = CancelToken::never();
        let requests = ["first", "second", "third"].map(request);
        let mut generator = cached_generator(folder.path(), "f00d", &["one", "two"]);
        let mut outputs = Vec::new();
        let mut stop_at_second = |at: usize, completion: Completion| {
            outputs.push((at, completion.text));
            if at == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        generator.generate_batch(&requests, &never, &mut stop_at_second).unwrap();
        let expected = |at: usize, text: &str| (at, text.to_owned());
        assert_eq!(outputs, [expected(0, "one"), expected(1, "two")]);

        let mut again = cached_generator(folder.path(), "f00d", &["three", "alone"]);
        let turned = [requests[2].clone(), requests[1].clone(), requests[0].clone()];
        let all = |generator: &mut CachedGenerator| {
            let mut outputs = Vec::new();
            let mut on_done = |at: usize, completion: Completion| {
                outputs.push((at, completion.text));
                ControlFlow::Continue(())
            };
            generator.generate_batch(&turned, &CancelToken::never(), &mut on_done).unwrap();
            outputs
        };
        assert_eq!(all(&mut again), [expected(1, "two"), expected(2, "one"), expected(0, "three")], "known ones first");
        assert_eq!(again.used(), Used { asked: 1, recalled: 2 });
        let before = again.used();
        assert_eq!(all(&mut again), [expected(0, "three"), expected(1, "two"), expected(2, "one")]);
        assert!(again.used().only_recalled_since(before));
        assert_eq!(say(&mut again, &requests[0]), "alone", "by itself it may come out otherwise");
    }

    #[test]
    fn what_was_scored_is_not_scored_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Cache::open(&folder.path().join("completions.jsonl")).unwrap();
        let answers = ScriptedGenerator::new(|_| "one two".to_owned()).hiding();
        let mut generator = CachedGenerator::new(Box::new(answers), "f00d", open());
        let scored = |hidden: Vec<Vec<usize>>| ScoreRequest {
            parts: request("first").parts,
            answer: vec![1, 2],
            told: Vec::new(),
            hidden,
            reread: Recompute::Rest,
        };
        let (one, other) = (scored(vec![vec![0]]), scored(Vec::new()));
        let otherwise = ScoreRequest { reread: Recompute::Answer, ..one.clone() };
        assert_ne!(generator.key_of_scores(&one).unwrap(), generator.key_of_scores(&otherwise).unwrap());
        let never = CancelToken::never();
        let first = generator.score(&one, &never, &mut |_, _| {}).unwrap();
        generator.score(&other, &never, &mut |_, _| {}).unwrap();
        let mut again = CachedGenerator::new(Box::new(ScriptedGenerator::queue([""; 0])), "f00d", open());
        let mut reported = Vec::new();
        let known = again.score(&one, &never, &mut |set, scores| reported.push((set, scores.to_vec()))).unwrap();
        assert_eq!((&known, again.used().asked), (&first, 0));
        assert_eq!(reported, [(None, first.whole.clone()), (Some(0), first.hidden[0].clone())]);
    }

    #[test]
    fn what_was_compared_is_kept_set_by_set_and_serves_both_measures() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Cache::open(&folder.path().join("completions.jsonl")).unwrap();
        let says = || ScriptedGenerator::new(|request| if request.parts.len() == 3 { "one two" } else { "one" }.into());
        let parts: Vec<PromptPart> = ["a", "b", "c"].iter().flat_map(|text| request(text).parts).collect();
        let never = CancelToken::never();
        let answer = says().generate(&GenerateRequest { parts: parts.clone(), ..request("") }, &never, &mut |_| {});
        let answer = answer.unwrap().tokens;
        let asked = |without: &[usize], measure| {
            let without = without.iter().map(|place| vec![*place]).collect();
            CompareRequest { parts: parts.clone(), answer: answer.clone(), without, measure }
        };
        let stops = ragonite_base::CancelSource::default();
        let mut first = CachedGenerator::new(Box::new(says()), "f00d", open());
        let stopped = first.compare(&asked(&[2, 1, 0], Measure::Token), &stops.token(), &mut |set, _| {
            if set == 1 {
                stops.cancel();
            }
        });
        assert!(matches!(stopped, Err(InferenceError::Canceled(_))));

        let mut again = CachedGenerator::new(Box::new(says()), "f00d", open());
        let mut reported = Vec::new();
        let all = again.compare(&asked(&[0, 1, 2], Measure::Distribution), &never, &mut |set, _| reported.push(set));
        let all = all.unwrap();
        assert_eq!(reported, [1, 2, 0], "what is known comes first");
        assert!(all.iter().all(|one| one.drops[0] == 0.0 && one.drops[1] > 1.0 && one.divergences.len() == 2));
        let used = again.used();
        let drops = again.compare(&asked(&[2, 0], Measure::Token), &never, &mut |_, _| {}).unwrap();
        assert!(again.used().only_recalled_since(used));
        assert!(drops.iter().all(|one| one.divergences.is_empty() && one.drops == all[0].drops));
    }

    #[test]
    fn a_cancelled_run_asks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let source = ragonite_base::CancelSource::default();
        source.cancel();
        let mut generator = cached_generator(folder.path(), "f00d", &["one"]);
        let stopped = generator.generate(&request("first"), &source.token(), &mut |_| {});
        assert!(matches!(stopped, Err(InferenceError::Canceled(_))));
        assert_eq!(generator.used(), Used::default());
    }
}
