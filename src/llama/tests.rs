//! The generator on real weights: SmolLM2-135M (profile `tiny`).

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::*;
use ragonite_base::CancelSource;
use ragonite_inference::Finish;
use ragonite_inference::{COMPARED_TOKENS, Measure, Recompute, Sampling, SpecialTokens, logprob_deltas};

/// Two contexts at once on few cores take longer than one after the other.
pub(super) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// SmolLM2-135M, the generator of the profile `tiny`.
const TINY: &str = "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf";

pub(super) fn weights() -> Option<PathBuf> {
    ragonite_testing::weights(TINY)
}

pub(super) fn load(context_tokens: usize) -> Option<LlamaGenerator> {
    let path = weights()?;
    let settings = GeneratorSettings { context_tokens, ..GeneratorSettings::default() };
    Some(LlamaGenerator::load("smollm2", &path, &settings, Box::new(|_| ControlFlow::Continue(()))).unwrap())
}

/// As [`load`], where all sequences share their memory and one call may read and write, as with a GPU.
pub(super) fn load_sharing(context_tokens: usize) -> Option<LlamaGenerator> {
    let path = weights()?;
    let settings = GeneratorSettings { context_tokens, ..GeneratorSettings::default() };
    let go_on = Box::new(|_| ControlFlow::Continue(()));
    Some(LlamaGenerator::load_for(BatchPolicy::MULT4, "smollm2", &path, &settings, go_on).unwrap())
}

pub(super) fn template(text: &str) -> PromptPart {
    PromptPart { text: text.to_owned(), special: SpecialTokens::Parse }
}

pub(super) fn plain(text: &str) -> PromptPart {
    PromptPart { text: text.to_owned(), special: SpecialTokens::AsText }
}

pub(super) fn ask(question: &str, max_tokens: usize) -> GenerateRequest {
    GenerateRequest {
        parts: vec![
            template("<|im_start|>system\n"),
            plain("You are a helpful assistant who answers in one short sentence."),
            template("<|im_end|>\n<|im_start|>user\n"),
            plain(question),
            template("<|im_end|>\n<|im_start|>assistant\n"),
        ],
        sampling: Sampling::Greedy,
        stop: Vec::new(),
        max_tokens,
        draft: Vec::new(),
    }
}

pub(super) fn answer(generator: &mut LlamaGenerator, request: &GenerateRequest) -> Completion {
    generator.generate(request, &CancelToken::never(), &mut |_| {}).unwrap()
}

#[test]
fn a_shared_prefix_is_reused_and_changes_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let long = format!("{} Which colour has the sky?", "The harbour of Port Ellery opens at dawn. ".repeat(12));
    let first = ask(&long, 12);
    let second = ask(&long.replace("sky", "grass"), 12);
    let cold = answer(&mut generator, &first);
    assert_eq!(cold.reused_tokens, 0);

    let warm = answer(&mut generator, &second);
    let ids = |request: &GenerateRequest| -> Vec<i32> {
        request.parts.iter().flat_map(|part| generator.tokens(part).unwrap()).collect()
    };
    let common = ids(&first).iter().zip(ids(&second)).take_while(|(a, b)| **a == *b).count();
    assert_eq!(warm.reused_tokens, common);
    assert_eq!(warm.prompt_tokens, ids(&second).len());

    let again = answer(&mut generator, &second);
    assert_eq!(again.reused_tokens, again.prompt_tokens - 1);

    let mut fresh = load(512).unwrap();
    let from_nothing = answer(&mut fresh, &second);
    for other in [&warm, &again] {
        assert_eq!(other.tokens, from_nothing.tokens);
        assert_eq!(other.text, from_nothing.text);
    }
    assert_eq!(answer(&mut fresh, &first).tokens, cold.tokens);
}

#[test]
fn a_cancelled_question_leaves_no_trace_in_the_next() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let question = ask("Name three fruits.", 16);
    let expected = answer(&mut generator, &question);

    let long = ask(&"A long story about a river and a bridge. ".repeat(40), 40);
    let while_reading = CancelSource::default();
    let token = while_reading.token();
    let mut reads = 0;
    let result = generator.generate(&long, &token, &mut |event| {
        if let GenerateEvent::PromptRead { .. } = event {
            reads += 1;
            if reads == 3 {
                while_reading.cancel();
            }
        }
    });
    assert!(matches!(result, Err(InferenceError::Canceled(_))), "{result:?}");
    assert_eq!(reads, 3, "reading goes on after the cancellation");
    assert_eq!(answer(&mut generator, &question).tokens, expected.tokens);

    let while_writing = CancelSource::default();
    let token = while_writing.token();
    let mut texts = 0;
    let result = generator.generate(&question, &token, &mut |event| {
        if let GenerateEvent::Text(_) = event {
            texts += 1;
            while_writing.cancel();
        }
    });
    assert!(matches!(result, Err(InferenceError::Canceled(_))), "{result:?}");
    assert_eq!(texts, 1);
    assert_eq!(answer(&mut generator, &question).tokens, expected.tokens);
}

#[test]
fn a_call_that_computes_ends_when_it_is_cancelled_and_leaves_no_trace() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let question = ask("Name three fruits.", 16);
    let expected = answer(&mut generator, &question);
    let long = ask(&"A long story about a river and a bridge. ".repeat(12), 40);
    // llama.cpp asks some hundred times in a call: these are all in the first.
    for checks in [3, 40, 200] {
        let cancel = CancelToken::canceled_after(checks);
        let mut read = Vec::new();
        let result = generator.generate(&long, &cancel, &mut |event| {
            if let GenerateEvent::PromptRead { done, .. } = event {
                read.push(done);
            }
        });
        assert!(matches!(result, Err(InferenceError::Canceled(_))), "{result:?}");
        assert_eq!(read.len(), 1, "{checks} checks: {read:?}");
        assert!(cancel.checks() <= checks + 4, "nothing is computed any more: {}", cancel.checks());
        let again = answer(&mut generator, &question);
        assert_eq!((&again.tokens, again.narrowest), (&expected.tokens, expected.narrowest), "{checks} checks");
    }
    assert!(answer(&mut generator, &long).reused_tokens > 0, "what was read before is still there");
}

#[test]
fn a_stop_text_ends_the_generation_before_it() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let mut request = ask("Name three fruits.", 24);
    let whole = answer(&mut generator, &request);
    // A stop text from the middle of one word to the middle of the next cannot fall on token borders.
    let middle = whole.text.chars().count() / 2;
    let stop: String = whole.text.chars().skip(middle).take(5).collect();
    request.stop = vec![stop.clone()];
    let mut shown = String::new();
    let stopped = generator
        .generate(&request, &CancelToken::never(), &mut |event| {
            if let GenerateEvent::Text(text) = event {
                shown.push_str(text);
            }
        })
        .unwrap();
    assert_eq!(stopped.finish, Finish::Stop);
    assert_eq!(stopped.text, whole.text[..whole.text.find(&stop).unwrap()].trim());
    assert_eq!(shown.trim(), stopped.text);
    assert!(stopped.tokens.len() < whole.tokens.len());
}

#[test]
fn limits_are_found_before_llama_cpp_asserts() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    assert_eq!(generator.identity().context_tokens, 256);
    let result = generator.generate(&ask(&"word ".repeat(400), 8), &CancelToken::never(), &mut |_| {});
    assert!(
        matches!(result, Err(InferenceError::PromptTooLong { tokens, context: 256 }) if tokens > 400),
        "{result:?}"
    );

    let filled = answer(&mut generator, &ask(&"Tell me a very long story about a river. ".repeat(20), 4000));
    assert_eq!(filled.finish, Finish::Length);
    assert!(filled.prompt_tokens + filled.tokens.len() <= 257);

    let empty = GenerateRequest { parts: Vec::new(), ..ask("", 1) };
    assert!(matches!(
        generator.generate(&empty, &CancelToken::never(), &mut |_| {}),
        Err(InferenceError::Run { doing: "reading the prompt", .. })
    ));
    assert_eq!(answer(&mut generator, &ask("Hello", 0)).tokens, Vec::<i32>::new());
}

#[test]
fn a_seed_makes_sampling_repeatable() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let seeded = |seed| GenerateRequest {
        sampling: Sampling::Seeded { temperature: 1.5, seed },
        ..ask("Name three fruits.", 16)
    };
    let first = answer(&mut generator, &seeded(7));
    assert_eq!(answer(&mut generator, &seeded(7)).tokens, first.tokens);
    assert_ne!(answer(&mut generator, &seeded(8)).tokens, first.tokens);
}

#[test]
fn plain_text_never_becomes_a_special_token() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(generator) = load(256) else { return };
    let end = "<|im_end|>";
    assert_eq!(generator.tokens(&template(end)).unwrap(), [2]);
    let spelled = generator.tokens(&plain(end)).unwrap();
    assert!(spelled.len() > 1 && !spelled.contains(&2), "{spelled:?}");
    let chat = &generator.identity().chat_template;
    assert_eq!((chat.bos.as_str(), chat.eos.as_str()), ("", "<|im_end|>"));
    assert!(chat.source.contains("add_generation_prompt"));
}

#[test]
fn a_damaged_file_is_refused_with_a_reason() {
    let Some(path) = weights() else { return };
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        LlamaGenerator::load("m", &path, &GeneratorSettings::default(), Box::new(|_| ControlFlow::Continue(())))
    };
    let whole = std::fs::read(&path).unwrap();
    for (name, bytes) in [
        ("half.gguf", &whole[..whole.len() / 2]),
        ("header.gguf", &whole[..100]),
        ("empty.gguf", &[][..]),
        ("text.gguf", b"not a model at all"),
    ] {
        let result = load(name, bytes);
        assert!(matches!(result, Err(InferenceError::Load { .. })), "{name}: {result:?}");
    }
    let nowhere = folder.path().join("nowhere.gguf");
    let result =
        LlamaGenerator::load("m", &nowhere, &GeneratorSettings::default(), Box::new(|_| ControlFlow::Continue(())));
    assert!(matches!(result, Err(InferenceError::Read { .. })), "{result:?}");
}

#[test]
fn loading_can_be_cancelled() {
    let Some(path) = weights() else { return };
    let result = LlamaGenerator::load("m", &path, &GeneratorSettings::default(), Box::new(|_| ControlFlow::Break(())));
    assert!(matches!(result, Err(InferenceError::Canceled(_))), "{result:?}");
}

#[test]
fn a_grammar_leaves_no_other_choice() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let never = CancelToken::never();
    let mut held = |grammar: &str, sampling| {
        let request = GenerateRequest { sampling, ..ask("Name three fruits.", 24) };
        generator.generate_within(grammar, &request, &never, &mut |_| {})
    };
    let grammar = r#"root ::= "{\"rating\": " ("0.5" | "1") "}""#;
    for sampling in [Sampling::Greedy, Sampling::Seeded { temperature: 1.5, seed: 3 }] {
        let said = held(grammar, sampling).unwrap();
        assert!([r#"{"rating": 0.5}"#, r#"{"rating": 1}"#].contains(&said.text.as_str()), "{said:?}");
        assert_eq!(said.finish, Finish::End);
    }
    assert!(matches!(held("root = no grammar", Sampling::Greedy), Err(InferenceError::Run { .. })));
}

/// The same tokens.
pub(super) fn assert_same(one: &Completion, other: &Completion, what: &str) {
    assert_eq!(one.tokens, other.tokens, "{what}: {one:?} instead of {other:?}");
    assert_eq!((&one.text, one.finish), (&other.text, other.finish), "{what}");
}

#[test]
fn a_draft_changes_the_work_and_not_the_answer() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    for question in ["Name three fruits.", "Why is the sky blue?"] {
        let request = ask(question, 24);
        let plain = answer(&mut generator, &request);
        assert_eq!(plain.drafted_tokens, 0);
        let own = plain.tokens.clone();
        let half = own.len() / 2;
        let drafts = [
            own.clone(),
            own[..half].to_vec(),
            [&own[..half], &[own[half] + 1][..], &own[half..]].concat(),
            [&own[..half], &[-5, i32::MAX][..]].concat(),
            vec![own[0] + 1],
            own.repeat(5),
        ];
        for draft in drafts {
            let foreseen = own.iter().zip(&draft).take_while(|(own, draft)| own == draft).count();
            let what = format!("{question} with {foreseen} of {} tokens foreseen", own.len());
            let drafted = answer(&mut generator, &GenerateRequest { draft, ..request.clone() });
            assert_same(&drafted, &plain, &what);
            assert_eq!(drafted.drafted_tokens, foreseen, "{what}");
        }
        // What a draft left behind is no part of the next prompt.
        let mut fresh = load(512).unwrap();
        let next = ask("And what about Sunday?", 12);
        assert_same(&answer(&mut generator, &next), &answer(&mut fresh, &next), "the next question");
    }
}

#[test]
fn an_answer_that_is_written_quickly_leaves_nothing_behind_and_a_draft_is_checked_exactly() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(path) = weights() else { return };
    let load = |writing| {
        let settings = GeneratorSettings { context_tokens: 512, writing, ..GeneratorSettings::default() };
        LlamaGenerator::load("smollm2", &path, &settings, Box::new(|_| ControlFlow::Continue(()))).unwrap()
    };
    let (mut quick, mut exact) = (load(Decoding::Fast), load(Decoding::Deterministic));
    assert_eq!((quick.is_deterministic(), exact.is_deterministic()), (quick.engine.batch_policy().allows_mixed, true));
    let numbers: Vec<String> = (1..40).map(|number| number.to_string()).collect();
    let repeating = format!("Say this again, and nothing else: {}", numbers.join(", "));
    for question in ["Name three fruits.", "Why is the sky blue?", &repeating] {
        let request = ask(question, 48);
        let written = answer(&mut quick, &request);
        assert!(!written.tokens.is_empty() && written.drafted_tokens == 0, "{written:?}");
        assert_same(&answer(&mut quick, &request), &written, "again");
        assert_same(&answer(&mut load(Decoding::Fast), &request), &written, "from nothing");
        // Guesses that are wrong from the first word on, so that the answer is written by itself.
        let wrong = GenerateRequest { draft: vec![written.tokens[0] + 1], ..request.clone() };
        let counted = answer(&mut exact, &request);
        assert_same(&answer(&mut quick, &wrong), &counted, "exactly");
        let drafted = answer(&mut quick, &GenerateRequest { draft: written.tokens, ..request });
        assert_same(&drafted, &counted, "what was written quickly is a draft like another");
    }
}

#[test]
fn a_draft_of_a_sampled_answer_holds_for_its_seed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let sampling = Sampling::Seeded { temperature: 0.8, seed: 11 };
    let request = GenerateRequest { sampling, ..ask("Name three fruits.", 16) };
    let plain = answer(&mut generator, &request);
    let drafted = answer(&mut generator, &GenerateRequest { draft: plain.tokens.clone(), ..request });
    assert_eq!((drafted.tokens, drafted.drafted_tokens), (plain.tokens.clone(), plain.tokens.len()));
}

#[test]
fn a_draft_longer_than_the_context_ends_at_its_border() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let request = ask(&"Tell me a very long story about a river. ".repeat(20), 4000);
    let plain = answer(&mut generator, &request);
    assert_eq!(plain.finish, Finish::Length);
    let draft = plain.tokens.iter().copied().chain([5; 300]).collect();
    let drafted = answer(&mut generator, &GenerateRequest { draft, ..request });
    assert_same(&drafted, &plain, "a full context");
    assert_eq!(drafted.finish, Finish::Length);
}

/// A prompt with these facts in the order given, about the last question.
fn facts(facts: &[&str]) -> GenerateRequest {
    let mut request = ask("What colour is the door of the harbour office?", 24);
    let facts = facts.iter().enumerate().map(|(at, fact)| plain(&format!("Fact {}: {fact}\n", at + 1)));
    request.parts.splice(3..3, facts);
    request
}

const DOOR: &str = "The door of the harbour office is green.";
const PUMP: &str = "The pump of the ferry runs on diesel and is checked in May.";

#[test]
fn hiding_the_fact_that_has_the_answer_makes_it_less_probable() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let request = facts(&[DOOR, PUMP, "Lunch is at noon."]);
    let said = answer(&mut generator, &request);
    for reread in [Recompute::Rest, Recompute::Answer] {
        let score = ScoreRequest {
            parts: request.parts.clone(),
            answer: said.tokens.clone(),
            told: Vec::new(),
            hidden: vec![vec![3], vec![4], vec![5]],
            reread,
        };
        let mut heard = Vec::new();
        let scores = generator.score(&score, &CancelToken::never(), &mut |set, _| heard.push(set)).unwrap();
        assert_eq!(heard, [None, Some(0), Some(1), Some(2)]);
        assert!(scores.whole.len() == said.tokens.len() && scores.whole.iter().all(|score| *score <= 0.0));
        let drop = |hidden: &[f32]| scores.whole.iter().zip(hidden).map(|(whole, hidden)| whole - hidden).sum::<f32>();
        let drops: Vec<f32> = scores.hidden.iter().map(|hidden| drop(hidden)).collect();
        assert!(drops[0] > 1.0 && drops[0] > drops[1] && drops[0] > drops[2], "{reread:?}: {drops:?}");
        assert_eq!(answer(&mut generator, &request).tokens, said.tokens, "what was hidden is there again");
    }
}

#[test]
fn a_score_is_the_same_to_the_last_bit_whatever_else_is_scored() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let request = facts(&[PUMP, DOOR, "Lunch is at noon."]);
    let long: Vec<i32> = generator.tokens(&plain(&"The door is green and the pump is old. ".repeat(12))).unwrap();
    for length in [9, 58, 100] {
        let mut score = |hidden: &[usize]| {
            let hidden = hidden.iter().map(|part| vec![*part]).collect();
            let (parts, answer) = (request.parts.clone(), long[..length].to_vec());
            let request = ScoreRequest { parts, answer, told: Vec::new(), hidden, reread: Recompute::Answer };
            generator.score(&request, &CancelToken::never(), &mut |_, _| {}).unwrap()
        };
        let (two, turned, three, one) = (score(&[3, 4]), score(&[4, 3]), score(&[5, 4, 3]), score(&[4]));
        assert!([&turned, &three, &one].iter().all(|scores| scores.whole == two.whole), "{length} tokens");
        assert_eq!((&two.hidden[0], &two.hidden[1]), (&turned.hidden[1], &turned.hidden[0]), "{length} tokens");
        assert_eq!((&two.hidden[0], &two.hidden[1]), (&three.hidden[2], &three.hidden[1]), "{length} tokens");
        assert_eq!(two.hidden[1], one.hidden[0], "{length} tokens");
    }
}

#[test]
fn what_is_told_of_an_answer_is_what_would_be_found_out_and_is_not_read_again() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let request = facts(&[DOOR, PUMP, "Lunch is at noon."]);
    let said = answer(&mut generator, &request);
    assert_eq!(said.log_probabilities.len(), said.tokens.len());
    for reread in [Recompute::Rest, Recompute::Answer] {
        let mut score = |told: Vec<f32>| {
            let (parts, answer) = (request.parts.clone(), said.tokens.clone());
            let request = ScoreRequest { parts, answer, told, hidden: vec![vec![3], vec![4]], reread };
            let mut heard = Vec::new();
            let mut hear = |set: Option<usize>, scored: &[f32]| heard.push((set, scored.to_vec()));
            (generator.score(&request, &CancelToken::never(), &mut hear).unwrap(), heard)
        };
        let (found, told) = (score(Vec::new()), score(said.log_probabilities.clone()));
        assert!(said.log_probabilities.iter().zip(&found.0.whole).all(|(told, found)| (told - found).abs() < 0.01));
        assert_eq!(told.0.hidden, found.0.hidden, "{reread:?}");
        let order = |heard: &[(Option<usize>, Vec<f32>)]| heard.iter().map(|one| one.0).collect::<Vec<_>>();
        assert_eq!((order(&told.1), &told.1[0].1), (order(&found.1), &said.log_probabilities));
        let made_up = vec![-7.0; said.tokens.len()];
        assert_eq!(score(made_up.clone()).0.whole, made_up, "it is believed");
        assert_eq!(score(vec![-7.0]).0, found.0, "not one for each token");
    }
}

#[test]
fn hiding_the_last_part_is_the_same_as_leaving_it_out() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let (with, without) = (facts(&[PUMP, DOOR]), facts(&[PUMP]));
    let said = answer(&mut generator, &with).tokens;
    let score = |generator: &mut LlamaGenerator, parts: &[PromptPart], hidden: Vec<Vec<usize>>| {
        let (parts, answer) = (parts.to_vec(), said.clone());
        let request = ScoreRequest { parts, answer, told: Vec::new(), hidden, reread: Recompute::Rest };
        generator.score(&request, &CancelToken::never(), &mut |_, _| {}).unwrap()
    };
    let hidden = score(&mut generator, &with.parts, vec![vec![4]]);
    let left_out = score(&mut generator, &without.parts, Vec::new());
    let nothing = score(&mut generator, &with.parts, vec![Vec::new()]);
    let near = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.1);
    assert!(near(&hidden.hidden[0], &left_out.whole), "{hidden:?} {left_out:?}");
    assert!(near(&nothing.hidden[0], &nothing.whole), "{nothing:?}");
    assert!(!near(&hidden.hidden[0], &hidden.whole));
}

#[test]
fn a_comparison_is_that_of_prompts_read_from_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let request = facts(&[DOOR, PUMP, "Lunch is at noon."]);
    let said = answer(&mut generator, &request);
    let compare = CompareRequest {
        parts: request.parts.clone(),
        answer: said.tokens.clone(),
        without: vec![vec![5], vec![4], vec![3], vec![]],
        measure: Measure::Distribution,
    };
    let mut heard = Vec::new();
    let never = CancelToken::never();
    let compared = generator.compare(&compare, &never, &mut |set, _| heard.push(set)).unwrap();
    assert_eq!(heard, [0, 1, 2, 3]);
    let whole = |parts: Vec<PromptPart>| {
        let mut fresh = load(512).unwrap();
        let (answer, told, hidden) = (said.tokens.clone(), Vec::new(), Vec::new());
        let request = ScoreRequest { parts, answer, told, hidden, reread: Recompute::Rest };
        fresh.score(&request, &never, &mut |_, _| {}).unwrap().whole
    };
    let before = whole(request.parts.clone());
    for (set, one) in compare.without.iter().zip(&compared) {
        let expected = logprob_deltas(&before, &whole(compare.without(set)));
        assert_eq!(one.drops, expected, "{set:?}");
        assert_eq!(one.divergences.len(), said.tokens.len().min(COMPARED_TOKENS));
    }
    let total = |values: &[f32]| values.iter().sum::<f32>();
    let (door, pump, nothing) = (&compared[2], &compared[1], &compared[3]);
    assert!(total(&door.drops) > total(&pump.drops) && total(&door.divergences) > total(&pump.divergences));
    assert!(nothing.divergences.iter().all(|bits| *bits < 0.01), "{:?}", nothing.divergences);
    let tokens = generator.compare(&CompareRequest { measure: Measure::Token, ..compare }, &never, &mut |_, _| {});
    let tokens = tokens.unwrap();
    assert!(tokens.iter().all(|one| one.divergences.is_empty()));
    assert!(tokens[2].drops.iter().zip(&door.drops).all(|(a, b)| (a - b).abs() < 0.1));
    assert_eq!(answer(&mut generator, &request).tokens, said.tokens, "nothing of it is left");
}

#[test]
fn a_comparison_that_cannot_be_made_is_refused_and_harms_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let request = facts(&[PUMP, DOOR]);
    let said = answer(&mut generator, &request);
    let parts = request.parts.clone();
    let good = CompareRequest { parts, answer: said.tokens.clone(), without: vec![vec![3]], measure: Measure::Token };
    let mut compare =
        |request: &CompareRequest, cancel: &CancelToken| generator.compare(request, cancel, &mut |_, _| {});
    let never = CancelToken::never();
    let unknown = compare(&CompareRequest { answer: vec![-5, 7], ..good.clone() }, &never);
    assert!(matches!(unknown, Err(InferenceError::Run { .. })), "{unknown:?}");
    let outside = compare(&CompareRequest { without: vec![vec![99]], ..good.clone() }, &never);
    assert!(matches!(outside, Err(InferenceError::Run { .. })), "{outside:?}");
    let all = compare(&CompareRequest { without: vec![(0..good.parts.len()).collect()], ..good.clone() }, &never);
    assert!(matches!(all, Err(InferenceError::Run { .. })), "{all:?}");
    let long = compare(&CompareRequest { answer: vec![5; 400], ..good.clone() }, &never);
    assert!(matches!(long, Err(InferenceError::PromptTooLong { .. })), "{long:?}");
    let source = CancelSource::default();
    source.cancel();
    assert!(matches!(compare(&good, &source.token()), Err(InferenceError::Canceled(_))));
    let empty = compare(&CompareRequest { answer: Vec::new(), ..good.clone() }, &never).unwrap();
    assert_eq!(empty, [Compared::default()]);
    assert_eq!(compare(&good, &never).unwrap()[0].drops.len(), said.tokens.len());
    assert_eq!(answer(&mut generator, &request).tokens, said.tokens);
}

#[test]
fn the_pieces_of_an_answer_are_its_text() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let said = answer(&mut generator, &ask("Say: Grüße aus Köln!", 24));
    let pieces = generator.token_bytes(&said.tokens).unwrap();
    assert_eq!(pieces.len(), said.tokens.len());
    let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
    assert_eq!(text.trim(), said.text);
    assert!(generator.token_bytes(&[-1]).is_err());
}

#[test]
fn a_score_that_cannot_be_computed_is_refused_and_harms_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let request = facts(&[PUMP, DOOR]);
    let said = answer(&mut generator, &request);
    let (parts, hidden) = (request.parts.clone(), vec![vec![3]]);
    let (tokens, told) = (said.tokens.clone(), Vec::new());
    let good = ScoreRequest { parts, answer: tokens, told, hidden, reread: Recompute::Rest };
    let mut score = |request: &ScoreRequest, cancel: &CancelToken| generator.score(request, cancel, &mut |_, _| {});
    let never = CancelToken::never();
    let unknown = score(&ScoreRequest { answer: vec![-5, 7], ..good.clone() }, &never);
    assert!(matches!(unknown, Err(InferenceError::Run { .. })), "{unknown:?}");
    let outside = score(&ScoreRequest { hidden: vec![vec![99]], ..good.clone() }, &never);
    assert!(matches!(outside, Err(InferenceError::Run { .. })), "{outside:?}");
    let long = score(&ScoreRequest { answer: vec![5; 400], ..good.clone() }, &never);
    assert!(matches!(long, Err(InferenceError::PromptTooLong { .. })), "{long:?}");
    let source = CancelSource::default();
    source.cancel();
    assert!(matches!(score(&good, &source.token()), Err(InferenceError::Canceled(_))));
    let empty = score(&ScoreRequest { answer: Vec::new(), ..good.clone() }, &never).unwrap();
    assert_eq!((empty.whole.len(), empty.hidden), (0, vec![Vec::new()]));
    assert_eq!(score(&good, &never).unwrap().hidden[0].len(), said.tokens.len());
    assert_eq!(answer(&mut generator, &request).tokens, said.tokens);
}

#[test]
fn two_kinds_of_prompts_in_turn_do_not_push_each_other_out() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let of = |role: &str, question: &str| {
        let mut request = ask(question, 8);
        request.parts[1] = plain(&format!("You {role}. {}", "Be short and never guess. ".repeat(8)));
        request
    };
    let turns = [("complete questions", "And on Sunday?"), ("answer questions", "When does the ferry go on Sunday?")];
    for (role, question) in turns {
        answer(&mut generator, &of(role, question));
    }
    for (role, question) in turns {
        let again = answer(&mut generator, &of(role, &question.replace("Sunday", "Monday")));
        assert!(again.reused_tokens + 20 > again.prompt_tokens, "{} of {}", again.reused_tokens, again.prompt_tokens);
    }
    let mut fresh = load(512).unwrap();
    let last = of("answer questions", "When does the ferry go on Friday?");
    assert_same(&answer(&mut generator, &last), &answer(&mut fresh, &last), "beside another prompt");
}
