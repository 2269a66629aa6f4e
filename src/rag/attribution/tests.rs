//! Attribution with a generator that follows a script and an encoder that counts words.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::answer::Answer;
use crate::prompt::{Part, Prompt, Segment};
use ragonite_base::{CancelSource, CancelToken, Canceled, Language, Millis};
use ragonite_inference::{
    ChatTemplate, Completion, Embed, Embedding, EncoderIdentity, Finish, Generate, GenerateEvent, GenerateRequest,
    GeneratorIdentity, InferenceError, PromptPart, Sampling, ScoreRequest, Scores, ScriptedGenerator, SpecialTokens,
    TextRole,
};

const QUESTION: &str = "Who tested the radio?";

fn completion(text: &str) -> Completion {
    Completion {
        text: text.to_owned(),
        tokens: text.split(' ').map(|word| word.bytes().map(i32::from).sum()).collect(),
        prompt_tokens: 10,
        reused_tokens: 4,
        drafted_tokens: 0,
        narrowest: None,
        log_probabilities: Vec::new(),
        draft_log_probabilities: Vec::new(),
        finish: Finish::End,
        first_token_ms: Millis(1.0),
        total_ms: Millis(2.0),
    }
}

/// Prompt and seed to answer.
type Script = dyn Fn(&str, u32) -> String + Sync;

/// How probable the tokens of a draft are after a prompt.
type Told = dyn Fn(&str) -> Vec<f32> + Sync;

/// A generator whose answer is a function of the prompt's text and the seed.
struct Scripted<'a> {
    identity: GeneratorIdentity,
    answer: &'a Script,
    asked: Vec<GenerateRequest>,
    /// The text of each prompt and the drop of every token's log-probability when it is hidden; none for a generator
    /// that cannot hide.
    drops: Option<Vec<(&'a str, f32)>>,
    /// How probable the tokens of a draft are after a prompt, as far as it is read.
    told: Option<&'a Told>,
}

impl<'a> Scripted<'a> {
    fn new(answer: &'a Script) -> Self {
        let chat_template = ChatTemplate { source: String::new(), bos: String::new(), eos: String::new() };
        let identity = GeneratorIdentity { model: "scripted".into(), context_tokens: 1000, chat_template };
        Self { identity, answer, asked: Vec::new(), drops: None, told: None }
    }

    fn hiding(answer: &'a Script, drops: &[(&'a str, f32)]) -> Self {
        Self { drops: Some(drops.to_vec()), ..Self::new(answer) }
    }
}

impl Generate for Scripted<'_> {
    fn identity(&self) -> &GeneratorIdentity {
        &self.identity
    }

    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError> {
        Ok(part.text.split(' ').count())
    }

    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        _on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        cancel.check()?;
        self.asked.push(request.clone());
        let prompt: String = request.parts.iter().map(|part| part.text.as_str()).collect();
        let seed = match request.sampling {
            Sampling::Greedy => 0,
            Sampling::Seeded { seed, .. } => seed,
        };
        cancel.check()?;
        let mut completion = completion(&(self.answer)(&prompt, seed));
        let foreseen = completion.tokens.iter().zip(&request.draft).take_while(|(token, draft)| token == draft);
        completion.drafted_tokens = foreseen.count();
        if let Some(told) = self.told {
            completion.draft_log_probabilities = told(&prompt);
        }
        Ok(completion)
    }

    fn score(
        &mut self,
        request: &ScoreRequest,
        cancel: &CancelToken,
        on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        let Some(drops) = &self.drops else {
            return Err(InferenceError::Run { doing: "scoring", model: "scripted".into(), source: "no".into() });
        };
        let whole = vec![-1.0; request.answer.len()];
        on_scored(None, &whole);
        let mut scores = Scores { whole, hidden: Vec::new() };
        for (set, places) in request.hidden.iter().enumerate() {
            cancel.check()?;
            let hides = |text: &str| places.iter().any(|place| request.parts[*place].text.contains(text));
            let drop: f32 = drops.iter().filter(|(text, _)| hides(text)).map(|(_, drop)| drop).sum();
            scores.hidden.push(vec![-1.0 - drop; request.answer.len()]);
            on_scored(Some(set), &scores.hidden[set]);
        }
        Ok(scores)
    }
}

/// An encoder that hashes words into a few counters.
struct Words {
    identity: EncoderIdentity,
    embedded: AtomicUsize,
}

impl Words {
    fn new() -> Self {
        let identity =
            EncoderIdentity { model: "words".into(), fingerprint: "0".into(), dimensions: 64, max_tokens: 256 };
        Self { identity, embedded: AtomicUsize::new(0) }
    }
}

impl Embed for Words {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        Ok(text.split(' ').count())
    }

    fn embed(&self, texts: &[&str], _: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        cancel.check()?;
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| words(text)).collect())
    }
}

fn words(text: &str) -> Embedding {
    let mut counts = vec![0.0_f32; 64];
    for word in text.split_whitespace() {
        counts[word.bytes().map(usize::from).sum::<usize>() % 64] += 1.0;
    }
    Embedding::normalized(counts)
}

/// A prompt with these evidences, the best last, and the answer the model gave to it.
fn answer(evidences: &[&str], text: &str) -> Answer {
    let segment = |part, text: String| Segment { part, text, special: SpecialTokens::AsText, tokens: 1 };
    let mut segments = vec![segment(Part::System, "Answer from the sources. ".into())];
    let sources = evidences.iter().enumerate().map(|(i, text)| (text, i + 1)).rev();
    segments.extend(sources.map(|(text, rank)| segment(Part::Evidence { rank }, format!("{text} "))));
    segments.push(segment(Part::Question, QUESTION.into()));
    Answer {
        named: None,
        withheld: None,
        text: text.into(),
        answered: true,
        citations: vec![1],
        invalid_citations: Vec::new(),
        language: Language::English,
        prompt: Prompt { segments, stop: vec!["User:".into()], cut: Vec::new() },
        sampling: Sampling::Greedy,
        completion: completion(text),
    }
}

fn vectors(evidences: &[&str]) -> Vec<SourceVector> {
    evidences.iter().zip(1..).map(|(text, rank)| SourceVector { rank, embedding: words(text) }).collect()
}

fn input<'a>(answer: &'a Answer, sources: &'a [SourceVector], settings: &'a AttributionSettings) -> ExplainInput<'a> {
    ExplainInput {
        question: QUESTION,
        answer,
        sources,
        origin: AnswerSource::Here,
        known: &[],
        settings,
        max_tokens: 64,
    }
}

fn explained(input: ExplainInput<'_>, script: &Script) -> (Attribution, Vec<GenerateRequest>, usize) {
    let mut generator = Scripted::new(script);
    let embedder = Words::new();
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let attribution = explain(input, engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
    (attribution, generator.asked, embedder.embedded.into_inner())
}

const EVIDENCES: [&str; 3] = ["Alice tested the radio in May", "The pump runs on diesel", "A manual for boats"];

/// Says who tested the radio when a source says so.
fn finds_alice(prompt: &str, _: u32) -> String {
    if prompt.contains("Alice") { "Alice did. [Source 1]".into() } else { "Nobody knows that at all.".into() }
}

#[test]
fn the_source_whose_removal_changes_the_answer_has_the_share() {
    let (answer, sources) = (answer(&EVIDENCES, "Alice did. [Source 1]"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let (attribution, asked, embedded) = explained(input(&answer, &sources, &settings), &finds_alice);

    assert!(attribution.decisive);
    let first = &attribution.clusters[0];
    assert_eq!((first.hits.as_slice(), first.share, first.how), ([1].as_slice(), Some(1.0), Provenance::Regenerated));
    assert!(first.contribution > 0.1);
    assert_eq!(first.counterfactual_answer.as_deref(), Some("Nobody knows that at all."));
    for other in &attribution.clusters[1..] {
        assert_eq!((other.contribution, other.share), (0.0, None), "the same tokens are exactly 0");
        assert!((other.counterfactuals[0].similarity - 1.0).abs() < f64::EPSILON);
        assert_eq!(other.how, Provenance::Verified);
    }
    assert_eq!(embedded, 2, "only the original and the one answer that differs are embedded");
    assert!(asked.iter().all(|r| r.stop == ["User:"] && r.max_tokens == 64 && r.sampling == Sampling::Greedy));
}

#[test]
fn the_cluster_that_stands_last_in_the_prompt_is_removed_first() {
    let (answer, sources) = (answer(&EVIDENCES, "x"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let (_, asked, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    let missing: Vec<usize> = asked
        .iter()
        .map(|r| EVIDENCES.iter().position(|e| r.parts.iter().all(|part| !part.text.contains(e))).unwrap() + 1)
        .collect();
    assert_eq!(missing, [1, 2, 3], "the best source is last in the prompt");
    assert!(asked.iter().all(|r| r.parts.len() == answer.prompt.segments.len() - 1));
}

#[test]
fn when_every_answer_stays_the_same_no_single_source_decides() {
    let (answer, sources) = (answer(&EVIDENCES, "I know that."), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let (attribution, _, embedded) = explained(input(&answer, &sources, &settings), &|_, _| "I know that.".into());
    assert!(!attribution.decisive);
    assert!(attribution.clusters.iter().all(|c| c.contribution == 0.0 && c.share.is_none()));
    assert_eq!(embedded, 0);
}

#[test]
fn a_source_that_is_only_cited_does_not_matter_for_being_cited() {
    let (answer, sources) = (answer(&EVIDENCES, "Alice did [Source 1, Source 2]."), vectors(&EVIDENCES));
    let script = |prompt: &str, _: u32| match (prompt.contains("Alice"), prompt.contains("pump")) {
        (false, _) => "Nobody knows that at all.".to_owned(),
        (_, false) => "Alice did [Source 1].".to_owned(),
        _ => "Alice did [Source 1, Source 2].".to_owned(),
    };
    let settings = AttributionSettings::default();
    let (attribution, _, embedded) = explained(input(&answer, &sources, &settings), &script);
    let of = |rank| attribution.clusters.iter().find(|cluster| cluster.hits == [rank]).unwrap();
    assert_eq!((of(2).contribution, of(2).how), (SMALLEST_CHANGE, Provenance::Regenerated));
    assert_eq!(
        of(2).counterfactual_answer.as_deref(),
        Some("Alice did [Source 1]."),
        "what is shown is the whole answer"
    );
    assert_eq!((of(3).contribution, of(3).how), (0.0, Provenance::Verified));
    assert!(of(1).contribution > 0.1);
    assert_eq!(embedded, 2);
}

#[test]
fn copies_are_removed_together() {
    let evidences = ["Alice tested the radio", "The pump runs on diesel", "Alice tested the radio"];
    let (answer, sources) = (answer(&evidences, "Alice did. [Source 1]"), vectors(&evidences));
    let settings = AttributionSettings::default();
    let (attribution, _, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    assert_eq!(attribution.clusters[0].hits, [1, 3]);
    assert_eq!(attribution.clusters[0].share, Some(1.0));
    assert_eq!(attribution.clusters[0].counterfactuals[0].prompt.sources(), [2]);
    assert_eq!(attribution.clusters[1].hits, [2]);
}

#[test]
fn a_single_cluster_leaves_a_prompt_without_evidence() {
    let evidences = ["Alice tested the radio"];
    let (answer, sources) = (answer(&evidences, "Alice did. [Source 1]"), vectors(&evidences));
    let settings = AttributionSettings::default();
    let (attribution, asked, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    assert_eq!(asked.len(), 1);
    assert!(attribution.clusters[0].counterfactuals[0].prompt.sources().is_empty());
    assert!(attribution.decisive);
}

#[test]
fn an_answer_without_sources_has_no_clusters() {
    let answer = answer(&[], "I know that.");
    let settings = AttributionSettings::default();
    let (attribution, asked, _) = explained(input(&answer, &[], &settings), &finds_alice);
    assert!(attribution.clusters.is_empty() && asked.is_empty() && !attribution.decisive);
}

#[test]
fn other_tokens_with_the_same_embedding_are_a_change_still() {
    let (answer, sources) = (answer(&EVIDENCES[..1], "Alice did."), vectors(&EVIDENCES[..1]));
    let settings = AttributionSettings::default();
    let (attribution, _, _) = explained(input(&answer, &sources, &settings), &|_, _| "did. Alice".into());
    assert!(attribution.clusters[0].contribution > 0.0);
    assert!(attribution.clusters[0].contribution < 1e-6);
    assert_eq!(attribution.clusters[0].share, None);
    assert!(!attribution.decisive, "a change of nothing decides nothing");
}

fn seeds_of(asked: &[GenerateRequest]) -> Vec<u32> {
    let seed = |request: &GenerateRequest| match request.sampling {
        Sampling::Seeded { seed, .. } => seed,
        Sampling::Greedy => panic!("the answer was sampled"),
    };
    asked.iter().map(seed).collect()
}

#[test]
fn a_sampled_answer_is_compared_with_several_seeds() {
    let mut answer = answer(&EVIDENCES[..1], "Alice did.");
    answer.sampling = Sampling::Seeded { temperature: 0.7, seed: u32::MAX };
    let sources = vectors(&EVIDENCES[..1]);
    let settings = AttributionSettings { iterations: 3, ..AttributionSettings::default() };
    let script = |prompt: &str, seed: u32| match (prompt.contains("Alice"), seed) {
        (false, 0) => "Bob was it.".to_owned(),
        _ => "Alice did.".to_owned(),
    };
    let (attribution, asked, embedded) = explained(input(&answer, &sources, &settings), &script);
    assert_eq!(seeds_of(&asked), [0, 1, u32::MAX, 0, 1], "with every source first, then without it");
    let [first, second, third] = attribution.clusters[0].counterfactuals.as_slice() else { panic!("three iterations") };
    assert_eq!((first.similarity, third.similarity), (1.0, 1.0));
    assert!((attribution.clusters[0].contribution - (1.0 - second.similarity) / 3.0).abs() < 1e-12);
    assert_eq!(embedded, 2);
}

#[test]
fn chance_alone_gives_no_source_a_contribution() {
    let mut answer = answer(&EVIDENCES, "Alice did.");
    answer.sampling = Sampling::Seeded { temperature: 0.7, seed: 7 };
    let sources = vectors(&EVIDENCES);
    let settings = AttributionSettings { iterations: 3, ..AttributionSettings::default() };
    let by_chance = |_: &str, seed: u32| if seed == 8 { "Bob was it.".to_owned() } else { "Alice did.".to_owned() };
    let (attribution, asked, embedded) = explained(input(&answer, &sources, &settings), &by_chance);
    assert!(
        attribution.clusters.iter().all(|cluster| cluster.contribution == 0.0 && cluster.how == Provenance::Verified)
    );
    assert!(!attribution.decisive);
    assert_eq!(embedded, 0);
    let said: Vec<&str> = attribution.resampled.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(said, ["Bob was it.", "Alice did."]);
    assert_eq!(attribution.generated().count(), asked.len());
}

#[test]
fn progress_names_the_settled_clusters_with_shares_among_themselves() {
    let (answer, sources) = (answer(&EVIDENCES, "Alice did. [Source 1]"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let (mut generator, embedder) = (Scripted::new(&finds_alice), Words::new());
    let mut seen = Vec::new();
    let mut on_cluster = |done: usize, total: usize, clusters: &[Cluster]| {
        assert_eq!(clusters.len(), done);
        seen.push((done, total, clusters.iter().filter_map(|c| c.share).sum::<f64>()));
    };
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut on_cluster).unwrap();
    assert_eq!(seen, [(1, 3, 1.0), (2, 3, 1.0), (3, 3, 1.0)]);
}

#[test]
fn what_most_probably_matters_is_left_out_first() {
    let (said, sources) = (answer(&FIVE, "Alice did. [Source 3]"), vectors(&FIVE));
    let answer = Answer { citations: vec![3], ..said };
    let mut settings = AttributionSettings::default();
    let without = |asked: &[GenerateRequest]| -> Vec<usize> {
        let lacks = |request: &GenerateRequest, text: &str| request.parts.iter().all(|part| !part.text.contains(text));
        asked.iter().map(|request| FIVE.iter().position(|text| lacks(request, text)).unwrap() + 1).collect()
    };
    let (_, asked, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    assert_eq!(without(&asked), [3, 1, 2, 4, 5], "what is cited, then by rank");

    settings.estimate_first = EstimateFirst::On;
    let mut generator = Scripted::hiding(&finds_alice, &[(FIVE[4], 2.0), (FIVE[1], 1.0)]);
    let embedder = Words::new();
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
    assert_eq!(without(&generator.asked), [5, 2, 3, 1, 4], "by the estimate, then as without one");
}

/// A draft is less probable where no source has the answer.
fn rests_on_alice(prompt: &str) -> Vec<f32> {
    vec![if prompt.contains("Alice") { -1.0 } else { -3.0 }; 4]
}

#[test]
fn an_answer_that_is_read_as_a_draft_tells_what_its_tokens_lose() {
    let (mut said, sources) = (answer(&EVIDENCES, "Alice did. [Source 1]"), vectors(&EVIDENCES));
    said.completion.log_probabilities = vec![-1.0; 4];
    let embedder = Words::new();
    let explained = |estimate_first: EstimateFirst, told: &Told| {
        let settings = AttributionSettings { estimate_first, ..AttributionSettings::default() };
        let mut generator = Scripted { told: Some(told), ..Scripted::hiding(&finds_alice, &[("Alice", 0.5)]) };
        let engines = Engines { generator: &mut generator, embedder: &embedder };
        explain(input(&said, &sources, &settings), engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap()
    };
    let drops =
        |of: &Attribution, hit: usize| of.clusters.iter().find(|cluster| cluster.hits == [hit]).unwrap().drops.clone();
    for estimate_first in [EstimateFirst::Off, EstimateFirst::On] {
        let found = explained(estimate_first, &rests_on_alice);
        assert_eq!(found.drops_how(), Some(Provenance::Logprob));
        assert_eq!((drops(&found, 1), drops(&found, 2)), (vec![2.0; 4], vec![0.0; 4]));
        assert!(found.generated().all(|one| one.draft_log_probabilities.is_empty()), "it is kept once");
    }

    let begun = |prompt: &str| rests_on_alice(prompt)[if prompt.contains("Alice") { 0 } else { 2 }..].to_vec();
    let partly = explained(EstimateFirst::Off, &begun);
    assert_eq!((partly.drops_how(), drops(&partly, 1)), (None, Vec::new()), "it was not read to its end");
    let estimated = explained(EstimateFirst::On, &begun);
    assert_eq!((estimated.drops_how(), drops(&estimated, 1)), (Some(Provenance::Preview), vec![0.5; 4]));
}

#[test]
fn cancelling_ends_the_work_between_clusters_and_within_a_generation() {
    let (answer, sources) = (answer(&EVIDENCES, "x"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let embedder = Words::new();

    let source = CancelSource::default();
    let mut generator = Scripted::new(&finds_alice);
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let between =
        explain(input(&answer, &sources, &settings), engines, &source.token(), &mut |_, _, _| source.cancel());
    assert!(matches!(between, Err(AttributionError::Canceled(Canceled))));
    assert_eq!(generator.asked.len(), 1);

    let source = CancelSource::default();
    let settled = Cell::new(0);
    let user = source.clone();
    let cancels = move |_: &str, _: u32| {
        user.cancel();
        "never compared".to_owned()
    };
    let mut generator = Scripted::new(&cancels);
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let within = explain(input(&answer, &sources, &settings), engines, &source.token(), &mut |n, _, _| settled.set(n));
    assert!(matches!(within, Err(AttributionError::Canceled(Canceled))));
    assert_eq!(settled.get(), 0);
}

#[test]
fn a_stored_answer_that_the_model_no_longer_gives_is_not_taken_for_the_work_of_a_source() {
    let (stored, sources) = (answer(&EVIDENCES, "It was Alice, I think. [Source 1]"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let asked = ExplainInput { origin: AnswerSource::Stored, ..input(&stored, &sources, &settings) };
    let (attribution, requests, _) = explained(asked, &finds_alice);
    assert_eq!(attribution.instead.as_deref(), Some("Alice did. [Source 1]"));
    assert_eq!(requests[0].parts, stored.prompt.parts(), "the whole prompt first");
    let zero: Vec<f64> = attribution.clusters[1..].iter().map(|cluster| cluster.contribution).collect();
    assert_eq!((attribution.clusters[0].hits.as_slice(), zero), (&[1][..], vec![0.0, 0.0]));

    // What is known halfway is not held against the stored answer, so it is not told as if it were.
    let (mut generator, embedder) = (Scripted::new(&finds_alice), Words::new());
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let mut told = Vec::new();
    let mut hear = |done: usize, _: usize, clusters: &[Cluster]| told.push((done, clusters.len()));
    let asked = ExplainInput { origin: AnswerSource::Stored, ..input(&stored, &sources, &settings) };
    explain(asked, engines, &CancelToken::never(), &mut hear).unwrap();
    assert_eq!(told, [(1, 0), (2, 0), (3, 0)]);

    let same = answer(&EVIDENCES, "Alice did. [Source 1]");
    let asked = ExplainInput { origin: AnswerSource::Stored, ..input(&same, &sources, &settings) };
    let (attribution, requests, _) = explained(asked, &finds_alice);
    assert_eq!((attribution.instead, requests.len()), (None, 4));
    let (_, requests, _) = explained(input(&same, &sources, &settings), &finds_alice);
    assert_eq!(requests.len(), 3, "an answer of this run is not checked");
}

#[test]
fn an_explanation_that_was_stopped_goes_on_to_the_same_end() {
    let (answer, sources) = (answer(&EVIDENCES, "Alice did. [Source 1]"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let (mut whole, all, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    for stop_after in 1..=2 {
        let source = CancelSource::default();
        let (mut generator, embedder) = (Scripted::new(&finds_alice), Words::new());
        let engines = Engines { generator: &mut generator, embedder: &embedder };
        let mut known = Vec::new();
        let mut stop = |done: usize, _: usize, clusters: &[Cluster]| {
            known = clusters.to_vec();
            if done == stop_after {
                source.cancel();
            }
        };
        explain(input(&answer, &sources, &settings), engines, &source.token(), &mut stop).unwrap_err();
        let stopped = Attribution::stopped(Method::Counterfactual, &known, 3, 0.05).unwrap();
        assert_eq!((stopped.clusters.len(), stopped.missing, stopped.decisive), (stop_after, 3 - stop_after, false));
        assert!(stopped.stopped_after().unwrap().contains(&format!("{stop_after} of 3")));

        let rest = ExplainInput { known: &stopped.clusters, ..input(&answer, &sources, &settings) };
        let (mut resumed, asked, _) = explained(rest, &finds_alice);
        assert_eq!(asked.len(), all.len() - stop_after, "what is known is not generated again");
        (resumed.timings_ms, whole.timings_ms) = Default::default();
        assert_eq!(resumed, whole);
    }
    assert_eq!(Attribution::stopped(Method::Counterfactual, &[], 3, 0.05), None);
    assert_eq!(Attribution::stopped(Method::Counterfactual, &whole.clusters, 3, 0.05), None, "it came to its end");
}

#[test]
fn text_of_a_counterfactual_answer_is_clean() {
    let (answer, sources) = (answer(&EVIDENCES[..1], "Alice did."), vectors(&EVIDENCES[..1]));
    let settings = AttributionSettings::default();
    let (attribution, _, _) = explained(input(&answer, &sources, &settings), &|_, _| "\u{1b}[31mred\u{7}".into());
    assert_eq!(attribution.clusters[0].counterfactual_answer.as_deref(), Some("red"));
}

#[test]
fn a_wrong_setting_is_refused_before_any_generation() {
    let (answer, sources) = (answer(&EVIDENCES, "x"), vectors(&EVIDENCES));
    let settings = AttributionSettings { temperature: 0.0, ..AttributionSettings::default() };
    let (mut generator, embedder) = (Scripted::new(&finds_alice), Words::new());
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let refused = explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut |_, _, _| {});
    assert!(matches!(refused, Err(AttributionError::Setting(SettingError::Temperature(_)))));
    assert!(generator.asked.is_empty());
}

#[test]
fn similarity_ranks_the_source_that_is_most_like_the_answer() {
    let (answer, sources) = (answer(&EVIDENCES, "Alice tested it in May"), vectors(&EVIDENCES));
    let settings = AttributionSettings::default();
    let input = SimilarityInput { answer: &answer, sources: &sources, settings: &settings };
    let attribution = similarity(input, &Words::new(), &CancelToken::never()).unwrap();
    assert_eq!(attribution.method, Method::Similarity);
    let first = &attribution.clusters[0];
    assert_eq!((first.hits.as_slice(), first.how), ([1].as_slice(), Provenance::Similarity));
    assert!((first.contribution - words("Alice tested it in May").cosine(&words(EVIDENCES[0]))).abs() < 1e-12);
    assert!(attribution.clusters.iter().all(|c| c.share.is_none()) && !attribution.decisive);
    assert!(attribution.clusters.iter().all(|c| c.counterfactual_answer.is_none() && c.counterfactuals.is_empty()));
}

#[test]
fn the_json_of_an_attribution_has_the_fields_of_the_contract() {
    let (answer, sources) = (answer(&EVIDENCES[..2], "Alice did. [Source 1]"), vectors(&EVIDENCES[..2]));
    let settings = AttributionSettings::default();
    let (mut attribution, _, _) = explained(input(&answer, &sources, &settings), &finds_alice);
    attribution.timings_ms = AttributionTimings::default();
    for cluster in &mut attribution.clusters {
        cluster.contribution = (cluster.contribution * 1e3).round() / 1e3;
        cluster.counterfactuals.clear();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&attribution).unwrap());
}

#[test]
fn a_preview_of_an_answer_without_a_prompt_has_no_clusters() {
    let mut answer = answer(&[], "Nothing was found.");
    answer.prompt = Prompt::default();
    let settings = AttributionSettings::default();
    let mut unable = Scripted::new(&finds_alice);
    let input = input(&answer, &[], &settings);
    let estimated = masked_estimate(input, &mut unable, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
    assert!(estimated.clusters.is_empty() && !estimated.decisive);
}

/// Five sources, of which the first names Alice and the third the month.
const FIVE: [&str; 5] =
    ["Alice tested the radio", "The pump runs on diesel", "It was in May", "A manual for boats", "Lunch is at noon"];

#[test]
fn a_preview_ranks_the_sources_by_what_hiding_them_costs_and_generates_nothing() {
    let (answer, sources) = (answer(&FIVE, "Alice did. [Source 1]"), vectors(&FIVE));
    let settings = AttributionSettings::default();
    let ln_2 = std::f32::consts::LN_2;
    let mut generator = Scripted::hiding(&finds_alice, &[("Alice", 2.0 * ln_2), ("May", ln_2), ("boats", -1.0)]);
    let mut seen = Vec::new();
    let mut on_cluster = |done: usize, total: usize, clusters: &[Cluster]| seen.push((done, total, clusters.len()));
    let estimated =
        masked_estimate(input(&answer, &sources, &settings), &mut generator, &CancelToken::never(), &mut on_cluster)
            .unwrap();
    assert_eq!((estimated.method, estimated.decisive), (Method::Preview, true));
    assert!(generator.asked.is_empty());
    let found: Vec<(usize, f64)> = estimated.clusters.iter().map(|c| (c.hits[0], c.contribution)).collect();
    let expected = [(1, 0.75), (3, 0.5), (2, 0.0), (4, 0.0), (5, 0.0)];
    assert!(found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6), "{found:?}");
    assert!(
        estimated
            .clusters
            .iter()
            .all(|c| c.how == Provenance::Preview && c.drops.len() == 4 && c.counterfactuals.is_empty())
    );
    assert_eq!(seen, [(1, 5, 1), (2, 5, 2), (3, 5, 3), (4, 5, 4), (5, 5, 5)]);
}

#[test]
fn sources_that_probably_do_not_matter_are_settled_as_a_group() {
    let (answer, sources) = (answer(&FIVE, "Alice did. [Source 1]"), vectors(&FIVE));
    let (group_test, estimate_first) = (GroupTest::Auto, EstimateFirst::On);
    let settings = AttributionSettings { group_test, estimate_first, ..AttributionSettings::default() };
    let mut generator = Scripted::hiding(&finds_alice, &[("Alice", 2.0), ("May", 1.0), ("noon", 0.5)]);
    let embedder = Words::new();
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let mut seen = Vec::new();
    let mut on_cluster = |done: usize, total: usize, clusters: &[Cluster]| {
        let estimated = clusters.iter().filter(|cluster| cluster.how == Provenance::Preview).count();
        seen.push((done, total, estimated));
    };
    let attribution =
        explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut on_cluster).unwrap();
    let how = |hit: usize| attribution.clusters.iter().find(|cluster| cluster.hits == [hit]).unwrap().how;
    assert_eq!(
        [1, 2, 3, 4, 5].map(how),
        [Provenance::Regenerated, Provenance::Group, Provenance::Verified, Provenance::Group, Provenance::Verified]
    );
    assert!(attribution.clusters[1..].iter().all(|cluster| cluster.contribution == 0.0 && cluster.share.is_none()));
    let left_out: Vec<usize> = generator.asked.iter().map(|r| answer.prompt.segments.len() - r.parts.len()).collect();
    assert_eq!(left_out, [1, 1, 1, 2], "three alone, then two together");
    assert_eq!(attribution.generated().count(), 4, "the answer without two of them is one");
    assert_eq!(seen[..5], [(0, 5, 1), (0, 5, 2), (0, 5, 3), (0, 5, 4), (0, 5, 5)], "estimates come first");
    assert_eq!(seen[5..], [(1, 5, 4), (2, 5, 3), (3, 5, 2), (4, 5, 1), (5, 5, 0)], "each is replaced");
    assert!(attribution.clusters.iter().all(|cluster| cluster.drops.len() == 4));
}

#[test]
fn a_group_that_changes_the_answer_has_one_value_and_then_one_by_one_only_it_is_left() {
    let (answer, sources) = (answer(&FIVE, "Alice did. [Source 1]"), vectors(&FIVE));
    let (group_test, estimate_first) = (GroupTest::Auto, EstimateFirst::On);
    let settings = AttributionSettings { group_test, estimate_first, ..AttributionSettings::default() };
    // Misled by the estimate, the first source but one is taken for one that does not matter.
    let needs_the_pump = |prompt: &str, _: u32| {
        if prompt.contains("pump") { "Alice did. [Source 1]".to_owned() } else { "Nobody.".to_owned() }
    };
    let mut generator = Scripted::hiding(&needs_the_pump, &[("Alice", 2.0), ("May", 1.0), ("noon", 0.5)]);
    let embedder = Words::new();
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let attribution =
        explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
    let found = |attribution: &Attribution| -> Vec<(Vec<usize>, Provenance)> {
        attribution.clusters.iter().map(|cluster| (cluster.hits.clone(), cluster.how)).collect()
    };
    let expected = [
        (vec![2, 4], Provenance::Group),
        (vec![1], Provenance::Verified),
        (vec![3], Provenance::Verified),
        (vec![5], Provenance::Verified),
    ];
    assert_eq!(found(&attribution), expected);
    assert!(attribution.clusters[0].contribution > 0.0 && attribution.has_group());
    assert_eq!(attribution.clusters[0].counterfactual_answer.as_deref(), Some("Nobody."));
    assert_eq!(generator.asked.len(), 4, "three alone, two together");
    let mut known = attribution.clusters.clone();
    (known[1].contribution, known[2].contribution) = (0.02, 0.01);
    let stopped = Attribution::stopped(Method::Counterfactual, &known, 5, 0.05).unwrap();
    assert_eq!((stopped.clusters.len(), stopped.missing), (3, 2), "a group's value is none of its members");
    let shares: f64 = stopped.clusters.iter().filter_map(|cluster| cluster.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "shares among these only: {shares}");

    let one_by_one = AttributionSettings { group_test: GroupTest::Off, ..settings.clone() };
    let (known, mut seen) = (&attribution.clusters[1..], Vec::new());
    let engines = Engines { generator: &mut generator, embedder: &embedder };
    let mut hear = |done: usize, total: usize, clusters: &[Cluster]| seen.push((done, total, clusters.len()));
    let again = ExplainInput { known, ..input(&answer, &sources, &one_by_one) };
    let attribution = explain(again, engines, &CancelToken::never(), &mut hear).unwrap();
    let expected =
        [2, 1, 3, 4, 5].map(|hit| (vec![hit], if hit == 2 { Provenance::Regenerated } else { Provenance::Verified }));
    assert_eq!(found(&attribution), expected);
    assert_eq!(generator.asked.len(), 6, "two more");
    assert_eq!(seen.last(), Some(&(5, 5, 5)));
}

#[test]
fn cited_sources_are_never_settled_as_a_group_and_nothing_is_where_that_is_off() {
    let mut answer = answer(&FIVE, "Alice did. [Source 4]");
    answer.citations = vec![4];
    let sources = vectors(&FIVE);
    let same = |_: &str, _: u32| "Alice did. [Source 4]".to_owned();
    let drops = [("Alice", 2.0), ("May", 1.0), ("noon", 0.5)];
    // Each of five sources, and the answer without any.
    for (group_test, asked) in [(GroupTest::Auto, 6), (GroupTest::Off, 6)] {
        let settings =
            AttributionSettings { group_test, estimate_first: EstimateFirst::On, ..AttributionSettings::default() };
        let mut generator = Scripted::hiding(&same, &drops);
        let embedder = Words::new();
        let engines = Engines { generator: &mut generator, embedder: &embedder };
        let attribution =
            explain(input(&answer, &sources, &settings), engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
        assert!(attribution.clusters.iter().all(|cluster| cluster.how == Provenance::Verified), "{group_test:?}");
        assert_eq!(generator.asked.len(), asked);
    }
}

/// What a scripted generator says of five sources, whose answer it gives as long as Alice is among them.
fn by_probability(reading: Reading) -> (Answer, Attribution, Vec<(usize, usize, usize)>, ScriptedGenerator) {
    let says = |request: &GenerateRequest| {
        let knows = request.parts.iter().any(|part| part.text.contains("Alice"));
        if knows { "Alice did. [1] Nobody else was there." } else { "Bob did. [1] Nobody else was there." }.to_owned()
    };
    let mut generator = ScriptedGenerator::new(says);
    let mut answer = answer(&FIVE, "Alice did. [Source 1] Nobody else was there.");
    let request = GenerateRequest {
        parts: answer.prompt.parts(),
        sampling: Sampling::Greedy,
        stop: Vec::new(),
        max_tokens: 50,
        draft: Vec::new(),
    };
    answer.completion = generator.generate(&request, &CancelToken::never(), &mut |_| {}).unwrap();
    let sources = vectors(&FIVE);
    let settings = AttributionSettings::default();
    let mut seen = Vec::new();
    let mut on_cluster = |done: usize, total: usize, clusters: &[Cluster]| seen.push((done, total, clusters.len()));
    let input = input(&answer, &sources, &settings);
    let found = probability(input, reading, &mut generator, &CancelToken::never(), &mut on_cluster).unwrap();
    (answer, found, seen, generator)
}

#[test]
fn an_answer_that_is_less_probable_without_a_source_rests_on_it() {
    for (reading, method, how) in
        [(Reading::Logprob, Method::Logprob, Provenance::Logprob), (Reading::Divergence, Method::Jsd, Provenance::Jsd)]
    {
        let (answer, found, seen, _) = by_probability(reading);
        assert_eq!((found.method, found.decisive), (method, true));
        assert_eq!(seen, [(1, 5, 1), (2, 5, 2), (3, 5, 3), (4, 5, 4), (5, 5, 5)]);
        let first = &found.clusters[0];
        assert_eq!((first.hits.as_slice(), first.how, first.share), ([1].as_slice(), how, Some(1.0)));
        assert!(first.contribution > 0.0 && first.contribution < 1.0 && first.drop().unwrap() > 1.0);
        assert!(found.clusters[1..].iter().all(|c| c.contribution == 0.0 && c.share.is_none()));
        let tokens = answer.completion.tokens.len();
        let divergences = if reading == Reading::Divergence { tokens } else { 0 };
        assert!(found.clusters.iter().all(|c| c.drops.len() == tokens && c.divergences.len() == divergences));
        assert!(found.clusters.iter().all(|c| c.counterfactual_answer.is_none() && c.counterfactuals.is_empty()));
    }
}

#[test]
fn a_sentence_rests_on_the_source_without_which_its_words_are_less_probable() {
    let (answer, found, _, generator) = by_probability(Reading::Logprob);
    let settings = AttributionSettings::default();
    let found = by_sentence(found, &answer, &settings, &generator).unwrap();
    assert_eq!(found.tokens.concat(), answer.completion.text);
    let [first, second] = found.sentences.as_slice() else { panic!("{:?}", found.sentences) };
    assert_eq!((first.text.as_str(), first.tokens.clone()), ("Alice did. [Source 1]", 0..3));
    assert_eq!((second.text.as_str(), second.tokens.clone()), ("Nobody else was there.", 3..7));
    assert!(first.decisive && first.clusters[0].hits == [1] && first.clusters[0].how == Provenance::Logprob);
    assert_eq!((first.clusters[0].drop, first.clusters.len()), (found.clusters[0].drop().unwrap(), 5));
    assert!(!second.decisive && second.clusters.iter().all(|c| c.drop == 0.0 && c.share.is_none()));
    let mut partly = Attribution { sentences: Vec::new(), ..found.clone() };
    partly.clusters[1].drops.clear();
    let partly = by_sentence(partly, &answer, &settings, &generator).unwrap();
    assert!(partly.sentences.is_empty(), "the part of a cluster without drops would go to the others");
}

#[test]
fn a_generator_that_cannot_tell_leaves_sentences_out_and_refuses_probabilities() {
    let (answer, sources) = (answer(&FIVE, "Alice did. [Source 1]"), vectors(&FIVE));
    let settings = AttributionSettings::default();
    let mut unable = Scripted::hiding(&finds_alice, &[("Alice", 2.0)]);
    let (input, never) = (input(&answer, &sources, &settings), CancelToken::never());
    let estimated = masked_estimate(input, &mut unable, &never, &mut |_, _, _| {}).unwrap();
    let same = by_sentence(estimated.clone(), &answer, &settings, &unable).unwrap();
    assert_eq!(same, estimated);
    let refused = probability(input, Reading::Logprob, &mut unable, &never, &mut |_, _, _| {});
    assert!(matches!(refused, Err(AttributionError::Compare { .. })), "{refused:?}");
}

proptest! {
    #[test]
    fn every_source_in_the_prompt_is_in_exactly_one_cluster(
        evidences in prop::collection::vec("[abc]( [abc]){0,3}", 0..7),
        vectors_for in 0_usize..9,
        dropped in 0_usize..7,
    ) {
        let texts: Vec<&str> = evidences.iter().map(String::as_str).collect();
        let mut answer = answer(&texts, "a b");
        answer.prompt = answer.prompt.without(&[dropped]);
        let mut sources = vectors(&texts);
        sources.truncate(vectors_for);
        let settings = AttributionSettings::default();
        let echo = |prompt: &str, _: u32| prompt.chars().rev().take(40).collect::<String>();
        let (attribution, _, _) = explained(input(&answer, &sources, &settings), &echo);

        let mut ranks: Vec<usize> = attribution.clusters.iter().flat_map(|c| c.hits.clone()).collect();
        ranks.sort_unstable();
        prop_assert_eq!(ranks, answer.prompt.sources());
        let sum: f64 = attribution.clusters.iter().filter_map(|c| c.share).sum();
        prop_assert!(attribution.clusters.iter().all(|c| c.share.is_none()) || (sum - 1.0).abs() < 1e-9);
        prop_assert!(attribution.clusters.is_sorted_by(|a, b| a.contribution >= b.contribution));
    }
}
